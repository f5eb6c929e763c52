"""The study of wrong graphs: what labels can mend, and where nothing helps."""

from __future__ import annotations

from typing import Any

from ...engine import Experiment
from . import every_world, memory, sources

WRONG: tuple[Experiment[Any], ...] = (every_world.EXPERIMENT, sources.EXPERIMENT, memory.EXPERIMENT)
"""In the order of the report."""
