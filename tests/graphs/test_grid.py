"""Mazes as graphs: every step that walls, terrain, arrows and teleports allow."""

from __future__ import annotations

from itertools import product
from typing import Any

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
    # a plot with upward y looks like the text
    assert graph.positions is not None
    x, y = graph.positions.astype(int).T
    height = refinement * layout.shape[0]
    drawn = np.zeros((height, refinement * layout.shape[1]), dtype=bool)
    drawn[height - 1 - y, x] = True
    np.testing.assert_array_equal(drawn, np.kron(layout.free, np.ones((refinement, refinement))))
    assert ((np.diff(y) < 0) | ((np.diff(y) == 0) & (np.diff(x) > 0))).all()  # row by row


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
    arrows = np.full((3, 3), "")
    arrows[1, 1] = ">^<v"[turns]
    free = np.array([[False, True, False], [True, True, True], [False, True, False]])
    layout = Layout("cross", free, arrows=arrows)
    cell = np.array(["up", "left", "middle", "right", "down"])[cells_of(layout, refinement)]
    front = ["right", "up", "left", "down"][turns]
    twin = network(grid_graph(layout, refinement))
    ahead = {front: set(), "middle": {front}}
    for x in twin:
        found = set(cell[list(nx.descendants(twin, x))]) - {cell[x]}
        assert found == ahead.get(cell[x], {"middle", front})


@pytest.mark.parametrize(("name", "cells"), [("medium", 26), ("large", 46)])
@pytest.mark.parametrize("refinement", [4, 8, 12])
def test_study_graphs_have_their_sizes(name: str, cells: int, refinement: int) -> None:
    graph = grid_graph(wf.load_layout(name), refinement)
    assert graph.num_vertices == cells * refinement**2
    assert np.isfinite(wf.cost_to_go(graph, 0)).all()


def test_costs_of_steps() -> None:
    refined = grid_graph(Layout.from_text(".3.."), 5)
    middles = [2 * 20 + 5 * cell + 2 for cell in range(4)]
    assert wf.cost_to_go(refined, middles[0])[middles].tolist() == [0, 10, 20, 25]
    room = grid_graph(Layout("room", np.ones((2, 3), dtype=bool)), 2)
    assert room.positions is not None
    expected = np.abs(room.positions - room.positions[5]).sum(axis=1)
    np.testing.assert_array_equal(wf.cost_to_go(room, 5), expected)
    trap = grid_graph(Layout.from_text(".>#"), 3)
    assert np.isfinite(wf.cost_to_go(trap, 0)).sum() == 9


@pytest.mark.parametrize("refinement", [1, 2, 4])
def test_teleport_map_is_one_weak_component(refinement: int) -> None:
    layout = wf.load_layout("teleport")
    graph = grid_graph(layout, refinement)
    assert (graph.directed, graph.is_unit) == (True, True)
    assert (graph.components.max(), graph.strong_components.max()) == (0, 1)
    cost = wf.cost_to_go(graph, 0)
    assert np.isinf(cost).sum() == refinement**2  # the exit without a free neighbour
    plain = grid_graph(layout.without_teleports(), refinement)
    assert plain.components.max() == 1
    goal = graph.num_vertices - 1
    assert wf.cost_to_go(graph, goal)[0] < wf.cost_to_go(plain, goal)[0]


def test_a_million_vertices() -> None:
    graph = grid_graph(Layout("room", np.ones((10, 10), dtype=bool)), 100)
    assert (graph.num_vertices, graph.num_edges) == (1_000_000, 2 * 1000 * 999)


@pytest.mark.parametrize("text", ["..>..\n.....\n..<..", "#5.9\n#.>.\n...9", ".>v\n^#v\n^<<"])
def test_amle_and_plan_reach_from_every_state_that_can(text: str) -> None:
    graph = grid_graph(Layout.from_text(text), 4)
    labels = wf.sample_labels(graph, 0, 0.1, seed=3)
    field = wf.extend(graph, labels, wf.AMLE())
    plan = wf.plan(graph, field.values, 0)
    np.testing.assert_array_equal(plan.reached, np.isfinite(wf.cost_to_go(graph, 0)))


@pytest.mark.parametrize("refinement", [0, -1, 1.5, 2.0, True, "4", None, np.nan])
def test_what_is_refused(refinement: Any) -> None:
    layout = wf.load_layout("umaze")
    with pytest.raises(wf.InputError, match="refinement must be a whole number of at least 1"):
        grid_graph(layout, refinement)
    with pytest.raises(wf.InputError, match=r"layout must be a wayfield\.Layout, got str"):
        grid_graph("umaze")  # type: ignore[arg-type]
    with pytest.raises(wf.InputError, match="refinement must make at most 2³¹ - 1 vertices"):
        grid_graph(layout, 10**6)
    assert grid_graph(layout, np.int64(2)).num_vertices == 28  # type: ignore[arg-type]
