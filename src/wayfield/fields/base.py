"""What a method is given and what it returns: a Dirichlet problem, and a solution.

A method is a small frozen settings object with a ``solve``. `extension.extend` poses the problem
and checks the result, once for all methods. Functions and objects of a user's own become methods
here, too.

**Prior fields.** With P the prior, Y the labels and E the method, u = P + E(Y − P). The usual prior
is the cost-to-go on the given graph; the labels correct it. At a label u = Y. If all labels agree
with the prior, u = P exactly.

A correction is not a cost, so it has no slope of its own: the AMLE continues it flat beyond the
last label, and the Lipschitz envelopes take the constant of the corrections (`correcting`).

*Guarantee.* Y − P is rounded, by at most δ (known exactly: Knuth's two-sum). Extensions with a
bracket are monotone in the labels and preserve constants (``docs/proofs.md`` for the AMLE), so E
moves by at most δ. The bracket is widened by δ, P is added, and every sum is rounded outward. δ is
0 where a label is within a factor of two of the prior (Sterbenz).

**Methods of a user's own.** A function of graph and labels that returns an (n,) array becomes a
`FromFunction`. An array that is compared with methods becomes a `GivenField`. Whatever a method
from outside the library returns is checked here, and copied: the caller's arrays never change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Literal,
    Protocol,
    Self,
    TypeAlias,
    runtime_checkable,
)

import numpy as np
from numpy.typing import ArrayLike

from ..checks import LARGEST, as_choice, as_floats, frozen, owned, refuse, short
from ..errors import InputError, WayfieldError
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels, check_labels, label_distance
from ..numerics.doubledouble import outward_sum, sum_and_error
from ..typing import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from .amle.kernels import Fixing
    from .proof import HasProof


class Status(StrEnum):
    """How a solve ended.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> ends = wf.Labels([0, 3], [0.0, 3.0])
    >>> wf.extend(path, ends, wf.AMLE()).status
    <Status.CONVERGED: 'converged'>
    >>> wf.extend(path, ends, lambda graph, labels: [0.0, 0.5, 2.5, 3.0]).status
    <Status.NO_BRACKET: 'solved, without a bracket'>
    """

    CONVERGED = "converged"
    """The method's own guarantee holds; if there is a bracket, it was verified."""
    STOPPED = "stopped after the number of sweeps asked for"
    """A method with a fixed budget has used it up; there is no bound on the error."""
    UNVERIFIED = "the bracket could not be verified"
    """The field was computed, but its bracket could not be proved."""
    NO_BRACKET = "solved, without a bracket"
    """The field was computed; no bracket was requested, or the method has none."""
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

    It has no goal: an extension belongs to its labels. If labels are costs to a labelled goal, the
    goal is ``labels.lowest``.

    Attributes
    ----------
    graph : Graph
        Where to extend.
    labels : Labels
        The known values.
    labelled : (n,) bool array
        Where the value is fixed.
    boundary : (n,) float array
        The fixed values; 0 elsewhere.
    orphaned : (n,) bool array
        Vertices of components without a label: no extension exists there. A method may return NaN
        or any finite value there.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> problem = Problem.of(path, wf.Labels([0, 3], [0.0, 3.0]))
    >>> problem.labelled, problem.boundary
    (array([ True, False, False,  True]), array([0., 0., 0., 3.]))
    """

    graph: Graph
    labels: Labels
    labelled: BoolArray
    boundary: FloatArray
    orphaned: BoolArray

    @classmethod
    def of(cls, graph: Graph, labels: Labels) -> Self:
        """Return the problem of extending these labels, which belong to the graph."""
        labelled = labels.mask(graph)
        boundary = np.zeros(graph.num_vertices)
        boundary[labels.vertices] = labels.values
        has_label = np.zeros(int(graph.components.max(initial=-1)) + 1, dtype=bool)
        has_label[graph.components[labels.vertices]] = True
        orphaned = ~has_label[graph.components]
        return cls(graph, labels, frozen(labelled), frozen(boundary), orphaned)

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
    """Result of a method: a field on the whole graph, how the solve ended, and how good it is.

    Attributes
    ----------
    values : (n,) float array
        The field. It should equal the labels at their vertices; where it does not, the extension
        says so.
    status : Status
        How the solve ended. With one that is not ``good``, `extend` raises `NotConverged`.
    lower, upper : (n,) float arrays or None
        Rigorous bounds on the exact solution of the method's equation; None if there are none.
    residual : float
        Largest violation of the method's vertex equation; NaN if not known.
    iterations : int
        Number of iterations.
    details : mapping of str to float
        Further figures, named by the method.
    evidence : HasProof or None
        What a proof file of the bracket is made from.
    fixing : Fixing or None
        The order in which the AMLE fixed its values.

    Examples
    --------
    >>> import numpy as np
    >>> Solution(np.zeros(3), Status.NO_BRACKET).status
    <Status.NO_BRACKET: 'solved, without a bracket'>
    """

    values: FloatArray
    status: Status
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    residual: float = np.nan
    iterations: int = 0
    details: Mapping[str, float] = field(default_factory=dict)
    evidence: HasProof | None = None
    fixing: Fixing | None = None


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
    """A method to extend labels: settings, and `solve`.

    Two more attributes are used if they are there: ``name``, the text that results show in place of
    class and settings, and ``directed``, False if the method is not defined on directed graphs.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> import wayfield as wf
    >>> @dataclass(frozen=True)
    ... class Constant:
    ...     value: float = 0.0
    ...     def solve(self, problem):
    ...         values = np.where(problem.labelled, problem.boundary, self.value)
    ...         return Solution(values, wf.Status.NO_BRACKET)
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> wf.extend(path, wf.Labels([0, 3], [0.0, 3.0]), Constant(2.0))
    Extension(Constant(value=2.0), 4 values, solved, without a bracket)
    """

    def solve(self, problem: Problem) -> Solution:
        """Extend the labels of one problem. A plain array counts as solved without a bracket."""
        ...


def takes_directed(method: Method) -> bool:
    """Whether a method is defined on directed graphs."""
    return bool(getattr(method, "directed", True))


def describe(method: object) -> str:
    """Return the method's name: its own, or its class with the settings that are not default."""
    name = getattr(method, "name", None)
    if isinstance(name, str):
        return name
    changed = []
    for setting in fields(method) if is_dataclass(method) else ():
        usual = setting.default if setting.default_factory is MISSING else setting.default_factory()
        value = _in_words(getattr(method, setting.name))
        if value != _in_words(usual):
            changed.append(f"{setting.name}={value}")
    return f"{type(method).__name__}({', '.join(changed)})"


