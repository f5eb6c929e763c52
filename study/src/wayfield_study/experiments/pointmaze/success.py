"""Every planner on every graph: how often it arrives, and what `Planner` predicted.

`run` has a row for every planner; `common.row` describes its columns. Then the same with less
data: 10, 3 and 1 % of the steps, where transitions no longer cover the maze.
"""

from __future__ import annotations

from collections.abc import Iterator

from wayfield.words import number_of, percent

from ...engine import Profile, Records
from ...report import Chart, Series, StudyFinding, Table, scatter
from ..shared import make_experiment
from . import common
from .common import OURS, PointCell, arms_of, point_grid, say_success, share, success_table
from .planners import GRAPHS

NEIGHBOURS = tuple(graph for graph in GRAPHS if graph.startswith("xy-"))
K_CURVE = (common.REFERENCE, "ttgs", "cut_off", "amle", OURS)


def cells(profile: Profile) -> list[PointCell]:
    """Return every dataset, graph and seed; if quick, a tenth of one with two graphs."""
    if profile.name == "quick":
        return point_grid(("teleport-stitch",), ("time", "xy-10"), (0,), 0.1, 20)
    return [] if profile.name == "official" else point_grid(common.DATASETS, GRAPHS)


def charts(rows: Records) -> Iterator[Chart]:
    """Draw success against the number of neighbours; then measured against predicted arrival."""
    near = Records.of(row for row in rows if row["graph"] in NEIGHBOURS)
    for dataset, some in near.by("dataset").items():
        title = f"{dataset}: success by number of neighbours"
        yield common.success_against(
            some, "graph", K_CURVE, title, lambda graph: graph.removeprefix("xy-")
        )
    groups = rows.where(arm=OURS).by("dataset", "seed").values()
    points = [(some.mean("predicted"), share(some)) for some in groups]
    (ours,) = (arm for arm in common.ARMS if arm.name == OURS)
    series = [Series(ours.title, ours.colour, points, (), ours.shape)]
    yield scatter("Arrival predicted and measured", series, ("predicted", "measured"))


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate success by planner and graph."""
    for dataset, some in rows.by("dataset").items():
        yield common.success_table(some, f"success-{dataset}", f"{dataset}: success in %")


def findings(rows: Records) -> Iterator[StudyFinding]:
    """Report what planners are worth on right graphs, on wrong ones, and where there is chance."""
    if len(rows.values("seed")) < common.FEWEST_SEEDS:
        return
    seeds = number_of(len(rows.values("seed")), "seeds")
    scope = f"{seeds}, {rows.rows[0]['pairs']} episodes each."
    worst, spread = [], []
    for arm, mine in arms_of(rows):
        groups = mine.by("dataset", "graph")
        if len(groups) > len(rows.values("dataset")):  # those that look at graphs
            least = min(groups, key=lambda key: share(groups[key]))
            worst.append(f"{arm.title} {say_success(groups[least])} ({', '.join(least)})")
        near = Records.of(row for row in mine if row["graph"] in NEIGHBOURS)
        if len(near) and len(near.values("graph")) > 1:
            by_k = [list(map(share, s.by("graph").values())) for s in near.by("dataset").values()]
            spread.append(f"{arm.title} {100 * max(max(k) - min(k) for k in by_k):.0f}")
    text = f"Worst success over datasets and graphs, in %: {'; '.join(worst)}."
    if spread:
        text += f" Points between the best and the worst number of neighbours: {'; '.join(spread)}."
    yield StudyFinding("new", "Which planner arrives, whatever the graph?", text, scope)
    ours = rows.where(arm=OURS, graph=GRAPHS[0]).by("dataset", "seed").values()
    off = [some.mean("predicted") - share(some) for some in ours]
    mean = sum(map(abs, off)) / len(off)
    text = (
        f"Planner's prediction differs from the measured share by {mean:.3f} on average over "
        f"datasets and seeds. It is too high by at most {max(0.0, *off):.2f}."
    )
    yield StudyFinding("new", "Is arrival known in advance?", text, scope)


EXPERIMENT = make_experiment(
    "point_success",
    "Planners on PointMaze",
    3,
    common.run,
    cells,
    "A million steps are collected in a maze as OGBench describes it, a thousand of them "
    "become landmarks, and every planner gets a graph on these: the observed changes of "
    "landmark (time), nearest neighbours on (x, y), on noisy features, and on a "
    "commute-time embedding. The routes are walked in PointMaze's physics, a hundred "
    "episodes over OGBench's five tasks for every seed. Planner also predicts how often it "
    "arrives, before anything is walked.",
    {
        "charts": charts,
        "tables": tables,
        "findings": findings,
        "notes": (
            *common.NOTES,
            "TTGS and GAS stand for their rules on graphs, without learned distances and "
            "policies; noisy and lap stand for learned features.",
        ),
    },
)


# -------------------------------------------------------------------- less data

SHARES = (0.1, 0.03, 0.01)
SOME_GRAPHS = ("time", "xy-5", "xy-20")
TWO_DATASETS = ("giant-stitch", "teleport-stitch")
SHARE_ARMS = (common.REFERENCE, "ttgs", "cut_off", "counts_shrunk", OURS)


def share_cells(profile: Profile) -> list[PointCell]:
    """Return three shares of two datasets with three graphs; if quick, one of each."""
    if profile.name == "quick":
        return point_grid(("giant-stitch",), ("xy-5",), (0,), 0.03, 20)
    full = [cell for share in SHARES for cell in point_grid(TWO_DATASETS, SOME_GRAPHS, share=share)]
    return [] if profile.name == "official" else full


def share_charts(rows: Records) -> Iterator[Chart]:
    """Draw success against the share of the data, by dataset and graph."""
    for (dataset, graph), some in rows.by("dataset", "graph").items():
        title = f"{dataset}, {graph}: success by data"
        yield common.success_against(some, "share", SHARE_ARMS, title, percent)


def share_tables(rows: Records) -> Iterator[Table]:
    """Tabulate success by planner and graph, for every share."""
    for (part, dataset), some in rows.by("share", "dataset").items():
        title = f"{dataset}, {percent(part)} of the data: success in %"
        yield success_table(some, f"shares-{dataset}-{100 * part:g}", title)


LESS_DATA = make_experiment(
    "point_shares",
    "Less data",
    3,
    common.run,
    share_cells,
    "The same with a tenth of the steps and 500 landmarks, and with 3 and 1 % and 300. "
    "Observed arcs no longer cover the maze.",
    {"charts": share_charts, "tables": share_tables, "notes": common.NOTES},
)
