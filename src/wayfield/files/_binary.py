"""Tables that are not text: Parquet files, and the arrays of npz files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._npz import read_arrays, refuse_bomb
from .._optional import need
from ..errors import InputError
from ._sheet import Piece, Sheet
from ._text import Progress

_SAMPLE_ROWS = 200
_BATCH = 1 << 16


class ParquetSheet(Sheet):
    """A table in a Parquet file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        parquet, pa = need("pyarrow.parquet", "files"), need("pyarrow", "files")
        try:
            self.file = parquet.ParquetFile(path)
            self.header = tuple(self.file.schema_arrow.names)
            first = next(self.file.iter_batches(_SAMPLE_ROWS), None)
            if first is not None:
                first.validate(full=True)
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path} is not a Parquet file, or is cut off: {error}") from error
        if first is None or not first.num_rows:
            raise InputError(f"{path} has columns but no rows")
        refuse_bomb(path, path.stat().st_size, self.file.metadata.num_rows)
        columns = [map(_as_cell, column.to_pylist()) for column in first.columns]
        self.rows = tuple(zip(*columns, strict=True))
        self.said = "Parquet"

    def pieces(
        self, columns: Sequence[int], progress: Progress | None = None
    ) -> Iterator[Sequence[Piece]]:
        """Read some columns, row group by row group."""
        pa = need("pyarrow", "files")
        assert self.header is not None
        wanted = [self.header[i] for i in dict.fromkeys(columns)]
        twice = next((name for name in wanted if self.header.count(name) > 1), None)
        if twice is not None:
            raise InputError(f"{self.path} has two columns {twice!r}")
        for i in range(self.file.num_row_groups):
            try:
                table = self.file.read_row_group(i, columns=wanted)
                table.validate(full=True)  # text of a damaged file need not be UTF-8
                yield [self._piece(table.column(self.header[j]), j) for j in columns]
            except (pa.ArrowException, OSError) as error:
                raise InputError(f"{self.path} is cut off or damaged: {error}") from error
            if progress is not None:
                progress(i + 1, self.file.num_row_groups)

    def cell(self, row: int, column: int) -> str:
        """Read the column again as far as the cell."""
        for (piece,) in self.pieces([column]):
            if row < len(piece):
                return _as_cell(piece[row])
            row -= len(piece)
        raise AssertionError("the file has no such row")

    def _piece(self, column: Any, index: int) -> Piece:
        """Return an Arrow column as text or as numbers."""
        pa, compute = need("pyarrow", "files"), need("pyarrow.compute", "files")
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        kind = column.type
        if pa.types.is_decimal(kind):
            column, kind = column.cast(pa.float64()), pa.float64()
        if pa.types.is_integer(kind) or pa.types.is_floating(kind):
            numbers = np.asarray(compute.fill_null(column, 0).to_numpy())
            return np.ma.masked_array(numbers, np.asarray(compute.is_null(column).to_numpy()))
        try:
            return list(compute.fill_null(column.cast(pa.string()), "").to_pylist())
        except pa.ArrowException as error:
            where = f"{self.path}, column {self.called(index)}"
            raise InputError(f"{where}: {kind} is neither a name nor a number") from error


class ArraySheet(Sheet):
    """The arrays of one ``.npz`` file, each a column; the columns of a matrix are several."""

    def __init__(self, path: Path) -> None:
        self.path = path
        columns = _columns(read_arrays(path))
        if not columns:
            raise InputError(f"{path} holds no arrays of rows")
        sizes = {name: column.size for name, column in columns.items()}
        if len(set(sizes.values())) > 1:
            told = ", ".join(f"{name} {size}" for name, size in sizes.items())
            raise InputError(f"the arrays of {path} are not of one length: {told}")
        self.header, self.arrays = tuple(columns), tuple(columns.values())
        if not self.arrays[0].size:
            raise InputError(f"{path} has arrays but no rows")
        sample = [map(_as_cell, array[:_SAMPLE_ROWS].tolist()) for array in self.arrays]
        self.rows = tuple(zip(*sample, strict=True))
        self.said = "npz"

    def pieces(
        self, columns: Sequence[int], progress: Progress | None = None
    ) -> Iterator[Sequence[Piece]]:
        """Hand over some of the arrays."""
        for start in range(0, self.arrays[0].size, _BATCH):
            yield [self._piece(i, slice(start, start + _BATCH)) for i in columns]

    def cell(self, row: int, column: int) -> str:
        """Return one entry."""
        return _as_cell(self.arrays[column][row])

    def _piece(self, column: int, rows: slice) -> Piece:
        array = self.arrays[column][rows]
        if array.dtype.kind in "biuf":
            return np.ma.masked_array(array)
        if array.dtype.kind in "US":
            return [_as_cell(entry) for entry in array.tolist()]
        where = f"{self.path}, column {self.called(column)}"
        raise InputError(f"{where}: {array.dtype} is neither a name nor a number")


def _columns(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    columns: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if array.ndim == 1:
            columns[name] = array
        elif array.ndim == 2:
            tall = array.T if array.shape[0] <= 3 < array.shape[1] else array
            columns |= {f"{name}.{i}": tall[:, i] for i in range(min(tall.shape[1], 16))}
    return columns


def _as_cell(value: object) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    return "" if value is None or value is np.ma.masked else str(value)
