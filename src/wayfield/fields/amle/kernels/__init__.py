"""The absolutely minimal Lipschitz extension, in two steps.

`fix` finds the field and the order in which its values are determined, in doubles. `bracket`
computes it again in that order with twice the digits, and proves how far that can be from the
truth. `trace` finds the chains of that order, of which derivatives are made.
"""

from __future__ import annotations

from collections.abc import Callable

from ....numerics.csr import Arcs, Renumbered
from ....numerics.doubledouble import Pair
from ....numerics.jit import compiling
from ....typing import BoolArray, FloatArray
from . import divide
from .chains import trace
from .proof import Bracket, bracket
from .retrace import Chains, Fixing

__all__ = ["Bracket", "Chains", "Fixing", "bracket", "fix", "in_original", "trace"]


def fix(
    out: Arcs,
    into: Arcs,
    labelled: BoolArray,
    labels: FloatArray,
    leave_flat: bool,
    pause: Callable[[], object] = bool,
) -> Fixing:
    """Return the field and an order of fixing: see `divide.fix`.

    If labels and lengths are arrays of rationals, so is the field: then nothing is rounded.
    """
    if labels.dtype.hasobject:
        with compiling("never"):
            return divide.fix(out, into, labelled, labels, leave_flat, pause)
    return divide.fix(out, into, labelled, labels, leave_flat, pause)


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
