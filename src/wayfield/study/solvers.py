"""The three finite-p solvers the paper audits, as they are: for comparison, not for use.

All minimise E(u) = (1/p) Σ ℓ |Δu / ℓ|^p over the unlabelled values, from the harmonic extension:

- `lbfgs`: SciPy's L-BFGS-B on the energy, stopped by the size of its gradient;
- `relaxed_picard`: the fixed point of u_x = Σ w u_y / Σ w with w = |Δu / ℓ|^{p−2} / ℓ, all vertices
  at once, under-relaxed, stopped by the size of its update;
- `newton_cg`: SciPy's Newton-CG on the energy with a cap.

Each says whether it calls itself converged, and reports beside that the gradient norm and the
update residual, the distance of a value from the one that solves its own equation. None bounds the
error of the values; `PLaplacian` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import splu

from ..extension import Harmonic, extend
from ..graph import Graph
from ..kernels._types import FloatArray
from ..kernels.doubledouble import Pair
from ..kernels.plaplacian import update_residual
from ..labels import Labels


@dataclass(frozen=True, eq=False)
class Audit:
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
    update : float
        Update residual: largest distance of a value from the one its neighbours ask for.
    gap : float
        Relative duality gap of the energy, the flow freed of its sources by least squares.
    """

    values: FloatArray
    converged: bool
    iterations: int
    gradient: float
    update: float
    gap: float


class Energy:
    """The p-energy as a function of the unlabelled values, with its derivatives."""

    def __init__(self, graph: Graph, labels: Labels, p: float) -> None:
        self.graph, self.labels, self.p = graph, labels, p
        once = graph.tails < graph.indices
        self.lengths = graph.lengths[once]
        tails, heads = graph.tails[once], graph.indices[once]
        edges = np.arange(tails.size)
        signs = np.repeat([1.0, -1.0], tails.size)
        places = (np.tile(edges, 2), np.concatenate([heads, tails]))
        shape = (tails.size, graph.num_vertices)
        self.slope: Any = sparse.csr_array((signs / np.tile(self.lengths, 2), places), shape=shape)
        self.free = np.flatnonzero(~labels.mask(graph))
        self._inner = self.slope[:, self.free].tocsr()
        self._inner_transposed = self._inner.T.tocsr()
        self.start = np.array(extend(graph, labels, Harmonic(certificate=False)).values)

    def field(self, x: FloatArray) -> FloatArray:
        """Return the field with these unlabelled values."""
        values = self.start.copy()
        values[self.free] = x
        return values

    def value(self, x: FloatArray) -> float:
        """Energy."""
        slopes = np.abs(self.slope @ self.field(x))
        return float(self.lengths @ slopes**self.p) / self.p

    def gradient(self, x: FloatArray) -> FloatArray:
        """Gradient of the energy."""
        slopes = self.slope @ self.field(x)
        flow = self.lengths * np.abs(slopes) ** (self.p - 2.0) * slopes
        return np.asarray(self._inner_transposed @ flow)

    def curvature(self, x: FloatArray, direction: FloatArray) -> FloatArray:
        """Hessian times a direction."""
        slopes = np.abs(self.slope @ self.field(x))
        weights = (self.p - 1.0) * self.lengths * slopes ** (self.p - 2.0)
        return np.asarray(self._inner_transposed @ (weights * (self._inner @ direction)))

    def audit(self, x: FloatArray, converged: bool, iterations: int) -> Audit:
        """Measure where a solver stopped."""
        values = self.field(x)
        field = Pair(values, np.zeros_like(values))
        free = self.free.astype(self.graph.indices.dtype)
        close = 1e-12 * self.labels.span
        update = update_residual(self.graph.arcs, free, field, self.p - 1.0, close)
        gradient = float(np.abs(self.gradient(x)).max(initial=0.0))
        return Audit(values, converged, iterations, gradient, float(update), self.gap(values))

    def gap(self, values: FloatArray) -> float:
        """Relative duality gap: see `extension._gap`, here for a flow projected first."""
        slopes = self.slope @ values
        steepest = float(np.abs(slopes).max(initial=0.0))
        if steepest == 0.0:
            return 0.0
        slopes = slopes / steepest
        size = np.abs(slopes)
        weights = self.lengths * size ** (self.p - 2.0)
        flow = weights * slopes
        best = self._lower_bound(flow)
        for floor in (1e-14, 1e-9, 1e-5):
            conductance = weights + floor * self.lengths
            laplacian = self._inner_transposed @ sparse.diags_array(conductance) @ self._inner
            solver = splu(laplacian.tocsc(), permc_spec="MMD_AT_PLUS_A")
            freed = flow
            for _ in range(2):
                freed = freed - conductance * (
                    self._inner @ solver.solve(self._inner_transposed @ freed)
                )
            best = max(best, self._lower_bound(freed))
        norm = float(self.lengths @ size**self.p) ** (1.0 / self.p)
        ratio = min(best / steepest / norm, 1.0)
        return float(-np.expm1(self.p * np.log(ratio))) if ratio > 0.0 else 1.0

    def _lower_bound(self, flow: FloatArray) -> float:
        """Lower bound on the energy norm from ℓ times a flow, its sources paid for."""
        dual = self.p / (self.p - 1.0)
        divergence = self.slope.T @ flow
        values = self.labels.values
        centred = values - 0.5 * (values.min() + values.max())
        work = divergence[self.labels.vertices] @ centred
        work -= 0.5 * self.labels.span * np.abs(divergence[self.free]).sum()
        density = np.abs(flow) / self.lengths
        largest = density.max()
        size = largest * (self.lengths @ (density / largest) ** dual) ** (1.0 / dual)
        return float(work / size)