def _in_words(setting: object) -> str:
    """Describe the value of a setting."""
    if isinstance(setting, tuple):
        return f"({', '.join(map(_in_words, setting))})"
    if isinstance(setting, np.ndarray):
        return f"array of shape {setting.shape}"
    return describe(setting) if is_dataclass(setting) else repr(setting)


def make_problem(
    graph: Graph, labels: Labels, method: Method, unreachable: Literal["error", "nan"]
) -> Problem:
    """Validate what the methods assume, and return the problem."""
    check_graph(graph)
    check_labels(labels, graph)
    as_choice(unreachable, "unreachable", ("error", "nan"))
    if graph.directed and not takes_directed(method):
        raise InputError(
            f"{type(method).__name__} is not defined on directed graphs; AMLE is, or call "
            "graph.symmetrised('min' | 'max' | 'mean') first"
        )
    problem = Problem.of(graph, labels)
    if unreachable == "error" and problem.orphaned.any():
        x = int(np.argmax(problem.orphaned))
        size = int((graph.components == graph.components[x]).sum())
        raise InputError(
            f"the component of vertex {x} ({size:,} vertices) has no label; label it, or pass "
            "unreachable='nan' to get NaN there"
        )
    return problem


# ------------------------------------------------------------------ priors


def correcting(method: Method) -> Method:
    """Return the form of a method that extends corrections to a prior: without its own slope.

    A method that has a slope has a ``correcting`` that returns this form.
    """
    form: Method = getattr(method, "correcting", lambda: method)()
    return form


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
    _, error = sum_and_error(labels.values, -prior[labels.vertices])
    widened = outward_sum(bound, sign * np.abs(error).max(), sign)
    return _restored(labels, prior, outward_sum(prior, widened, sign))


def _restored(labels: Labels, prior: FloatArray, field: FloatArray) -> FloatArray:
    """Return the field with the labels exactly as given, and inf where the prior is."""
    field[labels.vertices] = labels.values
    field[np.isinf(prior)] = np.inf
    return field


