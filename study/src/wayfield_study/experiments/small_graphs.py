"""Small graphs to look at: the seven nodes, and graphs that fit the paper's witnesses.

A row for every graph and way of solving, with all that its drawing needs, and the two shares of
starts that reach.

The paper prints of each witness its size, its goal, the number of labels, the two shares of starts
that reach, and from which vertices the AMLE fails, but neither edges nor labels. All connected
subgraphs of the 4 × 4 lattice with all label sets are few enough to try: for every line of its
table some reproduce the line, number by number, if both fields are found by sweeps that stop at an
update of 1e-8, as the paper says (the AMLE's from the harmonic field), and starts are all vertices
but the goal: 567, 18, 5, 4 and 26 of 262,197 candidates. `FITS` has the first of each line, in
lexicographic order of (vertices left out, labels). What becomes of a line when the fields are
solved is said of these graphs, not of the paper's own, which may be others.

On the same graphs the fields can be solved, which the sweeps do not do: values that are equal in
the exact field differ in the last digits after sweeps, and a greedy planner follows them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

import wayfield as wf
from wayfield.plans.planning import Plan

from ..engine import NO_ROWS, Measure, Profile, Records, Row, Tables
from ..lattice_search import UPDATE, contests, induced
from ..paper.measures import NOT_RUN, figures_of
from ..report import Chart, StudyFinding, drawn_graph, graph_drawing
from ..witnesses import Witness, seven_node
from .comparison import make_experiment
from .witnesses import SEVEN_NODES, SIDE, GraphCell

_CHOSEN = "the paper's graph is not printed, ours was chosen to fit this line"
_FITTED = "on a graph that fits, the paper's own is not printed"


# -------------------------------------------------------------------- graphs that fit


@dataclass(frozen=True)
class FittingGraph:
    """A subgraph of the 4 × 4 lattice, whose vertices are numbered row by row.

    Attributes
    ----------
    goal : int
        Its number in the lattice.
    left_out : tuple of int
        Vertices of the lattice that the graph has not.
    others : tuple of int
        Labelled vertices beside the goal.
    """

    goal: int
    left_out: tuple[int, ...]
    others: tuple[int, ...]

    @cached_property
    def witnesses(self) -> dict[str, Witness]:
        """Both fields and their plans, the AMLE in three ways: see `lattice_search`."""
        names = np.setdiff1d(np.arange(SIDE**2), self.left_out)
        graph = induced(names, SIDE, SIDE)
        vertices = np.searchsorted(names, sorted((self.goal, *self.others)))
        goal = int(np.searchsorted(names, self.goal))
        labels = wf.Labels(vertices, wf.cost_to_go(graph, goal)[vertices])
        return contests(graph, labels, goal, names)

    @cached_property
    def swept_harmonic(self) -> Plan:
        """Plan on the harmonic field as averaging sweeps leave it, from zero, index ties."""
        known = self.witnesses["swept"]
        graph, labels = known.graph, known.labels
        fixed, degrees = labels.mask(graph), np.diff(graph.indptr)
        values, before = np.zeros(graph.num_vertices), np.full(graph.num_vertices, np.inf)
        values[labels.vertices] = labels.values
        # every unlabelled value becomes its neighbours' mean, until none changes by 1e-8
        while np.abs(values - before).max() >= UPDATE:
            before = values
            means = np.bincount(graph.tails, before[graph.indices], graph.num_vertices) / degrees
            values = np.where(fixed, before, means)
        return wf.plan(graph, values, known.goal, "q", "index")

    def success(self, route: Plan) -> float:
        """Share of the vertices but the goal from which a plan reaches.

        Examples
        --------
        >>> fit = FITS[1]
        >>> [round(fit.success(fit.witnesses[way].amle_plan), 3) for way in ("swept", "exact")]
        [0.833, 1.0]
        """
        return float(np.delete(route.reached, route.goal).mean())


FITS = {
    1: FittingGraph(10, (0, 1, 8), (2, 3, 4, 14)),
    2: FittingGraph(6, (4, 14), (0, 1, 15)),
    3: FittingGraph(15, (0, 2, 4), (3, 13, 14)),
    4: FittingGraph(3, (), (0, 2, 7, 10)),
    5: FittingGraph(2, (0, 10, 13), (1, 3, 4, 12)),
}
"""By the number of the paper's witness."""


# -------------------------------------------------------------------- rows


