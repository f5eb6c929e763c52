"""What comparison with the truth shows: where a greedy planner may trust a field, and where not.

One function per statement, one module per group of statements; the modules' heads have the
proofs. `decisions`: `half_gap`, `ordering`, `bad_tail_bound`, `fidelity`. `separation`, the two
fields the paper compares: `geometry`, `mechanism`, `extension_error`. `harmonic`:
`harmonic_measure`, `neighbour_ranking`, `anti_admissibility`. `outcomes`, how plans fail:
`failures`, `strict_extrema`, `residual_margin`, `plateaus`. `reach_theorem`: `reach`. Worked
examples: `witnesses`, `lattice_search`. What a function returns is described in its module.
"""

from . import lattice_search, witnesses
from ._inputs import pool, visits_from
from .decisions import bad_tail_bound, fidelity, half_gap, ordering, smallest_c0
from .harmonic import anti_admissibility, harmonic_measure, neighbour_ranking
from .outcomes import End, failures, plateaus, residual_margin, strict_extrema, walk_ends
from .reach_theorem import reach
from .separation import Compatible, extension_error, geometry, mechanism, separated_states

__all__ = [
    "Compatible", "End", "anti_admissibility", "bad_tail_bound", "extension_error", "failures",
    "fidelity", "geometry", "half_gap", "harmonic_measure", "lattice_search", "mechanism",
    "neighbour_ranking", "ordering", "plateaus", "pool", "reach", "residual_margin",
    "separated_states", "smallest_c0", "strict_extrema", "visits_from", "walk_ends", "witnesses",
]  # fmt: skip
