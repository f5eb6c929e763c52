"""Other goals: costs fitted to some trips, put to use for goals that no trip ended at.

A field of values leads to its own goal alone; costs of arcs lead anywhere. Once the data are labels
of one goal, once trips to eight hubs. Walks then go to four other goals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wayfield.graph import Graph
from wayfield.mending import Mended, Trips
from wayfield.shortest_paths import cost_to_go

from ...engine import Experiment, Profile, Records, Row
from ...report import Finding, Section, Table
from .._wrong import (
    MENDS,
    REFERENCE,
    SEEDS,
    SMALL,
    SOME,
    Case,
    WrongCell,
    WrongWorld,
    read_grid,
    row,
    wrong_grid,
)
from .._wrong.arms import Walked, drive_by, mended
from ._shown import NOTES, by_world, clearly_above, named, paired, percent, say_difference, too_few

GOALS = 4
HUBS = 8
FRACTION = 0.05
DATA = {
    "labels": "labels of one goal",
    "trips": f"least-cost trips to {HUBS} hubs",
}


def run(cell: WrongCell) -> list[Row]:
    """One row for every kind of data and arm, over all goals together; ``data`` as in `DATA`."""
    case = cell.draw()
    hubs, goals = _places(case.world, cell.rng(11))
    trips = _trips(case.world, hubs, len(case.labels) - 1, cell.rng(13))
    plain = _row(REFERENCE, case, goals, case.graph)
    rows = []
    for data in DATA:
        rows.append({"data": data} | plain)
        for name, method in MENDS.items():
            graph = mended(case, method, trips if data == "trips" else None)
            rows.append({"data": data} | _row(name, case, goals, graph))
    return rows


def _places(
    world: WrongWorld, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Draw hubs, and goals that are none."""
    drawn = rng.choice(world.able, HUBS + GOALS, replace=False)
    return drawn[:HUBS], drawn[HUBS:]


def _trips(
    world: WrongWorld, hubs: NDArray[np.int64], count: int, rng: np.random.Generator
) -> Trips:
    """Draw trips from anywhere to the hubs in turn, each at the least cost there is."""
    ends = hubs[np.arange(max(count, HUBS)) % HUBS]
    starts = np.concatenate(
        [rng.choice(np.setdiff1d(world.able, [hub]), (ends == hub).sum(), False) for hub in hubs]
    )
    ends = np.concatenate([ends[ends == hub] for hub in hubs])
    truths = {int(hub): cost_to_go(world.real, int(hub)) for hub in hubs}
    costs = [truths[int(end)][start] for start, end in zip(starts, ends, strict=True)]
    known = np.isfinite(costs)
    return Trips(starts[known], ends[known], np.array(costs)[known])


def _row(arm: str, case: Case, goals: NDArray[np.int64], graph: Graph | Mended) -> Row:
    """Walk from the starts to every goal they can reach, and take all walks together."""
    walks, least = [], []
    for goal in goals.tolist():
        world = case.world.toward(goal)
        starts = case.starts[(case.starts != goal) & np.isfinite(world.truth[case.starts])]
        walks.append(drive_by(replace(case, world=world, starts=starts), graph))
        least.append(world.truth[starts])
    reached, paid, found = (np.concatenate([walk[i] for walk in walks]) for i in range(3))
    return row(arm, Walked(reached, paid, found, walks[0].chosen), np.concatenate(least))


def cells(profile: Profile) -> list[WrongCell]:
    """Worlds that differ most, with half of the seeds; two small ones if quick."""
    if profile.name == "quick":
        return wrong_grid(("patch", "short1"), (FRACTION,), (0, 1), SMALL)
    return wrong_grid(SOME, (FRACTION,), SEEDS[:4])


def tables(rows: Records) -> Iterator[Table]:
    """SPL to the other goals, by world and arm."""
    for data, some in rows.by("data").items():
        yield by_world(some, data, f"SPL to other goals, mended with {DATA[data]}")


def findings(rows: Records) -> Iterator[Finding]:
    """Tell whether mended costs transfer."""
    if too_few(rows):
        return
    for data, some in rows.by("data").items():
        gains = {world: paired(group) for world, group in some.by("world").items()}
        sure = [world for world, gain in gains.items() if clearly_above(gain)]
        text = "Mend minus replanning Dijkstra in SPL, to goals without data: "
        text += f"{say_difference(paired(some))} over all worlds"
        text += f"; clearly above 0 in {named(sure) if sure else 'no world'}."
        question = f"Do costs mended with {DATA[data]} serve other goals?"
        yield Finding("new", question, text, f"{GOALS} goals per cell, {percent(FRACTION)}.")


EXPERIMENT = Experiment(
    "wrong_goals",
    "Other goals",
    version=1,
    run=run,
    cells=cells,
    effort=lambda cell: 3.0 * cell.size,
    read_grid=read_grid,
    sections=(
        Section(
            "wrong-goals",
            "Goals without labels, and trips",
            f"The graph is mended with labels of one goal, or with as many trips to {HUBS} hubs at "
            f"the least possible cost. Then walks on it go to {GOALS} other goals. No field can do "
            "that.",
            tables=tables,
            findings=findings,
            notes=NOTES,
        ),
    ),
)
