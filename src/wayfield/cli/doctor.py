"""``wayfield doctor``: what is installed and compiled, and whether results are correct.

The checks have known answers; a bracket must contain them in exact arithmetic.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.console import Console

from .. import __version__
from ..words import number_of
from .options import Json
from .output import Stages, print_json

_NOT_FOR_USERS = ("dev", "docs")
_WIDE = 14
"""Length of the longest name of a check."""
TIGHT = 1e-9
"""Width of a bracket above which a check fails."""


class Diagnosis(NamedTuple):
    """One line: what was checked, whether it is well, and what was found."""

    what: str
    well: bool | None
    """None if it is only information: a missing extra, a figure."""
    found: str


def doctor(json_wanted: Json = False) -> None:
    """Report what is installed and compiled, and check the answers against exact ones.

    Takes about five seconds, longer the first time, when the kernels are compiled. The exit code
    is 1 if a check fails.
    """
    found, console = [], Console()
    for each in _diagnoses():
        found.append(each)
        if not json_wanted:
            mark = {True: "[green]✓[/]", False: "[red]✗[/]", None: "·"}[each.well]
            console.print(mark, end=" ")
            line = f"{each.what:<{_WIDE}}  {each.found}"
            console.print(line, markup=False, emoji=False, highlight=False, soft_wrap=True)
    failed = sum(each.well is False for each in found)
    if json_wanted:
        findings = [each._asdict() for each in found]
        print_json({"wayfield": __version__, "well": not failed, "findings": findings})
    else:
        verdict = f"{number_of(failed, 'checks')} failed" if failed else "everything works"
        console.print(verdict, style="bold red" if failed else "bold green", highlight=False)
    if failed:
        raise typer.Exit(1)


def _diagnoses() -> Iterator[Diagnosis]:
    """Yield the diagnoses as they become known; kernels are counted once they are compiled."""
    from importlib import metadata

    import numba

    from ..checks import how_to_install
    from ..fields import PLaplacian
    from ..numerics.compiled import shortfall
    from ..plans.kernels import first_moves
    from .warmup import COMMON, warm_up

    # versions
    yield Diagnosis("wayfield", None, __version__)
    yield Diagnosis("Python", None, f"{platform.python_version()} on {platform.system()}")
    for package in ("numpy", "scipy", "numba"):
        yield Diagnosis(package, None, metadata.version(package))

    # extras, by this package's own list of them
    wanted: dict[str, list[str]] = {}
    for line in metadata.requires("wayfield") or ():
        found = re.match(r"([\w.-]+).*;\s*extra == ['\"]([\w-]+)['\"]", line)
        if found and found[1] != "wayfield" and found[2] not in _NOT_FOR_USERS:
            wanted.setdefault(found[2], []).append(found[1])
    for extra, packages in wanted.items():
        there, missing = [], []
        for package in packages:
            try:
                there.append(f"{package} {metadata.version(package)}")
            except metadata.PackageNotFoundError:
                missing.append(package)
        lacks = f"missing {', '.join(missing)}: run {how_to_install(extra)}"
        said = lacks if missing else ", ".join(there)
        yield Diagnosis(f"extra {extra}", None if missing else True, said)

    # kernels
    with Stages() as stages:
        stages.begin("loading the kernels")
        warm_up([*COMMON, PLaplacian(8)], directed=True)
    if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
        yield Diagnosis("kernels", None, "run as plain Python: NUMBA_DISABLE_JIT is set, so slow")
    elif shortfall():
        yield Diagnosis("kernels", None, shortfall())
    else:
        compiled: Any = first_moves
        folder = Path(compiled.dispatcher.stats.cache_path)
        count = len(list(folder.glob("*.nbc")))
        yield Diagnosis("kernels", True, f"{count} compiled; in {folder}")
    threads = f"{numba.get_num_threads()} of {os.cpu_count()} processors"
    yield Diagnosis("threads", None, threads)

    # answers
    for check in (_exact_fields, _one_way):
        began = time.perf_counter()
        try:
            said, well = check(), True
        except Exception as error:  # a broken installation may raise anything
            said, well = f"{type(error).__name__}: {error}".splitlines()[0], False
        what = (check.__doc__ or "").rstrip(".")
        yield Diagnosis(what, well, f"{said} ({time.perf_counter() - began:.2f} s)")


def _exact_fields() -> str:
    """Exact fields."""
    from .. import AMLE, Graph, Harmonic, Labels, PLaplacian, extend

    path, ends = Graph.from_edges(range(100), range(1, 101)), Labels([0, 100], [0.0, 50.0])
    seven = Graph.from_edges([0, 0, 5, 1, 3, 3, 6, 4], [3, 5, 1, 4, 4, 6, 2, 2])
    known, linear = Labels([0, 2], [0.0, 3.0]), {x: Fraction(x, 2) for x in range(101)}
    for graph, labels, method, exact in (
        (path, ends, Harmonic(), linear),
        (path, ends, AMLE(), linear),
        (path, ends, PLaplacian(8), linear),
        (seven, known, Harmonic(), {1: Fraction(36, 29), 3: Fraction(39, 29)}),
        (seven, known, AMLE(), {3: Fraction(1), 1: Fraction(4, 3)}),
    ):
        field = extend(graph, labels, method)
        lower: Any = field.lower
        upper: Any = field.upper
        for x, value in exact.items():
            if not Fraction(float(lower[x])) <= value <= Fraction(float(upper[x])):
                raise ArithmeticError(f"{field.values[x]!r} at vertex {x}, but {value} is exact")
        if field.width >= TIGHT:
            raise ArithmeticError(f"the bracket is {field.width:.1e} wide")
    return "linear on a path; on seven nodes harmonic 36/29 and 39/29, AMLE 1 and 4/3, in brackets"


def _one_way() -> str:
    """One-way maze."""
    from .. import grid_graph, load_layout, sample_labels, solve

    graph = grid_graph(load_layout("teleport"))
    answer = solve(graph, sample_labels(graph, 0, 0.1), 0)
    able, arrived = answer.plan.num_able, answer.plan.num_arrived
    if arrived < able:
        raise ArithmeticError(f"{able - arrived} of {able} starts do not arrive")
    with tempfile.TemporaryDirectory() as folder:
        file = answer.write_proof(Path(folder) / "plan.proof")
        # a separate process: the checker shares nothing with what it checks
        command = [sys.executable, "-m", "wayfield_verify", str(file)]
        checked = subprocess.run(command, capture_output=True, text=True, check=False)
    if checked.returncode != 0:
        raise ArithmeticError((checked.stdout + checked.stderr).strip())
    return f"all {able:,} starts reach the goal; wayfield_verify proves field and plan again"
