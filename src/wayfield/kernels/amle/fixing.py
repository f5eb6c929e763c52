"""The field of the AMLE in doubles, and the order in which its values are determined."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._types import BoolArray, FloatArray, IntArray
from ..csr import Arcs, read_only
from .divide import BATCHES, FIXES, FRAMES, PUSHES, VISITS, cones, divide, make_workspace
from .iterate import Along, Iterated, iterate, steepest_pairs
from .pressure import FIXED

FEW = 4000
"""Up to so many unlabelled vertices the divide and conquer does it, in milliseconds."""
FEWEST_LABELS = 5000
"""With fewer than one label for so many vertices as well."""
PINNED = 1e-14
"""Where the cones are no further apart they have met."""


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
    rounds: int = 0
    """How many rounds the iteration took; 0 if the divide and conquer answered."""
    along: Along | None = None
    """Where the vertices lie on their walks, if that is known."""
    frames: int = 0
    """How many frames the divide and conquer worked on."""
    visits: int = 0
    """How many vertices propagations spread from, counted with repetition."""
    pushes: int = 0
    """How many entries they sorted or kept in a heap."""


def fix(
    out: Arcs,
    into: Arcs,
    labelled: BoolArray,
    labels: FloatArray,
    leave_flat: bool,
    pause: Callable[[], object] = bool,
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
    pause : callable
        Called every few passes over the graph; it may raise.
    """
    undirected = into.indices is out.indices
    out = read_only(out)
    into = out if undirected else read_only(into)
    found = None
    if not leave_flat and np.count_nonzero(~labelled) > FEW:
        found = _iterated(out, labelled, labels, pause)
    if found is not None:
        values, order, batch, slopes, rounds, along = found
        fixed = np.ones(values.size, np.bool_)
        return Fixing(values, fixed, order, batch, slopes, True, rounds, along)
    work = make_workspace(out, into, labelled, labels, leave_flat)
    finished = divide(work, pause)
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


def _iterated(
    arcs: Arcs, labelled: BoolArray, labels: FloatArray, pause: Callable[[], object]
) -> Iterated | None:
    """Solve by iteration where that is quicker; None if it is not, or did not come to an end.

    True distances have one slope: most of the field lies on walks of the steepest slope of all,
    which a first propagation fixes (`cones`). Whether labels are like that is seen where two of
    them are neighbours of one vertex. If all of these pairs are as steep as the steepest the divide
    and conquer is done after few frames.
    """
    slopes = np.empty(labelled.size)
    slopes = slopes[: steepest_pairs(arcs, labelled, labels, slopes)]
    steepest = float(slopes.max(initial=0.0))
    tight = np.count_nonzero(slopes > (1.0 - 1e-6) * steepest)
    if tight > 0.9 * slopes.size or labelled.size > FEWEST_LABELS * np.count_nonzero(labelled):
        return None
    start, held = np.where(labelled, labels, np.nan), labelled
    if tight > max(3.0, 0.01 * slopes.size) and not (arcs.lengths == 1.0).all():
        work = make_workspace(arcs, arcs, labelled, labels, False)
        lower, upper = cones(work, (1.0 - 1e-12) * steepest)
        known = ~labelled & np.isfinite(lower) & np.isfinite(upper)
        start[known] = 0.5 * (lower + upper)[known]
        held = labelled | (known & (upper - lower <= PINNED))
    return iterate(arcs, labelled, held, start, pause)
