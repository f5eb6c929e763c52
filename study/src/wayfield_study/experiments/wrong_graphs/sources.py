"""Labels that are not exact: measured with noise, or paid by a walker that went astray.

*Noise*: every label but the goal's is off by a lognormal factor of mean 1 and σ = 0.2. *Paid*: the
labels are what replanning Dijkstra paid: upper bounds on the least cost, declared as such.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import wayfield as wf
from wayfield.words import percent

from ...engine import Records, Row
from ...report import StudyFinding, Table
from ..shared import make_experiment
from . import common

SIGMA = 0.2
ARMS = ("dijkstra", "residual", "knn", *common.MENDS)
FRACTION = 0.05
SOURCES = {
    "noise": f"labels have lognormal noise, σ = {SIGMA:g}",
    "paid": "labels are costs that replanning Dijkstra paid, declared upper bounds",
}


def run(cell: common.WrongCell) -> list[Row]:
    """Return one row for every source and arm; ``source`` is one of `SOURCES`."""
    case = cell.draw()
    given = {"noise": noisy(case, cell.rng(3)), "paid": paid(case)}
    return [
        {"source": name} | row for name, some in given.items() for row in common.rows_of(some, ARMS)
    ]


def noisy(case: common.WrongCase, rng: np.random.Generator) -> common.WrongCase:
    """Return the case with labels off by a random factor."""
    labels = case.labels
    factors = np.exp(SIGMA * rng.standard_normal(len(labels)) - SIGMA**2 / 2)
    return replace(case, labels=wf.Labels(labels.vertices, labels.values * factors))


def paid(case: common.WrongCase) -> common.WrongCase:
    """Return the case with labels that replanning Dijkstra paid, walking from where they are."""
    vertices = case.labels.vertices
    walked = common.drive_by(replace(case, starts=case.world.sent[vertices]), case.graph)
    arrived = walked.reached
    labels = wf.Labels(vertices[arrived], walked.paid[arrived])
    return replace(case, labels=labels, bound="upper")


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate SPL by world and arm, for every source."""
    for source, some in rows.by("source").items():
        yield common.by_world(some, source, f"SPL if {SOURCES[source]}")


def findings(rows: Records) -> Iterator[StudyFinding]:
    """Report whether labels that are not exact can do harm."""
    if common.too_few(rows):
        return
    for source, some in rows.by("source").items():
        groups = some.by("world").items()
        means = {world: float(common.paired(group).mean()) for world, group in groups}
        worse = [world for world, mean in means.items() if mean < 0]
        text = f"Mend minus replanning Dijkstra: {common.say_gain(some)} over all worlds. "
        most = f"{common.named(worse)}, by at most {-min(means.values()):.3f}"
        text += f"On average it is worse in {most if worse else 'no world'}."
        question = f"Can mending do harm if {SOURCES[source]}?"
        yield StudyFinding("new", question, text, f"{percent(FRACTION)} labels.")


EXPERIMENT = make_experiment(
    "wrong_sources",
    "Labels that are not exact",
    2,
    run,
    common.grids(
        quick=(("patch", "short1"), (FRACTION,), (0, 1)),
        standard=(common.SOME, (FRACTION,), common.SEEDS),
    ),
    f"5 % of the states are labelled, once with lognormal noise of σ = {SIGMA:g} and once "
    "with what replanning Dijkstra paid from there, declared as upper bounds.",
    {"tables": tables, "findings": findings, "notes": common.NOTES},
    **common.GRID,
)
