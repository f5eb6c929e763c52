"""One peer on one problem, in the peers' own environment: nothing of ours is imported.

``python peer_solvers.py NAME PROBLEM.npz SECONDS`` climbs a ladder of settings, from a peer's
defaults to as tight as it goes, and writes a line of JSON for each: the setting, the time, the true
error as a share of the label range, and what the peer itself says of its accuracy. It stops once
the error is below the target, and is ended when the time is up, which begins after imports. Times
are processor times, all threads together: other programs on the machine do not count.
Problems are undirected and have unit lengths; the exact field comes with them.
"""

from __future__ import annotations

import json
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from importlib import metadata
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import linalg

TARGET = 1e-6
"""True error, as a share of the label range, that is good enough."""

Run = Callable[[], tuple[np.ndarray, str]]
"""What is timed: the field, and what the peer says of it."""


class Problem:
    """A graph with labels, and the exact field."""

    def __init__(self, path: str) -> None:
        with np.load(path) as file:
            arrays = dict(file)
        self.exact = arrays["exact"]
        self.vertices, self.values = arrays["vertices"], arrays["values"]
        n = self.exact.size
        parts = (np.ones(arrays["indices"].size), arrays["indices"], arrays["indptr"])
        self.adjacency = sparse.csr_matrix(parts, shape=(n, n))
        self.free = np.ones(n, dtype=bool)
        self.free[self.vertices] = False
        self.p = float(arrays["p"])
        upper = sparse.triu(self.adjacency).tocoo()
        self.edges = upper.row, upper.col

    def error(self, field: np.ndarray) -> float:
        """Largest distance from the exact field, over the range of the labels."""
        span = np.ptp(self.values) or 1.0
        return float(np.abs(field - self.exact).max() / span)

    def whole(self, free_values: np.ndarray) -> np.ndarray:
        """Return the field with these values at the unlabelled vertices."""
        field = np.empty(self.exact.size)
        field[self.vertices] = self.values
        field[self.free] = free_values
        return field

    def linear(self, weights: sparse.csr_matrix | None = None) -> tuple[Any, np.ndarray]:
        """Matrix and right-hand side of the harmonic extension, or a weighted one."""
        weights = self.adjacency if weights is None else weights
        laplacian = (sparse.diags(np.asarray(weights.sum(axis=1)).ravel()) - weights).tocsr()
        rows = laplacian[self.free]
        return rows[:, self.free].tocsr(), -(rows[:, ~self.free] @ self._by_vertex())

    def _by_vertex(self) -> np.ndarray:
        return self.values[np.argsort(self.vertices)]


def graphlearning_amle(problem: Problem) -> Iterator[tuple[str, Run]]:
    yield "defaults", _amle(problem)()


def graphlearning_unweighted(problem: Problem) -> Iterator[tuple[str, Run]]:
    run = _amle(problem)
    yield "weighted=False", run(weighted=False)
    for power in range(-4, 20):
        most = round(1000 * 2**power)
        yield f"weighted=False, {most:,} sweeps", run(weighted=False, tol=0.0, max_num_it=most)


def graphlearning_tight(problem: Problem) -> Iterator[tuple[str, Run]]:
    run = _amle(problem)
    yield "weighted=False, tol=1e-12", run(weighted=False, tol=1e-12, max_num_it=1e9)


def _amle(problem: Problem) -> Callable[..., Run]:
    import graphlearning as gl

    graph = gl.graph(problem.adjacency)

    def run(**settings: Any) -> Run:
        def solve() -> tuple[np.ndarray, str]:
            field = graph.amle(problem.vertices, problem.values, **settings)
            return field, "nothing: returns the field alone"

        return solve

    return run


def graphlearning_laplace(problem: Problem) -> Iterator[tuple[str, Run]]:
    import graphlearning as gl

    for tol in (1e-5, 1e-8, 1e-11):

        def solve(tol: float = tol) -> tuple[np.ndarray, str]:
            model = gl.ssl.laplace(problem.adjacency, tol=tol)
            classes = problem.values.astype(int)
            field = model.fit(problem.vertices, classes)
            return np.asarray(field)[:, 1], "nothing: returns the field alone"

        yield f"tol={tol:g}", solve


