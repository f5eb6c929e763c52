"""Reports: charts, tables and one page, drawn from what experiments stored. Nothing is solved."""

from .charts import SHAPES, TONES, Chart, Figures, Look, Scale, Series, against, chart, scatter
from .drawings import drawn_graph, graph_drawing
from .page import Block, Cover, Finding, Mark, Provenance, Section, Tile, write_report
from .tables import Table, power

__all__ = [
    "SHAPES", "TONES", "Block", "Chart", "Cover", "Figures", "Finding", "Look", "Mark",
    "Provenance", "Scale", "Section", "Series", "Table", "Tile", "against", "chart",
    "drawn_graph", "graph_drawing", "power", "scatter", "write_report",
]  # fmt: skip
