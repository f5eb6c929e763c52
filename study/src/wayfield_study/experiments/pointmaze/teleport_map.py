"""Both plans on the map of teleport: the gamble, and the way round."""

from __future__ import annotations

import numpy as np

from ...engine import Experiment, Profile, Records, Row
from ...report import Gallery, Section
from ...report.pictures import walks_picture
from .._point import (
    ARMS,
    LOOKS,
    OURS,
    REFERENCE,
    PointCell,
    Problem,
    draw_episodes,
    make_graph,
    places,
    point_grid,
    read_grid,
)

TASK = 1
SHOWN = 12
"""Walks that are drawn."""


def run(cell: PointCell) -> list[Row]:
    """One row for each of the two planners: the maze, and where its walks led."""
    scene = cell.draw()
    graph, maze = make_graph(scene, cell.graph), scene.maze
    drawn = draw_episodes(maze, TASK, SHOWN, cell.seed)
    rows = []
    for arm in ARMS:
        if arm.name not in (REFERENCE, OURS):
            continue
        problem = Problem(scene, graph, places([maze.tasks[TASK][1]])[0])
        course = arm.make(problem)
        walks = [drawn.trace(scene, course.targets, episode) for episode in range(SHOWN)]
        trail = np.concatenate([walk for _, walk in walks])
        rows.append(
            {
                "arm": arm.name,
                "walls": ["".join("#" if wall else "." for wall in r) for r in maze.blocks.walls],
                "x": trail[:, 0].round(3),
                "y": trail[:, 1].round(3),
                "lengths": [len(walk) for _, walk in walks],
                "reached": [steps > 0 for steps, _ in walks],
                "entrances": maze.blocks.entrances.ravel(),
                "exits": maze.blocks.exits.ravel(),
                "goal": problem.place,
                "foretold": float(course.said(scene, drawn).mean()),
            }
        )
    return rows


def cells(profile: Profile) -> list[PointCell]:
    """One buffer of teleport."""
    if profile.name == "official":
        return []
    share = 0.1 if profile.name == "quick" else 1.0
    return point_grid(("teleport-stitch",), ("time",), (0,), share)


def galleries(rows: Records) -> list[Gallery]:
    """Draw the walks of both."""
    titles = {look.name: look.title for look in LOOKS}
    pictures = [
        walks_picture(
            row,
            f"{titles[row['arm']]}: {sum(row['reached'])} of {len(row['reached'])} arrive, "
            f"{row['foretold']:.2f} foretold",
        )
        for row in rows
    ]
    about = (
        "Walks to the star. Whoever comes to a disc is put at one of the three rings, one of which "
        "is in a cell without a way out: walks that end there are red."
    )
    return [Gallery(about, pictures, "fields")]


EXPERIMENT = Experiment(
    "point_map",
    "The gamble, and the way round",
    version=1,
    run=run,
    cells=cells,
    read_grid=read_grid,
    sections=(
        Section(
            "point-map",
            "The gamble, and the way round",
            "A shortest path through a teleport is short on the average of those who arrive.",
            galleries=galleries,
        ),
    ),
)
