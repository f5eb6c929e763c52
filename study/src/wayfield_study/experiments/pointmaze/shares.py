"""Less data: 10, 3 and 1 % of the steps, where transitions no longer cover the maze."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine import Experiment, Profile, Records, Row
from ...report import Chart, Finding, Section, Table
from .._point import ALONE, FEWEST_SEEDS, OURS, REFERENCE, PointCell, point_grid, read_grid
from ._shown import NOTES, looks_of, say_success, success_against, success_table

SHARES = (0.1, 0.03, 0.01)
GRAPHS = ("time", "xy-5", "xy-20")
DATASETS = ("giant-stitch", "teleport-stitch")
SHOWN = (REFERENCE, "ttgs", "cut_off", "counts_shrunk", "observed", OURS, ALONE)
UNFAIR = "oracle"


def run(cell: PointCell) -> list[Row]:
    """One row for every planner."""
    return cell.rows()


def cells(profile: Profile) -> list[PointCell]:
    """Three shares of two datasets with three graphs; if quick, one of each."""
    if profile.name == "official":
        return []
    if profile.name == "quick":
        return point_grid(("giant-stitch",), ("xy-5",), (0,), 0.03, 20)
    return [cell for share in SHARES for cell in point_grid(DATASETS, GRAPHS, share=share)]


def percent(share: float) -> str:
    """Write a share of the data."""
    return f"{100 * share:g} %"


def charts(rows: Records) -> Iterator[Chart]:
    """Success against the share of the data, by dataset and graph."""
    ticks = [(share, percent(share)) for share in sorted(rows.values("share"))]
    for (dataset, graph), some in rows.by("dataset", "graph").items():
        yield success_against(some, "share", SHOWN, f"{dataset}, {graph}: success by data", ticks)


def tables(rows: Records) -> Iterator[Table]:
    """Success by planner and graph, for every share."""
    for (share, dataset), some in rows.by("share", "dataset").items():
        title = f"{dataset}, {percent(share)} of the data: success in %"
        yield success_table(some, f"shares-{dataset}-{100 * share:g}", title)


def findings(rows: Records) -> Iterator[Finding]:
    """Tell who is best with less data, and how far Planner is behind."""
    if len(rows.values("seed")) < FEWEST_SEEDS:
        return
    for (share, dataset), some in rows.by("share", "dataset").items():
        told = [_compared(one, graph) for graph, one in some.by("graph").items()]
        yield Finding("new", f"{dataset} with {percent(share)} of the data", " ".join(told))


def _compared(rows: Records, graph: str) -> str:
    arms = rows.by("arm")
    rivals = [look for look in looks_of(rows) if look.name not in (OURS, ALONE, "observed", UNFAIR)]
    best = max(rivals, key=lambda look: arms[look.name].ratio("reached", "pairs"))
    told = f"{graph}: {best.title} {say_success(arms[best.name])} is the best rival"
    ours = [look for look in looks_of(rows) if look.name in (OURS, ALONE)]
    return (
        ", ".join([told, *(f"{look.title} {say_success(arms[look.name])}" for look in ours)]) + "."
    )


EXPERIMENT = Experiment(
    "point_shares",
    "Less data",
    version=2,
    run=run,
    cells=cells,
    read_grid=read_grid,
    sections=(
        Section(
            "point-shares",
            "Less data",
            "The same with a tenth of the steps and 500 landmarks, and with 3 and 1 % and 300. "
            "Observed arcs no longer cover the maze: unobserved ones have to be guessed.",
            charts=charts,
            tables=tables,
            findings=findings,
            notes=NOTES,
        ),
    ),
)
