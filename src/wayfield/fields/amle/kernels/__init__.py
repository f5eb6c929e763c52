"""The absolutely minimal Lipschitz extension, in two steps.

`fix` finds the field and the order in which its values are determined, in doubles. `bracket`
computes it again in that order with twice the digits, and proves how far that can be from the
truth. `trace` finds the chains of that order, of which derivatives are made.
"""

from __future__ import annotations

from ....numerics.csr import Renumbered
from ....numerics.doubledouble import Pair
from .chains import trace
from .divide import fix
from .proof import Bracket, barriers, bracket
from .retrace import Chains, Fixing

__all__ = ["Bracket", "Chains", "Fixing", "barriers", "bracket", "fix", "in_original", "trace"]


def in_original(
    graph: Renumbered, found: Fixing, proved: Bracket | None
) -> tuple[Fixing, Bracket | None]:
    """Return what was found on a renumbered graph for the original one."""
    at = graph.number
    found = found._replace(
        values=found.values[at],
        fixed=found.fixed[at],
        order=graph.order[found.order],
        batch=found.batch[at],
        along=None,
    )
    if proved is not None:
        field = Pair(proved.field.high[at], proved.field.low[at])
        proved = Bracket(field, proved.below[at], proved.above[at], proved.piece[at])
    return found, proved
