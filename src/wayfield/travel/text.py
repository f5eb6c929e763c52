"""Text of a mend: one sentence on the findings, and the lines of a summary.

Every number comes from the facts that `findings` computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import Message, Option
from ..words import PROOF, against_text, number_of, percent, quoted, seconds_text, short

PLAIN = "plain"
"""Name of the graph as it is, among candidates."""

SAME = 0.05
"""Costs within this share of the given one are drawn as unchanged."""
MOST_NAMED = 3
"""Largest number of edges of a kind that the sentence names."""


def finding(facts: Mapping[str, Any]) -> str:
    """Return one sentence: what is named, or what a method that was asked for has changed."""
    word, against = data_word(facts), facts["against"]
    if facts["findings"] is None:
        if not facts["changed"]:
            return f"{facts['method']} changes nothing by the {word}"
        shown = facts["changes"][:MOST_NAMED]
        listed = ", ".join(f"{each['called']} ({each['added']:+.3g})" for each in shown)
        more = " …" if facts["changed"] > len(shown) else ""
        some = number_of(facts["changed"], "edges")
        return f"{facts['method']} changes the cost of {some}: {listed}{more}"
    if facts["units"]:
        return "nothing yet: are costs and lengths in the same unit?"
    parts, named = [], [each for each in facts["findings"] if each["named"]]
    for evidence in ("positions", "costs"):
        edges = [each for each in named if each["kind"] == "false edge"]
        edges = [each for each in edges if each["evidence"] == evidence]
        if edges:
            called = ", ".join(_likely(each["called"], each) for each in edges[:MOST_NAMED])
            more = " …" if len(edges) > MOST_NAMED else ""
            verb, its = ("edge does", "its") if len(edges) == 1 else ("edges do", "their")
            why = f"the positions of {its} ends" if evidence == "positions" else f"the {word}"
            parts.append(f"{len(edges):,} {verb} not exist, by {why}: {called}{more}")
    for kind in ("slow place", "quick place"):
        parts += [_place(each) for each in named if each["kind"] == kind]
    for each in named:
        if each["kind"] == "wait":
            where = "every crossing" + (" of four streets" if each["streets"] == 4 else "")
            parts.append(f"{where} costs about {short(each['amount'])} more than the graph says")
    for each in named:
        if each["kind"] == "factor":
            parts.append(f"overall, costs are {each['amount']:.3g} times what the graph says")
    if parts:
        return "; ".join(parts)
    proofs = against["too_optimistic"] + against["too_pessimistic"]
    if not proofs:
        return f"the {word} do not contradict the graph: Dijkstra is as good"
    if facts["varies"]:
        return f"costs differ from the graph from place to place, but the {word} do not tell where"
    return f"the {word} contradict the graph, but do not tell where: noise would look the same"


def suspected(facts: Mapping[str, Any]) -> list[str | Message]:
    """Return what is suspected, with its probability, and what is missing to tell."""
    rows: list[str | Message] = []
    for each in facts["findings"] or ():
        if each["named"] or each["kind"] == "unit":
            continue
        what = _place(each) if each["kind"] != "false edge" else None
        what = what or _likely(f"{each['called']} may not exist", each)
        rows.append(f"{what}: {each['settles']} would tell")
    unsure = bool(rows) or facts["varies"] or facts["against"]["too_optimistic"]
    if facts["findings"] is not None and unsure and not facts["placed"] and not facts["units"]:
        given = Option("positions", "FILE", python="Graph.from_edges(…, positions=)")
        why = ": with them false edges can be told from slow streets"
        rows.append(Message("give ", given, why))
    return rows


def _likely(what: str, finding: Mapping[str, Any]) -> str:
    return f"{what} ({percent(round(finding['probability'], 2))})"


def _place(place: Mapping[str, Any]) -> str:
    """Return a place and how costly it is."""
    times = f"{place['amount']:.2g} times what the graph says"
    edges = f"{number_of(place['edges'], 'edges')} around {quoted(place['around'])}"
    may = "cost about" if place["named"] else "may cost about"
    return _likely(f"{edges} {may} {times}", place)


def data_word(facts: Mapping[str, Any]) -> str:
    """Return the word for the data: labels or trips."""
    return "labels" if "labels" in facts else "trips"


def lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the facts as lines: a word for the margin, and a text."""
    word = data_word(facts)
    graph, data, fit = facts["graph"], facts[word], facts["misfit"]
    edges = number_of(facts["edges"], "edges")
    edges += f" ({number_of(graph['arcs'], 'arcs')}, directed)" if facts["directed"] else ""
    span = f"lengths {short(graph['least_length'])} to {short(graph['largest_length'])}"
    rows = [("graph", f"{number_of(graph['vertices'], 'vertices', 'vertex')}, {edges}, {span}")]

    low, high = short(data["least"]), short(data["largest"])
    known = f", within {short(data['error'])}" if data["error"] else ""
    known += ", upper bounds" if data["upper_bounds"] else ""
    if word == "labels":
        share = percent(data["count"] / graph["vertices"])
        text = f"{data['count']:,} ({share} of the vertices), values {low} to {high}{known}"
        rows.append((word, f"{text}; goal {quoted(facts['goal'])}"))
    else:
        text = f"{number_of(data['count'], word)} to {number_of(data['ends'], 'ends')}"
        costs = f"cost {low}" if low == high else f"costs {low} to {high}"
        merged = f"; {number_of(data['merged'], 'rows')} repeated a trip" if data["merged"] else ""
        rows.append((word, f"{text}, {costs}{known}{merged}"))

    none = f"none of the {number_of(data['count'], word)} contradicts the graph"
    against = against_text(facts["against"], data["count"], word)
    rows.append(("against", f"{against}; {PROOF}" if against else none))
    if facts["rounding"]:
        digits, count = facts["rounding"]["decimals"], facts["rounding"]["explains"]
        costs = f"have {number_of(digits, 'decimals')}" if digits else "are whole numbers"
        why = f"rounding alone would explain {count:,} of these contradictions"
        error = Option("error", facts["rounding"]["error"])
        text = Message(f"the costs {costs}, and {why}: if they are rounded, pass ", error)
        rows.append(("rounding", text))
    if facts["units"]:
        rows.append(("units", facts["units"]))

    chosen = ""
    if facts["chosen"]:
        taken = f"“{facts['chosen']}”"
        chosen = f"{'the graph as it is' if facts['chosen'] == PLAIN else taken} chosen; "
    made = f"{facts['method']}: {chosen}{facts['status']}; {seconds_text(facts['seconds'])}"
    rows.append(("method", made))
    if facts["scores"]:
        scores = dict(facts["scores"])
        parts = [f"{short(scores.pop(PLAIN)['error'])} by the graph as it is"]
        for name, score in scores.items():
            gain = ""
            if score["spread"]:
                better = "better" if score["gain"] >= 0 else "worse"
                gain = f" ({short(abs(score['gain']))} ± {short(score['spread'])} {better})"
            parts.append(f"{short(score['error'])} by “{name}”{gain}")
        text = f"{word} left out in turn are predicted within {'; '.join(parts)}"
        rows.append(("left out", text))
    plain = f"{word} are off by {short(fit['believed'])} on average on the graph as it is"
    rows.append(("fit", f"{plain}, by {short(fit['mended'])} on the mended one"))
    rows.append(("found", facts["finding"]))
    for text in suspected(facts):
        rows.append(("missing" if isinstance(text, Message) else "suspected", text))
    return rows
