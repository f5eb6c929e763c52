"""Segments of some tens of vertices, solved whole on a packed copy.

Most vertices are fixed in small segments, where frames, tags and heaps cost more than the work
itself. Here a segment is copied into arrays of its own, its vertices numbered from 0: the arcs
among them, and the fixed values around each (on unit lengths only the least and the largest
matter). Then, until nothing steeper than the floor is left, for every component:

1. Take some slope α of a walk in it: over two arcs, or where cells of nearest fixed vertices touch.
2. Propagate at α. The winners give steeper walks: take the steepest of their slopes for α, and so
   on (Dinkelbach's iteration). One or two rounds lead to the steepest slope of all.
3. The vertices where lo and hi meet get their values. The rest falls into components.

Keys settle by correcting labels, first in, first out: for so few vertices no order is worth
keeping. Where one side stops because of the other is said in `pressure`.

What counts as zero and as steeper in spite of rounding is said in `divide`.
"""

from __future__ import annotations

import numpy as np

from .._jit import njit
from .._types import IntArray
from ..csr import Arcs
from .packed import (
    ARCS,
    BATCH,
    COUNT,
    DISTANCE,
    FIXES,
    HEAD,
    KEY,
    LENGTH,
    NEAR,
    ORDER,
    PART,
    QUEUE,
    QUEUED,
    ROOM,
    ROW,
    SLOPE,
    SMALL,
    SOURCE,
    SPREAD,
    START,
    STEP,
    STOP,
    VALUE,
    VERTEX,
    Packed,
)
from .pressure import FIXED, HI, LO, SURE, Record

NOTHING = -1.0
"""Slope of a component in which nothing is steeper than the floor."""


@njit(cache=True, nogil=True, allocates=False)
def pack(
    packed: Packed, record: Record, out: Arcs, into: Arcs, members: IntArray, unit: bool, flat: bool
) -> bool:
    """Copy a segment, all of one tag; False if it has too many arcs."""
    whole = packed.whole
    tag = record.tag
    arcs = 0
    for x in members:
        arcs += max(out.indptr[x + 1] - out.indptr[x], into.indptr[x + 1] - into.indptr[x])
    if arcs > ARCS:
        return False
    # nothing is known of members yet, so that a key can hold a vertex's number in the copy
    number = record.key
    mine = tag[members[0]]
    for i in range(members.size):
        x = members[i]
        number[HI, x] = i
        whole[VERTEX, i] = x
        whole[ORDER, i] = i
        whole[PART, i] = 0
    for side in (HI, LO):
        # a side looks for fixed vertices along these arcs, and spreads against them; undirected,
        # one side's arcs among the members serve both
        indptr, indices, lengths = out if side == HI else into
        spread = HI if flat else LO - side
        known = flat and side == LO
        slot = 0
        room = 0
        for i in range(members.size):
            x = members[i]
            if not known:
                whole[ROW + spread, i] = slot
            whole[ROOM + side, i] = room
            whole[COUNT + side, i] = 0
            if unit:
                room += 1
                if abs(record.near[side, x]) < np.inf:
                    _add_fixed(packed, side, i, record.near[side, x], 1.0, unit)
                if known:
                    continue
            else:
                room += indptr[x + 1] - indptr[x]
            for e in range(indptr[x], indptr[x + 1]):
                y = indices[e]
                if tag[y] == mine:
                    if not known:
                        packed.whole_of_arcs[HEAD + spread, slot] = int(number[HI, y])
                        packed.real_of_arcs[LENGTH + spread, slot] = lengths[e]
                        slot += 1
                elif tag[y] == FIXED and not unit:
                    _add_fixed(packed, side, i, record.value[y], lengths[e], unit)
        if not known:
            whole[ROW + spread, members.size] = slot
    return True


@njit(cache=True, nogil=True, allocates=False, inline="always")
def _add_fixed(packed: Packed, side: int, i: int, value: float, step: float, unit: bool) -> None:
    """Note a fixed neighbour of vertex i; on unit lengths only the best one counts."""
    whole, near = packed.whole, packed.real_of_arcs
    slot = whole[ROOM + side, i]
    if unit and whole[COUNT + side, i] == 1:
        best = near[NEAR + side, slot]
        near[NEAR + side, slot] = min(value, best) if side == HI else max(value, best)
    else:
        slot += whole[COUNT + side, i]
        whole[COUNT + side, i] += 1
        near[NEAR + side, slot] = value
        near[STEP + side, slot] = step


