"""Both plans on the map of teleport: the gamble, and the detour."""

from __future__ import annotations

import numpy as np

from ...engine import Profile, Records, Row
from ...report import Gallery
from ...report.pictures import walks_picture
from .._shared import make_experiment
from ._common import ARMS, OURS, REFERENCE, PointCell, point_grid, read_grid
from ._maze import draw_episodes, places
from ._planners import Problem, make_graph

TASK = 1
SHOWN = 12
"""Walks that are drawn."""


def run(cell: PointCell) -> list[Row]:
    """Return one row for each of the two planners: the maze, and where its walks led."""
    scene = cell.draw()
    maze = scene.maze
    problem = Problem(scene, make_graph(scene, cell.graph), places([maze.tasks[TASK][1]])[0])
    drawn = draw_episodes(maze, TASK, SHOWN, cell.seed)
    rows = []
    for arm in (arm for arm in ARMS if arm.name in (REFERENCE, OURS)):
        policy = arm.make(problem)
        walks = [drawn.trace(scene, policy.targets, episode) for episode in range(SHOWN)]
        trail = np.concatenate([walk for _, walk in walks])
        row: Row = {
            "arm": arm.name,
            "walls": ["".join("#" if wall else "." for wall in r) for r in maze.blocks.walls],
            "x": trail[:, 0].round(3),
            "y": trail[:, 1].round(3),
            "lengths": [len(walk) for _, walk in walks],
            "reached": [steps > 0 for steps, _ in walks],
            "entrances": maze.blocks.entrances.ravel(),
            "exits": maze.blocks.exits.ravel(),
            "goal": problem.place,
            "predicted": float(policy.predicted(scene, drawn).mean()),
        }
        rows.append(row)
    return rows


def cells(profile: Profile) -> list[PointCell]:
    """One buffer of teleport."""
    share = 0.1 if profile.name == "quick" else 1.0
    full = point_grid(("teleport-stitch",), ("time",), (0,), share)
    return [] if profile.name == "official" else full


def galleries(rows: Records) -> list[Gallery]:
    """Draw the walks of both."""
    titles = {arm.name: arm.title for arm in ARMS}
    pictures = [
        walks_picture(
            row,
            f"{titles[row['arm']]}: {sum(row['reached'])} of {len(row['reached'])} arrive"
            + (f", {row['predicted']:.2f} predicted" if row["arm"] == OURS else ""),
        )
        for row in rows
    ]
    about = (
        "Walks to the star. A walk that enters a disc continues at one of three rings. One ring "
        "is in a closed cell: walks that end there are red."
    )
    return [Gallery(about, pictures, "fields")]


EXPERIMENT = make_experiment(
    "point_map",
    "The gamble, and the detour",
    2,
    run,
    cells,
    "A shortest path through a teleport is short on the average of those who arrive.",
    {"galleries": galleries},
    read_grid=read_grid,
)
