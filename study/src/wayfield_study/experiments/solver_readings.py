"""Where the paper's finite-p solver starts, and when it stops: one factor of six levels.

The paper names L-BFGS-B and its cap of 700 iterations, but neither the start nor the share of the
energy at which it gives up. One goal of every configuration, under each choice, on a seed of its
own; `paper.likelihood` ranks them by the tables of the family, which no other reading enters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import inf
from typing import Any, TypeAlias

import numpy as np

import wayfield as wf
from wayfield.typing import FloatArray

from ..engine import NO_ROWS, Experiment, Profile, Records, Row, Tables
from ..paper.grid import DESIGN_SEEDS, SEEDS
from ..paper.measures import measured_values
from ..report import Section, Table
from .mazes import MazeCell, grid, maze_experiment
from .readings import averages
from .solver_audit import BUDGET_ARM, POWERS, Energy, lbfgs
from .trial import HARMONIC, SWEEPS, Trial

Start: TypeAlias = Callable[[wf.Graph, wf.Labels], FloatArray | None]
ADOPTED = "the harmonic field"
MARKED = {ADOPTED: "adopted"}
WARM = "the field of the p before"
STARTS: dict[str, Start] = {
    ADOPTED: lambda graph, labels: None,  # what `Energy` starts from if nothing is given
    "the unfinished harmonic field": averages,
    "the nearest label": lambda graph, labels: np.array(
        wf.extend(graph, labels, wf.NearestLabel()).values
    ),
    "the mean of the labels": partial(averages, count=0),
    WARM: lambda graph, labels: None,
    "the harmonic field, SciPy's own stop": lambda graph, labels: None,
}
"""Fields that L-BFGS-B starts from, by name."""
STALLS = {"the harmonic field, SciPy's own stop": 2.2e-9}
"""Shares of the energy at which it gives up; SciPy's is 2.2e-9, the adopted one 1e-10."""


def run(cell: MazeCell) -> list[Row]:
    """Return one row for every start and p, and for the ends of the family."""
    trial = Trial(cell)
    graph, labels = trial.drawn.graph, trial.drawn.labels
    rows: list[Row] = []

    def add(start: str, p: float, arm: str, fields: list[FloatArray], **solved: float) -> None:
        about: Row = {"start": start, "p": p, "arm": arm}
        quality: Row = {"converged": 0, "gradient": 0.0, "fixed_point": 0.0} | solved
        counts = trial.outcomes(fields) | trial.ordering_counts(fields)
        rows.append(about | counts | {"solves": len(fields)} | quality)

    for name, start in STARTS.items():
        firsts = [start(graph, known) for known in labels]
        for p in POWERS:
            found = [
                lbfgs(Energy(graph, known, p, first), 700, STALLS.get(name, 1e-10), memory=10)
                for known, first in zip(labels, firsts, strict=True)
            ]
            add(
                name,
                p,
                BUDGET_ARM,
                [audit.values for audit in found],
                converged=sum(audit.converged for audit in found),
                gradient=max(audit.gradient for audit in found),
                fixed_point=max(audit.fixed_point for audit in found),
            )
            if name == WARM:
                firsts = [audit.values for audit in found]
    for p, end in ((2.0, HARMONIC), (inf, SWEEPS)):
        add("", p, end.name, [field.values for field in trial.fields(end.method)])
    return rows


def cells(profile: Profile) -> list[MazeCell]:
    """Return a tiny cell, or one goal of every configuration, of one seed."""
    if profile.name == "quick":
        return grid(["medium"], [3], [0.08], DESIGN_SEEDS[:1], 1)
    return grid(seeds=DESIGN_SEEDS[:1], goals=1)


def under_starts(
    experiments: Sequence[Experiment[Any]], tables: Tables
) -> dict[str, dict[str, float]]:
    """Return what every start gives for the figures of the family.

    The one seed stands for all of the paper's, and what is solved exactly there is not at hand:
    the stopped fields stand in for it, so that nothing moves.
    """
    found, rows = {}, tables.get("solver_readings", NO_ROWS)
    ends = rows.where(start="")
    for start in STARTS:
        stopped = rows.where(start=start)
        twins = [row | {"arm": "amle"} for row in ends.where(arm=SWEEPS.name)]
        twins += [row | {"arm": f"p{row['p']:g}"} for row in stopped]
        sure = [row | {"arm": "certified"} for row in stopped]
        parts = {"finite_p": [*ends, *twins], "lbfgs_budget": [*stopped, *sure]}
        stand_in = {
            name: Records.of(row | {"seed": seed} for seed in SEEDS for row in some)
            for name, some in parts.items()
        }
        found[start] = measured_values(experiments, stand_in)
    return found if all(found.values()) else {}


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate success by resolution, and how L-BFGS-B ends, from every start."""

    def at(r: int) -> Callable[[Records], str]:
        return lambda some: f"{some.where(refinement=r).ratio('reached', 'pairs'):.3f}"

    groups = rows.where(arm=BUDGET_ARM).by("start", "p").items()
    yield Table.of(
        "starts",
        "Finite p by L-BFGS-B, by start and stop",
        "L-BFGS-B, 700 iterations, from",
        {f"{start}, p = {p:g}": some for (start, p), some in groups},
        {f"success, r = {r}": at(r) for r in rows.values("refinement")}
        | {
            "converged, it says": lambda some: (
                f"{some.total('converged')} of {some.total('solves')}"
            ),
            "gradient": lambda some: f"{some.mean('gradient'):.4f}",
            "residual": lambda some: f"{some.mean('fixed_point'):.3f}",
        },
    )


SECTION = Section(
    "solver-readings",
    "Where the finite-p solver starts and stops",
    "One goal of every configuration, by L-BFGS-B with the paper's 700 iterations from several "
    "starts and with another stopping share. The paper says neither.",
    tables=tables,
)
TITLE = "Starts of L-BFGS-B"
EXPERIMENT = maze_experiment(
    "solver_readings", TITLE, 3, run, cells, 250.0, SECTION, read_grid=None
)
