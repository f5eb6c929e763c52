"""Other draws and other readings of the adversarial search: how its subgraphs are drawn.

The paper: "random connected induced subgraphs". Ours are *grown*, vertex by vertex. They may as
well be *thinned*: a random set of vertices, drawn again until it is connected. Witnesses are rare,
so that their number is as much the draw's as the way's: every way is tried with several seeds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from wayfield.graph import Graph
from wayfield.labels import Labels
from wayfield.shortest_paths import cost_to_go

from ...audit.lattice_search import MOST_LABELS, contests, search
from ...engine import Experiment, Profile, Records, Row
from ...report import Section, Table
from ..witnesses._cells import CANDIDATES

SIDE = 4
"""Of the lattice that the paper's figure is for."""
SEEDS = tuple(range(101, 111))


@dataclass(frozen=True)
class SearchCell:
    """A search of one way with one seed."""

    way: str
    seed: int
    candidates: int = CANDIDATES

    @property
    def key(self) -> str:
        """Name of the cell."""
        return f"{self.way}-s{self.seed}-{self.candidates}"

    @property
    def columns(self) -> Row:
        """The settings."""
        return {"way": self.way, "seed": self.seed, "candidates": self.candidates}

    def draw(self) -> Row:
        """Search, and count the witnesses the paper's way and with exact fields."""
        return WAYS[self.way](self.seed, self.candidates)


def run(cell: SearchCell) -> list[Row]:
    """Make the one row."""
    return [cell.draw()]


def _grown(seed: int, candidates: int) -> Row:
    found = search((SIDE, SIDE), candidates, seed).counts
    return {"swept": found["swept"], "exact": found["exact"]}


def _thinned(seed: int, candidates: int) -> Row:
    rng = np.random.default_rng([seed, SIDE])
    found = [_contest(rng) for _ in range(candidates)]
    return {way: sum(each[way] for each in found) for way in ("swept", "exact")}


WAYS: dict[str, Callable[[int, int], Row]] = {"grown": _grown, "thinned": _thinned}


def _contest(rng: np.random.Generator) -> dict[str, bool]:
    graph, names = connected_part(rng)
    count = int(rng.integers(1, MOST_LABELS + 1))
    drawn = rng.choice(graph.num_vertices, count + 1, replace=False)
    goal = int(drawn[0])
    labels = Labels(drawn, cost_to_go(graph, goal)[drawn])
    return {way: one.harmonic_wins for way, one in contests(graph, labels, goal, names).items()}


def connected_part(rng: np.random.Generator) -> tuple[Graph, NDArray[np.int64]]:
    """Draw sets of at least half of the vertices until one is connected."""
    total = SIDE * SIDE
    across = [(x, x + 1) for x in range(total) if (x + 1) % SIDE]
    edges = np.array(across + [(x, x + SIDE) for x in range(total - SIDE)])
    while True:
        names = np.sort(rng.choice(total, rng.integers(total // 2, total + 1), replace=False))
        kept = edges[np.isin(edges, names).all(axis=1)]
        ends = np.searchsorted(names, kept).T
        if np.unique(ends).size < names.size:
            continue  # a vertex on its own
        graph = Graph.from_edges(*ends)
        if np.isfinite(cost_to_go(graph, 0)).all():
            return graph, names


def cells(profile: Profile) -> list[SearchCell]:
    """Take every way with ten seeds, or with two and few candidates."""
    few = profile.name == "quick"
    seeds, candidates = (SEEDS[:2], 20) if few else (SEEDS, CANDIDATES)
    return [SearchCell(way, seed, candidates) for way, seed in product(WAYS, seeds)]


def by_way(rows: Records) -> list[Table]:
    """Tell the number of witnesses by way, its mean and its spread."""
    lines = []
    for way, some in rows.by("way").items():
        counts = some.column("swept")
        lines.append(
            [
                str(way),
                f"{len(some)}",
                f"{counts.mean():.1f}",
                f"{counts.std(ddof=1):.1f}" if len(some) > 1 else "–",
                f"{some.mean('exact'):.1f}",
            ]
        )
    heads = ["subgraphs", "searches", "witnesses by sweeps", "standard deviation", "exact"]
    title = f"Witnesses by how subgraphs of the {SIDE} × {SIDE} lattice are drawn"
    return [Table("ways", title, heads, lines)]


EXPERIMENT = Experiment(
    "other_searches",
    "Other searches",
    version=1,
    run=run,
    cells=cells,
    effort=lambda cell: 1200.0,
    sections=(
        Section(
            "other-searches",
            "Sensitivity: how the adversarial search draws its subgraphs",
            "The paper tries 588 “random connected induced subgraphs” and finds five witnesses.",
            tables=by_way,
        ),
    ),
)
