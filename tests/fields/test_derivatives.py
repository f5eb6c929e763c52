"""Influence and pullback: against finite differences, exact rationals and naive twins."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import wayfield as wf
from exact_amle import exact_amle, exact_directed_amle
from wayfield.fields import Extension, Gradient, Method, base
from wayfield.fields import adjoint as _adjoint
from wayfield.fields.amle.kernels import Fixing, trace
from wayfield.fields.amle.kernels.chains import pull
from wayfield.fields.derivatives import Linearised, generic_direction
from worlds import (
    PATH,
    Floats,
    Problem,
    generators,
    labelled_graphs,
    maze_problem,
    random_graph,
    random_labels,
)

SMOOTH = [wf.AMLE(), wf.Harmonic(), wf.PLaplacian(2), wf.PLaplacian(3), wf.PLaplacian(8)]
STEP = 1e-6


def generic(seed: int, directed: bool = False, most: int = 30) -> Problem:
    """Real lengths and normal labels: nothing ties."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(6, most))
    graph = random_graph(rng, n, "real", backbone="tree", edges=n, directed=directed)
    return graph, random_labels(rng, graph, max(2, n // 5))


def both_ways(graph: wf.Graph, rng: np.random.Generator) -> Floats:
    """Random changes of the lengths; those of an undirected edge are the same both ways."""
    change = rng.normal(size=(graph.num_vertices, graph.num_vertices))
    if not graph.directed:
        change += change.T
    return np.asarray(graph.lengths * change[graph.tails, graph.indices])


def changed(graph: wf.Graph, labels: wf.Labels, method: Method, d: Floats, e: Floats) -> Floats:
    """The field for labels and lengths that have moved; 0 where it is not finite."""
    world = wf.Graph(graph.indptr, graph.indices, graph.lengths + e, graph.directed)
    moved = wf.Labels(labels.vertices, labels.values + d)
    values = wf.extend(world, moved, method, unreachable="nan").values
    return np.where(np.isfinite(values), values, 0.0)


def assert_right(graph: wf.Graph, labels: wf.Labels, method: Method, seed: int) -> None:
    """Compare with a central difference along a random direction of labels and lengths."""
    rng = np.random.default_rng(seed)
    field = wf.extend(graph, labels, method, unreachable="nan")
    cotangent = np.where(np.isfinite(field.values), rng.normal(size=graph.num_vertices), 0.0)
    gradient = field.pullback(cotangent)
    for d, e in (
        (rng.normal(size=len(labels)), np.zeros(graph.num_arcs)),
        (np.zeros(len(labels)), both_ways(graph, rng)),
    ):
        right, left = (
            changed(graph, labels, method, sign * STEP * d, sign * STEP * e) for sign in (1, -1)
        )
        expected = cotangent @ (right - left) / (2.0 * STEP)
        size = np.abs(d).sum() + np.abs(e).sum()
        error = abs(gradient.labels @ d + gradient.lengths @ e - expected)
        assert error <= 1e-6 * max(size, 1.0), f"seed {seed}"


@pytest.mark.parametrize("method", SMOOTH, ids=str)
def test_gradients_are_finite_differences(method: Method) -> None:
    for seed in range(12):
        assert_right(*generic(seed), method, seed)


@pytest.mark.parametrize("method", [wf.AMLE(fill=rule) for rule in ("cost", "flat")])
def test_gradients_on_directed_graphs(method: Method) -> None:
    for seed in range(12):
        assert_right(*generic(seed, directed=True), method, seed)


# ------------------------------------------------------------------ exact derivatives


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_weights_of_the_amle_are_those_of_rationals(seed: int, directed: bool) -> None:
    """Whole lengths and labels tie, so derivatives are one-sided: u(y + t d) for tiny exact t."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 9, "whole", backbone="tree", edges=5, directed=directed)
    labels = random_labels(rng, graph, 4, "whole")
    d, t = rng.integers(-30, 31, 4).astype(float), 2.0**-40
    field = wf.extend(graph, labels, wf.AMLE(), unreachable="nan")
    moved = wf.Labels(labels.vertices, labels.values + t * d)
    if directed:
        exact = [exact_directed_amle(graph, each, "cost") for each in (labels, moved)]
    else:
        exact = [exact_amle(graph, each) for each in (labels, moved)]
    for x, (before, after) in enumerate(zip(*exact, strict=True)):
        if not isinstance(before, Fraction) or abs(after - before) > 1e-9:
            continue  # inf, or discontinuous
        influence = field.influence(x, toward=d)
        assert influence.weights.sum() == pytest.approx(1.0)
        rates = d[np.searchsorted(labels.vertices, influence.vertices)]
        assert influence.weights @ rates == pytest.approx(float((after - before) / Fraction(t)))


def test_the_two_sides_of_a_kink() -> None:
    """The lower of two labels decides: label 2 if label 1 rises, label 1 if it falls."""
    star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3])
    field = wf.extend(star, wf.Labels([1, 2, 3], [0.0, 0.0, 2.0]), wf.AMLE())
    rise = np.array([1.0, 0.0, 0.0])
    assert field.influence(0, toward=rise).vertices.tolist() == [2, 3]
    assert field.influence(0, toward=-rise).vertices.tolist() == [1, 3]
    assert field.pullback([1.0, 0, 0, 0], toward=-rise).labels @ rise == 0.5


@pytest.mark.parametrize("seed", range(4))
def test_one_sided_differences_on_a_maze(seed: int) -> None:
    """Exact labels of a maze tie at most values; both sides are right at all of them."""
    graph, labels = maze_problem("umaze", 6, fraction=0.05, seed=seed)
    rng = np.random.default_rng(seed)
    field, d = wf.extend(graph, labels, wf.AMLE()), rng.normal(size=len(labels))
    none, t = np.zeros(graph.num_arcs), 2.0**-20
    rates = []
    for sign in (1.0, -1.0):
        after = changed(graph, labels, wf.AMLE(), sign * t * d, none)
        rates.append((after - field.values) / (sign * t))
        for x in rng.integers(0, graph.num_vertices, 40):
            cotangent = np.zeros(graph.num_vertices)
            cotangent[x] = 1.0
            side = field.pullback(cotangent, toward=sign * d).labels @ d
            assert side == pytest.approx(rates[-1][x], abs=1e-6)
    assert (np.abs(rates[0] - rates[1]) > 1e-6).mean() > 0.5, "a test of kinks without kinks"


def test_without_a_direction_a_kink_has_the_side_of_a_fixed_one() -> None:
    """The tape of tied values is no one-sided derivative, and is not handed out."""
    graph, labels = maze_problem("umaze", 6, fraction=0.05)
    field = wf.extend(graph, labels, wf.AMLE())
    fixed = generic_direction(labels)
    moved = changed(graph, labels, wf.AMLE(), 2.0**-24 * fixed, np.zeros(graph.num_arcs))
    rates = (moved - field.values) * 2.0**24
    for x in range(0, graph.num_vertices, 5):
        weights = field.pullback(np.eye(graph.num_vertices)[x]).labels
        assert weights @ fixed == pytest.approx(rates[x], abs=1e-6)


@pytest.mark.parametrize("p", [2.5, 3.0, 8.0])
def test_equal_labels_are_a_kink_of_the_p_laplacian(p: float) -> None:
    star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3])
    field = wf.extend(star, wf.Labels([1, 2, 3], [1.0, 1.0, 1.0]), wf.PLaplacian(p))
    d = np.array([0.0, 1.0, 3.0])
    # by homogeneity the derivative towards d is the extension of d itself
    expected = wf.extend(star, wf.Labels([1, 2, 3], d), wf.PLaplacian(p)).values[0]
    found = field.pullback([1.0, 0.0, 0.0, 0.0], toward=d).labels @ d
    assert found == pytest.approx(expected, abs=1e-6)


# ------------------------------------------------------------------ properties


@given(labelled_graphs(), st.sampled_from([*SMOOTH, wf.AMLE(fill="cost"), wf.PLaplacian(100)]))
def test_weights_are_nonnegative_and_sum_to_one(problem: Problem, method: Method) -> None:
    graph, labels = problem
    field = wf.extend(graph, labels, method, check=False)
    for x in range(graph.num_vertices):
        try:
            weights = field.pullback(np.eye(graph.num_vertices)[x]).labels
        except wf.InputError:
            assert method == wf.AMLE(fill="cost")  # equal labels: no other field is discontinuous
            continue
        assert weights.min() >= -1e-12
        assert weights.sum() == pytest.approx(1.0, abs=1e-9)
        kept = field.influence(x)
        assert (np.diff(kept.weights) <= 0.0).all()
        assert set(kept.vertices) <= set(labels.vertices)
    assert field.influence(int(labels.vertices[0])).vertices.tolist() == [labels.vertices[0]]


@given(labelled_graphs(), generators, st.sampled_from(SMOOTH))
def test_pullback_is_linear(problem: Problem, rng: np.random.Generator, method: Method) -> None:
    graph, labels = problem
    field = wf.extend(graph, labels, method)
    a, b = rng.normal(size=(2, graph.num_vertices))
    one, other, both = (field.pullback(c) for c in (a, b, 2.0 * a - 3.0 * b))
    for name in ("labels", "lengths"):
        expected = 2.0 * getattr(one, name) - 3.0 * getattr(other, name)
        size = 1.0 + np.abs(expected).max(initial=0.0)
        np.testing.assert_allclose(getattr(both, name), expected, atol=1e-8 * size)


def test_chains_through_arcs_too_short_to_see() -> None:
    """The drop along 1 – 2 is lost in the last place: the way is found by lengths."""
    path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], [1.0, 1e-20, 1.0, 1e-30])
    field = wf.extend(path, wf.Labels([0, 3], [1.0, 2.0]), wf.AMLE(), check=False)
    for x in (1, 2):
        assert field.pullback(np.eye(5)[x]).labels.tolist() == [0.5, 0.5]
    assert field.pullback(np.eye(5)[4]).labels.tolist() == [0.0, 1.0]
    gradient = field.pullback([0.0, 1.0, 1.0, 0.0, 0.0])
    np.testing.assert_allclose(gradient.lengths, [0.25, 0.25, 0, 0, -0.25, -0.25, 0, 0])


def test_chains_of_a_plateau_in_batches() -> None:
    """Rounding has made 2 a batch of its own, before 1 that it takes its value from."""
    values, batch = np.full(4, 0.5), np.array([-1, 1, 0, 2], np.int32)
    order, slopes = np.array([2, 1, 3], np.int32), np.array([1e-14, 0.0, 0.0])
    fixing = Fixing(values, np.ones(4, bool), order, batch, slopes, True)
    chains = trace(PATH.arcs, PATH.arcs, fixing)
    weights = np.array([0.0, 1.0, 1.0, 1.0])
    pull(chains, weights, np.zeros(PATH.num_arcs))
    assert weights.tolist() == [3.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("method", [wf.AMLE(), wf.Harmonic(), wf.PLaplacian(4)])
@pytest.mark.parametrize("values", [[0.0, 3.0], [0.5, 2.9]])
def test_a_prior_that_is_infinite_somewhere(values: list[float], method: Method) -> None:
    """The correction passes through the vertex that the prior says cannot reach the goal."""
    field = wf.extend(PATH, wf.Labels([0, 3], values), method, prior=[0.0, np.inf, 1.0, 3.0])
    assert field.influence(2).vertices.tolist() == [3, 0]
    assert field.influence(2).weights == pytest.approx([2 / 3, 1 / 3])
    with pytest.raises(wf.InputError, match="the field has no finite value there"):
        field.influence(1)


@dataclass(frozen=True)
class Mean:
    """The mean of the labels at every other vertex, with its derivative."""

    directed: ClassVar[bool] = True

    def solve(self, problem: base.Problem) -> base.Solution:
        mean = problem.labels.values.mean()
        values = np.where(problem.labelled, problem.boundary, mean)
        return base.Solution(values, wf.Status.NO_BRACKET)

    def linearised(
        self, problem: base.Problem, at: base.Solution, toward: Floats | None
    ) -> Linearised:
        return Means(problem)


@dataclass(frozen=True)
class Means:
    problem: base.Problem

    def pull(self, cotangent: Floats) -> Gradient:
        vertices = self.problem.labels.vertices
        others = cotangent[~self.problem.labelled].sum() / vertices.size
        return Gradient(cotangent[vertices] + others, np.zeros(self.problem.graph.num_arcs))


def test_a_method_brings_its_own_derivative() -> None:
    field = wf.extend(PATH, wf.Labels([0, 3], [0.0, 2.0]), Mean(), prior=[0.0, 1.0, 2.0, 3.0])
    assert field.values.tolist() == [0.0, 0.5, 1.5, 2.0]
    assert field.pullback([1.0, 1.0, 1.0, 0.0]).labels.tolist() == [2.0, 1.0]
    assert field.influence(3) == (3, 1.0)


def test_a_field_with_derivatives_can_be_pickled() -> None:
    graph, labels = generic(1)
    for method in (wf.AMLE(), wf.Harmonic(), wf.PLaplacian(3)):
        field = wf.extend(graph, labels, method)
        before = field.influence(0)
        again: Extension = pickle.loads(pickle.dumps(field))
        assert "_derivatives" not in vars(again)
        assert not again.values.flags.writeable
        assert again.influence(0).weights.tolist() == before.weights.tolist()


# ------------------------------------------------------------------ what has no derivative


def test_values_that_are_not_finite_have_none() -> None:
    graph = wf.Graph.from_edges([0, 1, 3], [1, 2, 4], directed=True)
    field = wf.extend(graph, wf.Labels([2], [0.0]), wf.AMLE(), unreachable="nan")
    with pytest.raises(wf.InputError, match=r"cotangent\[4\] = 1.0 must be 0: the field has no"):
        field.influence(4)
    assert field.pullback([1.0, 1.0, 1.0, 0.0, 0.0]).labels.tolist() == [3.0]
    assert field.pullback([1.0, 1.0, 1.0, 0.0, 0.0]).lengths.tolist() == [1.0, 2.0, 0.0]


def test_a_discontinuity_has_none() -> None:
    """1 → 0 → 2 is level: it is walked at its cost. If label 1 rises, it is a descent."""
    graph = wf.Graph.from_edges([1, 0], [0, 2], directed=True)
    field = wf.extend(graph, wf.Labels([1, 2], [0.0, 0.0]), wf.AMLE())
    with pytest.raises(
        wf.InputError, match="vertex 0 has no derivative: its value is discontinuous"
    ):
        field.influence(0, toward=[1.0, 0.0])
    assert field.influence(0, toward=[-1.0, 0.0]).vertices.tolist() == [2]


def test_long_corridors_are_named_if_rounding_is_too_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    n = 100_000
    path = wf.Graph.from_edges(range(n - 1), range(1, n))
    field = wf.extend(path, wf.Labels([0, n - 1], [0.0, 1.0]), wf.Harmonic())
    weights = field.pullback(np.eye(1, n, n // 3)[0]).labels
    assert weights[1] == pytest.approx(n // 3 / (n - 1), abs=1e-8)
    monkeypatch.setattr(_adjoint, "INACCURATE", 1e-9)
    with pytest.raises(wf.WayfieldError, match=r"only known to within .*: label states in between"):
        field.influence(n // 2)


@pytest.mark.parametrize("method", [wf.Harmonic(), wf.PLaplacian(4), wf.PLaplacian(65536.0)])
@pytest.mark.parametrize("size", [0.0, -1e6, 1e12])
def test_labels_that_differ_little_beside_their_size(method: Method, size: float) -> None:
    field = wf.extend(
        wf.Graph.from_edges(range(3), range(1, 4)), wf.Labels([0, 3], [size, size + 1]), method
    )
    gradient = field.pullback([0.0, 1.0, 0.0, 0.0])
    assert gradient.labels == pytest.approx([2 / 3, 1 / 3], abs=1e-9)
    assert gradient.lengths.sum() == pytest.approx(0.0, abs=1e-9)
    assert gradient.lengths[0] == pytest.approx(1 / 9, abs=1e-9)


@pytest.mark.parametrize("method", [wf.AMLE(), wf.PLaplacian(4.0)], ids=str)
@pytest.mark.parametrize("values", [[0.0, 0.01, 0.02], [0.01, 0.01, 0.02], [0.02, 0.0, 0.013]])
def test_components_of_other_scales_do_not_matter(method: Method, values: list[float]) -> None:
    ends = np.array([[0, 0, 0, 1, 4], [1, 2, 3, 4, 2]])
    small, labels = wf.Graph.from_edges(*ends), wf.Labels([2, 3, 4], values)
    both = wf.Graph.from_edges(*np.hstack([ends, ends + 5]))
    large = wf.Labels([2, 3, 4, 7, 8, 9], [*values, 0.0, 3e11, 1e12])
    for x in (0, 1):
        alone = wf.extend(small, labels, method).influence(x)
        beside = wf.extend(both, large, method).influence(x)
        assert beside.vertices.tolist() == alone.vertices.tolist()
        assert beside.weights == pytest.approx(alone.weights, abs=1e-6)


def test_values_too_near_each_other_for_p_have_none() -> None:
    path, labels = (
        wf.Graph.from_edges(range(4), range(1, 5)),
        wf.Labels([0, 2, 4], [0.0, 1e12, 1e12 + 1]),
    )
    field = wf.extend(path, labels, wf.PLaplacian(65536.0))
    assert field.influence(1).weights == pytest.approx([0.5, 0.5])
    with pytest.raises(wf.WayfieldError, match=r"inaccurate at vertex 3: .* use a smaller p"):
        field.influence(3)
