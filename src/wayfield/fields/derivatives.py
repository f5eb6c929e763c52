"""Derivatives of an extension by its labels and by the lengths of the graph.

With u the field, c a cotangent (n,), y the labels and ℓ the lengths, `pullback` returns the
gradient of c · u by y and by ℓ; `influence` is the case c = 1 at one vertex. The three extensions
are monotone in the labels and preserve constants, so that the weights of a vertex are nonnegative
and sum to 1.

**Harmonic and p-Laplacian: the adjoint.** At a free vertex F_x(u, ℓ) = Σ sign(Δ) (|Δ|/ℓ)^{p−1} = 0
with Δ = u_y − u_x. Let w_xy = ∂F_x/∂u_y = |Δ/ℓ|^{p−2}/ℓ, each row divided by a positive number (its
steepest slope to the power p − 2, so that nothing overflows), and A = −∂F/∂u, an M-matrix. With
Aᵀ λ = c on the free vertices,

    ∂/∂y_z = c_z + Σ_x λ_x w_xz,        ∂/∂ℓ_xy = −λ_x w_xy Δ/ℓ   at the arc x → y.

*Stopping rule and guarantee.* A residual r = c − Aᵀ λ moves the gradient by the labels by at most
Σ |r|, since the weights of each vertex sum to 1. λ is refined until this is 1e-12 of Σ |c|; above
1e-6 an error is raised (unit corridors of a million steps). An error ε of the values changes w by a
share of (p − 2) ε / max |Δ|. Labels that differ little compared with their size are shifted first,
so that ε is small compared with their range. If the share exceeds 1e-4 at a vertex that has a part
in the gradient, an error is raised. Where all slopes vanish around a set of vertices with two or
more neighbours outside, the equation is degenerate and u has a kink.

**AMLE: chains.** The order of fixing writes u as a tape of interpolations (`kernels.amle.chains`).
Going through it backwards gives the gradient, in time linear in the vertices.

**Kinks.** u is piecewise smooth. Where arcs that lead to different labels tie for the steepest, it
has a kink, and only one-sided derivatives exist. Exact labels tie at most values, because all
slopes along shortest paths are 1. The tape of tied values is *not* a one-sided derivative in
general. So ties are looked for: with J the tape and d a random direction, arcs that tie at a vertex
must change alike under J d. Then J is the derivative. If they do not, or if a direction d was asked
for, the tape is that of labels moved by a small step t in this direction, where nothing ties, and

    u(y + t d) = u(y) + t J d

is verified at every vertex, since between kinks u is linear in the labels. The step shrinks if that
fails. Where no step passes, the field is discontinuous (on a directed graph it may be), and `pull`
raises. Then J d is the derivative in the direction d.

References: Griewank and Walther, *Evaluating Derivatives*, 2008, for tapes, adjoints and one-sided
derivatives; Clarke, *Optimization and Nonsmooth Analysis*, 1983.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..checks import LARGEST, as_finite, refuse
from ..errors import InputError, WayfieldError
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..numerics.csr import reverse_slots
from ..numerics.deadline import check_time
from ..typing import BoolArray, FloatArray, IntArray
from .amle.kernels import Chains, Fixing, trace
from .amle.kernels.chains import copies, filled, keeps_ties, pull, push
from .amle.method import AMLE
from .base import Extension, Problem, Solution, Status, make_problem, without_prior
from .harmonic import Harmonic
from .linear import Interior, general_solver, symmetric_solver
from .newton import plateaus
from .plaplacian import PLaplacian

FINE, COARSE = 1e-12, 1e-6
"""Residuals of the adjoint, relative to the cotangent: where refinement stops; where it failed."""
BLUR = 1e-4
"""Largest relative error of the coefficients of a vertex that matters."""
REFINEMENTS = 8
STEPS = (2.0**-26, 2.0**-33)
"""Steps towards a direction, as shares of the label range."""
ALIKE = 2.0**-30
"""Rates of change that differ by less, relative to the largest, are equal."""
MISS = 1e-3
"""A step is too long if some value is off the tangent by this share of the largest change."""
ROUNDING = 2.0**-48
"""Values are taken to be accurate to this share of the largest."""
KEPT = 4
"""Number of directions whose tapes a field keeps."""


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


Derivative: TypeAlias = "Interpolated | Linearised"
"""The derivative of a field, ready to be applied to cotangents."""


def derivative(
    field: Extension,
    kept: dict[bytes, Derivative],
    toward: ArrayLike | None,
    lengths_toward: ArrayLike | None,
) -> Derivative:
    """Return the derivative of a field, from the `kept` ones if it is there; else keep it.

    Raises `InputError` if the field has none.
    """
    graph, labels, method = field.graph, field.labels, field.method
    if graph is None or labels is None:
        raise InputError("a field built by hand has no derivative: extend labels to get one")
    if not isinstance(method, AMLE | Harmonic | PLaplacian):
        name = type(method).__name__
        raise InputError(f"derivatives are for AMLE, Harmonic and PLaplacian fields, got {name}")
    if field.status in (Status.STALLED, Status.BUDGET):
        raise InputError(f"a field that did not converge has no derivative: {field.status}")
    direction, key = None, b""
    if toward is not None or lengths_toward is not None:
        rates, stretch = np.zeros(len(labels)), np.zeros(graph.num_arcs)
        if toward is not None:
            rates = as_finite(toward, "toward", len(labels))
        if lengths_toward is not None:
            stretch = as_finite(lengths_toward, "lengths_toward", graph.num_arcs)
            if not graph.directed:
                lopsided = stretch != stretch[reverse_slots(graph.arcs)]
                why = "differs from the opposite arc: edges must be symmetric"
                refuse(lopsided, stretch, "lengths_toward", why)
        if not (rates.any() or stretch.any()):
            raise InputError("toward must not be 0 everywhere: it is a direction")
        direction, key = Direction(rates, stretch), rates.tobytes() + stretch.tobytes()
    if key not in kept:
        if len(kept) >= KEPT:
            kept.clear()
        problem, base = make_problem(graph, labels, method, "nan"), field.values.copy()
        if field.prior is not None:
            problem = without_prior(problem, field.prior)
            # where the prior is inf so is the field, but the correction is a number
            with np.errstate(invalid="ignore"):  # inf − inf
                hidden = np.isinf(field.prior)
                base = method.solve(problem).values if hidden.any() else base - field.prior
        if isinstance(method, AMLE):
            kept[key] = _interpolated(problem, base, method, direction, field.fixing)
        else:
            kept[key] = _linearised(problem, base, field, method, direction)
    return kept[key]


class Direction(NamedTuple):
    """A direction in which labels and lengths move."""

    rates: FloatArray
    stretch: FloatArray

    @classmethod
    def generic(cls, graph: Graph, labels: Labels) -> Direction:
        """Return a direction that no tie survives: the labels move at random, always the same."""
        rates = np.random.default_rng(0).standard_normal(len(labels))
        return cls(rates, np.zeros(graph.num_arcs))

    def step(self, problem: Problem, share: float) -> tuple[Problem, Direction]:
        """Return the problem after a step in this direction, and the changes made.

        No label moves by more than this share of their range, and no length by more than this share
        of itself. Each component has a step of its own: they may differ by many orders.
        """
        graph, labels = problem.graph, problem.labels
        least, largest = (np.broadcast_to(of, problem.boundary.size) for of in problem.label_range)
        span, size = largest - least, _most(graph, problem.boundary)
        size = np.where(span > 0.0, span, size)[labels.vertices]
        pace = np.zeros(graph.num_vertices)
        pace[labels.vertices] = np.abs(self.rates) / np.where(size > 0.0, size, 1.0)
        np.maximum.at(pace, graph.tails, np.abs(self.stretch / graph.lengths))
        pace = _most(graph, pace)
        factor = share / np.where(pace > 0.0, pace, 1.0)
        values = labels.values + factor[labels.vertices] * self.rates
        lengths = graph.lengths
        if self.stretch.any():
            lengths = lengths + factor[graph.tails] * self.stretch
            graph = Graph(graph.indptr, graph.indices, lengths, graph.directed)
        moved = make_problem(graph, Labels(labels.vertices, values), AMLE(), "nan")
        return moved, Direction(values - labels.values, lengths - problem.graph.lengths)


def _most(graph: Graph, numbers: FloatArray) -> FloatArray:
    """Return the largest finite |number| in the component of each vertex."""
    found = np.zeros(graph.num_vertices)  # by component
    np.maximum.at(found, graph.components, np.where(np.isfinite(numbers), np.abs(numbers), 0.0))
    return found[graph.components]


# ------------------------------------------------------------------ AMLE


@dataclass(frozen=True, eq=False)
class Interpolated:
    """The tape of an AMLE, and the vertices (n,) at which it is the derivative."""

    graph: Graph
    labels: Labels
    chains: Chains
    sure: BoolArray

    def pull(self, cotangent: FloatArray) -> Gradient:
        """Return the gradient of cotangent · field: one pass through the tape, backwards."""
        unsure = (cotangent != 0.0) & ~self.sure
        if unsure.any():
            raise InputError(
                f"vertex {int(np.argmax(unsure))} has no derivative: its value is discontinuous, "
                "or slopes are too close to distinguish; set the cotangent to 0 there, or try "
                "another direction (toward=)"
            )
        by_label, by_length = cotangent.copy(), np.zeros(self.graph.num_arcs)
        pull(self.chains, by_label, by_length)
        return Gradient(by_label[self.labels.vertices], _both_ways(self.graph, by_length))


def _interpolated(
    problem: Problem,
    base: FloatArray,
    method: AMLE,
    direction: Direction | None,
    fixing: Fixing | None,
) -> Interpolated:
    """Return the tape of a field; at a kink, or if there is a direction, the tape towards it."""
    graph, labels, finite = problem.graph, problem.labels, np.isfinite(base)
    noise = ROUNDING * _most(graph, base)
    method = replace(method, bracket=False)
    if direction is None:
        fixing = fixing or method.solve(problem).fixing
        assert fixing is not None
        chains, direction = _tape(graph, method, fixing), Direction.generic(graph, labels)
        values = _pushed(chains, problem, Direction(labels.values, graph.lengths))
        rates = _pushed(chains, problem, direction)
        same = bool((np.abs(values - base) <= noise)[finite].all())
        if same and _is_smooth(problem, fixing.fixed, base, rates, noise):
            return Interpolated(graph, labels, chains, finite)
    best: Interpolated | None = None
    for share in STEPS:
        check_time()
        moved, change = direction.step(problem, share)
        solution = method.solve(moved)
        assert solution.fixing is not None
        chains = _tape(moved.graph, method, solution.fixing)
        tangent = _pushed(chains, problem, change)
        with np.errstate(invalid="ignore"):  # inf − inf
            off = np.abs(solution.values - base - tangent)
        allowed = MISS * _most(graph, tangent) + noise
        # slopes of the chains as they are before the step
        rise, before = (np.diff(each[chains.ends])[:, 0] for each in (solution.values, base))
        slopes = chains.slopes * np.divide(before, rise, out=np.ones(rise.size), where=rise != 0.0)
        found = chains._replace(slopes=slopes), finite & (off <= allowed)
        if best is None or found[1].sum() > best.sure.sum():
            best = Interpolated(graph, labels, *found)
        if best.sure.sum() == finite.sum():
            break
    assert best is not None
    return best


def _tape(graph: Graph, method: AMLE, fixing: Fixing) -> Chains:
    """Return the chains of the fixed vertices, and those by which the others are filled."""
    chains, rule = trace(graph.arcs, graph.reverse_arcs, fixing), method.filling(graph)
    if rule is None:
        return chains
    rate = 1.0 if rule == "cost" else 0.0
    found = copies(graph.reverse_arcs, fixing.fixed.copy(), fixing.values.copy(), rate)
    return filled(chains, graph.arcs, *found, rate)


def _pushed(chains: Chains, problem: Problem, change: Direction) -> FloatArray:
    """Return the change of every value; NaN where there is none."""
    tangent = np.full(problem.graph.num_vertices, np.nan)
    tangent[problem.labels.vertices] = change.rates
    push(chains, tangent, change.stretch)
    return tangent


def _is_smooth(
    problem: Problem, fixed: BoolArray, values: FloatArray, rates: FloatArray, noise: FloatArray
) -> bool:
    """Whether arcs that tie change alike, at fixed vertices and at filled ones."""
    graph, arcs = problem.graph, (problem.graph.arcs, problem.graph.reverse_arcs)
    unsure = ALIKE * float(np.nanmax(np.abs(rates)))
    known, free = np.where(fixed, rates, np.nan), fixed & ~problem.labelled
    if not keeps_ties(*arcs, free, values, known, noise, unsure):
        return False
    # a filled vertex may take its value from any neighbour that has it, or has it at the arc's cost
    tails, heads = graph.tails, graph.indices
    with np.errstate(invalid="ignore"):  # inf − inf
        rise = values[tails] - values[heads]
        tied = np.minimum(np.abs(rise), np.abs(rise - graph.lengths)) <= noise[tails]
        apart = np.abs(rates[tails] - rates[heads]) > unsure
    return not (tied & apart & ~fixed[tails]).any()


def _both_ways(graph: Graph, by_length: FloatArray) -> FloatArray:
    """Return a gradient by arcs with the two arcs of an undirected edge made alike."""
    if graph.directed:
        return by_length
    return 0.5 * (by_length + by_length[reverse_slots(graph.arcs)])


# ------------------------------------------------------------------ harmonic and p


class Linearised:
    """The linearised equation at a field, prepared for solving with its transpose."""

    def __init__(self, problem: Problem, values: FloatArray, p: float, error: FloatArray) -> None:
        graph = self._graph = problem.graph
        self._labels, tails = problem.labels, graph.tails
        free = np.flatnonzero(~(problem.labelled | problem.orphaned))
        self._interior = interior = Interior.of(graph, free)
        self._at = at = np.flatnonzero(interior.row[tails] >= 0)
        """Arcs out of free vertices."""
        self._row = row = interior.row[tails[at]]
        lengths = graph.lengths[at]
        change = values[graph.indices[at]] - values[tails[at]]
        self._slope = slope = change / lengths
        self._weight = 1.0 / lengths
        self._flat: BoolArray = np.zeros(free.size, dtype=bool)
        """Free vertices without a slope."""
        self._blur = np.zeros(free.size)
        """Relative error of the weights of each free vertex."""
        if interior.size == 0:
            return
        if p == 2.0:
            self._matrix, self._solver = interior.laplacian, symmetric_solver(interior)
            return
        # w_xy, the rows divided by their steepest slope to the power p − 2
        largest, steepest = np.zeros(free.size), np.zeros(free.size)
        np.maximum.at(largest, row, np.abs(change))
        np.maximum.at(steepest, row, np.abs(slope))
        self._flat = flat = largest <= ROUNDING * _most(graph, problem.boundary)[free]
        self._blur = np.where(flat, 0.0, (p - 2.0) * error[free] / np.where(flat, 1.0, largest))
        with np.errstate(under="ignore"):
            ratio = np.abs(slope) / np.where(flat, 1.0, steepest)[row]
            self._weight *= np.where(flat[row], 1.0, ratio ** (p - 2.0))
        # the transpose has the entry of the opposite arc in every slot
        entries = np.zeros(graph.num_arcs)
        entries[at] = -self._weight
        inner = interior.slot >= 0
        data = np.empty(interior.indices.size)
        data[interior.indptr[:-1]] = np.bincount(row, self._weight, free.size)
        data[interior.slot[inner]] = entries[reverse_slots(graph.arcs)][inner]
        self._matrix, self._solver = interior.matrix(data), general_solver(interior, data)

    @property
    def has_kink(self) -> bool:
        """Whether a set of vertices without a slope has two or more neighbours outside."""
        flat = np.zeros(self._graph.num_vertices, dtype=bool)
        flat[self._interior.vertices[self._flat]] = True
        _, home, rim = plateaus(self._graph, flat)
        piece = np.unique(np.column_stack([home, rim]), axis=0)[:, 0]
        return bool((np.diff(piece) == 0).any())

    def pull(self, cotangent: FloatArray) -> Gradient:
        """Return the gradient of cotangent · field: one solve, refined."""
        graph, labels, heads = self._graph, self._labels, self._graph.indices[self._at]
        adjoint = self._adjoint(cotangent[self._interior.vertices])
        share = adjoint[self._row] * self._weight
        passing = np.bincount(self._row, np.abs(share), adjoint.size)
        blurred = (self._blur > BLUR) & (passing > COARSE * np.abs(cotangent).sum())
        if blurred.any():
            raise WayfieldError(
                f"the derivative is inaccurate at vertex {self._interior.vertices[blurred][0]}: "
                "compared with the largest label, the values around it differ too little for this "
                "p; use a smaller p, or labels of similar size"
            )
        total = np.bincount(heads, share, graph.num_vertices) + cotangent
        by_length = np.zeros(graph.num_arcs)
        by_length[self._at] = -share * self._slope
        return Gradient(total[labels.vertices], _both_ways(graph, by_length))

    def _adjoint(self, right: FloatArray) -> FloatArray:
        """Solve Aᵀ λ = c to a negligible residual."""
        found, left = np.zeros(right.size), right
        size = float(np.abs(right).sum())
        for _ in range(REFINEMENTS):
            if float(np.abs(left).sum()) <= FINE * size:
                break
            check_time()
            trial = found + self._solver.solve(left, rtol=FINE)
            rest = right - self._matrix @ trial
            if not np.abs(rest).sum() < 0.5 * np.abs(left).sum():
                break
            found, left = trial, rest
        residual = float(np.abs(left).sum())
        if residual > COARSE * size:
            raise WayfieldError(
                f"the derivative is only known to within {residual / size:.1e} of the cotangent, "
                f"more than {COARSE:g}: (a) labels are hundreds of thousands of steps apart: label "
                "states in between; (b) slopes or lengths are too many orders apart: use a "
                "smaller p; or take AMLE(), whose derivative needs no linear solve"
            )
        return found


def _linearised(
    problem: Problem,
    base: FloatArray,
    field: Extension,
    method: Harmonic | PLaplacian,
    direction: Direction | None,
) -> Linearised:
    """Linearise at the field, or a step towards a direction if it has a kink."""
    p = float(method.p) if isinstance(method, PLaplacian) else 2.0
    labels, solved = problem.labels, Solution(base, field.lower, field.upper)
    if 0.0 < 2.0 * labels.span < np.abs(labels.values).max():
        # slopes are differences: without the common part of the labels they keep their digits
        shifted = Labels(labels.vertices, labels.values - labels.values.min())
        problem = make_problem(problem.graph, shifted, method, "nan")
        solved = method.solve(problem)

    def at(problem: Problem, solved: Solution) -> Linearised:
        error = np.finfo(float).eps * _most(problem.graph, problem.boundary)
        if solved.lower is not None and solved.upper is not None:
            with np.errstate(invalid="ignore"):  # inf − inf
                error += _most(problem.graph, solved.upper - solved.lower) / 2
        return Linearised(problem, solved.values, p, error)

    found = at(problem, solved)
    if p > 2.0 and found.has_kink:
        direction = direction or Direction.generic(problem.graph, problem.labels)
        moved, _ = direction.step(problem, STEPS[0])
        found = at(moved, method.solve(moved))
    return found


# ------------------------------------------------------------------ what `Extension` calls


def checked_cotangent(field: Extension, cotangent: ArrayLike) -> FloatArray:
    """Return a cotangent as finite floats that are 0 where the field is not finite."""
    checked = as_finite(cotangent, "cotangent", field.values.size)
    refuse(np.abs(checked) > LARGEST, checked, "cotangent", f"is beyond {LARGEST:g}")
    bad = (checked != 0.0) & ~np.isfinite(field.values)
    refuse(bad, checked, "cotangent", "must be 0: the field has no finite value there")
    return checked