def graphlearning_plaplace(problem: Problem) -> Iterator[tuple[str, Run]]:
    import graphlearning as gl

    graph = gl.graph(problem.adjacency)

    def solve() -> tuple[np.ndarray, str]:
        field = graph.plaplace(problem.vertices, problem.values, problem.p)
        return field, "nothing; it solves another equation, the game-theoretic one"

    yield "defaults", solve


def label_spreading(problem: Problem) -> Iterator[tuple[str, Run]]:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.semi_supervised import LabelPropagation, LabelSpreading

    places = np.arange(problem.exact.size)[:, None]
    classes = np.full(problem.exact.size, -1)
    classes[problem.vertices] = problem.values.astype(int)

    def kernel(x: np.ndarray, y: np.ndarray | None = None) -> sparse.csr_matrix:
        return problem.adjacency

    def run(model: Any) -> Run:
        def solve() -> tuple[np.ndarray, str]:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ConvergenceWarning)
                model.fit(places, classes)
            hint = "ConvergenceWarning" if caught else "no warning"
            return model.label_distributions_[:, 1], f"n_iter_ = {model.n_iter_}, {hint}"

        return solve

    yield "LabelSpreading, defaults", run(LabelSpreading(kernel=kernel))
    yield (
        "LabelSpreading, alpha=0.999, 10,000 steps",
        run(LabelSpreading(kernel=kernel, alpha=0.999, max_iter=10_000, tol=1e-9)),
    )
    yield "LabelPropagation, defaults", run(LabelPropagation(kernel=kernel))
    yield (
        "LabelPropagation, 30,000 steps",
        run(LabelPropagation(kernel=kernel, max_iter=30_000, tol=1e-12)),
    )


def scipy_spsolve(problem: Problem) -> Iterator[tuple[str, Run]]:
    def solve() -> tuple[np.ndarray, str]:
        matrix, rhs = problem.linear()
        found = linalg.spsolve(matrix.tocsc(), rhs)
        return problem.whole(found), "nothing: returns the solution alone"

    yield "defaults", solve


def scipy_cg(problem: Problem) -> Iterator[tuple[str, Run]]:
    for rtol in (1e-5, 1e-8, 1e-11):

        def solve(rtol: float = rtol) -> tuple[np.ndarray, str]:
            matrix, rhs = problem.linear()
            inverse = sparse.diags(1.0 / matrix.diagonal())
            found, info = linalg.cg(matrix, rhs, rtol=rtol, M=inverse, maxiter=100_000)
            return problem.whole(found), f"info = {info}"

        yield f"rtol={rtol:g}, diagonal preconditioner", solve


def pyamg_solve(problem: Problem) -> Iterator[tuple[str, Run]]:
    import pyamg

    for tol in (1e-5, 1e-8, 1e-11):

        def solve(tol: float = tol) -> tuple[np.ndarray, str]:
            matrix, rhs = problem.linear()
            levels = pyamg.ruge_stuben_solver(matrix)
            residuals: list[float] = []
            found = levels.solve(rhs, tol=tol, accel="cg", residuals=residuals)
            return problem.whole(found), f"residual {residuals[-1] / residuals[0]:.0e}"

        yield f"Ruge–Stüben and CG, tol={tol:g}", solve


def p_energy(problem: Problem, free_values: np.ndarray) -> tuple[float, np.ndarray]:
    """Energy (1/p) Σ |Δu|^p over the edges, and its gradient at the unlabelled vertices."""
    field, (tails, heads) = problem.whole(free_values), problem.edges
    change = field[heads] - field[tails]
    flow = np.abs(change) ** (problem.p - 2.0) * change
    gradient = np.bincount(heads, flow, field.size) - np.bincount(tails, flow, field.size)
    return float(flow @ change) / problem.p, gradient[problem.free]


def lbfgs(problem: Problem) -> Iterator[tuple[str, Run]]:
    from scipy.optimize import minimize

    def run(**options: Any) -> Run:
        def solve() -> tuple[np.ndarray, str]:
            start = linalg.spsolve(*_columns(problem.linear()))
            found = minimize(
                lambda x: p_energy(problem, x), start, jac=True, method="L-BFGS-B", options=options
            )
            return problem.whole(found.x), f"success = {found.success}: {found.message}"

        return solve

    yield "defaults", run()
    yield "ftol=0, gtol=1e-12", run(ftol=0.0, gtol=1e-12, maxiter=1_000_000, maxfun=10_000_000)


