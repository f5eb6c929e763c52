"""What comes after one extension: many goals on one graph, and gradients by the labels.

Run with ``python -m benchmarks.repeated [vertices]``. The first part solves for 512 goals of a
maze, one by one and together. The second prints the time of the first pullback of a field and of
later ones, in solves. The promise: a first pullback takes at most one solve where labels do not
tie. Exact labels tie; their field is quick to solve, its one-sided derivative is not. CPU seconds.
"""

from __future__ import annotations

import sys
from functools import partial
from time import process_time

import numpy as np
from benchmarks.timing import best_of
from benchmarks.worlds import LABELS, make_graph, make_labels

import wayfield as wf

GOALS = 512
KINDS = ("2-D obstacles", "3-D", "4-regular", "geometric", "2-D, lognormal")
TIMES = 3


def many_goals() -> None:
    """Print how much quicker many goals are together."""
    graph = wf.grid_graph(wf.load_layout("large"), 12)
    goals = np.random.default_rng(0).choice(graph.num_vertices, GOALS, replace=False)
    labels = [wf.sample_labels(graph, int(goal), 0.02, seed=54) for goal in goals]
    for method in (wf.Harmonic(), wf.AMLE()):
        wf.extend_many(graph, labels[:2], method)
        start = process_time()
        singles = [wf.extend(graph, known, method) for known in labels]
        alone, start = process_time() - start, process_time()
        together = wf.extend_many(graph, labels, method)
        shared = process_time() - start
        pairs = zip(singles, together, strict=True)
        apart = max(float(np.abs(a.values - b.values).max()) for a, b in pairs)
        print(
            f"{method}: {GOALS} goals one by one {alone:.2f} s, together {shared:.2f} s "
            f"({alone / shared:.1f} times), largest difference {apart:.1e}",
            flush=True,
        )


def gradients(method: wf.fields.Method, kind: str, name: str, size: int) -> None:
    """Print what pullbacks cost beside the solve."""
    rng = np.random.default_rng(0)
    graph = make_graph(kind, size)
    labels = make_labels(graph, name, 0.02)
    cotangent = rng.normal(size=graph.num_vertices)
    solve = partial(wf.extend, graph, labels, method)
    seconds, first = best_of(solve, TIMES, process_time), []
    for _ in range(TIMES):
        field = solve()
        start = process_time()
        field.pullback(cotangent)
        first.append(process_time() - start)
    later = best_of(partial(field.pullback, cotangent), TIMES, process_time)
    some = rng.choice(graph.num_vertices, 5 if later > 0.05 else 50, replace=False)
    count = np.mean([field.influence(int(x)).weights.size for x in some])
    print(
        f"{method} on {kind}, {name} labels: solve {seconds:.3f} s, first pullback "
        f"{min(first) / seconds:.2f} solves, later {1e3 * later:.1f} ms ({later / seconds:.3f}), "
        f"labels per value {count:.1f}",
        flush=True,
    )


if __name__ == "__main__":
    many_goals()
    for method in (wf.AMLE(), wf.Harmonic(), wf.PLaplacian(8)):
        for kind in KINDS:
            for name in LABELS if isinstance(method, wf.AMLE) else ("noisy",):
                gradients(method, kind, name, int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
