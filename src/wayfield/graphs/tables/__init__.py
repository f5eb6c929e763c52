"""Graphs, labels, trips and positions from files, by the names their vertices have there.

>>> from wayfield.graphs.tables import read_edges, read_labels, read_positions, read_trips

A file is recognised by its content: text with any common delimiter (plain, or compressed by gzip,
bzip2 or xz), or Parquet (which needs the extra ``files``). The roles of columns are guessed, and
the guess is reported. A file that cannot be read raises `InputError` with the file, the row and the
column.
"""

from ...travel.tables import TripTable, are_trips, read_trips
from .dialect import Style
from .edges import EdgeTable, read_edges
from .vertices import VertexTable, read_labels, read_positions
from .write import Outbox, check_outputs, write_table

__all__ = [
    "EdgeTable",
    "Outbox",
    "Style",
    "TripTable",
    "VertexTable",
    "are_trips",
    "check_outputs",
    "read_edges",
    "read_labels",
    "read_positions",
    "read_trips",
    "write_table",
]
