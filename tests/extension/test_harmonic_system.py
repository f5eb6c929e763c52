"""The public harmonic system: the same field, the same factorisation, and what else it tells."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import wayfield as wf
from wayfield.extension import HarmonicSystem
from worlds import labelled_graphs

TWO = wf.Graph.from_edges([0, 1, 3], [1, 2, 4], [1.0, 2.0, 1.0])
"""0 –1– 1 –2– 2, and 3 – 4 apart."""
ENDS = wf.Labels([0, 2], [0.0, 3.0])


@given(labelled_graphs())
def test_the_field_is_that_of_extend(problem: tuple[wf.Graph, wf.Labels]) -> None:
    graph, labels = problem
    system, field = HarmonicSystem(graph, labels), wf.extend(graph, labels, wf.Harmonic())
    found = system.extension()
    assert np.array_equal(found.values, field.values)
    assert np.array_equal(found.lower, field.lower)
    assert found.method == wf.Harmonic()
    by_hand = system.solve(system.coupling @ labels.values)
    scale = 1e-9 * np.abs(labels.values).max()
    np.testing.assert_allclose(by_hand, field.values[system.free], rtol=1e-9, atol=scale)


@given(labelled_graphs())
def test_conductances_add_up(problem: tuple[wf.Graph, wf.Labels]) -> None:
    """Rows of L less those of B are zero: a constant solves the equation with constant labels."""
    system = HarmonicSystem(*problem)
    rows = system.laplacian.sum(axis=1) - system.coupling.sum(axis=1)
    np.testing.assert_allclose(rows, 0.0, atol=1e-12 * system.degree.max(initial=1.0))
    np.testing.assert_allclose(system.laplacian.diagonal(), system.degree)


def test_a_component_without_a_label_has_no_part() -> None:
    system = HarmonicSystem(TWO, ENDS)
    assert system.free.tolist() == [1]
    assert system.row.tolist() == [-1, 0, -1, -1, -1]
    assert system.labelled.tolist() == [True, False, True, False, False]
    assert system.orphaned.tolist() == [False, False, False, True, True]
    assert system.coupling.toarray().tolist() == [[1.0, 0.5]]
    assert system.degree.tolist() == [1.5]
    assert system.hitting_time.tolist() == [1.0]
    assert np.isnan(system.extension().values[3:]).all()


def test_several_right_hand_sides_at_once() -> None:
    system = HarmonicSystem(wf.Graph.from_edges(range(9), range(1, 10)), wf.Labels([0, 9], [0, 9]))
    units = np.eye(system.free.size)
    green = system.solve(units)
    np.testing.assert_allclose(system.laplacian @ green, units, atol=1e-14)
    np.testing.assert_allclose(green[:, 3], system.solve(units[:, 3]), rtol=1e-14)


def test_directed_graphs_are_refused() -> None:
    one_way = wf.Graph.from_edges([0], [1], directed=True)
    with pytest.raises(wf.InputError, match="not defined on directed graphs"):
        HarmonicSystem(one_way, wf.Labels([0], [0.0]))
