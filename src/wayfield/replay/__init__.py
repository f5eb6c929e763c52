"""State graphs from a replay buffer: observed transitions become arcs, nearby states one vertex.

What a buffer does not hold cannot be planned: a graph of transitions is directed, usually falls
into many strong components, and parts of it do not lead to the goal at all. `Replay.report` says
so before anything is computed. Starts and goals that were never observed are attached to their
neighbours (`Replay.attach`, or `attach` on any graph) for as long as they are needed.
"""

from ._attach import attach
from ._guesses import Suspects
from ._moves import ActionCounts, Jumps
from ._reach import ReachReport
from ._replay import Replay, replay_graph
from ._report import PlannerReport
from ._scan import ToleranceScan, scan_tolerances
from .planner import Planner

__all__ = [
    "ActionCounts",
    "Jumps",
    "Planner",
    "PlannerReport",
    "ReachReport",
    "Replay",
    "Suspects",
    "ToleranceScan",
    "attach",
    "replay_graph",
    "scan_tolerances",
]
