"""One sentence on what to do next, chosen from what was found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from .._text import listed, number_of, short
from ..extension import AMLE
from ..mending import Contradictions

if TYPE_CHECKING:
    from .answer import Answer

SAME_UNIT = (0.5, 2.0)
"""Labels over the graph's own distances: between these nothing speaks against one unit."""

TRIFLE = 0.02
"""Contradictions below this share of the largest label are no reason to mend a graph."""

MANY_BEHIND = 0.05
"""Share of states behind labels from which on it is worth another method."""

IN_PYTHON = {
    "amle": "AMLE()",
    "cost": 'AMLE(fill="cost")',
    "lift": "lift=True",
    "drop": "drop_false_sinks",
    "route": "answer.route(start)",
    "compare": "compare(graph, labels, goal)",
    "mend": "mend(graph, labels, goal)",
    "unit": "multiply the lengths by",
    "limit": "a larger time_limit",
}
"""What the advice recommends, as a Python user calls it; the command line has words of its own."""


def advise(answer: Answer, facts: Mapping[str, Any], calls: Mapping[str, str]) -> str:
    """Return the most urgent advice. `calls` says how the reader calls what is recommended."""
    exact, labels, made = isinstance(answer.field.method, AMLE), facts["labels"], facts["plan"]
    if not answer.field.status.good:
        missed = f"the solver missed its guarantee ({answer.field.status})"
        if exact:
            return f"{missed}: the values may be right, but nothing proves it"
        return f"{missed}: try {calls['amle']}"
    if made["can_reach"] == 0:
        arcs = ", and do the arcs point the right way?" if answer.graph.directed else "?"
        return f"no other state can reach the goal: is it the right one{arcs}"
    if answer.goal not in answer.labels.vertices:
        return "the goal has no label, so no value says where to descend to: label it"
    if _is_flat(answer):
        told = "only the goal is labelled" if labels["count"] == 1 else "the labels are all equal"
        return f"{told}: the field says nothing about distance; label states whose values differ"
    ratio = answer.distance_ratio
    if ratio < 0.0:
        return "labels fall away from the goal: are these rewards? Then negate them"
    proof = "" if answer.mended else contradiction_remark(answer.contradictions, calls)
    if made["reach"] < made["can_reach"]:
        stuck = _when_stuck(labels, exact, calls)
        return f"{stuck}; {proof}" if proof and not differ_in_unit(ratio) else stuck
    if made["raised"] and made["raised"]["count"]:
        where = listed(made["raised"]["states"], made["raised"]["count"])
        return f"values were raised so that every walk arrives: check the labels around {where}"
    if differ_in_unit(ratio):
        return unit_remark(ratio, calls)
    if proof:
        return proof
    behind = facts["graph"]["behind_labels"]
    if behind >= MANY_BEHIND * facts["graph"]["vertices"]:
        states = "states lie" if behind > 1 else "state lies"
        return f"{behind:,} {states} behind labels: {calls['cost']} adds the way from there"
    if facts["routes"] and labels["count"] == 1:
        known = "these are the graph's own shortest paths"
        return f"{known}; with a few measured costs, {calls['mend']} tells whether it is wrong"
    if not facts["routes"]:
        return f"every start that can reach the goal does; {calls['route']} shows its route"
    return f"{calls['compare']} tells whether the labels do better than the graph's own distances"


def contradiction_remark(found: Contradictions, calls: Mapping[str, str]) -> str:
    """Recommend to mend the graph if labels contradict it by more than a trifle; else empty."""
    kind, excess = "optimistic", found.optimistic.excess
    if found.pessimistic.excess.max(initial=0.0) > excess.max(initial=0.0):
        kind, excess = "pessimistic", found.pessimistic.excess
    if excess.max(initial=0.0) <= TRIFLE * found.largest:
        return ""
    prove = "proves" if excess.size == 1 else "prove"
    who = f"{excess.size:,} of {number_of(found.num_labels, 'labels')} {prove}"
    by = f"the graph too {kind}, by up to {short(excess.max())}"
    return f"{who} {by}: {calls['mend']} finds where, and mends it"


def unit_remark(
    factor: float, calls: Mapping[str, str], what: str = "labels", unit: float = 1.0
) -> str:
    """Ask about units, given costs over the graph's own distances.

    `unit` is what the lengths have been multiplied by already.
    """
    told = f"{what} are {factor:.3g} times the graph's own distances"
    return f"{told}: are both in the same unit? If not, {calls['unit']} {unit * factor:.3g}"


def differ_in_unit(factor: float) -> bool:
    """Whether costs over the graph's own distances are far enough from 1 to ask about units."""
    low, high = SAME_UNIT
    return 0.0 <= factor < low or factor > high


def _when_stuck(labels: Mapping[str, Any], exact: bool, calls: Mapping[str, str]) -> str:
    if not exact:
        return f"walks get stuck on this field: try {calls['amle']}, or lift it ({calls['lift']})"
    count = labels["false_sink_count"]
    if not count:
        return f"walks get stuck on this field: lift it ({calls['lift']})"
    them, labels_there = "it" if count == 1 else "them", number_of(count, "labels")
    return (
        f"there is no way down from {labels_there}, so walks end there: check {them}, "
        f"drop {them} ({calls['drop']}) or lift the field ({calls['lift']})"
    )


def _is_flat(answer: Answer) -> bool:
    """Whether the field is one value wherever the goal can be reached from."""
    known = answer.field.values[answer.plan.reachable]
    return bool(known.size > 1 and np.ptp(known) == 0.0)
