"""Audited decisions: every draw from small populations, adversarial populations, and mazes."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from wayfield.certificates import Audit
from worlds import PATH, maze_problem, path, random_graph, rows


def audit_of(ranking, states, *, proved=0, risk, confidence, size=1) -> Audit:
    """Return an audit built by hand; proved moves come after all others."""
    n = len(ranking) + proved
    return Audit(
        states=np.asarray(states),
        moves=np.asarray(states),
        proved=np.arange(n) >= len(ranking),
        ranking=np.asarray(ranking),
        slice_size=size,
        risk=risk,
        confidence=confidence,
    )


def share_wrong(audit: Audit, wrong) -> float:
    """Return the share of wrong moves among those certified, 0 if there are none."""
    everywhere = np.append(wrong, np.zeros(audit.proved.sum(), bool))
    certified = audit.certify(~everywhere[audit.states]).certified
    return float(everywhere[certified].mean()) if certified.any() else 0.0


@pytest.mark.parametrize("proved", [0, 3])
def test_conformal_selection_holds_on_average_over_every_draw(proved: int) -> None:
    rng = np.random.default_rng(1)
    closest = 0.0
    for _ in range(15):
        wrong = rng.random(8) < rng.random()
        for risk in (0.2, 0.5):
            shares = [
                share_wrong(
                    audit_of(range(8), draw, proved=proved, risk=risk, confidence=None), wrong
                )
                for draw in combinations(range(8), 3)
            ]
            assert np.mean(shares) <= risk + 1e-12
            closest = max(closest, float(np.mean(shares)) / risk)
    assert closest > 0.3


@pytest.mark.parametrize("proved", [0, 6])
def test_stratified_audits_fail_no_more_often_than_stated(proved: int) -> None:
    """All 3^6 draws of one move from each of six slices, for many patterns of wrong moves."""
    rng = np.random.default_rng(2)
    size, m, risk, confidence = 3, 6, 0.35, 0.75
    worst = 0.0
    draws = np.array(list(product(range(size), repeat=m))) + size * np.arange(m)
    for _ in range(12):
        wrong = rng.random(size * m) < np.linspace(*rng.random(2), size * m)
        failed = 0
        # audits with the same findings certify the same set, but for the wrong ones found
        known: dict[bytes, float] = {}
        for draw in draws:
            found = wrong[draw].tobytes()
            if found not in known:
                audit = audit_of(
                    range(size * m), draw, proved=proved, risk=risk, confidence=confidence,
                    size=size,
                )  # fmt: skip
                everywhere = np.append(wrong, np.zeros(proved, bool))
                top = audit._with_confidence(wrong[draw], proved, confidence)
                known[found] = wrong[:top].sum() / max(top + everywhere[size * m :].size, 1)
            failed += known[found] > risk
        worst = max(worst, failed / len(draws))
    assert 0.0 < worst <= 1.0 - confidence


@pytest.mark.parametrize("proved", [0, 500])
@pytest.mark.parametrize("pattern", ["even", "rising", "clumps"])
def test_populations_made_to_break_it(pattern: str, proved: int) -> None:
    """The share of wrong moves is just above the risk, in whatever order."""
    rng = np.random.default_rng(3)
    count, m, risk = 900, 30, 0.1
    wrong_moves = int(risk * (count + proved)) + 1
    failures = runs = 0
    for _ in range(250):
        place = {
            "even": np.linspace(0, count - 1, wrong_moves).astype(int),
            "rising": (count * np.sqrt(rng.random(3 * wrong_moves))).astype(int),
            "clumps": (np.repeat(rng.integers(0, count, 9), 60) + np.tile(np.arange(60), 9))
            % count,
        }[pattern]
        wrong = np.zeros(count, bool)
        wrong[rng.permutation(np.unique(place))[:wrong_moves]] = True
        states = np.arange(m) * (count // m) + rng.integers(0, count // m, m)
        audit = audit_of(
            range(count), states, proved=proved, risk=risk, confidence=0.9, size=count // m
        )
        failures += share_wrong(audit, wrong) > risk
        runs += 1
    # three standard errors above a tenth
    assert failures / runs <= 0.1 + 3 * np.sqrt(0.09 / runs)


def test_thirty_audits_certify_most_moves_of_a_maze() -> None:
    graph, labels = maze_problem("medium", 8, goal=40, fraction=0.02, seed=54)
    answer = wf.solve(graph, labels, goal=40)
    truth = wf.cost_to_go(graph, 40)
    right = truth[answer.plan.successor] + 1.0 == truth
    shares = {}
    for use_proved in (True, False):
        for confidence in (0.9, None):
            found = []
            for seed in range(5):
                audit = wf.audit_decisions(
                    answer, 30, 0.1, confidence, use_proved=use_proved, seed=seed
                )
                assert np.array_equal(audit.moves, answer.plan.successor[audit.states])
                done = audit.certify(right[audit.states])
                assert (~right & done.certified).sum() <= 0.2 * done.certified.sum()
                assert done.certified[audit.proved].all()
                assert not done.certified[40]
                found.append(done.share)
            shares[use_proved, confidence] = np.mean(found)
    assert shares[True, 0.9] > 0.8
    assert shares[True, 0.9] >= shares[False, 0.9] > 0.5
    assert shares[True, None] >= shares[True, 0.9]


def test_what_was_found_wrong_is_not_certified() -> None:
    graph, labels = maze_problem("medium", 4, goal=4, fraction=0.05, seed=1)
    answer = wf.solve(graph, labels, goal=4)
    audit = wf.audit_decisions(answer, 40, 0.3)
    right = np.ones(40, bool)
    right[[3, 30]] = False
    done = audit.certify(right)
    assert done.certified[audit.states[right]].all()
    assert not done.certified[audit.states[~right]].any()
    assert f"{done.certified.sum():,} moves certified" in repr(done)
    nothing = audit.certify(np.zeros(40, bool))
    assert np.array_equal(nothing.certified, audit.proved)


def test_few_decisions_or_none() -> None:
    answer = wf.solve(PATH, wf.Labels([0, 3], [0.0, 3.0]), goal=0)
    audit = wf.audit_decisions(answer)
    assert audit.states.size == 0
    assert audit.certify([]).share == 1.0
    bare = wf.audit_decisions(answer, use_proved=False)
    assert sorted(bare.states) == [1, 2, 3]
    assert bare.certify([True, True, True]).certified.tolist() == [False] * 4
    # of ten moves that were all looked at, none is left to chance; but three audits prove little
    again = wf.audit_decisions(answer, use_proved=False, seed=5)
    assert np.array_equal(np.sort(again.states), np.sort(bare.states))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": None}, "answer must come from wayfield.solve or .*, got NoneType"),
        ({"m": 0}, "m must be"),
        ({"risk": 0.0}, "risk must be between 0 and 1, got 0.0"),
        ({"confidence": 1.0}, "confidence must be between 0 and 1, got 1.0"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_bad_input_is_named(change, message) -> None:
    call = {"answer": wf.solve(PATH, wf.Labels([0], [0.0]), goal=0)}
    with pytest.raises(wf.InputError, match=message):
        wf.audit_decisions(**(call | change))


@pytest.mark.parametrize("right", [[True], [1, 0, 1], "yes"])
def test_findings_of_another_shape_are_refused(right) -> None:
    answer = wf.solve(PATH, wf.Labels([0], [0.0]), goal=0)
    audit = wf.audit_decisions(answer, m=3, use_proved=False)
    with pytest.raises(wf.InputError, match="right must be 3 booleans"):
        audit.certify(right)


def test_without_decisions_all_of_them_are_certified() -> None:
    alone = wf.Graph.from_edges([], [], num_vertices=1)
    audit = wf.audit_decisions(wf.solve(alone, wf.Labels([0], [0.0]), goal=0))
    assert audit.certify([]).share == 1.0


# -------------------------------------------------------------------- held-out labels


def split(labels: wf.Labels, goal: int, count: int, seed: int) -> tuple[wf.Labels, wf.Labels]:
    """Return the labels without some drawn at random, and these; the goal's is kept."""
    others = np.flatnonzero(labels.vertices != goal)
    held = np.zeros(len(labels), bool)
    held[np.random.default_rng(seed).choice(others, count, replace=False)] = True
    kept, rest = (wf.Labels(labels.vertices[some], labels.values[some]) for some in (~held, held))
    return kept, rest


