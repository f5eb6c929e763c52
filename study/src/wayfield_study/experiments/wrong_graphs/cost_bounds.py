"""Cost bounds: how often walks stay within the bound from earlier ones, and how tight it is.

Forty walks calibrate a bound at level 0.9; fresh walks in the same world, without memory, test it.
The draw of the forty is repeated, since coverage is over that draw as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

import wayfield as wf
from wayfield.mending import Mended

from ...engine import Records, Row
from ...report import Finding, Table
from .._shared import make_experiment
from . import _common as common
from ._common import OURS, REFERENCE

LEVEL = 0.9
CALIBRATION = 40
WALKS = 400
DRAWS = 50
"""Times that the calibrating walks are drawn from all walks; the others test the bound."""
FRACTION = 0.05
WORLDS = ("patch", "short1", "combo", "alias10", "road", "slip")


def run(cell: common.WrongCell) -> list[Row]:
    """Return one row for each of two arms, over all draws.

    ``pairs`` walks were tested, ``reached`` of them cost at most their bound; ``tightness`` is the
    mean of the bound over the least cost.
    """
    case = cell.draw()
    case = replace(case, starts=cell.starts(case.world, WALKS))
    ours, rows = common.mended(case, None), []
    graphs: tuple[tuple[wf.Graph | Mended, wf.Graph], ...] = (
        (case.graph, case.graph),
        (ours, ours.graph),
    )
    for arm, (graph, lengths) in zip((REFERENCE, OURS), graphs, strict=True):
        rng = cell.rng(17)
        predicted = wf.cost_to_go(lengths, case.world.goal)[case.starts]
        walked = common.drive_by(case, graph)
        paid = np.where(walked.reached, walked.paid, np.inf)
        tested, kept, bounds = 0, 0, []
        for _ in range(DRAWS):
            order = rng.permutation(paid.size)
            first, rest = order[:CALIBRATION], order[CALIBRATION:]
            bound = wf.cost_bound(predicted[first], paid[first], LEVEL).bound(predicted[rest])
            tested, kept = tested + rest.size, kept + int((paid[rest] <= bound).sum())
            bounds.append(float((bound / case.least[rest]).mean()))
        tightness = round(float(np.mean(bounds)), 6)
        rows.append({"arm": arm, "pairs": tested, "reached": kept, "tightness": tightness})
    return rows


def tables(rows: Records) -> list[Table]:
    """Tabulate coverage and tightness by world."""
    lines = []
    for world, some in rows.by("world").items():
        plain, ours = some.where(arm=REFERENCE), some.where(arm=OURS)
        shares = [f"{arm.ratio('reached', 'pairs'):.3f}" for arm in (plain, ours)]
        tight = [f"{arm.mean('tightness'):.2f}" for arm in (plain, ours)]
        lines.append([world, *shares, *tight])
    heads = ["world", "within, Dijkstra", "within, mend", "bound / least cost, Dijkstra", "mend"]
    note = f"{CALIBRATION} walks calibrate, drawn {DRAWS} times per cell; the level is {LEVEL:g}."
    return [Table("cost-bounds", "Walks within their cost bound", heads, lines, note)]


def findings(rows: Records) -> Iterator[Finding]:
    """Report how often walks stay within their bounds, and what mending does to the bounds."""
    if common.too_few(rows):
        return
    shares = [some.ratio("reached", "pairs") for some in rows.by("world", "arm").values()]
    plain, ours = (rows.where(arm=arm).mean("tightness") for arm in (REFERENCE, OURS))
    yield Finding(
        "new",
        f"Do cost bounds at level {LEVEL:g} hold?",
        f"{min(shares):.1%} to {max(shares):.1%} of the fresh walks stay within their bound, in "
        "every world and with either graph: more than the level only where most walks cost exactly "
        "what was predicted. What a better graph buys is a tighter bound: on average it is "
        f"{plain:.2f} times the least cost with the graph as it is, {ours:.2f} times with the "
        "mended one.",
    )


EXPERIMENT = make_experiment(
    "wrong_cost_bounds",
    "Cost bounds",
    2,
    run,
    common.grids(
        quick=(("short1",), (FRACTION,), (0, 1)), standard=(WORLDS, (FRACTION,), common.SEEDS)
    ),
    f"A bound on the cost of a walk, from what {CALIBRATION} earlier walks in the same "
    f"world cost: split conformal prediction at level {LEVEL:g}.",
    {"tables": tables, "findings": findings},
    **common.GRID,
)
