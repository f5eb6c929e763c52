"""The study of PointMaze: from a buffer to plans that arrive, beside what others plan with."""

from __future__ import annotations

from typing import Any

from ...engine import Experiment
from . import official, success

POINT: tuple[Experiment[Any], ...] = (success.EXPERIMENT, success.LESS_DATA, official.EXPERIMENT)
"""In the order of the report."""