# ------------------------------------------------------------------ methods of a user's own

FieldFunction: TypeAlias = Callable[[Graph, Labels], ArrayLike]
MethodLike: TypeAlias = Method | FieldFunction
"""A method, or a function of graph and labels that returns an (n,) array."""


@dataclass(frozen=True)
class FromFunction:
    """A function of graph and labels as a method; its field has no bracket."""

    function: FieldFunction
    name: str

    def solve(self, problem: Problem) -> Solution:
        """Call the function; its result is checked by `solve_all`."""
        values: Any = self.function(problem.graph, problem.labels)
        return Solution(values, Status.NO_BRACKET)


@dataclass(frozen=True, eq=False)
class GivenField:
    """A field that was computed elsewhere, where a method is expected; it ignores the labels."""

    values: FloatArray = field(repr=False)
    name: ClassVar[str] = "given field"

    def solve(self, problem: Problem) -> Solution:
        """Return the field."""
        return Solution(self.values, Status.NO_BRACKET)


def as_method(method: object, name: str = "method") -> Method:
    """Return a method; a function becomes one."""
    if isinstance(method, Method) and not isinstance(method, type):
        return method
    if callable(method) and not isinstance(method, type):
        return FromFunction(method, getattr(method, "__name__", type(method).__name__))
    raise InputError(
        f"{name} must be an extension such as AMLE(), a function of graph and labels, or an object "
        f"with solve(problem), got {short(method)}"
    )


def is_ours(method: Method) -> bool:
    """Whether the library wrote the method: then its results need no check."""
    return type(method).__module__.startswith("wayfield.") and not isinstance(method, FromFunction)


def solve_all(
    problems: Sequence[Problem],
    method: Method,
    priors: Sequence[FloatArray] = (),
    solve: Callable[[Sequence[Problem]], Sequence[Solution]] | None = None,
) -> list[Solution]:
    """Solve problems, with a prior each if there are any, by a method or by what it shares.

    What comes from outside the library is checked.
    """
    if priors:
        pairs = list(zip(problems, priors, strict=True))
        solutions = solve_all([without_prior(*pair) for pair in pairs], method, (), solve)
        return [with_prior(each, *pair) for each, pair in zip(solutions, pairs, strict=True)]
    solve = solve or partial(one_by_one, method.solve)
    if is_ours(method):
        return list(solve(problems))
    who = describe(method)
    try:
        found = list(solve(problems))
    except (WayfieldError, MemoryError):
        raise
    except Exception as error:
        why = " ".join(str(error).split())  # in one line
        raise InputError(f"{who} raised {type(error).__name__}: {why}") from error
    if len(found) != len(problems):
        raise InputError(f"{who} returned {len(found)} solutions for {len(problems)} problems")
    return [_checked(each, problem, who) for each, problem in zip(found, problems, strict=True)]


def _checked(given: Any, problem: Problem, who: str) -> Solution:
    """Return a solution with arrays of its own; raise a one-line `InputError` if it is bad."""
    # an array is what a function returns
    found = given if isinstance(given, Solution) else Solution(given, Status.NO_BRACKET)
    if not isinstance(found.status, Status):
        raise InputError(f"{who} returned the status {found.status!r}: expected a wayfield.Status")
    values = _floats(found.values, problem, f"{who}: values")
    bad = ~np.isfinite(values) & ~(problem.orphaned & np.isnan(values))
    if problem.graph.directed and np.isposinf(values[bad]).any():
        bad &= ~(np.isposinf(values) & np.isinf(label_distance(problem.graph, problem.labels)))
    refuse(bad, values, f"{who}: values", "is not a finite number")
    bounds = [
        None if bound is None else _floats(bound, problem, f"{who}: {name}")
        for name, bound in (("lower", found.lower), ("upper", found.upper))
    ]
    return replace(found, values=values, lower=bounds[0], upper=bounds[1])


def _floats(data: Any, problem: Problem, name: str) -> FloatArray:
    """Return a copy of one number per vertex."""
    n = problem.graph.num_vertices
    if not isinstance(data, list | tuple) and not hasattr(data, "__array__"):
        raise InputError(f"{name} must be an array of {n} numbers, got {short(data)}")
    return np.array(as_floats(data, name, n))
