"""The small graphs of the paper: seven nodes, their subdivisions, and the adversarial search.

Rows are in long form: one figure each, ``table``, ``item``, ``quantity`` and its ``value``, with
``exact`` for what a number cannot hold: a rational, or a list of vertices.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from wayfield.shortest_paths import cost_to_go

from ...audit.lattice_search import Search
from ...audit.witnesses import DECISION, SevenNode, Witness, seven_node_values, subdivision
from ...engine import NO_ROWS, Experiment, Measure, Profile, Records, Row, Tables
from ...paper.figures import TABLES
from ...paper.grid import NOT_RUN, ids
from ...report import Finding, Section, Table
from ._cells import LATTICES, Lattice, SevenNodes

__all__ = ["EXPERIMENT"]

SUBDIVISIONS = (1, 2, 4, 8, 16)
WAYS = ("swept", "exact", "exit")
"""How the AMLE is found: by sweeps, exactly, and exactly with exit ties."""


def run(cell: SevenNodes | Lattice) -> list[Row]:
    """Figures of the graph, or of the search."""
    if isinstance(cell, SevenNodes):
        return _seven_node_rows(cell.draw()) + _subdivision_rows(cell.draw())
    return _search_rows(cell.draw())


def _figure(table: str, item: object, quantity: str, value: float, exact: str = "") -> Row:
    return {
        "table": table,
        "item": str(item),
        "quantity": quantity,
        "value": float(value),
        "exact": exact,
    }


def _seven_node_rows(drawn: SevenNode) -> list[Row]:
    rows = [
        _figure("seven_node", vertex, field, float(value), str(value))
        for field, values in seven_node_values()._asdict().items()
        for vertex, value in values.items()
    ]
    truth, near = cost_to_go(drawn.graph, drawn.goal), _near_decision(drawn)
    costs = sorted(float(truth[x]) for x in near)
    rows.append(_figure("seven_node", DECISION, "gap", costs[1] - costs[0]))
    for field in ("harmonic", "amle"):
        values = {row["item"]: row["value"] for row in rows if row["quantity"] == field}
        errors = [abs(values[str(drawn.names[x])] - float(truth[x])) for x in near]
        rows.append(_figure("seven_node", DECISION, f"{field}_error", max(errors)))
    return rows


def _near_decision(drawn: SevenNode) -> NDArray[np.integer]:
    """Return the neighbours of the state whose decision the paper looks at."""
    graph, decision = drawn.graph, drawn.names.index(DECISION)
    near: NDArray[np.integer] = graph.indices[graph.indptr[decision] : graph.indptr[decision + 1]]
    return near


def _subdivision_rows(drawn: SevenNode) -> list[Row]:
    rows: list[Row] = []
    for row in subdivision(SUBDIVISIONS):
        truth = cost_to_go(drawn.graph.subdivide(row.k), drawn.goal)
        best = drawn.names[min(_near_decision(drawn), key=lambda x: truth[x])]
        rows.append(_figure("subdivision", row.k, "true_branch", best))
        for field, branch in (("harmonic", row.harmonic), ("amle", row.amle)):
            margin = str(branch.margin)
            rows += [
                _figure("subdivision", row.k, f"{field}_branch", branch.chosen),
                _figure("subdivision", row.k, f"{field}_margin", float(branch.margin), margin),
                _figure("subdivision", row.k, f"{field}_computed", branch.computed),
            ]
    return rows


def _search_rows(found: Search) -> list[Row]:
    rows = [_figure("search", "all", "tested", found.tested)]
    for way, witnesses in found.witnesses.items():
        perfect = sum(w.success(w.harmonic_plan) == 1.0 for w in witnesses.values())
        rows += [
            _figure("search", "all", f"witnesses_{way}", len(witnesses)),
            _figure("search", "all", f"perfect_harmonic_{way}", perfect),
        ]
        for number, witness in witnesses.items():
            rows += _witness_rows(f"{way}/{number}", witness)
    return rows


def _witness_rows(item: str, witness: Witness) -> list[Row]:
    failing = witness.failing(witness.amle_plan)
    names = " ".join(map(str, failing.tolist()))
    return [
        _figure("witness", item, "vertices", witness.graph.num_vertices),
        _figure("witness", item, "goal", witness.names[witness.goal]),
        _figure("witness", item, "labels", len(witness.labels)),
        _figure("witness", item, "harmonic_success", witness.success(witness.harmonic_plan)),
        _figure("witness", item, "amle_success", witness.success(witness.amle_plan)),
        _figure("witness", item, "amle_failures", failing.size, names),
    ]


def cells(profile: Profile) -> list[SevenNodes | Lattice]:
    """Take the seven nodes, and one lattice or three."""
    return [SevenNodes(), *(LATTICES[:1] if profile.name == "quick" else LATTICES)]


def effort(cell: SevenNodes | Lattice) -> float:
    """Rough time: the searches take long."""
    return 3500.0


def measures(tables: Tables) -> dict[str, Measure]:
    """Measure the paper's seven nodes, its subdivisions and its search."""
    rows = tables.get("witnesses", NO_ROWS)
    found = dict.fromkeys(ids("seven-nodes", "subdivision", "search"), NOT_RUN)
    parts = {"seven_node": _seven_nodes, "subdivision": _subdivision}
    for table, measure in parts.items():
        if len(some := rows.where(table=table)):
            found |= measure(some)
    if len(searched := rows.where(table="search", graph=LATTICES[0].key)):
        found |= _search(searched)
    return found


