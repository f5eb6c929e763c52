"""The small graphs of the paper: seven nodes, their subdivisions, and the adversarial search.

They need no maze. A cell named ``seven-node`` stands for the first two, one named
``lattice-4x4`` for a search of that lattice with the cell's seed; its other settings are not used.
Rows are in long form: one figure each, ``table``, ``item``, ``quantity`` and its ``value``, with
``exact`` for what a number cannot hold: a rational, or a list of vertices.
"""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from ...audit.lattice_search import search
from ...audit.witnesses import Witness, seven_node_values, subdivision
from ...errors import InputError
from ..cells import Cell
from ..tasks import Row

SEVEN_NODE = "seven-node"
SEED = 20260510
"""Of the paper's search."""
CANDIDATES = 588
SUBDIVISIONS = (1, 2, 4, 8, 16)
LATTICES = ("lattice-4x4", "lattice-5x4", "lattice-5x5")
_LATTICE = re.compile(r"lattice-(\d+)x(\d+)")


def special_cell(name: str) -> Cell:
    """Return the cell that stands for a graph which is no maze."""
    return Cell(name, refinement=1, label_fraction=0.0, seed=SEED, goals=1)


def run(cell: Cell) -> list[Row]:
    """Figures of the graph, or of the search, that the cell names."""
    if cell.maze == SEVEN_NODE:
        return _seven_node_rows() + _subdivision_rows()
    lattice = _LATTICE.fullmatch(cell.maze)
    if lattice is None:
        raise InputError(f"{cell.maze!r} is neither {SEVEN_NODE!r} nor like {LATTICES[0]!r}")
    return _search_rows((int(lattice[1]), int(lattice[2])), cell.seed)


def _figure(table: str, item: object, quantity: str, value: float, exact: str = "") -> Row:
    return {
        "table": table,
        "item": str(item),
        "quantity": quantity,
        "value": float(value),
        "exact": exact,
    }


def _seven_node_rows() -> list[Row]:
    return [
        _figure("seven_node", vertex, field, float(value), str(value))
        for field, values in seven_node_values()._asdict().items()
        for vertex, value in values.items()
    ]


def _subdivision_rows() -> list[Row]:
    rows: list[Row] = []
    for row in subdivision(SUBDIVISIONS):
        for field, branch in (("harmonic", row.harmonic), ("amle", row.amle)):
            margin = str(branch.margin)
            rows += [
                _figure("subdivision", row.k, f"{field}_branch", branch.chosen),
                _figure("subdivision", row.k, f"{field}_margin", float(branch.margin), margin),
                _figure("subdivision", row.k, f"{field}_computed", branch.computed),
            ]
    return rows


def _search_rows(lattice: tuple[int, int], seed: int) -> list[Row]:
    found = search(lattice, CANDIDATES, seed)
    rows = [_figure("search", "all", "tested", found.tested)]
    for way, witnesses in found.witnesses.items():
        perfect = sum(w.success(w.harmonic_plan) == 1.0 for w in witnesses.values())
        rows += [
            _figure("search", "all", f"witnesses_{way}", len(witnesses)),
            _figure("search", "all", f"perfect_harmonic_{way}", perfect),
        ]
        for number, witness in witnesses.items():
            rows += _witness_rows(f"{way}/{number}", witness)
    return rows


def _witness_rows(item: str, witness: Witness) -> list[Row]:
    failing = witness.failing(witness.amle_plan)
    return [
        _figure("witness", item, "vertices", witness.graph.num_vertices),
        _figure("witness", item, "goal", witness.names[witness.goal]),
        _figure("witness", item, "labels", len(witness.labels)),
        _figure("witness", item, "harmonic_success", witness.success(witness.harmonic_plan)),
        _figure("witness", item, "amle_success", witness.success(witness.amle_plan)),
        _figure("witness", item, "amle_failures", failing.size, _listed(failing)),
    ]


def _listed(vertices: NDArray[np.int64]) -> str:
    return " ".join(map(str, vertices.tolist()))
