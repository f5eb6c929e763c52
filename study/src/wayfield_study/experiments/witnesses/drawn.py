"""Small graphs to look at: the seven nodes, graphs that fit the paper's witnesses, our own.

A row for every graph and way of solving, with all that its drawing needs, and the two shares of
starts that reach.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from wayfield.extension import AMLE, Harmonic, extend
from wayfield.graph import Graph
from wayfield.labels import Labels
from wayfield.plans import Plan, plan

from ...audit.witnesses import SevenNode, Witness
from ...engine import NO_ROWS, Experiment, Measure, Profile, Records, Row, Tables
from ...paper.grid import NOT_RUN, ids
from ...report import Chart, Finding, Section, drawn_graph, graph_drawing
from ._cells import LATTICES, FittedWitness, Lattice, SevenNodes
from .fits import FITS, Fit

SHOWN = 3
"""Witnesses of our own search to draw."""
_CHOSEN = "the paper's graph is not printed, ours was chosen to fit this line"
_FITTED = "on a graph that fits, the paper's own is not printed"

SmallCell: TypeAlias = SevenNodes | FittedWitness | Lattice
Success: TypeAlias = Callable[[Plan], float]


def run(cell: SmallCell) -> list[Row]:
    """Make a row for every drawing."""
    if isinstance(cell, SevenNodes):
        return _seven_nodes(cell.draw())
    if isinstance(cell, FittedWitness):
        return _fitted(cell.draw())
    found = cell.draw().witnesses["exact"]
    return [
        _row("exact", number, witness, witness.harmonic_plan, witness.success)
        for number, witness in list(found.items())[:SHOWN]
    ]


def _seven_nodes(drawn: SevenNode) -> list[Row]:
    graph, labels, goal, names = drawn
    plans = {
        way: plan(graph, extend(graph, labels, method).values, goal, "q", "index")
        for way, method in (("harmonic", Harmonic()), ("amle", AMLE()))
    }
    return [
        _columns(way, 0, names[goal], graph, labels, route)
        | {"harmonic": plans["harmonic"].success, "amle": plans["amle"].success}
        for way, route in plans.items()
    ]


def _fitted(fit: Fit) -> list[Row]:
    exact = fit.witnesses["exact"].harmonic_plan
    harmonic = {"swept": fit.swept_harmonic, "exact": exact, "exit": exact}
    return [
        _row(way, 0, witness, harmonic[way], fit.success) for way, witness in fit.witnesses.items()
    ]


def _row(way: str, number: int, witness: Witness, harmonic: Plan, success: Success) -> Row:
    graph, labels, route = witness.graph, witness.labels, witness.amle_plan
    name = int(witness.names[witness.goal])
    shares = {"harmonic": success(harmonic), "amle": success(route)}
    return _columns(way, number, name, graph, labels, route) | shares


def _columns(
    way: str, number: int, goal_name: int, graph: Graph, labels: Labels, route: Plan
) -> Row:
    return {
        "way": way,
        "number": number,
        "goal_name": goal_name,
        "vertices": graph.num_vertices,
        "labels": len(labels),
        "failing": int(np.count_nonzero(~route.reached)),
    } | drawn_graph(graph, labels, route)


def cells(profile: Profile) -> list[SmallCell]:
    """All that is drawn; a moment's work each."""
    return [SevenNodes(), *(FittedWitness(number) for number in FITS), LATTICES[0]]


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure the paper's witnesses, on graphs that fit their lines: see `fits`."""
    rows = tables.get("small_graphs", NO_ROWS)
    found = dict.fromkeys(ids("witnesses"), NOT_RUN)
    for number in FITS:
        some = rows.where(graph=f"witness-{number}").by("way")
        if not some:
            continue
        (swept,), (exact,) = some["swept"], some["exact"]
        for column in ("vertices", "goal", "labels", "harmonic", "amle", "failing"):
            name = "goal_name" if column == "goal" else column
            # what the graph was chosen for is no measurement; what solving it exactly changes is
            moved = swept[name] != exact[name]
            measure = Measure(float(swept[name]), float(exact[name]), note=_FITTED)
            found[f"witnesses/witness{number}/{column}"] = (
                measure if moved else Measure(None, note=_CHOSEN)
            )
    return found


def drawings(rows: Records) -> list[Chart]:
    """Seven nodes by both fields, the fitted witnesses after sweeps, some of our own solved."""
    drawn = []
    for graph, some in rows.by("graph").items():
        ways = some.by("way")
        if graph == "seven-node":
            titles = {"harmonic": "harmonic", "amle": "AMLE"}
            shown = [(row, f"Seven nodes, {titles[row['way']]}") for row in some]
        elif str(graph).startswith("witness-"):
            number = str(graph).removeprefix("witness-")
            (swept,), (exact,) = ways["swept"], ways["exact"]
            shares = f"{swept['amle']:.3f} by sweeps, {exact['amle']:.3f} exact"
            shown = [(swept, f"Witness {number}: {shares}")]
        else:
            shown = [(row, _own_title(row)) for row in some]
        drawn += [Chart(title, graph_drawing(row, title)) for row, title in shown]
    return drawn


def _own_title(row: Row) -> str:
    shares = f"{row['amle']:.3f}, harmonic {row['harmonic']:.3f}"
    return f"Candidate {row['number']}, exact AMLE: {shares}"


def findings(rows: Records) -> Iterator[Finding]:
    """Tell what becomes of the paper's witnesses when they are solved, on graphs that fit them."""
    swept, exact, exits = (
        {number: row for number in FITS for row in rows.where(graph=f"witness-{number}", way=way)}
        for way in ("swept", "exact", "exit")
    )
    if not exact:
        return
    kept = [number for number, row in exact.items() if row["amle"] < row["harmonic"]]
    unfinished = [n for n, row in exact.items() if swept[n]["harmonic"] < row["harmonic"]]
    failing = sum(row["amle"] < 1.0 for row in exits.values())
    yield Finding(
        "artefact" if 2 * len(kept) < len(exact) else "differs",
        f"The paper: {len(exact)} graphs on which AMLE does worse than harmonic.",
        "It does not print them. On the graphs we found, the first of the 4 × 4 lattice that fit "
        "all numbers of a line, solved exactly with lowest-index ties, "
        f"{len(exact) - len(kept)} of {len(exact)} are witnesses no more, and with "
        f"exit ties the AMLE fails on {failing}. Harmonic below 1 (numbers "
        f"{' and '.join(map(str, unfinished))}) is an unfinished solve too.",
    )


EXPERIMENT = Experiment(
    "small_graphs",
    "Small graphs, drawn",
    version=1,
    run=run,
    cells=cells,
    effort=lambda cell: 3500.0 if isinstance(cell, Lattice) else 10.0,
    measures=measures,
    sections=(
        Section(
            "small-graphs",
            "Small graphs, drawn",
            "The seven nodes, graphs that fit the paper's witnesses, and witnesses of our own. "
            "Values stand in the vertices; labels have a double ring, the goal is filled, and "
            "starts that never reach it are tinted.",
            compared={"witnesses": ("harmonic", "amle", "failing")},
            drawings=drawings,
            findings=findings,
            notes=(
                "The paper prints neither edges nor labels of its witnesses; ours are the first "
                "4 × 4 graphs that fit all numbers of a line. What becomes of a line when the "
                "fields are solved exactly is said of these graphs, not of the paper's own.",
            ),
        ),
    ),
)