def p_irls(problem: Problem) -> Iterator[tuple[str, Run]]:
    """Reweighted least squares with steps of 1/(p − 1), which is Newton's method on the energy."""

    def run(steps: int) -> Run:
        def solve() -> tuple[np.ndarray, str]:
            field = problem.whole(linalg.spsolve(*_columns(problem.linear())))
            edges = problem.adjacency.tocoo()
            change = np.inf
            for _ in range(steps):
                slope = np.abs(field[edges.col] - field[edges.row])
                weight = np.maximum(slope / slope.max(), 1e-8) ** (problem.p - 2.0)
                weights = sparse.csr_matrix((weight, (edges.row, edges.col)), edges.shape)
                found = problem.whole(linalg.spsolve(*_columns(problem.linear(weights))))
                change = float(np.abs(found - field).max() / (problem.p - 1.0))
                field = field + (found - field) / (problem.p - 1.0)
            return field, f"{steps} solves, last step {change:.0e}"

        return solve

    for steps in (10, 40, 160, 640):
        yield f"{steps} solves", run(steps)


def _columns(system: tuple[Any, np.ndarray]) -> tuple[Any, np.ndarray]:
    return system[0].tocsc(), system[1]


def networkx_paths(problem: Problem) -> Iterator[tuple[str, Run]]:
    import networkx as nx

    graph = nx.from_scipy_sparse_array(problem.adjacency)

    def solve() -> tuple[np.ndarray, str]:
        found = nx.single_source_dijkstra_path_length(graph, int(problem.vertices[0]))
        field = np.full(problem.exact.size, np.inf)
        field[list(found)] = list(found.values())
        return field, "exact"

    yield "single_source_dijkstra_path_length", solve


def igraph_paths(problem: Problem) -> Iterator[tuple[str, Run]]:
    import igraph

    graph = igraph.Graph(problem.exact.size, np.stack(problem.edges, axis=1))

    def solve() -> tuple[np.ndarray, str]:
        return np.array(graph.distances(int(problem.vertices[0]))[0]), "exact"

    yield "distances", solve


PEERS: dict[str, tuple[str, str, Callable[[Problem], Iterator[tuple[str, Run]]]]] = {
    "GraphLearning amle": ("amle", "graphlearning", graphlearning_amle),
    "GraphLearning amle, unweighted": ("amle", "graphlearning", graphlearning_unweighted),
    "GraphLearning amle, tight": ("amle", "graphlearning", graphlearning_tight),
    "GraphLearning laplace": ("classes", "graphlearning", graphlearning_laplace),
    "scikit-learn label spreading": ("classes", "scikit-learn", label_spreading),
    "SciPy spsolve": ("harmonic", "scipy", scipy_spsolve),
    "SciPy cg": ("harmonic", "scipy", scipy_cg),
    "PyAMG": ("harmonic", "pyamg", pyamg_solve),
    "SciPy L-BFGS-B": ("p", "scipy", lbfgs),
    "p-IRLS": ("p", "scipy", p_irls),
    "GraphLearning plaplace": ("p", "graphlearning", graphlearning_plaplace),
    "networkx": ("paths", "networkx", networkx_paths),
    "igraph": ("paths", "igraph", igraph_paths),
}
"""By name: what it solves, the package it comes from, and its ladder."""


def main(name: str, path: str, limit: str) -> None:
    _, package, ladder = PEERS[name]
    problem = Problem(path)
    rungs = ladder(problem)
    for number, (setting, run) in enumerate(rungs):
        if number == 0:  # its package has been imported: from here the clock runs
            signal.setitimer(signal.ITIMER_PROF, float(limit))
        began = time.process_time()
        field, says = run()
        seconds = time.process_time() - began
        error = problem.error(field)
        line = {"setting": setting, "seconds": seconds, "error": error, "says": says}
        print(json.dumps(line | {"version": metadata.version(package)}), flush=True)
        if error <= TARGET and number:
            break


if __name__ == "__main__":
    main(*sys.argv[1:])
