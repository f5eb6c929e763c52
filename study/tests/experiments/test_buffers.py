"""The study of buffers: worlds that keep their own rules, walks, and figures counted by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield.errors import InputWarning
from wayfield.replay.dataset import read_dataset
from wayfield_study.engine import Profile, Records
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import buffers
from wayfield_study.experiments.buffers import planners, worlds
from wayfield_study.experiments.buffers.worlds import SETS, World, behave, make_buffer, steer

WORLDS = {
    f"{which}: {name}": world for which, worlds in SETS.items() for name, world in worlds.items()
}


TUNED, HELD_BACK = SETS.values()


@pytest.fixture
def coarse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the oracle be quick."""
    monkeypatch.setattr(planners, "FINE", 1_500)


def test_no_world_is_in_both_sets() -> None:
    assert not set(TUNED) & set(HELD_BACK)
    assert len(HELD_BACK) >= 12
    assert sum(len(world.tasks) for world in HELD_BACK.values()) >= 36


@pytest.mark.parametrize("world", WORLDS.values(), ids=WORLDS)
def test_a_world_keeps_its_own_rules(world: World) -> None:
    run = behave(world, 3, 4 * world.length)
    states, onward = (
        run.states[run.alive],
        world.step(run.states[run.alive], run.actions[run.alive], None),
    )
    assert onward.shape == states.shape
    assert np.array_equal(onward, world.step(states, run.actions[run.alive], None))
    # the coordinates that matter are those of states, and typical steps in them are about 1 long
    assert np.allclose(world.given(world.observe(states, None)), world.features(states))
    moved = np.linalg.norm(world.features(onward) - world.features(states), axis=1)
    assert 0.2 < np.median(moved[moved > 0]) < 3.0
    # the last row of every episode, or its death
    data = make_buffer(replace(world, rows=4 * world.length), 3)
    ends = data["terminals"] | data.get("timeouts", False)
    assert ends.sum() == 4
    assert ends[-1]
    assert ("actions" in data) == world.has_actions
    columns = read_dataset(data, "observation")
    assert np.array_equal(columns["deaths"], data["terminals"] & world.deadly)
    # tasks begin alive, away from their goals, and end in states that are free
    for task in world.tasks:
        start, goal = (np.array(state)[None] for state in task)
        assert not world.arrived(start, goal[0])[0]
        assert world.arrived(goal, goal[0])[0]
        assert not world.fatal(np.vstack([start, goal])).any()
        if isinstance(world, worlds.Plane):
            assert not world.inside(np.vstack([start, goal])[:, :2]).any()
        if isinstance(world, worlds.RobotArm):
            assert world.free(np.vstack([start, goal])).all()


@pytest.mark.parametrize("name", ["spiral", "two rooms", "key, 400"])
def test_nobody_walks_through_walls(name: str) -> None:
    world = TUNED[name]
    assert isinstance(world, worlds.Plane)
    run = behave(world, 5, 50 * world.length)
    before, after = (
        run.states[:, part].reshape(-1, run.states.shape[2]) for part in (slice(-1), slice(1, None))
    )
    assert not world.inside(after[:, :2]).any()
    # blocks may be slid round at a corner; thin walls and shut doors are never crossed
    if name != "two rooms":
        assert not world.parted(before, after).any()


def test_worlds_are_those_of_their_file() -> None:
    maze, free = HELD_BACK["point maze"], wf.load_layout("medium").free
    for off in (0.05, 0.95):  # all of a cell, and nothing else, is a block
        for cells, blocked in ((np.argwhere(free), False), (np.argwhere(~free), True)):
            assert (maze.inside(cells + off) == blocked).all()
    for world, behind in (  # starts behind the door have the key, and three in ten of the others
        (TUNED["key, 1"], lambda at: at[:, 0] > 5.0),
        (
            HELD_BACK["key and door, 1"],
            lambda at: at[:, 1] < np.interp(at[:, 0], [2.6, 3.6], [2, 2.6]),
        ),
    ):
        drawn = world.draw(np.random.default_rng(0), 2_000)
        has, there = drawn[:, 2] == 1.0, behind(drawn)
        assert has[there].all()
        assert 0.25 < has[~there].mean() < 0.35


