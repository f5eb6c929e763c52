"""The AMLE: two methods for one field, long walks, lengths of many orders, and fills."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import wayfield as wf
from exact_amle import exact_amle, exact_directed_amle
from wayfield.fields.amle import method as amle
from wayfield.fields.amle.kernels import Bracket, Fixing, bracket, divide, fix, iterate
from wayfield.fields.amle.kernels.fill import with_near_ties
from wayfield.numerics.csr import Arcs
from wayfield.numerics.jit import compiling
from worlds import (
    path,
    random_graph,
    random_labels,
)


def test_long_path_with_two_labels() -> None:
    """Where iterative solvers stop far away: error below rounding on 100,001 vertices."""
    n = 100_001
    result = wf.extend(path(n), wf.Labels([0, n - 1], [0.0, n - 1.0]), wf.AMLE())
    assert np.array_equal(result.values, np.arange(n))
    assert result.width <= 1e-15 * n


@pytest.mark.parametrize("maze", ["medium", "large"])
@pytest.mark.parametrize("refinement", [4, 12])
def test_maze_cells_have_narrow_brackets(maze: str, refinement: int) -> None:
    graph = wf.grid_graph(wf.load_layout(maze), refinement)
    for fraction in (0.02, 0.12):
        labels = wf.sample_labels(graph, 5, fraction, seed=54)
        result = wf.extend(graph, labels, wf.AMLE())
        assert result.width <= 1e-12 * labels.span
        assert result.residual <= 1e-13 * labels.span


def test_labels_next_to_underflow_make_no_false_claim() -> None:
    labels = wf.Labels([0, 2], [0.0, 5e-324])
    with pytest.raises(wf.NotConverged):
        wf.extend(path(3), labels, wf.AMLE())


def test_replay_that_loses_its_way_does_not_replace_the_field() -> None:
    """Where the proof fails the field of the divide and conquer is handed back, not the replay."""
    failed = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, 25, "wild", backbone="grid", edges=0)
        labels = random_labels(rng, graph, 4)
        result = wf.extend(graph, labels, wf.AMLE(), check=False)
        if result.status is wf.Status.UNVERIFIED:
            failed += 1
            plain = wf.extend(graph, labels, wf.AMLE(bracket=False))
            np.testing.assert_allclose(result.values, plain.values, rtol=0, atol=1e-14)
    assert failed > 0


# ------------------------------------------------------------------ directed, and filled


def test_beyond_the_last_label_the_cost_goes_on() -> None:
    """goal(0) → x → a(4): the truth at x is 5, where the undirected AMLE says 2."""
    graph = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    result = wf.extend(graph, wf.Labels([0, 2], [0.0, 4.0]), wf.AMLE())
    assert result.values[1] == 5.0
    undirected = wf.extend(graph.symmetrised(), wf.Labels([0, 2], [0.0, 4.0]), wf.AMLE())
    assert undirected.values[1] == 2.0


def test_a_loop_on_the_way() -> None:
    """a(1) → x ⇄ y → b(5): nothing descends, so x and y cost what walking on to b costs."""
    graph = wf.Graph.from_edges([0, 1, 2, 2], [1, 2, 1, 3], directed=True)
    result = wf.extend(graph, wf.Labels([0, 3], [1.0, 5.0]), wf.AMLE())
    assert np.array_equal(result.values, [1.0, 7.0, 6.0, 5.0])
    flat = wf.extend(graph, wf.Labels([0, 3], [1.0, 5.0]), wf.AMLE(fill="flat"))
    assert np.array_equal(flat.values, [1.0, 5.0, 5.0, 5.0])


def test_cost_fill_leaves_no_plateau_on_undirected_graphs() -> None:
    line = path(6)
    labels = wf.Labels([0, 2], [0.0, 2.0])
    assert np.array_equal(wf.extend(line, labels, wf.AMLE()).values, [0, 1, 2, 2, 2, 2])
    filled = wf.extend(line, labels, wf.AMLE(fill="cost"))
    assert np.array_equal(filled.values, [0, 1, 2, 3, 4, 5])
    assert filled.details["filled"] == 3


def test_an_unproved_field_is_still_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without rationals some ties stay undecided; the field is whole anyway."""
    monkeypatch.setattr(amle, "rational_amle", lambda *_: None)
    seen = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        graph = random_graph(rng, 25, "wild", edges=70, directed=True, two_way=0.0)
        labels = random_labels(rng, graph, 4)
        result = wf.extend(graph, labels, wf.AMLE(), unreachable="nan", check=False)
        if result.lower is None:
            seen += 1
            assert result.status is wf.Status.UNVERIFIED
            orphaned = ~np.isin(graph.components, graph.components[labels.vertices])
            assert not np.isnan(result.values[~orphaned]).any()
    assert seen > 0


