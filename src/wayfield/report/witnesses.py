"""Drawings of the small graphs: the seven nodes, and the witnesses of the adversarial search."""

from __future__ import annotations

from ..audit.lattice_search import search
from ..audit.witnesses import Witness, seven_node
from ..extension import AMLE, Harmonic, extend
from ..plan import plan
from ..study.fits import FITS
from ..study.tables import Rows
from .charts import Chart
from .graphs import graph_drawing

_SHOWN = 3
"""Witnesses of our own search to draw."""


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


def fit_drawings() -> list[Chart]:
    """Draw graphs that fit the paper's witnesses: the AMLE after sweeps, and the plan."""
    drawn = []
    for number, fit in FITS.items():
        witness, exact = fit.witnesses["swept"], fit.witnesses["exact"]
        shares = [fit.success(route) for route in (witness.amle_plan, exact.amle_plan)]
        title = f"Witness {number}: {shares[0]:.3f} by sweeps, {shares[1]:.3f} exact"
        drawn.append(Chart(title, _picture(witness, title)))
    return drawn


def witness_drawings(rows: Rows) -> list[Chart]:
    """Draw what our own search finds against the exact AMLE, on the first lattice searched."""
    searched = list(rows.where(table="search", quantity="tested"))
    if not searched:
        return []
    first = searched[0]
    lattice = [int(side) for side in str(first["maze"]).removeprefix("lattice-").split("x")]
    found = search(lattice, int(first["value"]), int(first["seed"])).witnesses["exact"]
    return [_drawn(witness, number) for number, witness in list(found.items())[:_SHOWN]]


def _drawn(witness: Witness, number: int) -> Chart:
    routes = (witness.amle_plan, witness.harmonic_plan)
    amle, harmonic = (witness.success(route) for route in routes)
    title = f"Candidate {number}, exact AMLE: {amle:.3f}, harmonic {harmonic:.3f}"
    return Chart(title, _picture(witness, title))


def _picture(witness: Witness, title: str) -> str:
    return graph_drawing(witness.graph, witness.labels, witness.amle_plan, title)
