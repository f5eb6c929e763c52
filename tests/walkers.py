"""Walkers that follow the planner's definition in plain dicts."""

from __future__ import annotations

from collections import deque
from math import copysign, inf, isinf

from worlds import rows


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
