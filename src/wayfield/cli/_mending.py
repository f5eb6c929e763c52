"""What ``wayfield mend`` reads, says and writes, apart from the command itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays import plain
from .._text import number_of, percent, quoted, seconds_text, short
from ..cross_validation import fit_factor
from ..errors import InputError
from ..files import EdgeTable, Style, are_trips, read_labels, read_trips
from ..graph import Graph
from ..kernels._types import FloatArray
from ..labels import Labels
from ..mending import Mended, MendProblem, Trips, contradictions
from ..mending.findings import edges_once, finding, suspects
from ..mending.fitting import make_problem
from ..mending.selection import PLAIN
from ..names import Names
from ..pipeline.text import Line, differ_in_unit, unit_remark
from ..plans import plan
from ..shortest_paths import cost_to_go
from ._inputs import Wanted, describe_files, said_columns
from ._show import AS_OPTIONS
from ._solving import in_units

if TYPE_CHECKING:
    from ._common import Stages
    from ._inputs import Table

NEEDED_FOR_OSRM = (
    "--osrm needs lengths in metres and costs in seconds: pass --speed COLUMN, or --length-unit "
    "with the seconds that a metre takes (0.12 at 30 km/h)"
)
SPEEDS = (1.0, 300.0)
"""Medians in km/h that a road network may have."""
UNITS = frozenset(
    {
        *("s", "sec", "second", "seconds", "min", "minute", "minutes", "h", "hour", "hours"),
        *("m", "metre", "metres", "meter", "meters", "km", "mile", "miles"),
    }
)
"""Headings that name a unit."""
MOST_DECIMALS = 3
"""Numbers with more were not rounded by hand."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """A graph, and labels or trips that may contradict it; read from files, and checked.

    Attributes
    ----------
    edges : EdgeTable
        The edges as they stand in the file.
    graph : Graph
        What is believed, its lengths in the unit of the costs.
    data : Labels or Trips
        What is known.
    goal : int or None
        Where labels lead, or routes are to lead.
    said, facts
        How the files were understood, for a person and for a program.
    """

    edges: EdgeTable
    graph: Graph
    data: Labels | Trips
    goal: int | None
    said: list[Line]
    facts: dict[str, Any]
    unit: float
    """Units of cost to one of length, as the user said."""
    heading: str
    """What stands above the costs."""

    @property
    def names(self) -> Names:
        """What the vertices are called."""
        return self.edges.names

    @property
    def measured_in(self) -> str:
        """The unit of the costs if their heading is one, else empty."""
        return self.heading if self.heading.strip().lower() in UNITS else ""

    @property
    def some_goal(self) -> str:
        """Where to plan to: the goal, or if none was named the end of most trips."""
        goal = self.goal
        if goal is None:
            assert isinstance(self.data, Trips)
            ends, counts = np.unique(self.data.ends, return_counts=True)
            goal = int(ends[np.argmax(counts)])
        return str(self.names[goal])

    @property
    def word(self) -> str:
        """What the data are called."""
        return "trips" if isinstance(self.data, Trips) else "labels"


@dataclass(frozen=True)
class Asked:
    """What the user said about the data.

    Attributes
    ----------
    kind : str or None
        "labels" or "trips"; None: the header decides.
    columns : mapping
        Which column is which; None where it is to be guessed.
    error, upper
        Bound on how wrong the costs are, and whether they are upper bounds only.
    unit : float
        Units of cost to one of length.
    """

    kind: str | None
    columns: Mapping[str, str | None]
    error: float
    upper: bool
    unit: float


def read_evidence(
    wanted: Wanted, asked: Asked, stages: Stages, ready: Callable[[bool], None]
) -> Evidence:
    """Read the files, or raise `InputError` with the file, the row and the column.

    `ready` is called before anything is computed, with whether the graph is directed.
    """
    edges, style = wanted.read_edges(stages), Style(*wanted.text)
    names, path, columns = edges.names, wanted.labels, said_columns(asked.columns)
    assert path is not None
    goal = None if wanted.goal is None else names.index(wanted.goal, "--goal ")
    tell = stages.begin(f"reading {path.name}")
    found = asked.kind
    if found is None:
        found = "trips" if are_trips(path, names, columns, style) else "labels"
    table: Table
    data: Labels | Trips
    if found == "trips":
        table = read_trips(path, names, columns, style, asked.error, asked.upper, tell)
        bound = "upper" if asked.upper else None
        data = Trips(table.starts, table.ends, table.costs, asked.error, bound)  # type: ignore[arg-type]
    else:
        table = read_labels(path, names, columns, style, asked.error, tell)
        assert table.labels is not None
        data = _checked_labels(table.labels, names, goal, path)
    places = wanted.read_places(names)
    read: dict[str, tuple[Path, Table]] = {found: (path, table)}
    position = None
    if wanted.positions is not None and places is not None:
        read["positions"], position = (wanted.positions, places), places.positions
    ready(edges.one_way)
    stages.begin("building the graph")
    graph, said, facts = describe_files(wanted.edges, edges, read, position)
    if asked.kind is None:
        other = "labels" if found == "trips" else "trips"
        note = f"{path.name} is read as {found}; --{other} if it has {other}"
        said.append(("note", note))
        facts["notes"].append(note)
    graph = in_units(graph, asked.unit)
    given = Evidence(
        edges, graph, data, goal, [Line(*line) for line in said], facts, asked.unit, table.heading
    )
    _refuse_unreachable(given, path)
    return given


def _checked_labels(labels: Labels, names: Names, goal: int | None, path: Path) -> Labels:
    """Refuse labels that are no costs to the goal, by name; the goal's own may be missing."""
    if goal is None:
        least = int(np.argmin(labels.values))
        raise InputError(
            f"labels are costs to a goal: pass --goal (the smallest label is "
            f"{labels.values[least]:g}, at {quoted(str(names[labels.vertices[least]]))}); or, if "
            f"{path.name} has trips, pass --trips"
        )
    own = labels.values[labels.vertices == goal]
    if (np.abs(own) > labels.error).any():
        raise InputError(f"{path}: the goal {names[goal]!r} is labelled {own[0]:g}, not 0")
    for vertex, value in zip(labels.vertices.tolist(), labels.values.tolist(), strict=True):
        if vertex != goal and value <= 0.0:
            raise InputError(
                f"{path}: {names[vertex]!r} is labelled {value:g}, but it is not the goal: its "
                "cost to the goal is positive"
            )
    if not (labels.vertices != goal).any():
        raise InputError(f"{path}: only the goal is labelled, so there is nothing to mend by")
    return labels


