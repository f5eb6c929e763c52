"""Methods of a user's own: what they may be, where they go, and what is said of bad ones."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given

import wayfield as wf
from executor_work import process_number
from wayfield.fields import Problem, Shared, Solution
from wayfield.fields.names import parse_method
from worlds import ENDS, PATH, labelled_graphs

INTERPOLATED = np.array([0.0, 1.0, 2.0, 3.0])


def mean(graph: wf.Graph, labels: wf.Labels) -> Any:
    """The mean of the labels, and the labels themselves."""
    values = np.full(graph.num_vertices, labels.values.mean())
    values[labels.vertices] = labels.values
    return values


@dataclass
class Constant:
    """One number everywhere; it says how it ended. Not hashable."""

    value: float = 1.0
    status: wf.Status = wf.Status.STOPPED

    def solve(self, problem: Problem) -> Solution:
        return Solution(np.full(problem.graph.num_vertices, self.value), self.status)


class Undirected:
    """A method with a name that is not defined on directed graphs."""

    name = "my own"
    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Any:
        return mean(problem.graph, problem.labels)


@given(labelled_graphs())
def test_a_function_and_an_object_are_methods(world) -> None:
    graph, labels = world
    expected = mean(graph, labels)
    for method in (mean, Undirected()):
        field = wf.extend(graph, labels, method)
        assert np.array_equal(field.values, expected)
        assert field.status is wf.Status.NO_BRACKET
        assert np.isnan(field.residual)
        assert field.lower is None
        assert not field.missed.any()
    assert repr(field).startswith("Extension(my own, ")
    [one, two] = wf.extend_many(graph, [labels, labels], mean)
    assert np.array_equal(one.values, expected)
    assert np.array_equal(two.values, expected)
    goal = int(labels.vertices[0])
    answer = wf.solve(graph, labels, goal, mean)
    assert np.array_equal(answer.values, expected)
    assert np.array_equal(answer.plan.successor, wf.plan(graph, expected, goal).successor)
    [row] = wf.plan_many(graph, [labels], [goal], mean).records()
    assert row["reached"] == answer.plan.num_arrived


def test_a_function_is_cross_validated_and_corrects_a_prior() -> None:
    labels = wf.Labels([0, 1, 2, 3], [0.0, 1.0, 2.0, 3.0])
    found = wf.cross_validate(PATH, labels, 0, lambda graph, labels: np.arange(4.0))
    assert found.error == 0.0
    prior = [5.0, 5.0, 5.0, 7.0]
    field = wf.extend(PATH, wf.Labels([3], [9.0]), mean, prior=prior)
    assert field.values.tolist() == [7.0, 7.0, 7.0, 9.0]


def test_the_callers_array_stays_his() -> None:
    mine = INTERPOLATED.copy()
    field = wf.extend(PATH, ENDS, lambda graph, labels: mine)
    mine[1] = 7.0
    assert field.values.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert not field.values.flags.writeable


def test_what_differs_from_the_labels_is_said() -> None:
    field = wf.extend(PATH, ENDS, Constant(2.0))
    assert field.missed.tolist() == [2.0, -1.0]
    assert "no bracket, differs from 2 of 2 labels, by up to 2)" in repr(field)
    answer = wf.solve(PATH, ENDS, 0, Constant(2.0))
    line = "missed    the field differs from 2 of 2 labels, by up to 2"
    assert line in answer.summary().splitlines()


def test_rounding_at_a_label_is_no_difference() -> None:
    for off, count in ((7e-15, 0), (7e-14, 1)):  # an ulp of the largest label is 4e-16
        values = np.array([0.0, 1.0, 2.0, 3.0 + off])
        field = wf.extend(PATH, ENDS, lambda graph, labels, values=values: values)
        assert np.count_nonzero(field.missed) == count


def test_a_solution_says_how_it_ended() -> None:
    with pytest.raises(TypeError, match="status"):
        Solution(INTERPOLATED)  # type: ignore[call-arg]
    assert wf.extend(PATH, ENDS, Constant()).status is wf.Status.STOPPED
    stalled = Constant(status=wf.Status.STALLED)
    with pytest.raises(wf.NotConverged, match="stalled"):
        wf.extend(PATH, ENDS, stalled)
    assert wf.extend(PATH, ENDS, stalled, check=False).status is wf.Status.STALLED


def test_values_where_there_is_no_label() -> None:
    apart = wf.Graph.from_edges([0, 2], [1, 3])
    labels = wf.Labels([0], [0.0])
    for there in (np.nan, 7.0):
        values = np.array([0.0, 0.0, there, there])
        field = wf.extend(apart, labels, lambda g, y, v=values: v, unreachable="nan")
        assert np.array_equal(field.values, values, equal_nan=True)
    one_way = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    behind = wf.Labels([1], [0.0])
    field = wf.extend(one_way, behind, lambda graph, labels: [1.0, 0.0, np.inf])
    assert field.values.tolist() == [1.0, 0.0, np.inf]
    with pytest.raises(wf.InputError, match=r"values\[0\] = inf is not a finite number"):
        wf.extend(one_way, behind, lambda graph, labels: [np.inf, 0.0, np.inf])


def generator(graph: wf.Graph, labels: wf.Labels) -> Any:
    yield from labels.values


def failing(graph: wf.Graph, labels: wf.Labels) -> Any:
    raise ZeroDivisionError("no\n  luck")


BAD: list[tuple[Callable[..., Any], str]] = [
    (generator, r"^generator: values must be an array of 4 numbers, got <generator"),
    (failing, r"^failing raised ZeroDivisionError: no luck$"),
    (lambda graph, labels: None, r"^<lambda>: values must be an array of 4 numbers, got None$"),
    (lambda graph, labels: {0: 1.0}, r"values must be an array of 4 numbers, got \{0: 1.0\}"),
    (lambda graph, labels: INTERPOLATED[:, None], r"values must be one-.*, got shape \(4, 1\)$"),
    (lambda graph, labels: INTERPOLATED[:3], r"values has 3 entries, expected 4$"),
    (lambda graph, labels: np.append(INTERPOLATED, 4.0), r"values has 5 entries, expected 4$"),
    (lambda graph, labels: [0.0, 1.0, np.nan, 3.0], r"values\[2\] = nan is not a finite number$"),
    (lambda graph, labels: [0.0, -np.inf, 2.0, 3.0], r"values\[1\] = -inf is not a finite"),
    (lambda graph, labels: [0.0, np.inf, 2.0, 3.0], r"values\[1\] = inf is not a finite"),
    (lambda graph, labels: list("abcd"), r"values must be real numbers, got <U1"),
    (lambda graph: INTERPOLATED, r"raised TypeError: .* takes 1 positional argument"),
]


@pytest.mark.parametrize(("method", "message"), BAD)
def test_a_bad_method_is_refused_in_one_line(method: Any, message: str) -> None:
    for call in (
        lambda: wf.extend(PATH, ENDS, method),
        lambda: wf.solve(PATH, ENDS, 0, method),
    ):
        with pytest.raises(wf.InputError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)
    with pytest.raises(wf.InputError, match=message.replace("^", r"^labels_list\[0\]: ")):
        wf.extend_many(PATH, [ENDS], method)


def test_an_error_keeps_its_cause() -> None:
    with pytest.raises(wf.InputError) as caught:
        wf.extend(PATH, ENDS, failing)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)

    def ours(graph: wf.Graph, labels: wf.Labels) -> Any:
        raise wf.NotConverged("given up", 1.0, 2.0)

    with pytest.raises(wf.NotConverged, match="given up"):
        wf.extend(PATH, ENDS, ours)


@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_bounds_are_checked(bound: str) -> None:
    class Short:
        def solve(self, problem: Problem) -> Solution:
            return Solution(INTERPOLATED, wf.Status.CONVERGED, **{bound: INTERPOLATED[:2]})

    with pytest.raises(wf.InputError, match=rf"Short\(\): {bound} has 2 entries, expected 4"):
        wf.extend(PATH, ENDS, Short())


def test_a_status_that_is_none() -> None:
    with pytest.raises(wf.InputError, match=r"returned the status 'fine': expected a"):
        wf.extend(PATH, ENDS, Constant(status="fine"))  # type: ignore[arg-type]


def test_directed_graphs_are_refused_only_where_the_method_says_so() -> None:
    arcs = wf.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=True)
    labels = wf.Labels([0], [0.0])
    assert wf.extend(arcs, labels, mean).values.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(wf.InputError, match="Undirected is not defined on directed graphs"):
        wf.extend(arcs, labels, Undirected())


def test_a_method_from_outside_runs_in_one_thread_unless_asked() -> None:
    seen: set[int] = set()

    def spying(graph: wf.Graph, labels: wf.Labels) -> Any:
        seen.add(threading.get_ident())
        return mean(graph, labels)

    wf.extend_many(PATH, [ENDS] * 200, spying)
    wf.plan_many(PATH, [ENDS] * 200, [0] * 200, spying)
    assert len(seen) <= 2  # one for each call


def test_in_processes() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as executor:
        [field] = wf.extend_many(PATH, [ENDS], process_number, executor=executor)
    assert field.values[0] not in (0.0, float(os.getpid()))


@dataclass(frozen=True)
class Sharing:
    """A method that solves label sets together, perhaps too few of them."""

    lost: int = 0

    def solve(self, problem: Problem) -> Solution:
        raise AssertionError("solved one by one")

    def share(self, graph: wf.Graph, label_sets: Any) -> Shared:
        return Shared(self.together, block=4)

    def together(self, problems: Any) -> list[Solution]:
        kept = problems[: len(problems) - self.lost]
        return [Solution(mean(p.graph, p.labels), wf.Status.NO_BRACKET) for p in kept]


def test_work_that_is_shared_between_label_sets() -> None:
    fields = wf.extend_many(PATH, [ENDS] * 5, Sharing())
    assert [field.values.tolist() for field in fields] == [mean(PATH, ENDS).tolist()] * 5
    with pytest.raises(
        wf.InputError, match=r"^labels_list\[0:4\]: Sharing\(lost=1\) returned 3 solutions for 4"
    ):
        wf.extend_many(PATH, [ENDS] * 4, Sharing(lost=1))


@dataclass(frozen=True)
class Table:
    """Values in a table, one of the settings."""

    values: Any
    scale: float = 1.0

    def solve(self, problem: Problem) -> Any:
        return self.scale * self.values


def test_settings_are_shown_and_tables_by_their_shape() -> None:
    field = wf.extend(PATH, ENDS, Table(INTERPOLATED, scale=2.0))
    assert repr(field).startswith("Extension(Table(values=array of shape (4,), scale=2.0), 4 val")


def test_names_from_elsewhere_import_nothing() -> None:
    """A page in the browser passes names to `parse_method`; only a command line may import."""
    with pytest.raises(wf.InputError, match="unknown method 'tests:mean'"):
        parse_method("tests:mean")


def test_the_lowest_label_is_the_goal_of_costs() -> None:
    assert wf.Labels([4, 7, 9], [3.0, 0.0, 0.0]).lowest == 7
