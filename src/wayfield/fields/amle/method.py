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

**Method.** Two, in `kernels.fix`, with no tolerance to choose and near-linear in practice.
*Iterate, freeze, follow, verify*: a few sweeps, values along the chains of steepest neighbours, and
a check of every vertex; repeated where it fails. A field in balance everywhere is the AMLE, by the
comparison principle. *Divide and conquer on slopes*: a direct method, used on directed graphs, on
small ones, on mazes, on grids with few labels, and wherever the iteration stalls.
`iterations` counts the rounds of the first or the frames of the second.

**Guarantee.** The order of fixing is retraced in double-double and the outcome is wrapped in a
verified sub- and supersolution (`kernels.bracket`): `lower` ≤ exact ≤ `upper`, with all
rounding counted in. If that proof fails anywhere, or proves next to nothing, the status is
`UNVERIFIED`. Where vertices are filled it must be certain which: every other vertex lies on a
strict descent, and no descent leads through the filled ones (`kernels.fill`). Where values tie,
or are too close for intervals to tell apart, those that matter are computed again and verified in
rationals (`exact`). If that would take too long or decides nothing, the status is
`UNVERIFIED` too. On directed graphs without `bracket=True`, the status is `NO_BRACKET`. Then slopes
close to 0 decide which vertices are fixed and which are filled, and nothing is proved.

**References.** G. Aronsson, Extension of functions satisfying Lipschitz conditions (1967);
E. Le Gruyer, On absolutely minimizing Lipschitz extensions and PDE Δ∞(u) = 0 (2007); R. Kyng,
A. Rao, S. Sachdeva, D. Spielman, Algorithms for Lipschitz learning on graphs (2015), for
lexicographic minimisers and steepest paths, also directed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, NamedTuple, get_args

import numpy as np

from ...checks import as_choice
from ...graphs.graph import Graph
from ...numerics.doubledouble import Pair
from ...numerics.workers import check_time
from ...typing import BoolArray, FloatArray, IntArray
from ..base import Problem, Solution, Status
from ..kernels import imbalance
from ..proof import BracketProof, FillRule
from ..scaling import Scaled
from .exact import rational_amle, ties_decided
from .kernels import Bracket, Fixing, barriers, bracket, fix, in_original
from .kernels.fill import certainly_filled, fill
from .tape import Tape, tape_of

LOOSE = 2.0**-10
"""A bracket wider than this share of the label range counts as unverified."""


