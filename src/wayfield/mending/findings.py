"""The findings of a mend, as plain data and as tables; `text` renders them as sentences.

Most of them follow from the lengths before and after. The *factor* of the whole graph is the median
of length / given length, weighted by the given length. Relative to this factor,

- an edge is *probably false* if it costs at least `FALSE` times as much as its neighbours, the
  edges that share an end with it: nothing around it is slow, it alone is;
- in a directed graph, an edge with arcs in both directions is *one way* if only one of them is that
  costly. The edge exists, since the other direction is not in doubt;
- a *slow place* is a connected set of edges that cost at least `SLOW` times as much; it is named
  after the vertex where most cost is added;
- a *quick place* is the same for edges that cost at most 1 / `SLOW` times as much.

Two arcs between the same vertices, one each way, count as one edge.

**Evidence.** Which costs contradict the graph as given (`contradictions` for labels), how many of
these contradictions rounding alone would explain, the overall factor between costs and distances,
and how well both graphs fit the costs.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._arrays import plain
from .._text import quoted
from ..extension import describe
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.shortest import dijkstra
from ..labels import Labels
from ..names import Caller, Names, Naming
from ..plans import plan
from ._base import MendProblem
from .contradiction import contradictions, count_against
from .text import SAME, finding, units_text

if TYPE_CHECKING:
    from .fitting import Mended

FALSE = 3.0
SLOW = 1.25
MOST_NEIGHBOURS = 200
"""An edge is compared with this many edges at each end, evenly chosen: hubs have too many."""
MOST_PLACES = 2
SHARE = 0.1
"""Places with less than this share of the total change are not named."""
SAME_UNIT = (0.5, 2.0)
"""Median ratios of costs to graph distances within this range are consistent with one unit."""
MOST_DECIMALS = 3
"""Costs with more decimals were not rounded by hand."""


class Edges(NamedTuple):
    """Arcs of a directed graph, or edges of an undirected one: ends, given and mended lengths.

    `pair` numbers the pairs of vertices that they join: both directions of an edge share a number.
    """

    arcs: IntArray
    tails: IntArray
    heads: IntArray
    believed: FloatArray
    lengths: FloatArray
    pair: IntArray

    @property
    def times(self) -> FloatArray:
        """(e,) ratio of mended to given length."""
        return self.lengths / self.believed

    @property
    def added(self) -> FloatArray:
        """(e,) mended minus given length."""
        return self.lengths - self.believed

    def ways(self, which: BoolArray) -> NDArray[np.int64]:
        """Count, for each pair, how many of its directions are among these."""
        counts: NDArray[np.int64] = np.bincount(
            self.pair[which], minlength=self.pair.max(initial=-1) + 1
        )
        return counts

    def count(self, which: BoolArray) -> int:
        """Count the edges with at least one direction among these."""
        return int(np.count_nonzero(self.ways(which)))


def edges_once(mended: Mended) -> Edges:
    """Arcs of a directed graph; of an undirected one those from the lower vertex to the higher."""
    graph = mended.believed
    tails = graph.tails
    arcs = np.flatnonzero(np.full(graph.num_arcs, graph.directed) | (tails < graph.indices))
    tails, heads, lengths = tails[arcs], graph.indices[arcs], mended.graph.lengths[arcs]
    joined = np.minimum(tails, heads) * graph.num_vertices + np.maximum(tails, heads)
    pair = np.unique(joined, return_inverse=True)[1]
    return Edges(arcs, tails, heads, graph.lengths[arcs], lengths, pair)


class Kinds(NamedTuple):
    """How arcs differ from the common factor of the whole graph: masks over arcs."""

    false: BoolArray
    one_way: BoolArray
    slow: BoolArray
    quick: BoolArray
    suspect: BoolArray
    """Costlier than given, and clearly costlier than the common factor."""

    def name(self, e: int) -> str:
        """Name the kind of a suspect arc."""
        for word in ("false", "one_way", "slow"):
            if getattr(self, word)[e]:
                return word.replace("_", " ")
        return "costlier"


def sort_out(edges: Edges, factor: float) -> Kinds:
    """Classify the arcs that differ from the common factor."""
    times, count = edges.times / factor, edges.arcs.size
    # odd: slower than given while its neighbours are not
    ends = np.concatenate([edges.tails, edges.heads])
    order = np.argsort(ends, kind="stable")
    odd = np.zeros(count, dtype=bool)
    for e in np.flatnonzero((times >= FALSE) & (edges.added > 0)).tolist():
        pair = edges.tails[e], edges.heads[e]
        first, last = (
            np.searchsorted(ends, pair, sorter=order),
            np.searchsorted(ends, pair, "right", sorter=order),
        )
        ranges = [order[i:j] for i, j in zip(first, last, strict=True)]
        some = [near[:: 1 + near.size // MOST_NEIGHBOURS] for near in ranges]
        around = np.concatenate(some) % count
        there = np.isin(edges.tails[around], pair) & np.isin(edges.heads[around], pair)
        others = times[np.unique(around[~there])]
        odd[e] = not others.size or times[e] >= FALSE * np.median(others)
    costly = times >= SLOW
    both_ways = edges.ways(~costly)[edges.pair] == 0
    suspect = (times > 1.0 + SAME) & (edges.added > 0)
    return Kinds(odd & both_ways, odd & ~both_ways, costly & ~odd, times <= 1.0 / SLOW, suspect)


def suspects(mended: Mended) -> tuple[IntArray, list[str]]:
    """Return the arcs that are too cheap, one per edge, and their kinds.

    They are sorted by the cost added beyond the common factor, largest first.
    """
    edges = edges_once(mended)
    factor = median_ratio(edges.lengths, edges.believed)
    kinds = sort_out(edges, factor)
    found = _each_once(edges, kinds.suspect, edges.lengths - factor * edges.believed)
    return edges.arcs[found], [kinds.name(e) for e in found.tolist()]


def facts(
    mended: Mended, names: Naming | None, starts: Iterable[int], goal: int | None
) -> dict[str, Any]:
    """Return the findings as plain data that JSON can hold; see `Mended.facts`."""
    given, problem = mended.believed, mended.problem
    call, edges = Caller(names, given.num_vertices), edges_once(mended)
    factor = median_ratio(edges.lengths, edges.believed)
    kinds = sort_out(edges, factor)

    def named(e: int, ways: NDArray[np.int64]) -> dict[str, Any]:
        x, y = call(int(edges.tails[e])), call(int(edges.heads[e]))
        both = not given.directed or ways[edges.pair[e]] > 1
        return {
            "from": x,
            "to": y,
            "called": f"{quoted(x)} {'–' if both else '→'} {quoted(y)}",
            "believed": edges.believed[e],
            "length": edges.lengths[e],
            "added": edges.added[e],
            "times": edges.times[e],
        }

    def listed(which: BoolArray) -> list[dict[str, Any]]:
        ways = edges.ways(which)
        return [named(e, ways) for e in _each_once(edges, which, edges.added).tolist()]

    def places(which: BoolArray) -> list[dict[str, Any]]:
        ways = edges.ways(which)
        return [
            {
                "around": call(middle),
                "edges": np.unique(edges.pair[part]).size,
                "times": edges.lengths[part].sum() / edges.believed[part].sum(),
                "added": edges.added[part].sum(),
                "first": named(int(part[0]), ways),
            }
            for middle, part in _places(edges, which, factor)
        ]

    def route(start: int, goal: int) -> dict[str, Any]:
        """Describe the shortest path on the mended graph, and its cost as given."""
        cost, before = (
            dijkstra(problem.arcs_to(graph.lengths), np.array([goal]), np.zeros(1), 1.0)[0]
            for graph in (mended.graph, given)
        )
        if np.isinf(cost[start]):
            return {"start": call(start), "cost": None, "believed": None, "path": []}
        return {
            "start": call(start),
            "cost": cost[start],
            "believed": before[start],
            "path": [call(x) for x in plan(mended.graph, cost, goal).rollout(start).path],
        }

    distances = problem.distances()
    ratio = median_ratio(problem.costs, distances)
    of_trips = not isinstance(mended.data, Labels)
    word = "trips" if of_trips else "labels"
    end = goal if of_trips else int(problem.goals[0])
    costs = problem.costs if of_trips else np.append(problem.costs, 0.0)  # the goal's own label
    trips = {"ends": problem.goals.size, "merged": getattr(mended.data, "merged", 0)}
    low, high = SAME_UNIT
    found: dict[str, Any] = {
        "method": describe(mended.method),
        "chosen": mended.chosen,
        "status": str(mended.status),
        "converged": mended.status.good,
        "value": mended.value,
        "bound": mended.bound,
        "seconds": mended.seconds,
        "edges": int(edges.pair.max(initial=-1)) + 1,
        "directed": given.directed,
        "changed": edges.count(edges.added != 0),
        "costlier": edges.count(edges.added > 0),
        "added": edges.added.sum(),
        "factor": factor,
        "false": listed(kinds.false),
        "one_way": listed(kinds.one_way),
        "slow": places(kinds.slow),
        "quick": places(kinds.quick),
        "scores": {name: score._asdict() for name, score in mended.scores.items()},
        "graph": {
            "vertices": given.num_vertices,
            "arcs": given.num_arcs,
            "least_length": given.lengths.min(initial=np.inf),
            "largest_length": given.lengths.max(initial=-np.inf),
        },
        word: {
            "count": costs.size,
            **(trips if of_trips else {}),
            "least": costs.min(),
            "largest": costs.max(),
            "error": problem.error,
            "upper_bounds": problem.upper,
            "per_graph_distance": ratio,
        },
        "against": count_against(*_excesses(problem, of_trips, problem.error)),
        "rounding": _rounding(problem, of_trips),
        "misfit": {
            "believed": _misfit(problem, distances),
            "mended": _misfit(problem, problem.distances(mended.graph.lengths)),
        },
        "goal": None if end is None else call(end),
        "routes": [] if end is None else [route(x, end) for x in starts],
    }
    result: dict[str, Any] = plain(found)
    result["units"] = None if low <= ratio <= high else units_text(ratio, word)
    return result | {"finding": finding(result)}


def _excesses(problem: MendProblem, trips: bool, error: float) -> tuple[FloatArray, FloatArray]:
    """Return the excesses of costs above the graph's bounds, and below. A detour proves nothing."""
    if trips:
        over = problem.costs - error - problem.distances()
        above, below = over[over > 0], (-over - 2 * error)[over < -2 * error]
    else:  # labels may contradict one another as well
        goal = problem.goals[0]
        known = np.append(problem.starts, goal), np.append(problem.costs, 0.0)
        proof = contradictions(problem.graph, Labels(*known, error))
        above, below = proof.optimistic.excess, proof.pessimistic.excess
    tiny = 1e-9 * problem.costs.max()
    return above[(above > tiny) & (not problem.upper)], below[below > tiny]


