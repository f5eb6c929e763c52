"""Doors that open one way and thin walls: cells that they run through are cut, and no others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield.replay._counts import Located
from wayfield.replay._dataset import read_rows
from wayfield.replay._stitching import Stitched
from wayfield.replay._walls import Walls, _cut_by

Array = np.ndarray[Any, Any]
HEIGHT, END, STRIDE = 1.03, 4.8, 0.2
BELOW, ABOVE = np.array([0.5, 0.3]), np.array([0.5, 1.7])


class Hall:
    """A room 6 wide and 2 high, parted at a height of 1.03 but for a passage on the right.

    The partition ends in a pillar. It may be crossed upwards or not at all; one slides along it.
    """

    def __init__(self, opens: bool = False, parted: bool = True, end: float = END) -> None:
        self.opens, self.parted, self.end = opens, parted, end

    def step(self, x: Array, heading: Array, rng: np.random.Generator) -> Array:
        size = np.maximum(np.linalg.norm(heading, axis=1, keepdims=True), STRIDE)
        to = x + STRIDE * heading / size + rng.normal(0.0, 0.04, x.shape)
        to = np.clip(to, 0.0, [6.0, 2.0])
        for instead in (np.stack([to[:, 0], x[:, 1]], 1), np.stack([x[:, 0], to[:, 1]], 1), x):
            to = np.where(self.blocked(x, to)[:, None], instead, to)
        return to

    def blocked(self, x: Array, to: Array) -> Array:
        down, up = x[:, 1] >= HEIGHT, x[:, 1] < HEIGHT
        down, up = down & (to[:, 1] < HEIGHT), up & (to[:, 1] >= HEIGHT)
        across = (down if self.opens else down | up) & (x[:, 0] < self.end)
        return (across | self.in_pillar(to)) & self.parted

    def in_pillar(self, x: Array) -> Array:
        """The partition ends in a pillar: a wall that is thin to its very tip is not seen there."""
        return (np.abs(x - [self.end, HEIGHT]) < 0.4).all(axis=1)

    def buffer(self, episodes: int = 1500, length: int = 60) -> dict[str, Array]:
        rng = np.random.default_rng(0)
        x, angle = rng.uniform(0.0, [6.0, 2.0], (episodes, 2)), rng.uniform(0, 2 * np.pi, episodes)
        x[self.in_pillar(x)] = BELOW
        seen = []
        for _ in range(length):
            seen.append(x)
            turned = rng.random(episodes) < 0.1
            angle = np.where(turned, rng.uniform(0, 2 * np.pi, episodes), angle)
            x = self.step(x, np.stack([np.cos(angle), np.sin(angle)], axis=1), rng)
        ends = np.tile(np.arange(length) == length - 1, episodes)
        return {"observations": np.stack(seen, axis=1).reshape(-1, 2), "terminals": ends}

    def walk(self, planner: wf.Planner, start: Array, goal: Array) -> float:
        """Share of 40 walks that arrive on the goal's side of the partition."""
        rng = np.random.default_rng(1)
        x, arrived = np.tile(start, (40, 1)), np.zeros(40, dtype=bool)
        for _ in range(250):
            x = np.where(arrived[:, None], x, self.step(x, planner.subgoal(x, goal) - x, rng))
            side = (x[:, 1] >= HEIGHT) == (goal[1] >= HEIGHT)
            arrived |= side & (np.linalg.norm(x - goal, axis=1) < 0.4)
        return float(arrived.mean())


@pytest.fixture(scope="module")
def door() -> wf.Planner:
    return wf.Planner(Hall(opens=True).buffer(), landmarks=120)


@pytest.fixture(scope="module")
def wall() -> wf.Planner:
    return wf.Planner(Hall().buffer(), landmarks=120)


def test_nobody_is_sent_against_a_door(door: wf.Planner) -> None:
    assert door.subgoal(ABOVE, BELOW)[0] > ABOVE[0]  # to the passage
    assert Hall(opens=True).walk(door, ABOVE, BELOW) > 0.95
    assert door.reach(ABOVE, BELOW) > 0.95


def test_a_door_is_used_the_way_it_opens(door: wf.Planner) -> None:
    assert Hall(opens=True).walk(door, BELOW, ABOVE) > 0.95
    assert door.value(BELOW, ABOVE) < door.value(ABOVE, BELOW) / 2


