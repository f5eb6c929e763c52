"""Terrain, arrows and teleports as graphs."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfield as wf
from wayfield import Layout, grid_graph
from worlds import arcs, layouts, network

WAYS = {">": (0, 1), "<": (0, -1), "v": (1, 0), "^": (-1, 0)}
BACK = {">": "<", "<": ">", "v": "^", "^": "v"}


def naive_arcs(layout: Layout, refinement: int) -> dict[tuple[int, int], float]:
    """Arcs and their lengths, by looking at every vertex and every way."""
    rows, columns = layout.shape
    places = [
        place
        for place in product(range(rows * refinement), range(columns * refinement))
        if layout.free[place[0] // refinement, place[1] // refinement]
    ]
    number = {place: index for index, place in enumerate(places)}
    arcs = {}
    for (row, column), (way, (down, right)) in product(places, WAYS.items()):
        there = row + down, column + right
        if there not in number:
            continue
        tail = row // refinement, column // refinement
        head = there[0] // refinement, there[1] // refinement
        against = BACK[way] in (layout.arrows[tail], layout.arrows[head])
        sideways_out = tail != head and layout.arrows[tail] not in ("", way)
        if not against and not sideways_out:
            length = (layout.costs[tail] + layout.costs[head]) / 2
            arcs[number[row, column], number[there]] = float(length)
    for (entry, out), i, j in product(layout.teleports, range(refinement), range(refinement)):
        ends = [number[cell[0] * refinement + i, cell[1] * refinement + j] for cell in (entry, out)]
        arcs[ends[0], ends[1]] = float(layout.costs[entry] + layout.costs[out]) / 2
    return arcs


def cells_of(layout: Layout, refinement: int) -> np.ndarray:
    """Cell of every vertex, numbered as the vertices are without refinement."""
    number = np.full(layout.shape, -1)
    number[layout.free] = np.arange(layout.num_free)
    fine = number.repeat(refinement, axis=0).repeat(refinement, axis=1)
    return fine[fine >= 0]


@settings(max_examples=40, deadline=None)
@given(layout=layouts(max_side=5), refinement=st.integers(1, 3))
def test_same_arcs_as_the_naive_loop(layout: Layout, refinement: int) -> None:
    graph = grid_graph(layout, refinement)
    assert arcs(graph) == naive_arcs(layout, refinement)
    assert graph.directed == layout.directed
    assert graph.num_vertices == layout.num_free * refinement**2


@settings(max_examples=40, deadline=None)
@given(layout=layouts(max_side=5, max_teleports=0), refinement=st.integers(2, 3))
def test_refinement_keeps_what_can_reach_what(layout: Layout, refinement: int) -> None:
    """A vertex reaches every vertex of another cell if its cell reaches that cell, else none."""
    coarse = network(grid_graph(layout))
    fine = network(grid_graph(layout, refinement))
    cell = cells_of(layout, refinement)
    ahead = {x: nx.descendants(coarse, x) for x in coarse}
    for x in fine:
        found = nx.descendants(fine, x)
        others = {y for y in fine if cell[y] in ahead[cell[x]] and cell[y] != cell[x]}
        assert {y for y in found if cell[y] != cell[x]} == others


@pytest.mark.parametrize("refinement", [1, 2, 5])
@pytest.mark.parametrize("turns", range(4))
def test_arrow_cell_is_crossed_one_way(refinement: int, turns: int) -> None:
    """Into the middle from behind and from the sides, out of it only ahead."""
    arrow = ">^<v"[turns]
    arrows = np.full((3, 3), "")
    arrows[1, 1] = arrow
    free = np.array([[False, True, False], [True, True, True], [False, True, False]])
    graph = grid_graph(Layout("cross", free, arrows=arrows), refinement)
    cell = np.array(["up", "left", "middle", "right", "down"])[
        cells_of(Layout("cross", free), refinement)
    ]
    sides = ["right", "up", "left", "down"]
    front = sides[turns]
    twin = network(graph)
    for x in twin:
        found = set(cell[list(nx.descendants(twin, x))]) - {cell[x]}
        if cell[x] == front:
            assert found == set()
        elif cell[x] == "middle":
            assert found == {front}
        else:
            assert found == {"middle", front}


def test_terrain_is_undirected_and_costs_the_mean_of_its_cells() -> None:
    graph = grid_graph(Layout.from_text(".39"))
    assert not graph.directed
    assert arcs(graph) == {(0, 1): 2, (1, 0): 2, (1, 2): 6, (2, 1): 6}


def test_refined_terrain_costs_as_much_per_cell() -> None:
    graph = grid_graph(Layout.from_text(".3.."), 5)
    middles = [2 * 20 + 5 * cell + 2 for cell in range(4)]
    cost = wf.cost_to_go(graph, middles[0])
    np.testing.assert_array_equal(cost[middles], [0, 10, 20, 25])


def test_costs_of_one_leave_the_graph_as_it_is() -> None:
    plain = wf.load_layout("large")
    same = Layout("large", plain.free, np.ones(plain.shape, dtype=int))
    for refinement in (1, 4):
        one, other = grid_graph(plain, refinement), grid_graph(same, refinement)
        for name in ("indptr", "indices", "lengths", "positions"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_arrow_at_a_wall_is_a_trap() -> None:
    graph = grid_graph(Layout.from_text(".>#"), 3)
    assert np.isfinite(wf.cost_to_go(graph, 0)).sum() == 9


def test_arrows_face_to_face_are_a_wall() -> None:
    assert grid_graph(Layout.from_text("><")).num_arcs == 0


def test_lanes_side_by_side_do_not_mix() -> None:
    graph = grid_graph(Layout.from_text(">>.\n<<."))
    assert arcs(graph).keys() == {(0, 1), (1, 2), (2, 5), (5, 2), (5, 4), (4, 3)}


@pytest.mark.parametrize("refinement", [1, 2, 4])
def test_teleport_map_is_one_weak_component(refinement: int) -> None:
    layout = wf.load_layout("teleport")
    graph = grid_graph(layout, refinement)
    assert graph.directed
    assert graph.is_unit
    assert graph.components.max() == 0
    assert graph.strong_components.max() == 1
    cost = wf.cost_to_go(graph, 0)
    assert np.isinf(cost).sum() == refinement**2  # the exit without a free neighbour
    assert grid_graph(layout.without_teleports(), refinement).components.max() == 1


def test_teleports_lead_to_the_matching_vertices() -> None:
    layout = wf.load_layout("teleport")
    plain, graph = grid_graph(layout.without_teleports(), 3), grid_graph(layout, 3)
    extra = arcs(graph).keys() - arcs(plain).keys()
    assert len(extra) == 6 * 9
    assert graph.positions is not None
    ends = np.array(sorted(extra))
    way = graph.positions[ends[:, 1]] - graph.positions[ends[:, 0]]
    offsets = {
        (3.0 * (out[1] - entry[1]), 3.0 * (entry[0] - out[0])) for entry, out in layout.teleports
    }
    assert set(map(tuple, way.tolist())) == offsets


def test_teleports_shorten_the_way() -> None:
    layout = wf.load_layout("teleport")
    graph, plain = grid_graph(layout), grid_graph(layout.without_teleports())
    goal = int(np.flatnonzero((graph.positions == [10, 2]).all(axis=1))[0])  # (6, 10)
    assert wf.cost_to_go(graph, goal)[0] < wf.cost_to_go(plain, goal)[0]


@pytest.mark.parametrize("text", ["..>..\n.....\n..<..", "#5.9\n#.>.\n...9", ".>v\n^#v\n^<<"])
def test_amle_and_plan_reach_from_every_state_that_can(text: str) -> None:
    graph = grid_graph(Layout.from_text(text), 4)
    labels = wf.sample_labels(graph, 0, 0.1, seed=3)
    field = wf.extend(graph, labels, wf.AMLE())
    plan = wf.plan(graph, field.values, 0)
    np.testing.assert_array_equal(plan.reached, np.isfinite(wf.cost_to_go(graph, 0)))
