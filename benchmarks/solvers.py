"""Extensions and linear systems on many kinds of graphs, beside each other and beside peers.

``python -m benchmarks.solvers [size …] [--only WORDS] [--methods NAMES] [--labels 0.005,2]``, with
OMP_NUM_THREADS=1. Labels are a share of the vertices or their number, and random numbers unless
``--values true`` or ``noisy``. With two sizes, the last columns are exponents of growth.

Every method runs in a forked child of its own, in which nothing is compiled or built any more. A
cell is: CPU seconds, *sweeps*, bytes per vertex (the child's peak above its start), error. A sweep
is one in-place midrange sweep over the graph, the step of the usual iterative solver of the AMLE.
The error of an extension is the largest distance from its bracket's far end over the range of the
labels. For a method without a bracket it is the true one, from ours. The error of a linear solver
is its residual, max |D⁻¹ r| / max |D⁻¹ b| with D the diagonal, by the matrix itself; all are asked
for 1e-10. Peers that are not installed are left out: ``pip install pyamg graphlearning``.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import resource
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.worlds import KINDS, LABELS, POINTS, make_graph, make_labels
from scipy import sparse
from scipy.optimize import minimize
from scipy.sparse.linalg import splu

import wayfield as wf
from wayfield.fields.linear import Interior
from wayfield.numerics.csr import Arcs
from wayfield.numerics.jit import compiling, njit
from wayfield.numerics.laplacian import prepared
from wayfield_study.kernels.midrange import balance, midrange

GOAL = 1e-10
WARM = 3_000
"""Size of the graphs on which everything is compiled."""
FILLS_IN = ("3-D", "clusters", "4-regular", "small", "hubs", "star", "preferential", "geometric")
"""Kinds that are not factored: a cube of 1e5 vertices takes a minute and gigabytes."""


@njit(cache=True, nogil=True)
def sweep(arcs: Arcs, fixed: np.ndarray, unit: bool, values: np.ndarray) -> None:
    """Run one Gauss–Seidel sweep in index order: the unit of time."""
    for x in range(values.size):
        if not fixed[x]:
            values[x] = midrange(arcs, values, x) if unit else balance(arcs, values, x)


class Case:
    """A graph with labels, and the linear system on its free vertices."""

    def __init__(self, kind: str, size: int, count: float, values: str, seed: int) -> None:
        self.graph = make_graph(kind, size, seed)
        n = self.graph.num_vertices
        self.labels = make_labels(
            self.graph, values, min(1.0, count / n if count > 1 else count), seed
        )
        self.name = f"{kind}, {len(self.labels):,}"
        self.factors = not any(word in kind for word in FILLS_IN) or size <= WARM
        fixed = self.labels.mask(self.graph)
        field = np.zeros(n)
        field[self.labels.vertices] = self.labels.values
        self.interior = Interior.of(self.graph, np.flatnonzero(~fixed))
        flow = np.bincount(self.graph.tails, field[self.graph.indices] / self.graph.lengths, n)
        self.rhs = flow[self.interior.vertices]
        self.sweep = partial(sweep, self.graph.arcs, fixed, self.graph.is_unit, field)

    @cached_property
    def matrix(self) -> sparse.csr_array:
        matrix = self.interior.matrix(self.interior.conductances)
        matrix.sort_indices()
        return matrix

    @cached_property
    def diagonal(self) -> np.ndarray:
        return self.matrix.diagonal()

    def residual(self, x: np.ndarray) -> float:
        """How far a linear solver is off."""
        rest = np.abs((self.rhs - self.matrix @ x) / self.diagonal)
        return float(rest.max() / np.abs(self.rhs / self.diagonal).max())

    def width(self, field: wf.fields.Extension) -> float:
        """How far an extension is off at most."""
        if not field.status.good or field.lower is None:
            raise RuntimeError(field.status)
        error = np.maximum(field.upper - field.values, field.values - field.lower).max()
        return float(error / self.labels.span)

    def true_error(self, values: np.ndarray, method: wf.fields.Method) -> float:
        """How far a field is off from ours."""
        exact = wf.extend(self.graph, self.labels, method, check=False).values
        return float(np.abs(values - exact).max() / self.labels.span)


# ------------------------------------------------------------------ methods


def ours(case: Case) -> np.ndarray:
    solver = prepared(case.interior.weighted(case.interior.conductances))
    return solver.solve(case.rhs, GOAL)


def superlu(case: Case) -> np.ndarray:
    symmetric = {"diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    factors = splu(sparse.csc_array(case.matrix), permc_spec="MMD_AT_PLUS_A", **symmetric)
    return np.asarray(factors.solve(case.rhs))


def cholmod(case: Case) -> np.ndarray:
    from sksparse.cholmod import cholesky

    return np.asarray(cholesky(sparse.csc_matrix(case.matrix))(case.rhs))


def pyamg(case: Case, which: str) -> np.ndarray:
    import pyamg as peer

    cycle = getattr(peer, which)(sparse.csr_matrix(case.matrix)).aspreconditioner(cycle="V")
    return conjugate(case, lambda r: cycle @ r)


def conjugate(case: Case, apply: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Conjugate gradients until the common criterion holds, for preconditioners of peers."""
    x, r, d = np.zeros_like(case.rhs), case.rhs.copy(), case.diagonal
    goal, size, p = GOAL * np.abs(r / d).max(), 1.0, np.zeros_like(r)
    for _ in range(100_000):
        z = apply(r)
        before, size = size, float(r @ z)
        p = z + (size / before) * p if p.any() else z
        q = case.matrix @ p
        step = size / float(p @ q)
        x += step * p
        r -= step * q
        if np.abs(r / d).max() <= goal:
            break
    return x


