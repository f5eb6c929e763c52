"""Harmonic measure, the rankings it gives, and the anti-admissibility certificate."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from exact import exact_harmonic
from wayfield.extension._linear import Interior
from wayfield_study.audit import anti_admissibility, harmonic_measure, neighbour_ranking
from wayfield_study.audit.harmonic import AbsorbingWalk
from wayfield_study.audit.witnesses import seven_node
from worlds import ENDS, PATH, labelled_graphs, random_graph, tasks


def exact_measure(graph: wf.Graph, labels: wf.Labels) -> list[list[Fraction]]:
    """(n, labels): one exact harmonic extension per label, 1 there and 0 at the others."""
    units = [np.eye(len(labels))[j] for j in range(len(labels))]
    columns = [exact_harmonic(graph, wf.Labels(labels.vertices, unit)) for unit in units]
    return [list(row) for row in zip(*columns, strict=True)]


# ------------------------------------------------------------------ harmonic measure


@given(labelled_graphs())
def test_rows_are_probabilities_within_their_bounds(problem) -> None:
    """Against exact rationals; the bound on a row's error is a bound."""
    graph, labels = problem
    exact = exact_measure(graph, labels)
    states = np.arange(graph.num_vertices)
    omega, error = AbsorbingWalk(graph, labels).measure(states)
    assert (omega >= 0.0).all()
    assert omega.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
    for row, truth, bound in zip(omega, exact, error, strict=True):
        off = sum(abs(Fraction(float(a)) - b) for a, b in zip(row, truth, strict=True))
        assert off <= Fraction(float(bound))


@given(labelled_graphs())
def test_one_state_at_a_time_gives_the_same(problem) -> None:
    """A state by itself is solved for by its Green's column, all together label by label."""
    graph, labels = problem
    together = harmonic_measure(graph, labels, np.arange(graph.num_vertices))
    for state in range(graph.num_vertices):
        alone = harmonic_measure(graph, labels, [state])
        assert alone[0] == pytest.approx(together[state], abs=1e-9)


def test_the_cheaper_side_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = []
    for side in ("_by_state", "_by_label"):
        plain = getattr(AbsorbingWalk, side)
        monkeypatch.setattr(
            AbsorbingWalk,
            side,
            lambda *args, plain=plain, side=side: taken.append(side) or plain(*args),
        )
    path = wf.Graph.from_edges(range(9), range(1, 10))
    ends = wf.Labels([0, 9], [0.0, 9.0])
    harmonic_measure(path, ends, [4, 4, 5, 0])
    harmonic_measure(path, ends, range(10))
    assert taken == ["_by_state", "_by_label"]


def test_labels_are_hit_at_once_and_hidden_ones_never() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    labels = wf.Labels([0, 3, 4], [0.0, 0.0, 0.0])
    expected = np.array([[0, 1, 0], [2 / 3, 1 / 3, 0], [0, 0, 1]])
    assert harmonic_measure(path, labels, [3, 1, 4]) == pytest.approx(expected)


def test_gamblers_ruin_with_lengths() -> None:
    """On a path the chance to end on the right is the share of the length on the left."""
    lengths = [1.0, 2.5, 0.25, 4.0]
    path = wf.Graph.from_edges(range(4), range(1, 5), lengths)
    omega = harmonic_measure(path, wf.Labels([0, 4], [0.0, 0.0]), range(5))
    assert omega[:, 1] == pytest.approx(np.r_[0.0, np.cumsum(lengths)] / sum(lengths))


def test_a_graph_that_is_solved_by_iteration() -> None:
    """Random graphs fill in when factored; the residuals are refined to rounding all the same."""
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 12_000, "unit", backbone="tree", edges=36_000)
    labels = wf.Labels(range(40), rng.normal(size=40))
    states = np.array([100, 5_000])
    walk = AbsorbingWalk(graph, labels)
    omega, error = walk.measure(states)
    assert Interior.of(graph, walk.system.free).fills_in
    assert omega.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert error.max() < 1e-6
    field = wf.extend(graph, labels, wf.Harmonic())
    assert omega @ labels.values == pytest.approx(field.values[states], abs=1e-12)


# ------------------------------------------------------------------ neighbour rankings


