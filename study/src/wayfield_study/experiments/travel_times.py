"""Travel times on networks that the user brings: errors, cover, and planted faults.

A network is a file ``NAME_net.tntp``. What is given is its free-flow time. The world is congested:
the costs of ``NAME_flow.tntp`` where it exists, else an equilibrium of the demand in
``NAME_trips.tntp``, by the method of successive averages. Trips are drawn between random vertices
of the streets, each with 5 % noise. Errors are those of 300 other pairs.

With a table of measured trips between nodes of one network, the world is what was measured: some of
the trips are drawn, and errors are those of others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

import wayfield as wf
from wayfield import travel
from wayfield.errors import InputError
from wayfield.graphs.names import Names
from wayfield.travel import rivals
from wayfield.travel.network import Network
from wayfield.travel.tables import read_trips
from wayfield.typing import BoolArray, FloatArray, IntArray

NOISE = 0.05
TESTED = 300
ROUNDS = 40
"""Of the equilibrium."""
Rival = Callable[[Network, travel.Trips, IntArray, IntArray], FloatArray]


def least_squares(
    network: Network, trips: travel.Trips, starts: IntArray, ends: IntArray
) -> FloatArray:
    """Return the times of pairs by a line a + b · distance with the least sum of squares."""
    _, known = network.routes(network.given, trips.starts, trips.ends)
    _, wanted = network.routes(network.given, starts, ends)
    design = np.column_stack([np.ones(known.size), known])
    (a, b), *_ = np.linalg.lstsq(design, trips.times)
    return np.asarray(a + b * wanted)


METHODS: dict[str, Rival] = {
    "one factor": rivals.factor,
    "a line": rivals.line,
    "nearest trips": rivals.nearest,
    "per link": rivals.per_link,
}
OF_MEASURED = METHODS | {"least squares": least_squares}
COUNTS = (30, 100, 250)
"""How many measured trips are drawn."""
KINDS = ("30 labels", "30 trips", "100 trips")
FAULTS = (
    "nothing, free flow", "nothing", "area × 2", "road closed", "start-up", "slip", "shuffled",
)  # fmt: skip
OTHERWISE = 1.15
"""A place is accused wrongly if it is not this much slower than the mean trip."""


@dataclass(frozen=True, eq=False)
class Town:
    """A network twice: as given, at free flow, and with its congested times."""

    name: str
    graph: wf.Graph
    world: wf.Graph


def read_towns(path: Path) -> list[Town]:
    """Read one network, or all networks of a folder and its folders."""
    files = [path] if path.is_file() else sorted(path.rglob("*_net.tntp"))
    if not files:
        raise InputError(f"{path} holds no network: there is no file NAME_net.tntp")
    return [_town(file) for file in files]


def _town(file: Path) -> Town:
    net, stem = travel.read_tntp(file), file.name.removesuffix("_net.tntp")
    flow, demand = (file.with_name(f"{stem}_{word}.tntp") for word in ("flow", "trips"))
    if flow.exists():
        times = net.times(_flows(net, flow))
    elif demand.exists():
        times = equilibrium(net, _demand(demand, net.num_zones))
    else:
        raise InputError(f"{file} needs {flow.name} or {demand.name} beside it")
    graph, link, _ = net.streets()
    return Town(stem, graph, replace(graph, lengths=np.maximum(times[link], graph.lengths)))


def _flows(net: travel.Tntp, path: Path) -> FloatArray:
    """Read the flow of each link: rows of from, to and volume."""
    rows = [re.split(r"[\s;]+", line.strip()) for line in path.read_text().splitlines()]
    known = {
        (int(row[0]) - 1, int(row[1]) - 1): float(row[2])
        for row in rows
        if len(row) >= 3 and row[0].isdigit()
    }
    ends = zip(net.tails.tolist(), net.heads.tolist(), strict=True)
    return np.array([known.get(each, 0.0) for each in ends])


def _demand(path: Path, zones: int) -> FloatArray:
    """Read a table of trips between zones."""
    found = np.zeros((zones, zones))
    for origin, part in re.findall(r"Origin\s+(\d+)([^O]*)", path.read_text()):
        for zone, trips in re.findall(r"(\d+)\s*:\s*([\d.eE+-]+)", part):
            found[int(origin) - 1, int(zone) - 1] = float(trips)
    return found


def equilibrium(net: travel.Tntp, demand: FloatArray, rounds: int = ROUNDS) -> FloatArray:
    """Return the times of links if everybody takes a quickest route, nearly."""
    n, first = net.num_nodes, net.first_through
    flow, times = np.zeros(net.tails.size), net.free.copy()
    keys = net.tails * n + net.heads
    order = np.argsort(keys)
    for turn in range(rounds):
        new = np.zeros(flow.size)
        for zone in np.flatnonzero(demand.sum(axis=1)).tolist():
            open_ = (net.tails >= first) | (net.tails == zone)  # no route leads through zones
            ends = net.tails[open_], net.heads[open_]
            lengths = np.maximum(times[open_], 1e-9)
            arcs = sparse.csr_array((lengths, ends), shape=(n, n))
            found = dijkstra(arcs, indices=np.array([zone]), return_predecessors=True)
            far, parent = found[0][0], found[1][0]
            load = np.zeros(n)
            load[: demand.shape[0]] = demand[zone]
            reached = np.flatnonzero(parent >= 0)
            for v in reached[np.argsort(-far[reached])].tolist():
                load[parent[v]] += load[v]
            link = order[np.searchsorted(keys, parent[reached] * n + reached, sorter=order)]
            new[link] += load[reached]
        flow += (new - flow) / (turn + 1)
        times = net.times(flow)
    return times


def _pairs(rng: np.random.Generator, n: int, count: int) -> tuple[IntArray, IntArray]:
    starts = rng.integers(n, size=count)
    return starts, (starts + rng.integers(1, n, size=count)) % n


def _times(
    graph: wf.Graph, starts: IntArray, ends: IntArray, lengths: FloatArray | None = None
) -> FloatArray:
    shape = graph.num_vertices, graph.num_vertices
    entries = graph.lengths if lengths is None else lengths
    arcs = sparse.csr_array((entries, graph.indices, graph.indptr), shape=shape)
    roots, row = np.unique(starts, return_inverse=True)
    return np.asarray(dijkstra(arcs, indices=roots)[row, ends])


def errors(town: Town, kind: str, seed: int) -> dict[str, float]:
    """Return mean relative errors of all methods, and the share of measurements in intervals."""
    rng, n = np.random.default_rng(seed), town.graph.num_vertices
    count, word = int(kind.split()[0]), kind.split()[1]
    (starts, ends), (from_, to) = _pairs(rng, n, count), _pairs(rng, n, TESTED)
    if word == "labels":
        goal = int(rng.integers(n))
        others = rng.permutation(np.delete(np.arange(n), goal))
        starts, from_ = others[:count], others[count:][:TESTED]
        ends, to = np.full(starts.size, goal), np.full(from_.size, goal)
    measured = _times(town.world, starts, ends) * (1 + NOISE * rng.standard_normal(starts.size))
    trips, truth = travel.Trips(starts, ends, measured), _times(town.world, from_, to)
    after = truth * (1 + NOISE * rng.standard_normal(truth.size))
    found, shares = _predictions(town.graph, trips, (from_, to), after, METHODS)
    rows = {name: float(np.mean(np.abs(each - truth) / truth)) for name, each in found.items()}
    return rows | shares


def _predictions(
    graph: wf.Graph,
    trips: travel.Trips,
    pairs: tuple[IntArray, IntArray],
    after: FloatArray,
    methods: dict[str, Rival],
) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Return the predictions of all methods, and the shares of later times in the intervals."""
    model = travel.fit(graph, trips)
    low, middle, p90, high = model.predict(*pairs, (0.05, 0.5, 0.9, 0.95)).T
    found = {"model": middle}
    found |= {name: rival(model.network, trips, *pairs) for name, rival in methods.items()}
    inside = float(np.mean((low <= after) & (after <= high)))
    return found, {"inside 90 %": inside, "below p90": float(np.mean(after <= p90))}


