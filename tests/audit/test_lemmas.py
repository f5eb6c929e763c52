"""Statements of the paper without a function of their own, checked as the paper states them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from exact import exact_harmonic
from exact_amle import exact_amle
from wayfield.audit import failures, mechanism, ordering, strict_extrema
from wayfield.graphs.labels import label_distance
from wayfield_study.kernels.midrange import balance, midrange
from wayfield_study.witnesses import seven_node
from worlds import labelled_graphs, noisy_fields, rough_fields, tasks

# ------------------------------------------------------------------ harmonic measure


@given(labelled_graphs())
def test_lemma_harmonic_measure_represents_the_field(problem) -> None:
    """Weights of the labels are exact hitting probabilities, and h = Σ ω Y."""
    graph, labels = problem
    field = wf.extend(graph, labels, wf.Harmonic())
    units = [wf.Labels(labels.vertices, np.eye(len(labels))[j]) for j in range(len(labels))]
    measure = list(zip(*(exact_harmonic(graph, unit) for unit in units), strict=True))
    place = {vertex: j for j, vertex in enumerate(labels.vertices.tolist())}
    for x in range(graph.num_vertices):
        omega = np.zeros(len(labels))
        found = field.influence(x)
        omega[[place[vertex] for vertex in found.vertices.tolist()]] = found.weights
        assert omega == pytest.approx([float(share) for share in measure[x]], abs=1e-9)
        assert omega.sum() == pytest.approx(1.0, abs=1e-9)
        scale = np.abs(labels.values).max()
        assert omega @ labels.values == pytest.approx(field.values[x], abs=1e-9 * scale)


@given(tasks(max_vertices=10, errors=(0.0, 1.0, 2.0)))
def test_lemma_harmonic_local_anti_admissibility(task) -> None:
    """Where a wrong move is strictly preferred, in rationals, the harmonic plan moves wrongly."""
    graph, goal, truth, labels, _ = task
    exact = exact_harmonic(graph, labels)
    field = wf.extend(graph, labels, wf.Harmonic())
    plan = wf.plan(graph, field.values, goal, "q", "index")
    for s in range(graph.num_vertices):
        row = slice(graph.indptr[s], graph.indptr[s + 1])
        arcs = list(zip(graph.indices[row].tolist(), graph.lengths[row].tolist(), strict=True))
        best = min(length + truth[y] for y, length in arcs)
        optimal = {y for y, length in arcs if length + truth[y] == best}
        tolls = {y: Fraction(length) + exact[y] for y, length in arcs}
        rival = min((tolls[y] for y in tolls if y not in optimal), default=None)
        if s == goal or rival is None:
            continue
        margin = float(rival - min(tolls[y] for y in optimal))
        if margin < -1e-9 * max(labels.span, 1.0):
            assert int(plan.successor[s]) not in optimal
            if len(optimal) == 1:
                visits = mechanism(graph, field, field, truth, goal, starts=[s])
                assert visits.inversions > 0


def test_a_wrong_move_need_not_be_certified() -> None:
    """The lemma asks for a strict preference; in a tie the lowest index may be wrong.

    Vertices 1 and 2 are alike to the harmonic field of equal labels, but 2 is nearer to the goal.
    """
    graph = wf.Graph.from_edges([3, 3, 1, 4, 2], [1, 2, 4, 0, 0])
    truth = wf.cost_to_go(graph, 0)
    level = wf.extend(graph, wf.Labels([0, 4], [0.0, 0.0]), wf.Harmonic())
    assert mechanism(graph, level, level, truth, 0, starts=[3]).inversions == 0
    assert wf.plan(graph, level.values, 0, "q", "index").successor[3] == 1


def test_the_harmonic_inversion_of_the_seven_nodes() -> None:
    graph, labels, goal, names = seven_node()
    field = wf.extend(graph, labels, wf.Harmonic())
    s = names.index(4)
    found = mechanism(graph, field, field, wf.cost_to_go(graph, goal), goal, starts=[s])
    assert found.inversions == 1
    omega = [field.influence(names.index(name)).weights.max() for name in (1, 3)]
    assert omega == pytest.approx([17 / 29, 16 / 29], abs=1e-15)  # of the goal


# ------------------------------------------------------------------ errors and residuals


@given(tasks(errors=(0.0, 0.25, 3.0)))
def test_lemma_amle_local_extension_error(task) -> None:
    """In rationals: |u − V*| ≤ ε_lab + |w − V*| ≤ ε_lab + 2 h, w the AMLE of exact labels."""
    graph, _, truth, labels, _ = task
    u = exact_amle(graph, labels)
    w = exact_amle(graph, wf.Labels(labels.vertices, truth[labels.vertices]))
    h = label_distance(graph, labels)
    pairs = zip(labels.values, truth[labels.vertices], strict=True)
    epsilon = max(abs(Fraction(y) - Fraction(v)) for y, v in pairs)
    for x in range(graph.num_vertices):
        error, residual = abs(u[x] - Fraction(truth[x])), abs(w[x] - Fraction(truth[x]))
        assert error <= epsilon + residual <= epsilon + 2 * Fraction(h[x])


@given(rough_fields())
def test_lemma_no_extremum_is_deeper_than_the_residual(problem) -> None:
    """On any lengths and for any field at all, vertex by vertex."""
    graph, labels, values = problem
    update = midrange if graph.is_unit else balance
    slack = 8 * np.spacing(np.abs(values).max())
    minima, maxima = strict_extrema(graph, labels, values)
    for found, sign in ((minima, 1.0), (maxima, -1.0)):
        for x, depth in zip(found.vertices.tolist(), found.depth.tolist(), strict=True):
            assert depth <= sign * (update(graph.arcs, values, x) - values[x]) + slack


def test_the_residual_bound_is_sharp() -> None:
    """A minimum all of whose neighbours are equal is as deep as its residual."""
    star, labels = wf.Graph.from_edges([0, 0, 0], [1, 2, 3]), wf.Labels([1, 2, 3], [2.0, 2.0, 2.0])
    minima, _ = strict_extrema(star, labels, [1.5, 2.0, 2.0, 2.0])
    assert minima.deepest == 0.5


# ------------------------------------------------------------------ bad tails


@given(noisy_fields(), st.sampled_from([0.5, 1.0, 2.0]), st.sampled_from([-0.5, 0.0, 0.5]))
def test_corollary_bad_tail_mass(case, alpha: float, theta: float) -> None:
    """With the least C₀ that fits, μ{τ_nbr ≤ θ} ≤ 2^(α+1) C₀ / (1 − θ) · E[ε^α]."""
    graph, field, truth, goal = case
    audit = ordering(graph, field, truth, goal)
    ranked = ~np.isnan(audit.tau_nbr)
    if not ranked.any():
        return
    close, error = (1 - audit.bound[ranked]) / 2, audit.half_gap.error[ranked]
    if np.isinf(error).any() or (close[error == 0.0] > 0.0).any():
        return  # no constant will do: neighbours tie, and there is no error
    scale = (2 * error[error > 0.0]) ** alpha
    constant = (close[error > 0.0] / scale).max(initial=0.0)
    bound = 2 ** (alpha + 1) * constant / (1 - theta) * (error**alpha).mean()
    assert (audit.tau_nbr[ranked] <= theta).mean() <= bound * (1 + 1e-12)


# ------------------------------------------------------------------ the reach theorem, one-way


@given(tasks(directed=True, factors=(1.0, 0.375, 7.0), bases=(0.0, -2.5)))
def test_directed_fields_with_cost_fill_reach(task) -> None:
    graph, goal, truth, labels, _ = task
    field = wf.extend(graph, labels, wf.AMLE(), unreachable="nan")
    plan = wf.plan(graph, field, goal)
    assert plan.reached[np.isfinite(truth)].all()
    known = labels.vertices[np.isfinite(truth[labels.vertices])]
    assert (plan.cost[known] <= truth[known] * (1 + 1e-12)).all()
    assert failures(graph, field, labels, goal, plan).touching.size == 0
