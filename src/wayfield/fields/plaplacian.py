r"""The p-Laplacian extension for any p from 2 to 65,536, with a verified bracket.

Equation
    Σ_y sign(u_y − u_x) (|u_y − u_x| / ℓ_xy)^{p−1} = 0 at every free vertex x: u minimises the
    energy Σ ℓ |Δu / ℓ|^p. p = 2 is the harmonic extension, p → ∞ the AMLE, and an edge of whole
    length k equals k unit edges in series for every p.
Boundary condition
    u equals the label at every labelled vertex. A component without a label has no extension.
Method
    Newton's method, not on the energy, whose Hessian degenerates wherever slopes differ, but on
    the same equation normalised at each vertex: F_x = M_x⁺ − M_x⁻, where M_x± is the (p−1)-norm of
    the upward and the downward slopes at x. F is monotone and homogeneous of degree 1, tends to
    the ∞-Laplacian, and its negative Jacobian is an M-matrix whose entries cannot overflow. u is
    held as an unevaluated sum of two doubles, so that short edges have accurate slopes too. The
    start interpolates between the two ends of the family, 2/p of the harmonic extension and
    1 − 2/p of the AMLE, both exact: from there a few steps suffice for any p. A step is halved
    until the residual falls; where Newton's direction fails, nonlinear Gauss–Seidel sweeps follow.
    Ordering and pattern of the Jacobian are fixed once, and a factorisation is reused for chord
    steps as long as they contract. Where iterating is quicker (`linear`), Newton's equation is
    solved to seven digits by biconjugate gradients, preconditioned by approximate elimination of
    the Jacobian itself. At the solution M⁺ = M⁻, and the Jacobian is symmetric but for the factors
    of its rows; elsewhere it is not, and elimination only has to be near enough: a direction that
    does not descend is replaced by sweeps, as above. Neither proof nor accuracy of the result
    depend on it.
Stopping rule
    max |F| at most a tenth of the tolerance, relative to M + (label range / longest edge), then as
    far as steps come cheap. Converged means: at most the tolerance, and the bracket verified.
Guarantee
    The comparison principle: a field that is at most the labels and has Σ_up s^{p−1} ≥
    Σ_down s^{p−1} at every free vertex lies below the extension, the reverse above. Candidates
    solve F = ±τ, by a chord step from u and, if need be, Newton's method, and are constant on
    plateaus; the sign is then verified at every vertex with an a-priori bound on all rounding
    (`kernels.violations`), and the bracket is rounded outward.
Duality gap
    ``details["gap"]``, reported because the literature certifies solvers by it. For a flow f on the
    edges without sources at the free vertices, summation by parts and Hölder's inequality bound
    the energy norm of every field u with the given labels from below,

        ‖Du‖ = (Σ ℓ |Δu/ℓ|^p)^{1/p}  ≥  Σ_labels (div f) u / (Σ ℓ |f|^{q})^{1/q},   1/p + 1/q = 1,

    with equality for f = |Du|^{p−1} sign Du at the minimiser. A source left at a free vertex costs
    at most half the label range times its strength, by the maximum principle. The relative gap of
    the energy is 1 − (lower bound / ‖Du‖)^p. It bounds the *energy*; values can be far off at a
    gap of 1e-12, since an edge whose slope is half the steepest counts 2^{−p}: see
    ``docs/mathematics.md``.

References: Oberman, "Finite difference methods for the infinity Laplace and p-Laplace equations",
J. Comput. Appl. Math. 254, 2013, for the monotone normalised operator; Holopainen and Soardi,
"p-harmonic functions on graphs and manifolds", Manuscripta Math. 94, 1997, for comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from ..checks import as_whole
from ..errors import InputError, Option
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..numerics.doubledouble import Pair, corrected
from ..numerics.workers import check_time
from ..typing import BoolArray, FloatArray, IntArray
from .adjoint import Adjoint, adjoint_of, plateaus
from .amle.method import AMLE
from .base import Problem, Shared, Solution, Status, one_by_one
from .harmonic import Harmonic, System, shared_system, solve_block
from .kernels import jacobian, residual, sweep, update_residual, violations
from .linear import Direct, Interior, LinearSolver, general_solver
from .proof import Enclosed
from .scaling import Scaled

LIMIT = Option("method", "amle", python="AMLE()")
"""The extension for p = inf."""
LARGEST_P = 65_536.0
FINEST_TOLERANCE = 1e-15
SOLVES = 6
"""Number of systems per problem, used to choose a solver."""
DETAILS = ("equation", "gap", "width", "factorisations")


@dataclass(frozen=True)
class PLaplacian:
    """p-Laplacian extension: minimises Σ length · |slope|^p, for any p in [2, 65536].

    Parameters
    ----------
    p : float
        The exponent. 2 is `Harmonic`; for p = ∞ use `AMLE`.
    bracket : bool
        Compute the bracket; without it `lower` and `upper` are None.
    tolerance : float
        Bound on max |F|, relative to the label range on unit lengths; see the module for others. At
        least 1e-15, the finest that doubles resolve.
    max_steps : int
        Cap on Newton steps.

    Notes
    -----
    The residual is the update residual: the largest distance of a free value from the one that
    solves its equation with its neighbours held fixed. ``details`` holds ``equation`` (max |F|,
    relative as above), ``gap`` (relative duality gap of the energy), ``width`` (of the bracket,
    over the label range) and ``factorisations`` (of Jacobians, or preparations for iterating).

    Examples
    --------
    >>> import wayfield as wf
    >>> star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3])
    >>> labels = wf.Labels([1, 2, 3], [0.0, 0.0, 1.0])
    >>> for p in (2, 3, 16, 1024):
    ...     print(f"{p:4d}: {wf.extend(star, labels, wf.PLaplacian(p)).values[0]:.4f}")
       2: 0.3333
       3: 0.4142
      16: 0.4884
    1024: 0.4998
    """

    p: float
    _: KW_ONLY
    bracket: bool = True
    tolerance: float = 1e-13
    max_steps: int = 60
    directed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        p = self.p
        if isinstance(p, bool) or not isinstance(p, int | float | np.integer | np.floating):
            raise InputError(f"p must be a number, got {p!r}")
        if p == np.inf:
            raise InputError("p must be finite, got inf: the extension for p = inf is ", LIMIT)
        if not 2.0 <= p <= LARGEST_P:
            hint = ("; nearer to p = inf use ", LIMIT) if p > LARGEST_P else ()
            raise InputError(f"p must be from 2 to {LARGEST_P:.0f}, got {p}", *hint)
        if not FINEST_TOLERANCE <= self.tolerance < 1.0:
            raise InputError(
                f"tolerance must be at least {FINEST_TOLERANCE}, the finest that doubles resolve, "
                f"and below 1, got {self.tolerance}"
            )
        as_whole(self.max_steps, "max_steps", least=1)

    def solve(self, problem: Problem) -> Solution:
        """Extend the labels of one problem."""
        if self.p == 2.0:
            return Harmonic(bracket=self.bracket).solve(problem)
        free = np.flatnonzero(~(problem.labelled | problem.orphaned))
        return self.solve_on(System(Interior.of(problem.graph, free, solves=SOLVES)), problem)

    def share(self, graph: Graph, label_sets: Sequence[Labels]) -> Shared | None:
        """Return one harmonic factorisation, and its order of elimination, for all."""
        if self.p == 2.0:
            return Harmonic(bracket=self.bracket).share(graph, label_sets)
        system = shared_system(graph, label_sets)
        if system is None:
            return None
        solve = partial(one_by_one, partial(self.solve_on, system))
        return Shared(solve, partial(system.prepare, bracket=False))

    def linearised(self, problem: Problem, at: Solution, toward: FloatArray | None) -> Adjoint:
        """Return the equation linearised at a solution, ready for solving with its transpose."""
        return adjoint_of(problem, at, toward, self.solve, float(self.p))

    def solve_on(self, system: System, problem: Problem) -> Solution:
        """Extend the labels of a problem whose free vertices are among the system's."""
        labels = problem.labels
        if labels.span == 0.0 or (problem.labelled | problem.orphaned).all():
            constant = solve_block(system, [problem], self.bracket)[0]
            # its barriers are constant, or labels: they are the same for every p
            kept = constant.evidence
            if isinstance(kept, Enclosed):
                kept = replace(kept, p=float(self.p))
            return replace(constant, details=dict.fromkeys(DETAILS, 0.0), evidence=kept)
        scaled = Scaled.centred(problem)
        equation = Equation(ordered_interior(system, problem), float(self.p) - 1.0, scaled.span)
        solved = self._newton(equation, system, scaled)
        bracket, evidence = None, None
        if self.bracket:
            bracket, evidence = verified_bracket(equation, solved, scaled)
        status = solved.status
        if self.bracket and bracket is None and status is Status.CONVERGED:
            status = Status.UNVERIFIED
        # levelling changes values by rounding, and is used only inside the bracket
        field = solved.u if bracket is None else levelled(equation, solved, solved.u, -1)
        values = np.clip(scaled.values(field), *(bracket or problem.label_range))
        width = np.inf if bracket is None else np.nanmax(bracket[1] - bracket[0]) / labels.span
        gap = duality_gap(problem, values, float(self.p))
        figures = (solved.norm, gap, float(width), float(equation.factorisations))
        details = dict(zip(DETAILS, figures, strict=True))
        lower, upper = bracket or (None, None)
        update = equation.update_residual(values, labels.span)
        return Solution(values, status, lower, upper, update, solved.steps, details, evidence)

    def _newton(self, equation: Equation, system: System, scaled: Scaled) -> Iterate:
        """Solve from a start between the harmonic extension and the AMLE."""
        problem = scaled.rounded_problem()
        harmonic = solve_block(system, [problem], bracket=False)[0].values
        amle = AMLE(bracket=False).solve(problem).values
        between = 2.0 / float(self.p) * harmonic + (1.0 - 2.0 / float(self.p)) * amle
        solved = newton(equation, start_field(scaled, between), self.tolerance, self.max_steps)
        return polish(equation, solved, self.max_steps)


