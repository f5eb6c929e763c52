"""One small run of the paper's experiments, shared by tests of experiments, reports and commands.

Results are kept in a folder that all test processes of a session share: each computes what is not
there yet, the second process from the end. A result is written at once or not at all, and its bytes
are the same in every process, so none waits for another.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from wayfield_study.engine import Condition, Store, Task
from wayfield_study.engine.tasks import as_table
from wayfield_study.experiments import STUDIES, MazeCell
from wayfield_study.experiments.readings import ReadingCell
from wayfield_study.experiments.witnesses import SEVEN_NODES, GraphCell

TINY = MazeCell("medium", 2, 0.08, 54, goals=2)
"""A tiny cell of the same kind as the paper's grid."""
CELLS: dict[str, list[Any]] = {
    "design": [ReadingCell(**vars(TINY))],
    "other_searches": [GraphCell("lattice-4x4", 101, candidates=10)],
    "witnesses": [SEVEN_NODES, GraphCell("lattice-3x3", 20260510, candidates=40)],
    "small_graphs": [SEVEN_NODES, *(GraphCell(f"witness-{number}") for number in range(1, 6))],
}
TASKS = [
    Task(experiment, cell)
    for experiment in STUDIES["all"].experiments
    for cell in CELLS.get(experiment.name, [TINY])
]


def compute(folder: Path) -> Store:
    """Return a store with the results of all tasks."""
    store = Store(folder)
    step = -1 if os.environ.get("PYTEST_XDIST_WORKER", "gw0").endswith("1") else 1
    for task in TASKS[::step]:
        if store.look(task).condition is not Condition.DONE:
            store.write(task, as_table(task.cell, task.experiment.run(task.cell)))
    return store
