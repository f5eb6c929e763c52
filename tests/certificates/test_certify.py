"""Certificates: against rationals, against adversaries who know the truth, and corner by corner."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf, nextafter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import wayfield as wf
from exact_amle import exact_amle
from wayfield.certificates import certify
from wayfield.fields import Extension
from worlds import (
    PATH,
    WHOLE,
    any_fields,
    labelled_graphs,
    noisy_fields,
    random_graph,
    rows,
)


def as_field(values, lower=None, upper=None, method: wf.fields.Method | None = None):
    """Any numbers as an extension, its bracket included if given."""
    arrays = (None if a is None else np.asarray(a, float) for a in (values, lower, upper))
    return Extension(*arrays, wf.Status.CONVERGED, 0.0, 0, 0.0, method or wf.AMLE(), {})


def certificate(graph, values, goal, error=0.0, *, rule="slope", labels=None, **bracket):
    """Plan on a field and certify the plan."""
    field = as_field(values, **bracket)
    plan = wf.plan(graph, field, goal, rule=rule)
    least = int(np.argmin(plan.values))
    return certify(graph, labels or wf.Labels([least], plan.values[[least]]), field, plan, error)


def optimal_moves(graph, truth, plan):
    """(n,) bool: whether the move is one of the best; False where the goal is out of reach."""
    cost = truth[plan.successor] + 0.0
    cost[plan.dead_ends] = inf
    moved = np.flatnonzero(plan.successor != np.arange(truth.size))
    for s in moved:
        row = graph.indptr[s] + np.searchsorted(graph.neighbours(int(s)), plan.successor[s])
        cost[s] += graph.lengths[row]
    return (cost == truth) & np.isfinite(truth)


# -------------------------------------------------------------------- naive twins


def leads(graph, values, plan, s):
    """Exact lead of the move from s over every rival; -inf over one of unknown value."""
    row, can = rows(graph)[s], plan.reachable
    chosen = int(plan.successor[s])
    base = Fraction(row[chosen]) + Fraction(values[chosen])
    out = {}
    for y, length in row.items():
        if y == chosen or not can[y]:
            continue
        out[y] = -inf if values[y] == inf else Fraction(length) + Fraction(values[y]) - base
    return out


def twin_gap(graph, values, plan, s):
    if s == plan.goal:
        return inf
    if not leads_on(plan, s):
        return -inf
    return min(leads(graph, values, plan, s).values(), default=inf)


def leads_on(plan, s):
    """Whether there is a move from s, to a state from which the goal can be reached."""
    return s not in plan.dead_ends and bool(plan.reachable[plan.successor[s]])


def twin_walk(plan, s):
    """States from s on, each once, the goal left out."""
    path = []
    while s != plan.goal and s not in path:
        path.append(s)
        s = int(plan.successor[s])
    return path


def check_gap(got, exact):
    """No larger than the exact gap, and no more than two doubles below it."""
    if exact in (inf, -inf):
        assert got == exact
    else:
        assert Fraction(got) <= exact
        assert nextafter(nextafter(got, inf), inf) >= exact


@given(any_fields(), st.data())
def test_the_naive_twin(world, data) -> None:
    graph, values, goal = world
    assume(min(values) < inf)
    n = graph.num_vertices
    error = st.sampled_from([0.0, 0.5, 1.0, 3.0, 1e5])
    budget = data.draw(error | st.lists(error, min_size=n, max_size=n))
    rule = data.draw(st.sampled_from(["slope", "q"]))
    cert = certificate(graph, values, goal, budget, rule=rule)
    plan = cert.plan
    bounds = np.broadcast_to(budget, n)
    for s in range(n):
        exact = twin_gap(graph, values, plan, s)
        check_gap(cert.gap[s], exact)
        if s == goal or not leads_on(plan, s):
            assert cert.certified[s] == (s == goal)
            continue
        here = Fraction(bounds[plan.successor[s]])
        stands = all(
            v > here + Fraction(bounds[y]) for y, v in leads(graph, values, plan, s).items()
        )
        assert stands or not cert.certified[s]
        if all(float(v).is_integer() for v in values) and graph.lengths.max(initial=1.0) < 1e9:
            assert cert.certified[s] == stands
    assert np.array_equal(cert.margin, cert.gap / 2)
    for s in range(n):
        path = twin_walk(plan, s)
        margins = [cert.margin[x] for x in path]
        assert cert.start_margin[s] == min(margins, default=inf)
        assert cert.weakest[s] == (path[margins.index(min(margins))] if path else -1)
        assert cert.first_weak[s] == next((x for x in path if not cert.certified[x]), -1)
        certified = all(cert.certified[x] for x in path)
        assert cert.start_certified[s] == (certified and bool(plan.reached[s]))
    assert cert.refuted == any(all(cert.certified[x] for x in cycle) for cycle in plan.cycles)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.floats(1e-3, 1e3), st.floats(1e-3, 1e3))
def test_rounding_goes_against_the_move(u, v, one, two) -> None:
    fork = wf.Graph.from_edges([0, 0, 1, 2], [1, 2, 3, 3], [one, two, 1.0, 1.0], directed=True)
    cert = certificate(fork, [0.0, u, v, -1e9], 3)
    exact = Fraction(two) + Fraction(v) - Fraction(one) - Fraction(u)
    check_gap(cert.gap[0], exact if cert.plan.successor[0] == 1 else -exact)


# -------------------------------------------------------------------- adversaries


def adversarial(rng, graph, truth, error):
    """Truth moved by at most `error`: at random, or against the best moves of random states."""
    if rng.random() < 0.3:
        return truth + error * rng.integers(-4, 5, truth.size) / 4.0
    side = np.zeros(truth.size)
    for s in rng.permutation(graph.num_vertices):
        heads = graph.neighbours(int(s))
        if heads.size == 0:
            continue
        cost = truth[heads] + graph.lengths[graph.indptr[s] : graph.indptr[s + 1]]
        push = np.where(cost == cost.min(), 1.0, -1.0)
        free = side[heads] == 0.0
        side[heads[free]] = push[free]
    return truth + error * side


@pytest.fixture(scope="module")
def attacks():
    """Certificates of fields at most `error` from the truth, with the truth: over 1e4 decisions."""
    rng = np.random.default_rng(5)
    found = []
    for trial in range(120):
        graph = random_graph(rng, 160, WHOLE, edges=480, directed=bool(trial % 2))
        goal = int(rng.integers(160))
        truth = wf.cost_to_go(graph, goal)
        error = float(rng.choice([0.0, 0.25, 0.5, 1.0, 2.0, 3.5]))
        values = adversarial(rng, graph, truth, error)
        rule = ("q", "slope")[trial // 2 % 2]
        cert = certificate(graph, values, goal, error, rule=rule)
        found.append((cert, truth, optimal_moves(graph, truth, cert.plan)))
    return found


def test_no_adversary_gets_a_wrong_move_certified(attacks) -> None:
    decisions = wrong = certified = 0
    for cert, _, optimal in attacks:
        assert not (cert.certified & ~optimal).any()
        assert not cert.refuted
        decisions += optimal.size - cert.plan.dead_ends.size - 1
        wrong += int((~optimal).sum()) - int((~optimal)[cert.plan.dead_ends].sum())
        certified += int(cert.certified.sum()) - 1
    assert decisions >= 15_000
    assert wrong > 1_500
    assert certified > 1_500


def test_certified_starts_reach_the_goal_at_the_least_cost(attacks) -> None:
    starts = 0
    for cert, truth, _ in attacks:
        sure = cert.start_certified
        starts += int(sure.sum()) - 1
        assert cert.plan.reached[sure].all()
        assert np.array_equal(cert.plan.cost[sure], truth[sure])
        below = cert.plan.reached & (cert.start_margin > cert.error)
        assert np.array_equal(sure, below)
    assert starts > 150


def test_equality_is_not_enough() -> None:
    """gap = 2 · error: the truth may be a tie, and one step further the other way round."""
    values = [0.0, 1.0, 2.0, 3.0]
    assert certificate(PATH, values, 0, error=nextafter(1.0, 0.0)).certified[2]
    assert not certificate(PATH, values, 0, error=1.0).certified[2]


def test_a_certified_cycle_refutes_the_error() -> None:
    cert = certificate(PATH, [0.0, 9.0, 1.0, 1.5], 0, error=0.2)
    assert cert.certified.tolist() == [True, True, True, True]
    assert cert.first_weak.tolist() == [-1, -1, -1, -1]
    assert cert.start_certified.tolist() == [True, True, False, False]
    assert cert.refuted
    assert "refutes this error bound" in repr(cert)


# -------------------------------------------------------------------- brackets


@settings(max_examples=100)
@given(labelled_graphs(), st.sampled_from(["slope", "q"]))
def test_the_gap_of_the_exact_extension(problem, rule) -> None:
    graph, labels = problem
    field = wf.extend(graph, labels, wf.AMLE())
    exact = exact_amle(graph, labels)
    goal = int(labels.vertices[0])
    plan = wf.plan(graph, field.values, goal, rule=rule)
    cert = certify(graph, labels, field, plan)
    assert cert.bracketed
    for s in range(graph.num_vertices):
        gap = twin_gap(graph, exact, plan, s)
        assert cert.gap[s] <= gap
        assert not cert.certified[s] or gap > 0
        plain = twin_gap(graph, field.values, plan, s)
        assert cert.gap[s] <= plain


def test_a_tie_inside_the_bracket_is_never_certified() -> None:
    """Two equal ways round a ring; the computed values may prefer one of them by a last digit."""
    ring = wf.Graph.from_edges([0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0])
    labels = wf.Labels([0, 3], [0.0, 1.0])
    field = wf.extend(ring, labels, wf.AMLE())
    assert field.lower[2] < field.upper[2]
    assert field.lower[2] < field.upper[4]
    values = field.values.copy()
    values[2], values[4] = field.lower[2], field.upper[4]
    moved = replace(field, values=values)
    plan = wf.plan(ring, values, 0)
    assert plan.successor[3] == 2
    cert = certify(ring, labels, moved, plan)
    assert cert.gap[3] <= 0.0
    assert not cert.certified[3]
    bare = certify(ring, labels, replace(moved, lower=None, upper=None), plan)
    assert bare.certified[3]
    assert not bare.bracketed
    assert "no bracket" in repr(bare)


# -------------------------------------------------------------------- values that are none


def test_a_neighbour_that_cannot_reach_the_goal_is_no_rival_and_no_move_to_take() -> None:
    """From 0 to the goal 1, or into the trap 2; a label of -5 would draw the plan into it."""
    trap = wf.Graph.from_edges([0, 0], [1, 2], directed=True)
    for values in ([5.0, 0.0, inf], [5.0, 0.0, 3.0]):
        cert = certificate(trap, values, 1, error=100.0)
        assert cert.gap.tolist() == [inf, inf, -inf]
        assert cert.certified.tolist() == [True, True, False]
    cert = certificate(trap, [5.0, 0.0, -5.0], 1, error=1e9)
    assert cert.plan.successor.tolist() == [2, 1, 2]
    assert cert.certified.tolist() == [False, True, False]
    assert cert.first_weak.tolist() == [0, -1, 2]


def test_infinite_where_the_goal_is_in_reach_spoils_the_gap() -> None:
    """As a prior, or labels without the goal, may have it: the truth there is not known."""
    fork = wf.Graph.from_edges([0, 0, 2], [1, 2, 1], directed=True)
    cert = certificate(fork, [5.0, 0.0, inf], 1)
    assert cert.gap.tolist() == [-inf, inf, inf]
    assert cert.certified.tolist() == [False, True, True]


def test_values_too_large_to_subtract_certify_nothing() -> None:
    star = wf.Graph.from_edges([0, 0], [1, 2], [1.0, 2.0])
    centre = wf.Labels([0], [0.0])
    cert = certificate(star, [0.0, -1.7e308, 1.7e308], 1, labels=centre)
    assert cert.gap[0] == -inf
    assert not cert.certified[0]
    level = wf.Graph.from_edges([0, 0], [1, 2])
    cert = certificate(level, [0.0, -1.7e308, 1.7e308], 1, labels=centre)
    assert cert.gap[0] == np.finfo(float).max


# -------------------------------------------------------------------- what is said, what is refused


def test_what_it_says() -> None:
    labels = wf.Labels([0, 3], [0.0, 3.0])
    field = wf.extend(PATH, labels, wf.AMLE())
    plan = wf.plan(PATH, field.values, 0)
    proved = "Certificate(4 states: 100 % of moves and 100 % of routes proved optimal"
    assert repr(certify(PATH, labels, field, plan)) == f"{proved})"
    expected = f"{proved}; 50 % and 25 % certified for errors up to 1)"
    assert repr(certify(PATH, labels, field, plan, 1)) == expected
    errors = [0.0, 0.5, 0.0, 2.0]
    assert "errors of 0 to 2" in repr(certify(PATH, labels, field, plan, errors))
    with pytest.raises(ValueError, match="read-only"):
        certify(PATH, labels, field, plan).gap[0] = 1.0


@given(noisy_fields(lengths=("unit", "whole")), st.sampled_from([0.0, 0.3, 1.0, 4.0]))
def test_an_array_is_certified_like_a_field_made_by_hand(case, error: float) -> None:
    """Off its labels or not: the lemma is about the field, and the interval test about labels."""
    graph, values, truth, goal = case
    labels = wf.Labels([goal], [0.0])
    plan = wf.plan(graph, values, goal)
    array, made = (certify(graph, labels, u, plan, error) for u in (values, as_field(values)))
    for name in ("gap", "margin", "certified", "start_margin", "proved", "error_bound"):
        assert np.array_equal(getattr(array, name), getattr(made, name)), name
    alone = certify(graph, None, values, plan, error)
    assert np.array_equal(alone.certified, array.certified)
    assert np.flatnonzero(alone.proved).tolist() == [goal]
    assert np.flatnonzero(alone.route_proved).tolist() == [goal]
    differ = values != truth
    if np.abs(values[differ] - truth[differ]).max(initial=0.0) <= error:
        optimal_there = optimal_moves(graph, truth, plan)
        optimal_there[goal] = True
        assert optimal_there[alone.certified].all()


def test_labels_that_a_field_misses_still_prove_their_moves() -> None:
    labels = wf.Labels([0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0])
    critic = np.array([0.5, 0.9, 2.0, 3.5])
    cert = certify(PATH, labels, critic, wf.plan(PATH, critic, 0))
    assert cert.route_proved.all()
    assert cert.error_bound == pytest.approx([0.5, 0.1, 0.0, 0.5])
    assert "the field differs from 3 of 4 labels, by up to 0.5" in repr(cert)
    assert critic.flags.writeable


def test_without_labels_nothing_bounds_the_error() -> None:
    critic = [0.0, 1.0, 2.0, 3.0]
    cert = certify(PATH, None, critic, wf.plan(PATH, critic, 0), 0.9)
    assert repr(cert) == (
        "Certificate(4 states: no labels; 100 % and 100 % certified for errors up to 0.9; "
        "no bracket)"
    )
    assert cert.error_bound.tolist() == [pytest.approx(0.0), inf, inf, inf]
    assert not cert.labelled
    with pytest.raises(wf.InputError, match="proof"):
        cert.write_proof("nowhere")


def test_the_same_graph_in_other_arrays_will_do() -> None:
    cert = certificate(PATH, [0.0, 1.0, 2.0, 3.0], 0)
    copy = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    again = certify(copy, cert.labels, cert.extension, cert.plan, np.array(0.5))
    assert np.array_equal(again.gap, cert.gap)
    assert again.error == 0.5


def test_half_the_test_would_certify_wrong_moves(attacks) -> None:
    """Replace 2 · error by error, and the adversaries win."""
    assert sum(int(((c.gap > c.error) & ~optimal).sum()) for c, _, optimal in attacks) > 15


def test_the_converse_is_not_claimed() -> None:
    """An optimal move that is not certified, and an optimal start that is not."""
    truth = np.array([0.0, 1.0, 2.0, 3.0])
    cert = certificate(PATH, truth, 0, error=1.5)
    assert optimal_moves(PATH, truth, cert.plan).all()
    assert cert.certified.tolist() == [True, False, False, True]
    assert not cert.start_certified[1:].any()
    assert cert.plan.cost.tolist() == truth.tolist()