def duality_gap(problem: Problem, values: FloatArray, p: float) -> float:
    """Return the relative duality gap of the energy, with the flow |Du|^{p−1} sign Du."""
    graph, labels = problem.graph, problem.labels
    middle = 0.5 * labels.values.min() + 0.5 * labels.values.max()
    u = np.where(problem.orphaned, 0.0, values - middle)
    slope = (u[graph.indices] - u[graph.tails]) / graph.lengths
    most = slope.max(initial=0.0)  # every edge is seen both ways
    if most == 0.0:
        return 0.0
    # u and the slopes divided by the steepest, so that no power overflows
    u, slope = u / most, slope / most
    power = np.abs(slope) ** (p - 1.0)
    inflow = np.bincount(graph.tails, -np.copysign(power, slope), u.size)
    energy = 0.5 * (graph.lengths * power * np.abs(slope)).sum()
    work = (inflow * u)[problem.labelled].sum()
    sources = np.abs(inflow[~problem.labelled]).sum() / most
    # primal norm E^{1/p} times dual norm E^{1 − 1/p} is E
    ratio = (work - 0.5 * labels.span * sources) / energy
    return float(-np.expm1(p * np.log(min(ratio, 1.0)))) if ratio > 0.0 else 1.0


def start_field(scaled: Scaled, values: FloatArray) -> Pair:
    """Return values in the solver's units as a field: exact at the labels, 0 where orphaned."""
    free = ~(scaled.problem.labelled | scaled.problem.orphaned)
    return Pair(np.where(free, values, scaled.field.high), scaled.field.low)


