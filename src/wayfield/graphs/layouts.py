"""Mazes as plain data: the benchmark maps by name, and your own from text.

A layout is a rectangular grid of cells, each wall or free. Rows are numbered from the top and
columns from the left, both from 0, so ``free[row, column]`` reads like the text it came from.

**Terrain.** A free cell has a cost, a whole number from 1 to 9. A step costs the mean of the costs
of the two cells it joins, so it costs the same both ways and terrain alone is undirected.

**One-way cells.** A free cell may hold an arrow. No step into an arrow cell or within it goes
against the arrow, and all steps out of it follow the arrow. An arrow cell costs 1.

**Teleports** lead from one free cell to another, in addition to the steps and regardless of arrows.

In the text, ``#`` is wall, and ``.``, ``O`` or a space is free. The benchmarks' markers ``S`` and
``R`` (start, reset), ``G`` (goal) and ``C`` (either) are read as free cells. ``1`` to ``9`` are
free cells of that cost, and ``^``, ``v``, ``<`` and ``>`` are arrow cells. Below the cells, a line
such as ``4,6 -> 1,7 6,1`` gives the teleports out of row 4, column 6.
"""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import as_array, as_whole, frozen, refuse
from ..errors import InputError

__all__ = ["Layout", "layout_names", "load_layout"]

Cell = tuple[int, int]
"""Row and column."""

WALL = "#"
FREE_CELLS = ".O SRGC"
COSTS = "123456789"
ARROWS = "^v<>"

_LARGEST = 1 << 24
"""Largest maze file in bytes; a larger maze would not fit into memory as a graph."""

_JUMP = "->"
_PLACE = "[0-9]{1,9},[0-9]{1,9}"
_TELEPORTS = re.compile(rf"\s*({_PLACE})\s*{_JUMP}\s*({_PLACE}(?:\s+{_PLACE})*)\s*")

