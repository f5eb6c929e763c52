"""Peak memory of building, saving and loading a graph of 10 million vertices and 40 million arcs.

Run with ``python -m benchmarks.memory [side]``. Every stage runs in a process of its own, so that
its peak is its own; the promise is 4 GB.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import wayfield as wf

SIDE = 3162
PROMISE_GB = 4.0


def grid_edges(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Ends of a square grid's edges, as 64-bit integers: what a caller usually has."""
    number = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    heads = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    return tails, heads


def build_unit(side: int, path: Path) -> wf.Graph:
    return wf.Graph.from_edges(*grid_edges(side))


def build_and_save(side: int, path: Path) -> wf.Graph:
    tails, heads = grid_edges(side)
    lengths = np.linspace(1.0, 2.0, tails.size)
    graph = wf.Graph.from_edges(tails, heads, lengths)
    graph.save(path)
    return graph


def load(side: int, path: Path) -> wf.Graph:
    return wf.Graph.load(path)


def extend(side: int, path: Path) -> wf.Graph:
    graph = wf.Graph.load(path)
    labels = wf.Labels(np.arange(0, graph.num_vertices, 50), np.arange(0, graph.num_vertices, 50))
    wf.extend(graph, labels, wf.NearestLabel())
    return graph


STAGES = {
    "from_edges, unit lengths": build_unit,
    "from_edges and save": build_and_save,
    "load": load,
    "load and nearest label": extend,
}


def run_stage(name: str, side: int, path: Path) -> None:
    start = time.perf_counter()
    graph = STAGES[name](side, path)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    verdict = "" if peak < PROMISE_GB else f"  over the promised {PROMISE_GB:g} GB"
    print(f"{name:26} {graph!r}: peak {peak:.2f} GB, {seconds:.1f} s{verdict}", flush=True)


def main() -> None:
    if len(sys.argv) == 4:
        run_stage(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]))
        return
    side = sys.argv[1] if len(sys.argv) == 2 else str(SIDE)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "grid.npz"
        for name in STAGES:
            command = [sys.executable, "-m", "benchmarks.memory", name, side, str(path)]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
