"""Driving: a walker that plans on the graph, acts in the world, and learns from the outcome.

**The walker.** It follows the shortest path to the goal on its believed graph. Each step shows it
what the arc costs. An arc that does not lead where the graph says is *refuted*: the walker pays for
the attempt, removes the arc, and plans again from where it is. On the graph as given, this is
replanning Dijkstra (the plans of D* Lite [1]_). Mended graphs are judged by how well it does on
them.

**Termination.** Between two refutations the walker follows one plan, and there are finitely many
arcs. In a deterministic world it therefore arrives or refutes every path. The cap on steps is for
worlds in which steps slip.

**Memory.** Without memory, each walk starts from the graph alone. With memory, refuted arcs and
paid costs are kept for the walks that follow. They overrule a mend: an arc that the mend made
costly, but that was walked at its old cost, is cheap from then on.

**Doubting a mend.** An arc that a mend wrongly made costly is never walked, so it stays costly.
Therefore, with memory, some walks follow the graph as given instead: one in eight of those for
which it predicts a cheaper path. Such a walk returns to the mended plan once its predicted
total has risen by a fifth of the saving it hoped for. If the walk was cheaper than the mended plan
predicted, such walks become twice as frequent, otherwise half as frequent.

References
----------
.. [1] S. Koenig, M. Likhachev, "D* Lite", AAAI (2002).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield.checks import LARGEST, as_flag, as_vertex, as_vertices, as_whole, frozen
from wayfield.errors import InputError
from wayfield.graphs.graph import Graph, arc_slots, check_graph
from wayfield.numerics.csr import Arcs, reverse_arcs
from wayfield.numerics.shortest import dijkstra
from wayfield.travel.fitting import Mended
from wayfield.typing import BoolArray, FloatArray, IntArray

from .kernels.driving import plan_ahead, room_for_search

DOUBT_EVERY = 8
"""At first, one in this many of the walks that might gain by doubting the mend does so."""

DOUBT_RISK = 0.2
"""Share of the hoped-for saving that may be lost before a walk stops doubting."""

SURELY = 1.0 - 1e-9
"""A cost is less than another if it is below this share of it; the rest may be rounding."""

Step: TypeAlias = Callable[[int, int], tuple[int, float]]
"""A world: an attempt to go from x to y returns the vertex reached and the cost."""

Pair: TypeAlias = tuple[int, int]


class Drive(NamedTuple):
    """The outcome of the walk from each start.

    Attributes
    ----------
    reached : (k,) bool array
        Whether the walk reached the goal.
    predicted : (k,) float array
        Expected cost of the walk when it started; inf if there was no path.
    paid : (k,) float array
        Cost of the walk up to its end, failed attempts included.
    found : (k,) int64 array
        Number of arcs that the walk refuted.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study.driving import drive
    >>> believed = wf.Graph.from_edges([0, 1, 2, 0], [1, 2, 3, 3])
    >>> world = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])  # no edge 0 - 3
    >>> trip = drive(believed, world, [3], goal=0)
    >>> trip.predicted, trip.paid, trip.found  # a failed attempt, and the detour
    (array([1.]), array([4.]), array([1]))
    """

    reached: BoolArray
    predicted: FloatArray
    paid: FloatArray
    found: NDArray[np.int64]


def drive(
    graph: Graph | Mended,
    world: Graph | Step,
    starts: ArrayLike,
    goal: int,
    memory: bool = False,
    *,
    patience: int = 1,
    max_steps: int | None = None,
) -> Drive:
    """Walk from every start to the goal in the world, planning on the graph.

    Parameters
    ----------
    graph : Graph or Mended
        The believed graph. If it is mended, the walker plans with the mended lengths, and a failed
        attempt costs the length before the mend.
    world : Graph or callable
        Where the walker acts. Either a graph on the same vertices; its arcs may be missing or cost
        something else. An attempt to take a missing arc costs its believed length and leads
        nowhere. Or a function ``step(x, y) -> (z, cost)`` for an attempt to go from x to y: z is y
        if the arc is as believed, x if it does not exist, and the vertex reached otherwise.
    starts : (k,) integer array
        Start vertices, walked in this order.
    goal : int
        Goal vertex.
    memory : bool
        Whether a walk knows what earlier walks learnt.
    patience : int
        Consecutive failures that refute an arc. Use more than 1 in a world where steps slip.
    max_steps : int, optional
        Cap on the steps of one walk. Default: ten per vertex, plus a thousand.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study.driving import drive
    >>> ring = wf.Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    >>> def step(x, y):  # the door between 0 and 5 is shut
    ...     return (x, 0.5) if {x, y} == {0, 5} else (y, 1.0)
    >>> drive(ring, step, [5, 4, 5], goal=0, memory=True).paid
    array([5.5, 4. , 5. ])
    """
    believed, plain = (graph.graph, graph.believed) if isinstance(graph, Mended) else (graph, graph)
    n = check_graph(believed).num_vertices
    begin = as_vertices(starts, "starts", n)
    end = as_vertex(goal, "goal", n)
    memory = as_flag(memory, "memory")
    patience = as_whole(patience, "patience", least=1)
    cap = 10 * n + 1000 if max_steps is None else as_whole(max_steps, "max_steps", least=0)
    step = world
    if isinstance(world, Graph):
        if world.num_vertices != n:
            raise InputError(
                f"world must have the {n:,} vertices of the graph, got {world.num_vertices:,}"
            )
        # cost of the graph's arcs in the world; what a missing one costs is what is believed
        place = arc_slots(world, believed.tails, believed.indices)
        there = place >= 0
        if world.num_arcs and believed.num_arcs and not there.any():
            raise InputError("no arc of the world is an arc of the graph: is it another graph?")
        patience = 1
        cost = plain.lengths.copy()
        cost[there] = world.lengths[place[there]]

        def step(x: int, y: int) -> tuple[int, float]:
            arc, _ = _slot(believed.arcs, x, y)
            return y if there[arc] else x, cost[arc]

    if not callable(step):
        raise InputError(
            f"world must be a Graph or a function step(x, y) -> (z, cost), got {world!r}"
        )
    return _Walker(believed, plain, step, end, patience).drive(begin, memory, cap)


def _slot(arcs: Arcs, x: int, y: int) -> tuple[int, bool]:
    """Return the slot where the arc from x to y is, or would be, and whether it is there."""
    begin, end = int(arcs.indptr[x]), int(arcs.indptr[x + 1])
    place = begin + int(np.searchsorted(arcs.indices[begin:end], y))
    return place, place < end and int(arcs.indices[place]) == y


class _Belief:
    """The costs that a walker plans with; changed as it learns.

    Attributes
    ----------
    arcs : Arcs
        Believed costs, or true ones where known; inf if the arc does not exist.
    toward : (n,) float array
        Lower bound on the cost to the goal, as computed for the last plan.
    """

    def __init__(self, arcs: Arcs, goal: int) -> None:
        self.arcs, self.goal = Arcs(arcs.indptr, arcs.indices, arcs.lengths.copy()), goal
        self.search = room_for_search(arcs)
        self._stale = True  # whether a cost has fallen, so that `toward` may be too high
        self.plan(goal)  # computes `toward`

    def copied(self) -> _Belief:
        """Return the same belief, to be changed on its own."""
        twin = copy(self)
        twin.arcs = Arcs(self.arcs.indptr, self.arcs.indices, self.arcs.lengths.copy())
        twin.toward = self.toward.copy()
        return twin

    def learn(self, arc: int, cost: float) -> bool:
        """Record the true cost of an arc, inf if it does not exist; return whether it differs."""
        old = self.arcs.lengths[arc]
        self._stale |= bool(cost < old)
        self.arcs.lengths[arc] = cost
        return bool(cost != old)

    def plan(self, x: int) -> tuple[float, list[int]]:
        """Return cost and arcs of the shortest path to the goal, the next arc last."""
        if self._stale:
            reverse = Arcs(*(np.empty_like(array) for array in self.arcs))
            reverse_arcs(self.arcs, reverse)
            self.toward, _ = dijkstra(reverse, np.array([self.goal]), np.zeros(1), 1.0)
            self._stale = False
        cost, size = plan_ahead(self.arcs, self.toward, x, self.goal, self.search)
        return cost, self.search.path[:size].tolist()


class _Walker:
    """A walker that learns, and plans again only where an arc does not lead where it should.

    The true cost of an arc that was just taken does not change the plan: a shortest path from its
    head does not lead through it.

    Its memory is what it believes of the mended graph and of the graph as given, which arc to try
    to get from x to z, and where failed attempts ended before their arc was refuted.
    """

    def __init__(self, mended: Graph, plain: Graph, step: Step, goal: int, patience: int) -> None:
        self.graph, self.step, self.goal, self.patience = mended, step, goal, patience
        self.doubtful = not np.array_equal(mended.lengths, plain.lengths)
        self.given = _Belief(mended.arcs, goal), _Belief(plain.arcs, goal)
        self.forget()

    def forget(self) -> None:
        """Reset the beliefs to the given graphs."""
        self.mended, self.plain = (belief.copied() for belief in self.given)
        self.by_trying: dict[Pair, int] = {}
        self.failures: dict[Pair, list[int]] = {}
        self.knows_more = False

    def drive(self, starts: IntArray, memory: bool, cap: int) -> Drive:
        """Walk from every start, and return how the walks ended."""
        every = wait = DOUBT_EVERY
        reached, found = np.zeros(starts.size, np.bool_), np.zeros(starts.size, np.int64)
        predicted, paid = np.empty((2, starts.size))
        for k, start in enumerate(starts.tolist()):
            if self.knows_more and not memory:
                self.forget()
            expected, way = self.mended.plan(start)
            limit = None
            if memory and self.doubtful:
                hoped, _ = self.plain.plan(start)
                gains = hoped < expected * SURELY
                wait -= gains
                if gains and wait <= 0:
                    limit = hoped + DOUBT_RISK * (expected - hoped)
                way = (self.mended if limit is None else self.plain).plan(start)[1]
            predicted[k] = expected
            reached[k], paid[k], found[k] = self.walk(start, way, limit, cap)
            if limit is not None:
                every = wait = max(every // 2, 1) if paid[k] < expected * SURELY else 2 * every
        return Drive(*map(frozen, (reached, predicted, paid, found)))

    def walk(
        self, x: int, way: list[int], limit: float | None, cap: int
    ) -> tuple[bool, float, int]:
        """Walk from x; return whether it arrived, the cost, and the number of refuted arcs.

        With a `limit`, doubt the mend until the cost paid plus the remaining cost exceeds it.
        """
        paid, steps, found = 0.0, 0, 0
        while way and steps < cap:
            if limit is not None and paid + self.plain.toward[x] > limit:
                limit = None
                way = self.mended.plan(x)[1]
                continue
            arc = way.pop()
            y = int(self.mended.arcs.indices[arc])
            z, cost = self.attempt(x, y)
            paid += cost
            steps += 1
            if z == y:
                self.failures.pop((x, y), None)
                self.note(arc, cost)
            else:
                found += self.failed(x, y, arc, z, cost)
                way = (self.mended if limit is None else self.plain).plan(z)[1]
            x = z
        return x == self.goal, paid, found

    def attempt(self, x: int, y: int) -> tuple[int, float]:
        """Try to go from x to y, by the arc that is known to lead there if there is one."""
        tried = self.by_trying.get((x, y), y)
        answer, whose = self.step(x, tried), f"the world's step from {x} to {tried}"
        try:
            z, cost = answer
            place, price = as_vertex(z, "vertex", self.graph.num_vertices), float(cost)
        except (TypeError, ValueError) as error:
            raise InputError(f"{whose} must be a vertex and a cost, got {answer!r}") from error
        if not 1 / LARGEST <= price <= LARGEST:
            raise InputError(f"{whose} must have a positive cost, got {price}")
        return place, price

    def note(self, arc: int, cost: float) -> None:
        """Record the cost of an arc; inf if it does not exist."""
        self.knows_more |= self.mended.learn(arc, cost)
        self.plain.learn(arc, cost)

    def failed(self, x: int, y: int, arc: int, z: int, cost: float) -> bool:
        """Learn from an attempt that ended at z instead of y; return whether it refuted the arc."""
        self.knows_more = True
        landings = self.failures.setdefault((x, y), [])
        landings.append(z)
        if len(landings) < self.patience:
            return False
        self.note(arc, np.inf)
        place, there = _slot(self.mended.arcs, x, z)
        if z != x and len(set(landings)) == 1 and not there:  # an arc that the graph does not have
            beliefs = []
            for old in (self.mended.arcs, self.plain.arcs):
                indptr = old.indptr.copy()
                indptr[x + 1 :] += 1
                heads = np.insert(old.indices, place, z)
                arcs = Arcs(indptr, heads, np.insert(old.lengths, place, cost))
                beliefs.append(_Belief(arcs, self.goal))
            self.mended, self.plain = beliefs
            self.by_trying[x, z] = y
        return True
