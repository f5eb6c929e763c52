"""When the graph is wrong: what labels and trips contradict, costs fitted to them, and driving."""

from ._base import Fit, MendMethod, MendProblem, Score
from .both import Both
from .contradicting import Contradictions, contradictions
from .driving import Drive, drive
from .mending import Mended, mend
from .promising import Promise, promise
from .referee import Best
from .repair import LeastRepair, Repair
from .shortcuts import NoShortcuts
from .smooth import Smooth
from .trips import Trips

__all__ = [
    "Best",
    "Both",
    "Contradictions",
    "Drive",
    "Fit",
    "LeastRepair",
    "MendMethod",
    "MendProblem",
    "Mended",
    "NoShortcuts",
    "Promise",
    "Repair",
    "Score",
    "Smooth",
    "Trips",
    "contradictions",
    "drive",
    "mend",
    "promise",
]
