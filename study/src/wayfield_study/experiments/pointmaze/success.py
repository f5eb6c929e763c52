"""Every planner on every graph: how often it arrives, and how often it said it would.

`run` has a row for every planner; its columns are described at
`wayfield_study.experiments._point.arms.row`.
"""

from __future__ import annotations

from collections.abc import Iterator

from wayfield._text import number_of

from ...engine import Experiment, Profile, Records, Row
from ...report import Chart, Finding, Section, Series, Table, scatter
from .._point import (
    DATASETS,
    FEWEST_SEEDS,
    GRAPHS,
    ORACLE,
    OURS,
    REFERENCE,
    PointCell,
    point_grid,
    read_grid,
)
from ._shown import NOTES, looks_of, say_steps, say_success, spread, success_against, success_table

NEIGHBOURS = tuple(graph for graph in GRAPHS if graph.startswith("xy-"))
K_CURVE = (REFERENCE, "ttgs", "cut_off", "amle", OURS)
CLOSE = 0.05
"""Arrival that was foretold to within this is foretold well."""


def run(cell: PointCell) -> list[Row]:
    """One row for every planner."""
    return cell.rows()


def cells(profile: Profile) -> list[PointCell]:
    """Every dataset, graph and seed; if quick, a tenth of one with two graphs."""
    if profile.name == "official":
        return []
    if profile.name == "quick":
        return point_grid(("teleport-stitch",), ("time", "xy-10"), (0,), 0.1, 20)
    return point_grid(DATASETS, GRAPHS)


def charts(rows: Records) -> Iterator[Chart]:
    """Success against the number of neighbours; then measured against foretold arrival."""
    ticks = [
        (graph, graph.removeprefix("xy-")) for graph in rows.values("graph") if graph in NEIGHBOURS
    ]
    for dataset, some in rows.by("dataset").items():
        if ticks:
            title = f"{dataset}: success by number of neighbours"
            yield success_against(some, "graph", K_CURVE, title, ticks)
    yield foretelling(rows)


def foretelling(rows: Records) -> Chart:
    """Measured against foretold arrival, a mark for every planner, dataset and graph."""
    series = []
    for look in looks_of(rows):
        groups = rows.where(arm=look.name).by("dataset", "graph").values()
        points = [(some.mean("foretold"), some.ratio("reached", "pairs")) for some in groups]
        series.append(Series(look.title, look.colour, points, (), look.shape))
    return scatter("Arrival foretold and measured", series, ("foretold", "measured"))


def tables(rows: Records) -> Iterator[Table]:
    """Success by planner and graph; then what was foretold."""
    for dataset, some in rows.by("dataset").items():
        yield success_table(some, f"success-{dataset}", f"{dataset}: success in %")
    yield _foretold(rows)


def _foretold(rows: Records) -> Table:
    datasets = rows.values("dataset")
    lines = []
    for look in looks_of(rows):
        mine = rows.where(arm=look.name)
        groups = mine.where(graph=GRAPHS[0]).by("dataset")
        entries = [_both(groups[name]) if name in groups else "–" for name in datasets]
        off = [_off(some) for some in mine.by("dataset", "graph").values()]
        close = sum(each <= CLOSE for each in off)
        lines.append([look.title, *entries, f"{sum(off) / len(off):.3f}", f"{close} of {len(off)}"])
    heads = ["planner", *(f"{name}, {GRAPHS[0]}" for name in datasets), "mean difference"]
    heads.append(f"within {CLOSE:g}")
    note = (
        "Foretold / measured arrival on the graph of what was seen; then, over all datasets and "
        "graphs, by how much the two differ in the mean, and in how many of them by little."
    )
    return Table("foretold", "Arrival foretold and measured", heads, lines, note)


def _both(rows: Records) -> str:
    return f"{rows.mean('foretold'):.2f} / {rows.ratio('reached', 'pairs'):.2f}"


def _off(rows: Records) -> float:
    return abs(rows.mean("foretold") - rows.ratio("reached", "pairs"))


def findings(rows: Records) -> Iterator[Finding]:
    """Tell what planners are worth on right graphs, on wrong ones, and where there is chance."""
    if len(rows.values("seed")) < FEWEST_SEEDS:
        return
    seeds = number_of(len(rows.values("seed")), "seeds")
    scope = f"{seeds}, {rows.rows[0]['pairs']} episodes each."
    yield Finding("new", "Which planner arrives, whatever the graph?", _whichever(rows), scope)
    for dataset, some in rows.where(graph=GRAPHS[0]).by("dataset").items():
        yield Finding(
            "new", f"{dataset}: the graph of what was seen", _on_the_right_graph(some), scope
        )
    yield Finding("new", "Is arrival known in advance?", _in_advance(rows), scope)


def _whichever(rows: Records) -> str:
    told = []
    for look in looks_of(rows):
        mine = rows.where(arm=look.name)
        groups = mine.by("dataset", "graph")
        if len(groups) > len(rows.values("dataset")):  # those that look at graphs
            worst = min(groups, key=lambda key: groups[key].ratio("reached", "pairs"))
            told.append(f"{look.title} {say_success(groups[worst])} ({', '.join(worst)})")
    k = [
        f"{look.title} {100 * max(spread(s, 'graph') for s in mine.by('dataset').values()):.0f}"
        for look in looks_of(rows)
        if len(mine := Records.of(r for r in rows.where(arm=look.name) if r["graph"] in NEIGHBOURS))
        and len(mine.values("graph")) > 1
    ]
    curve = (
        f" Points between the best and the worst number of neighbours: {'; '.join(k)}." if k else ""
    )
    return f"Worst success over datasets and graphs, in %: {'; '.join(told)}.{curve}"


def _on_the_right_graph(rows: Records) -> str:
    arms = rows.by("arm")
    told = [
        f"{look.title} {say_success(arms[look.name])} in {say_steps(arms[look.name])} steps"
        for look in looks_of(rows)
    ]
    return f"Success in %: {'; '.join(told)}."


def _in_advance(rows: Records) -> str:
    told = []
    for look in looks_of(rows):
        if look.name == ORACLE:
            continue
        off = [_off(some) for some in rows.where(arm=look.name).by("dataset", "graph").values()]
        told.append(f"{look.title} {sum(off) / len(off):.3f} (at most {max(off):.2f})")
    return f"Mean difference between foretold and measured arrival: {'; '.join(told)}."


EXPERIMENT = Experiment(
    "point_success",
    "Planners on PointMaze",
    version=2,
    run=run,
    cells=cells,
    read_grid=read_grid,
    sections=(
        Section(
            "point-success",
            "Planners on PointMaze",
            "A million steps are collected in a maze as OGBench describes it, a thousand of them "
            "become landmarks, and every planner gets a graph on these: the observed changes of "
            "landmark (time), nearest neighbours on (x, y), on noisy features, and on a "
            "commute-time embedding. The routes are walked in PointMaze's physics, a hundred "
            "episodes over OGBench's five tasks for every seed. How often each arrives was "
            "foretold from the buffer before anything was walked.",
            charts=charts,
            tables=tables,
            findings=findings,
            notes=(
                *NOTES,
                "Foretold arrival is wayfield's for every planner: rivals say nothing of it. "
                "TTGS and GAS stand for their rules on graphs, without learned distances and "
                "policies; noisy and lap stand for learned features.",
            ),
        ),
    ),
)
