"""The directed study: its worlds, its arms, and that it resumes like any other."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import wayfield as wf
from pages import outline
from wayfield.graphs.tables.write import MANIFEST
from wayfield_study.engine import Records, Store, Task, by_experiment, run
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import STUDIES, WorldCell, directed
from wayfield_study.experiments.directed import ARMS, WORLDS, make_world
from wayfield_study.report import Provenance, write_report

DIRECTED = STUDIES["directed"]
SIZE = 60 if "NUMBA_DISABLE_JIT" in os.environ else 600
CELLS = [WorldCell(kind, SIZE, fraction, 54) for kind in WORLDS for fraction in (0.01, 0.1)]
TASKS = [Task(directed.EXPERIMENT, cell) for cell in CELLS]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    store = Store(tmp_path_factory.mktemp("directed") / "results")
    assert run(TASKS, store, workers=0).failed == {}
    return store


@pytest.fixture(scope="module")
def rows(store: Store) -> Records:
    return Records.of(row for task in TASKS for row in store.look(task).rows)


# ------------------------------------------------------------------- worlds


def test_worlds_are_what_they_are_called() -> None:
    maze, terrain, replay = (make_world(kind, 3_000, 7) for kind in WORLDS)
    assert maze.graph.is_unit
    assert 0.7 < reciprocity(maze.graph) < 0.95
    assert set(np.unique(terrain.graph.lengths)) == set(range(1, 10))
    assert reciprocity(terrain.graph) == 1.0
    assert (terrain.graph.lengths != terrain.graph.reverse_arcs.lengths).any()
    assert 0.6 <= reciprocity(replay.graph) <= 0.8
    assert replay.graph.num_vertices == 3_000


def reciprocity(graph: wf.Graph) -> float:
    """Share of the arcs whose reverse is an arc too."""
    arcs = set(zip(graph.tails.tolist(), graph.indices.tolist(), strict=True))
    return sum((y, x) in arcs for x, y in arcs) / len(arcs)


# ------------------------------------------------------------------- arms


def test_the_slope_rule_with_cost_fill_never_fails(rows: Records) -> None:
    ours = rows.where(arm="cost_slope")
    assert len(ours) == 6
    assert all(row["reached"] == row["pairs"] > 0 for row in ours)
    assert all(row["cost_ratio"] >= 1.0 for row in ours)


def test_the_reference_reaches_from_everywhere(rows: Records) -> None:
    for row in rows:
        if row["arm"] == "dijkstra":
            assert row["reached"] == row["pairs"]
            assert row["cost_ratio"] == pytest.approx(1.0)
        if row["reached"]:
            assert row["cost_ratio"] >= 1.0 - 1e-6


def test_counts_are_those_of_walking_from_every_start(rows: Records) -> None:
    cell = CELLS[0]
    world, labels = cell.draw()
    truth = wf.cost_to_go(world.graph, world.goal)
    starts = [x for x in np.flatnonzero(np.isfinite(truth)).tolist() if x != world.goal]
    field = wf.extend(world.graph.symmetrised(), labels, wf.Harmonic(), unreachable="nan")
    plan = wf.plan(world.graph, np.nan_to_num(field.values, nan=np.inf), world.goal)
    walks = {start: plan.rollout(start) for start in starts}
    ratios = [w.cost / truth[x] for x, w in walks.items() if w.path[-1] == world.goal]
    (row,) = rows.where(world=cell.world, label_fraction=0.01, arm="sym_harmonic")
    assert (row["pairs"], row["reached"]) == (len(starts), len(ratios))
    assert 0 < len(ratios) < len(starts)
    assert row["cost_ratio"] == pytest.approx(np.mean(ratios), abs=1e-6)


def test_every_arm_is_there_and_figures_repeat(rows: Records) -> None:
    cell = WorldCell("replay graph", SIZE, 0.01, 54)
    again = as_table(cell, directed.run(cell))
    before = rows.where(world=cell.world, label_fraction=cell.label_fraction)
    assert [row["arm"] for row in again] == [arm.name for arm in ARMS] + ["dijkstra"]
    assert str(again) == str(list(before))  # not a number among them, which differs from itself


# ------------------------------------------------------------------- profiles


def test_profiles() -> None:
    small, quick = (
        [task.cell for task in DIRECTED.tasks(DIRECTED.profile(name))] for name in (None, "quick")
    )
    assert len(small) == len(set(small)) == 75
    assert {cell.columns["label_fraction"] for cell in small} == {0.001, 0.003, 0.01, 0.03, 0.1}
    assert {cell.columns["world"] for cell in quick} == set(WORLDS)


def test_a_grid_of_ones_own(tmp_path: Path) -> None:
    cells = directed.read_grid({"worlds": ["terrain maze"], "sizes": [50, 90]}, tmp_path)
    assert len(cells) == 2 * len(directed.FRACTIONS) * len(directed.SEEDS)
    assert {cell.world for cell in cells} == {"terrain maze"}


# ------------------------------------------------------------------- store and report


def test_its_report(store: Store, rows: Records, tmp_path: Path) -> None:
    tables = by_experiment({task: store.look(task).rows for task in TASKS})
    page = write_report(DIRECTED, tables, tmp_path, Provenance("wayfield study directed"))
    text = page.read_text(encoding="utf-8")
    found = outline(text)
    for kind in WORLDS:
        assert f'aria-label="Success against labels, {kind}"' in text
    for word in (*WORLDS, "AMLE, cost fill, slope", "reverse Dijkstra", "1.0000"):
        assert word in found.words
    starts = rows.where(arm="cost_slope").total("pairs")
    assert f"0 of {starts:,} starts that can reach the goal fail" in found.words
    assert "paper" not in found.words
    assert {path.name for path in tmp_path.rglob("*.*")} == {
        MANIFEST, "index.html", "directed-arms.csv"
    }  # fmt: skip
