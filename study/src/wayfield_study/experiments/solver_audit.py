"""The finite-p solvers of the paper beside the certified one: what they claim, and the truth.

The solvers are for comparison, not for use; they are as the paper's audit has them. All minimise
E(u) = (1/p) Σ ℓ |Δu / ℓ|^p over the unlabelled values, from the harmonic extension:

- `lbfgs`: SciPy's L-BFGS-B on the energy, stopped by the size of its gradient, by a cap or, if
  asked to, when the energy hardly falls any more;
- `relaxed_picard`: the fixed point of u_x = Σ w u_y / Σ w with w = |Δu / ℓ|^{p−2} / ℓ, all vertices
  at once, under-relaxed, stopped by the size of its update;
- `newton_cg`: SciPy's Newton-CG on the energy with a cap.

Each says whether it calls itself converged, and reports beside that the gradient norm, the
residual of the fixed point (the paper's R_p) and the update residual, the distance of a value from
the one that solves its own equation. None bounds the error of the values; `PLaplacian` does.

The experiment has one row for every p and solver, over the goals of the cell: how many solves call
themselves converged, the largest residuals, the largest error against the certified field, relative
to the range of the labels, and the duality gap of the first goal's field. A cell counts as
converged if all of its solves do.

L-BFGS-B also stops when a step lowers the energy by less than a share of 1e-12. The paper does not
say where its own gave up; with this share it stops about as often, and with about the gradients and
residuals that the paper prints.

The paper's own sweep over p is an experiment beside it: L-BFGS-B on all of its cells, stopped after
700 iterations or when a step lowers the energy by less than a share of 1e-10: our reading, with
which it stops about as often as the paper's, and with about its gradients and residuals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from scipy.optimize import OptimizeResult, minimize

import wayfield as wf
from wayfield.fields.kernels import update_residual
from wayfield.numerics.doubledouble import Pair
from wayfield.numerics.workers import one_thread
from wayfield.typing import FloatArray

from ..engine import Measure, Profile, Records, Row, mean_of, sd_of
from ..kernels import energy as kernels
from ..paper.grid import AUDIT_SEEDS, AUDITED, SEEDS
from ..paper.measures import measured, on_papers_cells
from ..report import StudyFinding, Table, power
from ..rivals.linear import factor
from .comparison import section
from .mazes import MazeCell, grid, maze_experiment
from .trial import Trial

POWERS = (4.0, 8.0, 16.0)
TITLES = {
    "lbfgs": "L-BFGS-B",
    "picard": "fixed point",
    "newton": "Newton-CG",
    "certified": "solved exactly",
}
EVALUATIONS = 15_000
"""SciPy's limit on evaluations if only iterations are capped, as in the paper."""
TOLERANCE, RELAXATION = 1e-6, 0.05
"""The paper's, of its three solvers and of the fixed-point sweeps."""


# -------------------------------------------------------------------- the solvers


@dataclass(frozen=True, eq=False)
class SolverAudit:
    """Where a solver stopped.

    Attributes
    ----------
    values : (n,) float array
        The field.
    converged : bool
        Whether the solver calls itself converged.
    iterations : int
        Its iterations.
    gradient : float
        Largest entry of the gradient of the energy.
    fixed_point : float
        Largest distance of a value from the weighted mean Σ w u_y / Σ w of its neighbours.
    update : float
        Update residual: largest distance of a value from the one its neighbours ask for.
    energy : Energy
        What it minimised.
    """

    values: FloatArray
    converged: bool
    iterations: int
    gradient: float
    fixed_point: float
    update: float
    energy: Energy

    @cached_property
    def gap(self) -> float:
        """Relative duality gap of the energy, the flow freed of its sources by least squares."""
        return self.energy.gap(self.values)


