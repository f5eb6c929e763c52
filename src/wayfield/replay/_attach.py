"""Vertices added to a graph for a while: starts and goals that nobody has observed."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import as_choice, as_floats, as_lengths, as_real, as_whole, refuse
from ..errors import InputError
from ..graph import Graph, check_graph
from ..kernels._types import FloatArray, IntArray

Role = Literal["start", "goal", "both"]
ROLES = get_args(Role)


def attach(
    graph: Graph,
    lengths: ArrayLike,
    role: Role,
    *,
    k: int | None = None,
    radius: float | None = None,
    position: ArrayLike | None = None,
) -> tuple[Graph, int]:
    """Add a vertex to a graph, with arcs to or from its nearest vertices.

    The graph itself is not changed, and all its vertices keep their indices.

    Parameters
    ----------
    graph : Graph
        An undirected one can only be attached to both ways.
    lengths : (n,) float array
        Length of an arc between the new vertex and each other one; +inf where there can be none.
    role : {"start", "goal", "both"}
        A start has arcs out to its neighbours, a goal arcs in from them.
    k : int, optional
        How many of the nearest vertices to attach to, at most.
    radius : float, optional
        How long an arc may be. Give one of the two, or both.
    position : (d,) float array, optional
        Where to draw the vertex; amid its neighbours if not given.

    Returns
    -------
    Graph, int
        The larger graph, and the new vertex in it.

    Examples
    --------
    >>> import wayfield as wf
    >>> one_way = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    >>> larger, start = wf.replay.attach(one_way, [0.5, 0.7, 9.0], "start", k=2)
    >>> larger
    Graph(4 vertices, 4 arcs, directed, lengths 0.5 to 1)
    >>> wf.cost_to_go(larger, goal=2)[start]
    np.float64(1.7)
    """
    new = check_graph(graph).num_vertices
    if as_choice(role, "role", ROLES) != "both" and not graph.directed:
        raise InputError(f"an undirected graph is attached to both ways, not as a {role} alone")
    length = as_floats(lengths, "lengths", new)
    refuse(~(length > 0), length, "lengths", "is not positive")
    near = neighbours(length, k, radius)
    here, costs = np.full(near.size, new), as_lengths(length[near], "lengths")
    arcs = [(graph.tails, graph.indices, graph.lengths)]
    if role != "goal":
        arcs.append((here, near, costs))
    if role != "start":
        arcs.append((near, here, costs))
    tails, heads, every = (np.concatenate(parts) for parts in zip(*arcs, strict=True))
    places = graph.positions
    if places is not None:
        place = places[near].mean(axis=0) if position is None else as_floats(position, "position")
        places = np.vstack([places, place])
    return Graph.from_edges(tails, heads, every, new + 1, graph.directed, places), new


def neighbours(distance: FloatArray, k: int | None, radius: float | None) -> IntArray:
    """Vertices within `radius` and among the `k` nearest, ascending; ties to the lower index."""
    if k is None and radius is None:
        raise InputError("give k, radius or both: how many neighbours to attach to, how far away")
    near = np.argsort(distance, kind="stable")[: np.isfinite(distance).sum()]
    if not near.size:
        raise InputError("there is nothing to attach to")
    if k is not None:
        near = near[: as_whole(k, "k", least=1)]
    if radius is not None:
        reach, nearest = as_real(radius, "radius", least=0.0), near[0]
        if distance[nearest] > reach:
            raise InputError(
                f"nothing within radius {reach:g}: the nearest, vertex {nearest}, is "
                f"{distance[nearest]:g} away"
            )
        near = near[distance[near] <= reach]
    return np.sort(near)
