"""`extend`, the base of the methods, and `Extension`, their result.

``extend(graph, labels, method)`` passes a validated Dirichlet problem to a method and returns an
`Extension`. A method is a small frozen settings object with a ``solve``. Whether its result is good
enough is decided here, once for all methods, by ``check``.

**Prior fields.** With P the prior, Y the labels and E the method, u = P + E(Y − P). The usual prior
is the cost-to-go on the given graph; the labels correct it. At a label u = Y. If all labels agree
with the prior, u = P exactly.

A correction is not a cost, so it has no slope of its own: the AMLE continues it flat beyond the
last label, and the Lipschitz envelopes take the constant of the corrections (`Corrects`).

*Guarantee.* Y − P is rounded, by at most δ (known exactly: Knuth's two-sum). Extensions with a
bracket are monotone in the labels and preserve constants (``docs/directed.md`` for the AMLE), so E
moves by at most δ. The bracket is widened by δ, P is added, and every sum is rounded outward. δ is
0 where a label is within a factor of two of the prior (Sterbenz).
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, Self, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..checks import (
    LARGEST,
    KeepsReadOnly,
    as_choice,
    as_flag,
    as_floats,
    as_vertex,
    frozen,
    owned,
    refuse,
)
from ..errors import InputError, NotConverged
from ..graphs.graph import Graph, check_graph, same_graph
from ..graphs.labels import Labels, check_labels
from ..numerics import proof_file
from ..typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from .amle.kernels import Fixing
    from .derivatives import Derivative, Gradient, Influence
    from .proof import Evidence, Proof


class Status(StrEnum):
    """How a solve ended.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study.sweeps import MidrangeSweeps
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ends = wf.Labels([0, 3], [0.0, 3.0])
    >>> wf.extend(path, ends, wf.AMLE()).status
    <Status.CONVERGED: 'converged'>
    >>> wf.extend(path, ends, MidrangeSweeps(5)).status
    <Status.STOPPED: 'stopped after the number of sweeps asked for'>
    """

    CONVERGED = "converged"
    """The method's own guarantee holds; if there is a bracket, it was verified."""
    STOPPED = "stopped after the number of sweeps asked for"
    """A method with a fixed budget has used it up; there is no bound on the error."""
    UNVERIFIED = "the bracket could not be verified"
    """The field was computed, but its bracket could not be proved."""
    NO_BRACKET = "solved, without a bracket"
    """The field was computed; no bracket was requested."""
    STALLED = "the iteration stalled above its tolerance"
    """No further descent, residual above the tolerance."""
    BUDGET = "the cap on iterations ran out"
    """Residual above the tolerance when the cap was reached."""

    @property
    def good(self) -> bool:
        """Whether the method met its guarantee."""
        return self in (Status.CONVERGED, Status.STOPPED, Status.NO_BRACKET)


@dataclass(frozen=True)
class Problem:
    """A validated Dirichlet problem: a graph, and values fixed at some of its vertices.

    Attributes
    ----------
    labelled : (n,) bool array
        Where the value is fixed.
    boundary : (n,) float array
        The fixed values; 0 elsewhere.
    orphaned : (n,) bool array
        Vertices of components without a label: no extension exists there.
    """

    graph: Graph
    labels: Labels
    labelled: BoolArray
    boundary: FloatArray
    orphaned: BoolArray

    @cached_property
    def label_range(self) -> tuple[FloatArray, FloatArray]:
        """Least and largest label in the component of each vertex: (n,), or (1,) if connected.

        The maximum principle holds component by component.
        """
        if self.graph.components.max(initial=0) == 0:
            return self.labels.values.min(keepdims=True), self.labels.values.max(keepdims=True)
        least, largest = (self.boundary[at][self.graph.components] for at in self.extreme_labels)
        where = self.orphaned
        return np.where(where, -np.inf, least), np.where(where, np.inf, largest)

    @cached_property
    def extreme_labels(self) -> tuple[IntArray, IntArray]:
        """Labelled vertices of least and of largest value, by component; 0 without a label."""
        component, at = self.graph.components, self.labels.vertices
        found = []
        for heights in (self.labels.values, -self.labels.values):
            order = np.lexsort((heights, component[at]))
            home, first = np.unique(component[at][order], return_index=True)
            ends = np.zeros(int(component.max()) + 1, np.int32)
            ends[home] = at[order[first]]
            found.append(ends)
        return found[0], found[1]

    def relabelled(self, labels: Labels) -> Self:
        """Return the problem with other values at the same labelled vertices."""
        boundary = np.zeros(self.boundary.size)
        boundary[labels.vertices] = labels.values
        return replace(self, labels=labels, boundary=frozen(boundary))


