"""Operators and mechanism: the geometry of the true cost, inversions, corrections, separation."""

from __future__ import annotations

from fractions import Fraction
from math import isinf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_audit as naive
import wayfield as wf
from exact import exact_harmonic
from exact_amle import exact_amle
from naive_audit import deciding
from wayfield.audit import Compatible, geometry, half_gap, mechanism, ordering
from wayfield.audit.separation import over_scope
from worlds import NOISE, noisy, noisy_fields, random_graph, seven

undirected_unit = noisy_fields(lengths=("unit",), directed=False)
undirected = noisy_fields(directed=False)


def slopes(graph: wf.Graph, truth, x: int) -> list[Fraction]:
    row = range(graph.indptr[x], graph.indptr[x + 1])
    here = Fraction(truth[x])
    return [(Fraction(truth[graph.indices[e]]) - here) / Fraction(graph.lengths[e]) for e in row]


# ------------------------------------------------------------------ geometry


@given(undirected_unit)
def test_proposition_distance_is_amle_exactly_where_it_extends(case) -> None:
    graph, _, truth, goal = case
    shape = geometry(graph, truth, goal)
    for x in deciding(truth, goal):
        near = truth[graph.neighbours(x)]
        assert near.min() == truth[x] - 1  # (a)
        assert near.max() in (truth[x] - 1, truth[x], truth[x] + 1)  # (b)
        midrange = (near.min() + near.max()) / 2
        assert shape.midrange_residual[x] == midrange - truth[x]
        assert shape.extendable[x] == (near.max() == truth[x] + 1)
        assert (midrange == truth[x]) == shape.extendable[x]  # (c)
        assert (shape.code[x] in (Compatible.AMLE, Compatible.BOTH)) == shape.extendable[x]


@given(undirected_unit)
def test_corollary_harmonic_residual_counts_neighbours(case) -> None:
    graph, _, truth, goal = case
    shape = geometry(graph, truth, goal)
    for x in deciding(truth, goal):
        near = truth[graph.neighbours(x)]
        steps = (near - truth[x]).tolist()
        counts = [steps.count(step) for step in (1.0, 0.0, -1.0)]
        assert [shape.n_plus[x], shape.n_zero[x], shape.n_minus[x]] == counts
        assert shape.averaging_residual[x] == pytest.approx(near.mean() - truth[x], abs=1e-13)
        residual = (counts[0] - counts[2]) / near.size
        assert shape.averaging_residual[x] == pytest.approx(residual, abs=1e-15)
        balanced = shape.code[x] in (Compatible.HARMONIC, Compatible.BOTH)
        assert balanced == (counts[0] == counts[2])


@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_on_other_lengths_something_is(scale) -> None:
    """Slopes -1, 1/2 and 1/2 at vertex 1, where in tenths they round: 0.3 - 0.2 is not 0.1."""
    lengths = scale * np.array([2.0, 2.0, 2.0, 3.0, 3.0])
    graph = wf.Graph.from_edges([0, 1, 1, 2, 3], [1, 2, 3, 0, 0], lengths)
    truth = wf.cost_to_go(graph, 0)
    shape = geometry(graph, truth, 0)
    assert (sum(slopes(graph, truth, 1)) == 0) == (scale == 1.0)
    assert shape.averaging_residual[1] == pytest.approx(0.0, abs=1e-15)
    assert shape.code[1] == Compatible.HARMONIC
    assert not shape.extendable[1]


@given(undirected)
def test_the_slope_form_of_the_proposition_on_any_lengths(case) -> None:
    graph, _, truth, goal = case
    shape = geometry(graph, truth, goal)
    for x in deciding(truth, goal):
        exact = slopes(graph, truth, x)
        assert float(min(exact)) == pytest.approx(-1.0, abs=1e-9)
        assert float(max(exact)) <= 1 + 1e-9
        assert shape.midrange_residual[x] == pytest.approx(
            float(max(exact) + min(exact)) / 2, abs=1e-9
        )
        assert shape.extendable[x] == (float(max(exact)) > 1 - 1e-9)
        row = slice(graph.indptr[x], graph.indptr[x + 1])
        conductance = 1 / graph.lengths[row]
        mean = conductance @ truth[graph.indices[row]] / conductance.sum()
        assert shape.averaging_residual[x] == pytest.approx(mean - truth[x], abs=1e-9)
        counted = shape.n_plus[x] + shape.n_zero[x] + shape.n_minus[x]
        assert counted == graph.degrees[x]


