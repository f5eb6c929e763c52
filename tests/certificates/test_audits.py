"""Audited decisions: stopped at the worst moment, on all orders of small sets, and on mazes."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

import wayfield as wf
from wayfield.certificates import Audit, HeldOutAudit, audit_held_out
from worlds import PATH, maze_problem, path, random_graph, rows


class Orders:
    """Return the given orders of the slices, one after another, in place of random ones."""

    def __init__(self, orders) -> None:
        self.orders = iter(orders)

    def permutation(self, piece):
        return piece[list(next(self.orders))]


def audit_of(n: int, rng: Any, *, proved: int = 0, risk: float, confidence: float = 0.9) -> Audit:
    """Return an audit built by hand; the ranking is 0, 1, …, and proved moves come last."""
    plan = SimpleNamespace(successor=np.arange(n + proved))
    certificate: Any = SimpleNamespace(plan=plan)
    counts_as_right = np.arange(n + proved) >= n
    return Audit(certificate, np.arange(n), counts_as_right, risk, confidence, rng)


def worst_share(audit: Audit, wrong, most: int = 10**9) -> float:
    """Audit on and on, and return the largest share of wrong moves that was ever certified."""
    wrong = np.append(wrong, np.zeros(audit.proved.sum(), bool))
    worst = 0.0
    for _ in range(most):
        if audit.state is None:
            break
        certified = audit.record(not wrong[audit.state]).certified
        worst = max(worst, float(wrong[certified].sum()) / max(int(certified.sum()), 1))
    return worst


@pytest.mark.parametrize("proved", [0, 5])
@pytest.mark.parametrize("n", [12, 13])
def test_no_moment_to_stop_breaks_it_over_every_order(proved: int, n: int) -> None:
    """All orders of six slices of two moves, and one more of a single move if there are 13."""
    rng, risk, confidence = np.random.default_rng(2), 0.35, 0.75
    sizes = [2] * 6 + [1] * (n - 12)
    orders = [[(0, 1), (1, 0)] if size == 2 else [(0,)] for size in sizes]
    worst = 0.0
    # H_3 claims three wrong moves of six, if none is proved
    patterns = [np.arange(n) % 2 == (np.arange(n) < 6)]
    patterns += [rng.random(n) < np.linspace(*rng.random(2), n) for _ in range(9)]
    for wrong in patterns:
        failed = [
            worst_share(
                audit_of(n, Orders(order), proved=proved, risk=risk, confidence=confidence), wrong
            )
            > risk
            for order in product(*orders)
        ]
        worst = max(worst, float(np.mean(failed)))
    assert worst <= 1.0 - confidence
    assert worst > 0.0 or proved  # and it is no empty statement


@pytest.mark.parametrize("proved", [0, 250])
@pytest.mark.parametrize("pattern", ["even", "rising", "clumps", "last of the first set"])
def test_populations_made_to_break_it(pattern: str, proved: int) -> None:
    """The share of wrong moves is just above the risk, in whatever order; 120 audits."""
    rng = np.random.default_rng(3)
    count, risk, runs = 450, 0.1, 60
    wrong_moves, failures = int(risk * (count + proved)) + 1, 0
    for _ in range(runs):
        place = {
            "even": np.linspace(0, count - 1, wrong_moves).astype(int),
            "rising": (count * np.sqrt(rng.random(3 * wrong_moves))).astype(int),
            "clumps": (np.repeat(rng.integers(0, count, 9), 60) + np.tile(np.arange(60), 9))
            % count,
            "last of the first set": np.linspace(0, 22 * 15 - 1, 34 + proved // 10).astype(int),
        }[pattern]
        wrong = np.zeros(count, bool)
        wrong[rng.permutation(np.unique(place))[:wrong_moves]] = True
        audit = audit_of(count, rng, proved=proved, risk=risk)
        failures += worst_share(audit, wrong, 120) > risk
    # three standard errors above a tenth
    assert failures / runs <= 0.1 + 3 * np.sqrt(0.09 / runs)


def test_the_martingale_refutes_where_the_first_round_does_not() -> None:
    """One wrong audit of the first 22: more rounds certify, and later ones extend the set."""
    wrong = np.zeros(900, bool)
    wrong[::300] = True
    certified = []
    for seed in range(20):
        audit = audit_of(900, np.random.default_rng(seed), risk=0.1)
        while audit.state is not None and audit.result.share < 0.9:
            audit.record(not wrong[audit.state])
        certified.append(audit.result.audits)
    assert min(certified) == 27
    assert 27 < max(certified) < 300


def test_without_a_wrong_move_every_audit_certifies_one_slice_more() -> None:
    audit = audit_of(3000, np.random.default_rng(0), risk=0.1)
    shares = [audit.record(True).share for _ in range(30)]
    assert shares == [0.0] * 21 + [j / 30 for j in range(22, 31)]
    assert (audit.state, audit.move) == (None, None)
    with pytest.raises(wf.InputError, match="nothing left to audit"):
        audit.record(True)


def fixed_rule(wrong, sizes) -> int:
    """Return the slices that 30 audits, one of each, certify by a rule whose number is fixed."""
    j = np.arange(1, 31)
    top = 0
    for count in np.unique(np.round(np.linspace(22, 30, 4)).astype(int)):
        found = int(wrong[:count].sum())
        if (found > 0 and found > count * 0.1 - 1.0) or binom.cdf(found, count, 0.1) > 0.1:
            break
        top = int(count)
    assert j.size == len(sizes)
    return top


def test_thirty_audits_certify_at_least_as_much_as_if_thirty_were_fixed() -> None:
    for seed in range(60):
        rng = np.random.default_rng(seed)
        wrong = rng.random(600) < rng.choice([0.01, 0.03, 0.1])
        audit = audit_of(600, rng, risk=0.1)
        first = np.array([wrong[slice_[0]] for slice_ in audit._slices])
        for _ in range(30):
            if audit.state is not None:
                result = audit.record(not wrong[audit.state])
        top = fixed_rule(first, audit._slices)
        found = int(first[:top].sum())
        assert result.share >= (20 * top - found) / 600


def test_few_audits_certify_most_moves_of_a_maze() -> None:
    graph, labels = maze_problem("medium", 8, goal=40, fraction=0.02, seed=54)
    answer = wf.solve(graph, labels, goal=40)
    truth = wf.cost_to_go(graph, 40)
    right = truth[answer.plan.successor] + 1.0 == truth
    shares, audits = {}, []
    for use_proved in (True, False):
        found = []
        for seed in range(5):
            audit = wf.audit_decisions(answer, use_proved=use_proved, seed=seed)
            for _ in range(30):
                if audit.state is None:
                    break
                assert audit.move == answer.plan.successor[audit.state]
                before = audit.result.share
                done = audit.record(bool(right[audit.state]))
                if use_proved and before < 0.9 <= done.share:
                    audits.append(done.audits)
            assert (~right & done.certified).sum() <= 0.2 * done.certified.sum()
            assert done.certified[audit.proved].all()
            assert not done.certified[40]
            found.append(done.share)
        shares[use_proved] = np.mean(found)
    assert shares[True] > 0.8
    assert shares[True] >= shares[False] > 0.5
    assert np.mean(audits) < 25


def test_few_decisions_or_none() -> None:
    alone = wf.Graph.from_edges([], [], num_vertices=1)
    assert wf.audit_decisions(wf.solve(alone, wf.Labels([0], [0.0]), goal=0)).result.share == 1.0
    nobody = sample_of(0, np.empty(0, int), proved=0, risk=0.1, confidence=0.9)
    assert nobody.certify(np.empty(0, bool)).share == 1.0
    answer = wf.solve(PATH, wf.Labels([0, 3], [0.0, 3.0]), goal=0)
    audit = wf.audit_decisions(answer)
    assert (audit.state, audit.result.share) == (None, 1.0)
    bare = wf.audit_decisions(answer, use_proved=False)
    seen = []
    while bare.state is not None:
        seen.append(bare.state)
        bare.record(True)
    # of three moves that were all looked at, none is left to chance
    assert sorted(seen) == [1, 2, 3]
    assert bare.result.share == 1.0
    wrong = wf.audit_decisions(answer, 0.5, 0.5, use_proved=False)
    state = wrong.state
    result = wrong.record(False)
    while wrong.state is not None:
        result = wrong.record(True)
    assert not result.certified[state]


def test_an_audit_goes_on_where_it_was_pickled() -> None:
    """Whatever was found so far: the same states follow, and the same moves are certified."""
    audit = audit_of(60, np.random.default_rng(0), risk=0.1)
    for turn in range(25):
        again = pickle.loads(pickle.dumps(audit))
        assert (again.state, again.move, repr(again)) == (audit.state, audit.move, repr(audit))
        result, other = audit.record(turn != 9), again.record(turn != 9)
        assert np.array_equal(result.certified, other.certified)
        assert again.state == audit.state
    assert repr(audit).startswith("Audit(AuditedDecisions(")
    assert "after 25 audits; at most 10 % of them wrong, confidence 0.9); next: state " in repr(
        audit
    )


# -------------------------------------------------------------------- held-out labels


def split(labels: wf.Labels, goal: int, count: int, seed: int) -> tuple[wf.Labels, wf.Labels]:
    """Return the labels without some drawn at random, and these; the goal's is kept."""
    others = np.flatnonzero(labels.vertices != goal)
    held = np.zeros(len(labels), bool)
    held[np.random.default_rng(seed).choice(others, count, replace=False)] = True
    kept, rest = (wf.Labels(labels.vertices[some], labels.values[some]) for some in (~held, held))
    return kept, rest


