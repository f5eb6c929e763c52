"""How many labels does it take? Shares from 0.5 to 10 % in the worlds that differ most."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine import NO_ROWS, Records, Row, Tables
from ...report import Chart, Table, against
from .._shared import make_experiment, percent
from . import _common as common
from . import every_world
from ._worlds import WRONG_WORLDS

ARMS = ("dijkstra", "residual", "knn", "mend")
FRACTIONS = (0.005, 0.02, 0.1)
"""Beside those at which every world is run."""
WORLDS = tuple(world for world in common.SOME if world != "exact")


def run(cell: common.WrongCell) -> list[Row]:
    """One row for each of `ARMS`."""
    return common.rows_of(cell.draw(), ARMS)


def with_every_world(tables: Tables) -> Records:
    """Add the same worlds and seeds at the shares of the experiment on every world."""
    ours = tables["wrong_shares"]
    cells = set(ours.distinct("world", "size", "seed"))
    others = tables.get(every_world.EXPERIMENT.name, NO_ROWS)
    same = (r for r in others if (r["world"], r["size"], r["seed"]) in cells and r["arm"] in ARMS)
    return Records.of([*ours, *same])


def charts(rows: Records) -> Iterator[Chart]:
    """SPL against the share of labels, world by world."""
    looks = [look for look in common.LOOKS if look.name in ARMS]
    names = ("", "SPL")
    for world, some in rows.by("world").items():
        title = f"SPL against labels: {WRONG_WORLDS[world]}"
        yield against(some, "label_fraction", looks, title, percent, (), common.mean_spl, names)


def tables(rows: Records) -> Iterator[Table]:
    """SPL at every share."""
    for fraction, some in sorted(rows.by("label_fraction").items()):
        title = f"SPL with {percent(fraction)} labels"
        yield common.by_world(some, f"spl-{100 * fraction:g}", title)


EXPERIMENT = make_experiment(
    "wrong_shares",
    "How many labels?",
    1,
    run,
    common.grids(
        quick=(("short1",), (0.02, 0.1), (0, 1)), standard=(WORLDS, FRACTIONS, common.SEEDS[:4])
    ),
    "The same worlds with exact labels at 0.5 to 10 % of the states.",
    {"rows": with_every_world, "charts": charts, "tables": tables, "notes": common.NOTES},
    **common.GRID,
)
