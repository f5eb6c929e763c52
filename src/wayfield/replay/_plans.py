"""The plan for one goal: which action to take, how likely it arrives, and where it leads.

The plan maximises the discounted probability of arrival U of `kernels.outcomes`. Three values of R,
the probability of arrival, go with it:

- *high*: all episodes choose and judge. Too high where data are few: the best of several noisy
  estimates is picked, and judged by the same noise.
- *low*: one half of the episodes chooses, the other one judges, both ways, and the mean is taken.
  Too low where data are few: each half knows less than both.

The truth lies between. `_check` says where.

**Sub-goals.** From each state the plan is followed through middling outcomes: of an action's
samples the state nearest to their mean. It is followed as long as the path is straight, does not
pass a wall, changes no discrete coordinate, and comes to no state where the action may be deadly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.outcomes import NONE, Discounts, arrive, evaluate, improve, parted
from ._metric import APART
from ._model import Model

_HORIZON, _LONGER, _PATIENCE = 300.0, 6.0, 8.0
"""Least number of steps after which an arrival counts for 1/e; how many times the longest paths it
is; and how many times that in evaluations, where walks that take much longer do not count."""
_PRIOR = 1.0
"""Samples of the mean over all actions that are added to those of an action."""
_RISE = 1e-4
"""A sweep that raises no value by more than this is the last."""
_RADIUS, _FARTHEST = 0.7, 3.0
"""States within the first distance of a goal are the goal, or the three nearest of the second."""
_RISKY = 0.9
"""An action spoils the plan if it leaves less than this share of the probability of arrival."""
_AHEAD, _BENT = 6, 0.5
"""Moves that a sub-goal may be ahead, and how far, in steps, a straight path may bend."""


@dataclass(frozen=True, eq=False)
class Plan:
    """A plan for one goal; arrays have one entry per state.

    Attributes
    ----------
    goal : (m,) bool array
        States that count as the goal.
    away : float
        Distance of the goal from the nearest state, in steps.
    values : (m,) float array
        Discounted probability of arrival.
    scores : (m, actions) float array
        The same for each action taken first.
    low, high : (m,) float arrays
        Probability of arrival, too low and too high.
    following : (m,) int array
        State that the plan's action leads to in a typical case; itself if there is none.
    ahead : (m,) int array
        State to head for; -1 for the goal itself; the state itself for a single move.
    risky : (m,) bool array
        States where another action would spoil the plan.
    stay : (m,) int array
        At states of the goal, the action that stays nearest to it.
    """

    goal: BoolArray
    away: float
    values: FloatArray
    scores: NDArray[np.float32]
    low: FloatArray
    high: FloatArray
    following: IntArray
    ahead: IntArray
    risky: BoolArray
    stay: IntArray


def discounts(model: Model, horizon: float) -> tuple[Discounts, Discounts]:
    """Return what an arrival after each sample is worth: for the plan and for its evaluation."""
    plan, late = 1.0 - 1.0 / horizon, 1.0 - 1.0 / (_PATIENCE * horizon)
    worth = (plan ** (model.took + model.stitch)).astype(np.float32)
    return worth, (late**model.took).astype(np.float32)


def find_horizon(model: Model, seed: int) -> float:
    """Return the horizon: several times the longest paths to some goals.

    A short one would value a gamble above a safe path that is long.
    """
    longest = 0.0
    worth, _ = discounts(model, _HORIZON)
    for i in np.random.default_rng([seed, 2]).permutation(model.num_living)[:2]:
        goal = np.linalg.norm(model.features - model.features[i], axis=1) <= _RADIUS
        values, _ = solve(model, worth, 0, model.to.shape[2], goal, _RISE)
        steps = -_HORIZON * np.log(values[values > 1e-3])
        longest = max(longest, float(np.quantile(steps, 0.95)))
    return max(_HORIZON, _LONGER * longest)


def make_plan(model: Model, horizon: float, point: FloatArray) -> Plan:
    """Plan for the goal at `point`, in features."""
    worth, late = discounts(model, horizon)
    rise = min(_RISE, 0.3 / horizon)
    away = np.linalg.norm(model.features - point, axis=1)
    third = float(np.partition(away, min(2, away.size - 1))[min(2, away.size - 1)])
    nearest = float(away.min())
    if nearest > 2 * _FARTHEST * max(1.0, model.hold):
        raise InputError(f"no state is near the goal: the nearest is {nearest:.3g} steps away")
    # in many dimensions nothing may be near: then the three nearest count
    wide = min(third, _FARTHEST) if nearest > 0.5 * _RADIUS else 0.0
    inside = away <= max(_RADIUS, wide, nearest)
    near = np.flatnonzero(inside)
    walls = model.features, model.directions, model.planes
    open_ = ~parted(point[None], near[None], *walls)[0]
    if open_.any():
        inside[near[~open_]] = False

    samples = model.to.shape[2]
    values, _ = solve(model, worth, 0, samples, inside, rise)
    order = np.argsort(-values, kind="stable")
    scores = score(model, worth, 0, samples, values)
    plan = chosen(model, scores)
    high = judged(model, late, 0, samples, inside, plan, order)
    low = np.zeros(len(away))
    for begin, end in ((0, samples // 2), (samples // 2, samples)):
        own, _ = solve(model, worth, begin, end, inside, 4.0 * rise)
        half = chosen(model, score(model, worth, begin, end, own))
        low += 0.5 * judged(model, late, samples - end, samples - begin, inside, half, order)
    low = np.minimum(low, high)
    # where another action would spoil the plan, or this one may end it
    here = np.arange(len(away))
    known = (model.to != NONE).sum(axis=2) >= 3
    worst = np.where(known, scores, np.inf).min(axis=1)
    risky = worst < _RISKY * scores.max(axis=1)
    outcomes = model.to[here, np.maximum(plan, 0)]
    risky |= (plan >= 0) & ((outcomes >= model.num_living) & ~inside[outcomes]).any(axis=1)
    following, ahead = look_ahead(model, inside, plan, values, risky)
    stay = np.zeros(len(away), np.int64)
    for i in np.flatnonzero(inside):
        found = model.to[i] != NONE
        ends = np.where(found, away[model.to[i]], 0.0).sum(axis=1)
        count = found.sum(axis=1)
        stay[i] = np.where(count > 0, ends / np.maximum(count, 1), np.inf).argmin()
    scores32 = scores.astype(np.float32)
    return Plan(inside, nearest, values, scores32, low, high, following, ahead, risky, stay)


def solve(
    model: Model, worth: Discounts, begin: int, end: int, goal: BoolArray, enough: float
) -> tuple[FloatArray, IntArray]:
    """Return U and the plan by some of the samples: policy iteration, each plan evaluated a while.

    It ends when a sweep over all actions raises nothing by more than `enough`.
    """
    values, plan = goal.astype(np.float64), np.full(goal.size, -1)
    means = np.zeros(goal.size)
    order = np.argsort(
        np.linalg.norm(model.features - model.features[goal].mean(axis=0), axis=1), kind="stable"
    )
    tables = model.to, worth, begin, end, goal
    while True:
        rise = improve(*tables, order, _PRIOR, values, plan, means)
        order = np.argsort(-values, kind="stable")
        if rise <= enough:
            return values, plan
        # the means of the last round are too low by now, so that values stay below the solution
        evaluate(*tables, order, _PRIOR, plan, means, 100, values)


def score(model: Model, worth: Discounts, begin: int, end: int, values: FloatArray) -> FloatArray:
    """Return the score of every action at every state, as `improve` computes it."""
    to = model.to[:, :, begin:end]
    samples = np.where(to >= 0, worth[:, :, begin:end] * values[np.maximum(to, 0)], 0.0)
    top = np.partition(samples, -2, axis=2)[..., -2:]
    total = samples.sum(axis=2) - (top[..., 1] - top[..., 0])
    count = (to != NONE).sum(axis=2)
    mean = total.sum(axis=1, keepdims=True) / np.maximum(count.sum(axis=1, keepdims=True), 1)
    return np.where(count > 0, (total + _PRIOR * mean) / (count + _PRIOR), 0.0)


def chosen(model: Model, scores: FloatArray) -> IntArray:
    """Return the action of every state, by the scores of the states around it; -1 for none."""
    around = (model.share[:, :, None] * scores[model.near]).sum(axis=1)
    return np.where(around.max(axis=1) > 0.0, around.argmax(axis=1), -1)


def judged(
    model: Model,
    late: Discounts,
    begin: int,
    end: int,
    goal: BoolArray,
    plan: IntArray,
    order: IntArray,
) -> FloatArray:
    """Return the probability of arrival under a plan, by some of the samples.

    These are the samples of each state and of those around it. Where there are none, all count.
    """
    near, action, m = model.near, np.maximum(plan, 0)[:, None], len(model.near)
    to, decay = model.to[near, action], late[near, action]
    weight = np.where(to != NONE, model.share[:, :, None], 0.0)
    some = weight.copy()
    some[:, :, :begin] = some[:, :, end:] = 0.0
    unknown = some.sum(axis=(1, 2)) == 0.0
    some[unknown] = weight[unknown]
    some *= decay / np.maximum(some.sum(axis=(1, 2), keepdims=True), 1e-300)
    some[plan < 0] = 0.0
    values = goal.astype(np.float64)
    table = to.reshape(m, -1), some.reshape(m, -1).astype(np.float32)
    arrive(*table, goal, order, 3.0 * _RISE, values)
    return values


def look_ahead(
    model: Model, goal: BoolArray, plan: IntArray, values: FloatArray, risky: BoolArray
) -> tuple[IntArray, IntArray]:
    """Return where the plan's action leads from every state, and the state to head for.

    The latter is -1 for the goal itself, and the state itself for a single move.
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
    path = np.empty((_AHEAD, m), np.int64)
    for move in range(_AHEAD - 1):
        path[move] = at
        onto = following[at[going]]
        good = (onto != at[going]) & (values[onto] > values[at[going]]) & ~risky[at[going]]
        good &= np.linalg.norm(features[onto] - features[at[going]], axis=1) < APART
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
    return following, np.where(goal | arrives, -1, best)
