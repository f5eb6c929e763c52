"""What rows allow to be measured and said of the paper.

A figure of the paper is measured only if every cell it covers is at hand: its mazes, by name, at
its resolutions, label fractions and seeds. Other cells never count. A finding speaks of the paper
only on the same condition.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import isfinite
from typing import Any, TypeAlias

from wayfield.words import number_of

from ..engine.records import Records, Tables
from ..engine.statistics import Measure
from ..engine.tasks import Experiment
from ..report import StudyFinding
from .figures import FIGURES, TABLES, Figure
from .grid import CELL, GRID, LABEL_FRACTIONS, MAZES, REFINEMENTS, SEEDS, Configuration, papers_rows

NOT_RUN = Measure(None, note="the experiment was not run")
Measures: TypeAlias = dict[str, Measure]
"""By the ids of the paper's figures."""
OfRows: TypeAlias = Callable[[Records], Measures]
Seeds: TypeAlias = Iterable[int]
Finder: TypeAlias = Callable[[Records], Iterator[StudyFinding]]


def measures(experiments: Iterable[Experiment[Any]], tables: Tables) -> dict[str, Measure]:
    """Measure every figure of the paper that the experiments and their rows allow.

    Parameters
    ----------
    experiments : iterable of Experiment
        Those that have measures take them.
    tables : mapping of str to Records
        Rows by the name of their experiment; any may be missing.
    """
    found = dict.fromkeys(FIGURES, NOT_RUN)
    for experiment in experiments:
        if experiment.measures is not None:
            found |= experiment.measures(tables)
    for name, measure in found.items():
        # a quotient of nothing by nothing is not a number
        if measure.value is not None and not isfinite(measure.value):
            found[name] = Measure(None, note="there is nothing to take a rate of")
        elif measure.exact is not None and not isfinite(measure.exact):
            found[name] = replace(measure, exact=None)
    return {name: found[name] for name in FIGURES}


def measured_values(experiments: Iterable[Experiment[Any]], tables: Tables) -> dict[str, float]:
    """Return the number that `measures` finds for each figure of the paper, if any, by id."""
    found = measures(experiments, tables).items()
    return {name: measure.value for name, measure in found if measure.value is not None}


def as_papers_seeds(rows: Records, seeds: Iterable[int]) -> Records:
    """Return the rows of these seeds, renumbered as the paper's own; there must be as many."""
    names = dict(zip(seeds, SEEDS, strict=True))
    return Records.of(row | {"seed": names[row["seed"]]} for row in rows if row["seed"] in names)


