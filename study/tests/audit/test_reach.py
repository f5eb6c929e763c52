"""The reach theorem as an audit: premises, guarantee, bound, and coverage beside the paper's."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from exact_amle import exact_amle
from wayfield.extension import Extension
from wayfield.extension.envelopes import lipschitz_constant
from wayfield_study.audit import half_gap, reach
from wayfield_study.audit.reach_theorem import Reach
from wayfield_study.audit.witnesses import seven_node
from worlds import WHOLE, graphs, maze_problem, path, random_graph, tasks

NAMES = ["labels", "finite", "balance", "geodesics", "sinks", "plateaus", "planner"]
KINDS = pytest.mark.parametrize("directed", [False, True], ids=["undirected", "directed"])


FACTORS, BASES = (1.0, 0.375, 7.0), (0.0, -2.5)  # c·V* + b stays exact
EXACT = tasks(factors=FACTORS, bases=BASES)


@st.composite
def any_problems(draw: st.DrawFn, directed: bool):
    """Any labels: a field of an AMLE (either fill), of another method, or of no method at all."""
    graph = draw(graphs(lengths=WHOLE, directed=directed))
    n = graph.num_vertices
    goal = draw(st.integers(0, n - 1))
    truth = wf.cost_to_go(graph, goal)
    vertices = sorted({goal, *draw(st.lists(st.integers(0, n - 1), max_size=4))})
    level = st.integers(0, 4).map(float)
    labels = wf.Labels(vertices, [draw(level) for _ in vertices])
    methods = [wf.AMLE(fill="flat"), wf.AMLE(fill="cost"), None]
    method = draw(st.sampled_from(methods if directed else [*methods, wf.Harmonic()]))
    if method is not None:
        return graph, goal, truth, labels, wf.extend(graph, labels, method, unreachable="nan")
    values = np.array([draw(level) for _ in range(n)])
    values[vertices] = labels.values
    return graph, goal, truth, labels, values


# ------------------------------------------------------------------ the theorem


@given(EXACT)
def test_exact_labels_and_the_amle_are_guaranteed(problem) -> None:
    graph, goal, truth, labels, factor = problem
    field = wf.extend(graph, labels, wf.AMLE())
    found = reach(graph, labels, field, truth, goal)
    assert [premise.name for premise in found.premises] == NAMES
    assert found.guaranteed
    assert found.broken is None
    assert found.plan.reached.all()
    assert found.labels_optimal
    assert found.proved_share == found.reached_share == 1.0
    assert not found.deviation.any()
    assert (found.bound_ratio <= 1 + 1e-9).all()
    if len(labels) > 1:
        assert found.factor == pytest.approx(factor, rel=1e-12)
        assert found.lipschitz == pytest.approx(factor, rel=1e-12)


def enclosed(exact: list[Fraction]) -> Extension:
    """Rationals as an extension: the doubles nearest to them, between those around."""
    values = np.array([float(value) for value in exact])
    pairs = list(zip(values, exact, strict=True))
    lower = [v if Fraction(v) <= e else np.nextafter(v, -np.inf) for v, e in pairs]
    upper = [v if Fraction(v) >= e else np.nextafter(v, np.inf) for v, e in pairs]
    bracket = np.array(lower), np.array(upper)
    return Extension(values, *bracket, wf.Status.CONVERGED, 0.0, 0, 0.0, wf.AMLE(), {})


@given(EXACT)
def test_the_field_in_rationals(problem) -> None:
    """No solver: conclusions 1 to 4 hold of the exact field."""
    graph, goal, truth, labels, _ = problem
    exact = exact_amle(graph, labels)
    found = reach(graph, labels, enclosed(exact), truth, goal)
    assert found.guaranteed
    factor = Fraction(found.factor).limit_denominator(1000)
    for x in np.flatnonzero(found.on_geodesic).tolist():
        assert exact[x] - exact[goal] == factor * Fraction(float(truth[x]))
    for s in np.flatnonzero(found.starts).tolist():
        row = slice(graph.indptr[s], graph.indptr[s + 1])
        pairs = zip(graph.indices[row].tolist(), graph.lengths[row].tolist(), strict=True)
        slope = max((exact[s] - exact[y]) / Fraction(length) for y, length in pairs)
        if slope > 0:
            assert Fraction(float(found.plan.cost[s])) <= (exact[s] - exact[goal]) / slope
            assert found.bound[s] == pytest.approx(float((exact[s] - exact[goal]) / slope))
        else:
            assert found.bound[s] == np.inf


@given(tasks(directed=True, factors=FACTORS, bases=BASES))
def test_directed_fields_with_cost_fill(problem) -> None:
    """Conclusions 1 to 3; the bound on the cost is not claimed."""
    graph, goal, truth, labels, _ = problem
    field = wf.extend(graph, labels, wf.AMLE(), unreachable="nan")
    found = reach(graph, labels, field, truth, goal)
    assert found.guaranteed
    assert found.plan.reached[found.starts].all()
    assert found.proved[found.starts].all()
    assert found.labels_optimal
    assert np.isinf(found.bound).all()


@KINDS
def test_lengths_that_are_no_whole_numbers(directed: bool) -> None:
    """Sums of lengths and multiples of them are rounded; the premises allow for that, and hold."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        n = int(rng.integers(5, 60))
        graph = random_graph(
            rng, n, "spread", backbone="tree", edges=n, directed=directed, two_way=1.0
        )
        goal = int(rng.integers(n))
        exact = wf.sample_labels(graph, goal, 0.2, seed=int(rng.integers(1000)))
        labels = wf.Labels(exact.vertices, rng.lognormal() * exact.values)
        truth = wf.cost_to_go(graph, goal)
        found = reach(graph, labels, wf.extend(graph, labels, wf.AMLE()), truth, goal)
        assert found.guaranteed, found
        assert found.labels_optimal
        assert found.reached_share == 1.0
        assert (found.bound_ratio <= 1 + 1e-9).all()