@dataclass(frozen=True, kw_only=True)
class AMLE:
    """Absolutely minimal Lipschitz extension (p = ∞), exact.

    Parameters
    ----------
    bracket : bool
        Compute the rigorous bracket. Without it `values` come straight from the solver, accurate
        to rounding but not proved to be.
    fill : {"cost", "flat"}, optional
        Values of the vertices through which no walk descends from label to label. "cost", the
        default on directed graphs, adds the cost of the path to the nearest fixed vertex. "flat",
        the default on undirected graphs, is the least value within reach: the classical AMLE,
        constant behind the last label.

    Notes
    -----
    `Extension.residual` is the largest step that would balance a vertex on its own; on unit
    lengths the largest distance to the midrange. ``details["filled"]`` counts filled vertices,
    ``details["rounds"]`` the rounds of the iteration, 0 if the divide and conquer answered.

    Where lengths differ by more than about eight orders of magnitude, double-double can be too
    coarse for the proof. The bracket is then wide. If it is wider than a thousandth of the label
    range, the status is `UNVERIFIED`. The same happens where values halve from vertex to vertex,
    hundreds of times, as around the rim of a long wheel. The values (``extend(…, check=False)``)
    are then mostly still accurate to rounding. Check `Extension.residual`: if lengths differ by
    twenty orders of magnitude, they need not be.

    Examples
    --------
    >>> import wayfield as wf
    >>> star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3], lengths=[1.0, 1.0, 2.0])
    >>> field = wf.extend(star, wf.Labels([1, 2, 3], [0.0, 1.0, 4.0]), wf.AMLE())
    >>> float(field.values[0])   # slope 4/3 from vertex 3 down to vertex 1
    1.3333333333333333
    """

    bracket: bool = True
    fill: FillRule | None = None
    directed: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.fill is not None:
            as_choice(self.fill, "fill", get_args(FillRule))

    def correcting(self) -> AMLE:
        """Return the method for corrections to a prior: the cost is in the prior already."""
        return replace(self, fill="flat")

    def solve(self, problem: Problem) -> Solution:
        """Extend the labels of one problem."""
        graph = problem.graph
        rule = self.filling(graph)
        fixing, result = self._fixed_and_proved(problem, rule is not None)
        status, fixed, values, lower, upper, kept = result
        arcs = graph.arcs, graph.reverse_arcs
        residual = imbalance(*arcs, ~fixed | problem.labelled, graph.is_unit, values)
        if rule is not None and fixing.finished:
            for each, rounding in ((values, 0), (lower, -1), (upper, 1)):
                if each is not None:
                    _fill(problem, fixed, rule, each, rounding)
        filled = float((~fixed & ~problem.orphaned).sum())
        details = {"filled": filled, "rounds": float(fixing.rounds)}
        evidence = None if kept is None else _Kept(kept, fixed, rule)
        steps = fixing.rounds or fixing.frames
        # derivatives need the order of fixing, with the values as they are
        fixing = fixing._replace(values=values, fixed=fixed, along=None)
        return Solution(values, status, lower, upper, residual, steps, details, evidence, fixing)

    def filling(self, graph: Graph) -> FillRule | None:
        """Return the rule by which vertices are filled on a graph; None if none are."""
        rule: FillRule = self.fill or ("cost" if graph.directed else "flat")
        return rule if graph.directed or rule != "flat" else None

    def linearised(self, problem: Problem, at: Solution, toward: FloatArray | None) -> Tape:
        """Return the tape of a solution."""
        solve = replace(self, bracket=False).solve
        return tape_of(problem, at, toward, solve, self.filling(problem.graph))

    def _fixed_and_proved(self, problem: Problem, leave_flat: bool) -> tuple[Fixing, _Outcome]:
        """Fix the vertices that the equation determines, and compute the bracket if requested.

        Slopes are in the units of the labels.
        """
        scaled = Scaled.in_doubles(problem)
        graph = problem.graph
        arcs = graph.arcs, graph.reverse_arcs
        given = problem.labelled, scaled.field.high
        local = graph.renumbered
        if local is not None:
            arcs = local.arcs, local.arcs
            given = problem.labelled[local.order], scaled.field.high[local.order]
        fixing = fix(*arcs, *given, leave_flat, check_time)
        proof = bracket(*arcs, fixing) if fixing.finished and self.bracket else None
        if local is not None:
            fixing, proof = in_original(local, fixing, proof)
        unscaled = fixing._replace(slopes=scaled.scale * fixing.slopes)
        whole = leave_flat or bool((fixing.fixed | problem.orphaned).all())
        if not (fixing.finished and whole):
            return unscaled, _unproved(scaled, fixing, Status.BUDGET)
        if proof is None:
            status = Status.NO_BRACKET if leave_flat else Status.CONVERGED
            return unscaled, _unproved(scaled, fixing, status)
        result = _bracketed(scaled, fixing, proof)
        if leave_flat:
            result = _decided(problem, result, _logged(fixing, proof))
        return unscaled, result


def _fill(
    problem: Problem, fixed: BoolArray, rule: FillRule, values: FloatArray, rounding: int
) -> None:
    """Fill `values` where they are not fixed, rounded to nearest (0), down (-1) or up (+1).

    +inf where no fixed vertex can be reached, NaN where no label is connected.
    """
    fill(problem.graph.reverse_arcs, fixed, values, 1.0 if rule == "cost" else 0.0, rounding)
    values[problem.orphaned] = np.nan


class _Retraced(NamedTuple):
    """The AMLE's field in double-double, for labels in doubles."""

    piece: IntArray
    """(n,) components of the vertices at which the equation holds; -1 at all others."""
    field: Pair
    log: Fixing
    """The order of fixing, with the field in doubles."""


