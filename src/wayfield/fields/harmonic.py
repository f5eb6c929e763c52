"""The harmonic extension, exactly, with a bracket of a few units in the last place.

Equation
    Σ_y (u_y − u_x) / ℓ_xy = 0 at every free vertex x: u is the mean of its neighbours, weighted by
    the conductances 1/ℓ. It minimises Σ ℓ (Δu/ℓ)².
Boundary condition
    u equals the label at every labelled vertex. A component without a label has no extension.
Method
    A sparse solver, direct or iterative (`linear`), then iterative refinement: u is held as
    an unevaluated sum of two doubles whose residual is evaluated, with a bound on its rounding
    error, to about 30 digits (`kernels.balance`). The labels are centred and scaled
    first, exactly (`scaling`), so that an offset or a unit of theirs costs nothing.
Stopping rule
    The update residual max_x |u_x − weighted mean of its neighbours| falls below 2⁻⁸⁶ of the
    label range, or no longer falls by a factor of 4.
Guarantee
    Let B_x(v) = Σ_y (v_y − v_x) / ℓ. It is linear. Let w ≥ 0 be a field with B_x(w) < 0 at every
    free vertex: about the mean hitting time of the labels by the random walk with conductances
    1/ℓ, for which −B_x(w) = Σ 1/ℓ. With τ ≥ |B_x(u)| / −B_x(w) everywhere, u + τ w is a
    supersolution and u − τ w a subsolution, so by the comparison principle the exact extension
    lies between them. Both numbers are evaluated with bounds on their rounding errors, those of
    the sums u ± τ w included (`kernels.balance`, `kernels.drift`): so the very numbers that are
    stored are a sub- and a supersolution. One pass over the edges for u, the last one of the
    refinement, decides; w is solved for once, roughly, whatever the number of refinements. The
    bracket is rounded outward. If some −B_x(w) is not surely positive, the status is UNVERIFIED.

Many goals (`extend_many`): if the label sets are one shared set plus a few vertices each, the
shared set's Laplacian is prepared once, or factored if that pays. With G its Green's columns at
the extra vertices E, the pinned solution of L δ = r, δ = 0 on E, is δ⁰ − G (G_EE)⁻¹ δ⁰_E for
δ⁰ = L⁻¹ r. The shared set's hitting times bound every goal's. Where lengths are many orders of
magnitude apart, both may lose all digits: a goal whose bracket is wide is solved on its own.

References: Doyle and Snell, *Random Walks and Electric Networks*, 1984, for the comparison
principle; Wilkinson, *Rounding Errors in Algebraic Processes*, 1963, for refinement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import ClassVar

import numpy as np

from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..numerics.doubledouble import Pair, corrected
from ..numerics.workers import check_time
from ..typing import BoolArray, FloatArray, IntArray
from .adjoint import Adjoint, adjoint_of
from .base import Problem, Shared, Solution, Status
from .kernels import balance, drift, strays
from .linear import SOLVES, Interior, LinearSolver, symmetric_solver
from .proof import Enclosed
from .scaling import Scaled

CONVERGED_UPDATE = 2.0**-86
"""Update residual, relative to the label range, at which refinement has nothing left to gain."""
STALLED_UPDATE = 2.0**-50
"""Update residual, relative to the label range, above which a field without bracket has stalled."""
LONGEST = 1e150
"""Cap on hitting times, which overflow where lengths are hundreds of orders apart."""
UPDATE_UNDERFLOW = 1e-200
"""More than underflow can add to an update residual, for lengths up to 1e100."""
NEGLIGIBLE = 2.0**-80
"""A value below this share of the label range is returned as 0."""
FINEST_SOLVE = 1e-13
"""Least reduction of the residual that is asked of a solve in doubles."""
ROUGH = 0.1
"""Reduction of the residual of the hitting times."""
ROUNDED_UP = 1.0 + 2.0**-50
LOOSE = 2.0**-30
"""Width of a bracket, relative to the label range, above which a goal is solved on its own."""
MAX_SOLVES = 8
BLOCK = 16
"""Goals solved together; fixed, so that results do not depend on the number of workers."""
MAX_EXTRA = 8
"""Labels beyond the shared set that a goal may have and still share the factorisation."""


@dataclass(frozen=True, kw_only=True)
class Harmonic:
    """Harmonic extension: every free value is the mean of its neighbours', weighted by 1/length.

    Exact up to the last place or two, with a rigorous bracket.

    Parameters
    ----------
    bracket : bool
        Compute the bracket; without it `lower` and `upper` are None.

    Notes
    -----
    The residual is the update residual: the largest distance of a free value from the weighted
    mean of its neighbours. Iterations are solves, the first included.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3], lengths=[1.0, 1.0, 2.0])
    >>> wf.extend(path, wf.Labels([0, 3], [0.0, 4.0]), wf.Harmonic()).values
    array([0., 1., 2., 4.])
    """

    bracket: bool = True
    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Extend the labels of one problem."""
        free = np.flatnonzero(~(problem.labelled | problem.orphaned))
        system = System(Interior.of(problem.graph, free))
        return solve_block(system, [problem], self.bracket)[0]

    def share(self, graph: Graph, label_sets: Sequence[Labels]) -> Shared | None:
        """Return one factorisation for all; None if too little is in common."""
        system = shared_system(graph, label_sets)
        if system is None:
            return None
        return Shared(partial(self._together, system), partial(system.prepare, self.bracket), BLOCK)

    def _together(self, system: System, problems: Sequence[Problem]) -> list[Solution]:
        """Solve problems on a shared system, and those that this harms on their own."""
        found = solve_block(system, problems, self.bracket)
        pairs = zip(problems, found, strict=True)
        return [self.solve(each) if is_loose(each, got) else got for each, got in pairs]

    def linearised(self, problem: Problem, at: Solution, toward: FloatArray | None) -> Adjoint:
        """Return the adjoint equation, ready for solving."""
        return adjoint_of(problem, at, toward, self.solve, 2.0)


