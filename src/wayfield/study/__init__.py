"""The study: cells, experiments, a runner that resumes, a store, and the paper's own figures."""

from .cells import Cell, grid
from .rollout import ARMS, Arm
from .runner import Outcome, look_up, run
from .store import State, Store
from .tasks import Experiment, Row, Task, by_experiment

__all__ = [
    "ARMS",
    "Arm",
    "Cell",
    "Experiment",
    "Outcome",
    "Row",
    "State",
    "Store",
    "Task",
    "by_experiment",
    "grid",
    "look_up",
    "run",
]
