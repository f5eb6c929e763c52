"""Mazes as plain data: the benchmark maps by name, and your own from text.

A layout is a rectangular grid of cells, each wall or free. Rows are numbered from the top and
columns from the left, both from 0, so ``free[row, column]`` reads like the text it came from.

**Terrain.** A free cell has a cost, a whole number from 1 to 9. A step costs the mean of the costs
of the two cells it joins, so it costs the same both ways and terrain alone is undirected.

**One-way cells.** A free cell may hold an arrow. No step into an arrow cell or within it goes
against the arrow, and the only way out is along it. An arrow cell costs 1.

**Teleports** lead from one free cell to another, beside the steps and whatever the arrows.

The text alphabet is ``#`` for wall and ``.``, ``O`` or a space for free; the benchmarks' markers
``S`` and ``R`` (start, reset), ``G`` (goal) and ``C`` (either) are free cells and nothing more.
``1`` to ``9`` are free cells of that cost, and ``^``, ``v``, ``<`` and ``>`` arrow cells. Under the
cells a line such as ``4,6 -> 1,7 6,1`` gives the teleports out of row 4, column 6.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._arrays import as_whole, frozen, refuse
from ._maps import MAPS
from ._maze_text import ARROWS, COSTS, Cell, MazeParts, read_maze, write_maze
from .errors import InputError

__all__ = ["Layout", "layout_names", "load_layout"]

_PREFIX = re.compile(r"(visual-)?(pointmaze|maze2d|antmaze|humanoidmaze|antsoccer)-")
_VERSION = re.compile(r"-v\d+$")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Layout:
    """A maze: which cells of a rectangular grid are free, what they cost and where they lead.

    Two layouts are equal when all but their names are; the name is a label and does not count.

    Parameters
    ----------
    name : str
        What to call it.
    free : (rows, columns) array of bool
        True where a cell is free. Copied, and read-only afterwards, as the other arrays are.
    costs : (rows, columns) array of int, optional
        Costs of the free cells, from 1 to 9; 1 if not given. What stands at walls does not count,
        and is 1 in the layout.
    arrows : (rows, columns) array of str, optional
        ``"^"``, ``"v"``, ``"<"`` or ``">"`` in arrow cells, ``""`` elsewhere.
    teleports : iterable of ((row, column), (row, column)), optional
        Entries and exits. Kept sorted; one given twice counts once.

    Raises
    ------
    InputError
        If `free` is not a two-dimensional boolean array with at least one free cell, a cost or an
        arrow is none, an arrow stands at a wall or in a cell whose cost is not 1, or a teleport
        does not join two different free cells.

    Examples
    --------
    >>> Layout("corner", np.array([[True, True], [False, True]]))
    Layout('corner', 2x2, 3 free)
    """

    name: str
    free: NDArray[np.bool_]
    costs: NDArray[np.int64]
    arrows: NDArray[np.str_]
    teleports: tuple[tuple[Cell, Cell], ...]

    def __init__(
        self,
        name: str,
        free: ArrayLike,
        costs: ArrayLike | None = None,
        arrows: ArrayLike | None = None,
        teleports: Iterable[tuple[Cell, Cell]] = (),
    ) -> None:
        cells = _checked_free(name, free)
        cost = np.ones(cells.shape, np.int64) if costs is None else _checked_costs(costs, cells)
        arrow = np.full(cells.shape, "") if arrows is None else _checked_arrows(arrows, cells)
        refuse((arrow != "") & (cost != 1), cost, "costs", "is in an arrow cell, which costs 1")
        fields = {"name": name, "free": cells, "costs": frozen(cost), "arrows": frozen(arrow)}
        for field, value in fields.items():
            object.__setattr__(self, field, value)
        object.__setattr__(self, "teleports", _checked_teleports(teleports, cells))

    @classmethod
    def from_text(cls, text: str, name: str = "custom") -> Layout:
        r"""Read a layout from text, one line per row and then one for each cell with teleports.

        Blank lines before the first row and after the last are dropped, and so is the
        indentation that all rows share: at those edges write a free cell as ``.``, not a space.

        Parameters
        ----------
        text : str
            The maze: ``#`` is wall; ``.``, ``O``, space, ``S``, ``R``, ``G`` and ``C`` are free;
            ``1`` to ``9`` are free at that cost; ``^``, ``v``, ``<`` and ``>`` are one-way.
        name : str, optional
            What to call it.

        Raises
        ------
        InputError
            If there is no row or no free cell, if two rows differ in length, at a character
            outside the alphabet, or at a line of teleports that cannot be read; row and column
            are counted from 0 after the dropped lines and indentation.

        Examples
        --------
        >>> Layout.from_text("####\n#..#\n####")
        Layout('custom', 3x4, 2 free)
        >>> Layout.from_text("######\n#.>59#\n######\n1,1 -> 1,3 1,4")
        Layout('custom', 3x6, 4 free, costs 1 to 9, 1 one-way, 2 teleports)
        """
        return cls(name, *read_maze(text))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self.free.shape
        return rows, columns

    @property
    def num_free(self) -> int:
        """Number of free cells."""
        return int(np.count_nonzero(self.free))

    @property
    def is_unit(self) -> bool:
        """Whether every cell costs 1."""
        return bool((self.costs == 1).all())

    @property
    def directed(self) -> bool:
        """Whether there is an arrow or a teleport, so that some moves have no way back."""
        return bool(self.teleports) or bool((self.arrows != "").any())

    def without_teleports(self) -> Layout:
        """Return the same cells without their teleports.

        Examples
        --------
        >>> load_layout("teleport")
        Layout('teleport', 9x12, 45 free, 6 teleports)
        >>> load_layout("teleport").without_teleports()
        Layout('teleport', 9x12, 45 free)
        """
        return replace(self, teleports=())

    def to_text(self) -> str:
        """Write the cells and the teleports; `from_text` reads them back.

        Examples
        --------
        >>> print(load_layout("umaze").to_text())
        #####
        #...#
        ###.#
        #...#
        #####
        """
        return self._write({})

    def render(self) -> str:
        r"""Draw the maze for a terminal, two characters per cell so that cells look square.

        Examples
        --------
        >>> print(Layout.from_text("#####\n#...#\n###v#\n#55.#\n#####").render())
        ██████████
        ██      ██
        ██████v ██
        ██5 5   ██
        ██████████
        """
        wide = {"#": "██", ".": "  "} | {symbol: f"{symbol} " for symbol in COSTS + ARROWS}
        return self._write(wide)

    def _write(self, look: Mapping[str, str]) -> str:
        parts = MazeParts(self.free, self.costs, self.arrows, self.teleports)
        return write_maze(parts, look)

    def __repr__(self) -> str:
        rows, columns = self.shape
        one_way, jumps = int(np.count_nonzero(self.arrows)), len(self.teleports)
        notes = [
            "" if self.is_unit else f", costs {self.costs[self.free].min()} to {self.costs.max()}",
            f", {one_way} one-way" if one_way else "",
            f", {jumps} teleports" if jumps else "",
        ]
        return f"Layout({self.name!r}, {rows}x{columns}, {self.num_free} free{''.join(notes)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self.to_text() == other.to_text()

    def __hash__(self) -> int:
        return hash(self.to_text())

    def __reduce__(self) -> tuple[type[Layout], tuple[Any, ...]]:
        # a copy is read-only too
        return type(self), (self.name, self.free, self.costs, self.arrows, self.teleports)


def layout_names() -> tuple[str, ...]:
    """Names that `load_layout` knows, without their aliases, from the smallest grid up.

    Examples
    --------
    >>> layout_names()[:3]
    ('umaze', 'umaze-eval', 'small')
    """
    return tuple(MAPS)


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
    if key not in MAPS:
        near = difflib.get_close_matches(key, MAPS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"unknown layout {name!r}; known are {', '.join(MAPS)}{hint}")
    return Layout.from_text(MAPS[key], name=key)


def _canonical(name: str) -> str:
    """Strip what the benchmarks add to a map's name."""
    key = name.strip().lower().replace("_", "-")
    key = _VERSION.sub("", key)
    key = key[match.end() :] if (match := _PREFIX.match(key)) else key
    return f"{key[5:]}-eval" if key.startswith("eval-") else key


