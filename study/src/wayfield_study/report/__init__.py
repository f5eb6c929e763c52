"""Reports: charts, tables and one page, drawn from what experiments stored. Nothing is solved."""

from .charts import (
    SHAPES,
    TONES,
    Chart,
    Figures,
    Look,
    Series,
    against,
    chart,
    drawn_graph,
    graph_drawing,
    render,
    scatter,
)
from .page import Block, Cover, Mark, Provenance, Section, StudyFinding, Tile, write_report
from .tables import Table, power

__all__ = [
    "SHAPES", "TONES", "Block", "Chart", "Cover", "Figures", "Look", "Mark", "Provenance",
    "Section", "Series", "StudyFinding", "Table", "Tile", "against", "chart", "drawn_graph",
    "graph_drawing", "power", "render", "scatter", "write_report",
]  # fmt: skip
