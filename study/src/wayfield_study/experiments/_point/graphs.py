"""Graphs on a buffer's landmarks: what was seen, and what others build without looking.

``time`` has the observed changes of landmark, directed; ``xy-k`` the k nearest neighbours on
(x, y); ``noisy-k`` those on (x, y) with noise, and ``lap-k`` those on a commute-time embedding of
the transitions in three dimensions: stand-ins for learned features. Lengths are in steps.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import eigsh
from scipy.spatial import cKDTree

from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray

from .scene import Scene

GRAPHS = ("time", "xy-5", "xy-10", "xy-20", "xy-50", "noisy-10", "lap-20")
BLUR = 2.0
"""Noise of noisy features."""
_DIMENSIONS = 3
_ORDINARY = 30.0
"""Observed arcs that span more steps at the usual speed do not say how large an embedding is."""


def make_graph(scene: Scene, name: str) -> Graph:
    """Return a graph on the landmarks by its name."""
    if name == "time":
        return scene.replay.graph
    kind, number = name.split("-")
    features, pace = scene.states, 1.0 / scene.replay.speed
    if kind == "noisy":
        rng = np.random.default_rng([scene.seed, 2])
        features = features + rng.normal(0.0, BLUR, features.shape)
    elif kind == "lap":
        features, pace = commute_embedding(scene)
    return nearest_neighbours(features, int(number), pace)


def nearest_neighbours(features: FloatArray, k: int, pace: float) -> Graph:
    """Join every row to its k nearest ones, both ways; lengths are distances times `pace`.

    Examples
    --------
    >>> nearest_neighbours(np.array([[0.0], [3.0], [9.0]]), 1, pace=2.0)
    Graph(3 vertices, 2 edges, lengths 6 to 12)
    """
    n = len(features)
    found = cKDTree(features).query(features, k + 1)
    distance, heads = np.ravel(found[0]), np.ravel(found[1])
    tails = np.repeat(np.arange(n), k + 1)
    proper = tails != heads
    lengths = np.maximum(pace * distance[proper], 1.0)
    ends = np.sort([tails[proper], heads[proper]], axis=0)
    pairs, first = np.unique(ends, axis=1, return_index=True)
    return Graph.from_edges(pairs[0], pairs[1], lengths[first], n)


def commute_embedding(scene: Scene) -> tuple[FloatArray, float]:
    """Embed the landmarks by commute times of the observed graph, and say what a unit is in steps.

    Landmarks outside its largest component are taken for their nearest neighbours within.
    """
    graph, states = scene.replay.graph, scene.states
    n = graph.num_vertices
    arcs = sparse.csr_array((np.ones(graph.num_arcs), (graph.tails, graph.indices)), shape=(n, n))
    part = connected_components(arcs, directed=False)[1]
    main = np.flatnonzero(part == np.bincount(part).argmax())
    both: Any = arcs + arcs.T
    joined = (both > 0).astype(float)[main][:, main]
    degrees = joined.sum(axis=1)
    half = sparse.diags_array(1 / np.sqrt(degrees))
    count = min(_DIMENSIONS, len(main) - 2)
    walk = half @ joined @ half
    values, vectors = eigsh(walk, count + 1, which="LA", tol=1e-6, v0=np.ones(len(main)))
    order = np.argsort(-values)[1:]
    within = vectors[:, order] / np.sqrt(degrees)[:, None] / np.sqrt(1 - values[order])
    features: FloatArray = within[np.asarray(cKDTree(states[main]).query(states)[1])]
    tails, heads = graph.tails, graph.indices
    apart = np.linalg.norm(features[tails] - features[heads], axis=1)
    steps = np.linalg.norm(states[tails] - states[heads], axis=1) / scene.replay.speed
    usual = (apart > 0) & (steps < _ORDINARY)
    return features, float(np.median(steps[usual] / apart[usual]))