def _rounding(problem: MendProblem, trips: bool) -> dict[str, Any] | None:
    """Count the contradictions that vanish if costs are rounded to their last digit.

    None if none do, if an error was given, or if the lengths have no more digits than the costs.
    """

    def decimals(numbers: FloatArray, most: int) -> int | None:
        """Return the decimals that all these numbers need, or None if more than `most`."""
        for digits in range(most + 1):
            if np.allclose(np.round(numbers, digits), numbers, rtol=1e-12, atol=0.0):
                return digits
        return None

    digits = decimals(problem.costs, MOST_DECIMALS)
    if problem.error or digits is None or decimals(problem.graph.lengths, digits) is not None:
        return None
    error = 0.5 * 10.0**-digits
    before, after = (
        sum(side.size for side in _excesses(problem, trips, each)) for each in (0.0, error)
    )
    explained = before - after
    return {"decimals": digits, "error": error, "explains": explained} if explained else None


def _misfit(problem: MendProblem, distances: FloatArray) -> float:
    """Return the mean error of distances beyond that of costs. Upper bounds count if exceeded."""
    off = distances - problem.costs
    off = np.maximum(off, 0.0) if problem.upper else np.abs(off)
    return float(np.maximum(off - problem.error, 0.0).mean())


def edge_columns(mended: Mended, names: Names) -> dict[str, Any]:
    """Return one row per edge, in a form that `wayfield.files.read_edges` reads."""
    edges = edges_once(mended)
    columns = {
        "from": _called(names, edges.tails),
        "to": _called(names, edges.heads),
        "believed": edges.believed,
        "added": edges.added,
        "length": edges.lengths,
    }
    return columns | ({"oneway": ["yes"] * edges.arcs.size} if mended.believed.directed else {})


