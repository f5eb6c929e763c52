"""Studies of one's own: a grid in a TOML file, and an experiment in a module beside it."""

from __future__ import annotations

import csv
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from study_work import figures, other_figures

import wayfield as wf
from pages import outline
from shell import wayfield
from wayfield_study.engine import Experiment, Store, Study, by_experiment, load_config, run
from wayfield_study.engine.config import read_list
from wayfield_study.experiments import EXPERIMENTS, SAMPLE, MazeCell, find_study, grid, read_grid

KNOWN = (
    Experiment("rollout", "another", 1, other_figures, read_grid=read_grid),
    Experiment("toy", "a toy", 1, figures, read_grid=read_grid),
    Experiment("special", "on graphs of its own", 1, other_figures),
    Experiment("worlds", "on other cells", 1, other_figures, read_grid=lambda given, folder: []),
)
LEAVING = """
import sys
from wayfield_study.engine import Experiment
X = Experiment("own", "it leaves", 1, print, read_grid=lambda given, folder: sys.exit(0))
"""
MAZE = "#####\n#...#\n#.#.#\n#####\n"
MODULE = '''
"""How many states a walk on a ring of n meets before it is home."""

import os
from dataclasses import dataclass

from wayfield_study.report import Chart, StudyFinding, Look, Section, Series, Table, chart
from wayfield_study.engine import Experiment
from wayfield_study.engine.config import read_list, refuse_others


@dataclass(frozen=True)
class Ring:
    size: int

    @property
    def columns(self):
        return {"size": self.size}

    def draw(self):
        return list(range(self.size))


def run(ring):
    ways = {"ahead": ring.draw(), "back": ring.draw()[::-1]}
    return [
        {
            "arm": arm,
            "reached": ring.size,
            "pairs": 2 * ring.size,
            "states": way,
            "process": os.getpid(),
        }
        for arm, way in ways.items()
    ]


def read_grid(given, folder):
    refuse_others(given, ("sizes",), "grid.")
    return [Ring(size) for size in read_list(given, "sizes", (3,), lambda size, name: int(size))]


def charts(rows):
    points = [(size, some.ratio("reached", "pairs")) for size, some in rows.by("size").items()]
    ticks = [(float(size), str(size)) for size in rows.values("size")]
    return [chart("Walks by ring", [Series("walks", "line-a", points)], ticks)]


def tables(rows):
    lines = [[str(row["size"]), row["arm"], str(len(row["states"]))] for row in rows]
    return [Table("walks", "Walks on rings", ["ring", "arm", "states"], lines)]


def findings(rows):
    text = f"Half of {rows.total('pairs')} do."
    yield StudyFinding("new", "Do walks come home?", text, "On rings.")


EXPERIMENT = Experiment(
    "rings",
    "Rings",
    version=1,
    run=run,
    read_grid=read_grid,
    sections=(
        Section("rings", "Walks on a ring", "Somebody walks around until home.",
                charts=charts, tables=tables, findings=findings, notes=("Rings are round.",)),
    ),
)
ROLLOUT = Experiment("rollout", "Not wayfield's", 1, run, read_grid=read_grid)
BROKEN = Experiment("broken", "Broken", 1, run, read_grid=read_grid, sections=("a text",))
'''
STUDY = '[grid]\nexperiments = ["own_rings:EXPERIMENT"]\nsizes = [3, 5, 8]\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the module and a study, from which the commands are run."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    Path("own_rings.py").write_text(MODULE, encoding="utf-8")
    Path("mine.toml").write_text(STUDY, encoding="utf-8")
    yield tmp_path
    sys.modules.pop("own_rings", None)


def read(folder: Path, text: str) -> Study:
    path = folder / "study.toml"
    path.write_text(text, encoding="utf-8")
    return load_config(path, KNOWN)


def cells(study: Study) -> list[MazeCell]:
    return [task.cell for task in study.tasks() if isinstance(task.cell, MazeCell)]


# ------------------------------------------------------------------- the grid