def _refuse_unreachable(given: Evidence, path: Path) -> None:
    """Refuse trips that the graph has no way for, by name."""
    starts, ends, costs = _trips(given)
    reach: dict[int, FloatArray] = {end: cost_to_go(given.graph, end) for end in np.unique(ends)}
    lost = [k for k, end in enumerate(ends) if np.isinf(reach[end][starts[k]])]
    if lost:
        x, y = given.names[starts[lost[0]]], given.names[ends[lost[0]]]
        more = f" (and {len(lost) - 1:,} more)" if len(lost) > 1 else ""
        raise InputError(
            f"{path}: the graph has no way from {x!r} to {y!r}, though going there cost "
            f"{costs[lost[0]]:g}{more}: is an edge missing, or one-way?"
        )


def _trips(given: Evidence) -> tuple[Any, Any, FloatArray]:
    """Return starts, ends and costs of the data, labels as trips to the goal."""
    data = given.data
    if isinstance(data, Trips):
        return data.starts, data.ends, data.costs
    away = data.vertices != given.goal
    starts = data.vertices[away]
    return starts, np.full(starts.size, given.goal), data.values[away]


def facts(given: Evidence, found: Mended, upper: bool, starts: Sequence[int]) -> dict[str, Any]:
    """Return all that is to be said, as plain data."""
    data, names = given.data, given.names
    problem = make_problem(
        given.graph,
        data,
        None if isinstance(data, Trips) else given.goal,
        "upper" if upper and isinstance(data, Labels) else None,
    )
    told = found.facts(names)
    against = _against(given, problem)
    agreed = not (against["too_optimistic"] or against["too_pessimistic"])
    told["finding"] = finding(told, given.word, agreed, against["too_optimistic"])
    after = problem.distances(found.graph.lengths)
    more: dict[str, Any] = {
        "graph": {
            "vertices": given.graph.num_vertices,
            "arcs": given.graph.num_arcs,
            "least_length": given.graph.lengths.min(initial=np.inf),
            "largest_length": given.graph.lengths.max(initial=-np.inf),
        },
        given.word: _data_facts(problem, given),
        "against": against,
        "rounding": _rounding(given, problem),
        "misfit": {
            "believed": _misfit(problem, problem.distances()),
            "mended": _misfit(problem, after),
        },
        "goal": None if given.goal is None else str(given.names[given.goal]),
        "routes": [_route(given, found, start) for start in starts],
    }
    more["units"] = _units(given, more[given.word]["per_graph_distance"])
    return told | dict(plain(more))


