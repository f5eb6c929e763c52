"""What every mend method does: one table, and the tests that all of them must pass."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import wayfield as wf
from wayfield import travel
from wayfield.fields import describe
from wayfield.travel import MendMethod
from wayfield.travel.fitting import make_problem
from wayfield.travel.selection import CANDIDATES, METHODS
from worlds import random_graph

TABLE: dict[str, MendMethod] = {
    "named": travel.Named(),
    "best": travel.Best(),
    "factor": travel.Factor(),
    "factor-and-waits": travel.Factor(waits=True),
    "smooth": travel.Smooth(),
    "both": travel.Both(),
    "no-shortcuts": travel.NoShortcuts(),
    "least-change": travel.LeastChange(),
    "least-change-all": travel.LeastChange(only_odd=None),
}
"""Every mend method by its word on the command line; a new one needs a row here."""

every = pytest.mark.parametrize("method", [*TABLE.values(), *CANDIDATES], ids=describe)
both_kinds = pytest.mark.parametrize("directed", [False, True], ids=["edges", "arcs"])


def contradicted(directed: bool) -> tuple[wf.Graph, wf.Labels]:
    """A ladder with a false shortcut, which labels contradict."""
    rails = [(x, x + 1) for x in range(9)] + [(10 + x, 11 + x) for x in range(9)]
    ends = np.array([*rails, *((x, 10 + x) for x in range(10)), (0, 19)])
    if directed:
        ends = np.concatenate([ends, ends[:, ::-1]])
    graph = wf.Graph.from_edges(*ends.T, directed=directed)
    return graph, wf.Labels([0, 4, 8, 12, 15, 19], [0.0, 4.0, 8.0, 3.0, 6.0, 10.0])


def test_the_table_is_complete() -> None:
    assert list(METHODS) == list(TABLE)
    for word, method in TABLE.items():
        assert describe(METHODS[word]) == describe(method)
        assert getattr(travel, type(method).__name__) is type(method)


@every
@both_kinds
def test_lengths_are_valid_and_the_same_every_time(method: MendMethod, directed: bool) -> None:
    graph, labels = contradicted(directed)
    first, again = (travel.mend(graph, labels, 0, method) for _ in range(2))
    lengths = first.graph.lengths
    assert (np.isfinite(lengths) & (lengths > 0)).all()
    np.testing.assert_array_equal(lengths, again.graph.lengths)
    assert first.status.good
    assert first.value >= first.bound
    if not directed:
        np.testing.assert_array_equal(lengths, lengths[first.problem.into])


@every
def test_costs_are_met_better_than_before(method: MendMethod) -> None:
    graph, labels = contradicted(directed=False)
    mended = travel.mend(graph, labels, 0, method)
    fit = mended.facts()["misfit"]
    assert fit["mended"] <= fit["believed"]
    assert mended.unchanged or fit["mended"] < fit["believed"]


@every
@pytest.mark.parametrize("seed", range(3))
def test_a_right_graph_is_left_alone(method: MendMethod, seed: int) -> None:
    graph = random_graph(np.random.default_rng(seed), 40, backbone="tree", lengths="spread")
    labels = wf.sample_labels(graph, 0, count=8, seed=seed)
    mended = travel.mend(graph, labels, 0, method)
    if all(step.reads_costs for step in method.steps):
        np.testing.assert_allclose(mended.graph.lengths, graph.lengths, rtol=1e-6)


@every
def test_it_says_truly_what_it_reads(method: MendMethod) -> None:
    graph, labels = contradicted(directed=False)
    if not all(step.reads_bounds for step in method.steps):
        bare = method.steps[0]
        assert travel.mend(graph, labels, 0, bare, bound="upper").unchanged
    if not method.reads_costs:
        other = wf.Labels(labels.vertices, labels.values * [0.0, 2.0, 3.0, 1.0, 5.0, 4.0])
        one, two = (travel.mend(graph, each, 0, method).graph.lengths for each in (labels, other))
        np.testing.assert_array_equal(one, two)


@every
def test_settings_are_frozen_hashable_and_quick_ones_are_of_the_same_kind(
    method: MendMethod,
) -> None:
    assert isinstance(hash(method), int)
    assert type(method.quick()) is type(method)
    assert describe(pickle.loads(pickle.dumps(method))) == describe(method)
    assert method.steps
    assert make_problem(*contradicted(False), 0).costs.size == 5


@every
def test_a_summary_says_what_was_found(method: MendMethod) -> None:
    graph, labels = contradicted(directed=False)
    mended = travel.mend(graph, labels, 0, method)
    lines = dict(line.split(maxsplit=1) for line in mended.summary().splitlines())
    assert lines["found"] == mended.finding()
    assert lines["against"].startswith(
        "3 of 6 labels exceed the graph's shortest paths, by up to 9"
    )


def test_a_summary_of_trips() -> None:
    graph, labels = contradicted(directed=True)
    trips = travel.Trips(labels.vertices[1:], np.zeros(5, int), labels.values[1:])
    mended = travel.mend(graph, trips, method=travel.LeastChange())
    assert "5 trips to 1 end, costs 3 to 10" in mended.summary()
    seconds = travel.mend(graph, travel.Trips([4], [0], [400.0]), method=travel.LeastChange())
    assert "If not, multiply the lengths by 100" in seconds.summary()


def test_speeds_for_osrm_are_checked() -> None:
    graph, labels = contradicted(directed=False)
    mended = travel.mend(graph, labels, 0, travel.LeastChange())
    with pytest.raises(wf.InputError, match="ids must be 20 whole numbers"):
        mended.osrm_speeds([1.5] * 20, np.ones(graph.num_arcs))
    with pytest.raises(wf.InputError, match="metres has 1 entries"):
        mended.osrm_speeds(range(20), [1.0])
    with pytest.raises(wf.InputError, match="the median speed would be 3,600 km/h"):
        mended.osrm_speeds(range(20), 1000.0 * np.ones(graph.num_arcs))
