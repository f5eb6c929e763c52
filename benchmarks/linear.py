"""Linear systems of Laplacians beside other solvers, and harmonic fields beside the AMLE.

Run with ``python -m benchmarks.linear [size] [--only WORDS] [--methods NAMES] [--seconds 150]``,
with OMP_NUM_THREADS=1. Every method runs in a forked child, one at a time, on the same system,
until its residual r obeys max |D⁻¹ r| <= 1e-10 max |D⁻¹ b| with D the diagonal. This is checked
with the matrix itself; iterations with another criterion get a smaller tolerance until it holds.
CPU seconds of preparation and one solve; bytes are the child's peak above its start, per vertex.
Compiled code is warmed up before. Peers that are not installed are left out.

`extend` is ``wf.extend(graph, labels, wf.Harmonic())`` with its bracket, and `AMLE` the same with
``wf.AMLE()``: another problem, and the scale. Labels lie at random vertices; their number follows
the name of the graph.
"""

from __future__ import annotations

import argparse
import ctypes
import multiprocessing
import os
import resource
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu
from scipy.spatial import Delaunay, cKDTree

import wayfield as wf
from wayfield.fields.linear import Interior
from wayfield.numerics.jit import compiling
from wayfield.numerics.laplacian import prepared

GOAL = 1e-10
WARM = 3_000
FILLS_IN = ("3-D", "clusters", "4-regular", "ring", "hubs", "star")
"""Families that are not factored: a cube of 1e5 takes a minute and gigabytes."""

Edges = tuple[np.ndarray, np.ndarray, np.ndarray]
Found = tuple[float, float]


# ------------------------------------------------------------------ graphs


def lattice(side: int, dimensions: int) -> tuple[np.ndarray, np.ndarray]:
    ids = np.arange(side**dimensions).reshape((side,) * dimensions)
    axes = [np.moveaxis(ids, axis, 0) for axis in range(dimensions)]
    return (
        np.concatenate([axis[:-1].ravel() for axis in axes]),
        np.concatenate([axis[1:].ravel() for axis in axes]),
    )


