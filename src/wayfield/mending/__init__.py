"""When the graph is wrong: what labels and trips contradict, costs fitted to them, and driving."""

from ._base import Fit, MendMethod, MendProblem, Score
from .both import Both
from .contradiction import Contradictions, contradictions
from .cost_bounds import CostBound, cost_bound
from .driving import Drive, drive
from .fitting import Mended, mend
from .least_change import Change, LeastChange
from .selection import Best
from .shortcuts import NoShortcuts
from .smooth import Smooth
from .trips import Trips

__all__ = [
    "Best",
    "Both",
    "Change",
    "Contradictions",
    "CostBound",
    "Drive",
    "Fit",
    "LeastChange",
    "MendMethod",
    "MendProblem",
    "Mended",
    "NoShortcuts",
    "Score",
    "Smooth",
    "Trips",
    "contradictions",
    "cost_bound",
    "drive",
    "mend",
]
