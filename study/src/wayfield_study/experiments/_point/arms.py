"""The planners by name, and what a row says of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray
from wayfield.replay import Planner

from ...engine import Row
from ...kernels.point_maze import RASTER
from ...report import Look
from . import planners
from .maze import places
from .odds import arrival
from .planners import Problem
from .scene import Episodes, Route, Scene, draw_episodes

TASKS = 5
OURS, ALONE, REFERENCE, ORACLE = "planner", "planner_alone", "dijkstra", "oracle"


class Course(NamedTuple):
    """Where to head for, and how likely that arrives, said before walking."""

    targets: FloatArray
    """(n, 2) from every landmark, or (rows, columns, 2) from every square of the raster."""
    foretold: FloatArray
    """(n,) or (rows, columns) in the same way."""

    def said(self, scene: Scene, drawn: Episodes) -> FloatArray:
        """(e,) how likely each episode arrives."""
        if self.foretold.ndim == 1:
            return self.foretold[drawn.starts(scene)]
        row, column = ((drawn.ends[:, 0] - scene.corner) * RASTER).astype(np.int64).T
        said: FloatArray = self.foretold[row, column]
        return said


Make = Callable[[Problem], Course]


def _routed(planner: Callable[[Problem], Route]) -> Make:
    """Walk a route; what it comes to is foretold from the buffer."""

    def course(problem: Problem) -> Course:
        route = planner(problem)
        return Course(route.targets(problem.scene), arrival(problem.scene, route))

    return course


def planned(problem: Problem, planner: Planner | None = None) -> Course:
    """Ask `wayfield.Planner` for sub-goals, and for the probability that they arrive."""
    scene = problem.scene
    asked = Planner(scene.replay, stitch=problem.graph) if planner is None else planner
    states, place = scene.states, problem.place
    return Course(asked.subgoal(states, place), np.asarray(asked.reach(states, place)))


def asked(problem: Problem) -> Course:
    """Ask a planner that got the buffer alone, and chose landmarks and guesses by itself."""
    scene, shape = problem.scene, problem.scene.squares.shape
    squares = scene.squares.reshape(-1, 2)
    aims = scene.planner.subgoal(squares, problem.place).reshape(shape)
    reach: FloatArray = scene.planner.reach(squares, problem.place).reshape(shape[:2])
    return Course(aims, reach)


@dataclass(frozen=True)
class Arm:
    """A planner, how it is shown, and whether it looks at the graph at all."""

    look: Look
    make: Make
    uses_graph: bool = True

    @property
    def name(self) -> str:
        """In the rows."""
        return self.look.name


ARMS = (
    Arm(Look(REFERENCE, "graph distance", "sweeps", "square"), _routed(planners.graph_distance)),
    Arm(Look("ttgs", "TTGS weights", "line-b", "triangle"), _routed(planners.ttgs)),
    Arm(Look("cut_off", "cut-off, as in GAS", "line-c", "diamond"), _routed(planners.cut_off)),
    Arm(Look("amle", "AMLE of labels", "line-a"), _routed(planners.amle)),
    Arm(Look("harmonic", "harmonic of labels", "harmonic", "falling"), _routed(planners.harmonic)),
    Arm(
        Look("counts", "value iteration on counts", "nearest", "plus"),
        _routed(planners.counts),
        False,
    ),
    Arm(
        Look("counts_shrunk", "value iteration, shrunk", "nearest", "hexagon"),
        _routed(planners.counts_shrunk),
        False,
    ),
    Arm(Look("chance", "chance alone", "line-d", "cross"), _routed(planners.chance_only)),
    Arm(Look("evidence", "evidence alone", "line-d", "bar"), _routed(planners.evidence_only)),
    Arm(Look("observed", "observed first", "exact-line", "dash"), _routed(planners.observed_first)),
    Arm(Look(OURS, "Planner", "exit", "pentagon"), planned),
    Arm(Look(ALONE, "Planner, the buffer alone", "exit", "left"), asked, False),
    Arm(Look(ORACLE, "oracle", "oracle", "star"), _routed(planners.oracle), False),
)
LOOKS = tuple(arm.look for arm in ARMS)


def rows_of(scene: Scene, graph: Graph, episodes: int, arms: Iterable[Arm]) -> list[Row]:
    """Walk every arm's courses: the same episodes of every task."""
    return [row(scene, graph, episodes, arm) for arm in arms]


def row(scene: Scene, graph: Graph, episodes: int, arm: Arm) -> Row:
    """Say how often an arm arrives, in how many steps, and how often it said it would.

    ``pairs`` are the episodes, and ``reached`` those that arrived; ``by_task`` tells them apart.
    ``steps`` is the sum over them, ``foretold`` the mean over all starts.
    """
    reached, steps, foretold = [], 0, []
    for task in range(TASKS):
        drawn = draw_episodes(scene.maze, task, episodes // TASKS, scene.seed)
        place = places([scene.maze.tasks[task][1]])[0]
        course = arm.make(Problem(scene, graph, place))
        walked = drawn.walk(scene, course.targets)
        reached.append(int((walked > 0).sum()))
        steps += int(walked[walked > 0].sum())
        foretold.append(float(course.said(scene, drawn).mean()))
    return {
        "arm": arm.name,
        "pairs": TASKS * (episodes // TASKS),
        "reached": sum(reached),
        "by_task": reached,
        "steps": steps,
        "foretold": float(np.mean(foretold)),
    }
