"""The small graphs of the paper: seven nodes, their subdivisions, and the adversarial search.

Rows are in long form: one figure each, ``table``, ``item``, ``quantity`` and its ``value``, with
``exact`` for what a number cannot hold: a rational, or a list of vertices.

`OTHER_SEARCHES` repeats the search with other draws and another reading. The paper: "random
connected induced subgraphs". Ours are *grown*, vertex by vertex. They may as well be *thinned*: a
random set of vertices, drawn again until it is connected. Witnesses are rare, so that their number
is as much the draw's as the way's: every way is tried with several seeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

import wayfield as wf

from ..audit.lattice_search import MOST_LABELS, Search, contests, search
from ..audit.witnesses import DECISION, SevenNode, seven_node, seven_node_values, subdivision
from ..engine import NO_ROWS, Experiment, Measure, Profile, Records, Row, Tables
from ..paper.figures import TABLES
from ..paper.measures import NOT_RUN, figures_of
from ..report import Finding, Section, Table
from ._shared import make_experiment

SUBDIVISIONS = (1, 2, 4, 8, 16)
SOLVED = ("swept", "exact", "exit")
"""How the AMLE is found: by sweeps, exactly, and exactly with exit ties."""
SEED = 20260510
"""Of the paper's search."""
CANDIDATES = 588
"""Graphs the paper tries."""
SIDE = 4
"""Of the lattice that the paper's number of witnesses is for."""
OTHER_SEEDS = tuple(range(101, 111))
WAYS = ("grown", "thinned")
"""How subgraphs are drawn."""
PAPERS = ("seven-nodes", "subdivision", "search")
"""The paper's tables of small graphs."""


# -------------------------------------------------------------------- cells


@dataclass(frozen=True)
class SevenNodes:
    """The paper's seven-node graph."""

    @property
    def key(self) -> str:
        """Name of the cell."""
        return "seven-node"

    @property
    def columns(self) -> Row:
        """Its name; nothing about it is random."""
        return {"graph": self.key, "seed": 0, "candidates": 0}

    def draw(self) -> SevenNode:
        """Build the graph, with its labels, goal and the names of its vertices."""
        return seven_node()


@dataclass(frozen=True)
class Lattice:
    """A search among the connected subgraphs of a lattice.

    Attributes
    ----------
    rows, columns_across : int
        Sides of the lattice.
    seed : int
        Of the candidates.
    candidates : int
        How many are tried.
    """

    rows: int
    columns_across: int
    seed: int = SEED
    candidates: int = CANDIDATES

    @property
    def key(self) -> str:
        """Name of the cell."""
        return f"lattice-{self.rows}x{self.columns_across}"

    @property
    def columns(self) -> Row:
        """The lattice, and which candidates are drawn."""
        return {"graph": self.key, "seed": self.seed, "candidates": self.candidates}

    def draw(self) -> Search:
        """Search it."""
        return search((self.rows, self.columns_across), self.candidates, self.seed)


LATTICES = (Lattice(SIDE, SIDE), Lattice(5, 4), Lattice(5, 5))


@dataclass(frozen=True)
class SearchCell:
    """A search of one way with one seed."""

    way: str
    seed: int
    candidates: int = CANDIDATES

    @property
    def key(self) -> str:
        """Name of the cell."""
        return f"{self.way}-s{self.seed}-{self.candidates}"

    @property
    def columns(self) -> Row:
        """The settings."""
        return {"way": self.way, "seed": self.seed, "candidates": self.candidates}

    def draw(self) -> Row:
        """Search, and count the witnesses the paper's way and with exact fields."""
        found = {"swept": 0, "exact": 0}
        if self.way == "grown":
            counts = search((SIDE, SIDE), self.candidates, self.seed).counts
            return {way: counts[way] for way in found}
        rng = np.random.default_rng([self.seed, SIDE])
        for _ in range(self.candidates):
            graph, names = connected_part(rng)
            count = int(rng.integers(1, MOST_LABELS + 1))
            drawn = rng.choice(graph.num_vertices, count + 1, replace=False)
            goal = int(drawn[0])
            labels = wf.Labels(drawn, wf.cost_to_go(graph, goal)[drawn])
            found_here = contests(graph, labels, goal, names)
            for way in found:
                found[way] += found_here[way].harmonic_wins
        return found


