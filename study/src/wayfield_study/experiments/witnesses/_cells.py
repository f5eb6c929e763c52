"""Cells that are small graphs: seven nodes, a lattice to search, fits of the paper's witnesses."""

from __future__ import annotations

from dataclasses import dataclass

from ...audit.lattice_search import Search, search
from ...audit.witnesses import SevenNode, seven_node
from ...engine.tasks import Row
from .fits import FITS, Fit

SEED = 20260510
"""Of the paper's search."""
CANDIDATES = 588
"""Graphs the paper tries."""


@dataclass(frozen=True)
class SevenNodes:
    """The paper's seven-node graph."""

    @property
    def key(self) -> str:
        """Name of the cell."""
        return "seven-node"

    @property
    def columns(self) -> Row:
        """Its name; nothing about it is random."""
        return {"graph": self.key, "seed": 0, "candidates": 0}

    def draw(self) -> SevenNode:
        """Build the graph, with its labels, goal and the names of its vertices."""
        return seven_node()


@dataclass(frozen=True)
class Lattice:
    """A search among the connected subgraphs of a lattice.

    Attributes
    ----------
    rows, columns_across : int
        Sides of the lattice.
    seed : int
        Of the candidates.
    candidates : int
        How many are tried.
    """

    rows: int
    columns_across: int
    seed: int = SEED
    candidates: int = CANDIDATES

    @property
    def key(self) -> str:
        """Name of the cell."""
        return f"lattice-{self.rows}x{self.columns_across}"

    @property
    def columns(self) -> Row:
        """The lattice, and which candidates are drawn."""
        return {"graph": self.key, "seed": self.seed, "candidates": self.candidates}

    def draw(self) -> Search:
        """Search it."""
        return search((self.rows, self.columns_across), self.candidates, self.seed)


@dataclass(frozen=True)
class FittedWitness:
    """A graph that fits one of the paper's five witnesses."""

    number: int

    @property
    def key(self) -> str:
        """Name of the cell."""
        return f"witness-{self.number}"

    @property
    def columns(self) -> Row:
        """Its name; nothing about it is random."""
        return {"graph": self.key, "seed": 0, "candidates": 0}

    def draw(self) -> Fit:
        """Return the graph with its labels and fields."""
        return FITS[self.number]


LATTICES = (Lattice(4, 4), Lattice(5, 4), Lattice(5, 5))