@dataclass(frozen=True)
class Solution:
    """Result of a method: a field on the whole graph, and how good it is."""

    values: FloatArray
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    status: Status = Status.CONVERGED
    residual: float = 0.0
    iterations: int = 0
    details: Mapping[str, float] = field(default_factory=dict)
    evidence: Evidence | None = None
    fixing: Fixing | None = None
    """The order in which the AMLE fixed its values."""


@dataclass(frozen=True, eq=False)
class Shared:
    """A solver for many problems on one graph that share some work. It can be pickled.

    Attributes
    ----------
    solve : callable
        Solves a list of up to `block` problems.
    prepare : callable
        Computes now what threads will share.
    block : int
        Number of problems that are solved together.
    """

    solve: Callable[[Sequence[Problem]], list[Solution]]
    prepare: Callable[[], object] = bool
    block: int = 1


def one_by_one(solve: Callable[[Problem], Solution], problems: Sequence[Problem]) -> list[Solution]:
    """Solve problems one after another."""
    return list(map(solve, problems))


@runtime_checkable
class Method(Protocol):
    """A method to extend labels: frozen settings, and `solve`."""

    @property
    def directed(self) -> bool:
        """Whether the method is defined on directed graphs."""
        ...

    def solve(self, problem: Problem) -> Solution:
        """Extend the labels of one problem."""
        ...


