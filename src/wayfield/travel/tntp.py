"""Networks in the format TNTP, of the repository TransportationNetworks.

A file ``NAME_net.tntp`` has a head of ``<KEY> value`` and a row for each link: from, to, capacity,
length, free-flow time, b, power, speed, toll, type. Its cost at the flow v is

    free-flow time · (1 + b (v / capacity)^power).

Nodes below FIRST THRU NODE are zones: trips begin and end there, and no route leads through them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..checks import frozen
from ..errors import InputError
from ..graphs.graph import Graph, arc_slots
from ..typing import BoolArray, FloatArray

_COLUMNS = 10


@dataclass(frozen=True, eq=False)
class Tntp:
    """The links of a network.

    Attributes
    ----------
    num_nodes, num_zones, first_through : int
        First node, from 0, that routes may lead through.
    tails, heads : (e,) int64 arrays
        Nodes, numbered from 0.
    capacity, length, free, b, power, kind : (e,) float arrays
        Columns of the file; `free` is the free-flow time, `kind` the type of the link.
    """

    num_nodes: int
    num_zones: int
    first_through: int
    tails: NDArray[np.int64]
    heads: NDArray[np.int64]
    capacity: FloatArray
    length: FloatArray
    free: FloatArray
    b: FloatArray
    power: FloatArray
    kind: FloatArray

    def times(self, flow: FloatArray) -> FloatArray:
        """Return the time of each link at some flows."""
        return np.asarray(self.free * (1.0 + self.b * (flow / self.capacity) ** self.power))

    def streets(self) -> tuple[Graph, NDArray[np.int64], NDArray[np.int64]]:
        """Return the streets: no zones and no links without a time, in one piece.

        Also return the link of each arc, and the node of each vertex. Of parallel links, the one
        with the least free-flow time is kept.
        """
        through = self.first_through
        kept = (self.tails >= through) & (self.heads >= through) & (self.free > 0.0)
        kept &= self.tails != self.heads
        links = np.flatnonzero(kept)
        # the quickest of parallel links, so that nothing needs to be merged
        order = np.lexsort((self.free[links], self.heads[links], self.tails[links]))
        links = links[order]
        new = np.ones(links.size, bool)
        new[1:] = (np.diff(self.tails[links]) != 0) | (np.diff(self.heads[links]) != 0)
        links = links[new]
        if links.size == 0:
            raise InputError("the network has no link with a free-flow time between two streets")
        ends = self.tails[links], self.heads[links]
        piece = Graph.from_edges(*ends, None, self.num_nodes, True).strong_components
        inside: BoolArray = piece == np.argmax(np.bincount(piece[ends[0]]))
        links = links[inside[ends[0]] & inside[ends[1]]]
        nodes = np.flatnonzero(inside)
        number = np.cumsum(inside) - 1
        tails, heads = number[self.tails[links]], number[self.heads[links]]
        graph = Graph.from_edges(tails, heads, self.free[links], nodes.size, directed=True)
        link = np.empty(links.size, np.int64)
        link[arc_slots(graph, tails, heads)] = links
        return graph, frozen(link), frozen(nodes)


def read_tntp(path: str | Path) -> Tntp:
    r"""Read a network in the format TNTP.

    Examples
    --------
    >>> import tempfile
    >>> text = "<NUMBER OF ZONES> 1\n<NUMBER OF NODES> 3\n<FIRST THRU NODE> 1\n<END OF METADATA>\n"
    >>> text += "~ from to cap len time b power speed toll type ;\n"
    >>> text += "1 2 9 1 2.5 .15 4 0 0 1 ;\n2 3 9 1 4 .15 4 0 0 1 ;\n3 1 9 1 3 .15 4 0 0 1 ;\n"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "made_net.tntp")
    ...     _ = file.write_text(text)
    ...     graph, link, node = read_tntp(file).streets()
    >>> graph
    Graph(3 vertices, 3 arcs, directed, lengths 2.5 to 4)
    """
    text = Path(path).read_text(encoding="utf-8", errors="replace")
    head, found, body = text.partition("<END OF METADATA>")
    if not found:
        raise InputError(f"{path} is not a TNTP file: it has no line <END OF METADATA>")
    sizes = []
    for key in ("NUMBER OF NODES", "NUMBER OF ZONES", "FIRST THRU NODE"):
        value = re.search(rf"<{key}>\s*(\d+)", head)
        if value is None:
            raise InputError(f"{path} has no line <{key}> with a number")
        sizes.append(int(value[1]))
    rows: list[list[float]] = []
    above = head.count("\n") + 1
    for number, row in enumerate(body.splitlines(), above):
        cells = row.partition("~")[0].replace(";", " ").split()
        if not cells or (not rows and not cells[0].replace(".", "").isdigit()):
            continue  # blank, a comment, or the names of the columns
        try:
            rows.append([float(cell) for cell in cells[:_COLUMNS]])
        except ValueError as error:
            raise InputError(f"{path}, row {number}: {error}") from error
        if len(rows[-1]) < _COLUMNS:
            raise InputError(f"{path}, row {number}: {len(cells)} columns, expected {_COLUMNS}")
    if not rows:
        raise InputError(f"{path} has no links")
    table = np.array(rows)
    ends = table[:, :2].astype(np.int64) - 1
    wrong = (ends < 0) | (ends >= sizes[0])
    if wrong.any():
        i = int(np.argmax(wrong.any(axis=1)))
        raise InputError(f"{path}: link {i + 1} has a node outside 1 to {sizes[0]}")
    _, _, capacity, length, free, b, power, _, _, kind = table.T
    columns = (capacity, length, free, b, power, kind)
    return Tntp(
        sizes[0], sizes[1], sizes[2] - 1, frozen(ends[:, 0]), frozen(ends[:, 1]),
        *(frozen(column.copy()) for column in columns),
    )  # fmt: skip