def read_measured(net: Path, table: Path) -> tuple[wf.Graph, travel.Trips]:
    """Read one network and a table of trips between its nodes."""
    graph, _, nodes = travel.read_tntp(net).streets()
    rows = read_trips(table, Names([str(node + 1) for node in nodes]))
    return graph, travel.Trips(rows.starts, rows.ends, rows.times)


def measured_errors(
    graph: wf.Graph, trips: travel.Trips, count: int, seed: int
) -> dict[str, float]:
    """Return mean absolute errors in shares of the mean time, from some trips for the others."""
    order = np.random.default_rng(seed).permutation(len(trips))
    known, others = trips.take(order[:count]), trips.take(order[count : count + TESTED])
    pairs = others.starts, others.ends
    found, shares = _predictions(graph, known, pairs, others.times, OF_MEASURED)
    off = {name: np.mean(np.abs(each - others.times)) for name, each in found.items()}
    return {name: float(each / others.times.mean()) for name, each in off.items()} | shares


def measured_table(
    graph: wf.Graph, trips: travel.Trips, seeds: range
) -> tuple[str, list[str], list[list[str]]]:
    """Return the table of measured trips: a title, the heads, and the rows."""
    rows: list[list[str]] = []
    heads = ["trips"]
    for count in COUNTS:
        if 2 * count > len(trips):
            continue
        row = _stacked([measured_errors(graph, trips, count, seed) for seed in seeds])
        heads = ["trips", *row]
        rows.append([str(count), *_cells(row)])
    if not rows:
        raise InputError(f"{len(trips)} measured trips are too few: {2 * COUNTS[0]} are needed")
    return "measured times: mean absolute error in % of the mean time", heads, rows