def _value(rows: Records, item: object, quantity: str) -> float:
    (row,) = rows.where(item=str(item), quantity=quantity)
    return float(row["value"])


def _seven_nodes(rows: Records) -> dict[str, Measure]:
    values = {
        f"{field}({vertex})": _value(rows, vertex, field)
        for field in ("harmonic", "amle", "measure")
        for vertex in (1, 3)
    }
    values["measure(1)-measure(3)"] = values["measure(1)"] - values["measure(3)"]
    for figure in ("gap", "harmonic_error", "amle_error"):
        values[f"{figure}({DECISION})"] = _value(rows, DECISION, figure)
    return {f"seven-nodes/{name}/value": Measure(value) for name, value in values.items()}


def _subdivision(rows: Records) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for (k,) in TABLES["subdivision"].rows:
        found[f"subdivision/k{k}/true"] = Measure(_value(rows, k, "true_branch"))
        for field in ("harmonic", "amle"):
            margin = abs(_value(rows, k, f"{field}_margin"))
            found[f"subdivision/k{k}/{field}"] = Measure(_value(rows, k, f"{field}_branch"))
            found[f"subdivision/k{k}/{field}_margin"] = Measure(margin)
    return found


def _search(rows: Records) -> dict[str, Measure]:
    swept, exact = (_value(rows, "all", f"witnesses_{way}") for way in ("swept", "exact"))
    return {
        "search/candidates/value": Measure(_value(rows, "all", "tested")),
        "search/witnesses/value": Measure(swept, exact),
    }


def tables(rows: Records) -> list[Table]:
    """Tell the adversarial search by lattice and way of solving."""
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


def findings(rows: Records) -> Iterator[Finding]:
    """Tell what becomes of our own witnesses once the AMLE is solved."""
    totals = rows.where(table="search", item="all").by("quantity")
    if "tested" not in totals:
        return
    tested, swept, exact, exits = (
        int(totals[name].column("value").sum())
        for name in ("tested", *(f"witnesses_{way}" for way in WAYS))
    )
    yield Finding(
        "new",
        "How often does harmonic beat the AMLE on random small graphs?",
        f"Of {tested:,} random lattice graphs, on {swept} after sweeps with an update tolerance of "
        f"10⁻⁸, on {exact} with the exact AMLE and lowest-index ties, and on {exits} with exit ties"
        + (": what loses is the tie rule, not the field." if not exits else "."),
    )


EXPERIMENT = Experiment(
    "witnesses",
    "Small graphs",
    version=2,
    run=run,
    cells=cells,
    effort=effort,
    measures=measures,
    sections=(
        Section(
            "witnesses",
            "Small graphs",
            "The seven-node graph on which harmonic turns the wrong way, in exact rationals, its "
            "subdivisions, and a search for graphs on which the AMLE does worse.",
            compared={"seven-nodes": (), "subdivision": (), "search": ()},
            tables=tables,
            findings=findings,
        ),
    ),
)
