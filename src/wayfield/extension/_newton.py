"""Newton's method and the verified bracket for the normalised p-Laplace equation.

The mathematics stands in `plaplacian`. Fields are centred, the labels' midrange subtracted, and
held as unevaluated sums of two doubles.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..kernels._types import FloatArray
from ..kernels.harmonic import Pair, corrected
from ..kernels.plaplacian import Rows, jacobian, residual, sweep, update_residual, violations
from ._base import Status
from ._linear import Interior, LinearSolver, general_solver

ROUNDING = 2.0**-50
"""F is not evaluated better than to this share of the sums it is the difference of."""
FAINT = 2.0**-80
"""Differences below this share of the label range are noise."""
FLAT = 2.0**-20
"""Differences below this share of the residual count as a plateau in the Jacobian."""
CLOSE = 2.0**-53
"""A vertex is solved with its neighbours held fixed to this share of the label range."""
SHORTEST_STEP = 1e-4
"""Newton's direction has failed if no step longer than this share of it descends."""
CHORD = 0.25
"""A chord step must bring the residual down to this share to be followed by another."""
MAX_WIDENINGS = 14


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

    def at(self, u: Pair, target: FloatArray | None = None) -> Iterate:
        """Evaluate F(u) − target."""
        value, size = residual(self.interior.graph.arcs, self.interior.vertices, u, self.q)
        return Iterate(u, value if target is None else value - target, size)

    def linearised(self, now: Iterate) -> LinearSolver:
        """Factor A = −∂F/∂u."""
        rows = Rows(self.interior.vertices, self.interior.indptr, self.interior.slot)
        flat = FLAT * now.norm + FAINT * self.span
        data = jacobian(self.interior.graph.arcs, rows, now.u, self.q, flat)
        self.factorisations += 1
        return general_solver(self.interior, data)

    def moved(self, u: Pair, step: FloatArray) -> Pair:
        """Return u with a step added at the free vertices."""
        return Pair(*corrected(*u, self.interior.vertices, step))

    def clipped(self, u: Pair) -> Pair:
        """Return u clipped to the label range, which the maximum principle allows."""
        half = 0.5 * self.span
        outside = np.abs(u.high) > half
        if not outside.any():
            return u
        return Pair(np.clip(u.high, -half, half), np.where(outside, 0.0, u.low))

    def swept(self, u: Pair) -> Pair:
        """Return u after a nonlinear Gauss–Seidel sweep there and back."""
        u = Pair(u.high.copy(), u.low.copy())
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        sweep(arcs, vertices, u, self.q, CLOSE * self.span)
        return u

    def update_residual(self, u: Pair) -> float:
        """Largest distance of a value from the one its neighbours ask for."""
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        return float(update_residual(arcs, vertices, u, self.q, CLOSE * self.span))

    def violations(self, v: Pair, side: int) -> int:
        """Count the vertices where v is not surely a super- (side +1) or subsolution (-1)."""
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        return int(violations(arcs, vertices, v, self.q, side))


@dataclass(eq=False)
class Iterate:
    """A field, its residual, and the size of what the residual is the difference of."""

    u: Pair
    residual: FloatArray
    size: FloatArray
    solver: LinearSolver | None = None
    """The last factorisation on the way here."""
    steps: int = 0
    status: Status = Status.BUDGET

    @property
    def norm(self) -> float:
        """Largest |F|."""
        return float(np.abs(self.residual).max())

    def imbalance(self, faint: float) -> float:
        """Largest |F| relative to the size of what it is the difference of."""
        return float((np.abs(self.residual) / (self.size + faint)).max())

    def follows(self, earlier: Iterate) -> Iterate:
        """Return this iterate with the history of an earlier one."""
        self.solver, self.steps = earlier.solver, earlier.steps
        return self


def newton(
    equation: Equation,
    start: Pair,
    tolerance: float,
    cap: int,
    target: FloatArray | None = None,
) -> Iterate:
    """Solve F(u) = target: damped Newton steps, chord steps, and sweeps where both fail.

    Goes on until max |F| is a tenth of the tolerance; the status is CONVERGED if it is within.
    """
    now = equation.at(start, target)
    while now.norm > 0.1 * tolerance and now.steps < cap:
        now.steps += 1
        now.solver = equation.linearised(now)
        better = damped_step(equation, now, target)
        if better is not None:
            now = chord_steps(equation, better, target)
        elif now.norm <= tolerance or target is not None:
            break
        else:
            now = equation.at(equation.swept(now.u)).follows(now)
    if now.norm <= tolerance:
        now.status = Status.CONVERGED
    elif now.steps < cap:
        now.status = Status.STALLED
    return now


def polish(equation: Equation, now: Iterate, cap: int) -> Iterate:
    """Go on until every vertex is in balance to the last place, as far as that comes cheap.

    Full steps, judged by the largest |F_x| relative to λ_x M_x, which is what vertices on short
    edges need; first with the factorisation at hand, then with a fresh one each.
    """
    faint = FAINT * equation.span
    fresh = False
    while now.imbalance(faint) > ROUNDING and now.status is Status.CONVERGED:
        if now.solver is None or fresh:
            if now.steps >= cap:
                break
            now.steps += 1
            now.solver = equation.linearised(now)
        trial = equation.at(equation.moved(now.u, now.solver.solve(now.residual)))
        if trial.imbalance(faint) <= 0.5 * now.imbalance(faint):
            trial.status = now.status
            now, fresh = trial.follows(now), False
        elif fresh or now.steps == 0:
            break
        else:
            fresh = True
    return now


def damped_step(equation: Equation, now: Iterate, target: FloatArray | None) -> Iterate | None:
    """Longest of the steps 1, 1/2, 1/4, … along Newton's direction that descends, if any."""
    assert now.solver is not None
    direction = now.solver.solve(now.residual)
    if not np.isfinite(direction).all():
        return None
    largest, total = now.norm, float(np.linalg.norm(now.residual))
    t = 1.0
    while t > SHORTEST_STEP:
        u = equation.moved(now.u, t * direction)
        trial = equation.at(u if target is not None else equation.clipped(u), target)
        factor = 1.0 - 0.1 * t
        if trial.norm <= factor * largest or np.linalg.norm(trial.residual) <= factor * total:
            return trial.follows(now)
        t *= 0.5
    return None


def chord_steps(equation: Equation, now: Iterate, target: FloatArray | None) -> Iterate:
    """Further steps with the same factorisation, as long as they contract well."""
    assert now.solver is not None
    while now.norm > 0.0:
        trial = equation.at(equation.moved(now.u, now.solver.solve(now.residual)), target)
        if not trial.norm <= CHORD * now.norm:
            break
        now = trial.follows(now)
    return now


def verified_bound(equation: Equation, solved: Iterate, side: int) -> Pair | None:
    """Return a verified supersolution (side +1) or subsolution (-1) close to the solution.

    The candidate solves F = −side · τ, where τ covers at every vertex the residual and the
    rounding of F there; τ grows until the candidate passes.
    """
    solver = solved.solver
    tau = 1.5 * np.abs(solved.residual) + ROUNDING * solved.size + FAINT * equation.span
    for attempt in range(MAX_WIDENINGS):
        if attempt == 1 or solver is None:
            solver = equation.linearised(solved)
        candidate = equation.moved(solved.u, solver.solve(solved.residual + side * tau))
        if attempt >= 3:
            tolerance = 0.5 * float(tau.min())
            candidate = newton(equation, candidate, tolerance, 8, target=-side * tau).u
        if equation.violations(candidate, side) == 0:
            return candidate
        tau *= 4.0
    return None
