"""Minimum-cost circulation by network simplex.

**Problem.** On arcs e = (tail, head) with costs ℓ of either sign and capacities w > 0,

    minimise  Σ ℓ f     subject to  0 ≤ f ≤ w,  inflow = outflow at every vertex.

**Dual.** For any potentials φ, with reduced costs r = ℓ - φ(tail) + φ(head),

    Σ ℓ f  =  Σ r f  ≥  -Σ w (-r)₊ ,

so that flow and potentials are optimal together when r < 0 only where f = w and r > 0 only where
f = 0. Both sides can be evaluated from φ and f alone: no step has to be trusted.

**Basis.** A tree rooted at vertex 0. Potentials make r = 0 on its arcs; every other arc is empty or
full. A pivot takes an arc that prices out, sends as much as possible round the cycle that it closes
in the tree, and drops the arc that blocks. The basis is kept *strongly feasible*: from every vertex
some flow could still be sent to the root. For this, if several arcs block, the last one is dropped
that is met when walking round the cycle from its apex, in the direction of the flow. Then
degenerate pivots, which send nothing, cannot cycle (Cunningham 1976).

**Arithmetic.** A dropped arc is set to its bound exactly. Potentials below a changed arc are
computed from their parents, not shifted, so errors do not accumulate over pivots. With whole costs
and capacities everything is exact.

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
from scipy import sparse
from scipy.sparse.csgraph import depth_first_order

from ...numerics.jit import njit
from ...typing import FloatArray, IntArray

EMPTY, BASIC, FULL = 1, 0, -1
"""States of an arc; an arc prices out where state · reduced cost < 0."""

BLOCK = 100
"""Number of arcs that are priced before each pivot, if one of them prices out."""


class Network(NamedTuple):
    """Arcs of a flow problem, in any order; loops are not allowed."""

    tails: IntArray
    heads: IntArray
    costs: FloatArray
    capacities: FloatArray


class Tree(NamedTuple):
    """A rooted tree: per vertex its parent, the arc between them, its depth and its children.

    What a pivot needs to know about that arc is stored per vertex: the `cost` of going up by it,
    and how much more could be sent `up` to the parent and `down` from it. The basis is strongly
    feasible if `up` is positive everywhere. The children of a vertex form a doubly linked list:
    `child` is the first, `after` and `before` are the links; -1 ends it.
    """

    parent: IntArray
    arc: IntArray
    depth: IntArray
    cost: FloatArray
    up: FloatArray
    down: FloatArray
    child: IntArray
    after: IntArray
    before: IntArray


def circulation(
    num_vertices: int, network: Network, start: IntArray, tolerance: float, max_pivots: int
) -> tuple[FloatArray, FloatArray, int, bool]:
    """Return a least-cost circulation: flow, potentials, pivots, and whether it is optimal.

    `start` is the initial tree: for every vertex but the root, 0, an arc to its parent. Arcs that
    price out by at most `tolerance` are ignored. After `max_pivots`, flow and potentials are still
    feasible, and the gap between them bounds the distance from the optimum.
    """
    tails, heads, costs, capacities = network
    # vertices numbered in preorder of the tree, arcs sorted by the later of their ends
    down = heads[start[1:]], np.arange(1, num_vertices)
    tree = sparse.csr_array((np.ones(num_vertices - 1), down), (num_vertices, num_vertices))
    preorder, _ = depth_first_order(tree, 0)
    number = np.argsort(preorder)
    order = np.argsort(np.maximum(number[tails], number[heads]), kind="stable")
    place = np.argsort(order)
    tail, head = (number[each[order]].astype(np.int32) for each in (tails, heads))
    first = np.append(-1, place[start[preorder[1:]]])
    arcs = Network(tail, head, costs[order], capacities[order])
    flow, potential, pivots, optimal = _pivoted(num_vertices, arcs, first, tolerance, max_pivots)
    return flow[place], potential[number], pivots, optimal


@njit(cache=True, nogil=True)
def _pivoted(
    num_vertices: int, network: Network, start: IntArray, tolerance: float, max_pivots: int
) -> tuple[FloatArray, FloatArray, int, bool]:
    """Pivot until no arc prices out, or `max_pivots` are done."""
    tails, heads, costs, capacities = network
    state = np.full(tails.size, EMPTY, np.int8)
    potential = np.zeros(num_vertices)
    tree = _planted(num_vertices, network, start, state)
    stack = np.empty(num_vertices, np.int32)
    v = tree.child[0]
    while v >= 0:
        _settle(v, tree, potential, stack)
        v = tree.after[v]

    at, pivots = 0, 0
    e, at = _entering(network, potential, state, at, tolerance)
    while e >= 0 and pivots < max_pivots:
        pivots += 1
        # the flow of a full arc can only be reduced: flow is sent backwards, from head to tail
        a, b = (tails[e], heads[e]) if state[e] == EMPTY else (heads[e], tails[e])
        # the apex of the cycle: where the paths from a and b to the root meet
        apex, other = a, b
        while apex != other:
            if tree.depth[apex] >= tree.depth[other]:
                apex = tree.parent[apex]
            else:
                other = tree.parent[other]
        room, cut, below = _blocking(a, b, apex, tree, capacities[e])
        if room > 0.0:  # send it down from the apex to a, and from b up to the apex
            v = a
            while v != apex:
                tree.down[v] -= room
                tree.up[v] += room
                v = tree.parent[v]
            v = b
            while v != apex:
                tree.up[v] -= room
                tree.down[v] += room
                v = tree.parent[v]
        if cut < 0:  # the entering arc blocks itself: it goes from one bound to the other
            state[e] = -state[e]
        else:
            # The arc that leaves is at its lower bound if the flow ran against it. On the side of a
            # flow runs down the tree, so an arc that points up is drained; on the side of b, one
            # that points down.
            leaving = tree.arc[cut]
            drained = (tails[leaving] == cut) == below
            state[leaving] = EMPTY if drained else FULL
            state[e] = BASIC
            cost = costs[e] if tails[e] == a else -costs[e]
            # what lies below the cut hangs on the entering arc from now on
            if below:
                _rehang(a, b, e, cost, capacities[e] - room, room, cut, tree)
                _settle(a, tree, potential, stack)
            else:
                _rehang(b, a, e, -cost, room, capacities[e] - room, cut, tree)
                _settle(b, tree, potential, stack)
        e, at = _entering(network, potential, state, at, tolerance)

    # flows of tree arcs are known only by the room left on them
    flow = np.zeros(state.size)
    for arc in range(state.size):
        if state[arc] == FULL:
            flow[arc] = capacities[arc]
    for v in range(1, num_vertices):
        arc = tree.arc[v]
        sent = tree.down[v] if tails[arc] == v else tree.up[v]
        flow[arc] = min(sent, capacities[arc])
    return flow, potential, pivots, e < 0


@njit(cache=True, nogil=True)
def _planted(n: int, network: Network, start: IntArray, state: IntArray) -> Tree:
    """Return the tree of arcs `start`, all empty, depths not yet known; they become basic."""
    tree = Tree(
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(n, np.int32),
        np.zeros(n),
        np.zeros(n),
        np.zeros(n),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
        np.full(n, -1, np.int32),
    )
    for v in range(1, n):
        e = start[v]
        _link(v, network.heads[e], e, network.costs[e], network.capacities[e], 0.0, tree)
        state[e] = BASIC
    return tree


@njit(cache=True, nogil=True)
def _link(v: int, parent: int, arc: int, cost: float, up: float, down: float, tree: Tree) -> None:
    """Make v the first child of `parent`."""
    first = tree.child[parent]
    tree.parent[v] = parent
    tree.arc[v] = arc
    tree.cost[v] = cost
    tree.up[v] = up
    tree.down[v] = down
    tree.after[v] = first
    tree.before[v] = -1
    tree.child[parent] = v
    if first >= 0:
        tree.before[first] = v


@njit(cache=True, nogil=True)
def _settle(v: int, tree: Tree, potential: FloatArray, stack: IntArray) -> None:
    """Set depth and potential of v and all below it from their parents."""
    stack[0] = v
    size = 1
    while size > 0:
        size -= 1
        x = stack[size]
        parent = tree.parent[x]
        tree.depth[x] = tree.depth[parent] + 1
        potential[x] = potential[parent] + tree.cost[x]
        y = tree.child[x]
        while y >= 0:
            stack[size] = y
            size += 1
            y = tree.after[y]


@njit(cache=True, nogil=True)
def _entering(
    network: Network, potential: FloatArray, state: IntArray, at: int, tolerance: float
) -> tuple[int, int]:
    """Return the arc that prices out most in the next block that has one, and where to continue.

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
        # the end of a block: take its best arc, or look at another block
        left -= 1
        if left == 0:
            if entering >= 0:
                break
            left = BLOCK
    return entering, at


