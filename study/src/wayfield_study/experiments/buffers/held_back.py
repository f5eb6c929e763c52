"""Worlds that no constant of the planner was chosen on: the figures that count are theirs.

Some have dynamics that do not occur in `tuned`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

import wayfield as wf
from wayfield.typing import BoolArray, FloatArray

from .worlds import (  # fmt: skip
    Actions,
    Hill,
    Ice,
    KeyDoor,
    Ledge,
    Mass,
    Plane,
    Rng,
    RobotArm,
    StartGoal,
    World,
    wrap,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Belts(Plane):
    """A plane with belts that carry along: some directions are faster, some impossible."""

    belts: tuple[tuple[float, float, float], ...]
    """Lower and upper end of each along the second coordinate, and its speed along the first."""

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Move, and be carried."""
        there = super().step(states, actions, rng)
        drift = np.zeros(len(states))
        for low, high, speed in self.belts:
            drift += speed * ((states[:, 1] >= low) & (states[:, 1] < high))
        return self.moved(there, there + np.stack([drift, np.zeros_like(drift)], axis=1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Car(Plane):
    """A car that drives ahead and steers: place and heading, the latter as cosine and sine."""

    turn: float = 0.35
    jitter: float = 0.02
    look: int = 4
    radius: float = 0.7

    @property
    def controls(self) -> FloatArray:
        """Left, straight, right."""
        return np.array([[self.turn], [0.0], [-self.turn]])

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Steer, then drive."""
        heading = states[:, 2] + self.controls[actions, 0]
        if rng is not None:
            heading = heading + self.jitter * rng.normal(size=heading.shape)
        ahead = self.stride * np.stack([np.cos(heading), np.sin(heading)], axis=1)
        places = self.moved(states[:, :2], states[:, :2] + ahead)
        return np.hstack([places, wrap(heading)[:, None]])

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw places and headings."""
        return np.hstack([super().draw(rng, count), rng.uniform(-np.pi, np.pi, (count, 1))])

    def seen(self, states: FloatArray) -> FloatArray:
        """Return places and headings."""
        heading = states[:, 2:]
        return np.hstack([states[:, :2] @ self.frame.T, np.cos(heading), np.sin(heading)])

    def given(self, observations: FloatArray) -> FloatArray:
        """Return places in strides and headings in turns."""
        places = observations[:, :2] @ np.linalg.inv(self.frame).T / self.stride
        return np.hstack([places, observations[:, 2:] / self.turn])


@dataclass(frozen=True, kw_only=True, eq=False)
class Pendulum(World):
    """A pendulum that is too heavy to lift at once: angle as cosine and sine, and its speed."""

    torque: float = 0.02
    weight: float = 0.045
    jitter: float = 0.002
    look: int = 4
    persistence: float = 0.9
    radius: float = 0.3

    @property
    def controls(self) -> FloatArray:
        """Push one way, not at all, the other way."""
        return self.torque * np.array([[-1.0], [0.0], [1.0]])

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Swing; an angle of 0 hangs."""
        angle, speed = states.T
        speed = 0.995 * speed + self.controls[actions, 0] - self.weight * np.sin(angle)
        if rng is not None:
            speed = speed + self.jitter * rng.normal(size=speed.shape)
        speed = np.clip(speed, -0.6, 0.6)
        return np.stack([wrap(angle + speed), speed], axis=1)

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw angles and speeds."""
        return np.stack([rng.uniform(-np.pi, np.pi, count), rng.normal(0.0, 0.15, count)], axis=1)

    def arrived(self, states: FloatArray, goal: FloatArray) -> BoolArray:
        """Whether angles are near, at any speed."""
        return np.asarray(np.abs(wrap(states[:, 0] - goal[..., 0])) < self.radius)

    def seen(self, states: FloatArray) -> FloatArray:
        """Return cosine, sine and speed."""
        return np.stack([np.cos(states[:, 0]), np.sin(states[:, 0]), 10 * states[:, 1]], axis=1)

    def given(self, observations: FloatArray) -> FloatArray:
        """Return all three, divided by their changes per step."""
        return np.asarray(observations / np.array([0.15, 0.15, 0.3]))


def _maze(name: str, *tasks: StartGoal) -> Plane:
    """Return one of OGBench's mazes, its cells of side 1."""
    free = wf.load_layout(name).free
    rows, columns = free.shape
    walls = np.argwhere(~free).astype(np.float64)
    return Plane(
        tasks=tasks,
        size=(rows, columns),
        blocks=np.hstack([walls, walls + 1.0]),
        stride=0.12,
        jitter=0.02,
        radius=0.3,
        length=200,
    )


def _key(scale: float) -> KeyDoor:
    """Return a world with an oblique door in a passage, the key in a dead end."""
    return KeyDoor(
        tasks=(
            ((1.0, 5.0, 0.0), (5.5, 0.8, 1.0)),
            ((3.0, 4.5, 0.0), (1.0, 0.8, 1.0)),
            ((6.5, 3.2, 0.0), (3.5, 1.5, 1.0)),
        ),
        size=(7.0, 6.0),
        walls=np.array(
            [[0.0, 2.0, 2.6, 2.0], [3.6, 2.6, 7.0, 2.6], [5.0, 6.0, 5.0, 4.2], [5.0, 2.6, 5.0, 3.2]]
        ),
        key=(6.3, 5.4),
        door=np.array([[2.6, 2.0, 3.6, 2.6]]),
        beyond=lambda places: places[:, 1] < np.interp(places[:, 0], [2.6, 3.6], [2.0, 2.6]),
        frame=scale * np.eye(2),
        stride=0.3,
        jitter=0.05,
    )


_OBLIQUE = np.array(
    [[0.0, 1.4, 4.6, 2.4], [6.0, 3.0, 1.2, 3.9], [0.0, 4.6, 4.4, 5.4], [3.0, 0.0, 3.6, 1.2]]
)
_FLAT = np.array([[1.0, 0.4], [0.1, 0.8]])
_U = np.array([[2.0, 1.0, 2.8, 6.0], [2.8, 1.0, 6.0, 1.8], [4.4, 3.2, 7.0, 4.0]])

_TWO_LINKS = RobotArm(
    tasks=(((-0.4, 0.5), (-2.4, 0.5)), ((2.7, -1.5), (-2.7, 1.5)), ((1.5, 2.8), (1.5, -1.4))),
    blocked=(((-1.4, 0.3), (0.4, 1.9)), ((1.5, -2.6), (1.0, 0.35))),
    circles=False,
    stride=0.18,
)

WORLDS: dict[str, World] = {
    "frozen lake": Ice(
        tasks=(((0.0, 0.0), (6.0, 9.0)), ((6.0, 0.0), (0.0, 8.0)), ((3.0, 9.0), (6.0, 2.0))),
        plan=(
            "..........",
            ".#..O..#..",
            ".#..#.....",
            "......#.O.",
            ".O.#......",
            "...#..#.#.",
            "..........",
        ),
        slip=0.25,
        sensor=0.18,
        deadly=True,
    ),
    "slippery house": Ice(
        tasks=(((0.0, 0.0), (8.0, 0.0)), ((0.0, 6.0), (8.0, 6.0)), ((4.0, 0.0), (2.0, 5.0))),
        plan=(
            ".......",
            "..#....",
            "..#.O..",
            "###.###",
            ".......",
            "#.####.",
            "...O...",
            ".......",
            ".......",
        ),
        slip=0.15,
        sensor=0.2,
    ),
    "windy ledge": Ledge(
        tasks=(((0.8, 1.0), (9.0, 1.2)), ((2.0, 3.0), (7.5, 2.8)), ((9.0, 3.0), (1.0, 3.0))),
        size=(10.0, 4.0),
        ledge=(3.0, 6.5),
        edge=2.2,
        gust=0.2,
        push=1.6,
        slow=0.4,
        stride=0.5,
        jitter=0.03,
    ),
    "belts": Belts(
        tasks=(((7.0, 0.6), (1.0, 1.5)), ((1.0, 3.5), (7.0, 3.5)), ((4.0, 1.5), (1.0, 4.5))),
        size=(8.0, 5.0),
        belts=((1.0, 2.0, 0.3), (3.0, 4.0, -0.3)),
        walls=np.array([[4.0, 2.5, 8.0, 2.5]]),
    ),
    "key and door, 1": _key(1 / 7),
    "key and door, 30": _key(30 / 7),
    "key and door, 900": _key(900 / 7),
    "thick spiral": Plane(
        tasks=(((0.5, 0.5), (4.6, 3.6)), ((4.6, 3.6), (0.5, 3.0)), ((3.5, 2.4), (3.5, 0.5))),
        size=(8.0, 7.0),
        blocks=np.array(
            [
                [-1.0, 1.1, 6.2, 1.7],
                [5.6, 1.1, 6.2, 5.2],
                [1.6, 4.6, 6.2, 5.2],
                [1.6, 2.9, 2.2, 5.2],
                [1.6, 2.9, 4.1, 3.4],
            ]
        ),
        stride=0.28,
    ),
    "oblique walls": Plane(
        tasks=(((0.5, 0.6), (1.0, 2.6)), ((5.5, 0.6), (1.0, 5.6)), ((0.6, 4.2), (0.6, 5.4))),
        size=(6.0, 6.0),
        walls=_OBLIQUE,
        frame=_FLAT,
        stride=0.22,
    ),
    "glider": Mass(
        tasks=(
            ((1.0, 1.0, 0.0, 0.0), (1.0, 5.0, 0.0, 0.0)),
            ((6.0, 5.0, 0.0, 0.0), (1.0, 1.0, 0.0, 0.0)),
            ((5.0, 2.4, 0.0, 0.0), (5.0, 3.6, 0.0, 0.0)),
        ),
        size=(7.0, 6.0),
        walls=np.array([[0.0, 3.0, 2.5, 3.0], [4.0, 3.0, 7.0, 3.0]]),
        thrust=0.05,
        drag=0.15,
        unit=200.0,
    ),
    "four distractors": Plane(
        tasks=(((0.8, 0.8), (6.0, 2.4)), ((3.4, 5.0), (0.8, 5.0)), ((6.4, 6.4), (6.4, 2.6))),
        size=(7.0, 7.0),
        blocks=_U,
        distractors=(2.0, 6.0, 10.0, 3.0),
        stride=0.3,
    ),
    "two links, wrapped": _TWO_LINKS,
    "two links, circles": replace(_TWO_LINKS, circles=True, sensor=0.04),
    "three links": RobotArm(
        tasks=(
            ((0.9, 0.0, 0.0), (2.6, 0.0, 0.0)),
            ((0.0, 1.2, 0.5), (-1.8, -1.0, -0.5)),
            ((2.6, 1.5, -0.5), (0.8, 0.5, 1.0)),
        ),
        blocked=(
            ((1.75, 0.0, 0.0), (0.35, 1.4, 9.0)),
            ((0.0, np.pi, 0.0), (9.0, 0.6, 9.0)),
            ((0.0, 0.0, np.pi), (9.0, 9.0, 0.6)),
        ),
        circles=True,
        sensor=0.02,
        stride=0.22,
        radius=0.45,
    ),
    "valley": Hill(
        tasks=(
            ((-0.45, 0.0), (0.52, 0.02)),
            ((-0.8, 0.0), (0.45, 0.02)),
            ((-0.3, 0.0), (-1.25, 0.0)),
        ),
        power=0.0012,
        slope=0.0028,
        bounds=(-1.35, 0.65),
    ),
    "pendulum": Pendulum(
        tasks=(((0.0, 0.0), (np.pi, 0.0)), ((0.5, 0.0), (-2.4, 0.0)), ((-2.0, 0.0), (2.6, 0.05)))
    ),
    "car": Car(
        tasks=(
            ((1.0, 1.0, 1.57), (6.0, 1.0, -1.57)),
            ((6.0, 5.0, 0.0), (1.0, 5.0, 3.1)),
            ((2.0, 4.8, 0.0), (5.0, 1.5, 0.0)),
        ),
        size=(7.0, 6.0),
        walls=np.array([[3.5, 0.0, 3.5, 3.5]]),
    ),
    "few rows": Plane(
        tasks=(((0.6, 0.6), (5.0, 4.4)), ((5.2, 0.6), (0.6, 4.0)), ((2.4, 2.2), (3.6, 2.2))),
        size=(6.0, 5.0),
        blocks=np.array([[2.7, -1.0, 3.3, 3.2]]),
        rows=2_500,
        length=50,
    ),
    "no actions": Plane(
        tasks=(((0.6, 0.6), (6.4, 0.6)), ((6.4, 4.4), (0.6, 4.4)), ((3.5, 0.8), (3.5, 3.0))),
        size=(7.0, 5.0),
        blocks=np.array([[2.0, -1.0, 2.6, 3.0], [4.4, 2.0, 5.0, 6.0], [2.6, 1.6, 4.4, 2.2]]),
        has_actions=False,
    ),
    "point maze": _maze(
        "medium", ((1.5, 1.5), (6.5, 6.5)), ((6.5, 1.5), (1.5, 6.5)), ((5.5, 3.5), (4.5, 2.5))
    ),
}
