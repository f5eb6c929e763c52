"""The study of wrong graphs: what labels can mend, and where nothing helps."""

from __future__ import annotations

from typing import Any

from wayfield._text import number_of

from ...engine import NO_ROWS, Experiment, Study, Tables
from ...report import Cover, Tile
from .._shared import percent
from . import every_world, memory, sources
from ._common import OURS, REFERENCE, SEEDS, say_gain, too_few

WRONG: tuple[Experiment[Any], ...] = (
    every_world.EXPERIMENT,
    sources.EXPERIMENT,
    memory.EXPERIMENT,
)
"""In the order of the report."""


def cover(study: Study, tables: Tables) -> Cover:
    """Return what comes before the sections."""
    rows = tables.get(every_world.EXPERIMENT.name, NO_ROWS)
    by_share = sorted(rows.by("label_fraction").items(), reverse=True)
    lead = ""
    if len(rows) and too_few(rows):
        seeds = number_of(len(rows.values("seed")), "seeds")
        lead = (
            f"This is a quick look at small worlds, with {seeds}"
            ": enough to see that all of it runs, too few for findings or intervals. The standard "
            f"profile has {len(SEEDS)} seeds."
        )
    elif len(rows):
        gains = "; ".join(
            f"{say_gain(some)} with {percent(fraction)} labels" for fraction, some in by_share
        )
        lead = (
            "What a mended graph adds to the SPL of replanning Dijkstra, on average over worlds: "
            f"{gains}. Where the graph is correct, or wrong in ways that a walker finds out "
            "cheaply, replanning Dijkstra is as good: the findings say where."
        )
    return Cover(
        study.title,
        note="An agent plans on a graph and acts in a world that differs from it. Every arm walks "
        "in the world, and learns from what it meets there.",
        lead=lead,
        tiles=[
            Tile(
                name, f"{some.where(arm=arm).mean('spl'):.3f}", f"mean SPL, {percent(share)} labels"
            )
            for share, some in by_share
            for name, arm in (("mend", OURS), ("Dijkstra, replanning", REFERENCE))
        ],
    )
