"""Our own figures: cells of one graph, measured in a process of their own.

``python -m benchmarks.ours KIND SIZE`` reads cells as JSON from standard input and writes a line of
JSON for each. Times are the best of a few runs, after one on a small graph of the same kind, so
that no compiling is counted; the unit beside them is a plain midrange sweep on the same graph, with
lengths where it has some. Errors are proved: the distance of a value from the far end of its
bracket. Memory is the peak above what was held before the solve.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
from benchmarks._timing import best_of
from benchmarks.cells import METHODS, Cell
from benchmarks.worlds import make_graph, make_labels

import wayfield as wf
from wayfield.kernels.midrange import sweep, sweep_in_place

ENOUGH = 2.0
"""Seconds after which a measurement is not repeated."""
SMALL = 500
"""Size of the graphs on which kernels are compiled beforehand."""


def sweep_seconds(graph: wf.Graph, labels: wf.Labels) -> float:
    """Time of one plain midrange sweep, by lengths if they are not all 1."""
    fixed = labels.mask(graph)
    values = np.where(fixed, 0.0, labels.values.mean())
    values[labels.vertices] = labels.values
    if graph.is_unit:
        return best_of(lambda: sweep_in_place(graph.arcs, fixed, values), 5)
    return best_of(lambda: sweep(graph.arcs, fixed, False, values, values.copy()), 3)


def proved_error(field: wf.Extension) -> float:
    """Largest distance of a value from the far end of its bracket."""
    assert field.lower is not None
    assert field.upper is not None
    return float(np.maximum(field.upper - field.values, field.values - field.lower).max())


def measure(cell: Cell, graph: wf.Graph) -> dict[str, object]:
    """Solve a cell a few times: time, proved error, memory."""
    labels = make_labels(graph, cell.labels, cell.share)
    method = METHODS[cell.method]
    before = _memory("VmRSS")
    _forget_peak()
    seconds, spent = [], 0.0
    while len(seconds) < 3 and spent < ENOUGH:
        began = time.perf_counter()
        field = wf.extend(graph, labels, method, check=False)
        seconds.append(time.perf_counter() - began)
        spent += seconds[-1]
    peak = _memory("VmHWM")
    proved = field.lower is not None
    return cell.record(
        vertices=graph.num_vertices,
        arcs=graph.num_arcs,
        seconds=min(seconds),
        sweep=sweep_seconds(graph, labels),
        error=proved_error(field) / labels.span if proved else None,
        status=str(field.status),
        bytes_per_vertex=None if before is None else (peak - before) / graph.num_vertices,
    )


def _memory(what: str) -> float | None:
    """Bytes of this process now (VmRSS) or at most (VmHWM); None where nobody says."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next(1024.0 * float(line.split()[1]) for line in lines if line.startswith(what))


def _forget_peak() -> None:
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def main(kind: str, size: int) -> None:
    cells = [Cell(**settings) for settings in json.load(sys.stdin)]
    small = make_graph(kind, SMALL)
    for method, labels in {(cell.method, cell.labels) for cell in cells}:
        wf.extend(small, make_labels(small, labels, 0.1), METHODS[method], check=False)
    graph = make_graph(kind, size)
    for cell in cells:
        print(json.dumps(measure(cell, graph)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
