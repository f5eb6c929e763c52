"""Prior fields: prior + extension of (labels - prior), with brackets that stay rigorous."""

from __future__ import annotations

from fractions import Fraction
from unittest import mock

import numpy as np
import pytest

import exact_amle
import wayfield as wf
from exact import contains, exact_harmonic
from methods import choose, methods
from wayfield.fields import Method
from worlds import random_graph


def world(seed: int, directed: bool = False, n: int = 12) -> tuple[wf.Graph, np.random.Generator]:
    """A connected graph with odd lengths, and the generator it came from."""
    rng = np.random.default_rng(seed)
    return random_graph(rng, n, "real", backbone="tree", edges=n, directed=directed), rng


def uneven(seed: int, directed: bool = False) -> tuple[wf.Graph, wf.Labels, np.ndarray]:
    """A world whose labels less the prior cannot be had without rounding."""
    graph, rng = world(seed, directed)
    prior = rng.normal(size=graph.num_vertices) * 10.0 ** rng.integers(-3, 4, graph.num_vertices)
    labels = wf.Labels(rng.choice(graph.num_vertices, 4, replace=False), rng.normal(size=4))
    return graph, labels, prior


def exact_differences(labels: wf.Labels, prior: np.ndarray) -> dict[int, Fraction]:
    pairs = zip(labels.vertices, labels.values, strict=True)
    return {int(x): Fraction(float(y)) - Fraction(float(prior[x])) for x, y in pairs}


# ------------------------------------------------------------------ what it is


@methods()
def test_labels_that_agree_give_back_the_prior_exactly(method: Method) -> None:
    for seed in range(20):
        graph, rng = world(seed)
        prior = rng.normal(size=graph.num_vertices) * 1e3
        vertices = rng.choice(graph.num_vertices, 3, replace=False)
        field = wf.extend(graph, wf.Labels(vertices, prior[vertices]), method, prior=prior)
        assert np.array_equal(field.values, prior)
        if field.lower is not None:
            assert field.width == 0.0


@pytest.mark.parametrize("fill", [None, "cost", "flat"])
def test_on_a_directed_graph_too(fill: str | None) -> None:
    for seed in range(50):
        graph, rng = world(seed, directed=True)
        truth = wf.cost_to_go(graph, 0)
        finite = np.flatnonzero(np.isfinite(truth))
        vertices = np.union1d([0], rng.choice(finite, 3))
        labels = wf.Labels(vertices, truth[vertices])
        field = wf.extend(graph, labels, wf.AMLE(fill=fill), prior=truth)
        assert np.array_equal(field.values, truth)
        assert field.lower is not None
        assert field.width == 0.0


@methods(sloped=False)
def test_it_is_the_prior_plus_the_extended_difference(method: Method) -> None:
    graph, labels, prior = uneven(3)
    difference = wf.Labels(labels.vertices, labels.values - prior[labels.vertices])
    apart = prior + wf.extend(graph, difference, method).values
    field = wf.extend(graph, labels, method, prior=prior)
    free = ~labels.mask(graph)
    assert np.array_equal(field.values[free], apart[free])
    assert np.array_equal(field.values[labels.vertices], labels.values)


def test_a_correction_has_no_slope_of_its_own() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    labels = wf.Labels([0, 2], [0.0, 4.0])
    for method in (wf.AMLE(), wf.AMLE(fill="cost"), wf.McShane(), wf.Whitney()):
        field = wf.extend(path, labels, method, prior=np.arange(5.0))
        assert field.values[:3].tolist() == [0.0, 2.0, 4.0]
    field = wf.extend(path, labels, wf.AMLE(fill="cost"), prior=np.arange(5.0))
    assert field.values.tolist() == [0.0, 2.0, 4.0, 5.0, 6.0]
    assert field.method == wf.AMLE(fill="flat")


def test_an_extension_says_what_it_stands_on() -> None:
    path, ends = wf.Graph.from_edges([0, 1], [1, 2]), wf.Labels([0], [0.0])
    assert wf.extend(path, ends, wf.Harmonic()).prior is None
    assert wf.extend_many(path, [ends], wf.Harmonic())[0].prior is None
    field = wf.extend(path, ends, wf.Harmonic(), prior=[0.0, 1.0, 2.0])
    assert field.prior is not None
    assert field.prior.tolist() == [0.0, 1.0, 2.0]
    assert not field.prior.flags.writeable


def test_labels_correct_a_wrong_graph() -> None:
    """The graph says every step costs 1; the far half of the world costs 3."""
    path = wf.Graph.from_edges(range(8), range(1, 9))
    true = wf.Graph.from_edges(range(8), range(1, 9), [1.0] * 4 + [3.0] * 4)
    truth, prior = wf.cost_to_go(true, 0), wf.cost_to_go(path, 0)
    labels = wf.Labels([0, 4, 8], truth[[0, 4, 8]])
    assert np.array_equal(wf.extend(path, labels, wf.AMLE(), prior=prior).values, truth)


# ------------------------------------------------------------------ its bracket


def test_harmonic_brackets_contain_exact_rationals() -> None:
    rounded = 0
    for seed in range(60):
        graph, labels, prior = uneven(seed)
        at = wf.Labels(labels.vertices, prior[labels.vertices])
        ours, theirs = exact_harmonic(graph, labels), exact_harmonic(graph, at)
        exact = [Fraction(float(p)) + a - b for p, a, b in zip(prior, ours, theirs, strict=True)]
        field = wf.extend(graph, labels, wf.Harmonic(), prior=prior)
        assert contains(field, exact)
        assert (field.lower <= field.values).all()
        assert (field.values <= field.upper).all()
        rounded += field.width > 0
    assert rounded > 50  # the test is about rounding


