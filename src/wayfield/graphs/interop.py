"""Graphs of other libraries as edge lists: ends, lengths and number of vertices."""

from __future__ import annotations

import reprlib
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.spatial.distance import squareform

from ..checks import as_floats, as_matrix, as_real_array, as_whole, refuse
from ..errors import InputError, InputWarning
from .names import node_name

Nodes = tuple[list[str | int] | None, ArrayLike | None]
"""Names and positions of the nodes of another library's graph; None where it has none."""
Ends = tuple[ArrayLike, ArrayLike, ArrayLike | None, int]
"""Tails, heads, lengths and number of vertices: arguments of `Graph.from_edges`."""


def networkx_nodes(source: Any) -> Nodes:
    """Return the names of a networkx graph's nodes, and their positions.

    Positions are the attribute ``pos``, or ``x`` and ``y`` as osmnx has them. Nodes that are
    already numbered from 0 have no names. Nodes that are neither text nor whole numbers, such as
    tuples, are named by their text.
    """
    given = [data for _, data in source.nodes(data=True)]
    pairs = [(data["x"], data["y"]) if {"x", "y"} <= data.keys() else None for data in given]
    places = [data.get("pos", pair) for data, pair in zip(given, pairs, strict=True)]
    return _node_names(list(source.nodes)), _node_positions(places)


def igraph_nodes(source: Any) -> Nodes:
    """Return the names of an igraph graph's vertices (``name``) and positions (``x``, ``y``)."""
    known = set(source.vs.attributes())
    names = _node_names(list(source.vs["name"])) if "name" in known else None
    pairs = zip(source.vs["x"], source.vs["y"], strict=True) if {"x", "y"} <= known else ()
    places = [None if None in pair else pair for pair in pairs]
    return names, _node_positions(places)


def _node_names(nodes: list[Any]) -> list[str | int] | None:
    if nodes == list(range(len(nodes))):
        return None
    return list(map(node_name, nodes))


def _node_positions(places: list[Any]) -> ArrayLike | None:
    """Return positions if every node has one; warn if some have none, or one is not numeric."""
    missing = sum(place is None for place in places)
    if missing == len(places):
        return None
    if missing:
        message = f"{missing:,} of {len(places):,} nodes have no position: positions are not kept"
        warnings.warn(message, InputWarning, stacklevel=4)
        return None
    try:
        positions = as_matrix([list(place) for place in places], "positions")
    except (InputError, TypeError):
        positions = np.empty((0, 0))
    if not (positions.size and np.isfinite(positions).all()):
        message = "positions of nodes are not finite numbers, equally many for each node"
        warnings.warn(f"{message}: positions are not kept", InputWarning, stacklevel=4)
        return None
    return positions


def matrix_edges(matrix: Any) -> Ends:
    """Return the stored entries of a sparse matrix, or the nonzero ones of a dense one."""
    try:
        if hasattr(matrix, "check_format"):
            matrix.check_format(full_check=True)  # scipy does not check the index arrays itself
        coo = sparse.coo_array(matrix)
    except (TypeError, ValueError) as error:
        raise InputError(f"matrix cannot be read as lengths: {error}") from error
    if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
        raise InputError(f"a matrix of lengths must be square, got shape {coo.shape}")
    tails, heads = coo.coords
    lengths = as_floats(coo.data, "the matrix's stored lengths")
    bad = ~((lengths > 0) & np.isfinite(lengths))
    if bad.any():
        e = int(np.argmax(bad))
        entry = f"matrix[{tails[e]}, {heads[e]}] = {lengths[e]}"
        raise InputError(f"{entry} is not a positive, finite length")
    own = tails == heads
    if own.sum() == coo.shape[0] > 1 and lengths[own].min() >= lengths.max() > lengths.min():
        message = "the matrix is largest on its diagonal, as similarities are, but its entries are "
        message += "taken as lengths: where they are similarities, pass 1 / w or -log(w)"
        warnings.warn(message, InputWarning, stacklevel=4)
    return tails, heads, lengths, coo.shape[0]


def networkx_edges(source: Any, length: str | None) -> Ends:
    """Return the edges of a networkx graph; its nodes are numbered in their order."""
    if not (hasattr(source, "nodes") and hasattr(source, "edges")):
        raise InputError(f"source must be a networkx graph, got {type(source).__name__}")
    index = {node: i for i, node in enumerate(source.nodes)}
    edges = [
        (index[x], index[y], 1.0 if length is None else data.get(length, 1.0))
        for x, y, data in source.edges(data=True)
    ]
    tails, heads, lengths = zip(*edges, strict=True) if edges else ((), (), ())
    names = {name for _, _, data in source.edges(data=True) for name in data}
    _warn_of_weights(length, names)
    return tails, heads, lengths, len(index)


def igraph_edges(source: Any, length: str | None) -> Ends:
    """Return the edges of an igraph graph."""
    if not (hasattr(source, "get_edgelist") and hasattr(source, "es")):
        raise InputError(f"source must be an igraph graph, got {type(source).__name__}")
    ends = np.asarray(source.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    names = set(source.es.attributes())
    has_length = length in names
    _warn_of_weights(length, names)
    return ends[:, 0], ends[:, 1], source.es[length] if has_length else None, source.vcount()


def _warn_of_weights(length: str | None, names: set[str]) -> None:
    """Warn if edges have weights but no lengths: the weights are not used."""
    if length == "length" and "length" not in names and "weight" in names:
        message = "edges carry 'weight' but not 'length': all lengths are 1 (use length='weight')"
        warnings.warn(message, InputWarning, stacklevel=4)


def near_pairs(pdist: ArrayLike, cutoff: float | None, k: int | None) -> Any:
    """Return a sparse matrix of the distances within `cutoff` and among the `k` least per row."""
    if cutoff is not None and not (isinstance(cutoff, float | int | np.number) and cutoff > 0):
        raise InputError(f"cutoff must be a positive number, got {reprlib.repr(cutoff)}")
    matrix = as_real_array(pdist, "distances")
    if matrix.ndim == 1:
        try:
            matrix = squareform(matrix)
        except ValueError as error:
            message = f"{matrix.size} condensed distances do not fit any number of points"
            raise InputError(message) from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"pairwise distances must be square, got shape {matrix.shape}")
    distance = np.array(matrix, dtype=np.float64, order="C")
    np.fill_diagonal(distance, np.inf)
    refuse(~(distance > 0), distance, "distances", "is not a positive number")
    keep = np.isfinite(distance)
    if cutoff is not None:
        keep &= distance <= cutoff
    if k is not None:
        nearest = np.argsort(distance, axis=1, kind="stable")[:, : as_whole(k, "k", least=1)]
        chosen = np.zeros_like(keep)
        np.put_along_axis(chosen, nearest, values=True, axis=1)
        keep &= chosen
    return sparse.coo_array((distance[keep], np.nonzero(keep)), shape=distance.shape)