def sample_of(n: int, states, *, proved: int, risk: float, confidence: float) -> HeldOutAudit:
    """Return an audit by held-out labels built by hand; proved moves come after all others."""
    nothing = np.empty(0)
    return HeldOutAudit(
        states=np.asarray(states),
        moves=np.asarray(states),
        ends=np.asarray(states),
        proved=np.arange(n + proved) >= n,
        ranking=np.arange(n),
        risk=risk,
        confidence=confidence,
        lengths=nothing,
        allowed=nothing,
        possible=nothing,
        left_out=0,
    )


@pytest.mark.parametrize("proved", [0, 4])
def test_a_simple_random_sample_fails_no_more_often_than_stated(proved: int) -> None:
    """All 252 draws of five moves from ten, for many patterns of wrong moves."""
    rng = np.random.default_rng(4)
    worst, largest = 0.0, 0
    for _ in range(25):
        wrong = rng.random(10) < np.linspace(*rng.random(2), 10)
        failed, draws = 0, list(combinations(range(10), 5))
        for draw in draws:
            audit = sample_of(10, draw, proved=proved, risk=0.4, confidence=0.7)
            top = audit._top(wrong[list(draw)])
            failed += bool(wrong[:top].sum() > 0.4 * (proved + top))
            largest = max(largest, top)
        worst = max(worst, failed / len(draws))
    assert 0.0 < worst <= 0.3
    assert largest == 10


