"""Memory: what labels are worth to a walker that keeps what it learns.

Two hundred walks to one goal, one after the other, each knowing what those before it tried. SPL of
the first 10, of the next 40, and of the rest: by replanning Dijkstra, and on graphs that were
mended with few and with some labels before the first walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import wayfield as wf
from wayfield.travel import Mended

from ...engine import Records, Row
from ...report import StudyFinding, Table
from ..shared import make_experiment
from . import common

EPISODES = 200
TANGIBLE = 0.005
"""A difference in SPL that is worth naming, over 150 episodes."""
PARTS = {"1–10": slice(0, 10), "11–50": slice(10, 50), "51–200": slice(50, 200)}
WORLDS = ("short1", "short5", "alias10", "walls", "patch", "combo")
TITLES = {
    common.REFERENCE: "Dijkstra, replanning",
    "mend_1": "mend, 1 % labels",
    "mend_5": "mend, 5 % labels",
}


def run(cell: common.WrongCell) -> list[Row]:
    """Return one row for every arm and part; ``episodes`` is one of `PARTS`.

    The cell's share of labels is the larger one; the smaller is a fifth of it.
    """
    case = cell.draw()
    case = replace(case, starts=cell.starts(case.world, EPISODES))
    fewer = replace(cell, label_fraction=cell.label_fraction / 5).draw()
    known: dict[str, wf.Graph | Mended] = {
        common.REFERENCE: case.graph,
        "mend_1": common.mended(fewer),
        "mend_5": common.mended(case),
    }
    rows = []
    for arm, graph in known.items():
        walked = common.drive_by(case, graph, memory=True)
        for part, some in PARTS.items():
            if case.least[some].size:
                reached, paid, found = walked.reached[some], walked.paid[some], walked.found[some]
                only = common.WalkResults(reached, paid, found, walked.chosen)
                rows.append({"episodes": part} | common.row(arm, only, case.least[some]))
    return rows


def tables(rows: Records) -> list[Table]:
    """Tabulate SPL by world, arm and part."""
    parts, groups = rows.values("episodes"), rows.by("world", "arm", "episodes")
    columns = list(product(TITLES, parts))
    lines = [
        [world, *(f"{groups[world, arm, part].mean('spl'):.3f}" for arm, part in columns)]
        for world in rows.values("world")
    ]
    heads = ["world", *(f"{TITLES[arm]}, {part}" for arm, part in columns)]
    return [Table("spl", "SPL of episodes, with memory", heads, lines)]


def findings(rows: Records) -> Iterator[StudyFinding]:
    """Report how the worth of labels fades."""
    if common.too_few(rows):
        return
    gains = [
        f"{common.say_gain(some, 'mend_5')} in episodes {part}"
        for part, some in rows.by("episodes").items()
    ]
    last = rows.where(episodes=rows.values("episodes")[-1])
    behind = [
        world
        for world, some in last.by("world").items()
        if min(common.paired(some, arm).mean() for arm in ("mend_1", "mend_5")) < -TANGIBLE
    ]
    text = f"Mend with 5 % labels minus replanning Dijkstra, over all worlds: {', '.join(gains)}. "
    least = f"behind by more than {TANGIBLE:g}"
    where = f"In the end a mended graph is {least} in {common.named(behind)}."
    text += where if behind else f"In no world is a mended graph {least} in the end."
    yield StudyFinding("new", "What are labels worth to a walker that remembers?", text)


EXPERIMENT = make_experiment(
    "wrong_memory",
    "Memory over episodes",
    1,
    run,
    common.grids(quick=(("short1",), (0.05,), (0, 1)), standard=(WORLDS, (0.05,), common.SEEDS)),
    f"{EPISODES} walks to the same goal, each with all that was learnt before, on the "
    "graph as it is and on graphs mended before the first walk. What a walker bumps into "
    "it learns without any label; slow patches it does not bump into.",
    {"tables": tables, "findings": findings, "notes": common.NOTES},
    **common.GRID,
)
