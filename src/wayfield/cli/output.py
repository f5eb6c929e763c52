"""What commands show and write: progress, a summary or one JSON document, tables, pictures."""

from __future__ import annotations

import json
import re
import shlex
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..errors import InputError, Message, Option

if TYPE_CHECKING:
    from ..advice import Answer, CrossValidation
    from ..graphs.graph import Graph
    from ..graphs.names import Names
    from ..graphs.tables import Outbox


SLOW = 1.5
"""Seconds of compiling after which a command announces it."""

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Characters that control a terminal, including those that reverse the direction of text."""


def printable(text: str) -> str:
    """Return text that is safe for a terminal: control characters are escaped."""
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def flag(option: Option) -> str:
    """Return an option of the library as a flag of the command line.

    Examples
    --------
    >>> flag(Option("decimal", ",", "Style")), flag(Option("from", within="columns"))
    ('--decimal ,', '--tail')
    >>> flag(Option("force", True)), flag(Option("oneway", "none", "columns"))
    ('--force', '--oneway none')
    """
    name, value = option.name, option.value
    if option.within == "columns":
        name = {"from": "tail", "to": "head"}.get(name, name)
        name = f"trip-{name}" if name in ("start", "end", "cost") else name
    shown = f"{value:.3g}" if isinstance(value, float) else value
    return f"--{name.replace('_', '-')}" + ("" if value in (None, True) else f" {shown}")


def in_flags(text: str, length_unit: float = 1.0, words: Iterable[object] = ()) -> str:
    """Return a message of the library with its options as flags, and commands with their `words`.

    A unit that it recommends is for lengths that were multiplied by `length_unit` already; the flag
    is for lengths as they are in the file.
    """

    def spell(option: Option) -> str:
        if option.within == "command":
            return f"`{shlex.join(['wayfield', *option.name.split(), *map(str, words)])}`"
        if option.name != "length_unit" or not isinstance(option.value, float):
            return flag(option)
        return f"pass {flag(replace(option, value=length_unit * option.value))}"

    return text.render(spell) if isinstance(text, Message) else text


@cache
def notes() -> Console:
    """Return the console for everything but the result: standard error."""
    return Console(stderr=True)


def say(console: Console, text: str) -> None:
    """Print a line as it is: brackets are not markup, :x: is no emoji, and paths are not broken."""
    console.print(printable(text), markup=False, emoji=False, highlight=False, soft_wrap=True)


class Announcement:
    """Print one line once compiling takes longer than a moment, whichever step needs a kernel."""

    since, done = inf, False

    def __call__(self) -> None:
        """Note that a kernel is about to be compiled."""
        now = time.monotonic()
        self.since = min(self.since, now)
        if not self.done and now - self.since >= SLOW:
            from ..numerics.compiled import shortfall

            self.done, lost = True, shortfall()
            kept = f"{lost}; NUMBA_CACHE_DIR=FOLDER names a place for them" if lost else ""
            say(notes(), f"compiling kernels: a minute or two, {kept or 'once only'} …")


@cache
def announce_compiling() -> Announcement:
    """Announce compiling for the rest of the process."""
    from ..numerics.jit import on_compiling

    announcement = Announcement()
    on_compiling.append(announcement)
    return announcement


class Stages:
    """A progress display of one stage after another; it vanishes at the end.

    Only terminals show it. The line about compiling is always printed: see `announce_compiling`.

    Examples
    --------
    >>> with Stages() as stages:
    ...     progress = stages.begin("reading")
    ...     progress(1, 2)
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self.display = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TimeElapsedColumn(),
            console=console or notes(),
            transient=True,
            disable=not (console or notes()).is_terminal,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        announce_compiling()
        self.display.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.display.stop()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Hide the display while something is printed."""
        self.display.stop()
        yield
        self.display.start()

    def begin(self, name: str) -> Callable[[int, int], None]:
        """End the previous stage and begin this one; return a function of (done, total)."""
        for task in self.display.tasks:
            task.visible = False
        number = self.display.add_task(printable(name), total=None)

        def progress(done: int, total: int) -> None:
            self.display.update(number, completed=done, total=total)

        return progress


Line = tuple[str, str]
"""A word for the margin, and its text."""

_STYLES = dict.fromkeys(("lost", "flat", "sinks", "raised", "rounding", "units"), "yellow")
_STYLES |= {"loops": "red", "advice": "cyan", "found": "bold"}
NOTHING_WRITTEN: dict[str, Any] = {
    "files": [], "removed": [], "no_picture": None, "no_parquet": None, "not_written": None
}  # fmt: skip
"""Facts about files if none were written."""


def show(lines: Iterable[Line], console: Console) -> None:
    """Print the summary: wrapped beside its margin in a terminal, one line each otherwise."""
    if not console.is_terminal:
        for word, text in lines:
            line = Text(f"{word:<9} {printable(text)}")
            console.print(line, soft_wrap=True, highlight=False)
        return
    table = Table.grid(padding=(0, 1))
    table.add_column(style="bold", no_wrap=True, min_width=9)
    table.add_column()
    for word, text in lines:
        table.add_row(word, Text(printable(text), style=_STYLES.get(word, "")))
    console.print(table, highlight=False)


def report(
    answer: Answer,
    tested: CrossValidation | None,
    starts: tuple[int, ...],
    more: dict[str, Any],
    as_json: bool,
    names: Names | None = None,
    length_unit: float = 1.0,
    words: Iterable[object] = (),
) -> None:
    """Print the summary, or all facts as one JSON document; exit with 1 if something failed.

    `tested` is the answer's cross-validation. `length_unit` is what the lengths in the file were
    multiplied by. `words` are the arguments of recommended commands.
    """
    from ..advice.text import lines
    from ..checks import plain

    held_out = None if tested is None else plain(tested.facts())
    facts = answer.facts(names, starts, held_out)
    found = {"wayfield": version("wayfield")} | facts | NOTHING_WRITTEN | more
    for key in ("units", "advice"):
        found[key] = in_flags(found[key], length_unit, words) if found[key] else None
    if as_json:
        print_json(found)
    else:
        *summary, last = lines(found)
        show([*summary, *about_files(found), last], Console())
    well = answer.field.status.good and answer.plan.reached[list(starts)].all()
    if not well or found["not_written"] or found.get("no_proof"):
        raise typer.Exit(1)


def print_json(found: dict[str, Any]) -> None:
    """Print one JSON document on standard output, escaped if the encoding requires it."""
    encoding = getattr(sys.stdout, "encoding", None)  # no stream at all if it is closed
    escaped = "utf" not in (encoding or "utf-8").lower()
    text = json.dumps(found, ensure_ascii=escaped, indent=2, allow_nan=False)
    typer.echo(UNSEEN.sub(lambda unseen: f"\\u{ord(unseen[0]):04x}", text))


def about_files(found: dict[str, Any]) -> list[Line]:
    """Return lines on the files: written, missing and why, and removed."""
    lacking = {"no picture": "no_picture", "no values.parquet": "no_parquet"}
    why = [f"{word}: {found[key]}" for word, key in lacking.items() if found[key]]
    said = (
        ("wrote", found["not_written"], "nothing: {}"),
        ("proof", found.get("no_proof"), "not written: {}"),
        ("proof", found.get("proof"), "{}: python -m wayfield_verify checks it"),
        ("wrote", found["files"] and "; ".join([", ".join(found["files"]), *why]), "{}"),
        ("removed", ", ".join(found["removed"]), "{}, of an earlier run"),
    )
    return [(word, text.format(fact)) for word, fact, text in said if fact]


def check_results(
    out: Path,
    results: Iterable[str],
    inputs: Iterable[Path | None],
    force: bool,
    unwritten: str = "",
) -> None:
    """Raise if a result would overwrite an input, or a file that wayfield did not write."""
    from ..graphs.tables import check_outputs

    names = list(results)
    for file in inputs:
        if file is not None and file.name in names and file.resolve().parent == out.resolve():
            raise InputError(f"the results would overwrite {file}: choose another --out folder")
    check_outputs(out, [name for name in names if name != unwritten], force)


def write_results(box: Outbox, write: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Write results and return which; a full disk is reported, not raised."""
    try:
        with box:
            said = write()
    except OSError as error:
        return {"not_written": f"{error.strerror or error} ({box.folder})"}
    except InputError as error:  # someone has created a file there meanwhile
        return {"not_written": in_flags(error.message)}
    files = {"files": [str(file) for file in box.files]}
    return files | said | {"removed": [str(file) for file in box.removed]}