def graph_learning(case: Case, **settings: Any) -> np.ndarray:
    import graphlearning

    graph = graphlearning.graph(sparse.csr_matrix(case.graph.to_scipy()))
    return np.asarray(graph.amle(case.labels.vertices, case.labels.values, **settings))


def lbfgs(case: Case) -> np.ndarray:
    """Minimise the energy of p = 4 from the harmonic field, by L-BFGS-B as it comes."""
    graph, free = case.graph, case.interior.vertices
    once = graph.tails < graph.indices
    tails, heads, lengths = graph.tails[once], graph.indices[once], graph.lengths[once]
    field = wf.extend(graph, case.labels, wf.Harmonic(bracket=False)).values.copy()

    def energy(x: np.ndarray) -> tuple[float, np.ndarray]:
        field[free] = x
        slope = (field[heads] - field[tails]) / lengths
        flow = slope**3
        gradient = np.bincount(heads, flow, field.size) - np.bincount(tails, flow, field.size)
        return float((flow * slope) @ lengths) / 4, gradient[free]

    field[free] = minimize(energy, field[free], jac=True, method="L-BFGS-B").x
    return field


Method = tuple[Callable[[Case], Any], Callable[[Case, Any], float], str]


def extended(method: wf.fields.Method) -> Method:
    return (
        lambda case: wf.extend(case.graph, case.labels, method, check=False),
        lambda case, field: case.width(field),
        "",
    )


def solved(solve: Callable[[Case], np.ndarray], needs: str = "") -> Method:
    return solve, lambda case, x: case.residual(x), needs


def apart(solve: Callable[[Case], np.ndarray], method: wf.fields.Method, needs: str) -> Method:
    return solve, lambda case, values: case.true_error(values, method), needs


METHODS: dict[str, Method] = {
    "AMLE": extended(wf.AMLE()),
    "Harmonic": extended(wf.Harmonic()),
    "p = 4": extended(wf.PLaplacian(4)),
    "p = 16": extended(wf.PLaplacian(16)),
    "solve": solved(ours),
    "pyamg RS": solved(partial(pyamg, which="ruge_stuben_solver"), "pyamg"),
    "pyamg SA": solved(partial(pyamg, which="smoothed_aggregation_solver"), "pyamg"),
    "SuperLU": solved(superlu),
    "CHOLMOD": solved(cholmod, "sksparse"),
    "CG": solved(lambda case: conjugate(case, lambda r: r / case.diagonal)),
    "GraphLearning": apart(graph_learning, wf.AMLE(), "graphlearning"),
    "GraphLearning tight": apart(
        partial(graph_learning, weighted=False, tol=1e-12, max_num_it=1e9),
        wf.AMLE(),
        "graphlearning",
    ),
    "L-BFGS-B p = 4": apart(lbfgs, wf.PLaplacian(4), ""),
}
"""By name: what is timed, its error, and the package that it needs."""


