"""Is the model right? A test on held-out episodes, and the calibration of predicted arrival.

**Test.** A walk of one half of the episodes is replayed by the model of the other half: from the
same start, with the same actions, by drawing outcomes. The question is whether it ends near a goal.
Goals are rows of the buffer: where the walk itself ended, and where others that began nearby ended.
Near means within a radius in the raw coordinates, each divided by its standard deviation, so that a
bad metric cannot judge itself; the radius is such that about half of the goals are met. With p the
predicted share and y what happened,

    Brier score = mean (p - y)²,    skill = 1 - Brier score / (ȳ (1 - ȳ)).

Skill is 1 for an oracle, 0 for the base rate, negative for a model that is worse than none.

**Calibration.** A plan comes with two probabilities of arrival, low and high (`goal_plans`). With
g = high - low, arrival is predicted as low + g (1 - g / 2) / 2: half of the way from low to high
where they nearly agree, a quarter where they say nothing. The interval reaches from somewhat below
low to somewhat above high. The rule and the margin were chosen on some worlds; results are reported
on others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..checks import KeepsReadOnly, frozen
from ..typing import BoolArray, FloatArray, IntArray
from ..words import number_of, percent
from .kernels.outcomes import NO_SAMPLE, relive
from .metric import Metric
from .model import ENOUGH_ROWS, LARGE_BUFFER, WALL_RADIUS, BufferModel, Moves, Steps, query

if TYPE_CHECKING:
    from .goal_plans import GoalPlan

Verdict = Literal["trust", "careful", "do not use"]

_WALKS, _MOVES, _PARTICLES, _GOALS = 600, 8, 12, 4
"""Number of walks to replay; moves, particles and goals of each walk."""
_POOR, _GOOD, _OFF = 0.1, 0.35, 0.1
"""Skill below which the planner should not be used, unless predictions and observed shares differ
by no more than the last number; and skill above which it can be trusted. Where chance decides, even
the right model has little skill."""
_MARGIN = 0.07
"""Widening of the interval at level 0.9."""
_UNSEEN = 0.35
"""In a buffer smaller than `LARGE_BUFFER`, walls go unnoticed at states with fewer than
`ENOUGH_ROWS` rows within `WALL_RADIUS` steps. If this holds at all states, arrival is predicted
lower by this share, and the interval begins at 0."""
_BINS = 5
_WHY = {
    "metric": "the test was failed, or a goal is too large a part of the states",
    "coverage": "plans lead from few states, or the rows cannot show all walls",
    "chance": "the odds of moves are known poorly, or look like choices",
    "low level": "in most states, the planned move may lead far back or be fatal",
}
"""What makes each part of a planner doubtful."""


@dataclass(frozen=True, eq=False)
class Test:
    """Predictions of held-out walks, and what happened.

    Attributes
    ----------
    predicted : (q,) float array
        Predicted probability that a walk ends near a goal.
    happened : (q,) bool array
        Whether it did.
    lost : float
        Share of particles that came to a state where the action was never taken.
    blind : float
        Share of the states, in a small buffer, where walls would go unnoticed.
    sparse : float
        Share of the states around which the rows cannot show all walls: too few rows; all states
        in a buffer without actions, which does not show who meant to cross.
    """

    predicted: FloatArray
    happened: BoolArray
    lost: float
    blind: float
    sparse: float

    @property
    def brier(self) -> float:
        """Mean squared error of the predictions; NaN without any."""
        if not self.predicted.size:
            return float("nan")
        return float(((self.predicted - self.happened) ** 2).mean())

    @property
    def skill(self) -> float:
        """1 minus the Brier score over that of the base rate; NaN if undefined."""
        base = float(self.happened.mean()) if self.happened.size else 0.0
        spread = base * (1.0 - base)
        return 1.0 - self.brier / spread if spread > 0.0 else float("nan")

    @property
    def verdict(self) -> Verdict:
        """Whether to use the planner."""
        off = sum(number * abs(said - was) for said, was, number in self.reliability)
        off /= max(self.predicted.size, 1)
        # the skill is NaN if all outcomes are the same
        if not self.predicted.size or (not self.skill > _POOR and off > _OFF):
            return "do not use"
        return "trust" if self.skill > _GOOD and off <= _OFF else "careful"

    @property
    def reliability(self) -> list[tuple[float, float, int]]:
        """Mean prediction, share that happened, and number of predictions, by bins."""
        place = np.minimum((self.predicted * _BINS).astype(int), _BINS - 1)
        table = []
        for b in range(_BINS):
            some = place == b
            if some.any():
                means = self.predicted[some].mean(), self.happened[some].mean()
                table.append((float(means[0]), float(means[1]), int(some.sum())))
        return table


def run_test(
    model: BufferModel, steps: Steps, moves: Moves, sparse: float, dropped: BoolArray, seed: int
) -> Test:
    """Replay walks of each half of the episodes with samples of the other half."""
    rng = np.random.default_rng([seed, 1])
    asked = model.features[rng.permutation(model.num_living)[:1000]]
    blind = max(1.0 - len(steps.rows) / LARGE_BUFFER, 0.0)
    if blind:
        rows = cKDTree(steps.features[steps.onward])
        around = rows.query_ball_point(asked, WALL_RADIUS, return_length=True)
        blind *= float((np.asarray(around) < ENOUGH_ROWS).mean())
    end, took = moves.end, moves.took
    going = np.flatnonzero(took > 0)
    start = rng.permutation(going)[:_WALKS]
    # the actions of each walk, move by move; it is over when there is no further move
    kinds, at = np.full((start.size, _MOVES), -1), start.copy()
    for move in range(_MOVES):
        more = took[at] > 0
        kinds[more, move] = moves.kind[at[more]]
        at = np.where(more, end[at], at)
    _, first = model.nearest(steps.features[start], 1)
    dice = rng.random((start.size, _PARTICLES, _MOVES))
    ends = relive(model.to, 1 - steps.half[start], first[:, 0], kinds, dice, model.num_places)

    # goals: where walks ended that began nearby, in raw coordinates; the first is its own end
    change = np.diff(steps.rows, axis=0)[steps.onward[:-1]]
    spread = steps.rows.std(axis=0)
    used = ((change**2).mean(axis=0) < spread**2) & ~dropped  # not noise: it has a memory
    if not used.any() or start.size < 2 * _GOALS:
        return Test(np.zeros(0), np.zeros(0, bool), 0.0, blind, sparse)
    scale = np.where(used, 1.0 / np.maximum(spread, 1e-300), 0.0)
    begins, last = steps.rows[start] * scale, steps.rows[at] * scale
    goals = query(cKDTree(begins), begins, _GOALS)[1]
    off = np.linalg.norm(last[:, None] - last[goals], axis=2)
    radius = float(np.median(off[:, 1:])) or 1e-9
    found = ends != NO_SAMPLE
    places = model.rows[np.maximum(ends, 0)] * scale
    apart = np.linalg.norm(
        places[:, None] - last[goals][:, :, None], axis=3
    )  # walk, goal, particle
    near = (apart <= radius) & found[:, None]
    count = np.maximum(found.sum(axis=1), 1)[:, None]
    known = np.repeat(found.any(axis=1), _GOALS - 1)
    predicted = (near.sum(axis=2) / count)[:, 1:].ravel()[known]
    happened = (off <= radius)[:, 1:].ravel()[known]
    return Test(frozen(predicted), frozen(happened), float(1.0 - found.mean()), blind, sparse)


def calibrated(low: FloatArray, high: FloatArray, blind: float) -> FloatArray:
    """Return the probability of arrival, between a low and a high estimate."""
    gap = high - low
    between = (low + 0.5 * gap * (1.0 - 0.5 * gap)) * (1.0 - _UNSEEN * blind)
    return np.where(low >= 1.0, 1.0, between)  # at the goal


def interval(
    low: FloatArray, high: FloatArray, test: Test, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the interval that holds the probability of arrival with a probability of `level`.

    The more states might have unseen walls nearby, the lower it begins.
    """
    middle, slack = calibrated(low, high, test.blind), _MARGIN * level / 0.9
    wide, least = level / 0.9, low * (1.0 - max(test.blind, test.sparse))
    below = middle - wide * (middle - least) - slack
    above = middle + wide * (high - middle) + slack
    return np.clip(below, 0.0, 1.0), np.clip(above, 0.0, 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class Check(KeepsReadOnly):
    """How a planner was tested, and whether to trust it. The printed form is a short report.

    Attributes
    ----------
    verdict : {"trust", "careful", "do not use"}
        Whether to use the planner.
    brier, skill : float
        Brier score of predicted ends of held-out walks, and its skill over the base rate.
    reliability : list of (float, float, int)
        Mean prediction, share that happened, and number of predictions, by bins.
    used, dropped, wrapped, discrete : (k,) int arrays
        Coordinates that count, those that do not, and those taken for angles or modes.
    goal_share : float
        Mean share of the states that count as the goal, over some goals.
    width : float
        Mean width of `Planner.reach_interval` at level 0.9, over all states and some goals.
    coverage : float
        Mean share of the states from which the plan leads to these goals.
    fails : tuple of str
        What may fail: "metric", "coverage", "chance", "low level".
    """

    verdict: Verdict
    brier: float
    skill: float
    reliability: list[tuple[float, float, int]]
    used: IntArray
    dropped: IntArray
    wrapped: IntArray
    discrete: IntArray
    goal_share: float
    width: float
    coverage: float
    fails: tuple[str, ...]
    num_tested: int

    def __repr__(self) -> str:
        return f"Check({self.verdict}: skill {self.skill:.2f}, Brier score {self.brier:.3f})"

    def __str__(self) -> str:
        names = {"dropped": self.dropped, "angles": self.wrapped, "discrete": self.discrete}
        kinds = [f"{name} {', '.join(map(str, of))}" for name, of in names.items() if of.size]
        kinds = [f"used {', '.join(map(str, self.used))}", *kinds]
        lines = [
            f"Verdict: {self.verdict}.",
            *(f"  {name} may fail: {_WHY[name]}." for name in self.fails),
            f"{number_of(self.num_tested, 'predictions')} of where held-out walks end: Brier score "
            f"{self.brier:.3f}, skill {self.skill:.2f} (1 is perfect, 0 the base rate).",
        ]
        lines += [
            f"  predicted {percent(said)}, happened {percent(was)} ({number:,})"
            for said, was, number in self.reliability
        ]
        lines += [
            f"Coordinates: {'; '.join(kinds)}.",
            f"A goal is {percent(self.goal_share)} of the states; plans lead there from "
            f"{percent(self.coverage)}; arrival is known to ±{self.width / 2:.2f} on average, at "
            "level 0.9.",
        ]
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Plot observed against predicted shares; return the axes. Needs the extra ``plots``."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure(figsize=(4, 4)).add_subplot()
        said, was, number = np.array(self.reliability).T
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        ax.scatter(said, was, s=10 + 200 * number / number.max())
        ax.set(xlabel="predicted", ylabel="happened", xlim=(0, 1), ylim=(0, 1))
        ax.set_title(f"held-out walks: skill {self.skill:.2f}")
        return ax


def make_check(
    model: BufferModel, metric: Any, test: Test, plans: Sequence[GoalPlan], has_actions: bool
) -> Check:
    """Return the test together with statistics of plans for some goals."""
    living, width = model.num_living, model.rows.shape[1]
    share = float(np.mean([plan.goal[:living].mean() for plan in plans]))
    leads = float(np.mean([(plan.values[:living] > 0.0).mean() for plan in plans]))
    ends = [interval(plan.low, plan.high, test, 0.9) for plan in plans]
    wide = float(np.mean([(high - low)[:living].mean() for low, high in ends]))
    risky = float(np.mean([plan.risky[:living].mean() for plan in plans]))
    fails = {
        "metric": not test.skill > _GOOD or share > 0.2,
        "coverage": leads < 0.5 or test.lost > 0.3 or test.sparse > 0.5,
        "chance": wide > 0.4 or not has_actions,  # without actions, chance looks like choice
        "low level": risky > 0.5,
    }
    verdict = test.verdict
    doubtful = share > 0.2 or wide > 0.5 or leads < 0.3 or test.sparse > 0.5
    if verdict == "trust" and doubtful:
        verdict = "careful"
    nothing: NDArray[np.bool_] = np.zeros(width, bool)
    wrapped = metric.wrapped if isinstance(metric, Metric) else nothing
    discrete = metric.discrete if isinstance(metric, Metric) else nothing
    return Check(
        verdict=verdict,
        brier=test.brier,
        skill=test.skill,
        reliability=test.reliability,
        used=frozen(np.flatnonzero(~metric.dropped)),
        dropped=frozen(np.flatnonzero(metric.dropped)),
        wrapped=frozen(np.flatnonzero(wrapped)),
        discrete=frozen(np.flatnonzero(discrete)),
        goal_share=share,
        width=wide,
        coverage=leads,
        fails=tuple(name for name, failed in fails.items() if failed),
        num_tested=test.predicted.size,
    )
