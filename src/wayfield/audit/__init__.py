"""Comparison with the truth: where a greedy planner may trust a field, and where not.

This room alone sees the true costs and judges by them; no other room imports it. One module per
group of statements, with their proofs at its head. `decisions`: which moves are right, and how well
neighbours are ranked. `separation`: two fields beside each other. `outcomes`: how plans fail. What
a function returns is described in its module.
"""

from typing import TYPE_CHECKING

from .. import load_on_use

if TYPE_CHECKING:
    from .decisions import amle_half_gap as amle_half_gap
    from .decisions import fidelity as fidelity
    from .decisions import half_gap as half_gap
    from .decisions import ordering as ordering
    from .inputs import pool as pool
    from .inputs import visits_from as visits_from
    from .outcomes import End as End
    from .outcomes import failures as failures
    from .outcomes import strict_extrema as strict_extrema
    from .outcomes import walk_ends as walk_ends
    from .separation import Compatible as Compatible
    from .separation import geometry as geometry
    from .separation import mechanism as mechanism
    from .separation import separated_states as separated_states

__getattr__, __dir__, __all__ = load_on_use(__name__)