@pytest.mark.parametrize("proved", [0, 4])
def test_a_simple_random_sample_fails_no_more_often_than_stated(proved: int) -> None:
    """All 252 draws of five moves from ten, for many patterns of wrong moves."""
    rng = np.random.default_rng(4)
    worst, largest = 0.0, 0
    for _ in range(25):
        wrong = rng.random(10) < np.linspace(*rng.random(2), 10)
        failed, draws = 0, list(combinations(range(10), 5))
        for draw in draws:
            audit = audit_of(range(10), draw, proved=proved, risk=0.4, confidence=0.7, size=0)
            top = audit._by_sample(wrong[list(draw)], proved, 0.3)
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
    audit = wf.audit_decisions(answer, held_out=held, use_proved=False)
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
    found = {}
    for confidence in (0.9, None):
        for seed in range(4):
            kept, held = split(labels, 40, len(labels) // 2, seed)
            answer = wf.solve(graph, kept, goal=40)
            right = truth[answer.plan.successor] + 1.0 == truth
            audit = wf.audit_decisions(answer, 1, 0.1, confidence, held_out=held, use_proved=False)
            assert set(audit.states) == set(held.vertices)
            judged = audit.judge()
            assert right[audit.states[judged]].all()
            done = audit.certify(judged)
            assert (~right & done.certified).sum() <= 0.1 * done.certified.sum()
            assert done.share == done.certified.sum() / (graph.num_vertices - 1)
            found[confidence, seed] = done.share
            some = wf.audit_decisions(answer, 1, 0.1, confidence, held_out=held)
            assert not some.proved[some.states].any()
            assert some.certify(some.judge()).share >= 0.5
    assert np.mean([share for (sure, _), share in found.items() if sure]) > 0.4


def test_a_walk_that_meets_no_label_proves_nothing() -> None:
    """On these values 2 and 3 lead to each other."""
    values = np.array([0.0, 3.0, 1.0, 0.5, 3.0])
    line = path(5)
    labels = wf.Labels([0, 4], [0.0, 4.0])
    field = wf.extend(line, labels, wf.AMLE())
    values[[0, 4]] = 0.0, 4.0
    bad = replace(field, values=values, lower=None, upper=None)
    certificate = wf.certify(line, labels, bad, wf.plan(line, bad, goal=0))
    audit = wf.audit_decisions(certificate, held_out=wf.Labels([2], [2.0]), use_proved=False)
    assert audit.ends is not None
    assert audit.ends.tolist() == [-1]
    assert audit.judge().tolist() == [False]
    # moves at the plan's own labels count as decisions, but cannot be certified
    assert audit.certify([True]).share == 0.0
    assert audit.left_out == 1


@pytest.mark.parametrize(
    ("held_out", "message"),
    [
        (wf.Labels([1, 3], [1.0, 3.0]), r"held_out\[1\] = 3 is a label of the plan"),
        (wf.Labels([0], [0.0]), r"held_out\[0\] = 0 is a label of the plan"),
        (wf.Labels([7], [0.0]), "7"),
        ([1], "labels must be wayfield.Labels"),
    ],
)
def test_bad_held_out_labels_are_named(held_out, message) -> None:
    answer = wf.solve(PATH, wf.Labels([3], [3.0]), goal=0)
    with pytest.raises(wf.InputError, match=message):
        wf.audit_decisions(answer, held_out=held_out)


def test_bad_judgements_are_named() -> None:
    answer = wf.solve(PATH, wf.Labels([0], [0.0]), goal=0)
    with pytest.raises(wf.InputError, match="judge needs held-out labels"):
        wf.audit_decisions(answer).judge()
    audit = wf.audit_decisions(answer, held_out=wf.Labels([2], [2.0]), use_proved=False)
    with pytest.raises(wf.InputError, match=r"paid\[0\] = -1.0 is neither a cost nor inf"):
        audit.judge([-1.0])
    with pytest.raises(wf.InputError, match="paid has 2 entries, expected 1"):
        audit.judge([1.0, 2.0])


def test_held_out_labels_that_cannot_be_costs_to_go_are_reported() -> None:
    """From 3 the route costs 2 to the label 1 of vertex 1. So 3 cannot cost more than 3."""
    path = wf.Graph.from_edges(range(5), range(1, 6))
    answer = wf.solve(path, wf.Labels([0, 1], [0.0, 1.0]), goal=0)

    def judged(value: float, error: float = 0.0, paid: list[float] | None = None) -> list[bool]:
        held_out = wf.Labels([3], [value], error)
        audit = wf.audit_decisions(answer, held_out=held_out, use_proved=False)
        return audit.judge(paid).tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judged(3.0) == [True]
        assert judged(2.0) == [False]
        assert judged(4.0, error=1.0) == [True]
        assert judged(4.0, paid=[3.0]) == [True]
    with pytest.warns(wf.InputWarning, match="1 of 1 held-out labels exceed"):
        assert judged(4.0) == [True]
