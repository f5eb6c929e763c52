"""Conversion between discounted values and costs-to-go.

**Equation.** An agent gets the reward r at every move and is n moves from the goal. The goal has
the value V_g. Then the agent has the value

    V = r (1 + γ + … + γ^(n-1)) + γ^n V_g,    so    V - V_∞ = γ^n (V_g - V_∞),    V_∞ = r / (1 - γ),

with V_∞ the value of never arriving. Solved for n it is the cost-to-go in moves:

    n = log((V - V_∞) / (V_g - V_∞)) / log γ;    without discount, γ = 1, n = (V - V_g) / r.

The usual two cases: -1 a move and 0 at the goal (r = -1, V_g = 0), and a reward for success alone
(r = 0; V_g = 1 if being at the goal is worth 1, 1/γ if the last move brings the reward).

**Limits.** All moves must have one reward; with costs that differ from arc to arc only undiscounted
values are costs. An error ε of V becomes ε / (|log γ| (V - V_∞)) moves, which grows like γ^(-n).
Beyond a few times 1 / (1 - γ) moves, a value says little about distance. A value at or below V_∞
means "never", +inf. A value above V_g, an overestimate, gives a negative cost; nothing is clipped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..checks import as_finite, as_floats, as_real, refuse
from ..errors import InputError
from ..typing import FloatArray

CANCELLATION = 4.0 * float(np.finfo(np.float64).eps)
"""Relative difference below which a value counts as that of never arriving."""


def costs_from_values(
    values: ArrayLike, *, discount: float, reward: float = -1.0, at_goal: float = 0.0
) -> FloatArray:
    """Convert values of an agent into costs-to-go, in moves.

    Parameters
    ----------
    values : (k,) array
        Values V, larger nearer to the goal: a critic's, or measured returns.
    discount : float in (0, 1]
        The discount γ.
    reward : float
        Reward of every move, at most 0; below 0 if there is no discount.
    at_goal : float
        Value at the goal itself.

    Returns
    -------
    (k,) float array
        Moves to the goal. +inf where the value is at or below that of never arriving: leave these
        out of the labels. Negative where the value exceeds the goal's.

    Examples
    --------
    >>> costs_from_values([0.0, -1.0, -1.9, -2.71], discount=0.9).round(9)
    array([0., 1., 2., 3.])
    >>> costs_from_values([1.0, 0.81], discount=0.9, reward=0.0, at_goal=1.0).round(9)
    array([0., 2.])
    >>> costs_from_values([-3.0], discount=1.0)
    array([3.])
    """
    value = as_finite(values, "values")
    gamma, step, goal = _check(discount, reward, at_goal)
    if gamma == 1.0:
        return (value - goal) / step
    never = step / (1.0 - gamma)
    share = (value - never) / (goal - never)
    arrives = share > CANCELLATION * abs(never) / (goal - never)  # what cancels in value - never
    moves = np.full(value.size, np.inf)
    moves[arrives] = np.log(share[arrives]) / np.log(gamma) + 0.0  # -0 is 0
    return moves


def values_from_costs(
    costs: ArrayLike, *, discount: float, reward: float = -1.0, at_goal: float = 0.0
) -> FloatArray:
    """Convert costs-to-go in moves into values of an agent; the inverse of `costs_from_values`.

    Parameters
    ----------
    costs : (k,) array
        Moves to the goal; +inf for never.
    discount, reward, at_goal
        As in `costs_from_values`.

    Examples
    --------
    >>> values_from_costs([0.0, 1.0, 2.0], discount=0.9)
    array([ 0. , -1. , -1.9])
    >>> values_from_costs([np.inf], discount=0.9)
    array([-10.])
    """
    cost = as_floats(costs, "costs")
    refuse(~(cost > -np.inf), cost, "costs", "is neither a number nor +inf")
    gamma, step, goal = _check(discount, reward, at_goal)
    if gamma == 1.0:
        return goal + step * cost
    never = step / (1.0 - gamma)
    values: FloatArray = never + gamma**cost * (goal - never)
    return values


def _check(discount: float, reward: float, at_goal: float) -> tuple[float, float, float]:
    gamma, step = as_real(discount, "discount"), as_real(reward, "reward")
    goal = as_real(at_goal, "at_goal")
    if not 0.0 < gamma <= 1.0:
        raise InputError(f"discount must be above 0 and at most 1, got {gamma:g}")
    if step > 0.0:
        raise InputError(
            f"reward must be at most 0, got {step:g}: otherwise it pays never to arrive"
        )
    if gamma == 1.0 and step == 0.0:
        raise InputError(
            "reward must be below 0 if discount is 1, got 0: all values would be equal"
        )
    if gamma < 1.0:
        never = step / (1.0 - gamma)
        if goal - never <= CANCELLATION * abs(never):
            raise InputError(
                f"at_goal must be above {never:g}, the value of never arriving, got {goal:g}"
            )
    return gamma, step, goal