class Energy:
    """The p-energy as a function of the unlabelled values, with its derivatives.

    Its minimisers start from the harmonic extension.
    """

    def __init__(self, graph: wf.Graph, labels: wf.Labels, p: float) -> None:
        self.graph, self.labels, self.p = graph, labels, p
        once = graph.tails < graph.indices
        self.edges = kernels.EdgeList(graph.tails[once], graph.indices[once], graph.lengths[once])
        self.free = np.flatnonzero(~labels.mask(graph)).astype(graph.indices.dtype)
        self.start = np.array(wf.extend(graph, labels, wf.Harmonic(bracket=False)).values)

    def field(self, x: FloatArray) -> FloatArray:
        """Return the field with these unlabelled values."""
        values = self.start.copy()
        values[self.free] = x
        return values

    def value_and_gradient(self, x: FloatArray) -> tuple[float, FloatArray]:
        """Return the energy and its gradient."""
        gradient = np.empty_like(self.start)
        value = kernels.energy_gradient(self.edges, self.field(x), self.p, gradient)
        return value, gradient[self.free]

    def curvature(self, x: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the Hessian times a direction."""
        change, product = np.zeros_like(self.start), np.empty_like(self.start)
        change[self.free] = direction
        kernels.energy_curvature(self.edges, self.field(x), change, self.p, product)
        return np.asarray(product[self.free])

    def audit(self, values: FloatArray, converged: bool, iterations: int) -> SolverAudit:
        """Measure where a solver stopped."""
        arcs, field = self.graph.arcs, Pair(values, np.zeros_like(values))
        _, gradient = self.value_and_gradient(values[self.free])
        close = 1e-12 * self.labels.span
        return SolverAudit(
            values,
            converged,
            iterations,
            gradient=float(np.abs(gradient).max(initial=0.0)),
            fixed_point=kernels.fixed_point_residual(arcs, self.free, values, self.p),
            update=float(update_residual(arcs, self.free, field, self.p - 1.0, close)),
            energy=self,
        )

    def minimised(self, method: Any, options: Any, **arguments: Any) -> SolverAudit:
        """Audit one of SciPy's minimisers."""
        start = self.start[self.free]
        arguments |= {"method": method, "options": options}
        with one_thread():
            found: OptimizeResult = minimize(self.value_and_gradient, start, jac=True, **arguments)
        return self.audit(self.field(found.x), bool(found.success), int(found.nit))

    def gap(self, values: FloatArray) -> float:
        """Return the relative duality gap, for a flow whose sources are removed first."""
        (tails, heads, lengths), n = self.edges, self.start.size
        # the matrix from a field to its slopes along edges
        signs = np.repeat([1.0, -1.0], tails.size) / np.tile(lengths, 2)
        places = np.tile(np.arange(tails.size), 2), np.concatenate([heads, tails])
        slope: Any = sparse.csr_array((signs, places), shape=(tails.size, n))
        slopes = slope @ values
        steepest = float(np.abs(slopes).max(initial=0.0))
        if steepest == 0.0:
            return 0.0
        slopes = slopes / steepest
        size = np.abs(slopes)
        weights = lengths * size ** (self.p - 2.0)
        flow = weights * slopes
        inner = slope[:, self.free].tocsr()
        best = self._lower_bound(slope, flow)
        for floor in (1e-14, 1e-9, 1e-5):
            conductance = weights + floor * lengths
            laplacian = inner.T @ sparse.diags_array(conductance) @ inner
            solver = factor(laplacian)
            freed = flow
            for _ in range(2):
                freed = freed - conductance * (inner @ solver.solve(inner.T @ freed))
            best = max(best, self._lower_bound(slope, freed))
        norm = float(lengths @ size**self.p) ** (1.0 / self.p)
        ratio = min(best / steepest / norm, 1.0)
        return float(-np.expm1(self.p * np.log(ratio))) if ratio > 0.0 else 1.0

    def _lower_bound(self, slope: Any, flow: FloatArray) -> float:
        """Return a lower bound on the energy norm from ℓ times a flow, sources subtracted."""
        dual, lengths = self.p / (self.p - 1.0), self.edges.lengths
        divergence = slope.T @ flow
        values = self.labels.values
        centred = values - 0.5 * (values.min() + values.max())
        work = divergence[self.labels.vertices] @ centred
        work -= 0.5 * self.labels.span * np.abs(divergence[self.free]).sum()
        density = np.abs(flow) / lengths
        largest = density.max()
        size = largest * (lengths @ (density / largest) ** dual) ** (1.0 / dual)
        return float(work / size)


def lbfgs(energy: Energy, cap: int = 50_000, stall: float = 0.0, memory: int = 20) -> SolverAudit:
    """Run L-BFGS-B on the energy until its gradient is below the tolerance, or the cap.

    It also stops, and calls itself converged, when a step lowers the energy by less than a share
    `stall`. `memory` is the number of past steps it learns from. More than `EVALUATIONS` of the
    energy it is not given: then it has not converged.
    """
    options = {"maxiter": cap, "maxfun": EVALUATIONS, "gtol": TOLERANCE, "ftol": stall}
    return energy.minimised("L-BFGS-B", options | {"maxcor": memory})


def relaxed_picard(energy: Energy, cap: int = 5_000) -> SolverAudit:
    """Run under-relaxed sweeps until the update is below the tolerance, or the cap."""
    arcs, free, start, p = energy.graph.arcs, energy.free, energy.start, energy.p
    values, sweeps, converged = kernels.relaxed_sweeps(
        arcs, free, start, p, RELAXATION, TOLERANCE, cap
    )
    return energy.audit(values, converged, sweeps)


def newton_cg(energy: Energy, cap: int = 20) -> SolverAudit:
    """Run Newton-CG on the energy until its step is below the tolerance, or the cap."""
    options = {"maxiter": cap, "xtol": TOLERANCE}
    return energy.minimised("Newton-CG", options, hessp=energy.curvature)


# -------------------------------------------------------------------- the experiment

Solver: TypeAlias = Callable[[Energy], SolverAudit]
SOLVERS: dict[str, Solver] = {
    "lbfgs": partial(lbfgs, stall=1e-12, memory=10),
    "picard": relaxed_picard,
    "newton": newton_cg,
}
"""With the caps of the paper's audit."""


def run(cell: MazeCell) -> list[Row]:
    """Audit the solvers with the caps of the paper's audit, and the certified one."""
    return [
        row | {"gap": found[0].gap}  # of one goal: it takes as long as many a solve
        for row, found in audited(Trial(cell), SOLVERS)
    ]


def audited(trial: Trial, solvers: Mapping[str, Solver]) -> Iterator[tuple[Row, list[SolverAudit]]]:
    """Audit some solvers and the certified one: a row for every p and solver, and its audits."""
    graph, labels = trial.drawn.graph, trial.drawn.labels
    for p in POWERS:
        exact = trial.fields(wf.PLaplacian(p))
        energies = [Energy(graph, known, p) for known in labels]
        audits = {name: [solver(energy) for energy in energies] for name, solver in solvers.items()}
        # the certified field, measured as the others are
        audits["certified"] = [
            energy.audit(
                np.array(field.values), field.status is wf.Status.CONVERGED, field.iterations
            )
            for energy, field in zip(energies, exact, strict=True)
        ]
        for name, found in audits.items():
            errors = [
                np.abs(audit.values - field.values).max() / span
                for audit, field, span in zip(found, exact, trial.spans, strict=True)
            ]
            about: Row = {"p": p, "arm": name}
            row = about | trial.outcomes([audit.values for audit in found])
            row |= {
                "solves": len(found),
                "converged": sum(audit.converged for audit in found),
                "iterations": max(audit.iterations for audit in found),
                "gradient": max(audit.gradient for audit in found),
                "fixed_point": max(audit.fixed_point for audit in found),
                "update": max(audit.update for audit in found),
                "error": float(max(errors)),
                "width": max(field.details["width"] for field in exact),
            }
            yield row, found


def cells(profile: Profile) -> list[MazeCell]:
    """Return one tiny cell, or the paper's 24, with few goals: the solvers are slow."""
    if profile.name == "quick":
        return grid(["medium"], [3], [0.08], SEEDS[:1], profile.at_most(quick=1))
    at = partial(grid, label_fractions=[0.02, 0.08], seeds=AUDIT_SEEDS)
    few, fewer = (profile.at_most(paper=most, full=8) for most in (4, 2))
    return [*at(refinements=[8], goals=few), *at(refinements=[12], goals=fewer)]


@measured("solver_audit", "solvers", "solver-gradient", wanted=AUDITED, seeds=AUDIT_SEEDS)
def measures(rows: Records) -> dict[str, Measure]:
    """Measure the paper's solver audit."""
    found: dict[str, Measure] = {}
    for p, solver in product(POWERS, SOLVERS):
        place, chosen = f"solvers/p{p:g}/{solver}", rows.where(p=p, arm=solver)
        if not len(chosen):
            continue
        exact = rows.where(p=p, arm="certified").share("reached", "pairs")
        reached = chosen.share("reached", "pairs")
        found |= {
            f"{place}/success": mean_of(reached, exact),
            f"{place}/sd": sd_of(reached, exact),
            f"{place}/converged": Measure(converged_cells(chosen)),
            f"{place}/residual": mean_of(chosen.column("fixed_point")),
        }
    if len(stopped := rows.where(p=16.0, arm="lbfgs")):
        found["solver-gradient/p16/lbfgs"] = mean_of(stopped.column("gradient"))
        newton, other = (
            found[f"solvers/p16/{solver}/success"].value or 0.0 for solver in ("newton", "lbfgs")
        )
        converged = found["solvers/p16/newton/converged"].value
        fails = float(newton < other and converged == 0.0)
        found["sentences/newton_fails_at_16/value"] = Measure(fails)
    return found


def converged_cells(rows: Records) -> float:
    """Count the cells whose solves all call themselves converged."""
    return float((rows.column("converged") == rows.column("solves")).sum())


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate what each solver claims, and how far it is from the certified field."""
    yield Table.of(
        "solver-errors",
        "What the solvers claim, and how far off they are",
        "solver",
        {f"p = {p:g}, {TITLES[str(arm)]}": some for (p, arm), some in rows.by("p", "arm").items()},
        {
            "success": lambda some: f"{some.ratio('reached', 'pairs'):.3f}",
            "converged, it says": lambda some: (
                f"{some.total('converged')} of {some.total('solves')}"
            ),
            "residual": lambda some: power(float(some.column("fixed_point").mean())),
            "largest gap": lambda some: power(float(some.column("gap").max())),
            "largest error": lambda some: power(float(some.column("error").max())),
        },
        "Gap: relative duality gap of the energy. Error: largest distance from the exact "
        "field, relative to the range of the labels.",
    )


EXPERIMENT = maze_experiment(
    "solver_audit", "Finite-p solvers", 4, run, cells, 320.0, section("solvers", tables=tables),
    measures=measures,
)  # fmt: skip


# -------------------------------------------------------------------- the paper's sweep over p

BUDGET_ARM = "lbfgs700"
BUDGET_SOLVER = partial(lbfgs, cap=700, stall=1e-10, memory=10)
FEW_GOALS = {4: 8, 8: 4, 12: 2}
"""Goals per cell in the paper's profile, by resolution."""


def run_budget(cell: MazeCell) -> list[Row]:
    """Audit L-BFGS-B with the cap of the paper's sweep, and the certified solver.

    With the counts of the ordering audit, ``all_`` and ``eval_``.
    """
    trial = Trial(cell)
    return [
        row | trial.ordering_counts([audit.values for audit in found])
        for row, found in audited(trial, {BUDGET_ARM: BUDGET_SOLVER})
    ]


def budget_cells(profile: Profile) -> list[MazeCell]:
    """Return two tiny cells, or the paper's whole grid with few goals: the solver is slow."""
    if profile.name == "quick":
        return grid(["medium"], [3], [0.02, 0.08], SEEDS[:1], profile.at_most(quick=1))
    return [
        cell
        for r, goals in FEW_GOALS.items()
        for cell in grid(refinements=[r], goals=profile.at_most(paper=goals, full=32))
    ]


@measured("lbfgs_budget", "lbfgs")
def budget_measures(rows: Records) -> dict[str, Measure]:
    """Measure the paper's table of how L-BFGS-B ended; its success is in those of the family."""
    found: dict[str, Measure] = {}
    for p in POWERS:
        stopped = rows.where(p=p, arm=BUDGET_ARM)
        residuals = stopped.column("fixed_point")
        found |= {
            f"lbfgs/p{p:g}/converged": Measure(converged_cells(stopped)),
            f"lbfgs/p{p:g}/gradient": mean_of(stopped.column("gradient")),
            f"lbfgs/p{p:g}/residual": mean_of(residuals),
            f"lbfgs/p{p:g}/residual_max": Measure(float(residuals.max())),
        }
    return found


def stopped(rows: Records) -> Iterator[StudyFinding]:
    """Report how far L-BFGS-B, stopped as in the paper, is from the solution."""
    phrase = [
        f"{group.total('converged')} of {group.total('solves')} at p = {p:g} "
        f"(worst error {float(group.column('error').max()):.1%} of the label range)"
        for p, group in rows.where(arm=BUDGET_ARM).by("p").items()
    ]
    yield StudyFinding(
        "new",
        "How far from the solution is L-BFGS-B with the paper's 700 iterations?",
        f"Ours calls itself converged on {', '.join(phrase)}.",
    )


BUDGET_SECTION = section("lbfgs-budget", findings=on_papers_cells([stopped]))
BUDGET = maze_experiment(
    "lbfgs_budget", "L-BFGS-B, 700 steps", 3, run_budget, budget_cells, 50.0, BUDGET_SECTION,
    measures=budget_measures,
)  # fmt: skip
