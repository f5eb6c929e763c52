"""Interval odds: against rationals, and where bounds come from."""

from __future__ import annotations

from math import inf
from pathlib import Path

import numpy as np
import pytest

import wayfield as wf
from chance_proofs import (
    all_in_one,
    counts_of,
    extreme_reach,
    least_worst_cost,
    process_of,
    random_field,
)
from exact_chance import least_expected_cost
from proofs import File
from wayfield.checks import frozen
from wayfield.mdp.kernels import extremes


@pytest.mark.parametrize("odds", ["worst", "best"])
@pytest.mark.parametrize("seed", range(10))
def test_brackets_hold_what_rationals_give(seed: int, odds: str, tmp_path: Path) -> None:
    field = random_field(seed, odds)
    file = File(field.write_proof(tmp_path / "a.proof"))
    options, ends = process_of(file)
    plan = [a or -1 for a in counts_of(file, "plan", len(options))]
    if odds == "worst":
        exact = least_worst_cost(options, ends, field.give_up)
    else:
        exact = least_expected_cost(all_in_one(options), ends, field.give_up)
    reach = extreme_reach(options, plan, ends, 1 if odds == "best" else -1)
    for s, (cost, chance) in enumerate(zip(exact, reach, strict=True)):
        assert field.lower[s] <= cost <= field.upper[s]
        assert (cost == inf) == (field.values[s] == inf)
        if cost < inf:
            assert field.reach_lower[s] <= chance <= field.reach_upper[s]
    finite = np.isfinite(field.values)
    assert field.width <= 1e-9 * max(1.0, np.abs(field.values[finite]).max(initial=1.0))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 200])
def test_the_kernel_fills_up_the_most_extreme_outcomes(size: int) -> None:
    """A few outcomes, and many, which are sorted in another way."""
    rng = np.random.default_rng(size)
    shape = [np.array(array, np.uint32) for array in ([0, size], range(1, size + 1), [0])]
    for _ in range(20):
        odds = rng.multinomial(2**14, rng.dirichlet(np.ones(size)))
        room = rng.integers(0, 2000, (2, size))
        low = frozen(np.maximum(odds - room[0], 0) / 2**14)  # sums are exact
        high = frozen(np.minimum(odds + room[1], 2**14) / 2**14)
        values, costs = rng.normal(size=size + 1), rng.random(size)
        gains = costs + values[1:] - values[0]
        for sign in (1.0, -1.0):
            attained = np.empty(size)
            found, error = extremes(*shape, low, high, costs, values, sign, attained)
            best, left = low @ gains, 1.0 - low.sum()
            for i in np.argsort(-sign * gains):
                more = min(high[i] - low[i], left)
                best, left = best + more * gains[i], left - more
            assert abs(found[0] - best) <= error[0] <= 1e-11
            assert attained @ gains == pytest.approx(best)
            assert ((low <= attained) & (attained <= high)).all()
            assert attained.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("weights", [[7, 7, 9, 5, 6, 9, 3], [9, 1, 7, 7, 3]])
def test_bounds_that_sum_to_1_but_for_rounding(weights: list[int]) -> None:
    """46ths sum to less than 1 in doubles and to more exactly; 27ths the other way round."""
    k = len(weights)
    high = [*(w / sum(weights) for w in weights), 0.5, *[1.0] * k]
    low = [*[0.0] * (k + 1), *[1.0] * k]
    state, action = [*[0] * (k + 1), *range(1, k + 1)], [0] * (2 * k + 1)
    # with the best odds the trap is avoided
    trap = [*range(1, k + 1), k + 2, *[k + 1] * k]
    moves = wf.Transitions.from_intervals(state, action, trap, low, high, num_states=k + 3)
    assert wf.expected_cost(moves, k + 1, odds="best").values[0] == pytest.approx(2.0)
    # with the worst the goal is
    around = [*range(1, k + 1), k + 1, *[0] * k]
    moves = wf.Transitions.from_intervals(state, action, around, low, high)
    assert wf.expected_cost(moves, k + 1, odds="worst").values[0] == inf


def test_a_hub_of_many_outcomes() -> None:
    n = 10_000
    s = np.arange(1, n)
    state = np.concatenate([np.zeros(n - 1, int), s])
    following = np.concatenate([s, np.full(n - 1, n)])
    bounds = np.repeat([[0.5 / n, 1.0], [2.0 / n, 1.0]], n - 1, axis=1)
    cost = np.concatenate([np.ones(n - 1), s / n])
    hub = wf.Transitions.from_intervals(state, np.zeros_like(state), following, *bounds, cost)
    assert wf.expected_cost(hub, n, odds="worst").status.good


def test_boxes_from_counts_hold_the_odds_and_grow_with_the_level() -> None:
    moves = wf.Transitions([0, 0, 0], [0, 0, 1], [1, 2, 1], [9, 1, 10])
    some, most = moves.with_intervals(0.8), moves.with_intervals()
    assert (most.low <= some.low).all()
    assert (some.high <= most.high).all()
    # action 1 never led to 2, but action 0 did; four intervals: 1 - (0.025 / 4) ** (1 / 10)
    assert most.high[3] == pytest.approx(1 - 0.00625**0.1)
    assert most.low[3] == 0.0
    assert most.high[2] == 1.0
    field = wf.expected_cost(moves, 1, give_up=20.0)
    worst = wf.expected_cost(most, 1, give_up=20.0, odds="worst")
    best = wf.expected_cost(most, 1, give_up=20.0, odds="best")
    assert best.values[0] <= field.values[0] <= worst.values[0]


def slippery(side: int, samples: int, seed: int) -> wf.Transitions:
    """A grid where a move slides to either side one time in five, sampled a few times."""
    rng = np.random.default_rng(seed)
    x, y = (part.ravel() for part in np.indices((side, side)))
    rows = []
    for a in range(4):
        drawn = rng.multinomial(samples, [0.6, 0.2, 0.2], size=side * side)
        for turn, count in zip((0, 1, 3), drawn.T, strict=True):
            dx, dy = ((0, 1), (1, 0), (0, -1), (-1, 0))[(a + turn) % 4]
            to = np.clip(x + dx, 0, side - 1) * side + np.clip(y + dy, 0, side - 1)
            rows.append((x * side + y, np.full(side * side, a), to, count))
    state, action, following, count = (np.concatenate(part) for part in zip(*rows, strict=True))
    keep = (count > 0) & (state > 0)
    return wf.Transitions(state[keep], action[keep], following[keep], count[keep])


def test_giving_up_bounds_the_walks_against_the_worst_odds() -> None:
    """From ten samples, nature can make walks that never give up longer than doubles can hold."""
    boxes = slippery(40, 10, 3).with_intervals(0.95)
    field = wf.expected_cost(boxes, goal=0, give_up=1000, odds="worst")
    assert field.values.max() == 1000.0
    assert field.width <= 1e-7
    with pytest.raises(wf.NotConverged):
        wf.expected_cost(boxes, goal=0, odds="worst")


@pytest.mark.parametrize("odds", ["worst", "best"])
def test_a_coarse_bracket_holds_the_fine_one(odds: str) -> None:
    boxes = slippery(20, 200, 4).with_intervals(0.95)
    fine = wf.expected_cost(boxes, goal=0, give_up=1000, odds=odds)
    coarse = wf.expected_cost(boxes, goal=0, give_up=1000, odds=odds, rtol=0.1)
    assert coarse.iterations < fine.iterations
    assert (coarse.lower <= fine.upper).all()
    assert (fine.lower <= coarse.upper).all()
    assert (coarse.upper - coarse.lower <= 0.2 * coarse.values + 1e-9).all()
