"""Cells of the study of wrong graphs: a world, how much of it is labelled, and a seed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wayfield._arrays import as_choice, as_real, as_whole
from wayfield.labels import Labels

from ...engine import Row
from ...engine.config import read_list, refuse_others
from .arms import Case
from .world import WrongWorld
from .worlds import WRONG_WORLDS, make_wrong_world

STARTS = 60
FEWEST = 3
"""Labels beside the goal's, at least: fewer cannot be held out in turn."""
SEEDS = tuple(range(8))
SOME = ("patch", "short1", "alias10", "road", "combo", "exact")
"""Worlds that differ most; what is not run on all of them is run on these."""
SMALL = 0.2
"""Size of the worlds of quick profiles: about 300 states."""


@dataclass(frozen=True)
class WrongCell:
    """A world whose graph is wrong, and how many of its states are labelled.

    Attributes
    ----------
    world : str
        One of `WRONG_WORLDS`.
    label_fraction : float
        Share of the states that are labelled, or of trips.
    seed : int
        Of the world, the labels and the starts.
    size : float
        Size of the world, 1 for about 1,600 states.
    """

    world: str
    label_fraction: float
    seed: int
    size: float = 1.0

    @property
    def key(self) -> str:
        """Name of the cell."""
        size = "" if self.size == 1.0 else f"-x{self.size:g}"
        return f"{self.world}{size}-lf{self.label_fraction:g}-s{self.seed}"

    @property
    def columns(self) -> Row:
        """All settings."""
        return {
            "world": self.world,
            "size": self.size,
            "label_fraction": self.label_fraction,
            "seed": self.seed,
        }

    def draw(self) -> Case:
        """Make the world; draw exact labels and starts."""
        world = make_wrong_world(self.world, self.seed, self.size)
        vertices = self.labelled(world)
        labels = Labels(vertices, world.truth[vertices])
        return Case(world, labels, self.starts(world), seed=self.seed)

    def labelled(self, world: WrongWorld) -> NDArray[np.int64]:
        """Draw the vertices that are labelled; the goal stands first."""
        n = world.graph.num_vertices
        others = np.delete(np.arange(n), world.goal)
        count = max(FEWEST, round(self.label_fraction * n))
        drawn = self.rng(99).choice(others, count, replace=False)
        return np.concatenate([[world.goal], drawn])

    def starts(self, world: WrongWorld, count: int = STARTS) -> NDArray[np.int64]:
        """Draw where walks begin."""
        return self.rng(7).choice(world.able, min(count, world.able.size), replace=False)

    def rng(self, purpose: int) -> np.random.Generator:
        """Return randomness for a purpose, the same for every world."""
        return np.random.default_rng([self.seed, purpose])


def wrong_grid(
    worlds: tuple[str, ...],
    fractions: tuple[float, ...],
    seeds: tuple[int, ...] = SEEDS,
    size: float = 1.0,
) -> list[WrongCell]:
    """List every combination, seed by seed."""
    combinations = product(seeds, fractions, worlds)
    return [WrongCell(world, fraction, seed, size) for seed, fraction, world in combinations]


def read_grid(given: Mapping[str, Any], folder: Path) -> list[WrongCell]:
    """Read the ``[grid]`` of a study of one's own: every combination of its settings."""
    table = dict(given)
    refuse_others(table, ("worlds", "sizes", "label_fractions", "seeds"), "grid.")
    kinds = tuple(WRONG_WORLDS)
    worlds = read_list(table, "worlds", kinds, lambda x, name: as_choice(x, name, kinds))
    sizes = read_list(table, "sizes", (1.0,), lambda x, name: as_real(x, name, 0.1, 100.0))
    fractions = read_list(
        table, "label_fractions", (0.01, 0.05), lambda x, name: as_real(x, name, 1e-4, 0.9)
    )
    seeds = read_list(table, "seeds", SEEDS, lambda seed, name: as_whole(seed, name, 0, 2**31))
    return [
        cell
        for size in sizes
        for cell in wrong_grid(tuple(worlds), tuple(fractions), tuple(seeds), size)
    ]