def lbfgs(
    graph: Graph, labels: Labels, p: float, *, cap: int = 50_000, tolerance: float = 1e-6
) -> Audit:
    """L-BFGS-B on the energy until its gradient is below the tolerance, or the cap."""
    energy = Energy(graph, labels, p)
    options: Any = {"maxiter": cap, "maxfun": 4 * cap, "gtol": tolerance, "ftol": 0.0, "maxcor": 20}
    found = minimize(
        energy.value,
        energy.start[energy.free],
        jac=energy.gradient,
        method="L-BFGS-B",
        options=options,
    )
    return energy.audit(found.x, bool(found.success), int(found.nit))


def relaxed_picard(
    graph: Graph,
    labels: Labels,
    p: float,
    *,
    cap: int = 5_000,
    relaxation: float = 0.05,
    tolerance: float = 1e-6,
) -> Audit:
    """Under-relaxed fixed-point sweeps until the update is below the tolerance, or the cap."""
    energy = Energy(graph, labels, p)
    values, heads, tails = energy.start.copy(), graph.indices, graph.tails
    n, free = graph.num_vertices, energy.free
    for sweep in range(1, cap + 1):
        slopes = np.abs(values[heads] - values[tails]) / graph.lengths
        weights = slopes ** (p - 2.0) / graph.lengths
        total = np.bincount(tails, weights, n)[free]
        pull = np.bincount(tails, weights * (values[heads] - values[tails]), n)[free]
        update = relaxation * np.divide(pull, total, out=np.zeros_like(pull), where=total > 0.0)
        values[free] += update
        if np.abs(update).max(initial=0.0) <= tolerance:
            return energy.audit(values[free], True, sweep)
    return energy.audit(values[free], False, cap)


def newton_cg(
    graph: Graph, labels: Labels, p: float, *, cap: int = 20, tolerance: float = 1e-6
) -> Audit:
    """Newton-CG on the energy until its step is below the tolerance, or the cap."""
    energy = Energy(graph, labels, p)
    found = minimize(
        energy.value,
        energy.start[energy.free],
        jac=energy.gradient,
        hessp=energy.curvature,
        method="Newton-CG",
        options={"maxiter": cap, "xtol": tolerance},
    )
    return energy.audit(found.x, bool(found.success), int(found.nit))


SOLVERS: dict[str, Callable[[Graph, Labels, float], Audit]] = {
    "L-BFGS-B": lbfgs,
    "relaxed Picard": relaxed_picard,
    "Newton-CG, 20 steps": newton_cg,
}
"""The audited solvers by name, with the paper's settings."""
