"""No shortcuts: every arc that nothing near it bears out is taken for false.

In a world with coordinates an arc between neighbours has other ways round it: a grid's edge has one
of three edges. An arc whose way round is many times its own length, between states that merely look
alike or from a broken record, is a shortcut. This method believes in no such arc. It looks at the
graph alone and not at a single cost, so that it is a *hypothesis*, for held-out trips to judge
(`Best`): roads have honest bridges.

**Peeling.** A false arc can serve as the way round another one. So arcs whose way round is `odd`
times their own length or more are taken out, ways round are computed anew without them, and so on
until nothing is odd. Two kinds of odd arcs are believed all the same: those without which the graph
would fall apart, so that an arc is false only if its ends are strongly connected without all that
was taken out; and, where vertices have positions, those that are no longer than they should be for
the distance of their ends, as a bridge or a road with few side streets is.

**Lengths.** A false arc is given the length of the way round it, or, where that is beyond `FAR`
times its own, one that no shortest way affords: the sum of the greatest distances to and from the
first goal.

**Cost.** A bounded search per arc, which ends in a ball of a few vertices, once per peel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._arrays import as_real
from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.csr import Arcs
from ..kernels.detour import detours
from ..kernels.shortest import dijkstra
from ._base import Fit, MendProblem
from .least_change import FAR

LEAP = 3.0
"""How many times farther than usual for its length an arc leads that positions do not excuse."""

PEELS = 10
"""How often ways round are computed anew, at most."""


@dataclass(frozen=True)
class NoShortcuts:
    """Make arcs as dear as the way round them, if that is many times as long.

    Parameters
    ----------
    odd : float
        How many times.

    Examples
    --------
    Two rows of six, and an edge between their far ends that does not exist.

    >>> import wayfield as wf
    >>> tails = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, *range(6), 0]
    >>> heads = [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, *range(6, 12), 11]
    >>> ladder = wf.Graph.from_edges(tails, heads)
    >>> labels = wf.Labels([0, 9, 11], [0.0, 4.0, 6.0])
    >>> wf.mend(ladder, labels, goal=0, method=wf.NoShortcuts())
    Mended(1 of 17 edges dearer, by 5 in all)
    """

    odd: float = 4.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "odd", as_real(self.odd, "odd", least=1.0, most=FAR))

    @property
    def name(self) -> str:
        """What the method is called among candidates."""
        return "no shortcuts"

    def fit(self, problem: MendProblem) -> Fit:
        """Lengthen the shortcuts. ``details``: "shortcuts", how many arcs there were."""
        graph = problem.graph
        false = self._peeled(problem, _leaps(graph))
        false &= _joined(graph, ~false)
        details = {"shortcuts": int(false.sum())}
        if not false.any():
            return Fit(graph.lengths, details=details)
        rest = np.where(false, np.inf, graph.lengths)
        lengths = np.where(false, _ways_round(problem, rest, false, FAR), graph.lengths)
        unmet = false & (lengths >= FAR * graph.lengths)
        lengths[unmet] = np.maximum(lengths[unmet], _farthest(problem, rest))
        return Fit(lengths, details=details)

    def _peeled(self, problem: MendProblem, leaps: BoolArray) -> BoolArray:
        """Of the arcs that leap, those that are odd, or are once others that are odd have gone."""
        lengths = problem.graph.lengths
        false = np.zeros(lengths.size, bool)
        limit = self.odd * (1.0 - 1e-9)
        for _ in range(PEELS):
            rest = np.where(false, np.inf, lengths)
            unsure = leaps & ~false
            odd = unsure & (_ways_round(problem, rest, unsure, self.odd) >= limit * lengths)
            if not odd.any():
                break
            false |= odd
        return false


def _leaps(graph: Graph) -> BoolArray:
    """(m,) whether an arc leads farther than its length suggests; yes, if places are unknown."""
    if graph.positions is None:
        return np.ones(graph.num_arcs, bool)
    apart = graph.positions[graph.tails] - graph.positions[graph.indices]
    pace = np.sqrt((apart**2).sum(axis=1)) / graph.lengths
    leaps: BoolArray = pace >= LEAP * np.median(pace)
    return leaps


def _ways_round(
    problem: MendProblem, rest: FloatArray, which: BoolArray, reach: float
) -> FloatArray:
    """(m,) ways round some arcs on the graph of lengths `rest`, at most `reach` times their own."""
    graph = problem.graph
    wanted = which if graph.directed else which & (graph.tails < graph.indices)
    arcs: IntArray = np.flatnonzero(wanted)
    around = np.zeros(graph.num_arcs)
    ahead = Arcs(graph.indptr, graph.indices, rest)
    limits = reach * graph.lengths[arcs]
    around[arcs] = detours(ahead, problem.arcs_to(rest), graph.tails, arcs, limits)
    if not graph.directed:
        around[problem.into[arcs]] = around[arcs]
    return around


def _joined(graph: Graph, arcs: BoolArray) -> BoolArray:
    """(m,) whether the ends of every arc are strongly connected by the given ones."""
    n = graph.num_vertices
    ends = (graph.tails[arcs], graph.indices[arcs])
    kept = sparse.csr_array((np.ones(ends[0].size), ends), shape=(n, n))
    _, part = connected_components(kept, connection="strong")
    joined: BoolArray = part[graph.tails] == part[graph.indices]
    return joined


def _farthest(problem: MendProblem, rest: FloatArray) -> float:
    """Return a length that no shortest way through the first goal's component affords."""
    graph, goal = problem.graph, problem.goals[:1]
    reach = 0.0
    for arcs in (Arcs(graph.indptr, graph.indices, rest), problem.arcs_to(rest)):
        distance, _ = dijkstra(arcs, goal, np.zeros(1), 1.0)
        reach += float(distance[np.isfinite(distance)].max())
    return reach
