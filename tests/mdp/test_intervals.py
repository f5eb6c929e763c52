"""Interval odds: against all vertices of the polytopes in rationals, and bad input."""

from __future__ import annotations

import itertools
from math import inf
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from exact_chance import of_plan
from wayfield.checks import frozen
from wayfield.mdp.kernels import extremes

Choice = tuple[list[int], list[float], list[float], list[float]]


def vertices(low: list[float], high: list[float]) -> list[tuple[float, ...]]:
    """All vertices of {low <= p <= high, Σ p = 1}: all coordinates but one at a bound."""
    found = set()
    for free in range(len(low)):
        others = [(low[i], high[i]) for i in range(len(low)) if i != free]
        for ends in itertools.product(*others):
            rest = 1.0 - sum(ends)
            if low[free] <= rest <= high[free]:
                found.add((*ends[:free], rest, *ends[free:]))
    return sorted(found)


def random_choices(rng: np.random.Generator, free: int) -> list[list[Choice]]:
    """One or two choices at each free state, with bounds in 32nds: their sums are exact."""
    out = []
    for _ in range(free):
        mine: list[Choice] = []
        for _ in range(int(rng.integers(1, 3))):
            size = int(rng.integers(2, 4))
            heads = np.sort(rng.choice(free + 2, size, replace=False)).tolist()
            odds = rng.multinomial(32, rng.dirichlet(np.ones(size)))
            room = rng.integers(0, 9, (2, size))
            low, high = np.maximum(odds - room[0], 0) / 32, np.minimum(odds + room[1], 32) / 32
            mine.append(
                (heads, low.tolist(), high.tolist(), rng.choice([0.5, 1, 2], size).tolist())
            )
        out.append(mine)
    return out


def process_of(choices: list[list[Choice]]) -> wf.Transitions:
    rows = [
        (s, a, y, low, high, cost)
        for s, mine in enumerate(choices)
        for a, choice in enumerate(mine)
        for y, low, high, cost in zip(*choice, strict=True)
    ]
    state, action, following, low, high, cost = map(list, zip(*rows, strict=True))
    return wf.Transitions.from_intervals(
        state, action, following, low, high, cost, len(choices) + 2
    )


def of_all_odds(
    choices: list[list[Choice]], plan: list[int], give_up: float | None
) -> tuple[list[list[object]], list[list[object]]]:
    """Exact costs and reaches of a plan at every combination of vertices."""
    goal, n = len(choices), len(choices) + 2
    options = []
    for s, mine in enumerate(choices):
        if plan[s] < 0:
            options.append([None])
        else:
            heads, low, high, cost = mine[plan[s]]
            options.append([(heads, p, cost) for p in vertices(low, high)])
    costs, reaches = [], []
    for picked in itertools.product(*options):
        rows = [
            (s, plan[s], y, p, c)
            for s, one in enumerate(picked)
            if one is not None
            for y, p, c in zip(*one, strict=True)
            if p > 0.0
        ]
        rows = rows or [(n - 1, 0, n - 1, 1.0, 1.0)]
        moves = wf.Transitions(*map(list, zip(*rows, strict=True)), num_states=n)
        # the last state is a dead end, in the odd process without rows as well
        cost, reach = of_plan(moves, [*plan, -1, -1], {goal: 0.0}, give_up)
        costs.append(list(cost))
        reaches.append(list(reach))
    return costs, reaches


