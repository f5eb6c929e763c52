"""`wayfield.adapters.jax`: the derivative, by JAX's own gradient check, and what surrounds it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield.errors import WayfieldError
from wayfield.fields import Method, linear
from worlds import random_graph

METHODS = [wf.AMLE(), wf.Harmonic(), wf.PLaplacian(3), wf.PLaplacian(8, bracket=False)]


@pytest.fixture
def jax() -> Iterator[Any]:
    """JAX in double precision; skips the test where it is not installed."""
    jax = pytest.importorskip("jax")
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield jax
    jax.config.update("jax_enable_x64", before)


def world(seed: int, directed: bool = False) -> tuple[wf.Graph, Any, Any]:
    """A graph, labelled vertices in no order, and their values."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 12, "real", backbone="tree", edges=8, directed=directed)
    return graph, rng.permutation(12)[:4], rng.normal(size=4)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_gradient_check_of_jax(jax: Any, method: Method, compiled: bool) -> None:
    from jax.test_util import check_grads

    from wayfield.adapters.jax import extend

    for seed in range(3):
        graph, vertices, values = world(seed)

        def field(y: Any, lengths: Any, graph: Any = graph, at: Any = vertices) -> Any:
            return extend(graph, at, y, method, lengths=lengths)

        given = jax.numpy.array(values), jax.numpy.array(graph.lengths)
        run = jax.jit(field) if compiled else field
        check_grads(run, given, order=1, modes=["rev"], atol=1e-6, rtol=1e-6, eps=1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_directed_graphs(jax: Any, seed: int) -> None:
    from jax.test_util import check_grads

    from wayfield.adapters.jax import extend

    graph, vertices, values = world(seed, directed=True)
    finite = np.isfinite(wf.extend(graph, wf.Labels(vertices, values), wf.AMLE()).values)

    def field(y: Any, lengths: Any) -> Any:
        return jax.numpy.where(finite, extend(graph, vertices, y, wf.AMLE(), lengths=lengths), 0.0)

    given = jax.numpy.array(values), jax.numpy.array(graph.lengths)
    check_grads(field, given, order=1, modes=["rev"], atol=1e-6, rtol=1e-6, eps=1e-6)


def test_the_field_is_that_of_extend(jax: Any) -> None:
    from wayfield.adapters.jax import extend

    graph, vertices, values = world(0)
    plain = wf.extend(graph, wf.Labels(vertices, values), wf.AMLE()).values
    assert np.array_equal(extend(graph, vertices, values, wf.AMLE()), plain)
    stretched = wf.Graph(graph.indptr, graph.indices, 2.0 * graph.lengths, False)
    longer = wf.extend(stretched, wf.Labels(vertices, values), wf.AMLE()).values
    found = extend(graph, vertices, values, wf.AMLE(), lengths=2.0 * graph.lengths)
    assert np.array_equal(found, longer)
    many = jax.vmap(lambda y: extend(graph, vertices, y, wf.AMLE()))(np.stack([values, -values]))
    np.testing.assert_allclose(many, [plain, -plain], atol=1e-12)
    small = extend(graph, vertices, values.astype(np.float32), wf.AMLE())
    assert small.dtype == np.float32
    np.testing.assert_allclose(small, plain, rtol=1e-5)


def test_bad_input_is_named(jax: Any) -> None:
    from wayfield.adapters.jax import extend

    graph, vertices, values = world(0)
    with pytest.raises(wf.InputError, match="vertices must be distinct"):
        extend(graph, [0, 0], [1.0, 2.0], wf.AMLE())
    with pytest.raises(wf.InputError, match=r"values must be of shape \(4,\), got \(3,\)"):
        extend(graph, vertices, values[:3], wf.AMLE())
    with pytest.raises(wf.InputError, match=r"lengths must be of shape \(\d+,\), got \(1,\)"):
        extend(graph, vertices, values, wf.AMLE(), lengths=[1.0])
    with pytest.raises(wf.InputError, match=r"vertices\[0\] = 12 is out of range"):
        extend(graph, [12], [0.0], wf.AMLE())


def test_without_jax_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "wayfield.adapters.jax", raising=False)
    with pytest.raises(WayfieldError, match=r"pip install '\.\[jax\]'"):
        import wayfield.adapters.jax  # noqa: F401


@pytest.mark.parametrize("method", [wf.Harmonic(), wf.PLaplacian(4)], ids=str)
def test_a_laplacian_is_prepared_once(
    jax: Any, method: Method, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For several values at the same vertices, and for the transpose in the derivative."""
    from wayfield.adapters.jax import extend

    made: list[tuple[int, ...]] = []

    class Counted(linear.Direct):
        def __init__(self, matrix: Any, **settings: Any) -> None:
            if (matrix != matrix.T).nnz == 0:
                made.append(matrix.shape)
            super().__init__(matrix, **settings)

    monkeypatch.setattr(linear, "Direct", Counted)
    graph, vertices, values = world(1)

    @jax.jit
    @jax.grad
    def loss(y: Any) -> Any:
        return (extend(graph, vertices, y, method) ** 2).sum()

    found = [loss(jax.numpy.array(each)) for each in (values, values[::-1].copy())]
    assert made == [(8, 8)]
    for each, gradient in zip((values, values[::-1].copy()), found, strict=True):
        order = np.argsort(vertices)
        field = wf.extend(graph, wf.Labels(vertices, each), method)
        expected = np.empty(4)
        expected[order] = field.pullback(2.0 * field.values).labels
        np.testing.assert_allclose(gradient, expected, rtol=1e-12, atol=1e-12)


def test_other_vertices_or_lengths_are_prepared_anew() -> None:
    graph, _, _ = world(1)
    again = wf.Graph(graph.indptr, graph.indices, graph.lengths, graph.directed)
    kept: list[linear.Kept] = []
    with linear.keeping(kept):
        first = linear.symmetric_solver(linear.Interior.of(graph, np.arange(4)))
        assert linear.symmetric_solver(linear.Interior.of(graph, np.arange(4))) is first
        others = [(graph, np.arange(5)), (graph, np.arange(1, 5)), (again, np.arange(4))]
        for world_, vertices in others:
            assert linear.symmetric_solver(linear.Interior.of(world_, vertices)) is not first
        assert len(kept) == linear.MOST_KEPT
        linear.symmetric_solver(linear.Interior.of(graph, np.arange(6)))
        assert len(kept) == linear.MOST_KEPT
        assert linear.symmetric_solver(linear.Interior.of(graph, np.arange(4))) is not first
    assert linear.symmetric_solver(linear.Interior.of(graph, np.arange(4))) is not first