def test_a_thin_wall_is_walked_around(wall: wf.Planner) -> None:
    for start, goal in ((ABOVE, BELOW), (BELOW, ABOVE)):
        assert Hall().walk(wall, start, goal) > 0.95
        assert wall.reach(start, goal) > 0.95


def test_beyond_a_door_without_a_way_round_arrival_is_not_predicted() -> None:
    planner = wf.Planner(Hall(opens=True, end=6.1).buffer(), landmarks=120)
    assert planner.reach(ABOVE, BELOW) < 0.05
    assert planner.reach(BELOW, ABOVE) > 0.95


def test_a_goal_at_a_wall_is_on_its_own_side(wall: wf.Planner) -> None:
    near = np.array([1.0, HEIGHT + 0.05])
    assert (wall.subgoal([1.0, HEIGHT - 0.1], near) != near).any()
    assert (wall.subgoal([1.0, HEIGHT + 0.15], near) == near).all()


def test_an_open_room_has_no_walls() -> None:
    planner = wf.Planner(Hall(parted=False).buffer(), landmarks=120)
    assert len(planner.states) == 120
    assert planner.report(BELOW).walls.size == 0


def test_walls_are_reported(wall: wf.Planner) -> None:
    report = wall.report(BELOW)
    assert (report.walls >= 10).all()
    assert "or one-way door" in str(report)


def test_an_embedding_keeps_the_sides_apart_in_its_own_space() -> None:
    data = Hall().buffer()
    odd = {**data, "observations": np.hstack([data["observations"], np.ones((90_000, 1))])}
    planner = wf.Planner(odd, landmarks=120, embed=lambda rows: rows[:, :2])
    assert len(planner.states) > 120
    assert planner.subgoal([*ABOVE, 1.0], [*BELOW, 1.0])[0] > ABOVE[0]


def test_next_observations_are_cut_as_well(wall: wf.Planner) -> None:
    data = Hall().buffer()
    rows, stay = data["observations"], ~data["terminals"][:-1]
    pairs = {"observations": rows[:-1][stay], "next_observations": rows[1:][stay]}
    planner = wf.Planner(pairs, landmarks=120)
    assert Hall().walk(planner, ABOVE, BELOW) > 0.95


def test_transitions_in_any_order_have_no_walls() -> None:
    data = Hall().buffer()
    rows, stay = data["observations"], ~data["terminals"][:-1]
    first, second = rows[:-1][stay], rows[1:][stay]
    order = np.random.default_rng(0).permutation(len(first))
    pairs = {"observations": first[order], "next_observations": second[order]}
    assert wf.Planner(pairs, landmarks=120).report(BELOW).walls.size == 0


@pytest.mark.parametrize("shut", [False, True])
def test_the_few_steps_that_cross_a_wall_end_where_they_began(shut: bool) -> None:
    """Upwards, steps count if the wall is a one-way door."""
    rows = np.array([[0.0, 1.0], [0.0, -1.0], [0.0, -2.0], [0.0, 2.0]])
    buffer = read_rows(rows, None, None)
    cell = np.zeros(4, np.int32)
    planes = np.array([[0.0, 1.0]]), np.zeros(1), np.full(1, 10.0), np.zeros(1)
    walls = Walls.of(np.zeros((1, 2)), np.zeros(1, int), *planes, shut=np.array([shut]))
    cut = _cut_by(walls, buffer, Located(cell, cell, np.zeros((1, 2))))
    assert cut.located.here.tolist() == [1, 0, 0, 1]
    assert cut.located.there.tolist() == [1, 0, 0 if shut else 1, 1]
    assert cut.halves.tolist() == [0, 1]


def test_walls_are_saved(wall: wf.Planner, tmp_path: Path) -> None:
    loaded = wf.Planner.load(wall.save(tmp_path / "planner.npz"))
    places = Hall().buffer(50, 4)["observations"]
    assert (loaded.subgoal(places, BELOW) == wall.subgoal(places, BELOW)).all()


def test_stitched_arcs_through_a_wall_are_refuted(wall: wf.Planner) -> None:
    arcs: Stitched = wall._model.stitched
    places = wall.states
    upper = places[:, 1] >= HEIGHT
    left = np.maximum(places[arcs.tail, 0], places[arcs.head, 0]) < END - 1.0
    through = left & (upper[arcs.tail] != upper[arcs.head])
    assert through.any()
    assert (arcs.odds[through] < 0.05).all()