def test_the_goal_and_the_unreachable_have_classes_of_their_own() -> None:
    graph = wf.Graph.from_edges([0, 1, 3], [1, 2, 4])
    shape = geometry(graph, wf.cost_to_go(graph, 0), 0)
    assert shape.code.tolist() == [
        Compatible.NEITHER,
        Compatible.BOTH,
        Compatible.NEITHER,
        Compatible.UNREACHABLE,
        Compatible.UNREACHABLE,
    ]
    assert np.isnan(shape.midrange_residual[3:]).all()
    assert shape.midrange_residual[0] == 1.0


def test_the_class_over_a_scope_is_what_all_of_it_satisfies() -> None:
    """A path with a side branch at 2, which alone is AMLE and not harmonic; ends are neither."""
    comb = wf.Graph.from_edges([0, 1, 2, 3, 4, 2], [1, 2, 3, 4, 5, 6])
    code = geometry(comb, wf.cost_to_go(comb, 0), 0).code
    assert [Compatible(each).name for each in code] == [
        "NEITHER", "BOTH", "AMLE", "BOTH", "BOTH", "NEITHER", "NEITHER"
    ]  # fmt: skip
    assert [Compatible(each).name for each in over_scope(comb, code)] == [
        "NEITHER", "NEITHER", "NEITHER", "AMLE", "NEITHER", "NEITHER", "NEITHER"
    ]  # fmt: skip


def test_a_scope_with_a_state_of_no_class_has_none() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    code = np.array([Compatible.BOTH, Compatible.BOTH, Compatible.BLURRED])
    assert over_scope(path, code).tolist() == [3, -2, -2]


# ------------------------------------------------------------------ mechanism


@st.composite
def pairs_of_fields(draw):
    graph, one, truth, goal = draw(noisy_fields(directed=False))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    other = noisy(rng, truth, draw(st.sampled_from(NOISE)))
    starts = draw(st.lists(st.integers(0, graph.num_vertices - 1), min_size=1, max_size=4))
    return graph, one, other, truth, goal, starts


def naive_scope(graph: wf.Graph, shape, s: int) -> Compatible:
    """Which equations hold at a state and at each of its neighbours."""
    codes = [Compatible(shape.code[x]) for x in (s, *graph.neighbours(s).tolist())]
    amle = all(code in (Compatible.AMLE, Compatible.BOTH) for code in codes)
    harmonic = all(code in (Compatible.HARMONIC, Compatible.BOTH) for code in codes)
    return Compatible(Compatible.AMLE * amle + Compatible.HARMONIC * harmonic)


@given(pairs_of_fields())
def test_counts_are_what_walking_and_counting_gives(problem) -> None:
    graph, smooth, sharp, truth, goal, starts = problem
    audit = mechanism(graph, smooth, sharp, truth, goal, starts)
    plan = wf.plan(graph, smooth, goal, rule="q", ties="index")
    other = wf.plan(graph, sharp, goal, rule="q", ties="index")
    shape, certified = geometry(graph, truth, goal), half_gap(graph, sharp, truth, goal).holds
    count = dict.fromkeys(audit.__dataclass_fields__, 0)
    for start in starts:
        for s in dict.fromkeys(plan.rollout(start).path.tolist()):
            if isinf(truth[s]):
                count["excluded"] += 1
                continue
            if s == goal:
                count["arrivals"] += 1
                continue
            names = {
                Compatible.BOTH: "both",
                Compatible.AMLE: "primary",
                Compatible.HARMONIC: "harmonic_only",
                Compatible.NEITHER: "neither",
            }
            code, scope = Compatible(shape.code[s]), naive_scope(graph, shape, s)
            count["decisions"] += 1
            count[names[code]] += 1
            count[f"scope_{names[scope]}"] += 1
            best = naive.optimal(graph, truth, s)
            q = naive.q_values(graph, smooth, s)
            wrong = any(q[b] < min(q[a] for a in best) for b in set(q) - best)
            corrected = other.successor[s] in best
            count["separated"] += wrong and certified[s]
            count["separated_seen"] += (
                wrong and certified[s] and corrected and plan.successor[s] not in best
            )
            if len(best) == 1:
                count["untied"] += 1
                count["inversions"] += wrong
                count["inversions_primary"] += wrong and code == Compatible.AMLE
                count["inversions_scope_primary"] += wrong and scope == Compatible.AMLE
                count["corrected"] += wrong and corrected
                count["certified"] += wrong and certified[s]
    assert {name: getattr(audit, name) for name in count} == count