def value_columns(answer: Answer, names: Names) -> dict[str, Any]:
    """Return one row per vertex; unknown and infinite values are masked, or None.

    The values are those that the plan follows. With `lift`, a column holds by how much they were
    raised above the extension; `lower` and `upper` are bounds on the extension.
    """
    import numpy as np

    field, moves, called = answer.field, answer.plan, names.as_numbers()
    unknown = np.full(field.values.size, np.nan)
    raised = {} if answer.lifted is None else {"raised": np.ma.masked_invalid(answer.raised)}
    halts = np.zeros(moves.successor.size, dtype=bool)
    halts[moves.dead_ends] = True  # no next state there
    successor: Any = names.column(moves.successor)
    if isinstance(successor, np.ndarray):
        successor = np.ma.masked_array(successor, halts)
    else:
        successor = [None if none else y for y, none in zip(successor, halts, strict=True)]
    return {
        "name": called,
        "value": np.ma.masked_invalid(answer.values),
        **raised,
        "lower": np.ma.masked_invalid(unknown if field.lower is None else field.lower),
        "upper": np.ma.masked_invalid(unknown if field.upper is None else field.upper),
        "labelled": answer.labels.mask(answer.graph),
        "successor": successor,
        "outcome": list(map(str, answer.outcomes)),
        "steps": np.ma.masked_array(moves.steps, ~moves.reached),
        "cost": np.ma.masked_invalid(moves.cost),
        "margin": np.ma.masked_invalid(answer.certificate.margin),
    }


