"""Measures of the small graphs: seven nodes, subdivisions, the adversarial search."""

from __future__ import annotations

from collections.abc import Sequence

from ...audit.witnesses import DECISION, seven_node
from ...oracle import cost_to_go
from ..fits import FITS
from ..paper import TABLES
from ..tables import Rows
from ._base import Measure, Tables, ids

_CHOSEN = "the paper's graph is not printed, ours was chosen to fit this line"
_FITTED = "on a graph that fits, the paper's own is not printed"
_LATTICE = "lattice-4x4"


def small_graph_measures(tables: Tables) -> dict[str, Measure]:
    """Take all measures of the small graphs."""
    rows = tables.get("witnesses", Rows(()))
    names = ids("seven-nodes", "subdivision", "search", "witnesses")
    found = dict.fromkeys(names, Measure(None, note="the experiment was not run"))
    if not len(rows):
        return found
    parts = {"seven_node": _seven_nodes, "subdivision": _subdivision}
    for table, measure in parts.items():
        if len(some := rows.where(table=table)):
            found |= measure(some)
    if len(searched := rows.where(table="search", maze=_LATTICE)):
        found |= _search(searched)
    return found | _witnesses()


def _figure(rows: Rows, item: object, quantity: str) -> float:
    (row,) = rows.where(item=str(item), quantity=quantity)
    return float(row["value"])


def _seven_nodes(rows: Rows) -> dict[str, Measure]:
    graph, _, goal, names = seven_node()
    truth = cost_to_go(graph, goal)
    decision = names.index(DECISION)
    near = graph.indices[graph.indptr[decision] : graph.indptr[decision + 1]]
    costs = sorted(float(truth[x]) for x in near)
    values = {
        f"{field}({vertex})": _figure(rows, vertex, field)
        for field in ("harmonic", "amle", "measure")
        for vertex in (1, 3)
    }
    values["measure(1)-measure(3)"] = values["measure(1)"] - values["measure(3)"]
    values["gap(4)"] = costs[1] - costs[0]
    for field in ("harmonic", "amle"):
        errors = [abs(_figure(rows, names[x], field) - float(truth[x])) for x in near]
        values[f"{field}_error(4)"] = max(errors)
    return {f"seven-nodes/{name}/value": Measure(value) for name, value in values.items()}


def _subdivision(rows: Rows) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for (k,) in TABLES["subdivision"].rows:
        found[f"subdivision/k{k}/true"] = Measure(_true_branch(int(k)))
        for field in ("harmonic", "amle"):
            margin = abs(_figure(rows, k, f"{field}_margin"))
            found[f"subdivision/k{k}/{field}"] = Measure(_figure(rows, k, f"{field}_branch"))
            found[f"subdivision/k{k}/{field}_margin"] = Measure(margin)
    return found


def _true_branch(k: int) -> float:
    """Return the neighbour of the decision state that is nearest to the goal, edges cut into k."""
    graph, _, goal, names = seven_node()
    decision = names.index(DECISION)
    truth = cost_to_go(graph.subdivide(k), goal)
    near = graph.indices[graph.indptr[decision] : graph.indptr[decision + 1]]
    return float(names[min(near, key=lambda x: truth[x])])


def _search(rows: Rows) -> dict[str, Measure]:
    swept, exact = (_figure(rows, "all", f"witnesses_{way}") for way in ("swept", "exact"))
    return {
        "search/candidates/value": Measure(_figure(rows, "all", "tested")),
        "search/witnesses/value": Measure(swept, exact),
    }


def _witnesses() -> dict[str, Measure]:
    """Measure the paper's witnesses on graphs that fit their lines: see `study.fits`."""
    found: dict[str, Measure] = {}
    for number, fit in FITS.items():
        swept, exact = fit.witnesses["swept"], fit.witnesses["exact"]
        plans = swept.amle_plan, exact.amle_plan
        line: dict[str, Sequence[float]] = {
            "vertices": [swept.graph.num_vertices],
            "goal": [swept.names[swept.goal]],
            "labels": [len(swept.labels)],
            "harmonic": [fit.success(fit.swept_harmonic), fit.success(exact.harmonic_plan)],
            "amle": [fit.success(route) for route in plans],
            "failing": [len(fit.failing(route)) for route in plans],
        }
        for column, figures in line.items():
            # what the graph was chosen for is no measurement; what solving it exactly changes is
            moved = figures[-1] != figures[0]
            measure = Measure(float(figures[0]), float(figures[-1]), note=_FITTED)
            found[f"witnesses/witness{number}/{column}"] = (
                measure if moved else Measure(None, note=_CHOSEN)
            )
    return found