@given(pairs_of_fields())
def test_proposition_combined_local_separation(problem) -> None:
    graph, smooth, sharp, truth, goal, starts = problem
    audit = mechanism(graph, smooth, sharp, truth, goal, starts)
    assert audit.separated_seen == audit.separated
    assert audit.certified <= audit.corrected <= audit.inversions <= audit.untied
    assert audit.certified <= audit.separated
    parts = audit.both + audit.primary + audit.harmonic_only + audit.neither
    assert parts == audit.decisions
    wider = audit.scope_both, audit.scope_primary, audit.scope_harmonic_only, audit.scope_neither
    assert sum(wider) == audit.decisions
    assert audit.scope_both <= audit.both
    assert audit.scope_neither >= audit.neither


def test_the_proposition_is_not_vacuous() -> None:
    rng = np.random.default_rng(3)
    separated = 0
    for _ in range(50):
        graph = random_graph(rng, 12, "unit", backbone="tree", edges=12)
        truth = wf.cost_to_go(graph, 0)
        rough, fine = (noisy(rng, truth, kind) for kind in ("rough", "small"))
        audit = mechanism(graph, rough, fine, truth, 0)
        assert audit.separated_seen == audit.separated
        separated += audit.separated
    assert separated > 125


def test_no_converse_of_the_separation_the_seven_nodes() -> None:
    """At 4 harmonic is wrong and the AMLE right, and clause (i) does not hold: ε = 2/3 > 1/2."""
    graph, labels = seven()
    truth = wf.cost_to_go(graph, 0)
    smooth, sharp = exact_harmonic(graph, labels), exact_amle(graph, labels)
    assert (smooth[1], smooth[3]) == (Fraction(36, 29), Fraction(39, 29))
    assert (sharp[1], sharp[3]) == (Fraction(4, 3), 1)
    fields = [np.array([float(value) for value in field]) for field in (smooth, sharp)]
    audit = mechanism(graph, *fields, truth, 0, starts=[4])
    assert (audit.inversions, audit.corrected, audit.certified) == (1, 1, 0)
    assert audit.separated == 0
    # 4 has neighbours at distance 1, 2 and 3: the true cost is harmonic there as well as AMLE
    assert geometry(graph, truth, 0).code[4] == Compatible.BOTH
    assert audit.inversions_primary == 0


def test_the_other_field_moves_by_the_same_rule() -> None:
    """Exit ties cross the plateau of the second field, index ties do not."""
    path = wf.Graph.from_edges([0, 3, 2], [3, 2, 1])  # 0 - 3 - 2 - 1
    truth = wf.cost_to_go(path, 0)
    flat, wrong = np.array([0.0, 1.0, 1.0, 1.0]), np.array([0.0, 1.0, 2.0, 3.0])
    exits = wf.plan(path, wrong, 0, rule="q", ties="exit")
    by_index = mechanism(path, wrong, flat, truth, 0, starts=[2])
    by_exit = mechanism(path, wrong, flat, truth, 0, starts=[2], plan=exits)
    assert by_index.inversions == by_exit.inversions == 1
    assert (by_index.corrected, by_exit.corrected) == (0, 1)


def test_arcs_too_short_for_the_truth_have_no_slope() -> None:
    """V* is the same number at 1 and 2: neither is seen to be nearer to the goal."""
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3], [10.0, 1e-30, 1.0])
    truth = wf.cost_to_go(path, 0)
    shape = geometry(path, truth, 0)
    assert shape.code.tolist() == [
        Compatible.NEITHER,
        Compatible.BLURRED,
        Compatible.BLURRED,
        Compatible.NEITHER,
    ]
    assert shape.known.tolist() == [True, False, False, True]
    assert shape.n_minus.tolist() == [0, 0, 0, 1]
    assert np.isnan(shape.midrange_residual).tolist() == [False, True, True, False]
    audit = half_gap(path, truth, truth, 0)
    assert audit.blurred.tolist() == [False, True, True, False]
    counts = mechanism(path, truth, truth, truth, 0, starts=[3])
    assert (counts.decisions, counts.arrivals) == (0, 1)
    assert counts.excluded == 3  # 3 itself has a slope, its neighbour 2 has none
    scope = ordering(path, truth, truth, 0, starts=[3]).eval_rollouts
    assert (scope.decisions, scope.agreed, scope.excluded) == (1, 1, 2)