@njit(cache=True, nogil=True, allocates=False)
def solve(
    packed: Packed, size: int, floor: float, tol: float, unit: bool, flat: bool
) -> tuple[int, int]:
    """Fix what has pressure above the floor in a packed component; how many, in how many batches.

    Vertices, values, batches and slopes are left in `packed`.
    """
    whole, real = packed.whole, packed.real
    whole[START, 0] = 0
    whole[STOP, 0] = size
    whole[SPREAD, 0] = 0
    waiting = 1
    parts = 1
    fixes = 0
    batches = 0
    while waiting > 0:
        waiting -= 1
        first, last = whole[START, waiting], whole[STOP, waiting]
        slope = _steepest_slope(packed, first, last, floor, tol, flat)
        if slope == NOTHING:
            continue
        mine = whole[PART, whole[ORDER, first]]
        before = fixes
        fixes = _fix_at_slope(packed, first, last, slope, tol, fixes)
        if fixes == before:
            continue
        for k in range(before, fixes):
            i = whole[FIXES, k]
            whole[PART, i] = FIXED
            # no longer in the set: nothing improves it, see `pressure`
            real[KEY + HI, i] = -np.inf
            real[KEY + LO, i] = -np.inf
            whole[BATCH, k] = batches
            for side in (HI, LO):
                spread = HI if flat else side
                for slot in range(whole[ROW + spread, i], whole[ROW + spread, i + 1]):
                    j = packed.whole_of_arcs[HEAD + spread, slot]
                    step = packed.real_of_arcs[LENGTH + spread, slot]
                    _add_fixed(packed, side, j, real[VALUE, k], step, unit)
        real[SLOPE, batches] = slope
        batches += 1
        if fixes - before < last - first:
            found = _split(packed, first, last, mine, parts, waiting, flat)
            waiting += found
            parts += found
    return fixes, batches


@njit(cache=True, nogil=True, allocates=False)
def _steepest_slope(
    packed: Packed, first: int, last: int, floor: float, tol: float, flat: bool
) -> float:
    """Slope of the steepest walk in a component, propagated at it; NOTHING if not above the floor.

    0 if all values around are equal and the constant is wanted.
    """
    whole, real = packed.whole, packed.real
    ceiling, alpha = _over_two_arcs(packed, first, last, floor, tol)
    # without a fixed vertex above there is no walk
    if ceiling == -np.inf:
        return NOTHING
    found = alpha > floor
    if not found and floor <= 0.0:
        alpha = _across_cells(packed, first, last, flat)
        found = alpha > 0.0
        if not found and flat:
            return 0.0
    again = False
    while True:
        _propagate(packed, first, last, HI, alpha, 1.0, ceiling, again, flat)
        _propagate(packed, first, last, LO, alpha, -1.0, ceiling, True, flat)
        again = True
        steeper = alpha
        for k in range(first, last):
            i = whole[ORDER, k]
            if -real[KEY + LO, i] - real[KEY + HI, i] > 4.0 * tol:
                drop = real[SOURCE + LO, i] - real[SOURCE + HI, i]
                run = real[DISTANCE + LO, i] + real[DISTANCE + HI, i]
                steeper = max(steeper, drop / run)
        if steeper == alpha:
            return alpha if found else NOTHING
        alpha = steeper
        found = True


@njit(cache=True, nogil=True, allocates=False)
def _over_two_arcs(
    packed: Packed, first: int, last: int, floor: float, tol: float
) -> tuple[float, float]:
    """Largest fixed value above a component; largest slope found over two arcs, or the floor.

    From the highest fixed neighbour of a vertex to its lowest: on unit lengths no two arcs are
    steeper.
    """
    whole, near = packed.whole, packed.real_of_arcs
    ceiling = -np.inf
    steepest = floor
    for k in range(first, last):
        i = whole[ORDER, k]
        highest = -np.inf
        lowest = np.inf
        run = 0.0
        start = whole[ROOM + LO, i]
        for slot in range(start, start + whole[COUNT + LO, i]):
            if near[NEAR + LO, slot] > highest:
                highest = near[NEAR + LO, slot]
                run = near[STEP + LO, slot]
        ceiling = max(ceiling, highest)
        step = 0.0
        start = whole[ROOM + HI, i]
        for slot in range(start, start + whole[COUNT + HI, i]):
            if near[NEAR + HI, slot] < lowest:
                lowest = near[NEAR + HI, slot]
                step = near[STEP + HI, slot]
        run += step
        drop = highest - lowest
        # hysteresis: above a floor, by more than rounding
        if drop > steepest * run and (floor <= 0.0 or drop - floor * run > 4.0 * tol):
            steepest = drop / run
    return ceiling, steepest


@njit(cache=True, nogil=True, allocates=False)
def _across_cells(packed: Packed, first: int, last: int, flat: bool) -> float:
    """Largest slope of walks between the nearest fixed vertices of neighbours."""
    whole, real, heads, near = packed
    _propagate(packed, first, last, HI, 1.0, 0.0, np.inf, False, flat)
    above = HI
    if not flat:
        above = LO
        _propagate(packed, first, last, LO, 1.0, 0.0, np.inf, False, flat)
    largest = 0.0
    for k in range(first, last):
        i = whole[ORDER, k]
        if real[KEY + above, i] == np.inf:
            continue
        top, far = real[SOURCE + above, i], real[DISTANCE + above, i]
        start = whole[ROOM + HI, i]
        for slot in range(start, start + whole[COUNT + HI, i]):
            drop = top - near[NEAR + HI, slot]
            run = far + near[STEP + HI, slot]
            largest = max(largest, (abs(drop) if flat else drop) / run)
        for slot in range(whole[ROW + above, i], whole[ROW + above, i + 1]):
            j = heads[HEAD + above, slot]
            if whole[PART, j] != FIXED and real[KEY + HI, j] < np.inf:
                drop = top - real[SOURCE + HI, j]
                run = far + near[LENGTH + above, slot] + real[DISTANCE + HI, j]
                largest = max(largest, (abs(drop) if flat else drop) / run)
    return largest


