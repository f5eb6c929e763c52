"""From the rows of other draws and other readings to the evidence behind verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ...paper import FIGURES, SEEDS, Evidence, Expected, expect, measures
from ...study import NO_ROWS, Experiment, Measure, Records, Tables
from .._readings import READINGS, as_formerly, as_tables

GROUPINGS = 3
"""Ways in which the other seeds are grouped into studies of as many as the paper has."""


def evidence(experiments: Iterable[Experiment[Any]], tables: Tables) -> Evidence:
    """Take the figures of all other draws and readings that are whole.

    Parameters
    ----------
    experiments : iterable of Experiment
        Those of the study, whose measures are taken of the other rows too.
    tables : mapping of str to Records
        The rows at hand.
    """
    every = list(experiments)
    return Evidence(_expected(every, tables), _tried(every, tables))


def _expected(experiments: Sequence[Experiment[Any]], tables: Tables) -> dict[str, Expected]:
    rows = tables.get("other_draws", NO_ROWS)
    seeds = rows.values("seed")
    studies = len(seeds) // len(SEEDS)
    if studies < 2:
        return {}
    found: list[list[dict[str, Measure]]] = []
    for grouping in range(GROUPINGS):
        order = np.random.default_rng(grouping).permutation(seeds)
        groups = np.split(order[: studies * len(SEEDS)], studies)
        found.append([measures(experiments, _study(rows, group.tolist())) for group in groups])
    return {
        name: expect([[float(study[name].value or 0.0) for study in some] for some in found])
        for name in FIGURES
        if all(study[name].value is not None for some in found for study in some)
    }


def _study(rows: Records, seeds: Sequence[int]) -> dict[str, Records]:
    """Take some seeds for those of the paper."""
    names = dict(zip(seeds, SEEDS, strict=True))
    kept = (row | {"seed": names[row["seed"]]} for row in rows if row["seed"] in names)
    return as_tables(Records.of(kept))


def _tried(experiments: Sequence[Experiment[Any]], tables: Tables) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    whole, swept = (tables.get(name, NO_ROWS) for name in ("readings", "reading_sweeps"))
    for name, reading in READINGS.items():
        if not len(some := whole.where(reading=name)):
            continue
        under = as_tables(some) | {"iteration_audit": swept.where(reading=name)}
        if reading.former:
            under = {table: Records.of(map(as_formerly, rows)) for table, rows in under.items()}
        for figure, measure in measures(experiments, under).items():
            if measure.value is not None and FIGURES[figure].table != "setup":
                found.setdefault(figure, {})[reading.title] = measure.value
    return found
