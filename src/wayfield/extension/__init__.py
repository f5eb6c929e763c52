"""Extensions of labels to the whole graph: one verb, one result type, one file per method."""

from ._base import Extension, Method, Problem, Solution, Status, describe, extend
from ._deadline import time_limit
from ._many import extend_many
from ._proof_sections import field_sections
from .amle import AMLE
from .envelopes import McShane, NearestLabel, Whitney
from .harmonic import Harmonic
from .harmonic_system import HarmonicSystem
from .plaplacian import PLaplacian
from .sweeps import MidrangeSweeps

__all__ = [
    "AMLE",
    "Extension",
    "Harmonic",
    "HarmonicSystem",
    "McShane",
    "Method",
    "MidrangeSweeps",
    "NearestLabel",
    "PLaplacian",
    "Problem",
    "Solution",
    "Status",
    "Whitney",
    "describe",
    "extend",
    "extend_many",
    "field_sections",
    "time_limit",
]
