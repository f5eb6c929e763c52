"""The interval test beside the AMLE with its bracket: times, and their ratio.

Run with ``python -m benchmarks.intervals [seed] [vertices]``. The aim is at most 15 %. The test is
two searches for shortest paths from all labels, and a pass over the moves. For comparison, the last
column shows two breadth-first searches. Large grids with unit lengths miss the aim a little, since
the AMLE is fastest there. Times are CPU times: the least of several rounds, in each of which all
three run in turn.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator

import numpy as np
from benchmarks.limits import four_regular, grid
from benchmarks.worlds import make_graph

import wayfield as wf
from wayfield.certificates.intervals import interval_test
from wayfield.numerics.jit import compiling
from wayfield.numerics.shortest import breadth_first

FRACTIONS = (0.02, 0.05, 0.12)


def graphs(rng: np.random.Generator, size: int) -> Iterator[tuple[str, wf.Graph]]:
    for maze in ("medium", "large"):
        for r in (4, 8, 12):
            yield f"{maze} r{r}", wf.grid_graph(wf.load_layout(f"antmaze-{maze}"), refinement=r)
    plain = grid(2, size)
    yield "2-D", plain
    yield "2-D, whole", grid(2, size, lambda m: rng.integers(1, 9, m).astype(float))
    yield "2-D, lognormal", grid(2, size, lambda m: rng.lognormal(size=m))
    yield "geometric", make_graph("geometric", size)
    yield "4-regular", four_regular(size)
    # one arc in five is missing
    kept = rng.random(plain.num_arcs) > 0.2
    ends, n = (plain.tails[kept], plain.indices[kept]), plain.num_vertices
    yield "directed", wf.Graph.from_edges(*ends, None, n, directed=True)
    lengths = rng.lognormal(size=int(kept.sum()))
    yield "directed, lognormal", wf.Graph.from_edges(*ends, lengths, n, directed=True)


def main(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    print("graph                labels   AMLE ms   test ms  share  two breadth-first searches")
    for name, graph in graphs(rng, size):
        goal = int(rng.integers(graph.num_vertices))
        for fraction in FRACTIONS:
            labels = wf.sample_labels(graph, goal, fraction=fraction, seed=seed)
            plan = wf.plan(graph, wf.extend(graph, labels, wf.AMLE(), unreachable="nan"), goal)
            interval_test(graph, labels, plan)
            rounds = []
            for _ in range(7):
                clock = [time.thread_time()]
                wf.extend(graph, labels, wf.AMLE(), unreachable="nan")
                clock.append(time.thread_time())
                interval_test(graph, labels, plan)
                clock.append(time.thread_time())
                breadth_first(graph.arcs, labels.vertices)
                rounds.append(np.diff([*clock, time.thread_time()]))
            field, test, search = 1e3 * np.min(rounds, axis=0)
            print(
                f"{name:20} {fraction:6.2f}{field:10.2f}{test:10.2f}{test / field:7.3f}"
                f"{2 * search / field:9.3f}",
                flush=True,
            )


if __name__ == "__main__":
    with compiling("always"):
        main(
            int(sys.argv[1]) if len(sys.argv) > 1 else 77,
            int(sys.argv[2]) if len(sys.argv) > 2 else 100_000,
        )
