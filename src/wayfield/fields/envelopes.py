"""Extensions that use only labels and distances: nearest label and Lipschitz envelopes.

Equations, with ``Y(z)`` the label of ``z`` and ``d`` the shortest-path distance::

    nearest label   u(x) = Y(z), z the label nearest to x
    McShane         u(x) = min over labels z of  Y(z) + L d(x, z)
    Whitney         u(x) = max over labels z of  Y(z) - L d(x, z)

One Dijkstra pass each, so there is no stopping rule. Guarantee: if the labels are L-Lipschitz,
both envelopes take the labels' values and are L-Lipschitz, and every L-Lipschitz function with
these values, the AMLE among them, lies between the two.

**The McShane envelope is no fair baseline.** With the goal labelled 0, exact labels, exact lengths
and ``L = 1`` it *is* the true cost-to-go: the goal's own term is the distance to the goal. It uses
the cost of every transition; the other extensions do not.

The labels' own Lipschitz constant, ``max (Y(z) - Y(w)) / d(z, w)`` over pairs in one component, is
the root of ``G(L) = max over z of Y(z) - min over w of (Y(w) + L d(z, w))``, which is convex and
decreasing. Newton's (here Dinkelbach's) iteration climbs to it through slopes of pairs of labels,
from below and strictly, and stops when no pair is violated by more than rounding: at most
``n · eps · max |Y|``, since a shortest path has fewer than n arcs.

References
----------
.. [1] E. J. McShane, "Extension of range of functions", Bulletin of the AMS 40 (1934).
.. [2] H. Whitney, "Analytic extensions of differentiable functions defined in closed sets",
   Transactions of the AMS 36 (1934).
.. [3] W. Dinkelbach, "On nonlinear fractional programming", Management Science 13 (1967).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..checks import LARGEST, as_real
from ..errors import InputError
from ..graphs.graph import Graph
from ..graphs.labels import Labels, nearest_label
from ..numerics.shortest import dijkstra
from .base import Problem, Solution, Status


@dataclass(frozen=True)
class NearestLabel:
    """The value of the nearest label; of equally near ones, that of the lowest index.

    If the labels are the true costs of a connected graph, up to a common factor and the goal's
    among them, the plan of the default rule (slope, exit ties) reaches the goal from every start:
    the reach theorem of the nearest label, with its proof in ``docs/proofs-of-plans.md``. It holds
    for any lengths whose sums are exact; for others pass `plan` a ``tie_tolerance``. It does not
    hold for ``rule="q"`` on other than unit lengths, nor for index ties.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> field = wf.extend(path, wf.Labels([0, 4], [4.0, 0.0]), wf.NearestLabel())
    >>> field.values
    array([4., 4., 4., 0., 0.])
    >>> wf.plan(path, field, goal=4), wf.plan(path, field, goal=4, ties="index")
    (Plan(5 starts: 100 % reach the goal, 0 cycles), Plan(5 starts: 50 % reach the goal, 1 cycle))
    """

    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Copy every label over its Voronoi cell."""
        _, nearest = nearest_label(problem.graph, problem.labels)
        values = np.where(problem.orphaned, np.nan, problem.boundary[nearest])
        return Solution(values, Status.CONVERGED, residual=0.0)


