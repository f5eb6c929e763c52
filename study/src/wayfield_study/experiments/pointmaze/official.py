"""OGBench's own evaluation in MuJoCo: five tasks, twenty episodes each, `info["success"]`.

What a user would write, and nothing of this study's physics but the data: a `replay.Planner` on a
buffer is asked for a sub-goal at every step, and a low level heads straight for it, with noise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import numpy as np

from wayfield.checks import missing, need
from wayfield.typing import FloatArray

from ...engine import Profile, Records, Row
from ...kernels.point_maze import STEP
from ...report import Table
from ...sim.mazes import global_seed
from ..shared import make_experiment
from . import common
from .common import OURS, PointCell
from .maze import NEAR, NOISE, places
from .planners import PointProblem, make_graph

RIVALS = (common.REFERENCE, "counts_shrunk")
SubGoal = Callable[[FloatArray, FloatArray], FloatArray]


def run(cell: PointCell) -> list[Row]:
    """Return one row for `Planner` and for some rivals."""
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
                    sub_goal = _by_landmark(PointProblem(scene, graph, places([goal])[0]), name)
                ended = [_episode(env, task, sub_goal, rng) for _ in range(count)]
                reached.append(sum(won for won, _ in ended))
                steps += sum(taken for won, taken in ended if won)
        counts = {"pairs": count * len(reached), "reached": sum(reached), "by_task": reached}
        rows.append({"arm": name, **counts, "steps": steps})
    return rows


def _by_landmark(problem: PointProblem, name: str) -> SubGoal:
    """Return the sub-goals of one of the study's planners."""
    (arm,) = (arm for arm in common.ARMS if arm.name == name)
    targets = arm.make(problem).targets
    return lambda observation, _: targets[problem.scene.replay.nearest(observation)]


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


def cells(profile: Profile) -> list[PointCell]:
    """Return the three datasets with the graph of what was seen; none unless asked for."""
    return common.point_grid(common.DATASETS, ("time",), (0,)) if profile.name == "official" else []


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate success by planner and dataset."""
    yield common.success_table(rows, "official", "OGBench's evaluation: success in %", "dataset")


EXPERIMENT = make_experiment(
    "point_official",
    "OGBench's own evaluation",
    1,
    run,
    cells,
    "The planners in OGBench's environments: env.reset(options=dict(task_id=k)), "
    'info["success"], twenty episodes for each of five tasks. wayfield study pointmaze '
    "--official runs it; it needs the extra sim.",
    {"tables": tables},
    lacks=lambda: missing("ogbench", "sim"),
)