def test_all_combinations(tmp_path: Path) -> None:
    text = """
        [grid]
        mazes = ["umaze", "antmaze-medium-v2"]
        refinements = [2, 3]
        label_fractions = [0.1, 1]
        seeds = [0, 7]
        goals = 4
        experiments = ["toy", "rollout"]
    """
    study = read(tmp_path, text)
    tasks = study.tasks()
    assert (study.name, study.title) == ("study", "Study: study.toml")
    assert len(set(tasks)) == len(tasks) == 32
    assert {task.experiment.name for task in tasks} == {"toy", "rollout"}
    assert {cell.maze for cell in cells(study)} == {"umaze", "medium"}
    assert {cell.label_fraction for cell in cells(study)} == {0.1, 1.0}
    assert {cell.goals for cell in cells(study)} == {4}


def test_the_papers_values_are_the_default(tmp_path: Path) -> None:
    for text in ("", "\ufeff[grid]"):
        study = read(tmp_path, text)
        assert [experiment.name for experiment in study.experiments] == ["rollout"]
        assert len(cells(study)) == 120
        assert set(cells(study)) == set(grid())
    (tmp_path / "sample.toml").write_text(SAMPLE, encoding="utf-8")
    assert len(load_config(tmp_path / "sample.toml", EXPERIMENTS).tasks()) == 36
    with pytest.raises(FileNotFoundError):
        load_config(tmp_path / "none.toml", KNOWN)
    (tmp_path / "sample.toml").write_bytes(b"\xff")
    with pytest.raises(wf.InputError, match="decode"):
        load_config(tmp_path / "sample.toml", KNOWN)


