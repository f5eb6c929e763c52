"""What comparison with the truth shows: where a greedy planner may trust a field, and where not.

One module per group of the paper's statements; the docstrings of the modules have the
proofs. `decisions`: `half_gap`, `ordering`, `fidelity`. `separation`, the two fields the paper
compares: `geometry`, `mechanism`. `outcomes`, how plans fail: `failures`, `strict_extrema`. Worked
examples: `witnesses`, `lattice_search`. What a function returns is described in its module.
"""

from . import lattice_search, witnesses
from .decisions import fidelity, half_gap, ordering
from .inputs import pool, visits_from
from .outcomes import End, failures, strict_extrema, walk_ends
from .separation import Compatible, geometry, mechanism, separated_states

__all__ = [
    "Compatible", "End", "failures", "fidelity", "geometry", "half_gap", "lattice_search",
    "mechanism", "ordering", "pool", "separated_states", "strict_extrema", "visits_from",
    "walk_ends", "witnesses",
]  # fmt: skip
