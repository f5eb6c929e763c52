"""State graphs from a replay buffer: observed transitions become arcs, nearby states one vertex.

A graph of transitions is directed. It usually has many strong components, and parts of it do not
lead to the goal at all: `Replay.report` shows this before anything is computed. Starts and goals
that were never observed are attached to their neighbours temporarily (`Replay.attach`, or `attach`
on any graph).
"""

from .check import Check
from .counts import ActionCounts, Jumps
from .planner import Planner
from .reports import PlanDiagnosis, PlannerReport, ReachReport, ToleranceScan
from .state_graph import Replay, attach, replay_graph, scan_tolerances

__all__ = [
    "ActionCounts",
    "Check",
    "Jumps",
    "PlanDiagnosis",
    "Planner",
    "PlannerReport",
    "ReachReport",
    "Replay",
    "ToleranceScan",
    "attach",
    "replay_graph",
    "scan_tolerances",
]
