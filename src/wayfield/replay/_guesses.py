"""Arcs that nobody has seen: what to pay for them, and which ones the transitions speak against.

**Evidence.** An arc that n departures around it never took works with probability about 1 / (n + 2)
(Laplace's rule of succession), and a try that fails costs `TRY` steps. Only a third of the
departures counts, since a state has a few ways on. So an arc of length ℓ is worth

    ℓ · 1000^(ℓ / τ) if ℓ > τ, else ℓ,  plus  TRY · (2 + n / 3).

The factor is that of TTGS: a guess longer than τ, twice the median of what was crossed, is taken
last of all. What is paid beyond ℓ is TRY over the odds: so many tries until one works. n is the
lesser of the two ends' departures, each averaged over the state and those that it was seen to be
next to. No geometry is needed, so that arcs of a learned distance are priced as well as those of
nearest neighbours.

**Suspects.** A transition graph also speaks for arcs that nobody crossed at once: an arc is no
suspect if an observed way between its ends, nobody resting on it, is at most twice as long, and one
median arc.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

from .._arrays import KeepsReadOnly, as_real, as_whole, frozen
from .._text import number_of
from ..errors import InputError
from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.csr import Arcs, reverse_arcs
from ..kernels.detour import detours

if TYPE_CHECKING:
    from ._replay import Replay

TRY, _WAYS_ON = 20.0, 3.0
"""Steps that a try of an arc that does not work costs; how many ways on a state has."""
_STEEP, _STEEPEST = 1000.0, 30.0
"""Base of the factor on long guesses, and its largest power."""
_LONG = 2.0
"""Guesses are long beyond so many median arcs."""
_MOST = 0.95
"""Largest share of guesses that is taken to work."""
SLACK = 2.0
"""How many times as long as an arc the observed ways between its ends may be."""


@dataclass(frozen=True, eq=False, repr=False)
class Suspects(KeepsReadOnly):
    """Arcs that a buffer's transitions speak against, the most doubtful first.

    Attributes
    ----------
    tail, head : (s,) int64 arrays
        The arcs.
    length : (s,) float array
        What the graph claims.
    count : (s,) int64 array
        How often the tail was left, never along the arc.
    odds : (s,) float array
        Probability that the arc works all the same, by the departures around both its ends.
    num_arcs : int
        How many arcs the graph has.
    """

    tail: NDArray[np.int64]
    head: NDArray[np.int64]
    length: FloatArray
    count: NDArray[np.int64]
    odds: FloatArray
    num_arcs: int

    def __len__(self) -> int:
        return self.tail.size

    def __repr__(self) -> str:
        arcs = number_of(self.num_arcs, "arcs")
        if not len(self):
            return f"Suspects(none of {arcs})"
        return f"Suspects({len(self):,} of {arcs}, the first left out {self.count[0]:,} times)"

    def __str__(self) -> str:
        shown = min(len(self), 10)
        rows = [("tail", "head", "length", "left out", "odds")]
        for i in range(shown):
            ends = f"{self.tail[i]}", f"{self.head[i]}"
            rows.append(
                (*ends, f"{self.length[i]:.4g}", f"{self.count[i]:,}", f"{self.odds[i]:.2g}")
            )
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        ]
        more = [f"and {len(self) - shown:,} more"] if len(self) > shown else []
        return "\n".join([*lines, *more])


def find_suspects(replay: Replay, graph: Graph, least: float) -> Suspects:
    """Rank the arcs of a graph that nobody took though there was occasion."""
    claimed = _checked(replay, graph)
    least = as_real(least, "least", least=0.0)
    around = departures_around(replay)
    tails, heads = claimed.tails.astype(np.int64), claimed.indices.astype(np.int64)
    evidence = np.minimum(around[tails], around[heads])
    doubtful = ~_seen(replay, tails, heads) & (evidence >= least) & (replay.departures[tails] > 0)
    which = np.flatnonzero(doubtful)
    limits = SLACK * claimed.lengths[which] + median_arc(replay)
    unsupported = ways_between(replay, tails[which], heads[which], limits) >= limits
    which = which[unsupported]
    which = which[np.lexsort((heads[which], tails[which], -evidence[which]))]
    return Suspects(
        frozen(tails[which]),
        frozen(heads[which]),
        frozen(claimed.lengths[which]),
        frozen(replay.departures[tails[which]]),
        frozen(1.0 / (2.0 + evidence[which] / _WAYS_ON)),
        claimed.num_arcs,
    )


class Guesses(NamedTuple):
    """Arcs that nobody has seen: their length if they work, and the odds that they do."""

    tail: IntArray
    head: IntArray
    length: FloatArray
    odds: FloatArray

    @property
    def price(self) -> FloatArray:
        """What each is worth paying for: its length, and tries until one works."""
        worth: FloatArray = self.length + TRY / self.odds
        return worth


def find_guesses(replay: Replay, guesses: int | Graph, pooled: bool = False) -> Guesses:
    """Return the arcs of a graph, or to nearest states, that nobody has seen.

    Half of them would work if nobody had left nearby or, `pooled`, as many as others do.
    """
    claimed = _checked(replay, guesses) if isinstance(guesses, Graph) else _nearest(replay, guesses)
    tails, heads = claimed.tails.astype(np.int64), claimed.indices.astype(np.int64)
    new = ~_seen(replay, tails, heads, jumps=True)
    share = _share_that_works(replay, claimed, new) if pooled else None
    tails, heads, lengths = tails[new], heads[new], claimed.lengths[new]
    return Guesses(tails, heads, lengths, guess_odds(replay, tails, heads, lengths, share))


def guess_odds(
    replay: Replay,
    tails: IntArray,
    heads: IntArray,
    lengths: FloatArray,
    share: float | None = None,
) -> FloatArray:
    """Odds that arcs nobody has seen work, by the departures around both ends and their length.

    If an arc that works is taken by a share of the departures that is Beta(1, 3), n of them leave
    it out with probability 3 / (n + 3). So the odds against an arc are 1 + n / 3 times what they
    are beforehand: even or, if the `share` of arcs that work is known, (1 - share) / share for one
    of two median arcs, and in proportion to the length: two short guesses are one long one.
    """
    around, usual = departures_around(replay), median_arc(replay)
    against = 1.0 + np.minimum(around[tails], around[heads]) / _WAYS_ON
    if share is not None:
        against *= (1.0 / share - 1.0) * lengths / (_LONG * usual)
    odds: FloatArray = 1.0 / (1.0 + against + (steep(lengths, _LONG * usual) - lengths) / TRY)
    return odds


def _share_that_works(replay: Replay, claimed: Graph, new: BoolArray) -> float:
    """Share of a graph's arcs, of usual length, that the buffer confirms where it can.

    An arc is confirmed if it was crossed, or if an observed way between its ends is about as short;
    one that is not counts as much as it would have been confirmed if it worked. Some of those that
    fail are never met in time, so that the share is at most 95 %.
    """
    short = np.flatnonzero(claimed.lengths <= _LONG * median_arc(replay))
    tails, heads = claimed.tails[short].astype(np.int64), claimed.indices[short].astype(np.int64)
    limits = SLACK * claimed.lengths[short] + median_arc(replay)
    confirmed = ~new[short]
    open_ = np.flatnonzero(~confirmed)
    ways = ways_between(replay, tails[open_], heads[open_], limits[open_])
    confirmed[open_] = ways < limits[open_]
    around = departures_around(replay)
    evidence = np.minimum(around[tails], around[heads])
    told = np.where(confirmed, 1.0, evidence / (evidence + _WAYS_ON))
    return min(float((confirmed.sum() + 1.0) / (told.sum() + 2.0)), _MOST)


def with_prices(known: Graph, new: Guesses, prices: FloatArray) -> Graph:
    """Return a graph with guesses added to it, as long as given."""
    arcs = [(known.tails, known.indices, known.lengths), (new.tail, new.head, prices)]
    tails, heads, lengths = (np.concatenate(parts) for parts in zip(*arcs, strict=True))
    return Graph.from_edges(tails, heads, lengths, known.num_vertices, True, known.positions)


def steep(lengths: FloatArray, long: float) -> FloatArray:
    """Lengths, those beyond `long` times 1000 to the power of how many times as long they are."""
    power = np.minimum(lengths / long, _STEEPEST)
    return np.where(lengths > long, lengths * _STEEP**power, lengths)


def departures_around(replay: Replay) -> FloatArray:
    """Mean number of departures over each state and those it was seen next to."""
    next_to = adjacency(replay)
    total = next_to @ replay.departures
    mean: FloatArray = total / next_to.sum(axis=1)
    return mean


def adjacency(replay: Replay) -> sparse.csr_array[np.float64]:
    """States with those that an observed step joins them to, either way, and themselves."""
    graph, n = replay.graph, replay.graph.num_vertices
    steps = replay.counts > replay.leaps
    tails, heads, own = graph.tails[steps], graph.indices[steps], np.arange(n)
    row, column = np.concatenate([tails, heads, own]), np.concatenate([heads, tails, own])
    joined = sparse.csr_array((np.ones(row.size), (row, column)), shape=(n, n))
    joined.data[:] = 1.0
    return joined


def _checked(replay: Replay, graph: Graph) -> Graph:
    if not isinstance(graph, Graph):
        raise InputError(f"graph must be a wayfield.Graph, not {type(graph).__name__}")
    if graph.num_vertices != replay.graph.num_vertices:
        raise InputError(
            f"the graph has {graph.num_vertices:,} vertices, the buffer "
            f"{replay.graph.num_vertices:,} states"
        )
    return graph


def _nearest(replay: Replay, k: int) -> Graph:
    """Join each state and its k nearest ones, both ways, at the speed of the buffer."""
    k, n = as_whole(k, "k", least=1), len(replay.states)
    if replay.speed == 0.0:
        raise InputError("the buffer never moves: it has no speed to guess lengths by")
    most = min(k, n - 1)
    distance, near = cKDTree(replay.states).query(replay.states, np.arange(1, most + 2))
    tails, heads = np.repeat(np.arange(n), most + 1), np.asarray(near).ravel()
    lengths = np.maximum(np.asarray(distance).ravel() / replay.speed, 1.0)
    proper = tails != heads
    ends = np.sort(np.stack([tails[proper], heads[proper]]), axis=0)
    pairs, first = np.unique(ends, axis=1, return_index=True)
    return Graph.from_edges(pairs[0], pairs[1], lengths[proper][first], n)


def _seen(replay: Replay, tails: IntArray, heads: IntArray, jumps: bool = False) -> BoolArray:
    """Whether each arc was crossed by a step; by a jump, too, if these count."""
    graph = replay.graph
    known = replay.counts > (0 if jumps else replay.leaps)
    n = np.int64(graph.num_vertices)
    keys = graph.tails[known] * n + graph.indices[known]
    return np.isin(tails * n + heads, keys)


def median_arc(replay: Replay) -> float:
    """Median length of the arcs that were crossed by steps."""
    steps = replay.counts > replay.leaps
    if not steps.any():
        raise InputError("the buffer has no arcs: nobody was seen to move")
    return float(np.median(replay.graph.lengths[steps]))


def ways_between(
    replay: Replay, tails: IntArray, heads: IntArray, limits: FloatArray
) -> FloatArray:
    """Length of the shortest observed way between each pair, or its limit if that is shorter."""
    graph, n = replay.graph, np.int64(replay.graph.num_vertices)
    steps = replay.counts > replay.leaps
    keys = np.concatenate([graph.tails[steps] * n + graph.indices[steps], tails * n + heads])
    # the pairs are arcs of their own, too long to be walked
    lengths = np.concatenate([replay.fastest[steps], np.full(tails.size, np.inf)])
    order = np.argsort(keys)
    rows, columns = np.divmod(keys[order], n)
    indptr = np.searchsorted(rows, np.arange(n + 1))
    arcs = Arcs(indptr, columns.astype(np.int32), lengths[order])
    reverse = Arcs(*(np.empty_like(array) for array in arcs))
    reverse_arcs(arcs, reverse)
    slot = np.empty(keys.size, np.int64)
    slot[order] = np.arange(keys.size)
    which = slot[keys.size - tails.size :]
    return detours(arcs, reverse, rows.astype(np.int64), which, limits)
