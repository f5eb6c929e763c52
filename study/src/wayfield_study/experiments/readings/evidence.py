"""From the rows of other draws and other readings to the evidence behind verdicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from wayfield.layouts import load_layout

from ...engine import NO_ROWS, Experiment, Measure, Records, Tables
from ...paper.figures import FIGURES
from ...paper.grid import REFINEMENTS, SEEDS, measures
from ...paper.rules import Evidence, Expected, expect
from .._readings import READINGS, as_formerly, as_tables
from . import solvers

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
    searched = tables.get("other_searches", NO_ROWS)
    tried: dict[str, dict[str, float]] = {}
    for assumed, measured in (
        *_readings(every, tables),
        *_solvers(every, tables),
        *_sizes(),
        *_searches(searched),
    ):
        for name, value in measured.items():
            tried.setdefault(name, {})[assumed] = value
    return Evidence(_expected(every, tables) | _expected_search(searched), tried)


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


Tried: TypeAlias = Iterator[tuple[str, dict[str, float]]]
"""What is assumed, and the figures under it."""


def _readings(experiments: Sequence[Experiment[Any]], tables: Tables) -> Tried:
    whole, swept = (tables.get(name, NO_ROWS) for name in ("readings", "reading_sweeps"))
    for name, reading in READINGS.items():
        if not len(some := whole.where(reading=name)):
            continue
        under = as_tables(some) | {"iteration_audit": swept.where(reading=name)}
        if reading.former:
            under = {table: Records.of(map(as_formerly, rows)) for table, rows in under.items()}
        yield reading.title, _values(experiments, under)


def _solvers(experiments: Sequence[Experiment[Any]], tables: Tables) -> Tried:
    rows = tables.get("solver_readings", NO_ROWS)
    for assumed in solvers.ASSUMED:
        if len(rows.where(assumed=assumed)):
            yield assumed, _values(experiments, solvers.as_tables(rows, assumed))


def _values(experiments: Sequence[Experiment[Any]], tables: Tables) -> dict[str, float]:
    """Take the figures that can be measured; sizes of maps are the same under every reading."""
    return {
        name: measure.value
        for name, measure in measures(experiments, tables).items()
        if measure.value is not None and FIGURES[name].table != "setup"
    }


def _sizes() -> Tried:
    """Give the paper's size of medium: no public map has it, half of large does."""
    rows, columns = load_layout("large").shape
    found = {}
    for r in REFINEMENTS:
        found[f"setup/medium/r{r}/rows/value"] = 0.5 * r * rows
        found[f"setup/medium/r{r}/columns/value"] = 0.5 * r * columns
    yield "the large map at half the resolution", found


_WITNESSES = "search/witnesses/value"


def _searches(rows: Records) -> Tried:
    for way, title in (("thinned", "subgraphs thinned until connected"),):
        if len(some := rows.where(way=way)):
            yield title, {_WITNESSES: some.mean("swept")}


def _expected_search(rows: Records) -> dict[str, Expected]:
    counts = rows.where(way="grown").column("swept") if len(rows) else np.array([])
    return {_WITNESSES: expect([counts.tolist()])} if counts.size > 1 else {}
