"""Is the plan right? The closed loop, judged on held-out episodes.

The episodes are cut in two halves. For goals drawn from the buffer, each half makes a plan, and its
plan is followed through the transitions of the other half: from an observation of that half, the
plan takes an action; a transition of that half with a like action, near in place *and in what came
before*, says where this leads; and so on, until the walk comes to the goal, dies, or has taken
three times as long as planned. What the plan predicted is compared with the share that arrived.

What came before matters. Where far places look alike, a planner cannot tell them apart; the history
often can, and so the walk goes where the recorded agents went.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.spatial import cKDTree

from ..checks import KeepsReadOnly, frozen
from ..errors import InputError
from ..typing import BoolArray, FloatArray, IntArray
from ..words import number_of, percent
from .chains import FAR, GOAL_RADIUS, HORIZON, POOL_WIDTH, Chains, make_chains, make_plan, query
from .kernels.chains import part_links

Verdict = Literal["trust", "careful", "do not use"]

GOOD, OFF, LARGE = 0.85, 0.1, 0.2
PAST = 0.5
_GOALS, _STARTS, _LIKE, _MOST, _ROWS = 4, 40, 8, 500, 15_000
"""Goals of each half, walks to each, transitions to draw from, most steps, most rows of a half."""
_WHY = {
    "closed loop": "followed through held-out episodes, fewer plans arrive than predicted",
    "coverage": "few plans arrive at all",
    "goal size": "a step leads so far that a goal is a large part of the rows",
    "no actions": "without actions, luck looks like choice",
    "thin walls": "rows are so far apart that walls between them would not be seen",
    "few episodes": "there are too few episodes to hold any back",
}


@dataclass(frozen=True, eq=False, repr=False)
class Check(KeepsReadOnly):
    """How plans fared on held-out episodes, and whether to trust them. Printed: a short report.

    Attributes
    ----------
    verdict : {"trust", "careful", "do not use"}
        Whether to use the planner.
    predicted, kept : float
        Mean predicted probability of arrival, and the share of the walks that arrived.
    goals : list of (float, float, int)
        The same for each goal, and the number of walks.
    used, dropped : (k,) int arrays
        Coordinates that count, and those that do not.
    metric : str
        The candidate that was chosen: "slow", "coords", "steered" or "given".
    explained : float
        Share of the variance of held-out actions that it knows; NaN without actions.
    scale, floor : float
        Lengths of stitches, in steps: those that mostly fail, and those that cost nothing.
    fails : tuple of str
        What may fail: "closed loop", "coverage", "goal size", "no actions", "thin walls", "few
        episodes".
    """

    verdict: Verdict
    predicted: float
    kept: float
    goals: list[tuple[float, float, int]]
    used: IntArray
    dropped: IntArray
    metric: str
    explained: float
    scale: float
    floor: float
    fails: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Check({self.verdict}: predicted {self.predicted:.2f}, kept {self.kept:.2f})"

    def __str__(self) -> str:
        walks = sum(number for _, _, number in self.goals)
        lines = [
            f"Verdict: {self.verdict}.",
            *(f"  {name}: {_WHY[name]}." for name in self.fails),
            f"{number_of(walks, 'walks')} through held-out episodes: predicted arrival "
            f"{percent(self.predicted)}, kept {percent(self.kept)}.",
        ]
        lines += [
            f"  to one goal: predicted {percent(said)}, kept {percent(kept)} ({number:,})"
            for said, kept, number in self.goals
        ]
        names = {"used": self.used, "dropped": self.dropped}
        kinds = [f"{name} {', '.join(map(str, of))}" for name, of in names.items() if of.size]
        lines.append(f"Coordinates: {'; '.join(kinds)}.")
        known = f"; held-out actions are known to {percent(max(self.explained, 0.0))}"
        lines.append(
            f"Metric: {self.metric}{known if np.isfinite(self.explained) else ''}. Stitches up to "
            f"{self.floor:.2g} steps cost nothing, those of {self.scale:.2g} mostly fail."
        )
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> Any:
        """Plot kept against predicted shares; return the axes. Needs the extra ``plots``."""
        if ax is None:
            import matplotlib.pyplot as plt

            ax = plt.figure(figsize=(4, 4)).add_subplot()
        said, kept, _ = np.array(self.goals or [(np.nan, np.nan, 0)]).T
        ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        ax.scatter(said, kept)
        ax.set(xlabel="predicted", ylabel="kept", xlim=(0, 1), ylim=(0, 1))
        return ax


def run_check(chains: Chains, seed: int) -> Check:
    """Follow plans of each half of the episodes through the other half."""
    rng, rows = np.random.default_rng([seed, 3]), chains.rows
    half = (rng.permutation(rows.episode.max() + 1) % 2)[rows.episode].astype(bool)
    goals = []
    try:
        sides = [_side(chains, which, rng, seed) for which in (half, ~half)]
        for one, other in (sides, sides[::-1]):
            goals += [follow_plan(one, other, rng) for _ in range(_GOALS)]
    except InputError:  # too few rows, or halves that never come near each other
        goals = []
    large = False
    if goals:
        some = rng.integers(len(rows.before), size=(2, 500))
        apart = np.linalg.norm(chains.before[some[0]] - chains.after[some[1]], axis=1)
        large = bool((apart <= GOAL_RADIUS).mean() > LARGE)
    said, kept, _ = np.array(goals or [(np.nan, np.nan, 0)]).T
    predicted, share = float(said.mean()), float(kept.mean())
    fails = {
        "closed loop": bool(predicted - share > OFF),
        "coverage": not share >= GOOD,
        "goal size": large,
        "no actions": not chains.acted,
        "thin walls": chains.walls.shown < 0.5,
        "few episodes": not goals,
    }
    verdict: Verdict = "careful" if any(fails.values()) else "trust"
    if goals and (predicted - share > 0.4 or share < 0.2 or large):
        verdict = "do not use"
    used = chains.metric.used
    scores = chains.metric.scores
    return Check(
        verdict,
        predicted,
        share,
        goals,
        frozen(np.flatnonzero(used)),
        frozen(np.flatnonzero(~used)),
        chains.metric.kind,
        scores.get(chains.metric.kind, float("nan")),
        chains.scale,
        chains.floor,
        tuple(name for name, failed in fails.items() if failed),
    )


def _side(chains: Chains, half: BoolArray, rng: np.random.Generator, seed: int) -> Chains:
    """Return the chains of some episodes."""
    rows = chains.rows.some(half)
    if len(rows.before) > _ROWS:
        names = rng.permutation(np.unique(rows.episode))
        sizes = np.cumsum(np.bincount(rows.episode)[names])
        rows = rows.some(np.isin(rows.episode, names[: np.searchsorted(sizes, _ROWS) + 1]))
    if len(rows.before) < 20 or rows.episode[0] == rows.episode[-1]:
        raise InputError("too few rows")
    return make_chains(rows, chains.metric, chains.acted, seed)


def follow_plan(one: Chains, other: Chains, rng: np.random.Generator) -> tuple[float, float, int]:
    """Follow a plan of `one` through `other`: what it predicted, what it kept, and the walks."""
    drawn = rng.permutation(np.flatnonzero(~one.rows.died))
    plan = make_plan(one, one.rows.after[drawn[0]])
    apart = np.linalg.norm(other.after - plan.point, axis=1)
    radius = max(GOAL_RADIUS, float(np.sort(apart)[min(2, len(apart) - 1)]))
    begin = rng.permutation(len(other.before))[:_STARTS]
    points, before = other.before[begin], earlier(other)
    past = before[begin]
    row, odds, score = one.choose(points, plan.worth)
    said = np.where(score > 0.0, odds * one.mean_of(plan.arrival, row), 0.0)
    said = np.where(np.linalg.norm(points - plan.point, axis=1) <= radius, 1.0, said)
    actions = other.joint[:, other.before.shape[1] :]
    tree = cKDTree(np.hstack([other.before, PAST * before, actions]))
    count = min(_LIKE, len(other.before))
    wanted = one.joint[:, one.before.shape[1] :]
    arrived = np.linalg.norm(points - plan.point, axis=1) <= radius
    gone = np.zeros(len(begin), bool)
    with np.errstate(divide="ignore"):
        steps = np.abs(np.log(np.maximum(score, 1e-9)) / np.log1p(-1.0 / HORIZON))
    most = int(min(_MOST, 3 * np.max(steps, initial=0.0) + 20))
    for _ in range(most):
        live = np.flatnonzero(~arrived & ~gone)
        if not live.size:
            break
        here = points[live]
        row = one.choose(here, plan.worth)[0]
        asked = np.hstack([here, PAST * past[live], wanted[row]])
        away, near = query(tree, asked, count)
        width = np.maximum(away[:, -1:], POOL_WIDTH)
        share = np.exp(-2.0 * (away / width) ** 2)
        wide = here @ other.walls.axes
        sites = query(other.site_tree, wide, 1)[1][:, 0]
        ends = wide, other.places, near, sites, other.sites_of_rows
        share[part_links(*ends, *other.walls.parts)] *= 1e-6
        share = np.cumsum(share, axis=1)
        pick = (rng.random((live.size, 1)) * share[:, -1:] > share).sum(axis=1)
        taken = near[np.arange(live.size), np.minimum(pick, count - 1)]
        past[live], points[live] = other.before[taken], other.after[taken]
        there = np.linalg.norm(points[live] - plan.point, axis=1) <= radius
        gone[live] = other.rows.died[taken] | (away[:, 0] > 2 * FAR)
        arrived[live] = there & ~other.rows.unseen[taken]
    return float(said.mean()), float(arrived.mean()), len(begin)


def earlier(chains: Chains) -> FloatArray:
    """Return the features of the row before each one; of the row itself where there is none."""
    same = np.append(False, chains.rows.episode[1:] == chains.rows.episode[:-1])
    return np.where(same[:, None], np.roll(chains.before, 1, axis=0), chains.before)
