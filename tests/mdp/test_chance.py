"""Expected cost and arrival: against rationals, Dijkstra and closed forms."""

from __future__ import annotations

import copy
import pickle
import warnings
from itertools import pairwise
from math import inf
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfield as wf
from exact_chance import least_expected_cost, of_plan
from wayfield.fields import Status
from wayfield.mdp import doubt as rule
from wayfield.mdp import kernels as chance
from wayfield.mdp import solver as _solver
from wayfield.mdp.solver import PolicySystem
from wayfield.numerics.doubledouble import Pair
from wayfield_verify import verify
from worlds import random_graph

# ------------------------------------------------------------------ worlds

COSTS = {
    "unit": lambda rng: 1.0,
    "whole": lambda rng: float(rng.integers(1, 5)),
    "real": lambda rng: float(rng.uniform(0.01, 3.0)),
    "wild": lambda rng: float(10.0 ** rng.uniform(-6, 6)),
}


def random_moves(rng: np.random.Generator, n: int, costs: str = "wild") -> wf.Transitions:
    """Any process at all: dead ends, self-loops, certain loops, end components, sure moves."""
    rows = []
    for s in range(n):
        for a in range(int(rng.integers(0, 4))):
            heads = rng.choice(n, size=int(rng.integers(1, min(n, 3) + 1)), replace=False)
            if rng.random() < 0.2:
                heads = np.array([s])
            price = COSTS[costs]
            rows += [(s, a, int(y), int(rng.integers(1, 6)), price(rng)) for y in heads]
    rows = rows or [(0, 0, n - 1, 1, 1.0)]
    return wf.Transitions(*map(list, zip(*rows, strict=True)), num_states=n)


def random_question(
    rng: np.random.Generator, moves: wf.Transitions
) -> tuple[dict[int, float], int, float | None, wf.Labels | None]:
    n = moves.num_states
    goal = int(rng.integers(n))
    give_up = (None, None, 0.0, 0.5, 5.0, 50.0, 1e4)[int(rng.integers(7))]
    ends, labels = {goal: 0.0}, None
    other = int(rng.integers(n))
    if rng.random() < 0.3 and other != goal:
        ends[other] = float(rng.integers(-3, 20))
        labels = wf.Labels([other], [ends[other]])
    return ends, goal, give_up, labels


def chain(forward: float, back: float) -> wf.Transitions:
    """States 0, 1, 2; from 1 and 2 a step towards 0, or away from it."""
    return wf.Transitions([1, 1, 2, 2], [0, 0, 0, 0], [0, 2, 1, 2], [forward, back, forward, back])


# ------------------------------------------------------------------ the truth in rationals


@pytest.mark.parametrize("costs", COSTS)
def test_brackets_hold_the_exact_values_of_random_processes(costs: str) -> None:
    """A hundred and more, and the plan's own cost and arrival, under its odds and under others."""
    rng = np.random.default_rng([0, *costs.encode()])
    for _ in range(40):
        moves = random_moves(rng, int(rng.integers(2, 9)), costs)
        ends, goal, give_up, labels = random_question(rng, moves)
        field = wf.expected_cost(moves, goal, give_up, labels)
        exact = least_expected_cost(moves, ends, give_up)
        assert_between(field.lower, exact, field.upper)
        assert [v == inf for v in exact] == (field.values == inf).tolist()
        assert_between(field.lower, field.values, field.upper)
        size = np.abs(field.values[np.isfinite(field.values)]).max(initial=1.0)
        assert field.width <= 1e-14 * size
        cost, reach = of_plan(moves, field.plan.tolist(), ends, give_up)
        assert_between(field.lower, cost, field.upper)
        assert_between(field.reach_lower, reach, field.reach_upper)
        assert (field.reach_upper - field.reach_lower).max() <= 1e-14
        rows = list(rows_of(moves))
        rows[3] = rng.uniform(0.1, 1.0, moves.counts.size)
        others = wf.Transitions(*rows, num_states=moves.num_states)
        under = field.under(others)
        cost, reach = of_plan(others, field.plan.tolist(), ends, give_up)
        assert_between(under.lower, cost, under.upper)
        assert_between(under.reach_lower, reach, under.reach_upper)
        assert (under.plan == field.plan).all()


