"""wayfield: from a few known values on a graph to a plan, and a proof of how far to trust it."""

from .errors import InputError, InputWarning, NotConverged, WayfieldError
from .extension import Extension, Status, extend
from .graph import Graph
from .labels import Labels, fill_distance
from .layouts import Layout, layout_names, load_layout
from .oracle import cost_to_go, sample_labels

__version__ = "0.1.0"

__all__ = [
    "Extension",
    "Graph",
    "InputError",
    "InputWarning",
    "Labels",
    "Layout",
    "NotConverged",
    "Status",
    "WayfieldError",
    "cost_to_go",
    "extend",
    "fill_distance",
    "layout_names",
    "load_layout",
    "sample_labels",
]