def test_a_maze_of_ones_own_passes_for_no_other(tmp_path: Path) -> None:
    """Neither for a map of the same name, nor for itself before it was edited."""
    config, names = tmp_path / "own.toml", []
    config.write_text('[grid]\nmazes = ["medium.txt"]\nrefinements = [2]\nseeds = [1]')
    for text in (MAZE, MAZE.replace("#.#.#", "#...#")):
        (tmp_path / "medium.txt").write_text(text, encoding="utf-8")
        study = find_study(str(config))
        (cell, *_) = cells(study)
        assert cell.text == text.strip()
        names.append(cell.maze)
        assert cell.maze.startswith("medium@")
    assert len({*names, "medium"}) == 3
    outcome = run(study.tasks()[:1], Store(tmp_path / "results"), workers=0)
    (rows,) = by_experiment(outcome.tables).values()
    assert {(row["maze"], row["vertices"]) for row in rows} == {(cell.maze, 6 * 4)}
    with pytest.raises(wf.InputError, match="'medium' does not name its text"):
        MazeCell("medium", 4, 0.02, 54, text=MAZE)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("goals = 3", "unknown key goals; known are grid"),
        ("grid = 3", "grid must be a table"),
        ("[grid]\nmaze = ['umaze']", "unknown key grid.maze; known are mazes, refinements"),
        ("[grid]\nspeed = 3", "seeds, goals, methods, experiments"),
        ("[grid]\nmazes = 'umaze'", "grid.mazes must be a nonempty list, got 'umaze'"),
        ("[grid]\nseeds = []", "grid.seeds must be a nonempty list, got []"),
        ("[grid]\nmazes = ['umaze', 3]", "grid.mazes[1] must be the name of a map"),
        ("[grid]\nmazes = ['umase']", "grid.mazes[0]: umase: unknown layout 'umase'"),
        ("[grid]\nmazes = ['no.txt']", "grid.mazes[0]: cannot read no.txt: No such file"),
        ("[grid]\nmazes = ['odd.txt']", "grid.mazes[0]: odd.txt: "),
        ("[grid]\nmazes = ['bytes.txt']", "grid.mazes[0]: bytes.txt: "),
        ("[grid]\nmazes = ['cell.txt']", "grid.mazes[0]: cell.txt must have two free cells"),
        ("[grid]\nmazes = ['apart.txt']", "grid.mazes[0]: apart.txt must have two free cells"),
        ("[grid]\nseeds = [9223372036854775808]", "grid.seeds[0] must be at most"),
        ("[grid]\nmazes = ['teleport']", "grid.mazes[0]: teleport has one-way cells or teleports"),
        ("[grid]\nmazes = ['umaze', 'pointmaze-umaze']", "= 'pointmaze-umaze' is listed twice"),
        ("[grid]\nrefinements = [4, 0]", "grid.refinements[1] must be a whole number of at least"),
        ("[grid]\nrefinements = [2.5]", "grid.refinements[0] must be a whole number"),
        ("[grid]\nlabel_fractions = [0.0]", "grid.label_fractions[0] must be more than 0"),
        ("[grid]\nlabel_fractions = [1.5]", "grid.label_fractions[0] must be a finite number"),
        ("[grid]\nlabel_fractions = ['x']", "grid.label_fractions[0] must be a finite number"),
        ("[grid]\nseeds = [-1]", "grid.seeds[0] must be a whole number of at least 0, got -1"),
        ("[grid]\nseeds = [1, 2, 1]", "grid.seeds[2] = 1 is listed twice"),
        (f"[grid]\nseeds = {list(range(40_000))}", "at most 100,000 cells, got 960,000"),
        ("[grid]\nexperiments = ['leaving:X']", "[0]: leaving:X called sys.exit(0)"),
        ("[grid]\nexperiments = ['leaving_later:X']", "an experiment called sys.exit(0)"),
        ("[grid]\nseeds = [true]", "grid.seeds[0] must be a whole number"),
        ("[grid]\ngoals = 513", "grid.goals must be at most 512, got 513"),
        ("[grid]\nexperiments = ['toi']", "grid.experiments[0] must be one of 'rollout', 'toy'"),
        ("[grid]\nexperiments = [[]]", "grid.experiments[0] must be one of 'rollout'"),
        ("[grid]\nexperiments = ['special']", "grid.experiments[0]: special brings its own graphs"),
        ("[grid]\nexperiments = ['own_rings:EXPERIMENT', 'toy']", "on cells of different kinds"),
        ("[grid]\nexperiments = ['own_rings:EXPERIMENT']\nseeds = [1]", "unknown key grid.seeds"),
        ("[grid]\nexperiments = ['own_rings:ROLLOUT']", "another name: 'rollout' is taken"),
        ("[grid]\nexperiments = ['own_rings:Ring']", "is not an Experiment but type"),
        ("[grid]\nexperiments = ['toy']\nmethods = ['amle']", "experiment toy takes no methods"),
        ("[grid]\nexperiments = ['toy', 'toy']", "grid.experiments[1] = 'toy' is listed twice"),
        ("[grid]\nexperiments = ['toy', 'worlds']", "toy, worlds run on cells of different kinds"),
        ("[grid]\nexperiments = ['nomodule:X']", "cannot import nomodule:X: No module named"),
        ("[grid]\nexperiments = ['os:X']", "cannot import os:X: module 'os' has no attribute 'X'"),
        ("[grid]\nexperiments = [':X']", "[0]: cannot import :X: Empty module name"),
        ("[grid]\nexperiments = ['os:path']", "os:path is not an Experiment but module"),
        ("[grid]\nexperiments = ['broken:X']", "broken:X: invalid syntax (broken.py, line 1)"),
        ("[grid]\nrefinements = [4, 1000000000]", "[1] must be at most 1474, got 1000000000"),
        (f"x = {'[' * 5000}{']' * 5000}", "nested too deeply for a study"),
        ("[grid", "Expected"),
    ],
)
def test_what_cannot_be_read_is_named(folder: Path, text: str, complaint: str) -> None:
    for name, content in {
        "odd.txt": "##\n#?",
        "cell.txt": "###\n#.#\n###",
        "apart.txt": "#####\n#.#.#\n#####",
        "broken.py": "def\n",
        "leaving.py": "import sys\nsys.exit(0)\n",
        "leaving_later.py": LEAVING,
    }.items():
        (folder / name).write_text(content, encoding="utf-8")
    (folder / "bytes.txt").write_bytes(b"\xff\xfe\xff")
    path = re.escape(f"{folder / 'study.toml'}: ")
    with pytest.raises(wf.InputError, match=path) as error:
        read(folder, text)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_entries_of_a_list_are_not_compared_with_all_others() -> None:
    compared = 0

    class Entry(int):
        __hash__ = int.__hash__

        def __eq__(self, other: object) -> bool:
            nonlocal compared
            compared += 1
            return int(self) == other

    seeds = {"seeds": list(range(2000))}
    assert len(read_list(seeds, "seeds", (), lambda value, _: Entry(value))) == 2000
    assert compared < 10_000


