"""Kernels of Markov decision processes beside naive twins, in rationals or plain Python."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import wayfield as wf
from wayfield.mdp import kernels as chance
from wayfield.numerics.doubledouble import Pair
from wayfield.numerics.krylov import Matrix, biconjugate_gradients


def random_process(rng: np.random.Generator, n: int) -> chance.MDP:
    rows = [
        (s, a, int(y), float(rng.integers(1, 9)), float(rng.uniform(0.1, 1.0)))
        for s in range(n)
        for a in range(3)
        for y in rng.choice(n, size=int(rng.integers(1, 4)), replace=False)
    ]
    return wf.Transitions(*map(list, zip(*rows, strict=True)), num_states=n)._process


@pytest.mark.parametrize("seed", range(10))
def test_numbered_choices_are_those_of_the_process(seed: int) -> None:
    rng = np.random.default_rng(seed)
    process = random_process(rng, 12)
    allowed = (process.fee < np.inf) & (rng.random(process.fee.size) < 0.8)
    order = rng.permutation(12)[:9]
    choices = chance.Choices(*chance.numbered(process, allowed, order))
    seen = 0
    for i, s in enumerate(order):
        mine = [k for k in range(process.first[s], process.first[s + 1]) if allowed[k]]
        assert choices.which[choices.first[i] : choices.first[i + 1]].tolist() == mine
        for k in mine:
            span = range(process.ptr[k], process.ptr[k + 1])
            expected = {
                (list(order).index(process.heads[e]), process.odds[e])
                for e in span
                if process.odds[e] > 0 and process.heads[e] in order
            }
            part = slice(choices.ptr[seen], choices.ptr[seen + 1])
            assert set(zip(choices.heads[part], choices.odds[part], strict=True)) == expected
            assert choices.fee[seen] == process.fee[k]
            outside = any(process.odds[e] > 0 and process.heads[e] not in order for e in span)
            assert choices.ends[seen] == outside
            seen += 1
    assert seen == choices.which.size


@pytest.mark.parametrize("seed", range(10))
def test_a_sweep_takes_the_best_choice_of_every_state(seed: int) -> None:
    rng = np.random.default_rng(seed)
    process = random_process(rng, 10)
    choices = chance.Choices(*chance.numbered(process, process.fee < np.inf, rng.permutation(10)))
    gaps, stops = rng.normal(size=choices.which.size), rng.normal(1.0, 1.0, size=10)
    change, policy = rng.normal(size=10), choices.first[:-1].copy()
    expected, moves, updates = change.copy(), [], []
    for i in range(10):
        options = {-1: stops[i]}
        for k in range(choices.first[i], choices.first[i + 1]):
            part = slice(choices.ptr[k], choices.ptr[k + 1])
            options[k] = gaps[k] + choices.odds[part] @ expected[choices.heads[part]]
        moves.append(min(options, key=lambda k: options[k]))
        unit = choices.fee[moves[-1]] if moves[-1] >= 0 else 1.0
        updates.append(abs(options[moves[-1]] - expected[i]) / unit)
        expected[i] = options[moves[-1]]
    before = policy.copy()
    most, changed = chance.sweep(choices, gaps, stops, change, policy)
    assert change == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert policy.tolist() == moves
    assert changed == (before != np.array(moves)).sum()
    assert most == pytest.approx(max(updates))
    *arrays, residual, _, descends = chance.chosen_rows(choices, gaps, stops, change, policy)
    rows = Matrix(*arrays)
    assert descends == all(
        policy[i] < 0 or (rows.indices[slice(*rows.indptr[i : i + 2])] < i).any() for i in range(10)
    )
    for i in range(10):
        onward = (
            rows.data[rows.indptr[i] : rows.indptr[i + 1]]
            @ change[rows.indices[rows.indptr[i] : rows.indptr[i + 1]]]
        )
        start = gaps[policy[i]] if policy[i] >= 0 else stops[i]
        assert residual[i] == pytest.approx(start + onward - change[i], abs=1e-12)


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


@pytest.mark.parametrize("seed", range(10))
def test_moves_are_solved_by_sweeps_and_biconjugate_gradients(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 40
    odds = rng.random((n, n)) * (rng.random((n, n)) < 0.15)
    odds = 0.97 * odds / np.maximum(odds.sum(axis=1, keepdims=True), 1.0)
    rows = [np.flatnonzero(row) for row in odds]
    ptr = np.cumsum([0, *map(len, rows)]).astype(np.uint32)
    columns = np.concatenate(rows).astype(np.uint32)
    data = np.concatenate([odds[i, row] for i, row in enumerate(rows)])
    rhs, x = rng.normal(size=n), np.zeros(n)
    r = rhs.copy()
    left = biconjugate_gradients(Matrix(ptr, columns, data), x, r, 1e-10, 200, np.inf)
    assert left <= 1e-10
    assert np.abs(rhs - x + odds @ x).max() <= 2e-10
    assert r == pytest.approx(rhs - x + odds @ x, abs=1e-12)


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


@pytest.mark.parametrize("relief", [0.3, 0.0, np.nan])
def test_the_unit_of_a_free_choice_is_its_relief_per_count(relief: float) -> None:
    moves = wf.Transitions([1, 1, 1], [0, 0, 0], [0, 1, 2], count=[1, 3, 1], cost=[0, 0, 0])
    process = moves._process._replace(relief=np.array([relief]))
    choices = chance.Choices(*chance.numbered(process, np.ones(1, dtype=bool), np.array([1])))
    leaving = process.counts[0] + process.counts[2]
    assert choices.fee.tolist() == [relief / leaving if relief > 0.0 else 1.0]


@pytest.mark.parametrize("give_up", [np.inf, 3.0])
@pytest.mark.parametrize("seed", range(8))
def test_the_first_policy_settles_states_by_their_least_estimate(seed: int, give_up: float) -> None:
    """Beside a search of all choices before every step."""
    rng = np.random.default_rng(seed)
    process = random_process(rng, 10)
    fixed, allowed = np.arange(10) < 2, process.fee < np.inf
    values = np.zeros(10)
    policy = chance.first_policy(process, fixed, allowed, values, give_up)
    settled = {0: 0.0, 1: 0.0}
    if give_up < np.inf:
        alive = set(process.owner[allowed].tolist())
        settled |= {s: give_up for s in range(2, 10) if s not in alive}
    taken = dict.fromkeys(settled, -1)
    while True:
        best = (give_up, -1)
        for k in np.flatnonzero(allowed):
            rows = range(process.ptr[k], process.ptr[k + 1])
            there = [(process.odds[e], settled.get(int(process.heads[e]))) for e in rows]
            known = [(p, v) for p, v in there if v is not None and p > 0.0]
            if known and int(process.owner[k]) not in settled:
                mass = sum(p for p, _ in known)
                key = (process.fee[k] + sum(p * v for p, v in known)) / mass
                best = min(best, (key, int(k)))
        if best[1] < 0:
            break
        s = int(process.owner[best[1]])
        settled[s], taken[s] = best
    assert policy.tolist() == [taken.get(s, -1) for s in range(10)]
    assert values == pytest.approx([settled.get(s, give_up) for s in range(10)], rel=1e-12)
