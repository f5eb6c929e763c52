"""Derivatives of an extension by its labels and by the lengths of the graph.

With u the field, c a cotangent (n,), y the labels and ℓ the lengths, `pullback` returns the
gradient of c · u by y and by ℓ; `influence` is the case c = 1 at one vertex. The extensions that
have derivatives are monotone in the labels and preserve constants, so that the weights of a vertex
are nonnegative and sum to 1.

A method that has derivatives is `Differentiable`: it returns the derivative at a field (or at a
small step from it, where the field has a kink), ready to be applied to cotangents. See `amle.tape`
for the AMLE and `adjoint` for the harmonic and the p-Laplacian extension.

References: Griewank and Walther, *Evaluating Derivatives*, 2008, for tapes, adjoints and one-sided
derivatives; Clarke, *Optimization and Nonsmooth Analysis*, 1983.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..checks import LARGEST, as_finite, refuse
from ..errors import InputError
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..numerics.csr import reverse_slots
from ..typing import FloatArray, IntArray
from .base import Problem, Solution, Status, describe

if TYPE_CHECKING:
    from .extension import Extension

STEPS = (2.0**-26, 2.0**-33)
"""Steps towards a direction, as shares of the label range."""
VALUE_ERROR = 2.0**-48
"""Values are taken to be accurate to this share of the largest."""


class Influence(NamedTuple):
    """The labels that a value rests on, and their weights, the heaviest first."""

    vertices: IntArray
    """(j,) labelled vertices."""
    weights: FloatArray
    """(j,) their weights: the derivative of the value by each label."""


class Gradient(NamedTuple):
    """The derivative of a number with respect to the labels and the lengths of the graph."""

    labels: FloatArray
    """(k,) in the order of ``labels.vertices``."""
    lengths: FloatArray
    """(m,) in the order of ``graph.lengths``. Of an undirected edge each arc has one half, so that
    ``lengths @ change`` is right for a change that is the same both ways."""


class Linearised(Protocol):
    """The derivative of a field, ready to be applied to cotangents."""

    def pull(self, cotangent: FloatArray) -> Gradient:
        """Return the gradient of cotangent · field."""
        ...


@runtime_checkable
class Differentiable(Protocol):
    """A method that has derivatives."""

    def linearised(self, problem: Problem, at: Solution, toward: FloatArray | None) -> Linearised:
        """Return the derivative at a solution; at a kink, or if asked, the one in a direction."""
        ...


def generic_direction(labels: Labels) -> FloatArray:
    """Return a direction that no tie survives: the labels move at random, always the same."""
    return np.random.default_rng(0).standard_normal(len(labels))


def moved(problem: Problem, rates: FloatArray, share: float) -> tuple[Problem, FloatArray]:
    """Return the problem after a step of the labels along these rates, and the changes made.

    No label moves by more than this share of their range. Each component has a step of its own:
    they may differ by many orders.
    """
    graph, labels = problem.graph, problem.labels
    least, largest = (np.broadcast_to(of, problem.boundary.size) for of in problem.label_range)
    span, size = largest - least, component_max(graph, problem.boundary)
    size = np.where(span > 0.0, span, size)[labels.vertices]
    pace = np.zeros(graph.num_vertices)
    pace[labels.vertices] = np.abs(rates) / np.where(size > 0.0, size, 1.0)
    pace = component_max(graph, pace)
    factor = share / np.where(pace > 0.0, pace, 1.0)
    values = labels.values + factor[labels.vertices] * rates
    return problem.relabelled(Labels(labels.vertices, values)), values - labels.values


def component_max(graph: Graph, numbers: FloatArray) -> FloatArray:
    """Return the largest finite |number| in the component of each vertex."""
    found = np.zeros(graph.num_vertices)  # by component
    np.maximum.at(found, graph.components, np.where(np.isfinite(numbers), np.abs(numbers), 0.0))
    return found[graph.components]


def both_ways(graph: Graph, by_length: FloatArray) -> FloatArray:
    """Return a gradient by arcs with the two arcs of an undirected edge made alike."""
    if graph.directed:
        return by_length
    return 0.5 * (by_length + by_length[reverse_slots(graph.arcs)])


def derivative(
    field: Extension, kept: dict[bytes, Linearised], toward: ArrayLike | None
) -> Linearised:
    """Return the derivative of a field, the `kept` one if it is that; else keep it.

    Raises `InputError` if the field has none.
    """
    graph, labels, method = field.graph, field.labels, field.method
    if graph is None or labels is None:
        raise InputError("a field built by hand has no derivative: extend labels to get one")
    if not isinstance(method, Differentiable):
        name = describe(method)
        raise InputError(f"derivatives are for AMLE, Harmonic and PLaplacian fields, got {name}")
    if field.status in (Status.STALLED, Status.BUDGET):
        raise InputError(f"a field that did not converge has no derivative: {field.status}")
    direction, key = None, b""
    if toward is not None:
        direction = as_finite(toward, "toward", len(labels))
        if not direction.any():
            raise InputError("toward must not be 0 everywhere: it is a direction")
        key = direction.tobytes()
    if key not in kept:
        problem, base = field.problem(), field.values.copy()
        if field.prior is not None:
            # where the prior is inf so is the field, but the correction is a number
            with np.errstate(invalid="ignore"):  # inf − inf
                hidden = np.isinf(field.prior)
                base = method.solve(problem).values if hidden.any() else base - field.prior
        solved = Solution(base, field.status, field.lower, field.upper, fixing=field.fixing)
        kept.clear()
        kept[key] = method.linearised(problem, solved, direction)
    return kept[key]


def checked_cotangent(field: Extension, cotangent: ArrayLike) -> FloatArray:
    """Return a cotangent as finite floats that are 0 where the field is not finite."""
    checked = as_finite(cotangent, "cotangent", field.values.size)
    refuse(np.abs(checked) > LARGEST, checked, "cotangent", f"is beyond {LARGEST:g}")
    bad = (checked != 0.0) & ~np.isfinite(field.values)
    refuse(bad, checked, "cotangent", "must be 0: the field has no finite value there")
    return checked
