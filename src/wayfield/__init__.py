"""wayfield: from a few known values on a graph to a plan, and a proof of how far to trust it."""

from . import audit, plots
from .certify import Certificate, FillCertificate, certify
from .compare import Comparison, Score, compare
from .descending import Descending, descending
from .errors import InputError, InputWarning, NotConverged, WayfieldError
from .extension import (
    AMLE,
    Extension,
    Harmonic,
    McShane,
    MidrangeSweeps,
    NearestLabel,
    PLaplacian,
    Status,
    Whitney,
    extend,
    extend_many,
)
from .graph import Graph
from .grid import grid_graph
from .labels import Labels, fill_distance
from .layouts import Layout, layout_names, load_layout
from .oracle import cost_to_go, sample_labels
from .plan import Outcome, Plan, Rollout, plan
from .replay import ReachReport, Replay, replay_graph
from .sinks import TrimmedLabels, drop_false_sinks
from .solve import Answer, solve

__version__ = "0.1.0"

__all__ = [
    "AMLE",
    "Answer",
    "Certificate",
    "Comparison",
    "Descending",
    "Extension",
    "FillCertificate",
    "Graph",
    "Harmonic",
    "InputError",
    "InputWarning",
    "Labels",
    "Layout",
    "McShane",
    "MidrangeSweeps",
    "NearestLabel",
    "NotConverged",
    "Outcome",
    "PLaplacian",
    "Plan",
    "ReachReport",
    "Replay",
    "Rollout",
    "Score",
    "Status",
    "TrimmedLabels",
    "WayfieldError",
    "Whitney",
    "audit",
    "certify",
    "compare",
    "cost_to_go",
    "descending",
    "drop_false_sinks",
    "extend",
    "extend_many",
    "fill_distance",
    "grid_graph",
    "layout_names",
    "load_layout",
    "plan",
    "plots",
    "replay_graph",
    "sample_labels",
    "solve",
]
