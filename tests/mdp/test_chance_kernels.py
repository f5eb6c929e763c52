"""Kernels of Markov decision processes beside naive twins, in rationals or plain Python."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import wayfield as wf
from wayfield.mdp import kernels as chance
from wayfield.numerics.doubledouble import Pair


def random_process(rng: np.random.Generator, n: int) -> chance.MDP:
    rows = [
        (s, a, int(y), float(rng.integers(1, 9)), float(rng.uniform(0.1, 1.0)))
        for s in range(n)
        for a in range(3)
        for y in rng.choice(n, size=int(rng.integers(1, 4)), replace=False)
    ]
    return wf.Transitions(*map(list, zip(*rows, strict=True)), num_states=n)._process


def test_a_tie_keeps_its_choice() -> None:
    process = wf.Transitions([1, 1], [0, 1], [0, 0])._process
    choices = chance.Choices(*chance.numbered(process, process.fee < np.inf, np.array([1])))
    for own in (0, 1):
        policy, change = np.array([own]), np.zeros(1)
        gaps = np.array([1.0, 1.0]) * (1.0 + 2.0**-52 * np.array([own, -own]))
        assert chance.sweep(choices, gaps, np.full(1, np.inf), change, policy)[1] == 0
        assert policy[0] == own


@pytest.mark.parametrize("enough", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("seed", range(20))
def test_ratios_of_a_check_bound_those_in_rationals(seed: int, enough: float) -> None:
    """Also where plain doubles decide: at values of 1e6 a balance of 1e-4 is not clear to them."""
    rng = np.random.default_rng(seed)
    process = random_process(rng, 8)
    allowed = process.fee < np.inf
    scale = 10.0 ** rng.integers(0, 7)
    values = Pair(scale + rng.uniform(0, 1e-4, 8), rng.uniform(-1, 1, 8) * 2.0**-60 * scale)
    policy = np.array([first + rng.integers(3) for first in process.first[:-1]])
    policy = np.where(allowed[policy], policy, -1)
    gaps = np.zeros(allowed.size)
    above, below = chance.optimality_check(
        process, allowed, np.arange(8), np.inf, values, policy, gaps, enough
    )
    exact = [Fraction(h) + Fraction(low) for h, low in zip(*values, strict=True)]
    over, under = [], []
    for k in np.flatnonzero(allowed):
        s, span = process.owner[k], range(process.ptr[k], process.ptr[k + 1])
        counts = {e: Fraction(process.counts[e]) for e in span}
        paid = sum(counts[e] * Fraction(process.costs[e]) for e in span)
        balance = paid + sum(counts[e] * (exact[process.heads[e]] - exact[s]) for e in span)
        leaving = sum(counts[e] for e in span if process.heads[e] != s)
        slack = enough * float(paid / leaving)
        assert gaps[k] == pytest.approx(float(balance / leaving), rel=1e-6, abs=slack)
        under.append(-balance / paid)
        if policy[s] == k:
            over.append(balance / paid)
    slack = 1e-12 + 2.0 * enough
    assert max(over) <= above <= float(max(*over, 0)) * (1 + 1e-9) + slack
    assert max(under) <= below <= float(max(*under, 0)) * (1 + 1e-9) + slack


@pytest.mark.parametrize("at", range(3))
def test_a_value_that_is_no_number_proves_nothing(at: int) -> None:
    """Wherever it is: what is measured after it must not make it forgotten."""
    process = wf.Transitions([1, 2, 3], [0, 0, 0], [0, 1, 2])._process
    values = Pair(np.arange(4.0), np.zeros(4))
    values.high[at] = np.nan
    policy, states = np.array([-1, 0, 1, 2]), np.array([1, 2, 3])
    allowed = np.ones(3, dtype=bool)
    for enough in (0.0, 1e-3):
        ratios = chance.optimality_check(
            process, allowed, states, np.inf, values, policy, np.zeros(3), enough
        )
        assert ratios == (np.inf, np.inf)
    assert chance.policy_check(process, policy, states, values, 1.0)[1:] == (np.inf, np.inf)


@pytest.mark.parametrize(("relief", "proved"), [(0.5, True), (-2.0, False), (np.nan, False)])
def test_a_choice_above_0_by_far_needs_a_cost_all_the_same(relief: float, proved: bool) -> None:
    """Where cost plus relief is not positive, scaling proves nothing, however large the balance."""
    process = wf.Transitions([1, 1], [0, 1], [0, 0], cost=[1, 1])._process
    process = process._replace(relief=np.array([0.0, relief]))
    values = Pair(np.array([0.0, process.costs[0]]), np.zeros(2))
    far = process._replace(costs=process.costs * np.array([1.0, 1.5]))
    policy, allowed = np.array([-1, 0]), np.ones(2, dtype=bool)
    ratios = chance.optimality_check(
        far, allowed, np.array([1]), np.inf, values, policy, np.zeros(2), 0.0
    )
    assert (max(ratios) < 1e-20) == proved
