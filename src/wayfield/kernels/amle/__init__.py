"""The absolutely minimal Lipschitz extension, in two steps.

`fix` finds the field and the order in which its values are determined, in doubles. `bracket`
computes it again in that order with twice the digits, and proves how far that can be from the
truth.

To compile them takes longer than to solve hundreds of small problems in plain Python. So the first
small problems of a process are solved without, unless an earlier process has left the compiled
kernels behind. The results are the same, bit by bit.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from .._jit import is_compiled, uncompiled
from .._types import BoolArray, FloatArray
from ..csr import Arcs
from . import divide, fixing, proof
from .fixing import Fixing
from .proof import Bracket

__all__ = ["Bracket", "Fixing", "bracket", "compile_always", "fix"]

SMALL = 30_000
"""Vertices and arcs of a graph that may be solved uncompiled."""
PATIENCE = 3.0
"""Seconds that a process spends on that in all."""

_spent = [0.0]
_compile: ContextVar[bool] = ContextVar("_compile", default=False)


@contextmanager
def compile_always() -> Iterator[None]:
    """Compile whatever is solved inside."""
    token = _compile.set(True)
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
    """Find the field and an order of fixing: `fixing.fix`."""
    if not _is_small(out):
        return fixing.fix(out, into, labelled, labels, leave_flat, pause)
    with _on_trial():
        found: Fixing = uncompiled(fixing.__name__).fix(
            out, into, labelled, labels, leave_flat, pause
        )
    return found


def bracket(out: Arcs, into: Arcs, found: Fixing) -> Bracket:
    """Prove how far that field can be from the truth: `proof.bracket`."""
    if not _is_small(out):
        return proof.bracket(out, into, found)
    with _on_trial():
        proved: Bracket = uncompiled(proof.__name__).bracket(out, into, found)
    return proved


def _is_small(out: Arcs) -> bool:
    if out.indptr.size + out.indices.size > SMALL or _spent[0] > PATIENCE or _compile.get():
        return False
    return not is_compiled(divide._advance)


@contextmanager
def _on_trial() -> Iterator[None]:
    """Count the time; NumPy's warnings are left out, since compiled code gives none."""
    start = time.thread_time()
    with np.errstate(all="ignore"):
        yield
    _spent[0] += time.thread_time() - start
