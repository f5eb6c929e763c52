"""Which kind of table a file is: told by what it holds, not by its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..errors import InputError
from ._binary import ArraySheet, ParquetSheet
from ._dialect import Style
from ._sheet import Sheet, TextSheet

_OTHERS = {
    rb"SQLite format 3": (
        "a database, such as a GeoPackage: save its table of edges as CSV or Parquet"
    ),
    rb"\x00\x00\x27\x0a": "a shapefile: save its table of edges as CSV or Parquet",
    rb"%%MatrixMarket": "a Matrix Market file: save the matrix with scipy's save_npz",
    rb"version https://git-lfs": "a pointer to a file in Git LFS, not the file: git lfs pull",
    rb"(?i)(\xef\xbb\xbf)?\s*<(!doctype|html|\?xml|graphml|gexf|osm)\b": (
        "HTML or XML, not a table: save it as CSV"
    ),
    rb"(\xef\xbb\xbf)?\s*[\[{]\s*[\[{\"]": "JSON, not a table: save it as CSV",
    rb"(c[^\n]*\n)*p sp ": (
        "a DIMACS file: keep the lines that begin with a, as CSV, and pass directed=True"
    ),
}
"""What else a file may be, by its beginning."""


def open_sheet(path: str | Path, style: Style, roles: Sequence[str]) -> Sheet:
    """Open a table; `roles` are the columns one hopes to find."""
    path = Path(path)
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file")
    if path.exists() and not path.is_file():
        raise InputError(f"{path} is a stream, which cannot be read twice: save it to a file first")
    with path.open("rb") as file:
        start = file.read(200)
    if not start:
        raise InputError(f"{path} is empty")
    if start.startswith(b"PAR1") or path.suffix.lower() in (".parquet", ".pq"):
        return ParquetSheet(path)
    if path.suffix.lower() == ".npz":
        return ArraySheet(path)
    if start.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise InputError(f"{path} is a workbook or an archive: save the sheet as CSV")
    for pattern, told in _OTHERS.items():
        if re.match(pattern, start):
            raise InputError(f"{path} is {told}")
    return TextSheet(path, style, roles)
