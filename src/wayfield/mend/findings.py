"""What a mend found, as plain data and as one sentence: false edges, slow places, or nothing.

All of it follows from the lengths before and after. The *factor* is what the whole graph costs
more: the median of length / believed length, by believed length. Beyond that,

- an edge is *probably false* if it costs at least `FALSE` times what the graph and its neighbours,
  the edges that share an end with it, cost more: nothing around it is slow, it alone is;
- a *slow place* is made of edges that cost at least `SLOW` times what the graph costs more, joined
  end to end; it is called by the vertex where most is added;
- a *quick place* likewise, of edges that cost at most a `SLOW`-th.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._arrays import plain
from .._text import number_of, quoted, short
from ..extension import describe
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..names import Caller, Naming

if TYPE_CHECKING:
    from .mending import Mended

FALSE = 3.0
SLOW = 1.25
SAME = 0.05
"""Factors nearer to 1 than this are not worth a word."""
MOST_NEIGHBOURS = 200
"""Edges at one end that an edge is compared with, evenly chosen: hubs have too many."""
MOST_NAMED = 3
MOST_PLACES = 2
SHARE = 0.1
"""Of all that is changed: places where less is are not named."""


class Edges(NamedTuple):
    """Edges, each once: which arcs, their ends, and how much more they cost than believed."""

    arcs: IntArray
    tails: IntArray
    heads: IntArray
    believed: FloatArray
    lengths: FloatArray

    @property
    def times(self) -> FloatArray:
        """(e,) length over believed length."""
        return self.lengths / self.believed

    @property
    def added(self) -> FloatArray:
        """(e,) length less believed length."""
        return self.lengths - self.believed


def edges_once(mended: Mended) -> Edges:
    """Arcs of a directed graph; of an undirected one those from the lower vertex to the higher."""
    graph = mended.believed
    tails = graph.tails
    arcs = np.flatnonzero(np.full(graph.num_arcs, graph.directed) | (tails < graph.indices))
    heads, lengths = graph.indices[arcs], mended.graph.lengths[arcs]
    return Edges(arcs, tails[arcs], heads, graph.lengths[arcs], lengths)


def facts(mended: Mended, names: Naming | None = None) -> dict[str, Any]:
    """Return what was found as plain data that JSON can hold; see `Mended.facts`."""
    call, edges = Caller(names, mended.believed.num_vertices), edges_once(mended)
    factor = _middle(edges)
    false = _false(edges, factor)
    far = edges.times / factor
    slow = (far >= SLOW) & ~false
    arrow = " → " if mended.believed.directed else " – "

    def named(e: int) -> dict[str, Any]:
        x, y = call(int(edges.tails[e])), call(int(edges.heads[e]))
        return {
            "from": x,
            "to": y,
            "called": f"{quoted(x)}{arrow}{quoted(y)}",
            "believed": edges.believed[e],
            "length": edges.lengths[e],
            "added": edges.added[e],
            "times": edges.times[e],
        }

    def places(which: BoolArray) -> list[dict[str, Any]]:
        return [
            {
                "around": call(middle),
                "edges": part.size,
                "times": edges.lengths[part].sum() / edges.believed[part].sum(),
                "added": edges.added[part].sum(),
                "first": named(int(part[0])),
            }
            for middle, part in _places(edges, which, factor)
        ]

    blamed = np.flatnonzero(false)
    blamed = blamed[np.argsort(-edges.added[blamed], kind="stable")]
    found: dict[str, Any] = {
        "method": describe(mended.method),
        "chosen": mended.chosen,
        "status": str(mended.status),
        "converged": mended.status.good,
        "value": mended.value,
        "bound": mended.bound,
        "seconds": mended.seconds,
        "edges": edges.arcs.size,
        "directed": mended.believed.directed,
        "changed": int(np.count_nonzero(edges.added)),
        "dearer": int(np.count_nonzero(edges.added > 0)),
        "added": edges.added.sum(),
        "factor": factor,
        "false_count": int(false.sum()),
        "false": [named(int(e)) for e in blamed[:MOST_NAMED]],
        "slow": places(slow),
        "quick": places(far <= 1.0 / SLOW),
        "scores": {name: score._asdict() for name, score in mended.scores.items()},
    }
    told: dict[str, Any] = plain(found)
    return told | {"finding": finding(told)}


def finding(found: Mapping[str, Any], data: str = "labels", agreed: bool = False) -> str:
    """Say what was found in one sentence.

    `data` is what it was found by, `agreed` whether that is known to agree with the graph.
    """
    if not found["changed"]:
        scores = found["scores"]
        if not scores and not agreed:
            return f"{found['method']} finds nothing to change by the {data}"
        if any(score["error"] for score in scores.values()):
            return f"nothing fitted to the {data} foretells others better: Dijkstra is as good"
        return f"the {data} do not contradict the graph: Dijkstra is as good"
    told, count = [], found["false_count"]
    if count:
        named = ", ".join(f"{each['called']} (+{short(each['added'])})" for each in found["false"])
        kind = "arcs" if found["directed"] else "edges"
        are = "is" if count == 1 else "are"
        more = " …" if count > len(found["false"]) else ""
        told.append(f"{number_of(count, kind)} {are} probably false: {named}{more}")
    for word, less in (("slow", "less quick"), ("quick", "less slow")):
        for place in found[word]:
            # beside a whole graph that costs twice as much, 1.5 times is not quick
            fair = (place["times"] >= 1.0) == (word == "slow")
            told.append(f"{word if fair else less} {_where(place)}, {place['times']:.2g} times")
    if abs(found["factor"] - 1.0) > SAME:
        all_in_all = "all in all" if told else "everything"
        told.append(f"{all_in_all} {found['factor']:.2g} times what was believed")
    if not told:
        kind = "arcs" if found["directed"] else "edges"
        told.append(f"{number_of(found['changed'], kind)} cost a little more or less than believed")
    return "; ".join(told)


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


def _false(edges: Edges, factor: float) -> BoolArray:
    """Whether an edge alone is dear, its neighbours not, and dearer than believed."""
    times, count = edges.times / factor, edges.arcs.size
    ends = np.concatenate([edges.tails, edges.heads])
    order = np.argsort(ends, kind="stable")
    false = np.zeros(count, dtype=bool)
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
        false[e] = not others.size or times[e] >= FALSE * np.median(others)
    return false


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
