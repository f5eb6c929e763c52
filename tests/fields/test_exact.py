"""Every method that has a bracket, on worlds of every shape, beside its exact twin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import exact_amle as twin
import wayfield as wf
from exact import contains, exact_harmonic
from exact_amle import exact_amle, exact_directed_amle
from exact_plaplacian import contains as contains_in_60_digits
from exact_plaplacian import exact_plaplacian
from methods import choose
from wayfield.fields import Extension, Method, linear
from wayfield.fields.amle.kernels import divide
from wayfield.numerics import proof_file
from wayfield_verify import verify
from worlds import ANY_VALUE, BACKBONES, LENGTHS, VALUES, network, random_graph, small_problems

SHAPES = [*BACKBONES, "cycle", "any"]
SPREADS = {"unit": 0, "whole": 0, "real": 0, "wide": 4, "wild": 12, "hostile": 28}
"""Kinds of lengths, and how many orders they are apart."""
EXACT = [
    each for each in choose(bracket=True) if each not in (wf.AMLE(fill="flat"), wf.PLaplacian(2))
]
WAYS = {
    "as chosen": None,
    "the AMLE by iteration": (divide, "FEW_UNLABELLED", 0),
    "systems by iteration": (linear.Interior, "factors_well", False),
}
"""How to solve: the usual way, and ways that are otherwise taken on large graphs only."""


def lengths_of(kind: str) -> Any:
    return LENGTHS.get(kind, lambda rng, m: 10.0 ** rng.uniform(-14.0, 14.0, m))


def world(shape: str, kind: str, seed: int, n: int, directed: bool = False) -> Any:
    """A connected graph with labels, of values that tie, and of others."""
    rng = np.random.default_rng([seed, SHAPES.index(shape), list(SPREADS).index(kind)])
    lengths = lengths_of(kind)
    if shape == "cycle":
        around = np.arange(n), (np.arange(n) + 1) % n
        graph = wf.Graph.from_edges(*around, lengths(rng, n), directed=directed)
    else:
        backbone, extra = ("tree", 2 * n) if shape == "any" else (shape, seed % 2 * n // 2)
        graph = random_graph(rng, n, lengths, backbone=backbone, edges=extra, directed=directed)
    count = int(rng.integers(1 + (n > 4), max(3, n // 2)))
    values = VALUES[ANY_VALUE[seed] if seed < 5 else sorted(VALUES)[seed % len(VALUES)]](rng, count)
    return graph, wf.Labels(rng.choice(n, count, replace=False), values)


def exact_field(graph: wf.Graph, labels: wf.Labels, method: Method, start: Any) -> Sequence[Any]:
    if isinstance(method, wf.AMLE):
        fill = method.fill or ("cost" if graph.directed else "flat")
        plain = fill == "flat" and not graph.directed
        return exact_amle(graph, labels) if plain else exact_directed_amle(graph, labels, fill)
    if isinstance(method, wf.Harmonic):
        return exact_harmonic(graph, labels)
    return exact_plaplacian(graph, labels, method.p, start)


def check(field: Extension, exact: Sequence[Any], kind: str) -> None:
    """The bracket holds the exact field, is narrow, holds the values, and keeps the labels."""
    labels, method = field.labels, field.method
    power = isinstance(method, wf.PLaplacian)
    room = np.spacing(np.abs(field.values[np.isfinite(field.values)]).max())
    if field.lower is not None:
        assert (contains_in_60_digits if power else contains)(field, exact)
        known = np.isfinite(field.values)
        assert (field.lower <= field.values)[known].all()
        assert (field.values <= field.upper)[known].all()
    assert (field.values[labels.vertices] == labels.values).all()
    if SPREADS[kind] <= 4:
        assert field.status is wf.Status.CONVERGED
        assert field.lower is not None
        linear_width = 0.0 if not (power or isinstance(method, wf.AMLE)) else 1e-11 * labels.span
        assert field.width <= linear_width + 8 * room or labels.span == 0.0 == field.width
        assert field.residual <= 1e-12 * labels.span + 8 * room
    elif field.lower is None:
        assert field.status is wf.Status.UNVERIFIED
    if isinstance(method, wf.AMLE):
        error = [
            abs(Fraction(value) - true)
            for value, true in zip(field.values.tolist(), exact, strict=True)
            if np.isfinite(value)
        ]
        size = float(max(map(abs, filter(np.isfinite, map(float, exact)))))
        assert max(error) <= 1e-12 * max(labels.span, size) + room


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if (patch := WAYS[request.param]) is not None:
        monkeypatch.setattr(*patch)
    return str(request.param)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("method", EXACT, ids=str)
def test_brackets_hold_the_exact_field(method: Method, shape: str, way: str) -> None:
    power, iterates = isinstance(method, wf.PLaplacian), method == wf.AMLE()
    if way != "as chosen" and iterates != ("AMLE" in way):
        pytest.skip("this way is for other methods")
    iterated = 0
    for kind in SPREADS:
        if power and SPREADS[kind]:
            continue  # beyond the reference
        for seed in range(2 if power else 7):
            graph, labels = world(shape, kind, seed, 7 if power else 5 + 3 * seed)
            field = wf.extend(graph, labels, method, check=SPREADS[kind] <= 4)
            check(field, exact_field(graph, labels, method, field.values), kind)
            iterated += field.details.get("rounds", 0) > 0
    assert iterated > 0 or "AMLE" not in way or shape != "any"


@pytest.mark.parametrize("shape", ["any", "cycle"])
@pytest.mark.parametrize("fill", ["cost", "flat"])
def test_brackets_hold_the_exact_directed_field(fill: str, shape: str) -> None:
    for kind in SPREADS:
        for seed in range(12):
            graph, labels = world(shape, kind, seed, 6 + 2 * seed, directed=True)
            field = wf.extend(graph, labels, wf.AMLE(fill=fill), check=SPREADS[kind] <= 4)
            check(field, exact_directed_amle(graph, labels, fill), kind)


@pytest.mark.parametrize("method", EXACT, ids=str)
def test_every_bracket_is_proved_by_the_checker(method: Method, tmp_path: Path) -> None:
    for seed, (shape, kind) in enumerate(product(SHAPES, ("unit", "real"))):
        graph, labels = world(shape, kind, seed, 12)
        given = wf.extend(graph, labels, method, prior=np.arange(12) / 3.0 if seed % 3 else None)
        report = verify(given.write_proof(tmp_path / "field.proof"))
        assert report


@pytest.mark.parametrize(("most", "width"), [(0, 1), (255, 1), (256, 2), (65_536, 4), (2**32, 8)])
def test_a_proof_counts_in_as_few_bytes_as_hold_the_largest(most: int, width: int) -> None:
    _, payload = proof_file.counts("test", np.array([0, most]))
    assert bytes(payload) == bytes(width) + most.to_bytes(width, "little")


@pytest.mark.parametrize("method", choose(bracket=True), ids=str)
def test_without_a_bracket_the_field_is_the_same(method: Method) -> None:
    plain = {wf.AMLE: wf.AMLE, wf.Harmonic: wf.Harmonic, wf.PLaplacian: wf.PLaplacian}[type(method)]
    settings = {"fill": method.fill} if plain is wf.AMLE else {}
    settings |= {"p": method.p} if plain is wf.PLaplacian else {}
    for seed in range(16):
        graph, labels = world("any", ("unit", "real")[seed % 2], seed, 20)
        field = wf.extend(graph, labels, plain(bracket=False, **settings))
        proved = wf.extend(graph, labels, method)
        assert field.lower is field.upper is None
        room = proved.width + 1e-11 * labels.span + 4 * np.spacing(np.abs(labels.values).max())
        np.testing.assert_allclose(field.values, proved.values, rtol=0, atol=room)
        again = wf.extend(graph, labels, method)
        for one, other in ((proved.values, again.values), (proved.lower, again.lower)):
            assert np.array_equal(one, other)


# ------------------------------------------------------------------ priors


def uneven(seed: int, directed: bool) -> tuple[wf.Graph, wf.Labels, np.ndarray]:
    """A world whose labels less the prior cannot be had without rounding."""
    rng = np.random.default_rng(seed)
    graph = random_graph(rng, 12, "real", backbone="tree", edges=12, directed=directed)
    prior = rng.normal(size=12) * 10.0 ** rng.integers(-3, 4, 12)
    return graph, wf.Labels(rng.choice(12, 4, replace=False), rng.normal(size=4)), prior


@pytest.mark.parametrize(
    ("method", "directed"), [(wf.Harmonic(), False), (wf.AMLE(), False), (wf.AMLE(), True)]
)
def test_brackets_of_corrected_priors_hold_the_exact_sum(method: Method, directed: bool) -> None:
    rounded = 0
    for seed in range(100):
        graph, labels, prior = uneven(seed, directed)
        pairs = zip(labels.vertices.tolist(), labels.values.tolist(), strict=True)
        given = {x: Fraction(y) - Fraction(float(prior[x])) for x, y in pairs}
        if isinstance(method, wf.Harmonic):  # which is linear
            at = wf.Labels(labels.vertices, prior[labels.vertices])
            ours, theirs = exact_harmonic(graph, labels), exact_harmonic(graph, at)
            correction = [a - b for a, b in zip(ours, theirs, strict=True)]
        else:
            with mock.patch.object(twin, "_labelled", lambda _, given=given: dict(given)):
                flat = wf.AMLE(fill="flat")  # a correction has no slope of its own
                correction = exact_field(graph, labels, flat, None)
        field = wf.extend(graph, labels, method, prior=prior)
        pairs = zip(map(Fraction, prior.tolist()), correction, strict=True)
        exact = [about + change if change < np.inf else np.inf for about, change in pairs]
        assert contains(field, exact)
        known = np.isfinite(field.values)
        assert np.array_equal(known, [value < np.inf for value in exact])
        assert (field.lower <= field.values)[known].all()
        assert (field.values <= field.upper)[known].all()
        rounded += field.width > 0
    assert rounded > 80  # the test is about rounding


def test_without_the_widening_a_bracket_would_be_wrong() -> None:
    """1 - 1e-30 rounds to 1; between two labels that agree with the prior there is no slack."""
    path = wf.Graph.from_edges([0, 1], [1, 2])
    for method in choose(bracket=True):
        field = wf.extend(path, wf.Labels([0, 2], [1, 1]), method, prior=[1e-30, 0.0, 1e-30])
        assert contains(field, [1, 1 - Fraction(1e-30), 1])
        assert field.width <= 4e-16


# ------------------------------------------------------------------ nearest label, envelopes


def naive(graph: wf.Graph, labels: wf.Labels) -> Iterator[list[tuple[float, int, float]]]:
    """Distance, vertex and value of every label in reach of each vertex."""
    distance = dict(nx.all_pairs_dijkstra_path_length(network(graph)))
    labelled = list(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    for x in range(graph.num_vertices):
        yield [(distance[x][z], z, value) for z, value in labelled if z in distance[x]]


@given(small_problems(), st.integers(0, 60))
def test_envelopes_and_nearest_labels_are_their_naive_twins(problem: Any, constant: int) -> None:
    graph, labels = problem
    seen = list(naive(graph, labels))
    nearest = wf.extend(graph, labels, wf.NearestLabel(), unreachable="nan").values
    np.testing.assert_array_equal(nearest, [min(each)[2] if each else np.nan for each in seen])
    height = dict(zip(labels.vertices.tolist(), labels.values.tolist(), strict=True))
    steepest = max([0.0, *((y - height[x]) / d for x in height for d, z, y in seen[x] if z != x)])
    for kind, sign in ((wf.McShane, 1.0), (wf.Whitney, -1.0)):
        for slope in (constant, None):
            if slope is not None and steepest > slope:
                with pytest.raises(wf.InputError, match=f"must be {slope}-Lipschitz"):
                    wf.extend(graph, labels, kind(slope), unreachable="nan")
                continue
            field = wf.extend(graph, labels, kind(slope), unreachable="nan")
            used = field.details["lipschitz"]
            assert used == pytest.approx(steepest if slope is None else slope, rel=1e-13)
            cones = [[sign * y + used * d for d, _, y in each] for each in seen]
            expected = [sign * min(each) if each else np.nan for each in cones]
            np.testing.assert_allclose(field.values, expected, rtol=0, atol=1e-11)
            assert (field.values[labels.vertices] == labels.values).all()
            assert slope is None or field.residual == 0.0


@pytest.mark.parametrize("offset", [0.0, 1e6, -1e12])
def test_the_steepest_slope_survives_rounding_and_offsets(offset: float) -> None:
    rng = np.random.default_rng(5)
    graph = random_graph(rng, 40, "real", edges=80)
    labels = wf.Labels(rng.choice(40, 12, replace=False), rng.random(12) + offset)
    field = wf.extend(graph, labels, wf.McShane(None), unreachable="nan")
    seen, at = list(naive(graph, labels)), labels.vertices.tolist()
    rises = [
        (y - value) / d
        for x, value in zip(at, labels.values.tolist(), strict=True)
        for d, z, y in seen[x]
        if z != x
    ]
    assert field.details["lipschitz"] == pytest.approx(max(rises), rel=1e-9)
    assert field.iterations < 20


def test_envelopes_with_true_labels_and_with_equal_ones() -> None:
    graph = random_graph(np.random.default_rng(0), 60, "real", backbone="tree", edges=200)
    labels = wf.sample_labels(graph, goal=7, fraction=0.2, seed=1)
    field = wf.extend(graph, labels, wf.McShane())
    np.testing.assert_allclose(field.values, wf.cost_to_go(graph, 7), rtol=1e-14)
    # rounding of long sums is no violation
    n = 5001
    path = wf.Graph.from_edges(np.arange(n - 1), np.arange(1, n), np.full(n - 1, 0.1))
    there, back = wf.cost_to_go(path, 0), wf.cost_to_go(path, n - 1)
    labels = wf.Labels([0, 2500, n - 1], [0.0, back[0] - back[2500], there[-1]])
    field = wf.extend(path, labels, wf.McShane())
    assert 0.0 <= field.residual < 1e-9
    assert (field.values[labels.vertices] == labels.values).all()
    equal = wf.extend(path, wf.Labels([0, n - 1], [7.0, 7.0]), wf.Whitney(None))
    assert equal.details["lipschitz"] == 0.0
    assert (equal.values == 7.0).all()


def test_of_equally_near_labels_the_lowest_vertex_counts() -> None:
    star = wf.Graph.from_edges([4, 4, 4, 4], [0, 1, 2, 3], lengths=[2.0, 1.0, 1.0, 1.0])
    labels = wf.Labels([3, 2, 0], [30.0, 20.0, 0.0])
    assert wf.extend(star, labels, wf.NearestLabel()).values.tolist() == [0, 20, 20, 30, 20]
