"""The facts of a mend, as plain data and as tables; `text` renders them as sentences.

**Findings** are those of `findings`. A method that was asked for by name makes no findings: its
largest changes are listed instead, as a fact about the fit.

**Evidence.** Which costs contradict the graph as given (`contradictions` for labels), how many of
these contradictions rounding alone would explain, the overall factor between costs and distances,
and how well both graphs fit the costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..advice.units import median_ratio, unit_question
from ..certificates.contradiction import contradictions, count_against
from ..checks import plain
from ..fields import describe
from ..graphs.labels import Labels
from ..graphs.names import Caller, Names, Naming
from ..typing import BoolArray, FloatArray, IntArray
from ..words import quoted
from .base import MendProblem
from .findings import Finding, Named
from .text import SAME, finding

if TYPE_CHECKING:
    from .fitting import Mended

MOST_CHANGES = 20
"""Number of changed edges that are listed."""
MOST_DECIMALS = 3
"""Costs with more decimals were not rounded by hand."""


class Edges(NamedTuple):
    """Arcs of a directed graph, or edges of an undirected one: given and mended lengths.

    `pair` numbers the pairs of vertices that they join: both directions of an edge share a number.
    """

    arcs: IntArray
    believed: FloatArray
    lengths: FloatArray
    pair: IntArray

    @property
    def times(self) -> FloatArray:
        """(e,) ratio of mended to given length."""
        return self.lengths / self.believed

    @property
    def added(self) -> FloatArray:
        """(e,) mended minus given length."""
        return self.lengths - self.believed


def edges_once(mended: Mended) -> Edges:
    """Return the arcs of a directed graph; else those from the lower vertex to the higher."""
    graph = mended.believed
    arcs = np.flatnonzero(graph.directed | (graph.tails < graph.indices))
    pair, _ = mended.problem.pairs
    return Edges(arcs, graph.lengths[arcs], mended.graph.lengths[arcs], pair[arcs])


def facts(mended: Mended, names: Naming | None) -> dict[str, Any]:
    """Return the findings as plain data that JSON can hold; see `Mended.facts`."""
    given, problem = mended.believed, mended.problem
    call, edges = Caller(names, given.num_vertices), edges_once(mended)

    def named(arc: int, both: bool) -> dict[str, Any]:
        x, y = call(int(given.tails[arc])), call(int(given.indices[arc]))
        before, after = given.lengths[arc], mended.graph.lengths[arc]
        return {
            "from": x,
            "to": y,
            "called": f"{quoted(x)} {'–' if both else '→'} {quoted(y)}",
            "believed": before,
            "length": after,
            "added": after - before,
            "times": after / before,
        }

    def described(finding: Finding) -> dict[str, Any]:
        """Return a finding with names in place of arcs and vertices."""
        arcs = finding.where
        more: dict[str, Any] = {}
        if finding.kind == "false edge":
            more = named(int(arcs[0]), not given.directed or arcs.size > 1)
        elif finding.around is not None:
            pairs = np.unique(problem.pairs[0][arcs])
            more = {"around": call(finding.around), "edges": pairs.size}
        return more | {
            "kind": finding.kind,
            "amount": finding.amount,
            "probability": finding.probability,
            "named": finding.named,
            "evidence": finding.evidence,
            "settles": finding.settles,
            "streets": finding.streets or None,
        }

    makes_findings = isinstance(mended.method, Named)
    findings = [described(each) for each in mended.findings] if makes_findings else []

    change = np.abs(edges.added)
    largest = each_once(edges, change > 0.0, change)[:MOST_CHANGES]
    count = len(problem.pairs[1])
    ways = np.bincount(edges.pair[change > 0.0], minlength=count)  # directions changed
    changes = [
        named(int(edges.arcs[e]), bool(not given.directed or ways[edges.pair[e]] > 1))
        for e in largest.tolist()
    ]

    distances = problem.distances()
    ratio = median_ratio(problem.costs, distances)
    of_trips = not isinstance(mended.data, Labels)
    word = "trips" if of_trips else "labels"
    costs = problem.costs if of_trips else np.append(problem.costs, 0.0)  # the goal's own label
    # `Mended.scores` would make a model selection first; without one, take what the fit knows
    selection = mended if "prediction" in vars(mended) else mended.fit
    trips = {"ends": problem.goals.size, "merged": getattr(mended.data, "merged", 0)}
    found: dict[str, Any] = {
        "method": describe(mended.method),
        "chosen": selection.chosen,
        "status": str(mended.status),
        "converged": mended.status.good,
        "value": mended.value,
        "bound": mended.bound,
        "seconds": mended.seconds,
        "edges": count,
        "directed": given.directed,
        "changed": np.count_nonzero(ways),
        "costlier": np.unique(edges.pair[edges.added > 0.0]).size,
        "added": edges.added.sum(),
        "changes": changes,
        "findings": findings if makes_findings else None,
        "varies": makes_findings and mended.found.vague,
        "placed": given.positions is not None,
        "scores": {name: score._asdict() for name, score in selection.scores.items()},
        "graph": {
            "vertices": given.num_vertices,
            "arcs": given.num_arcs,
            "least_length": given.lengths.min(initial=np.inf),
            "largest_length": given.lengths.max(initial=-np.inf),
        },
        word: {
            "count": costs.size,
            **(trips if of_trips else {}),
            "least": costs.min(),
            "largest": costs.max(),
            "error": problem.error,
            "upper_bounds": problem.upper,
            "per_graph_distance": ratio,
        },
        "against": count_against(*_excesses(problem, of_trips, problem.error)),
        "rounding": _rounding(problem, of_trips),
        "misfit": {
            "believed": _misfit(problem, distances),
            "mended": _misfit(problem, problem.distances(mended.graph.lengths)),
        },
        "goal": None if of_trips else call(int(problem.goals[0])),
    }
    result: dict[str, Any] = plain(found)
    what = "the costs of the trips" if of_trips else "labels"
    result["units"] = unit_question(problem.costs, distances, what)
    return result | {"finding": finding(result)}


def _excesses(problem: MendProblem, trips: bool, error: float) -> tuple[FloatArray, FloatArray]:
    """Return the excesses of costs above the graph's bounds, and below. A detour proves nothing."""
    if trips:
        over = problem.costs - error - problem.distances()
        above, below = over[over > 0], (-over - 2 * error)[over < -2 * error]
    else:  # labels may contradict one another as well
        goal = problem.goals[0]
        known = np.append(problem.starts, goal), np.append(problem.costs, 0.0)
        proof = contradictions(problem.graph, Labels(*known, error))
        above, below = proof.optimistic.excess, proof.pessimistic.excess
    tiny = 1e-9 * problem.costs.max()
    return above[(above > tiny) & (not problem.upper)], below[below > tiny]


