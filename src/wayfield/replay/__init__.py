"""From a replay buffer to sub-goals and actions, with the odds of arrival: estimated, not proved.

`Planner` finds a metric and plans chains of recorded transitions and stitches. Ask `Planner.check`
before you rely on it: it follows plans through held-out episodes.

`replay_graph` makes the observed transitions a directed `Graph`, nearby states one vertex. Fields
and plans of the core hold on this graph. They say nothing about transitions that nobody saw, and
parts of the graph may not lead to the goal at all: `Replay.report` shows this first. `attach` adds
starts and goals that were never observed.

Examples
--------
A corridor, walked up and down ten times:

>>> import numpy as np
>>> from wayfield import replay
>>> up = np.arange(41.0)[:, np.newaxis]
>>> planner = replay.Planner([up, up[::-1]] * 10)
>>> planner.subgoal([10.0], goal=[30.0])
array([27.])
>>> round(float(planner.reach([10.0], goal=[30.0])), 2)
1.0
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
