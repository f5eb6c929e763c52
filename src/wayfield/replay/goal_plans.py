"""The plan for one goal: which action to take, how likely it is to arrive, and where it leads.

The plan maximises the discounted probability of arrival U of `kernels.outcomes`. Two estimates of
R, the probability of arrival, go with it:

- *high*: all episodes choose and judge. Too high where data are few: the best of several noisy
  estimates is picked, and judged by the same noise.
- *low*: one half of the episodes chooses, the other one judges, both ways, and the mean is taken.
  Too low where data are few: each half knows less than both.

The truth lies between. `check` says where.

**Fixed points.** U and R are fixed points of sweeps that contract slowly: where walks wander about,
all values rise together, by a few percent of what is missing. Anderson acceleration (J. ACM 12(4),
1965) takes the combination of the last few results whose changes cancel best. If a sweep changes
nothing by more than ε and two sweeps contract by γ, the error is at most 2ε / (1 - γ). R is lowered
by that: whatever is left undone makes it too low, never too high.

**Sub-goals.** From each state the plan is followed through typical outcomes: of an action's
samples, the state nearest to their mean. It is followed as long as the path is straight, does not
pass a wall, changes no discrete coordinate, and comes to no state where the action may be deadly.
Without actions, a move so short that a body would come to rest is replaced by a state farther on.

**Goals that nobody came to.** If plans lead to the goal from hardly any state, the states around it
count as the goal. Passing is not arriving: outside the goal itself *low* is then 0, and *high* is
halved for every three steps that these states are away.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..typing import BoolArray, FloatArray, IntArray
from .kernels.outcomes import (
    NO_SAMPLE,
    OutcomeTable,
    arrive,
    follow,
    improve,
    pack,
    parted,
    score_all,
)
from .metric import DISCRETE_STEP
from .model import BufferModel

_HORIZON, _LONGER, LONGEST_WALK = 300.0, 6.0, 8.0
"""An arrival counts for 1/e after a horizon of at least this many steps; how many times the longest
paths the horizon is; and how many times that in evaluations. Walks that take much longer
do not count."""
_SORTED, _EVERY, _DEPTH = 12, 4, 10
"""First sweeps, each followed by sorting the states by value; afterwards, sweeps between two
combinations, and earlier results that are combined with the last."""
ERROR = 1e-3, 5e-2
"""Largest error of a probability of arrival, which may be too low, and of U."""
_RADIUS, _FARTHEST, _HARDLY = 0.7, 3.0, 0.005
"""States within the first distance of a goal count as the goal. If none is within half of it, the
three nearest count too, unless they are beyond the second distance and clearly farther away than
the nearest. The second distance, or three times that, is also used where plans lead to the goal
itself from hardly any state: from this share of them, or less."""
_RISKY = 0.9
"""An action spoils the plan if it leaves less than this share of the probability of arrival."""
_MOVES_AHEAD, _BENT, _SUBSTITUTES = 6, 0.5, 128
"""Moves that a sub-goal may be ahead; how far, in steps, a straight path may bend; and number of
states among which a substitute is sought for a sub-goal that is too near."""


@dataclass(frozen=True, eq=False)
class GoalPlan:
    """A plan for one goal; arrays have one entry per state.

    Attributes
    ----------
    goal : (m,) bool array
        States that count as the goal.
    away : float
        Distance from the goal to the nearest state, in steps.
    visited : bool
        Whether plans lead to the goal itself. If from hardly any state, others around count too.
    values : (m,) float array
        Discounted probability of arrival.
    scores : (m, actions) float array
        The same for each action taken first.
    low, high : (m,) float arrays
        Probability of arrival: an estimate that is too low, and one that is too high.
    following : (m,) int array
        State that the plan's action leads to in a typical case; itself if there is none.
    ahead : (m,) int array
        State to head for; -1 for the goal itself; the state itself for a single move.
    beyond : (m,) int array
        State to head for in place of a single move that is too short; itself if there is none.
    risky : (m,) bool array
        States where another action would spoil the plan.
    stay : (m,) int array
        At states of the goal, the action that stays nearest to it.
    """

    goal: BoolArray
    away: float
    visited: bool
    values: FloatArray
    scores: NDArray[np.float32]
    low: FloatArray
    high: FloatArray
    following: IntArray
    ahead: IntArray
    beyond: IntArray
    risky: BoolArray
    stay: IntArray


def discounted(model: BufferModel, horizon: float, begin: int, end: int) -> OutcomeTable:
    """Return some of the samples, and what an arrival after each of them is worth."""
    worth = (1.0 - 1.0 / horizon) ** (model.took + model.stitch)
    return OutcomeTable(*pack(model.to, worth.astype(np.float32), begin, end))


def find_horizon(model: BufferModel, seed: int) -> float:
    """Return the horizon: several times the longest paths to some goals.

    A short one would value a gamble above a long safe path.
    """
    longest = 0.0
    table = discounted(model, _HORIZON, 0, model.to.shape[2])
    for i in np.random.default_rng([seed, 2]).permutation(model.num_living)[:2]:
        away = np.linalg.norm(model.features - model.features[i], axis=1)
        order = np.argsort(away, kind="stable")
        values = solve(model, table, away <= _RADIUS, order, 0.5 * ERROR[1] / _HORIZON)
        steps = -_HORIZON * np.log(values[values > 1e-3])
        longest = max(longest, float(np.quantile(steps, 0.95)))
    return max(_HORIZON, _LONGER * longest)


def make_plan(model: BufferModel, horizon: float, point: FloatArray) -> GoalPlan:
    """Plan for the goal at `point`, in features."""
    away = np.linalg.norm(model.features - point, axis=1)
    third = float(np.partition(away, min(2, away.size - 1))[min(2, away.size - 1)])
    nearest = float(away.min())
    if nearest > 2 * _FARTHEST * max(1.0, model.hold):
        raise InputError(f"no state is near the goal: the nearest is {nearest:.3g} steps away")
    walls = model.features, model.directions, model.planes
    samples, enough = model.to.shape[2], 0.5 * ERROR[1] / horizon
    table = discounted(model, horizon, 0, samples)

    def leading_to(radius: float) -> tuple[BoolArray, FloatArray]:
        """Return which states count as the goal, within a radius and not behind walls, and U."""
        inside = away <= radius
        near = np.flatnonzero(inside)
        open_ = ~parted(point[None], near[None], *walls)[0]
        if open_.any():
            inside[near[~open_]] = False
        return inside, solve(model, table, inside, np.argsort(away, kind="stable"), enough)

    # in many dimensions nothing may be near: then the three nearest count
    wide = min(third, max(_FARTHEST, nearest + _RADIUS)) if nearest > 0.5 * _RADIUS else 0.0
    inside, values = leading_to(max(_RADIUS, wide))
    just, faith = inside, 1.0
    hardly = _HARDLY * model.num_living
    for radius in (nearest + _FARTHEST, nearest + 3 * _FARTHEST):
        # perhaps no episode came here, but some passed by
        if np.count_nonzero(values[~inside]) <= hardly:
            wider, again = leading_to(radius)
            if np.count_nonzero(again[~wider]) > hardly:
                inside, values, faith = wider, again, 0.5 ** (radius / _FARTHEST)
    order = np.argsort(-values, kind="stable")
    scores = score_all(table, model.prior, values)
    plan = chosen(model, scores)
    high = judged(model, horizon, 0, samples, inside, plan, order)
    low: FloatArray = np.zeros(len(away))
    for begin, end in ((0, samples // 2), (samples // 2, samples)):
        some = discounted(model, horizon, begin, end)
        half = chosen(
            model, score_all(some, model.prior, solve(model, some, inside, order, enough))
        )
        low += 0.5 * judged(model, horizon, samples - end, samples - begin, inside, half, order)
    low = np.minimum(low, high)
    if inside is not just:  # passing is not arriving
        low, high = just.astype(np.float64), np.where(just, 1.0, faith * high)
    # where another action would spoil the plan, or this one may end it
    here = np.arange(len(away))
    known = np.diff(table.first, axis=1) >= 3
    worst = np.where(known, scores, np.inf).min(axis=1)
    risky = worst < _RISKY * scores.max(axis=1)
    outcomes = model.to[here, np.maximum(plan, 0)]
    risky |= (plan >= 0) & ((outcomes >= model.num_living) & ~inside[outcomes]).any(axis=1)
    following, ahead, beyond = look_ahead(model, inside, plan, values, risky)
    stay = np.zeros(len(away), np.int64)
    for i in np.flatnonzero(inside):
        found = model.to[i] != NO_SAMPLE
        ends = np.where(found, away[model.to[i]], 0.0).sum(axis=1)
        count = found.sum(axis=1)
        stay[i] = np.where(count > 0, ends / np.maximum(count, 1), np.inf).argmin()
    return GoalPlan(
        goal=inside,
        away=nearest,
        visited=inside is just,
        values=values,
        scores=scores.astype(np.float32),
        low=low,
        high=high,
        following=following,
        ahead=ahead,
        beyond=beyond,
        risky=risky,
        stay=stay,
    )


def settle(sweep: Callable[[FloatArray], float], values: FloatArray, enough: float) -> float:
    """Sweep until no value changes by more than `enough`; return the largest change.

    `sweep` works in place and returns the largest change. Values stay between 0 and 1.
    """
    results, changes = np.empty((2, _DEPTH + 1, values.size))
    limit, count = np.inf, 0
    while True:
        at, before = count % len(results), values.copy()
        change = sweep(values)
        count += 1
        if change <= enough:
            return change
        results[at], changes[at] = values, values - before
        # Changes must shrink from one combination to the next. If they do not, plain sweeps follow,
        # which contract: so this ends.
        if count % _EVERY == 0 and change <= limit:
            limit = 0.9 * min(limit, 4.0 * change)
            some = slice(min(count, len(results)))
            apart = changes[some] - changes[at]
            share = np.linalg.lstsq(apart @ apart.T, -(apart @ changes[at]), rcond=1e-12)[0]
            values += share @ (results[some] - results[at])  # goals stay exactly 1
            np.clip(values, 0.0, 1.0, out=values)


def solve(
    model: BufferModel, table: OutcomeTable, goal: BoolArray, order: IntArray, enough: float
) -> FloatArray:
    """Return U, up to a change of `enough` in a sweep; `order` is that of the first sweep."""
    values = goal.astype(np.float64)
    for _ in range(_SORTED):
        improve(table, model.prior, goal, order, values)
        order = np.argsort(-values, kind="stable")
    settle(lambda values: improve(table, model.prior, goal, order, values), values, enough)
    return values


def chosen(model: BufferModel, scores: FloatArray) -> IntArray:
    """Return the action of every state, by the scores of the states around it; -1 for none."""
    around = (model.share[:, :, None] * scores[model.near]).sum(axis=1)
    return np.where(around.max(axis=1) > 0.0, around.argmax(axis=1), -1)


def judged(
    model: BufferModel,
    horizon: float,
    begin: int,
    end: int,
    goal: BoolArray,
    plan: IntArray,
    order: IntArray,
) -> FloatArray:
    """Return the probability of arrival under a plan, by some of the samples, never too high.

    These are the samples of each state and of those around it. Where there are none, all count.
    """
    patience = LONGEST_WALK * horizon
    samples = model.to, model.took, 1.0 - 1.0 / patience, begin, end
    table = OutcomeTable(*follow(*samples, model.near, model.share, plan))
    values = goal.astype(np.float64)
    enough = 0.5 * ERROR[0] / patience
    change = settle(lambda values: arrive(table, goal, order, values), values, enough)
    values[~goal] -= 2.0 * change * patience
    return np.maximum(values, 0.0)


def look_ahead(
    model: BufferModel, goal: BoolArray, plan: IntArray, values: FloatArray, risky: BoolArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Return where the plan's action leads from every state, and the state to head for.

    The latter is -1 for the goal itself, and the state itself for a single move. The third array
    holds the state to head for if that move is too short.
    """
    m, here = goal.size, np.arange(goal.size)
    features = model.features
    chosen = model.to[here, np.maximum(plan, 0)]
    alive = (chosen >= 0) & (chosen < model.num_living) & (plan >= 0)[:, None]
    places = features[np.maximum(chosen, 0)]
    count = np.maximum(alive.sum(axis=1), 1)
    mean = (places * alive[..., None]).sum(axis=1) / count[:, None]
    gap = np.where(alive, np.linalg.norm(places - mean[:, None], axis=2), np.inf)
    following = np.where(alive.any(axis=1), chosen[here, gap.argmin(axis=1)], here)

    walls = features, model.directions, model.planes
    at, best = following.copy(), here.copy()
    arrives = goal[following] & (plan >= 0)
    going = np.flatnonzero((following != here) & (plan >= 0) & ~goal[following] & ~goal & ~risky)
    path = np.empty((_MOVES_AHEAD, m), np.int64)
    for move in range(_MOVES_AHEAD - 1):
        path[move] = at
        onto = following[at[going]]
        good = (onto != at[going]) & (values[onto] > values[at[going]]) & ~risky[at[going]]
        good &= np.linalg.norm(features[onto] - features[at[going]], axis=1) < DISCRETE_STEP
        going, onto = going[good], onto[good]
        if not going.size:
            break
        begin = features[going]
        ray = features[onto] - begin
        length = np.maximum(np.linalg.norm(ray, axis=1), 1e-12)
        ray /= length[:, None]
        good = ~parted(begin, onto[:, None], *walls)[:, 0]
        good &= ~parted(features[onto], going[:, None], *walls)[:, 0]
        for passed in path[: move + 1, going]:
            # the straight line runs beside the path, on the same side of walls
            along = ((features[passed] - begin) * ray).sum(axis=1)
            foot = begin + np.clip(along, 0.0, length)[:, None] * ray
            good &= np.linalg.norm(features[passed] - foot, axis=1) <= _BENT
            good &= ~parted(foot, passed[:, None], *walls)[:, 0]
        going, onto = going[good], onto[good]
        at[going] = best[going] = onto
        arrives[going] |= goal[onto]
        going = going[~goal[onto]]

    # where to head instead of a short move: the first state along the path that is far enough away,
    # or else the best state around
    beyond, at = here.copy(), here.copy()
    left = np.flatnonzero((plan >= 0) & ~goal & ~risky & (model.least > 0.0))
    going = left
    for _ in range(_MOVES_AHEAD):
        onto = following[at[going]]
        far = np.linalg.norm(features[onto] - features[going], axis=1)
        good = (far < DISCRETE_STEP) & ~risky[at[going]]
        good &= ~parted(features[going], onto[:, None], *walls)[:, 0]
        good &= ~parted(features[onto], going[:, None], *walls)[:, 0]
        going, onto, far = going[good], onto[good], far[good]
        at[going] = onto
        enough = (far >= 2.0 * model.least) & (values[onto] > values[going])
        beyond[going[enough]] = onto[enough]
        going = going[~enough]
    left = left[(beyond[left] == left) & (left < model.num_living)]
    if left.size:
        away, near = model.nearest(features[left], _SUBSTITUTES)
        worth = np.where((away >= model.least) & (away < DISCRETE_STEP), values[near], -1.0)
        best_near = near[np.arange(left.size), worth.argmax(axis=1)]
        better = worth.max(axis=1) > values[left]
        beyond[left[better]] = best_near[better]
    return following, np.where(goal | arrives, -1, best), beyond
