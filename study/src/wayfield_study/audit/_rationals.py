"""Extensions in exact rationals, for graphs of up to a few hundred vertices.

Lengths and labels are taken for the doubles they are; every component must hold a label.

**Harmonic**: star–mesh elimination. A vertex x with conductances c_y to its neighbours, Σ their
sum, is replaced by conductances c_y c_z / Σ between them, vertices of few neighbours first; going
back, u(x) = Σ c_y u(y) / Σ.

**AMLE**: fix the steepest descending walk between fixed vertices, all inner vertices free, by
linear interpolation, and repeat; when no walk descends, what is free lies between equal values
and takes them (R. Kyng, A. Rao, S. Sachdeva, D. Spielman, 2015).
"""

from __future__ import annotations

import heapq
from fractions import Fraction
from itertools import combinations, pairwise
from typing import TypeAlias

from wayfield.graph import Graph
from wayfield.labels import Labels

Rows: TypeAlias = list[dict[int, Fraction]]
"""Per vertex its neighbours, each with a length or a conductance."""


def rational_harmonic(graph: Graph, labels: Labels) -> list[Fraction]:
    """Harmonic extension of an undirected graph.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2], lengths=[1.0, 2.0])
    >>> rational_harmonic(path, Labels([0, 2], [0.0, 1.0]))[1]
    Fraction(1, 3)
    """
    value = _known(labels)
    conductance = [{y: 1 / length for y, length in row.items()} for row in _lengths(graph)]
    free = set(range(graph.num_vertices)) - set(value)
    eliminated = []
    while free:
        x = min(free, key=lambda vertex: (len(conductance[vertex]), vertex))
        free.remove(x)
        total = _star_to_mesh(conductance, x)
        eliminated.append((x, total))
    for x, total in reversed(eliminated):
        value[x] = sum((c * value[y] for y, c in conductance[x].items()), Fraction(0)) / total
    return [value[x] for x in range(graph.num_vertices)]


def _star_to_mesh(conductance: Rows, x: int) -> Fraction:
    """Take x out of its neighbours' rows and join them instead; its own row stays, for the end."""
    star = conductance[x]
    total = sum(star.values(), Fraction(0))
    for y in star:
        del conductance[y][x]
    for y, z in combinations(star, 2):
        mesh = conductance[y].get(z, Fraction(0)) + star[y] * star[z] / total
        conductance[y][z] = conductance[z][y] = mesh
    return total


def rational_amle(graph: Graph, labels: Labels) -> list[Fraction]:
    """AMLE of an undirected graph, flat behind the last label.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3], lengths=[1.0, 1.0, 2.0])
    >>> rational_amle(star, Labels([1, 2, 3], [0.0, 1.0, 4.0]))[0]
    Fraction(4, 3)
    """
    value, rows = _known(labels), _lengths(graph)
    while (walk := _steepest_walk(rows, value)) is not None:
        slope, path = walk
        for x, y in pairwise(path[:-1]):
            value[y] = value[x] - slope * rows[x][y]
    todo = list(value)
    while todo:
        x = todo.pop()
        for y in rows[x]:
            if y not in value:
                value[y] = value[x]
                todo.append(y)
    return [value[x] for x in range(graph.num_vertices)]


def _steepest_walk(rows: Rows, value: dict[int, Fraction]) -> tuple[Fraction, list[int]] | None:
    """Slope and vertices of the steepest descending walk through free vertices, if any."""
    best: tuple[Fraction, list[int]] | None = None
    for source in value:
        for path, length in _walks_from(rows, value, source):
            slope = (value[source] - value[path[-1]]) / length
            if slope > 0 and (best is None or slope > best[0]):
                best = slope, path
    return best


def _walks_from(
    rows: Rows, value: dict[int, Fraction], source: int
) -> list[tuple[list[int], Fraction]]:
    """Shortest walks from one fixed vertex, through free ones, to others; with their lengths."""
    queue = [(length, y, source) for y, length in rows[source].items() if y not in value]
    heapq.heapify(queue)
    before: dict[int, int] = {}
    found: list[tuple[list[int], Fraction]] = []
    while queue:
        length, x, previous = heapq.heappop(queue)
        if x in before or x == source:
            continue
        before[x] = previous
        if x in value:
            path = [x]
            while path[-1] != source:
                path.append(before[path[-1]])
            found.append((path[::-1], length))
        else:
            for y, step in rows[x].items():
                if y not in before:
                    heapq.heappush(queue, (length + step, y, x))
    return found


def _known(labels: Labels) -> dict[int, Fraction]:
    pairs = zip(labels.vertices.tolist(), labels.values.tolist(), strict=True)
    return {vertex: Fraction(value) for vertex, value in pairs}


def _lengths(graph: Graph) -> Rows:
    rows: Rows = [{} for _ in range(graph.num_vertices)]
    ends = zip(graph.tails.tolist(), graph.indices.tolist(), graph.lengths.tolist(), strict=True)
    for tail, head, length in ends:
        rows[tail][head] = Fraction(length)
    return rows
