"""Stitched arcs: moves that nobody made, their cost, and which of them the data contradict.

**Evidence.** An arc that n departures around it never took works with probability about 1 / (n + 2)
(Laplace's rule of succession), and a try that fails costs `TRY` steps. Only a third of the
departures counts, since a state has several arcs out. So an arc of length ℓ costs

    ℓ · 1000^(ℓ / τ) if ℓ > τ, else ℓ,  plus  TRY · (2 + n / 3).

The factor is that of TTGS: an arc longer than τ, twice the median observed arc, is a last resort.
The rest is TRY over the odds: the cost of attempts until one works. n is the lesser number of
departures at the two ends, each averaged over the state and its neighbours. No geometry is needed,
so arcs of a learned distance are priced like those of nearest neighbours.

**Suspects.** An arc that nobody crossed may still be right. It is not a suspect if an observed path
between its ends, without rests, is at most twice as long plus one median arc.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.spatial import cKDTree

from .._arrays import as_real, as_whole, frozen
from ..errors import InputError
from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.csr import Arcs, reverse_arcs
from ..kernels.detour import detours
from ._reports import Suspects

if TYPE_CHECKING:
    from ._replay import Replay

TRY, _ARCS_OUT = 20.0, 3.0
"""Steps that a failed try costs; arcs out of a typical state."""
_STEEP, _STEEPEST = 1000.0, 30.0
"""Base of the factor on long arcs, and its largest power."""
_LONG = 2.0
"""Arcs are long beyond this many median arcs."""
_MOST = 0.95
"""Largest share of stitched arcs that is taken to work."""
SLACK = 2.0
"""Observed paths may be this many times as long as the arc that they confirm."""


class Stitched(NamedTuple):
    """Arcs that nobody crossed: their length if they work, and the probability that they do."""

    tail: IntArray
    head: IntArray
    length: FloatArray
    odds: FloatArray

    @classmethod
    def none(cls) -> Stitched:
        """Return no arcs."""
        nothing = np.empty(0, np.int64)
        return cls(nothing, nothing, np.empty(0), np.empty(0))

    @property
    def price(self) -> FloatArray:
        """Cost of each arc: its length, and the tries until one works."""
        worth: FloatArray = self.length + TRY / self.odds
        return worth

    def added_to(self, known: Graph, lengths: FloatArray) -> Graph:
        """Return a graph with these arcs added to it, at the given lengths."""
        arcs = [(known.tails, known.indices, known.lengths), (self.tail, self.head, lengths)]
        tails, heads, every = (np.concatenate(parts) for parts in zip(*arcs, strict=True))
        return Graph.from_edges(tails, heads, every, known.num_vertices, True, known.positions)


def find_stitched(replay: Replay, arcs: int | Graph, pooled: bool = False) -> Stitched:
    """Return the arcs of a graph, or arcs to the nearest states, that nobody crossed.

    Beforehand half of them are taken to work or, if `pooled`, the share that the buffer confirms.
    """
    claimed = _checked(replay, arcs) if isinstance(arcs, Graph) else _nearest(replay, arcs)
    tails, heads = claimed.tails.astype(np.int64), claimed.indices.astype(np.int64)
    new = ~_seen(replay, tails, heads, replay.counts > 0)
    share = None
    if pooled:
        # Share of the arcs of usual length that the buffer confirms: they were crossed, or an
        # observed path is about as short. An arc that is not confirmed counts by the probability
        # that it would have been, had it worked. Some that fail are never met in time.
        short = np.flatnonzero(claimed.lengths <= _LONG * median_arc(replay))
        confirmed = ~new[short]
        open_ = short[~confirmed]
        lengths = claimed.lengths[open_]
        confirmed[~confirmed] = has_path(replay, tails[open_], heads[open_], lengths)
        evidence = departures_around(replay, tails[short], heads[short])
        tested = np.where(confirmed, 1.0, evidence / (evidence + _ARCS_OUT))
        share = min(float((confirmed.sum() + 1.0) / (tested.sum() + 2.0)), _MOST)
    tails, heads, lengths = tails[new], heads[new], claimed.lengths[new]
    return Stitched(tails, heads, lengths, stitched_odds(replay, tails, heads, lengths, share))


def stitched_odds(
    replay: Replay,
    tails: IntArray,
    heads: IntArray,
    lengths: FloatArray,
    share: float | None = None,
) -> FloatArray:
    """Return the probability that arcs work, by the departures around both ends and the length.

    Let an arc that works be taken by a Beta(1, 3) share of the departures. Then n of them leave it
    out with probability 3 / (n + 3). So the odds against an arc are 1 + n / 3 times what they are
    beforehand. These are even or, if the `share` of arcs that work is known, (1 - share) / share
    for an arc of two median arcs, in proportion to the length: two short arcs are one long one.
    """
    against = 1.0 + departures_around(replay, tails, heads) / _ARCS_OUT
    long = _LONG * median_arc(replay)
    if share is not None:
        against *= (1.0 / share - 1.0) * lengths / long
    odds: FloatArray = 1.0 / (1.0 + against + (steep(lengths, long) - lengths) / TRY)
    return odds


def steep(lengths: FloatArray, long: float) -> FloatArray:
    """Return lengths ℓ, those beyond `long` times 1000^(ℓ / long)."""
    power = np.minimum(lengths / long, _STEEPEST)
    return np.where(lengths > long, lengths * _STEEP**power, lengths)


def find_suspects(replay: Replay, graph: Graph, least: float) -> Suspects:
    """Rank the arcs of a graph that nobody took although there was occasion."""
    claimed = _checked(replay, graph)
    least = as_real(least, "least", least=0.0)
    tails, heads = claimed.tails.astype(np.int64), claimed.indices.astype(np.int64)
    evidence = departures_around(replay, tails, heads)
    doubtful = ~_seen(replay, tails, heads, replay.stepped) & (evidence >= least)
    which = np.flatnonzero(doubtful & (replay.departures[tails] > 0))
    which = which[~has_path(replay, tails[which], heads[which], claimed.lengths[which])]
    which = which[np.lexsort((heads[which], tails[which], -evidence[which]))]
    return Suspects(
        frozen(tails[which]),
        frozen(heads[which]),
        frozen(claimed.lengths[which]),
        frozen(replay.departures[tails[which]]),
        frozen(1.0 / (2.0 + evidence[which] / _ARCS_OUT)),
        claimed.num_arcs,
    )


def _checked(replay: Replay, graph: Graph) -> Graph:
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a wayfield.Graph, got {type(graph).__name__}")
    if graph.num_vertices != replay.graph.num_vertices:
        raise InputError(
            f"the graph has {graph.num_vertices:,} vertices, the buffer "
            f"{replay.graph.num_vertices:,} states"
        )
    return graph


def _nearest(replay: Replay, k: int) -> Graph:
    """Join each state to its k nearest ones, both ways, at the speed of the buffer."""
    k, n = as_whole(k, "k", least=1), len(replay.states)
    if replay.speed == 0.0:
        raise InputError("the buffer never moves, so it has no speed to turn distances into steps")
    most = min(k, n - 1)
    distance, near = cKDTree(replay.states).query(replay.states, np.arange(1, most + 2))
    tails, heads = np.repeat(np.arange(n), most + 1), np.asarray(near).ravel()
    lengths = np.maximum(np.asarray(distance).ravel() / replay.speed, 1.0)
    proper = tails != heads
    ends = np.sort(np.stack([tails[proper], heads[proper]]), axis=0)
    pairs, first = np.unique(ends, axis=1, return_index=True)
    return Graph.from_edges(pairs[0], pairs[1], lengths[proper][first], n)


def _seen(replay: Replay, tails: IntArray, heads: IntArray, known: BoolArray) -> BoolArray:
    """Whether each pair is one of the `known` arcs of the buffer."""
    graph, n = replay.graph, np.int64(replay.graph.num_vertices)
    return np.isin(tails * n + heads, graph.tails[known] * n + graph.indices[known])


def adjacency(replay: Replay) -> sparse.csr_array[np.float64]:
    """Return the 0-1 matrix, ones on its diagonal, of states joined by a step, either way."""
    graph, n = replay.graph, replay.graph.num_vertices
    tails, heads = graph.tails[replay.stepped], graph.indices[replay.stepped]
    own = np.arange(n)
    row, column = np.concatenate([tails, heads, own]), np.concatenate([heads, tails, own])
    joined = sparse.csr_array((np.ones(row.size), (row, column)), shape=(n, n))
    joined.data[:] = 1.0
    return joined


def departures_around(replay: Replay, tails: IntArray, heads: IntArray) -> FloatArray:
    """Return the lesser number of departures at the ends of arcs, averaged over adjacent states."""
    adjacent = adjacency(replay)
    around = (adjacent @ replay.departures) / adjacent.sum(axis=1)
    lesser: FloatArray = np.minimum(around[tails], around[heads])
    return lesser


def median_arc(replay: Replay) -> float:
    """Return the median length of the arcs that were crossed by steps."""
    if not replay.stepped.any():
        raise InputError("the buffer has no arcs: no transition changes the state")
    return float(np.median(replay.graph.lengths[replay.stepped]))


def has_path(replay: Replay, tails: IntArray, heads: IntArray, lengths: FloatArray) -> BoolArray:
    """Whether an observed path is at most twice as long as each arc, plus one median arc."""
    limits = SLACK * lengths + median_arc(replay)
    graph, n = replay.graph, np.int64(replay.graph.num_vertices)
    steps = replay.stepped
    keys = np.concatenate([graph.tails[steps] * n + graph.indices[steps], tails * n + heads])
    # `detours` asks about arcs of its graph: the pairs are added, too long to be walked
    every = np.concatenate([replay.fastest[steps], np.full(tails.size, np.inf)])
    order = np.argsort(keys)
    rows, columns = np.divmod(keys[order], n)
    indptr = np.searchsorted(rows, np.arange(n + 1))
    arcs = Arcs(indptr, columns.astype(np.int32), every[order])
    reverse = Arcs(*(np.empty_like(array) for array in arcs))
    reverse_arcs(arcs, reverse)
    slot = np.empty(keys.size, np.int64)
    slot[order] = np.arange(keys.size)
    which = slot[keys.size - tails.size :]
    found: BoolArray = detours(arcs, reverse, rows.astype(np.int64), which, limits) < limits
    return found
