"""Noisy labels: what is left of success when the values are off by a normal error.

Independent errors of standard deviation σ, in steps, on every label but the goal's; their largest
size is the labels' ``error``. The paper's two ends and p = 8 are planned on as they are. The exact
AMLE is also tried as it should be used: steepest descent with exit ties on the labels that are left
when false sinks are dropped, which on an undirected graph reaches from everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from wayfield.extension import AMLE
from wayfield.labels import Labels
from wayfield.sinks import drop_false_sinks

from ..engine import Records, Row
from ..paper.grid import AUDIT_SEEDS
from ..paper.measures import on_cells
from ..report import Chart, Finding, Section, against
from ._mazes import SMALL, Draw, MazeCell, cells_by_profile, grid, maze_experiment
from ._shared import failing, success, table_by
from ._trial import EXACT, EXACT_EXIT, HARMONIC, Trial, power_arm

SIGMAS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
TRIMMED = replace(EXACT_EXIT, name="amle_trimmed", title="AMLE, false sinks dropped", rule="slope")
AS_THEY_ARE = (HARMONIC, power_arm(8), EXACT)
ARMS = (*AS_THEY_ARE, TRIMMED)


def run(cell: MazeCell) -> list[Row]:
    """One row for every σ and arm."""
    exact = cell.draw()
    rows: list[Row] = []
    for sigma in SIGMAS:
        noisy = with_noise(exact, sigma)
        trimmed = [
            drop_false_sinks(noisy.graph, labels, int(goal), AMLE(bracket=False))
            for labels, goal in zip(noisy.labels, noisy.goals, strict=True)
        ]
        dropped = sum(labels.dropped.size for labels in trimmed)
        trial, safe = Trial(noisy), Trial(replace(noisy, labels=list(trimmed)))
        about: Row = {"sigma": sigma, "error": max(labels.error for labels in noisy.labels)}
        rows += [about | {"dropped": 0} | trial.row(arm) for arm in AS_THEY_ARE]
        rows.append(about | {"dropped": dropped} | safe.row(TRIMMED))
    return rows


def with_noise(drawn: Draw, sigma: float) -> Draw:
    """Add normal errors to all labels but the goals'; for another σ the same ones, scaled."""
    noisy = []
    for index, (labels, goal) in enumerate(zip(drawn.labels, drawn.goals, strict=True)):
        rng = np.random.default_rng([drawn.label_seed, index])
        errors = np.where(labels.vertices == goal, 0.0, rng.normal(size=len(labels)))
        values = labels.values + sigma * errors
        error = float(np.abs(values - labels.values).max())
        noisy.append(Labels(labels.vertices, values, error))
    return replace(drawn, labels=noisy)


cells = cells_by_profile(
    SMALL,
    partial(grid, refinements=[8], label_fractions=[0.02, 0.05, 0.12], seeds=AUDIT_SEEDS),
    paper=16,
    full=64,
)


def charts(rows: Records) -> list[Chart]:
    """Success against the noise."""
    return [
        against(chosen, "sigma", ARMS, f"Success against noise, lf = {lf:g}", lambda s: f"σ {s:g}")
        for lf, chosen in rows.by("label_fraction").items()
    ]


@on_cells
def findings(rows: Records) -> Iterator[Finding]:
    """Report success at the highest noise level."""
    worst = max(rows.values("sigma"))
    noisy = rows.where(sigma=worst)
    lost = failing(rows, "amle_trimmed", "_all")
    yield Finding(
        "new" if lost == 0 else "differs",
        "What is left when the labels are noisy?",
        f"At σ = {worst:g} steps, plain argmin-Q planning reaches from "
        f"{success(noisy, 'harmonic'):.1%} of the starts on harmonic and "
        f"{success(noisy, 'amle'):.1%} on AMLE values. With false sinks dropped and steepest "
        f"descent, {lost:,} of {rows.where(arm='amle_trimmed').total('starts_all'):,} starts "
        "fail, over all σ.",
    )


SECTION = Section(
    "noise",
    "Beyond the paper: noisy labels",
    "Normal errors of standard deviation σ, in steps, on every label but the goal's. "
    "“False sinks dropped” leaves out the labels that would trap a walk, and walks by "
    "steepest descent with exit ties.",
    charts=charts,
    tables=lambda rows: [table_by(rows, "sigma", "σ", ARMS, "Success by noise")],
    findings=findings,
)
EXPERIMENT = maze_experiment("noise", "Noisy labels", 1, run, cells, 34.0, SECTION)
