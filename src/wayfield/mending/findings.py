"""What a mend found, as plain data and as one sentence: false edges, slow places, or nothing.

All of it follows from the lengths before and after. The *factor* is how much more the whole graph
costs: the median of length / believed length, weighted by believed length. Beyond that,

- an edge is *probably false* if it costs at least `FALSE` times what the graph and its neighbours,
  the edges that share an end with it, cost more: nothing around it is slow, it alone is;
- of a directed graph, an edge that leads both ways and of which only one way is so dear is *dear
  one way*: it exists, since the other way is not in doubt;
- a *slow place* is made of edges that cost at least `SLOW` times what the graph costs more, joined
  end to end; it is named after the vertex where most is added;
- a *quick place* likewise, of edges that cost at most a `SLOW`-th.

Two arcs between the same vertices, one each way, count as one edge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._arrays import plain
from .._text import number_of, quoted, short
from ..extension import describe
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..names import Caller, Naming

if TYPE_CHECKING:
    from .fitting import Mended

FALSE = 3.0
SLOW = 1.25
SAME = 0.05
"""Factors nearer to 1 than this are not worth a word."""
MOST_NEIGHBOURS = 200
"""Edges at one end that an edge is compared with, evenly chosen: hubs have too many."""
MOST_NAMED = 3
"""Edges of a kind that the sentence names."""
MOST_PLACES = 2
SHARE = 0.1
"""Of all that is changed: places where less is are not named."""


class Edges(NamedTuple):
    """Arcs of a directed graph, or edges of an undirected one: their ends, and their two lengths.

    `pair` numbers the pairs of vertices that they join: the two ways of an edge have one number.
    """

    arcs: IntArray
    tails: IntArray
    heads: IntArray
    believed: FloatArray
    lengths: FloatArray
    pair: IntArray

    @property
    def times(self) -> FloatArray:
        """(e,) length over believed length."""
        return self.lengths / self.believed

    @property
    def added(self) -> FloatArray:
        """(e,) length minus believed length."""
        return self.lengths - self.believed

    def ways(self, which: BoolArray) -> NDArray[np.int64]:
        """Count how many ways of every pair are among these."""
        counts: NDArray[np.int64] = np.bincount(
            self.pair[which], minlength=self.pair.max(initial=-1) + 1
        )
        return counts

    def count(self, which: BoolArray) -> int:
        """Count edges any way of which is among these."""
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
    """What stands out from the factor that the whole graph has in common: masks over arcs."""

    false: BoolArray
    one_way: BoolArray
    slow: BoolArray
    quick: BoolArray
    suspect: BoolArray
    """Dearer than believed, and than the whole graph by more than a trifle."""

    def name(self, e: int) -> str:
        """Name the kind of a suspect arc."""
        for word in ("false", "one_way", "slow"):
            if getattr(self, word)[e]:
                return word.replace("_", " ")
        return "dearer"


def sort_out(edges: Edges, factor: float) -> Kinds:
    """Tell what stands out from the common factor, and how."""
    far = edges.times / factor
    odd, dear = _odd(edges, factor), far >= SLOW
    both_dear = edges.ways(~dear)[edges.pair] == 0
    suspect = (far > 1.0 + SAME) & (edges.added > 0)
    return Kinds(odd & both_dear, odd & ~both_dear, dear & ~odd, far <= 1.0 / SLOW, suspect)


def suspects(mended: Mended) -> tuple[IntArray, list[str]]:
    """Return the arcs that stand out as too cheap, one for every edge, and their kinds.

    What is added beyond the common factor is the order, most first.
    """
    edges = edges_once(mended)
    factor = _middle(edges)
    kinds = sort_out(edges, factor)
    found = _each_once(edges, kinds.suspect, edges.lengths - factor * edges.believed)
    return edges.arcs[found], [kinds.name(e) for e in found.tolist()]


def facts(mended: Mended, names: Naming | None = None) -> dict[str, Any]:
    """Return what was found as plain data that JSON can hold; see `Mended.facts`."""
    call, edges = Caller(names, mended.believed.num_vertices), edges_once(mended)
    factor = _middle(edges)
    kinds = sort_out(edges, factor)

    def named(e: int, ways: NDArray[np.int64]) -> dict[str, Any]:
        x, y = call(int(edges.tails[e])), call(int(edges.heads[e]))
        both = not mended.believed.directed or ways[edges.pair[e]] > 1
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

    found: dict[str, Any] = {
        "method": describe(mended.method),
        "chosen": mended.chosen,
        "status": str(mended.status),
        "converged": mended.status.good,
        "value": mended.value,
        "bound": mended.bound,
        "seconds": mended.seconds,
        "edges": int(edges.pair.max(initial=-1)) + 1,
        "directed": mended.believed.directed,
        "changed": edges.count(edges.added != 0),
        "dearer": edges.count(edges.added > 0),
        "added": edges.added.sum(),
        "factor": factor,
        "false": listed(kinds.false),
        "one_way": listed(kinds.one_way),
        "slow": places(kinds.slow),
        "quick": places(kinds.quick),
        "scores": {name: score._asdict() for name, score in mended.scores.items()},
    }
    told: dict[str, Any] = plain(found)
    return told | {"finding": finding(told)}


def finding(
    found: Mapping[str, Any], data: str = "labels", agreed: bool = False, proofs: int = 0
) -> str:
    """Say what was found in one sentence.

    `data` is what it was found by, `agreed` whether that is known to agree with the graph, `proofs`
    how many of the data prove the graph too optimistic.
    """
    if not found["changed"]:
        scores = found["scores"]
        if not scores and not agreed:
            return f"{found['method']} finds nothing to change by the {data}"
        if any(score["error"] for score in scores.values()):
            vain = "nothing fitted to them predicts the others clearly better"
            if proofs:
                what = f"{proofs:,} of the {data} {'prove' if proofs > 1 else 'proves'}"
                return f"{what} that the graph is wrong, but not where: {vain}"
            return f"the {data} do not agree with the graph, but {vain}: Dijkstra is as good"
        return f"the {data} do not contradict the graph: Dijkstra is as good"
    told = []
    for key, what in (("false", "probably false"), ("one_way", "dear in one direction only")):
        if found[key]:
            told.append(f"{_are(len(found[key]))} {what}: {_some(found[key])}")
    for word, less in (("slow", "less quick"), ("quick", "less slow")):
        for place in found[word]:
            # beside a whole graph that costs twice as much, 1.5 times is not quick
            fair = (place["times"] >= 1.0) == (word == "slow")
            told.append(f"{word if fair else less} {_where(place)}, {place['times']:.2g} times")
    if abs(found["factor"] - 1.0) > SAME:
        all_in_all = "all in all" if told else "everything"
        told.append(f"{all_in_all} {found['factor']:.2g} times what was believed")
    if not told:
        verb = "costs" if found["changed"] == 1 else "cost"
        number = number_of(found["changed"], "edges")
        told.append(f"{number} {verb} a little more or less than believed")
    return "; ".join(told)


def _are(count: int) -> str:
    return f"{number_of(count, 'edges')} {'is' if count == 1 else 'are'}"


def _some(edges: Sequence[Mapping[str, Any]]) -> str:
    named = (f"{each['called']} (+{short(each['added'])})" for each in edges[:MOST_NAMED])
    return ", ".join(named) + (" …" if len(edges) > MOST_NAMED else "")


def _where(place: Mapping[str, Any]) -> str:
    if place["edges"] == 1:
        return f"on {place['first']['called']}"
    return f"around {quoted(place['around'])}"


def _middle(edges: Edges) -> float:
    """Return the median of length / believed length, weighted by believed length."""
    if not edges.arcs.size:
        return 1.0
    order = np.argsort(edges.times, kind="stable")
    weight = np.cumsum(edges.believed[order])
    return float(edges.times[order][np.searchsorted(weight, 0.5 * weight[-1])])


def _each_once(edges: Edges, which: BoolArray, by: FloatArray) -> IntArray:
    """Order these arcs by what they have more of; of the two ways of an edge keep the first."""
    chosen = np.flatnonzero(which)
    chosen = chosen[np.argsort(-by[chosen], kind="stable")]
    return chosen[np.sort(np.unique(edges.pair[chosen], return_index=True)[1])]


def _odd(edges: Edges, factor: float) -> BoolArray:
    """Whether an edge alone is dear, its neighbours not, and dearer than believed."""
    times, count = edges.times / factor, edges.arcs.size
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
    return odd


def _places(edges: Edges, which: BoolArray, factor: float) -> list[tuple[int, IntArray]]:
    """Places made of these edges: the middle of each and its edges, most is changed there first."""
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
