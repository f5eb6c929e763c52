"""What a model says, as lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..graphs.graph import Graph
from ..graphs.names import Naming
from ..typing import IntArray
from ..words import number_of, percent, quoted

if TYPE_CHECKING:
    from .findings import Finding
    from .model import Model

SHOWN = 3
"""Names in a list, at most."""


def lines(model: Model, names: Naming | None = None, unit: str = "") -> list[tuple[str, str]]:
    """Return the summary as pairs of a word for the margin and a text.

    `unit` is the unit of the times, such as "minutes".
    """
    names = model.given.names if names is None else names
    times, of = model.trips.times, f" {unit}" if unit else ""
    out = [
        ("trips", f"{model.trips!r}"[6:-1] + of),
    ]
    if model.unrelated:
        return [*out, ("found", sentence(model, model.findings[0], names, unit))]
    scale = float(np.median(model.graph.lengths / model.given.lengths))
    overall = f"an edge takes {scale:.3g}{of} per unit of length"
    if 0.2 < scale < 5.0:
        overall = f"roads take {scale:.3g} times as long as the graph says, at the median"
    out.append(("overall", overall))
    out.append(("noise", f"one measurement scatters by {percent(model.sigma)}"))
    if model.start_up > 0.02 * float(np.median(times)):
        out.append(
            ("start-up", f"about {model.start_up:.3g}{of} for each trip, whatever its length")
        )
    out += [("found", sentence(model, each, names, unit)) for each in model.findings]
    if not model.findings:
        out.append(("found", "nothing that is wrong at one place"))
    short = shorter_than_straight(model.given)
    if short:
        roads = number_of(short, "edges are", "edge is")
        out.append(("file", f"{roads} shorter than the straight line between their ends"))
    return out


def sentence(model: Model, found: Finding, names: Naming | None = None, unit: str = "") -> str:
    """Return a finding in words."""
    graph, of = model.given, f" {unit}" if unit else ""
    sure = f"({percent(round(min(found.probability, 0.999), 3))})"
    span = f"{found.low:.2g} to {found.high:.2g}"
    if found.kind == "unrelated":
        column = f"column of {unit}" if unit else "column of times"
        return (
            "times and distances on the graph do not go together: is it the right "
            f"{column}, and are starts and ends the right way round?"
        )
    if found.kind == "trip":
        i = int(found.where[0][0])
        start, end = model.trips.starts[i], model.trips.ends[i]
        low, high = model.predict([start], [end], (0.05, 0.95))[0]
        way = f"{_name(start, names)} → {_name(end, names)}"
        return (
            f"trip {i + 1} is off: {way} took {model.trips.times[i]:.4g}{of}, and {low:.3g} to "
            f"{high:.3g} would be expected {sure}"
        )
    if found.kind in ("start", "wait"):
        what = "each trip takes {} longer than its roads" if found.kind == "start" else (
            "each crossing takes {}"
        )  # fmt: skip
        amount = f"{found.amount:.3g}{of} (90 %: {found.low:.3g} to {found.high:.3g})"
        return f"{what.format(amount)} {sure}"
    places = [_place(graph, arcs, found.kind, names) for arcs in found.where]
    where = " or ".join([*places[:SHOWN], *(["…"] if len(places) > SHOWN else [])])
    if found.kind == "blocked":
        there = "were" if len(places) > 1 or " and " in where else "was"
        least = f"closed, or at least {found.amount:.2g} times as long as given"
        return f"trips run as if {where} {there} not there: {least} {sure}"
    if np.isinf(found.high):
        span = f"{found.low:.2g} or more"
    times = "much longer than" if np.isinf(found.amount) else f"{found.amount:.2g} times as long as"
    return f"{where}: {times} elsewhere for its length (90 %: {span}) {sure}"


def shorter_than_straight(graph: Graph) -> int:
    """Return the number of edges shorter than the straight line between their ends.

    0 unless lengths and positions are in one unit: then hardly any is.
    """
    if graph.positions is None or graph.num_arcs == 0:
        return 0
    straight = np.linalg.norm(graph.positions[graph.tails] - graph.positions[graph.indices], axis=1)
    ratio = graph.lengths / np.maximum(straight, 1e-300)
    if not 1.0 <= np.median(ratio) <= 1.5 or np.mean(ratio < 0.999) > 0.1:
        return 0
    short = int((ratio < 0.999).sum())
    return short if graph.directed else short // 2


def _name(vertex: int, names: Naming | None) -> str:
    return quoted(str(vertex if names is None else names[int(vertex)]))


def _place(graph: Graph, arcs: IntArray, kind: str, names: Naming | None) -> str:
    """Return the name of a road by its ends, of an area by a vertex in its midst."""
    tails, heads = graph.tails[arcs], graph.indices[arcs]
    if kind != "area":
        return f"{_name(tails[0], names)} – {_name(heads[0], names)}"
    inside, count = np.unique(np.concatenate([tails, heads]), return_counts=True)
    roads = np.unique(np.sort(np.column_stack([tails, heads])), axis=0).shape[0]
    centre = inside[int(np.argmax(count))]
    return f"the {number_of(roads, 'roads')} around {_name(centre, names)}"