def _rounding(problem: MendProblem, trips: bool) -> dict[str, Any] | None:
    """Count the contradictions that vanish if costs are rounded to their last digit.

    None if none do, if an error was given, or if the lengths have no more digits than the costs.
    """

    def decimals(numbers: FloatArray, most: int) -> int | None:
        """Return the decimals that all these numbers need, or None if more than `most`."""
        for digits in range(most + 1):
            if np.allclose(np.round(numbers, digits), numbers, rtol=1e-12, atol=0.0):
                return digits
        return None

    digits = decimals(problem.costs, MOST_DECIMALS)
    if problem.error or digits is None or decimals(problem.graph.lengths, digits) is not None:
        return None
    error = 0.5 * 10.0**-digits
    before, after = (
        sum(side.size for side in _excesses(problem, trips, each)) for each in (0.0, error)
    )
    explained = before - after
    return {"decimals": digits, "error": error, "explains": explained} if explained else None


def _misfit(problem: MendProblem, distances: FloatArray) -> float:
    """Return the mean error of distances beyond that of costs. Upper bounds count if exceeded."""
    off = distances - problem.costs
    off = np.maximum(off, 0.0) if problem.upper else np.abs(off)
    return float(np.maximum(off - problem.error, 0.0).mean())


def suspects(mended: Mended) -> list[tuple[int, Finding | None]]:
    """Return the arcs that are in doubt, one per edge, with their finding.

    These are the arcs of the findings, most probable first. A method that was asked for by name
    makes no findings: the arcs that it made clearly costlier, by most first.
    """
    if not isinstance(mended.method, Named):
        edges = edges_once(mended)
        costlier = each_once(edges, edges.times > 1.0 + SAME, edges.added)
        return [(int(arc), None) for arc in edges.arcs[costlier]]
    (pair, _), rows = mended.problem.pairs, list[tuple[int, Finding | None]]()
    for each in mended.findings:
        first = np.unique(pair[each.where], return_index=True)[1]
        rows += [(int(each.where[i]), each) for i in np.sort(first)]
    return rows


def suspect_columns(mended: Mended, names: Names) -> dict[str, Any]:
    """Return one row per edge in doubt: why, how sure that is, and its lengths."""
    given, rows = mended.believed, suspects(mended)
    arcs = np.array([arc for arc, _ in rows], dtype=np.int64)
    sure = [each.probability if each else np.nan for _, each in rows]
    return {
        "from": names.column(given.tails[arcs]),
        "to": names.column(given.indices[arcs]),
        "kind": [each.kind if each else "costlier" for _, each in rows],
        "probability": np.ma.masked_invalid(np.array(sure, dtype=float)),
        "named": ["yes" if each and each.named else "no" for _, each in rows],
        "believed": given.lengths[arcs],
        "added": mended.added[arcs],
        "length": mended.graph.lengths[arcs],
    }


def each_once(edges: Edges, which: BoolArray, by: FloatArray) -> IntArray:
    """Sort these arcs by `by`, largest first, and keep one direction of each edge."""
    chosen = np.flatnonzero(which)
    chosen = chosen[np.argsort(-by[chosen], kind="stable")]
    return chosen[np.sort(np.unique(edges.pair[chosen], return_index=True)[1])]
