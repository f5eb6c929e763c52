"""Text of a mend: one sentence on the findings, and the lines of a summary.

Every number comes from the facts that `findings` computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._text import number_of, percent, quoted, seconds_text, short
from ..errors import Message, Option

PLAIN = "plain"
"""Name of the graph as it is, among candidates."""

SAME = 0.05
"""Factors nearer to 1 than this are not mentioned."""
MOST_NAMED = 3
"""Largest number of edges of a kind that the sentence names."""
ROUTE_ENDS = 6
"""Number of states named at either end of a route."""


def finding(facts: Mapping[str, Any]) -> str:
    """Return one sentence on the findings: false edges, slow places, or nothing."""
    word, scores, against = data_word(facts), facts["scores"], facts["against"]
    proofs = against["too_optimistic"]
    if not facts["changed"]:
        if not (scores or proofs or against["too_pessimistic"]):
            return f"the {word} do not contradict the graph: Dijkstra is as good"
        if not scores:
            return f"{facts['method']} finds nothing to change by the {word}"
        if not any(score["error"] for score in scores.values()):
            return f"the {word} do not contradict the graph: Dijkstra is as good"
        vain = "nothing fitted to them predicts the others clearly better"
        if proofs:
            what = f"{proofs:,} of the {word} {'prove' if proofs > 1 else 'proves'}"
            return f"{what} that the graph is wrong, but not where: {vain}"
        return f"the {word} do not agree with the graph, but {vain}: Dijkstra is as good"
    found = []
    for key, what in (("false", "probably false"), ("one_way", "costly in one direction only")):
        edges = facts[key]
        if edges:
            named = (f"{each['called']} (+{short(each['added'])})" for each in edges[:MOST_NAMED])
            more = " …" if len(edges) > MOST_NAMED else ""
            are = "is" if len(edges) == 1 else "are"
            found.append(f"{number_of(len(edges), 'edges')} {are} {what}: {', '.join(named)}{more}")
    where = []
    for place in (*facts["slow"], *facts["quick"]):
        on_edge, around = f"on {place['first']['called']}", f"around {quoted(place['around'])}"
        where.append((place["times"], on_edge if place["edges"] == 1 else around))
    if abs(facts["factor"] - 1.0) > SAME:
        where.append((facts["factor"], "overall"))
    if where:
        (times, first), *others = where
        more = "".join(f", {times:.2g} times {each}" for times, each in others)
        found.append(f"edges cost {times:.2g} times what the graph says {first}{more}")
    if not found:
        verb = "costs" if facts["changed"] == 1 else "cost"
        number = number_of(facts["changed"], "edges")
        found.append(f"{number} {verb} a little more or less than the graph says")
    return "; ".join(found)


def data_word(facts: Mapping[str, Any]) -> str:
    """Return the word for the data: labels or trips."""
    return "labels" if "labels" in facts else "trips"


def against_text(against: Mapping[str, float], count: int, word: str) -> str:
    """Return how many costs contradict the graph, and by how much; empty if none does."""
    found = []
    for key, size, verbs in (
        ("too_optimistic", "by_up_to", ("exceeds", "exceed")),
        ("too_pessimistic", "over_by_up_to", ("is below", "are below")),
    ):
        if against[key]:
            who = f"{against[key]:,} of {number_of(count, word)} {verbs[against[key] > 1]}"
            found.append(f"{who} the graph's shortest paths, by up to {short(against[size])}")
    return "; ".join(found)


def lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the facts as lines: a word for the margin, and a text."""
    word = data_word(facts)
    graph, data, fit = facts["graph"], facts[word], facts["misfit"]
    edges = number_of(facts["edges"], "edges")
    edges += f" ({number_of(graph['arcs'], 'arcs')}, directed)" if facts["directed"] else ""
    span = f"lengths {short(graph['least_length'])} to {short(graph['largest_length'])}"
    rows = [("graph", f"{number_of(graph['vertices'], 'vertices', 'vertex')}, {edges}, {span}")]

    low, high = short(data["least"]), short(data["largest"])
    error = f", within {short(data['error'])}" if data["error"] else ""
    error += ", upper bounds" if data["upper_bounds"] else ""
    if word == "labels":
        share = percent(data["count"] / graph["vertices"])
        text = f"{data['count']:,} ({share} of the vertices), values {low} to {high}{error}"
        rows.append((word, f"{text}; goal {quoted(facts['goal'])}"))
    else:
        text = f"{number_of(data['count'], word)} to {number_of(data['ends'], 'ends')}"
        costs = f"cost {low}" if low == high else f"costs {low} to {high}"
        merged = f"; {number_of(data['merged'], 'rows')} repeated a trip" if data["merged"] else ""
        rows.append((word, f"{text}, {costs}{error}{merged}"))

    none = f"none of the {number_of(data['count'], word)} contradicts the graph"
    rows.append(("against", against_text(facts["against"], data["count"], word) or none))
    if facts["rounding"]:
        rows.append(("rounding", rounding_text(facts["rounding"])))
    if facts["units"]:
        rows.append(("units", facts["units"]))

    chosen = ""
    if facts["chosen"]:
        taken = f"“{facts['chosen']}”"
        chosen = f"{'the graph as it is' if facts['chosen'] == PLAIN else taken} chosen; "
    made = f"{facts['method']}: {chosen}{facts['status']}; {seconds_text(facts['seconds'])}"
    rows.append(("method", made))
    if facts["scores"]:
        rows.append(("left out", scores_text(facts["scores"], word)))
    plain = f"{word} are off by {short(fit['believed'])} on average on the graph as it is"
    rows.append(("fit", f"{plain}, by {short(fit['mended'])} on the mended one"))
    rows.append(("found", facts["finding"]))
    for route in facts["routes"]:
        names = list(map(quoted, route["path"]))
        if len(names) > 2 * ROUTE_ENDS:
            names = [*names[:ROUTE_ENDS], "…", *names[-ROUTE_ENDS:]]
        text = f"{quoted(route['start'])}: cannot reach the goal"
        if route["cost"] is not None:
            costs = f"cost {short(route['cost'])}, {short(route['believed'])} on the graph as it is"
            text = f"{' → '.join(names)}: {costs}"
        rows.append(("route", text))
    return rows


