from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf
from wayfield.study.solvers import SOLVERS, Energy, lbfgs, newton_cg, relaxed_picard


@pytest.fixture(scope="module")
def case() -> tuple[wf.Graph, wf.Labels]:
    graph = wf.grid_graph(wf.load_layout("antmaze-medium"), 2)
    return graph, wf.sample_labels(graph, 7, 0.1, seed=54)


def test_derivatives_of_the_energy(case: tuple[wf.Graph, wf.Labels]) -> None:
    energy = Energy(*case, 4.0)
    rng = np.random.default_rng(0)
    x = energy.start[energy.free] + 0.1 * rng.normal(size=energy.free.size)
    d = rng.normal(size=x.size)
    h = 1e-5
    slope = (energy.value(x + h * d) - energy.value(x - h * d)) / (2 * h)
    assert slope == pytest.approx(float(energy.gradient(x) @ d), rel=1e-6)
    bend = (energy.gradient(x + h * d) - energy.gradient(x - h * d)) / (2 * h)
    np.testing.assert_allclose(bend, energy.curvature(x, d), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", SOLVERS)
def test_at_p_4_all_come_close(name: str, case: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = case
    exact = wf.extend(graph, labels, wf.PLaplacian(4)).values
    found = SOLVERS[name](graph, labels, 4.0)
    assert np.abs(found.values - exact).max() <= 0.02 * labels.span
    assert (found.values[labels.vertices] == labels.values).all()
    assert found.gradient >= 0
    assert 0 <= found.gap <= 1e-2


def test_a_small_gradient_is_no_small_error(case: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = case
    exact = wf.extend(graph, labels, wf.PLaplacian(8)).values
    found = lbfgs(graph, labels, 8.0)
    assert found.converged
    assert found.gradient <= 1e-6
    assert found.gap <= 1e-8
    assert np.abs(found.values - exact).max() >= 1e-5 * labels.span


def test_caps(case: tuple[wf.Graph, wf.Labels]) -> None:
    assert not relaxed_picard(*case, 16.0, cap=3).converged
    assert relaxed_picard(*case, 16.0, cap=3).iterations == 3
    assert not newton_cg(*case, 16.0, cap=2).converged


def test_the_gap_of_the_solution_vanishes(case: tuple[wf.Graph, wf.Labels]) -> None:
    exact = wf.extend(*case, wf.PLaplacian(8)).values
    assert Energy(*case, 8.0).gap(np.array(exact)) <= 1e-10
