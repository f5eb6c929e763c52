"""The field of the AMLE in doubles, and the order in which its values are determined."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs, read_only
from .divide import BATCHES, FIXES, FRAMES, PUSHES, VISITS, divide
from .pressure import FIXED


class Fixing(NamedTuple):
    """A field, and an order of fixing: every vertex is interpolated between earlier ones."""

    values: FloatArray
    """(n,) the field, accurate to rounding; NaN where nothing was fixed."""
    fixed: BoolArray
    """(n,) the labels, and the vertices that got a value."""
    order: IntArray
    """(k,) the unlabelled vertices in the order of fixing."""
    batch: IntArray
    """(n,) the batch each was fixed in; -1 for labels, `UNFIXED` where nothing was fixed."""
    slopes: FloatArray
    """(number of batches,) the slope of the walks of each; 0 where it is a constant."""
    finished: bool
    """False if the cap on frames was met, which should never happen."""
    frames: int = 0
    """How many frames the divide and conquer worked on."""
    visits: int = 0
    """How many vertices propagations spread from, counted with repetition."""
    pushes: int = 0
    """How many entries they sorted or kept in a heap."""


def fix(
    out: Arcs, into: Arcs, labelled: BoolArray, labels: FloatArray, leave_flat: bool
) -> Fixing:
    """Fix every vertex through which a walk descends from label to label, the steepest walks first.

    Parameters
    ----------
    out, into : Arcs
        The graph, and its arcs turned round: the same arrays if it is undirected.
    labelled : (n,) bool array
        Where values are given.
    labels : (n,) float array
        The given values, of magnitude at most 1; not looked at elsewhere.
    leave_flat : bool
        Leave vertices unfixed through which no walk descends. If not, the graph must be undirected,
        and they take the constant around them: the classical AMLE.
    """
    undirected = into.indices is out.indices
    out = read_only(out)
    into = out if undirected else read_only(into)
    work, finished = divide(out, into, labelled, labels, leave_flat)
    fixed, values = work.record.tag == FIXED, work.record.value
    values[~fixed] = np.nan  # in place: a field of ten million vertices is large
    return Fixing(
        values,
        fixed,
        work.order[: work.counts[FIXES]],
        work.batch,
        work.slopes[: work.counts[BATCHES]],
        finished,
        frames=int(work.counts[FRAMES]),
        visits=int(work.counts[VISITS]),
        pushes=int(work.counts[PUSHES]),
    )
