"""How many labels does it take? Shares from 0.5 to 10 % in the worlds that differ most."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine import NO_ROWS, Experiment, Profile, Records, Row, Tables
from ...report import Chart, Section, Table
from .._wrong import SEEDS, SMALL, SOME, WRONG_WORLDS, WrongCell, read_grid, rows_of, wrong_grid
from . import every_world
from ._shown import NOTES, by_world, percent, spl_against

ARMS = ("dijkstra", "residual", "knn", "mend")
FRACTIONS = (0.005, 0.02, 0.1)
"""Beside those at which every world is run."""
WORLDS = tuple(world for world in SOME if world != "exact")


def run(cell: WrongCell) -> list[Row]:
    """One row for each of `ARMS`."""
    return rows_of(cell.draw(), ARMS)


def cells(profile: Profile) -> list[WrongCell]:
    """Half of the seeds at full size; a small world if quick."""
    if profile.name == "quick":
        return wrong_grid(("short1",), (0.02, 0.1), (0, 1), SMALL)
    return wrong_grid(WORLDS, FRACTIONS, SEEDS[:4])


def with_every_world(tables: Tables) -> Records:
    """Add the same worlds and seeds at the shares of the experiment on every world."""
    ours = tables["wrong_shares"]
    cells = set(ours.distinct("world", "size", "seed"))
    others = tables.get(every_world.EXPERIMENT.name, NO_ROWS)
    same = (r for r in others if (r["world"], r["size"], r["seed"]) in cells and r["arm"] in ARMS)
    return Records.of([*ours, *same])


def charts(rows: Records) -> Iterator[Chart]:
    """SPL against the share of labels, world by world."""
    for world, some in rows.by("world").items():
        title = f"SPL against labels: {WRONG_WORLDS[world]}"
        yield spl_against(some, "label_fraction", ARMS, title, percent)


def tables(rows: Records) -> Iterator[Table]:
    """SPL at every share."""
    for fraction, some in sorted(rows.by("label_fraction").items()):
        title = f"SPL with {percent(fraction)} labels"
        yield by_world(some, f"spl-{100 * fraction:g}", title)


EXPERIMENT = Experiment(
    "wrong_shares",
    "Shares of labels",
    version=1,
    run=run,
    cells=cells,
    effort=lambda cell: 2.0 * cell.size,
    read_grid=read_grid,
    sections=(
        Section(
            "wrong-shares",
            "How many labels?",
            "The same worlds with exact labels at 0.5 to 10 % of the states.",
            rows=with_every_world,
            charts=charts,
            tables=tables,
            notes=NOTES,
        ),
    ),
)
