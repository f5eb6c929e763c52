"""Coordinates of the suites and vertices of the graph: there and back, on every built-in map."""

from __future__ import annotations

import numpy as np
import pytest

import wayfield as wf
from wayfield_study.sim import Coordinates, ogbench_coordinates, robotics_coordinates

SUITES = [ogbench_coordinates, robotics_coordinates]


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize(
    ("name", "refinement"), [*((name, 1) for name in wf.layout_names()), ("large", 3), ("giant", 4)]
)
def test_there_and_back(name: str, refinement: int, suite: type[Coordinates]) -> None:
    layout = wf.load_layout(name)
    graph = wf.grid_graph(layout, refinement)
    places = suite(layout).of(graph)
    assert places.refinement == refinement
    assert [places.vertex(xy) for xy in places.xy] == list(range(graph.num_vertices))
    assert all(places.is_free(xy) for xy in places.xy)
    # anywhere in a vertex's square is that vertex
    off = np.random.default_rng(0).uniform(-0.49, 0.49, places.xy.shape) * places.spacing
    assert [places.vertex(xy) for xy in places.xy + off] == list(range(graph.num_vertices))


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("name", wf.layout_names())
def test_neighbours_are_one_spacing_apart(name: str, suite: type[Coordinates]) -> None:
    layout = wf.load_layout(name).without_teleports()
    graph = wf.grid_graph(layout, 2)
    places = suite(layout).of(graph)
    gaps = places.xy[graph.tails] - places.xy[graph.indices]
    np.testing.assert_allclose(np.hypot(*gaps.T), places.spacing)


def test_a_point_over_a_wall_belongs_to_the_nearest_vertex() -> None:
    places = ogbench_coordinates(wf.load_layout("medium"), 4)
    x, y = places.xy[0]
    assert not places.is_free((x - 1.2, y))
    assert places.vertex((x - 1.2, y)) == 0
    assert places.vertex((-1e6, -1e6)) == 0  # far outside


def test_clearance_is_the_distance_to_the_nearest_block() -> None:
    layout = wf.Layout.from_text("#####\n#...#\n#...#\n#...#\n#####")
    places = ogbench_coordinates(layout, 1)
    np.testing.assert_allclose(places.clearance, [2, 2, 2, 2, 6, 2, 2, 2, 2])
    fine = places.at(4)
    assert set(fine.clearance[fine.roomy] >= 1) == {True}
    assert 0 < len(fine.roomy) < len(fine.xy)
    corner = wf.Layout.from_text("..\n.#")  # (0, 0) touches the block at its corner only
    np.testing.assert_allclose(ogbench_coordinates(corner).clearance, [8**0.5, 2, 2])


def test_a_maze_without_walls_is_clear() -> None:
    assert np.isinf(ogbench_coordinates(wf.Layout.from_text("..")).clearance).all()