# ------------------------------------------------------------------ by iteration, and by division


def fixed_by(graph: wf.Graph, labels: wf.Labels, directed: bool = False) -> Fixing:
    values = np.zeros(graph.num_vertices)
    values[labels.vertices] = labels.values / max(1.0, np.abs(labels.values).max())
    return fix(graph.arcs, graph.reverse_arcs, labels.mask(graph), values, leave_flat=directed)


@pytest.mark.parametrize("lengths", ["unit", "whole", "real"])
def test_both_methods_agree(lengths: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    graph = random_graph(rng, 6000, lengths, backbone="tree", edges=12_000)
    labels = wf.Labels(rng.choice(6000, 300, replace=False), rng.uniform(-1.0, 1.0, 300))
    found = fixed_by(graph, labels)
    assert found.rounds > 0
    assert bracket(graph.arcs, graph.reverse_arcs, found).width <= 1e-9
    monkeypatch.setattr(divide, "FEW_UNLABELLED", 10_000)
    divided = fixed_by(graph, labels)
    assert divided.rounds == 0
    np.testing.assert_allclose(found.values, divided.values, rtol=0, atol=1e-13)


def with_tails(seed: int) -> tuple[wf.Graph, wf.Labels, int]:
    """A graph that is iterated on, a long dead end, an isolated vertex and a path of no label."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 6000, "unit", backbone="tree", edges=12_000)
    once = graph.tails < graph.indices
    tail, path = 6000 + rng.permutation(200), np.arange(6201, 6220)
    tails = np.concatenate([graph.tails[once], [17], tail[:-1], path[:-1]])
    heads = np.concatenate([graph.indices[once], tail[:1], tail[1:], path[1:]])
    labels = wf.Labels(rng.choice(6000, 300, replace=False), rng.random(300))
    return wf.Graph.from_edges(tails, heads, num_vertices=6220), labels, int(tail[-1])


def test_dead_ends_are_constant_and_components_without_labels_have_no_values() -> None:
    graph, labels, end = with_tails(4)
    result = wf.extend(graph, labels, wf.AMLE(), unreachable="nan")
    assert result.details["rounds"] > 0
    assert np.isnan(result.values[6200:]).all()
    assert np.isfinite(result.values[:6200]).all()
    assert result.values[end] == result.values[17]
    assert result.width <= 1e-12


def test_true_distances_are_found_by_cones(monkeypatch: pytest.MonkeyPatch) -> None:
    """With and without them, and where a few labels are far too steep for the others' cones."""
    graph = wf.grid_graph(wf.Layout("open", np.ones((90, 90), bool)))
    labels = wf.sample_labels(graph, goal=4000, fraction=0.03, seed=2)
    wrong = labels.values.copy()
    wrong[::60] += 50.0
    for values in (labels.values, wrong):
        given = wf.Labels(labels.vertices, values)
        found = fixed_by(graph, given)
        assert found.rounds > 0
        with monkeypatch.context() as patch:
            patch.setattr(divide, "FEW_UNLABELLED", 10_000)
            divided = fixed_by(graph, given)
        np.testing.assert_allclose(found.values, divided.values, rtol=0, atol=1e-13)


def test_few_labels_are_handed_over() -> None:
    """On a square with three labels rounds stall, and the divide and conquer answers."""
    cells = np.arange(120 * 120).reshape(120, 120)
    tails = np.concatenate([cells[:, :-1].ravel(), cells[:-1].ravel()])
    heads = np.concatenate([cells[:, 1:].ravel(), cells[1:].ravel()])
    graph = wf.Graph.from_edges(tails, heads)
    result = wf.extend(graph, wf.Labels([0, 7300, 14_399], [0.0, 0.3, 1.0]), wf.AMLE())
    assert result.details["rounds"] == 0
    assert result.iterations > 0
    assert result.residual <= 1e-15


# ------------------------------------------------------------------ long walks


Edges = tuple[np.ndarray, np.ndarray]


def line(n: int) -> Edges:
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
    tails, heads = line(n)
    chords = np.arange(0, n - 100, 97)
    return np.concatenate([tails, chords]), np.concatenate([heads, chords + 90])


def star(n: int) -> Edges:
    return np.zeros(n - 1, int), np.arange(1, n)


SHAPES = [line, comb, ladder, spiral, star]


def world(
    shape: Callable[[int], Edges], n: int, sigma: float, directed: bool = False
) -> tuple[wf.Graph, wf.Labels]:
    """A shape with lognormal lengths, and labels at three of its vertices."""
    tails, heads = shape(n)
    lengths = np.random.default_rng(0).lognormal(0.0, sigma, tails.size)
    graph = wf.Graph.from_edges(tails, heads, lengths, directed=directed)
    last = graph.num_vertices - 1
    return graph, wf.Labels([1, last // 2, last], [1.0, 0.2, 0.0])


@pytest.mark.parametrize("directed", [False, True])
def test_a_walk_of_seven_hundred_thousand_arcs(directed: bool) -> None:
    """One walk, one batch, and a bracket of a rounding, however the distances were rounded."""
    n = 700_000
    tails, heads = line(n)
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
    tails, heads = line(n)
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
    graph = wf.Graph.from_edges(*line(n), np.random.default_rng(7).lognormal(0.0, 1.0, n - 1))
    fixing = fixed_by(graph, wf.Labels([0, n - 1], [0.0, 1.0]))
    assert fixing.finished
    assert fixing.frames < 50
    assert fixing.slopes.size < 10


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sigma", [1.0, 2.0, 4.0])
def test_frames_grow_with_the_vertices(shape: Callable[[int], Edges], sigma: float) -> None:
    for n in (2_000, 20_000):
        fixing = fixed_by(*world(shape, n, sigma))
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


def error_of(graph: wf.Graph, labels: wf.Labels) -> Fraction:
    """How far the retraced field is from the exact one."""
    found = bracket(graph.arcs, graph.reverse_arcs, fixed_by(graph, labels))
    pairs = zip(*(part.tolist() for part in found.field), exact_amle(graph, labels), strict=True)
    return max(abs(Fraction(high) + Fraction(low) - exact) for high, low, exact in pairs)


def test_a_walk_is_followed_across_arcs_too_short_to_show() -> None:
    """Each third arc drops the value by less than its last place; all other digits are there."""
    lengths = np.where(np.arange(60) % 3 == 1, 1e-18, 1.0)
    graph = wf.Graph.from_edges(*line(61), lengths)
    labels = wf.Labels([0, 60], [0.0, 1.0])
    fixing = fixed_by(graph, labels)
    assert (np.diff(fixing.values) == 0.0).sum() >= 15
    assert error_of(graph, labels) <= Fraction(1, 10**29)


@pytest.mark.parametrize("loop", [False, True])
def test_what_hangs_on_a_walk_takes_its_value(loop: bool) -> None:
    """Dead ends, or loops, of three vertices, so short that they count to the walk."""
    n, tails, heads, lengths = 20, *map(list, line(20)), [1.0] * 19
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


# ------------------------------------------------------------------ the kernels


PATH = Arcs(
    np.array([0, 1, 3, 5, 6], np.int32),
    np.array([1, 0, 2, 1, 3, 2], np.int32),
    np.array([1.0, 1.0, 2.0, 2.0, 1.0, 1.0]),
)
"""0 –1– 1 –2– 2 –1– 3."""


ENDS = np.array([True, False, False, True])


GIVEN = np.array([0.0, 9.0, 9.0, 1.0])


def problem(seed: int) -> tuple[wf.Graph, wf.Labels]:
    """A small random graph and labels of magnitude at most 1."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    lengths = ("unit", lambda rng, m: rng.uniform(0.1, 3.0, m))[seed % 2]
    graph = random_graph(rng, n, lengths, backbone="tree", edges=int(rng.integers(0, n)))
    count = int(rng.integers(1, n // 2 + 1))
    values = [rng.uniform(-1.0, 1.0, count), rng.integers(-2, 3, count) / 2.0][seed // 2 % 2]
    return graph, wf.Labels(rng.choice(n, count, replace=False), values)


def holds(found: Bracket, exact: list[Fraction]) -> bool:
    """Whether field − below ≤ exact ≤ field + above, in exact arithmetic."""
    high, low = found.field
    for x, value in enumerate(exact):
        field = Fraction(float(high[x])) + Fraction(float(low[x]))
        below, above = float(found.below[x]), float(found.above[x])
        if below < np.inf and not field - Fraction(below) <= value:
            return False
        if above < np.inf and not value <= field + Fraction(above):
            return False
    return True


@pytest.mark.parametrize("seed", range(24))
def test_the_bracket_believes_no_log(seed: int) -> None:
    """Values, order, batches and slopes spoiled: what is still proved is true."""
    graph, labels = problem(seed)
    exact = exact_amle(graph, labels)
    fixing, rng = fixed_by(graph, labels), np.random.default_rng(seed)
    free = fixing.batch >= 0
    wrong = fixing.values.copy()
    wrong[free] += 10.0 ** -rng.uniform(1, 12) * rng.normal(size=int(free.sum()))
    batch = fixing.batch.copy()
    batch[free] = rng.integers(0, 3, int(free.sum()))
    order = rng.permutation(np.flatnonzero(free)).astype(np.int32)
    order = order[np.argsort(batch[order], kind="stable")]
    shuffled = fixing._replace(order=order, batch=batch, slopes=rng.normal(size=3))
    for spoiled in (fixing._replace(values=wrong), shuffled, shuffled._replace(values=wrong)):
        assert holds(bracket(graph.arcs, graph.reverse_arcs, spoiled), exact)


def test_a_field_that_is_not_finite_proves_nothing() -> None:
    fixing = fix(PATH, PATH, ENDS, GIVEN, leave_flat=False)
    values, slopes = np.array([0.0, np.nan, np.nan, 1.0]), np.array([np.nan])
    lost = fixing._replace(values=values, slopes=slopes)
    found = bracket(PATH, PATH, lost)
    assert found.width == np.inf
    assert found.below.tolist() == found.above.tolist() == [0.0, np.inf, np.inf, 0.0]


def test_iteration_reads_no_arc_of_a_last_vertex_that_has_none() -> None:
    """Uncompiled, where an index out of bounds raises; compiled code would read on."""
    arcs = PATH._replace(indptr=np.append(PATH.indptr, PATH.indptr[-1]))
    labelled = np.append(ENDS, False)
    with compiling("never"):
        found = iterate.iterate(arcs, labelled, np.append(GIVEN, 0.0), bool)
    assert found.fixed[:-1].all()
    assert not found.fixed[-1]


def rationals(numbers: NDArray[np.float64]) -> NDArray[Any]:
    return np.array([Fraction(each) for each in numbers.tolist()], object)


def closed_naively(
    graph: wf.Graph, known: set[int], labelled: set[int], bounds: list[list[Fraction]], some: int
) -> set[int]:
    """The vertex, and the other ends of arcs that may be the steepest, and so on from there."""
    lower, upper = bounds
    pairs = zip(graph.tails.tolist(), graph.indices.tolist(), strict=True)
    arcs = [(*ends, Fraction(k)) for ends, k in zip(pairs, graph.lengths.tolist(), strict=True)]
    inside, todo = {some}, [some]
    while todo:
        x = todo.pop()
        for side in range(0 if x in labelled else 2):
            mine = [arc for arc in arcs if arc[side] == x and arc[1 - side] in known]
            least = max(((lower[a] - upper[b]) / k for a, b, k in mine), default=Fraction(0))
            for a, b, k in mine:
                y = b if side == 0 else a
                if (upper[a] - lower[b]) / k >= least and y not in inside:
                    inside.add(y)
                    todo.append(y)
    return inside


@pytest.mark.parametrize("seed", range(60))
def test_near_ties_are_closed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    graph = random_graph(rng, n, "few", edges=2 * n, directed=True, two_way=0.2)
    known, labelled = rng.random(n) < 0.8, rng.random(n) < 0.2
    lower = rng.integers(0, 12, n).astype(float)
    upper = lower + rng.integers(0, 3, n) * ~labelled
    some = int(rng.integers(n))
    known[some], labelled[some] = True, False
    found = with_near_ties(
        graph.arcs, graph.reverse_arcs, known, labelled, lower, upper, np.array([some])
    )
    sets = set(np.flatnonzero(known).tolist()), set(np.flatnonzero(labelled).tolist())
    bounds = [[Fraction(value) for value in side.tolist()] for side in (lower, upper)]
    assert set(np.flatnonzero(found).tolist()) == closed_naively(graph, *sets, bounds, some)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("arithmetic", [float, Fraction])
def test_if_pivots_fail_few_frames_are_left(
    directed: bool, arithmetic: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At most two per vertex, since each fixes or drops one; the field is the exact one."""
    late = 0
    for seed in range(40):
        graph, labels = problem(seed)
        if directed:
            rng = np.random.default_rng(seed)
            graph = random_graph(rng, graph.num_vertices, ("unit", "few")[seed % 2], directed=True)
        mask, values = labels.mask(graph), np.zeros(graph.num_vertices, object)
        values[labels.vertices] = [*map(arithmetic, labels.values.tolist())]
        values = values if arithmetic is Fraction else values.astype(float)
        sides = [
            side if arithmetic is float
            else side._replace(lengths=np.array([*map(Fraction, side.lengths.tolist())], object))
            for side in (graph.arcs, graph.reverse_arcs)
        ]  # fmt: skip
        with monkeypatch.context() as patch:
            patch.setattr(divide, "PER_VERTEX", 0)
            found = fix(*sides, mask, values, leave_flat=directed)
        late += found.frames > 0
        assert found.finished
        assert found.frames <= 2 * (~mask).sum()
        exact = (
            exact_directed_amle(graph, labels, "flat") if directed else exact_amle(graph, labels)
        )
        usual = fix(graph.arcs, graph.reverse_arcs, mask, values.astype(float), directed)
        assert np.array_equal(found.fixed, usual.fixed)
        for x in np.flatnonzero(found.fixed):
            assert abs(found.values[x] - exact[x]) <= (1e-14 if arithmetic is float else 0)
    assert late > 30