def test_the_low_level_takes_the_action_that_comes_nearest() -> None:
    world = TUNED["two rooms"]
    states = np.array([[1.0, 1.0], [3.0, 1.0]])
    aims = world.features(states + np.array([[0.0, 0.5], [-0.5, 0.0]]))
    assert steer(world, states, aims).tolist() == [2, 4]  # up, and left


def test_deaths_are_seen_by_the_plan_of_counts_but_not_by_dijkstra() -> None:
    ice = TUNED["ice"]
    assert isinstance(ice, worlds.Ice)
    world = replace(ice, rows=20_000, slip=0.6, sensor=0.0, deadly=True)
    data = make_buffer(world, 0)
    start, goal = np.array([2.0, 3.0]), np.array([2.0, 5.0])  # a hole is between them
    by_counts = planners.counts(world, data, 0)(goal).reach(start[None])
    with pytest.warns(InputWarning, match="19 episodes of a single observation skipped"):
        by_arcs = planners.shortest(world, data, 0)(goal).reach(start[None])
    assert by_counts[0] < by_arcs[0] == 1.0


def test_the_rows_of_a_cell(coarse: None) -> None:
    cell = buffers.cells(Profile("quick", ""))[0]
    rows = Records.of(as_table(cell, buffers.run(cell)))
    assert rows.values("arm") == [look.name for look in buffers.LOOKS]
    assert all(0 <= row["arrived"] + row["died"] <= row["walks"] for row in rows)
    assert rows.where(arm="oracle").ratio("arrived", "walks") > 0.9
    assert np.isnan(rows.where(arm="oracle").column("predicted")).all()
    again = Records.of(as_table(cell, buffers.run(cell)))
    assert str(rows.rows) == str(again.rows)
    assert [table.name for table in buffers.tables(rows)]
    assert list(buffers.findings(rows)) == []  # too few worlds
    assert buffers.charts(rows)


def test_a_planner_that_refuses_predicts_nothing() -> None:
    def refuse(goal: Any) -> planners.GuidePlan:
        raise wf.InputError("no")

    world = TUNED["ice"]
    row = buffers.walk(world, refuse, world.tasks[0], 3, np.random.default_rng(0))
    assert (row["predicted"], row["arrived"], row["refused"]) == (0.0, 0, True)


def task(arrived: int, predicted: float, low: float, high: float, **others: Any) -> dict[str, Any]:
    about = {"set": "held back", "world": "w", "seed": 1, "task": 0, "arm": "subgoals"}
    counts = {"walks": 10, "arrived": arrived, "predicted": predicted, "low": low, "high": high}
    return about | {"verdict": "trust", "steps": 5.0} | counts | others


def test_figures_by_hand() -> None:
    rows = Records.of([
        task(10, 0.9, 0.8, 1.0),  # holds, narrow
        task(5, 0.65, 0.55, 0.95),  # overconfident, holds up to chance, wide
        task(0, 0.1, 0.5, 0.6),  # fails either way
    ])  # fmt: skip
    found = buffers.figures(rows)
    assert found["arrival"] == pytest.approx(0.5)
    assert found["gap"] == pytest.approx((0.1 + 0.15 + 0.1) / 3)
    shares = [found[name] for name in ("over", "holds", "meets", "narrow")]
    assert shares == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])
    assert np.isnan(buffers.figures(Records.of([task(1, 0.5, np.nan, np.nan)]))["holds"])


def test_findings_compare_with_rivals() -> None:
    rows = [
        task(8 if look.name == "subgoals" else 2, 0.5, np.nan, np.nan, arm=look.name, world=world)
        for look in buffers.LOOKS
        for world in HELD_BACK
    ]
    first, second = buffers.findings(Records.of(rows))
    assert first.mark == "new"
    assert "80% of the walks by sub-goals" in first.text
    assert second.mark == "new"
    summary = next(buffers.tables(Records.of(rows)))
    assert summary.rows[0][:3] == ["Planner, sub-goals", "0.80", "0.30"]