@given(st.data())
@KINDS
def test_whatever_is_proved_does_reach(directed: bool, data) -> None:
    """Any field at all: premises that hold bring their conclusions, start by start too."""
    graph, goal, truth, labels, field = data.draw(any_problems(directed))
    found = reach(graph, labels, field, truth, goal)
    assert found.plan.reached[found.proved].all()
    assert not (found.proved & ~found.starts).any()
    assert (found.bound_ratio <= 1 + 1e-9).all()
    if found.guaranteed:
        assert found.proved[found.starts].all()
        assert found.labels_optimal
    else:
        assert np.isinf(found.bound).all()


@given(st.data())
@KINDS
def test_what_the_paper_certifies_reaches(directed: bool, data) -> None:
    graph, goal, truth, labels, field = data.draw(any_problems(directed))
    found = reach(graph, labels, field, truth, goal)
    audit = half_gap(graph, field, truth, goal)
    assert np.array_equal(found.certified, audit.start_holds & found.starts)
    assert audit.plan.reached[found.certified].all()


@given(EXACT)
def test_geodesics_by_their_definition(problem) -> None:
    graph, goal, truth, labels, _ = problem
    found = reach(graph, labels, wf.extend(graph, labels, wf.AMLE()), truth, goal)
    for x in range(graph.num_vertices):
        distance = wf.cost_to_go(graph, x)
        through = any(distance[z] + truth[x] == truth[z] for z in labels.vertices)
        assert found.on_geodesic[x] == through


