"""The summary a person reads in five seconds, and the advice at its end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ._common import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Line = tuple[str, str]
"""A word for the margin, and what there is to say about it."""

_ROUTE_ENDS = 6
_TIE = 1e-9


def show(lines: Iterable[Line], console: Console) -> None:
    """Print the summary: wrapped beside its margin in a terminal, one line each elsewhere."""
    if not console.is_terminal:
        for word, text in lines:
            line = Text(f"{word:<9} {printable(text)}")
            console.print(line, soft_wrap=True, highlight=False)
        return
    table = Table.grid(padding=(0, 1))
    table.add_column(style="bold", no_wrap=True, min_width=9)
    table.add_column()
    for word, text in lines:
        table.add_row(word, Text(printable(text), style=_STYLES.get(word, "")))
    console.print(table, highlight=False)


_STYLES = {"lost": "yellow", "loops": "red", "advice": "cyan"}


def summary(facts: Mapping[str, Any]) -> list[Line]:
    """Turn the facts into lines; what cannot reach the goal at all comes first."""
    lines = [*_lost(facts["graph"]), ("graph", _graph(facts["graph"]))]
    lines += [("labels", _labels(facts)), ("method", _method(facts))]
    lines += [("plan", _plan(facts["plan"])), *_loops(facts["plan"])]
    lines += _trust(facts)
    lines += [("route", _route(route)) for route in facts["routes"]]
    if facts.get("not_written"):
        lines.append(("wrote", f"nothing: {facts['not_written']}"))
    if facts["files"]:
        lines.append(("wrote", "; ".join([", ".join(facts["files"]), *_lacking(facts)])))
    if facts.get("removed"):
        lines.append(("removed", f"{', '.join(facts['removed'])}, of an earlier run"))
    lines.append(("advice", facts["advice"]))
    return lines


def _lacking(facts: Mapping[str, Any]) -> list[str]:
    """Files that are missing among the others, and why."""
    files = {"no_picture": "no picture", "no_parquet": "no values.parquet"}
    return [f"{word}: {facts[key]}" for key, word in files.items() if facts.get(key)]


def quoted(name: str) -> str:
    """Return a name as it is if it is one word, else in quotation marks."""
    return name if re.fullmatch(r"[\w.:/+-]+", name) else f"“{name}”"


def advice(facts: Mapping[str, Any]) -> str:
    """Return one sentence on what to do next."""
    made, exact = facts["plan"], facts["method"].startswith("AMLE")
    if not facts["converged"]:
        return f"the solver missed its guarantee ({facts['status']}): try --method amle"
    if made["can_reach"] == 0:
        return "no other state can reach the goal: is it the right one, and the graph --directed?"
    if _says_nothing(facts):
        only = facts["labels"]["count"] == 1
        told = "only the goal is labelled" if only else "the labels are all equal"
        return f"{told}: the field says nothing about distance; label states whose values differ"
    if made["reach"] < made["can_reach"]:
        if not exact:
            return "walks get stuck on this field: try --method amle, or --repair to lift it"
        sinks = facts["labels"]["false_sinks"]
        if sinks:
            low = "1 label is lower than all around it" if sinks == 1 else f"{sinks} labels are"
            low += "" if sinks == 1 else " lower than all around them"
            return f"{low}, so walks end there: check it, or --repair the field"
        return "walks get stuck on this field: --repair lifts it until they arrive"
    if made["raised"] and made["raised"]["states"]:
        return "the field was lifted to make walks arrive: check the labels near the raised states"
    ratio = facts["labels"]["per_graph_distance"]
    if ratio is not None and not 0.5 <= ratio <= 2.0:
        return f"labels are {ratio:.2g} times the graph's own distances: are both in the same unit?"
    if not facts["routes"]:
        return "all who can arrive do; name a --start to see its route"
    return "if the graph's lengths are right, `wayfield compare` tells whether the labels pay"


def _says_nothing(facts: Mapping[str, Any]) -> bool:
    """Whether all labels are equal, unless there is one and the field rises by costs from it."""
    labels = facts["labels"]
    rises = labels["count"] == 1 and "fill='cost'" in facts["method"]
    return bool(labels["least"] == labels["largest"]) and not rises


def percent(share: float) -> str:
    """Percentage to three digits; 100 % only where it is all of them."""
    text = f"{100 * share:.3g}"
    if text == "100" and share < 1.0:
        text = f"{int(1e4 * share) / 1e2:g}"
    return f"{text} %"


def margin_text(margin: float | None) -> str:
    """Write a margin: infinite where there is no choice, 0 where rounding alone decides."""
    if margin is None:
        return "∞"
    return "0" if abs(margin) < _TIE else f"{margin:.3g}"


def _lost(graph: Mapping[str, Any]) -> list[Line]:
    lost = graph["cannot_reach_goal"]
    if not lost:
        return []
    names = ", ".join(map(quoted, graph["cannot_reach_examples"]))
    more = " …" if lost > len(graph["cannot_reach_examples"]) else ""
    count = f"{lost:,} of {graph['vertices']:,} states cannot reach the goal at all"
    return [("lost", f"{count}: {names}{more}")]


def _graph(graph: Mapping[str, Any]) -> str:
    edges = _count(graph["edges"], "arcs" if graph["directed"] else "edges")
    edges += " (directed)" if graph["directed"] else ""
    low, high = graph["least_length"], graph["largest_length"]
    span = "no lengths" if low is None else f"lengths {low:g} to {high:g}"
    if low is not None and low == high:
        span = f"{'all ' if graph['edges'] > 1 else ''}of length {low:g}"
    pieces = "strong_components" if graph["directed"] else "components"
    parts = f"{graph[pieces]:,} {pieces.replace('_', ' ')}" if graph[pieces] > 1 else "in one piece"
    vertices = _count(graph["vertices"], "vertices", "vertex")
    return f"{vertices}, {edges}, {span}; {parts}"


def _labels(facts: Mapping[str, Any]) -> str:
    labels, n = facts["labels"], facts["graph"]["vertices"]
    share = percent(labels["count"] / n)
    low, high = labels["least"], labels["largest"]
    span = f"value {low:g}" if low == high else f"values {low:g} to {high:g}"
    span = f"all of {span}" if low == high and labels["count"] > 1 else span
    return f"{labels['count']:,} ({share} of the vertices), {span}; goal {quoted(facts['goal'])}"


def _method(facts: Mapping[str, Any]) -> str:
    width = facts["bracket_width"]
    bracket = "no bracket" if width is None else f"exact values known to within {width:.1e}"
    return f"{facts['method']}: {facts['status']}; {bracket}; {facts['seconds']:.2g} s"


def _plan(made: Mapping[str, Any]) -> str:
    able, reach = made["can_reach"], made["reach"]
    text = f"{reach:,} of {able:,} starts that can reach the goal do ({percent(made['success'])})"
    if made["loop_count"]:
        text += f"; {_count(made['loop_count'], 'loops')}"
    if made["dead_ends"]:
        text += f"; {made['dead_ends']:,} end at a dead end"
    if made["raised"] and made["raised"]["states"]:
        raised = made["raised"]
        text += f"; {_count(raised['states'], 'values')} raised by at most {raised['most']:.3g}"
    return text


def _loops(made: Mapping[str, Any]) -> list[Line]:
    lines = []
    for loop in made["loops"]:
        path = " → ".join(map(quoted, loop["states"]))
        path += " → …" if loop["size"] > len(loop["states"]) else f" → {quoted(loop['states'][0])}"
        lines.append(("loops", f"{path}, where {_count(loop['catches'], 'starts')} end"))
    if made["loop_count"] > len(made["loops"]):
        lines.append(("loops", f"and {made['loop_count'] - len(made['loops']):,} more"))
    return lines


def _trust(facts: Mapping[str, Any]) -> list[Line]:
    """Margins, the states that decide them, and what is certified."""
    margin, certified, bound = facts["margin"], facts["certified"], facts["value_error_bound"]
    lines = []
    if facts["plan"]["reach"]:
        lines.append(("margin", _margin(margin)))
    if margin["weakest"]:
        lines.append(("weakest", "; ".join(map(_weak, margin["weakest"]))))
    if certified["error"]:
        states, starts = percent(certified["states"]), percent(certified["starts"])
        text = f"with errors up to {certified['error']:g}, {states} of moves are proved optimal"
        lines.append(("certified", f"{text}, and {starts} of routes"))
    span = facts["labels"]["largest"] - facts["labels"]["least"]
    if bound["largest"] is not None and bound["largest"] < span / 2:  # else it says little
        text = f"values are within {bound['largest']:.3g} of the true cost-to-go"
        middle = f"half of them within {bound['median']:.3g}"
        lines.append(("bound", f"{text} ({middle}), if graph and labels are right"))
    return lines


def _margin(margin: Mapping[str, Any]) -> str:
    least, middle = margin["least"], f"{margin_text(margin['median'])} for the median route"
    if least is None:
        return "∞: nowhere on the routes is there another move"
    if least >= _TIE:
        return f"{margin_text(least)}: no errors below that change a route ({middle})"
    return f"none on some routes, where another move looks as cheap ({middle})"


def _weak(state: Mapping[str, Any]) -> str:
    margin = margin_text(state["margin"])
    return f"{quoted(state['name'])} {margin} ({_count(state['routes'], 'routes')})"


def _route(route: Mapping[str, Any]) -> str:
    names = list(map(quoted, route["path"]))
    if route["cost"] is None:
        return f"{names[0]}: cannot reach the goal"
    if len(names) > 2 * _ROUTE_ENDS:
        names = [*names[:_ROUTE_ENDS], "…", *names[-_ROUTE_ENDS:]]
    steps = _count(route["steps"], "steps")
    end = "" if route["outcome"] == "reached" else f"; {route['outcome']}!"
    return f"{' → '.join(names)}: cost {route['cost']:g}, {steps}{end}"


def _count(number: int, things: str, one: str = "") -> str:
    return f"1 {one or things.removesuffix('s')}" if number == 1 else f"{number:,} {things}"
