"""The two entries of the AMLE's kernels on plain arrays: what is fixed, and what is proved."""

from __future__ import annotations

import gc
import weakref
from fractions import Fraction
from itertools import count, product

import numpy as np
import pytest

import wayfield as wf
from exact_amle import exact_amle
from wayfield.kernels._team import Team
from wayfield.kernels.amle import Bracket, Fixing, bracket, fix, stages
from wayfield.kernels.amle import fixing as fixing_module
from wayfield.kernels.amle.frames import UNFIXED
from wayfield.kernels.csr import Arcs
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
    out = Arcs(np.array([0, 1, 2, 2, 3]), np.array([1, 2, 0]), np.ones(3))
    into = Arcs(np.array([0, 1, 2, 3, 3]), np.array([3, 0, 1]), np.ones(3))
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


@pytest.mark.parametrize("most", [0, 3, 256])
@pytest.mark.parametrize("seed", range(24))
def test_segments_of_any_size_may_be_packed(
    seed: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By frames alone, on packed copies alone, or both: the same field and bracket."""
    graph, labels = problem(seed)
    exact = exact_amle(graph, labels)
    monkeypatch.setattr(fixing_module, "SMALL", most)
    fixing = solved(graph, labels)
    np.testing.assert_allclose(fixing.values, [float(v) for v in exact], rtol=0, atol=1e-14)
    found = bracket(graph.arcs, graph.reverse_arcs, fixing)
    assert holds(found, exact)
    assert max(found.below.max(), found.above.max()) <= 1e-20


@pytest.mark.parametrize("lengths", ["unit", "real"])
@pytest.mark.parametrize("directed", [False, True])
def test_packed_segments_agree_with_frames_on_larger_graphs(
    lengths: str, directed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    graph = random_graph(rng, 600, lengths, edges=900, directed=directed)
    labels = wf.Labels(rng.choice(600, 40, replace=False), rng.uniform(-1.0, 1.0, 40))
    values = np.zeros(600)
    values[labels.vertices] = labels.values
    fields = []
    for most in (0, 16, 256):
        monkeypatch.setattr(fixing_module, "SMALL", most)
        fixing = fix(graph.arcs, graph.reverse_arcs, labels.mask(graph), values, directed)
        assert fixing.finished
        fields.append(fixing.values)
    np.testing.assert_allclose(fields[1], fields[0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(fields[2], fields[0], rtol=0, atol=1e-14)


@pytest.mark.parametrize("lengths", ["unit", "whole", "real"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("seed", range(2))
def test_threads_change_nothing(
    lengths: str, directed: bool, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Solved in one piece, or divided among copies and threads: equal fields, bit by bit if the
    division is the same, and equal brackets."""
    rng = np.random.default_rng(seed)
    n = 300
    graph = random_graph(rng, n, lengths, edges=n, directed=directed)
    labels = wf.Labels(rng.choice(n, 20, replace=False), rng.uniform(-1.0, 1.0, 20))
    values = np.zeros(n)
    values[labels.vertices] = labels.values
    problem = graph.arcs, graph.reverse_arcs, labels.mask(graph), values, directed
    whole = fix(*problem)
    monkeypatch.setattr(fixing_module, "JOB", 20)
    divided = fix(*problem)
    np.testing.assert_allclose(divided.values, whole.values, rtol=0, atol=1e-14)
    assert divided.stretches.shape[0] > whole.stretches.shape[0]
    proof = bracket(graph.arcs, graph.reverse_arcs, divided)
    assert proof.width <= 1e-12
    for threads, groundwork in product((1, 2, 3), (False, True)):
        with Team(threads) as team:
            shared = fix(*problem, team, groundwork=groundwork)
            again = bracket(graph.arcs, graph.reverse_arcs, shared, team)
        for one, other in zip(divided[:-1], shared[:-1], strict=True):
            np.testing.assert_array_equal(one, other)
        for one, other in zip((*proof.field, *proof[1:]), (*again.field, *again[1:]), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("seed", range(24))
def test_copies_of_any_size_are_exact(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, labels = problem(seed)
    exact = exact_amle(graph, labels)
    monkeypatch.setattr(fixing_module, "JOB", 1 + seed % 5)
    fixing = solved(graph, labels)
    np.testing.assert_allclose(fixing.values, [float(v) for v in exact], rtol=0, atol=1e-14)
    found = bracket(graph.arcs, graph.reverse_arcs, fixing)
    assert holds(found, exact)
    assert max(found.below.max(), found.above.max()) <= 1e-20


@pytest.mark.parametrize("lengths", ["unit", "real"])
def test_a_hub_that_fits_no_copy(lengths: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few vertices, but more arcs than a copy or a packed segment has room for."""
    rng = np.random.default_rng(0)
    leaves, tail = 5000, 50
    n = 1 + leaves + tail
    tails = np.concatenate([np.zeros(leaves, int), np.arange(leaves, n - 1)])
    length = np.ones(n - 1) if lengths == "unit" else rng.lognormal(size=n - 1)
    graph = wf.Graph.from_edges(tails, np.arange(1, n), length)
    labelled = np.append(np.arange(1, leaves + 1), n - 1)
    values = np.zeros(n)
    values[labelled] = rng.uniform(0.3, 0.9, labelled.size)
    mask = wf.Labels(labelled, values[labelled]).mask(graph)
    whole = fix(graph.arcs, graph.reverse_arcs, mask, values, leave_flat=False)
    monkeypatch.setattr(fixing_module, "JOB", 20)
    divided = fix(graph.arcs, graph.reverse_arcs, mask, values, leave_flat=False)
    np.testing.assert_allclose(divided.values, whole.values, rtol=1e-14)


def test_a_copy_that_solves_many_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A cap on frames holds for each job, not for all that one thread happens to take."""
    monkeypatch.setattr(fixing_module, "JOB", 1)
    n = 5001
    path = wf.Graph.from_edges(np.arange(n - 1), np.arange(1, n))
    values = np.random.default_rng(0).uniform(-1.0, 1.0, n)
    mask = np.arange(n) % 2 == 0
    for threads in (1, 2):
        with Team(threads) as team:
            found = fix(path.arcs, path.reverse_arcs, mask, values, False, team)
        assert found.finished
        middle = 0.5 * (values[:-2:2] + values[2::2])
        np.testing.assert_allclose(found.values[1::2], middle, rtol=1e-14)


def test_a_vertex_with_more_arcs_than_are_packed() -> None:
    """The hub of a star: its steepest pair of arcs, among thousands."""
    leaves = 5000
    indices = np.concatenate([np.arange(1, leaves + 1), np.zeros(leaves, int)]).astype(np.int32)
    indptr = np.concatenate([[0], np.arange(leaves, 2 * leaves + 1)]).astype(np.int32)
    star = Arcs(indptr, indices, np.ones(2 * leaves))
    labelled = np.arange(leaves + 1) > 0
    values = np.linspace(0.0, 1.0, leaves + 1)
    assert fix(star, star, labelled, values, leave_flat=False).values[0] == 0.5 * (1 + 1 / leaves)


def many_stages(monkeypatch: pytest.MonkeyPatch) -> tuple[Arcs, Arcs, np.ndarray, np.ndarray, bool]:
    """A random graph that falls apart into many small jobs, one after another."""
    monkeypatch.setattr(fixing_module, "JOB", 20)
    rng = np.random.default_rng(3)
    graph = random_graph(rng, 400, "unit", edges=500)
    labels = wf.Labels(rng.choice(400, 30, replace=False), rng.uniform(-1.0, 1.0, 30))
    values = np.zeros(400)
    values[labels.vertices] = labels.values
    return graph.arcs, graph.reverse_arcs, labels.mask(graph), values, False


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("failing", [1, 2, 5])
def test_no_error_of_a_task_is_lost(
    threads: int, failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = many_stages(monkeypatch)
    calls, follow = count(1), stages.retrace

    def retrace(*given: object) -> bool:
        if next(calls) == failing:
            raise MemoryError("no room for this")
        return bool(follow(*given))

    with monkeypatch.context() as patched, Team(threads) as team:
        patched.setattr(stages, "retrace", retrace)
        with pytest.raises(MemoryError, match="no room for this"):
            fix(*problem, team, groundwork=True)
    with Team(threads) as team:
        assert fix(*problem, team, groundwork=True).ground is not None


def test_what_a_solve_held_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    """At once, not when cycles are looked for: fields are large."""
    problem = many_stages(monkeypatch)
    kept = []

    class Watched(stages.Laying):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)  # type: ignore[arg-type]
            kept.append(weakref.ref(self))

    monkeypatch.setattr(fixing_module, "Laying", Watched)
    gc.collect()
    gc.disable()
    try:
        with Team(2) as team:
            fix(*problem, team, groundwork=True)
        assert kept[0]() is None
    finally:
        gc.enable()
