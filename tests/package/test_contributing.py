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
from .base import Problem, Solution, Status

@dataclass(frozen=True)
class Zero:
    """Zero away from the labels."""

    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Return the labels, and 0 elsewhere."""
        return Solution(np.where(problem.labelled, problem.boundary, 0.0), Status.NO_BRACKET)
'''
COMMAND = '''
import typer

def hello() -> None:
    """Greet."""
    typer.echo("hello")
'''
SISTERS_COMMAND = '''
def greet() -> None:
    """Greet a traveller."""
    typer.echo("good journey")
'''
QUESTION = '''
def size(scene: Scene) -> dict[str, Any]:
    """Return the number of states."""
    return {"states": graph_of(scene.world).num_vertices}
'''
EXPERIMENT = """
from ..engine import Experiment, Measure
from .mazes import MazeCell, read_grid

def run(cell: MazeCell) -> list[dict[str, int]]:
    return [{"goals": cell.goals}]

def measures(tables: object) -> dict[str, Measure]:
    return {"doors/medium/count": Measure(3.0)}

EXPERIMENT = Experiment("sizes", "Sizes", 1, run, read_grid=read_grid, measures=measures)
"""
READER = """\
    if start.startswith(b"tilde"):
        return TextSheet(path, Style("~"), roles)
"""
FIGURES = """
[doors] Doors of the mazes @ nowhere
.maze  | count:exact
medium |           4

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


def run(copy: Path, code: str, *words: str) -> str:
    """Return what a program prints that imports the copy and is given these words."""
    path = os.pathsep.join(str(copy / source) for source in ("src", "study/src"))
    done = subprocess.run(
        [sys.executable, "-c", code, *words],
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


def test_every_kind_is_added(copy: Path) -> None:
    """All are added to one copy and tried in one process: importing takes the time."""
    kind, room = "a method", "src/wayfield/fields"
    assert len(files_of(kind)) <= 4
    create(copy, kind, f"{room}/zero.py", METHOD)
    after = "    from .fields.amle.method import AMLE as AMLE"
    name = "\n    from .fields.zero import Zero as Zero"
    insert(copy, kind, "src/wayfield/__init__.py", after, name)
    insert(copy, kind, f"{room}/names.py", '"amle": Word("AMLE"),', '"zero": Word("Zero"),')

    kind, room = "a command of the core", "src/wayfield/cli"
    create(copy, kind, f"{room}/hello.py", COMMAND)
    init = f"{room}/__init__.py"
    insert(copy, kind, init, "from .doctor import doctor", "\nfrom .hello import hello")
    insert(copy, kind, init, "_COMMANDS = (", "hello, ")

    kind, file = "a command of a sister", "src/wayfield/travel/command.py"
    insert(copy, kind, file, "panel=OWN_DATA)\n", SISTERS_COMMAND)
    insert(copy, kind, file, 'add_command(travel, trips, "")', '; add_command(travel, greet, "")')

    kind, file = "a file format", "src/wayfield/graphs/tables/sheet.py"
    insert(copy, kind, file, 'is empty")\n', READER)

    kind, file = "a column name of trips", "src/wayfield/graphs/tables/words.txt"
    assert len(files_of(kind)) == 1
    insert(copy, kind, file, "\nstart = start", " salida")
    insert(copy, kind, file, "\nend = end", " llegada")

    kind, room = "a question of the explorer", "src/wayfield/explorer"
    insert(copy, kind, f"{room}/compute.py", "_WRITTEN_OUT = 60\n", QUESTION)
    handler = '\n    "size": lambda scene, _: compute.size(scene),'
    insert(copy, kind, f"{room}/api.py", "HANDLERS: dict[str, Handler] = {", handler)

    kind, room = "an experiment", "study/src/wayfield_study/experiments"
    create(copy, kind, f"{room}/sizes.py", EXPERIMENT)
    init = f"{room}/__init__.py"
    insert(copy, kind, init, "from . import (", "\n    sizes,")
    insert(copy, kind, init, "EVIDENCE: tuple[Experiment[Any], ...] = (", "sizes.EXPERIMENT, ")

    kind, file = "a figure of the paper", "study/src/wayfield_study/paper/figures.txt"
    insert(copy, kind, file, "percentage points; rates in per cent.\n", FIGURES)

    (copy / "edges.txt").write_text("tilde~to~length\nA~B~2\n")
    (copy / "trips.csv").write_text("llegada,salida,x\nB,A,5\n")
    code = (
        "import json, sys, wayfield as wf; from pathlib import Path\n"
        "from wayfield.fields.names import METHODS, parse_method\n"
        "path = wf.Graph.from_edges([0, 1], [1, 2]); labels = wf.Labels([2], [5.0])\n"
        "field = wf.extend(path, labels, wf.Zero())\n"
        "print(field.values, parse_method('zero'), 'zero' in METHODS)\n"
        "from wayfield.graphs.tables import read_edges\n"
        "from wayfield.travel.tables import read_trips\n"
        f"edges, trips = Path({str(copy / 'edges.txt')!r}), Path({str(copy / 'trips.csv')!r})\n"
        "print(list(read_edges(edges, columns={'from': 'tilde'}).names))\n"
        "read = read_trips(trips, wf.Names(['A', 'B'])); print(read.starts, read.ends)\n"
        "from wayfield.explorer.api import respond\n"
        "scene = {'maze': {'text': '...', 'refinement': 2}, 'goal': 0, 'labels': {'vertices': [0],"
        " 'values': [0]}, 'panels': [{'method': 'amle'}]}\n"
        "print(respond('size', json.dumps({'scene': scene}).encode()).body.decode())\n"
        "from wayfield_study.experiments import EXPERIMENTS, grid\n"
        "found = next(each for each in EXPERIMENTS if each.name == 'sizes')\n"
        "print(found.run(grid(['umaze'], [2], [0.1], [54], goals=3)[0]))\n"
        "from wayfield_study.paper.measures import measured_values\n"
        "print(measured_values([found], {}), flush=True)\n"
        "sys.argv = ['wayfield', *sys.argv[1:]]; import wayfield.cli; wayfield.cli.main()"
    )
    assert run(copy, code, "hello").splitlines() == [
        "[0. 0. 5.] Zero() True",
        "['A', 'B']",
        "[0] [1]",
        '{"states":12}',
        "[{'goals': 3}]",
        "{'doors/medium/count': 3.0}",
        "hello",
    ]
    greet = "import sys, wayfield.cli; wayfield.cli.main()"
    assert run(copy, greet, "travel", "greet") == "good journey\n"


def test_a_button_of_the_explorer() -> None:
    """One that is there is in the files of the page that the row names, and in no others."""
    page = ROOT / "src" / "wayfield" / "explorer" / "page"
    found = {
        path.relative_to(ROOT).as_posix()
        for path in page.glob("*.js")
        if re.search(r'dropSinks|"sinks"', path.read_text(encoding="utf-8"))
    }
    named = files_of("a question of the explorer")
    assert found == {file for file in named if file.endswith(".js")}
