"""Minimum-cost circulation by network simplex.

**Problem.** On arcs e = (tail, head) with costs ℓ of either sign and capacities w > 0,

    minimise  Σ ℓ f     subject to  0 ≤ f ≤ w,  inflow = outflow at every vertex.

**Dual.** For any potentials φ, with reduced costs r = ℓ - φ(tail) + φ(head),

    Σ ℓ f  =  Σ r f  ≥  -Σ w (-r)₊ ,

so that flow and potentials are optimal together when r < 0 only where f = w and r > 0 only where
f = 0. Both sides can be evaluated from φ and f alone: nothing here needs to be believed.

**Basis.** A tree rooted at vertex 0. Potentials make r = 0 on its arcs; every other arc is empty or
full. A pivot takes an arc that prices out, sends what fits round the cycle it closes in the tree,
and drops the arc that blocks. The basis is kept *strongly feasible*: from every vertex some flow
could still be sent to the root. Among blocking arcs the rule is therefore to drop the last one met
when the cycle is walked in the direction of the flow from its apex; with it no sequence of pivots
that move nothing can cycle (Cunningham 1976).

**Arithmetic.** A dropped arc gets its bound exactly, and potentials below a changed arc are set
from its parent again rather than shifted, so that errors do not pile up over pivots. With whole
costs and capacities everything is exact.

**Cost.** A pivot looks at a block of arcs, walks one cycle and visits one subtree. Vertices are
numbered in preorder of the starting tree and arcs sorted by the later of their ends, so that a
block is a neighbourhood: fewer pivots, and all of them in the cache.

References
----------
.. [1] W. H. Cunningham, "A network simplex method", Mathematical Programming 11 (1976).
.. [2] R. K. Ahuja, T. L. Magnanti, J. B. Orlin, Network Flows (1993), chapter 11.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ._types import FloatArray, IntArray

EMPTY, BASIC, FULL = 1, 0, -1
"""States of an arc; an arc prices out where state · reduced cost < 0."""

BLOCK = 100
"""Arcs looked at between pivots, if one of them prices out."""


class Network(NamedTuple):
    """Arcs of a flow problem, in any order; loops are not allowed."""

    tails: IntArray
    heads: IntArray
    costs: FloatArray
    capacities: FloatArray


class Tree(NamedTuple):
    """A rooted tree: per vertex its parent, the arc between them, its depth and its children.

    The children of a vertex are a doubly linked list: `child` is the first, `after` and `before`
    lead along it; -1 ends it.
    """

    parent: IntArray
    arc: IntArray
    depth: IntArray
    child: IntArray
    after: IntArray
    before: IntArray


@njit(cache=True, nogil=True)
def circulation(
    num_vertices: int, network: Network, start: IntArray, tolerance: float, max_pivots: int
) -> tuple[FloatArray, FloatArray, int, bool]:
    """Least-cost circulation: flow per arc, potential per vertex, pivots, whether it is optimal.

    `start` holds for every vertex but the root, 0, an arc to its parent in a tree to begin with.
    Arcs that price out by no more than `tolerance` are let be. If `max_pivots` run out, flow and
    potentials are feasible still, and the gap between them says how far from optimal.
    """
    number, order, network, start = _in_preorder(num_vertices, network, start)
    flow, potential, pivots, optimal = _pivoted(num_vertices, network, start, tolerance, max_pivots)
    given = np.empty(flow.size)
    for i in range(order.size):
        given[order[i]] = flow[i]
    return given, potential[number], pivots, optimal


@njit(cache=True, nogil=True)
def _in_preorder(
    n: int, network: Network, start: IntArray
) -> tuple[IntArray, IntArray, Network, IntArray]:
    """Return vertices numbered in preorder of the tree, arcs sorted by the later of their ends.

    The results are the new numbers, the arcs in their new order, network and tree in these terms.
    """
    child, after = np.full(n, -1, np.int64), np.full(n, -1, np.int64)
    for v in range(1, n):
        parent = network.heads[start[v]]
        after[v] = child[parent]
        child[parent] = v
    number, stack = np.empty(n, np.int64), np.empty(n, np.int64)
    stack[0] = 0
    size, count = 1, 0
    while size > 0:
        size -= 1
        v = stack[size]
        number[v] = count
        count += 1
        v = child[v]
        while v >= 0:
            stack[size] = v
            size += 1
            v = after[v]

    m = network.tails.size
    free = np.zeros(n + 1, np.int64)
    for e in range(m):
        free[max(number[network.tails[e]], number[network.heads[e]]) + 1] += 1
    for v in range(n):
        free[v + 1] += free[v]
    order, place = np.empty(m, np.int64), np.empty(m, np.int64)
    for e in range(m):
        later = max(number[network.tails[e]], number[network.heads[e]])
        order[free[later]] = e
        place[e] = free[later]
        free[later] += 1
    tails, heads = np.empty(m, np.int32), np.empty(m, np.int32)
    for i in range(m):
        tails[i] = number[network.tails[order[i]]]
        heads[i] = number[network.heads[order[i]]]
    tree = np.full(n, -1, np.int64)
    for v in range(1, n):
        tree[number[v]] = place[start[v]]
    sorted_arcs = Network(tails, heads, network.costs[order], network.capacities[order])
    return number, order, sorted_arcs, tree


@njit(cache=True, nogil=True)
def _pivoted(
    num_vertices: int, network: Network, start: IntArray, tolerance: float, max_pivots: int
) -> tuple[FloatArray, FloatArray, int, bool]:
    """Pivot until no arc prices out, or `max_pivots` are done."""
    tails, heads, costs, capacities = network
    flow = np.zeros(tails.size)
    state = np.full(tails.size, EMPTY, np.int8)
    potential = np.zeros(num_vertices)
    tree = _planted(num_vertices, heads, start, state)
    stack = np.empty(num_vertices, np.int64)
    v = tree.child[0]
    while v >= 0:
        _settle(v, tree, tails, costs, potential, stack)
        v = tree.after[v]

    at = 0
    for pivots in range(max_pivots):
        e, at = _entering(network, potential, state, at, tolerance)
        if e < 0:
            return flow, potential, pivots, True
        # the flow runs up the entering arc if it was full: from its head to its tail
        a, b = (tails[e], heads[e]) if state[e] == EMPTY else (heads[e], tails[e])
        apex = _apex(a, b, tree)
        room, cut, below = _blocking(a, b, apex, tree, tails, flow, capacities, capacities[e])
        if room > 0.0:
            _send(a, b, apex, room, tree, tails, flow)
        if cut < 0:  # the entering arc blocks itself: it goes from one bound to the other
            state[e] = -state[e]
            flow[e] = 0.0 if state[e] == EMPTY else capacities[e]
            continue
        flow[e] = room if state[e] == EMPTY else capacities[e] - room
        state[e] = BASIC
        # the side below the cut hangs on the entering arc from now on
        leaving = tree.arc[cut]
        drained = (tails[leaving] == cut) == below
        flow[leaving] = 0.0 if drained else capacities[leaving]
        state[leaving] = EMPTY if drained else FULL
        moved, onto = (a, b) if below else (b, a)
        _rehang(moved, onto, e, cut, tree)
        _settle(moved, tree, tails, costs, potential, stack)
    e, at = _entering(network, potential, state, at, tolerance)
    return flow, potential, max_pivots, e < 0


@njit(cache=True, nogil=True)
def _planted(n: int, heads: IntArray, start: IntArray, state: IntArray) -> Tree:
    """Return the tree of arcs `start`, depths not yet known; its arcs become basic."""
    tree = Tree(
        np.full(n, -1, np.int64),
        np.full(n, -1, np.int64),
        np.zeros(n, np.int64),
        np.full(n, -1, np.int64),
        np.full(n, -1, np.int64),
        np.full(n, -1, np.int64),
    )
    for v in range(1, n):
        _link(v, heads[start[v]], start[v], tree)
        state[start[v]] = BASIC
    return tree


@njit(cache=True, nogil=True)
def _link(v: int, parent: int, arc: int, tree: Tree) -> None:
    """Make v the first child of `parent`."""
    first = tree.child[parent]
    tree.parent[v] = parent
    tree.arc[v] = arc
    tree.after[v] = first
    tree.before[v] = -1
    tree.child[parent] = v
    if first >= 0:
        tree.before[first] = v


@njit(cache=True, nogil=True)
def _unlink(v: int, tree: Tree) -> None:
    """Take v from among the children of its parent."""
    before, after = tree.before[v], tree.after[v]
    if before >= 0:
        tree.after[before] = after
    else:
        tree.child[tree.parent[v]] = after
    if after >= 0:
        tree.before[after] = before


@njit(cache=True, nogil=True)
def _settle(
    v: int, tree: Tree, tails: IntArray, costs: FloatArray, potential: FloatArray, stack: IntArray
) -> None:
    """Set depth and potential of v and all below it from their parents."""
    stack[0] = v
    size = 1
    while size > 0:
        size -= 1
        x = stack[size]
        e, parent = tree.arc[x], tree.parent[x]
        tree.depth[x] = tree.depth[parent] + 1
        potential[x] = potential[parent] + (costs[e] if tails[e] == x else -costs[e])
        y = tree.child[x]
        while y >= 0:
            stack[size] = y
            size += 1
            y = tree.after[y]


@njit(cache=True, nogil=True)
def _entering(
    network: Network, potential: FloatArray, state: IntArray, at: int, tolerance: float
) -> tuple[int, int]:
    """Arc that prices out most in the first block from `at` on that has any, and where to go on.

    -1 if no arc of all prices out.
    """
    tails, heads, costs, _ = network
    m = tails.size
    best, entering, left = tolerance, -1, BLOCK
    for _ in range(m):
        gain = -state[at] * (costs[at] - potential[tails[at]] + potential[heads[at]])
        if gain > best:
            best, entering = gain, at
        at += 1
        if at == m:
            at = 0
        left -= 1
        if left == 0:
            if entering >= 0:
                break
            left = BLOCK
    return entering, at


@njit(cache=True, nogil=True)
def _apex(a: int, b: int, tree: Tree) -> int:
    """Where the ways from a and b to the root meet."""
    while a != b:
        if tree.depth[a] >= tree.depth[b]:
            a = tree.parent[a]
        else:
            b = tree.parent[b]
    return a


@njit(cache=True, nogil=True)
def _blocking(
    a: int,
    b: int,
    apex: int,
    tree: Tree,
    tails: IntArray,
    flow: FloatArray,
    capacities: FloatArray,
    room: float,
) -> tuple[float, int, bool]:
    """How much fits round the cycle apex → a → b → apex, and the vertex below the arc to drop.

    `room` is what the entering arc a → b takes; -1 if it is the one to drop. The last result says
    whether the cut lies on the side of a. Ties go to the arc met last from the apex: on the side
    of a, where the cycle runs down, the lowest; on that of b, where it runs up, the highest.
    """
    cut, below = -1, False
    while a != apex:
        e = tree.arc[a]
        fits = flow[e] if tails[e] == a else capacities[e] - flow[e]
        if fits < room:
            room, cut, below = fits, a, True
        a = tree.parent[a]
    while b != apex:
        e = tree.arc[b]
        fits = capacities[e] - flow[e] if tails[e] == b else flow[e]
        if fits <= room:
            room, cut, below = fits, b, False
        b = tree.parent[b]
    return room, cut, below


@njit(cache=True, nogil=True)
def _send(
    a: int, b: int, apex: int, amount: float, tree: Tree, tails: IntArray, flow: FloatArray
) -> None:
    """Send `amount` down from the apex to a, and from b up to the apex."""
    while a != apex:
        e = tree.arc[a]
        flow[e] += -amount if tails[e] == a else amount
        a = tree.parent[a]
    while b != apex:
        e = tree.arc[b]
        flow[e] += amount if tails[e] == b else -amount
        b = tree.parent[b]


@njit(cache=True, nogil=True)
def _rehang(moved: int, onto: int, arc: int, cut: int, tree: Tree) -> None:
    """Hang the subtree of `cut` on `onto` by its vertex `moved`, turning the way between round."""
    while True:
        parent, above = tree.parent[moved], tree.arc[moved]
        _unlink(moved, tree)
        _link(moved, onto, arc, tree)
        if moved == cut:
            return
        onto, arc, moved = moved, above, parent
