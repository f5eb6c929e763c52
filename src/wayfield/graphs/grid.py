"""Mazes as state graphs: a lattice of vertices over the free cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..checks import MOST_VERTICES, as_whole, short
from ..errors import InputError
from .graph import Graph
from .layouts import Layout

__all__ = ["grid_graph"]

_BACK = {">": "<", "<": ">", "v": "^", "^": "v"}


def grid_graph(layout: Layout, refinement: int = 1) -> Graph:
    r"""Replace every free cell by r × r vertices, each joined to its four neighbours.

    Vertices are numbered row by row from the top left, over the whole refined grid. Positions are
    whole numbers: x is the column from the left, and y is the row counted from the *bottom*. So a
    plot with upward y looks like the layout's text.

    A step costs the mean of the costs of the cells at its two ends: 1 without terrain.

    The graph is directed if the layout has an arrow or a teleport. No step into an arrow cell, or
    within it, goes against the arrow, and the only steps out of the cell follow the arrow. So
    within the cell one can move along the arrow and sideways, and never turn back.

    A teleport is an arc from each vertex of its entry to the vertex at the same place in its exit.
    It is as long as a step between the two cells would be. If a cell has several exits, a plan
    chooses one. It may also ignore them. In OGBench, an agent that enters is teleported at once, to
    a random exit. The graph is an optimistic, deterministic model of this. Its costs are lower
    bounds.

    Parameters
    ----------
    layout : Layout
        The maze.
    refinement : int
        Vertices along a cell's side, r ≥ 1.

    Returns
    -------
    Graph
        ``layout.num_free * r**2`` vertices, positions (n, 2); undirected unless
        ``layout.directed``, unit lengths if ``layout.is_unit``.

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
    >>> grid_graph(Layout.from_text(".3."))
    Graph(3 vertices, 2 edges, lengths 2 to 2)
    >>> grid_graph(Layout.from_text(".>."))
    Graph(3 vertices, 2 arcs, directed, unit lengths)
    """
    if not isinstance(layout, Layout):
        raise InputError(f"layout must be a wayfield.Layout, got {type(layout).__name__}")
    refinement = as_whole(refinement, "refinement", least=1)
    if layout.num_free * refinement**2 > MOST_VERTICES:
        raise InputError(f"refinement must make at most 2³¹ - 1 vertices, got {short(refinement)}")
    free = layout.free.repeat(refinement, axis=0).repeat(refinement, axis=1)
    rows, columns = np.nonzero(free)
    number = np.full(free.shape, -1, dtype=np.int64)
    number[rows, columns] = np.arange(rows.size)
    across, down = _pairs(number[:, :-1], number[:, 1:]), _pairs(number[:-1], number[1:])
    moves = [across, down]
    if layout.directed:
        # the steps in each direction that the arrows at both ends allow
        moves = []
        ways = {">": across, "<": across[::-1], "v": down, "^": down[::-1]}
        for way, steps in ways.items():
            row, column = rows[steps] // refinement, columns[steps] // refinement
            tail, head = layout.arrows[row, column]
            leaves = (row[0] != row[1]) | (column[0] != column[1])
            against = (tail == _BACK[way]) | (head == _BACK[way])
            moves.append(steps[:, ~against & (~leaves | (tail == "") | (tail == way))])
        # teleports: from the vertices of one cell to those at the same places in another
        for teleport in layout.teleports:
            blocks = [
                number[row * refinement :, column * refinement :][:refinement, :refinement]
                for row, column in teleport
            ]
            moves.append(np.stack([block.ravel() for block in blocks]))
    tails, heads = np.concatenate(moves, axis=1)
    lengths = None
    if not layout.is_unit:
        cost = layout.costs[rows // refinement, columns // refinement]
        lengths = (cost[tails] + cost[heads]) / 2
    positions = np.column_stack([columns, free.shape[0] - 1 - rows])
    return Graph.from_edges(tails, heads, lengths, rows.size, layout.directed, positions)


def _pairs(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return (2, k) pairs of vertices at the same place in both arrays."""
    both = (first >= 0) & (second >= 0)
    return np.stack([first[both], second[both]])