@pytest.mark.parametrize("directed", [False, True])
def test_amle_brackets_contain_exact_rationals(directed: bool) -> None:
    brackets = 0
    for seed in range(150):
        graph, labels, prior = uneven(seed, directed)
        given = exact_differences(labels, prior)
        with mock.patch.object(exact_amle, "_labelled", lambda _, given=given: dict(given)):
            correction = (
                exact_amle.exact_directed_amle(graph, labels, fill="flat")
                if directed
                else exact_amle.exact_amle(graph, labels)
            )
        field = wf.extend(graph, labels, wf.AMLE(), prior=prior)
        if field.lower is None:
            continue
        brackets += 1
        for x, change in enumerate(correction):
            if change == float("inf"):
                assert field.values[x] == field.lower[x] == field.upper[x] == np.inf
                continue
            exact = Fraction(float(prior[x])) + change
            assert Fraction(float(field.lower[x])) <= exact <= Fraction(float(field.upper[x]))
            assert field.lower[x] <= field.values[x] <= field.upper[x]
    assert brackets > 120


def test_without_the_widening_a_bracket_would_be_wrong() -> None:
    """1 - 1e-30 rounds to 1; between two labels that agree with the prior there is no slack."""
    path = wf.Graph.from_edges([0, 1], [1, 2])
    prior = np.array([1e-30, 0.0, 1e-30])
    for method in choose(bracket=True):
        field = wf.extend(path, wf.Labels([0, 2], [1.0, 1.0]), method, prior=prior)
        assert field.lower is not None
        assert field.upper is not None
        exact = 1 - Fraction(1e-30)
        assert Fraction(float(field.lower[1])) <= exact <= Fraction(float(field.upper[1]))
        assert field.width <= 4e-16


# ------------------------------------------------------------------ infinities


def test_plus_infinity_stays() -> None:
    graph = wf.Graph.from_edges([0, 1, 3], [1, 2, 0], directed=True)
    truth = wf.cost_to_go(graph, 1)  # 2 cannot reach it
    field = wf.extend(graph, wf.Labels([1, 0], [0.0, 2.0]), wf.AMLE(), prior=truth)
    assert field.values.tolist() == [2.0, 0.0, np.inf, 3.0]
    path = wf.Graph.from_edges([0, 1], [1, 2], num_vertices=4)
    for method in choose():
        field = wf.extend(
            path,
            wf.Labels([0], [1.0]),
            method,
            prior=[0.0, np.inf, 2.0, np.inf],
            unreachable="nan",
        )
        assert field.values.tolist() == [1.0, np.inf, 3.0, np.inf]


def test_no_label_in_reach_is_still_infinite() -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    field = wf.extend(graph, wf.Labels([1], [1.0]), wf.AMLE(), prior=[5.0, 4.0, 3.0])
    assert field.values.tolist() == [2.0, 1.0, np.inf]


# ------------------------------------------------------------------ many at once


@methods(bracket=True)
def test_many_as_single_calls(method: Method) -> None:
    graph, rng = world(5, n=30)
    goals = [0, 7, 9, 20]
    sets = [wf.sample_labels(graph, goal, count=6, seed=1) for goal in goals]
    noisy = [wf.Labels(s.vertices, s.values * 1.5 + rng.random(len(s))) for s in sets]
    priors = [wf.cost_to_go(graph, goal) for goal in goals]
    for prior in (priors, np.array(priors), priors[0]):
        many = wf.extend_many(graph, noisy, method, prior=prior)
        for i, (labels, field) in enumerate(zip(noisy, many, strict=True)):
            own = priors[0] if prior is priors[0] else priors[i]
            one = wf.extend(graph, labels, method, prior=own)
            np.testing.assert_allclose(field.values, one.values, rtol=0, atol=1e-12)
            assert (field.lower <= one.upper).all()
            assert (one.lower <= field.upper).all()
            assert field.method == one.method
            assert np.array_equal(field.prior, own)


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.0, 1.0], "prior has 2 entries, expected 3"),
        ([[0.0, 1.0, 2.0]], "prior must be one-dimensional"),
        ([0.0, np.nan, 1.0], r"prior\[1\] = nan is neither a number nor \+inf"),
        ([0.0, -np.inf, 1.0], r"prior\[1\] = -inf"),
        ([0.0, 1.0, np.inf], r"prior\[2\] must be finite at the label of vertex 2"),
        ([0.0, 1e101, 1.0], r"prior\[1\] = 1e\+101 is beyond"),
        (["a", "b", "c"], "prior must be real numbers"),
    ],
)
def test_bad_priors_are_named(prior: object, message: str) -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(wf.InputError, match=message):
        wf.extend(path, wf.Labels([0, 2], [0.0, 2.0]), wf.AMLE(), prior=prior)


def test_bad_priors_of_many_are_named() -> None:
    path = wf.Graph.from_edges([0, 1], [1, 2])
    sets = [wf.Labels([0], [0.0]), wf.Labels([2], [2.0])]
    with pytest.raises(wf.InputError, match="prior must have 2 rows, got 3"):
        wf.extend_many(path, sets, wf.AMLE(), prior=np.zeros((3, 3)))
    with pytest.raises(wf.InputError, match=r"labels_list\[1\]: prior\[2\] must be finite"):
        wf.extend_many(path, sets, wf.AMLE(), prior=[0.0, 1.0, np.inf])
    with pytest.raises(wf.InputError, match="beyond"):
        wf.extend(path, wf.Labels([0], [1e100]), wf.AMLE(), prior=[-1e100, 0.0, 0.0])
