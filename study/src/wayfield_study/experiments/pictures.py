"""What plans look like: the fields of one goal, and where starts fail over all goals.

One row per cell with all that the pictures need. The goal shown is the one on which the AMLE
stopped early does worst. ``<arm>_missed`` counts, for every vertex, the goals it fails to reach:
the starts are all vertices, not a sample.
"""

from __future__ import annotations

from functools import partial

import numpy as np

import wayfield as wf

from ..engine import Records, Row
from ..paper.grid import SEEDS
from ..report import Gallery, Section
from ..report.pictures import failure_map, failure_scale, field_picture, stored_maze, stored_plan
from ._mazes import MazeCell, cells_by_profile, grid, maze_experiment
from ._trial import EXACT, HARMONIC, SWEEPS, Trial

ARMS = (HARMONIC, SWEEPS, EXACT)
MOST_GOALS = 16
"""Goals per cell that a picture takes, however many the study has."""


def run(cell: MazeCell) -> list[Row]:
    """Return one row: the maze, the plans of the chosen goal, and the failures over all goals."""
    trial = Trial(cell)
    drawn = trial.drawn
    plans = {
        arm: [
            wf.plan(drawn.graph, field.values, int(goal), arm.rule, arm.ties)
            for field, goal in zip(trial.fields(arm.method), drawn.goals, strict=True)
        ]
        for arm in ARMS
    }
    worst = int(np.argmin([route.success for route in plans[SWEEPS]]))
    row = stored_maze(drawn.graph, drawn.labels[worst])
    row["goal"] = int(drawn.goals[worst])
    for arm, routes in plans.items():
        row |= stored_plan(routes[worst], arm.name)
        row[f"{arm.name}_success"] = routes[worst].success
        row[f"{arm.name}_missed"] = np.sum([~route.reached for route in routes], axis=0)
    return [row]


cells = cells_by_profile(
    partial(grid, refinements=[4], label_fractions=[0.02, 0.12], seeds=SEEDS[:2]),
    partial(grid, refinements=[8]),
    **dict.fromkeys(("quick", "paper", "full"), MOST_GOALS),
)
"""A resolution that shows well, with every label fraction; a coarse one if quick."""


def fields(rows: Records) -> Gallery:
    """Show the goal, of all cells, on which stopping early does worst."""
    row = min(rows, key=lambda row: row["sweeps_success"])
    about = (
        f"The goal (star) on which stopping early does worst, of the cells run: {row['maze']} "
        f"maze, r = {row['refinement']}, lf = {row['label_fraction']:g}, seed {row['seed']}. Rings "
        "are labels, lines are contours, arrows are the greedy plan; starts that never reach are "
        "tinted by the loop (dark dots) they end in."
    )
    pictures = []
    for arm in ARMS:
        caption = f"{arm.title}: {row[f'{arm.name}_success']:.1%} of the starts reach"
        pictures.append(field_picture(row, arm.name, row["goal"], caption))
    return Gallery(about, pictures, "fields")


def maps(rows: Records) -> list[Gallery]:
    """Show where starts fail, on every maze at each resolution with the fewest labels."""
    fewest = rows.where(label_fraction=min(rows.values("label_fraction")))
    galleries = []
    for (maze, r, lf), chosen in fewest.by("maze", "refinement", "label_fraction").items():
        goals = chosen.total("goals")
        about = (
            f"Failure map, {maze}, r = {r}, lf = {lf:g}: the share of {goals} goals, "
            f"{len(chosen)} draws of labels, that each start fails to reach."
        )
        pictures = []
        for arm in ARMS:
            share = np.sum([row[f"{arm.name}_missed"] for row in chosen], axis=0) / goals
            failing = f"{share.mean():.1%} of the starts fail, at worst {share.max():.0%}"
            first = chosen.rows[0]
            places = np.column_stack([first["x"], first["y"]])
            pictures.append(failure_map(places, share, f"{arm.title}: {failing}"))
        galleries.append(Gallery(about, pictures, "maps", failure_scale()))
    return galleries


SECTION = Section(
    "pictures",
    "What plans look like",
    "Harmonic values, the AMLE stopped early and the exact AMLE on the same labels, and "
    "the starts from which argmin Q with lowest-index ties never arrives.",
    galleries=lambda rows: [fields(rows), *maps(rows)],
)
EXPERIMENT = maze_experiment("pictures", "What plans look like", 1, run, cells, 1.0, SECTION)
