"""wayfield: from a few known values on a graph to a plan, and a proof of how far to trust it.

Names are loaded when they are first used, so that ``import wayfield`` and ``wayfield --help`` cost
nothing. `_HOMES` says which module brings which name; the block below it says the same to type
checkers and editors, and a test keeps the two alike.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

_HOMES = {
    "certify": ("Certificate", "DistanceCertificate", "certify"),
    "chance": ("Doubt", "ExpectedCost", "Transitions", "expected_cost"),
    "compare": ("Comparison", "Score", "compare"),
    "cross_validation": ("CrossValidation", "cross_validate"),
    "descending": ("Descending", "descending"),
    "errors": ("InputError", "InputWarning", "NotConverged", "WayfieldError"),
    "extension": (
        "AMLE",
        "Extension",
        "Harmonic",
        "McShane",
        "MidrangeSweeps",
        "NearestLabel",
        "PLaplacian",
        "Status",
        "Whitney",
        "extend",
        "extend_many",
    ),
    "graph": ("Graph",),
    "grid": ("grid_graph",),
    "labels": ("Labels", "label_distance"),
    "layouts": ("Layout", "layout_names", "load_layout"),
    "names": ("Names",),
    "mend": (
        "Contradictions",
        "Drive",
        "Best",
        "Both",
        "LeastRepair",
        "NoShortcuts",
        "Smooth",
        "Mended",
        "Promise",
        "Trips",
        "contradictions",
        "drive",
        "mend",
        "promise",
    ),
    "oracle": ("cost_to_go", "sample_labels"),
    "plan": ("Outcome", "Plan", "Rollout", "plan"),
    "replay": ("Planner", "ReachReport", "Replay", "replay_graph"),
    "rewards": ("costs_from_values", "values_from_costs"),
    "sinks": ("TrimmedLabels", "drop_false_sinks"),
    "solve": ("Answer", "PlanTable", "plan_many", "solve"),
    "web": ("explore",),
}
_ROOMS = ("audit", "plots", "sim")
"""Modules that are public as a whole."""
_BACK_ROOMS = ("errors", "extension", "files", "replay", "sklearn", "study")
"""Modules that can be reached from here, though few have reason to."""

if TYPE_CHECKING:
    __version__: str
    from . import audit as audit
    from . import errors as errors
    from . import extension as extension
    from . import files as files
    from . import plots as plots
    from . import replay as replay
    from . import sim as sim
    from . import sklearn as sklearn
    from . import study as study
    from .certify import Certificate as Certificate
    from .certify import DistanceCertificate as DistanceCertificate
    from .certify import certify as certify
    from .chance import Doubt as Doubt
    from .chance import ExpectedCost as ExpectedCost
    from .chance import Transitions as Transitions
    from .chance import expected_cost as expected_cost
    from .compare import Comparison as Comparison
    from .compare import Score as Score
    from .compare import compare as compare
    from .cross_validation import CrossValidation as CrossValidation
    from .cross_validation import cross_validate as cross_validate
    from .descending import Descending as Descending
    from .descending import descending as descending
    from .errors import InputError as InputError
    from .errors import InputWarning as InputWarning
    from .errors import NotConverged as NotConverged
    from .errors import WayfieldError as WayfieldError
    from .extension import AMLE as AMLE
    from .extension import Extension as Extension
    from .extension import Harmonic as Harmonic
    from .extension import McShane as McShane
    from .extension import MidrangeSweeps as MidrangeSweeps
    from .extension import NearestLabel as NearestLabel
    from .extension import PLaplacian as PLaplacian
    from .extension import Status as Status
    from .extension import Whitney as Whitney
    from .extension import extend as extend
    from .extension import extend_many as extend_many
    from .graph import Graph as Graph
    from .grid import grid_graph as grid_graph
    from .labels import Labels as Labels
    from .labels import label_distance as label_distance
    from .layouts import Layout as Layout
    from .layouts import layout_names as layout_names
    from .layouts import load_layout as load_layout
    from .mend import Best as Best
    from .mend import Both as Both
    from .mend import Contradictions as Contradictions
    from .mend import Drive as Drive
    from .mend import LeastRepair as LeastRepair
    from .mend import Mended as Mended
    from .mend import NoShortcuts as NoShortcuts
    from .mend import Promise as Promise
    from .mend import Smooth as Smooth
    from .mend import Trips as Trips
    from .mend import contradictions as contradictions
    from .mend import drive as drive
    from .mend import mend as mend
    from .mend import promise as promise
    from .names import Names as Names
    from .oracle import cost_to_go as cost_to_go
    from .oracle import sample_labels as sample_labels
    from .plan import Outcome as Outcome
    from .plan import Plan as Plan
    from .plan import Rollout as Rollout
    from .plan import plan as plan
    from .replay import Planner as Planner
    from .replay import ReachReport as ReachReport
    from .replay import Replay as Replay
    from .replay import replay_graph as replay_graph
    from .rewards import costs_from_values as costs_from_values
    from .rewards import values_from_costs as values_from_costs
    from .sinks import TrimmedLabels as TrimmedLabels
    from .sinks import drop_false_sinks as drop_false_sinks
    from .solve import Answer as Answer
    from .solve import PlanTable as PlanTable
    from .solve import plan_many as plan_many
    from .solve import solve as solve
    from .web import explore as explore

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = sorted([*_HOME_OF, *_ROOMS])


def __getattr__(name: str) -> Any:
    """Load a name when it is first asked for."""
    if name == "__version__":
        value = import_module("importlib.metadata").version(__name__)
    elif name in _HOME_OF:
        value = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    elif name in _ROOMS or name in _BACK_ROOMS:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List what there is, loaded or not."""
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The package itself: functions are not hidden by the modules that have their names.

    Whoever imports ``wayfield.plan`` makes Python set the attribute ``plan`` of the package to the
    module. The function is meant.
    """

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME_OF and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
