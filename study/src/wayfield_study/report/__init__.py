"""Reports: charts, tables and one page, drawn from what experiments stored. Nothing is solved."""

from .charts import TONES, Chart, Look, against, chart, scatter
from .graphs import drawn_graph, graph_drawing
from .page import Block, Cover, Provenance, Tile, holds_earlier_report, render, write_report
from .pictures import Gallery, Picture
from .section import Finding, Mark, Section
from .svg import SHAPES, Scale, Series
from .tables import Table
from .text import plural, power

__all__ = [
    "SHAPES",
    "TONES",
    "Block",
    "Chart",
    "Cover",
    "Finding",
    "Gallery",
    "Look",
    "Mark",
    "Picture",
    "Provenance",
    "Scale",
    "Section",
    "Series",
    "Table",
    "Tile",
    "against",
    "chart",
    "drawn_graph",
    "graph_drawing",
    "holds_earlier_report",
    "plural",
    "power",
    "render",
    "scatter",
    "write_report",
]
