"""What the experiments on PointMaze share: the planners by name, cells, and tables of success."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

import wayfield as wf
from wayfield.typing import FloatArray

from ...engine import Records, Row
from ...engine.statistics import wilson_interval
from ...kernels.point_maze import RASTER
from ...report import Chart, Look, Table, against
from ..shared import Settings, share_of
from . import planners
from .maze import Episodes, LandmarkScene, Route, draw_episodes, make_scene, places
from .planners import GRAPHS, PointProblem, make_graph

DATASETS = ("giant-stitch", "giant-navigate", "teleport-stitch")
SEEDS = (0, 1, 2)
EPISODES = 100
TASKS = 5
FEWEST_SEEDS = 2
"""Seeds without which nothing is stated."""
LANDMARKS = {1.0: 1000, 0.1: 500}
"""By the share of the data; `FEWEST` for others."""
FEWEST = 300
OURS, REFERENCE, ORACLE = "planner", "dijkstra", "oracle"


class Policy(NamedTuple):
    """Where to head and, if the planner predicts it, the probability of arrival."""

    targets: FloatArray
    """(n, 2) from every landmark, or (rows, columns, 2) from every square of the raster."""
    arrival: FloatArray | None = None
    """(rows, columns) from every square of the raster."""

    def predicted(self, scene: LandmarkScene, drawn: Episodes) -> FloatArray:
        """Return the (e,) predicted probabilities of arrival; NaN if the planner predicts none."""
        starts = drawn.ends[:, 0]
        if self.arrival is None:
            return np.full(len(starts), np.nan)
        row, column = ((starts - scene.corner) * RASTER).astype(np.int64).T
        return np.asarray(self.arrival[row, column])


MakePolicy: TypeAlias = Callable[[PointProblem], Policy]


def follow_buffer(problem: PointProblem) -> Policy:
    """Ask `replay.Planner`, made from the buffer alone, for sub-goals and their odds."""
    scene, shape = problem.scene, problem.scene.squares.shape
    squares = scene.squares.reshape(-1, 2)
    aims = scene.planner.subgoal(squares, problem.place).reshape(shape)
    reach: FloatArray = scene.planner.reach(squares, problem.place).reshape(shape[:2])
    return Policy(aims, reach)


def _by_route(plan: Callable[..., Route], **settings: Any) -> MakePolicy:
    return lambda problem: Policy(plan(problem, **settings).targets(problem.scene))


@dataclass(frozen=True)
class PointArm(Look):
    """A planner, and how it is shown."""

    make: MakePolicy = field(kw_only=True)


_SHORTEST = _by_route(planners.graph_distance)
_COUNTS = _by_route(planners.counted, least=planners.ENOUGH, shrink=0.0)
_SHRUNK = _by_route(planners.counted, least=planners.FEW, shrink=planners.SHRINK)
_AMLE = _by_route(planners.extended, method=wf.AMLE())
_HARMONIC = _by_route(planners.extended, method=wf.Harmonic())
_CHANCE, _ORACLE = _by_route(planners.chance_only), _by_route(planners.oracle)
ARMS = (
    PointArm(REFERENCE, "graph distance", "sweeps", "square", make=_SHORTEST),
    PointArm("ttgs", "TTGS weights", "line-b", "triangle", make=_by_route(planners.ttgs)),
    PointArm(
        "cut_off", "cut-off, as in GAS", "line-c", "diamond", make=_by_route(planners.cut_off)
    ),
    PointArm("amle", "AMLE of labels", "line-a", make=_AMLE),
    PointArm("harmonic", "harmonic of labels", "harmonic", "falling", make=_HARMONIC),
    PointArm("counts", "value iteration on counts", "nearest", "plus", make=_COUNTS),
    PointArm("counts_shrunk", "value iteration, shrunk", "nearest", "hexagon", make=_SHRUNK),
    PointArm("chance", "expected cost", "line-d", "cross", make=_CHANCE),
    PointArm(OURS, "Planner", "exit", "pentagon", make=follow_buffer),
    PointArm(ORACLE, "oracle", "oracle", "star", make=_ORACLE),
)


NO_GRAPH = ("counts", "counts_shrunk", ORACLE)
"""Arms that do not look at the graph. Nor does Planner, which stands beside all others."""


def row(scene: LandmarkScene, graph: wf.Graph, episodes: int, arm: PointArm) -> Row:
    """Walk an arm's policies, the same episodes of every task for every arm; return its row.

    ``pairs`` are the episodes, and ``reached`` those that arrived; ``by_task`` lists them by task.
    ``steps`` is the sum over them, ``predicted`` the mean probability of arrival over all starts,
    NaN for rivals: they predict nothing.
    """
    reached, steps, predicted = [], 0, []
    for task in range(TASKS):
        drawn = draw_episodes(scene.maze, task, episodes // TASKS, scene.seed)
        place = places([scene.maze.tasks[task][1]])[0]
        policy = arm.make(PointProblem(scene, graph, place))
        walked = drawn.walk(scene, policy.targets)
        reached.append(int((walked > 0).sum()))
        steps += int(walked[walked > 0].sum())
        predicted.append(float(policy.predicted(scene, drawn).mean()))
    return {
        "arm": arm.name,
        "pairs": TASKS * (episodes // TASKS),
        "reached": sum(reached),
        "by_task": reached,
        "steps": steps,
        "predicted": float(np.mean(predicted)),
    }


# -------------------------------------------------------------------- cells


@dataclass(frozen=True)
class PointCell(Settings):
    """A dataset with a graph on its landmarks.

    Attributes
    ----------
    dataset : str
        A maze and a collector, such as teleport-stitch.
    graph : str
        One of `GRAPHS`, or another number of neighbours.
    seed : int
        Of the data, the landmarks and the episodes.
    share : float
        Share of the million steps that is collected.
    landmarks : int
        How many.
    episodes : int
        In all, a fifth of them for each of OGBench's tasks.
    """

    dataset: str
    graph: str
    seed: int
    share: float = 1.0
    landmarks: int = 1000
    episodes: int = EPISODES

    def draw(self) -> LandmarkScene:
        """Collect the data and choose the landmarks."""
        return make_scene(self.dataset, self.share, self.landmarks, self.seed)


def run(cell: PointCell) -> list[Row]:
    """Return one row per planner; those without a graph only on the graph of what was seen."""
    scene = cell.draw()
    graph = make_graph(scene, cell.graph)
    chosen = [arm for arm in ARMS if arm.name not in NO_GRAPH or cell.graph == GRAPHS[0]]
    return [row(scene, graph, cell.episodes, arm) for arm in chosen]


def point_grid(
    datasets: Sequence[str],
    graphs: Sequence[str],
    seeds: Sequence[int] = SEEDS,
    share: float = 1.0,
    episodes: int = EPISODES,
) -> list[PointCell]:
    """List every combination, those with the same data beside each other."""
    landmarks = LANDMARKS.get(share, FEWEST)
    return [
        PointCell(dataset, graph, seed, share, landmarks, episodes)
        for dataset, seed, graph in product(datasets, seeds, graphs)
    ]


# -------------------------------------------------------------------- what is shown


NOTES = (
    "Success in % of episodes, with Wilson's 95 % interval in brackets where it is not 100 or 0. "
    "All planners have the same landmarks, low-level policy, starts, goals, noise and random "
    "outcomes, but Planner gets only the buffer, with its actions, and chooses its own states.",
)


def share(rows: Records) -> float:
    """Share of the episodes that arrived."""
    return rows.ratio("reached", "pairs")


def say_success(rows: Records) -> str:
    """Write a share in percent, and its interval where there is one to speak of."""
    reached, pairs = rows.total("reached"), rows.total("pairs")
    if not pairs:
        return "–"
    success = f"{100 * reached / pairs:.0f}"
    if reached in (0, pairs):
        return success
    low, high = wilson_interval(reached, pairs)
    return f"{success} ({100 * low:.0f}–{100 * high:.0f})"


def say_steps(rows: Records) -> str:
    """Write the mean number of steps of those who arrived."""
    reached = rows.total("reached")
    return f"{rows.total('steps') / reached:.0f}" if reached else "–"


def arms_of(rows: Records) -> list[tuple[PointArm, Records]]:
    """Return the planners at hand, in the order of all, each with its rows."""
    groups = rows.by("arm")
    return [(arm, groups[arm.name]) for arm in ARMS if arm.name in groups]


def success_table(rows: Records, name: str, title: str, column: str = "graph") -> Table:
    """Tabulate the success of every planner by a column, and steps for its first value."""
    values = rows.values(column)
    lines = []
    for arm, mine in arms_of(rows):
        groups = mine.by(column)
        found = [groups.get(value, Records(())) for value in values]
        steps = next((say_steps(some) for some in found if len(some)), "–")
        lines.append([arm.title, *map(say_success, found), steps])
    heads = ["planner", *map(str, values), f"steps, {values[0]}"]
    episodes = max(some.total("pairs") for some in rows.by("arm", column).values())
    return Table(name, title, heads, lines, f"{episodes} episodes each.")


def success_against(
    rows: Records, column: str, arms: Sequence[str], title: str, say: Callable[[Any], str]
) -> Chart:
    """Draw success against a column, a line for every planner, with Wilson's intervals."""
    looks = [arm for arm in ARMS if arm.name in arms]
    return against(rows, column, looks, title, say, figures=share_of("reached", "pairs"))
