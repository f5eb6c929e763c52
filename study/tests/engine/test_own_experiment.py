"""An experiment of one's own: a module beside a TOML file, with cells and a section of its own."""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from pages import outline
from shell import wayfield

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
    with Path("report/mine/tables/rings-walks.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    assert lines[-1] == {"ring": "8", "arm": "back", "states": "8"}
    workers = duckdb.sql("SELECT DISTINCT process FROM 'results/rings/*.parquet'").fetchall()
    assert (os.getpid(),) not in workers
    sql = "SELECT list_sum(states) AS sum FROM rings WHERE size = 8 AND arm = 'back'"
    assert "28" in wayfield("study", "query", sql).out


@pytest.mark.usefixtures("in_this_process")
def test_its_report_says_nothing_of_the_paper(folder: Path) -> None:
    assert wayfield("study", "run", "mine.toml", "--workers", 1).code == 0
    found = outline(Path("report/mine/index.html").read_text(encoding="utf-8"))
    for word in ("paper", "zhang", "reproduced", "harmonic", "verdict"):
        assert word not in found.words.lower(), word
    assert {target for target in found.targets if not target.startswith("#")} == set()
    assert sorted(path.name for path in Path("report/mine").rglob("*.*")) == [
        ".wayfield.json", "index.html", "rings-walks.csv"
    ]  # fmt: skip


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


@pytest.mark.parametrize(
    ("study", "complaint"),
    [
        ('experiments = ["own_rings:EXPERIMENT", "rollout"]', "run on cells of different kinds"),
        ('experiments = ["own_rings:EXPERIMENT"]\nseeds = [1]', "unknown key grid.seeds; known"),
        ('experiments = ["own_rings:ROLLOUT"]', "must have another name: 'rollout' is taken"),
        ('experiments = ["own_rings:NONE"]', "cannot import own_rings:NONE"),
        ('experiments = ["own_rings:Ring"]', "own_rings:Ring is not an Experiment but type"),
    ],
)
def test_what_is_wrong_is_one_line(folder: Path, study: str, complaint: str) -> None:
    Path("mine.toml").write_text(f"[grid]\n{study}\n", encoding="utf-8")
    answer = wayfield("study", "mine.toml")
    assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert answer.err.startswith("wayfield: mine.toml: ")
    assert complaint in answer.err


@pytest.mark.usefixtures("in_this_process")
def test_a_section_that_is_none(folder: Path) -> None:
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