@dataclass(frozen=True, eq=False)
class System:
    """The linear system on the free vertices, and what all problems on it share."""

    interior: Interior

    def __reduce__(self) -> tuple[type[System], tuple[Interior]]:
        return System, (self.interior,)  # the rest is computed again

    @cached_property
    def solver(self) -> LinearSolver:
        """The interior Laplacian, made ready for solving."""
        return symmetric_solver(self.interior)

    @cached_property
    def hitting_time(self) -> FloatArray:
        """(n,) rough mean number of steps until the random walk meets a label; 0 off the interior.

        Each step of the walk counts for about 1 ± 0.1. This is verified by `drift`.
        """
        time = np.zeros(self.interior.graph.num_vertices)
        if self.interior.size:
            found = self.solver.solve(self.interior.degree, rtol=ROUGH)
            # any w may be tried, unless it overflows
            time[self.interior.vertices] = np.clip(np.nan_to_num(found, nan=0.0), 0.0, LONGEST)
        return time

    @cached_property
    def drift(self) -> FloatArray:
        """(m,) lower bounds on how fast the hitting time falls, see `kernels.drift`."""
        return drift(self.interior.graph.arcs, self.interior.vertices, self.hitting_time)

    def prepare(self, bracket: bool) -> None:
        """Compute now what threads will share."""
        _ = self.solver, self.interior.degree
        if bracket:
            _ = self.drift

    def residual(
        self, field: Pair, pinned: BoolArray, bracket: bool
    ) -> tuple[FloatArray, tuple[float, float]]:
        """Return B by rows, and bounds on the update residual and on τ (see the module)."""
        degree = self.interior.degree
        scales = degree, self.drift if bracket else degree
        arcs, vertices = self.interior.graph.arcs, self.interior.vertices
        return balance(arcs, vertices, field.high, field.low, scales, pinned)


@dataclass(eq=False)
class Refinement:
    """The state of one problem: its field in the solver's units, and how good it is so far."""

    scaled: Scaled
    pinned: IntArray
    """Rows of the system that are labels of this problem."""
    field: Pair
    update: float = 0.0
    """Bound on the update residual of `field`."""
    tau: float = 0.0
    """The τ that makes `field` ± τ w a super- and a subsolution; inf if none is known."""
    solves: int = 0

    @classmethod
    def of(cls, problem: Problem, system: System) -> Refinement:
        """Start from 0 at the free vertices."""
        scaled = Scaled.centred(problem)
        rows = system.interior.row[problem.labels.vertices]
        return cls(scaled, rows[rows >= 0], scaled.field)

    @property
    def fine(self) -> float:
        """Update residual at which refinement has nothing left to gain."""
        return CONVERGED_UPDATE * self.scaled.size

    def is_pinned(self, size: int) -> BoolArray:
        """Return (m,) whether a row is pinned; empty if none is."""
        found = np.zeros(size if self.pinned.size else 0, dtype=bool)
        found[self.pinned] = True
        return found


def solve_block(system: System, problems: Sequence[Problem], bracket: bool) -> list[Solution]:
    """Solve problems whose labels include every labelled vertex outside the system's interior."""
    tasks = [Refinement.of(problem, system) for problem in problems]
    if system.interior.size:
        refine(system, tasks, bracket)
    return [conclude(system, task, bracket) for task in tasks]


