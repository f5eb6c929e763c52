"""Walkers that follow the planner's definition in plain dicts, and random worlds to walk in."""

from __future__ import annotations

from collections import deque
from math import copysign, inf, isinf

from hypothesis import strategies as st

import wayfield as wf


def rows(graph: wf.Graph) -> dict[int, dict[int, float]]:
    out: dict[int, dict[int, float]] = {x: {} for x in range(graph.num_vertices)}
    for x, y, length in zip(graph.tails, graph.indices, graph.lengths, strict=True):
        out[int(x)][int(y)] = float(length)
    return out


def tolls(row: dict[int, float], u: list[float], s: int, rule: str, unit: bool, shift: float):
    """What each move costs by the rule; smaller is better. Values of the heads less `shift`."""
    out = {}
    for y, length in row.items():
        if isinf(u[y]):
            continue
        there = u[y] - shift
        if unit:
            out[y] = there
        elif rule == "q" or isinf(u[s]):
            out[y] = length + there
        else:
            rise = there - u[s]
            out[y] = rise / length or (copysign(5e-324, rise) if rise else 0.0)
    return out


def level_hops(graph, u, goal, tolerance) -> dict[int, float]:
    """Fewest level steps from each vertex to an exit, by a search from every vertex on its own."""
    row = rows(graph)

    def is_exit(x: int) -> bool:
        falls = any(u[y] < inf and u[x] - u[y] > tolerance for y in row[x])
        return x == goal or falls

    hops = {}
    for start in row:
        seen, queue = {start: 0}, deque([start])
        hops[start] = inf
        while queue:
            x = queue.popleft()
            if is_exit(x):
                hops[start] = seen[x]
                break
            for y in row[x]:
                if y not in seen and u[y] < inf and abs(u[x] - u[y]) <= tolerance:
                    seen[y] = seen[x] + 1
                    queue.append(y)
    return hops


def tied(row, u, s, rule, unit, ties, tolerance) -> list[int]:
    best = tolls(row, u, s, rule, unit, 0.0)
    if not best:
        return []
    heads = list(best)
    if ties == "exit" and tolerance > 0 and (unit or rule == "slope"):
        falling = [y for y in heads if u[s] - u[y] > tolerance]
        level = [y for y in heads if abs(u[s] - u[y]) <= tolerance]
        if not falling and level:
            return level
        heads = falling or heads
    least = min(best[y] for y in heads)
    lowered = tolls(row, u, s, rule, unit, tolerance)
    return [y for y in heads if lowered[y] <= least]


def moves(graph, u, goal, rule="slope", ties="exit", tolerance=0.0) -> dict[int, int]:
    row, unit = rows(graph), graph.is_unit
    hops = level_hops(graph, u, goal, tolerance) if ties == "exit" else dict.fromkeys(row, 0)
    out = {}
    for s in row:
        choice = tied(row[s], u, s, rule, unit, ties, tolerance)
        out[s] = min(choice, key=lambda y: (hops[y], y)) if choice else -1
    out[goal] = goal
    return out


def follow(move: dict[int, int], start: int, goal: int) -> tuple[str, list[int]]:
    path = [start]
    while path[-1] != goal:
        y = move[path[-1]]
        if y < 0:
            return "dead end", path
        path.append(y)
        if y in path[:-1]:
            return "loop", path
    return "reached", path


def cycle_of(path: list[int]) -> list[int]:
    cycle = path[path.index(path[-1]) : -1]
    low = cycle.index(min(cycle))
    return cycle[low:] + cycle[:low]


# ---------------------------------------------------------------- random worlds


@st.composite
def worlds(draw, max_vertices: int = 9):
    """A graph of any kind, a field full of ties and infinities, and a goal."""
    n = draw(st.integers(1, max_vertices))
    ends = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), max_size=3 * n))
    pairs = [(x, y) for x, y in pairs if x != y]
    pairs = list({frozenset(p): p for p in pairs}.values()) if draw(st.booleans()) else pairs
    pairs = list(dict.fromkeys(pairs))
    kind = draw(st.sampled_from(["unit", "whole", "real", "wild"]))
    length = {
        "unit": st.just(1.0),
        "whole": st.integers(1, 4).map(float),
        "real": st.floats(0.01, 10.0),
        "wild": st.sampled_from([1e-90, 0.5, 3.0, 1e90]),
    }[kind]
    directed = draw(st.booleans())
    if not directed:
        pairs = list({frozenset(p): p for p in pairs}.values())
    lengths = draw(st.lists(length, min_size=len(pairs), max_size=len(pairs)))
    tails, heads = zip(*pairs, strict=True) if pairs else ((), ())
    graph = wf.Graph.from_edges(tails, heads, lengths, n, directed)
    value = draw(
        st.sampled_from(
            [
                st.integers(0, 3).map(float),
                st.one_of(st.integers(0, 2).map(float), st.just(inf)),
                st.sampled_from([0.0, 5e-324, 1e-300, 1.0, 1.0 + 2**-52, 1e12]),
                st.floats(-1e6, 1e6),
            ]
        )
    )
    values = draw(st.lists(value, min_size=n, max_size=n))
    return graph, values, draw(st.integers(0, n - 1))