@given(st.data())
@KINDS
def test_the_lipschitz_constant_of_any_labels(directed: bool, data) -> None:
    graph, goal, truth, labels, field = data.draw(any_problems(directed))
    constant = reach(graph, labels, field, truth, goal).lipschitz
    height = dict(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    pairs = [
        (height[z] - height[w]) / wf.cost_to_go(graph, w)[z]
        for z in height
        for w in height
        if z != w
    ]
    assert constant == pytest.approx(max([0.0, *pairs]), rel=1e-12)
    if not directed:
        assert constant == pytest.approx(lipschitz_constant(graph, labels)[0], rel=1e-12)


# ------------------------------------------------------------------ each premise by itself

LINE = path(6)
TRUTH = wf.cost_to_go(LINE, 0)


def audit(labels: wf.Labels, field=None, graph: wf.Graph = LINE, **options) -> Reach:
    values = wf.extend(graph, labels, wf.AMLE()) if field is None else field
    return reach(graph, labels, values, wf.cost_to_go(graph, 0), 0, **options)


def holding(found: Reach) -> list[str]:
    return [premise.name for premise in found.premises if premise.holds]


def test_one_label_off() -> None:
    """Too low by 1 at vertex 5. The rest holds, so everything still reaches: no converse."""
    found = audit(wf.Labels([0, 3, 5], [0.0, 3.0, 4.0]))
    assert found.broken == ("labels", False, 5, 1.0)
    assert not found.guaranteed
    assert found.factor == found.lipschitz == 1.0
    assert found.plan.reached.all()
    assert found.proved_share == 1.0


def test_labels_steeper_among_themselves_than_to_the_goal() -> None:
    found = audit(wf.Labels([0, 3, 4], [0.0, 3.0, 4.5]))
    assert found.factor == 1.125
    assert found.lipschitz == 1.5
    assert found.broken[:3] == ("labels", False, 3)


def test_a_goal_without_a_label() -> None:
    found = audit(wf.Labels([1, 5], [1.0, 5.0]))
    assert found.broken.name == "labels"
    assert found.broken.vertex == 0
    assert not found.guaranteed


def test_a_label_that_cannot_reach() -> None:
    two = wf.Graph.from_edges([0, 2], [1, 3])
    labels = wf.Labels([0, 1, 2], [0.0, 1.0, 1.0])
    found = audit(labels, graph=two)
    assert found.broken[:3] == ("labels", False, 2)
    assert found.starts.tolist() == [False, True, False, False]


def test_labels_all_equal() -> None:
    found = audit(wf.Labels([0, 3], [0.0, 0.0]))
    assert found.factor == 0.0
    assert found.broken[:3] == ("labels", False, 3)


def test_the_goal_alone() -> None:
    """A plateau as large as the graph; exit ties walk to the goal."""
    found = audit(wf.Labels([0], [0.0]))
    assert found.guaranteed
    assert found.reached_share == 1.0
    assert np.isinf(found.bound).all()


def test_harmonic_is_not_balanced() -> None:
    graph, labels, goal, names = seven_node()
    harmonic = wf.extend(graph, labels, wf.Harmonic())
    found = reach(graph, labels, harmonic, wf.cost_to_go(graph, goal), goal)
    assert not found.guaranteed
    assert found.broken.name == "balance"
    geodesics = found.premises[NAMES.index("geodesics")]
    assert not geodesics.holds  # nor is it c·V* on the geodesics from the label 7
    assert geodesics.excess == pytest.approx(39 / 29 - 1)
    assert names[geodesics.vertex] == 3
    assert np.isinf(found.bound).all()


def test_harmonic_on_a_path_is_the_amle() -> None:
    labels = wf.Labels([0, 5], [0.0, 5.0])
    assert audit(labels, wf.extend(LINE, labels, wf.Harmonic())).guaranteed


def test_sweeps_that_have_not_converged() -> None:
    labels = wf.Labels([0, 5], [0.0, 5.0])
    found = audit(labels, wf.extend(LINE, labels, wf.MidrangeSweeps(2, start="lower")))
    assert holding(found) == ["labels", "finite", "sinks", "plateaus", "planner"]
    assert found.broken.name == "balance"


def test_a_false_sink_and_the_starts_below_it() -> None:
    """The label 4 is a pit of value 1.5: starts below it are proved, those beside it walk in."""
    found = audit(wf.Labels([0, 2, 4, 5], [0.0, 2.0, 1.5, 5.0]), [0, 1, 2, 3, 1.5, 5])
    assert not found.premises[NAMES.index("sinks")].holds
    assert found.premises[NAMES.index("sinks")].vertex == 4
    assert np.flatnonzero(found.proved).tolist() == [1]
    assert np.flatnonzero(found.plan.reached).tolist() == [0, 1, 2]


def test_a_start_without_a_value() -> None:
    """Values that say "cannot reach" wrongly break nothing else, and the plan halts there."""
    tree = wf.Graph.from_edges([0, 1, 2, 1, 4], [1, 2, 3, 4, 5])
    field = [0.0, 1.0, 2.0, 3.0, np.inf, np.inf]
    found = reach(tree, wf.Labels([0, 3], [0.0, 3.0]), field, wf.cost_to_go(tree, 0), 0)
    assert [premise.name for premise in found.premises if not premise.holds] == ["finite"]
    assert found.broken.vertex == 4
    assert not found.guaranteed
    assert not found.plan.reached[5]
    assert np.flatnonzero(found.proved).tolist() == [1, 2, 3]


def test_there_is_no_bound_without_a_bracket() -> None:
    """Values within the tolerance of the premises may walk further than their slope allows."""
    path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3], lengths=[1e-4, 1e-4, 1e6])
    truth = wf.cost_to_go(path, 0)
    labels = wf.Labels([0, 3], truth[[0, 3]])
    found = reach(path, labels, [0.0, 1e-5, 9e-4, truth[3]], truth, 0)
    assert found.guaranteed
    assert np.isinf(found.bound).all()
    assert np.isfinite(
        reach(path, labels, wf.extend(path, labels, wf.AMLE()), truth, 0).bound[1:]
    ).all()


def test_the_bound_counts_the_rounding_of_labels() -> None:
    """The labels 1 and 2 are 0.002 apart at a height of 1e7: rounding makes the way too steep."""
    path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], lengths=[1e7, 0.002, 1.885, 0.596])
    truth = wf.cost_to_go(path, 0)
    labels = wf.Labels([0, 1, 2, 4], truth[[0, 1, 2, 4]])
    field = wf.extend(path, labels, wf.AMLE())
    found = reach(path, labels, field, truth, 0)
    assert found.guaranteed
    first = (field.lower[2] - field.upper[1]) / 0.002
    assert found.plan.cost[2] > (1.0 + 1e-7) * field.upper[2] / first
    assert (found.plan.cost[found.starts] <= found.bound[found.starts]).all()


