"""Extensions of labels to the whole graph: one verb, one result type, one file per method.

A method is loaded when it is first used: planning by the AMLE does not import sparse solvers. The
words for methods are in ``names.py``.
"""

from typing import TYPE_CHECKING

from .. import load_on_use

if TYPE_CHECKING:
    from ..numerics.workers import time_limit as time_limit
    from .amle.method import AMLE as AMLE
    from .base import Method as Method
    from .base import MethodLike as MethodLike
    from .base import Problem as Problem
    from .base import Shared as Shared
    from .base import Solution as Solution
    from .base import Status as Status
    from .base import describe as describe
    from .derivatives import Gradient as Gradient
    from .derivatives import Influence as Influence
    from .envelopes import McShane as McShane
    from .envelopes import NearestLabel as NearestLabel
    from .envelopes import Whitney as Whitney
    from .extension import Extension as Extension
    from .extension import check_field as check_field
    from .extension import extend as extend
    from .harmonic import Harmonic as Harmonic
    from .many import SharesWork as SharesWork
    from .many import extend_many as extend_many
    from .plaplacian import PLaplacian as PLaplacian
    from .proof import field_sections as field_sections

__getattr__, __dir__, __all__ = load_on_use(__name__)
