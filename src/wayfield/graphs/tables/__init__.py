"""Graphs, labels and positions from files, by the names their vertices have there.

>>> from wayfield.graphs.tables import read_edges, read_labels, read_positions

A file is recognised by its content: text with any common delimiter (plain, or compressed by gzip,
bzip2 or xz), or Parquet (which needs the extra ``files``). The roles of columns are guessed, and
the guess is reported. A file that cannot be read raises `InputError` with the file, the row and the
column.
"""

from .read import EdgeTable as EdgeTable
from .read import VertexTable as VertexTable
from .read import are_pairs as are_pairs
from .read import headings as headings
from .read import read_edges as read_edges
from .read import read_labels as read_labels
from .read import read_positions as read_positions
from .sheet import Style as Style
from .write import Outbox as Outbox
from .write import check_outputs as check_outputs
from .write import write_table as write_table
