"""Cells that are mazes: one map at one resolution, one label fraction, one seed.

Everything random in a cell comes from a `numpy.random.SeedSequence` of (maze, resolution, label
fraction, seed) alone, so a cell's results do not depend on which others run, in what order, or
on how many workers.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from math import isqrt
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import wayfield as wf
from wayfield.checks import as_whole
from wayfield.graphs.layouts import read_maze_file
from wayfield.typing import FloatArray

from ..engine import Experiment, Profile, Row
from ..engine.config import check_size, read_list, real, refuse_others, whole
from ..engine.freshness import code_of
from ..paper.grid import LABEL_FRACTIONS, MAZES, PAIRS, PAPER_APART, REFINEMENTS, SEEDS
from ..report import Section
from .methods import find_method

SAMPLE = """\
# A study of your own: every experiment runs on every combination of the settings below.
# Leave a line out to have the paper's values.

[grid]
mazes = ["medium", "large"]        # names of maps, or text files beside this one: "mine.txt"
refinements = [4, 8, 12]           # vertices along the side of a maze cell
label_fractions = [0.02, 0.05]     # share of the vertices that are labelled
# label_counts = [1, 2, 4, 8, 16]  # or beside them: numbers of labels besides the goal's
seeds = [54, 55, 56]
goals = 32                         # per cell, each with 512 // goals starts
experiments = ["rollout"]          # also your own: "module:NAME", see the documentation
# methods = ["amle", "mine:game"]  # in place of the experiment's: names, or your own
"""

MOST_MAZE_VERTICES = 10**8
"""Vertices of the largest maze of a study of one's own."""


@dataclass(frozen=True)
class MazeCell:
    """Settings of one cell.

    Attributes
    ----------
    maze : str
        Name of a map, or of a maze of one's own: see `own_maze`.
    refinement : int
        Vertices along the side of a maze cell, r.
    label_fraction : float
        Share of the vertices that are labelled, lf; 0 with a label count.
    seed : int
        One of the study's seeds.
    goals : int
        Number of goals, at most 512; each has ``512 // goals`` starts.
    text : str
        Of a maze of one's own; empty for the maps known by name.
    label_count : int
        Number of labels besides the goal's, in place of a fraction, which is 0 then.
    method : str
        The method to run, by its name or as ``"module:name"``; empty for the experiment's own.
    """

    maze: str
    refinement: int
    label_fraction: float
    seed: int
    goals: int = 32
    text: str = ""
    label_count: int = 0
    method: str = ""

    def __post_init__(self) -> None:
        if (self.label_fraction > 0.0) == (self.label_count > 0):
            raise wf.InputError(
                "a cell needs a label fraction above 0 or a label count, not both, got "
                f"{self.label_fraction:g} and {self.label_count}"
            )
        if not 1 <= self.goals <= PAIRS:
            raise wf.InputError(f"the number of goals must be from 1 to {PAIRS}, got {self.goals}")
        if self.text and self.maze != own_maze(self.maze.partition("@")[0], self.text):
            raise wf.InputError(f"{self.maze!r} does not name its text: see own_maze")

    @property
    def columns(self) -> Row:
        """The settings; the name of a user's own maze holds a digest of it."""
        hidden = ("text",) if self.method else ("text", "method")
        return {name: value for name, value in asdict(self).items() if name not in hidden}

    @property
    def code(self) -> str:
        """Digest of the module that a method of one's own comes from."""
        return code_of(self.method.partition(":")[0]) if ":" in self.method else ""

    @property
    def starts(self) -> int:
        """Number of starts for every goal."""
        return PAIRS // self.goals

    @property
    def graph(self) -> wf.Graph:
        """The maze with r × r vertices for every free cell."""
        layout = (
            wf.Layout.from_text(self.text, self.maze) if self.text else wf.load_layout(self.maze)
        )
        return wf.grid_graph(layout, self.refinement)

    def draw(self) -> Draw:
        """Build the graph and draw its labels, goals and starts.

        Examples
        --------
        >>> drawn = MazeCell("medium", 4, 0.02, 54).draw()
        >>> drawn.graph.num_vertices, drawn.starts.shape, drawn.labels[0]
        (416, (32, 16), Labels(9 vertices, values 0 to 28))
        """
        graph = self.graph
        n = graph.num_vertices
        for_labels, for_goals, for_starts = seeds_of(self, self.label_count).spawn(3)
        goals = np.random.default_rng(for_goals).choice(n, self.goals, replace=self.goals > n)
        seed = int(for_labels.generate_state(1)[0])
        truths = [wf.cost_to_go(graph, int(goal)) for goal in goals]
        rng = np.random.default_rng(for_starts)
        starts = draw_starts(truths, self.starts, PAPER_APART * self.refinement, rng)
        many = (
            {"count": self.label_count} if self.label_count else {"fraction": self.label_fraction}
        )
        labels = [wf.sample_labels(graph, int(goal), seed=seed, **many) for goal in goals]
        return Draw(graph, goals, starts, truths, labels, seed)


