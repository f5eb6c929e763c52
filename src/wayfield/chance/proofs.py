"""Proofs of expected cost as files.

The values of the plan are computed again in double-doubles, v = value + low part. From them, with m
the least end value and C̃ the mean cost of a choice plus what its mean move lowers a barrier b, the
sub- and supersolutions of `chance._solver` follow by scaling. The file holds low parts and powers
of two, rounded so that the checker, in exact arithmetic, finds them sufficient:

    l = v - 2^-e ((v - m) + b),   u = v + 2^-e' ((v - m) + b'),
    h ∓ 2^-e" ((v - m) + b')      for the probability h of arrival.

With positive costs b = b' = 0. Where the plan makes free moves, or may walk on for ever, b' is its
expected number of moves, in proportion. The page ``docs/proofs-of-expected-cost.md`` has the
theorems, their proofs and the file format.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .. import _proof_file as proof_file
from .._proof_file import Section
from ..errors import InputError
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.chance import Process, policy_reaching
from ..kernels.chance_proof import infinite_layers, mean_falls, ranks, worst_ratio
from ..kernels.doubledouble import Pair
from ._solver import STAGES, _rounded_up, _shifted, evaluate, value_of

if TYPE_CHECKING:
    from .expected import ExpectedCost

SINGLE = 2.0**-56
"""Low parts have single precision if the bracket is this narrow then, or no wider than twice."""
UNPROVED = "the bracket of this result cannot be written as a proof: {}"


def cost_sections(field: ExpectedCost, names: Sequence[str] | None) -> list[Section]:
    """Return the sections of a result and its proof; raise `InputError` if there is no proof."""
    from .expected import _boundary  # which imports this module

    moves, boundary = field.transitions, _boundary(
        field.transitions, field.goal, field.labels, field.give_up
    )
    process, exponent, n = moves._process, moves._cost_exponent, moves.num_states
    fixed, policy = boundary.fixed, moves._choices(field.plan)
    stops = (policy < 0) & ~fixed & (boundary.give_up < np.inf)
    values = np.ldexp(field.values, -exponent)
    solved = value_of(process, policy, boundary, values)
    finite = np.isfinite(solved.pair.high)
    if (finite != np.isfinite(values)).any():
        s = int(np.argmax(finite != np.isfinite(values)))
        raise InputError(UNPROVED.format(f"values[{s}] = {field.values[s]} is not the plan's"))

    # which choices the claim is about, and where the plan moves at a finite cost
    moving = np.flatnonzero(finite & (policy >= 0))
    chosen = policy[moving]
    leads_away = np.logical_or.reduceat(~finite[process.heads], process.ptr[:-1])
    about = chosen
    if field.optimal:
        about = np.flatnonzero((finite & ~fixed)[process.owner] & ~leads_away)
    none = np.zeros(process.owner.size)

    def ratios(low: FloatArray) -> tuple[float, float]:
        """By how much, in relation to their costs, choices undercut or exceed these values."""
        pair = _normalised(np.where(finite, values, 0.0), low)
        below = worst_ratio(process, about, pair, 1.0, -1.0, none)
        above = worst_ratio(process, chosen, pair, 1.0, 1.0, none)
        return below, above / (1.0 - above) if above < 1.0 else np.inf

    with np.errstate(invalid="ignore"):
        rest = np.where(finite, (solved.pair.high - values) + solved.pair.low, 0.0)
    low, stored = _stored(rest, exponent, lambda low: max(ratios(low)))
    pair = _normalised(np.where(finite, values, 0.0), low)
    below, above = ratios(low)
    if field.optimal and boundary.give_up < np.inf:
        # the lower barrier must not exceed what giving up costs
        excess = (pair.high - boundary.give_up) + pair.low
        height = np.maximum(pair.high - boundary.floor, np.finfo(float).tiny)
        below = max(below, float(_rounded_up(excess / height)[finite & ~fixed].max(initial=0.0)))
    powers = [_exponent(below, "below"), _exponent(above, "above")]
    free = np.flatnonzero(finite & ~fixed)
    inner = Pair(pair.high[free], pair.low[free])
    height = _rounded_up(np.abs(inner.high) + abs(boundary.floor))
    lower, upper = field.lower.copy(), field.upper.copy()
    for bound, e, side, tighter in ((lower, powers[0], -1.0, np.minimum), (upper, powers[1], 1.0, np.maximum)):
        proved = np.ldexp(_shifted(inner, _power(e) * height, side), exponent)
        bound[free] = tighter(bound[free], proved)

    # the process
    sizes, per_choice = np.diff(moves.indptr), np.diff(moves.outcome_indptr)
    ends = np.flatnonzero(fixed)
    price = np.inf if field.give_up is None else field.give_up
    head: list[Section] = [
        ("proc", struct.pack("<4Q", n, moves.num_choices, moves.counts.size, ends.size)),
        proof_file.counts("choi", sizes),
    ]
    if (moves.actions != np.arange(moves.num_choices) - np.repeat(moves.indptr[:-1], sizes)).any():
        head.append(proof_file.counts("acti", moves.actions))
    head += [
        proof_file.counts("outc", per_choice),
        proof_file.counts("head", moves.next_states),
        _once("coun", moves.counts),
        _once("cost", moves.costs),
        proof_file.counts("endv", ends),
        proof_file.doubles("endy", np.ldexp(boundary.values[ends], exponent)),
    ]
    if names is not None:
        head += _names(names, n)

    # the answer
    plan = np.where(policy >= 0, policy - moves.indptr[:-1] + 1, 0)
    answer = [
        proof_file.counts("plan", plan),
        proof_file.doubles("valu", field.values),
        proof_file.counts("lowr", proof_file.doubles_between(lower, field.values)),
        proof_file.counts("uppr", proof_file.doubles_between(field.values, upper)),
    ]
    reasons = [stored("vlow", rest)]
    ...
    return head
