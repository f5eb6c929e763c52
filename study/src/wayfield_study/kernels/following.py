"""Following a field in a world that is not its graph: descend, learn what arcs do, lift again.

The counterpart of `driving` for methods that have a value for every state and no cost for every
arc. A field u may have minima that are not the goal, so the walker follows a field v above it, in
one of two ways:

- *steep*: steepest descent on the least v ≥ u that falls along some arc everywhere (`flooding`);
- else the arc of least length + v, on the least v ≥ u that falls by its length along some arc,
  v(x) = max(u(x), min over arcs of ℓ + v(y)).

What it learns about an arc is what it costs and where it leads: to its head, back to its tail if it
does not exist, or elsewhere.

**When to lift again.** A refuted arc makes v no lower. If v still falls as it should along another
arc out of its tail, it does so everywhere, hence it is still the least. Only otherwise, or where an
arc leads to somewhere new, is v computed anew.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from wayfield.numerics.csr import Arcs, reverse_arcs
from wayfield.numerics.heap import Heap, drop_least, push
from wayfield.numerics.jit import njit
from wayfield.plans.kernels import flood
from wayfield.typing import BoolArray, FloatArray, IntArray


class TriedArcs(NamedTuple):
    """What trying arcs comes to: (m,) where one lands and at what cost; (n,) chances to slip."""

    lands: IntArray
    costs: FloatArray
    slips: FloatArray


@njit(cache=True, nogil=True)
def follow_all(
    graph: Arcs,
    values: FloatArray,
    world: TriedArcs,
    starts: IntArray,
    goal: int,
    steep: bool,
    learns: bool,
    max_steps: int,
    rng: np.random.Generator,
) -> tuple[BoolArray, FloatArray, IntArray]:
    """Walk from every start, knowing the graph and the values alone.

    Parameters
    ----------
    graph : Arcs
        The graph as given.
    values : (n,) float array
        Field to follow, finite wherever the goal can be reached.
    world : TriedArcs
        What trying arcs comes to. Nothing is learnt where one slips.
    steep : bool
        Which way to follow the field; see above.
    learns : bool
        Whether a walk goes on after an arc that does not exist; else it has failed.
    max_steps : int
        Number of tries after which a walk has failed.
    rng : numpy.random.Generator
        Draws the slips.

    Returns
    -------
    reached, paid, found : (k,) arrays
        Of every start whether the walk arrived, what it paid, and how many arcs it refuted.
    """
    lands, costs, slips = world
    heads, lengths = graph.indices.astype(np.int64), graph.lengths.copy()
    known = Arcs(graph.indptr, heads, lengths)
    reverse = Arcs(np.empty_like(graph.indptr), heads.copy(), lengths.copy())
    first = _lifted(known, values, goal, steep, reverse)
    reached, paid = np.zeros(starts.size, np.bool_), np.zeros(starts.size)
    found = np.zeros(starts.size, np.int64)
    for i in range(starts.size):
        x, field = starts[i], first
        for _ in range(max_steps):
            # the arc of least toll; none if no arc leads to the goal
            least, e = inf, -1
            for arc in range(known.indptr[x], known.indptr[x + 1]):
                y, length = heads[arc], lengths[arc]
                if y != x and field[y] < inf:
                    toll = (field[y] - field[x]) / length if steep else length + field[y]
                    if toll < least:
                        least, e = toll, arc
            if x == goal or e < 0:
                break
            slippery = slips[x] > 0.0
            if slippery and rng.random() < slips[x]:
                e = graph.indptr[x] + int(rng.random() * (graph.indptr[x + 1] - graph.indptr[x]))
            z = lands[e]
            paid[i] += costs[e]
            if z == x and not slippery and not learns:
                break
            if learns and not slippery:
                lengths[e] = costs[e]
                if heads[e] != z:
                    heads[e] = z
                    found[i] += 1
                    # whether the field still falls as it should along some arc out of x
                    falls = False
                    for arc in range(known.indptr[x], known.indptr[x + 1]):
                        y = heads[arc]
                        if steep:
                            falls = falls or (y != x and field[y] < field[x])
                        else:
                            falls = falls or (y != x and field[y] + lengths[arc] <= field[x])
                    if z != x or not falls:
                        field = _lifted(known, values, goal, steep, reverse)
            x = z
        reached[i] = x == goal
        # the next start knows the graph alone
        for e in range(heads.size):
            heads[e] = graph.indices[e]
            lengths[e] = graph.lengths[e]
    return reached, paid, found


@njit(cache=True, nogil=True)
def _lifted(known: Arcs, values: FloatArray, goal: int, steep: bool, reverse: Arcs) -> FloatArray:
    reverse_arcs(known, reverse)
    return flood(reverse, values, goal) if steep else lift_by_length(reverse, values, goal)


@njit(cache=True, nogil=True)
def lift_by_length(reverse: Arcs, values: FloatArray, goal: int) -> FloatArray:
    """Return the least v ≥ `values` with v(x) ≥ ℓ + v(y) along some arc; v(goal) is kept.

    Settled from the goal outwards in order of v, as in Dijkstra's search. inf where the goal
    cannot be reached.
    """
    n = values.size
    lifted, settled = np.full(n, inf), np.zeros(n, np.bool_)
    heap = Heap(np.empty(reverse.indices.size + 1), np.empty(reverse.indices.size + 1, np.int64))
    lifted[goal] = values[goal]
    size = push(heap, 0, values[goal], goal)
    while size > 0:
        y = heap.vertices[0]
        size = drop_least(heap, size)
        if settled[y]:
            continue
        settled[y] = True
        for e in range(reverse.indptr[y], reverse.indptr[y + 1]):
            x = reverse.indices[e]
            candidate = max(values[x], lifted[y] + reverse.lengths[e])
            if not settled[x] and candidate < lifted[x]:
                lifted[x] = candidate
                size = push(heap, size, candidate, x)
    return lifted
