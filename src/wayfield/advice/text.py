"""Text of an answer: plain data, lines that a person reads in five seconds, and advice.

`facts` collects, `lines` and `advise` render. Everything comes from the arrays of an answer.

Advice is a `Message` in which `Option` values stand for what to do: a setting to change, a function
or command to call. Python, the command line and the explorer's page spell them each in their way.

**Units.** If the ratios of costs to graph distances are far from 1, the units may differ. Then
nothing on the graph can be concluded from the costs, and the user is asked. The question offers a
round ratio of common units if one is near.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..checks import plain
from ..errors import Message, Option
from ..fields import AMLE
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
    from ..typing import FloatArray
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


def facts(answer: Answer, names: Naming | None, starts: Iterable[int]) -> dict[str, Any]:
    """Return the findings as data that JSON can hold; see `Answer.facts`."""
    call = Caller(names, answer.graph.num_vertices)
    graph, labels, moves, certificate = answer.graph, answer.labels, answer.plan, answer.certificate
    sinks, behind = answer.false_sinks, answer.behind_labels
    lost = np.flatnonzero(~moves.reachable)
    dropped = labels.dropped if isinstance(labels, TrimmedLabels) else labels.vertices[:0]
    label_at = dict(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
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
                "cannot_reach_examples": [call(x) for x in lost[:MOST_NAMED]],
                "without_value": int((~np.isfinite(answer.field.values)).sum()),
                "behind_labels": behind.size,
                "behind_labels_examples": [call(x) for x in behind[:MOST_NAMED]],
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
                "dropped": [call(x) for x in dropped[:MOST_NAMED]],
                "per_graph_distance": answer.distance_ratio,
                "missed_count": int(np.count_nonzero(answer.field.missed)),
                "missed_most": np.abs(answer.field.missed).max(initial=0.0),
            },
            "goal": call(answer.goal),
            "method": answer.made_by,
            "status": str(answer.field.status),
            "converged": answer.field.status.good,
            "seconds": answer.field.seconds,
            "bracket_width": answer.field.width,
            "residual": answer.field.residual,
            "contradictions": answer.contradictions.against,
            "plan": _plan_facts(answer, call),
            "margin": _margin_facts(answer, call),
            "certified": {
                "error": np.max(certificate.error),
                "states": certificate.certified.mean(),
                "starts": certificate.start_certified.mean(),
            },
            "proved": {
                "moves": int(certificate.proved.sum()) - int(certificate.proved[answer.goal]),
                "routes": int(certificate.route_proved.sum())
                - int(certificate.route_proved[answer.goal]),
                "refuted": certificate.intervals.refuted,
            },
            "value_error_bound": {"largest": None, "median": None},
            "routes": [_route_facts(answer, call, start) for start in starts],
        }
    )
    if answer.lifted is None or answer.lifted.unchanged:
        # possible error of the values if labels and graph are right
        bound: FloatArray = certificate.error_bound[moves.reachable]
        median = np.quantile(bound, 0.5, method="lower")
        found["value_error_bound"] = plain({"largest": bound.max(), "median": median})
    found["units"] = answer.unit_question
    return found | {"advice": advise(answer, found)}


def _plan_facts(answer: Answer, call: Caller) -> dict[str, Any]:
    """Return the outcomes of the starts with a path to the goal."""
    moves, raised = answer.plan, answer.raised_states
    caught = np.bincount(moves.basin[moves.basin >= 0], minlength=len(moves.cycles))
    touching = moves.touches(answer.labels)
    # the loops that catch starts with a path to the goal, those that catch most first
    fatal = np.flatnonzero(moves.reachable[moves.cycle_members[moves.cycle_offsets[:-1]]])
    worst = fatal[np.argsort(-caught[fatal], kind="stable")[:MOST_NAMED]]
    return {
        "can_reach": moves.num_able,
        "reach": moves.num_arrived,
        "success": moves.success,
        "dead_ends": int((answer.outcomes == Outcome.DEAD_END).sum()),
        "loop_count": fatal.size,
        "loops": [
            {
                "states": [call(x) for x in moves.cycles[i][: 2 * MOST_NAMED]],
                "size": moves.cycles[i].size,
                "catches": int(caught[i]),
                "touches_a_label": bool(touching[i]),
            }
            for i in worst
        ],
        "raised": None
        if answer.lifted is None
        else {
            "count": raised.size,
            "most": answer.raised[raised].max(initial=0.0),
            "states": [{"name": call(x), "by": answer.raised[x]} for x in raised[:MOST_NAMED]],
        },
    }


def _margin_facts(answer: Answer, call: Caller) -> dict[str, Any]:
    """Return the least and median margin of the routes, and the states that decide the least."""
    least, certificate = answer.route_margins, answer.certificate
    if not least.size:
        return {"least": None, "median": None, "weakest": []}
    walked = answer.plan.reached.copy()
    walked[answer.goal] = False
    counts = np.bincount(certificate.weakest[walked], minlength=walked.size)
    states = np.flatnonzero(counts)
    states = states[certificate.margin[states] < np.inf]
    rounded = np.round(certificate.margin[states], 9)  # differences of rounding do not count
    order = np.lexsort((states, -counts[states], rounded))
    return {
        "least": least.min(),
        "median": np.quantile(least, 0.5, method="lower"),
        "weakest": [
            {"name": call(x), "margin": certificate.margin[x], "routes": int(counts[x])}
            for x in states[order[:MOST_NAMED]]
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
    summary: list[tuple[str, str]] = []

    def say(word: str, text: str) -> None:
        summary.append((word, text))

    # the graph
    n, lost = graph["vertices"], graph["cannot_reach_goal"]
    if lost:
        named = _some(map(quoted, graph["cannot_reach_examples"]), lost)
        say("lost", f"{lost:,} of {number_of(n, 'states')} cannot reach the goal at all: {named}")
    edges = number_of(graph["edges"], "arcs" if graph["directed"] else "edges")
    edges += " (directed)" if graph["directed"] else ""
    low, high = graph["least_length"], graph["largest_length"]
    span = "no lengths" if low is None else f"lengths {low:g} to {high:g}"
    if low is not None and low == high:
        span = f"{'all ' if graph['edges'] > 1 else ''}of length {low:g}"
    pieces = "strong_components" if graph["directed"] else "components"
    parts = f"{graph[pieces]:,} {pieces.replace('_', ' ')}" if graph[pieces] > 1 else "in one piece"
    say("graph", f"{number_of(n, 'vertices', 'vertex')}, {edges}, {span}; {parts}")

    # the labels
    count, least, largest = labels["count"], _number(labels["least"]), _number(labels["largest"])
    values = f"values {least} to {largest}"
    if labels["least"] == labels["largest"]:
        values = f"{'all of ' if count > 1 else ''}value {least}"
    share, goal = percent(count / n), quoted(facts["goal"])
    say("labels", f"{count:,} ({share} of the vertices), {values}; goal {goal}")
    if labels["dropped_count"]:
        dropped = _some(map(quoted, labels["dropped"]), labels["dropped_count"])
        say("dropped", f"{number_of(labels['dropped_count'], 'labels')}: {dropped}")
    sinks = labels["false_sink_count"]
    if sinks:
        named = _some(
            (f"{quoted(s['name'])} ({_number(s['value'])})" for s in labels["false_sinks"]), sinks
        )
        some = "1 label is" if sinks == 1 else f"{sinks:,} labels are"
        say("sinks", f"{some} no higher than any neighbour, so walks can get stuck there: {named}")
    if facts["units"]:
        say("units", facts["units"])
    against = against_text(facts["contradictions"], count, "labels")
    if against and not facts["units"]:
        say("against", f"{against}; {PROOF}")

    # the field
    seconds, width = seconds_text(facts["seconds"]), facts["bracket_width"]
    if facts["method"] == DISTANCE:
        say("method", f"{DISTANCE}; {seconds}")
    else:
        solved = "no bound on how well its equation is solved"
        if width is not None:
            solved = f"its equation is solved to within {width:.1e}"
        say("method", f"{facts['method']}: {facts['status']}; {solved}; {seconds}")
    missed = labels["missed_count"]
    if missed:
        most = short(labels["missed_most"])
        say("missed", f"the field differs from {missed:,} of {count:,} labels, by up to {most}")
    behind = graph["behind_labels"]
    if behind:
        named = _some(map(quoted, graph["behind_labels_examples"]), behind)
        lie = "state lies behind a label and has the same value"
        lie = "states lie behind labels and have the same values" if behind > 1 else lie
        say("flat", f"{behind:,} {lie}: {named}")

    # the plan
    text = f"{made['reach']:,} of {made['can_reach']:,} starts reach the goal"
    text += f" ({percent(made['success'])})"
    if made["loop_count"]:
        caught = made["can_reach"] - made["reach"] - made["dead_ends"]
        text += f"; {caught:,} run into {number_of(made['loop_count'], 'loops')}"
    if made["dead_ends"]:
        text += f"; {made['dead_ends']:,} at a dead end"
    say("plan", text)
    for loop in made["loops"]:
        path = " → ".join(map(quoted, loop["states"]))
        path += " → …" if loop["size"] > len(loop["states"]) else f" → {quoted(loop['states'][0])}"
        end = "ends" if loop["catches"] == 1 else "end"
        say("loops", f"{path}, where {number_of(loop['catches'], 'starts')} {end}")
    if made["loop_count"] > len(made["loops"]):
        say("loops", f"and {made['loop_count'] - len(made['loops']):,} more")
    raised = made["raised"]
    if raised and raised["count"]:
        up = (f"{quoted(state['name'])} by {short(state['by'])}" for state in raised["states"])
        say("raised", f"{number_of(raised['count'], 'values')}: {_some(up, raised['count'])}")

    # how far to trust it
    certified, bound, proved = facts["certified"], facts["value_error_bound"], facts["proved"]
    if facts["units"]:
        pass  # nothing is proved while the units may differ
    elif proved["moves"]:
        moves, routes = (number_of(proved[name], name) for name in ("moves", "routes"))
        premise = "labels are right, no edge is false and each costs what the graph says"
        say("proved", f"{moves} and {routes} are optimal, if {premise}")
    elif proved["refuted"]:
        say("proved", "no moves: labels and graph contradict each other")
    if made["reach"]:
        say("margin", _margin(facts["margin"]))
    if certified["error"] != 0.0:  # None is infinite
        states, starts = percent(certified["states"]), percent(certified["starts"])
        errors = "errors of any size" if certified["error"] is None else f"{certified['error']:g}"
        text = f"with errors up to {errors}, {states} of the moves are proved optimal"
        text += f", and {starts} of the routes, if each edge costs what the graph says"
        say("certified", text)
    ratio = labels["per_graph_distance"]
    rewards = ratio is not None and ratio < 0.0
    half = (labels["largest"] - labels["least"]) / 2
    if bound["largest"] is not None and bound["largest"] < half and not rewards:
        exact = FLAT * max(1.0, labels["largest"])
        text = "the field is the true cost-to-go"
        if bound["largest"] > exact:
            text = f"the true cost-to-go is within {short(bound['largest'])} of the field"
            middle = f"within {short(bound['median'])}" if bound["median"] > exact else "equal"
            text += f" (at half of the states, {middle})"
        say("bound", f"{text}, if graph and labels are right")
    if facts.get("held_out"):
        say("held out", facts["held_out"]["text"])
    for route in facts["routes"]:
        say("route", _route(route))
    say("advice", facts["advice"])
    return summary


def _some(names: Iterable[str], count: int) -> str:
    """Return a list of names out of `count`."""
    shown = list(names)
    return ", ".join(shown) + (" …" if count > len(shown) else "")


def _number(value: float) -> str:
    return f"{value + 0.0:g}"  # -0 is 0


def _margin(margin: Mapping[str, Any]) -> str:
    """Return the errors that the routes tolerate, and where they tolerate least."""
    least, median, weakest = margin["least"], margin["median"], margin["weakest"]
    if least is None and not weakest:
        return "no route has a choice of moves, so errors of the values change nothing"
    if least is None:
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
    """Return the most urgent advice.

    ``facts["held_out"]`` holds the facts of `CrossValidation` for the same field, if computed.
    """
    exact, labels, made = isinstance(answer.field.method, AMLE), facts["labels"], facts["plan"]
    if not answer.field.status.good:
        missed = f"the solver missed its guarantee ({answer.field.status})"
        if exact:
            return Message(f"{missed}: the values may be right, but this is not proved")
        return Message(f"{missed}: try ", USE_AMLE)
    if made["can_reach"] == 0:
        arcs = ", and do the arcs point the right way?" if answer.graph.directed else "?"
        return Message(f"no other state can reach the goal: is it the right one{arcs}")
    if answer.goal not in answer.labels.vertices:
        return Message("the goal has no label, so nothing leads there: label it")
    known = answer.field.values[answer.plan.reachable]
    if known.size > 1 and np.ptp(known) == 0.0:  # one value wherever the goal can be reached from
        reason = "only the goal is labelled" if labels["count"] == 1 else "the labels are all equal"
        return Message(f"{reason}, so the field is constant: label states with different values")
    if answer.distance_ratio < 0.0:
        return Message("labels decrease away from the goal: if they are rewards, negate them")
    if facts["units"]:
        return Message(facts["units"])
    # what to plan on, and what is wrong if labels contradict the graph noticeably
    held_out, against = facts.get("held_out"), answer.contradictions
    remark: list[str | Option] = []
    if held_out and not held_out["labels_help"]:
        use = f"Use the {DISTANCE}: this field does not predict labels left out clearly better. "
        remark = [use, COMPARE, " tries other fields."]
    excess = np.concatenate([against.optimistic.excess, against.pessimistic.excess])
    if excess.max(initial=0.0) > TRIFLE * against.largest:
        remark = remark or [COMPARE, " says what to use."]
        remark += [" ", TRAVEL, " tests what is wrong with the graph."]
    if made["reach"] < made["can_reach"]:
        count = labels["false_sink_count"]
        stuck: list[str | Option] = ["walks get stuck on this field: "]
        if exact and count:
            them = "it" if count == 1 else "them"
            at = f"walks can get stuck at {number_of(count, 'labels')}: check {them}, drop {them} ("
            stuck = [at, DROP, ") or lift the field (", LIFT, ")"]
        elif exact:
            stuck += ["lift it (", LIFT, ")"]
        else:
            stuck += ["try ", USE_AMLE, ", or lift it (", LIFT, ")"]
        return Message(*stuck, *([". ", *remark] if remark else []))
    if made["raised"] and made["raised"]["count"]:
        raised: Sequence[Mapping[str, Any]] = made["raised"]["states"]
        where = _some((quoted(state["name"]) for state in raised), made["raised"]["count"])
        raised_text = (
            f"values were raised so that every walk arrives: check the labels around {where}"
        )
        return Message(raised_text)
    if remark:
        return Message(*remark)
    behind = facts["graph"]["behind_labels"]
    if behind >= MANY_BEHIND * facts["graph"]["vertices"]:
        states = "states lie" if behind > 1 else "state lies"
        return Message(
            f"{behind:,} {states} behind labels: ", USE_COST, " adds the cost from there"
        )
    if facts["routes"] and labels["count"] == 1:
        paths = "these are the graph's own shortest paths; with a few measured costs, "
        return Message(paths, TRAVEL, " tests whether the graph is wrong")
    if not facts["routes"]:
        reach = "every start with a path to the goal reaches it; "
        return Message(reach, ROUTE, " shows its route")
    return Message(COMPARE, " says what to use: the labels, or the graph's own distances")


# ------------------------------------------------------------------ units

OTHERS = 0.1
"""Share of the ratios that may be on the other side."""
SAME_UNIT = (1.0 / 3.0, 3.0)
"""Ratios of costs to graph distances within this range are consistent with one unit."""
ROUND = (3.6, 60.0, 1000.0, 3600.0)
"""km/h and m/s, minutes and seconds, kilometres and metres, hours and seconds."""
NEAR = 1.5
"""A measured ratio within this factor of a round one may be that one."""


def unit_question(costs: FloatArray, distances: FloatArray, what: str = "labels") -> Message | None:
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
    middle = median_ratio(costs, distances)
    if middle <= 0.0:  # no unit makes such costs out of distances
        return None
    unit = round_unit(middle)
    call = Option("length_unit", unit, python=f"multiply the lengths by {unit:.3g}")
    said = f"{what} are {middle:.3g} times the graph's own distances"
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

    Examples
    --------
    >>> median_ratio(np.array([2.0, 4.0, 9.0]), np.array([1.0, 2.0, 3.0]))
    2.0
    """
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
