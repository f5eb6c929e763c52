"""The seven-node graph, its subdivisions, and the adversarial search over lattice graphs."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given

import wayfield as wf
from exact import exact_harmonic
from exact_amle import exact_amle
from wayfield.audit import half_gap
from wayfield_study.lattice_search import TIES, UPDATE, contests, search
from wayfield_study.witnesses import (
    Witness,
    seven_node,
    seven_node_values,
    subdivision,
)
from worlds import labelled_graphs

mpl.use("Agg")


# ------------------------------------------------------------------ seven nodes

exact_values = cache(seven_node_values)
F = Fraction


def test_every_fraction_is_exact() -> None:
    graph, labels, _, _ = seven_node()
    at_seven = wf.Labels(labels.vertices, [0.0, 1.0])
    assert list(exact_values().harmonic.values()) == exact_harmonic(graph, labels)
    assert list(exact_values().amle.values()) == exact_amle(graph, labels)
    assert list(exact_values().measure.values()) == exact_harmonic(graph, at_seven)


def test_its_graph_and_truth() -> None:
    graph, labels, goal, names = seven_node()
    truth = dict(zip(names, wf.cost_to_go(graph, goal).tolist(), strict=True))
    assert truth == {0: 0, 3: 1, 5: 1, 1: 2, 4: 2, 6: 2, 7: 3}
    assert {names[y] for y in graph.neighbours(names.index(4))} == {1, 3, 7}
    assert {names[v]: y for v, y in zip(labels.vertices, labels.values, strict=True)} == {
        0: 0.0,
        7: 3.0,
    }


def test_its_gap_and_local_errors() -> None:
    """Δ* = 1 at 4; the errors 22/29 and 2/3 both exceed half of it, yet the AMLE is right."""
    graph, labels, goal, names = seven_node()
    truth = wf.cost_to_go(graph, goal)
    s, best = names.index(4), names.index(3)
    for method, error, choice in ((wf.Harmonic(), 22 / 29, 1), (wf.AMLE(), 2 / 3, 3)):
        audit = half_gap(graph, wf.extend(graph, labels, method), truth, goal)
        assert audit.gap[s] == 1.0
        assert audit.optimal_actions(s).tolist() == [best]
        assert audit.error[s] == pytest.approx(error)
        assert not audit.holds[s]
        assert names[audit.plan.successor[s]] == choice


def test_the_library_agrees_with_the_fractions() -> None:
    graph, labels, _, names = seven_node()
    for method, exact in (
        (wf.Harmonic(), exact_values().harmonic),
        (wf.AMLE(), exact_values().amle),
    ):
        values = wf.extend(graph, labels, method).values
        assert values == pytest.approx([float(exact[name]) for name in names], abs=4e-16)
    field = wf.extend(graph, labels, wf.Harmonic())
    for x, name in enumerate(names):  # harmonic measure: the label 7 by its weight
        found = dict(zip(*(part.tolist() for part in field.influence(x)), strict=True))
        assert found.get(6, 0.0) == pytest.approx(float(exact_values().measure[name]), abs=4e-16)


# ------------------------------------------------------------------ subdivision


def test_margins_do_not_depend_on_k() -> None:
    rows = subdivision()
    assert [row.k for row in rows] == [1, 2, 4, 8, 16]
    for row in rows:
        assert (row.harmonic.chosen, row.harmonic.margin) == (1, F(-3, 29))
        assert (row.amle.chosen, row.amle.margin) == (3, F(1, 3))
        assert row.harmonic.computed == pytest.approx(-3 / 29, abs=1e-13)
        assert row.amle.computed == pytest.approx(1 / 3, abs=1e-13)


@given(labelled_graphs(max_vertices=6, lengths=["whole"]))
@pytest.mark.parametrize("solve", [exact_harmonic, exact_amle])
def test_subdivision_is_equivariant(solve, problem) -> None:
    """Old vertices: k times the value. New ones: linear between them. For any graph and labels."""
    graph, labels = problem
    values = [Fraction(float(round(4 * y))) / 4 for y in labels.values]
    rough = wf.Labels(labels.vertices, [float(value) for value in values])
    k = 3
    coarse = solve(graph, rough)
    fine = solve(graph.subdivide(k), wf.Labels(rough.vertices, k * rough.values))
    assert fine[: graph.num_vertices] == [k * value for value in coarse]
    once = np.flatnonzero(graph.tails < graph.indices)
    for edge, e in enumerate(once):
        first = graph.num_vertices + edge * (k - 1)
        ends = k * coarse[graph.tails[e]], k * coarse[graph.indices[e]]
        chain = [ends[0], *fine[first : first + k - 1], ends[1]]
        assert len({b - a for a, b in pairwise(chain)}) == 1


# ------------------------------------------------------------------ search

found = cache(search)


def test_figures_of_the_papers_draw() -> None:
    """588 candidates, seed 20260510. Exact with exit ties, no witness is left."""
    whole = found((4, 4))
    assert whole.tested == 588
    assert whole.counts == {"swept": 8, "exact": 2, "exit": 0}
    few = found((5, 5), 240)
    assert few.counts["exit"] == 0
    both = [set(some.witnesses["swept"]) & set(some.witnesses["exact"]) for some in (whole, few)]
    assert both == [set(), {21, 225}]


@pytest.mark.parametrize("lattice", [(4, 4), (5, 4), (5, 5), (1, 2), (2, 7)])
def test_candidates_are_what_they_are_said_to_be(monkeypatch, lattice) -> None:
    """Connected induced subgraphs, goal and one to four labels, at their true distance."""
    seen = []
    plain = contests
    monkeypatch.setattr(
        "wayfield_study.lattice_search.contests",
        lambda *args: seen.append(args) or plain(*args),
    )
    search(lattice, candidates=60)
    rows, columns = lattice
    for graph, labels, goal, names in seen:
        assert set(graph.components.tolist()) == {0}
        assert names.size == graph.num_vertices >= (rows * columns + 1) // 2
        cells = {(int(x) // columns, int(x) % columns) for x in names}
        beside = sum((r, c + 1) in cells for r, c in cells) + sum(
            (r + 1, c) in cells for r, c in cells
        )
        assert graph.is_unit
        assert graph.num_edges == beside
        place = np.column_stack([names % columns, rows - 1 - names // columns])
        assert np.array_equal(graph.positions, place)
        assert 2 <= len(labels) <= 5
        assert goal in labels.vertices
        assert np.array_equal(labels.values, wf.cost_to_go(graph, goal)[labels.vertices])
    assert len({len(labels) for _, labels, _, _ in seen}) == min(4, rows * columns - 1)


def exactly(witness: Witness, ties: str) -> Witness:
    """The same contest on fields computed in rationals; equal fractions are equal doubles."""
    graph, labels, goal = witness.graph, witness.labels, witness.goal
    fields = (exact_harmonic(graph, labels), exact_amle(graph, labels))
    plans = (wf.plan(graph, [float(v) for v in u], goal, "q", ties) for u in fields)
    return Witness(graph, labels, goal, witness.names, *plans)


@pytest.mark.parametrize("drawn", [((4, 4),), ((5, 5), 240)])
def test_witnesses_in_rationals(drawn) -> None:
    """Rounding decides none of them, and in rationals too exit ties leave none."""
    for way in ("exact", "swept"):
        for witness in found(*drawn).witnesses[way].values():
            exact = exactly(witness, TIES[way])
            assert np.array_equal(exact.harmonic_plan.reached, witness.harmonic_plan.reached)
            if way == "exact":
                assert np.array_equal(exact.amle_plan.reached, witness.amle_plan.reached)
                assert exact.harmonic_wins
            assert exactly(witness, "exit").amle_plan.reached.all()


def test_sweeps_end_as_the_paper_says() -> None:
    """No value would change by more than 1e-8 in the next sweep, and the field is near the AMLE."""
    for w in found((4, 4)).witnesses["swept"].values():
        u = w.amle_plan.values
        labelled = w.labels.mask(w.graph)
        for x in np.flatnonzero(~labelled):
            around = u[w.graph.neighbours(int(x))]
            assert abs(0.5 * (around.min() + around.max()) - u[x]) <= UPDATE
        assert u == pytest.approx(wf.extend(w.graph, w.labels, wf.AMLE()).values, abs=1e-6)


# ------------------------------------------------------------------ bad input
