"""The study of PointMaze: from a buffer to plans that arrive, beside what others plan with.

A million steps are collected, a thousand of them become landmarks, and every planner gets a graph
on these: of observed moves, or of nearest neighbours, with k = 5 to 50 or noisy features. How often
it arrives is walked, and what `Planner` predicted stands beside it. Then the same with less data:
10, 3 and 1 % of the steps, where transitions no longer cover the maze.

**OGBench's own evaluation** in MuJoCo: five tasks, twenty episodes each, `info["success"]`. It is
what a user would write, and has nothing of this study's physics but the data: a `replay.Planner` on
a buffer is asked for a sub-goal at every step, and a low level heads straight for it, with noise.

Columns: ``pairs``, the episodes; ``reached``, those that arrived; ``by_task``; ``steps``, their sum
over walks that arrived; ``predicted``, the mean probability of arrival before any walk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import wayfield as wf
from wayfield.checks import missing, need
from wayfield.typing import FloatArray
from wayfield.words import number_of, percent

from ...engine import NO_ROWS, Experiment, Profile, Records, Row
from ...engine.statistics import wilson_interval
from ...kernels.point_maze import RASTER, STEP
from ...report import Chart, Look, Series, StudyFinding, Table, against, scatter
from ...sim.mazes import global_seed
from ..comparison import Settings, make_experiment, share_of
from . import planners
from .maze import NEAR, NOISE, LandmarkScene, Route, draw_episodes, make_scene, places
from .planners import GRAPHS, PointProblem, make_graph

DATASETS = ("giant-stitch", "giant-navigate", "teleport-stitch")
SEEDS = (0, 1, 2)
EPISODES = 100
TASKS = 5
FEWEST_SEEDS = 2
"""Seeds without which nothing is stated."""
LANDMARKS = {1.0: 1000, 0.1: 500, 0.03: 300, 0.01: 300}
"""By the share of the data."""
OURS, REFERENCE, ORACLE = "planner", "dijkstra", "oracle"


# -------------------------------------------------------------------- planners by name


@dataclass(frozen=True)
class PointArm(Look):
    """A planner, and how it is shown; `replay.Planner`, made from the buffer alone, has no plan."""

    plan: Callable[[PointProblem], Route] | None = field(default=None, kw_only=True)

    def policy(self, problem: PointProblem) -> tuple[FloatArray, FloatArray | None]:
        """Return where to head, and the probability of arrival if the planner predicts it.

        The former is (n, 2), from every landmark, or (rows, columns, 2), from every square of the
        raster; the latter is (rows, columns).
        """
        scene = problem.scene
        if self.plan is not None:
            return self.plan(problem).targets(scene), None
        shape, squares = scene.squares.shape, scene.squares.reshape(-1, 2)
        aims: FloatArray = scene.planner.subgoal(squares, problem.place).reshape(shape)
        return aims, scene.planner.reach(squares, problem.place).reshape(shape[:2])


_AMLE = partial(planners.extended, method=wf.AMLE())
ARMS = (
    PointArm(REFERENCE, "graph distance", "sweeps", "square", plan=planners.graph_distance),
    PointArm("ttgs", "TTGS weights", "line-b", "triangle", plan=planners.ttgs),
    PointArm("cut_off", "cut-off, as in GAS", "line-c", "diamond", plan=planners.cut_off),
    PointArm("amle", "AMLE of labels", "line-a", plan=_AMLE),
    PointArm("chance", "expected cost", "line-d", "cross", plan=planners.chance_only),
    PointArm(OURS, "Planner", "exit", "pentagon"),
    PointArm(ORACLE, "oracle", "oracle", "star", plan=planners.oracle),
)
BY_NAME = {arm.name: arm for arm in ARMS}
NO_GRAPH = (ORACLE,)
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
        targets, arrival = arm.policy(PointProblem(scene, graph, place))
        walked = drawn.walk(scene, targets)
        reached.append(int((walked > 0).sum()))
        steps += int(walked[walked > 0].sum())
        square = tuple(((drawn.ends[:, 0] - scene.corner) * RASTER).astype(np.int64).T)
        predicted.append(np.nan if arrival is None else float(arrival[square].mean()))
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
        Seed of the data, the landmarks and the episodes.
    share : float
        Share of the million steps that is collected.
    landmarks : int
        Number of landmarks.
    episodes : int
        Number of episodes, a fifth of them for each of OGBench's tasks.
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
    return [
        PointCell(dataset, graph, seed, share, LANDMARKS[share], episodes)
        for dataset, seed, graph in product(datasets, seeds, graphs)
    ]


def cells(profile: Profile) -> list[PointCell]:
    """Return every dataset, graph and seed; if quick, a tenth of one with two graphs."""
    if profile.name == "quick":
        return point_grid(("teleport-stitch",), ("time", "xy-10"), (0,), 0.1, 20)
    return [] if profile.name == "official" else point_grid(DATASETS, GRAPHS)


# -------------------------------------------------------------------- what is shown


NEIGHBOURS = tuple(graph for graph in GRAPHS if graph.startswith("xy-"))
K_CURVE = (REFERENCE, "ttgs", "cut_off", "amle", OURS)


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


def success_table(rows: Records, name: str, title: str, column: str = "graph") -> Table:
    """Tabulate the success of every planner by a column, and steps for its first value."""
    values, lines = rows.values(column), []
    for name_of, mine in rows.by("arm").items():
        groups = mine.by(column)
        found = [groups.get(value, NO_ROWS) for value in values]
        steps = next((say_steps(some) for some in found if len(some)), "–")
        lines.append([BY_NAME[name_of].title, *map(say_success, found), steps])
    heads = ["planner", *map(str, values), f"steps, {values[0]}"]
    episodes = max(some.total("pairs") for some in rows.by("arm", column).values())
    return Table(name, title, heads, lines, f"{episodes} episodes each.")


def success_against(
    rows: Records, column: str, arms: Sequence[str], title: str, say: Callable[[Any], str]
) -> Chart:
    """Draw success against a column, a line for every planner, with Wilson's intervals."""
    looks = [BY_NAME[arm] for arm in arms]
    return against(rows, column, looks, title, say, figures=share_of("reached", "pairs"))


