"""Reports: charts, tables and one page, drawn from what experiments stored. Nothing is solved."""

from .charts import SHAPES, TONES, Chart, Figures, Look, Scale, Series, against, chart, scatter
from .drawings import drawn_graph, graph_drawing
from .page import Block, Cover, Mark, Provenance, Section, StudyFinding, Tile, write_report
from .tables import Table, power

__all__ = [
    "SHAPES", "TONES", "Block", "Chart", "Cover", "Figures", "Look", "Mark", "Provenance", "Scale",
    "Section", "Series", "StudyFinding", "Table", "Tile", "against", "chart", "drawn_graph",
    "graph_drawing", "power", "scatter", "write_report",
]  # fmt: skip