def suspect_columns(mended: Mended, names: Names) -> dict[str, Any]:
    """Return one row per edge that stands out, with its kind, strongest evidence first."""
    (arcs, kinds), given = suspects(mended), mended.believed
    return {
        "from": _called(names, given.tails[arcs]),
        "to": _called(names, given.indices[arcs]),
        "kind": kinds,
        "believed": given.lengths[arcs],
        "added": mended.added[arcs],
        "length": mended.graph.lengths[arcs],
        "times": mended.graph.lengths[arcs] / given.lengths[arcs],
    }


def _called(names: Names, vertices: IntArray) -> Any:
    """Return the names of vertices, as numbers if all names are numbers."""
    called = names.as_numbers()
    if isinstance(called, np.ndarray):
        return called[vertices]
    return [called[x] for x in vertices.tolist()]


def median_ratio(above: FloatArray, below: FloatArray) -> float:
    """Return the c that minimises Σ |above - c below|: the weighted median of the ratios.

    Examples
    --------
    >>> median_ratio(np.array([2.0, 4.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    2.0
    """
    if not above.size:
        return 1.0
    ratio = above / below
    order = np.argsort(ratio, kind="stable")
    weight = np.cumsum(below[order])
    return float(ratio[order][np.searchsorted(weight, 0.5 * weight[-1])])


