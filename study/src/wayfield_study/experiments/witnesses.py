"""The small graphs of the paper: seven nodes, their subdivisions, and the adversarial search.

Rows are in long form: one figure each, ``table``, ``item``, ``quantity`` and its ``value``, with
``exact`` for what a number cannot hold: a rational, or a list of vertices.

`OTHER_SEARCHES` repeats the search with other seeds. Witnesses are rare, so their number varies a
lot from draw to draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import wayfield as wf

from ..engine import NO_ROWS, Measure, Profile, Records, Row, Tables
from ..lattice_search import WAYS, Search, search
from ..paper.figures import TABLES
from ..paper.measures import NOT_RUN, figures_of
from ..report import Table
from ..witnesses import DECISION, SevenNode, seven_node, seven_node_values, subdivision
from .comparison import Settings, make_experiment

SEED = 20260510
"""Of the paper's search."""
CANDIDATES = 588
"""Graphs the paper tries."""
SIDE = 4
"""Of the lattice that the paper's number of witnesses is for."""
OTHER_SEEDS = tuple(range(101, 111))


# -------------------------------------------------------------------- cells


@dataclass(frozen=True)
class GraphCell(Settings):
    """A small graph by its name, or a search among the connected subgraphs of a lattice.

    Attributes
    ----------
    graph : str
        "seven-node", "lattice-4x4" for a lattice of four rows and columns, or one of
        `small_graphs`.
    seed, candidates : int
        Of a search: the draw, and how many subgraphs are tried.
    """

    graph: str
    seed: int = 0
    candidates: int = 0

    def draw(self) -> SevenNode | Search:
        """Build the seven nodes, or search the lattice."""
        if self == SEVEN_NODES:
            return seven_node()
        sides = self.graph.removeprefix("lattice-").split("x")
        return search([int(side) for side in sides], self.candidates, self.seed)


SEVEN_NODES = GraphCell("seven-node")
LATTICES = tuple(
    GraphCell(f"lattice-{rows}x{columns}", SEED, CANDIDATES)
    for rows, columns in ((SIDE, SIDE), (5, 4), (5, 5))
)


# -------------------------------------------------------------------- rows


def run(cell: GraphCell) -> list[Row]:
    """Return the figures of the graph, or of the search."""
    found = cell.draw()
    if isinstance(found, SevenNode):
        return _seven_node_rows(found)
    return [
        _figure("search", "all", "tested", found.tested),
        *(_figure("search", "all", f"witnesses_{way}", found.counts[way]) for way in WAYS),
    ]


def _figure(table: str, item: object, quantity: str, value: float, exact: str = "") -> Row:
    about = {"table": table, "item": str(item), "quantity": quantity}
    return {**about, "value": float(value), "exact": exact}


def _seven_node_rows(drawn: SevenNode) -> list[Row]:
    """Return the figures of the seven nodes and of their subdivisions."""
    rows = [
        _figure("seven_node", vertex, field, float(value), str(value))
        for field, values in seven_node_values()._asdict().items()
        for vertex, value in values.items()
    ]
    # the state whose decision the paper looks at: its true gap, and the errors around it
    graph, decision = drawn.graph, drawn.names.index(DECISION)
    near: NDArray[np.integer] = graph.indices[graph.indptr[decision] : graph.indptr[decision + 1]]
    truth = wf.cost_to_go(graph, drawn.goal)
    costs = sorted(float(truth[x]) for x in near)
    rows.append(_figure("seven_node", DECISION, "gap", costs[1] - costs[0]))
    for field in ("harmonic", "amle"):
        values = {row["item"]: row["value"] for row in rows if row["quantity"] == field}
        errors = [abs(values[str(drawn.names[x])] - float(truth[x])) for x in near]
        rows.append(_figure("seven_node", DECISION, f"{field}_error", max(errors)))
    for row in subdivision():
        truth = wf.cost_to_go(graph.subdivide(row.k), drawn.goal)
        best = drawn.names[min(near, key=lambda x: truth[x])]
        rows.append(_figure("subdivision", row.k, "true_branch", best))
        for field, branch in (("harmonic", row.harmonic), ("amle", row.amle)):
            margin = str(branch.margin)
            rows += [
                _figure("subdivision", row.k, f"{field}_branch", branch.chosen),
                _figure("subdivision", row.k, f"{field}_margin", float(branch.margin), margin),
                _figure("subdivision", row.k, f"{field}_computed", branch.computed),
            ]
    return rows