def refine(system: System, tasks: Sequence[Refinement], bracket: bool) -> None:
    """Solve and refine all tasks together until each has converged or stalled."""
    greens = green_columns(system, tasks)
    pins = [task.is_pinned(system.interior.size) for task in tasks]
    residuals = []
    for task, pinned in zip(tasks, pins, strict=True):
        found, (task.update, task.tau) = system.residual(task.field, pinned, bracket)
        residuals.append(found)
    active = [k for k, task in enumerate(tasks) if task.update > 0.0]
    while active:
        check_time()
        # no digit more than is needed: half of the last ones are lost anyway
        wanted = min(0.5 * tasks[k].fine / tasks[k].update for k in active)
        right = residuals[active[0]][:, None]
        if len(active) > 1:
            right = np.stack([residuals[k] for k in active]).T
        steps = system.solver.solve(right, rtol=max(FINEST_SOLVE, wanted))
        still = []
        for k, step in zip(active, steps.T, strict=True):
            task = tasks[k]
            pin(step, task.pinned, greens[k])
            field = Pair(*corrected(task.field, system.interior.vertices, step))
            task.solves += 1
            residuals[k], (update, tau) = system.residual(field, pins[k], bracket)
            first = task.solves == 1 and np.isfinite(update)
            if not (update < task.update or first):
                continue
            improves = update <= 0.25 * task.update or first
            if task.fine < update and improves and task.solves < MAX_SOLVES:
                still.append(k)
            task.field, task.update, task.tau = field, update, tau
        active = still


def green_columns(system: System, tasks: Sequence[Refinement]) -> list[FloatArray]:
    """Return Green's columns L⁻¹ e at each task's pinned rows, (m, k) each."""
    counts = [task.pinned.size for task in tasks]
    units = np.zeros((system.interior.size, sum(counts)), order="F")
    if units.size == 0:
        return [units] * len(tasks)
    units[np.concatenate([task.pinned for task in tasks]), np.arange(sum(counts))] = 1.0
    return np.split(system.solver.solve(units), np.cumsum(counts)[:-1], axis=1)


def pin(step: FloatArray, rows: IntArray, green: FloatArray) -> None:
    """Replace the solution of L δ = r by the one with δ = 0 at some rows, in place.

    This can fail if lengths are hundreds of orders of magnitude apart; the result is then NaN.
    """
    if rows.size == 0:
        return
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            step -= green @ np.linalg.solve(green[rows], step[rows])
        step[rows] = 0.0
    except np.linalg.LinAlgError:
        step[:] = np.nan


def conclude(system: System, task: Refinement, wanted: bool) -> Solution:
    """Round the field, enclose it, and return the solution."""
    scaled, problem, interior = task.scaled, task.scaled.problem, system.interior
    status, bracket, evidence = Status.CONVERGED, None, None
    if wanted:
        bracket, evidence = verified_bracket(system, task)
        status = Status.UNVERIFIED if bracket is None else Status.CONVERGED
    elif task.update > STALLED_UPDATE * scaled.span + UPDATE_UNDERFLOW:
        status = Status.STALLED
    values = scaled.values(task.field)
    negligible = np.abs(values) <= NEGLIGIBLE * scaled.scale * scaled.size
    values[negligible & ~problem.labelled] = 0.0
    np.clip(values, *(bracket or problem.label_range), out=values)
    lower, upper = bracket or (None, None)
    free = (
        interior.vertices[~task.is_pinned(interior.size)] if task.pinned.size else interior.vertices
    )
    update = strays(interior.graph.arcs, free, values)
    return Solution(values, status, lower, upper, update, task.solves, evidence=evidence)


def verified_bracket(
    system: System, task: Refinement
) -> tuple[tuple[FloatArray, FloatArray] | None, Enclosed | None]:
    """Return u ∓ τ w rounded outward, for the τ that makes them a sub- and a supersolution."""
    (high, low), scaled = task.field, task.scaled
    if not np.isfinite(task.tau):
        return None, None
    with np.errstate(over="ignore"):
        shift = task.tau * ROUNDED_UP * system.hitting_time
    if not np.isfinite(shift).all():
        return None, None
    below, above = Pair(high, low - shift), Pair(high, low + shift)
    bracket = scaled.values(below, -1), scaled.values(above, +1)
    return bracket, Enclosed(2.0, below, above)


def is_loose(problem: Problem, found: Solution) -> bool:
    """Whether a solution has no guarantee, or a bracket far wider than rounding explains."""
    if found.lower is None or found.upper is None:
        return not found.status.good
    labels = problem.labels
    rounding = (ROUNDED_UP - 1.0) * float(np.abs(labels.values).max())
    return bool((found.upper - found.lower > LOOSE * labels.span + rounding).any())


def shared_system(graph: Graph, label_sets: Sequence[Labels]) -> System | None:
    """Return the system on the vertices that not all sets label; None if not worthwhile."""
    count, component = len(label_sets), graph.components
    times = np.zeros(graph.num_vertices, dtype=np.int64)
    for labels in label_sets:
        times[labels.vertices] += 1  # they are distinct
    common = times == count
    extra = max(map(len, label_sets)) - int(common.sum())
    if count < 3 or extra > MAX_EXTRA:
        return None
    covered = np.unique(component[common])
    if any(np.setdiff1d(component[labels.vertices], covered).size for labels in label_sets):
        return None  # a component in which the sets share no label
    free = np.flatnonzero(~common & np.isin(component, covered))
    return System(Interior.of(graph, free, solves=SOLVES * count))
