"""The table in CONTRIBUTING is followed: in a copy of the source a part of each kind is added.

Only the files that its row names are changed, and the new part works. Nothing here needs a kernel.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROWS = dict(
    re.findall(
        r"^\| (an? [^|]+?) \| (.+) \|$",
        (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
)
METHOD = '''
from dataclasses import dataclass
from typing import ClassVar
import numpy as np
from ._base import Problem, Solution

@dataclass(frozen=True)
class Zero:
    """Zero away from the labels."""

    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Return the labels, and 0 elsewhere."""
        return Solution(np.where(problem.labelled, problem.boundary, 0.0))
'''
MEND = '''
from dataclasses import dataclass
from ._base import Fit, MendMethod, MendProblem

@dataclass(frozen=True)
class Twice(MendMethod):
    """Every edge costs twice as much."""

    @property
    def name(self) -> str:
        """Its name among candidates."""
        return "twice"

    def fit(self, problem: MendProblem) -> Fit:
        """Double the lengths."""
        return Fit(2.0 * problem.graph.lengths, 0.0, 0.0)
'''
COMMAND = '''
import typer

def hello() -> None:
    """Greet."""
    typer.echo("hello")
'''
EXPERIMENT = """
from ..engine import Experiment
from .mazes import MazeCell, read_grid

def run(cell: MazeCell) -> list[dict[str, int]]:
    return [{"goals": cell.goals}]

EXPERIMENT = Experiment("sizes", "Sizes", version=1, run=run, read_grid=read_grid)
"""


def files_of(kind: str) -> list[str]:
    """Files and folders that a row names."""
    return re.findall(r"`([\w./]+/[\w./]*)`", ROWS[kind])


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("clone")
    for source in ("src", "study/src"):
        ignored = shutil.ignore_patterns("*.nb[ic]")  # kernels; bytecode saves seconds
        shutil.copytree(ROOT / source, folder / source, ignore=ignored)
    return folder


def run(copy: Path, code: str) -> str:
    """Return what a program prints that imports the copy."""
    path = os.pathsep.join(str(copy / source) for source in ("src", "study/src"))
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": path, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def insert(copy: Path, kind: str, file: str, after: str, new: str) -> None:
    """Insert text after the first occurrence of `after`, in a file that the row names."""
    assert file in files_of(kind)
    path = copy / file
    text = path.read_text(encoding="utf-8")
    assert after in text, f"{file} has no {after!r}"
    path.write_text(text.replace(after, after + new, 1), encoding="utf-8")


def create(copy: Path, kind: str, file: str, text: str) -> None:
    """Write a file in a folder that the row names."""
    assert f"{Path(file).parent.as_posix()}/" in files_of(kind)
    (copy / file).write_text(text, encoding="utf-8")


@pytest.mark.parametrize("kind", ROWS)
def test_every_file_exists(kind: str) -> None:
    assert files_of(kind)
    for file in files_of(kind):
        assert (ROOT / file).exists(), file


def test_a_method_a_mend_candidate_a_command_and_an_experiment(copy: Path) -> None:
    """All four are added to one copy and tried in one process: importing takes the time."""
    kind, room = "a method", "src/wayfield/fields"
    assert len(files_of(kind)) <= 5
    create(copy, kind, f"{room}/zero.py", METHOD)
    name = "\nfrom {} import Zero as Zero\n"
    top = "from .extension import AMLE as AMLE"
    insert(
        copy, kind, f"{room}/__init__.pyi", "from .amle import AMLE as AMLE", name.format(".zero")
    )
    insert(copy, kind, "src/wayfield/__init__.pyi", top, name.format(".extension"))
    insert(copy, kind, f"{room}/_names.py", '"amle": Word("AMLE"),', '"zero": Word("Zero"),')

    kind, room = "a mend candidate", "src/wayfield/travel"
    assert len(files_of(kind)) <= 4
    create(copy, kind, f"{room}/twice.py", MEND)
    insert(
        copy, kind, f"{room}/selection.py", "from .text import PLAIN", "\nfrom .twice import Twice"
    )
    insert(copy, kind, f"{room}/selection.py", '"best": Best(),', '\n    "twice": Twice(),')
    name = "\nfrom .mending.twice import Twice as Twice\n"
    stub = "src/wayfield/__init__.pyi"
    insert(copy, kind, stub, "from .mending import mend as mend", name)

    kind, room = "a command", "src/wayfield/cli"
    create(copy, kind, f"{room}/hello.py", COMMAND)
    first = "from .explorer import explore"
    insert(copy, kind, f"{room}/__init__.py", first, "\nfrom .hello import hello")
    insert(copy, kind, f"{room}/__init__.py", "    (plan, _DATA),", "\n    (hello, _DATA),")

    kind, room = "an experiment", "study/src/wayfield_study/experiments"
    create(copy, kind, f"{room}/sizes.py", EXPERIMENT)
    init = f"{room}/__init__.py"
    insert(copy, kind, init, "from . import (", "\n    sizes,")
    insert(copy, kind, init, "    antmaze.EXPERIMENT,", "\n    sizes.EXPERIMENT,")

    code = (
        "import wayfield as wf; from wayfield.fields.names import METHODS, parse_method\n"
        "from wayfield.travel.selection import parse_mend\n"
        "from wayfield_study.experiments import EXPERIMENTS, grid\n"
        "path = wf.Graph.from_edges([0, 1], [1, 2]); labels = wf.Labels([2], [5.0])\n"
        "field = wf.extend(path, labels, wf.Zero())\n"
        "print(field.values, parse_method('zero'), 'zero' in METHODS)\n"
        "print(travel.mend(path, labels, 0, wf.Twice()).graph.lengths, parse_mend('twice'))\n"
        "found = next(each for each in EXPERIMENTS if each.name == 'sizes')\n"
        "print(found.run(grid(['umaze'], [2], [0.1], [54], goals=3)[0]), flush=True)\n"
        "import sys; sys.argv = ['wayfield', 'hello']; import wayfield.cli; wayfield.cli.main()"
    )
    assert run(copy, code).splitlines() == [
        "[0. 0. 5.] Zero() True",
        "[2. 2. 2. 2.] Twice()",
        "[{'goals': 3}]",
        "hello",
    ]


def test_a_question_of_the_explorer() -> None:
    """One that is there stands in the listed files and in no other of the explorer's."""
    web = ROOT / "src" / "wayfield" / "web"
    asked = re.compile(r'"false-sinks"|def false_sinks')
    sources = [path for path in web.rglob("*") if path.suffix in (".py", ".js")]
    found = {
        path.relative_to(ROOT).as_posix()
        for path in sources
        if asked.search(path.read_text(encoding="utf-8"))
    }
    assert found == set(files_of("a question of the explorer"))