def _checked_free(name: str, free: ArrayLike) -> NDArray[np.bool_]:
    cells = np.array(free, order="C")
    if cells.dtype != np.bool_:
        raise InputError(f"free must be a boolean array (True is free), not {cells.dtype}")
    if cells.ndim != 2:
        raise InputError(f"free must have two dimensions, not shape {cells.shape}")
    if not cells.any():
        raise InputError(f"layout {name!r} of shape {cells.shape} has no free cell")
    return frozen(cells)


def _checked_costs(costs: ArrayLike, free: NDArray[np.bool_]) -> NDArray[np.int64]:
    array = _like_cells(costs, "costs", "iu", free)
    refuse(free & ((array < 1) | (array > 9)), array, "costs", "is not from 1 to 9")
    return np.where(free, array, 1).astype(np.int64)


def _checked_arrows(arrows: ArrayLike, free: NDArray[np.bool_]) -> NDArray[np.str_]:
    array = _like_cells(arrows, "arrows", "U", free)
    refuse(~np.isin(array, ["", *ARROWS]), array, "arrows", f"is not one of {', '.join(ARROWS)}")
    refuse((array != "") & ~free, array, "arrows", "is at a wall")
    return array.astype("U1")


def _like_cells(values: ArrayLike, name: str, kinds: str, free: NDArray[np.bool_]) -> NDArray[Any]:
    """Return `values` as an array of one of these kinds, an entry for every cell."""
    try:
        array = np.array(values)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error
    if array.dtype.kind not in kinds:
        what = "strings" if kinds == "U" else "whole numbers"
        raise InputError(f"{name} must be {what}, not {array.dtype}")
    if array.shape != free.shape:
        raise InputError(f"{name} must have the shape of free, {free.shape}, not {array.shape}")
    return array


def _checked_teleports(
    teleports: Iterable[tuple[Cell, Cell]], free: NDArray[np.bool_]
) -> tuple[tuple[Cell, Cell], ...]:
    if not isinstance(teleports, Iterable):
        raise InputError(f"teleports must be pairs of cells, not {teleports!r}")
    checked = set()
    for number, pair in enumerate(teleports):
        name = f"teleports[{number}]"
        try:
            entry, exit_ = ((row, column) for row, column in pair)
        except (TypeError, ValueError):
            raise InputError(
                f"{name} must be ((row, column), (row, column)), not {pair!r}"
            ) from None
        entry, exit_ = _free_cell(entry, name, free), _free_cell(exit_, name, free)
        if entry == exit_:
            raise InputError(f"{name} leads from {entry} to itself")
        checked.add((entry, exit_))
    return tuple(sorted(checked))


def _free_cell(cell: Cell, name: str, free: NDArray[np.bool_]) -> Cell:
    row, column = (as_whole(place, f"a cell of {name}", least=0) for place in cell)
    rows, columns = free.shape
    if row >= rows or column >= columns or not free[row, column]:
        raise InputError(f"{name}: {(row, column)} is not a free cell of {rows}x{columns} cells")
    return row, column
