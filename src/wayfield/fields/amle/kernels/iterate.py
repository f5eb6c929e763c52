"""The AMLE of an undirected graph by iteration and verification: sweep, freeze, follow, verify.

**Equation.** At every unlabelled vertex the steepest slope up equals the steepest slope down.

**Method.**

1. *Sweep*: some Gauss–Seidel sweeps, both ways by turns. NaN is "no value yet".
2. *Freeze*: note at every vertex the neighbour steepest up and the one steepest down.
3. *Follow*: these pointers form chains, along which the AMLE is linear. From y a chain goes on to
   its pointer z if z points back, or is not steeper (a tie). A steeper z has a chain of its own,
   which comes first; if that one already waits for this one, the two are one chain. Ends that are
   known: interpolate. Depth first, so that a vertex is walked about twice and nothing is sorted.
4. *Verify*: a pass over all vertices. None out of balance: done.
5. *Local rounds*: otherwise repeat on the vertices out of balance and on what takes its value from
   them, by arcs as steep as a vertex has. More sweeps where a round did not help.

Two things come first. Dead ends without a label are left out, and filled at the end. Where labels
are true distances, all walks have one slope, and its cones give most values at once (`_start`).

Sweeps find the steepest neighbours fast, but would take for ever to get the values right. Pointers
get the values right at once, if the pointers are. With labels of pure noise this takes a few
rounds. With few labels it may take hundreds: then `iterate` gives up, and `divide` takes over. A
start from a coarser graph does not change that: begun with the exact field of the grid of half the
resolution, ten labels on 100,000 vertices take about 2,000 sweeps, and `divide` the time of 100 to
400. Pointers are right from the start only if values are right to about one part in a million.

**Why verification suffices.** A field that agrees with the labels and is in balance at every other
vertex is *the* AMLE, by the comparison principle, if every component has a label. So nothing of
1 to 3 is trusted. In doubles balance holds to rounding only, which bounds no error by itself: an
imbalance of ε on a path of h edges may be an error of h² ε. The bracket (`proof`) is what proves
accuracy. It takes the chains for an order of fixing.

A vertex cannot be certified before all are: where w is in balance but for a set B, it is right
outside the sublevel sets of slope around B, but these percolate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....numerics.csr import Arcs
from ....numerics.jit import njit
from ....typing import BoolArray, FloatArray, IntArray
from .retrace import UNFIXED, Fixing, Positions

VALUE, SLOPE, UP, DOWN = range(4)
"""Columns of `Pointers.record`: value and slope when frozen, length of the arcs up and down."""
KNOWN = -1
"""Link of a vertex that has its value."""
ONE_CHAIN, FINER_CHAINS = 1e-9, 0.01
"""Slopes closer than this, relatively, belong to one chain; by this factor less where a round did
not help, since among a million chains two that differ are as close by chance."""
IN_BALANCE = 2e-15
"""A vertex is in balance if it is off by no more, with labels of magnitude 1 at most."""
PINNED = 1e-12
"""Cones have met where they are no further apart than this: rounding adds up along them."""
STEEP = 1e-12
"""A value is taken from arcs as steep as the steepest, short of this."""
UPDATES_PER_CALL = 1_000_000
"""A kernel returns after this many updates, so that an interrupt is seen."""
FIRST, BETWEEN, LOCAL = 16, 6, 8
"""Sweeps of the first round, of further rounds on all vertices, and of local ones."""
SHARE = 0.1
"""Rounds are local if at most this share of the vertices is out of balance."""
MOST_HELD = 12
"""Largest number of rounds in which values given by cones are kept."""
MAZE = 0.3
"""A graph with a larger share of vertices in dead ends is left to the divide and conquer."""
MOST_SWEEPS, MOST_ROUNDS = 160, 60
"""Give up after this many sweeps over all vertices, or as much work in local rounds; and rounds."""
STILL_BAD = 0.85
"""Give up if a round on all vertices leaves more than this share of the bad ones bad."""


class State(NamedTuple):
    """A graph and a field on it."""

    arcs: Arcs
    unit: bool
    """All lengths are 1."""
    v: FloatArray
    """(n,) the values; NaN is no value yet."""
    hint: IntArray
    """(n, 2) on lengths, the arcs that were steepest the last time."""


class Pointers(NamedTuple):
    """Frozen pointers, and the chains they form."""

    record: FloatArray
    """(n, 4) what is known of a frozen vertex."""
    links: IntArray
    """(n, 2) neighbours steepest up and down; `KNOWN` if the vertex has its value."""
    waited: BoolArray
    """(n,) another chain waits for that of the vertex."""
    stack: IntArray
    order: IntArray
    """(n,) the chains, one after another, in an order of fixing."""
    far: FloatArray
    """(n,) how far above the end of its chain each of these lies."""
    chain: IntArray
    """(n,) the chain of a vertex."""
    slopes: FloatArray
    """(n,) the slope of a chain."""
    ends: IntArray
    """(n, 2) its ends, above and below."""


@njit(cache=True, nogil=True, allocates=False, inline="always", error_model="numpy")
def _steepest(state: State, x: int) -> tuple[np.int64, np.int64, float]:
    """Return the arcs up and down whose slopes balance, and the slope; arcs -1 if no value known.

    On lengths Newton's iteration begins with the arcs of the last time: mostly one pass.
    """
    (indptr, indices, lengths), unit, v, hint = state
    up = down = np.int64(-1)
    if unit:
        most, least = -np.inf, np.inf
        for e in range(indptr[x], indptr[x + 1]):
            t = v[indices[e]]
            if t > most:
                most = t
                up = np.int64(e)
            if t < least:
                least = t
                down = np.int64(e)
        return up, down, 0.5 * (most - least)
    a, b = hint[x, 0], hint[x, 1]
    slope, steeper = -1.0, (v[indices[a]] - v[indices[b]]) / (lengths[a] + lengths[b])
    # also where it is NaN
    if not steeper > 0.0:
        steeper = 0.0
    while steeper > slope:
        slope = steeper
        most, least = -np.inf, np.inf
        for e in range(indptr[x], indptr[x + 1]):
            t, fall = v[indices[e]], slope * lengths[e]
            if t - fall > most:
                most = t - fall
                up = np.int64(e)
            if t + fall < least:
                least = t + fall
                down = np.int64(e)
        if up < 0:
            return up, down, 0.0
        steeper = (v[indices[up]] - v[indices[down]]) / (lengths[up] + lengths[down])
    hint[x, 0], hint[x, 1] = up, down
    return up, down, slope


@njit(cache=True, nogil=True, allocates=False, inline="always", error_model="numpy")
def _balanced(state: State, x: int) -> float:
    """Return the value at which slopes up and down agree; NaN if no neighbour has one."""
    arcs, unit, v, _ = state
    if unit:
        most, least = -np.inf, np.inf
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            t = v[arcs.indices[e]]
            if t > most:
                most = t
            if t < least:
                least = t
        return 0.5 * (most + least)  # inf − inf is NaN
    _, down, slope = _steepest(state, x)
    return v[arcs.indices[down]] + slope * arcs.lengths[down] if down >= 0 else np.nan


@njit(cache=True, nogil=True, allocates=False, error_model="numpy")
def _sweep(state: State, where: IntArray, first: int, last: int) -> int:
    """Do sweeps `first` to `last` over some vertices; return how many still have no value."""
    v = state.v
    unknown = 0
    for k in range(first, last):
        unknown = 0
        for i in range(where.size):
            x = where[where.size - 1 - i] if k % 2 else where[i]
            v[x] = _balanced(state, x)
            if np.isnan(v[x]):
                unknown += 1
    return unknown


@njit(cache=True, nogil=True, allocates=False, error_model="numpy")
def _freeze(state: State, where: IntArray, chains: Pointers) -> None:
    """Note the steepest arcs up and down at some vertices, during one last sweep."""
    arcs, v, record, links = state.arcs, state.v, chains.record, chains.links
    for i in range(where.size):
        x = where[i]
        up, down, slope = _steepest(state, x)
        record[x, UP], record[x, DOWN] = arcs.lengths[up], arcs.lengths[down]
        v[x] = v[arcs.indices[down]] + slope * record[x, DOWN]
        record[x, VALUE], record[x, SLOPE] = v[x], slope
        links[x, 0], links[x, 1] = arcs.indices[up], arcs.indices[down]
        chains.waited[x] = False


@njit(cache=True, nogil=True, allocates=False, error_model="numpy")
def _follow(where: IntArray, v: FloatArray, tie: float, chains: Pointers) -> int:
    """Interpolate along frozen chains, first those that others end on; return how many there are.

    A chain ends at known vertices, or where values do not rise any more, which takes the value
    there as it is. Slopes closer than `tie`, relatively, belong to one chain.
    """
    record, links, waited, stack, order, far, chain, slopes, ends = chains
    count = 0
    filled = 0
    for i in range(where.size):
        if links[where[i], 0] == KNOWN:
            continue
        stack[0] = where[i]
        height = 1
        waited[where[i]] = True
        while height > 0:
            x = np.int64(stack[height - 1])
            if links[x, 0] == KNOWN:
                height -= 1
                continue
            order[filled] = x
            far[filled] = 0.0
            end = filled + 1
            top = bottom = x
            length = drop = 0.0
            blocked = False
            for side in range(2):
                sign = 1.0 - 2.0 * side
                y = x
                along = 0.0
                while True:
                    z = np.int64(links[y, side])
                    along += sign * record[y, UP + side]
                    if links[z, 0] == KNOWN or sign * (record[z, VALUE] - record[y, VALUE]) <= 0.0:
                        break
                    steeper = record[z, SLOPE] > record[y, SLOPE] * (1.0 + tie)
                    if steeper and links[z, 1 - side] != y and not waited[z]:
                        stack[height] = z
                        height += 1
                        waited[z] = True
                        blocked = True
                        break
                    order[end] = z
                    far[end] = along
                    end += 1
                    y = z
                if blocked:
                    break
                if side == 0:
                    top = z
                    length = along
                else:
                    bottom = z
                    drop = along
            if blocked:
                continue
            slope = (v[top] - v[bottom]) / (length - drop)
            base = v[bottom]
            for k in range(filled, end):
                y = np.int64(order[k])
                far[k] -= drop
                v[y] = base + slope * far[k]
                links[y, 0] = KNOWN
                chain[y] = count
            slopes[count] = slope
            ends[count, 0], ends[count, 1] = top, bottom
            count += 1
            filled = end
            height -= 1
    return count


@njit(cache=True, nogil=True, allocates=False, error_model="numpy")
def _verify(state: State, where: IntArray, bad: IntArray) -> int:
    """Gather the vertices that a sweep would change; return how many there are."""
    found = 0
    for i in range(where.size):
        x = where[i]
        if not abs(_balanced(state, x) - state.v[x]) <= IN_BALANCE:
            bad[found] = x
            found += 1
    return found


@njit(cache=True, nogil=True, allocates=False, error_model="numpy")
def _gather(
    state: State,
    held: BoolArray,
    seeds: IntArray,
    onward: bool,
    mark: BoolArray,
    queue: IntArray,
    record: FloatArray,
) -> int:
    """Gather vertices and all that take their value from them, or only their neighbours.

    That goes `onward` by arcs as steep as a vertex has. Held vertices are left out, and no mark is
    left behind. Returns how many are in the queue. Overwrites the slopes in the record of chains.
    """
    (indptr, indices, lengths), v = state.arcs, state.v
    # compute each slope once: a hub would be searched again for each of its neighbours
    if onward:
        for x in range(v.size):
            record[x, SLOPE] = np.nan
    tail = 0
    for i in range(seeds.size):
        mark[seeds[i]] = True
        queue[tail] = seeds[i]
        tail += 1
    head = 0
    while head < (tail if onward else seeds.size):
        x = queue[head]
        head += 1
        for e in range(indptr[x], indptr[x + 1]):
            y = indices[e]
            if mark[y] or held[y]:
                continue
            if onward:
                if np.isnan(record[y, SLOPE]):
                    record[y, SLOPE] = _steepest(state, y)[2]
                if abs(v[x] - v[y]) < record[y, SLOPE] * lengths[e] - STEEP:
                    continue
            mark[y] = True
            queue[tail] = y
            tail += 1
    for i in range(tail):
        mark[queue[i]] = False
    return tail


@njit(cache=True, nogil=True, allocates=False, error_model="numpy")
def _steepest_pairs(arcs: Arcs, v: FloatArray, slopes: FloatArray) -> int:
    """Find the steepest slope between two labels next to each vertex; return how many there are.

    Only labels may have a value so far.
    """
    indptr, indices, lengths = arcs
    found = 0
    for x in range(v.size):
        if not np.isnan(v[x]):
            continue
        best = 0.0
        for e in range(indptr[x], indptr[x + 1]):
            if not np.isnan(v[indices[e]]):
                for f in range(indptr[x], e):
                    slope = abs(v[indices[e]] - v[indices[f]]) / (lengths[e] + lengths[f])
                    # false for NaN
                    if slope > best:
                        best = slope
        if best > 0.0:
            slopes[found] = best
            found += 1
    return found


@njit(cache=True, nogil=True, allocates=False, error_model="numpy")
def _narrow_cones(arcs: Arcs, where: IntArray, slope: float, cones: FloatArray) -> tuple[int, int]:
    """Sweep forwards and backwards over the cones, and drop the vertices where they have met.

    The others move to the front of `where`. Return their number, and the number of changes.
    """
    indptr, indices, lengths = arcs
    changed = 0
    for k in range(2):
        for i in range(where.size):
            x = where[where.size - 1 - i] if k else where[i]
            least, most = cones[x, 0], cones[x, 1]
            for e in range(indptr[x], indptr[x + 1]):
                y, fall = indices[e], slope * lengths[e]
                if cones[y, 0] - fall > least:
                    least = cones[y, 0] - fall
                if cones[y, 1] + fall < most:
                    most = cones[y, 1] + fall
            if least > cones[x, 0] or most < cones[x, 1]:
                changed += 1
                cones[x, 0], cones[x, 1] = least, most
    left = 0
    for x in where:
        if not abs(cones[x, 1] - cones[x, 0]) <= PINNED:
            where[left] = x
            left += 1
    return left, changed


@njit(cache=True, nogil=True, allocates=False)
def _dead_ends(arcs: Arcs, labelled: BoolArray, degree: IntArray, dead: IntArray) -> int:
    """Collect unlabelled vertices with one neighbour left, repeatedly; return how many.

    A part without a label that is attached at one vertex is constant. Sweeps converge slowly there,
    so such trees are left out until the end.
    """
    found = 0
    for root in range(labelled.size):
        x = np.int64(root)
        while degree[x] == 1 and not labelled[x]:
            degree[x] = 0
            dead[found] = x
            found += 1
            for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
                if degree[arcs.indices[e]] > 0:
                    y = np.int64(arcs.indices[e])
            degree[y] -= 1
            x = y
    return found


@njit(cache=True, nogil=True, allocates=False)
def _fill_dead_ends(arcs: Arcs, dead: IntArray, v: FloatArray) -> None:
    """Give dead ends the value of the vertex they are attached to, the last one first."""
    for i in range(dead.size):
        x = dead[dead.size - 1 - i]
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            # no other neighbour has a value yet
            if not np.isnan(v[arcs.indices[e]]):
                v[x] = v[arcs.indices[e]]


def _start(
    state: State, everyone: IntArray, labelled: BoolArray, pause: Callable[[], object]
) -> tuple[IntArray, BoolArray]:
    """Set the initial values; return the vertices to solve, and a mask of all others.

    True distances have one slope. Much of the field then lies on walks of the steepest slope of
    all, where the cones of that slope from below and above meet. Elsewhere their mean is a good
    start. Vertices next to two labels show whether labels are like that.
    """
    arcs, unit, v, _ = state
    slopes = np.empty(v.size)
    slopes = slopes[: _steepest_pairs(arcs, v, slopes)]
    tight = slopes[slopes > (1.0 - 1e-6) * slopes.max(initial=0.0)]
    # a sweep over cones costs as much as one over values on unit lengths, a tenth on others
    if tight.size <= max(3.0, (0.9 if unit else 0.01) * slopes.size):
        return everyone, labelled
    # rounded labels have slopes above and below the true one, and errors add up along a cone
    slope = float(np.median(tight))
    cones = np.stack([v, v], axis=1)
    cones[everyone] = -np.inf, np.inf
    where, changed, times = everyone.copy(), v.size, 0
    while changed > SHARE * v.size and times < MOST_SWEEPS:
        pause()
        left, changed = _narrow_cones(arcs, where, slope, cones)
        where = where[:left]
        times += 1
    least, most = cones[where].T
    # if some walk is steeper, cones of this slope are useless
    if (least > most).any():
        return everyone, labelled
    with np.errstate(invalid="ignore"):  # where no label is near: from -inf to inf
        v[:] = 0.5 * (cones[:, 0] + cones[:, 1])
    held = np.ones(v.size, np.bool_)
    held[where] = False
    return where, held


def iterate(
    arcs: Arcs, labelled: BoolArray, labels: FloatArray, pause: Callable[[], object]
) -> Fixing | None:
    """Solve by iteration; return None if it does not finish soon.

    Parameters
    ----------
    arcs : Arcs
        An undirected graph. A component without a label is left unfixed.
    labelled : (n,) bool array
        Where values are given.
    labels : (n,) float array
        The given values, of magnitude at most 1; not looked at elsewhere.
    pause : callable
        Called every few sweeps; it may raise.
    """
    n, unit = labelled.size, bool((arcs.lengths == 1.0).all())
    v = np.where(labelled, labels, np.nan)
    hint = np.empty((0 if unit else n, 2), np.int32)
    if not unit:
        # a vertex without arcs may be the last one, where an arc of its own would be out of bounds
        hint[:] = np.minimum(arcs.indptr[:-1, None], arcs.indices.size - 1)
    state = State(arcs, unit, v, hint)
    dead = np.empty(n, np.int32)
    dead = dead[: _dead_ends(arcs, labelled, np.diff(arcs.indptr), dead)]
    # a maze: loops attached at one vertex converge slowly too, and are not found here
    if dead.size > MAZE * n:
        return None
    # vertices to leave alone: labels, dead ends, and at first those that cones determine
    still = labelled.copy()
    still[dead] = True
    everyone = np.flatnonzero(~still).astype(np.int32)
    everyone, held = _start(state, everyone, still, pause)
    where = everyone
    chains = Pointers(
        np.empty((n, 4)),
        np.full((n, 2), KNOWN, np.int32),
        np.zeros(n, np.bool_),
        stack=np.empty(n + 1, np.int32),
        order=np.empty(n + 1, np.int32),
        far=np.empty(n + 1),
        chain=np.full(n, KNOWN, np.int32),
        slopes=np.empty(n),
        ends=np.empty((n, 2), np.int32),
    )
    mark, bad, queue = np.zeros(n, np.bool_), np.empty(n, np.int32), np.empty(n, np.int32)
    sweeps, last, work, rounds, tie = FIRST, n, 0, 0, ONE_CHAIN
    while True:
        done = 0
        while done < sweeps:
            if rounds + done > 0:
                pause()
            stop = min(sweeps, done + 1 + UPDATES_PER_CALL // max(where.size, 1))
            unknown = _sweep(state, where, done, stop)
            done = stop
        work += sweeps * where.size
        rounds += 1
        # sweep again over vertices still without a value; those that get none can reach no label
        while unknown and work <= MOST_SWEEPS * everyone.size:
            pause()
            blank = where[np.isnan(v[where])]
            work += 2 * blank.size
            unknown = _sweep(state, blank, 0, 2)
            if unknown == blank.size:
                everyone = where = where[~np.isnan(v[where])]
                break
        if work > MOST_SWEEPS * everyone.size:
            return None
        _freeze(state, where, chains)
        count = _follow(where, v, tie, chains)
        around = everyone
        if 2 * where.size < everyone.size:
            around = queue[: _gather(state, held, where, False, mark, queue, chains.record)]
        found = _verify(state, around, bad)
        # once all around is in balance, check everyone; at last also what was held, which is right
        # up to rounding and is corrected by chains
        if found == 0 and around is not everyone:
            found = _verify(state, everyone, bad)
        if held is not still and (found == 0 or rounds >= MOST_HELD):
            held, everyone = still, np.flatnonzero(~still & ~np.isnan(v)).astype(np.int32)
            where, last = everyone, n
            _freeze(state, where, chains)
            count = _follow(where, v, tie, chains)
            found = _verify(state, everyone, bad)
        if found == 0:
            break
        hopeless = found > SHARE * n and rounds > 1 and found > STILL_BAD * last
        if hopeless or (rounds == 3 and found > 0.3 * n) or rounds == MOST_ROUNDS:
            return None
        stalled = found > 0.4 * last
        tie = FINER_CHAINS * tie if found >= last else ONE_CHAIN
        if found > SHARE * n:
            where = everyone
            sweeps = min(2 * sweeps, 64) if found > 0.7 * last else BETWEEN
        else:
            size = _gather(state, held, bad[:found], True, mark, queue, chains.record)
            where = np.sort(queue[:size]) if 2 * size < n else everyone
            sweeps = min(2 * sweeps, 200) if stalled and last < SHARE * n else LOCAL
        last = found
    _fill_dead_ends(arcs, dead, v)
    dead = dead[~np.isnan(v[dead])]
    values = v.copy()
    # reuse the chains of the last round if it covered all vertices
    if where is not everyone:
        _freeze(state, everyone, chains)
        count = _follow(everyone, v, tie, chains)
    order, far = chains.order[: everyone.size], chains.far[: everyone.size]
    batch, slopes = chains.chain, chains.slopes[:count]
    # level chains come last, in one batch of slope 0
    level = ~(slopes > IN_BALANCE)
    if dead.size or level.any():
        flat = level[batch[order]]
        batch[order[flat]] = batch[dead] = count
        order = np.concatenate([order[~flat], order[flat], dead])
        far = np.concatenate([far[~flat], far[flat], np.zeros(dead.size)])
        slopes = np.append(slopes, 0.0)
    # sums of ones are exact: they need not be added again with more digits
    along = Positions(far, chains.ends) if unit else None
    fixed = ~np.isnan(values)
    batch[~fixed] = UNFIXED
    return Fixing(values, fixed, order, batch, slopes, True, rounds, along)
