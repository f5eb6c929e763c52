"""Driving: walk by a plan, learn from every step, and plan again where the plan was refuted.

**Planning.** A* from where one stands, by costs that are believed or known. Its heuristic, the cost
to the goal as believed at first, stays a lower bound while costs only rise and arcs only vanish,
and each search raises it where it has looked: vertices settled at g before the goal at C are at
least C - g away (Adaptive A*, Koenig & Likhachev 2005). A plan after a bump therefore looks at
little more than the detour. Where a cost turned out lower than believed the heuristic is
computed anew before the next search.

**When to plan again.** Only at a bump. What was paid for an arc behind one changes no plan from
here on, because a shortest path from its head does not lead through it.

**Doubting a mend.** Memory corrects arcs that were walked. A real arc that a mend made costly is
never walked, and would stay so for ever. Therefore, with memory, every eighth walk for which the
graph as it was predicts a cheaper path goes by that instead. When bumps and costs have raised that
prediction by a fifth of its advantage, the walk goes on by the mend. If it was cheaper in the end
than the mended plan, such walks become twice as frequent, else half as frequent.
"""

from __future__ import annotations

from math import inf, nan
from typing import NamedTuple

import numpy as np

from ._jit import njit
from ._types import BoolArray, FloatArray, IntArray
from .csr import Arcs
from .heap import Heap, drop_least
from .shortest import dijkstra

DOUBT_EVERY = 8
"""Of the walks that might gain by doubting the mend, the first to do so."""

DOUBT_RISK = 0.2
"""Share of what a doubting walk hopes to save that may be lost before it stops doubting."""


class Search(NamedTuple):
    """Room for one search; between searches `cost` is inf everywhere, and nothing is settled.

    Attributes
    ----------
    cost : (n,) float array
        Least cost from the start so far.
    arrived : (n,) int array
        Slot of the arc by which it came.
    settled : (n,) bool array
        Whether it was gone on from.
    heap : Heap
        Vertices waiting.
    seen : (n,) int array
        Vertices to be reset.
    tails : (m,) int array
        Tails of the arcs.
    path : (n,) int array
        Slots of the plan's arcs, the last one first.
    """

    cost: FloatArray
    arrived: IntArray
    settled: BoolArray
    heap: Heap
    seen: IntArray
    tails: IntArray
    path: IntArray


class Walks(NamedTuple):
    """What became of every start: (k,) arrays, `learnt` (m,)."""

    reached: BoolArray
    stopped: BoolArray
    predicted: FloatArray
    paid: FloatArray
    steps: IntArray
    found: IntArray
    learnt: FloatArray


class Belief(NamedTuple):
    """What a walker plans by; changed as it learns.

    Attributes
    ----------
    arcs : Arcs
        Costs as believed, or as known; inf: no such arc.
    reverse : Arcs
        The arcs turned round; its lengths are not looked at.
    into : (m,) int array
        Which arc stands at every slot of `reverse`.
    toward : (n,) float array
        Lower bound on the cost to the goal.
    stale : (1,) bool array
        Whether a cost has fallen since, so that `toward` may be too high.
    """

    arcs: Arcs
    reverse: Arcs
    into: IntArray
    toward: FloatArray
    stale: BoolArray


@njit(cache=True, nogil=True)
def learn(belief: Belief, arc: int, cost: float) -> None:
    """Record what an arc costs; inf if there is none."""
    if cost < belief.arcs.lengths[arc]:
        belief.stale[0] = True
    belief.arcs.lengths[arc] = cost


@njit(cache=True, nogil=True)
def plan_by(belief: Belief, start: int, goal: int, search: Search) -> tuple[float, int]:
    """Shortest path to the goal by a belief; see `plan_ahead`."""
    if belief.stale[0]:
        reverse, into = belief.reverse, belief.into
        arcs = Arcs(reverse.indptr, reverse.indices, belief.arcs.lengths[into])
        cost, _ = dijkstra(arcs, np.full(1, goal, np.int64), np.zeros(1), 1.0)
        _look_from(belief, cost)
    return plan_ahead(belief.arcs, belief.toward, start, goal, search)


@njit(cache=True, nogil=True)
def _look_from(belief: Belief, toward: FloatArray) -> None:
    """Set the cost to the goal by this belief."""
    for x in range(toward.size):
        belief.toward[x] = toward[x]
    belief.stale[0] = False


def room_for_search(arcs: Arcs) -> Search:
    """Return an empty search on a graph."""
    n, m = arcs.indptr.size - 1, arcs.indices.size
    tails = np.repeat(np.arange(n, dtype=np.int64), np.diff(arcs.indptr))
    heap = Heap(np.empty(m + 1), np.empty(m + 1, np.int64))
    arrived, seen, path = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    return Search(np.full(n, inf), arrived, np.zeros(n, np.bool_), heap, seen, tails, path)


