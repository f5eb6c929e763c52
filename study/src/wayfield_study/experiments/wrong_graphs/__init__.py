"""The study of wrong graphs: what labels and trips can repair, and where nothing helps."""

from __future__ import annotations

from typing import Any

from wayfield._text import number_of

from ...engine import NO_ROWS, Experiment, Records, Study, Tables
from ...report import Cover, Tile
from .._wrong import OURS, REFERENCE, SEEDS
from . import cost_bounds, every_world, helsinki, memory, other_goals, pictures, shares, sources
from ._shown import paired, percent, say_difference, too_few

WRONG: tuple[Experiment[Any], ...] = (
    every_world.EXPERIMENT,
    pictures.EXPERIMENT,
    shares.EXPERIMENT,
    sources.EXPERIMENT,
    other_goals.EXPERIMENT,
    memory.EXPERIMENT,
    cost_bounds.EXPERIMENT,
    helsinki.EXPERIMENT,
)
"""In the order of the report."""


def cover(study: Study, tables: Tables) -> Cover:
    """Put together what stands before the sections."""
    rows = tables.get(every_world.EXPERIMENT.name, NO_ROWS)
    return Cover(
        study.title,
        note="An agent plans on a graph and acts in a world that differs from it. Every arm walks "
        "in the world, and learns from what it meets there.",
        lead=_lead(rows) if len(rows) else "",
        tiles=[tile for _, some in _by_share(rows) for tile in _tiles(some)],
    )


def _by_share(rows: Records) -> list[tuple[float, Records]]:
    return sorted(rows.by("label_fraction").items(), reverse=True)


def _lead(rows: Records) -> str:
    """Say it in a sentence."""
    seeds = number_of(len(rows.values("seed")), "seeds")
    if too_few(rows):
        return (
            f"This is a quick look at small worlds, with {seeds}: enough to see that all of it "
            f"runs, too few for findings or intervals. The standard profile has {len(SEEDS)} seeds."
        )
    told = [
        f"{say_difference(paired(some))} with {percent(fraction)} labels"
        for fraction, some in _by_share(rows)
    ]
    return (
        "What a mended graph adds to the SPL of replanning Dijkstra, on average over worlds: "
        f"{'; '.join(told)}. Where the graph is correct, or wrong in ways that a walker finds out "
        "cheaply, replanning Dijkstra is as good: the findings say where."
    )


def _tiles(rows: Records) -> list[Tile]:
    share = percent(rows.rows[0]["label_fraction"])
    return [
        Tile(name, f"{rows.where(arm=arm).mean('spl'):.3f}", f"mean SPL, {share} labels")
        for name, arm in (("mend", OURS), ("Dijkstra, replanning", REFERENCE))
    ]