def _data_facts(problem: MendProblem, given: Evidence) -> dict[str, Any]:
    """Describe the labels, the goal's own among them as `plan` counts them, or the trips."""
    data, costs, more = given.data, problem.costs, {}
    if isinstance(data, Trips):
        more = {"ends": problem.goals.size, "merged": data.merged}
    else:
        costs = np.append(costs, 0.0)
    return {
        "count": costs.size,
        **more,
        "least": costs.min(),
        "largest": costs.max(),
        "error": problem.error,
        "upper_bounds": problem.upper,
        "per_graph_distance": fit_factor(problem.costs, problem.distances()),
    }


def _against(given: Evidence, problem: MendProblem) -> dict[str, Any]:
    """Count what speaks against the graph as it is."""
    dear, cheap = _excesses(given, problem)
    return {
        "too_optimistic": dear.size,
        "by_up_to": dear.max(initial=0.0),
        "too_pessimistic": cheap.size,
        "over_by_up_to": cheap.max(initial=0.0),
    }


def _excesses(given: Evidence, problem: MendProblem) -> tuple[FloatArray, FloatArray]:
    """By how much costs prove the graph too cheap, and too dear; a detour proves nothing."""
    if isinstance(given.data, Labels) and given.goal is not None:
        labels = _with_goal(given.data, given.goal)
        proof = contradictions(given.graph, replace(labels, error=problem.error))
        dear, cheap = proof.optimistic.excess, proof.pessimistic.excess
    else:
        over = problem.costs - problem.error - problem.distances()
        dear, cheap = over[over > 0], (-over - 2 * problem.error)[over < -2 * problem.error]
    tiny = 1e-9 * problem.costs.max()
    return dear[(dear > tiny) & (not problem.upper)], cheap[cheap > tiny]


def _rounding(given: Evidence, problem: MendProblem) -> dict[str, Any] | None:
    """Count the contradictions that vanish if costs are rounded to their last digit.

    None if none do, if an error was named, or if the lengths have no more digits than the costs.
    """
    digits = _decimals(problem.costs)
    if problem.error or digits is None or _decimals(given.graph.lengths, digits) is not None:
        return None
    error = 0.5 * 10.0**-digits
    before, after = (
        sum(side.size for side in _excesses(given, each))
        for each in (problem, replace(problem, error=error))
    )
    explained = before - after
    return {"decimals": digits, "error": error, "explains": explained} if explained else None


def _decimals(numbers: FloatArray, most: int = MOST_DECIMALS) -> int | None:
    """Count the decimals that all of these numbers make do with; None if that is more than most."""
    for digits in range(most + 1):
        if np.allclose(np.round(numbers, digits), numbers, rtol=1e-12, atol=0.0):
            return digits
    return None


def _units(given: Evidence, factor: float) -> str | None:
    """Ask about units if the costs are far from the graph's distances."""
    if not differ_in_unit(factor):
        return None
    what = "the costs of the trips" if given.word == "trips" else "labels"
    return unit_remark(factor, AS_OPTIONS, what, given.unit)