def verified_bracket(
    equation: Equation, solved: Iterate, scaled: Scaled
) -> tuple[tuple[FloatArray, FloatArray] | None, Enclosed | None]:
    """Return verified bounds, rounded outward; None if either side could not be verified."""
    below = verified_bound(equation, solved, -1)
    above = verified_bound(equation, solved, +1)
    if below is None or above is None:
        return None, None
    bracket = scaled.values(below, -1), scaled.values(above, +1)
    return bracket, Enclosed(equation.q + 1.0, below, above)


def ordered_interior(system: System, problem: Problem) -> Interior:
    """Return the problem's free vertices in the elimination order of the system's factorisation."""
    vertices, ordered = system.interior.vertices, isinstance(system.solver, Direct)
    if isinstance(system.solver, Direct):
        vertices = vertices[system.solver.order]
    free, solves = vertices[~problem.labelled[vertices]], system.interior.solves
    return Interior.of(problem.graph, free, ordered=ordered, solves=solves)


# ------------------------------------------------------------------ Newton's method, and bounds
# Fields are centred and scaled (`scaling`), and stored as unevaluated sums of two doubles.

F_ROUNDING = 2.0**-50
"""Rounding error of F is at most this share of the two sums that F subtracts."""
MARGIN = 2.0**-47
"""The sign of F is certain if F exceeds this share of the two sums."""
START_NOISE = 2.0**-48
"""Noise in the differences of a starting field in doubles, relative to the label range."""
STEP_NOISE = 2.0**-44
"""Noise in the differences that a step leaves behind, relative to its largest entry."""
LEAST_NOISE = 2.0**-80
"""Least noise that is assumed, as a share of the label range."""
CLOSE = 2.0**-53
"""A vertex is solved with its neighbours held fixed to this share of the label range."""
PLATEAU = 1024.0
"""Slopes up to this multiple of the noise count as a plateau at first."""
SHORTEST_STEP = 1e-4
"""Newton's direction has failed if no step longer than this share of it descends."""
CHORD = 0.25
"""Another chord step follows only if the last one reduced the residual to this share."""
ASTRAY = 16.0
"""Candidates for a bound may exceed the label range up to this multiple of it."""
MOST_BOUND_ATTEMPTS = 20
BOUND_STEPS = 1
"""Further steps towards a bound before τ grows."""