@dataclass(frozen=True)
class FaultVerdict:
    """What was found of a planted fault: whether it was named, and how many places wrongly."""

    found: bool
    named: int
    untrue: int


def plant(town: Town, fault: str, seed: int, count: int = 50) -> FaultVerdict:
    """Plant a fault in a network, and judge what is found."""
    rng, graph = np.random.default_rng(seed), town.graph
    starts, ends = _pairs(rng, graph.num_vertices, count)
    lengths = (graph if fault.endswith("free flow") else town.world).lengths.copy()
    place: BoolArray = np.zeros(graph.num_arcs, bool)
    if fault.startswith("area"):
        centre = int(rng.integers(graph.num_vertices))
        far = _times(graph, np.full(graph.num_vertices, centre), np.arange(graph.num_vertices))
        inside = far <= np.quantile(far, 0.1)
        place = inside[graph.tails] & inside[graph.indices]
        lengths[place] *= 2.0
    if fault == "road closed":
        place = _closed(town, starts, ends, rng)
        lengths[place] = 1e6 * lengths.max()
    world = replace(graph, lengths=lengths)
    truth = _times(world, starts, ends)
    measured = truth * (1.0 + NOISE * rng.standard_normal(count))
    if fault == "start-up":
        measured += 0.4 * np.median(truth)
    if fault == "shuffled":
        measured = rng.permutation(measured)
    slip = int(rng.integers(count))
    if fault == "slip":
        measured[slip] *= 10.0
    findings = travel.fit(graph, travel.Trips(starts, ends, measured)).findings

    usual = np.median(truth / _times(graph, starts, ends))
    found, named, untrue = False, 0, 0
    for each in findings:
        if each.kind in ("road", "area", "blocked"):
            named += 1
            arcs: NDArray[np.int64] = np.concatenate(each.where)
            if place[arcs].any():
                found = True
                continue
            slow = np.average(lengths[arcs] / graph.lengths[arcs], weights=graph.lengths[arcs])
            up = each.amount > 1.0
            untrue += bool(slow < OTHERWISE * usual if up else slow > usual / OTHERWISE)
        found |= each.kind == "start" and fault == "start-up"
        found |= each.kind == "unrelated" and fault == "shuffled"
        found |= each.kind == "trip" and fault == "slip" and int(each.where[0][0]) == slip
    return FaultVerdict(found, named, untrue)


def _closed(town: Town, starts: IntArray, ends: IntArray, rng: np.random.Generator) -> BoolArray:
    """Return a road that three trips or more use, and that all can do without."""
    graph, before = town.graph, _times(town.world, starts, ends)
    for arc in rng.permutation(graph.num_arcs)[:200]:
        tail, head = graph.tails[arc], graph.indices[arc]
        road = (graph.tails == tail) & (graph.indices == head)
        road |= (graph.tails == head) & (graph.indices == tail)
        after = _times(graph, starts, ends, np.where(road, np.inf, town.world.lengths))
        if np.isfinite(after).all() and (after > 1.001 * before).sum() >= 3:
            return np.asarray(road)
    raise InputError(f"{town.name}: no road can be closed that three trips use")


def tables(towns: list[Town], seeds: range) -> Iterator[tuple[str, list[str], list[list[str]]]]:
    """Yield the tables: a title, the heads, and the rows."""
    for kind in KINDS:
        rows, all_rows = [], []
        for town in towns:
            if town.graph.num_vertices < 2 * int(kind.split()[0]):
                continue
            all_rows.append(_stacked([errors(town, kind, seed) for seed in seeds]))
            rows.append([town.name, *_cells(all_rows[-1])])
        if not rows:
            continue
        mean = {key: each.mean(axis=0) for key, each in _stacked(all_rows).items()}
        yield f"{kind}, 5 % noise: error in %", ["network", *mean], [*rows, ["mean", *_cells(mean)]]
    rows = []
    for fault in FAULTS:
        found = []
        for town in towns:
            for seed in seeds:
                try:
                    found.append(plant(town, fault, seed))
                except InputError:  # no road of this draw can be closed
                    continue
        counts = [sum(each.found for each in found), sum(each.named for each in found)]
        rows.append([fault, *map(str, (len(found), *counts, sum(each.untrue for each in found)))])
    yield "findings, 50 trips", ["planted", "runs", "found", "places named", "untrue"], rows


def _stacked(rows: Sequence[Mapping[str, Any]]) -> dict[str, FloatArray]:
    return {key: np.array([row[key] for row in rows]) for key in rows[0]}


def _cells(row: dict[str, FloatArray]) -> list[str]:
    """Return means with their standard errors, in percent; shares as they are."""
    cells = []
    for key, values in row.items():
        mean, error = values.mean(), values.std() / np.sqrt(max(values.size - 1, 1))
        share = key.startswith(("inside", "below"))
        cells.append(f"{mean:.2f}" if share else f"{100 * mean:.1f} ± {100 * error:.1f}")
    return cells
