"""Tie rules and greedy rules on exact AMLE fields: what the last digit and the toll decide.

On the maze itself, all lengths 1, argmin Q and steepest descent are one rule, and only ties
differ: by index, by index within a tolerance, by exit. On the same maze with lengths drawn from
1 to 9, ``lengths = "random"``, the rules differ too, though labels and field stay exact.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np

from ...graph import Graph
from ...labels import Labels
from ...oracle import cost_to_go
from ...plan import RuleName, TieName
from ..cells import Cell, Draw, draw
from ..rollout import EXACT, Arm, Trial
from ..tasks import Row

LONGEST = 9
TOLERANCE = 1e-9
"""Relative to the largest label."""
RULES: tuple[RuleName, ...] = ("q", "slope")
TIES: tuple[TieName, ...] = ("index", "exit")


def run(cell: Cell) -> list[Row]:
    """One row for every kind of lengths, rule, tie rule and tolerance."""
    unit = draw(cell)
    return _rows("unit", unit) + _rows("random", with_random_lengths(unit))


def _rows(lengths: str, drawn: Draw) -> list[Row]:
    trial = Trial(drawn)
    largest = max(float(labels.values.max()) for labels in drawn.labels)
    rows: list[Row] = []
    for rule, ties, tolerance in product(RULES, TIES, (0.0, TOLERANCE)):
        name = f"{rule}_{ties}" + ("_tolerance" if tolerance else "")
        arm = Arm(name, name, EXACT.method, ties, rule, tolerance * largest)
        about: Row = {"lengths": lengths, "rule": rule, "ties": ties, "tolerance": tolerance}
        rows.append(about | trial.row(arm))
    return rows


def with_random_lengths(drawn: Draw) -> Draw:
    """Draw a length from 1 to 9 for every edge; the labels keep their places."""
    graph = drawn.graph
    once = graph.tails < graph.indices
    rng = np.random.default_rng([drawn.label_seed, LONGEST])
    lengths = rng.integers(1, LONGEST, size=int(once.sum()), endpoint=True).astype(np.float64)
    rough = Graph.from_edges(graph.tails[once], graph.indices[once], lengths, graph.num_vertices)
    truths = [cost_to_go(rough, int(goal)) for goal in drawn.goals]
    labels = [
        Labels(known.vertices, truth[known.vertices])
        for known, truth in zip(drawn.labels, truths, strict=True)
    ]
    return replace(drawn, graph=rough, truths=truths, labels=labels)
