"""The derivative of an AMLE: its order of fixing, as a tape of interpolations.

**Chains.** The order of fixing writes the field as a tape of interpolations (`kernels.chains`).
Going through it backwards gives the gradient, in time linear in the vertices.

**Kinks.** u is piecewise smooth. Where arcs that lead to different labels tie for the steepest, it
has a kink, and only one-sided derivatives exist. Exact labels tie at most values, because all
slopes along shortest paths are 1. The tape of tied values is *not* a one-sided derivative in
general. So ties are looked for: with J the tape and d a random direction, arcs that tie at a vertex
must change alike under J d. Then J is the derivative. If they do not, or if a direction d was asked
for, the tape is that of labels moved by a small step t in this direction, where nothing ties, and

    u(y + t d) = u(y) + t J d

is verified at every vertex, since between kinks u is linear in the labels. The step shrinks if that
fails. Where no step passes, the field is discontinuous (on a directed graph it may be), and `pull`
raises. Then J d is the derivative in the direction d.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...graphs.graph import Graph
from ...graphs.labels import Labels
from ...numerics.workers import check_time
from ...typing import BoolArray, FloatArray
from ..base import Problem, Solution
from ..derivatives import (
    STEPS,
    VALUE_ERROR,
    Gradient,
    both_ways,
    component_max,
    generic_direction,
    moved,
)
from ..proof import FillRule
from .kernels import Chains, Fixing, trace
from .kernels.chains import copies, filled, keeps_ties, pull, push

ALIKE = 2.0**-30
"""Rates of change that differ by less, relative to the largest, are equal."""
MISS = 1e-3
"""A step is too long if some value is off the tangent by this share of the largest change."""


@dataclass(frozen=True, eq=False)
class Tape:
    """The tape of an AMLE, and the vertices (n,) at which it is the derivative."""

    graph: Graph
    labels: Labels
    chains: Chains
    sure: BoolArray

    def pull(self, cotangent: FloatArray) -> Gradient:
        """Return the gradient of cotangent · field: one pass through the tape, backwards."""
        unsure = (cotangent != 0.0) & ~self.sure
        if unsure.any():
            raise InputError(
                f"vertex {int(np.argmax(unsure))} has no derivative: its value is discontinuous, "
                "or slopes are too close to distinguish; set the cotangent to 0 there, or try "
                "another direction (toward=)"
            )
        by_label, by_length = cotangent.copy(), np.zeros(self.graph.num_arcs)
        pull(self.chains, by_label, by_length)
        return Gradient(by_label[self.labels.vertices], both_ways(self.graph, by_length))


def tape_of(
    problem: Problem,
    solved: Solution,
    direction: FloatArray | None,
    solve: Callable[[Problem], Solution],
    rule: FillRule | None,
) -> Tape:
    """Return the tape of a field; at a kink, or if there is a direction, the tape towards it.

    `solve` solves other problems of this kind, and vertices are filled by `rule`.
    """
    graph, labels, base, fixing = problem.graph, problem.labels, solved.values, solved.fixing
    finite = np.isfinite(base)
    noise, none = VALUE_ERROR * component_max(graph, base), np.zeros(graph.num_arcs)
    if direction is None:
        fixing = fixing or solve(problem).fixing
        assert fixing is not None
        chains, direction = _chains(graph, fixing, rule), generic_direction(labels)
        values = _pushed(chains, problem, labels.values, graph.lengths)
        rates = _pushed(chains, problem, direction, none)
        same = bool((np.abs(values - base) <= noise)[finite].all())
        if same and _is_smooth(problem, fixing.fixed, base, rates, noise):
            return Tape(graph, labels, chains, finite)
    best: Tape | None = None
    for share in STEPS:
        check_time()
        beside, change = moved(problem, direction, share)
        solution = solve(beside)
        assert solution.fixing is not None
        chains = _chains(graph, solution.fixing, rule)
        tangent = _pushed(chains, problem, change, none)
        with np.errstate(invalid="ignore"):  # inf − inf
            off = np.abs(solution.values - base - tangent)
        allowed = MISS * component_max(graph, tangent) + noise
        # slopes of the chains as they are before the step
        rise, before = (np.diff(each[chains.ends])[:, 0] for each in (solution.values, base))
        slopes = chains.slopes * np.divide(before, rise, out=np.ones(rise.size), where=rise != 0.0)
        found = chains._replace(slopes=slopes), finite & (off <= allowed)
        if best is None or found[1].sum() > best.sure.sum():
            best = Tape(graph, labels, *found)
        if best.sure.sum() == finite.sum():
            break
    assert best is not None
    return best


def _chains(graph: Graph, fixing: Fixing, rule: FillRule | None) -> Chains:
    """Return the chains of the fixed vertices, and those by which the others are filled."""
    chains = trace(graph.arcs, graph.reverse_arcs, fixing)
    if rule is None:
        return chains
    rate = 1.0 if rule == "cost" else 0.0
    found = copies(graph.reverse_arcs, fixing.fixed.copy(), fixing.values.copy(), rate)
    return filled(chains, graph.arcs, *found, rate)


def _pushed(chains: Chains, problem: Problem, rates: FloatArray, stretch: FloatArray) -> FloatArray:
    """Return the change of every value, from those of labels and lengths; NaN where none is."""
    tangent = np.full(problem.graph.num_vertices, np.nan)
    tangent[problem.labels.vertices] = rates
    push(chains, tangent, stretch)
    return tangent


def _is_smooth(
    problem: Problem, fixed: BoolArray, values: FloatArray, rates: FloatArray, noise: FloatArray
) -> bool:
    """Whether arcs that tie change alike, at fixed vertices and at filled ones."""
    graph, arcs = problem.graph, (problem.graph.arcs, problem.graph.reverse_arcs)
    unsure = ALIKE * float(np.nanmax(np.abs(rates)))
    known, free = np.where(fixed, rates, np.nan), fixed & ~problem.labelled
    if not keeps_ties(*arcs, free, values, known, noise, unsure):
        return False
    # a filled vertex may take its value from any neighbour that has it, or has it at the arc's cost
    tails, heads = graph.tails, graph.indices
    with np.errstate(invalid="ignore"):  # inf − inf
        rise = values[tails] - values[heads]
        tied = np.minimum(np.abs(rise), np.abs(rise - graph.lengths)) <= noise[tails]
        apart = np.abs(rates[tails] - rates[heads]) > unsure
    return not (tied & apart & ~fixed[tails]).any()
