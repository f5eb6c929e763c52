"""wayfield: from a few known values on a graph to a plan, and a proof of how far to trust it.

The public names are the imports below. A name is imported when it is first used, so that
``import wayfield`` and ``wayfield --help`` cost nothing.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import audit as audit
    from . import errors as errors
    from . import plots as plots
    from .adapters import jax as jax
    from .adapters import sklearn as sklearn
    from .advice.comparison import compare as compare
    from .advice.comparison import cross_validate as cross_validate
    from .advice.solving import plan_many as plan_many
    from .advice.solving import solve as solve
    from .certificates.audits import audit_decisions as audit_decisions
    from .certificates.contradiction import contradictions as contradictions
    from .certificates.gaps import certify as certify
    from .certificates.intervals import next_labels as next_labels
    from .errors import InputError as InputError
    from .errors import InputWarning as InputWarning
    from .errors import NotConverged as NotConverged
    from .errors import WayfieldError as WayfieldError
    from .fields.amle.method import AMLE as AMLE
    from .fields.base import Status as Status
    from .fields.envelopes import McShane as McShane
    from .fields.envelopes import NearestLabel as NearestLabel
    from .fields.envelopes import Whitney as Whitney
    from .fields.extension import extend as extend
    from .fields.harmonic import Harmonic as Harmonic
    from .fields.many import extend_many as extend_many
    from .fields.plaplacian import PLaplacian as PLaplacian
    from .graphs import rewards as rewards
    from .graphs.graph import Graph as Graph
    from .graphs.grid import grid_graph as grid_graph
    from .graphs.labels import Labels as Labels
    from .graphs.labels import label_distance as label_distance
    from .graphs.layouts import Layout as Layout
    from .graphs.layouts import layout_names as layout_names
    from .graphs.layouts import load_layout as load_layout
    from .graphs.names import Names as Names
    from .graphs.shortest_paths import cost_to_go as cost_to_go
    from .graphs.shortest_paths import sample_labels as sample_labels
    from .mdp.expected import expected_cost as expected_cost
    from .mdp.transitions import Transitions as Transitions
    from .plans.lifting import lift as lift
    from .plans.planning import Outcome as Outcome
    from .plans.planning import plan as plan
    from .plans.sinks import drop_false_sinks as drop_false_sinks

__version__: str


def public_names(package: str) -> dict[str, str]:
    """Return the module that each public name of a package comes from, relative to the package.

    The public names are those that its ``__init__.py`` imports for type checkers. They are read
    from that source, so that every name is written once.
    """
    source = Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")
    return {
        alias.name: "." * node.level + (node.module or "")
        for block in ast.parse(source).body
        if isinstance(block, ast.If)  # TYPE_CHECKING
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def load_on_use(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package."""
    home_of = public_names(package)
    own = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(home_of[name], package)
        own[name] = vars(home).get(name) or import_module(f"{home.__name__}.{name}")
        return own[name]

    return get, lambda: sorted(home_of), sorted(home_of)


_load, __dir__, _names = load_on_use(__name__)
_SUBMODULES = ("audit", "errors", "jax", "plots", "rewards", "sklearn")

__all__ = [name for name in _names if name not in _SUBMODULES]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    return _load(name)