def connected_part(rng: np.random.Generator) -> tuple[wf.Graph, NDArray[np.int64]]:
    """Draw sets of at least half of the vertices until one is connected."""
    total = SIDE * SIDE
    across = [(x, x + 1) for x in range(total) if (x + 1) % SIDE]
    edges = np.array(across + [(x, x + SIDE) for x in range(total - SIDE)])
    while True:
        names = np.sort(rng.choice(total, rng.integers(total // 2, total + 1), replace=False))
        kept = edges[np.isin(edges, names).all(axis=1)]
        ends = np.searchsorted(names, kept).T
        if np.unique(ends).size < names.size:
            continue  # a vertex on its own
        graph = wf.Graph.from_edges(*ends)
        if np.isfinite(wf.cost_to_go(graph, 0)).all():
            return graph, names


# -------------------------------------------------------------------- rows


def run(cell: SevenNodes | Lattice) -> list[Row]:
    """Return the figures of the graph, or of the search."""
    if isinstance(cell, SevenNodes):
        return _seven_node_rows(cell.draw())
    found = cell.draw()
    rows = [_figure("search", "all", "tested", found.tested)]
    for way, witnesses in found.witnesses.items():
        perfect = sum(w.success(w.harmonic_plan) == 1.0 for w in witnesses.values())
        rows += [
            _figure("search", "all", f"witnesses_{way}", len(witnesses)),
            _figure("search", "all", f"perfect_harmonic_{way}", perfect),
        ]
        for number, witness in witnesses.items():
            failing = witness.failing(witness.amle_plan)
            names = " ".join(map(str, failing.tolist()))
            for quantity, value, exact in (
                ("vertices", witness.graph.num_vertices, ""),
                ("goal", witness.names[witness.goal], ""),
                ("labels", len(witness.labels), ""),
                ("harmonic_success", witness.success(witness.harmonic_plan), ""),
                ("amle_success", witness.success(witness.amle_plan), ""),
                ("amle_failures", failing.size, names),
            ):
                rows.append(_figure("witness", f"{way}/{number}", quantity, value, exact))
    return rows


def _figure(table: str, item: object, quantity: str, value: float, exact: str = "") -> Row:
    return {
        "table": table,
        "item": str(item),
        "quantity": quantity,
        "value": float(value),
        "exact": exact,
    }


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
    for row in subdivision(SUBDIVISIONS):
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
    figures = figures_of(*PAPERS)
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
    if len(some := rows.where(table="search", graph=LATTICES[0].key)):
        swept, exact = (_value(some, "all", f"witnesses_{way}") for way in ("swept", "exact"))
        found["search/candidates/value"] = Measure(_value(some, "all", "tested"))
        found["search/witnesses/value"] = Measure(swept, exact)
    return found


def _value(rows: Records, item: object, quantity: str) -> float:
    (row,) = rows.where(item=str(item), quantity=quantity)
    return float(row["value"])


# -------------------------------------------------------------------- what is shown and said


def tables(rows: Records) -> list[Table]:
    """Tabulate the adversarial search by lattice and way of solving."""
    lines = []
    for graph, chosen in rows.where(table="search").by("graph").items():
        figures = {str(row["quantity"]): int(row["value"]) for row in chosen}
        name = str(graph).removeprefix("lattice-").replace("x", " × ")
        found = [f"{figures[f'witnesses_{way}']}" for way in SOLVED]
        lines.append([name, f"{figures['tested']:,}", *found])
    if not lines:
        return []
    heads = ["lattice", "candidates", "witnesses, sweeps", "exact, index ties", "exact, exit ties"]
    title = "Graphs on which harmonic beats AMLE, by how the AMLE is solved"
    return [Table("search-ways", title, heads, lines)]


def findings(rows: Records) -> Iterator[Finding]:
    """Report what becomes of our own witnesses once the AMLE is solved."""
    totals = rows.where(table="search", item="all").by("quantity")
    if "tested" not in totals:
        return
    tested, swept, exact, exits = (
        int(totals[name].column("value").sum())
        for name in ("tested", *(f"witnesses_{way}" for way in SOLVED))
    )
    yield Finding(
        "new",
        "How often does harmonic beat the AMLE on random small graphs?",
        f"Of {tested:,} random lattice graphs, on {swept} after sweeps with an update tolerance of "
        f"10⁻⁸, on {exact} with the exact AMLE and lowest-index ties, and on {exits} with exit ties"
        + (": what loses is the tie rule, not the field." if not exits else "."),
    )


def by_way(rows: Records) -> Iterator[Table]:
    """Tabulate the number of witnesses by way, its mean and its spread."""

    def spread(some: Records) -> str:
        return f"{some.column('swept').std(ddof=1):.1f}" if len(some) > 1 else "–"

    yield Table.of(
        "ways",
        f"Witnesses by how subgraphs of the {SIDE} × {SIDE} lattice are drawn",
        "subgraphs",
        rows.by("way"),
        {
            "searches": lambda some: f"{len(some)}",
            "witnesses by sweeps": lambda some: f"{some.mean('swept'):.1f}",
            "standard deviation": spread,
            "exact": lambda some: f"{some.mean('exact'):.1f}",
        },
    )


def cells(profile: Profile) -> list[SevenNodes | Lattice]:
    """Return the seven nodes and the lattices, only the smallest if quick."""
    return [SevenNodes(), *(LATTICES[:1] if profile.name == "quick" else LATTICES)]


EXPERIMENT = make_experiment(
    "witnesses",
    "Small graphs",
    2,
    run,
    cells,
    "The seven-node graph on which harmonic turns the wrong way, in exact rationals, its "
    "subdivisions, and a search for graphs on which the AMLE does worse.",
    {"compared": dict.fromkeys(PAPERS, ()), "tables": tables, "findings": findings},
    effort=lambda cell: 3500.0,  # the searches take long
    measures=measures,
)


def search_cells(profile: Profile) -> list[SearchCell]:
    """Return every way with ten seeds, or with two and few candidates."""
    few = profile.name == "quick"
    seeds, candidates = (OTHER_SEEDS[:2], 20) if few else (OTHER_SEEDS, CANDIDATES)
    return [SearchCell(way, seed, candidates) for way, seed in product(WAYS, seeds)]


def run_search(cell: SearchCell) -> list[Row]:
    """Return the one row of another search."""
    return [cell.draw()]


SEARCHES_SECTION = Section(
    "other-searches",
    "Sensitivity: how the adversarial search draws its subgraphs",
    "The paper tries 588 “random connected induced subgraphs” and finds five witnesses.",
    tables=by_way,
)
OTHER_SEARCHES = Experiment(
    "other_searches",
    "Other searches",
    1,
    run_search,
    search_cells,
    lambda cell: 1200.0,
    sections=(SEARCHES_SECTION,),
)