@dataclass(frozen=True, eq=False)
class _Kept:
    """What is kept for a proof: the field retraced, or exact on the fixed vertices."""

    field: _Retraced | list[Fraction]
    fixed: BoolArray
    rule: FillRule | None
    """How the other vertices were filled; None if there are none."""

    def proof(self, problem: Problem) -> BracketProof | None:
        """Return barriers bent from the field, and how far apart they are, or exact values."""
        fixed = None if self.rule is None else self.fixed
        if isinstance(self.field, list):
            return BracketProof(np.inf, self.field, fixed, self.rule)
        arcs = problem.graph.arcs, problem.graph.reverse_arcs
        piece, field, log = self.field
        bent = barriers(*arcs, piece, field)
        if bent is None:
            return None
        scaled = Scaled.in_doubles(problem)
        reasons = scaled.barriers(bent.below, bent.above, bent.base)
        for low in (reasons.below.low, reasons.above.low):
            if not np.array_equal(low, low.astype(np.float32)):  # as it is written down
                return None
        lower, upper = scaled.around(reasons)
        if self.rule is not None:
            if not certainly_filled(*arcs, self.fixed, problem.labelled, lower, upper):
                # a file holds the exact values of all fixed vertices, or of none
                exact = rational_amle(problem, log)
                return (
                    None if exact is None else BracketProof(np.inf, exact.exact, fixed, self.rule)
                )
            _fill(problem, self.fixed, self.rule, lower, -1)
            _fill(problem, self.fixed, self.rule, upper, +1)
        return BracketProof(np.inf, reasons, fixed, self.rule, (lower, upper))


class _Outcome(NamedTuple):
    """A field on the fixed vertices and its bracket; entries of other vertices are not used."""

    status: Status
    fixed: BoolArray
    values: FloatArray
    lower: FloatArray | None = None
    upper: FloatArray | None = None
    kept: _Retraced | list[Fraction] | None = None
    """What a proof of the bracket can be made from."""


def _unproved(scaled: Scaled, fixing: Fixing, status: Status) -> _Outcome:
    """Return the field of the divide and conquer unchanged, without a bracket."""
    plain = Pair(fixing.values, np.zeros(fixing.values.size))
    return _Outcome(status, fixing.fixed, scaled.values(plain))


def _bracketed(scaled: Scaled, fixing: Fixing, proof: Bracket) -> _Outcome:
    """Return the field with more digits, and its bracket."""
    if not scaled.exact:  # the proof is for other labels
        return _unproved(scaled, fixing, Status.UNVERIFIED)
    values, lower, upper = scaled.enclosed(proof.field, proof.below, proof.above)
    if proof.width <= LOOSE * scaled.span:
        kept = _Retraced(proof.piece, proof.field, _logged(fixing, proof))
        return _Outcome(Status.CONVERGED, fixing.fixed, values, lower, upper, kept)
    # retracing itself may have caused the failure: the plain field is safer
    plain = _unproved(scaled, fixing, Status.UNVERIFIED)
    return plain._replace(values=np.clip(plain.values, lower, upper), lower=lower, upper=upper)


def _logged(fixing: Fixing, proof: Bracket) -> Fixing:
    """Return the order of fixing with the more accurate field, for rationals to repeat."""
    return fixing._replace(values=proof.field.high, along=None)


def _decided(problem: Problem, result: _Outcome, fixing: Fixing) -> _Outcome:
    """Keep the bounds if they prove which vertices to fill; else decide in rationals."""
    status, fixed, values, lower, upper, _ = result
    if (
        status is Status.CONVERGED
        and (lower is not None and upper is not None)
        and ties_decided(problem, fixing, lower, upper)
    ):
        return result
    exact = rational_amle(problem, fixing)
    if exact is None:
        return _Outcome(Status.UNVERIFIED, fixed, values)
    return _Outcome(Status.CONVERGED, *exact[:4], exact.exact)
