"""No shortcuts: every arc without a short detour is taken for false.

In a world with coordinates an arc between neighbours has a short detour: that of a grid's edge has
three edges. An arc whose detour is many times its own length, between states that merely look alike
or from a broken record, is a shortcut. This method assumes that no such arc exists. It reads the
graph alone and no cost. So it is a *hypothesis*, for model selection on held-out trips (`Best`):
roads have real bridges.

**Peeling.** A false arc can be part of the detour of another one. So arcs whose detour is `odd`
times their own length or more are taken out, detours are computed anew without them, and so on
until nothing is odd. Two kinds of odd arcs are kept all the same: those without which the graph
would fall apart, so that an arc is false only if its ends are strongly connected without all that
was taken out; and, where vertices have positions, those that are no longer than they should be for
the distance of their ends, as a bridge or a road with few side streets is.

**Lengths.** A false arc is given the length of its detour, or, where that is beyond `FAR` times its
own, one that no shortest path affords: the sum of the greatest distances to and from the first
goal.

**Cost.** A bounded search per arc, which ends in a ball of a few vertices, once per peel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .._arrays import as_real
from ..kernels._types import BoolArray, FloatArray
from ..kernels.csr import Arcs
from ..kernels.detour import detours
from ..kernels.shortest import dijkstra
from ._base import Fit, MendMethod, MendProblem
from .least_change import FAR

LEAP = 3.0
"""How many times farther than usual for its length an arc leads that positions do not excuse."""

PEELS = 10
"""How often detours are computed anew, at most."""


@dataclass(frozen=True)
class NoShortcuts(MendMethod):
    """Make arcs as costly as their detours, if these are many times as long.

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
    Mended(1 of 17 edges costlier, by 5 in all)
    """

    reads_costs = False

    odd: float = 4.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "odd", as_real(self.odd, "odd", least=1.0, most=FAR))

    @property
    def name(self) -> str:
        """What the method is called among candidates."""
        return "no shortcuts"

    def fit(self, problem: MendProblem) -> Fit:
        """Lengthen the shortcuts. ``details``: "shortcuts", how many arcs there were."""
        graph, own = problem.graph, problem.graph.lengths
        # 1. an arc leaps if it leads farther than its length suggests; all do without positions
        leaps = np.ones(graph.num_arcs, bool)
        if graph.positions is not None:
            apart = graph.positions[graph.tails] - graph.positions[graph.indices]
            pace = np.sqrt((apart**2).sum(axis=1)) / own
            leaps = pace >= LEAP * np.median(pace)
        # 2. of the arcs that leap, those that are odd, or are once others that are odd have gone
        false = np.zeros(own.size, bool)
        limit = self.odd * (1.0 - 1e-9)
        for _ in range(PEELS):
            unsure = leaps & ~false
            around = _detours(problem, np.where(false, np.inf, own), unsure, self.odd)
            odd = unsure & (around >= limit * own)
            if not odd.any():
                break
            false |= odd
        # 3. those whose ends are strongly connected without all of them
        n = graph.num_vertices
        ends = graph.tails[~false], graph.indices[~false]
        kept = sparse.csr_array((np.ones(ends[0].size), ends), shape=(n, n))
        _, part = connected_components(kept, connection="strong")
        false &= part[graph.tails] == part[graph.indices]
        details = {"shortcuts": int(false.sum())}
        if not false.any():
            return Fit(own, details=details)
        # 4. as long as their detours, or longer than any path through the first goal's component
        rest = np.where(false, np.inf, own)
        lengths = np.where(false, _detours(problem, rest, false, FAR), own)
        farthest = 0.0
        for arcs in (Arcs(graph.indptr, graph.indices, rest), problem.arcs_to(rest)):
            distance, _ = dijkstra(arcs, problem.goals[:1], np.zeros(1), 1.0)
            farthest += float(distance[np.isfinite(distance)].max())
        unmet = false & (lengths >= FAR * own)
        lengths[unmet] = np.maximum(lengths[unmet], farthest)
        return Fit(lengths, details=details)


def _detours(problem: MendProblem, rest: FloatArray, which: BoolArray, reach: float) -> FloatArray:
    """(m,) detours of some arcs on the graph of lengths `rest`, at most `reach` times their own."""
    graph = problem.graph
    wanted = which if graph.directed else which & (graph.tails < graph.indices)
    arcs = np.flatnonzero(wanted)
    around = np.zeros(graph.num_arcs)
    ahead = Arcs(graph.indptr, graph.indices, rest)
    limits = reach * graph.lengths[arcs]
    around[arcs] = detours(ahead, problem.arcs_to(rest), graph.tails, arcs, limits)
    if not graph.directed:
        around[problem.into[arcs]] = around[arcs]
    return around
