"""Drawings of the small graphs: the seven nodes, and the witnesses of the adversarial search."""

from __future__ import annotations

from ..audit.lattice_search import search
from ..audit.witnesses import Witness, seven_node
from ..extension import AMLE, Harmonic, extend
from ..plan import plan
from ..study.tables import Rows
from .charts import Chart
from .graphs import graph_drawing

_SHOWN = 4
"""Witnesses to draw, for sweeps and for the exact AMLE each."""


def seven_node_drawings() -> list[Chart]:
    """Draw harmonic and AMLE values on the seven-node graph."""
    graph, labels, goal, _ = seven_node()
    drawn = []
    for name, method in (("harmonic", Harmonic()), ("AMLE", AMLE())):
        values = extend(graph, labels, method).values
        route = plan(graph, values, goal, "q", "index")
        title = f"Seven nodes, {name}"
        drawn.append(Chart(title, graph_drawing(graph, labels, route, title)))
    return drawn


def witness_drawings(rows: Rows) -> list[Chart]:
    """Draw a few witnesses of the first lattice that was searched, AMLE values and plan."""
    searched = list(rows.where(table="search", quantity="tested"))
    if not searched:
        return []
    first = searched[0]
    lattice = [int(side) for side in str(first["maze"]).removeprefix("lattice-").split("x")]
    found = search(lattice, int(first["value"]), int(first["seed"]))
    return [
        _drawn(witness, f"{title} {number}")
        for way, title in (
            ("swept", "AMLE by sweeps, candidate"),
            ("exact", "AMLE exact, candidate"),
        )
        for number, witness in list(found.witnesses[way].items())[:_SHOWN]
    ]


def _drawn(witness: Witness, title: str) -> Chart:
    harmonic, amle = (
        witness.success(route) for route in (witness.harmonic_plan, witness.amle_plan)
    )
    told = f"{title}: {amle:.0%} reach, harmonic {harmonic:.0%}"
    return Chart(told, graph_drawing(witness.graph, witness.labels, witness.amle_plan, told))