# ------------------------------------------------------------------ measuring


def child(case: Case, method: Method, seconds: int, pipe: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    ctypes.CDLL(None).malloc_trim(0)  # or what the parent has freed would be used again
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    run, error, _ = method
    try:
        start = time.process_time()
        with compiling("always"):
            found = run(case)
        spent = time.process_time() - start
        peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
        pipe.send((spent, (peak - before) / case.graph.num_vertices, error(case, found)))
    except Exception as failure:  # a peer may raise anything
        pipe.send(f"{type(failure).__name__}: {failure}"[:40])


def measured(case: Case, name: str, seconds: int) -> tuple[float, float, float] | str:
    """Return CPU seconds, bytes per vertex and the error of a method; or why there are none."""
    if name in ("SuperLU", "CHOLMOD") and not case.factors:
        return "–"
    if name.startswith("Graph") and not case.graph.is_unit:  # its weights are no lengths
        return "–"
    mine, theirs = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(
        target=child, args=(case, METHODS[name], seconds, theirs)
    )
    process.start()
    theirs.close()
    try:
        found = mine.recv()
    except EOFError:
        found = f"> {seconds} s"
    process.join()
    return found


def sweep_seconds(case: Case) -> float:
    """CPU seconds of a sweep: the mean over a tenth of a second."""
    count, start = 0, time.process_time()
    while count < 3 or time.process_time() - start < 0.1:
        case.sweep()
        count += 1
    return (time.process_time() - start) / count


def main() -> None:
    """Print a table, a line for each kind of graph and number of labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", type=float, nargs="*", default=[1e5])
    parser.add_argument("--only", default="", help="parts of names of graphs, with commas")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--labels", default="0.005", help="shares or numbers, with commas")
    parser.add_argument("--values", choices=LABELS, default="random")
    parser.add_argument("--seconds", type=int, default=150, help="limit for each, CPU time")
    parser.add_argument("--seed", type=int, default=31)
    given = parser.parse_args()
    names = [name for name in METHODS if name in given.methods.split(",")]
    names = [name for name in names if not METHODS[name][2] or find_spec(METHODS[name][2])]
    kinds = [kind for kind in (*KINDS, *POINTS) if any(w in kind for w in given.only.split(","))]
    with compiling("always"):
        for kind in kinds:
            case = Case(kind, WARM, 0.05, "random", 0)
            case.sweep()
            for name in {"AMLE", "Harmonic", "p = 4", "p = 16", "solve"} & set(names):
                with suppress(wf.NotConverged):
                    METHODS[name][0](case)
    growth = ["exponents"] if len(given.sizes) > 1 else []
    print("| " + " | ".join(["graph, labels", "sweep", *names, *growth]) + " |")
    print("|---" * (len(names) + 2 + len(growth)) + "|", flush=True)
    for kind in kinds:
        for count in map(float, given.labels.split(",")):
            times: list[dict[str, float]] = []
            for size in given.sizes:
                case = Case(kind, int(size), count, given.values, given.seed)
                unit = sweep_seconds(case)
                cells, spent = [case.name, f"{1e3 * unit:.2f} ms"], {}
                for name in names:
                    found = measured(case, name, given.seconds)
                    if isinstance(found, str):
                        cells.append(found)
                    else:
                        seconds, share, error = found
                        spent[name] = seconds / case.graph.num_vertices
                        cells.append(
                            f"{seconds:.2f} s, {seconds / unit:.0f}, {share:.0f} B, {error:.0e}"
                        )
                times.append(spent)
                if growth and size == given.sizes[-1]:
                    factor = np.log(given.sizes[-1] / given.sizes[0])
                    both = [name for name in names if name in times[0] and name in times[-1]]
                    grown = {x: 1 + np.log(times[-1][x] / times[0][x]) / factor for x in both}
                    cells.append(", ".join(f"{x} {value:.2f}" for x, value in grown.items()))
                elif growth:
                    cells.append("")
                print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