def families(n: int, seed: int) -> Iterator[tuple[str, int, Callable[[], Edges]]]:
    """Yield name, number of labels, and a maker of edges with lengths."""
    rng = np.random.default_rng(seed)
    side, cube, many = round(n**0.5), round(n ** (1 / 3)), max(2, n // 200)

    def even(i: np.ndarray, j: np.ndarray) -> Edges:
        return i, j, 1.0 + rng.random(i.size)

    def triangles() -> Edges:
        at = rng.random((n, 2))
        start, ends = Delaunay(at).vertex_neighbor_vertices
        tails = np.repeat(np.arange(n), np.diff(start))
        return tails, ends, np.linalg.norm(at[tails] - at[ends], axis=1)

    def clusters() -> Edges:
        at = rng.random((50, 3))[rng.integers(50, size=n)]
        at += 0.05 * rng.standard_exponential((n, 1)) * rng.standard_normal((n, 3))
        distance, near = cKDTree(at).query(at, 7)
        return np.repeat(np.arange(n), 6), near[:, 1:].ravel(), distance[:, 1:].ravel()

    def lognormal(dimensions: int) -> Edges:
        i, j = lattice(side if dimensions == 2 else cube, dimensions)
        return i, j, np.exp(3.0 * rng.standard_normal(i.size))

    def contrast(orders: int) -> Edges:
        i, j = lattice(side, 2)
        return i, j, 10.0 ** rng.uniform(0, orders, i.size)

    ring, hops = np.arange(n), np.arange(1, n)
    yield "grid", n // 20, lambda: even(*lattice(side, 2))
    yield "grid", many, lambda: even(*lattice(side, 2))
    yield "grid", 2, lambda: even(*lattice(side, 2))
    yield "3-D grid", many, lambda: even(*lattice(cube, 3))
    yield "3-D grid", 2, lambda: even(*lattice(cube, 3))
    yield "Delaunay", many, triangles
    yield "clusters in space", many, clusters
    chords = rng.integers(n, size=(2, n // 50))
    once = np.concatenate([ring, ring, chords[0]])
    yield (
        "ring with chords",
        many,
        lambda: even(once, np.concatenate([(ring + 1) % n, (ring + 2) % n, chords[1]])),
    )
    yield (
        "4-regular",
        many,
        lambda: even(np.tile(ring, 2), np.concatenate([rng.permutation(n), rng.permutation(n)])),
    )
    yield "path", 2, lambda: even(hops - 1, hops)
    extra = rng.integers(n, size=(2, n // 100))
    parents = (rng.random(n - 1) * hops).astype(int)
    yield (
        "tree with chords",
        2,
        lambda: even(np.concatenate([hops, extra[0]]), np.concatenate([parents, extra[1]])),
    )
    yield "grid, sigma 3", many, lambda: lognormal(2)
    yield "3-D grid, sigma 3", many, lambda: lognormal(3)
    yield "grid, contrast 1e3", many, lambda: contrast(3)
    yield "grid, contrast 1e12", many, lambda: contrast(12)
    yield "star", many, lambda: even(np.zeros(n - 1, int), hops)
    spokes = rng.choice(n, 10 * (n // 10))
    yield (
        "ten hubs on a ring",
        many,
        lambda: even(
            np.concatenate([ring, np.repeat(np.arange(10), n // 10)]),
            np.concatenate([(ring + 1) % n, spokes]),
        ),
    )


class Case:
    """A graph with labels, and the system on its free vertices."""

    def __init__(self, edges: Edges, count: int, seed: int) -> None:
        i, j, lengths = edges
        keep = i != j
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", wf.InputWarning)  # parallel edges
            self.graph = graph = wf.Graph.from_edges(i[keep], j[keep], lengths[keep])
        rng = np.random.default_rng(seed)
        at = np.sort(rng.choice(graph.num_vertices, count, replace=False))
        self.labels = wf.Labels(at, rng.random(count))
        known = np.isin(np.arange(graph.num_vertices), at)
        reached = np.isin(graph.components, graph.components[at])
        self.interior = Interior.of(graph, np.flatnonzero(~known & reached))
        self.matrix = self.interior.matrix(self.interior.conductances)
        self.matrix.sort_indices()
        self.diagonal = self.matrix.diagonal()
        values = np.zeros(graph.num_vertices)
        values[at] = self.labels.values
        flow = values[graph.indices] / graph.lengths
        flow = np.bincount(graph.tails, flow, graph.num_vertices)
        self.rhs = flow[self.interior.vertices]

    def residual(self, x: np.ndarray) -> float:
        rest = np.abs((self.rhs - self.matrix @ x) / self.diagonal)
        return float(rest.max() / np.abs(self.rhs / self.diagonal).max())


# ------------------------------------------------------------------ methods


def ours(case: Case) -> np.ndarray:
    solver = prepared(case.interior.weighted(case.interior.conductances))
    return solver.solve(case.rhs, GOAL)


def superlu(case: Case) -> np.ndarray:
    factors = splu(
        sparse.csc_array(case.matrix),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.asarray(factors.solve(case.rhs))


def cholmod(case: Case) -> np.ndarray:
    from sksparse.cholmod import cholesky  # type: ignore[import-not-found]

    return np.asarray(cholesky(sparse.csc_matrix(case.matrix))(case.rhs))


def diagonal(case: Case) -> np.ndarray:
    return conjugate(case, lambda r: r / case.diagonal, 100_000)


def pyamg(case: Case, which: str) -> np.ndarray:
    import pyamg as peer  # type: ignore[import-not-found]

    levels = getattr(peer, which)(sparse.csr_matrix(case.matrix))
    cycle = levels.aspreconditioner(cycle="V")
    return conjugate(case, lambda r: cycle @ r, 1_000)


def conjugate(case: Case, apply: Callable[[np.ndarray], np.ndarray], most: int) -> np.ndarray:
    """Conjugate gradients with the common criterion, for preconditioners of peers."""
    x, r, d = np.zeros_like(case.rhs), case.rhs.copy(), case.diagonal
    goal, size = GOAL * np.abs(r / d).max(), 1.0
    p = np.zeros_like(r)
    for _ in range(most):
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


def extended(case: Case, method: wf.fields.Method) -> np.ndarray:
    field = wf.extend(case.graph, case.labels, method, unreachable="nan", check=False)
    if not field.status.good:
        raise RuntimeError(field.status)
    return field.values[case.interior.vertices]


METHODS: dict[str, Callable[[Case], np.ndarray]] = {
    "AMLE": lambda case: extended(case, wf.AMLE()),
    "extend": lambda case: extended(case, wf.Harmonic()),
    "p = 4": lambda case: extended(case, wf.PLaplacian(4)),
    "solve": ours,
    "pyamg RS": lambda case: pyamg(case, "ruge_stuben_solver"),
    "pyamg SA": lambda case: pyamg(case, "smoothed_aggregation_solver"),
    "SuperLU": superlu,
    "CHOLMOD": cholmod,
    "CG": diagonal,
}
NEEDS = {"pyamg RS": "pyamg", "pyamg SA": "pyamg", "CHOLMOD": "sksparse"}


def child(case: Case, run: Callable[[Case], np.ndarray], seconds: int, pipe: Any) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    ctypes.CDLL(None).malloc_trim(0)  # or what the parent has freed would be used again
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    before = int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    try:
        start = time.process_time()
        with compiling("always"):
            found = run(case)
        spent = time.process_time() - start
        peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) * 1024
        share = (peak - before) / case.graph.num_vertices
        pipe.send((spent, share, case.residual(found)))
    except Exception as error:  # a peer may raise anything
        pipe.send(f"{type(error).__name__}"[:20])


def measured(case: Case, name: str, seconds: int) -> str:
    """Return a cell of the table: CPU seconds, bytes per vertex, residual."""
    ours, theirs = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(
        target=child, args=(case, METHODS[name], seconds, theirs)
    )
    process.start()
    theirs.close()
    try:
        found = ours.recv()
    except EOFError:
        found = f"> {seconds} s"
    process.join()
    if isinstance(found, str):
        return found
    spent, share, residual = found
    return f"{spent:.2f} s, {share:.0f} B" + (
        "" if name in ("AMLE", "p = 4") else f", {residual:.0e}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", type=float, nargs="?", default=1e5)
    parser.add_argument("--only", default="", help="parts of names, with commas")
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--seconds", type=int, default=150)
    parser.add_argument("--seed", type=int, default=31)
    given = parser.parse_args()
    wanted = given.methods.split(",")
    names = [name for name in wanted if name not in NEEDS or find_spec(NEEDS[name])]
    with compiling("always"):
        for _, count, make in families(WARM, 0):
            case = Case(make(), count, 0)
            for name in {"AMLE", "extend", "p = 4", "solve"} & set(names):
                with suppress(RuntimeError):
                    METHODS[name](case)
    print("| graph, labels | " + " | ".join(names) + " |", flush=True)
    for family, count, make in families(int(given.size), given.seed):
        title = f"{family}, {count:,}"
        if given.only and not any(word in title for word in given.only.split(",")):
            continue
        case = Case(make(), count, given.seed)
        cells = []
        for name in names:
            fills = any(word in family for word in FILLS_IN)
            skip = name in ("SuperLU", "CHOLMOD") and fills and given.size > WARM
            cells.append("–" if skip else measured(case, name, given.seconds))
        print(f"| {title} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
