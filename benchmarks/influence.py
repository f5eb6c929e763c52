"""The gradient of an extension beside its solve: the first pullback of a field, and later ones.

Run with ``python -m benchmarks.influence [vertices]``. The promise: a first pullback takes at most
one solve where labels do not tie. Exact labels tie; their field is quick to solve and its one-sided
derivative is not.
"""

from __future__ import annotations

import sys
from time import perf_counter

import numpy as np

import wayfield as wf

from ._timing import best_of
from .worlds import LABELS, make_graph, make_labels

KINDS = ("2-D grid", "3-D grid", "4-regular", "geometric", "2-D, lognormal")
TIMES = 3


def main(size: int) -> None:
    rng = np.random.default_rng(0)
    for method in (wf.AMLE(), wf.Harmonic(), wf.PLaplacian(8)):
        for kind in KINDS:
            graph = make_graph(kind, size)
            for name in LABELS if isinstance(method, wf.AMLE) else ("noisy",):
                labels = make_labels(graph, name, 0.02)
                cotangent = rng.normal(size=graph.num_vertices)
                solve = best_of(lambda: wf.extend(graph, labels, method), TIMES)  # noqa: B023
                first = []
                for _ in range(TIMES):
                    field = wf.extend(graph, labels, method)
                    start = perf_counter()
                    field.pullback(cotangent)
                    first.append(perf_counter() - start)
                later = best_of(lambda: field.pullback(cotangent), TIMES)  # noqa: B023
                some = rng.choice(graph.num_vertices, 50, replace=False)
                counts = [
                    field.influence(int(x)).weights.size for x in some[: 5 if later > 0.05 else 50]
                ]
                print(
                    f"{method} on {kind}, {name} labels: solve {solve:.3f} s, first pullback "
                    f"{min(first) / solve:.2f} solves, later {1e3 * later:.1f} ms "
                    f"({later / solve:.3f}), labels per value {np.mean(counts):.1f}",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
