"""Every world with few and some labels: how every arm fares.

Exact costs at 1 and 5 % of the states. `run` has a row for every arm; `common.row` describes its
columns.
"""

from __future__ import annotations

from collections.abc import Iterator

from wayfield.words import number_of, percent

from ...engine import Records, Row
from ...report import Chart, Scale, Series, StudyFinding, Table, chart
from ..shared import make_experiment
from . import common
from .worlds import WRONG_WORLDS

WORLDS = tuple(WRONG_WORLDS)
TANGIBLE = 0.02
"""A difference in SPL that one would notice."""
TONES = ("line-b", "exit")


def run(cell: common.WrongCell) -> list[Row]:
    """Return one row for every arm."""
    return common.rows_of(cell.draw())


def charts(rows: Records) -> Iterator[Chart]:
    """Draw the gain over replanning Dijkstra by world."""
    worlds = rows.values("world")
    series = []
    for tone, (fraction, some) in zip(TONES, rows.by("label_fraction").items(), strict=False):
        gains = dict(enumerate(common.paired(some.where(world=world)) for world in worlds))
        figures = {place: common.interval(gain) for place, gain in gains.items() if gain.size}
        points = [(float(place), mean) for place, (mean, _, _) in figures.items()]
        ends = [(low, high) for _, low, high in figures.values()]
        series.append(Series(f"{percent(fraction)} labels", tone, points, ends, hollow=True))
    ticks = [(float(place), world) for place, world in enumerate(worlds)]
    scale = Scale(-0.2, 0.8)
    yield chart("What mending adds to SPL", series, ticks, scale, ("", "difference of SPL"))


def tables(rows: Records) -> Iterator[Table]:
    """Tabulate SPL by world and arm."""
    for fraction, some in sorted(rows.by("label_fraction").items(), reverse=True):
        title = f"SPL with {percent(fraction)} labels"
        note = "The mean depends on the choice of worlds."
        yield common.by_world(some, f"spl-{100 * fraction:g}", title, note)


def findings(rows: Records) -> Iterator[StudyFinding]:
    """Report what mending is worth, where nothing helps, and what it costs where it errs."""
    if common.too_few(rows):
        return
    num_worlds, num_seeds = len(rows.values("world")), len(rows.values("seed"))
    scope = f"{number_of(num_worlds, 'worlds')}, {number_of(num_seeds, 'seeds')}."
    by_share = sorted(rows.by("label_fraction").items(), reverse=True)
    for fraction, some in by_share:
        arms = some.by("arm")
        plain = set(arms) - {"oracle", *common.MENDS}
        others = [look for look in common.LOOKS if look.name in plain]
        best = max(others, key=lambda look: arms[look.name].mean("spl"))
        gains = Records.of(common.cell_by_cell(some)).column("difference")
        lost, won = (gains < -TANGIBLE).sum(), (gains > TANGIBLE).sum()
        yield StudyFinding(
            "new",
            f"Does it pay to mend a wrong graph with {percent(fraction)} labels?",
            f"Mean SPL over worlds: {arms[common.OURS].mean('spl'):.3f} on the mended graph, "
            f"{arms[common.REFERENCE].mean('spl'):.3f} for replanning Dijkstra "
            f"({common.say_gain(some)}); the best arm that does not mend is “{best.title}” "
            f"with {arms[best.name].mean('spl'):.3f}. Mending gains more than {TANGIBLE:g} in "
            f"{won} of {number_of(gains.size, 'instances')} and loses more than that in {lost}; "
            f"the worst difference is {common.signed(gains.min())}.",
            scope,
        )
    for fraction, some in by_share:
        worlds = {
            world: [
                arm
                for arm in group.values("arm")
                if arm not in common.NO_LABELS and common.clearly_above(common.paired(group, arm))
            ]
            for world, group in some.by("world").items()
        }
        vain = [world for world, better in worlds.items() if not better]
        ours = [world for world, better in worlds.items() if better and common.OURS not in better]
        text = f"In {len(vain)} of {number_of(len(worlds), 'worlds')} no arm is clearly better"
        text += f": {common.named(vain)}." if vain else "."
        if ours:
            text += f" Another arm is clearly better, but mend is not, in {common.named(ours)}."
        text += " Clearly: the whole 95 % interval of the paired difference lies above 0."
        question = f"Where does nothing beat replanning Dijkstra, with {percent(fraction)} labels?"
        yield StudyFinding("new", question, text, scope)
    if exact := rows.where(world="exact", arm=common.OURS).rows:
        same = sum(row["spl"] == 1.0 and row["bumps"] == 0 for row in exact)
        yield StudyFinding(
            "new" if same == len(exact) else "differs",
            "Does mending leave a correct graph alone?",
            f"In {same} of {number_of(len(exact), 'instances')} every walk on the mended graph "
            "costs as little as it can. On a correct graph nothing beats its own shortest paths.",
        )


EXPERIMENT = make_experiment(
    "wrong_worlds",
    "World by world",
    2,
    run,
    common.grids(quick=(WORLDS, (0.05,), (0, 1)), standard=(WORLDS, (0.01, 0.05), common.SEEDS)),
    "Every world is a believed graph and a truth that differs in one way: "
    f"{common.named(WORLDS)}. All arms but the static one learn while they walk and "
    "plan again; AMLE and harmonic values, and 5 nearest labels in coordinates, are "
    "lifted so that they descend to the goal. The oracle knows the world. Of equally short "
    "plans replanning Dijkstra takes the one that it finds first; “lowest index first” "
    "breaks ties in another way, to show how much that matters.",
    {"charts": charts, "tables": tables, "findings": findings, "notes": common.NOTES},
    **common.GRID,
)
