"""Other goals: costs fitted to some trips, put to use for goals that no trip ended at.

A field of values leads to its own goal alone; costs of arcs lead anywhere. Once the data are labels
of one goal, once trips to eight hubs. Walks then go to four other goals.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

import wayfield as wf
from wayfield.mending import Mended

from ...engine import Records, Row
from ...report import Finding, Table
from .._shared import make_experiment, percent
from . import _common as common
from ._worlds import WrongWorld

GOALS = 4
HUBS = 8
FRACTION = 0.05
DATA = {"labels": "labels of one goal", "trips": f"least-cost trips to {HUBS} hubs"}


def run(cell: common.WrongCell) -> list[Row]:
    """Return one row per kind of data and arm, over all goals; ``data`` as in `DATA`."""
    case = cell.draw()
    drawn = cell.rng(11).choice(case.world.able, HUBS + GOALS, replace=False)
    hubs, goals = drawn[:HUBS], drawn[HUBS:]
    trips = trips_to(hubs, case.world, len(case.labels) - 1, cell.rng(13))
    plain = _row(common.REFERENCE, case, goals, case.graph)
    rows = []
    for data in DATA:
        rows.append({"data": data} | plain)
        for name, method in common.MENDS.items():
            graph = common.mended(case, method, trips if data == "trips" else None)
            rows.append({"data": data} | _row(name, case, goals, graph))
    return rows


def trips_to(
    hubs: NDArray[np.int64], world: WrongWorld, count: int, rng: np.random.Generator
) -> wf.Trips:
    """Draw trips from anywhere to the hubs in turn, each at the least cost there is."""
    ends = np.sort(np.arange(max(count, HUBS)) % HUBS)
    starts, costs = [], []
    for number, hub in enumerate(hubs.tolist()):
        others = np.setdiff1d(world.able, [hub])
        starts.append(rng.choice(others, (ends == number).sum(), replace=False))
        costs.append(wf.cost_to_go(world.real, hub)[starts[-1]])
    known = np.isfinite(np.concatenate(costs))
    return wf.Trips(np.concatenate(starts)[known], hubs[ends][known], np.concatenate(costs)[known])


def _row(arm: str, case: common.Case, goals: NDArray[np.int64], graph: wf.Graph | Mended) -> Row:
    """Walk from the starts to every goal they can reach, and take all walks together."""
    walks, least = [], []
    for goal in goals.tolist():
        world = replace(case.world, goal=goal)
        starts = case.starts[(case.starts != goal) & np.isfinite(world.truth[case.starts])]
        walks.append(common.drive_by(replace(case, world=world, starts=starts), graph))
        least.append(world.truth[starts])
    reached, paid, found = (np.concatenate([walk[i] for walk in walks]) for i in range(3))
    walked = common.WalkResults(reached, paid, found, walks[0].chosen)
    return common.row(arm, walked, np.concatenate(least))


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate SPL to the other goals, by world and arm."""
    for data, some in rows.by("data").items():
        yield common.by_world(some, data, f"SPL to other goals, mended with {DATA[data]}")


def findings(rows: Records) -> Iterator[Finding]:
    """Report whether mended costs transfer."""
    if common.too_few(rows):
        return
    for data, some in rows.by("data").items():
        gains = {world: common.paired(group) for world, group in some.by("world").items()}
        sure = [world for world, gain in gains.items() if common.clearly_above(gain)]
        text = "Mend minus replanning Dijkstra in SPL, to goals without data: "
        text += f"{common.say_gain(some)} over all worlds"
        text += f"; clearly above 0 in {common.named(sure) if sure else 'no world'}."
        question = f"Do costs mended with {DATA[data]} serve other goals?"
        yield Finding("new", question, text, f"{GOALS} goals per cell, {percent(FRACTION)}.")


EXPERIMENT = make_experiment(
    "wrong_goals",
    "Goals without labels, and trips",
    2,
    run,
    common.grids(
        quick=(("patch", "short1"), (FRACTION,), (0, 1)),
        standard=(common.SOME, (FRACTION,), common.SEEDS[:4]),
    ),
    f"The graph is mended with labels of one goal, or with as many trips to {HUBS} hubs at "
    f"the least possible cost. Then walks on it go to {GOALS} other goals. No field can do "
    "that.",
    {"tables": tables, "findings": findings, "notes": common.NOTES},
    **common.GRID,
)
