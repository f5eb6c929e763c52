"""Tools for a graph that may be wrong: contradictions, costs fitted to data, and driving.

Each mend method has its own module. `selection` lists them and chooses among them;
`wayfield` exports them by name, such as ``wf.Smooth``.
"""

from ._base import CandidateScore, Fit, MendMethod, MendProblem
from .contradiction import Contradictions, contradictions
from .cost_bounds import CostBound, cost_bound
from .driving import Drive, drive
from .findings import Finding, Named
from .fitting import Mended, mend
from .least_change import Change
from .trips import Trips

__all__ = [
    "CandidateScore",
    "Change",
    "Contradictions",
    "CostBound",
    "Drive",
    "Finding",
    "Fit",
    "MendMethod",
    "MendProblem",
    "Mended",
    "Named",
    "Trips",
    "contradictions",
    "cost_bound",
    "drive",
    "mend",
]