def route_columns(answer: Answer, names: Names, starts: tuple[int, ...]) -> dict[str, Any]:
    """Return one row per state of every route, in walking order."""
    import numpy as np

    from ..graphs.graph import arc_slots

    paths, costs, graph = [answer.route(start).path for start in starts], [], answer.graph
    for path in paths:  # cost from the start to each of its states
        lengths = graph.lengths[arc_slots(graph, path[:-1], path[1:])]
        costs.append(np.append(0.0, np.cumsum(lengths)))
    states = np.concatenate(paths)
    return {
        "start": [names[path[0]] for path in paths for _ in path],
        "step": np.concatenate([np.arange(path.size) for path in paths]),
        "name": names[states],
        "value": np.ma.masked_invalid(answer.values[states]),
        "cost": np.concatenate(costs),
    }


def why_not_drawn(graph: Graph) -> str | None:
    """Return why a graph cannot be drawn, or None if it can."""
    from ..checks import missing
    from ..plots.answer import MOST_PLACED, has_places

    if not has_places(graph) and graph.num_vertices > MOST_PLACED:
        return f"the graph has over {MOST_PLACED:,} vertices, and no positions (--positions FILE)"
    return missing("matplotlib", "plots")


@contextmanager
def picture(path: Path) -> Iterator[Any]:
    """Open axes to draw on, and save them to a file."""
    from ..checks import need

    figure = need("matplotlib.figure", "plots").Figure((8, 6), layout="constrained", dpi=150)
    yield figure.subplots()
    with warnings.catch_warnings():  # letters that the font lacks are drawn as boxes
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure.savefig(path)


def draw(
    answer: Answer, path: Path, names: Names | None = None, starts: tuple[int, ...] = ()
) -> None:
    """Draw the field, the plan, the labels and the routes into a file."""
    from ..plots import answer as draw_answer

    with picture(path) as axes:
        draw_answer(answer, names, starts, axes)