@njit(cache=True, nogil=True)
def plan_ahead(
    arcs: Arcs, toward: FloatArray, start: int, goal: int, search: Search
) -> tuple[float, int]:
    """Shortest path from `start` to `goal`: its cost, and its number of arcs, which `path` holds.

    inf and 0 if there is none. `toward` is a consistent lower bound on the cost to the goal, and
    is raised. Lengths of inf are arcs that do not exist.
    """
    if toward[start] == inf:
        return inf, 0
    cost, arrived, settled, heap, seen, tails, path = search
    cost[start] = 0.0
    seen[0] = start
    count, waiting = 1, _push_first(heap, 0, toward[start], start)
    while waiting > 0:
        x = heap.vertices[0]
        waiting = drop_least(heap, waiting)
        if x == goal:
            break
        if settled[x]:
            continue
        settled[x] = True
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            candidate = cost[x] + arcs.lengths[e]
            if candidate < cost[y] and toward[y] < inf and not settled[y]:
                if cost[y] == inf:
                    seen[count] = y
                    count += 1
                cost[y] = candidate
                arrived[y] = e
                waiting = _push_first(heap, waiting, candidate + toward[y], y)
    total, size = cost[goal], 0
    x = goal
    while x != start and total < inf:
        path[size] = arrived[x]
        size += 1
        x = tails[arrived[x]]
    for i in range(count):
        x = seen[i]
        # without a path every vertex that was reached has none either: inf - cost = inf
        toward[x] = max(toward[x], total - cost[x])
        cost[x] = inf
        settled[x] = False
    return total, size


@njit(cache=True, nogil=True)
def _push_first(heap: Heap, size: int, key: float, vertex: int) -> int:
    """Add an entry before all others of the same key: of equal plans, finish the one begun."""
    slot = size
    while slot > 0:
        parent = (slot - 1) >> 1
        if heap.keys[parent] < key:
            break
        heap.keys[slot] = heap.keys[parent]
        heap.vertices[slot] = heap.vertices[parent]
        slot = parent
    heap.keys[slot] = key
    heap.vertices[slot] = vertex
    return size + 1


def no_walks(count: int, num_arcs: int) -> Walks:
    """Return empty results for this many starts, before the first step."""
    return Walks(
        np.zeros(count, np.bool_),
        np.zeros(count, np.bool_),
        np.zeros(count),
        np.zeros(count),
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.full(num_arcs, nan),
    )


@njit(cache=True, nogil=True)
def drive_all(
    mended: Belief,
    plain: Belief,
    world: FloatArray,
    starts: IntArray,
    goal: int,
    memory: bool,
    max_steps: int,
    search: Search,
    walks: Walks,
) -> None:
    """Walk from every start in a world that is given by what every arc costs there.

    Parameters
    ----------
    mended, plain : Belief
        What to plan by; and the graph before it was mended, the same if it was not. Trying an arc
        that does not exist costs its length in that. Both are changed.
    world : (m,) float array
        What the arcs cost; inf if they do not exist.
    memory : bool
        Whether what one walk learnt is known to the next.
    max_steps : int
        Cap on steps and failed attempts of a walk.
    search : Search
        Room for one search on the graph.
    walks : Walks
        No walks yet (`no_walks`); what becomes of them is written here.
    """
    believed, bumps = mended.arcs.lengths.copy(), plain.arcs.lengths.copy()
    heads, m = mended.arcs.indices, bumps.size
    doubtful = memory and (believed != bumps).any()
    plan_by(mended, goal, goal, search)
    toward = mended.toward.copy()
    tried = np.empty(m, np.int64)
    every, wait = DOUBT_EVERY, DOUBT_EVERY
    for i in range(starts.size):
        x, num_tried, doubting, limit = starts[i], 0, False, inf
        predicted, left = plan_by(mended, x, goal, search)
        walks.predicted[i] = predicted
        if doubtful:
            hoped, _ = plan_by(plain, x, goal, search)
            wait -= predicts_less(hoped, predicted)
            doubting = wait <= 0 and predicts_less(hoped, predicted)
            limit = risk_limit(hoped, predicted)
            _, left = plan_by(plain if doubting else mended, x, goal, search)
        doubted = doubting
        while left > 0 and walks.steps[i] < max_steps:
            if doubting and walks.paid[i] + plain.toward[x] > limit:
                doubting = False
                _, left = plan_by(mended, x, goal, search)
                continue
            e = search.path[left - 1]
            # every step shows what its arc costs in the world, inf if there is none
            if mended.arcs.lengths[e] != world[e]:
                learn(mended, e, world[e])
                tried[num_tried] = e
                num_tried += 1
            if doubtful:
                learn(plain, e, world[e])
            walks.learnt[e] = world[e]
            walks.steps[i] += 1
            if world[e] < inf:
                walks.paid[i] += world[e]
                x = heads[e]
                left -= 1
            else:
                walks.paid[i] += bumps[e]
                walks.found[i] += 1
                _, left = plan_by(plain if doubting else mended, x, goal, search)
        walks.reached[i] = x == goal
        walks.stopped[i] = left > 0
        if doubted:
            every = next_doubt(every, walks.paid[i], predicted)
            wait = every
        if not memory and num_tried > 0:  # forget, by taking back only what was learnt
            for j in range(num_tried):
                learn(mended, tried[j], believed[tried[j]])
            _look_from(mended, toward)


@njit(cache=True, nogil=True)
def predicts_less(hoped: float, predicted: float) -> bool:
    """Whether the graph as it was predicts a cheaper path than the mended one."""
    return hoped < predicted * (1.0 - 1e-9)


@njit(cache=True, nogil=True)
def risk_limit(hoped: float, predicted: float) -> float:
    """Cost, paid and to come, beyond which a doubting walk goes on by the mend."""
    return hoped + DOUBT_RISK * (predicted - hoped)


@njit(cache=True, nogil=True)
def next_doubt(every: int, paid: float, predicted: float) -> int:
    """How many walks to wait for the next doubt, after one that paid so much."""
    if paid < predicted * (1.0 - 1e-9):
        return max(every // 2, 1)
    return 2 * every
