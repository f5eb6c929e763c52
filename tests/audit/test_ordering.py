"""The ordering audit against scipy's τ-b and plain counting, and the bounds the paper proves."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import inf, isinf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

import naive_audit as naive
import wayfield as wf
from naive_audit import deciding
from wayfield.audit import fidelity, ordering, pool
from wayfield.graphs.labels import label_distance
from worlds import WHOLE, labelled_graphs, noisy_fields, random_graph, rows

# ------------------------------------------------------------------ twins


@given(noisy_fields(lengths=("unit", "whole"), max_vertices=14))
def test_tau_is_scipys(case) -> None:
    graph, field, truth, goal = case
    audit = ordering(graph, field, truth, goal)
    for s in deciding(truth, goal):
        heads = graph.neighbours(s)
        row = slice(graph.indptr[s], graph.indptr[s + 1])
        true = graph.lengths[row] + truth[heads]
        mine = field[heads] if graph.is_unit else graph.lengths[row] + field[heads]
        expected = kendalltau(true, mine).statistic if heads.size > 1 else nan
        assert audit.tau[s] == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_true_ties_on_lengths_are_taken_up_to_rounding() -> None:
    """0.1 + 0.2 and 0.3 tie, though not as doubles: τ-b is undefined, and 1 goes before 2."""
    graph = wf.Graph.from_edges([0, 0, 1], [1, 2, 2], [0.1, 0.3, 0.2])
    truth = wf.cost_to_go(graph, 2)
    audit = ordering(graph, truth, truth, 2)
    assert 0.1 + truth[1] > 0.3 + truth[2]
    assert isnan(audit.tau[0])
    assert audit.tau_nbr[0] == -1.0  # the field itself tells them apart, and by index it is wrong
    assert audit.bound[0] == -1.0


@given(noisy_fields())
def test_inversions_and_small_gaps_are_counted_right(case) -> None:
    graph, field, truth, goal = case
    audit = ordering(graph, field, truth, goal)
    for s in range(graph.num_vertices):
        d = int(graph.degrees[s])
        if s not in deciding(truth, goal) or d < 2:
            assert isnan(audit.tau_nbr[s])
            assert isnan(audit.bound[s])
            continue
        inverted = naive.inversions(graph, field, truth, s)
        assert audit.tau_nbr[s] == pytest.approx(1 - 4 * inverted / (d * (d - 1)))
        if graph.is_unit:
            width = 2 * Fraction(audit.half_gap.error[s]) if audit.half_gap.error[s] < inf else inf
            pairs = naive.small_gaps(graph, truth, s, width)
            assert audit.bound[s] == pytest.approx(1 - 4 * pairs / (d * (d - 1)))


@given(noisy_fields(), st.lists(st.integers(0, 1000), min_size=1, max_size=5))
def test_scopes_are_what_walking_and_counting_gives(case, numbers) -> None:
    graph, field, truth, goal = case
    starts = [i % graph.num_vertices for i in numbers]
    audit = ordering(graph, field, truth, goal, starts=starts)
    plan = audit.half_gap.plan
    met = []
    for start in starts:
        met += [s for s in dict.fromkeys(plan.rollout(start).path.tolist()) if s != goal]
    everywhere = [s for s in range(graph.num_vertices) if s != goal]
    for scope, states in ((audit.eval_rollouts, met), (audit.all, everywhere)):
        known = [s for s in states if not isinf(truth[s])]
        taus = [audit.tau[s] for s in known if not isnan(audit.tau[s])]
        regrets = [audit.half_gap.regret[s] for s in known]
        right = [plan.successor[s] in naive.optimal(graph, truth, s) for s in known]
        assert scope.decisions == len(known)
        assert scope.ranked == len(taus)
        assert scope.low_tau == sum(t < 0.5 for t in taus)
        assert scope.agreed == sum(right)
        assert scope.tau_sum == pytest.approx(sum(taus))
        assert scope.regret_sum == pytest.approx(sum(regrets))
        assert scope.excluded == (len(states) - len(known) if states is met else 0)


def test_counts_pool_by_decision() -> None:
    path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    first = ordering(path, [0.0, 3.0, 2.0, 1.5, 4.0], wf.cost_to_go(path, 0), 0, starts=[2, 1, 1])
    scope = first.eval_rollouts  # 2, 3; 1; 1
    assert scope.decisions == scope.ranked == 4
    assert scope.low_tau == 1
    assert scope.agreed == 3
    assert scope.regret_sum == 2.0
    assert scope.tau_sum == 2.0
    truth = wf.cost_to_go(path, 4)
    second = ordering(path, truth, truth, 4, starts=[2])
    both = pool([scope, second.eval_rollouts])
    assert both == scope + second.eval_rollouts
    assert both.decisions == 6
    assert both.tau_sum / both.ranked == pytest.approx(4 / 6)


def test_tau_is_undefined_where_a_ranking_ties_everything() -> None:
    """Such decisions stay in the rates about moves and leave those about τ."""
    square = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    truth = wf.cost_to_go(square, 0)
    audit = ordering(square, truth, truth, 0)
    assert np.isnan(audit.tau[2])  # both neighbours are optimal
    assert audit.tau[1] == audit.tau[3] == 1.0
    assert (audit.all.decisions, audit.all.ranked) == (3, 2)
    flat = ordering(square, np.zeros(4), truth, 0)
    assert np.isnan(flat.tau).all()
    assert flat.all.ranked == 0
    assert flat.all.decisions == 3


# ------------------------------------------------------------------ statements


@given(noisy_fields(max_vertices=12))
def test_lemma_a_pair_further_apart_than_twice_the_error_cannot_swap(case) -> None:
    graph, field, truth, goal = case
    audit = ordering(graph, field, truth, goal)
    ranked = ~np.isnan(audit.tau_nbr)
    assert (audit.tau_nbr[ranked] >= audit.bound[ranked]).all()
    assert (np.abs(audit.tau_nbr[ranked]) <= 1.0).all()


@given(labelled_graphs(lengths=WHOLE), st.sampled_from([0.0, 0.1, 0.25, 0.6]))
def test_corollary_label_density_bounds_the_ordering_of_the_amle(problem, error) -> None:
    graph, drawn = problem
    goal = int(drawn.vertices[0])
    truth = wf.cost_to_go(graph, goal)
    rng = np.random.default_rng(drawn.vertices.size)
    off = rng.uniform(-error, error, len(drawn))
    labels = wf.Labels(drawn.vertices, truth[drawn.vertices] + off, error=error)
    audit = ordering(graph, wf.extend(graph, labels, wf.AMLE()), truth, goal)
    promised = audit.amle_bound(labels)
    far = label_distance(graph, labels)
    for s in deciding(truth, goal):
        reach = far[graph.neighbours(s)].max()
        assert audit.half_gap.error[s] <= error + 2 * reach + 1e-9
        if not isnan(audit.tau_nbr[s]):
            assert audit.tau_nbr[s] >= promised[s]
            d = int(graph.degrees[s])
            pairs = naive.small_gaps(graph, truth, s, 2 * Fraction(error) + 4 * Fraction(reach))
            assert promised[s] == pytest.approx(1 - 4 * pairs / (d * (d - 1)))


def test_the_density_bound_by_hand() -> None:
    """True Q-values 1, 3 and 4 at vertex 0, whose neighbour 2 is 1 away from a label: M(4 · 1)."""
    star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3], [1.0, 1.0, 1.5])
    truth = wf.cost_to_go(star, 1)
    audit = ordering(star, truth, truth, 1)
    assert audit.amle_bound(wf.Labels([0, 1, 3], truth[[0, 1, 3]]))[0] == -1.0
    assert audit.amle_bound(wf.Labels(range(4), truth))[0] == 1.0
    assert audit.amle_bound(wf.Labels(range(4), truth, error=0.5))[0] == pytest.approx(1 / 3)


# ------------------------------------------------------------------- expected ordinal fidelity


@given(st.integers(0, 2**32 - 1), st.booleans())
def test_theorem_inversions_are_fewer_than_gaps_and_errors_allow(seed: int, directed: bool) -> None:
    rng = np.random.default_rng(seed)
    graph = random_graph(
        rng, int(rng.integers(3, 16)), ("unit", "whole", "real"), directed=directed
    )
    truth = wf.cost_to_go(graph, 0)
    rough = truth + rng.uniform(0.0, 3.0) * rng.standard_normal(truth.size)
    audit = ordering(graph, rough, truth, 0)
    found = fidelity(audit)
    # by the definition, pair by pair
    decides = audit.half_gap.decides & ~audit.half_gap.blurred
    shares = []
    for s in np.flatnonzero(decides):
        row = list(rows(graph)[int(s)].items())
        pairs = list(combinations(row, 2))
        if not pairs:
            continue
        lost = [
            abs(a + truth[x] - b - truth[y]) > 1e-9 * min(a + truth[x], b + truth[y])
            and not (a + truth[x] - b - truth[y]) * (a + rough[x] - b - rough[y]) > 0.0
            for (x, a), (y, b) in pairs
            if np.isfinite(truth[x]) or np.isfinite(truth[y])
        ]
        shares.append(sum(lost) / len(pairs))
    assert found.inverted == pytest.approx(np.mean(shares) if shares else 0.0)
    assert found.inverted <= found.overlap + 1e-12
    assert found.overlap <= found.bound + 1e-12
    kept = decides & ~np.isnan(audit.tau_nbr)
    if kept.any():
        least = 1.0 - 2.0 * found.tied - 2.0 * found.bound
        assert audit.tau_nbr[kept].mean() >= least - 1e-9
    # a larger error never helps
    error = np.abs(np.subtract(rough, truth, where=np.isfinite(truth), out=np.zeros(truth.size)))
    assert fidelity(audit, error + 1.0).bound >= found.bound - 1e-12


def test_theorem_no_better_bound_holds_for_these_distributions() -> None:
    """One decision of two neighbours for each pair of a gap and an error, matched as badly."""
    rng = np.random.default_rng(7)
    for _ in range(30):
        n = int(rng.integers(2, 9))
        gaps = np.sort(rng.integers(1, 9, n).astype(float))
        errors = np.sort(rng.integers(0, 5, n).astype(float))
        # the smallest errors that will do, for the gaps in ascending order: the most connections
        pairs, taken = [], set()
        for gap in gaps:
            free = [j for j in range(n) if j not in taken and gap <= 2.0 * errors[j]]
            if free:
                taken.add(free[0])
                pairs.append((gap, errors[free[0]]))
        spare = [errors[j] for j in range(n) if j not in taken]
        pairs += list(zip(gaps[len(pairs) :], spare, strict=True))
        tails, heads, lengths, field = [], [], [], {0: 0.0}
        for i, (gap, error) in enumerate(pairs):
            s, a, b = 3 * i + 1, 3 * i + 2, 3 * i + 3
            tails, heads = [*tails, s, s, a, b], [*heads, a, b, 0, 0]
            lengths = [*lengths, 1.0, 1.0, 10.0, 10.0 + gap]
            field |= {s: 11.0, a: 10.0 + error, b: 10.0 + gap - error}
        graph = wf.Graph.from_edges(tails, heads, lengths, directed=True)
        values = [field[x] for x in range(graph.num_vertices)]
        found = fidelity(ordering(graph, values, wf.cost_to_go(graph, 0), 0))
        assert found.inverted == pytest.approx(found.bound)


def test_expected_fidelity_has_the_rate_of_the_gaps() -> None:
    """With G(t) ≤ C t^α the theorem's bound is at most its closed form."""
    rng = np.random.default_rng(8)
    for _ in range(20):
        graph = random_graph(rng, 60, "real", backbone="tree", edges=80)
        truth = wf.cost_to_go(graph, 0)
        noise = rng.uniform(0.0, 0.05) * rng.standard_normal(60)
        audit = ordering(graph, truth + noise, truth, 0)
        found = fidelity(audit)
        decides = audit.half_gap.decides & ~np.isnan(audit.tau_nbr)
        m = 2.0 * audit.half_gap.error[decides].mean() * (1.0 + 1e-9)
        # the least C with G(t) ≤ C t at the gaps themselves, each pair with its own weight
        gaps = []
        for s in np.flatnonzero(decides):
            q = [length + truth[y] for y, length in rows(graph)[int(s)].items()]
            some = [abs(a - b) for a, b in combinations(q, 2)]
            gaps += [(gap, 1.0 / len(some) / decides.sum()) for gap in some]
        gaps.sort()
        summed = np.cumsum([weight for _, weight in gaps])
        c = max(total / gap for (gap, _), total in zip(gaps, summed, strict=True))
        assert found.bound <= 2.0 * np.sqrt(c * m) + 1e-9


def test_no_converse_of_the_lemma_a_scaled_truth() -> None:
    """Large errors that keep every order: τ_nbr is 1 and the bound is -1."""
    path = wf.Graph.from_edges(range(9), range(1, 10))
    truth = wf.cost_to_go(path, 0)
    audit = ordering(path, 7.0 * truth, truth, 0)
    assert audit.tau_nbr[4] == 1.0
    assert audit.bound[4] == -1.0
