"""OGBench's own evaluation in MuJoCo: five tasks, twenty episodes each, `info["success"]`.

What a user would write, and nothing of this study's physics but the data: a `wayfield.Planner` on a
buffer is asked for a sub-goal at every step, and a low level heads straight for it, with noise.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from wayfield._optional import missing, need
from wayfield.kernels._types import FloatArray
from wayfield.replay import Planner

from ...engine import Experiment, Profile, Records, Row
from ...kernels.point_maze import STEP
from ...report import Finding, Section, Table
from .._point import (
    ARMS,
    OURS,
    REFERENCE,
    PointCell,
    Problem,
    Scene,
    make_graph,
    places,
    point_grid,
)
from .._point.scene import NEAR, NOISE
from ._shown import looks_of, say_success, success_table

RIVALS = (REFERENCE, "counts_shrunk")
SubGoal = Callable[[FloatArray, FloatArray], FloatArray]


def run(cell: PointCell) -> list[Row]:
    """One row for `Planner` and for some rivals."""
    scene = cell.draw()
    planner = Planner(
        {
            "observations": scene.buffer.observations,
            "actions": scene.buffer.actions,
            "terminals": scene.buffer.terminals,
        },
        seed=cell.seed,
    )
    rows = [_row(cell, scene, arm, _routed(scene, cell.graph, arm)) for arm in RIVALS]
    return [*rows, _row(cell, scene, OURS, lambda task: planner.subgoal)]


def _routed(scene: Scene, graph: str, name: str) -> Callable[[int], SubGoal]:
    """Return the sub-goals of one of the study's planners, by task."""
    (arm,) = (arm for arm in ARMS if arm.name == name)

    def course(task: int) -> SubGoal:
        place = places([scene.maze.tasks[task - 1][1]])[0]
        targets = arm.make(Problem(scene, make_graph(scene, graph), place)).targets
        return lambda observation, goal: targets[scene.replay.nearest(observation)]

    return course


def _row(cell: PointCell, scene: Scene, arm: str, sub_goals: Callable[[int], SubGoal]) -> Row:
    env = _environment(cell.dataset.rsplit("-", 1)[0])
    rng = np.random.default_rng([cell.seed, 3])
    count = cell.episodes // len(scene.maze.tasks)
    state, reached, steps = np.random.get_state(), [], 0  # noqa: NPY002  OGBench draws from it
    np.random.seed(cell.seed)  # noqa: NPY002
    try:
        for task in range(1, len(scene.maze.tasks) + 1):
            ended = [_episode(env, task, sub_goals(task), rng) for _ in range(count)]
            reached.append(sum(won for won, _ in ended))
            steps += sum(taken for won, taken in ended if won)
    finally:
        np.random.set_state(state)  # noqa: NPY002
        env.close()
    return {
        "arm": arm,
        "pairs": count * len(scene.maze.tasks),
        "reached": sum(reached),
        "by_task": reached,
        "steps": steps,
    }


def _environment(maze: str) -> Any:
    os.environ.setdefault("MUJOCO_GL", "disabled")  # nothing is drawn
    need("ogbench.locomaze", "sim")
    return need("gymnasium", "sim").make(f"pointmaze-{maze}-v0")


def _episode(env: Any, task: int, sub_goal: SubGoal, rng: np.random.Generator) -> tuple[bool, int]:
    """Return whether an episode succeeded, and its steps."""
    observation, info = env.reset(options={"task_id": task})
    goal, steps, done = np.asarray(info["goal"]), 0, False
    while not done:
        way = goal - observation
        if way @ way >= NEAR**2:
            onward = sub_goal(observation, goal) - observation
            way = onward if onward @ onward > 1e-4 else way
        action = way / max(float(np.linalg.norm(way)), STEP) + rng.normal(0.0, NOISE, 2)
        observation, _, terminated, truncated, info = env.step(np.clip(action, -1.0, 1.0))
        steps, done = steps + 1, terminated or truncated
    return bool(info["success"]), steps


def cells(profile: Profile) -> list[PointCell]:
    """Return the three datasets with the graph of what was seen; none unless asked for."""
    if profile.name != "official":
        return []
    return point_grid(("giant-stitch", "giant-navigate", "teleport-stitch"), ("time",), (0,))


def tables(rows: Records) -> Iterator[Table]:
    """Success by planner and dataset."""
    yield success_table(rows, "official", "OGBench's evaluation: success in %", "dataset")


def findings(rows: Records) -> Iterator[Finding]:
    """Tell how Planner fares where others measure."""
    for dataset, some in rows.by("dataset").items():
        told = [f"{look.title} {say_success(some.where(arm=look.name))}" for look in looks_of(some)]
        yield Finding("new", f"{dataset} by OGBench's own evaluation", f"{'; '.join(told)}.")


EXPERIMENT = Experiment(
    "point_official",
    "OGBench's own evaluation",
    version=1,
    run=run,
    cells=cells,
    sections=(
        Section(
            "point-official",
            "OGBench's own evaluation",
            "The planners in OGBench's environments: env.reset(options=dict(task_id=k)), "
            'info["success"], twenty episodes for each of five tasks. wayfield study pointmaze '
            "--official runs it; it needs wayfield[sim].",
            tables=tables,
            findings=findings,
        ),
    ),
    lacks=lambda: missing("ogbench", "sim"),
)
