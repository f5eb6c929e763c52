"""What comparison with the truth shows: where a greedy planner may trust a field, and where not.

One function per statement. About decisions and walks: `half_gap`, `ordering`, `bad_tail_bound`;
about the two fields the paper compares: `geometry`, `mechanism`, `harmonic_measure`,
`neighbour_ranking`, `anti_admissibility`, `extension_error`; about how plans fail or must not:
`failures`, `strict_extrema`, `residual_margin`, `plateaus`, `reach`. Worked examples: `witnesses`,
`lattice_search`.
"""

from . import lattice_search, witnesses
from ._tally import pool
from .bad_tail import BadTail, bad_tail_bound, smallest_c0
from .extension_error import ExtensionError, extension_error
from .extrema import Extrema, ResidualMargin, residual_margin, strict_extrema
from .failures import End, Failures, failures
from .half_gap import FailureBound, HalfGap, half_gap
from .harmonic_measure import (
    AntiAdmissibility,
    NeighbourRanking,
    anti_admissibility,
    harmonic_measure,
    neighbour_ranking,
)
from .mechanism import Mechanism, mechanism
from .operators import Compatible, Geometry, geometry
from .ordering import Ordering, Scope, ordering
from .plateaus import Plateaus, plateaus
from .reach import Reach, reach

__all__ = [
    "AntiAdmissibility",
    "BadTail",
    "Compatible",
    "End",
    "ExtensionError",
    "Extrema",
    "FailureBound",
    "Failures",
    "Geometry",
    "HalfGap",
    "Mechanism",
    "NeighbourRanking",
    "Ordering",
    "Plateaus",
    "Reach",
    "ResidualMargin",
    "Scope",
    "anti_admissibility",
    "bad_tail_bound",
    "extension_error",
    "failures",
    "geometry",
    "half_gap",
    "harmonic_measure",
    "lattice_search",
    "mechanism",
    "neighbour_ranking",
    "ordering",
    "plateaus",
    "pool",
    "reach",
    "residual_margin",
    "smallest_c0",
    "strict_extrema",
    "witnesses",
]
