"""wayfield: from a few known values on a graph to a plan, and a proof of how far to trust it."""

from . import audit, plots, sinks
from .certify import Certificate, FillCertificate, certify
from .compare import Comparison, compare
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
from .labels import Labels, TrimmedLabels, fill_distance
from .layouts import Layout, layout_names, load_layout
from .mend import (
    Contradictions,
    Drive,
    LeastRepair,
    Mended,
    Promise,
    Trips,
    contradictions,
    drive,
    mend,
    promise,
)
from .oracle import cost_to_go, sample_labels
from .plan import Outcome, Plan, Rollout, plan
from .replay import ReachReport, Replay, replay_graph

__version__ = "0.1.0"

__all__ = [
    "AMLE",
    "Certificate",
    "Comparison",
    "Contradictions",
    "Descending",
    "Drive",
    "Extension",
    "FillCertificate",
    "Graph",
    "Harmonic",
    "InputError",
    "InputWarning",
    "Labels",
    "Layout",
    "LeastRepair",
    "McShane",
    "Mended",
    "MidrangeSweeps",
    "NearestLabel",
    "NotConverged",
    "Outcome",
    "PLaplacian",
    "Plan",
    "Promise",
    "ReachReport",
    "Replay",
    "Rollout",
    "Status",
    "TrimmedLabels",
    "Trips",
    "WayfieldError",
    "Whitney",
    "audit",
    "certify",
    "compare",
    "contradictions",
    "cost_to_go",
    "descending",
    "drive",
    "extend",
    "extend_many",
    "fill_distance",
    "grid_graph",
    "layout_names",
    "load_layout",
    "mend",
    "plan",
    "plots",
    "promise",
    "replay_graph",
    "sample_labels",
    "sinks",
]
