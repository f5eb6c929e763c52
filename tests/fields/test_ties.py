"""Brackets of the AMLE where values tie: decided in rationals, never wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import wayfield as wf
from exact import contains
from exact_amle import exact_amle, exact_directed_amle
from wayfield.fields.amle import exact as _exact
from wayfield.fields.amle import method as amle
from wayfield.fields.amle.exact import rational_amle, ties_decided
from wayfield.fields.amle.kernels import Fixing, fix
from wayfield.fields.amle.kernels.fill import disputed
from wayfield.fields.amle.kernels.retrace import UNFIXED
from wayfield.fields.base import Problem, make_problem
from wayfield.fields.proof import FillRule
from wayfield.typing import FloatArray
from worlds import random_graph, random_labels

FILLS = ("cost", "flat")


def random_problems(
    count: int, lengths: str, directed: bool = True
) -> Iterator[tuple[wf.Graph, wf.Labels]]:
    """Small graphs of whole-number lengths and labels, every other time true distances."""
    rng = np.random.default_rng(1)
    for k in range(count):
        n = int(rng.integers(10, 36))
        graph = random_graph(rng, n, lengths, edges=4 * n, directed=directed, two_way=0.0)
        labels = wf.sample_labels(graph, 0, 0.15, seed=k)
        if k % 2:
            labels = wf.Labels(labels.vertices, rng.integers(0, 8, len(labels)).astype(float))
        yield graph, labels


@pytest.mark.parametrize(
    ("side", "seed", "noise"),
    [(8, 1, 1e-15), (8, 2, 1e-14), (8, 3, 1e-14), (10, 4, 1e-14), (10, 7, 1e-15), (12, 11, 1e-14)],
)
def test_distances_that_are_true_but_for_noise(side: int, seed: int, noise: float) -> None:
    """Slopes of many walks differ by rounding: none may be fixed in part, and plateaus slope."""
    number = np.arange(side * side).reshape(side, side)
    tails = np.append(number[:, :-1], number[:-1])
    graph = wf.Graph.from_edges(tails, np.append(number[:, 1:], number[1:]))
    rng = np.random.default_rng(seed)
    where = np.union1d(rng.choice(side * side, side * side // 8, replace=False), [0])
    true = wf.cost_to_go(graph, 0)[where]
    labels = wf.Labels(where, true * (1.0 + noise * rng.normal(size=where.size)))
    field = wf.extend(graph, labels, wf.AMLE())
    assert field.width < 1e-6
    assert contains(field, exact_amle(graph, labels))


def bridge(hair: float, scale: float = 1.0, length: float = 1.0) -> tuple[wf.Graph, wf.Labels]:
    """1 → p → p' → 0 and (1 + hair) → q → q' → 0, with x between: p → x → q."""
    tails, heads = [0, 1, 2, 4, 5, 6, 1, 8], [1, 2, 3, 5, 6, 7, 8, 5]
    graph = wf.Graph.from_edges(tails, heads, [length] * 8, directed=True)
    return graph, wf.Labels([0, 3, 4, 7], [scale, 0.0, (1.0 + hair) * scale, 0.0])


@pytest.mark.parametrize("scale", [1.0, 2.0**330, 2.0**-1000, 2.0**-1060])
@pytest.mark.parametrize("length", [1.0, 2.0**-60, 2.0**60])
@pytest.mark.parametrize("fill", FILLS)
def test_a_tie_on_any_scale(scale: float, length: float, fill: FillRule) -> None:
    """Both sides of x are at 2/3, which no double is; x is filled."""
    graph, labels = bridge(0.0, scale, length)
    result = wf.extend(graph, labels, wf.AMLE(fill=fill))
    assert result.status is wf.Status.CONVERGED
    assert result.details["filled"] == 1
    assert contains(result, exact_directed_amle(graph, labels, fill))


def test_a_hair_is_no_tie() -> None:
    """One rounding apart: upwards nothing changes, downwards x is fixed."""
    for hair, filled in ((2.0**-52, True), (-(2.0**-53), False)):
        graph, labels = bridge(hair)
        result = wf.extend(graph, labels, wf.AMLE())
        assert contains(result, exact_directed_amle(graph, labels, "cost"))
        assert bool(result.values[8] > 1.6) is filled


def ulps_apart(rng: np.random.Generator, kind: str, count: int) -> NDArray[np.float64]:
    """Return labels that tie up to a few roundings."""
    if kind == "last place":
        return 1.0 + rng.integers(0, 3, count) * 2.0**-52
    if kind == "thirds":
        return rng.integers(0, 4, count) / 3.0 + rng.integers(-1, 2, count) * 2.0**-53
    return rng.integers(0, 3, count) * (1.0 + rng.integers(-2, 3, count) * 2.0**-52)


@pytest.mark.parametrize("kind", ["last place", "thirds", "levels"])
@pytest.mark.parametrize("lengths", ["unit", "few", "real"])
def test_ties_of_a_few_roundings_are_decided(
    kind: str, lengths: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = 0

    def counted(*given: Any) -> Any:
        nonlocal again
        again += 1
        return solved_again(*given)

    solved_again = _exact._solved_again
    monkeypatch.setattr(_exact, "_solved_again", counted)
    rng = np.random.default_rng(8)
    for k in range(60):
        n = int(rng.integers(8, 40))
        graph = random_graph(rng, n, lengths, edges=2 * n, directed=True)
        at = rng.choice(n, max(3, n // 4), replace=False)
        labels = wf.Labels(at, ulps_apart(rng, kind, at.size))
        field = wf.extend(graph, labels, wf.AMLE(fill=FILLS[k % 2]), unreachable="nan")
        assert field.lower is not None
        assert contains(field, exact_directed_amle(graph, labels, FILLS[k % 2]))
    # doubles alone get some of these wrong, but real lengths do not tie, and labels that differ in
    # the last place are exact once they are centred
    assert again > 0 or lengths == "real" or kind == "last place"


def test_without_ties_rationals_are_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: Any) -> Any:
        raise AssertionError("no tie to decide")

    monkeypatch.setattr(_exact, "_retraced", refuse)
    rng = np.random.default_rng(0)
    graph = random_graph(rng, 60, "real", edges=240, directed=True, two_way=0.0)
    assert wf.extend(graph, random_labels(rng, graph, 8), wf.AMLE()).status is wf.Status.CONVERGED
    graph, labels = bridge(0.0)
    assert wf.extend(graph, labels, wf.AMLE(bracket=False)).status is wf.Status.NO_BRACKET
    with pytest.raises(AssertionError):
        wf.extend(graph, labels, wf.AMLE())


@pytest.mark.parametrize(("cap", "least"), [("MOST_RATIONALS", 7), ("MOST_BITS", 1)])
def test_beyond_the_caps_there_is_no_bracket(
    cap: str, least: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, labels = bridge(0.0)
    proved = wf.extend(graph, labels, wf.AMLE())
    monkeypatch.setattr(_exact, cap, least)
    with pytest.raises(wf.NotConverged, match="could not be verified"):
        wf.extend(graph, labels, wf.AMLE())
    result = wf.extend(graph, labels, wf.AMLE(), check=False)
    assert result.status is wf.Status.UNVERIFIED
    assert result.lower is None
    np.testing.assert_allclose(result.values, proved.values, rtol=1e-15)
    monkeypatch.setattr(_exact, cap, least + 1)
    assert wf.extend(graph, labels, wf.AMLE()).status is wf.Status.CONVERGED


def fixing_of(order: list[int], batch: list[int], values: list[float]) -> Fixing:
    """A log of fixing as the divide and conquer writes it."""
    numbers = np.array(batch, np.int32)
    order_of_fixing = np.array(order, np.int32)
    fixed, slopes = numbers != UNFIXED, np.ones(numbers.max() + 1)
    return Fixing(np.array(values), fixed, order_of_fixing, numbers, slopes, True)


def problem_of(graph: wf.Graph, labels: wf.Labels) -> Problem:
    return make_problem(graph, labels, wf.AMLE(), "error")


def test_a_level_walk_taken_for_a_descent_is_unfixed() -> None:
    """1 → x → 1, where rounding saw a drop; and nothing at all around a walk that leads nowhere."""
    graph = wf.Graph.from_edges([0, 1, 3], [1, 2, 1], directed=True)
    problem = problem_of(graph, wf.Labels([0, 2], [1.0, 1.0]))
    seen = [1.0, 1.0 - 1e-16, 1.0 - 2e-16, 1.0]
    found = rational_amle(problem, fixing_of([1, 3], [-1, 0, -1, 1], seen))
    assert found is not None
    assert found.fixed.tolist() == [True, False, True, False]
    assert found.rank[0] == found.rank[2]


@pytest.mark.parametrize("order", [[1, 2], [2, 1]])
def test_a_wrong_log_is_found_out(order: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    """4 → x → 0, 5/2 long, where the log leads on from x to y and has forgotten the direct way."""
    graph = wf.Graph.from_edges([0, 1, 1, 2], [1, 2, 3, 3], [1.0, 1.0, 1.5, 1.0], directed=True)
    problem = problem_of(graph, wf.Labels([0, 3], [4.0, 0.0]))
    log = fixing_of(order, [-1, 0, 0, -1], [4.0, 3.0, 0.2, 0.0])
    found = rational_amle(problem, log)
    assert found is not None
    assert found.exact == exact_directed_amle(graph, problem.labels, "flat")
    monkeypatch.setattr(_exact, "MOST_CANDIDATES", 1)
    assert rational_amle(problem, log) is None


def logs_with_ties(
    count: int, lengths: str
) -> Iterator[tuple[Problem, Fixing, FloatArray, FloatArray]]:
    """Problems, their order of fixing, and bounds a few roundings wide that leave ties open."""
    for graph, given in random_problems(count, lengths):
        labels = wf.Labels(given.vertices, given.values / 1024.0)  # of magnitude at most 1
        problem = make_problem(graph, labels, wf.AMLE(), "nan")
        arcs = graph.arcs, graph.reverse_arcs
        fixing = fix(*arcs, problem.labelled, problem.boundary, leave_flat=True)
        exact = rational_amle(problem, fixing)
        assert exact is not None
        free = exact.fixed & ~problem.labelled
        lower = np.where(free, np.nextafter(exact.lower, -np.inf), exact.values)
        upper = np.where(free, np.nextafter(exact.upper, np.inf), exact.values)
        if disputed(*arcs, exact.fixed, lower, upper).size:
            assert np.array_equal(fixing.fixed, exact.fixed)
            yield problem, fixing, lower, upper


@pytest.mark.parametrize("lengths", ["unit", "few"])
def test_a_part_decides_as_the_whole_does(lengths: str) -> None:
    """The fixed vertices are accepted; without the last walk, which descends, they are not."""
    seen = 0
    for problem, fixing, lower, upper in logs_with_ties(300, lengths):
        seen += 1
        assert ties_decided(problem, fixing, lower, upper)
        last = fixing.order[fixing.batch[fixing.order] == fixing.slopes.size - 1]
        fewer = fixing.fixed.copy()
        fewer[last] = False
        batch = np.where(fewer, fixing.batch, UNFIXED).astype(np.int32)
        order = fixing.order[: -last.size]
        for each in (lower, upper):
            each[last] = np.nan
        less = fixing._replace(fixed=fewer, batch=batch, order=order)
        assert not ties_decided(problem, less, lower, upper)
    assert seen >= 10


@pytest.mark.parametrize("seed", range(4))
def test_ties_of_a_grid_are_decided_on_a_small_part(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lengths 1, 2, 3 and labels 0, 1, 2: rationals for less than a quarter of the vertices."""
    parts: list[int] = []

    def record(problem: Problem, fixing: Fixing, part: NDArray[np.bool_]) -> Any:
        parts.append(int(part.sum()))
        return retraced(problem, fixing, part)

    retraced = _exact._retraced
    monkeypatch.setattr(_exact, "_retraced", record)
    rng = np.random.default_rng(seed)
    number = np.arange(60 * 60).reshape(60, 60)
    there = np.append(number[:, :-1], number[:-1]), np.append(number[:, 1:], number[1:])
    tails, heads = np.append(*there), np.append(*there[::-1])
    kept = rng.random(tails.size) < 0.8
    lengths = rng.integers(1, 4, kept.sum()).astype(float)
    graph = wf.Graph.from_edges(tails[kept], heads[kept], lengths, number.size, directed=True)
    at = rng.choice(number.size, number.size // 40, replace=False)
    labels = wf.Labels(at, rng.integers(0, 3, at.size).astype(float))
    field = wf.extend(graph, labels, wf.AMLE(fill="flat"), unreachable="nan")
    assert len(parts) == 1
    assert parts[0] < number.size / 4
    # all in rationals: the same fixed vertices, and values within the bounds
    monkeypatch.setattr(amle, "ties_decided", lambda *_: False)
    exact = wf.extend(graph, labels, wf.AMLE(fill="flat"), unreachable="nan")
    assert exact.details["filled"] == field.details["filled"]
    assert len(parts) == 2
    assert all((field.lower <= exact.upper) & (exact.lower <= field.upper))
    assert field.width < 1e-13
