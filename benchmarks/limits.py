"""How far the exact AMLE is from what the machine allows: bytes, bandwidth, passes.

Run with ``python -m benchmarks.limits [vertices]``. With ``growth`` in place of the number, it
prints how times grow from 1e4 to 1e6 vertices. No solver can do with less than one pass over the
graph: every arc and every label is read once, and every value is written once. At the measured
bandwidth of the machine that takes a certain time, the *limit*. A plain sweep is one such pass.
*Rounds* are those of the iteration; 0 means that divide and conquer solved it. On a directed graph
a sweep is one check of every vertex, over its incoming and outgoing arcs.

Times are CPU time, the least of several rounds.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain

import numpy as np
from benchmarks._timing import obstacle_grid, sweep_in_place
from benchmarks.worlds import make_graph

import wayfield as wf
from wayfield.fields.kernels import imbalance
from wayfield.numerics.csr import Arcs
from wayfield.numerics.jit import njit
from wayfield.typing import BoolArray, FloatArray
from wayfield_study.kernels.midrange import balance


def bytes_of_a_pass(graph: wf.Graph) -> int:
    """Bytes that one pass must move: rows and arcs in, lengths too unless all are 1; values out."""
    arcs = graph.indices.nbytes + (0 if graph.is_unit else graph.lengths.nbytes)
    return graph.indptr.nbytes + arcs + 2 * 8 * graph.num_vertices


def bandwidth(size: int = 2**26) -> float:
    """Bytes per second that one thread copies between arrays larger than any cache."""
    source, target = np.ones(size), np.empty(size)
    return 2 * source.nbytes / cpu_time(lambda: np.copyto(target, source))


def cpu_time(work: Callable[[], object], times: int = 5) -> float:
    """Least CPU time of this thread in several runs, after one that is not counted."""
    work()
    seconds = []
    for _ in range(times):
        start = time.thread_time()
        work()
        seconds.append(time.thread_time() - start)
    return min(seconds)


@njit(cache=True, nogil=True)
def weighted_sweep(arcs: Arcs, fixed: BoolArray, values: FloatArray) -> None:
    """One plain Gauss–Seidel sweep on any lengths."""
    for x in range(values.size):
        if not fixed[x]:
            values[x] = balance(arcs, values, x)


def grid(dimensions: int, size: int, lengths: Callable[[int], FloatArray] = np.ones) -> wf.Graph:
    """A grid with as many vertices along every axis, about `size` in all."""
    sides = dimensions * [round(size ** (1 / dimensions))]
    number = np.arange(np.prod(sides)).reshape(sides)
    pairs = [
        (number.take(range(side - 1), axis).ravel(), number.take(range(1, side), axis).ravel())
        for axis, side in enumerate(sides)
    ]
    tails, heads = (np.concatenate(ends) for ends in zip(*pairs, strict=True))
    return wf.Graph.from_edges(tails, heads, lengths(tails.size), number.size)


def four_regular(size: int) -> wf.Graph:
    """Two random cycles through all vertices."""
    rng = np.random.default_rng(0)
    cycles = [rng.permutation(size) for _ in range(2)]
    following = [np.roll(cycle, -1) for cycle in cycles]
    return wf.Graph.from_edges(np.concatenate(cycles), np.concatenate(following))


def preferential(size: int) -> wf.Graph:
    """A graph that grew by preferential attachment, three edges with every vertex."""
    rng = np.random.default_rng(0)
    tails = np.repeat(np.arange(3, size), 3)
    ends = np.empty(2 * tails.size, np.int64)  # of all edges so far: a vertex once for each of its
    ends[::2] = tails
    ends[1:6:2] = range(3)
    for k in range(3, tails.size):
        ends[2 * k + 1] = ends[rng.integers(2 * (k - k % 3))]
    return wf.Graph.from_edges(tails, ends[1::2])


def cases(size: int) -> Iterator[tuple[str, wf.Graph, bool]]:
    """Name, graph, and whether the labels are random numbers in place of true distances."""
    rng = np.random.default_rng(0)
    yield "2-D with obstacles", obstacle_grid(size), False
    yield "2-D", grid(2, size), True
    yield "3-D", grid(3, size), False
    yield "3-D", grid(3, size), True
    yield "4-regular", four_regular(size), True
    yield "2-D, whole", grid(2, size, lambda m: rng.integers(1, 9, m).astype(float)), False
    yield "2-D, lognormal", grid(2, size, lambda m: rng.lognormal(size=m)), False
    yield "3-D, lognormal", grid(3, size, lambda m: rng.lognormal(size=m)), False
    yield "geometric", make_graph("geometric", size), False
    yield "geometric", make_graph("geometric", size), True
    yield "preferential", preferential(size), True


def problems(size: int) -> Iterator[tuple[str, str, wf.Graph, wf.Labels]]:
    """Name, kind of labels, graph and labels: 2 % of the vertices."""
    for name, graph, noisy in cases(size):
        labels = wf.sample_labels(graph, goal=graph.num_vertices // 2, fraction=0.02, seed=54)
        if noisy:
            noise = np.random.default_rng(7).random(len(labels))
            labels = wf.Labels(labels.vertices, noise)
        yield name, "random" if noisy else "true", graph, labels


def directed_problems(size: int) -> Iterator[tuple[str, str, wf.Graph, wf.Labels]]:
    """A directed grid with tied lengths and labels, and a digraph of two random arcs per vertex."""
    rng = np.random.default_rng(3)
    side = round(size**0.5)
    number = np.arange(side * side).reshape(side, side)
    tails = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    heads = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    whole = rng.integers(1, 4, tails.size).astype(float)
    graph = wf.Graph.from_edges(tails, heads, whole, directed=True)
    at = np.union1d(rng.choice(number.size, number.size // 50, replace=False), [0])
    yield "directed grid", "tied", graph, wf.Labels(at, rng.integers(0, 3, at.size).astype(float))
    tails, heads = rng.integers(0, size, (2, 2 * size))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wf.InputWarning)  # loops and parallel arcs
        graph = wf.Graph.from_edges(tails, heads, 0.1 + rng.random(2 * size), size, directed=True)
    at = rng.choice(size, size // 50, replace=False)
    yield "sparse digraph", "random", graph, wf.Labels(at, rng.random(at.size))


def measure(graph: wf.Graph, labels: wf.Labels, times: int = 3) -> tuple[float, float]:
    """CPU time of one sweep, and of the AMLE with its bracket."""
    fixed = labels.mask(graph)
    values = np.zeros(graph.num_vertices)
    values[labels.vertices] = labels.values / labels.span

    def sweep() -> None:
        if graph.directed:
            imbalance(graph.arcs, graph.reverse_arcs, fixed, graph.is_unit, values)
        elif graph.is_unit:
            sweep_in_place(graph.arcs, fixed, values.copy())
        else:
            weighted_sweep(graph.arcs, fixed, values.copy())

    solve = partial(wf.extend, graph, labels, wf.AMLE(), unreachable="nan")
    return cpu_time(sweep), cpu_time(solve, times)


def print_table(size: int) -> None:
    """Print times at one size beside the limit."""
    speed = bandwidth()
    print(f"one thread copies {speed / 1e9:.1f} GB/s")
    print(
        "graph                labels  pass MB  limit ms  sweep ms  AMLE ms  sweeps"
        "    rounds   × limit"
    )
    for name, kind, graph, labels in problems(size):
        sweep, proved = measure(graph, labels)
        rounds = wf.extend(graph, labels, wf.AMLE()).details["rounds"]
        moved = bytes_of_a_pass(graph)
        print(
            f"{name:20} {kind:6} {moved / 1e6:10.1f}"
            f"{moved / speed * 1e3:10.2f}{sweep * 1e3:10.2f}{proved * 1e3:10.0f}"
            f"{proved / sweep:10.0f}{rounds:10.0f}"
            f"{proved * speed / moved:10.0f}",
            flush=True,
        )


def print_growth(small: int, large: int) -> None:
    """Print exponents between two sizes: of the time, of a sweep, and of the time in sweeps."""
    print("graph                labels      time     sweep  in sweeps    µs per vertex")
    pairs = zip(
        chain(problems(small), directed_problems(small)),
        chain(problems(large), directed_problems(large)),
        strict=True,
    )
    for (name, kind, graph, labels), (_, _, larger, more) in pairs:
        sizes = np.array([graph.num_vertices, larger.num_vertices])
        times = np.array([measure(graph, labels), measure(larger, more, times=2)])
        growth = np.log(sizes[1] / sizes[0])
        sweep, solve = np.log(times[1] / times[0]) / growth
        each = times[:, 1] / sizes * 1e6
        print(
            f"{name:20} {kind:6} {solve:10.2f}{sweep:10.2f}{1.0 + solve - sweep:11.2f}"
            f"{each[0]:10.2f} to {each[1]:.2f}",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:] == ["growth"]:
        print_growth(10_000, 1_000_000)
    else:
        print_table(int(float(sys.argv[1])) if len(sys.argv) > 1 else 100_000)
