"""The ant's study: its rows, that it resumes, what its report says, and the forecast."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from study_work import files

import wayfield as wf
from pages import outline
from shell import wayfield as shell
from wayfield.plans.planning import Plan
from wayfield_study.engine import Records, Store, Task, run
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import STUDIES, antmaze
from wayfield_study.experiments.antmaze import AntBufferCell, AntCell
from wayfield_study.report import Provenance, write_report
from wayfield_study.sim import Gait, foresee, ogbench_coordinates

STUDY = STUDIES["antmaze"]
SMALL = AntCell("medium", 4, 0.05, 58, goals=1, starts=2)
LACKING = antmaze.EXPERIMENT.lacks() is not None
needs_sim = pytest.mark.skipif(LACKING, reason="the extra sim is not there")
not_ours = pytest.mark.filterwarnings("default")


# ------------------------------------------------------------------- cells


def test_the_grid_is_the_papers_and_giant_mazes() -> None:
    cells = antmaze.cells(STUDY.profile("standard"))
    assert len(cells) == 2 * 3 * 4 * 5 + 4 * 5
    assert {cell.maze for cell in cells} == {"medium", "large", "giant"}
    assert len(set(cells)) == len(cells)
    assert len(antmaze.cells(STUDY.profile("quick"))) == 3


def test_a_cell_is_drawn_from_its_settings_alone() -> None:
    one, other = SMALL.draw(), SMALL.draw()
    np.testing.assert_array_equal(one.starts, other.starts)
    np.testing.assert_array_equal(one.seeds, other.seeds)
    for cell in (SMALL, AntCell("giant", 4, 0.02, 54), AntCell("large", 12, 0.12, 55)):
        drawn = cell.draw()
        assert drawn.starts.shape == (cell.goals, cell.starts)
        assert not (drawn.starts == drawn.goals[:, None]).any()
        assert (drawn.places.clearance[drawn.starts] >= 1).all()
        assert (drawn.places.clearance[drawn.goals] >= 1).all()


# ------------------------------------------------------------------- walks


@needs_sim
@not_ours
def test_rows_add_up_and_are_the_same_again(tmp_path: Path) -> None:
    task, store = Task(antmaze.EXPERIMENT, SMALL), Store(tmp_path)
    first = run([task], store, workers=0)
    assert not first.failed
    rows = Records.of(first.tables[task])
    assert rows.values("arm") == ["harmonic", "sweeps", "p8", "amle", "distance"]
    ends = sum(rows.column(name) for name in ("arrived", "looped", "fell", "out_of_time"))
    np.testing.assert_array_equal(ends, rows.column("episodes"))
    for row in rows.where(arm="distance"):
        assert row["arrived"] == row["graph"] == row["graph_right"] == row["foreseen"] == 2
    kept = files(store)
    assert run([task], store, workers=0).reused == 1
    store.path(task).unlink()
    run([task], store, workers=0)
    assert files(store) == kept  # bit for bit


@needs_sim
@not_ours
def test_the_ants_own_buffer_leads_it_to_the_goal() -> None:
    cell = AntBufferCell("medium", "navigate", 8_000, 0, each=1)
    rows = Records.of(as_table(cell, antmaze.run_buffer(cell)))
    assert rows.values("arm") == ["planner", "distance"]
    assert rows.column("episodes").tolist() == [5, 5]
    assert rows.where(arm="planner").total("arrived") >= 3
    assert rows.where(arm="distance").total("arrived") >= 4
    (table,) = antmaze.buffer_tables(rows)
    assert len(table.rows) == 2
    cells = antmaze.buffer_cells(STUDY.profile("standard"))
    assert {each.maze for each in cells} == {"medium", "large", "giant", "teleport"}
    assert len(set(cells)) == len(cells)


def made_up(arm: str, r: int, arrived: int, graph: int, right: int) -> dict[str, Any]:
    ends = {"arrived": arrived, "looped": 10 - arrived, "fell": 0, "out_of_time": 0}
    counts = {"steps": 100 * arrived, "graph": graph, "graph_right": right}
    counts |= {"foreseen": arrived, "foreseen_right": 10}
    cell = AntCell("medium", r, 0.02, 54).columns
    return {**cell, "arm": arm, "episodes": 10, **ends, **counts}


def test_the_report_says_what_was_predicted_and_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [made_up("harmonic", 4, 7, 5, 8)]
    rows += [made_up(look.name, 4, 10, 10, 10) for look in antmaze.LOOKS[1:]]
    _, _, table = antmaze.tables(Records.of(rows))
    matched = {line[0]: line[1:] for line in table.rows}
    # of 7 that arrived 5 were expected, all of which arrived: 2 surprises, 3 failed as expected
    assert matched["r = 4, harmonic, the graph's verdict"] == ["5", "0", "2", "3", "80.0%"]
    assert matched["r = 4, harmonic, expecting all to arrive"] == ["7", "3", "0", "0", "70.0%"]
    assert matched["r = 4, harmonic, forecast"] == ["7", "0", "0", "3", "100.0%"]
    assert not list(antmaze.findings(Records.of(rows)))  # ten episodes are too few
    monkeypatch.setattr(antmaze, "FEWEST_EPISODES", 10)
    write_report(STUDY, {"antmaze": rows}, tmp_path, Provenance("wayfield study antmaze"))
    page = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "Does it hold for the ant?" in page
    assert "0.700 [0.397, 0.892]" in page
    assert "Predicted against walked" in outline(page).words


def test_a_missing_extra_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    assert STUDY.tasks() == []
    monkeypatch.chdir(tmp_path)
    told = shell("study", "antmaze", "--profile", "quick", "--out", "there")
    assert told.code == 2
    assert told.err.split() == f"wayfield: {antmaze.EXPERIMENT.lacks()}".split()
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------- the forecast


def harmonic(refinement: int, goal: int, seed: int) -> Plan:
    graph = wf.grid_graph(wf.load_layout("medium"), refinement)
    labels = wf.sample_labels(graph, goal, fraction=0.05, seed=seed)
    return wf.plan(graph, wf.extend(graph, labels, wf.Harmonic()), goal)


PLACES = ogbench_coordinates(wf.load_layout("medium"))


HEAVY = Gait(speed=0.01)
"""Gets nowhere by itself, so that nothing but leaks can bring it home."""


@pytest.mark.parametrize("refinement", [4, 8, 12])
def test_loops_that_leak_let_go(refinement: int) -> None:
    """The loop of a start is found by walking, and its leak counted by hand."""
    plan = harmonic(refinement, 22, 58)
    places, caught = PLACES.at(refinement), np.flatnonzero(~plan.reached)
    some = caught[:: max(caught.size // 12, 1)]
    foreseen = foresee(plan, PLACES, some, gait=HEAVY, tries=1, seconds=0.1)
    for start, expected in zip(some, foreseen, strict=True):
        here = int(start)
        for _ in range(plan.successor.size):
            here = int(plan.successor[here])
        middle = (places.xy[here] + places.xy[plan.successor[here]]) / 2
        near = [v for v, xy in enumerate(places.xy) if math.dist(xy, middle) <= 1.0]
        leak = sum(plan.reached[v] for v in near) / len(near)
        assert expected == (leak >= 0.125)
    if refinement == 4:  # nothing but the loop is within a metre of it
        assert not foreseen.any()


def test_a_wide_basin_holds_and_a_body_without_momentum_is_the_graphs_walker() -> None:
    plan = harmonic(4, 22, 58)
    assert not plan.reached[390]
    assert not foresee(plan, PLACES, [390])[0]
    slow = Gait(lag=0.0, sway=0.0, girth=0.0, leak=1.0)  # follows the plan vertex by vertex
    roomy = PLACES.at(4).roomy
    walked = foresee(plan, PLACES, roomy, gait=slow, look_ahead=0.25, tries=1)
    assert (walked == plan.reached[roomy]).mean() > 0.98
