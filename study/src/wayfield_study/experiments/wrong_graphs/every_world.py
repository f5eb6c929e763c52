"""Every world with few and some labels: what every arm makes of it.

Exact costs at 1 and 5 % of the states. `run` has a row for every arm; its columns are described at
`wayfield_study.experiments._wrong.arms.row`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from wayfield._text import number_of

from ...engine import Experiment, Profile, Records, Row
from ...report import Chart, Finding, Scale, Section, Series, Table, chart
from .._wrong import (
    LOOKS,
    MENDS,
    NO_LABELS,
    OURS,
    REFERENCE,
    SMALL,
    WRONG_WORLDS,
    WrongCell,
    read_grid,
    rows_of,
    wrong_grid,
)
from ._shown import (
    NOTES,
    by_world,
    cell_by_cell,
    clearly_above,
    interval,
    named,
    paired,
    percent,
    say_difference,
    signed,
    too_few,
)

FRACTIONS = (0.01, 0.05)
TANGIBLE = 0.02
"""A difference in SPL that one would notice."""
TONES = ("line-b", "exit")


def run(cell: WrongCell) -> list[Row]:
    """One row for every arm."""
    return rows_of(cell.draw())


def cells(profile: Profile) -> list[WrongCell]:
    """Every world at full size with eight seeds; small ones with two if quick."""
    if profile.name == "quick":
        return wrong_grid(tuple(WRONG_WORLDS), (0.05,), (0, 1), SMALL)
    return wrong_grid(tuple(WRONG_WORLDS), FRACTIONS)


def charts(rows: Records) -> Iterator[Chart]:
    """Draw the gain over replanning Dijkstra by world."""
    worlds = rows.values("world")
    series = []
    for tone, (fraction, some) in zip(TONES, rows.by("label_fraction").items(), strict=False):
        points, ends = [], []
        for place, world in enumerate(worlds):
            differences = paired(some.where(world=world))
            if differences.size:
                mean, half = interval(differences)
                points.append((float(place), mean))
                ends.append((mean - half, mean + half))
        series.append(Series(f"{percent(fraction)} labels", tone, points, ends, hollow=True))
    ticks = [(float(place), world) for place, world in enumerate(worlds)]
    scale = Scale(-0.2, 0.8)
    yield chart("What mending adds to SPL", series, ticks, scale, ("", "difference of SPL"))


def tables(rows: Records) -> Iterator[Table]:
    """SPL by world and arm; then how the walks differ, and what the referee chose."""
    for fraction, some in sorted(rows.by("label_fraction").items(), reverse=True):
        title = f"SPL with {percent(fraction)} labels"
        note = "The mean depends on the choice of worlds."
        yield by_world(some, f"spl-{100 * fraction:g}", title, note)
    yield _walks(rows)


def _walks(rows: Records) -> Table:
    lines = []
    for (fraction, world), some in rows.by("label_fraction", "world").items():
        plain, ours = some.where(arm=REFERENCE), some.where(arm=OURS)
        chosen = Counter(row["chosen"] or "mended" for row in ours)
        entries = [
            f"{arm.mean(column):.2f}" for column in ("cost_ratio", "bumps") for arm in (plain, ours)
        ]
        told = ", ".join(f"{name} {count}" for name, count in chosen.most_common())
        lines.append([percent(fraction), world, *entries, told])
    heads = ["labels", "world", "cost ratio, Dijkstra", "mend", "bumps, Dijkstra", "mend", "chosen"]
    note = (
        "Cost paid over least cost, and arcs refuted per start, means over starts and seeds; and "
        "how often mend took which candidate."
    )
    return Table("walks", "Cost, bumps and choices", heads, lines, note)


def findings(rows: Records) -> Iterator[Finding]:
    """Tell what mending is worth, where nothing helps, and what it costs where it errs."""
    if too_few(rows):
        return
    worlds = number_of(len(rows.values("world")), "worlds")
    scope = f"{worlds}, {number_of(len(rows.values('seed')), 'seeds')}."
    for fraction, some in sorted(rows.by("label_fraction").items(), reverse=True):
        yield _worth(some, fraction, scope)
    for fraction, some in sorted(rows.by("label_fraction").items(), reverse=True):
        yield _in_vain(some, fraction, scope)
    if "exact" in rows.values("world"):
        yield _right_graph(rows.where(world="exact"))


def _worth(rows: Records, fraction: float, scope: str) -> Finding:
    arms = rows.by("arm")
    ours = {"oracle", *MENDS}
    others = [look for look in LOOKS if look.name in arms and look.name not in ours]
    best = max(others, key=lambda look: arms[look.name].mean("spl"))
    gains = Records.of(cell_by_cell(rows)).column("difference")
    lost, won = (gains < -TANGIBLE).sum(), (gains > TANGIBLE).sum()
    return Finding(
        "new",
        f"Does it pay to mend a wrong graph with {percent(fraction)} labels?",
        f"Mean SPL over worlds: {arms[OURS].mean('spl'):.3f} on the mended graph, "
        f"{arms[REFERENCE].mean('spl'):.3f} for replanning Dijkstra "
        f"({say_difference(paired(rows))}); the best arm that does not mend is “{best.title}” with "
        f"{arms[best.name].mean('spl'):.3f}. Mending gains more than {TANGIBLE:g} in {won} of "
        f"{number_of(gains.size, 'instances')} and loses more than that in {lost}; the worst "
        f"difference is {signed(gains.min())}.",
        scope,
    )


def _in_vain(rows: Records, fraction: float, scope: str) -> Finding:
    """Worlds in which no arm is clearly better than replanning Dijkstra."""
    worlds = {}
    for world, some in rows.by("world").items():
        arms = [arm for arm in some.values("arm") if arm not in NO_LABELS]
        worlds[world] = [arm for arm in arms if clearly_above(paired(some, arm))]
    vain = [world for world, better in worlds.items() if not better]
    ours = [world for world, better in worlds.items() if better and OURS not in better]
    text = f"In {len(vain)} of {number_of(len(worlds), 'worlds')} no arm is clearly better"
    text += f": {named(vain)}." if vain else "."
    if ours:
        text += f" Another arm is clearly better, but mend is not, in {named(ours)}."
    text += " Clearly: the whole 95 % interval of the paired difference lies above 0."
    question = f"Where does nothing beat replanning Dijkstra, with {percent(fraction)} labels?"
    return Finding("new", question, text, scope)


def _right_graph(rows: Records) -> Finding:
    ours = rows.where(arm=OURS)
    same = sum(row["spl"] == 1.0 and row["bumps"] == 0 for row in ours)
    return Finding(
        "new" if same == len(ours) else "differs",
        "Does mending leave a correct graph alone?",
        f"In {same} of {number_of(len(ours), 'instances')} every walk on the mended graph costs as "
        "little as it can. On a correct graph nothing beats its own shortest paths.",
    )


EXPERIMENT = Experiment(
    "wrong_worlds",
    "Wrong graphs, world by world",
    version=1,
    run=run,
    cells=cells,
    effort=lambda cell: 2.0 * cell.size,
    read_grid=read_grid,
    sections=(
        Section(
            "wrong-worlds",
            "World by world",
            "Every world is a believed graph and a truth that differs in one way: "
            f"{named(tuple(WRONG_WORLDS))}. All arms but the static one learn while they walk and "
            "plan again; AMLE and harmonic values, and 5 nearest labels in coordinates, are "
            "lifted so that they descend to the goal. The oracle knows the world. Of equally short "
            "plans replanning Dijkstra takes the one that it finds first; “lowest index first” "
            "breaks ties in another way, to show how much that matters.",
            charts=charts,
            tables=tables,
            findings=findings,
            notes=NOTES,
        ),
    ),
)
