"""The summary that a person reads in five seconds, made of plain facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .._text import TIE, margin_text, number_of, percent, quoted, seconds_text, short

DISTANCE = "graph distance"
"""What the method is called if there is none."""
_ROUTE_ENDS = 6
_MOST_WEAK = 3


class Line(NamedTuple):
    """A word for the margin, and what there is to say about it."""

    word: str
    text: str


def lines(facts: Mapping[str, Any]) -> list[Line]:
    """Turn the facts of an answer into lines; what cannot reach the goal at all comes first."""
    graph, labels, made = facts["graph"], facts["labels"], facts["plan"]
    told = [*_lost(graph), Line("graph", _graph(graph)), Line("labels", _labels(facts))]
    told += [*_dropped(labels), *_false_sinks(labels)]
    told += [Line("mended", facts["mended"]["finding"])] if facts["mended"] else []
    told += [Line("method", _method(facts)), *_behind(graph), Line("plan", _plan(made))]
    told += [*_loops(made), *_raised(made["raised"]), *_trust(facts)]
    if facts.get("held_out"):
        told.append(Line("held out", facts["held_out"]["verdict"]))
    told += [Line("route", _route(route)) for route in facts["routes"]]
    return [*told, Line("advice", facts["advice"])]


def _number(value: float) -> str:
    return f"{value + 0.0:g}"  # -0 is 0


def _lost(graph: Mapping[str, Any]) -> list[Line]:
    lost = graph["cannot_reach_goal"]
    if not lost:
        return []
    names = ", ".join(map(quoted, graph["cannot_reach_examples"]))
    more = " …" if lost > len(graph["cannot_reach_examples"]) else ""
    count = f"{lost:,} of {number_of(graph['vertices'], 'states')} cannot reach the goal at all"
    return [Line("lost", f"{count}: {names}{more}")]


def _behind(graph: Mapping[str, Any]) -> list[Line]:
    count, examples = graph["behind_labels"], graph["behind_labels_examples"]
    if not count:
        return []
    named = ", ".join(map(quoted, examples)) + (" …" if count > len(examples) else "")
    if count == 1:
        return [Line("flat", f"1 state lies behind a label and just has its value: {named}")]
    return [Line("flat", f"{count:,} states lie behind labels and just have their values: {named}")]


def _graph(graph: Mapping[str, Any]) -> str:
    edges = number_of(graph["edges"], "arcs" if graph["directed"] else "edges")
    edges += " (directed)" if graph["directed"] else ""
    low, high = graph["least_length"], graph["largest_length"]
    span = "no lengths" if low is None else f"lengths {low:g} to {high:g}"
    if low is not None and low == high:
        span = f"{'all ' if graph['edges'] > 1 else ''}of length {low:g}"
    pieces = "strong_components" if graph["directed"] else "components"
    parts = f"{graph[pieces]:,} {pieces.replace('_', ' ')}" if graph[pieces] > 1 else "in one piece"
    return f"{number_of(graph['vertices'], 'vertices', 'vertex')}, {edges}, {span}; {parts}"


def _labels(facts: Mapping[str, Any]) -> str:
    labels, n = facts["labels"], facts["graph"]["vertices"]
    share = percent(labels["count"] / n)
    low, high = labels["least"], labels["largest"]
    span = f"value {_number(low)}" if low == high else f"values {_number(low)} to {_number(high)}"
    span = f"all of {span}" if low == high and labels["count"] > 1 else span
    return f"{labels['count']:,} ({share} of the vertices), {span}; goal {quoted(facts['goal'])}"


def _dropped(labels: Mapping[str, Any]) -> list[Line]:
    if not labels["dropped_count"]:
        return []
    more = " …" if labels["dropped_count"] > len(labels["dropped"]) else ""
    named = ", ".join(map(quoted, labels["dropped"]))
    return [Line("dropped", f"{number_of(labels['dropped_count'], 'labels')}: {named}{more}")]


def _false_sinks(labels: Mapping[str, Any]) -> list[Line]:
    count, sinks = labels["false_sink_count"], labels["false_sinks"]
    if not count:
        return []
    named = ", ".join(f"{quoted(sink['name'])} ({_number(sink['value'])})" for sink in sinks)
    more = " …" if count > len(sinks) else ""
    return [Line("sinks", f"no way down from {number_of(count, 'labels')}: {named}{more}")]


def _method(facts: Mapping[str, Any]) -> str:
    width = facts["bracket_width"]
    if facts["mended"] and facts["mended"]["chosen"]:
        chosen = facts["mended"]["chosen"]
        told = "the graph as it is" if chosen == "plain" else f"“{chosen}”"
        made = f"{facts['method']}: {told} chosen"
        return f"{made}; {seconds_text(facts['mended']['seconds'])}"
    if facts["method"] == DISTANCE:
        return f"{DISTANCE}; {seconds_text(facts['seconds'])}"
    bracket = "no bracket" if width is None else f"exact values known to within {width:.1e}"
    return f"{facts['method']}: {facts['status']}; {bracket}; {seconds_text(facts['seconds'])}"


def _plan(made: Mapping[str, Any]) -> str:
    able, reach = made["can_reach"], made["reach"]
    text = f"{reach:,} of {able:,} starts that can reach the goal do ({percent(made['success'])})"
    if made["loop_count"]:
        text += f"; {number_of(made['loop_count'], 'loops')}"
    if made["dead_ends"]:
        text += f"; {made['dead_ends']:,} at a dead end"
    return text


def _raised(raised: Mapping[str, Any] | None) -> list[Line]:
    if not raised or not raised["count"]:
        return []
    named = ", ".join(f"{quoted(s['name'])} by {short(s['by'])}" for s in raised["states"])
    more = " …" if raised["count"] > len(raised["states"]) else ""
    return [Line("raised", f"{number_of(raised['count'], 'values')}: {named}{more}")]


def _loops(made: Mapping[str, Any]) -> list[Line]:
    told = []
    for loop in made["loops"]:
        path = " → ".join(map(quoted, loop["states"]))
        path += " → …" if loop["size"] > len(loop["states"]) else f" → {quoted(loop['states'][0])}"
        end = "ends" if loop["catches"] == 1 else "end"
        told.append(Line("loops", f"{path}, where {number_of(loop['catches'], 'starts')} {end}"))
    if made["loop_count"] > len(made["loops"]):
        told.append(Line("loops", f"and {made['loop_count'] - len(made['loops']):,} more"))
    return told


def _trust(facts: Mapping[str, Any]) -> list[Line]:
    """Margins, the states that decide them, and what is certified."""
    margin, certified, bound = facts["margin"], facts["certified"], facts["value_error_bound"]
    labels, told = facts["labels"], []
    if facts["plan"]["reach"]:
        told.append(Line("margin", _margin(margin)))
    if certified["error"] != 0.0:  # None is infinite
        states, starts = percent(certified["states"]), percent(certified["starts"])
        errors = "errors of any size" if certified["error"] is None else f"{certified['error']:g}"
        text = f"with errors up to {errors}, {states} of the moves are proved optimal"
        told.append(Line("certified", f"{text}, and {starts} of the routes"))
    span, ratio = labels["largest"] - labels["least"], labels["per_graph_distance"]
    rewards = ratio is not None and ratio < 0.0
    if bound["largest"] is not None and bound["largest"] < span / 2 and not rewards:
        text = f"values are within {short(bound['largest'])} of the true cost-to-go"
        middle = f"half of them within {short(bound['median'])}"
        told.append(Line("bound", f"{text} ({middle}), if graph and labels are right"))
    return told


def _margin(margin: Mapping[str, Any]) -> str:
    """Say what errors the routes tolerate, and where they tolerate least."""
    least, median, weakest = margin["least"], margin["median"], margin["weakest"]
    if least is None and not weakest:
        return "there is no other move on any route, so errors of the values change none"
    if least is None:
        text = "some routes pass beside a state of unknown value, and tolerate no error"
    elif least >= TIE:
        text = f"every route tolerates errors of the values below {margin_text(least)}"
    elif least > -TIE:
        text = "some routes tolerate no error: another move looks as cheap"
    else:
        text = f"some routes take a move that looks {margin_text(-2.0 * least)} dearer than another"
    if median is not None and least is not None and median - least > TIE * max(1.0, abs(median)):
        text += f", the median route {_tolerates(median)}"
    return f"{text}; weakest at {', '.join(map(_weak, weakest[:_MOST_WEAK]))}"


def _tolerates(margin: float) -> str:
    """Say what one route tolerates."""
    return (
        f"tolerates errors below {margin_text(margin)}" if margin >= TIE else "tolerates no error"
    )


def _weak(state: Mapping[str, Any]) -> str:
    margin = "unknown" if state["margin"] is None else margin_text(state["margin"])
    return f"{quoted(state['name'])} ({margin}, {number_of(state['routes'], 'routes')})"


def _route(route: Mapping[str, Any]) -> str:
    names = list(map(quoted, route["path"]))
    if route["cost"] is None:
        return f"{names[0]}: cannot reach the goal"
    if len(names) > 2 * _ROUTE_ENDS:
        names = [*names[:_ROUTE_ENDS], "…", *names[-_ROUTE_ENDS:]]
    text = f"{' → '.join(names)}: cost {route['cost']:g}, {number_of(route['steps'], 'steps')}"
    if route["outcome"] != "reached":
        return f"{text}; {route['outcome']}!"
    if route["weakest"] is None:  # no choice anywhere
        return text
    tolerates = "tolerates no error" if route["margin"] is None else _tolerates(route["margin"])
    return f"{text}; {tolerates}, weakest at {quoted(route['weakest'])}"
