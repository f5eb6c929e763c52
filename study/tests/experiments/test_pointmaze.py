"""The study of PointMaze: its profiles, that it resumes, and what its report says."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from study_work import files

from pages import outline
from shell import wayfield
from wayfield_study.engine import Records, Row, Store, by_experiment, run
from wayfield_study.experiments import STUDIES, pointmaze
from wayfield_study.experiments.pointmaze import (
    ARMS,
    DATASETS,
    LESS_DATA,
    NO_GRAPH,
    OFFICIAL,
    OURS,
    SUCCESS,
    PointCell,
    say_steps,
    say_success,
)
from wayfield_study.experiments.pointmaze.planners import GRAPHS
from wayfield_study.report import Provenance, write_report

STUDY = STUDIES["pointmaze"]
QUICK = STUDY.tasks(STUDY.profile("quick"))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The quick profile, with two of the five tasks: Planner takes seconds per goal."""
    store = Store(tmp_path_factory.mktemp("pointmaze") / "results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pointmaze, "TASKS", 2)
        assert run(QUICK, store, workers=0).failed == {}
    return store


@pytest.fixture(scope="module")
def tables(store: Store) -> dict[str, Records]:
    rows = by_experiment({task: store.look(task).rows for task in QUICK})
    return {name: Records.of(some) for name, some in rows.items()}


# ------------------------------------------------------------------- experiments


def test_every_planner_is_there(tables: dict[str, Records]) -> None:
    rows = tables["point_success"]
    assert rows.where(graph="time").values("arm") == [arm.name for arm in ARMS]
    drawn = [arm.name for arm in ARMS if arm.name not in NO_GRAPH]
    assert rows.where(graph="xy-10").values("arm") == drawn
    for row in rows:
        assert row["pairs"] == row["episodes"] == 20
        assert row["reached"] == sum(row["by_task"])
        assert (0.0 <= row["predicted"] <= 1.0) == (row["arm"] == OURS)  # rivals: NaN
        assert (row["steps"] > 0) == (row["reached"] > 0)


def test_our_planner_arrives_more_often_than_shortest_paths(tables: dict[str, Records]) -> None:
    rows = tables["point_success"].where(graph="time")
    ours, theirs = (rows.where(arm=arm).ratio("reached", "pairs") for arm in (OURS, "dijkstra"))
    assert ours > theirs
    assert theirs <= 0.7


def test_our_planner_arrives_with_a_tenth_of_the_data(tables: dict[str, Records]) -> None:
    assert tables["point_success"].where(arm=OURS).ratio("reached", "pairs") >= 0.9
    assert tables["point_success"].where(arm=OURS).column("predicted").min() > 0.8


def test_with_few_data_moves_are_borrowed_from_afar(tables: dict[str, Records]) -> None:
    """In many places some directions were never taken; the nearest rows that did must do."""
    (ours,) = tables["point_shares"].where(arm=OURS)
    assert ours["reached"] >= 19  # of 20
    assert ours["predicted"] < ours["reached"] / ours["pairs"]


def test_the_profiles() -> None:
    standard = [task.cell for task in STUDY.tasks() if task.experiment is SUCCESS]
    assert len(standard) == len(DATASETS) * len(GRAPHS) * 3
    assert {cell.episodes for cell in standard} == {100}
    less = [task.cell for task in STUDY.tasks() if task.experiment is LESS_DATA]
    assert {cell.share for cell in less} == set(pointmaze.SHARES)
    assert len({task.key for task in STUDY.tasks()}) == len(STUDY.tasks())
    evaluation = STUDY.profile("official")
    assert not [e for e in STUDY.experiments if e is not OFFICIAL and e.cells(evaluation)]
    assert len(OFFICIAL.cells(evaluation)) == 3
    assert not OFFICIAL.cells(STUDY.profile())


# ------------------------------------------------------------------- OGBench's own evaluation


def test_what_the_official_evaluation_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ogbench", None)
    assert STUDY.left_out() == {}
    assert "pip install '.[sim]'" in STUDY.left_out(STUDY.profile("official"))["point_official"]
    done = wayfield("study", "pointmaze", "--official")
    assert done.code == 2
    assert "pip install '.[sim]'" in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_official_is_a_profile() -> None:
    done = wayfield("study", "pointmaze", "--official", "--profile", "quick")
    assert done.code == 2
    assert "exclude each other" in done.err


@pytest.mark.filterwarnings("ignore")  # of gymnasium
def test_the_official_evaluation(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ogbench")
    monkeypatch.setenv("MUJOCO_GL", "disabled")
    cell = PointCell("teleport-stitch", "time", 0, 0.1, 500, 4)
    scene = cell.draw()
    first = replace(scene, maze=replace(scene.maze, tasks=scene.maze.tasks[:2]))
    monkeypatch.setattr(PointCell, "draw", lambda _: first)
    rows = pointmaze.run_official(cell)
    assert [row["arm"] for row in rows] == [*pointmaze.RIVALS, OURS]
    assert all(row["pairs"] == 4 and len(row["by_task"]) == 2 for row in rows)
    assert rows[-1]["reached"] >= 3


# ------------------------------------------------------------------- words


def made(reached: int, pairs: int = 100, graph: str = "xy-5") -> Row:
    return {"arm": OURS, "graph": graph, "reached": reached, "pairs": pairs, "steps": 7 * reached}


def test_success_is_said_with_its_interval() -> None:
    assert say_success(Records.of([made(100), made(100)])) == "100"
    assert say_success(Records.of([made(0)])) == "0"
    assert say_success(Records.of([made(50)])) == "50 (40–60)"
    assert say_success(Records(())) == "–"
    assert (say_steps(Records.of([made(50)])), say_steps(Records.of([made(0)]))) == ("7", "–")


# ------------------------------------------------------------------- store and report


def test_the_bytes_are_the_same(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pointmaze, "TASKS", 2)
    again = Store(tmp_path / "again")
    shared = next(task for task in QUICK if task.experiment.name == "point_shares")
    assert run([shared], again, workers=0).failed == {}
    assert len(files(again)) == 1
    assert files(again).items() <= files(store).items()


def test_its_report(tables: dict[str, Records], tmp_path: Path) -> None:
    provenance = Provenance("wayfield study pointmaze")
    pages = [write_report(STUDY, tables, tmp_path / name, provenance) for name in ("one", "two")]
    texts = [page.read_bytes() for page in pages]
    assert texts[0] == texts[1]
    found = outline(texts[0].decode())
    for experiment in STUDY.experiments:
        for section in experiment.sections:
            assert section.title in found.words
    for word in ("Arrival predicted and measured", "success by number of neighbours", "GAS"):
        assert word in found.words
    rows = tables["point_success"].where(arm=OURS, graph="time")
    assert say_success(rows) in found.words
    assert found.words.count("Not run here") == 1  # the official evaluation
    if STUDY.experiments[-1].lacks() is None:
        assert "Not run here: wayfield study pointmaze --official computes it." in found.words
    assert "nan" not in found.words.lower().split()


def test_a_report_of_what_is_there(tables: dict[str, Records], tmp_path: Path) -> None:
    some = {"point_shares": tables["point_shares"]}
    page = write_report(STUDY, some, tmp_path, Provenance("wayfield report pointmaze"))
    assert "Not run here" in outline(page.read_text(encoding="utf-8")).words
