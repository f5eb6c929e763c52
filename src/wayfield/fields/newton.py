"""Newton's method and the verified bracket for the normalised p-Laplace equation.

See `plaplacian` for the mathematics. Fields are centred and scaled (`scaling`), and stored as
unevaluated sums of two doubles.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..graphs.graph import Graph
from ..numerics.doubledouble import Pair, corrected
from ..numerics.workers import check_time
from ..typing import BoolArray, FloatArray, IntArray
from .base import Status
from .kernels import JacobianRows, jacobian, residual, sweep, update_residual, violations
from .linear import Interior, LinearSolver, general_solver

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
        rows = JacobianRows(self.interior.vertices, self.interior.indptr, self.interior.slot)
        data = jacobian(self.interior.graph.arcs, rows, now.u, self.q, now.faint)
        self.factorisations += 1
        now.fresh = general_solver(self.interior, data)
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


def plateaus(graph: Graph, flat: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the connected pieces of flat vertices, and their rims.

    The result is the (n,) piece of each vertex and, for each arc that leaves a piece, the piece and
    the arc's head.
    """
    tails, heads = graph.tails, graph.indices
    inside, out = flat[tails] & flat[heads], flat[tails] & ~flat[heads]
    arcs = np.ones(int(inside.sum()), np.int8), (tails[inside], heads[inside])
    joined = sparse.coo_array(arcs, shape=(flat.size, flat.size))
    _, piece = connected_components(joined, directed=False)
    return piece, piece[tails[out]], heads[out]


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
