"""Promises: how often walks stay within the bound that earlier ones give, and how tight it is.

Forty walks calibrate a bound at level 0.9; fresh walks in the same world, without memory, test it.
The draw of the forty is repeated, since coverage is over that draw as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from wayfield.graph import Graph
from wayfield.mending import Mended, cost_bound
from wayfield.shortest_paths import cost_to_go

from ...engine import Experiment, Profile, Records, Row
from ...report import Finding, Section, Table
from .._wrong import OURS, REFERENCE, SMALL, Case, WrongCell, read_grid, wrong_grid
from .._wrong.arms import drive_by, mended
from ._shown import too_few

LEVEL = 0.9
CALIBRATION = 40
WALKS = 400
DRAWS = 50
"""Times that the calibrating walks are drawn from all walks; the others test the promise."""
FRACTION = 0.05
WORLDS = ("patch", "short1", "combo", "alias10", "road", "slip")


def run(cell: WrongCell) -> list[Row]:
    """One row for each of two arms, over all draws.

    ``pairs`` walks were tested, ``reached`` of them kept the promise; ``tightness`` is the mean of
    the bound over the least cost.
    """
    case = cell.draw()
    case = replace(case, starts=cell.starts(case.world, WALKS))
    known: dict[str, Graph | Mended] = {REFERENCE: case.graph, OURS: mended(case, None)}
    return [_row(arm, case, graph, cell.rng(17)) for arm, graph in known.items()]


def _row(arm: str, case: Case, graph: Graph | Mended, rng: np.random.Generator) -> Row:
    lengths = graph.graph if isinstance(graph, Mended) else graph
    predicted = cost_to_go(lengths, case.world.goal)[case.starts]
    walked = drive_by(case, graph)
    paid = np.where(walked.reached, walked.paid, np.inf)
    least = case.world.truth[case.starts]
    tested, kept, bounds = 0, 0, []
    for _ in range(DRAWS):
        order = rng.permutation(paid.size)
        first, rest = order[:CALIBRATION], order[CALIBRATION:]
        bound = cost_bound(predicted[first], paid[first], LEVEL).bound(predicted[rest])
        tested, kept = tested + rest.size, kept + int((paid[rest] <= bound).sum())
        bounds.append(float((bound / least[rest]).mean()))
    tightness = round(float(np.mean(bounds)), 6)
    return {"arm": arm, "pairs": tested, "reached": kept, "tightness": tightness}


def cells(profile: Profile) -> list[WrongCell]:
    """Six worlds with eight seeds; a small one if quick."""
    if profile.name == "quick":
        return wrong_grid(("short1",), (FRACTION,), (0, 1), SMALL)
    return wrong_grid(WORLDS, (FRACTION,))


def tables(rows: Records) -> list[Table]:
    """Coverage and tightness by world."""
    lines = []
    for world, some in rows.by("world").items():
        plain, ours = some.where(arm=REFERENCE), some.where(arm=OURS)
        shares = [f"{arm.ratio('reached', 'pairs'):.3f}" for arm in (plain, ours)]
        tight = [f"{arm.mean('tightness'):.2f}" for arm in (plain, ours)]
        lines.append([world, *shares, *tight])
    heads = ["world", "kept, Dijkstra", "kept, mend", "bound / least cost, Dijkstra", "mend"]
    note = f"{CALIBRATION} walks calibrate, drawn {DRAWS} times per cell; the level is {LEVEL:g}."
    return [Table("kept", "Promises kept, and how tight they are", heads, lines, note)]


def findings(rows: Records) -> Iterator[Finding]:
    """Tell how often promises are kept, and what mending does to them."""
    if too_few(rows):
        return
    shares = [some.ratio("reached", "pairs") for some in rows.by("world", "arm").values()]
    plain, ours = (rows.where(arm=arm).mean("tightness") for arm in (REFERENCE, OURS))
    yield Finding(
        "new",
        f"Are promises at level {LEVEL:g} kept?",
        f"{min(shares):.1%} to {max(shares):.1%} of the fresh walks stay within their bound, in "
        "every world and with either graph: more than promised only where most walks cost exactly "
        "what was predicted. What a better graph buys is a tighter bound: on average it is "
        f"{plain:.2f} times the least cost with the graph as it is, {ours:.2f} times with the "
        "mended one.",
    )


EXPERIMENT = Experiment(
    "wrong_promises",
    "Promises",
    version=1,
    run=run,
    cells=cells,
    effort=lambda cell: 2.0 * cell.size,
    read_grid=read_grid,
    sections=(
        Section(
            "wrong-promises",
            "Promises",
            f"A bound on the cost of a walk, from what {CALIBRATION} earlier walks in the same "
            f"world cost: split conformal prediction at level {LEVEL:g}.",
            tables=tables,
            findings=findings,
        ),
    ),
)
