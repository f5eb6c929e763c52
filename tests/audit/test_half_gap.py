"""The half-gap test against its definition, the lemma and the theorem, and what they do not say."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import inf, isinf

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import naive_audit as naive
import wayfield as wf
from naive_audit import deciding
from wayfield.audit import amle_half_gap, half_gap, pool
from wayfield.certificates.kernels import along_walks
from wayfield.graphs.labels import label_distance
from wayfield.plans.kernels import visit_counts
from worlds import any_fields, labelled_graphs, noisy_fields, random_graph, seven

# ------------------------------------------------------------------ twins


@given(noisy_fields())
def test_gaps_errors_and_optimal_actions_are_those_of_the_definition(case) -> None:
    graph, field, truth, goal = case
    audit = half_gap(graph, field, truth, goal)
    assert np.flatnonzero(audit.decides).tolist() == deciding(truth, goal)
    assert audit.gap[goal] == inf
    assert audit.holds[goal]
    assert audit.chosen_optimal[goal]
    for s in deciding(truth, goal):
        best = naive.optimal(graph, truth, s)
        assert set(audit.optimal_actions(s).tolist()) == best
        assert audit.untied[s] == (len(best) == 1)
        assert audit.gap[s] == pytest.approx(float(naive.action_gap(graph, truth, s)), rel=1e-12)
        error = float(naive.local_error(graph, field, truth, s))
        assert audit.error[s] == pytest.approx(error, rel=1e-12)
        assert audit.chosen_optimal[s] == (audit.plan.successor[s] in best)
    for s in np.flatnonzero(np.isinf(truth)):
        assert audit.optimal_actions(s).size == 0
        assert np.isnan(audit.gap[s])
        assert not audit.holds[s]
        assert not audit.chosen_optimal[s]


@given(noisy_fields(lengths=("unit", "whole")))
def test_regret_is_what_the_move_costs_over_the_best(case) -> None:
    graph, field, truth, goal = case
    audit = half_gap(graph, field, truth, goal)
    for s in deciding(truth, goal):
        q, move = naive.q_values(graph, truth, s), int(audit.plan.successor[s])
        assert audit.regret[s] == (q[move] - min(q.values()) if move != s else inf)


@given(noisy_fields(lengths=("unit",)))
def test_unit_lengths_are_tested_without_tolerance(case) -> None:
    graph, field, truth, goal = case
    audit = half_gap(graph, field, truth, goal)
    for s in deciding(truth, goal):
        gap = naive.action_gap(graph, truth, s)
        error = naive.local_error(graph, field, truth, s)
        exactly = not isinf(error) and (isinf(gap) or 2 * error < gap)
        assert not audit.holds[s] or exactly
        # rounding of the error alone can make it look as large as the half-gap
        assert audit.holds[s] or not exactly or 2 * audit.error[s] == gap


@given(noisy_fields(lengths=("whole", "real")))
def test_other_lengths_are_tested_with_room_for_rounding_and_no_more(case) -> None:
    graph, field, truth, goal = case
    audit = half_gap(graph, field, truth, goal)
    for s in deciding(truth, goal):
        gap = naive.action_gap(graph, truth, s)
        error = naive.local_error(graph, field, truth, s)
        exactly = not isinf(error) and (isinf(gap) or 2 * error < gap)
        assert not audit.holds[s] or exactly
        if exactly and not isinf(gap) and gap - 2 * error > Fraction(1, 10**9) * (gap + error):
            assert audit.holds[s]


@given(any_fields(), st.randoms())
def test_walks_meet_what_their_rollouts_meet(world, random) -> None:
    graph, values, goal = world
    plan = wf.plan(graph, values, goal, rule="q", ties="index")
    n = graph.num_vertices
    holds = np.array([random.random() < 0.7 for _ in range(n)])
    weights = np.array([float(random.randrange(4)) for _ in range(n)])
    visits = np.zeros(n)
    for start in range(n):
        path = plan.rollout(start).path.tolist()
        seen = list(dict.fromkeys(path))
        visits[seen] += weights[start]
        broken = [s for s in seen if s != goal and not holds[s]]
        first = along_walks(plan.successor, goal, weights, holds)[2][start]
        assert first == (broken[0] if broken else -1)
    assert visit_counts(plan.successor, goal, weights).tolist() == visits.tolist()


# ------------------------------------------------------------------ statements


@given(noisy_fields())
def test_lemma_where_the_half_gap_holds_every_minimiser_is_optimal(case) -> None:
    graph, field, truth, goal = case
    audit = half_gap(graph, field, truth, goal)
    for s in deciding(truth, goal):
        if audit.holds[s]:
            best = naive.minimisers(graph, field, s)
            assert best
            assert best <= naive.optimal(graph, truth, s)
            assert audit.chosen_optimal[s]


@given(
    st.one_of(
        noisy_fields(), any_fields().map(lambda w: (w[0], w[1], wf.cost_to_go(w[0], w[2]), w[2]))
    )
)
def test_theorem_where_it_holds_all_along_the_walk_arrives_optimally(case) -> None:
    graph, field, truth, goal = case
    audit = half_gap(graph, field, truth, goal)
    for start in np.flatnonzero(audit.start_holds):
        assert audit.plan.reached[start]
        path = audit.plan.rollout(start).path
        assert audit.chosen_optimal[path].all()
        assert all(truth[x] > truth[y] for x, y in pairwise(path))
        assert audit.plan.cost[start] == pytest.approx(truth[start], rel=1e-12)


@given(noisy_fields(), st.randoms())
def test_path_existential_bound(case, random) -> None:
    graph, field, truth, goal = case
    audit = half_gap(graph, field, truth, goal)
    n = graph.num_vertices
    starts = [random.randrange(n) for _ in range(6)]
    bound = audit.failure_bound(starts)
    known = [s for s in starts if not isinf(truth[s])]
    assert bound.excluded == len(starts) - len(known)
    if not known:
        assert np.isnan(bound.bound)
        assert np.isnan(bound.failure)
        return
    assert bound.failure == sum(not audit.plan.reached[s] for s in known) / len(known)
    assert bound.bound == sum(not audit.start_holds[s] for s in known) / len(known)
    assert bound.failure <= bound.bound


@given(st.lists(noisy_fields(), min_size=1, max_size=4))
def test_counts_of_several_goals_add_up(cases) -> None:
    audits = [half_gap(*case) for case in cases]
    bound = pool(audit.failure_bound() for audit in audits)
    counts = pool(audit.counts() for audit in audits)
    known = sum(len(deciding(truth, goal)) for _, _, truth, goal in cases)
    assert bound.starts == counts.decisions == known
    assert bound.excluded == sum(graph.num_vertices - 1 for graph, *_ in cases) - known
    assert bound.broken == sum(int((~a.start_holds & a.decides).sum()) for a in audits)
    assert bound.failed == sum(int((~a.plan.reached & a.decides).sum()) for a in audits)
    assert counts.holding == sum(
        bool(a.holds[s])
        for a, (_, _, truth, goal) in zip(audits, cases, strict=True)
        for s in deciding(truth, goal)
    )


@given(noisy_fields(), st.randoms(use_true_random=False))
def test_decisions_are_counted_as_often_as_walks_meet_them(case, random) -> None:
    graph, _, truth, goal = case
    audit = half_gap(*case)
    starts = [random.randrange(graph.num_vertices) for _ in range(5)]
    met = [
        s
        for start in starts
        for s in dict.fromkeys(audit.plan.rollout(start).path.tolist())
        if s in deciding(truth, goal)
    ]
    counts = audit.counts(starts)
    assert counts.met == len(met)
    assert counts.met_holding == sum(bool(audit.holds[s]) for s in met)


def test_shares_leave_out_starts_that_cannot_reach() -> None:
    """Of 1 and 2 one fails, 3 cannot reach; each as often as it is given."""
    graph = wf.Graph.from_edges([1, 2, 1, 0], [0, 1, 2, 3], directed=True)
    audit = half_gap(graph, [0.0, 3.0, 2.0, inf], wf.cost_to_go(graph, 0), 0)
    assert audit.plan.reached.tolist() == [True, True, True, False]
    audit = half_gap(graph, [9.0, 3.0, 2.0, inf], wf.cost_to_go(graph, 0), 0)
    assert audit.plan.reached.tolist() == [True, False, False, False]
    bound = audit.failure_bound([0, 1, 1, 3, 3])
    assert (bound.starts, bound.failed, bound.excluded) == (3, 2, 2)
    assert (bound.bound, bound.failure) == (2 / 3, 2 / 3)


# ------------------------------------------------------------------ from labels alone


@given(labelled_graphs(), st.sampled_from([0.0, 0.1, 0.25, 0.6]))
def test_corollary_label_distances_bound_the_error_of_the_amle(problem, error) -> None:
    graph, drawn = problem
    goal = int(drawn.vertices[0])
    truth = wf.cost_to_go(graph, goal)
    off = np.random.default_rng(len(drawn)).uniform(-error, error, len(drawn))
    off *= truth[drawn.vertices] > 0.0
    labels = wf.Labels(drawn.vertices, truth[drawn.vertices] + off, error=error)
    audit = amle_half_gap(graph, labels, truth, goal)
    seen = half_gap(graph, wf.extend(graph, labels, wf.AMLE()), truth, goal)
    far = label_distance(graph, labels)
    for s in deciding(truth, goal):
        promised = error + 2.0 * far[graph.neighbours(s)].max()
        assert audit.error[s] == promised
        assert seen.error[s] <= promised * (1 + 1e-12) + 1e-12
        if audit.holds[s]:
            assert 2.0 * promised < audit.gap[s]
            assert audit.chosen_optimal[s]
        elif not audit.blurred[s]:
            assert 2.0 * promised >= audit.gap[s] * (1 - 1e-9)
    assert audit.plan.reached[audit.start_holds].all()
    assert (audit.plan.successor == seen.plan.successor).all()


# ------------------------------------------------------------------ what they do not say


def test_no_converse_of_the_lemma_the_seven_nodes() -> None:
    graph, labels = seven()
    truth = wf.cost_to_go(graph, 0)
    sharp = half_gap(graph, wf.extend(graph, labels, wf.AMLE()), truth, 0)
    smooth = half_gap(graph, wf.extend(graph, labels, wf.Harmonic()), truth, 0)
    assert sharp.gap[4] == 1.0
    assert sharp.error[4] == pytest.approx(2 / 3, abs=1e-15)
    assert smooth.error[4] == pytest.approx(22 / 29, abs=1e-15)
    assert not sharp.holds[4]
    assert sharp.chosen_optimal[4]  # right without the half-gap
    assert not smooth.holds[4]
    assert not smooth.chosen_optimal[4]


def test_the_half_gap_is_sharp() -> None:
    """At ε = Δ* / 2 exactly the wrong neighbour can tie with the right one and win by its index."""
    graph = wf.Graph.from_edges([2, 2, 1], [1, 3, 0])  # 0 - 1 - 2 - 3 with the goal at 3
    truth = wf.cost_to_go(graph, 3)
    audit = half_gap(graph, truth + np.array([0.0, -1.0, 0.0, 1.0]), truth, 3)
    assert audit.gap[2] == 2.0
    assert audit.error[2] == 1.0
    assert not audit.holds[2]
    assert audit.plan.successor[2] == 1
    assert audit.regret[2] == 2.0


def test_the_lemma_is_about_argmin_q_and_not_about_slopes() -> None:
    """A slope depends on the value at s itself, which ε_s says nothing about."""
    graph = wf.Graph.from_edges([0, 0], [1, 2], [0.1, 3.0])
    truth, field = wf.cost_to_go(graph, 2), [3.3, 3.01, 0.0]
    by_q = half_gap(graph, field, truth, 2)
    by_slope = half_gap(graph, field, truth, 2, wf.plan(graph, field, 2, rule="slope"))
    assert by_q.holds[0]
    assert by_slope.holds[0]
    assert by_q.chosen_optimal[0]
    assert not by_slope.chosen_optimal[0]


def test_arcs_lost_in_rounding_are_not_trusted() -> None:
    """0 and 1 are 1e-20 apart and 1 from the goal: either looks optimal from the other."""
    graph = wf.Graph.from_edges([0, 0, 1], [1, 2, 2], [1e-20, 1.0, 1.0])
    truth = wf.cost_to_go(graph, 2)
    audit = half_gap(graph, truth - np.array([0.5, 0.5, 0.0]), truth, 2)
    assert audit.gap[:2].tolist() == [inf, inf]
    assert not audit.plan.reached[:2].any()
    assert not audit.holds[:2].any()


def test_a_half_gap_lost_in_the_rounding_of_q_is_not_trusted() -> None:
    """ε < Δ* / 2 by 2⁻⁵³, but 4 + u(0) and 4 + u(2) round to one number, and the index decides."""
    tiny, hair = 2.0**-41, 2.0**-53
    graph = wf.Graph.from_edges([1, 1, 2, 0], [0, 2, 3, 3], [4.0, 4.0, 0.5, 0.5 + 2 * tiny])
    truth = wf.cost_to_go(graph, 3)
    field = truth + np.array([hair - tiny, 0.0, tiny - hair, 0.0])
    audit = half_gap(graph, field, truth, 3)
    assert 2 * audit.error[1] < audit.gap[1]
    assert audit.plan.successor[1] == 0
    assert not audit.chosen_optimal[1]
    assert not audit.holds[1]


def test_true_ties_on_lengths_are_taken_up_to_rounding() -> None:
    """The ways 0.1 + 0.2 and 0.3 are equally long, though not as doubles."""
    graph = wf.Graph.from_edges([0, 0, 1], [1, 2, 2], [0.1, 0.3, 0.2])
    truth = wf.cost_to_go(graph, 2)
    assert 0.1 + truth[1] != 0.3 + truth[2]
    audit = half_gap(graph, truth, truth, 2)
    assert audit.optimal_actions(0).tolist() == [1, 2]
    assert audit.gap[0] == inf


# ------------------------------------------------------------------ infinite values


def test_agreeing_that_a_state_cannot_reach_is_no_error() -> None:
    graph = wf.Graph.from_edges([0, 0], [1, 2], directed=True)
    truth = wf.cost_to_go(graph, 2)
    agreed = half_gap(graph, [1.0, inf, 0.0], truth, 2)
    assert agreed.error[0] == 0.0
    assert agreed.gap[0] == inf
    assert agreed.holds[0]
    wrong = half_gap(graph, [1.0, 5.0, 0.0], truth, 2)
    assert wrong.error[0] == inf
    assert not wrong.holds[0]
    assert wrong.chosen_optimal[0]
    assert repr(wrong).endswith("1 cannot reach the goal)")


@given(noisy_fields())
def test_a_truth_moved_at_one_vertex_is_found_out(case) -> None:
    graph, _, truth, goal = case
    moved = truth.copy()
    candidates = deciding(truth, goal)
    assume(candidates)
    moved[candidates[-1]] *= 1.001
    with pytest.raises(wf.InputError, match="violates the Bellman identity"):
        half_gap(graph, truth, moved, goal)


@pytest.mark.parametrize("kind", ["unit", "whole", "real"])
@pytest.mark.parametrize("directed", [False, True])
def test_theorem_on_a_thousand_fields_that_err_as_badly_as_they_may(kind, directed) -> None:
    rng = np.random.default_rng(7)
    certified = broken = 0
    for _ in range(5):
        graph = random_graph(rng, 40, kind, backbone="tree", edges=60, directed=directed)
        goal = int(rng.integers(40))
        truth = wf.cost_to_go(graph, goal)
        gap = half_gap(graph, truth, truth, goal).gap
        smallest = np.min(gap[np.isfinite(gap)], initial=1.0)
        for factor in np.repeat([0.999, 1.0, 1.001, 2.0, 8.0], 10):
            sign = rng.choice([-1.0, 0.0, 1.0], 40)
            audit = half_gap(graph, truth + sign * factor * smallest / 2, truth, goal)
            assert audit.chosen_optimal[audit.holds].all()
            assert audit.plan.reached[audit.start_holds].all()
            certified += int(audit.start_holds.sum())
            broken += int((audit.decides & ~audit.chosen_optimal).sum())
    assert certified > 2_500
    assert broken > 50  # an error twice the half-gap does break decisions


def test_no_converse_of_the_theorem_a_scaled_truth() -> None:
    path = wf.Graph.from_edges(range(9), range(1, 10))
    truth = wf.cost_to_go(path, 0)
    audit = half_gap(path, 3.0 * truth, truth, 0)
    assert audit.plan.reached.all()
    assert not audit.start_holds[1:].any()