@dataclass(frozen=True)
class _Envelope:
    """The least of the labels' upward cones of slope L, or the largest of their downward cones."""

    lipschitz: float | None = 1.0
    directed: ClassVar[bool] = False
    sign: ClassVar[float]
    """1 for upward cones, -1 for downward cones."""

    def __post_init__(self) -> None:
        if self.lipschitz is not None:
            as_real(self.lipschitz, "lipschitz", least=0.0, most=LARGEST)

    def correcting(self) -> Self:
        """Return the method for corrections to a prior, which obey no slope known beforehand."""
        return replace(self, lipschitz=None)

    def solve(self, problem: Problem) -> Solution:
        """Return the least upward or the largest downward cone at every vertex."""
        graph, labels, lipschitz, sign = problem.graph, problem.labels, self.lipschitz, self.sign
        passes = 1
        if lipschitz is None:
            lipschitz, searches = lipschitz_constant(graph, labels)
            passes += searches
        slope, heights = float(lipschitz), sign * labels.values
        values, origin = dijkstra(graph.arcs, labels.vertices, heights, slope)
        values = sign * values + 0.0  # never -0.0
        excess = sign * (labels.values - values[labels.vertices])
        worst = int(np.argmax(excess))
        if excess[worst] > _rounding(graph, labels):
            z, w = labels.vertices[worst], origin[labels.vertices[worst]]
            raise InputError(
                f"labels must be {lipschitz:g}-Lipschitz, got {labels.values[worst]} at vertex "
                f"{z}, {excess[worst]:g} too far from the label {problem.boundary[w]} of vertex "
                f"{w}; lipschitz=None uses the labels' own constant"
            )
        values[labels.vertices] = labels.values
        values[problem.orphaned] = np.nan
        details = {"lipschitz": lipschitz}
        residual = excess[worst]
        return Solution(
            values, Status.CONVERGED, residual=residual, iterations=passes, details=details
        )


class McShane(_Envelope):
    """The largest extension with Lipschitz constant L; no fair baseline for cost-to-go.

    With exact labels, the goal's 0 among them, and ``lipschitz=1.0`` it is the true cost-to-go.

    Parameters
    ----------
    lipschitz : float or None
        The constant L. None: the labels' own, the least that they allow; ``details`` of the
        extension holds it. Labels that are not L-Lipschitz raise `InputError`.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> ends = wf.Labels([0, 4], [0.0, 2.0])
    >>> wf.extend(path, ends, wf.McShane()).values
    array([0., 1., 2., 3., 2.])
    >>> wf.extend(path, ends, wf.McShane(lipschitz=None)).values
    array([0. , 0.5, 1. , 1.5, 2. ])
    """

    sign = 1.0


class Whitney(_Envelope):
    """The least extension with Lipschitz constant L; see `McShane`, its mirror image.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> wf.extend(path, wf.Labels([0, 4], [0.0, 2.0]), wf.Whitney()).values
    array([ 0., -1.,  0.,  1.,  2.])
    """

    sign = -1.0


def lipschitz_constant(graph: Graph, labels: Labels) -> tuple[float, int]:
    """Return the steepest slope between two labels of an undirected graph, and the passes used."""
    sources, heights = labels.vertices, labels.values
    height = np.zeros(graph.num_vertices)
    height[sources] = heights
    # start with labels that have adjacent Voronoi cells: 0 only if no two labels differ
    distance, nearest = nearest_label(graph, labels)
    tails: NDArray[np.int64] = graph.tails
    between = (nearest[tails] != nearest[graph.indices]) & (nearest[tails] >= 0)
    tail, head = tails[between], graph.indices[between]
    length = distance[tail] + graph.lengths[between] + distance[head]
    rise = height[nearest[head]] - height[nearest[tail]]
    constant, passes = float((rise / length).max(initial=0.0)), 1
    while constant > 0.0:
        envelope, origin = dijkstra(graph.arcs, sources, heights, constant)
        passes += 1
        excess = heights - envelope[sources]
        worst = int(np.argmax(excess))
        if excess[worst] <= _rounding(graph, labels):
            break
        z = sources[worst]
        distance, _ = dijkstra(graph.arcs, sources[worst : worst + 1], np.zeros(1), 1.0)
        passes += 1
        steeper = (height[z] - height[origin[z]]) / distance[origin[z]]
        if steeper <= constant:
            break
        constant = float(steeper)
    return constant, passes


def _rounding(graph: Graph, labels: Labels) -> float:
    """Return a bound on the rounding of ``Y + L d`` along a shortest path to another label."""
    eps = float(np.finfo(np.float64).eps)
    return graph.num_vertices * eps * float(np.abs(labels.values).max())