def test_a_plateau_without_exit() -> None:
    found = audit(wf.Labels([0, 5], [0.0, 5.0]), [0, 4, 2, 2, 3, 5])
    assert found.premises[NAMES.index("plateaus")][:3] == ("plateaus", False, 2)
    assert not found.proved.any()
    assert found.reached_share == pytest.approx(1 / 5)


def test_a_planner_by_other_rules() -> None:
    """Argmin-Q on lengths, a tolerance, index ties on a plateau: the theorem is silent."""
    lengths = wf.Graph.from_edges([0, 1], [1, 2], [10.0, 1.0])
    labels = wf.Labels([0, 2], [0.0, 5.5])
    field = wf.extend(lengths, labels, wf.AMLE())
    by_q = audit(labels, field, lengths, plan=wf.plan(lengths, field.values, 0, rule="q"))
    assert by_q.broken.name == "planner"
    assert by_q.reached_share == 0.0
    assert not by_q.proved.any()
    assert audit(labels, field, lengths).guaranteed

    level = wf.Labels([0, 3], [0.0, 3.0])
    flat = wf.extend(LINE, level, wf.AMLE())
    by_index = wf.plan(LINE, flat.values, 0, ties="index")
    assert audit(level, flat, plan=by_index).broken.name == "planner"
    cost = wf.extend(LINE, level, wf.AMLE(fill="cost"))
    assert audit(level, cost, plan=wf.plan(LINE, cost.values, 0, ties="index")).guaranteed
    coarse = wf.plan(LINE, flat.values, 0, tie_tolerance=1e-9)
    assert audit(level, flat, plan=coarse).broken.name == "planner"
    elsewhere = wf.plan(LINE, np.zeros(6), 0)
    assert audit(level, flat, plan=elsewhere).broken.name == "planner"


def test_cost_fill_reaches_without_a_bound() -> None:
    """Behind the last label the fill has slope 1 and what follows 1/2: no bound from u / slope."""
    labels = wf.Labels([0, 3], [0.0, 1.5])
    found = audit(labels, wf.extend(LINE, labels, wf.AMLE(fill="cost")))
    assert found.guaranteed
    assert found.plan.cost[5] == 5.0 > 3.5 / 1.0
    assert np.isinf(found.bound).all()


def test_the_bound_beside_the_cost() -> None:
    """On the way from the label they are equal; the plateau behind it has no slope, hence none."""
    found = audit(wf.Labels([0, 3], [0.0, 6.0]))
    assert found.bound == pytest.approx(np.array([np.inf, 1.0, 2.0, 3.0, np.inf, np.inf]))
    assert found.bound_ratio == pytest.approx(np.array([0.0, 1.0, 1.0, 1.0, 0.0, 0.0]))


def test_a_maze_beside_the_papers_certificate() -> None:
    graph, labels = maze_problem("medium", 4, fraction=0.02)
    truth = wf.cost_to_go(graph, 0)
    found = reach(graph, labels, wf.extend(graph, labels, wf.AMLE()), truth, 0)
    assert found.guaranteed
    assert found.proved_share == 1.0 > 2 * found.certified_share > 0.0
    assert repr(found).startswith("Reach(guaranteed; 100.0% of starts proved")


# ------------------------------------------------------------------ bad input

LABELS = wf.Labels([0, 5], [0.0, 5.0])


def test_a_field_of_another_graph() -> None:
    with pytest.raises(wf.InputError, match="it belongs to another graph"):
        audit(LABELS, [0.0, 1.0])


def test_a_field_of_other_labels() -> None:
    with pytest.raises(wf.InputError, match=r"the field is 4\.0 at vertex 5, but its label is 5"):
        audit(LABELS, [0.0, 1.0, 2.0, 3.0, 4.0, 4.0])


def test_a_truth_that_violates_bellman() -> None:
    with pytest.raises(wf.InputError, match="violates the Bellman identity"):
        reach(LINE, LABELS, TRUTH, 2 * TRUTH, 0)


def test_a_truth_of_another_goal() -> None:
    with pytest.raises(wf.InputError, match=r"truth\[0\] = 5"):
        reach(LINE, LABELS, TRUTH, wf.cost_to_go(LINE, 5), 0)


def test_a_plan_to_another_goal() -> None:
    with pytest.raises(wf.InputError, match="the plan leads to vertex 5"):
        audit(LABELS, TRUTH, plan=wf.plan(LINE, TRUTH, 5))


def test_a_goal_out_of_range() -> None:
    with pytest.raises(wf.InputError, match="goal 6 is not a vertex"):
        reach(LINE, LABELS, TRUTH, TRUTH, 6)


def test_labels_that_are_none() -> None:
    with pytest.raises(wf.InputError, match=r"labels must be wayfield.Labels, got NoneType"):
        reach(LINE, None, wf.cost_to_go(LINE, 0), wf.cost_to_go(LINE, 0), 0)
