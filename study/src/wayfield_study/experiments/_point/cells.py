"""Cells of the study of PointMaze: a dataset, how much of it, a graph on its landmarks, a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from wayfield._arrays import as_choice, as_real, as_whole

from ...engine import Row
from ...engine.config import read_list, refuse_others
from .arms import ARMS, Arm, rows_of
from .graphs import GRAPHS, make_graph
from .scene import Scene, make_scene

DATASETS = ("giant-stitch", "giant-navigate", "teleport-stitch")
SEEDS = (0, 1, 2)
EPISODES = 100
FEWEST_SEEDS = 2
"""Seeds without which nothing is stated."""
LANDMARKS = {1.0: 1000, 0.1: 500, 0.03: 300, 0.01: 300}
"""By the share of the data."""
FEWEST = 300


@dataclass(frozen=True)
class PointCell:
    """A dataset with a graph on its landmarks.

    Attributes
    ----------
    dataset : str
        A maze and a way of collecting, such as teleport-stitch.
    graph : str
        One of `GRAPHS`, or another number of neighbours.
    seed : int
        Of the data, the landmarks and the episodes.
    share : float
        Share of the million steps that is collected.
    landmarks : int
        How many.
    episodes : int
        In all, a fifth of them for each of OGBench's tasks.
    """

    dataset: str
    graph: str
    seed: int
    share: float = 1.0
    landmarks: int = 1000
    episodes: int = EPISODES

    @property
    def key(self) -> str:
        """Name of the cell."""
        size = f"-d{self.share:g}-m{self.landmarks}-e{self.episodes}"
        return f"{self.dataset}-{self.graph}{size}-s{self.seed}"

    @property
    def columns(self) -> Row:
        """All settings."""
        return {
            "dataset": self.dataset,
            "graph": self.graph,
            "share": self.share,
            "landmarks": self.landmarks,
            "episodes": self.episodes,
            "seed": self.seed,
        }

    def draw(self) -> Scene:
        """Collect the data and choose the landmarks."""
        return make_scene(self.dataset, self.share, self.landmarks, self.seed, 0.0)

    def rows(self, arms: Sequence[Arm] = ARMS) -> list[Row]:
        """Walk every arm; those that look at no graph beside the graph of what was seen."""
        scene = self.draw()
        chosen = [arm for arm in arms if arm.uses_graph or self.graph == GRAPHS[0]]
        return rows_of(scene, make_graph(scene, self.graph), self.episodes, chosen)


def point_grid(
    datasets: Sequence[str],
    graphs: Sequence[str],
    seeds: Sequence[int] = SEEDS,
    share: float = 1.0,
    episodes: int = EPISODES,
) -> list[PointCell]:
    """List every combination, those with the same data beside each other."""
    landmarks = LANDMARKS.get(share, FEWEST)
    return [
        PointCell(dataset, graph, seed, share, landmarks, episodes)
        for dataset, seed, graph in product(datasets, seeds, graphs)
    ]


def read_grid(given: Mapping[str, Any], folder: Path) -> list[PointCell]:
    """Read the ``[grid]`` of a study of one's own: every combination of its settings."""
    table = dict(given)
    refuse_others(table, ("datasets", "graphs", "shares", "seeds"), "grid.")
    datasets = read_list(
        table, "datasets", DATASETS, lambda name, where: as_choice(name, where, DATASETS)
    )
    graphs = read_list(table, "graphs", GRAPHS, lambda name, where: as_choice(name, where, GRAPHS))
    shares = read_list(table, "shares", (1.0,), lambda x, where: as_real(x, where, 1e-3, 1.0))
    seeds = read_list(table, "seeds", SEEDS, lambda seed, where: as_whole(seed, where, 0, 2**31))
    return [cell for share in shares for cell in point_grid(datasets, graphs, seeds, share)]