# ------------------------------------------------------------------- an experiment of one's own


def test_it_runs_in_workers_and_its_section_stands_in_the_report(folder: Path) -> None:
    answer = wayfield("study", "run", "mine.toml", "--workers", 2)
    assert answer.code == 0, answer.err
    assert "tasks run: 3, reused: 0" in answer.out
    assert "report: report/mine/index.html" in answer.out
    page = Path("report/mine/index.html").read_text(encoding="utf-8")
    for told in (
        '<section id="rings">',
        "<h2>Walks on a ring</h2>",
        "Somebody walks around until home.",
        'aria-label="Walks by ring"',
        "<title>walks, 5: 0.5</title>",
        "Walks on rings",
        "Do walks come home?",
        "Half of 64 do.",
        "On rings.",
        "Rings are round.",
        "wayfield study run mine.toml --workers 2",
    ):
        assert told in page, told
    found = outline(page)
    for word in ("paper", "zhang", "reproduced", "harmonic", "verdict"):  # nothing of the paper
        assert word not in found.words.lower(), word
    assert {target for target in found.targets if not target.startswith("#")} == set()
    assert sorted(path.name for path in Path("report/mine").rglob("*.*")) == [
        ".wayfield.json", "index.html", "rings-walks.csv"
    ]  # fmt: skip
    with Path("report/mine/tables/rings-walks.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert lines[-1] == {"ring": "8", "arm": "back", "states": "8"}
    workers = duckdb.sql("SELECT DISTINCT process FROM 'results/rings/*.parquet'").fetchall()
    assert (os.getpid(),) not in workers
    sql = "SELECT list_sum(states) AS sum FROM rings WHERE size = 8 AND arm = 'back'"
    assert "28" in wayfield("study", "query", sql).out


@pytest.mark.usefixtures("in_this_process")
def test_results_go_on_and_reports_are_written_from_them(folder: Path) -> None:
    wayfield("study", "run", "mine.toml", "--workers", 1)
    Path("mine.toml").write_text(STUDY.replace("8]", "8, 13]"), encoding="utf-8")
    answer = wayfield("report", "mine.toml")
    assert answer.code == 0, answer.err
    assert "rings: 1 of 4 tasks are missing" in answer.err
    assert "Half of 64 do." in Path("report/mine/index.html").read_text(encoding="utf-8")
    assert "tasks run: 1, reused: 3" in wayfield("study", "mine.toml", "--workers", 1).out
    assert "Half of 116 do." in Path("report/mine/index.html").read_text(encoding="utf-8")
    Path("mine.toml").write_text(STUDY.replace("EXPERIMENT", "BROKEN"), encoding="utf-8")
    answer = wayfield("study", "mine.toml", "--workers", 1)
    assert answer.code == 2
    assert "a section of 'broken' must be a wayfield_study.report.Section, got a str" in answer.err


@pytest.mark.usefixtures("in_this_process")
def test_another_studys_experiment_of_the_same_name_is_another(folder: Path) -> None:
    """Two folders, each with a module of one name, and one folder of results."""
    for each, reached in (("first", "ring.size"), ("second", "0")):
        (folder / each).mkdir()
        module = MODULE.replace('"reached": ring.size', f'"reached": {reached}')
        (folder / each / "own_rings.py").write_text(module, encoding="utf-8")
        (folder / each / "mine.toml").write_text(STUDY, encoding="utf-8")
    words = ("--workers", 1, "--results", folder / "shared")
    assert wayfield("study", folder / "first" / "mine.toml", *words).code == 0
    sys.modules.pop("own_rings", None)
    status = wayfield("study", "status", folder / "second" / "mine.toml", *words[2:])
    assert "computed by first/own_rings.py, now by second/own_rings.py" in status.err
    answer = wayfield("study", folder / "second" / "mine.toml", *words)
    assert "tasks run: 3, reused: 0" in answer.out
    assert "0.0000" in answer.out
