"""Memory: what labels are worth to a walker that keeps what it learns.

Two hundred walks to one goal, one after the other, each knowing what those before it tried. SPL of
the first 10, of the next 40, and of the rest: by replanning Dijkstra, and on graphs that were
mended with few and with some labels before the first walk.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

from wayfield.graph import Graph
from wayfield.mending import Mended

from ...engine import Experiment, Profile, Records, Row
from ...report import Chart, Finding, Look, Section, Series, Table, chart
from .._wrong import REFERENCE, SMALL, WRONG_WORLDS, WrongCell, read_grid, row, wrong_grid
from .._wrong.arms import drive_by, mended
from ._shown import NOTES, interval, named, paired, say_difference, too_few

EPISODES = 200
TANGIBLE = 0.005
"""A difference in SPL that is worth naming, over 150 episodes."""
PARTS = {"1–10": slice(0, 10), "11–50": slice(10, 50), "51–200": slice(50, 200)}
WORLDS = ("short1", "short5", "alias10", "walls", "patch", "combo")
LOOKS = (
    Look(REFERENCE, "Dijkstra, replanning", "sweeps", "square"),
    Look("mend_1", "mend, 1 % labels", "line-b"),
    Look("mend_5", "mend, 5 % labels", "exit", "diamond"),
)


def run(cell: WrongCell) -> list[Row]:
    """One row for every arm and part; ``episodes`` is one of `PARTS`.

    The cell's share of labels is the larger one; the smaller is a fifth of it.
    """
    case = cell.draw()
    case = replace(case, starts=cell.starts(case.world, EPISODES))
    fewer = replace(cell, label_fraction=cell.label_fraction / 5).draw()
    known: dict[str, Graph | Mended] = {
        REFERENCE: case.graph,
        "mend_1": mended(fewer, None),
        "mend_5": mended(case, None),
    }
    least = case.world.truth[case.starts]
    rows = []
    for arm, graph in known.items():
        walked = drive_by(case, graph, memory=True)
        for part, some in PARTS.items():
            if least[some].size:
                rows.append({"episodes": part} | row(arm, walked.only(some), least[some]))
    return rows


def cells(profile: Profile) -> list[WrongCell]:
    """Six worlds with eight seeds; a small one if quick."""
    if profile.name == "quick":
        return wrong_grid(("short1",), (0.05,), (0, 1), SMALL)
    return wrong_grid(WORLDS, (0.05,))


def charts(rows: Records) -> Iterator[Chart]:
    """SPL as episodes go by, world by world."""
    for world, some in rows.by("world").items():
        series = []
        for look in LOOKS:
            groups = some.where(arm=look.name).by("episodes")
            ends = [interval(groups[part].column("spl")) for part in groups]
            points = [(float(place), mean) for place, (mean, _) in enumerate(ends)]
            spans = [(mean - half, mean + half) for mean, half in ends]
            series.append(Series(look.title, look.colour, points, spans, look.shape))
        ticks = [(float(place), part) for place, part in enumerate(some.values("episodes"))]
        title = f"SPL with memory: {WRONG_WORLDS[world]}"
        yield chart(title, series, ticks, names=("episodes", "SPL"))


def tables(rows: Records) -> list[Table]:
    """SPL by world, arm and part."""
    parts, groups = rows.values("episodes"), rows.by("world", "arm", "episodes")
    columns = list(product(LOOKS, parts))
    lines = [
        [world, *(f"{groups[world, look.name, part].mean('spl'):.3f}" for look, part in columns)]
        for world in rows.values("world")
    ]
    heads = ["world", *(f"{look.title}, {part}" for look, part in columns)]
    return [Table("spl", "SPL of episodes, with memory", heads, lines)]


def findings(rows: Records) -> Iterator[Finding]:
    """Tell how the worth of labels fades."""
    if too_few(rows):
        return
    told = [
        f"{say_difference(paired(some, 'mend_5'))} in episodes {part}"
        for part, some in rows.by("episodes").items()
    ]
    last = rows.where(episodes=rows.values("episodes")[-1])
    behind = [
        world
        for world, some in last.by("world").items()
        if min(paired(some, arm).mean() for arm in ("mend_1", "mend_5")) < -TANGIBLE
    ]
    text = f"Mend with 5 % labels minus replanning Dijkstra, over all worlds: {', '.join(told)}. "
    text += (
        f"In the end a mended graph is behind by more than {TANGIBLE:g} in {named(behind)}."
        if behind
        else f"In no world is a mended graph behind by more than {TANGIBLE:g} in the end."
    )
    yield Finding("new", "What are labels worth to a walker that remembers?", text)


EXPERIMENT = Experiment(
    "wrong_memory",
    "Memory over episodes",
    version=1,
    run=run,
    cells=cells,
    effort=lambda cell: 2.0 * cell.size,
    read_grid=read_grid,
    sections=(
        Section(
            "wrong-memory",
            "Memory over episodes",
            f"{EPISODES} walks to the same goal, each with all that was learnt before, on the "
            "graph as it is and on graphs mended before the first walk. What a walker bumps into "
            "it learns without any label; slow patches it does not bump into.",
            charts=charts,
            tables=tables,
            findings=findings,
            notes=NOTES,
        ),
    ),
)
