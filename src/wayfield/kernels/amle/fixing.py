"""The field of the AMLE in doubles, and the order in which its values are determined.

Two methods: `iterate` where labels are many and say nothing, which takes the time of a hundred
sweeps, and `divide` for everything else, directed graphs among it.

True distances have one slope: most of the field lies on walks of the steepest slope of all, and a
first propagation fixes it. Whether labels are like that is seen where two of them are neighbours of
one vertex. If all such pairs are as steep as the steepest, the divide and conquer begins there, and
is done after few frames.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._types import BoolArray, FloatArray
from ..csr import Arcs, read_only
from .divide import cones, divide
from .iterate import iterate, steepest_pairs
from .pressure import BATCHES, FIXED, FIXES, FRAMES, PUSHES, VISITS, make_workspace
from .retrace import Fixing

FEW = 4000
"""Up to so many unlabelled vertices the divide and conquer does it, in milliseconds."""
FEWEST_LABELS = 5000
"""With fewer than one label for so many vertices as well."""
PINNED = 1e-14
"""Where the cones are no further apart they have met."""


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
    slope = 0.0
    if not leave_flat and np.count_nonzero(~labelled) > FEW and out.indices.size:
        slopes = np.empty(labelled.size)
        slopes = slopes[: steepest_pairs(out, labelled, labels, slopes)]
        slope = float(slopes.max(initial=0.0))
        tight = np.count_nonzero(slopes > (1.0 - 1e-6) * slope)
        if tight <= 0.9 * slopes.size or slopes.size < 3:
            coned = tight > max(3.0, 0.01 * slopes.size)
            found = _iterated(out, labelled, labels, slope if coned else 0.0, pause)
            slope = 0.0
            if found is not None:
                return found
    work = make_workspace(out, into, labelled, labels, leave_flat)
    finished = divide(work, slope, pause)
    fixed, values = work.record.tag == FIXED, work.record.value
    values[~fixed] = np.nan  # in place: a field of ten million vertices is large
    order, slopes = work.order[: work.counts[FIXES]], work.slopes[: work.counts[BATCHES]]
    frames, visits, pushes = work.counts[[FRAMES, VISITS, PUSHES]].tolist()
    log = Fixing(values, fixed, order, work.batch, slopes, finished, 0, None)
    if slope > 0.0 and work.unit and fixed.all():
        # chains are quicker to retrace than the log of large frames
        log = iterate(out, labelled, fixed, values, pause) or log
    return log._replace(rounds=0, frames=frames, visits=visits, pushes=pushes)


def _iterated(
    arcs: Arcs, labelled: BoolArray, labels: FloatArray, slope: float, pause: Callable[[], object]
) -> Fixing | None:
    """Solve by iteration; None with few labels, or if it did not come to an end.

    If the `slope` of the steepest pair of labels is given, and lengths differ, much of the field
    lies on walks of the steepest slope of all: begin with its cones.
    """
    if labelled.size > FEWEST_LABELS * np.count_nonzero(labelled):
        return None
    start, held = np.where(labelled, labels, np.nan), labelled
    if slope > 0.0 and not (arcs.lengths == 1.0).all():
        work = make_workspace(arcs, arcs, labelled, labels, False)
        lower, upper = cones(work, (1.0 - 1e-12) * slope)
        known = ~labelled & np.isfinite(lower) & np.isfinite(upper)
        start[known] = 0.5 * (lower + upper)[known]
        held = labelled | (known & (upper - lower <= PINNED))
    return iterate(arcs, labelled, held, start, pause)
