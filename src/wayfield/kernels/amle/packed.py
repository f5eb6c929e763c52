"""Room for the packed copy of a small segment, see `small`.

Four arrays, and names for their rows: a call in compiled code costs by the arrays it hands over.
Rows of a side are `NAME + side`, see `pressure`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._types import FloatArray

SMALL = 256
"""Most vertices of a segment that is packed; a power of two."""
ARCS = 4096
"""Most arcs, those to fixed vertices included."""

VERTEX, PART, ORDER, START, STOP, QUEUE, QUEUED, FIXES, BATCH, SPREAD = range(10)
"""Rows of `Packed.whole`: which vertex; the number of its component, or FIXED; the vertices with
every component in one run; where the components that wait start and stop; a ring of vertices whose
keys are to be spread, and which are in it; the vertices fixed, in order, and their batches; in its
first entry, how many keys were spread."""
ROW, ROOM, COUNT = 10, 12, 14
"""And for either side, where the arcs begin over which it spreads (undirected: those of the first),
where the fixed neighbours begin, and how many they are; on unit lengths one at most, the best."""
HEAD = 0
"""Rows of `Packed.whole_of_arcs`, for either side: where the arcs lead."""
VALUE, SLOPE, KEY, SOURCE, DISTANCE = 0, 1, 2, 4, 6
"""Rows of `Packed.real`: values of the vertices fixed, slopes of the batches; and for either side
hi or minus lo, value and distance of the winning fixed vertex."""
LENGTH, NEAR, STEP = 0, 2, 4
"""Rows of `Packed.real_of_arcs`, for either side: lengths of the arcs; values of the fixed
neighbours, and the lengths of the arcs to them."""


class Packed(NamedTuple):
    """A copy of a segment, its vertices numbered from 0."""

    whole: NDArray[np.int32]
    real: FloatArray
    whole_of_arcs: NDArray[np.int32]
    real_of_arcs: FloatArray


def make_packed() -> Packed:
    """Allocate room for one segment."""
    return Packed(
        np.empty((16, SMALL + 1), np.int32),
        np.empty((8, SMALL + 1)),
        np.empty((2, ARCS), np.int32),
        np.empty((6, ARCS)),
    )