def assert_between(lower: object, exact: object, upper: object) -> None:
    rows = zip(np.asarray(lower).tolist(), list(exact), np.asarray(upper).tolist(), strict=True)  # type: ignore[call-overload]
    assert all(low <= value <= high for low, value, high in rows)


def test_the_random_processes_have_every_kind_of_trouble() -> None:
    """Else the test above would be weaker than it says."""
    seen = {"dead end": 0, "certain loop": 0, "infinite": 0, "gives up": 0, "risks": 0, "sure": 0}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        moves = random_moves(rng, int(rng.integers(2, 9)))
        _, goal, give_up, labels = random_question(rng, moves)
        field = wf.expected_cost(moves, goal, give_up, labels)
        alone = np.diff(moves.outcome_indptr) == 1
        only = moves.next_states[moves.outcome_indptr[:-1]] == moves.states
        seen["dead end"] += bool((np.diff(moves.indptr) == 0).any())
        seen["certain loop"] += bool((alone & only).any())
        seen["infinite"] += bool((field.values == inf).any())
        seen["gives up"] += bool(field.gives_up.any())
        seen["risks"] += bool(((field.reach > 0) & (field.reach < 1)).any())
        seen["sure"] += bool((field.reach == 1).sum() > 1)
    assert min(seen.values()) >= 20, seen


# ------------------------------------------------------------------ closed forms


def test_a_teleporter_is_worth_its_risk_or_not() -> None:
    """Exits: goal, back, dead end, alike; P(arrival) = 1/3 + P/3."""
    moves = wf.Transitions([0, 0, 0, 0], [0, 0, 0, 1], [1, 0, 2, 1], [7, 7, 7, 1], [1, 1, 1, 100.0])
    walks = wf.expected_cost(moves, 1, give_up=1000)
    assert walks.plan[0] == 1
    assert walks.reach[0] == walks.reach_lower[0] == 1.0
    jumps = wf.expected_cost(moves, 1, give_up=150)
    assert jumps.plan[0] == 0
    assert jumps.reach[0] == pytest.approx(0.5, abs=1e-15)
    assert jumps.values[0] == pytest.approx(1.5 + 75)
    assert jumps.gives_up.tolist() == [False, False, True]


@pytest.mark.parametrize("kind", ["unit", "whole", "real", "wild"])
@pytest.mark.parametrize("directed", [False, True])
def test_sure_moves_give_the_distance(kind: str, directed: bool) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        graph = some_graph(rng, kind, directed)
        moves = sure_moves(graph)
        goal = int(rng.integers(graph.num_vertices))
        field, truth = wf.expected_cost(moves, goal), wf.cost_to_go(graph, goal)
        assert np.array_equal(np.isinf(field.values), np.isinf(truth))
        near = np.isfinite(truth)
        assert np.allclose(field.values[near], truth[near], rtol=1e-14, atol=0)
        if kind in ("unit", "whole"):
            assert np.array_equal(field.values, truth)
        assert np.array_equal(field.reach, near)
        assert (field.plan[near & (truth > 0)] >= 0).all()


def sure_moves(graph: wf.Graph) -> wf.Transitions:
    """Return the process in which moves along arcs never fail: an action is the arc's head."""
    rows = (graph.tails, graph.indices, graph.indices, 1.0, graph.lengths, graph.num_vertices)
    return wf.Transitions.from_probabilities(*rows)


def some_graph(rng: np.random.Generator, kind: str, directed: bool) -> wf.Graph:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", wf.InputWarning)  # of loops and parallel edges
        return random_graph(rng, int(rng.integers(2, 60)), kind, directed=directed)


# ------------------------------------------------------------------ principles


def rows_of(moves: wf.Transitions) -> tuple[np.ndarray, ...]:
    choice = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    return (
        moves.states[choice],
        moves.actions[choice],
        moves.next_states,
        moves.counts,
        moves.costs,
    )