_PREFIX = re.compile(r"(visual-)?(pointmaze|maze2d|antmaze|humanoidmaze|antsoccer)-")
_VERSION = re.compile(r"-v\d+$")
_MAPS = Path(__file__).with_name("maps.txt")


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Layout:
    """A maze: which cells of a rectangular grid are free, what they cost and where they lead.

    Two layouts are equal if everything but their names is equal.

    Parameters
    ----------
    name : str
        Name of the maze.
    free : (rows, columns) array of bool
        True where a cell is free. All arrays are copied and read-only.
    costs : (rows, columns) array of int, optional
        Costs of the free cells, from 1 to 9. Default: 1. Entries at walls are ignored and become 1.
    arrows : (rows, columns) array of str, optional
        ``"^"``, ``"v"``, ``"<"`` or ``">"`` in arrow cells, ``""`` elsewhere.
    teleports : iterable of ((row, column), (row, column)), optional
        Entries and exits. They are sorted, and duplicates count once.

    Raises
    ------
    InputError
        If `free` is not a two-dimensional boolean array with at least one free cell, if a cost or
        an arrow is invalid, if an arrow is at a wall or in a cell that does not cost 1, or if a
        teleport does not join two different free cells.

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
        cells = np.array(free, order="C")
        if cells.dtype != np.bool_:
            raise InputError(f"free must be a boolean array (True is free), got {cells.dtype}")
        if cells.ndim != 2:
            raise InputError(f"free must have two dimensions, got shape {cells.shape}")
        if not cells.any():
            raise InputError(f"layout {name!r} of shape {cells.shape} has no free cell")
        cost, arrow = np.ones(cells.shape, np.int64), np.full(cells.shape, "")
        if costs is not None:
            cost = _like_cells(costs, "costs", "iu", cells)
            refuse(cells & ((cost < 1) | (cost > 9)), cost, "costs", "is not from 1 to 9")
            cost = np.where(cells, cost, 1).astype(np.int64)
        if arrows is not None:
            arrow = _like_cells(arrows, "arrows", "U", cells)
            unknown = f"is not one of {', '.join(ARROWS)}"
            refuse(~np.isin(arrow, ["", *ARROWS]), arrow, "arrows", unknown)
            refuse((arrow != "") & ~cells, arrow, "arrows", "is at a wall")
            arrow = arrow.astype("U1")
        refuse((arrow != "") & (cost != 1), cost, "costs", "is in an arrow cell, which costs 1")
        fields = {"name": name, "free": frozen(cells), "costs": frozen(cost)}
        fields |= {"arrows": frozen(arrow), "teleports": _checked_teleports(teleports, cells)}
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    @classmethod
    def from_text(cls, text: str, name: str = "custom") -> Layout:
        r"""Read a layout from text: one line per row, then one line per cell with teleports.

        Blank lines before the first and after the last row are dropped, and so is the indentation
        that all rows share. So write free cells at the edges as ``.``, not as a space.

        Parameters
        ----------
        text : str
            The maze: ``#`` is wall; ``.``, ``O``, space, ``S``, ``R``, ``G`` and ``C`` are free;
            ``1`` to ``9`` are free at that cost; ``^``, ``v``, ``<`` and ``>`` are one-way.
        name : str, optional
            Name of the maze.

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
        if not isinstance(text, str):
            raise InputError(f"text must be a string, got {reprlib.repr(text)}")
        lines = text.splitlines()
        end = next((number for number, line in enumerate(lines) if _JUMP in line), len(lines))

        # the cells: without blank lines at both ends and without the indentation that all rows
        # share
        filled = [number for number, line in enumerate(lines[:end]) if line.strip()]
        if not filled:
            raise InputError(f"a layout needs at least one row, got {reprlib.repr(text)}")
        margin = min(len(lines[number]) - len(lines[number].lstrip()) for number in filled)
        rows = [line[margin:] for line in lines[filled[0] : filled[-1] + 1]]
        for number, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise InputError(
                    f"row {number} has {len(row)} cells, but row 0 has {len(rows[0])} "
                    "(counted from 0)"
                )
            for column, cell in enumerate(row):
                if cell not in WALL + FREE_CELLS + COSTS + ARROWS:
                    raise InputError(
                        f"unknown character {cell!r} at row {number}, column {column} (counted "
                        f"from 0); {WALL!r} is wall, any of {FREE_CELLS!r} is free, 1 to 9 are "
                        f"costs, any of {ARROWS!r} is one-way"
                    )
        cells = np.array([list(row) for row in rows])
        costs = [[int(cell) if cell in COSTS else 1 for cell in row] for row in rows]
        arrows = np.where(np.isin(cells, list(ARROWS)), cells, "")

        # the teleports below them
        teleports: list[tuple[Cell, Cell]] = []
        for line in lines[end:]:
            match = _TELEPORTS.fullmatch(line)
            if match is not None:
                places = [place.split(",") for place in [match[1], *match[2].split()]]
                entry, *exits = [(int(row), int(column)) for row, column in places]
                teleports += [(entry, exit_) for exit_ in exits]
            elif line.strip():
                raise InputError(
                    f"cannot read the line {reprlib.repr(line.strip())} below the cells; "
                    f"teleports are written as row,column {_JUMP} row,column row,column"
                )
        return cls(name, cells != WALL, costs, arrows, teleports)

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
        """Whether there is an arrow or a teleport, so that some moves cannot be undone."""
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
        """Return the cells and teleports as text; `from_text` reads it back.

        Examples
        --------
        >>> print(load_layout("umaze").to_text())
        #####
        #...#
        ###.#
        #...#
        #####
        """
        terrain = np.where(self.costs > 1, self.costs.astype(str), FREE_CELLS[0])
        cells = np.where(self.arrows != "", self.arrows, terrain)
        rows = np.where(self.free, cells, WALL).tolist()
        exits: dict[str, list[str]] = {}
        for entry, exit_ in self.teleports:
            exits.setdefault("{},{}".format(*entry), []).append("{},{}".format(*exit_))
        jumps = [" ".join([entry, _JUMP, *ends]) for entry, ends in exits.items()]
        return "\n".join(["".join(row) for row in rows] + jumps)

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
    """Return the names that `load_layout` knows, without aliases, smallest grid first.

    Examples
    --------
    >>> layout_names()[:3]
    ('umaze', 'umaze-eval', 'small')
    """
    return tuple(_maps())


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
        If no map has this name; the message lists the known maps and the most similar one.

    Examples
    --------
    >>> load_layout("antmaze-large")
    Layout('large', 9x12, 46 free)
    >>> load_layout("PointMaze_Medium-v3")
    Layout('medium', 8x8, 26 free)
    """
    if not isinstance(name, str):
        raise InputError(f"name must be a string, got {name!r}")
    # remove the benchmarks' prefixes and suffixes
    key = _VERSION.sub("", name.strip().lower().replace("_", "-"))
    key = key[match.end() :] if (match := _PREFIX.match(key)) else key
    key = f"{key[5:]}-eval" if key.startswith("eval-") else key
    maps = _maps()
    if key not in maps:
        near = difflib.get_close_matches(key, maps, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(f"unknown layout {name!r}; known are {', '.join(maps)}{hint}")
    return Layout.from_text(maps[key], name=key)


@cache
def _maps() -> dict[str, str]:
    """Return the text of every benchmark map, smallest grid first."""
    _, *parts = re.split(r"^\[(.+)\]\n", _MAPS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def read_maze_file(path: Path) -> str:
    """Return the text of a file, reading no more than a maze can have."""
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise InputError(f"a maze file must have at most {_LARGEST:,} bytes, got more")
    return data.decode("utf-8-sig")


def _like_cells(values: ArrayLike, name: str, kinds: str, free: NDArray[np.bool_]) -> NDArray[Any]:
    """Return `values` as an array of one of these kinds, with the shape of the cells."""
    array = as_array(values, name)
    if array.dtype.kind not in kinds:
        what = "strings" if kinds == "U" else "whole numbers"
        raise InputError(f"{name} must be {what}, got {array.dtype}")
    if array.shape != free.shape:
        raise InputError(f"{name} must have the shape of free, {free.shape}, got {array.shape}")
    return array


def _checked_teleports(
    teleports: Iterable[tuple[Cell, Cell]], free: NDArray[np.bool_]
) -> tuple[tuple[Cell, Cell], ...]:
    if not isinstance(teleports, Iterable):
        raise InputError(f"teleports must be pairs of cells, got {teleports!r}")
    checked = set()
    for number, pair in enumerate(teleports):
        name = f"teleports[{number}]"
        try:
            entry, exit_ = ((row, column) for row, column in pair)
        except (TypeError, ValueError):
            raise InputError(
                f"{name} must be ((row, column), (row, column)), got {pair!r}"
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