@given(labelled_graphs(), st.data())
def test_the_ranking_identity(problem, data) -> None:
    """h(a) - h(b) = Σ (ω_a - ω_b) Y, and both are the exact difference up to the bound."""
    graph, labels = problem
    s = data.draw(st.integers(0, graph.num_vertices - 1))
    a, b = data.draw(st.tuples(*2 * [st.sampled_from(graph.neighbours(s).tolist())]))
    ranking = neighbour_ranking(graph, labels, s, a, b)
    exact = exact_harmonic(graph, labels)
    scale = np.abs(labels.values).max()
    assert ranking.values == pytest.approx(float(exact[a] - exact[b]), abs=1e-9 * scale)
    assert abs(ranking.values - ranking.measure) <= ranking.bound + 4 * np.spacing(scale)
    assert ranking.weights.sum() == pytest.approx(0.0, abs=1e-9)


def test_the_ranking_on_the_seven_nodes() -> None:
    graph, labels, _, names = seven_node()
    s, a, b = (names.index(name) for name in (4, 1, 3))
    ranking = neighbour_ranking(graph, labels, s, a, b)
    assert ranking.values == pytest.approx(-3 / 29, abs=1e-15)
    assert ranking.measure == pytest.approx(-3 / 29, abs=1e-15)
    assert ranking.weights == pytest.approx(np.array([1, -1]) / 29, abs=1e-15)


# ------------------------------------------------------------------ anti-admissibility


def exact_margins(graph, labels, truth, s) -> tuple[Fraction | None, set[int]]:
    """Least Q outside A* less the least inside, in rationals; None if there is no outside."""
    h = [Fraction(v) for v in exact_harmonic(graph, labels)]
    row = slice(graph.indptr[s], graph.indptr[s + 1])
    arcs = list(zip(graph.indices[row].tolist(), graph.lengths[row].tolist(), strict=True))
    best = min(length + truth[y] for y, length in arcs)
    optimal = {y for y, length in arcs if length + truth[y] == best}
    tolls = {y: Fraction(length) + h[y] for y, length in arcs}
    others = [tolls[y] for y in tolls if y not in optimal]
    if not others:
        return None, optimal
    return min(others) - min(tolls[y] for y in optimal), optimal


@given(tasks(max_vertices=10, errors=(0.0, 1.0, 2.0)))
def test_the_certificate_in_both_forms(problem) -> None:
    graph, goal, truth, labels, _ = problem
    states = np.delete(np.arange(graph.num_vertices), goal)
    found = anti_admissibility(graph, labels, truth, goal, states)
    field = wf.extend(graph, labels, wf.Harmonic()).values
    plan = wf.plan(graph, field, goal, "q", "index")
    for i, s in enumerate(states.tolist()):
        margin, optimal = exact_margins(graph, labels, truth, s)
        if margin is None:
            assert found.margin[i] == found.measure_margin[i] == np.inf
            assert found.competitor[i] == -1
            assert not found.fires[i]
            continue
        assert abs(found.margin[i] - float(margin)) <= found.bound[i]
        assert abs(found.measure_margin[i] - float(margin)) <= 2 * found.bound[i]
        assert found.competitor[i] in set(graph.neighbours(s).tolist()) - optimal
        if abs(margin) > found.bound[i]:
            assert found.fires[i] == (margin < 0)
        if found.fires[i]:
            assert int(plan.successor[s]) not in optimal


def test_the_certificate_on_the_seven_nodes() -> None:
    graph, labels, goal, names = seven_node()
    truth = wf.cost_to_go(graph, goal)
    found = anti_admissibility(graph, labels, truth, goal, names.index(4))
    assert found.fires.tolist() == [True]
    assert names[found.competitor[0]] == 1
    assert found.margin[0] == pytest.approx(-3 / 29, abs=1e-15)
    assert found.measure_margin[0] == pytest.approx(-3 / 29, abs=1e-15)


def test_a_wrong_move_need_not_be_certified() -> None:
    """The certificate asks for a strict preference; in a tie the lowest index may be wrong.

    Vertices 1 and 2 are alike to the harmonic field of equal labels, but 2 is nearer to the goal.
    """
    graph = wf.Graph.from_edges([3, 3, 1, 4, 2], [1, 2, 4, 0, 0])
    truth = wf.cost_to_go(graph, 0)
    level = wf.Labels([0, 4], [0.0, 0.0])
    found = anti_admissibility(graph, level, truth, 0, [3])
    assert found.margin.tolist() == [0.0]
    assert not found.fires.any()
    assert wf.plan(graph, np.zeros(5), 0, "q", "index").successor[3] == 1


