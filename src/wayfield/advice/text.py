"""Text of an answer: plain data, lines that a person reads in five seconds, and advice.

`facts` collects everything from the arrays of an answer into one dictionary. The summary, the
command line and JSON are all made from it. `lines` and `advise` are tables: when, and what to say.

Advice is a `Message` in which `Option` values stand for what to do: a setting to change, a function
or command to call. Python, the command line and the explorer's page spell them each in their way.

**Units.** If the ratios of costs to graph distances are far from 1, the units may differ. Then
nothing on the graph can be concluded from the costs, and the user is asked. The question offers a
round ratio of common units if one is near.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..certificates.contradiction import contradictions
from ..checks import plain
from ..errors import Message, Option
from ..fields import AMLE, describe
from ..graphs.labels import Labels
from ..graphs.names import Caller, Naming
from ..plans.planning import Outcome
from ..plans.sinks import TrimmedLabels
from ..typing import FloatArray
from ..words import (
    PROOF,
    TIE,
    against_text,
    margin_text,
    number_of,
    percent,
    quoted,
    seconds_text,
    short,
)

if TYPE_CHECKING:
    from .solving import Answer


MOST_NAMED = 5
"""Number of states of one kind that are named; the arrays hold all of them."""
MOST_WEAK = 3
"""Number of states named in the summary as those that decide margins."""
ROUTE_ENDS = 6
"""Number of states named at each end of a long route."""

TRIFLE = 0.02
"""Contradictions below this share of the largest label are ignored."""
MANY_BEHIND = 0.05
"""Share of states behind labels above which another method is recommended."""

DISTANCE = "graph distance"
"""Name of the field if there is no method."""
FLAT = 1e-12
"""Largest difference of equal values, as a share of the largest label."""

USE_AMLE = Option("method", "amle", python="AMLE()")
USE_COST = Option("method", "amle-cost", python='AMLE(fill="cost")')
LIFT = Option("lift", True)
DROP = Option("drop_false_sinks", True, python="drop_false_sinks")
ROUTE = Option("start", "VERTEX", python="answer.route(start)")
TIME_LIMIT = Option("time_limit")
COMPARE = Option("compare", within="command", python="compare(graph, labels, goal)")
TRAVEL = Option("travel trips", within="command", python="wayfield.travel")


# ------------------------------------------------------------------ plain data


def facts(
    answer: Answer,
    names: Naming | None,
    starts: Iterable[int],
    held_out: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the findings as data that JSON can hold; see `Answer.facts`.

    `held_out` holds the facts of `CrossValidation` for the same field, if computed.
    """
    call = Caller(names, answer.graph.num_vertices)
    graph, labels, moves, certificate = answer.graph, answer.labels, answer.plan, answer.certificate

    def first(states: NDArray[Any], most: int = MOST_NAMED) -> list[str]:
        return [call(x) for x in states[:most]]

    # the labels
    sinks, behind, missed = answer.false_sinks, behind_labels(answer), answer.field.missed
    dropped = labels.dropped if isinstance(labels, TrimmedLabels) else labels.vertices[:0]
    label_at = dict(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    above, away = above_goal(labels, answer.goal, answer.graph_distance)
    # the plan: loops that catch starts with a path to the goal, those that catch most first
    lost, raised = np.flatnonzero(~moves.reachable), answer.raised_states
    caught = np.bincount(moves.basin[moves.basin >= 0], minlength=len(moves.cycles))
    fatal = np.flatnonzero(moves.reachable[moves.cycle_members[moves.cycle_offsets[:-1]]])
    touching = moves.touches(labels)
    loops = [
        {
            "states": first(moves.cycles[i], 2 * MOST_NAMED),
            "size": moves.cycles[i].size,
            "catches": int(caught[i]),
            "touches_a_label": bool(touching[i]),
        }
        for i in fatal[np.argsort(-caught[fatal], kind="stable")[:MOST_NAMED]]
    ]
    ups = [{"name": call(x), "by": answer.raised[x]} for x in raised[:MOST_NAMED]]
    most = answer.raised[raised].max(initial=0.0)
    # possible error of the values if labels and graph are right; a lifted field has no bound
    largest = median = None
    if answer.lifted is None or answer.lifted.unchanged:
        bound: FloatArray = certificate.error_bound[moves.reachable]
        largest, median = bound.max(), middle(bound)
    method = describe(answer.field.method)
    if answer.field.prior is not None and len(labels) == 1:  # distances that nothing corrects
        same = answer.field.values == answer.graph_distance
        method = DISTANCE if same[moves.reachable].all() else method
    found: dict[str, Any] = plain(
        {
            "graph": {
                "vertices": graph.num_vertices,
                "edges": graph.num_edges,
                "directed": graph.directed,
                "least_length": graph.lengths.min(initial=np.inf),
                "largest_length": graph.lengths.max(initial=-np.inf),
                "components": int(graph.components.max(initial=-1)) + 1,
                "strong_components": int(graph.strong_components.max(initial=-1)) + 1,
                "cannot_reach_goal": lost.size,
                "cannot_reach_examples": first(lost),
                "without_value": int((~np.isfinite(answer.field.values)).sum()),
                "behind_labels": behind.size,
                "behind_labels_examples": first(behind),
            },
            "labels": {
                "count": len(labels),
                "least": labels.values.min(),
                "largest": labels.values.max(),
                "false_sink_count": sinks.size,
                "false_sinks": [
                    {"name": call(x), "value": label_at[x]} for x in sinks[:MOST_NAMED].tolist()
                ],
                "dropped_count": dropped.size,
                "dropped": first(dropped),
                "per_graph_distance": median_ratio(above, away),
                "missed_count": int(np.count_nonzero(missed)),
                "missed_most": np.abs(missed).max(initial=0.0),
            },
            "goal": call(answer.goal),
            "method": method,
            "status": str(answer.field.status),
            "converged": answer.field.status.good,
            "seconds": answer.field.seconds,
            "bracket_width": answer.field.width,
            "residual": answer.field.residual,
            "contradictions": contradictions(graph, labels, answer.goal).against,
            "plan": {
                "can_reach": moves.num_able,
                "reach": moves.num_arrived,
                "success": moves.success,
                "dead_ends": int((answer.outcomes == Outcome.DEAD_END).sum()),
                "loop_count": fatal.size,
                "loops": loops,
                "raised": answer.lifted and {"count": raised.size, "most": most, "states": ups},
            },
            "margin": _margin_facts(answer, call),
            "certified": {
                "error": np.max(certificate.error),
                "states": certificate.certified.mean(),
                "starts": certificate.start_certified.mean(),
            },
            "proved": {
                "moves": int(np.delete(certificate.proved, answer.goal).sum()),
                "routes": int(np.delete(certificate.route_proved, answer.goal).sum()),
                "refuted": certificate.intervals.refuted,
            },
            "value_error_bound": {"largest": largest, "median": median},
            "routes": [_route_facts(answer, call, start) for start in starts],
            "held_out": held_out,
        }
    )
    found["units"] = unit_question(above, away)
    return found | {"advice": advise(answer, found)}


def behind_labels(answer: Answer) -> NDArray[np.int64]:
    """Return the (k,) states behind labels, which have the value of the label.

    Without the labels they would be cut off from the rest: all labels around their part of the
    graph have one value, and most methods use nothing else. `AMLE` adds the cost of the path to
    the label if it fills by cost.
    """
    graph, labels = answer.graph, answer.labels
    free = ~labels.mask(graph)
    tails, heads, n = graph.tails, graph.indices, graph.num_vertices
    # components of the graph without its labels
    inside = free[tails] & free[heads]
    ones = np.ones(inside.sum())
    apart = sparse.csr_array((ones, (tails[inside], heads[inside])), shape=(n, n))
    part = sparse.csgraph.connected_components(apart, directed=False)[1]
    # the least and the largest label adjacent to each component; +inf and -inf if there is none
    values = np.zeros(n)
    values[labels.vertices] = labels.values
    least, largest = np.full(n, np.inf), np.full(n, -np.inf)
    for x, y in ((tails, heads), (heads, tails)):
        beside = free[x] & ~free[y]
        np.minimum.at(least, part[x[beside]], values[y[beside]])
        np.maximum.at(largest, part[x[beside]], values[y[beside]])
    level = np.where(least == largest, least, np.nan)[part]
    same = np.abs(answer.field.values - level) <= FLAT * np.abs(labels.values).max()
    return np.flatnonzero(free & same)


def route_margins(answer: Answer) -> FloatArray:
    """Return the (k,) margins of the routes that arrive, without the goal's own."""
    margins: FloatArray = answer.certificate.start_margin[_walked(answer)]
    return margins


def _walked(answer: Answer) -> NDArray[np.int64]:
    """Return the (k,) starts that arrive, without the goal."""
    arrived = np.flatnonzero(answer.plan.reached)
    starts: NDArray[np.int64] = arrived[arrived != answer.goal]
    return starts


def middle(values: FloatArray) -> float:
    """Return the lower median; NaN if there are no values."""
    return float(np.quantile(values, 0.5, method="lower")) if values.size else np.nan


def _margin_facts(answer: Answer, call: Caller) -> dict[str, Any]:
    """Return the least and median margin of the routes, and the states that decide the least."""
    margins, certificate = route_margins(answer), answer.certificate
    counts = np.bincount(certificate.weakest[_walked(answer)], minlength=answer.values.size)
    states = np.flatnonzero(counts)
    states = states[certificate.margin[states] < np.inf]
    rounded = np.round(certificate.margin[states], 9)  # differences of rounding do not count
    weakest = states[np.lexsort((states, -counts[states], rounded))[:MOST_NAMED]]
    return {
        "least": margins.min(initial=np.inf),
        "median": middle(margins),
        "weakest": [
            {"name": call(x), "margin": certificate.margin[x], "routes": int(counts[x])}
            for x in weakest
        ],
    }


def _route_facts(answer: Answer, call: Caller, start: int) -> dict[str, Any]:
    walk, certificate = answer.route(start), answer.certificate
    begun = walk.outcome is not Outcome.UNREACHABLE
    margin, weakest = certificate.start_margin[start], certificate.weakest[start]
    return {
        "start": call(start),
        "outcome": str(walk.outcome),
        "steps": walk.path.size - 1 if begun else None,
        "cost": walk.cost if begun else None,
        "margin": margin,
        "weakest": call(weakest) if begun and margin < np.inf else None,
        "path": [call(x) for x in walk.path],
    }


# ------------------------------------------------------------------ lines


def lines(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the facts of an answer as lines: a heading word, and a text.

    States that cannot reach the goal come first.
    """
    graph, labels, made = facts["graph"], facts["labels"], facts["plan"]
    n, count, units = graph["vertices"], labels["count"], facts["units"]
    edges, lost, behind = graph["edges"], graph["cannot_reach_goal"], graph["behind_labels"]
    dropped, sinks, missed = (labels[f"{key}_count"] for key in ("dropped", "false_sink", "missed"))
    loops, raised = made["loop_count"], made["raised"] or {"count": 0, "states": []}
    certified, proved, held_out = facts["certified"], facts["proved"], facts["held_out"] or {}

    # clauses
    edge_count = number_of(edges, "arcs" if graph["directed"] else "edges")
    edge_count += " (directed)" if graph["directed"] else ""
    low, high = graph["least_length"], graph["largest_length"]
    lengths = "no lengths" if low is None else f"lengths {low:g} to {high:g}"
    if low is not None and low == high:
        lengths = f"{'all ' if edges > 1 else ''}of length {low:g}"
    kind = "strong_components" if graph["directed"] else "components"
    pieces = f"{graph[kind]:,} {kind.replace('_', ' ')}" if graph[kind] > 1 else "in one piece"
    least, largest = (f"{labels[end] + 0.0:g}" for end in ("least", "largest"))  # -0 is 0
    values = f"values {least} to {largest}"
    if least == largest:
        values = f"{'all of ' if count > 1 else ''}value {least}"
    sunk = [f"{quoted(x['name'])} ({x['value'] + 0.0:g})" for x in labels["false_sinks"]]
    against = against_text(facts["contradictions"], count, "labels")
    field, width = facts["method"], facts["bracket_width"]
    if field != DISTANCE:
        solved = "no bound on how well its equation is solved"
        if width is not None:
            solved = f"its equation is solved to within {width:.1e}"
        field = f"{field}: {facts['status']}; {solved}"
    same = "states lie behind labels and have the same values"
    one = "state lies behind a label and has the same value"
    caught = made["can_reach"] - made["reach"] - made["dead_ends"]
    ends = f"; {caught:,} run into {number_of(loops, 'loops')}" if loops else ""
    ends += f"; {made['dead_ends']:,} at a dead end" if made["dead_ends"] else ""
    ups = [f"{quoted(x['name'])} by {short(x['by'])}" for x in raised["states"]]
    moves, routes = (number_of(proved[name], name) for name in ("moves", "routes"))
    error = certified["error"]  # None is infinite
    errors = "errors of any size" if error is None else f"errors up to {error:g}"

    # a row each: its word, when it is said, and what it says
    table: list[tuple[str, object, str]] = [
        ("lost", lost, f"{lost:,} of {number_of(n, 'states')} cannot reach the goal at all: "
            + _some(map(quoted, graph["cannot_reach_examples"]), lost)),
        ("graph", True, f"{number_of(n, 'vertices', 'vertex')}, {edge_count}, {lengths}; {pieces}"),
        ("labels", True, f"{count:,} ({percent(count / n)} of the vertices), {values}; "
            f"goal {quoted(facts['goal'])}"),
        ("dropped", dropped, f"{number_of(dropped, 'labels')}: "
            + _some(map(quoted, labels["dropped"]), dropped)),
        ("sinks", sinks, number_of(sinks, "labels are", "label is")
            + f" no higher than any neighbour, so walks can get stuck there: {_some(sunk, sinks)}"),
        ("units", units, units),
        ("against", against and not units, f"{against}; {PROOF}"),
        ("method", True, f"{field}; {seconds_text(facts['seconds'])}"),
        ("missed", missed, f"the field differs from {missed:,} of {count:,} labels, by up to "
            + short(labels["missed_most"])),
        ("flat", behind, f"{number_of(behind, same, one)}: "
            + _some(map(quoted, graph["behind_labels_examples"]), behind)),
        ("plan", True, f"{made['reach']:,} of {made['can_reach']:,} starts reach the goal "
            f"({percent(made['success'])}){ends}"),
        *(("loops", True, _loop(loop)) for loop in made["loops"]),
        ("loops", loops > len(made["loops"]), f"and {loops - len(made['loops']):,} more"),
        ("raised", ups, f"{number_of(raised['count'], 'values')}: {_some(ups, raised['count'])}"),
        # nothing is proved while the units may differ
        ("proved", proved["moves"] and not units, f"{moves} and {routes} are optimal, if labels "
            "are right, no edge is false and each costs what the graph says"),
        ("proved", proved["refuted"] and not (proved["moves"] or units),
            "no moves: labels and graph contradict each other"),
        ("margin", made["reach"], _margin(facts["margin"])),
        ("certified", error != 0.0, f"with {errors}, {percent(certified['states'])} of the moves "
            f"are proved optimal, and {percent(certified['starts'])} of the routes, if each edge "
            "costs what the graph says"),
        ("bound", *_bound(labels, facts["value_error_bound"])),
        ("held out", held_out, held_out.get("text", "")),
        *(("route", True, _route(route)) for route in facts["routes"]),
        ("advice", True, facts["advice"]),
    ]  # fmt: skip
    return [(word, text) for word, said, text in table if said]


def _some(names: Iterable[str], count: int) -> str:
    """Return a list of names out of `count`."""
    shown = list(names)
    return ", ".join(shown) + (" …" if count > len(shown) else "")


def _loop(loop: Mapping[str, Any]) -> str:
    """Return the states of a loop, and how many starts end there."""
    names = list(map(quoted, loop["states"]))
    names.append("…" if loop["size"] > len(names) else names[0])
    starts = number_of(loop["catches"], "starts end", "start ends")
    return f"{' → '.join(names)}, where {starts}"


def _bound(labels: Mapping[str, Any], bound: Mapping[str, Any]) -> tuple[bool, str]:
    """Return whether the bound on the error of the values is of use, and the bound."""
    largest, median, ratio = bound["largest"], bound["median"], labels["per_graph_distance"]
    rewards = ratio is not None and ratio < 0.0
    half = (labels["largest"] - labels["least"]) / 2
    if largest is None or largest >= half or rewards:
        return False, ""
    exact = FLAT * max(1.0, labels["largest"])
    text = "the field is the true cost-to-go"
    if largest > exact:
        at_half = f"within {short(median)}" if median > exact else "equal"
        text = f"the true cost-to-go is within {short(largest)} of the field"
        text += f" (at half of the states, {at_half})"
    return True, f"{text}, if graph and labels are right"


def _margin(margin: Mapping[str, Any]) -> str:
    """Return the errors that the routes tolerate, and where they tolerate least."""
    least, median, weakest = margin["least"], margin["median"], margin["weakest"]
    if least is None:
        if not weakest:
            return "no route has a choice of moves, so errors of the values change nothing"
        text = "some routes pass next to a state of unknown value, and tolerate no error"
    elif least >= TIE:
        text = f"every route tolerates errors of the values below {margin_text(least)}"
    elif least > -TIE:
        text = "some routes tolerate no error: another move looks as cheap"
    else:
        more = margin_text(-2.0 * least)
        text = f"some routes take a move that looks {more} more costly than another"
    if median is not None and least is not None and median - least > TIE * max(1.0, abs(median)):
        text += f", the median route {_tolerates(median)}"
    states = []
    for state in weakest[:MOST_WEAK]:
        known = "unknown" if state["margin"] is None else margin_text(state["margin"])
        states.append(f"{quoted(state['name'])} ({known}, {number_of(state['routes'], 'routes')})")
    return f"{text}; weakest at {', '.join(states)}"


def _tolerates(margin: float | None) -> str:
    """Return the error that one route tolerates."""
    if margin is None or margin < TIE:
        return "tolerates no error"
    return f"tolerates errors below {margin_text(margin)}"


def _route(route: Mapping[str, Any]) -> str:
    names = list(map(quoted, route["path"]))
    if route["cost"] is None:
        return f"{names[0]}: cannot reach the goal"
    if len(names) > 2 * ROUTE_ENDS:
        names = [*names[:ROUTE_ENDS], "…", *names[-ROUTE_ENDS:]]
    text = f"{' → '.join(names)}: cost {route['cost']:g}, {number_of(route['steps'], 'steps')}"
    if route["outcome"] != "reached":
        return f"{text}; {route['outcome']}!"
    if route["weakest"] is None:  # no choice anywhere
        return text
    return f"{text}; {_tolerates(route['margin'])}, weakest at {quoted(route['weakest'])}"


# ------------------------------------------------------------------ advice


def advise(answer: Answer, facts: Mapping[str, Any]) -> Message:
    """Return the most urgent advice: the first row of the table that holds."""
    exact, labels, made = isinstance(answer.field.method, AMLE), facts["labels"], facts["plan"]
    count, sinks = labels["count"], labels["false_sink_count"]
    behind, raised = facts["graph"]["behind_labels"], made["raised"] or {"count": 0, "states": []}
    known = answer.field.values[answer.plan.reachable]
    missed = f"the solver missed its guarantee ({answer.field.status})"
    arcs = ", and do the arcs point the right way?" if answer.graph.directed else "?"
    reason = "only the goal is labelled" if count == 1 else "the labels are all equal"
    them = "it" if sinks == 1 else "them"
    where = _some((quoted(state["name"]) for state in raised["states"]), raised["count"])
    # what to plan on, and what is wrong if labels contradict the graph noticeably
    held_out, against = facts["held_out"], facts["contradictions"]
    use: list[str | Option] = []
    if held_out and not held_out["labels_help"]:
        worse = "this field does not predict labels left out clearly better"
        use = [f"Use the {DISTANCE}: {worse}. ", COMPARE, " tries other fields."]
    excess = [against["by_up_to"], against["over_by_up_to"]]
    if None in excess or max(excess) > TRIFLE * np.abs(answer.labels.values).max():
        use = use or [COMPARE, " says what to use."]
        use += [" ", TRAVEL, " tests what is wrong with the graph."]
    then = [". ", *use] if use else []

    stuck, good = made["reach"] < made["can_reach"], facts["converged"]
    table: list[tuple[object, tuple[str | Option, ...]]] = [
        (exact and not good, (f"{missed}: the values may be right, but this is not proved",)),
        (not good, (f"{missed}: try ", USE_AMLE)),
        (not made["can_reach"], (f"no other state can reach the goal: is it the right one{arcs}",)),
        (answer.goal not in answer.labels.vertices,
            ("the goal has no label, so nothing leads there: label it",)),
        # one value wherever the goal can be reached from
        (known.size > 1 and np.ptp(known) == 0.0 and np.ptp(answer.labels.values) > 0.0,
            ("the method's field is constant, though the labels differ: try ", USE_AMLE)),
        (known.size > 1 and np.ptp(known) == 0.0,
            (f"{reason}, so the field is constant: label states with different values",)),
        ((labels["per_graph_distance"] or 0.0) < 0.0,
            ("labels decrease away from the goal: if they are rewards, negate them",)),
        (facts["units"], (facts["units"],)),
        (stuck and exact and sinks,
            (f"walks can get stuck at {number_of(sinks, 'labels')}: check {them}, drop {them} (",
             DROP, ") or lift the field (", LIFT, ")", *then)),
        (stuck and exact, ("walks get stuck on this field: lift it (", LIFT, ")", *then)),
        (stuck,
            ("walks get stuck on this field: try ", USE_AMLE, ", or lift it (", LIFT, ")", *then)),
        (raised["count"],
            (f"values were raised so that every walk arrives: check the labels around {where}",)),
        (use, tuple(use)),
        (behind >= max(1, MANY_BEHIND * answer.graph.num_vertices),
            (f"{number_of(behind, 'states lie', 'state lies')} behind labels: ", USE_COST,
             " adds the cost from there")),
        (facts["routes"] and count == 1,
            ("these are the graph's own shortest paths; with a few measured costs, ", TRAVEL,
             " tests whether the graph is wrong")),
        (not facts["routes"],
            ("every start with a path to the goal reaches it; ", ROUTE, " shows its route")),
        (True, (COMPARE, " says what to use: the labels, or the graph's own distances")),
    ]  # fmt: skip
    return Message(*next(said for holds, said in table if holds))


# ------------------------------------------------------------------ units

OTHERS = 0.1
"""Share of the ratios that may be on the other side."""
SAME_UNIT = (1.0 / 3.0, 3.0)
"""Ratios of costs to graph distances within this range are consistent with one unit."""
ROUND = (3.6, 60.0, 1000.0, 3600.0)
"""km/h and m/s, minutes and seconds, kilometres and metres, hours and seconds."""
NEAR = 1.5
"""A measured ratio within this factor of a round one may be that one."""


def unit_question(costs: FloatArray, distances: FloatArray) -> Message | None:
    """Return the question about units, or None if costs and distances are consistent with one.

    Another unit scales all ratios alike. So it is asked about only if nearly all of them are far
    from 1, on the same side: false edges and slow places change some ratios, but not the least.

    Examples
    --------
    >>> print(unit_question(np.array([59.0, 61.0]), np.array([1.0, 1.0])))
    labels are 59 times the graph's own distances: are both in the same unit? If not, multiply ...
    >>> unit_question(np.array([1.4, 2.0, 30.0, 30.0]), np.ones(4))
    >>> unit_question(np.zeros(4), np.ones(4))
    """
    ratios = costs / distances
    if not ratios.size:
        return None
    low, high = np.quantile(ratios, [OTHERS, 1.0 - OTHERS])
    if low <= SAME_UNIT[1] and not 0.0 <= high < SAME_UNIT[0]:
        return None
    ratio = median_ratio(costs, distances)
    if ratio <= 0.0:  # no unit makes such costs out of distances
        return None
    unit = round_unit(ratio)
    call = Option("length_unit", unit, python=f"multiply the lengths by {unit:.3g}")
    said = f"labels are {ratio:.3g} times the graph's own distances"
    return Message(f"{said}: are both in the same unit? If not, ", call)


def above_goal(labels: Labels, goal: int, distance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the usable labels above the goal's, and their distances to it."""
    at, own = usable(labels, distance), labels.values[labels.vertices == goal]
    base = own[0] if own.size else 0.0
    return labels.values[at] - base, distance[labels.vertices[at]]


def usable(labels: Labels, distance: FloatArray) -> NDArray[np.int64]:
    """Return the positions of the labels that can reach the goal, without the goal's own."""
    away = distance[labels.vertices]
    return np.flatnonzero(np.isfinite(away) & (away > 0.0))


def median_ratio(above: FloatArray, below: FloatArray) -> float:
    """Return the c that minimises Σ |above - c below|: the weighted median of the ratios.

    NaN if there are none.

    Examples
    --------
    >>> median_ratio(np.array([2.0, 4.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    2.0
    """
    if not above.size:
        return np.nan
    ratio = above / below
    order = np.argsort(ratio, kind="stable")
    weight = np.cumsum(below[order])  # long trips count more
    return float(ratio[order][np.searchsorted(weight, 0.5 * weight[-1])])


def round_unit(ratio: float) -> float:
    """Return the round ratio of units next to a measured one, or that itself if none is near.

    Examples
    --------
    >>> round_unit(59.0), round_unit(0.0003), round_unit(8.0)
    (60.0, 0.0002777777777777778, 8.0)
    """
    if ratio <= 0.0:
        return ratio
    ratios = [*ROUND, *(1.0 / unit for unit in ROUND)]
    nearest = min(ratios, key=lambda unit: abs(log(unit / ratio)))
    return nearest if abs(log(nearest / ratio)) < log(NEAR) else ratio