def _with_goal(labels: Labels, goal: int) -> Labels:
    """Labels with the goal's own, which is 0."""
    away = labels.vertices != goal
    vertices = np.append(labels.vertices[away], goal)
    return Labels(vertices, np.append(labels.values[away], 0.0), labels.error)


def _misfit(problem: MendProblem, distances: FloatArray) -> float:
    """Mean of what distances are off by, beyond the error; an upper bound forgives too little."""
    off = distances - problem.costs
    off = np.maximum(off, 0.0) if problem.upper else np.abs(off)
    return float(np.maximum(off - problem.error, 0.0).mean())


def _route(given: Evidence, found: Mended, start: int) -> dict[str, Any]:
    """Describe the cheapest way on the mended graph, and what the graph believed."""
    assert given.goal is not None
    cost, before = (cost_to_go(graph, given.goal) for graph in (found.graph, given.graph))
    if np.isinf(cost[start]):
        return {"start": str(given.names[start]), "cost": None, "believed": None, "path": []}
    path = plan(found.graph, cost, given.goal).rollout(start).path
    called = [str(given.names[x]) for x in path]
    return {
        "start": called[0],
        "cost": float(cost[start]),
        "believed": float(before[start]),
        "path": called,
    }


def lines(told: Mapping[str, Any], word: str) -> list[Line]:
    """Turn the facts into lines."""
    graph, data = told["graph"], told[word]
    edges = number_of(told["edges"], "edges")
    edges += f" ({number_of(graph['arcs'], 'arcs')}, directed)" if told["directed"] else ""
    span = f"lengths {short(graph['least_length'])} to {short(graph['largest_length'])}"
    where = number_of(graph["vertices"], "vertices", "vertex")
    said = [Line("graph", f"{where}, {edges}, {span}"), Line(word, _data_text(told, word))]
    said.append(Line("against", _against_text(told["against"], data["count"], word)))
    said += [Line("rounding", _rounding_text(told["rounding"]))] if told["rounding"] else []
    said += [Line("units", told["units"])] if told["units"] else []
    chosen = f"{_candidate(told['chosen'])} chosen; " if told["chosen"] else ""
    made = f"{told['method']}: {chosen}{told['status']}; {seconds_text(told['seconds'])}"
    said.append(Line("method", made))
    if told["scores"]:
        said.append(Line("left out", _scores_text(told["scores"], word)))
    fit = told["misfit"]
    said.append(
        Line(
            "fit",
            f"{word} are off by {short(fit['believed'])} on average on the graph as it is, "
            f"by {short(fit['mended'])} on the mended one",
        )
    )
    said.append(Line("found", told["finding"]))
    return said + [Line("route", _route_text(route)) for route in told["routes"]]


def _data_text(told: Mapping[str, Any], word: str) -> str:
    data = told[word]
    low, high = short(data["least"]), short(data["largest"])
    error = f", within {short(data['error'])}" if data["error"] else ""
    bound = ", upper bounds" if data["upper_bounds"] else ""
    if word == "labels":
        share = percent(data["count"] / told["graph"]["vertices"])
        text = f"{data['count']:,} ({share} of the vertices), values {low} to {high}{error}{bound}"
        return f"{text}; goal {quoted(told['goal'])}"
    text = f"{number_of(data['count'], word)} to {number_of(data['ends'], 'ends')}"
    costs = f"cost {low}" if low == high else f"costs {low} to {high}"
    merged = f"; {number_of(data['merged'], 'rows')} repeated a trip" if data["merged"] else ""
    return f"{text}, {costs}{error}{bound}{merged}"


def _rounding_text(rounding: Mapping[str, Any]) -> str:
    digits, count = rounding["decimals"], rounding["explains"]
    costs = f"have {number_of(digits, 'decimals')}" if digits else "are whole numbers"
    return (
        f"the costs {costs}, and rounding alone would explain {count:,} of these contradictions: "
        f"if they are rounded, pass --error {rounding['error']:g}"
    )