@pytest.mark.parametrize("seed", range(8))
def test_brackets_hold_what_all_vertices_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    free = 3
    choices = random_choices(rng, free)
    give_up = (None, 3.0, 10.0, 40.0)[seed % 4]
    moves = process_of(choices)
    stop = [] if give_up is None else [-1]
    plans = list(itertools.product(*([*stop, *range(len(mine))] for mine in choices)))
    table = {plan: of_all_odds(choices, list(plan), give_up) for plan in plans}
    for odds, over_odds in (("worst", max), ("best", min)):
        field = wf.expected_cost(moves, free, give_up, odds=odds)
        for s in range(free):
            exact = min(over_odds(cost[s] for cost in table[plan][0]) for plan in plans)
            assert field.lower[s] <= exact <= field.upper[s], (odds, s, float(exact))
            assert (exact == inf) == (field.values[s] == inf)
        finite = np.isfinite(field.values)
        assert field.width <= 1e-11
        plan = tuple(field.plan[:free].tolist())
        over_reach = min if odds == "worst" else max
        for s in np.flatnonzero(finite[:free]):
            if give_up is None:
                assert field.reach[s] == 1.0
                continue
            exact = over_reach(reach[s] for reach in table[plan][1])
            assert field.reach_lower[s] <= exact <= field.reach_upper[s], (odds, s, float(exact))
            assert odds == "best" or field.reach_upper[s] - field.reach_lower[s] <= 1e-11


def one_choice(size: int) -> list[Any]:
    """Return one choice with outcomes 1 … size, in the types that a process has."""
    return [np.array(array, np.uint32) for array in ([0, size], range(1, size + 1), [0])]


def test_the_kernel_is_the_best_vertex() -> None:
    rng = np.random.default_rng(5)
    for _ in range(60):
        size = int(rng.integers(1, 5))
        odds = rng.multinomial(64, rng.dirichlet(np.ones(size)))
        low = np.maximum(odds - rng.integers(0, 9, size), 0) / 64
        high = np.minimum(odds + rng.integers(0, 9, size), 64) / 64
        values, costs = rng.normal(size=size + 1), rng.random(size)
        gains = costs + values[1:] - values[0]
        bounds = frozen(low), frozen(high)  # as a process has them
        for sign in (1.0, -1.0):
            shape = one_choice(size)
            attained = np.empty(size)
            found, error = extremes(*shape, *bounds, costs, values, sign, attained)
            best = max(sign * np.dot(p, gains) for p in vertices(low.tolist(), high.tolist()))
            assert abs(sign * found[0] - best) <= error[0] <= 1e-12
            assert ((low <= attained) & (attained <= high)).all()
            assert attained.sum() == pytest.approx(1.0, abs=1e-15)


def test_many_outcomes_are_sorted_as_few_are() -> None:
    rng = np.random.default_rng(6)
    size = 200
    low, high = frozen(np.full(size, 0.25 / size)), frozen(np.full(size, 2.0 / size))
    values, costs = np.append(0.0, rng.integers(0, 9, size)), np.ones(size)
    shape = one_choice(size)
    gains = 1.0 + values[1:]
    for sign in (1.0, -1.0):
        attained = np.empty(size)
        found, error = extremes(*shape, low, high, costs, values, sign, attained)
        left, best = 1.0 - low.sum(), np.dot(low, gains)
        for i in np.argsort(-sign * gains, kind="stable"):
            more = min(high[i] - low[i], left)
            left, best = left - more, best + more * gains[i]
        assert abs(found[0] - best) <= error[0]


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


@pytest.mark.parametrize("odds", ["worst", "best"])
def test_giving_up_may_cost_a_million_moves(odds: str) -> None:
    moves = wf.Transitions.from_intervals([0, 0], [0, 0], [1, 2], [0.5, 0.1], [0.9, 0.5])
    field = wf.expected_cost(moves, 1, give_up=1e6, odds=odds)
    assert field.values[0] == pytest.approx(1.0 + (0.5e6 if odds == "worst" else 0.1e6))


def test_a_hub_of_many_outcomes() -> None:
    n = 10_000
    s = np.arange(1, n)
    state = np.concatenate([np.zeros(n - 1, int), s])
    following = np.concatenate([s, np.full(n - 1, n)])
    bounds = np.repeat([[0.5 / n, 1.0], [2.0 / n, 1.0]], n - 1, axis=1)
    cost = np.concatenate([np.ones(n - 1), s / n])
    hub = wf.Transitions.from_intervals(state, np.zeros_like(state), following, *bounds, cost)
    assert wf.expected_cost(hub, n, odds="worst").status.good