@dataclass(eq=False)
class Equation:
    """F(u) = target on the free vertices, rows in an order of elimination.

    Attributes
    ----------
    interior : Interior
        The free vertices and the pattern of the Jacobian.
    q : float
        p − 1.
    span : float
        Range of the labels, positive.
    factorisations : int
        Jacobians factored so far.
    """

    interior: Interior
    q: float
    span: float
    factorisations: int = field(default=0)

    @cached_property
    def gentle(self) -> float:
        """Slope of a drop by the label range along the longest edge."""
        return self.span / float(self.interior.graph.lengths.max())

    @cached_property
    def shortest(self) -> FloatArray:
        """(m,) shortest length at every free vertex."""
        graph = self.interior.graph
        shortest = np.full(graph.num_vertices, np.inf)
        np.minimum.at(shortest, graph.tails, graph.lengths)
        return shortest[self.interior.vertices]

    @cached_property
    def fixed(self) -> IntArray:
        """The vertices that are not free, at least one of them labelled."""
        return np.flatnonzero(self.interior.row < 0)

    def at(self, u: Pair, target: FloatArray | None = None, noise: float = 0.0) -> Iterate:
        """Evaluate F(u) − target."""
        faint = max(noise, LEAST_NOISE * self.span) / self.shortest
        value, size = residual(self.interior.graph.arcs, self.interior.vertices, u, self.q, faint)
        excess = value if target is None else value - target
        return Iterate(u, excess, size, excess / (size + self.gentle), faint)

    def linearised(self, now: Iterate) -> LinearSolver:
        """Factor A = −∂F/∂u, once."""
        if now.fresh is not None:
            return now.fresh
        check_time()
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        weights = jacobian(arcs, vertices, now.u, self.q, now.faint)
        self.factorisations += 1
        now.fresh = general_solver(self.interior, weights)
        return now.fresh

    def after(self, now: Iterate, step: FloatArray, target: FloatArray | None = None) -> Iterate:
        """Return the iterate after a step, clipped to the label range if there is no target.

        A step that overflowed counts as no step.
        """
        if not np.isfinite(step).all():
            step = np.zeros_like(step)
        u = Pair(*corrected(now.u, self.interior.vertices, step))
        u = self.clipped(u, 1.0 + 1e-9 if target is None else ASTRAY)
        noise = min(STEP_NOISE * float(np.abs(step).max()), self.span)
        trial = self.at(u, target, noise)
        trial.solver, trial.steps, trial.status = now.solver, now.steps, now.status
        return trial

    def clipped(self, u: Pair, reach: float) -> Pair:
        """Return u clipped to a multiple of the label range; NaN becomes 0."""
        most = reach * float(np.abs(u.high[self.fixed]).max())
        outside = ~(np.abs(u.high) <= most)
        if not outside.any():
            return u
        high = np.clip(np.nan_to_num(u.high, nan=0.0), -most, most)
        return Pair(high, np.where(outside, 0.0, u.low))

    def update_residual(self, values: FloatArray, span: float) -> float:
        """Return the largest distance of a value from the solution of its vertex equation."""
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        u = Pair(values, np.zeros_like(values))
        return float(update_residual(arcs, vertices, u, self.q, CLOSE * span))

    def violations(self, v: Pair, side: int) -> BoolArray:
        """Mark the rows where v is not certainly a super- (side +1) or subsolution (-1)."""
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        unsure: BoolArray = violations(arcs, vertices, v, self.q, side)
        return unsure