@given(st.integers(0, 2**32 - 1), st.booleans(), st.sampled_from([0.0, 0.25]))
def test_held_out_labels_find_every_wrong_move(seed: int, directed: bool, error: float) -> None:
    """The world has cheaper arcs than the graph, and some it lacks; routes are executed there."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, int(rng.integers(3, 20)), ("unit", "whole"), directed=directed)
    n, goal = graph.num_vertices, int(rng.integers(graph.num_vertices))
    far = rng.integers(0, n, (2, 3))
    ends = np.append(graph.tails, far[0]), np.append(graph.indices, far[1])
    costs = np.append(graph.lengths * rng.integers(1, 3, graph.num_arcs), [1.0, 1.0, 1.0])
    with warnings.catch_warnings():  # arcs drawn twice, and loops
        warnings.simplefilter("ignore", wf.InputWarning)
        world = wf.Graph.from_edges(*ends, costs, n, directed=True)
    truth = wf.cost_to_go(world, goal)
    able = np.flatnonzero(np.isfinite(truth))
    kept = np.union1d(rng.choice(able, rng.integers(1, able.size + 1)), [goal])
    rest = np.setdiff1d(able, kept)
    if not rest.size:
        return
    noise = error * rng.uniform(-1.0, 1.0, n) * (np.arange(n) != goal)
    labels, held = (wf.Labels(some, (truth + noise)[some], error) for some in (kept, rest))
    method = wf.AMLE(fill="cost" if directed else "flat")
    answer = wf.solve(graph, labels, goal, method, check=False)
    audit = audit_held_out(answer, held, use_proved=False)
    arcs, row = rows(world), answer.plan.successor
    paid = np.full(audit.states.size, np.inf)
    for i, (x, end) in enumerate(zip(audit.states, audit.ends, strict=True)):
        assert end == -1 or end in kept
        cost, at = 0.0, int(x)
        while at != end and end >= 0:
            cost, at = cost + arcs[at][int(row[at])], int(row[at])
            assert at == end or at not in kept
        paid[i] = cost if end >= 0 else np.inf
    right = audit.judge(paid)
    for x, c in zip(audit.states[right], audit.moves[right], strict=True):
        assert arcs[int(x)][int(c)] + truth[c] <= truth[x] + 2.0 * error + 1e-6
    assert not right[audit.ends < 0].any()


def test_held_out_labels_certify_without_audits() -> None:
    graph, labels = maze_problem("medium", 8, goal=40, fraction=0.05, seed=54)
    truth = wf.cost_to_go(graph, 40)
    found: dict[int, float] = {}
    for seed in range(4):
        kept, held = split(labels, 40, len(labels) // 2, seed)
        answer = wf.solve(graph, kept, goal=40)
        right = truth[answer.plan.successor] + 1.0 == truth
        audit = audit_held_out(answer, held, use_proved=False)
        assert set(audit.states) == set(held.vertices)
        judged = audit.judge()
        assert right[audit.states[judged]].all()
        done = audit.certify(judged)
        assert (~right & done.certified).sum() <= 0.1 * done.certified.sum()
        assert done.share == done.certified.sum() / (graph.num_vertices - 1)
        assert done.audits == held.vertices.size
        found[seed] = done.share
        some = audit_held_out(answer, held)
        assert not some.proved[some.states].any()
        assert some.certify(some.judge()).share >= 0.5
    assert np.mean(list(found.values())) > 0.4


def test_a_walk_that_meets_no_label_proves_nothing() -> None:
    """On these values 2 and 3 lead to each other."""
    values = np.array([0.0, 3.0, 1.0, 0.5, 3.0])
    line = path(5)
    labels = wf.Labels([0, 4], [0.0, 4.0])
    field = wf.extend(line, labels, wf.AMLE())
    values[[0, 4]] = 0.0, 4.0
    bad = replace(field, values=values, lower=None, upper=None)
    certificate = wf.certify(line, labels, bad, wf.plan(line, bad, goal=0))
    audit = audit_held_out(certificate, wf.Labels([2], [2.0]), use_proved=False)
    assert audit.ends is not None
    assert audit.ends.tolist() == [-1]
    assert audit.judge().tolist() == [False]
    # moves at the plan's own labels count as decisions, but cannot be certified
    assert audit.certify([True]).share == 0.0
    assert audit.left_out == 1


def test_held_out_labels_that_cannot_be_costs_to_go_are_reported() -> None:
    """From 3 the route costs 2 to the label 1 of vertex 1. So 3 cannot cost more than 3."""
    path = wf.Graph.from_edges(range(5), range(1, 6))
    answer = wf.solve(path, wf.Labels([0, 1], [0.0, 1.0]), goal=0)

    def judged(value: float, error: float = 0.0, paid: list[float] | None = None) -> list[bool]:
        held_out = wf.Labels([3], [value], error)
        audit = audit_held_out(answer, held_out, use_proved=False)
        return audit.judge(paid).tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judged(3.0) == [True]
        assert judged(2.0) == [False]
        assert judged(4.0, error=1.0) == [True]
        assert judged(4.0, paid=[3.0]) == [True]
    with pytest.warns(wf.InputWarning, match="1 of 1 held-out labels exceed"):
        assert judged(4.0) == [True]
