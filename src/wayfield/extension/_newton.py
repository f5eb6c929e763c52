"""Newton's method and the verified bracket for the normalised p-Laplace equation.

The mathematics stands in `plaplacian`. Fields here are centred: the labels' midrange is subtracted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..kernels._types import FloatArray
from ..kernels.plaplacian import Rows, jacobian, residual, sweep, update_residual, violations
from ._base import Status
from ._linear import Interior, LinearSolver, general_solver

FLAT = 1e-15
"""Differences below this share of the label range count as a plateau in the Jacobian."""
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

    def residual(self, u: FloatArray, target: float = 0.0) -> FloatArray:
        """F(u) − target by rows."""
        values: FloatArray = residual(self.interior.graph.arcs, self.interior.vertices, u, self.q)
        return values - target if target else values

    def linearised(self, u: FloatArray) -> LinearSolver:
        """Factor A = −∂F/∂u at u."""
        rows = Rows(self.interior.vertices, self.interior.indptr, self.interior.slot)
        data = jacobian(self.interior.graph.arcs, rows, u, self.q, FLAT * self.span)
        self.factorisations += 1
        return general_solver(self.interior, data)

    def moved(self, u: FloatArray, step: FloatArray) -> FloatArray:
        """Return u with a step added at the free vertices."""
        result = u.copy()
        result[self.interior.vertices] += step
        return result

    def sweep(self, u: FloatArray) -> None:
        """One nonlinear Gauss–Seidel sweep there and back, in place."""
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        sweep(arcs, vertices, u, self.q, CLOSE * self.span)

    def update_residual(self, u: FloatArray) -> float:
        """Largest distance of a value from the one its neighbours ask for."""
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        return float(update_residual(arcs, vertices, u, self.q, CLOSE * self.span))

    def violations(self, v: FloatArray, side: int) -> int:
        """Count the vertices where v is not surely a super- (side +1) or subsolution (-1)."""
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        return int(violations(arcs, vertices, v, self.q, side))


@dataclass(eq=False)
class Iterate:
    """A field and its residual."""

    u: FloatArray
    residual: FloatArray
    solver: LinearSolver | None = None
    """The last factorisation on the way here."""
    steps: int = 0
    status: Status = Status.BUDGET

    @property
    def norm(self) -> float:
        """Largest |F|."""
        return float(np.abs(self.residual).max())


def newton(
    equation: Equation, u: FloatArray, tolerance: float, cap: int, target: float = 0.0
) -> Iterate:
    """Solve F(u) = target: damped Newton steps, chord steps, and sweeps where both fail.

    Stops at a tenth of the tolerance, where no step descends any more, or at the cap; the status
    is CONVERGED if the residual is within the tolerance.
    """
    now = Iterate(u, equation.residual(u, target))
    while now.norm > 0.1 * tolerance and now.steps < cap:
        now.steps += 1
        now.solver = equation.linearised(now.u)
        better = damped_step(equation, now, target)
        if better is not None:
            now = chord_steps(equation, better, target)
        elif now.norm <= tolerance or target:
            break
        else:
            u = now.u.copy()
            equation.sweep(u)
            now = Iterate(u, equation.residual(u), now.solver, now.steps)
    if now.norm <= tolerance:
        now.status = Status.CONVERGED
    elif now.steps < cap:
        now.status = Status.STALLED
    return now


def damped_step(equation: Equation, now: Iterate, target: float) -> Iterate | None:
    """Longest of the steps 1, 1/2, 1/4, … along Newton's direction that descends, if any.

    For target 0 the maximum principle allows to clip the field to the label range.
    """
    assert now.solver is not None
    direction = now.solver.solve(now.residual)
    if not np.isfinite(direction).all():
        return None
    largest, total = now.norm, float(np.linalg.norm(now.residual))
    t = 1.0
    while t > SHORTEST_STEP:
        u = equation.moved(now.u, t * direction)
        if not target:
            np.clip(u, -0.5 * equation.span, 0.5 * equation.span, out=u)
        trial = Iterate(u, equation.residual(u, target), now.solver, now.steps)
        factor = 1.0 - 0.1 * t
        if trial.norm <= factor * largest or np.linalg.norm(trial.residual) <= factor * total:
            return trial
        t *= 0.5
    return None


def chord_steps(equation: Equation, now: Iterate, target: float) -> Iterate:
    """Further steps with the same factorisation, as long as they contract well."""
    assert now.solver is not None
    while now.norm > 0.0:
        u = equation.moved(now.u, now.solver.solve(now.residual))
        trial = Iterate(u, equation.residual(u, target), now.solver, now.steps)
        if not trial.norm <= CHORD * now.norm:
            break
        now = trial
    return now


def verified_bound(
    equation: Equation, solved: Iterate, boundary: FloatArray, side: int
) -> FloatArray | None:
    """Return a verified supersolution (side +1) or subsolution (-1) close to the solution.

    `boundary` holds, at the labels, doubles not below them (side +1) or not above (-1). The
    candidate solves F = −side · τ; τ grows until it passes.
    """
    free = equation.interior.vertices
    u = boundary.copy()
    u[free] = solved.u[free]
    start = equation.residual(u)
    solver = solved.solver
    tau = max(2.0**-51 * 0.5 * equation.span, 1.5 * solved.norm)
    for attempt in range(MAX_WIDENINGS):
        if attempt == 1 or solver is None:
            solver = equation.linearised(u)
        candidate = equation.moved(u, solver.solve(start + side * tau))
        if attempt >= 3:
            candidate = newton(equation, candidate, 0.5 * tau, 8, target=-side * tau).u
        if equation.violations(candidate, side) == 0:
            return candidate
        tau *= 4.0
    return None