@njit(cache=True, nogil=True, allocates=False)
def _propagate(
    packed: Packed,
    first: int,
    last: int,
    side: int,
    alpha: float,
    sign: float,
    ceiling: float,
    bounded: bool,
    flat: bool,
) -> None:
    """As `pressure.propagate`; unless the other side bounds this one, the ceiling does.

    With sign 0, the nearest fixed vertex.
    """
    whole, real, heads, near = packed
    spread = HI if flat else side
    tail = 0
    for k in range(first, last):
        i = whole[ORDER, k]
        best = np.inf
        start = whole[ROOM + side, i]
        for slot in range(start, start + whole[COUNT + side, i]):
            candidate = sign * near[NEAR + side, slot] + alpha * near[STEP + side, slot]
            if candidate < best:
                best = candidate
                real[SOURCE + side, i] = near[NEAR + side, slot]
                real[DISTANCE + side, i] = near[STEP + side, slot]
        real[KEY + side, i] = best
        whole[QUEUED, i] = best < np.inf
        if best < np.inf:
            whole[QUEUE, tail] = i
            tail += 1
    here = 0
    while here < tail:
        i = whole[QUEUE, here & (SMALL - 1)]
        here += 1
        whole[QUEUED, i] = False
        if real[KEY + side, i] > (SURE - real[KEY + LO - side, i] if bounded else ceiling + SURE):
            continue
        whole[SPREAD, 0] += 1
        source, distance = real[SOURCE + side, i], real[DISTANCE + side, i]
        for slot in range(whole[ROW + spread, i], whole[ROW + spread, i + 1]):
            j = heads[HEAD + spread, slot]
            far = distance + near[LENGTH + spread, slot]
            candidate = sign * source + alpha * far
            if candidate < real[KEY + side, j]:
                real[KEY + side, j] = candidate
                real[SOURCE + side, j] = source
                real[DISTANCE + side, j] = far
                if not whole[QUEUED, j]:
                    whole[QUEUED, j] = True
                    whole[QUEUE, tail & (SMALL - 1)] = j
                    tail += 1


@njit(cache=True, nogil=True, allocates=False)
def _fix_at_slope(
    packed: Packed, first: int, last: int, slope: float, tol: float, fixes: int
) -> int:
    """Fix the vertices where lo and hi meet, or else where they come closest; how many so far.

    All of them at slope 0: then the values around are equal.
    """
    whole, real = packed.whole, packed.real
    where = -1
    if slope > 0.0:
        closest = -np.inf
        descends = False
        for k in range(first, last):
            i = whole[ORDER, k]
            gap = -real[KEY + LO, i] - real[KEY + HI, i]
            # lo and hi of one fixed vertex meet a short way off as well, but that is no descent
            down = real[SOURCE + LO, i] > real[SOURCE + HI, i] and gap > -np.inf
            if (down and not descends) or (down == descends and gap > closest):
                closest = gap
                where = i
                descends = down
        tol = tol if closest >= -tol else -np.inf
    for k in range(first, last):
        i = whole[ORDER, k]
        if slope == 0.0:
            value = real[SOURCE + HI, i]
        elif i == where or -real[KEY + LO, i] - real[KEY + HI, i] >= -tol:
            value = 0.5 * (real[KEY + HI, i] - real[KEY + LO, i])
        else:
            continue
        whole[FIXES, fixes] = i
        real[VALUE, fixes] = value
        fixes += 1
    return fixes


@njit(cache=True, nogil=True, allocates=False)
def _split(
    packed: Packed, first: int, last: int, mine: int, parts: int, waiting: int, flat: bool
) -> int:
    """Let the components wait that are left of part `mine`, under new numbers; how many."""
    whole, heads = packed.whole, packed.whole_of_arcs
    found = 0
    tail = 0
    for k in range(first, last):
        root = whole[ORDER, k]
        if whole[PART, root] != mine:
            continue
        whole[START, waiting + found] = first + tail
        here = tail
        whole[PART, root] = parts + found
        whole[QUEUE, tail] = root
        tail += 1
        while here < tail:
            i = whole[QUEUE, here]
            here += 1
            for side in (HI, LO):
                if side == LO and flat:
                    break  # the same arcs
                for slot in range(whole[ROW + side, i], whole[ROW + side, i + 1]):
                    j = heads[HEAD + side, slot]
                    if whole[PART, j] == mine:
                        whole[PART, j] = parts + found
                        whole[QUEUE, tail] = j
                        tail += 1
        whole[STOP, waiting + found] = first + tail
        found += 1
    for k in range(tail):
        whole[ORDER, first + k] = whole[QUEUE, k]
    return found
