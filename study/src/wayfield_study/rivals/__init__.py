"""Rivals of the AMLE from the literature, to stand beside it in every table.

Each is a method like those of `wayfield`: a frozen settings object with ``solve``, for
`wayfield.extend` and whatever takes a method. Published settings are the defaults; other
settings are marked as ours. None is tuned to mazes, and none has a bracket. Edge weights are
reciprocal lengths, 1 on mazes.
"""

from .biharmonic import Biharmonic
from .envelopes import MeanOfEnvelopes
from .game import GamePLaplacian
from .inverse_distance import InverseDistance
from .matern import Matern
from .poisson import PoissonLearning
from .properly_weighted import ProperlyWeighted
from .wnll import WeightedNonlocal

__all__ = [
    "Biharmonic", "GamePLaplacian", "InverseDistance", "Matern", "MeanOfEnvelopes",
    "PoissonLearning", "ProperlyWeighted", "WeightedNonlocal",
]  # fmt: skip
