"""Bring your own graph: roads from networkx, travel times as lengths, a few measured values.

Junctions are scattered over a square and joined where they are near; a road's length is its travel
time, so fast roads are short. Travel times to the depot are known at one junction in twenty.

Run it with ``python examples/your_own_graph.py [FILE]``; it needs the extras ``plots`` and
``interop``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np

import wayfield as wf


def main(path: Path = Path("your_own_graph.png")) -> None:
    """Plan on the roads, and compare with the travel times that nobody measured."""
    roads = make_roads(junctions=500, reach=0.075, seed=7)
    graph = wf.Graph.from_networkx(roads, length="minutes")
    graph = graph.with_positions([roads.nodes[junction]["pos"] for junction in roads])
    depot = graph.num_vertices // 2
    measured = wf.sample_labels(graph, depot, fraction=0.05, seed=1)
    answer = wf.solve(graph, measured, depot)
    print(answer.summary(starts=[0]))
    least = wf.cost_to_go(graph, depot)
    others = np.arange(graph.num_vertices) != depot
    ratio = float((answer.plan.cost[others] / least[others]).mean())
    print(f"a plan takes {ratio:.3f} times the shortest time on average")
    figure, ax = plt.subplots(figsize=(8, 6.6), layout="constrained")
    wf.plots.answer(answer, starts=[0], ax=ax)
    ax.set_title(f"Minutes to the depot, from {len(measured)} known junctions of {len(roads)}")
    figure.savefig(path, dpi=100)


def make_roads(junctions: int, reach: float, seed: int) -> nx.Graph:
    """Return the largest connected part of a random road map, with minutes on its roads."""
    roads = nx.random_geometric_graph(junctions, reach, seed=seed)
    roads = roads.subgraph(max(nx.connected_components(roads), key=len)).copy()
    rng = np.random.default_rng(seed)
    for here, there, road in roads.edges(data=True):
        distance = np.subtract(roads.nodes[here]["pos"], roads.nodes[there]["pos"])
        road["minutes"] = float(60 * np.hypot(*distance) * rng.lognormal(sigma=0.4))
    return roads


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