def test_a_large_process_agrees_with_value_iteration() -> None:
    """Past every size at which something else is done: 20,000 states, moves to anywhere."""
    rng = np.random.default_rng(0)
    n, k = 20_000, 6
    state, action = np.repeat(np.arange(n), k), np.tile(np.repeat([0, 1], k // 2), n)
    following, count = rng.integers(0, n, n * k), rng.integers(1, 9, n * k)
    moves = wf.Transitions(state, action, following, count, rng.uniform(1, 2, n * k))
    field = wf.expected_cost(moves, 0, give_up=100.0)
    mean = np.add.reduceat(moves.counts * moves.costs, moves.outcome_indptr[:-1]) / moves.totals
    values = np.zeros(n)
    for _ in range(400):
        onward = np.add.reduceat(
            moves.probabilities * values[moves.next_states], moves.outcome_indptr[:-1]
        )
        values = np.minimum(100.0, np.minimum.reduceat(mean + onward, moves.indptr[:-1]))
        values[0] = 0.0
    assert np.allclose(values, field.values, rtol=1e-9, atol=0)
    assert field.width <= 1e-13


def test_slow_mixing_is_solved_by_factoring() -> None:
    """A fair walk on a path of 3,000: no sweep or short iteration comes near its n² moves."""
    n = 3000
    inner = np.arange(1, n - 1)
    state = np.concatenate([inner, inner, [n - 1]])
    following = np.concatenate([inner - 1, inner + 1, [n - 2]])
    field = wf.expected_cost(wf.Transitions(state, np.zeros_like(state), following), 0)
    s = np.arange(n)
    exact = s * (2 * (n - 1) - s)
    assert_between(field.lower, exact.tolist(), field.upper)
    assert field.width <= 1e-15 * exact.max()


# ------------------------------------------------------------------ ties, and how long they take


def slip_grid(side: int, slip: float, goal: int) -> wf.Transitions:
    """Four actions; a move goes astray to either side with half of the slip. Walls hold."""
    x, y = np.divmod(np.arange(side * side), side)
    rows = []
    for a in range(4):
        for turn, odds in ((0, 1.0 - slip), (1, slip / 2), (3, slip / 2)):
            dx, dy = ((0, 1), (1, 0), (0, -1), (-1, 0))[(a + turn) % 4]
            to = np.clip(x + dx, 0, side - 1) * side + np.clip(y + dy, 0, side - 1)
            rows.append((x * side + y, np.full(x.size, a), to, np.full(x.size, odds)))
    state, action, to, odds = (np.concatenate(column) for column in zip(*rows, strict=True))
    keep = state != goal
    return wf.Transitions(state[keep], action[keep], to[keep], odds[keep], num_states=side**2)


@pytest.mark.parametrize("slip", [0.1, 0.2, 0.5])
@pytest.mark.parametrize("goal", [0, 60 * 30 + 30])
def test_ties_take_few_rounds(slip: float, goal: int) -> None:
    """Near a diagonal two actions differ by less and less: a front that moves with the rounds."""
    field = wf.expected_cost(slip_grid(60, slip, goal), goal)
    assert field.iterations <= 15
    assert (field.upper - field.lower <= 2 * np.spacing(field.values)).all()


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_the_bracket_is_as_narrow_as_asked_for(rtol: float) -> None:
    moves = slip_grid(40, 0.2, 0)
    fine, rough = wf.expected_cost(moves, 0), wf.expected_cost(moves, 0, rtol=rtol)
    assert (rough.lower <= fine.lower).all()
    assert (fine.upper <= rough.upper).all()
    assert (rough.upper - rough.lower <= 2.01 * rtol * rough.values).all()
    assert rough.width > fine.width
    assert rough.iterations <= fine.iterations
    assert rough.status.good


@pytest.mark.parametrize("fills_in", [False, True])
def test_every_linear_solver_finds_the_same(
    monkeypatch: pytest.MonkeyPatch, fills_in: bool
) -> None:
    """Short iterations are made to fail: by factors, or by long iterations in a new order."""
    moves = slip_grid(60, 0.5, 0)
    usual = wf.expected_cost(moves, 0, give_up=150.0)
    monkeypatch.setattr(_solver, "BEFORE_FACTORING", 1)
    monkeypatch.setattr(_solver, "BEFORE_FACTORING_PER_ROOT", 0.0)
    monkeypatch.setattr(PolicySystem, "_fills_in", fills_in)
    orders = []
    numbered = _solver.numbered
    monkeypatch.setattr(
        _solver, "numbered", lambda *problem: orders.append(problem[2]) or numbered(*problem)
    )
    other = wf.expected_cost(moves, 0, give_up=150.0)
    assert (other.lower <= usual.upper).all()
    assert (usual.lower <= other.upper).all()
    assert other.width <= 1e-13
    whole = [order for order in orders if order.size == 3599]  # the others are of the arrival
    assert (len(whole) > 1) == fills_in


# ------------------------------------------------------------------ what is not proved is not said


def test_a_tie_keeps_its_choice() -> None:
    process = wf.Transitions([1, 1], [0, 1], [0, 0])._process
    choices = chance.Choices(*chance.numbered(process, process.fee < np.inf, np.array([1])))
    for own in (0, 1):
        policy, change = np.array([own]), np.zeros(1)
        gaps = np.array([1.0, 1.0]) * (1.0 + 2.0**-52 * np.array([own, -own]))
        assert chance.sweep(choices, gaps, np.full(1, np.inf), change, policy)[1] == 0
        assert policy[0] == own


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


def test_a_budget_that_runs_out_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_solver, "MOST_EVALUATIONS", 0)
    moves = random_moves(np.random.default_rng(2), 8, "real")
    with pytest.raises(wf.NotConverged, match="the cap on iterations ran out"):
        wf.expected_cost(moves, 0, 5.0)
    field = wf.expected_cost(moves, 0, 5.0, check=False)
    assert field.status is Status.BUDGET
    exact = least_expected_cost(moves, {0: 0.0}, 5.0)
    assert_between(field.lower, exact, field.upper)


def test_bounds_hold_without_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values that are wrong by far: the bracket becomes wide, never false."""
    monkeypatch.setattr(PolicySystem, "solve", lambda self, rhs, rtol, rough=False: 0.9 * rhs)
    monkeypatch.setattr(_solver, "MOST_CORRECTIONS", 2)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        moves = random_moves(rng, 6, "real")
        ends, goal, give_up, labels = random_question(rng, moves)
        field = wf.expected_cost(moves, goal, give_up, labels, check=False)
        assert_between(field.lower, least_expected_cost(moves, ends, give_up), field.upper)
        _, reach = of_plan(moves, field.plan.tolist(), ends, give_up)
        assert_between(field.reach_lower, reach, field.reach_upper)


# ------------------------------------------------------------------ transitions


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 3.0]))
def test_rows_are_sorted_merged_and_pooled(seed: int, strength: float) -> None:
    """Beside dictionaries: counts, mean costs, their spread, and the posterior of `shrunk`."""
    rng = np.random.default_rng(seed)
    rows = [
        (*rng.integers(0, 3, 3).tolist(), float(rng.integers(1, 9)), float(rng.integers(0, 4)))
        for _ in range(int(rng.integers(1, 30)))
    ]
    moves = wf.Transitions(*map(list, zip(*rows, strict=True)), num_states=4)
    seen: dict[tuple[int, int, int], list[tuple[float, float]]] = {}
    for s, a, y, count, cost in rows:
        seen.setdefault((s, a, y), []).append((count, cost))
    assert moves.merged == len(rows) - len(seen)
    if strength:
        posterior = {key: list(some) for key, some in seen.items()}
        for s, a in {key[:2] for key in seen}:
            pool = {key[2]: [] for key in seen if key[0] == s}
            for (x, _, y), some in seen.items():
                if x == s:
                    pool[y] += some
            total = sum(count for some in pool.values() for count, _ in some)
            for y, some in pool.items():
                prior = [(strength * count / total, cost) for count, cost in some]
                posterior.setdefault((s, a, y), []).extend(prior)
        seen, moves = posterior, moves.shrunk(strength)
    found = zip(*rows_of(moves), moves.cost_spread, strict=True)
    for (key, some), (s, a, y, count, cost, spread) in zip(
        sorted(seen.items()), found, strict=True
    ):
        counts, costs = np.array(some).T
        mean = counts @ costs / counts.sum()
        assert (s, a, y) == key
        assert count == pytest.approx(counts.sum())
        assert cost == pytest.approx(mean)
        assert spread == pytest.approx(np.sqrt(counts @ (costs - mean) ** 2 / counts.sum()))


def test_costs_that_agree_survive_merging_to_the_last_place() -> None:
    assert wf.Transitions([0] * 7, [0] * 7, [1] * 7, [3] * 7, 0.1).costs.tolist() == [0.1]


@pytest.mark.parametrize(
    "twin", [copy.copy, copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))]
)
def test_copies_are_equal_and_read_only(twin: object) -> None:
    moves = chain(2, 1)
    field = wf.expected_cost(moves, 0)
    for one in (moves, field.transitions):
        other = twin(one)  # type: ignore[operator]
        assert np.array_equal(other.counts, one.counts)
        assert not other.counts.flags.writeable
        assert wf.expected_cost(other, 0).values.tolist() == field.values.tolist()
    assert not twin(field).values.flags.writeable  # type: ignore[operator]


def test_reprs_say_what_matters() -> None:
    moves = wf.Transitions([0, 1], [0, 0], [1, 2], [2, 5])
    assert repr(moves) == "Transitions(3 states, 2 choices, 2 outcomes, counts 2 to 5)"
    field = wf.expected_cost(moves, 1)
    assert repr(field).startswith("ExpectedCost(3 states: converged, bracket width ")
    assert repr(field).endswith(", 1 from which no policy surely arrives)")
    assert "giving up at 1)" in repr(wf.expected_cost(moves, 1, 9.0))


@pytest.mark.parametrize("seed", range(12))
def test_any_process_has_bounds_around_its_figures(seed: int) -> None:
    """Dead ends, loops, labels, free and priced giving up: ordered, without NaN, the same twice."""
    rng = np.random.default_rng(seed)
    moves = random_moves(rng, int(rng.integers(2, 9)))
    _, goal, give_up, labels = random_question(rng, moves)
    field = wf.expected_cost(moves, goal, give_up, labels)
    doubt, again = field.doubt(0.9), field.doubt(0.9)
    assert (doubt.cost_low <= field.values).all()
    assert (field.values <= doubt.cost_high).all()
    assert (doubt.reach_low >= 0.0).all()
    assert (doubt.reach_low <= field.reach).all()
    assert (field.reach <= doubt.reach_high).all()
    assert (doubt.reach_high <= 1.0).all()
    for name in ("cost_low", "cost_high", "reach_low", "reach_high"):
        assert np.array_equal(getattr(doubt, name), getattr(again, name))
    wider = field.doubt(0.99)
    assert (wider.reach_low <= doubt.reach_low).all()
    assert (doubt.reach_high <= wider.reach_high).all()


def test_large_processes_are_estimated_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    moves = random_moves(rng, 60, "real")
    field = wf.expected_cost(moves, 0, give_up=20.0)
    exact = field.doubt()
    monkeypatch.setattr(rule, "DENSE", 0)
    rough = field.doubt()
    width = exact.reach_high - exact.reach_low
    assert np.abs(rough.reach_low - exact.reach_low).max() <= 0.2 * width.max()
    assert np.abs(rough.reach_high - exact.reach_high).max() <= 0.2 * width.max()


# ------------------------------------------------------------------ a given plan


@pytest.mark.parametrize("seed", range(8))
def test_a_given_plan_costs_what_it_costs_under_the_counts(seed: int, tmp_path: Path) -> None:
    """The best plan has the least cost; any other plan at least that; both have a proof."""
    rng = np.random.default_rng(seed)
    moves = random_moves(rng, int(rng.integers(3, 9)))
    ends, goal, give_up, labels = random_question(rng, moves)
    best = wf.expected_cost(moves, goal, give_up, labels)
    same = wf.expected_cost(moves, goal, give_up, labels, plan=best.plan)
    assert same.values == pytest.approx(best.values, rel=1e-12)
    assert not same.optimal
    drawn = [rng.choice(moves.actions[a:b]) if b > a else -1 for a, b in pairwise(moves.indptr)]
    other = wf.expected_cost(moves, goal, give_up, labels, plan=drawn)
    assert (other.upper >= best.lower).all()
    taken = [-1 if s in ends else int(a) for s, a in enumerate(drawn)]
    cost, reach = of_plan(moves, taken, ends, give_up)
    assert other.plan.tolist() == taken
    assert all(a <= c <= b for a, c, b in zip(other.lower, cost, other.upper, strict=True))
    assert other.reach == pytest.approx([float(p) for p in reach], abs=1e-9)
    verify(other.write_proof(tmp_path / "plan.proof"))


def test_a_given_plan_in_intervals() -> None:
    """Against the worst odds and with the best: one move, and a plan that gives up or stops."""
    rows = ([0, 0, 0, 3], [0, 0, 1, 0], [1, 2, 1, 0])
    moves = wf.Transitions.from_intervals(*rows, [0.5, 0.2, 1, 1], [0.8, 0.5, 1, 1], [1, 1, 9, 1])
    plan = [0, -1, -1, 0]
    worst = wf.expected_cost(moves, 1, 100.0, odds="worst", plan=plan)
    best = wf.expected_cost(moves, 1, 100.0, odds="best", plan=plan)
    assert worst.values == pytest.approx([51.0, 0.0, 100.0, 52.0])
    assert worst.reach == pytest.approx([0.5, 1.0, 0.0, 0.5])
    assert best.values == pytest.approx([21.0, 0.0, 100.0, 22.0])
    assert best.reach == pytest.approx([0.8, 1.0, 0.0, 0.8])
    assert worst.plan.tolist() == plan
    assert worst.gives_up.tolist() == [False, False, True, False]
    # the best plan would take action 1, at a cost of 9
    assert wf.expected_cost(moves, 1, 100.0, odds="worst").values[0] == pytest.approx(9.0)
    # a plan costs more than giving up if it must
    dear = wf.expected_cost(moves, 1, 5.0, odds="worst", plan=[1, -1, -1, 0])
    assert dear.values == pytest.approx([9.0, 0.0, 5.0, 10.0])
    with pytest.raises(wf.InputError, match="a given plan has no proof"):
        worst.write_proof("never.proof")


def test_a_given_plan_in_intervals_without_giving_up_has_a_proof(tmp_path: Path) -> None:
    rows = ([0, 0, 0, 2], [0, 0, 1, 0], [1, 0, 1, 2])
    moves = wf.Transitions.from_intervals(*rows, [0.5, 0.2, 1, 1], [0.8, 0.5, 1, 1], [1, 1, 9, 1])
    for odds, cost in (("worst", 2.0), ("best", 1.25)):
        field = wf.expected_cost(moves, 1, odds=odds, plan=[0, -1, 0])
        assert field.values == pytest.approx([cost, 0.0, np.inf])
        assert field.lower[0] <= cost <= field.upper[0]
        verify(field.write_proof(tmp_path / f"{odds}.proof"))


# ------------------------------------------------------------------ edges


def test_what_has_transitions_will_do() -> None:
    class Buffer:
        def transitions(self) -> wf.Transitions:
            return chain(3, 1)

    assert wf.expected_cost(Buffer(), 0).values[1] == pytest.approx(16 / 9)


def hopeless(length: int) -> wf.Transitions:
    """A row of doors, each of which opens once in 10^12 times, and else sends one back to 0."""
    at = np.repeat(np.arange(length), 2)
    to = np.where(np.arange(2 * length) % 2, 0, at + 1)
    return wf.Transitions(at, np.zeros(2 * length, int), to, np.tile([1e-12, 1.0], length))


def test_values_that_could_not_be_verified_lie_in_their_bracket() -> None:
    for length in range(3, 9):
        field = wf.expected_cost(hopeless(length), goal=length, check=False)
        assert not field.status.good
        assert (field.lower <= field.values).all()
        assert (field.values <= field.upper).all()


def test_doubt_is_not_less_because_values_could_not_be_verified() -> None:
    doubt = wf.expected_cost(hopeless(8), goal=8, check=False).doubt()
    assert (doubt.cost_low >= 0.0).all()
    assert doubt.cost_high[0] >= 1e24  # the doors are at least two


def test_a_linear_iteration_that_breaks_down_is_noticed() -> None:
    """After a peak of 1e15 its own residual was 0.002, and the true one 0.5."""
    moves = wf.Transitions(
        [0, 1, 1, 1, 2, 2, 2, 4, 4], [3, 0, 0, 3, 3, 3, 3, 0, 0], [1, 0, 4, 3, 4, 1, 5, 1, 5],
        [1, 1, 2, 1, 1, 1, 1, 4.001889503712356e-05, 0.0024100399821120723], [0.0] * 9, 6,
    )  # fmt: skip
    field = wf.expected_cost(moves, 5)
    assert field.values.tolist() == [0.0, 0.0, 0.0, np.inf, 0.0, 0.0]
