"""AMLE: the absolutely minimal Lipschitz extension, p = ∞, exactly.

**Equation.** At every unlabelled x the steepest slope up equals the steepest slope down,

    max over y of (u_y − u_x)/ℓ  =  max over y of (u_x − u_y)/ℓ ;

on unit lengths u(x) = (min + max)/2 over the neighbours. u equals the labels where they are given.
On a connected graph there is exactly one solution. It is the limit of the p-Laplacian extensions
as p → ∞, and minimises the slopes of all edges lexicographically, the steepest first.

**Directed graphs.** Only descent counts, since a cost-to-go obeys V(x) − V(y) ≤ ℓ along an arc
x → y and nothing bounds the other way: the slope of the arc is max(u_x − u_y, 0)/ℓ, and the
steepest slope over the arcs into x equals the steepest over the arcs out of it. Values on walks of
positive slope are unique; where no walk descends through a vertex the equation leaves a choice,
made by `fill`. A vertex that can reach no label is +inf.

**Method.** Divide and conquer on slopes (`wayfield.kernels.amle`): a direct method, no iteration
and no tolerance to choose. Near-linear in practice.

**Guarantee.** The order of fixing is replayed in double-double and the outcome is wrapped in a
verified sub- and supersolution (`wayfield.kernels.amle_bracket`): `lower` ≤ exact ≤ `upper`, with
all rounding counted in. If that proof fails anywhere the status is `UNVERIFIED`. Where vertices
are filled it must be certain which: every other vertex lies on a strict descent, and no descent
leads through the filled ones. Where values are too close for intervals to tell, as they are where
they tie, the fixed ones are computed again and verified in rationals
(`wayfield.extension._exact`). If that would take too long or does not settle it, or the bracket
was not asked for, there is none, and the status says so (`NO_BRACKET`): a slope next to nothing
then decides between fixed and filled.

**References.** G. Aronsson, Extension of functions satisfying Lipschitz conditions (1967);
E. Le Gruyer, On absolutely minimizing Lipschitz extensions and PDE Δ∞(u) = 0 (2007); R. Kyng,
A. Rao, S. Sachdeva, D. Spielman, Algorithms for Lipschitz learning on graphs (2015), for
lexicographic minimisers and steepest paths, also directed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from .._arrays import as_choice
from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.amle import solve
from ..kernels.amle_bracket import (
    Sides,
    curvatures,
    enclose,
    flattened,
    imbalance,
    margins,
    pieces,
)
from ..kernels.amle_frames import FIXES, FRAMES, State
from ..kernels.amle_replay import UNFIXED, replay
from ..kernels.csr import Arcs
from ..kernels.doubledouble import Pair
from ..kernels.fill import all_descend, fill, known_beside_unknown, two_least
from ..kernels.pressure import FIXED, make_record, make_scratch
from ._base import Problem, Solution, Status
from ._exact import Log, rational_amle

Fill: TypeAlias = Literal["cost", "flat", "lower"]

_FLAT_LEVELS = (1e-27, 1e-22, 1e-18, 1e-15, 1e-12, 1e-9)
"""Drops taken for flat by the bracket, from where the rounding of the replay ends upwards."""


@dataclass(frozen=True)
class AMLE:
    """Absolutely minimal Lipschitz extension (p = ∞), exact.

    Parameters
    ----------
    check : bool
        Raise `NotConverged` if the bracket could not be verified.
    certificate : bool
        Compute the rigorous bracket. Without it `values` come straight from the divide and
        conquer, accurate to rounding but not proved to be.
    fill : {"cost", "flat", "lower"}, optional
        Where no walk descends from label to label: continue at the cost of walking on to the
        nearest fixed vertex ("cost", the default on directed graphs), or take the least value
        within reach ("flat", the default on undirected graphs, where it is the classical AMLE:
        constant behind the last label), or the largest value that leads here ("lower"; where
        nothing does, the least value within reach).

    Notes
    -----
    `Extension.residual` is the largest step that would balance a vertex on its own; on unit
    lengths the largest distance to the midrange. ``details["filled"]`` counts filled vertices.

    Where lengths differ by more than about eight orders of magnitude, double-double can be too
    coarse for the proof: the bracket is then wide, or the status `UNVERIFIED`. The values are
    accurate to rounding all the same (``check=False``).

    Examples
    --------
    >>> import wayfield as wf
    >>> star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3], lengths=[1.0, 1.0, 2.0])
    >>> field = wf.extend(star, wf.Labels([1, 2, 3], [0.0, 1.0, 4.0]), wf.AMLE())
    >>> float(field.values[0])   # slope 4/3 from vertex 3 down to vertex 1
    1.3333333333333333
    """

    check: bool = True
    certificate: bool = True
    fill: Fill | None = None
    directed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.fill is not None:
            as_choice(self.fill, "fill", get_args(Fill))

    def correcting(self) -> AMLE:
        """Return the method for corrections to a prior: the cost is in the prior already."""
        return replace(self, fill="flat")

    def solve(self, problem: Problem) -> Solution:
        """Extend the labels of one problem."""
        graph = problem.graph
        rule: Fill = self.fill or ("cost" if graph.directed else "flat")
        leave_flat = graph.directed or rule != "flat"
        scaled = _Scaled(problem, leave_flat)
        state = scaled.state
        finished = solve(state)
        fixed = state.record.tag == FIXED
        plain = np.where(fixed, state.record.value, np.nan)
        if not finished or not (leave_flat or (fixed | problem.orphaned).all()):
            result = _Outcome(Status.BUDGET, fixed, scaled.restored(plain))
        elif self.certificate:
            result = _bracketed(scaled, fixed, plain)
            if leave_flat:
                order = state.order[: state.counts[FIXES]]
                result = _decided(problem, result, Log(order, state.batch, plain))
        else:
            status = Status.NO_BRACKET if leave_flat else Status.CONVERGED
            result = _Outcome(status, fixed, scaled.restored(plain))
        status, fixed, values, lower, upper = result
        residual = imbalance(_sides(graph), ~fixed | problem.labelled, values)
        if leave_flat and finished:
            for field, rounding in ((values, 0), (lower, -1), (upper, 1)):
                if field is not None:
                    _fill(problem, fixed, rule, field, rounding)
        details = {"filled": float((~fixed & ~problem.orphaned).sum())}
        return Solution(values, lower, upper, status, residual, int(state.counts[FRAMES]), details)


class _Outcome(NamedTuple):
    """A field on the fixed vertices and its bracket; what the others hold is not looked at."""

    status: Status
    fixed: BoolArray
    values: FloatArray
    lower: FloatArray | None = None
    upper: FloatArray | None = None


class _Scaled:
    """The problem with a large common offset of the labels taken off, and their scale at most 1.

    Both steps are exact. Where the midrange exceeds four times the labels' spread, every label is
    within a factor of 2 of it, so the difference is a double (Sterbenz); elsewhere nothing is
    taken off. The scale is a power of two; only labels hundreds of orders of magnitude apart, or
    next to underflow, can lose digits to it, and then `exact` is False.
    """

    def __init__(self, problem: Problem, leave_flat: bool) -> None:
        self.problem = problem
        given = problem.labels.values
        middle = float(0.5 * given.max() + 0.5 * given.min())
        spread = float(np.abs(given - middle).max())
        self.shift = middle if abs(middle) > 4.0 * spread else 0.0
        moved = given - self.shift
        self.exponent = int(np.frexp(np.abs(moved).max())[1])
        self.labels = np.asarray(np.ldexp(moved, -self.exponent))
        self.exact = self.exponent > -900 and bool((self._unscaled(self.labels) == moved).all())
        self.state = self._state(leave_flat)

    def _state(self, leave_flat: bool) -> State:
        graph, labelled = self.problem.graph, self.problem.labelled
        n, unit = graph.num_vertices, graph.is_unit
        record = make_record(n)
        record.tag[:] = np.where(labelled, FIXED, 0)
        record.value[:] = 0.0
        record.value[self.problem.labels.vertices] = self.labels
        members = np.flatnonzero(~labelled).astype(np.int32)
        return State(
            record,
            make_scratch(n, graph.num_arcs, unit),
            graph.arcs,
            graph.reverse_arcs,
            members,
            bounds=np.empty((members.size + 1, 3), np.int32),
            order=np.empty(members.size, np.int32),
            batch=np.where(labelled, np.int32(-1), np.int32(UNFIXED)),
            counts=np.zeros(4, np.int64),
            tol=(4.0 if unit else 32.0) * float(np.finfo(np.float64).eps),
            unit=unit,
            flat=not leave_flat,
        )

    def _unscaled(self, values: FloatArray) -> FloatArray:
        return np.asarray(np.ldexp(values, self.exponent))

    def restored(self, values: FloatArray) -> FloatArray:
        """Return a field to the caller's units, the labels exactly as given."""
        result = self._unscaled(values) + self.shift
        result[self.problem.labels.vertices] = self.problem.labels.values
        return result

    def enclosed(
        self, field: Pair, below: FloatArray, above: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Field, lower and upper bounds in the caller's units, the bounds rounded outward."""
        values, lower, upper = (np.empty(field.high.size) for _ in range(3))
        scale = float(np.ldexp(1.0, self.exponent))
        enclose(field, (below, above), scale, self.shift, (values, lower, upper))
        labels, orphaned = self.problem.labels, self.problem.orphaned
        least, largest = self.problem.label_range
        for array in (values, lower, upper):
            np.clip(array, least, largest, out=array)
            array[labels.vertices] = labels.values
            array[orphaned] = np.nan
        return values, lower, upper


def _bracketed(scaled: _Scaled, fixed: BoolArray, plain: FloatArray) -> _Outcome:
    """Replay in double-double, into `plain`, and prove how far that can be from the AMLE."""
    graph, state = scaled.problem.graph, scaled.state
    out, into = graph.arcs, graph.reverse_arcs
    field = Pair(plain, np.zeros(plain.size))
    order = state.order[: state.counts[FIXES]]
    untouched = plain.copy()
    replay(out, into, untouched, order, state.batch, field)
    if not (scaled.exact and np.isfinite(field.high[order]).all()):
        return _Outcome(Status.UNVERIFIED, fixed, scaled.restored(untouched))
    below, above = _margins(_sides(graph), state.batch, field)
    values, lower, upper = scaled.enclosed(field, below, above)
    if np.isfinite(below).all() and np.isfinite(above).all():
        return _Outcome(Status.CONVERGED, fixed, values, lower, upper)
    # what could not be proved may be the replay's own doing: the plain field is the safer one
    values = np.clip(scaled.restored(untouched), lower, upper)
    return _Outcome(Status.UNVERIFIED, fixed, values, lower, upper)


def _sides(graph: Graph) -> Sides:
    out, into = graph.arcs, graph.reverse_arcs
    return Sides(into, out, (into, out) if graph.directed else (out,))


def _margins(sides: Sides, batch: IntArray, field: Pair) -> tuple[FloatArray, FloatArray]:
    """How far below and above the field the AMLE can lie; inf where that could not be proved."""
    piece, count = pieces(sides, batch)
    below, above = (np.where(piece >= 0, np.inf, 0.0) for _ in range(2))
    down, up = np.zeros(piece.size), np.zeros(piece.size)
    curvatures(sides, piece, field, np.ones(piece.size, np.bool_), down, up)
    _prove(sides, piece, count, field, down, below)
    mirrored, negated = Sides(sides.down, sides.up, sides.around), Pair(-field.high, -field.low)
    _prove(mirrored, piece, count, negated, up, above)
    return below, above


def _prove(
    sides: Sides,
    piece: IntArray,
    count: int,
    field: Pair,
    bend: FloatArray,
    margin: FloatArray,
) -> None:
    """Fill the margins below the field, flattening as much as needed and no more."""
    hopeless = bend.max(initial=0.0) > 1.0  # flat spots: the rest fares the same once they are out
    unproved = hopeless or margins(sides, piece, count, field, field, bend, margin)
    for flat in _FLAT_LEVELS:
        if not unproved:
            return
        touched = np.zeros(piece.size, np.bool_)
        used = flattened(sides, piece, field, flat, touched)
        repaired = bend.copy()
        curvatures(sides, piece, used, touched, repaired, np.empty(piece.size))
        unproved = margins(sides, piece, count, field, used, repaired, margin)


def _decided(problem: Problem, result: _Outcome, log: Log) -> _Outcome:
    """Keep the bounds if they say for certain which vertices to fill; else decide in rationals."""
    status, fixed, values, lower, upper = result
    if (
        status is Status.CONVERGED
        and (lower is not None and upper is not None)
        and _certainly_filled(problem, fixed, lower, upper)
    ):
        return result
    exact = rational_amle(problem, log)
    if exact is None or not _certainly_filled(problem, exact.fixed, exact.rank, exact.rank):
        return _Outcome(Status.NO_BRACKET, fixed, values)
    return _Outcome(Status.CONVERGED, exact.fixed, exact.values, exact.lower, exact.upper)


def _fill(
    problem: Problem, fixed: BoolArray, rule: Fill, values: FloatArray, rounding: int
) -> None:
    graph = problem.graph
    fill(graph.reverse_arcs, fixed, values, 1.0 if rule == "cost" else 0.0, rounding)
    if rule == "lower":
        negated = -values
        fill(graph.arcs, fixed, negated, 0.0, 0)
        led_to = ~fixed & np.isfinite(values) & np.isfinite(negated)
        values[led_to] = 0.0 - negated[led_to]
        fill(graph.reverse_arcs, fixed | led_to, values, 0.0, 0)
    values[problem.orphaned] = np.nan


def _certainly_filled(
    problem: Problem, fixed: BoolArray, lower: FloatArray, upper: FloatArray
) -> bool:
    """Whether no descent leads through the unfixed vertices, and one through every fixed one.

    Then the fixed vertices are exactly those of positive slope: a field that agrees with the
    fixed ones, filled flat, satisfies the equation everywhere, and two solutions of the equation
    agree wherever one of them has a slope. Only the order of the values matters, so ranks do.
    """
    out, into = problem.graph.arcs, problem.graph.reverse_arcs
    if not all_descend(out, fixed, problem.labelled, lower, upper):
        return False
    least = _two_least(into, fixed, lower)
    most = _two_least(out, fixed, -upper)
    (low, low_owner, next_low), (high, high_owner, next_high) = least, most
    same = (low_owner == high_owner) & (low_owner >= 0)
    apart = ~fixed & ~same
    return bool(
        (-high[apart] <= low[apart]).all()
        and (-next_high[same] <= low[same]).all()
        and (-high[same] <= next_low[same]).all()
    )


def _two_least(
    back: Arcs, fixed: BoolArray, values: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray]:
    at = np.flatnonzero(known_beside_unknown(back, fixed))
    return two_least(back, fixed, at[np.argsort(values[at])], values)
