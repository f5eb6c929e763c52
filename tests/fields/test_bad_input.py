"""One named test per bad input: refused before any computing, with the value and its place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from methods import methods
from worlds import ENDS, PATH


def refused(message: str) -> Any:
    return pytest.raises(wf.InputError, match=message)


# -------------------------------------------------------------------- labels


def test_nan_label() -> None:
    with refused(r"label values\[1\] = nan is not a finite number"):
        wf.Labels([0, 1], [0.0, np.nan])


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_label(value: float) -> None:
    with refused(rf"label values\[2\] = {value} is not a finite number"):
        wf.Labels([0, 1, 2], [0.0, 1.0, value])


def test_several_bad_labels_are_counted() -> None:
    with refused(r"label values\[0\] = nan is not a finite number \(and 2 more\)"):
        wf.Labels([0, 1, 2], [np.nan, np.inf, np.nan])


def test_label_too_large_for_slopes() -> None:
    with refused(r"label values\[1\] = -1e\+200 is beyond 1e\+100"):
        wf.Labels([0, 1], [0.0, -1e200])


def test_duplicate_labels_that_differ() -> None:
    with refused("vertex 4 is labelled 1.0 at position 0 and 2.0 at position 2"):
        wf.Labels([4, 0, 4], [1.0, 0.0, 2.0])


def test_label_out_of_range() -> None:
    with refused(r"label vertices\[1\] = 4 is out of range for 4 vertices"):
        wf.extend(PATH, wf.Labels([0, 4], [0.0, 1.0]), wf.NearestLabel())


def test_fractional_label_vertex() -> None:
    with refused(r"label vertices\[1\] = 1\.5 is not a whole number"):
        wf.Labels([0, 1.5], [0.0, 1.0])


def test_nan_label_vertex() -> None:
    with refused(r"label vertices\[0\] = nan is not a whole number"):
        wf.Labels([np.nan], [0.0])


def test_infinite_label_vertex() -> None:
    with refused(r"label vertices\[0\] = inf is too large for a vertex index"):
        wf.Labels([np.inf], [0.0])


def test_negative_label_vertex() -> None:
    with refused(r"label vertices\[1\] = -1 is negative"):
        wf.Labels([0, -1], [0.0, 1.0])


@pytest.mark.parametrize("vertex", [2**31, 2**63 - 1, 1e18])
def test_huge_label_vertex(vertex: float) -> None:
    with refused(r"label vertices\[1\] = .* is too large for a vertex index"):
        wf.Labels([0, vertex], [0.0, 1.0])


def test_label_vertex_that_would_wrap_around() -> None:
    with refused(r"label vertices\[0\] = 18446744073709551615 is too large"):
        wf.Labels(np.array([2**64 - 1], np.uint64), [0.0])


def test_label_vertex_beyond_64_bits() -> None:
    with refused(r"label vertices must be vertex indices, got object \(entry 1 is 10000"):
        wf.Labels([0, 10**30], [0.0, 1.0])


def test_bool_label_vertices() -> None:
    with refused(r"label vertices must be vertex indices, got bool \(entry 0 is "):
        wf.Labels([True, False], [0.0, 1.0])


def test_empty_labels() -> None:
    with refused("labels must have at least one vertex"):
        wf.Labels([], [])


def test_more_labels_than_values() -> None:
    with refused("label values has 1 entries, expected 2"):
        wf.Labels([0, 1], [0.0])


@pytest.mark.parametrize(
    "values", ["01", ["a", "b"], [None, None], [1j, 2j], [object(), 1], [b"a", b"b"], [{}, {}]]
)
def test_label_values_that_are_no_numbers(values: Any) -> None:
    with refused("label values must be real numbers, got"):
        wf.Labels([0, 1], values)


@pytest.mark.parametrize("values", [3.0, [[0.0], [1.0]], np.zeros((2, 1))])
def test_label_values_of_another_shape(values: Any) -> None:
    with refused("label values must be one-dimensional, got shape"):
        wf.Labels([0, 1], values)


def test_ragged_label_values() -> None:
    with refused("label values cannot be read as an array"):
        wf.Labels([0, 1], [[0.0], [1.0, 2.0]])  # type: ignore[list-item]


def test_masked_label_values() -> None:
    with refused("label values has masked entries"):
        wf.Labels([0, 1], np.ma.masked_greater([0.0, 9.0], 5.0))


# -------------------------------------------------------------------- edges


@pytest.mark.parametrize("length", [0.0, -1.0, np.nan, -np.inf])
def test_length_that_is_not_positive(length: float) -> None:
    with refused(rf"lengths\[1\] = {length} is not positive"):
        wf.Graph.from_edges([0, 1], [1, 2], [1.0, length])


def test_infinite_length() -> None:
    with refused(r"lengths\[0\] = inf is not finite"):
        wf.Graph.from_edges([0, 1], [1, 2], [np.inf, 1.0])


@pytest.mark.parametrize("length", [1e-300, 5e-324, 1e101])
def test_length_that_would_overflow(length: float) -> None:
    with refused(rf"lengths\[1\] = {re.escape(str(length))} is outside 1e-100 to 1e\+100"):
        wf.Graph.from_edges([0, 1], [1, 2], [1.0, length])


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ([0, -1], r"heads\[1\] = -1 is negative"),
        ([0, 0.5], r"heads\[1\] = 0\.5 is not a whole number"),
        ([0, np.nan], r"heads\[1\] = nan is not a whole number"),
        ([0, 3], r"heads\[1\] = 3 is out of range for 3 vertices"),
        ([0, 2**31], r"heads\[1\] = 2147483648 is too large for a vertex index"),
        ([0, 2**200], r"heads must be vertex indices, got object \(entry 1 is"),
        ([0], r"tails and heads must have the same length, got 2 and 1"),
        ([[0, 1]], r"heads must be one-dimensional, got shape \(1, 2\)"),
        ([[0], [1, 2]], "heads cannot be read as an array"),
        (["0", "1"], r"heads must be vertex indices, got <U1 \(entry 0 is"),
        ([None, 1], r"heads must be vertex indices, got object \(entry 0 is None\)"),
        ([True, False], r"heads must be vertex indices, got bool"),
        ([1j, 2], r"heads must be vertex indices, got complex128"),
        (None, r"heads must be vertex indices, got object \(entry 0 is None\)"),
        (1, r"heads must be one-dimensional, got shape \(\)"),
        ({0: 1}, r"heads must be vertex indices, got object"),
    ],
)
def test_bad_ends(ends: Any, message: str) -> None:
    with refused(message):
        wf.Graph.from_edges([0, 1], ends, num_vertices=3)


@pytest.mark.parametrize("count", [-1, 1.5, "3", [3], True])
def test_bad_number_of_vertices(count: Any) -> None:
    with refused("num_vertices must be a whole number of at least 0"):
        wf.Graph.from_edges([0], [1], num_vertices=count)


def test_more_vertices_than_fit() -> None:
    with refused("num_vertices must be at most 2147483647, got 2147483648"):
        wf.Graph.from_edges([0], [1], num_vertices=2**31)


def test_directed_that_is_no_flag() -> None:
    with refused("directed must be True or False, got 'no'"):
        wf.Graph.from_edges([0], [1], directed="no")  # type: ignore[arg-type]


def test_asymmetric_matrix_for_an_undirected_graph() -> None:
    with refused(r"not symmetric: entry \(0, 1\) is 1\.0, but \(1, 0\) is 2\.0"):
        wf.Graph.from_scipy(np.array([[0.0, 1.0], [2.0, 0.0]]), directed=False)


@pytest.mark.parametrize("length", [-1.0, np.nan, np.inf])
def test_matrix_with_a_bad_length(length: float) -> None:
    with refused(rf"matrix\[1, 0\] = {length} is not a positive, finite length"):
        wf.Graph.from_scipy([[0.0, 1.0], [length, 0.0]])


@pytest.mark.parametrize("matrix", [None, "matrix", [[0, "a"], [1, 0]], [[1], [2, 3]], {}, 1j])
def test_matrix_that_is_none(matrix: Any) -> None:
    with pytest.raises(wf.InputError):
        wf.Graph.from_scipy(matrix)


@pytest.mark.parametrize("shape", [(2, 3), (4,), (2, 2, 2)])
def test_matrix_that_is_not_square(shape: tuple[int, ...]) -> None:
    with refused("must be square|cannot be read"):
        wf.Graph.from_scipy(np.ones(shape))


# -------------------------------------------------------------------- extend


@methods()
def test_component_without_a_label(method: Any) -> None:
    graph = wf.Graph.from_edges([0, 2], [1, 3], num_vertices=5)
    with refused(r"the component of vertex 2 \(2 vertices\) has no label; label it, or pass"):
        wf.extend(graph, wf.Labels([0], [7.0]), method)
    field = wf.extend(graph, wf.Labels([0], [7.0]), method, unreachable="nan")
    for values in (field.values, field.lower, field.upper):
        if values is not None:
            assert np.isnan(values).tolist() == [False, False, True, True, True]


@pytest.mark.parametrize("graph", [None, np.eye(3), [[0, 1]], "graph"])
def test_graph_that_is_none(graph: Any) -> None:
    with refused(r"graph must be a wayfield\.Graph, got"):
        wf.extend(graph, ENDS, wf.NearestLabel())


@pytest.mark.parametrize("labels", [None, {0: 1.0}, ([0], [1.0])])
def test_labels_that_are_none(labels: Any) -> None:
    with refused(r"labels must be wayfield\.Labels, got"):
        wf.extend(PATH, labels, wf.NearestLabel())


@pytest.mark.parametrize("method", [None, "amle", wf.NearestLabel, wf.Harmonic, 3])
def test_method_that_is_none(method: Any) -> None:
    with refused("method must be an extension such as AMLE"):
        wf.extend(PATH, ENDS, method)


@pytest.mark.parametrize("choice", [None, "ignore", 0, ["nan"], np.array(["nan", "nan"])])
def test_unknown_choice_for_the_unreachable(choice: Any) -> None:
    with refused("unreachable must be "):
        wf.extend(PATH, ENDS, wf.NearestLabel(), unreachable=choice)


@pytest.mark.parametrize("check", [None, "no", 0, np.array([True])])
def test_check_is_true_or_false(check: Any) -> None:
    with refused("check must be True or False"):
        wf.extend(PATH, ENDS, wf.AMLE(), check=check)
    with refused("check must be True or False"):
        wf.extend_many(PATH, [ENDS], wf.AMLE(), check=check)


@methods(directed=False)
def test_directed_graph_where_the_method_has_no_meaning(method: Any) -> None:
    with refused(r"is not defined on directed graphs; AMLE is, or call graph\.symmetrised"):
        wf.extend(wf.Graph.from_edges([0], [1], directed=True), wf.Labels([0], [0.0]), method)


@pytest.mark.parametrize("p", [1.9, 1, 0, -2.0, np.nan, np.inf, "2", None, True])
def test_exponent_below_two(p: Any) -> None:
    with refused("p must be"):
        wf.PLaplacian(p)


# -------------------------------------------------------------------- goals and fields


@pytest.mark.parametrize("goal", [-1, 4, 10**30, 2**31])
def test_goal_that_is_not_a_vertex(goal: int) -> None:
    for act in (wf.cost_to_go, lambda g, z: wf.plan(g, np.zeros(4), z)):
        with refused(f"goal {goal} is not a vertex of a graph with 4 vertices"):
            act(PATH, goal)
    with refused(f"goal {goal} is not a vertex"):
        wf.sample_labels(PATH, goal, 0.5)


@pytest.mark.parametrize("goal", [0.5, np.nan, np.inf])
def test_fractional_goal(goal: float) -> None:
    with refused(f"goal must be a whole number, got {goal}"):
        wf.cost_to_go(PATH, goal)  # type: ignore[arg-type]


@pytest.mark.parametrize("goal", [None, "0", True, [0], np.array([0]), 1j, {}])
def test_goal_that_is_no_number(goal: Any) -> None:
    with refused("goal must be one vertex index, got"):
        wf.cost_to_go(PATH, goal)


def test_values_of_the_wrong_length() -> None:
    with refused("the field has 3 values but the graph has 4 vertices"):
        wf.plan(PATH, [0.0, 1.0, 2.0], 0)


@pytest.mark.parametrize("value", [np.nan, -np.inf])
def test_value_that_is_no_number(value: float) -> None:
    with refused(rf"values\[2\] = {value} is neither a number nor \+inf"):
        wf.plan(PATH, [0.0, 1.0, value, 2.0], 0)


@pytest.mark.parametrize("option", ["rule", "ties"])
@pytest.mark.parametrize("choice", [None, "best", 3, np.array(["q", "q"])])
def test_unknown_rule_or_ties(option: str, choice: Any) -> None:
    with refused(f"{option} must be one of"):
        wf.plan(PATH, np.zeros(4), 0, **{option: choice})


@pytest.mark.parametrize(
    "tolerance", [-1.0, np.nan, np.inf, "0", None, pytest.param(10**400, id="huge")]
)
def test_bad_tie_tolerance(tolerance: Any) -> None:
    with refused("tie_tolerance must be a finite number of at least 0"):
        wf.plan(PATH, np.zeros(4), 0, tie_tolerance=tolerance)


@pytest.mark.parametrize("fraction", [0.0, -0.5, 1.5])
def test_fraction_outside_its_range(fraction: float) -> None:
    with refused(f"at most 1, got {fraction}"):
        wf.sample_labels(PATH, 0, fraction)


# -------------------------------------------------------------------- layouts


def test_unknown_layout() -> None:
    with refused("unknown layout 'antmaze-enormous'"):
        wf.load_layout("antmaze-enormous")


def test_ragged_layout() -> None:
    with refused("row 1 has 3 cells, but row 0 has 4"):
        wf.Layout.from_text("####\n#.#\n####")


@pytest.mark.parametrize("refinement", [0, -1, 1.5, "2", None, True])
def test_refinement_below_one(refinement: Any) -> None:
    with refused("refinement must be a whole number of at least 1"):
        wf.grid_graph(wf.load_layout("umaze"), refinement)


def test_refinement_beyond_32_bits() -> None:
    with refused("refinement must make at most"):
        wf.grid_graph(wf.load_layout("umaze"), 100_000)


def test_an_extension_in_place_of_an_array() -> None:
    graph = wf.Graph.from_edges([0], [1])
    labels = wf.Labels([0], [0.0])
    field = wf.extend(graph, labels, wf.Harmonic())
    with pytest.raises(wf.InputError, match=r"prior must be an array, .* pass its \.values"):
        wf.extend(graph, labels, wf.Harmonic(), prior=field)  # type: ignore[arg-type]