@njit(cache=True, nogil=True)
def _blocking(a: int, b: int, apex: int, tree: Tree, room: float) -> tuple[float, int, bool]:
    """Return how much fits round the cycle apex → a → b → apex, and below which vertex to cut.

    `room` is what the entering arc a → b takes. The vertex is -1 if that is the arc to drop. The
    last result is whether the cut is on the side of a. Ties go to the arc met last from the apex:
    on the side of a, where the cycle runs down, the lowest; on that of b, where it runs up, the
    highest.
    """
    cut, below = -1, False
    # both loops go up the tree, so `<` keeps the lowest of equal arcs, and `<=` the highest
    while a != apex:
        if tree.down[a] < room:
            room, cut, below = tree.down[a], a, True
        a = tree.parent[a]
    while b != apex:
        if tree.up[b] <= room:
            room, cut, below = tree.up[b], b, False
        b = tree.parent[b]
    return room, cut, below


@njit(cache=True, nogil=True)
def _rehang(
    moved: int, onto: int, arc: int, cost: float, up: float, down: float, cut: int, tree: Tree
) -> None:
    """Attach the subtree of `cut` to `onto` by its vertex `moved`; reverse the path between."""
    while True:
        parent = tree.parent[moved]
        old_arc, old_cost = tree.arc[moved], tree.cost[moved]
        old_up, old_down = tree.up[moved], tree.down[moved]
        # take it from among the children of its parent
        before, after = tree.before[moved], tree.after[moved]
        if before >= 0:
            tree.after[before] = after
        else:
            tree.child[parent] = after
        if after >= 0:
            tree.before[after] = before
        _link(moved, onto, arc, cost, up, down, tree)
        if moved == cut:
            return
        onto, moved = moved, parent
        # the arc is the same, seen from its other end
        arc, cost, up, down = old_arc, -old_cost, old_down, old_up
