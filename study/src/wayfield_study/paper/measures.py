"""When rows are enough for a figure of the paper's, and all measures of a study's experiments.

A figure is taken only if every cell it covers in the paper is there: its mazes, by name, at its
resolutions, label fractions and seeds. Other cells never count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from math import isfinite
from typing import Any

from ..engine.records import Records, Tables
from ..engine.statistics import Measure
from ..engine.tasks import Experiment
from .figures import FIGURES, TABLES
from .grid import CELL, SEEDS, Configuration, papers_rows

NOT_RUN = Measure(None, note="the experiment was not run")


def measures(experiments: Iterable[Experiment[Any]], tables: Tables) -> dict[str, Measure]:
    """Measure every figure of the paper that the experiments and their rows allow.

    Parameters
    ----------
    experiments : iterable of Experiment
        Those that have measures take them.
    tables : mapping of str to Records
        Rows by the name of their experiment; any may be missing.
    """
    found: dict[str, Measure] = {}
    for experiment in experiments:
        if experiment.measures is not None:
            found |= experiment.measures(tables)
    return {name: _whole(found.get(name, NOT_RUN)) for name in FIGURES}


def covered(
    rows: Records | None,
    wanted: Iterable[Configuration],
    figures: Callable[[Records], Mapping[str, Measure]],
    names: Iterable[str],
    seeds: Iterable[int] = SEEDS,
) -> dict[str, Measure]:
    """Take measures over some of the paper's configurations, if every cell of them is there.

    Parameters
    ----------
    rows : Records or None
        Of one experiment; None if it was not run.
    wanted : iterable of (maze, r, lf)
        What the figures are over.
    figures : function of Records
        Returns the measures by id.
    names : iterable of str
        Ids of the figures, for when they cannot be taken.
    seeds : iterable of int
        What the paper averages over.
    """
    if rows is None or not len(rows):
        return dict.fromkeys(names, NOT_RUN)
    configurations, seeds = set(wanted), set(seeds)
    kept = papers_rows(rows, configurations, seeds)
    there, all_cells = len(kept.distinct(*CELL)), len(configurations) * len(seeds)
    if there < all_cells:
        note = f"{there} of the paper's {all_cells} cells were run"
        return dict.fromkeys(names, Measure(None, note=note))
    return dict(figures(kept))


def ids(*tables: str, row: str | None = None) -> list[str]:
    """Ids of the figures of some tables, or of one row of them."""
    return [
        figure.id
        for table in tables
        for figure in TABLES[table].figures
        if row is None or figure.row == row
    ]


def _whole(measure: Measure) -> Measure:
    """Leave out rates that have nothing to be a rate of."""
    if measure.value is not None and not isfinite(measure.value):
        return Measure(None, note="there is nothing to take a rate of")
    if measure.exact is not None and not isfinite(measure.exact):
        return replace(measure, exact=None)
    return measure
