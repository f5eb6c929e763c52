"""Tie rules and greedy rules on exact AMLE fields: what the last digit and the toll decide.

On the maze itself, all lengths 1, argmin Q and steepest descent are one rule, and only ties
differ: by index, by index within a tolerance, by exit. On the same maze with lengths drawn from
1 to 9, ``lengths = "random"``, the rules differ too, though labels and field stay exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np

from wayfield.graph import Graph
from wayfield.labels import Labels
from wayfield.plans import RuleName, TieName
from wayfield.shortest_paths import cost_to_go

from ..engine import Records, Row
from ..paper.measures import on_cells
from ..report import Finding, Section, Table
from ._mazes import SMALL, Draw, MazeCell, cells_by_profile, grid, maze_experiment
from ._shared import COUNTED
from ._trial import EXACT, Arm, Trial

LONGEST = 9
TOLERANCE = 1e-9
"""Relative to the largest label."""
RULES: dict[RuleName, str] = {"q": "argmin Q", "slope": "steepest descent"}
TIES: tuple[TieName, ...] = ("index", "exit")


def run(cell: MazeCell) -> list[Row]:
    """One row for every kind of lengths, rule, tie rule and tolerance."""
    unit = cell.draw()
    rows: list[Row] = []
    for lengths, drawn in (("unit", unit), ("random", with_random_lengths(unit))):
        trial = Trial(drawn)
        largest = max(float(labels.values.max()) for labels in drawn.labels)
        for rule, ties, tolerance in product(RULES, TIES, (0.0, TOLERANCE)):
            name = f"{rule}_{ties}" + ("_tolerance" if tolerance else "")
            within = tolerance * largest
            arm = Arm(name, name, method=EXACT.method, ties=ties, rule=rule, tie_tolerance=within)
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


cells = cells_by_profile(SMALL, grid, paper=16, full=64)


def tables(rows: Records) -> list[Table]:
    """Success by lengths, rule, tie rule and tolerance."""
    groups = rows.by("lengths", "rule", "ties", "tolerance").items()
    named = {
        f"{lengths} lengths, {RULES[rule]}, {ties} ties{' within 10⁻⁹' if tolerance else ''}": some
        for (lengths, rule, ties, tolerance), some in groups
    }
    note = "Success is the mean over cells, failing starts are counted."
    return [Table.of("ties", "Exact AMLE by planner", "planner", named, COUNTED, note)]


@on_cells
def findings(rows: Records) -> Iterator[Finding]:
    """Compare the greedy rules on edges of unequal length."""
    rough = Records.of(row for row in rows if row["lengths"] == "random" and not row["tolerance"])
    if not len(rough):
        return
    reached = {
        rule: rough.where(rule=rule, ties="exit").ratio("reached_all", "starts_all")
        for rule in RULES
    }
    yield Finding(
        "new" if reached["slope"] == 1.0 else "differs",
        "Is argmin Q the right rule when edges have lengths?",
        "On the same mazes with random lengths, exact labels, the exact AMLE and exit ties, argmin "
        f"Q reaches from {reached['q']:.1%} of all starts and steepest descent from "
        f"{reached['slope']:.1%}. On unit lengths the two are one rule.",
    )


SECTION = Section(
    "ties",
    "Beyond the paper: ties and rules",
    "Exact AMLE fields under both greedy rules and both tie rules, on the maze (unit "
    "lengths) and on the same maze with random lengths.",
    tables=tables,
    findings=findings,
)
EXPERIMENT = maze_experiment("ties", "Ties and rules", 1, run, cells, 1.3, SECTION)
