"""Our own figures: cells of one graph, measured in a process of their own.

``python -m benchmarks.ours KIND SIZE`` reads cells as JSON from standard input and writes a line of
JSON for each. Times are the best of a few runs, after one on a small graph of the same kind, so
that no compiling is counted; the unit beside them is a plain midrange sweep on the same graph, with
lengths where it has some. Errors are proved: the distance of a value from the far end of its
bracket. Memory is the peak above what was held before the solve.
"""

from __future__ import annotations

import ctypes
import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks._timing import sweep_in_place
from benchmarks.cells import METHODS, Cell
from benchmarks.worlds import make_graph, make_labels

import wayfield as wf
from wayfield.fields import Extension
from wayfield_study.kernels.midrange import sweep

ENOUGH, MOST = 0.5, 15
"""Seconds and runs after which a measurement is not repeated."""
SMALL = 6_000
"""Size of the graphs on which kernels are compiled beforehand: large enough to be divided."""
LARGE = 50_000
"""Vertices from which the memory of a solve can be measured."""


def sweep_seconds(graph: wf.Graph, labels: wf.Labels, about: float) -> float:
    """Time of one plain midrange sweep, by lengths if they are not all 1.

    The mean over as many sweeps as take about `about` seconds: on a busy machine a short
    measurement may be lucky, and a long one is not.
    """
    fixed = labels.mask(graph)
    values = np.where(fixed, 0.0, labels.values.mean())
    values[labels.vertices] = labels.values
    updated = values.copy()
    count, began = 0, time.perf_counter()
    while count < 3 or time.perf_counter() - began < min(about, ENOUGH):
        if graph.is_unit:
            sweep_in_place(graph.arcs, fixed, values)
        else:
            sweep(graph.arcs, fixed, False, values, updated, 1.0)
        count += 1
    return (time.perf_counter() - began) / count


def proved_error(field: Extension) -> float:
    """Largest distance of a value from the far end of its bracket."""
    assert field.lower is not None
    assert field.upper is not None
    return float(np.maximum(field.upper - field.values, field.values - field.lower).max())


def measure(cell: Cell, graph: wf.Graph) -> dict[str, object]:
    """Solve a cell a few times: time, proved error, memory."""
    labels = make_labels(graph, cell.labels, cell.share)
    method = METHODS[cell.method]
    field, bytes_per_vertex = _peak(lambda: wf.extend(graph, labels, method, check=False), graph)
    seconds, spent = [field.seconds], field.seconds
    sweeps = [sweep_seconds(graph, labels, field.seconds)]
    while len(seconds) < MOST and spent < ENOUGH:
        # in turn, so that both meet the same machine
        seconds.append(wf.extend(graph, labels, method, check=False).seconds)
        sweeps.append(sweep_seconds(graph, labels, seconds[-1]))
        spent += seconds[-1]
    return cell.record(
        vertices=graph.num_vertices,
        arcs=graph.num_arcs,
        seconds=min(seconds),
        sweep=min(sweeps),
        error=None if field.lower is None else proved_error(field) / labels.span,
        status=str(field.status),
        bytes_per_vertex=bytes_per_vertex,
    )


def _peak(solve: Callable[[], Extension], graph: wf.Graph) -> tuple[Extension, float | None]:
    """Solve, and say how many bytes per vertex it held at most; None if that is lost in noise."""
    if graph.num_vertices < LARGE or not hasattr(ctypes.CDLL(None), "malloc_trim"):
        return solve(), None
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what was freed goes back, so that it is not counted as free
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = _memory("VmRSS")
    field = solve()
    return field, (_memory("VmHWM") - before) / graph.num_vertices


def _memory(what: str) -> float:
    """Bytes of this process now (VmRSS) or at most (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024.0 * float(line.split()[1]) for line in lines if line.startswith(what))


def main(kind: str, size: int) -> None:
    cells = [Cell(**settings) for settings in json.load(sys.stdin)]
    small = make_graph(kind, SMALL)
    for method, labels in {(cell.method, cell.labels) for cell in cells}:
        few = make_labels(small, labels, 0.1)
        wf.extend(small, few, METHODS[method], check=False)
        sweep_seconds(small, few, 0.0)
    graph = make_graph(kind, size)
    for cell in cells:
        print(json.dumps(measure(cell, graph)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