def charts(rows: Records) -> Iterator[Chart]:
    """Draw success against the number of neighbours; then measured against predicted arrival."""
    near = Records.of(row for row in rows if row["graph"] in NEIGHBOURS)
    for dataset, some in near.by("dataset").items():
        title = f"{dataset}: success by number of neighbours"
        yield success_against(some, "graph", K_CURVE, title, lambda k: k.removeprefix("xy-"))
    groups, ours = rows.where(arm=OURS).by("dataset", "seed").values(), BY_NAME[OURS]
    points = [(some.mean("predicted"), share(some)) for some in groups]
    series = [Series(ours.title, ours.colour, points, (), ours.shape)]
    yield scatter("Arrival predicted and measured", series, ("predicted", "measured"))


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate success by planner and graph."""
    for dataset, some in rows.by("dataset").items():
        yield success_table(some, f"success-{dataset}", f"{dataset}: success in %")


def findings(rows: Records) -> Iterator[StudyFinding]:
    """Report what planners are worth on right graphs, on wrong ones, and where there is chance."""
    if len(rows.values("seed")) < FEWEST_SEEDS:
        return
    seeds = number_of(len(rows.values("seed")), "seeds")
    scope = f"{seeds}, {rows.rows[0]['pairs']} episodes each."
    worst, spread = [], []
    for arm, mine in rows.by("arm").items():
        title, groups = BY_NAME[arm].title, mine.by("dataset", "graph")
        if len(groups) > len(rows.values("dataset")):  # those that look at graphs
            least = min(groups, key=lambda key: share(groups[key]))
            worst.append(f"{title} {say_success(groups[least])} ({', '.join(least)})")
        near = Records.of(row for row in mine if row["graph"] in NEIGHBOURS)
        if len(near) and len(near.values("graph")) > 1:
            by_k = [list(map(share, s.by("graph").values())) for s in near.by("dataset").values()]
            spread.append(f"{title} {100 * max(max(k) - min(k) for k in by_k):.0f}")
    text = f"Worst success over datasets and graphs, in %: {'; '.join(worst)}."
    if spread:
        text += f" Points between the best and the worst number of neighbours: {'; '.join(spread)}."
    yield StudyFinding("new", "Which planner arrives, whatever the graph?", text, scope)
    ours = rows.where(arm=OURS, graph=GRAPHS[0]).by("dataset", "seed").values()
    off = [some.mean("predicted") - share(some) for some in ours]
    text = (
        f"Planner's prediction differs from the measured share by {np.abs(off).mean():.3f} on "
        f"average over datasets and seeds. It is too high by at most {max(0.0, *off):.2f}."
    )
    yield StudyFinding("new", "Is arrival known in advance?", text, scope)


SUCCESS = make_experiment(
    "point_success", 4, run, cells, {"charts": charts, "tables": tables, "findings": findings}
)
NOTES = SUCCESS.sections[0].notes[:1]
"""How success is written, and what all planners share."""


# -------------------------------------------------------------------- less data

SHARES = (0.1, 0.03, 0.01)
SOME_GRAPHS = ("time", "xy-5", "xy-20")
TWO_DATASETS = ("giant-stitch", "teleport-stitch")
SHARE_ARMS = (REFERENCE, "ttgs", "cut_off", OURS)


def share_cells(profile: Profile) -> list[PointCell]:
    """Return three shares of two datasets with three graphs; if quick, one of each."""
    if profile.name == "quick":
        return point_grid(("giant-stitch",), ("xy-5",), (0,), 0.03, 20)
    full = [cell for share in SHARES for cell in point_grid(TWO_DATASETS, SOME_GRAPHS, share=share)]
    return [] if profile.name == "official" else full


def share_charts(rows: Records) -> Iterator[Chart]:
    """Draw success against the share of the data, by dataset and graph."""
    for (dataset, graph), some in rows.by("dataset", "graph").items():
        title = f"{dataset}, {graph}: success by data"
        yield success_against(some, "share", SHARE_ARMS, title, percent)


def share_tables(rows: Records) -> Iterator[Table]:
    """Tabulate success by planner and graph, for every share."""
    for (part, dataset), some in rows.by("share", "dataset").items():
        title = f"{dataset}, {percent(part)} of the data: success in %"
        yield success_table(some, f"shares-{dataset}-{100 * part:g}", title)


LESS_DATA = make_experiment(
    "point_shares", 4, run, share_cells,
    {"charts": share_charts, "tables": share_tables, "notes": NOTES},
)  # fmt: skip


# -------------------------------------------------------------------- OGBench's own evaluation

RIVALS = (REFERENCE,)
SubGoal = Callable[[FloatArray, FloatArray], FloatArray]


def run_official(cell: PointCell) -> list[Row]:
    """Return one row for `Planner` and for shortest paths."""
    scene, rows = cell.draw(), []
    graph, count = make_graph(scene, cell.graph), cell.episodes // len(scene.maze.tasks)
    os.environ.setdefault("MUJOCO_GL", "disabled")  # nothing is drawn
    need("ogbench.locomaze", "sim")
    for name in (*RIVALS, OURS):
        env = need("gymnasium", "sim").make(f"pointmaze-{cell.dataset.rsplit('-', 1)[0]}-v0")
        rng, reached, steps = np.random.default_rng([cell.seed, 3]), [], 0
        with closing(env), global_seed(cell.seed):
            for task, (_, goal) in enumerate(scene.maze.tasks, 1):
                sub_goal: SubGoal = scene.planner.subgoal
                if name != OURS:
                    problem = PointProblem(scene, graph, places([goal])[0])
                    sub_goal = partial(_of_landmark, scene, BY_NAME[name].policy(problem)[0])
                ended = [_episode(env, task, sub_goal, rng) for _ in range(count)]
                reached.append(sum(won for won, _ in ended))
                steps += sum(taken for won, taken in ended if won)
        counts = {"pairs": count * len(reached), "reached": sum(reached), "by_task": reached}
        rows.append({"arm": name, **counts, "steps": steps})
    return rows


def _of_landmark(
    scene: LandmarkScene, targets: FloatArray, observation: FloatArray, _: FloatArray
) -> FloatArray:
    return np.asarray(targets[scene.replay.nearest(observation)])


def _episode(env: Any, task: int, sub_goal: SubGoal, rng: np.random.Generator) -> tuple[bool, int]:
    """Return whether an episode succeeded, and its steps."""
    observation, info = env.reset(options={"task_id": task})
    goal, steps, done = np.asarray(info["goal"]), 0, False
    while not done:
        aim = goal - observation
        if aim @ aim >= NEAR**2:
            onward = sub_goal(observation, goal) - observation
            aim = onward if onward @ onward > 1e-4 else aim
        action = aim / max(float(np.linalg.norm(aim)), STEP) + rng.normal(0.0, NOISE, 2)
        observation, _, terminated, truncated, info = env.step(np.clip(action, -1.0, 1.0))
        steps, done = steps + 1, terminated or truncated
    return bool(info["success"]), steps


def official_cells(profile: Profile) -> list[PointCell]:
    """Return the three datasets with the graph of what was seen; none unless asked for."""
    return point_grid(DATASETS, ("time",), (0,)) if profile.name == "official" else []


OFFICIAL = make_experiment(
    "point_official", 2, run_official, official_cells,
    {
        "tables": lambda rows: [
            success_table(rows, "official", "OGBench's evaluation: success in %", "dataset")
        ]
    },
    lacks=lambda: missing("ogbench", "sim"),
)  # fmt: skip
POINT: tuple[Experiment[Any], ...] = (SUCCESS, LESS_DATA, OFFICIAL)
"""In the order of the report."""