def test_points_are_known_odds() -> None:
    rng = np.random.default_rng(1)
    n = 40
    state, action = np.repeat(np.arange(n), 6), np.tile(np.repeat([0, 1], 3), n)
    known = wf.Transitions(state, action, rng.integers(0, n, 6 * n), rng.integers(1, 9, 6 * n))
    choice = np.repeat(np.arange(known.num_choices), np.diff(known.outcome_indptr))
    p = known.probabilities
    where = (known.states[choice], known.actions[choice], known.next_states)
    points = wf.Transitions.from_intervals(*where, p, p, None, n)
    truth = wf.expected_cost(known, 0, give_up=50.0)
    for odds in ("worst", "best"):
        field = wf.expected_cost(points, 0, give_up=50.0, odds=odds)
        assert field.values == pytest.approx(truth.values, rel=1e-12)
        assert field.reach == pytest.approx(truth.reach, abs=1e-12)
        assert field.odds == odds


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


def test_a_longer_grid_is_solved_and_bracketed() -> None:
    rng = np.random.default_rng(3)
    n = 400
    state, action = np.repeat(np.arange(n), 6), np.tile(np.repeat([0, 1], 3), n)
    following = np.clip(state + rng.integers(-3, 8, 6 * n), 0, n - 1)
    moves = wf.Transitions(state, action, following, rng.integers(1, 30, 6 * n)).with_intervals()
    for odds in ("worst", "best"):
        field = wf.expected_cost(moves, n - 1, give_up=1000.0, odds=odds)
        assert field.width <= 1e-8
        assert field.status.good


def test_intervals_need_odds_and_odds_need_intervals() -> None:
    moves = wf.Transitions.from_intervals([0, 0], [0, 0], [1, 0], [0.5, 0.1], [0.9, 0.5])
    with pytest.raises(wf.InputError, match="these odds are intervals: pass odds="):
        wf.expected_cost(moves, 1)
    with pytest.raises(wf.InputError, match="odds= needs intervals"):
        wf.expected_cost(wf.Transitions([0], [0], [1]), 1, odds="worst")
    with pytest.raises(wf.InputError, match='odds must be "worst", "best" or None, got 3'):
        wf.expected_cost(moves, 1, odds=3)  # type: ignore[arg-type]
    with pytest.raises(wf.InputError, match="doubt needs counts"):
        wf.expected_cost(moves, 1, odds="worst").doubt()


@pytest.mark.parametrize(
    ("low", "high", "message"),
    [
        ([0.5, 0.6], [0.9, 0.9], r"action 0 at state 0 cannot sum to 1: .* sum to 1.1 .* to 1.8"),
        ([0.1, 0.1], [0.3, 0.3], r"cannot sum to 1: .* sum to 0.2 .* to 0.6"),
        ([0.5, 0.4], [0.4, 0.9], r"low\[0\] = 0.5 is larger than high"),
        ([-0.1, 0.1], [0.9, 0.9], r"low\[0\] = -0.1 is not between 0 and 1"),
        ([0.1, 0.1], [0.9, np.nan], r"high\[1\] = nan is not between 0 and 1"),
        ([0.1, 0.1, 0.1], [0.9, 0.9], r"low has 3 entries, expected 2"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(
    low: list[float], high: list[float], message: str
) -> None:
    with pytest.raises(wf.InputError, match=message):
        wf.Transitions.from_intervals([0, 0], [0, 0], [0, 1], low, high)


def test_outcomes_given_twice_are_refused() -> None:
    with pytest.raises(wf.InputError, match="given once, got 1 repeated row"):
        wf.Transitions.from_intervals([0, 0], [0, 0], [1, 1], 0.2, 0.9)


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
