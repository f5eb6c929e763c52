"""No shortcuts: treat every arc without a short detour as false.

In a world with coordinates, an arc between neighbours has a short detour: three edges, on a grid. A
*shortcut* is an arc with a detour of many times its own length. It may join states that merely look
alike, or come from a broken record. This method assumes that no such arc exists. It reads the graph
alone and no cost, so it is a *hypothesis*: real roads have bridges. Model selection tests it on
held-out trips (`Best`).

**Peeling.** A false arc can be part of the detour of another one. So arcs with a detour of at least
`odd` times their length are removed, detours are computed anew without them, and so on until no
odd arc is left. Two kinds of odd arcs are kept. (a) Arcs that hold the graph together: an arc is
false only if its ends are strongly connected without all removed arcs. (b) If vertices have
positions, arcs of ordinary length for the distance of their ends, such as a bridge or a road with
few side streets.

**Lengths.** A false arc gets the length of its detour. If the detour is beyond `FAR` times its own
length, it gets one that no shortest path uses: the sum of the greatest distances to and from the
first goal.

**Cost.** A bounded search per arc and peel, over a ball of a few vertices.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..checks import as_real
from ..numerics.csr import Arcs
from ..numerics.shortest import dijkstra
from ..typing import BoolArray, FloatArray
from .base import Fit, MendMethod, MendProblem
from .least_change import FAR

LEAP = 3.0
"""Arcs that lead this many times farther than usual for their length are not kept by (b)."""

PEELS = 10
"""Largest number of peels."""


@dataclass(frozen=True)
class NoShortcuts(MendMethod):
    """Make arcs as costly as their detours, if these are many times as long.

    Parameters
    ----------
    odd : float
        Least ratio of detour to length at which an arc counts as a shortcut.

    Examples
    --------
    Two rows of six vertices, and an edge between their far ends that does not exist.

    >>> import wayfield as wf

    >>> from wayfield import travel
    >>> tails = [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, *range(6), 0]
    >>> heads = [1, 2, 3, 4, 5, 7, 8, 9, 10, 11, *range(6, 12), 11]
    >>> ladder = wf.Graph.from_edges(tails, heads)
    >>> labels = wf.Labels([0, 9, 11], [0.0, 4.0, 6.0])
    >>> travel.mend(ladder, labels, goal=0, method=travel.NoShortcuts())
    Mended(1 of 17 edges costlier, by 5 in all)
    """

    name = "no shortcuts"
    reads_costs = False

    odd: float = 4.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "odd", as_real(self.odd, "odd", least=1.0, most=FAR))

    def fit(self, problem: MendProblem) -> Fit:
        """Lengthen the shortcuts."""
        graph, own = problem.graph, problem.graph.lengths
        # 1. an arc leaps if it leads farther than its length suggests; without positions, all leap
        leaps = np.ones(graph.num_arcs, bool)
        if graph.positions is not None:
            apart = graph.positions[graph.tails] - graph.positions[graph.indices]
            pace = np.sqrt((apart**2).sum(axis=1)) / own
            leaps = pace >= LEAP * np.median(pace)
        # 2. leaping arcs that are odd, or become odd once other odd arcs are removed
        false = np.zeros(own.size, bool)
        limit = self.odd * (1.0 - 1e-9)
        for _ in range(PEELS):
            unsure = leaps & ~false
            around = problem.detours(np.where(false, np.inf, own), unsure, self.odd)
            odd = unsure & (around >= limit * own)
            if not odd.any():
                break
            false |= odd
        # 3. of these, arcs with ends that are strongly connected without any of them
        n = graph.num_vertices
        ends = graph.tails[~false], graph.indices[~false]
        kept = sparse.csr_array((np.ones(ends[0].size), ends), shape=(n, n))
        _, part = connected_components(kept, connection="strong")
        false &= part[graph.tails] == part[graph.indices]
        return Fit(lengthened(problem, false) if false.any() else own)


def lengthened(problem: MendProblem, false: BoolArray) -> FloatArray:
    """Return the (m,) lengths if some arcs do not exist: they get the length of their detour.

    Beyond `FAR` times their own length, it is more than that of any path through the component of
    the first goal.
    """
    graph, own = problem.graph, problem.graph.lengths
    rest = np.where(false, np.inf, own)
    lengths = np.where(false, problem.detours(rest, false, FAR), own)
    farthest = 0.0
    for arcs in (Arcs(graph.indptr, graph.indices, rest), problem.arcs_to(rest)):
        distance, _ = dijkstra(arcs, problem.goals[:1], np.zeros(1), 1.0)
        farthest += float(distance[np.isfinite(distance)].max())
    unmet = false & (lengths >= FAR * own)
    lengths[unmet] = np.maximum(lengths[unmet], farthest)
    return lengths