@runtime_checkable
class Corrects(Protocol):
    """A method that gives values a slope; corrections to a prior must not have one."""

    def correcting(self) -> Method:
        """Return the same method without that slope: it extends labels of 0 by 0."""
        ...


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
        Largest violation of the method's vertex equation by `values`, see the method.
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
    evidence : Evidence or None
        What the solver kept for the proof of its bracket; `write_proof` writes it.
    fixing : Fixing or None
        The order in which the AMLE fixed its values, for derivatives; not kept in a pickle.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study.sweeps import MidrangeSweeps
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
    evidence: Evidence | None = None
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
        >>> from wayfield_study.sweeps import MidrangeSweeps
        >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
        >>> field = wf.extend(path, wf.Labels([0, 3], [0.0, 3.0]), wf.AMLE())
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     field.write_proof(f"{folder}/field.proof").name
        'field.proof'
        """
        from .proof import field_sections  # which imports this module

        return proof_file.write(path, field_sections(self, names))

    def proof(self) -> Proof:
        """Return the proof of the bracket; raise `InputError` if there is none."""
        known = self.graph is not None and self.labels is not None
        if self.evidence is None or self.lower is None or self.upper is None or not known:
            raise InputError(
                f"{type(self.method).__name__} has no verified bracket here: proofs are for AMLE, "
                "Harmonic and PLaplacian with a bracket"
            )
        assert self.graph is not None
        assert self.labels is not None
        problem = make_problem(self.graph, self.labels, self.method, "nan")
        if self.prior is not None:
            problem = without_prior(problem, self.prior)
        found = self.evidence.proof(problem)
        if found is None:
            raise InputError("the bracket of this field cannot be written as a proof")
        return found

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
        >>> from wayfield_study.sweeps import MidrangeSweeps
        >>> star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3], lengths=[1.0, 1.0, 2.0])
        >>> labels = wf.Labels([1, 2, 3], [0.0, 1.0, 4.0])
        >>> wf.extend(star, labels, wf.AMLE()).influence(0)   # label 2 does not matter
        Influence(vertices=array([1, 3]), weights=array([0.66666667, 0.33333333]))
        >>> wf.extend(star, labels, wf.Harmonic()).influence(0)
        Influence(vertices=array([1, 2, 3]), weights=array([0.4, 0.4, 0.2]))
        """
        from .derivatives import Influence  # which imports this module

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
        lengths_toward: ArrayLike | None = None,
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
        equal, and `toward` does not matter.

        Parameters
        ----------
        cotangent : (n,) array
            The derivative of a loss by the values, for example. 0 where the field is not finite.
        toward : (k,) array, optional
            The direction in which the labels move.
        lengths_toward : (m,) array, optional
            The direction in which the lengths move. Only needed where paths of equal length tie, as
            on unit lengths: else the gradient by the lengths is that of one of these paths.

        Raises
        ------
        InputError
            If there is no derivative: another method, a field that did not converge or was built by
            hand, or a value that is discontinuous.

        Examples
        --------
        >>> import wayfield as wf
        >>> from wayfield_study.sweeps import MidrangeSweeps
        >>> path = wf.Graph.from_edges([0, 1], [1, 2], lengths=[1.0, 3.0])
        >>> field = wf.extend(path, wf.Labels([0, 2], [0.0, 8.0]), wf.AMLE())
        >>> gradient = field.pullback([0.0, 1.0, 0.0])        # of the value 2 at vertex 1
        >>> gradient.labels
        array([0.75, 0.25])
        >>> gradient.lengths          # by arcs: an edge has one half at each of its two
        array([ 0.75,  0.75, -0.25, -0.25])
        """
        from .derivatives import checked_cotangent, derivative  # which imports this module

        checked = checked_cotangent(self, cotangent)
        return derivative(self, self._derivatives, toward, lengths_toward).pull(checked)

    @cached_property
    def _derivatives(self) -> dict[bytes, Derivative]:
        """Derivatives computed so far, by direction."""
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

    def __repr__(self) -> str:
        bracket = "no bracket" if self.lower is None else f"bracket width {self.width:.1e}"
        unreachable = int((~np.isfinite(self.values)).sum())
        if unreachable:
            bracket += f", {unreachable:,} without a label in reach"
        size = f"{self.values.size:,} values"
        return f"Extension({describe(self.method)}, {size}, {self.status}, {bracket})"


def describe(method: object) -> str:
    """Return the method's name with its non-default settings."""
    settings: tuple[Field[Any], ...] = ()
    if is_dataclass(method):
        settings = fields(method)
    changed = []
    for setting in settings:
        usual = setting.default if setting.default_factory is MISSING else setting.default_factory()
        value = _in_words(getattr(method, setting.name))
        if value != _in_words(usual):
            changed.append(f"{setting.name}={value}")
    return f"{type(method).__name__}({', '.join(changed)})"


def _in_words(setting: object) -> str:
    """Describe the value of a setting."""
    if isinstance(setting, tuple):
        return f"({', '.join(map(_in_words, setting))})"
    return describe(setting) if is_dataclass(setting) else repr(setting)


