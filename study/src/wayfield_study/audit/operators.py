"""Which operator the true cost-to-go satisfies where: the geometry behind the mechanism audit.

On an undirected graph let the slopes of V* at x be (V*(y) - V*(x)) / ℓ over the neighbours y. All
lie in [-1, 1], since |V*(y) - V*(x)| ≤ ℓ. x is *geodesically extendable away from the goal* if one
is +1: some shortest path to the goal runs through x.

**Proposition (distance is graph-AMLE on the extendable interior; prop:3.7).** At x ≠ goal the
smallest slope is -1 (Bellman), so V* satisfies the AMLE's equation there, largest slope = minus
the smallest, if and only if x is extendable. This is true of any lengths; on unit ones the equation
is the midrange identity V*(x) = (min + max) / 2.

**Corollary (harmonic residual of the shortest-path distance; cor:harmonic-residual).** On unit
lengths slopes are +1, 0 or -1, n₊, n₀ and n₋ of them, and the averaging residual is

    Σ V*(y) / deg - V*(x) = (n₊ - n₋) / deg:

V* is harmonic at x if and only if n₊ = n₋. Since n₋ ≥ 1 at x ≠ goal, n₊ = n₋ makes x extendable:
nowhere is V* harmonic and not AMLE. On other lengths slopes lie in between as well, the identity
is lost, and `HARMONIC` alone does occur: slopes -1, 1/2 and 1/2. The residual is then the weighted
one, Σ slope / Σ (1 / ℓ), of the harmonic extension with conductances 1 / ℓ.

A decision at x looks at x and its neighbours, its *scope*. Over the scope an equation holds if it
does at each of these states: `over_scope`. A walk's last step is never compatible with either, for
its scope holds the goal.

The goal has slopes +1 alone: it satisfies neither equation. Where an arc is too short to show in
the digits of V* (see ``_inputs``) its slope cannot be read, and the state has no class.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield._arrays import as_vertex, frozen
from wayfield.errors import InputError
from wayfield.graph import Graph, check_graph
from wayfield.kernels._types import BoolArray, FloatArray

from ..kernels.decisions import operator_residuals
from ._inputs import blurred, check_truth, rounding


class Compatible(IntEnum):
    """Which equations the true cost-to-go satisfies at a state."""

    BLURRED = -2
    """Not known: an arc is too short to show in the digits of V*; never on unit lengths."""
    UNREACHABLE = -1
    """None to ask: the goal cannot be reached."""
    NEITHER = 0
    """Neither the AMLE's nor the harmonic one."""
    AMLE = 1
    """The AMLE's alone: the paper's primary geometry."""
    HARMONIC = 2
    """The harmonic one alone; never on unit lengths."""
    BOTH = 3
    """Both."""


@dataclass(frozen=True, eq=False, repr=False)
class Geometry:
    """How the true cost-to-go sits among its neighbours' values.

    Attributes
    ----------
    n_plus, n_zero, n_minus : (n,) int64 arrays
        Neighbours with V*(y) - V*(x) = ℓ, strictly between, and -ℓ; 0 where there is no class.
    midrange_residual : (n,) float array
        Half the sum of the largest and the smallest slope; on unit lengths (min + max) / 2 - V*.
        NaN where there is no class, and at a goal without neighbours.
    averaging_residual : (n,) float array
        Σ slope / Σ (1 / ℓ); on unit lengths mean - V*, which is (n₊ - n₋) / deg. NaN likewise.
    code : (n,) int64 array
        A `Compatible` for every state.
    """

    n_plus: NDArray[np.int64]
    n_zero: NDArray[np.int64]
    n_minus: NDArray[np.int64]
    midrange_residual: FloatArray
    averaging_residual: FloatArray
    code: NDArray[np.int64]

    @property
    def known(self) -> BoolArray:
        """(n,) bool: whether the state has a class."""
        known: BoolArray = self.code >= Compatible.NEITHER
        return known

    @property
    def extendable(self) -> BoolArray:
        """(n,) bool: whether a shortest path to the goal runs through here, or ends here."""
        extendable: BoolArray = self.n_plus > 0
        return extendable

    @property
    def primary(self) -> BoolArray:
        """(n,) bool: AMLE-compatible and harmonic-incompatible."""
        primary: BoolArray = self.code == Compatible.AMLE
        return primary

    def __repr__(self) -> str:
        known = self.code[self.known]
        kinds = (Compatible.BOTH, Compatible.AMLE, Compatible.NEITHER)
        both, primary, neither = ((known == kind).mean() for kind in kinds)
        return (
            f"Geometry({known.size:,} states: {both:.1%} both compatible, {primary:.1%} AMLE only, "
            f"{neither:.1%} neither)"
        )