def _each_once(edges: Edges, which: BoolArray, by: FloatArray) -> IntArray:
    """Sort these arcs by `by`, largest first, and keep one direction of each edge."""
    chosen = np.flatnonzero(which)
    chosen = chosen[np.argsort(-by[chosen], kind="stable")]
    return chosen[np.sort(np.unique(edges.pair[chosen], return_index=True)[1])]


def _places(edges: Edges, which: BoolArray, factor: float) -> list[tuple[int, IntArray]]:
    """Return connected places of these edges, as centre and edges, largest change first."""
    chosen = np.flatnonzero(which)
    if not chosen.size:
        return []
    n = int(max(edges.tails.max(), edges.heads.max())) + 1
    ends = edges.tails[chosen], edges.heads[chosen]
    joined = sparse.coo_array((np.ones(chosen.size), ends), shape=(n, n))
    _, component = connected_components(joined, directed=False)
    change = np.abs(edges.lengths - factor * edges.believed)[chosen]
    total = np.bincount(component[ends[0]], change)
    at_vertex = np.bincount(ends[0], change, n) + np.bincount(ends[1], change, n)
    found = []
    worth = np.flatnonzero(total >= SHARE * np.abs(edges.lengths - factor * edges.believed).sum())
    for part in worth[np.argsort(-total[worth], kind="stable")[:MOST_PLACES]]:
        mine = component[ends[0]] == part
        members = np.flatnonzero(component == part)
        order = np.argsort(-change[mine], kind="stable")
        found.append((int(members[np.argmax(at_vertex[members])]), chosen[mine][order]))
    return found
