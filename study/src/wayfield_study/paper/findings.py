"""Findings about the paper: verdicts on its own cells only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..engine.records import Records
from ..report import Finding
from ..report.text import plural
from .grid import CELL, GRID, SEEDS, Configuration, papers_rows

Finder: TypeAlias = Callable[[Records], Iterator[Finding]]


def on_papers_cells(
    finders: Sequence[Finder],
    whole_only: Sequence[Finder] = (),
    configurations: Sequence[Configuration] = GRID,
    seeds: Sequence[int] = SEEDS,
) -> Callable[[Records], list[Finding]]:
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

    def found(rows: Records) -> list[Finding]:
        kept = papers_rows(rows, configurations, seeds)
        if len(kept.distinct(*CELL)) == wanted:
            scope = f"On the paper's {wanted} cells."
            return [replace(each, scope=scope) for find in finders for each in find(kept)]
        scope = f"On {told(rows)}; not the paper's whole grid, so no verdict on the paper."
        return [
            replace(each, mark="new" if each.mark == "new" else "partial", scope=scope)
            for find in finders
            if find not in whole_only
            for each in find(rows)
        ]

    return found


def on_cells(find: Finder) -> Callable[[Records], list[Finding]]:
    """Return a function that says what the rows say, and on which cells."""

    def found(rows: Records) -> list[Finding]:
        return [replace(each, scope=f"On {told(rows)}.") for each in find(rows)]

    return found


def told(rows: Records) -> str:
    """Name some cells: mazes, resolutions, label fractions, seeds."""
    settings = [
        ", ".join(map(str, rows.values("maze"))),
        "r = " + ", ".join(map(str, rows.values("refinement"))),
        "lf = " + ", ".join(f"{lf:g}" for lf in rows.values("label_fraction")),
        plural(len(rows.values("seed")), "seed"),
    ]
    return f"{plural(len(rows.distinct(*CELL)), 'cell')} ({'; '.join(settings)})"