def _against_text(against: Mapping[str, Any], count: int, word: str) -> str:
    told = []
    for key, size, kind in (
        ("too_optimistic", "by_up_to", "optimistic"),
        ("too_pessimistic", "over_by_up_to", "pessimistic"),
    ):
        if against[key]:
            verb = "proves" if against[key] == 1 else "prove"
            who = f"{against[key]:,} of {number_of(count, word)} {verb}"
            told.append(f"{who} the graph too {kind}, by up to {short(against[size])}")
    return "; ".join(told) or f"none of the {number_of(count, word)} contradicts the graph"


def _candidate(name: str) -> str:
    return "the graph as it is" if name == PLAIN else f"“{name}”"


def _scores_text(scores: Mapping[str, Any], word: str) -> str:
    """Say how well the candidates predicted what they had not seen."""
    told = [f"{short(scores[PLAIN]['error'])} by the graph as it is"]
    for name, score in scores.items():
        if name == PLAIN:
            continue
        gain = ""
        if score["spread"]:
            better = "better" if score["gain"] >= 0 else "worse"
            gain = f" ({short(abs(score['gain']))} ± {short(score['spread'])} {better})"
        told.append(f"{short(score['error'])} by “{name}”{gain}")
    return f"{word} left out in turn are predicted within {'; '.join(told)}"


def _route_text(route: Mapping[str, Any]) -> str:
    if route["cost"] is None:
        return f"{quoted(route['start'])}: cannot reach the goal"
    names = list(map(quoted, route["path"]))
    if len(names) > 12:
        names = [*names[:6], "…", *names[-6:]]
    text = f"{' → '.join(names)}: cost {short(route['cost'])}"
    return f"{text}, believed to be {short(route['believed'])}"


def edge_columns(found: Mended, names: Names) -> dict[str, Any]:
    """One row per edge, in a form that ``wayfield plan`` reads back."""
    edges, called = edges_once(found), names.as_numbers()
    columns = {
        "from": _taken(called, edges.tails),
        "to": _taken(called, edges.heads),
        "believed": edges.believed,
        "added": edges.added,
        "length": edges.lengths,
    }
    return columns | ({"oneway": ["yes"] * edges.arcs.size} if found.believed.directed else {})


def suspect_columns(found: Mended, names: Names) -> dict[str, Any]:
    """One row per edge that stands out, and how, in the order of evidence."""
    (arcs, kinds), called, believed = suspects(found), names.as_numbers(), found.believed
    return {
        "from": _taken(called, believed.tails[arcs]),
        "to": _taken(called, believed.indices[arcs]),
        "kind": kinds,
        "believed": believed.lengths[arcs],
        "added": found.added[arcs],
        "length": found.graph.lengths[arcs],
        "times": found.graph.lengths[arcs] / believed.lengths[arcs],
    }


def osrm_rows(given: Evidence, found: Mended, unit: float) -> str:
    """Speeds in the form of OSRM's traffic updates: from, to, km/h; no header, every arc.

    Raises
    ------
    InputError
        If vertices are no ids, or if lengths cannot be metres and costs seconds.
    """
    ids = given.names.as_numbers()
    if not isinstance(ids, np.ndarray):
        other = next(name for name in ids if not name.isdecimal())
        raise InputError(f"--osrm needs ids of OpenStreetMap's nodes as names, not {other!r}")
    metres = given.edges.metres_of(given.graph)
    if metres is None:
        if unit == 1.0:
            raise InputError(NEEDED_FOR_OSRM)
        metres = given.graph.lengths / unit
    kmh = 3.6 * metres / found.graph.lengths
    low, high = SPEEDS
    if not low <= float(np.median(kmh)) <= high:
        raise InputError(
            f"the median speed would be {short(float(np.median(kmh)))} km/h: {NEEDED_FOR_OSRM}"
        )
    rows = zip(ids[given.graph.tails], ids[given.graph.indices], kmh, strict=True)
    return "".join(f"{x},{y},{speed:.4g}\n" for x, y, speed in rows)


def _taken(called: Any, vertices: Any) -> Any:
    if isinstance(called, np.ndarray):
        return called[vertices]
    return [called[x] for x in vertices.tolist()]
