"""Strict interior extrema of a field, and what its midrange residual says about their depth.

**Lemma (maximum principle: no strict interior extrema).** A harmonic, p-harmonic or AMLE field has
no unlabelled vertex below, or above, all of its neighbours: there every difference would have one
sign, and so would their weighted sum, or the step to the midrange.

**Lemma (residual–margin bound).** Let T u(x) be the value at which the steepest slopes from x up
and down agree, (min + max)/2 on unit lengths. If |T u − u| ≤ δ at every unlabelled vertex, strict
interior minima are at most δ deep. For T u(x) lies between the least and the largest neighbour, on
*any* lengths; at a minimum of depth γ it is therefore at least u(x) + γ. Likewise for maxima.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield._arrays import frozen
from wayfield.errors import InputError
from wayfield.extension import Extension
from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.labels import Labels, check_labels
from wayfield.lifting import check_field

from ..kernels.extrema import midrange_residuals, neighbour_range
from ._inputs import EPS


@dataclass(frozen=True, eq=False, repr=False)
class Extrema:
    """Unlabelled vertices below (or above) all of their neighbours, and by how much.

    Attributes
    ----------
    vertices : (k,) int64 array
        Ascending.
    depth : (k,) float array
        γ, the distance to the nearest value among the neighbours.
    proven : (k,) bool array
        Whether the bracket leaves no doubt: it is an extremum of the exact field too. False
        where there is no bracket.
    """

    vertices: NDArray[np.int64]
    depth: FloatArray
    proven: BoolArray

    @property
    def deepest(self) -> float:
        """Largest depth; 0 if there are none."""
        return float(self.depth.max(initial=0.0))

    def __len__(self) -> int:
        return self.vertices.size

    def __repr__(self) -> str:
        return f"Extrema({len(self):,}, {self.proven.sum():,} proven, depth up to {self.deepest:g})"


def strict_extrema(
    graph: Graph, labels: Labels, ext: Extension | ArrayLike
) -> tuple[Extrema, Extrema]:
    """Strict interior minima and maxima of a field (Lemma, no strict interior extrema).

    A vertex is compared with the heads of its arcs; infinite values take no part. Exact
    harmonic, p-harmonic and AMLE fields of undirected graphs have none, the AMLE with flat fill
    and all of them without a prior: what there is in doubles is rounding, and never `proven`.
    Cost fill raises the far end of a filled region above its neighbours.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> minima, maxima = strict_extrema(path, Labels([0, 4], [0, 3]), [0.0, 2.0, 1.5, 2.0, 3.0])
    >>> minima.vertices, minima.depth
    (array([2]), array([0.5]))
    >>> maxima.vertices, maxima.depth
    (array([1]), array([0.5]))
    """
    values = check_field(graph, ext)
    free = ~check_labels(labels, graph).mask(graph) & np.isfinite(values)
    least, most = neighbour_range(graph.arcs, values, values)
    low = np.flatnonzero(free & (values < least) & (least < np.inf))
    high = np.flatnonzero(free & (values > most) & (most > -np.inf))
    proofs = np.zeros(low.size, dtype=bool), np.zeros(high.size, dtype=bool)
    if isinstance(ext, Extension) and ext.lower is not None and ext.upper is not None:
        below, above = neighbour_range(graph.arcs, ext.lower, ext.upper)
        proofs = ext.upper[low] < below[low], ext.lower[high] > above[high]
    depths = least[low] - values[low], values[high] - most[high]
    minima, maxima = (
        Extrema(*(frozen(array) for array in found))
        for found in zip((low, high), depths, proofs, strict=True)
    )
    return minima, maxima


@dataclass(frozen=True, eq=False, repr=False)
class ResidualMargin:
    """The midrange residual of a field, and the depth of its strict extrema.

    Attributes
    ----------
    residual : (n,) float array
        T u − u at the unlabelled vertices, 0 at labels and where there is no value.
    minima, maxima : Extrema
        The strict interior extrema.
    slack : float
        Rounding of a value and its update together.
    """

    residual: FloatArray
    minima: Extrema
    maxima: Extrema
    slack: float

    @property
    def delta(self) -> float:
        """δ, the largest residual in absolute value."""
        return float(np.abs(self.residual).max(initial=0.0))

    @property
    def holds(self) -> bool:
        """Whether no extremum is deeper than its own residual, let alone δ: the lemma."""
        return all(
            bool((found.depth <= sign * self.residual[found.vertices] + self.slack).all())
            for sign, found in ((1.0, self.minima), (-1.0, self.maxima))
        )

    def __repr__(self) -> str:
        deepest = max(self.minima.deepest, self.maxima.deepest)
        count = len(self.minima) + len(self.maxima)
        return f"ResidualMargin(delta {self.delta:g}, {count:,} extrema of depth up to {deepest:g})"


def residual_margin(graph: Graph, labels: Labels, ext: Extension | ArrayLike) -> ResidualMargin:
    """Depth of strict interior extrema against the midrange residual (Lemma, residual–margin).

    For any field on an undirected graph, of any lengths: a minimum of depth γ has a residual of
    at least γ, so a field swept until its residual is at most δ has none deeper than δ.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> rough = residual_margin(path, Labels([0, 4], [0, 3]), [0.0, 2.0, 1.5, 2.0, 3.0])
    >>> rough
    ResidualMargin(delta 1.25, 2 extrema of depth up to 0.5)
    >>> rough.holds
    True
    """
    values = check_field(graph, ext)
    if graph.directed:
        raise InputError("the midrange residual is not defined on directed graphs")
    known = np.isfinite(values)
    fixed = check_labels(labels, graph).mask(graph) | ~known | (graph.degrees == 0)
    residual = midrange_residuals(graph.arcs, fixed, graph.is_unit, values)
    slack = 8.0 * EPS * float(np.abs(values[known]).max(initial=0.0))
    return ResidualMargin(frozen(residual), *strict_extrema(graph, labels, ext), slack)
