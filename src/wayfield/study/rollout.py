"""One cell of the rollout study: extend, plan, and count who reaches the goal.

Each method's fields are solved for all goals of the cell at once, then every start's outcome is
read off the plan. Two figures come out: success over the sampled start–goal pairs, the paper's
measure, and success over *all* starts of all goals, which has no sampling error in the starts.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..extension import AMLE, Extension, Harmonic, Method, MidrangeSweeps, extend_many
from ..labels import Labels
from ..plan import Plan, plan
from .cells import Cell, Draw, draw

Record: TypeAlias = dict[str, float]
"""Figures of one cell, flat; keys are ``"method.figure"``."""

PAPER_SWEEPS = 300
"""Midrange sweeps that stand for the paper's budget: our reading of it, see the report."""


@dataclass(frozen=True)
class Arm:
    """One way to plan: a method, and a rule for ties. All arms choose by argmin Q."""

    name: str
    title: str
    method: Method
    ties: Literal["index", "exit"] = "index"


HARMONIC = Arm("harmonic", "harmonic", Harmonic())
SWEEPS = Arm("sweeps", f"AMLE, {PAPER_SWEEPS} sweeps", MidrangeSweeps(PAPER_SWEEPS, "harmonic"))
EXACT = Arm("amle", "AMLE, exact", AMLE())
EXACT_EXIT = Arm("amle_exit", "AMLE, exact, exit ties", AMLE(), ties="exit")
ARMS = (HARMONIC, SWEEPS, EXACT, EXACT_EXIT)


def run_cell(cell: Cell, arms: Sequence[Arm] = ARMS) -> Record:
    """Run one cell and return its figures."""
    began = time.perf_counter()
    drawn = draw(cell)
    record: Record = {
        "vertices": drawn.graph.num_vertices,
        "labels": len(drawn.labels[0]),
        "pairs": drawn.starts.size,
    }
    solved: dict[Method, list[Extension]] = {}
    for arm in arms:
        if arm.method not in solved:
            many = extend_many(drawn.graph, drawn.labels, arm.method, workers=1)
            solved[arm.method] = list(many)
        figures = _measure(drawn, solved[arm.method], arm.ties)
        record |= {f"{arm.name}.{name}": value for name, value in figures.items()}
    record["seconds"] = time.perf_counter() - began
    return record


def _measure(drawn: Draw, fields: Sequence[Extension], ties: Literal["index", "exit"]) -> Record:
    """Figures of one arm over all goals of a cell; counts unless the name says otherwise."""
    began = time.perf_counter()
    pairs, everyone = np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64)
    cycles = perfect = 0
    for index, field in enumerate(fields):
        goal = int(drawn.goals[index])
        outcome = plan(drawn.graph, field.values, goal, rule="q", ties=ties)
        kind = _outcomes(outcome, drawn.labels[index])
        pairs += np.bincount(kind[drawn.starts[index]], minlength=3)
        everyone += np.bincount(np.delete(kind, goal), minlength=3)
        cycles += len(outcome.cycles)
        perfect += bool(outcome.reached.all())
    figures: Record = {"cycles": cycles, "perfect_goals": perfect}
    for index, name in enumerate(("reached", "boundary", "interior")):
        figures[name], figures[f"{name}_all"] = int(pairs[index]), int(everyone[index])
    figures["residual"] = max(field.residual for field in fields)
    if fields[0].lower is not None:
        widths = [f.width / max(s.span, 1.0) for f, s in zip(fields, drawn.labels, strict=True)]
        figures["relative_width"] = max(widths)
    figures["solve_seconds"] = sum(field.seconds for field in fields)
    figures["plan_seconds"] = time.perf_counter() - began
    return figures


def _outcomes(outcome: Plan, labels: Labels) -> NDArray[np.int64]:
    """Per start: 0 reaches, 1 ends in a cycle through a label, 2 in one without."""
    kind = np.where(outcome.reached, 0, 2)
    looping = outcome.basin >= 0
    touching = outcome.touches(labels)[outcome.basin[looping]]
    kind[looping] = np.where(touching, 1, 2)
    return kind
