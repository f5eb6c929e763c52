"""Cells of a column as names or as numbers, or the place of the first that is neither."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .._optional import need
from ..errors import InputError
from ..kernels._types import BoolArray, FloatArray
from ._sheet import Sheet


def as_names(sheet: Sheet, index: int, column: Any) -> Any:
    """Return a column as text; whole numbers are written as such, and a name is never empty."""
    pa, compute = need("pyarrow", "files"), need("pyarrow.compute", "files")
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if pa.types.is_floating(kind):
        rounded = compute.round(column)
        if not compute.all(compute.equal(rounded, column)).as_py():
            raise InputError(
                f"{sheet.path}, column {sheet.called(index)}: fractions cannot be vertex names"
            )
        column = rounded.cast(pa.int64())
    try:
        names = column.cast(pa.string())
    except pa.ArrowException as error:
        raise InputError(
            f"{sheet.path}, column {sheet.called(index)}: {kind} cannot be vertex names"
        ) from error
    empty = compute.fill_null(compute.equal(names, ""), True)
    first = compute.index(empty, True).as_py()
    if first >= 0:
        raise InputError(f"{sheet.place(first, index)}: the vertex name is missing")
    return names


def as_numbers(sheet: Sheet, index: int, column: Any) -> FloatArray:
    """Return a column as floats, NaN where a cell is empty."""
    pa = need("pyarrow", "files")
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        try:
            return _floats(column.cast(pa.float64(), safe=False))
        except pa.ArrowException as error:
            where = f"{sheet.path}, column {sheet.called(index)}"
            raise InputError(f"{where}: {column.type} is not a number") from error
    for spelling in (_plain, _trimmed, *((_decimal_point,) if sheet.decimal_comma else ())):
        try:
            return _floats(spelling(column).cast(pa.float64()))
        except pa.ArrowInvalid:
            continue
    raise _not_a_number(sheet, index, column)


def empty_cells(column: Any) -> BoolArray:
    """(k,) bool: where a column has no entry."""
    pa, compute = need("pyarrow", "files"), need("pyarrow.compute", "files")
    missing = compute.is_null(column)
    if pa.types.is_string(column.type):
        missing = compute.fill_null(compute.equal(compute.utf8_trim_whitespace(column), ""), True)
    return np.asarray(missing.to_numpy(), dtype=bool)


def refuse_cells(
    bad: BoolArray, sheet: Sheet, index: int, column: Any, why: str | Callable[[str], str]
) -> None:
    """Raise `InputError` for the first bad cell of a column."""
    if bad.any():
        row = int(np.argmax(bad))
        cell = column[row].as_py()
        shown = "an empty cell" if cell in (None, "") else shortened(str(cell).strip())
        told = why if isinstance(why, str) else why(shown)
        more = int(bad.sum()) - 1
        also = f" (and {more:,} more)" if more else ""
        raise InputError(f"{sheet.place(row, index)}: {shown} {told}{also}")


def shortened(text: str, most: int = 60) -> str:
    """Return text that fits into a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _floats(column: Any) -> FloatArray:
    return np.asarray(column.to_numpy(), dtype=np.float64)


def _plain(column: Any) -> Any:
    compute = need("pyarrow.compute", "files")
    return compute.if_else(compute.equal(column, ""), None, column)


def _trimmed(column: Any) -> Any:
    return _plain(need("pyarrow.compute", "files").utf8_trim_whitespace(column))


def _decimal_point(column: Any) -> Any:
    """Turn one decimal comma into a point; 1.234,5 stays what it is, no number."""
    compute = need("pyarrow.compute", "files")
    trimmed = _trimmed(column)
    return compute.replace_substring_regex(trimmed, r"^([^.,]*),([^.,]*)$", r"\1.\2")


def _not_a_number(sheet: Sheet, index: int, column: Any) -> InputError:
    """Find the first cell that no spelling can read."""
    pa = need("pyarrow", "files")
    spell = _decimal_point if sheet.decimal_comma else _trimmed
    for row, cell in enumerate(spell(column).to_pylist()):
        try:
            pa.array([cell], pa.string()).cast(pa.float64())
        except pa.ArrowInvalid:
            text = column[row].as_py()
            return InputError(
                f"{sheet.place(row, index)}: {shortened(text)!r} is not a number{_hint(text)}"
            )
    raise AssertionError("every cell is a number")


def _hint(text: str) -> str:
    """Say how a number with commas, or with marks between its thousands, is written."""
    if re.fullmatch(r"\s*[-+]?\d+,\d+\s*", text):
        return " (write a decimal point, or semicolons between columns)"
    if re.fullmatch(r"\s*[-+]?\d{1,3}([.,_'\s]\d{3})+([.,]\d*)?\s*", text):
        return " (write nothing between thousands)"
    return ""
