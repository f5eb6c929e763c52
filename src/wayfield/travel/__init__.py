"""Tools for a graph that may be wrong: contradictions, costs fitted to data, and driving.

Each mend method has its own module. `selection` lists them and chooses among them;
`wayfield` exports them by name, such as ``travel.Smooth``.
"""

from ..certificates.contradiction import Contradictions, contradictions
from .base import CandidateScore, Fit, MendMethod, MendProblem
from .cost_bounds import CostBound, cost_bound
from .factor import Factor
from .findings import Finding, Named
from .fitting import Mended, mend
from .least_change import Change, LeastChange
from .selection import Best, Both
from .shortcuts import NoShortcuts
from .smooth import Smooth
from .trips import Trips

__all__ = [
    "Best",
    "Both",
    "CandidateScore",
    "Change",
    "Contradictions",
    "CostBound",
    "Factor",
    "Finding",
    "Fit",
    "LeastChange",
    "MendMethod",
    "MendProblem",
    "Mended",
    "Named",
    "NoShortcuts",
    "Smooth",
    "Trips",
    "contradictions",
    "cost_bound",
    "mend",
]
