"""From a maze to its state graph: a lattice of vertices over the free cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._arrays import MOST_VERTICES, as_whole, short
from .errors import InputError
from .graph import Graph
from .layouts import Layout

__all__ = ["grid_graph"]

_BACK = {">": "<", "<": ">", "v": "^", "^": "v"}


def grid_graph(layout: Layout, refinement: int = 1) -> Graph:
    r"""Replace every free cell by r × r vertices, each joined to its four neighbours.

    Vertices are numbered row by row from the top left, over the whole refined grid. Positions are
    whole numbers: x is the column from the left and y the row counted from the *bottom*, so that a
    plot with upward y looks like the layout's text.

    A step is as long as the mean of the costs of the cells of its two ends: 1 without terrain.

    The graph is directed as soon as the layout has an arrow or a teleport. No step into a vertex
    of an arrow cell or between two of them goes against the arrow, and the only steps out of the
    cell go along it. So within the cell one can move along the arrow and to its sides, cross it
    wherever one came in, and never turn back.

    A teleport is an arc from every vertex of its entry to the vertex at the same place in its
    exit, as long as a step between the two cells would be. Where a cell has several exits a plan
    takes the one it likes best, and it may also walk on. OGBench sends the agent off as soon as it
    enters, to an exit drawn at random: the graph is an optimistic, deterministic model of that, and
    its costs are lower bounds.

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
        raise InputError(f"refinement {short(refinement)} makes more than 2³¹ - 1 vertices")
    free = layout.free.repeat(refinement, axis=0).repeat(refinement, axis=1)
    rows, columns = np.nonzero(free)
    number = np.full(free.shape, -1, dtype=np.int64)
    number[rows, columns] = np.arange(rows.size)
    across, down = _pairs(number[:, :-1], number[:, 1:]), _pairs(number[:-1], number[1:])
    moves = [across, down]
    if layout.directed:
        # of the steps each way, those that the arrows at their two ends allow
        moves = []
        ways = {">": across, "<": across[::-1], "v": down, "^": down[::-1]}
        for way, steps in ways.items():
            row, column = rows[steps] // refinement, columns[steps] // refinement
            tail, head = layout.arrows[row, column]
            leaves = (row[0] != row[1]) | (column[0] != column[1])
            against = (tail == _BACK[way]) | (head == _BACK[way])
            moves.append(steps[:, ~against & (~leaves | (tail == "") | (tail == way))])
        # teleports: from the vertices of one cell to those at the same places of another
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
    """(2, k) pairs of vertices that stand at the same place of both arrays."""
    both = (first >= 0) & (second >= 0)
    return np.stack([first[both], second[both]])
