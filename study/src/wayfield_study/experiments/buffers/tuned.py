"""Worlds that constants of the planner may be chosen on. None of them counts as evidence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .worlds import Hill, Ice, KeyDoor, Ledge, Mass, Plane, RobotArm, World

_TILT = 0.6
_TURNED = np.array([[np.cos(_TILT), -np.sin(_TILT)], [np.sin(_TILT), np.cos(_TILT)]])
_KEY_WALLS = np.array([[5.0, 0.0, 5.0, 1.5], [5.0, 2.5, 5.0, 4.0]])


def _key(scale: float) -> KeyDoor:
    return KeyDoor(
        tasks=(
            ((3.5, 0.8, 0.0), (7.5, 0.8, 1.0)),
            ((4.5, 2.0, 0.0), (6.0, 3.5, 1.0)),
            ((2.0, 3.0, 0.0), (7.2, 2.5, 1.0)),
        ),
        size=(8.0, 4.0),
        walls=_KEY_WALLS,
        key=(0.8, 0.8),
        door=np.array([[5.0, 1.5, 5.0, 2.5]]),
        beyond=lambda places: places[:, 0] > 5.0,
        frame=scale * np.eye(2),
    )


_UP, _ACROSS, _DOWN = (((0.5, 1.0), (0.5, 4.2)), ((2.5, 1.8), (1.5, 3.6)), ((1.0, 4.6), (2.5, 0.5)))
_TWO_ROOMS = Plane(
    tasks=(_UP, _ACROSS, _DOWN), size=(5.5, 5.0), blocks=np.array([[-1.0, 2.2, 4.2, 2.9]])
)
_TWO_LINKS = RobotArm(
    tasks=(((0.0, 0.0), (2.2, 0.0)), ((2.8, 1.0), (-2.8, 1.0)), ((0.4, 2.2), (1.8, -2.2))),
    blocked=(((1.1, 0.0), (0.4, 2.2)),),
    circles=False,
)

WORLDS: dict[str, World] = {
    "two rooms": _TWO_ROOMS,
    "two rooms, few rows": replace(_TWO_ROOMS, rows=2_500, length=50),
    "two rooms, no actions": replace(_TWO_ROOMS, tasks=(_UP, _DOWN), has_actions=False),
    "distractors": replace(_TWO_ROOMS, tasks=(_UP, _ACROSS), distractors=(4.0, 4.0, 4.0, 4.0)),
    "spiral": Plane(
        tasks=(((0.5, 0.5), (2.7, 2.7)), ((2.7, 2.7), (0.5, 0.5)), ((2.5, 1.5), (2.5, 0.5))),
        size=(5.0, 5.0),
        walls=np.array(
            [
                [0.0, 1.0, 4.0, 1.0],
                [4.0, 1.0, 4.0, 4.0],
                [4.0, 4.0, 1.0, 4.0],
                [1.0, 4.0, 1.0, 2.0],
                [1.0, 2.0, 3.0, 2.0],
                [3.0, 2.0, 3.0, 3.2],
            ]
        ),
        frame=_TURNED,
    ),
    "key, 1": _key(0.12),
    "key, 400": _key(50.0),
    "ledge": Ledge(
        tasks=(((0.8, 1.0), (7.2, 1.0)), ((2.0, 2.6), (6.2, 2.4)), ((7.0, 3.5), (1.0, 1.5))),
        size=(8.0, 4.0),
        ledge=(3.0, 5.0),
        edge=1.8,
        gust=0.1,
        push=0.9,
    ),
    "ice": Ice(
        tasks=(((0.0, 0.0), (7.0, 7.0)), ((7.0, 0.0), (0.0, 7.0)), ((3.0, 0.0), (4.0, 4.0))),
        plan=(
            "........",
            ".##..#..",
            "....O...",
            "..#..#..",
            ".O...#..",
            "...#....",
            ".#...O..",
            "........",
        ),
        slip=0.2,
        sensor=0.15,
    ),
    "mass": Mass(
        tasks=(
            ((1.0, 1.0, 0.0, 0.0), (6.0, 1.0, 0.0, 0.0)),
            ((6.0, 4.0, 0.0, 0.0), (1.0, 3.0, 0.0, 0.0)),
        ),
        size=(7.0, 5.0),
        walls=np.array([[3.5, 0.0, 3.5, 3.5]]),
        unit=60.0,
    ),
    "hill": Hill(
        tasks=(((-0.5, 0.0), (0.5, 0.02)), ((-0.9, 0.0), (0.48, 0.02)), ((-0.5, 0.0), (-1.1, 0.0)))
    ),
    "arm, wrapped": _TWO_LINKS,
    "arm, circles": replace(_TWO_LINKS, tasks=_TWO_LINKS.tasks[:2], circles=True, sensor=0.03),
}
