"""Less data: 10, 3 and 1 % of the steps, where transitions no longer cover the maze."""

from __future__ import annotations

from collections.abc import Iterator

from ...engine import Profile, Records
from ...report import Chart, Finding, Table
from .._shared import make_experiment, percent
from . import _common as common
from ._common import ALONE, ORACLE, OURS, PointCell, point_grid, say_success, success_table

SHARES = (0.1, 0.03, 0.01)
GRAPHS = ("time", "xy-5", "xy-20")
DATASETS = ("giant-stitch", "teleport-stitch")
SHOWN = (common.REFERENCE, "ttgs", "cut_off", "counts_shrunk", "observed", OURS, ALONE)


def cells(profile: Profile) -> list[PointCell]:
    """Three shares of two datasets with three graphs; if quick, one of each."""
    if profile.name == "quick":
        return point_grid(("giant-stitch",), ("xy-5",), (0,), 0.03, 20)
    full = [cell for share in SHARES for cell in point_grid(DATASETS, GRAPHS, share=share)]
    return [] if profile.name == "official" else full


def charts(rows: Records) -> Iterator[Chart]:
    """Success against the share of the data, by dataset and graph."""
    for (dataset, graph), some in rows.by("dataset", "graph").items():
        title = f"{dataset}, {graph}: success by data"
        yield common.success_against(some, "share", SHOWN, title, percent)


def tables(rows: Records) -> Iterator[Table]:
    """Success by planner and graph, for every share."""
    for (share, dataset), some in rows.by("share", "dataset").items():
        title = f"{dataset}, {percent(share)} of the data: success in %"
        yield success_table(some, f"shares-{dataset}-{100 * share:g}", title)


def findings(rows: Records) -> Iterator[Finding]:
    """Report who is best with less data, and how far Planner is behind."""
    if len(rows.values("seed")) < common.FEWEST_SEEDS:
        return
    for (share, dataset), some in rows.by("share", "dataset").items():
        texts = []
        for graph, one in some.by("graph").items():
            arms = common.arms_of(one)
            rivals = [
                each for each in arms if each[0].name not in (OURS, ALONE, "observed", ORACLE)
            ]
            best, theirs = max(rivals, key=lambda each: common.share(each[1]))
            parts = [f"{graph}: {best.title} {say_success(theirs)} is the best rival"]
            for arm, mine in arms:
                if arm.name in (OURS, ALONE):
                    parts.append(f"{arm.title} {say_success(mine)}")
            texts.append(", ".join(parts) + ".")
        yield Finding("new", f"{dataset} with {percent(share)} of the data", " ".join(texts))


EXPERIMENT = make_experiment(
    "point_shares",
    "Less data",
    3,
    common.run,
    cells,
    "The same with a tenth of the steps and 500 landmarks, and with 3 and 1 % and 300. "
    "Observed arcs no longer cover the maze: arcs have to be stitched.",
    {"charts": charts, "tables": tables, "findings": findings, "notes": common.NOTES},
    read_grid=common.read_grid,
)
