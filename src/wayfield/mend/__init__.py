"""When the graph is wrong: what labels and trips contradict, costs fitted to them, and driving."""

from ._base import Fit, MendMethod, MendProblem, Score
from .contradicting import Contradictions, contradictions
from .driving import Drive, drive
from .mending import Mended, mend
from .promising import Promise, promise
from .repair import LeastRepair, Repair
from .trips import Trips

__all__ = [
    "Contradictions",
    "Drive",
    "Fit",
    "LeastRepair",
    "MendMethod",
    "MendProblem",
    "Mended",
    "Promise",
    "Repair",
    "Score",
    "Trips",
    "contradictions",
    "drive",
    "mend",
    "promise",
]