@dataclass(eq=False)
class Iterate:
    """A field and its residual F, by rows.

    Attributes
    ----------
    size : (m,) float array
        The larger of M⁺ and M⁻, of which F is the difference.
    relative : (m,) float array
        F / (size + gentle): relative where it is steep, absolute elsewhere.
    faint : (m,) float array
        Slopes that noise in u can cause; a vertex with no larger slope counts as a plateau.
    solver : LinearSolver or None
        The latest factorisation.
    fresh : LinearSolver or None
        The factorisation at this field, if there is one: see `Equation.linearised`.
    """

    u: Pair
    residual: FloatArray
    size: FloatArray
    relative: FloatArray
    faint: FloatArray
    solver: LinearSolver | None = None
    fresh: LinearSolver | None = None
    steps: int = 0
    status: Status = Status.BUDGET

    @cached_property
    def norm(self) -> float:
        """Largest relative residual: the measure of convergence."""
        return float(np.abs(self.relative).max())

    def imbalance(self, faint: FloatArray) -> float:
        """Return the largest residual relative to its size alone, above noise."""
        return float((np.abs(self.residual) / (self.size + faint)).max())


def newton(equation: Equation, start: Pair, tolerance: float, cap: int) -> Iterate:
    """Solve F(u) = 0: damped Newton steps, chord steps, and sweeps where both fail.

    Continues to a tenth of the tolerance; the status is CONVERGED if the residual is within it.
    """
    now = equation.at(equation.clipped(start, 1.0), noise=START_NOISE * equation.span)
    while now.steps < cap and (now.steps == 0 or now.norm > 0.1 * tolerance):
        now.steps += 1
        now.solver = equation.linearised(now)
        better = damped_step(equation, now)
        if better is not None:
            now = chord_steps(equation, better)
        elif now.norm <= tolerance:
            break
        else:
            # a nonlinear Gauss–Seidel sweep, forward and backward
            u, inside = Pair(now.u.high.copy(), now.u.low.copy()), equation.interior
            close = CLOSE * equation.span
            sweep(inside.graph.arcs, inside.vertices, u, equation.q, close)
            now = replace(equation.at(u, noise=START_NOISE * equation.span), steps=now.steps)
    if now.norm <= tolerance:
        now.status = Status.CONVERGED
    return now


