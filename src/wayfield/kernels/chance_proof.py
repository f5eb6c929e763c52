"""Numbers for proofs of expected cost: how far barriers are from exact ones.

Processes, policies and values are those of `kernels.chance`. ``Σ w f`` stands for a sum over the
outcomes of a choice, with counts w.
"""

from __future__ import annotations

import numpy as np

from ._jit import njit
from ._types import FloatArray, IntArray
from .chance import SLACK, Process, balance
from .doubledouble import Pair


@njit(cache=True, nogil=True, error_model="numpy")
def worst_ratio(
    process: Process,
    choices: IntArray,
    values: Pair,
    costs: float,
    side: float,
    relief: FloatArray,
) -> float:
    """Return the largest ratio of side · balance to cost + `relief` over choices, rounded up.

    A free choice between states of equal value has balance exactly 0 and is skipped. The result is
    inf or NaN if nothing is proved.
    """
    worst = 0.0
    for k in choices:
        s = process.owner[k]
        level = True
        for e in range(process.ptr[k], process.ptr[k + 1]):
            y = process.heads[e]
            if values.high[y] != values.high[s] or values.low[y] != values.low[s]:
                level = False
            if costs * process.costs[e] > 0.0:
                level = False
        # without this test, the error bound divided by a cost of 0 would be inf
        if level:
            continue
        high, error, paid = balance(process, k, values, costs)
        error += SLACK * (abs(high) + error)
        cost = paid + relief[k]
        ratio = (error + side * high) / cost if cost > 0.0 else np.inf
        # a NaN must not pass for a good fit
        worst = ratio if not ratio <= worst else worst
    return worst


@njit(cache=True, nogil=True)
def mean_falls(process: Process, choices: IntArray, barrier: Pair) -> FloatArray:
    """Return Σ w (barrier here - barrier there) of these choices, rounded down; 0 for others."""
    found = np.zeros(process.owner.size)
    for k in choices:
        # the balance is the mean rise; its bound and one more rounding are subtracted
        high, error, _ = balance(process, k, barrier, 0.0)
        found[k] = -high - error - SLACK * (abs(high) + error)
    return found
