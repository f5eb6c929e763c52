"""The paper's grid: its mazes, resolutions, label fractions and seeds, and rows that are on it."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import TypeAlias

from ..engine.records import Records

MAZES = ("medium", "large")
REFINEMENTS = (4, 8, 12)
LABEL_FRACTIONS = (0.02, 0.05, 0.08, 0.12)
SEEDS = (54, 55, 56, 57, 58)
PAIRS = 512
"""Start–goal pairs per cell."""
AUDIT_SEEDS = SEEDS[:3]
"""Of the paper's two audits on 24 cells; we take them for everything beyond the paper."""

CONFIGURATION = ("maze", "refinement", "label_fraction")
"""Columns that tell the rows of the paper's large tables apart."""
CELL = (*CONFIGURATION, "seed")
"""Columns that tell cells apart."""

Configuration: TypeAlias = tuple[str, int, float]
GRID: tuple[Configuration, ...] = tuple(product(MAZES, REFINEMENTS, LABEL_FRACTIONS))
"""The paper's 24 configurations."""
AUDITED: tuple[Configuration, ...] = tuple(product(MAZES, (8, 12), (0.02, 0.08)))
"""Those of its solver and iteration audits."""


def papers_rows(
    rows: Records, configurations: Iterable[Configuration] = GRID, seeds: Iterable[int] = SEEDS
) -> Records:
    """Keep the rows on cells of the paper's. A maze of one's own has another name than its maps."""
    cells = set(product(configurations, seeds))
    return Records.of(
        row
        for row in rows
        if ((row["maze"], row["refinement"], row["label_fraction"]), row["seed"]) in cells
    )


def on_papers_mazes(rows: Records) -> bool:
    """Whether all rows are on the paper's mazes.

    Examples
    --------
    >>> on_papers_mazes(Records.of([{"maze": "medium"}]))
    True
    >>> on_papers_mazes(Records.of([{"maze": "medium@1f0c2a"}]))
    False
    """
    return all(row["maze"] in MAZES for row in rows)
