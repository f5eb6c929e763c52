"""Labels that are not exact: measured with noise, or paid by a walker that went astray.

*Noise*: every label but the goal's is off by a lognormal factor of mean 1 and σ = 0.2. *Paid*: the
labels are what replanning Dijkstra paid, which bounds the least cost from above; `mend` is told.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from wayfield.labels import Labels

from ...engine import Experiment, Profile, Records, Row
from ...report import Finding, Section, Table
from .._wrong import MENDS, SMALL, SOME, Case, WrongCell, read_grid, rows_of, wrong_grid
from .._wrong.arms import drive_by
from ._shown import NOTES, by_world, named, paired, percent, say_difference, too_few

SIGMA = 0.2
ARMS = ("dijkstra", "residual", "knn", *MENDS)
FRACTION = 0.05
SOURCES = {
    "noise": f"labels have lognormal noise, σ = {SIGMA:g}",
    "paid": "labels are costs that replanning Dijkstra paid, declared upper bounds",
}


def run(cell: WrongCell) -> list[Row]:
    """One row for every source and arm; ``source`` is one of `SOURCES`."""
    case = cell.draw()
    given = {"noise": noisy(case, cell.rng(3)), "paid": paid(case)}
    return [{"source": name} | row for name, some in given.items() for row in rows_of(some, ARMS)]


def noisy(case: Case, rng: np.random.Generator) -> Case:
    """Return the case with labels off by a random factor."""
    labels = case.labels
    factors = np.exp(SIGMA * rng.standard_normal(len(labels)) - SIGMA**2 / 2)
    return replace(case, labels=Labels(labels.vertices, labels.values * factors))


def paid(case: Case) -> Case:
    """Return the case with labels that replanning Dijkstra paid, walking from where they are."""
    vertices = case.labels.vertices
    walked = drive_by(replace(case, starts=case.world.sent[vertices]), case.graph)
    arrived = walked.reached
    labels = Labels(vertices[arrived], walked.paid[arrived])
    return replace(case, labels=labels, bound="upper")


def cells(profile: Profile) -> list[WrongCell]:
    """Worlds that differ most, with eight seeds; two small ones if quick."""
    if profile.name == "quick":
        return wrong_grid(("patch", "short1"), (FRACTION,), (0, 1), SMALL)
    return wrong_grid(SOME, (FRACTION,))


def tables(rows: Records) -> Iterator[Table]:
    """SPL by world and arm, for every source."""
    for source, some in rows.by("source").items():
        yield by_world(some, source, f"SPL if {SOURCES[source]}")


def findings(rows: Records) -> Iterator[Finding]:
    """Tell whether labels that are not exact can do harm."""
    if too_few(rows):
        return
    for source, some in rows.by("source").items():
        means = {world: float(paired(group).mean()) for world, group in some.by("world").items()}
        worse = [world for world, mean in means.items() if mean < 0]
        text = f"Mend minus replanning Dijkstra: {say_difference(paired(some))} over all worlds. "
        text += (
            f"On average it is worse in {named(worse)}, by at most {-min(means.values()):.3f}."
            if worse
            else "On average it is worse in no world."
        )
        question = f"Can mending do harm if {SOURCES[source]}?"
        yield Finding("new", question, text, f"{percent(FRACTION)} labels.")


EXPERIMENT = Experiment(
    "wrong_sources",
    "Noisy labels and upper bounds",
    version=1,
    run=run,
    cells=cells,
    effort=lambda cell: 2.0 * cell.size,
    read_grid=read_grid,
    sections=(
        Section(
            "wrong-sources",
            "Labels that are not exact",
            f"5 % of the states are labelled, once with lognormal noise of σ = {SIGMA:g} and once "
            "with what replanning Dijkstra paid from there, declared as upper bounds.",
            tables=tables,
            findings=findings,
            notes=NOTES,
        ),
    ),
)