def rounding_text(rounding: Mapping[str, Any]) -> Message:
    """Return a remark on costs that look rounded, with the option to pass if they are."""
    digits, count = rounding["decimals"], rounding["explains"]
    costs = f"have {number_of(digits, 'decimals')}" if digits else "are whole numbers"
    why = f"rounding alone would explain {count:,} of these contradictions"
    error = Option("error", rounding["error"])
    return Message(f"the costs {costs}, and {why}: if they are rounded, pass ", error)


def units_text(factor: float, word: str) -> Message:
    """Return a question about units, given the ratio of costs to graph distances."""
    what = "labels" if word == "labels" else "the costs of the trips"
    text = f"{what} are {factor:.3g} times the graph's own distances"
    unit = Option("length_unit", factor, python=f"multiply the lengths by {factor:.3g}")
    return Message(f"{text}: are both in the same unit? If not, ", unit)


def scores_text(scores: Mapping[str, Any], word: str) -> str:
    """Return how well the candidates predicted held-out data."""
    parts = [f"{short(scores[PLAIN]['error'])} by the graph as it is"]
    for name, score in scores.items():
        if name == PLAIN:
            continue
        gain = ""
        if score["spread"]:
            better = "better" if score["gain"] >= 0 else "worse"
            gain = f" ({short(abs(score['gain']))} ± {short(score['spread'])} {better})"
        parts.append(f"{short(score['error'])} by “{name}”{gain}")
    return f"{word} left out in turn are predicted within {'; '.join(parts)}"
