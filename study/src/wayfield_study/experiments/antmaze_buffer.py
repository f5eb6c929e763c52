"""From the ant's own buffer to the goal: OGBench's protocol, planned with what the ant has seen.

The ant wanders about a maze (`wayfield.sim.wander`), a `wayfield.Planner` is made of where it was,
and the ant then walks OGBench's five tasks by the planner's sub-goals: start and goal up to a metre
off the middles of their cells, at most 1,000 steps. The graph distance stands beside it as the
control; it knows the maze, which the planner does not.

x and y are observed, and the controller was trained apart from this data: published figures of
agents that learn everything from a buffer are not the same task.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

import wayfield as wf
from wayfield._threads import one_thread
from wayfield.sim import Ending, Maze, make, walk, wander
from wayfield.sim.walking import Style

from ..engine import Profile, Records, Row
from ..report import Finding, Look, Table
from ._shared import Settings, make_experiment
from .antmaze import CONTROL, FEWEST_EPISODES, lacks, say_share

PLANNER = Look("planner", "planner, from the ant's own buffer", "exit", "diamond")
LOOKS = (PLANNER, CONTROL)
STEPS = {"medium": 50_000, "large": 100_000, "giant": 200_000, "teleport": 100_000}
"""Steps in the buffer; OGBench's own have a million."""
EPISODES = 10
"""For each of the five tasks."""
REFINEMENT = 4
"""Of the control's graph."""


@dataclass(frozen=True)
class BufferCell(Settings):
    """Settings of one cell.

    Attributes
    ----------
    maze : str
        One of OGBench's maps.
    style : {"navigate", "stitch"}
        How the ant wandered.
    buffer : int
        Steps that it wandered.
    seed : int
        Of the buffer and of the episodes.
    each : int
        Episodes for each of the five tasks.
    """

    maze: str
    style: Style
    buffer: int
    seed: int
    each: int = EPISODES

    @property
    def key(self) -> str:
        """Name of the cell, for files and messages."""
        return f"{self.maze}-{self.style}-n{self.buffer}-s{self.seed}-{self.each}"

    def draw(self) -> tuple[Maze, dict[str, Any]]:
        """Open the maze and let the ant wander."""
        maze = make(f"antmaze-{self.maze}")
        return maze, wander(maze, self.buffer, self.style, seed=self.seed)


def run(cell: BufferCell) -> list[Row]:
    """One row for the planner and one for the control.

    ``episodes`` = ``arrived`` + ``looped`` + ``fell`` + ``out_of_time``; ``predicted`` is the
    planner's mean probability of arrival.
    """
    with one_thread():
        maze, data = cell.draw()
        planner, graph = (
            wf.Planner(data),
            wf.grid_graph(maze.layout.without_teleports(), REFINEMENT),
        )
        places = maze.coordinates.at(REFINEMENT)
        # start, goal and seed of every episode: the same for both arms
        inner, episodes = maze.env.unwrapped, []
        rng = np.random.default_rng([cell.seed, int.from_bytes(cell.maze.encode())])
        for task, _ in product(inner.task_infos, range(cell.each)):
            middles = (np.array(inner.ij_to_xy(task[name])) for name in ("init_ij", "goal_ij"))
            start, goal = (middle + rng.uniform(-1, 1, 2) for middle in middles)
            episodes.append((start, goal, int(rng.integers(2**31))))
        rows = []
        for look in LOOKS:
            went, predicted = [], []
            for start, goal, seed in episodes:
                route: Any = planner
                if look is CONTROL:  # the true distances, teleports shunned
                    vertex = places.vertex(goal)
                    route = wf.plan(graph, wf.cost_to_go(graph, vertex), vertex)
                went.append(walk(maze, route, goal=goal, start=start, seed=seed))
                predicted.append(1.0 if look is CONTROL else float(planner.reach(start, goal)))
            endings = Counter(each.ending for each in went)
            rows.append(
                {
                    "arm": look.name,
                    "episodes": len(went),
                    **{ending.replace(" ", "_"): endings[ending] for ending in Ending},
                    "steps": sum(each.steps for each in went if each.arrived),
                    "predicted": round(float(np.mean(predicted)), 4),
                }
            )
        return rows


def cells(profile: Profile) -> list[BufferCell]:
    """Four mazes, two of them from short episodes as well; a small buffer if quick."""
    if profile.name == "quick":
        return [BufferCell("medium", "navigate", 20_000, 0, each=1)]
    stitched = [BufferCell(maze, "stitch", STEPS[maze], 0) for maze in ("medium", "large")]
    return [BufferCell(maze, "navigate", steps, 0) for maze, steps in STEPS.items()] + stitched


def tables(rows: Records) -> list[Table]:
    """Success by maze and style, and how it ended."""
    lines = []
    for (maze, style), some in rows.by("maze", "style").items():
        for look in LOOKS:
            chosen = some.where(arm=look.name)
            arrived, episodes = chosen.total("arrived"), chosen.total("episodes")
            steps = f"{chosen.ratio('steps', 'arrived'):.0f}" if arrived else "–"
            lines.append(
                [
                    f"{maze}, {style}, {look.title}",
                    f"{arrived} of {episodes}",
                    say_share(chosen),
                    f"{chosen.mean('predicted'):.3f}",
                    *(str(chosen.total(ending)) for ending in ("looped", "fell", "out_of_time")),
                    steps,
                ]
            )
    heads = ["maze, buffer, arm", "arrived", "share", "predicted", "looped", "fell", "out of time"]
    heads.append("steps of those that arrive")
    note = "OGBench's five tasks. The control knows the maze; the planner has seen the buffer only."
    return [Table("buffer", "From the ant's own buffer", heads, lines, note)]


def findings(rows: Records) -> Iterator[Finding]:
    """Report how far the ant's own buffer leads."""
    if rows.where(arm=PLANNER.name).total("episodes") < FEWEST_EPISODES:
        return
    shares = [
        f"{maze} ({style}) {some.ratio('arrived', 'episodes'):.0%}"
        for (maze, style), some in rows.where(arm=PLANNER.name).by("maze", "style").items()
    ]
    yield Finding(
        "new",
        "Does it work without a map?",
        "Episodes in which the ant arrives, planned with its own wanderings alone: "
        f"{', '.join(shares)}. The controller was trained apart and x, y are observed, so this is "
        "no figure to set beside agents that learn all of it from a buffer.",
    )


EXPERIMENT = make_experiment(
    "antmaze_buffer",
    "From the ant's own buffer",
    1,
    run,
    cells,
    "The ant wanders about the maze with noisy steps; a planner is made of where it was, "
    "and the ant then walks OGBench's five tasks by it.",
    {"tables": tables, "findings": findings},
    effort=lambda cell: cell.buffer / 100 + 40 * cell.each * 5,
    lacks=lacks,
    packages=("mujoco", "ogbench"),
)
