"""Graphs, labels and positions from files, by the names their vertices have there.

>>> from wayfield.files import Names, read_edges, read_labels, read_positions

A file is recognised by what it holds: text with any common delimiter (plain, or packed by gzip,
bzip2 or xz), Parquet, or the arrays of an npz. Headings are guessed, and said. What cannot be read
raises `InputError` with the file, the row and the column.
"""

from ._dialect import Style
from .edges import Edges, read_edges
from .names import Names
from .vertices import VertexTable, read_labels, read_positions
from .write import Outbox, write_table

__all__ = [
    "Edges",
    "Names",
    "Outbox",
    "Style",
    "VertexTable",
    "read_edges",
    "read_labels",
    "read_positions",
    "write_table",
]
