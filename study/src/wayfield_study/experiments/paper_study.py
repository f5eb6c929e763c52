"""The study of the paper: its report's beginning and end.

Experiments that measure figures of the paper bring verdicts with them; where none was measured, as
in a study of one's own, the report says nothing of the paper.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine import NO_ROWS, Records, Study, Tables
from ..engine.statistics import BOOTSTRAP_SEED, RESAMPLES
from ..paper.figures import AUTHOR, FIGURES, TITLE, value
from ..paper.grid import (
    CONFIGURATION,
    PAPER_APART,
    PAPER_RELAXATION,
    PAPER_SWEEPS,
    on_papers_mazes,
)
from ..paper.verdicts import Verdicts
from ..report import Block, Cover, Look, Tile, render
from . import readings
from .comparison import printed_success
from .readings import evidence
from .trial import EXACT, EXACT_EXIT, HARMONIC, SWEEPS

PANELS: tuple[tuple[Look, str | None], ...] = (
    (HARMONIC, "harmonic"),
    (SWEEPS, "amle"),
    (EXACT, None),
)
"""Arms, and the paper's methods that they stand for."""
COLOURS = (
    (109, 31, 69), (191, 75, 65), (233, 161, 91), (245, 227, 174), (152, 203, 211), (35, 118, 156)
)  # fmt: skip
"""Colours of the phase diagram, for shares from 0 to 1."""


def cover(study: Study, tables: Tables) -> Cover:
    """Compose what stands before and after the sections."""
    rows = tables.get("rollout", NO_ROWS)
    known = evidence(study.experiments, tables)
    ranking = readings.ranking(study.experiments, tables)
    verdicts = Verdicts(study.experiments, tables, known, ranking)
    picture = [_picture(rows)] if _drawn(rows) else []
    if verdicts.empty and study.name not in ("paper", "all"):
        return Cover(study.title, tiles=_tiles(rows), before=picture)
    goals, starts = _sampling(rows)
    settings = render(
        "wayfield_study.paper",
        "settings.txt.j2",
        seeds=", ".join(map(str, rows.values("seed"))) or "none",
        goals=goals,
        starts=starts,
        sweeps=PAPER_SWEEPS,
        relaxation=PAPER_RELAXATION,
        apart=PAPER_APART,
        resamples=f"{RESAMPLES:,}",
        bootstrap_seed=BOOTSTRAP_SEED,
    )
    return Cover(
        "From a few labels to the goal: what harmonic, p-Laplacian and AMLE values are worth to a "
        "greedy planner",
        note=f"The figures of {AUTHOR}, “{TITLE}”, computed again on the public maze maps: with "
        "solvers that stop as the paper's did, and with fields that are solved exactly.",
        lead=verdicts.tally,
        tiles=_tiles(rows),
        before=[*picture, verdicts.glance],
        after=verdicts.details,
        facts=[
            (name, text) for name, text in (line.split(" | ") for line in settings.splitlines())
        ],
        compare=verdicts.table,
        files=verdicts.files,
    )


def _tiles(rows: Records) -> list[Tile]:
    """Return the success of the four main arms as tiles; with exit ties over all starts."""
    tiles = []
    arms = rows.values("arm")
    for look, method in (*PANELS, (EXACT_EXIT, None)):
        if look.name not in arms:
            continue
        part, whole = "reached", "pairs"
        if look is EXACT_EXIT:
            part, whole = "reached_all", "starts_all"
        chosen = rows.where(arm=look.name)
        theirs = None if method is None else printed_success(rows, method)
        lost, everyone = chosen.total(whole) - chosen.total(part), chosen.total(whole)
        what = whole.removesuffix("_all")
        note = f"{lost:,} of {everyone:,} {what} fail" if theirs is None else f"paper {theirs:.3f}"
        share = float(chosen.share(part, whole).mean())
        digits = 3 if lost == 0 or share < 0.9995 else 5  # 1.000 is for all of them
        tiles.append(Tile(f"success, {look.title}", f"{share:.{digits}f}", note))
    return tiles


def _drawn(rows: Records) -> bool:
    """Whether the phase diagram has something to show: a panel, and fractions of labels."""
    shown = {look.name for look, _ in PANELS} & set(rows.values("arm"))
    return bool(shown) and all(rows.values("label_fraction"))


def _picture(rows: Records) -> Block:
    """Show the phase diagram: harmonic, AMLE stopped early, AMLE solved."""
    panels: dict[str, dict[Any, dict[str, Any]]] = {}
    for look, method in PANELS:
        if look.name not in rows.values("arm"):
            continue
        cells = rows.where(arm=look.name).by(*CONFIGURATION)
        boxes = panels[look.title] = {}
        for (maze, r, lf), some in cells.items():
            share = some.ratio("reached", "pairs")
            name = f"grid-{maze}/r{r}/lf{lf:.2f}/{method}"
            known = on_papers_mazes(some) and name in FIGURES
            red, green, blue = (
                round(np.interp(share, np.linspace(0, 1, len(COLOURS)), channel))
                for channel in np.transpose(COLOURS)
            )
            boxes[maze, r, lf] = {
                "ours": share,
                "theirs": value(name) if known else None,
                "fill": f"rgb({red}, {green}, {blue})",
                "ink": "#ffffff" if 3 * red + 6 * green + blue < 1350 else "#1b242d",
            }
    goals, starts = _sampling(rows)
    mazes, sizes, fractions = (rows.values(column) for column in CONFIGURATION)
    html = render(
        "wayfield_study.paper",
        "picture.html.j2",
        panels=panels,
        mazes=mazes,
        sizes=sizes,
        fractions=fractions,
        seeds=len(rows.values("seed")),
        goals=goals,
        starts=starts,
        colours=[f"rgb{colour}" for colour in COLOURS],
    )
    return Block("picture", "The headline in one picture", html)


def _sampling(rows: Records) -> tuple[int, int]:
    """Return the goals and starts per cell of the main rollouts."""
    if not len(rows):
        return 0, 0
    goals = max(rows.values("goals"))
    return goals, rows.total("pairs") // (len(rows) * goals)
