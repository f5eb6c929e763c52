"""The study: cells, a runner that resumes, a store, statistics, and the paper's own figures."""

from .cells import Cell, grid, select_cells
from .rollout import ARMS, Arm, Record, run_cell
from .runner import Outcome, run
from .store import Store

__all__ = [
    "ARMS",
    "Arm",
    "Cell",
    "Outcome",
    "Record",
    "Store",
    "grid",
    "run",
    "run_cell",
    "select_cells",
]
