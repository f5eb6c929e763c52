"""The absolutely minimal Lipschitz extension, in two steps.

`fix` finds the field and the order in which its values are determined, in doubles. `bracket`
computes it again in that order with twice the digits, and proves how far that can be from the
truth. `trace` finds the chains of that order, of which derivatives are made.

Compiling takes longer than solving dozens of small problems in plain Python. So the first small
problems of a process are solved uncompiled, unless an earlier process has cached the compiled
kernels. The results are the same, bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from ....numerics.csr import Arcs, Renumbered
from ....numerics.doubledouble import Pair
from ....numerics.jit import is_compiled, uncompiled
from ....typing import BoolArray, FloatArray
from . import chains, divide, proof
from .proof import Bracket
from .retrace import Chains, Fixing

__all__ = [
    "Bracket", "Chains", "Fixing", "bracket", "compile_always", "fix", "in_original", "trace",
]  # fmt: skip

SMALL = 16_000
"""Vertices and arcs of a graph that may be solved uncompiled."""
PATIENCE = 50_000
"""Vertices and arcs that a process solves so in all: this takes seconds."""

_solved = [0]
_compile: ContextVar[bool] = ContextVar("_compile", default=False)


@contextmanager
def compile_always(size: float = np.inf) -> Iterator[None]:
    """Compile the kernels of every problem solved inside the block.

    `size` is the number of vertices and arcs of the problems to come. If it is at most `SMALL`,
    compiling is not forced.
    """
    token = _compile.set(size > SMALL)
    try:
        yield
    finally:
        _compile.reset(token)


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
    kernels = uncompiled(divide.__name__) if labels.dtype.hasobject else _kernels(divide, out)
    with np.errstate(all="ignore"):  # as in compiled code
        found: Fixing = kernels.fix(out, into, labelled, labels, leave_flat, pause)
    return found


def bracket(out: Arcs, into: Arcs, found: Fixing) -> Bracket:
    """Prove how far that field can be from the truth: `proof.bracket`."""
    with np.errstate(all="ignore"):
        proved: Bracket = _kernels(proof, out).bracket(out, into, found)
    return proved


def trace(out: Arcs, into: Arcs, found: Fixing) -> Chains:
    """Find the chains of that field: `chains.trace`."""
    with np.errstate(all="ignore"):
        traced: Chains = _kernels(chains, out).trace(out, into, found)
    return traced


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


def _kernels(module: Any, out: Arcs) -> Any:
    """Return the module, or its uncompiled twin for a small problem."""
    size = out.indptr.size + out.indices.size
    if size > SMALL or _solved[0] > PATIENCE or _compile.get() or is_compiled(divide._advance):
        return module
    _solved[0] += size
    return uncompiled(module.__name__)
