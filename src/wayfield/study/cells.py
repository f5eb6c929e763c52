"""The cells of the study: one maze at one resolution, one label fraction, one seed.

Everything random in a cell comes from a `numpy.random.SeedSequence` of (maze, resolution, label
fraction, seed) alone, so a cell's results do not depend on which others run, in what order, or
on how many workers.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..graph import Graph
from ..grid import grid_graph
from ..kernels._types import FloatArray
from ..labels import Labels
from ..layouts import Layout, load_layout
from ..oracle import cost_to_go, sample_labels

MAZES = ("medium", "large")
REFINEMENTS = (4, 8, 12)
LABEL_FRACTIONS = (0.02, 0.05, 0.08, 0.12)
SEEDS = (54, 55, 56, 57, 58)
PAIRS = 512
"""Start–goal pairs per cell, as in the paper; fewer if the goals do not divide them."""


@dataclass(frozen=True)
class Cell:
    """Settings of one cell.

    Attributes
    ----------
    maze : str
        Name of the layout.
    refinement : int
        Vertices along the side of a maze cell, r.
    label_fraction : float
        Share of the vertices that are labelled, lf.
    seed : int
        One of the study's seeds.
    goals : int
        Number of goals, at most 512; each has ``512 // goals`` starts.
    layout : str
        Text of a maze of one's own, which `maze` then names; empty for the maps known by name.
    """

    maze: str
    refinement: int
    label_fraction: float
    seed: int
    goals: int = 16
    layout: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.goals <= PAIRS:
            raise InputError(f"the number of goals must be from 1 to {PAIRS}, not {self.goals}")

    @property
    def key(self) -> str:
        """Name of the cell, for files and messages."""
        return (
            f"{self.maze}-r{self.refinement:02d}-lf{self.label_fraction:.3f}"
            f"-s{self.seed}-g{self.goals}"
        )

    @property
    def configuration(self) -> tuple[str, int, float]:
        """The cell without its seed: a row of the paper's tables."""
        return self.maze, self.refinement, self.label_fraction

    @property
    def starts(self) -> int:
        """Number of starts for every goal."""
        return PAIRS // self.goals


@dataclass(frozen=True, eq=False)
class Draw:
    """What a cell's seed settles: the graph's goals, starts and labels.

    Attributes
    ----------
    goals : (goals,) int64 array
        Different vertices, if there are enough.
    starts : (goals, starts) int64 array
        Starts of every goal, never the goal itself.
    truths : list of (n,) float arrays
        Cost-to-go to every goal.
    labels : list of Labels
        Exact labels for every goal: the same vertices, and the goal.
    label_seed : int
        Seed of the labels, which all goals share.
    """

    cell: Cell
    graph: Graph
    goals: NDArray[np.int64]
    starts: NDArray[np.int64]
    truths: list[FloatArray]
    labels: list[Labels]
    label_seed: int


def draw(cell: Cell) -> Draw:
    """Build a cell's graph and draw its labels, goals and starts.

    Examples
    --------
    >>> drawn = draw(Cell("medium", 4, 0.02, 54))
    >>> drawn.graph.num_vertices, drawn.starts.shape, drawn.labels[0]
    (416, (16, 32), Labels(9 vertices, values 0 to 30))
    """
    own = cell.layout
    layout = Layout.from_text(own, cell.maze) if own else load_layout(cell.maze)
    graph = grid_graph(layout, cell.refinement)
    n = graph.num_vertices
    maze = int.from_bytes(cell.maze.encode())
    parts = [maze, cell.refinement, round(cell.label_fraction * 1e6), cell.seed]
    for_labels, for_goals, for_starts = np.random.SeedSequence(parts).spawn(3)
    goals = np.random.default_rng(for_goals).choice(n, cell.goals, replace=cell.goals > n)
    others = np.random.default_rng(for_starts).integers(n - 1, size=(cell.goals, cell.starts))
    starts = others + (others >= goals[:, None])  # uniform over the vertices that are not the goal
    seed = int(for_labels.generate_state(1)[0])
    truths = [cost_to_go(graph, int(goal)) for goal in goals]
    labels = [sample_labels(graph, int(goal), cell.label_fraction, seed) for goal in goals]
    return Draw(cell, graph, goals, starts, truths, labels, seed)


def grid(
    mazes: Iterable[str] = MAZES,
    refinements: Iterable[int] = REFINEMENTS,
    label_fractions: Iterable[float] = LABEL_FRACTIONS,
    seeds: Iterable[int] = SEEDS,
    goals: int = 16,
) -> list[Cell]:
    """List all combinations, seed by seed; the paper's 120 cells by default.

    Seeds come first so that a run's early figures, and its estimate of the time left, speak for
    the whole.
    """
    combinations = product(seeds, mazes, refinements, label_fractions)
    return [Cell(maze, r, lf, seed, goals) for seed, maze, r, lf in combinations]