def run(cell: GraphCell) -> list[Row]:
    """Return a row for every drawing."""
    if cell == SEVEN_NODES:
        graph, labels, goal, names = seven_node()
        harmonic, amle = (
            wf.plan(graph, wf.extend(graph, labels, method).values, goal, "q", "index")
            for method in (wf.Harmonic(), wf.AMLE())
        )
        shares = (harmonic.success, amle.success)
        return [
            _row(way, goal, names, labels, route, shares)
            for way, route in (("harmonic", harmonic), ("amle", amle))
        ]
    fit, rows = FITS[int(cell.graph.removeprefix("witness-"))], []
    exact = fit.witnesses["exact"].harmonic_plan
    for way, witness in fit.witnesses.items():
        route, names = witness.amle_plan, witness.names.tolist()
        smooth = fit.swept_harmonic if way == "swept" else exact
        shares = (fit.success(smooth), fit.success(route))
        rows.append(_row(way, witness.goal, names, witness.labels, route, shares))
    return rows


def _row(
    way: str,
    goal: int,
    names: Sequence[int],
    labels: wf.Labels,
    route: Plan,
    shares: tuple[float, float],
) -> Row:
    """Return a drawing's row; `shares` are the starts that reach on the harmonic field and AMLE."""
    about: Row = {
        "way": way,
        "goal_name": names[goal],
        "vertices": route.graph.num_vertices,
        "labels": len(labels),
        "failing": int(np.count_nonzero(~route.reached)),
        # a set of vertices, as a figure of the paper has it
        "failing_set": sum(2 ** names[x] for x in np.flatnonzero(~route.reached).tolist()),
    }
    drawn = drawn_graph(route.graph, labels, route)
    return about | drawn | {"harmonic": shares[0], "amle": shares[1]}


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure the paper's witnesses, on graphs that fit their lines: see `FITS`."""
    rows = tables.get("small_graphs", NO_ROWS)
    found = {figure.id: NOT_RUN for figure in figures_of("witnesses", "witness-failures")}
    for number in FITS:
        some = rows.where(graph=f"witness-{number}").by("way")
        if not some:
            continue
        (swept,), (exact,) = some["swept"], some["exact"]
        columns = ("vertices", "goal", "labels", "harmonic", "amle", "failing")
        names = {f"witnesses/witness{number}/{column}": column for column in columns}
        names[f"witnesses/witness{number}/goal"] = "goal_name"
        names[f"witness-failures/witness{number}/failing"] = "failing_set"
        for figure, name in names.items():
            # what the graph was chosen for is no measurement; what solving it exactly changes is
            found[figure] = Measure(None, note=_CHOSEN)
            if swept[name] != exact[name]:
                found[figure] = Measure(float(swept[name]), float(exact[name]), note=_FITTED)
    return found


def drawings(rows: Records) -> list[Chart]:
    """Draw the seven nodes, and the fitted witnesses after sweeps."""
    drawn = []
    for graph, some in rows.by("graph").items():
        ways = some.by("way")
        if graph == "seven-node":
            titles = {"harmonic": "harmonic", "amle": "AMLE"}
            shown = [(row, f"Seven nodes, {titles[row['way']]}") for row in some]
        else:
            number = str(graph).removeprefix("witness-")
            (swept,), (exact,) = ways["swept"], ways["exact"]
            shares = f"{swept['amle']:.3f} by sweeps, {exact['amle']:.3f} exact"
            shown = [(swept, f"Witness {number}: {shares}")]
        drawn += [Chart(title, graph_drawing(row, title)) for row, title in shown]
    return drawn


def findings(rows: Records) -> Iterator[StudyFinding]:
    """Report what becomes of the paper's witnesses, on graphs that fit them, once solved."""
    swept, exact, exits = (
        {number: row for number in FITS for row in rows.where(graph=f"witness-{number}", way=way)}
        for way in ("swept", "exact", "exit")
    )
    if not exact:
        return
    kept = [number for number, row in exact.items() if row["amle"] < row["harmonic"]]
    unfinished = [n for n, row in exact.items() if swept[n]["harmonic"] < row["harmonic"]]
    failing = sum(row["amle"] < 1.0 for row in exits.values())
    yield StudyFinding(
        "artefact" if 2 * len(kept) < len(exact) else "differs",
        f"The paper: {len(exact)} graphs on which AMLE does worse than harmonic.",
        "It does not print them. On the graphs we found, the first of the 4 × 4 lattice that fit "
        "all numbers of a line, solved exactly with lowest-index ties, "
        f"{len(exact) - len(kept)} of {len(exact)} are witnesses no more, and with "
        f"exit ties the AMLE fails on {failing}. Harmonic below 1 (numbers "
        f"{' and '.join(map(str, unfinished))}) is an unfinished solve too.",
    )


def cells(profile: Profile) -> list[GraphCell]:
    """Return the same graphs in every profile."""
    return [SEVEN_NODES, *(GraphCell(f"witness-{number}") for number in FITS)]


EXPERIMENT = make_experiment(
    "small_graphs", 3, run, cells, {"drawings": drawings, "findings": findings},
    effort=lambda cell: 10.0, measures=measures,
)  # fmt: skip
