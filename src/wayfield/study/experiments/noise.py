"""Noisy labels: what is left of success when the values are off by a normal error.

Independent errors of standard deviation σ, in steps, on every label but the goal's; their largest
size is the labels' ``error``. The paper's two ends and p = 8 are planned on as they are. The exact
AMLE is also tried as it should be used: steepest descent with exit ties on the labels that are left
when false sinks are dropped, which on an undirected graph reaches from everywhere.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...extension import AMLE
from ...labels import Labels
from ...sinks import drop_false_sinks
from ..cells import Cell, Draw, draw
from ..rollout import EXACT, EXACT_EXIT, HARMONIC, Trial, power_arm
from ..tasks import Row

SIGMAS = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
AS_THEY_ARE = (HARMONIC, power_arm(8), EXACT)
TRIMMED = replace(EXACT_EXIT, name="amle_trimmed", title="AMLE, false sinks dropped", rule="slope")


def run(cell: Cell) -> list[Row]:
    """One row for every σ and arm."""
    exact = draw(cell)
    rows: list[Row] = []
    for sigma in SIGMAS:
        noisy = with_noise(exact, sigma)
        trimmed = [
            drop_false_sinks(noisy.graph, labels, int(goal), AMLE(certificate=False))
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
