"""Cells of a column as names, and complaints about a cell that is not what it should be."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..errors import InputError
from ..kernels._types import BoolArray
from ..names import canonical
from ._sheet import Piece, Sheet


def as_names(sheet: Sheet, index: int, piece: Piece, row: int) -> Sequence[str]:
    """Return some rows of a column, the first of them `row`, as names of vertices.

    Whole numbers are written as such; a name is never empty, and stands on one line.
    """
    names: Sequence[str]
    if not isinstance(piece, np.ma.MaskedArray):
        names = piece
    else:
        numbers, missing = piece.data, np.ma.getmaskarray(piece)
        if numbers.dtype.kind == "f":
            missing = missing | np.isnan(numbers)
            given = numbers[~missing]
            if ((np.floor(given) != given) | (np.abs(given) > 2**53)).any():
                where = f"{sheet.path}, column {sheet.called(index)}"
                raise InputError(f"{where}: fractions cannot be vertex names")
            numbers = np.where(missing, 0, numbers).astype(np.int64)
        names = [str(number) for number in numbers.tolist()]
        for i in np.flatnonzero(missing).tolist():
            names[i] = ""
    if not all(map(canonical, names)) or "\n" in "".join(names):
        _refuse_name(sheet, index, names, row)
    return names


def _refuse_name(sheet: Sheet, index: int, names: Sequence[str], row: int) -> None:
    """Complain about the first name that is empty, or runs over several lines."""
    for number, name in enumerate(names, row):
        if not canonical(name):
            raise InputError(f"{sheet.place(number, index)}: the vertex name is missing")
        if "\n" in name:
            raise InputError(
                f"{sheet.place(number, index)}: {shortened(name)!r} runs over several lines; "
                "is a quotation mark not closed?"
            )


def refuse_cells(bad: BoolArray, sheet: Sheet, index: int, why: str | Callable[[str], str]) -> None:
    """Raise `InputError` for the first bad cell of a column."""
    if bad.any():
        row = int(np.argmax(bad))
        shown = shortened(sheet.cell(row, index)) or "an empty cell"
        told = why if isinstance(why, str) else why(shown)
        more = int(bad.sum()) - 1
        also = f" (and {more:,} more)" if more else ""
        raise InputError(f"{sheet.place(row, index)}: {shown} {told}{also}")


def shortened(text: str, most: int = 60) -> str:
    """Return text that fits into a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"