def polish(equation: Equation, now: Iterate, cap: int) -> Iterate:
    """Continue until every vertex is balanced to the last digit, while steps are cheap.

    Full steps, judged by the residual relative to its size alone; first with the given
    factorisation, then with a fresh one each.
    """
    fresh = False
    faint = LEAST_NOISE * equation.span / equation.shortest
    while now.imbalance(faint) > F_ROUNDING and now.status is Status.CONVERGED:
        if now.solver is None or fresh:
            if now.steps >= cap:
                break
            now.steps += 1
            now.solver = equation.linearised(now)
            fresh = True
        trial = equation.after(now, now.solver.solve(now.residual))
        if trial.imbalance(trial.faint) <= 0.5 * now.imbalance(trial.faint):
            now, fresh = trial, False
        elif fresh:
            break
        else:
            fresh = True
    return now


def damped_step(equation: Equation, now: Iterate) -> Iterate | None:
    """Return the longest of the steps 1, 1/2, 1/4, … along Newton's direction that descends."""
    assert now.solver is not None
    direction = now.solver.solve(now.residual)
    if not np.isfinite(direction).all():
        return None
    largest, total = now.norm, float(np.linalg.norm(now.relative))
    t = 1.0
    while t > SHORTEST_STEP:
        trial = equation.after(now, t * direction)
        factor = 1.0 - 0.1 * t
        if trial.norm <= factor * largest or np.linalg.norm(trial.relative) <= factor * total:
            return trial
        t *= 0.5
    return None


def chord_steps(equation: Equation, now: Iterate) -> Iterate:
    """Make further steps with the same factorisation, as long as they contract well."""
    assert now.solver is not None
    while now.norm > 0.0:
        check_time()
        trial = equation.after(now, now.solver.solve(now.residual))
        slow = not trial.norm <= CHORD * now.norm
        if trial.norm < now.norm:
            now = trial
        if slow:
            break
    return now


def levelled(
    equation: Equation, solved: Iterate, u: Pair, side: int, flat: float = PLATEAU
) -> Pair:
    """Return u with each plateau as high as its highest rim (side +1) or its lowest (-1).

    A plateau is where slopes of the solution are at most `flat` times what noise can make. Being
    constant, it is p-harmonic inside, and at the rim it errs on the safe side of a bound.
    """
    plateau = np.zeros(u.high.size, dtype=bool)
    plateau[equation.interior.vertices[solved.size <= flat * solved.faint]] = True
    if not plateau.any():
        return u
    piece, home, rim = plateaus(equation.interior.graph, plateau)
    # the rim to take is the last of its plateau in this order; low parts decide between equals
    order = np.lexsort((side * u.low[rim], side * u.high[rim], home))
    last = order[np.append(np.diff(home[order]) != 0, True)[: order.size]]
    source = np.full(plateau.size, -1)
    source[home[last]] = rim[last]
    source = source[piece]
    source = np.where(plateau & (source >= 0), source, np.arange(plateau.size))
    return Pair(u.high[source], u.low[source])


def verified_bound(equation: Equation, solved: Iterate, side: int) -> Pair | None:
    """Return a verified supersolution (side +1) or subsolution (-1) close to the solution.

    The candidate solves F = −side · τ, where τ covers the residual and the rounding of F at each
    vertex: chord steps from the solution, then Newton steps; plateaus are levelled if necessary. If
    a candidate fails, first τ and then the threshold of a plateau grows, until one passes.
    """
    tau = 1.5 * np.abs(solved.residual) + MARGIN * solved.size
    for attempt in range(MOST_BOUND_ATTEMPTS):
        at_hand = solved.solver if attempt == 0 else None
        solver = at_hand or equation.linearised(solved)
        target = -side * tau
        now = equation.after(solved, solver.solve(solved.residual - target), target)
        for step in range(1 + BOUND_STEPS):
            if step:
                solver = at_hand or equation.linearised(now)
                now = equation.after(now, solver.solve(now.residual), target)
            failed = equation.violations(now.u, side)
            if not failed.any():
                return now.u
            level = levelled(equation, solved, now.u, side, PLATEAU ** max(1, attempt - 1))
            if level is not now.u and not equation.violations(level, side).any():
                return level
            # a second chord step that fails too has moved noise: τ is chosen by the first
            if step == 0 or at_hand is None:
                unsure, size = failed, now.size
        tau = np.where(unsure, np.fmax(32.0 * tau, 4.0 * MARGIN * size), tau)
    return None
