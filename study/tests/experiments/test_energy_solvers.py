from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf
from wayfield.typing import FloatArray
from wayfield_study.experiments.solver_audit import (
    SOLVERS,
    Energy,
    lbfgs,
    newton_cg,
    relaxed_picard,
)
from wayfield_study.kernels.energy import fixed_point_residual, relaxed_sweeps
from worlds import maze_problem


@pytest.fixture(scope="module")
def case() -> tuple[wf.Graph, wf.Labels]:
    return maze_problem("antmaze-medium", 2, goal=7, fraction=0.1)


@pytest.mark.parametrize("name", SOLVERS)
def test_at_p_4_all_come_close(name: str, case: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = case
    exact = wf.extend(graph, labels, wf.PLaplacian(4)).values
    found = SOLVERS[name](Energy(graph, labels, 4.0))
    assert np.abs(found.values - exact).max() <= 0.02 * labels.span
    assert (found.values[labels.vertices] == labels.values).all()
    assert found.gradient >= 0
    assert 0 <= found.gap <= 1e-2


def test_a_small_gradient_is_no_small_error(case: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = case
    exact = wf.extend(graph, labels, wf.PLaplacian(8)).values
    found = lbfgs(Energy(graph, labels, 8.0))
    assert found.converged
    assert found.gradient <= 1e-6
    assert found.gap <= 1e-7  # where L-BFGS-B stops depends on the rounding of the processor
    assert np.abs(found.values - exact).max() >= 1e-5 * labels.span


def test_caps(case: tuple[wf.Graph, wf.Labels]) -> None:
    assert not relaxed_picard(Energy(*case, 16.0), cap=3).converged
    assert relaxed_picard(Energy(*case, 16.0), cap=3).iterations == 3
    assert not newton_cg(Energy(*case, 16.0), cap=2).converged


def test_the_gap_of_the_solution_vanishes(case: tuple[wf.Graph, wf.Labels]) -> None:
    exact = wf.extend(*case, wf.PLaplacian(8)).values
    assert Energy(*case, 8.0).gap(np.array(exact)) <= 1e-10


# ------------------------------------------------------------------------ kernels and their twins


def naive_energy(graph: wf.Graph, u: FloatArray, p: float) -> float:
    edges = zip(graph.tails, graph.indices, graph.lengths, strict=True)
    return sum(l * abs((u[y] - u[x]) / l) ** p for x, y, l in edges if x < y) / p  # noqa: E741


def naive_fixed_point(graph: wf.Graph, u: FloatArray, x: int, p: float) -> float:
    row = slice(graph.indptr[x], graph.indptr[x + 1])
    heads, lengths = graph.indices[row], graph.lengths[row]
    weights = (np.abs(u[heads] - u[x]) / lengths) ** (p - 2.0) / lengths
    return float(weights @ u[heads] / weights.sum()) if weights.any() else float(u[x])


@pytest.fixture(scope="module")
def rough() -> tuple[wf.Graph, FloatArray]:
    rng = np.random.default_rng(5)
    graph = wf.grid_graph(wf.load_layout("umaze"), 3)
    once = graph.tails < graph.indices
    lengths = rng.uniform(0.5, 3.0, size=int(once.sum()))
    weighted = wf.Graph.from_edges(graph.tails[once], graph.indices[once], lengths)
    return weighted, rng.normal(size=graph.num_vertices)


@pytest.mark.parametrize("p", [2.0, 3.5, 8.0])
def test_energy_agrees_with_its_twin(p: float, rough: tuple[wf.Graph, FloatArray]) -> None:
    graph, u = rough
    energy = Energy(graph, wf.Labels([0], [u[0]]), p)
    value, gradient = energy.value_and_gradient(u[energy.free])
    energy.start[0] = u[0]
    assert value == pytest.approx(naive_energy(graph, u, p))
    bumped = u.copy()
    for place, x in enumerate(energy.free[:5]):
        bumped[x] += 1e-6
        change = (naive_energy(graph, bumped, p) - naive_energy(graph, u, p)) / 1e-6
        assert gradient[place] == pytest.approx(change, rel=1e-3, abs=1e-4)
        bumped[x] = u[x]


@pytest.mark.parametrize("p", [2.0, 3.5, 8.0])
def test_sweeps_agree_with_their_twin(p: float, rough: tuple[wf.Graph, FloatArray]) -> None:
    graph, u = rough
    free = np.arange(1, graph.num_vertices, dtype=graph.indices.dtype)
    swept, sweeps, converged = relaxed_sweeps(graph.arcs, free, u, p, 0.25, 0.0, 1)
    asked = np.array([naive_fixed_point(graph, u, int(x), p) for x in free])
    np.testing.assert_allclose(swept[1:], u[1:] + 0.25 * (asked - u[1:]), rtol=1e-12)
    assert (swept[0], sweeps, converged) == (u[0], 1, False)
    residual = fixed_point_residual(graph.arcs, free, u, p)
    assert residual == pytest.approx(np.abs(asked - u[1:]).max())


def test_a_stall_ends_the_descent_early(case: tuple[wf.Graph, wf.Labels]) -> None:
    patient, hasty = (lbfgs(Energy(*case, 8.0), stall=stall, memory=10) for stall in (0.0, 1e-6))
    assert hasty.converged
    assert hasty.iterations < patient.iterations
    assert hasty.fixed_point > patient.fixed_point
