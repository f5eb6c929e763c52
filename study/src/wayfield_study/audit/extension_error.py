"""How far an AMLE is from the truth, and the two bounds on it.

Let Y be the labels, off by at most ε_lab from the true cost-to-go V* on the labelled set Γ, u their
AMLE, w the AMLE of V* itself on Γ, and h(x) the distance from x to the nearest label.

**Lemma (AMLE local extension error; lem:3.6.X.1).** At every vertex x

    |u(x) - V*(x)|  ≤  ε_lab + η(x)  ≤  ε_lab + 2 L h(x),      η(x) = |w(x) - V*(x)|,

L = 1 being the Lipschitz constant of V*. The first step is the comparison principle: u moves by no
more than its labels do, so |u - w| ≤ ε_lab. The second: w keeps the labels' Lipschitz constant, so
w and V*, which agree at the nearest label, part by at most L h(x) each on the way to x. The paper
states the lemma for the largest values over a set A, and on unit lengths; it holds vertex by vertex
and on any lengths.

The first bound needs the truth. The second needs none: `Certificate.by_distance` has it, for
directed graphs and other methods too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from wayfield._arrays import frozen
from wayfield.errors import InputError
from wayfield.extension import AMLE, Extension, extend
from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray
from wayfield.labels import Labels, check_labels, check_takes, label_distance
from wayfield.lifting import check_field

from ._inputs import check_truth


@dataclass(frozen=True, eq=False, repr=False)
class ExtensionError:
    """The error of a field vertex by vertex, and its bounds for the AMLE of the same labels.

    Attributes
    ----------
    error : (n,) float array
        |u - V*|.
    residual : (n,) float array
        η, the error that the AMLE of exact labels would have.
    distance : (n,) float array
        2 L h, twice the distance to the nearest label.
    label_error : float
        ε_lab as it is, the largest |Y - V*|; ``labels.error`` is what was claimed.
    """

    error: FloatArray
    residual: FloatArray
    distance: FloatArray
    label_error: float

    @property
    def bound(self) -> FloatArray:
        """(n,) floats: ε_lab + η, the lemma's first bound."""
        bound: FloatArray = self.label_error + self.residual
        return bound

    @property
    def distance_bound(self) -> FloatArray:
        """(n,) floats: ε_lab + 2 L h, the lemma's second bound."""
        bound: FloatArray = self.label_error + self.distance
        return bound

    def __repr__(self) -> str:
        worst = (self.error.max(), self.bound.max(), self.distance_bound.max())
        return "ExtensionError(at most {:.3g}; bounds {:.3g} and {:.3g})".format(*worst)


def extension_error(
    graph: Graph, labels: Labels, ext: Extension | ArrayLike, truth: ArrayLike, goal: int
) -> ExtensionError:
    """Compare a field with the truth, beside the lemma's two bounds on the AMLE's error.

    Lemma (AMLE local extension error). Undirected graphs; every component labelled, and the
    truth finite at the labels. The bounds are those of the exact AMLE: for another field the
    comparison shows how it fares against them.

    Parameters
    ----------
    graph : Graph
        Undirected state graph.
    labels : Labels
        What was extended.
    ext : Extension or (n,) array
        The field u; it takes the labels' values.
    truth : (n,) array
        The cost-to-go V*; checked by the Bellman identity.
    goal : int
        Where plans lead.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(6), range(1, 7))
    >>> labels = wf.Labels([0, 4], [0.0, 4.5])
    >>> ext = wf.extend(path, labels, wf.AMLE())
    >>> found = extension_error(path, labels, ext, wf.cost_to_go(path, 0), goal=0)
    >>> found
    ExtensionError(at most 1.5; bounds 2.5 and 4.5)
    >>> found.error
    array([0.   , 0.125, 0.25 , 0.375, 0.5  , 0.5  , 1.5  ])
    """
    values, cost = check_field(graph, ext), check_truth(graph, truth, goal)
    if graph.directed:
        raise InputError("the AMLE's extension error is bounded on undirected graphs only")
    check_takes(values, check_labels(labels, graph))
    known = cost[labels.vertices]
    if not np.isfinite(known).all():
        vertex = int(labels.vertices[np.argmin(np.isfinite(known))])
        raise InputError(f"vertex {vertex} is labelled, but the goal {goal} is out of its reach")
    reachable = np.isfinite(cost)
    exact = extend(graph, Labels(labels.vertices, known), AMLE(), unreachable="nan").values
    return ExtensionError(
        error=_distance(values, cost, reachable),
        residual=_distance(exact, cost, reachable),
        distance=frozen(np.where(reachable, 2.0 * label_distance(graph, labels), 0.0)),
        label_error=float(np.abs(labels.values - known).max()),
    )


def _distance(field: FloatArray, truth: FloatArray, reachable: np.ndarray) -> FloatArray:
    """|field - truth| where the goal can be reached, 0 elsewhere: there is no truth to miss."""
    off = np.zeros(truth.size)
    np.subtract(field, truth, out=off, where=reachable)
    return frozen(np.abs(off))