def extend(
    graph: Graph,
    labels: Labels,
    method: Method,
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
    method : Method
        `AMLE()`, `Harmonic()`, `PLaplacian(p)`, `MidrangeSweeps()`, `NearestLabel()`,
        `McShane()`, `Whitney()`.
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
    >>> from wayfield_study.sweeps import MidrangeSweeps
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ends = wf.Labels([0, 3], [0.0, 3.0])
    >>> wf.extend(path, ends, wf.AMLE()).values
    array([0., 1., 2., 3.])
    >>> wf.extend(path, wf.Labels([0, 2], [0.0, 4.0]), wf.AMLE(), prior=[0.0, 1.0, 2.0, 3.0]).values
    array([0., 2., 4., 5.])
    """
    as_flag(check, "check")
    problem = make_problem(graph, labels, method, unreachable)
    if prior is None:
        start = time.perf_counter()
        solution = method.solve(problem)
        return package(solution, graph, labels, method, time.perf_counter() - start, check)
    field = check_prior(prior, graph.num_vertices)
    correction, settings = without_prior(problem, field), correcting(method)
    start = time.perf_counter()
    solution = with_prior(settings.solve(correction), problem, field)
    return package(solution, graph, labels, settings, time.perf_counter() - start, check, field)


def make_problem(
    graph: Graph, labels: Labels, method: Method, unreachable: Literal["error", "nan"]
) -> Problem:
    """Validate what the methods assume, and return the problem."""
    check_graph(graph)
    check_labels(labels, graph)
    if isinstance(method, type) or not isinstance(method, Method):
        raise InputError(f"method must be an extension such as AMLE(), got {method!r}")
    as_choice(unreachable, "unreachable", ("error", "nan"))
    if graph.directed and not method.directed:
        raise InputError(
            f"{type(method).__name__} is not defined on directed graphs; AMLE is, or call "
            "graph.symmetrised('min' | 'max' | 'mean') first"
        )
    labelled = labels.mask(graph)
    boundary = np.zeros(graph.num_vertices)
    boundary[labels.vertices] = labels.values
    component = graph.components
    has_label = np.zeros(int(component.max(initial=-1)) + 1, dtype=bool)
    has_label[component[labels.vertices]] = True
    orphaned: BoolArray = ~has_label[component]
    if unreachable == "error" and orphaned.any():
        x = int(np.argmax(orphaned))
        size = int((component == component[x]).sum())
        raise InputError(
            f"the component of vertex {x} ({size:,} vertices) has no label; label it, or pass "
            "unreachable='nan' to get NaN there"
        )
    return Problem(graph, labels, frozen(labelled), frozen(boundary), orphaned)


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


# ------------------------------------------------------------------ priors


def correcting(method: Method) -> Method:
    """Return the form of a method that extends corrections to a prior."""
    return method.correcting() if isinstance(method, Corrects) else method


def check_prior(prior: ArrayLike, num_vertices: int) -> FloatArray:
    """Return `prior` as a frozen field: a number or +inf per vertex."""
    field = as_floats(prior, "prior", num_vertices)
    refuse(~(field > -np.inf), field, "prior", "is neither a number nor +inf")
    beyond = np.isfinite(field) & (np.abs(field) > LARGEST)
    refuse(beyond, field, "prior", f"is beyond {LARGEST:g}")
    return owned(field)


def without_prior(problem: Problem, prior: FloatArray) -> Problem:
    """Return the problem for the correction: its labels minus the prior, rounded."""
    labels = problem.labels
    at = prior[labels.vertices]
    if np.isinf(at).any():
        x = int(labels.vertices[np.argmax(np.isinf(at))])
        raise InputError(f"prior[{x}] must be finite at the label of vertex {x}, got inf")
    difference = labels.values - at
    beyond = np.abs(difference) > LARGEST
    refuse(beyond, difference, "label values less the prior", f"is beyond {LARGEST:g}")
    return problem.relabelled(Labels(labels.vertices, difference, labels.error))


def with_prior(solution: Solution, problem: Problem, prior: FloatArray) -> Solution:
    """Add the prior to the correction's solution, with its bounds rounded outward."""
    labels, lower, upper = problem.labels, solution.lower, solution.upper
    return replace(
        solution,
        values=_restored(labels, prior, prior + solution.values),
        lower=None if lower is None else bound_plus_prior(labels, prior, lower, -1),
        upper=None if upper is None else bound_plus_prior(labels, prior, upper, +1),
    )


def bound_plus_prior(labels: Labels, prior: FloatArray, bound: FloatArray, sign: int) -> FloatArray:
    """Return a bound on the exact sum, given one on the extension of the rounded corrections.

    `sign` is -1 for a lower bound and +1 for an upper one.
    """
    _, error = _two_sum(labels.values, -prior[labels.vertices])
    widened = _outward(bound, sign * np.abs(error).max(), sign)
    return _restored(labels, prior, _outward(prior, widened, sign))


def _restored(labels: Labels, prior: FloatArray, field: FloatArray) -> FloatArray:
    """Return the field with the labels exactly as given, and inf where the prior is."""
    field[labels.vertices] = labels.values
    field[np.isinf(prior)] = np.inf
    return field


def _outward(a: FloatArray, b: FloatArray | float, sign: int) -> FloatArray:
    """Return the sum rounded down (`sign` -1) or up (+1), unless it is exact or not finite."""
    with np.errstate(invalid="ignore"):  # inf and NaN have no remainder
        total, error = _two_sum(a, b)
    return np.where(error * sign > 0.0, np.nextafter(total, sign * np.inf), total)


def _two_sum(a: FloatArray, b: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Return a + b rounded, and the exact rounding error (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
