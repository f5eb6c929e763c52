"""The AMLE by its definition, in rationals: fix the steepest walk, then the next, and so on."""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import pairwise
from math import lcm

import wayfield as wf

Arc = tuple[int, int]
"""A head, and a length in units of the graph."""


def exact_amle(graph: wf.Graph, labels: wf.Labels) -> list[Fraction]:
    """AMLE of an undirected graph, for the given doubles; checked against its own equation."""
    fixed = _labelled(labels)
    arcs, _ = _arcs(graph)
    fix_walks(arcs, fixed)
    spread_constants(arcs, fixed)
    for x in set(range(graph.num_vertices)) - set(_labelled(labels)):
        slopes = [(fixed[y] - fixed[x]) / length for y, length in arcs[x]]
        assert max(slopes) == -min(slopes)
    return [fixed[x] for x in range(graph.num_vertices)]


def _labelled(labels: wf.Labels) -> dict[int, Fraction]:
    pairs = zip(labels.vertices, labels.values, strict=True)
    return {int(v): Fraction(float(y)) for v, y in pairs}


def _arcs(graph: wf.Graph) -> tuple[list[list[Arc]], int]:
    """Arcs with whole lengths, and how many of their units make 1: quicker than rationals."""
    lengths = [Fraction(length) for length in graph.lengths.tolist()]
    units = lcm(*(length.denominator for length in lengths))
    ends = list(zip(graph.indices.tolist(), (int(units * each) for each in lengths), strict=True))
    return [ends[first:last] for first, last in pairwise(graph.indptr.tolist())], units


def fix_walks(arcs: list[list[Arc]], fixed: dict[int, Fraction]) -> None:
    """Fix the steepest descending walk between fixed vertices, until none descends."""
    while True:
        best, walk = Fraction(0), []
        for source in list(fixed):
            for target, (distance, path) in _walks(arcs, fixed, source).items():
                if fixed[source] - fixed[target] > best * distance:
                    best, walk = (fixed[source] - fixed[target]) / distance, path
        if not walk:
            return
        value = fixed[walk[0]]
        for x, y in pairwise(walk[:-1]):
            value -= best * dict(arcs[x])[y]
            fixed[y] = value


def _walks(
    arcs: list[list[Arc]], fixed: dict[int, Fraction], source: int
) -> dict[int, tuple[int, list[int]]]:
    """Shortest walks from one fixed vertex to the others, all inner vertices unfixed."""
    ends: dict[int, tuple[int, list[int]]] = {}
    queue = [(length, [source, y]) for y, length in arcs[source] if y not in fixed]
    heapq.heapify(queue)
    settled = set()
    while queue:
        distance, path = heapq.heappop(queue)
        x = path[-1]
        if x in fixed:
            if x != source:
                ends.setdefault(x, (distance, path))
            continue
        if x in settled:
            continue
        settled.add(x)
        for y, length in arcs[x]:
            if y not in settled:
                heapq.heappush(queue, (distance + length, [*path, y]))
    return ends


def spread_constants(arcs: list[list[Arc]], fixed: dict[int, Fraction]) -> None:
    """Give what is left the value next to it; around each piece all values are equal."""
    todo = list(fixed)
    while todo:
        x = todo.pop()
        for y, _ in arcs[x]:
            if y not in fixed:
                fixed[y] = fixed[x]
                todo.append(y)


def exact_directed_amle(graph: wf.Graph, labels: wf.Labels, fill: str) -> list[Fraction | float]:
    """Directed AMLE with a fill; inf where no label is reached."""
    arcs, units = _arcs(graph)
    return filled_amle(arcs, units, _labelled(labels), fill)


def filled_amle(
    arcs: list[list[Arc]], units: int, labels: dict[int, Fraction], fill: str
) -> list[Fraction | float]:
    """AMLE with a fill, for arcs whose lengths are whole multiples of 1/units."""
    fixed = dict(labels)
    fix_walks(arcs, fixed)
    into: list[list[Arc]] = [[] for _ in arcs]
    for x, row in enumerate(arcs):
        for y, length in row:
            into[y].append((x, length))
    filled = _continued(into, fixed, rate=Fraction(fill == "cost", units))
    filled.update(fixed)
    return [filled.get(x, float("inf")) for x in range(len(arcs))]


def _continued(
    back: list[list[Arc]], fixed: dict[int, Fraction], rate: Fraction
) -> dict[int, Fraction]:
    """Least of value + rate · length over walks, along `back` from fixed vertices, to the rest."""
    queue = [(value, x) for x, value in fixed.items()]
    heapq.heapify(queue)
    filled: dict[int, Fraction] = {}
    while queue:
        value, x = heapq.heappop(queue)
        if x not in fixed:
            if x in filled:
                continue
            filled[x] = value
        for y, length in back[x]:
            if y not in fixed and y not in filled:
                heapq.heappush(queue, (value + rate * length, y))
    return filled