# -------------------------------------------------------------------- the paper's figures


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure the paper's seven nodes, its subdivisions and its search."""
    rows = tables.get("witnesses", NO_ROWS)
    figures = figures_of("seven-nodes", "subdivision", "search")
    found = {figure.id: NOT_RUN for figure in figures}
    if len(some := rows.where(table="seven_node")):
        values = {
            f"{field}({vertex})": _value(some, vertex, field)
            for field in ("harmonic", "amle", "measure")
            for vertex in (1, 3)
        }
        values["measure(1)-measure(3)"] = values["measure(1)"] - values["measure(3)"]
        for figure in ("gap", "harmonic_error", "amle_error"):
            values[f"{figure}({DECISION})"] = _value(some, DECISION, figure)
        found |= {f"seven-nodes/{name}/value": Measure(value) for name, value in values.items()}
    if len(some := rows.where(table="subdivision")):
        for (k,) in TABLES["subdivision"].rows:
            found[f"subdivision/k{k}/true"] = Measure(_value(some, k, "true_branch"))
            for field in ("harmonic", "amle"):
                margin = abs(_value(some, k, f"{field}_margin"))
                found[f"subdivision/k{k}/{field}"] = Measure(_value(some, k, f"{field}_branch"))
                found[f"subdivision/k{k}/{field}_margin"] = Measure(margin)
    if len(some := rows.where(table="search", graph=LATTICES[0].graph)):
        swept, exact = (_value(some, "all", f"witnesses_{way}") for way in ("swept", "exact"))
        found["search/candidates/value"] = Measure(_value(some, "all", "tested"))
        found["search/witnesses/value"] = Measure(swept, exact)
    return found


def _value(rows: Records, item: object, quantity: str) -> float:
    (row,) = rows.where(item=str(item), quantity=quantity)
    return float(row["value"])


# -------------------------------------------------------------------- what is shown


def tables(rows: Records) -> list[Table]:
    """Tabulate the adversarial search by lattice and way of solving."""
    lines = []
    for graph, chosen in rows.where(table="search").by("graph").items():
        figures = {str(row["quantity"]): int(row["value"]) for row in chosen}
        name = str(graph).removeprefix("lattice-").replace("x", " × ")
        found = [f"{figures[f'witnesses_{way}']}" for way in WAYS]
        lines.append([name, f"{figures['tested']:,}", *found])
    if not lines:
        return []
    heads = ["lattice", "candidates", "witnesses, sweeps", "exact, index ties", "exact, exit ties"]
    title = "Graphs on which harmonic beats AMLE, by how the AMLE is solved"
    return [Table("search-ways", title, heads, lines)]


def cells(profile: Profile) -> list[GraphCell]:
    """Return the seven nodes and the lattices, only the smallest if quick."""
    return [SEVEN_NODES, *(LATTICES[:1] if profile.name == "quick" else LATTICES)]


EXPERIMENT = make_experiment(
    "witnesses", 2, run, cells, {"tables": tables},
    effort=lambda cell: 3500.0,  # the searches take long
    measures=measures,
)  # fmt: skip


def search_cells(profile: Profile) -> list[GraphCell]:
    """Return ten seeds; if quick, two seeds with few candidates."""
    few = profile.name == "quick"
    seeds, candidates = (OTHER_SEEDS[:2], 20) if few else (OTHER_SEEDS, CANDIDATES)
    return [GraphCell(LATTICES[0].graph, seed, candidates) for seed in seeds]


def run_search(cell: GraphCell) -> list[Row]:
    """Count the witnesses of another search, the paper's way and with exact fields."""
    found = cell.draw()
    assert isinstance(found, Search)
    return [{way: found.counts[way] for way in ("swept", "exact")}]


def by_seed(rows: Records) -> list[Table]:
    """Tabulate the number of witnesses by seed."""
    lines = [[str(row["seed"]), str(row["swept"]), str(row["exact"])] for row in rows]
    heads = ["seed", "witnesses by sweeps", "exact"]
    return [Table("seeds", "Witnesses by seed of the search", heads, lines)]


OTHER_SEARCHES = make_experiment(
    "other_searches", 1, run_search, search_cells, {"tables": by_seed}, effort=lambda cell: 1200.0
)