@dataclass(frozen=True, eq=False)
class Draw:
    """What a cell's seed settles: the graph's goals, starts and labels.

    Attributes
    ----------
    goals : (goals,) int64 array
        Different vertices, if there are enough.
    starts : (goals, starts) int64 array
        Starts of every goal, at least `PAPER_APART` maze cells from it.
    truths : list of (n,) float arrays
        Cost-to-go to every goal.
    labels : list of Labels
        Exact labels for every goal: the same vertices, and the goal.
    label_seed : int
        Seed of the labels, which all goals share.
    """

    graph: wf.Graph
    goals: NDArray[np.int64]
    starts: NDArray[np.int64]
    truths: list[FloatArray]
    labels: list[wf.Labels]
    label_seed: int


def seeds_of(cell: Any, label_count: int = 0) -> np.random.SeedSequence:
    """Return the seed sequence from which everything random in a maze cell is drawn."""
    maze = int.from_bytes(cell.maze.encode())
    parts = [maze, cell.refinement, round(cell.label_fraction * 1e6), cell.seed]
    parts += [label_count] if label_count else []
    return np.random.SeedSequence(parts)


def draw_starts(
    truths: Sequence[FloatArray], count: int, least: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Draw starts for every goal, uniformly among the vertices at least so far from it.

    Where a graph is too small for that, the farthest vertices are meant.

    Examples
    --------
    >>> draw_starts([np.arange(4.0)], 5, least=3, rng=np.random.default_rng(0))
    array([[3, 3, 3, 3, 3]])
    """
    drawn = [
        rng.choice(np.flatnonzero(truth >= min(max(least, 1.0), truth.max())), count)
        for truth in truths
    ]
    return np.array(drawn, dtype=np.int64)


def grid(
    mazes: Iterable[str] = MAZES,
    refinements: Iterable[int] = REFINEMENTS,
    label_fractions: Iterable[float] = LABEL_FRACTIONS,
    seeds: Iterable[int] = SEEDS,
    goals: int = 32,
    label_counts: Iterable[int] = (),
) -> list[MazeCell]:
    """List all combinations, seed by seed; the paper's 120 cells by default.

    Seeds come first so that a run's early figures, and its estimate of the time left, speak for
    the whole. Numbers of labels, if any, come before the fractions.
    """
    labels = [*((0.0, count) for count in label_counts), *((lf, 0) for lf in label_fractions)]
    return [
        MazeCell(maze, r, lf, seed, goals, label_count=count)
        for seed, maze, r, (lf, count) in product(seeds, mazes, refinements, labels)
    ]


def cells_by_profile(
    quick: Callable[..., list[MazeCell]], whole: Callable[..., list[MazeCell]], /, **most: int
) -> Callable[[Profile], list[MazeCell]]:
    """Return where an experiment runs: on one grid if it is to be quick, otherwise on another.

    Both are `grid` with settings but for the goals, of which there are at most `most` by the name
    of the profile.
    """
    return lambda profile: (quick if profile.name == "quick" else whole)(
        goals=profile.at_most(**most)
    )


M = TypeVar("M", bound=MazeCell)


def maze_experiment(
    name: str,
    title: str,
    version: int,
    run: Callable[[M], list[Row]],
    cells: Callable[[Profile], list[M]],
    weight: float,
    *sections: Section,
    **settings: Any,
) -> Experiment[M]:
    """Return an experiment on mazes; for the settings see `Experiment`.

    `weight` is the effort for every goal and vertex of a maze cell's side. A study of one's own can
    run the experiment on its grid, unless ``read_grid=None``.
    """

    def effort(cell: M) -> float:
        return weight * cell.goals * cell.refinement**2

    settings = {"read_grid": read_grid} | settings
    return Experiment(name, title, version, run, cells, effort, sections=sections, **settings)


# -------------------------------------------------------------------- mazes of one's own


def own_maze(stem: str, text: str) -> str:
    """Name a maze of one's own.

    A digest of the text is part of its name, so that a maze that was edited is another one, and
    none passes for a map known by name.

    Examples
    --------
    >>> own_maze("mine", "..")
    'mine@5ec1f7'
    """
    return f"{stem}@{hashlib.sha256(text.encode()).hexdigest()[:6]}"


def read_grid(given: Mapping[str, Any], folder: Path) -> list[MazeCell]:
    """Read the ``[grid]`` of a study of one's own: every combination of its settings.

    Parameters
    ----------
    given : mapping
        Settings by name; those left out have the paper's values.
    folder : Path
        Where mazes of one's own are looked for.
    """
    table = dict(given)
    labels = ("label_fractions", "label_counts")
    refuse_others(table, ("mazes", "refinements", *labels, "seeds", "goals", "methods"), "grid.")
    mazes = read_list(table, "mazes", MAZES, lambda maze, name: _maze(maze, name, folder))
    layouts = [wf.Layout.from_text(text) if text else wf.load_layout(maze) for maze, text in mazes]
    finest = isqrt(MOST_MAZE_VERTICES // max(layout.num_free for layout in layouts))
    refinements = read_list(table, "refinements", REFINEMENTS, whole(1, finest))
    smallest = min(layout.num_free for layout in layouts) * min(refinements) ** 2
    counts: list[int] = []
    if "label_counts" in table:
        counts = read_list(table, "label_counts", (), whole(1, smallest))
    fractions: list[float] = []
    if not counts or "label_fractions" in table:
        fractions = read_list(table, "label_fractions", LABEL_FRACTIONS, real(0.0, 1.0))
    if 0.0 in fractions:
        raise wf.InputError(f"grid.label_fractions[{fractions.index(0.0)}] must be more than 0")
    seeds = read_list(table, "seeds", SEEDS, whole(0, 2**63 - 1))
    goals = as_whole(table.get("goals", 32), "grid.goals", 1, PAIRS)
    methods = [""]
    if "methods" in table:
        methods = read_list(table, "methods", (), lambda value, name: _method(value, name, folder))
    check_size(mazes, refinements, [*fractions, *counts], seeds, methods)
    return [
        replace(cell, maze=maze, text=text, method=method)
        for maze, text in mazes
        for cell in grid([maze], refinements, fractions, seeds, goals, counts)
        for method in methods
    ]


def _method(value: Any, name: str, folder: Path) -> str:
    """Return the name of a method that can be found."""
    if not isinstance(value, str):
        raise wf.InputError(f"{name} must be the name of a method, got {value!r}")
    try:
        find_method(value, folder)
    except wf.InputError as error:
        raise wf.InputError(f"{name}: {error}") from error
    return value


def _maze(maze: Any, name: str, folder: Path) -> tuple[str, str]:
    """Name of a maze, and its text if it is one's own: a dot or a slash makes it a file."""
    if not isinstance(maze, str):
        raise wf.InputError(f"{name} must be the name of a map or of a text file, got {maze!r}")
    try:
        if any(mark in maze for mark in "./\\"):
            path = folder / maze
            layout = wf.Layout.from_text(read_maze_file(path), path.stem)
            text = layout.to_text()
            title = own_maze(path.stem, text)
        else:
            layout, text = wf.load_layout(maze), ""
            title = layout.name
    except OSError as error:
        raise wf.InputError(f"{name}: cannot read {maze}: {error.strerror}") from error
    except (wf.InputError, UnicodeDecodeError) as error:
        raise wf.InputError(f"{name}: {maze}: {error}") from error
    if layout.directed:
        raise wf.InputError(
            f"{name}: {maze} has one-way cells or teleports; these experiments cannot"
        )
    if layout.free.sum() < 2 or wf.grid_graph(layout).components.any():
        raise wf.InputError(f"{name}: {maze} must have two free cells or more, all in one piece")
    return title, text
