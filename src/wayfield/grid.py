"""From a maze to its state graph: a lattice of vertices over the free cells."""

from __future__ import annotations

import numpy as np

from ._arrays import MOST_VERTICES, as_whole
from .errors import InputError
from .graph import Graph
from .layouts import Layout

__all__ = ["grid_graph"]


def grid_graph(layout: Layout, refinement: int = 1) -> Graph:
    r"""Replace every free cell by r × r vertices, each joined to its four neighbours by unit edges.

    Vertices are numbered row by row from the top left, over the whole refined grid. Positions are
    whole numbers: x is the column from the left and y the row counted from the *bottom*, so that a
    plot with upward y looks like the layout's text.

    Parameters
    ----------
    layout : Layout
        The maze.
    refinement : int
        Vertices along a cell's side, r ≥ 1.

    Returns
    -------
    Graph
        Undirected, unit lengths, ``layout.num_free * r**2`` vertices, positions (n, 2).

    Raises
    ------
    InputError
        If `refinement` is not a whole number of at least 1.

    Examples
    --------
    >>> corner = Layout.from_text("..\n.#")
    >>> grid_graph(corner)
    Graph(3 vertices, 2 edges, unit lengths)
    >>> grid_graph(corner).positions
    array([[0., 1.],
           [1., 1.],
           [0., 0.]])
    """
    if not isinstance(layout, Layout):
        raise InputError(f"layout must be a wayfield.Layout, not {type(layout).__name__}")
    refinement = as_whole(refinement, "refinement", least=1)
    if layout.num_free * refinement**2 > MOST_VERTICES:
        raise InputError(f"refinement {refinement} makes more than 2³¹ - 1 vertices")
    free = layout.free.repeat(refinement, axis=0).repeat(refinement, axis=1)
    rows, columns = np.nonzero(free)
    number = np.full(free.shape, -1, dtype=np.int64)
    number[rows, columns] = np.arange(rows.size)
    across, down = free[:, :-1] & free[:, 1:], free[:-1] & free[1:]
    tails = np.concatenate([number[:, :-1][across], number[:-1][down]])
    heads = np.concatenate([number[:, 1:][across], number[1:][down]])
    positions = np.column_stack([columns, free.shape[0] - 1 - rows])
    return Graph.from_edges(tails, heads, num_vertices=rows.size, positions=positions)
