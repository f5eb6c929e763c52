"""Mazes as plain data: the benchmark maps by name, and your own from text.

A layout is a rectangular grid of cells, each wall or free. Rows are numbered from the top and
columns from the left, both from 0, so ``free[row, column]`` reads like the text it came from.

The text alphabet is ``#`` for wall and ``.``, ``O`` or a space for free; the benchmarks' markers
``S`` and ``R`` (start, reset), ``G`` (goal) and ``C`` (either) are free cells and nothing more.
Digits and arrows mean nothing yet and are refused, so that they can mean something later.

The maps hold the walls of these sources, in this library's own notation:

- D4RL (Fu et al., 2020): ``d4rl/pointmaze/maze_model.py`` (LARGE_MAZE, MEDIUM_MAZE, SMALL_MAZE,
  U_MAZE, their _EVAL variants, OPEN) and ``d4rl/locomotion/maze_env.py`` (U_MAZE, BIG_MAZE,
  HARDEST_MAZE and their _EVAL variants), at github.com/Farama-Foundation/D4RL.
- Gymnasium-Robotics 1.4.2: ``gymnasium_robotics/envs/maze/maps.py`` (U_MAZE, OPEN, MEDIUM_MAZE,
  LARGE_MAZE; the _DIVERSE variants differ in markers only).
- OGBench 1.2.2 (Park et al., 2025): ``ogbench/locomaze/maze.py`` (arena, medium, large, giant,
  teleport).

Where two of them have a map of the same name, its walls agree.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wayfield.errors import InputError

__all__ = ["Layout", "layout_names", "load_layout"]

_WALL = "#"
_FREE = ".O SRGC"

_MAPS = {
    # D4RL, Gymnasium-Robotics; "-eval" and "small" in D4RL only.
    "umaze": "##### #...# ###.# #...# #####",
    "umaze-eval": "##### #...# #.### #...# #####",
    "small": "###### #....# #.##.# #....# ######",
    "open": "####### #.....# #.....# #.....# #######",
    # OGBench.
    "arena": "######## #......# #......# #......# #......# #......# #......# ########",
    # D4RL, Gymnasium-Robotics, OGBench; "-eval" in D4RL only.
    "medium": "######## #..##..# #..#...# ##...### #..#...# #.#..#.# #...#..# ########",
    "medium-eval": "######## #......# #.#.##.# #....#.# ###..### #......# #..##..# ########",
    "large": """
        ############
        #....#.....#
        #.##.#.#.#.#
        #......#...#
        #.####.###.#
        #..#.#.....#
        ##.#.#.#.###
        #..#...#...#
        ############
        """,
    "large-eval": """
        ############
        #..#...#...#
        ##.###.#.#.#
        #..#.#.....#
        #.##.#..##.#
        #......#...#
        #.##.#.#.###
        #....#.....#
        ############
        """,
    # OGBench. Entering (4, 6) or (5, 1) sends the agent to (1, 7), (6, 1) or (6, 10), each with
    # probability 1/3. These are walls only: (1, 7) has no free neighbour and stands alone.
    "teleport": """
        ############
        #.....#.#..#
        ##.#...#..##
        ##.###.....#
        #....#.#.#.#
        #.##.#.#.#.#
        #.##.#.#.#.#
        #....#...#.#
        ############
        """,
    # OGBench.
    "giant": """
        ################
        #.#......##....#
        #.#.##.#.#..##.#
        #...#..#...#...#
        #.###.######.#.#
        #...#...#....#.#
        ###.#.#..#.#.###
        #...#..#...#...#
        #.#.#.######.#.#
        #.###...#...##.#
        #.....#...#....#
        ################
        """,
}

_PREFIX = re.compile(r"(visual-)?(pointmaze|maze2d|antmaze|humanoidmaze|antsoccer)-")
_VERSION = re.compile(r"-v\d+$")


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """A maze: which cells of a rectangular grid are free.

    Two layouts are equal when their cells are; the name is a label and does not count.

    Parameters
    ----------
    name : str
        What to call it.
    free : (rows, columns) array of bool
        True where a cell is free. Copied, and read-only afterwards.

    Raises
    ------
    InputError
        If `free` is not a two-dimensional boolean array with at least one free cell.

    Examples
    --------
    >>> Layout("corner", np.array([[True, True], [False, True]]))
    Layout('corner', 2x2, 3 free)
    """

    name: str
    free: NDArray[np.bool_]

    def __post_init__(self) -> None:
        free = np.array(self.free, order="C")
        if free.dtype != np.bool_:
            raise InputError(f"free must be a boolean array (True is free), not {free.dtype}")
        if free.ndim != 2:
            raise InputError(f"free must have two dimensions, not shape {free.shape}")
        if not free.any():
            raise InputError(f"layout {self.name!r} of shape {free.shape} has no free cell")
        free.setflags(write=False)
        object.__setattr__(self, "free", free)

    @classmethod
    def from_text(cls, text: str, name: str = "custom") -> Layout:
        r"""Read a layout from text, one line per row.

        Blank lines before the first row and after the last are dropped, and so is the
        indentation that all rows share: at those edges write a free cell as ``.``, not a space.

        Parameters
        ----------
        text : str
            The maze: ``#`` is wall; ``.``, ``O``, space, ``S``, ``R``, ``G`` and ``C`` are free.
        name : str, optional
            What to call it.

        Raises
        ------
        InputError
            If there is no row or no free cell, if two rows differ in length, or at a character
            outside the alphabet; row and column are counted from 0 after the dropped lines
            and indentation.

        Examples
        --------
        >>> Layout.from_text("####\n#..#\n####")
        Layout('custom', 3x4, 2 free)
        """
        rows = _rows(text)
        for number, row in enumerate(rows):
            _check_row(row, number, len(rows[0]))
        return cls(name, np.array([[cell != _WALL for cell in row] for row in rows]))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self.free.shape
        return rows, columns

    @property
    def num_free(self) -> int:
        """Number of free cells."""
        return int(np.count_nonzero(self.free))

    def to_text(self) -> str:
        """Write the cells as ``#`` and ``.``; `from_text` reads them back.

        Examples
        --------
        >>> print(load_layout("umaze").to_text())
        #####
        #...#
        ###.#
        #...#
        #####
        """
        return self._draw(_WALL, ".")

    def render(self) -> str:
        """Draw the maze for a terminal, two characters per cell so that cells look square.

        Examples
        --------
        >>> print(load_layout("umaze").render())
        ██████████
        ██      ██
        ██████  ██
        ██      ██
        ██████████
        """
        return self._draw("██", "  ")

    def _draw(self, wall: str, free: str) -> str:
        return "\n".join("".join(free if cell else wall for cell in row) for row in self.free)

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"Layout({self.name!r}, {rows}x{columns}, {self.num_free} free)"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return np.array_equal(self.free, other.free)

    def __hash__(self) -> int:
        return hash((self.shape, self.free.tobytes()))

    def __reduce__(self) -> tuple[type[Layout], tuple[str, NDArray[np.bool_]]]:
        return type(self), (self.name, self.free)  # a copy is read-only too


def layout_names() -> tuple[str, ...]:
    """Names that `load_layout` knows, without their aliases, from the smallest grid up."""
    return tuple(_MAPS)


def load_layout(name: str) -> Layout:
    """Load a benchmark map by its name.

    The benchmarks' own spellings are accepted: upper or lower case, ``_`` for ``-``, a task
    before the name (``pointmaze-``, ``maze2d-``, ``antmaze-``, ``humanoidmaze-``,
    ``antsoccer-``, each with or without ``visual-``), ``eval-`` before it instead of ``-eval``
    after, and a version such as ``-v0`` at the end.

    Parameters
    ----------
    name : str
        One of `layout_names`, or an alias.

    Returns
    -------
    Layout
        The map, under its canonical name.

    Raises
    ------
    InputError
        If no map has this name; the message lists those there are and the nearest one.

    Examples
    --------
    >>> load_layout("antmaze-large")
    Layout('large', 9x12, 46 free)
    >>> load_layout("PointMaze_Medium-v3")
    Layout('medium', 8x8, 26 free)
    """
    if not isinstance(name, str):
        raise InputError(f"a layout name is a string, not {name!r}")
    key = _canonical(name)
    if key not in _MAPS:
        near = difflib.get_close_matches(key, _MAPS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"unknown layout {name!r}; known are {', '.join(_MAPS)}{hint}")
    return Layout.from_text("\n".join(_MAPS[key].split()), name=key)


def _canonical(name: str) -> str:
    """Strip what the benchmarks add to a map's name."""
    key = name.strip().lower().replace("_", "-")
    key = _VERSION.sub("", key)
    key = key[match.end() :] if (match := _PREFIX.match(key)) else key
    return f"{key[5:]}-eval" if key.startswith("eval-") else key


def _rows(text: str) -> list[str]:
    """Split text into rows, without blank lines at the ends and without shared indentation."""
    if not isinstance(text, str):
        raise InputError(f"a layout's text is a string, not {text!r}")
    lines = text.splitlines()
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if not filled:
        raise InputError(f"a layout needs at least one row, not {text!r}")
    margin = min(len(lines[number]) - len(lines[number].lstrip()) for number in filled)
    return [line[margin:] for line in lines[filled[0] : filled[-1] + 1]]


def _check_row(row: str, number: int, length: int) -> None:
    """Raise unless the row has this length and only known characters."""
    if len(row) != length:
        raise InputError(f"row {number} has {len(row)} cells, but row 0 has {length}")
    for column, cell in enumerate(row):
        if cell != _WALL and cell not in _FREE:
            raise InputError(
                f"unknown character {cell!r} at row {number}, column {column}; "
                f"{_WALL!r} is wall, any of {_FREE!r} is free"
            )
