"""The AMLE on long walks and lengths of many orders: near-linear, and never a false claim."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import wayfield as wf
from exact_amle import exact_amle
from wayfield.fields.amle.kernels import Fixing, bracket, fix

Edges = tuple[np.ndarray, np.ndarray]


def path(n: int) -> Edges:
    return np.arange(n - 1), np.arange(1, n)


def comb(n: int) -> Edges:
    """A path with a tooth of ten vertices on each of its vertices."""
    cells = np.arange(n - n % 10).reshape(10, -1)
    tails = np.concatenate([cells[0, :-1], cells[:-1].ravel()])
    return tails, np.concatenate([cells[0, 1:], cells[1:].ravel()])


def ladder(n: int) -> Edges:
    cells = np.arange(n - n % 2).reshape(-1, 2)
    tails = np.concatenate([cells[:-1].ravel(), cells[:, 0]])
    return tails, np.concatenate([cells[1:].ravel(), cells[:, 1]])


def spiral(n: int) -> Edges:
    """A path with a chord here and there."""
    tails, heads = path(n)
    chords = np.arange(0, n - 100, 97)
    return np.concatenate([tails, chords]), np.concatenate([heads, chords + 90])


def star(n: int) -> Edges:
    return np.zeros(n - 1, int), np.arange(1, n)


SHAPES = [path, comb, ladder, spiral, star]


def world(
    shape: Callable[[int], Edges], n: int, sigma: float, directed: bool = False
) -> tuple[wf.Graph, wf.Labels]:
    """A shape with lognormal lengths, and labels at three of its vertices."""
    tails, heads = shape(n)
    lengths = np.random.default_rng(0).lognormal(0.0, sigma, tails.size)
    graph = wf.Graph.from_edges(tails, heads, lengths, directed=directed)
    last = graph.num_vertices - 1
    return graph, wf.Labels([1, last // 2, last], [1.0, 0.2, 0.0])


def fixing_of(graph: wf.Graph, labels: wf.Labels) -> Fixing:
    values = np.zeros(graph.num_vertices)
    values[labels.vertices] = labels.values
    flat = not graph.directed
    return fix(graph.arcs, graph.reverse_arcs, labels.mask(graph), values, leave_flat=not flat)


@pytest.mark.parametrize("directed", [False, True])
def test_a_walk_of_seven_hundred_thousand_arcs(directed: bool) -> None:
    """One walk, one batch, and a bracket of a rounding, however the distances were rounded."""
    n = 700_000
    tails, heads = path(n)
    lengths = np.random.default_rng(0).lognormal(0.0, 1.0, n - 1)
    graph = wf.Graph.from_edges(tails, heads, lengths, directed=directed)
    result = wf.extend(graph, wf.Labels([0, n - 1], [1.0, 0.0]), wf.AMLE())
    exact = np.append(0.0, np.cumsum(lengths.astype(np.longdouble)))
    assert result.status is wf.Status.CONVERGED
    assert result.iterations < 20
    assert result.width <= 1e-15
    np.testing.assert_allclose(result.values, 1.0 - exact / exact[-1], rtol=0, atol=1e-15)


def test_a_hub_beside_a_long_walk() -> None:
    """Two arcs lead anywhere, but no steep walk uses them. Quadratic work would take minutes."""
    n = 200_000
    tails, heads = path(n)
    lengths = np.random.default_rng(0).lognormal(0.0, 1.0, n - 1)
    spokes = np.full(n, 10.0 * lengths.sum())
    tails, heads = np.append(tails, np.arange(n)), np.append(heads, np.full(n, n))
    graph = wf.Graph.from_edges(tails, heads, np.append(lengths, spokes))
    result = wf.extend(graph, wf.Labels([0, n - 1], [0.0, 1.0]), wf.AMLE())
    assert result.iterations < 20
    assert result.width <= 1e-15


def test_rounding_is_not_taken_for_slopes() -> None:
    """Slopes of one walk that differ by rounding alone would make the division go on and on."""
    n = 1_000_000
    graph = wf.Graph.from_edges(*path(n), np.random.default_rng(7).lognormal(0.0, 1.0, n - 1))
    fixing = fixing_of(graph, wf.Labels([0, n - 1], [0.0, 1.0]))
    assert fixing.finished
    assert fixing.frames < 50
    assert fixing.slopes.size < 10


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sigma", [1.0, 2.0, 4.0])
def test_frames_grow_with_the_vertices(shape: Callable[[int], Edges], sigma: float) -> None:
    for n in (2_000, 20_000):
        fixing = fixing_of(*world(shape, n, sigma))
        assert fixing.finished
        assert fixing.frames <= 3 * n


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sigma", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("directed", [False, True])
def test_brackets_are_narrow(shape: Callable[[int], Edges], sigma: float, directed: bool) -> None:
    graph, labels = world(shape, 20_000, sigma, directed)
    result = wf.extend(graph, labels, wf.AMLE(fill="flat"))
    assert result.status is wf.Status.CONVERGED
    assert result.width <= 1e-11
    assert result.residual <= 1e-15


@pytest.mark.parametrize("shape", SHAPES)
def test_a_bracket_that_says_nothing_is_none(shape: Callable[[int], Edges]) -> None:
    """Lengths over 15 orders: converged means a thousandth of the range at most."""
    graph, labels = world(shape, 20_000, 4.0)
    result = wf.extend(graph, labels, wf.AMLE(), check=False)
    narrow = result.width <= 2.0**-10
    assert result.status is (wf.Status.CONVERGED if narrow else wf.Status.UNVERIFIED)
    assert result.residual <= 1e-13


def test_a_wide_bracket_raises() -> None:
    lengths = 10.0 ** np.random.default_rng(0).uniform(-9.0, 9.0, 300)
    graph = wf.Graph.from_edges(*path(301), lengths)
    with pytest.raises(wf.NotConverged, match="could not be verified"):
        wf.extend(graph, wf.Labels([0, 300], [0.0, 1.0]), wf.AMLE())


# ------------------------------------------------------------------ values that tie


def error_of(graph: wf.Graph, labels: wf.Labels) -> Fraction:
    """How far the retraced field is from the exact one."""
    found = bracket(graph.arcs, graph.reverse_arcs, fixing_of(graph, labels))
    pairs = zip(*(part.tolist() for part in found.field), exact_amle(graph, labels), strict=True)
    return max(abs(Fraction(high) + Fraction(low) - exact) for high, low, exact in pairs)


def test_a_walk_is_followed_across_arcs_too_short_to_show() -> None:
    """Each third arc drops the value by less than its last place; all other digits are there."""
    lengths = np.where(np.arange(60) % 3 == 1, 1e-18, 1.0)
    graph = wf.Graph.from_edges(*path(61), lengths)
    labels = wf.Labels([0, 60], [0.0, 1.0])
    fixing = fixing_of(graph, labels)
    assert (np.diff(fixing.values) == 0.0).sum() >= 15
    assert error_of(graph, labels) <= Fraction(1, 10**29)


@pytest.mark.parametrize("loop", [False, True])
def test_what_hangs_on_a_walk_takes_its_value(loop: bool) -> None:
    """Dead ends, or loops, of three vertices, so short that they count to the walk."""
    n, tails, heads, lengths = 20, *map(list, path(20)), [1.0] * 19
    for foot in range(1, 19):
        first = n + 3 * (foot - 1)
        tails += [foot, first, first + 1]
        heads += [first, first + 1, first + 2]
        lengths += [1e-17] * 3
        if loop:
            tails.append(first + 2)
            heads.append(foot)
            lengths.append(1e-17)
    # one arc of the walk is lost in the digits as well, so that its lengths are needed
    lengths[9] = 1e-19
    graph = wf.Graph.from_edges(tails, heads, lengths)
    assert error_of(graph, wf.Labels([0, 19], [0.0, 1.0])) <= Fraction(1, 10**16)
    plain = wf.extend(graph, wf.Labels([0, 19], [0.0, 1.0]), wf.AMLE(), check=False)
    np.testing.assert_allclose(
        plain.values, [float(v) for v in exact_amle(graph, wf.Labels([0, 19], [0, 1]))], atol=1e-15
    )


def test_balance_to_rounding_is_not_taken_for_a_solution() -> None:
    """Between arcs that are 1e17 long any value is in balance; the field is linear all the same."""
    n, rng = 12_001, np.random.default_rng(0)
    lengths = rng.uniform(1.0, 2.0, n - 1)
    lengths[:4] = 1e17, 1.0, 2e17, 1.0
    vertices = np.arange(0, n, 4)
    path = wf.Graph.from_edges(np.arange(n - 1), np.arange(1, n), lengths)
    labels = wf.Labels(vertices, rng.random(vertices.size))
    field = wf.extend(path, labels, wf.AMLE(bracket=False))
    first, last = labels.values[:2]
    assert field.values[1:3] == pytest.approx((2.0 * first + last) / 3.0, rel=1e-12)


@pytest.mark.parametrize("seed", range(200))
def test_hostile_lengths_never_make_a_false_bracket(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 16))
    parents = np.array([int(rng.integers(0, x)) for x in range(1, n)])
    extra = rng.integers(0, n, (int(rng.integers(0, n)), 2))
    pairs = np.vstack([np.column_stack([np.arange(1, n), parents]), extra])
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    lengths = 10.0 ** rng.uniform(-14.0, 14.0, len(pairs))
    graph = wf.Graph.from_edges(pairs[:, 0], pairs[:, 1], lengths, n)
    count = int(rng.integers(2, n // 2 + 1))
    labels = wf.Labels(rng.choice(n, count, replace=False), rng.uniform(-1.0, 1.0, count))
    result = wf.extend(graph, labels, wf.AMLE(), check=False)
    exact = exact_amle(graph, labels)
    if result.lower is not None and result.upper is not None:
        bounds = zip(result.lower.tolist(), exact, result.upper.tolist(), strict=True)
        assert all(low <= value <= high for low, value, high in bounds)
    error = max(abs(u - v) for u, v in zip(result.values.tolist(), map(float, exact), strict=True))
    assert error <= 1e-12
