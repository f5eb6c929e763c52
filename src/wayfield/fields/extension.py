"""`extend` and `Extension`, its result.

``extend(graph, labels, method)`` passes a validated Dirichlet problem to a method and returns an
`Extension`. Whether its result is good enough is decided here, once for all methods, by ``check``.
An extension is a record. Its proof and its derivatives are made from what the method put into it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from ..checks import KeepsReadOnly, as_flag, as_floats, as_vertex, frozen, owned, refuse
from ..errors import InputError, NotConverged
from ..graphs.graph import Graph, check_graph, same_graph
from ..graphs.labels import Labels
from ..numerics import proof_file
from ..typing import FloatArray
from ..words import number_of, short
from .base import (
    Method,
    MethodLike,
    Problem,
    Solution,
    Status,
    as_method,
    check_prior,
    correcting,
    describe,
    make_problem,
    solve_all,
    without_prior,
)
from .derivatives import Gradient, Influence, Linearised, checked_cotangent, derivative
from .proof import HasProof, field_sections

if TYPE_CHECKING:
    from .amle.kernels import Fixing

ROUNDING = 16
"""Units in the last place that a computed value at a label may be off: a few operations' worth."""


@dataclass(frozen=True, eq=False, repr=False)
class Extension(KeepsReadOnly):
    """A field on every vertex, and how good it is.

    Attributes
    ----------
    values : (n,) float array
        The field. NaN where no label is connected (``unreachable="nan"``); +inf on a directed graph
        where no label can be reached.
    lower, upper : (n,) float arrays or None
        Rigorous: ``lower <= exact <= upper`` at every vertex, in exact arithmetic for the given
        floating-point lengths and labels. None if the method has no bracket, or with
        ``bracket=False``.
    status : Status
        How the solve ended.
    residual : float
        Largest violation of the method's vertex equation by `values`, see the method. NaN if the
        method does not say.
    iterations : int
        Sweeps, Newton steps, or rounds or divide-and-conquer frames of the AMLE.
    seconds : float
        Wall-clock time of the solve.
    method : Method
        The method and its settings.
    details : mapping of str to float
        Further figures, named by the method.
    graph : Graph or None
        The graph it was computed on; None if it was built by hand.
    prior : (n,) float array or None
        The field that the labels corrected, see `extend`; None without a prior.
    labels : Labels or None
        The extended labels; None if it was built by hand.
    evidence : HasProof or None
        What the solver kept for the proof of its bracket; `write_proof` writes it.
    fixing : Fixing or None
        The order in which the AMLE fixed its values, for derivatives; not kept in a pickle.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> field = wf.extend(path, wf.Labels([0, 3], [0.0, 3.0]), wf.Harmonic())
    >>> bool((field.lower <= [0, 1, 2, 3]).all() and (field.upper >= [0, 1, 2, 3]).all())
    True
    >>> field.status.good, field.width < 1e-14
    (True, True)
    """

    values: FloatArray
    lower: FloatArray | None
    upper: FloatArray | None
    status: Status
    residual: float
    iterations: int
    seconds: float
    method: Method
    details: Mapping[str, float]
    graph: Graph | None = None
    prior: FloatArray | None = None
    labels: Labels | None = None
    evidence: HasProof | None = None
    fixing: Fixing | None = None

    def write_proof(
        self, path: str | os.PathLike[str], names: Collection[object] | bool = False
    ) -> Path:
        """Write the field, its bracket and their proof into one file, and return its path.

        ``python -m wayfield_verify FILE`` proves it again, in exact arithmetic and using nothing
        but the file. Format and proofs: the page "Proofs that travel".

        Parameters
        ----------
        path : path
            The file; an older one is replaced.
        names : bool or sequence of str, default False
            Names of the vertices to store: True for ``graph.names``, or one for each vertex. The
            checker shows them in its messages.

        Raises
        ------
        InputError
            If there is no proof: the method has no bracket, ``bracket=False`` was set, the bracket
            could not be verified, or the field was built by hand.

        Examples
        --------
        >>> import tempfile
        >>> import wayfield as wf
        >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> field = wf.extend(path, wf.Labels([0, 3], [0.0, 3.0]), wf.AMLE())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     field.write_proof(f"{folder}/field.proof").name
        'field.proof'
        """
        return proof_file.write(path, field_sections(self, names))

    def problem(self) -> Problem:
        """Return the problem that the method solved: with a prior, that of the corrections."""
        assert self.graph is not None
        assert self.labels is not None
        problem = Problem.of(self.graph, self.labels)
        return problem if self.prior is None else without_prior(problem, self.prior)

    def influence(self, vertex: int, *, toward: ArrayLike | None = None) -> Influence:
        """Return the labels that the value at a vertex rests on, and their weights.

        The weights are the derivative of the value by each label: nonnegative, and 1 in sum. Labels
        of a weight below 1e-12 are left out; the heaviest come first.

        Parameters
        ----------
        vertex : int
            A vertex with a finite value.
        toward : (k,) array, optional
            At a kink: the direction in which the labels move, see `pullback`.

        Examples
        --------
        >>> import wayfield as wf
        >>> star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3], lengths=[1.0, 1.0, 2.0])
        >>> labels = wf.Labels([1, 2, 3], [0.0, 1.0, 4.0])
        >>> wf.extend(star, labels, wf.AMLE()).influence(0)   # label 2 does not matter
        Influence(vertices=array([1, 3]), weights=array([0.66666667, 0.33333333]))
        >>> wf.extend(star, labels, wf.Harmonic()).influence(0)
        Influence(vertices=array([1, 2, 3]), weights=array([0.4, 0.4, 0.2]))
        """
        cotangent = np.zeros(self.values.size)
        cotangent[as_vertex(vertex, "vertex", self.values.size)] = 1.0
        weights = self.pullback(cotangent, toward=toward).labels
        assert self.labels is not None
        kept = np.flatnonzero(weights > 1e-12)
        kept = kept[np.argsort(-weights[kept], kind="stable")]
        return Influence(self.labels.vertices[kept], weights[kept])

    def pullback(
        self,
        cotangent: ArrayLike,
        *,
        toward: ArrayLike | None = None,
    ) -> Gradient:
        """Return the gradient of ``cotangent @ values`` by the labels and by the lengths.

        For `AMLE` (directed graphs too), `Harmonic` and `PLaplacian`. The first call takes at most
        the time of a solve, several at a kink of the AMLE. Further ones take a pass over the
        vertices (`AMLE`) or one solve of a factored system.

        Where labels tie, the AMLE has a kink, and so has the p-Laplacian extension of labels that
        are equal: the derivative depends on the side. Exact labels tie at most values. The result
        then belongs to a direction, by default a random one, always the same. ``toward=d`` chooses
        it: ``pullback(c, toward=d).labels @ d`` and ``pullback(c, toward=-d).labels @ d`` are the
        derivatives of ``c @ values`` to the right and to the left along d. Without a kink they are
        equal, and `toward` does not matter. Where paths of equal length tie, as on unit lengths,
        the gradient by the lengths is that of one of these paths.

        Parameters
        ----------
        cotangent : (n,) array
            The derivative of a loss by the values, for example. 0 where the field is not finite.
        toward : (k,) array, optional
            The direction in which the labels move.

        Raises
        ------
        InputError
            If there is no derivative: another method, a field that did not converge or was built by
            hand, or a value that is discontinuous.

        Examples
        --------
        >>> import wayfield as wf
        >>> path = wf.Graph.from_edges([0, 1], [1, 2], lengths=[1.0, 3.0])
        >>> field = wf.extend(path, wf.Labels([0, 2], [0.0, 8.0]), wf.AMLE())
        >>> gradient = field.pullback([0.0, 1.0, 0.0])        # of the value 2 at vertex 1
        >>> gradient.labels
        array([0.75, 0.25])
        >>> gradient.lengths          # by arcs: an edge has one half at each of its two
        array([ 0.75,  0.75, -0.25, -0.25])
        """
        checked = checked_cotangent(self, cotangent)
        return derivative(self, self._derivatives, toward).pull(checked)

    @cached_property
    def _derivatives(self) -> dict[bytes, Linearised]:
        """The latest derivative, by its direction."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        # factorisations cannot be pickled, and an order of fixing is found again
        return {each.name: getattr(self, each.name) for each in fields(self)} | {"fixing": None}

    @property
    def width(self) -> float:
        """Largest width of the bracket; inf if there is none."""
        if self.lower is None or self.upper is None:
            return np.inf
        known = np.isfinite(self.values)
        return float((self.upper[known] - self.lower[known]).max(initial=0.0))

    @cached_property
    def missed(self) -> FloatArray:
        """(k,) value less label at each label: 0 everywhere if the method interpolates.

        Differences up to `ROUNDING` units in the last place of the largest label are rounding,
        and count as 0.
        """
        if self.labels is None:
            return frozen(np.empty(0))
        given = self.labels.values
        missed = self.values[self.labels.vertices] - given
        rounding = ROUNDING * np.spacing(np.abs(given).max())
        return frozen(np.where(np.abs(missed) <= rounding, 0.0, missed))

    def __repr__(self) -> str:
        parts = [describe(self.method), f"{self.values.size:,} values", str(self.status)]
        if self.lower is not None:
            parts.append(f"bracket width {self.width:.1e}")
        elif self.status is not Status.NO_BRACKET:
            parts.append("no bracket")
        unreachable = int((~np.isfinite(self.values)).sum())
        if unreachable:
            parts.append(f"{unreachable:,} without a label in reach")
        if self.missed.any():
            parts.append(f"differs from {missed_text(self.missed)}")
        return f"Extension({', '.join(parts)})"


def missed_text(missed: FloatArray) -> str:
    """Return how many labels a field differs from, and by how much."""
    count, most = np.count_nonzero(missed), short(float(np.abs(missed).max()))
    return f"{count:,} of {number_of(missed.size, 'labels')}, by up to {most}"


def extend(
    graph: Graph,
    labels: Labels,
    method: MethodLike,
    *,
    prior: ArrayLike | None = None,
    unreachable: Literal["error", "nan"] = "error",
    check: bool = True,
) -> Extension:
    """Extend the labels over the whole graph.

    Parameters
    ----------
    graph : Graph
        The graph to extend on.
    labels : Labels
        The known values; `values` equals them exactly at their vertices.
    method : Method or function
        `AMLE()`, `Harmonic()`, `PLaplacian(p)`, `NearestLabel()`, `McShane()` or `Whitney()`; or a
        method of your own. That is a function of graph and labels that returns an (n,) array, or an
        object with ``solve(problem)``; see `wayfield.fields.Method`. Its values must be finite. If
        they differ from the labels, ``missed`` of the result says by how much.
    prior : (n,) array, optional
        A field that the labels correct: the result is prior + extension of (labels - prior), with
        its bracket. Where all labels agree with the prior it is the prior itself. +inf stays +inf.
        A correction has no slope of its own: `AMLE` continues it flat, `McShane` and `Whitney` use
        its own constant; ``method`` of the result shows it. ``residual`` is the correction's.
    unreachable : {"error", "nan"}
        What to do with a component without a label: raise `InputError`, or return NaN there. On a
        directed graph this means weak components without any label. A vertex that can reach no
        label always has the value +inf.
    check : bool
        Raise `NotConverged` if the method missed its guarantee. If False, the field is returned as
        it is, and its ``status`` says what was missed.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ends = wf.Labels([0, 3], [0.0, 3.0])
    >>> wf.extend(path, ends, wf.AMLE()).values
    array([0., 1., 2., 3.])
    >>> wf.extend(path, wf.Labels([0, 2], [0.0, 4.0]), wf.AMLE(), prior=[0.0, 1.0, 2.0, 3.0]).values
    array([0., 2., 4., 5.])
    >>> wf.extend(path, ends, lambda graph, labels: labels.values.mean() * np.ones(4))
    Extension(<lambda>, 4 values, solved, without a bracket, differs from 2 of 2 labels, ...)
    """
    as_flag(check, "check")
    settings = as_method(method)
    problem = make_problem(graph, labels, settings, unreachable)
    priors: list[FloatArray] = []
    if prior is not None:
        priors, settings = [check_prior(prior, graph.num_vertices)], correcting(settings)
    start = time.perf_counter()
    [solution] = solve_all([problem], settings, priors)
    seconds = time.perf_counter() - start
    return package(solution, graph, labels, settings, seconds, check, *priors)


def package(
    solution: Solution,
    graph: Graph,
    labels: Labels,
    method: Method,
    seconds: float,
    check: bool,
    prior: FloatArray | None = None,
) -> Extension:
    """Return a method's solution as an `Extension`; raise `NotConverged` if `check` is set."""
    lower, upper = solution.lower, solution.upper
    result = Extension(
        frozen(solution.values),
        None if lower is None else frozen(lower),
        None if upper is None else frozen(upper),
        solution.status,
        float(solution.residual),
        int(solution.iterations),
        seconds,
        method,
        dict(solution.details),
        graph,
        prior,
        labels,
        solution.evidence,
        solution.fixing,
    )
    if check and not result.status.good:
        raise NotConverged(str(result.status), result.residual, result.width)
    return result


def check_field(graph: Graph, values: ArrayLike | Extension) -> FloatArray:
    """Return a frozen field on the graph: a number, or +inf for "cannot reach", per vertex.

    An extension has NaN where no label is connected. If the goal is labelled, it cannot be reached
    from there, so NaN becomes +inf. In a plain array NaN and -inf raise `InputError`.
    """
    check_graph(graph)
    if isinstance(values, Extension):
        field = np.where(np.isnan(values.values), np.inf, values.values)
        home = values.graph
    else:
        field, home = as_floats(values, "values"), None
    if field.size != graph.num_vertices:
        raise InputError(
            f"the field has {field.size} values but the graph has {graph.num_vertices} vertices: "
            "it belongs to another graph"
        )
    if home is not None and not same_graph(home, graph):
        raise InputError("the field belongs to another graph: its arcs differ")
    refuse(~(field > -np.inf), field, "values", "is neither a number nor +inf")
    return owned(field)
