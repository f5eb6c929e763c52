"""The two entries of the AMLE's kernels on plain arrays: what is fixed, and what is proved."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import wayfield as wf
from exact_amle import exact_amle, exact_directed_amle
from wayfield.fields.amle.kernels import Bracket, Fixing, bracket, divide, fix, iterate
from wayfield.fields.amle.kernels.fill import with_near_ties
from wayfield.fields.amle.kernels.pressure import UNFIXED
from wayfield.numerics.csr import Arcs
from wayfield.numerics.jit import compiling
from worlds import random_graph

PATH = Arcs(
    np.array([0, 1, 3, 5, 6], np.int32),
    np.array([1, 0, 2, 1, 3, 2], np.int32),
    np.array([1.0, 1.0, 2.0, 2.0, 1.0, 1.0]),
)
"""0 –1– 1 –2– 2 –1– 3."""
ENDS = np.array([True, False, False, True])
VALUES = np.array([0.0, 9.0, 9.0, 1.0])


def problem(seed: int) -> tuple[wf.Graph, wf.Labels]:
    """A small random graph and labels of magnitude at most 1."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    lengths = ("unit", lambda rng, m: rng.uniform(0.1, 3.0, m))[seed % 2]
    graph = random_graph(rng, n, lengths, backbone="tree", edges=int(rng.integers(0, n)))
    count = int(rng.integers(1, n // 2 + 1))
    values = [rng.uniform(-1.0, 1.0, count), rng.integers(-2, 3, count) / 2.0][seed // 2 % 2]
    return graph, wf.Labels(rng.choice(n, count, replace=False), values)


def solved(graph: wf.Graph, labels: wf.Labels) -> Fixing:
    values = np.zeros(graph.num_vertices)
    values[labels.vertices] = labels.values
    return fix(graph.arcs, graph.reverse_arcs, labels.mask(graph), values, leave_flat=False)


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


def test_a_path_is_fixed_in_one_batch() -> None:
    fixing = fix(PATH, PATH, ENDS, VALUES, leave_flat=False)
    np.testing.assert_allclose(fixing.values, [0.0, 0.25, 0.75, 1.0], rtol=1e-15)
    assert fixing.finished
    assert fixing.fixed.all()
    assert sorted(fixing.order) == [1, 2]
    assert fixing.batch.tolist() == [-1, 0, 0, -1]


def test_a_dead_end_is_left_or_takes_the_constant() -> None:
    labelled = np.array([True, False, True, False])
    values = np.array([0.0, 0.0, 1.0, 0.0])
    left = fix(PATH, PATH, labelled, values, leave_flat=True)
    assert left.fixed.tolist() == [True, True, True, False]
    assert left.batch[3] == UNFIXED
    assert np.isnan(left.values[3])
    assert fix(PATH, PATH, labelled, values, leave_flat=False).values[3] == 1.0


def test_arcs_count_one_way_only() -> None:
    """1 → x → 0 descends, 0 → y → 1 does not."""
    graph = wf.Graph.from_edges([0, 1, 3], [1, 2, 0], directed=True)
    out, into = graph.arcs, graph.reverse_arcs
    labelled = np.array([True, False, True, False])
    down = fix(out, into, labelled, np.array([1.0, 0.0, 0.0, 0.0]), leave_flat=True)
    assert down.fixed.tolist() == [True, True, True, False]
    assert down.values[1] == 0.5
    up = fix(out, into, labelled, np.array([0.0, 0.0, 1.0, 0.0]), leave_flat=True)
    assert up.fixed.tolist() == labelled.tolist()
    assert np.array_equal(bracket(out, into, up).below, np.zeros(4))


def test_nothing_to_fix() -> None:
    everything = np.ones(4, bool)
    fixing = fix(PATH, PATH, everything, VALUES / 9.0, leave_flat=False)
    assert fixing.order.size == 0
    found = bracket(PATH, PATH, fixing)
    assert found.width < np.inf
    assert np.array_equal(found.field.high, VALUES / 9.0)
    assert not found.below.any()
    assert not found.above.any()


@pytest.mark.parametrize("seed", range(24))
def test_the_bracket_holds_the_exact_field(seed: int) -> None:
    graph, labels = problem(seed)
    found = bracket(graph.arcs, graph.reverse_arcs, solved(graph, labels))
    assert found.width < np.inf
    assert holds(found, exact_amle(graph, labels))
    assert max(found.below.max(), found.above.max()) <= 1e-20


@pytest.mark.parametrize("seed", range(24))
def test_the_bracket_believes_no_log(seed: int) -> None:
    """Values, order, batches and slopes spoiled: what is still proved is true."""
    graph, labels = problem(seed)
    exact = exact_amle(graph, labels)
    fixing, rng = solved(graph, labels), np.random.default_rng(seed)
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
    fixing = fix(PATH, PATH, ENDS, VALUES, leave_flat=False)
    values, slopes = np.array([0.0, np.nan, np.nan, 1.0]), np.array([np.nan])
    lost = fixing._replace(values=values, slopes=slopes)
    found = bracket(PATH, PATH, lost)
    assert found.width == np.inf
    assert found.below.tolist() == found.above.tolist() == [0.0, np.inf, np.inf, 0.0]


@pytest.mark.parametrize("seed", range(24))
def test_the_field_is_exact_to_rounding(seed: int) -> None:
    graph, labels = problem(seed)
    exact = [float(value) for value in exact_amle(graph, labels)]
    np.testing.assert_allclose(solved(graph, labels).values, exact, rtol=0, atol=1e-14)


def test_the_hub_of_a_star() -> None:
    """Its steepest pair of arcs, among thousands."""
    leaves = 5000
    indices = np.concatenate([np.arange(1, leaves + 1), np.zeros(leaves, int)]).astype(np.int32)
    indptr = np.concatenate([[0], np.arange(leaves, 2 * leaves + 1)]).astype(np.int32)
    star = Arcs(indptr, indices, np.ones(2 * leaves))
    labelled = np.arange(leaves + 1) > 0
    values = np.linspace(0.0, 1.0, leaves + 1)
    assert fix(star, star, labelled, values, leave_flat=False).values[0] == 0.5 * (1 + 1 / leaves)


def test_iteration_reads_no_arc_of_a_last_vertex_that_has_none() -> None:
    """Uncompiled, where an index out of bounds raises; compiled code would read on."""
    arcs = PATH._replace(indptr=np.append(PATH.indptr, PATH.indptr[-1]))
    labelled = np.append(ENDS, False)
    with compiling("never"):
        found = iterate.iterate(arcs, labelled, np.append(VALUES, 0.0), bool)
    assert found.fixed[:-1].all()
    assert not found.fixed[-1]


@pytest.mark.parametrize("unit", [False, True])
def test_rationals_give_the_same_field(unit: bool) -> None:
    """The same kernels without rounding: the values satisfy the equation exactly."""
    rng = np.random.default_rng(8)
    for _ in range(12):
        n = int(rng.integers(20, 60))
        ends = rng.integers(0, n, (2, 3 * n))
        ends = np.unique(ends[:, ends[0] != ends[1]], axis=1)
        lengths = rng.uniform(0.01, 1.0, ends.shape[1])
        graph = wf.Graph.from_edges(*ends, None if unit else lengths, n, directed=True)
        labelled, labels = rng.random(n) < 0.2, lengths[:n]
        arcs = graph.arcs, graph.reverse_arcs
        rough = fix(*arcs, labelled, labels, leave_flat=True)
        out, into = (side._replace(lengths=rationals(side.lengths)) for side in arcs)
        exact = fix(out, into, labelled, rationals(labels), leave_flat=True)
        assert (rough.fixed == exact.fixed).all()
        np.testing.assert_allclose(rough.values, exact.values.astype(float), rtol=0, atol=1e-13)
        for x in exact.order:
            for side, sign in zip(arcs, (1, -1), strict=True):
                row = range(side.indptr[x], side.indptr[x + 1])
                slopes = [
                    sign * (exact.values[x] - exact.values[y]) / Fraction(float(side.lengths[e]))
                    for e in row
                    if exact.fixed[y := side.indices[e]]
                ]
                assert max(slopes) == exact.slopes[exact.batch[x]]


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
