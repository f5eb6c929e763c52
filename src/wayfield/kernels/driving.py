"""Driving: follow a plan, learn from every step, and plan again where an arc does not exist.

**Planning.** A* from the current vertex, with believed costs or, where known, true ones. Its
heuristic is the cost to the goal as believed at first. It stays a lower bound while costs only rise
and arcs only vanish. Each search raises it where it has searched: a vertex settled at cost g, when
the goal is at C, is at least C - g away (Adaptive A*, Koenig & Likhachev 2005). So planning again
after a missing arc expands little more than the detour. If a cost turns out lower than believed,
the heuristic is recomputed before the next search.

**When to plan again.** Only at an arc that does not exist (a *bump*). The true cost of an arc that
was just taken does not change the plan: a shortest path from its head does not lead through it.

**Doubting a mend.** Memory corrects the arcs that were walked. A real arc that a mend made costly
is never walked, so it would stay costly for ever. Therefore, with memory, some walks follow the
graph as given instead: every eighth of those for which it predicts a cheaper path. Such a walk
returns to the mended plan once its predicted total has risen by a fifth of its advantage. If it was
cheaper in the end than the mended plan, such walks become twice as frequent, else half as frequent.
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
"""The first of this many walks that might gain by doubting the mend does so."""

DOUBT_RISK = 0.2
"""Share of the hoped-for saving that may be lost before a walk stops doubting."""


class Search(NamedTuple):
    """Storage for one search; between searches `cost` is inf and nothing is settled.

    Attributes
    ----------
    cost : (n,) float array
        Least cost from the start so far.
    arrived : (n,) int array
        Slot of the last arc of that path.
    settled : (n,) bool array
        Whether the vertex was expanded.
    heap : Heap
        Vertices waiting to be expanded.
    seen : (n,) int array
        Vertices to reset after the search.
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
    """How the walk from each start ended: (k,) arrays, `learnt` (m,)."""

    reached: BoolArray
    stopped: BoolArray
    predicted: FloatArray
    paid: FloatArray
    steps: IntArray
    found: IntArray
    learnt: FloatArray


class Belief(NamedTuple):
    """The costs that a walker plans with; changed as it learns.

    Attributes
    ----------
    arcs : Arcs
        Believed costs, or true ones where known; inf if the arc does not exist.
    reverse : Arcs
        The reversed arcs; their lengths are not used.
    into : (m,) int array
        Arc at every slot of `reverse`.
    toward : (n,) float array
        Lower bound on the cost to the goal.
    stale : (1,) bool array
        Whether a cost has fallen since `toward` was computed, so that it may be too high.
    """

    arcs: Arcs
    reverse: Arcs
    into: IntArray
    toward: FloatArray
    stale: BoolArray


@njit(cache=True, nogil=True)
def learn(belief: Belief, arc: int, cost: float) -> None:
    """Record the true cost of an arc; inf if it does not exist."""
    if cost < belief.arcs.lengths[arc]:
        belief.stale[0] = True
    belief.arcs.lengths[arc] = cost


@njit(cache=True, nogil=True)
def plan_by(belief: Belief, start: int, goal: int, search: Search) -> tuple[float, int]:
    """Return the shortest path to the goal by a belief, as `plan_ahead` does."""
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
    """Return the cost and number of arcs of a shortest path to `goal`; `path` holds the arcs.

    The result is inf and 0 if there is no path. `toward` is a consistent lower bound on the cost to
    the goal; the search raises it. Arcs of length inf do not exist.
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
            # toward = inf marks vertices that cannot reach the goal, also those of earlier searches
            if candidate < cost[y] and toward[y] < inf and not settled[y]:
                if cost[y] == inf:
                    seen[count] = y
                    count += 1
                cost[y] = candidate
                arrived[y] = e
                waiting = _push_first(heap, waiting, candidate + toward[y], y)
    # the path is found from its end, so the arc to take next is the last one in `path`
    total, size = cost[goal], 0
    x = goal
    while x != start and total < inf:
        path[size] = arrived[x]
        size += 1
        x = tails[arrived[x]]
    for i in range(count):
        x = seen[i]
        # if there is no path, no vertex reached has one either: inf - cost = inf
        toward[x] = max(toward[x], total - cost[x])
        cost[x] = inf
        settled[x] = False
    return total, size


@njit(cache=True, nogil=True)
def _push_first(heap: Heap, size: int, key: float, vertex: int) -> int:
    """Add an entry before all others with the same key, so that ties finish the path begun."""
    # `<`, where `heap.push` has `<=`: an equal parent is overtaken
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
    """Walk from every start in a world given by the true cost of every arc.

    Parameters
    ----------
    mended, plain : Belief
        The costs to plan with, and those of the graph before it was mended; the same if it was not.
        Trying an arc that does not exist costs its length in `plain`. Both are changed.
    world : (m,) float array
        True costs of the arcs; inf if they do not exist.
    memory : bool
        Whether each walk knows what earlier ones learnt.
    max_steps : int
        Largest number of steps and failed attempts of a walk.
    search : Search
        Storage for one search on the graph.
    walks : Walks
        Empty results (`no_walks`), filled here.
    """
    believed, bumps = mended.arcs.lengths.copy(), plain.arcs.lengths.copy()
    heads, m = mended.arcs.indices, bumps.size
    doubtful = memory and (believed != bumps).any()
    # this search from the goal to itself only makes the heuristic current, if it is stale; the copy
    # is what a walk without memory begins with
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
            # both predictions share `search.path`: plan once more by the belief that is followed
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
                # a bump: pay for the attempt, stay, and plan around the missing arc
                walks.paid[i] += bumps[e]
                walks.found[i] += 1
                _, left = plan_by(plain if doubting else mended, x, goal, search)
        walks.reached[i] = x == goal
        walks.stopped[i] = left > 0
        if doubted:
            every = next_doubt(every, walks.paid[i], predicted)
            wait = every
        if not memory and num_tried > 0:  # forget: undo only what was learnt, not all m costs
            for j in range(num_tried):
                learn(mended, tried[j], believed[tried[j]])
            _look_from(mended, toward)


@njit(cache=True, nogil=True)
def predicts_less(hoped: float, predicted: float) -> bool:
    """Whether the graph as it was predicts a cheaper path than the mended one."""
    return hoped < predicted * (1.0 - 1e-9)


@njit(cache=True, nogil=True)
def risk_limit(hoped: float, predicted: float) -> float:
    """Return the cost, paid and to come, at which a doubting walk returns to the mended plan."""
    return hoped + DOUBT_RISK * (predicted - hoped)


@njit(cache=True, nogil=True)
def next_doubt(every: int, paid: float, predicted: float) -> int:
    """Return how many walks to wait before doubting again, after a walk that paid this much."""
    if paid < predicted * (1.0 - 1e-9):
        return max(every // 2, 1)
    return 2 * every
