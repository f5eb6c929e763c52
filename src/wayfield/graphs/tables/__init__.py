"""Graphs, labels and positions from files, by the names their vertices have there.

>>> from wayfield.graphs.tables import read_edges, read_labels, read_positions

A file is recognised by its content: text with any common delimiter (plain, or compressed by gzip,
bzip2 or xz), or Parquet (which needs the extra ``files``). The roles of columns are guessed, and
the guess is reported. A file that cannot be read raises `InputError` with the file, the row and the
column.
"""

from .read import (
    EdgeTable,
    VertexTable,
    are_pairs,
    read_edges,
    read_labels,
    read_positions,
)
from .sheet import Style
from .write import Outbox, check_outputs, write_table

__all__ = [
    "EdgeTable",
    "Outbox",
    "Style",
    "VertexTable",
    "are_pairs",
    "check_outputs",
    "read_edges",
    "read_labels",
    "read_positions",
    "write_table",
]