def covered(
    rows: Records | None,
    wanted: Iterable[Configuration],
    figures: OfRows,
    names: Iterable[str],
    seeds: Seeds = SEEDS,
) -> Measures:
    """Measure figures over some of the paper's configurations, if every cell of them is there.

    Parameters
    ----------
    rows : Records or None
        Of one experiment; None if it was not run.
    wanted : iterable of (maze, r, lf)
        What the figures are over.
    figures : function of Records
        Returns the measures by id.
    names : iterable of str
        Ids of the figures, for when they cannot be measured.
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
    return figures(kept)


def measure_slices(
    rows: Records | None,
    figures: Iterable[Figure],
    measure: Callable[[list[Figure], Records], Measures],
) -> Measures:
    """Measure figures of the paper, each over the cells that its id names.

    Parameters
    ----------
    rows : Records or None
        Of one experiment; None if it was not run.
    figures : iterable of Figure
        Which.
    measure : function of figures and Records
        Returns the measures by id: of figures over the same cells, and the rows on those.
    """
    slices: dict[tuple[Configuration, ...], list[Figure]] = {}
    for figure in figures:
        slices.setdefault(configurations_of(figure), []).append(figure)
    found: dict[str, Measure] = {}
    for wanted, some in slices.items():
        found |= covered(rows, wanted, partial(measure, some), [figure.id for figure in some])
    return found


def configurations_of(figure: Figure) -> tuple[Configuration, ...]:
    """Return the configurations of the paper that a figure is over: those it names, or all.

    Examples
    --------
    >>> configurations_of(FIGURES["grid-large/r12/lf0.02/amle"])
    (('large', 12, 0.02),)
    >>> len(configurations_of(FIGURES["by-r/r4/lift"]))
    8
    """
    named = re.split("[/-]", f"{figure.table}/{figure.row}")
    mazes = [maze for maze in MAZES if maze in named] or MAZES
    sizes = [r for r in REFINEMENTS if f"r{r}" in named] or REFINEMENTS
    fractions = [lf for lf in LABEL_FRACTIONS if f"lf{lf:.2f}" in named] or LABEL_FRACTIONS
    return tuple(product(mazes, sizes, fractions))


def measured(
    experiment: str, *tables: str, wanted: Iterable[Configuration] = GRID, seeds: Seeds = SEEDS
) -> Callable[[OfRows], Callable[[Tables], Measures]]:
    """Return a decorator that turns measures of an experiment's rows into measures of a study.

    Parameters
    ----------
    experiment : str
        Whose rows they are taken of.
    tables : str
        The paper's tables whose figures they are.
    wanted, seeds
        The cells those figures are over, all of which must be there: see `covered`.
    """

    def of_tables(figures: OfRows) -> Callable[[Tables], Measures]:
        names = [figure.id for figure in figures_of(*tables)]
        return lambda rows: covered(rows.get(experiment), wanted, figures, names, seeds)

    return of_tables


def figures_of(*tables: str) -> list[Figure]:
    """Return the figures of some tables of the paper."""
    return [figure for table in tables for figure in TABLES[table].figures]


# -------------------------------------------------------------------- findings


def on_papers_cells(
    finders: Sequence[Finder],
    whole_only: Sequence[Finder] = (),
    configurations: Sequence[Configuration] = GRID,
    seeds: Sequence[int] = SEEDS,
) -> Callable[[Records], list[StudyFinding]]:
    """Return a function that says what the rows say of the paper.

    Where the paper's cells are all there, other cells are left out. Where they are not, nothing is
    said about the paper: a finding then speaks for the cells at hand.

    Parameters
    ----------
    finders : sequence of functions of Records
        Each yields findings.
    whole_only : sequence of functions of Records
        Those among them that compare numbers with the paper's.
    configurations, seeds
        The paper's cells.
    """
    wanted = len(configurations) * len(seeds)

    def found(rows: Records) -> list[StudyFinding]:
        kept = papers_rows(rows, configurations, seeds)
        if len(kept.distinct(*CELL)) == wanted:
            scope = f"On the paper's {wanted} cells."
            return [replace(each, scope=scope) for find in finders for each in find(kept)]
        scope = f"On {_cells_text(rows)}; not the paper's whole grid, so no verdict on the paper."
        return [
            replace(each, mark="new" if each.mark == "new" else "partial", scope=scope)
            for find in finders
            if find not in whole_only
            for each in find(rows)
        ]

    return found


def on_cells(find: Finder) -> Callable[[Records], list[StudyFinding]]:
    """Return a function that says what the rows say, and on which cells."""

    def found(rows: Records) -> list[StudyFinding]:
        return [replace(each, scope=f"On {_cells_text(rows)}.") for each in find(rows)]

    return found


def _labels_text(rows: Records) -> str:
    """Name fractions and numbers of labels."""
    fractions = [f"{lf:g}" for lf in rows.values("label_fraction") if lf]
    counts = sorted({row.get("label_count", 0) for row in rows} - {0})
    texts = ["lf = " + ", ".join(fractions)] if fractions else []
    return "; ".join([*texts, *(["labels: " + ", ".join(map(str, counts))] if counts else [])])


def _cells_text(rows: Records) -> str:
    """Name some cells: mazes, resolutions, label fractions, seeds."""
    settings = [
        ", ".join(map(str, rows.values("maze"))),
        "r = " + ", ".join(map(str, rows.values("refinement"))),
        _labels_text(rows),
        number_of(len(rows.values("seed")), "seeds"),
    ]
    return f"{number_of(len(rows.distinct(*CELL)), 'cells')} ({'; '.join(settings)})"