def test_an_exact_tie_never_fires() -> None:
    """Both branches cost 1 + (Y + Z + S)/3 to the harmonic field, in numbers that round."""
    rng = np.random.default_rng(0)
    lengths = [1.0, 1.0, 1.0, 0.5, 0.5, 0.5]
    graph = wf.Graph.from_edges([0, 1, 1, 0, 2, 2], [1, 3, 4, 2, 5, 6], lengths)
    truth = wf.cost_to_go(graph, 4)
    signs = set()
    for s, y, z in rng.integers(0, 1000, (300, 3)) / 64.0:
        labels = wf.Labels([0, 3, 4, 5, 6], [s, y, z, y + 1.5, z])
        found = anti_admissibility(graph, labels, truth, 4, [0])
        signs.add(float(np.sign(found.margin[0])))
        assert not found.fires[0]
        assert found.undecided[0]
        assert abs(found.margin[0]) <= found.bound[0]
    assert -1.0 in signs  # a test of the sign alone would fire


def test_a_move_too_short_for_the_truth_leaves_it_open() -> None:
    """The truth is 1 at both ends of the arc 1 – 2, so that either passes for the other's best."""
    graph = wf.Graph.from_edges([0, 1], [1, 2], [1.0, 1e-30])
    truth = wf.cost_to_go(graph, 0)
    found = anti_admissibility(graph, wf.Labels([0, 1, 2], truth), truth, 0, [1, 2])
    assert not found.fires.any()
    assert found.undecided.all()


def test_forms_that_disagree_raise(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, labels, goal, names = seven_node()
    plain = AbsorbingWalk.measure

    def wrong(self: AbsorbingWalk, states: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        omega, error = plain(self, states)
        return omega[:, ::-1], error

    monkeypatch.setattr(AbsorbingWalk, "measure", wrong)
    truth = wf.cost_to_go(graph, goal)
    with pytest.raises(wf.NotConverged, match="two forms of the harmonic value disagree"):
        anti_admissibility(graph, labels, truth, goal, names.index(4))


# ------------------------------------------------------------------ bad input

TRUTH = wf.cost_to_go(PATH, 0)


def test_directed_graphs_are_refused() -> None:
    one_way = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    with pytest.raises(wf.InputError, match="not defined on directed graphs"):
        harmonic_measure(one_way, wf.Labels([2], [0.0]), [0])


def test_a_state_out_of_range() -> None:
    with pytest.raises(wf.InputError, match=r"states\[1\] = 4 is out of range for 4 vertices"):
        harmonic_measure(PATH, ENDS, [1, 4])


def test_a_state_that_is_the_goal() -> None:
    with pytest.raises(wf.InputError, match=r"states\[1\] = 0 is the goal"):
        anti_admissibility(PATH, ENDS, TRUTH, 0, [1, 0])


def test_a_state_without_a_label_in_reach() -> None:
    two = wf.Graph.from_edges([0, 2], [1, 3])
    with pytest.raises(wf.InputError, match=r"states\[0\] = 3 lies in a component without a label"):
        harmonic_measure(two, wf.Labels([0], [0.0]), [3])


def test_a_state_that_cannot_reach_the_goal() -> None:
    two = wf.Graph.from_edges([0, 2], [1, 3])
    truth = wf.cost_to_go(two, 0)
    with pytest.raises(wf.InputError, match=r"states\[0\] = 3 cannot reach the goal"):
        anti_admissibility(two, wf.Labels([0, 2], [0.0, 1.0]), truth, 0, [3])


def test_a_truth_that_violates_bellman() -> None:
    with pytest.raises(wf.InputError, match="violates the Bellman identity"):
        anti_admissibility(PATH, ENDS, [0.0, 1.0, 2.5, 3.0], 0, [1])


def test_a_truth_of_the_wrong_shape() -> None:
    with pytest.raises(wf.InputError, match="truth has 3 values"):
        anti_admissibility(PATH, ENDS, TRUTH[:3], 0, [1])


def test_a_ranking_of_strangers() -> None:
    with pytest.raises(wf.InputError, match="vertex 3 is not a neighbour of vertex 1"):
        neighbour_ranking(PATH, ENDS, 1, 0, 3)


def test_labels_of_another_graph() -> None:
    with pytest.raises(wf.InputError, match="out of range"):
        harmonic_measure(PATH, wf.Labels([9], [0.0]), [1])