def check_undirected(graph: Graph) -> None:
    """Refuse a directed graph."""
    if check_graph(graph).directed:
        raise InputError(
            "the operators compared here are those of undirected graphs: the harmonic extension "
            "has no directed form"
        )


def geometry(graph: Graph, truth: ArrayLike, goal: int) -> Geometry:
    """Class every state by the equations the true cost-to-go satisfies there.

    Proposition (distance is graph-AMLE on the extendable interior), Corollary (harmonic residual
    of the shortest-path distance). Undirected graphs of any lengths; the corollary's counting is
    for unit ones.

    Examples
    --------
    >>> import wayfield as wf
    >>> comb = wf.Graph.from_edges([0, 1, 2, 1], [1, 2, 3, 4])
    >>> shape = geometry(comb, wf.cost_to_go(comb, 0), goal=0)
    >>> shape
    Geometry(5 states: 20.0% both compatible, 20.0% AMLE only, 60.0% neither)
    >>> shape.n_plus - shape.n_minus, shape.primary
    (array([ 1,  1,  0, -1, -1]), array([False,  True, False, False, False]))
    """
    check_undirected(graph)
    goal = as_vertex(goal, "goal", graph.num_vertices)
    return classify(graph, check_truth(graph, truth, goal), goal)


def classify(graph: Graph, truth: FloatArray, goal: int) -> Geometry:
    """Class every state of an undirected graph; nothing is checked."""
    reachable, unclear = np.isfinite(truth), blurred(graph, truth)
    known = reachable & ~unclear
    residuals = operator_residuals(graph.arcs, truth, known, rounding(graph))
    signs, midrange, average, balanced = residuals
    amle = signs[:, 0] > 0
    amle[goal] = False
    code = Compatible.AMLE * amle + Compatible.HARMONIC * balanced
    code[unclear] = Compatible.BLURRED
    code[~reachable] = Compatible.UNREACHABLE
    return Geometry(
        n_plus=frozen(signs[:, 0]),
        n_zero=frozen(signs[:, 1]),
        n_minus=frozen(signs[:, 2]),
        midrange_residual=frozen(midrange),
        averaging_residual=frozen(average),
        code=frozen(code),
    )


def over_scope(graph: Graph, code: NDArray[np.int64]) -> NDArray[np.int64]:
    """Class every state by the equations that hold at it and at all of its neighbours.

    Parameters
    ----------
    graph : Graph
        Undirected.
    code : (n,) int64 array
        A `Compatible` for every state.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> shape = geometry(path, wf.cost_to_go(path, 0), goal=0)
    >>> shape.code, over_scope(path, shape.code)
    (array([0, 3, 3, 3, 0]), array([0, 0, 3, 0, 0]))
    """
    # the two equations are the two bits of a class, and what is not known has a sign of its own
    scope = code.copy()
    np.bitwise_and.at(scope, graph.tails, np.maximum(code, 0)[graph.indices])
    np.minimum.at(scope, graph.tails, np.where(code < 0, code, Compatible.BOTH)[graph.indices])
    return np.where(code < 0, code, scope)
