"""Mazes as text: one character per cell, and below them the teleports. See `wayfield.layouts`."""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

Cell = tuple[int, int]
"""Row and column."""

WALL = "#"
FREE = ".O SRGC"
COSTS = "123456789"
ARROWS = "^v<>"

_LARGEST = 1 << 24
"""Bytes of a maze in a file; its graph would have more vertices than memory has room for."""

_JUMP = "->"
_PLACE = "[0-9]{1,9},[0-9]{1,9}"
_TELEPORTS = re.compile(rf"\s*({_PLACE})\s*{_JUMP}\s*({_PLACE}(?:\s+{_PLACE})*)\s*")


class MazeParts(NamedTuple):
    """What the text says: arrays with an entry per cell, and entries and exits of teleports."""

    free: NDArray[np.bool_]
    costs: NDArray[np.int64]
    arrows: NDArray[np.str_]
    teleports: Iterable[tuple[Cell, Cell]]


def read_maze_file(path: Path) -> str:
    """Return the text of a file, which is not believed to be a maze, nor to end."""
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise InputError(f"larger than a maze can be: over {_LARGEST:,} bytes")
    return data.decode("utf-8-sig")


def read_maze(text: str) -> MazeParts:
    """Read a maze, or say where the text is not one."""
    if not isinstance(text, str):
        raise InputError(f"a layout's text is a string, not {reprlib.repr(text)}")
    lines = text.splitlines()
    end = next((number for number, line in enumerate(lines) if _JUMP in line), len(lines))
    rows = _rows(lines[:end], text)
    for number, row in enumerate(rows):
        _check_row(row, number, len(rows[0]))
    cells = np.array([list(row) for row in rows])
    costs = np.array([[int(cell) if cell in COSTS else 1 for cell in row] for row in rows])
    arrows = np.where(np.isin(cells, list(ARROWS)), cells, "")
    teleports = [pair for line in lines[end:] if line.strip() for pair in _read_teleports(line)]
    return MazeParts(cells != WALL, costs, arrows, teleports)


def write_maze(maze: MazeParts, look: Mapping[str, str]) -> str:
    """Write a maze that `read_maze` reads back, each character replaced by its `look` if any."""
    terrain = np.where(maze.costs > 1, maze.costs.astype(str), FREE[0])
    cells = np.where(maze.arrows != "", maze.arrows, terrain)
    rows = np.where(maze.free, cells, WALL).tolist()
    exits: dict[str, list[str]] = {}
    for entry, exit_ in maze.teleports:
        exits.setdefault("{},{}".format(*entry), []).append("{},{}".format(*exit_))
    jumps = [" ".join([entry, _JUMP, *ends]) for entry, ends in exits.items()]
    return "\n".join(["".join(look.get(cell, cell) for cell in row) for row in rows] + jumps)


def _rows(lines: list[str], text: str) -> list[str]:
    """Drop blank lines at the ends, and the indentation that all rows share."""
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if not filled:
        raise InputError(f"a layout needs at least one row, not {reprlib.repr(text)}")
    margin = min(len(lines[number]) - len(lines[number].lstrip()) for number in filled)
    return [line[margin:] for line in lines[filled[0] : filled[-1] + 1]]


def _check_row(row: str, number: int, length: int) -> None:
    """Raise unless the row has this length and only known characters."""
    if len(row) != length:
        raise InputError(
            f"row {number} has {len(row)} cells, but row 0 has {length} (counted from 0)"
        )
    for column, cell in enumerate(row):
        if cell not in WALL + FREE + COSTS + ARROWS:
            raise InputError(
                f"unknown character {cell!r} at row {number}, column {column} (counted from 0); "
                f"{WALL!r} is wall, any of {FREE!r} is free, 1 to 9 are costs, "
                f"any of {ARROWS!r} is one-way"
            )


def _read_teleports(line: str) -> list[tuple[Cell, Cell]]:
    match = _TELEPORTS.fullmatch(line)
    if match is None:
        raise InputError(
            f"cannot read the line {reprlib.repr(line.strip())} below the cells; "
            f"teleports are written as row,column {_JUMP} row,column row,column"
        )
    entry, *exits = (_read_cell(place) for place in [match[1], *match[2].split()])
    return [(entry, exit_) for exit_ in exits]


def _read_cell(place: str) -> Cell:
    row, column = place.split(",")
    return int(row), int(column)
