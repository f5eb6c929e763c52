"""Numbers for proofs of expected cost: slack of barriers, layers of infinite states, ranks.

Processes, policies and values are those of `kernels.chance`. ``Σ w f`` stands for a sum over the
outcomes of a choice, with counts w.
"""

from __future__ import annotations

import numpy as np

from ._jit import njit
from ._types import BoolArray, FloatArray, IntArray
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


@njit(cache=True, nogil=True)
def infinite_layers(process: Process, ends: BoolArray, allowed: BoolArray) -> IntArray:
    """Return the layers of states from which no allowed choices surely end; -1 elsewhere.

    Every allowed choice of such a state has an outcome in a lower layer, or all its outcomes in the
    state's own layer. Choices that may lead to such states are removed from `allowed`. Choices that
    never leave their state must not be allowed.
    """
    n = ends.size
    layer = np.full(n, -1, np.int64)
    left = np.zeros(n, np.int64)
    # largest layer so far among the infinite states that a state's choices may lead to
    over = np.full(n, -1, np.int64)
    for k in range(allowed.size):
        left[process.owner[k]] += allowed[k]
    stack = np.empty(n, np.int64)
    most = -1
    while True:
        # find the states that can still reach an end
        reached = ends.copy()
        size = 0
        for s in range(n):
            if ends[s]:
                stack[size] = s
                size += 1
        while size > 0:
            size -= 1
            y = stack[size]
            for e in range(process.into_ptr[y], process.into_ptr[y + 1]):
                s = process.owner[process.into[e]]
                if allowed[process.into[e]] and not reached[s] and layer[s] < 0:
                    reached[s] = True
                    stack[size] = s
                    size += 1
        # the others are the next layer: their remaining choices stay among them
        for s in range(n):
            if layer[s] < 0 and not reached[s]:
                layer[s] = most + 1
                stack[size] = s
                size += 1
        if size == 0:
            return layer
        most += 1
        # if all choices of a state may lead to lower layers, it is infinite too: one layer above
        while size > 0:
            size -= 1
            x = stack[size]
            for e in range(process.into_ptr[x], process.into_ptr[x + 1]):
                k = process.into[e]
                s = process.owner[k]
                if allowed[k]:
                    allowed[k] = False
                    left[s] -= 1
                    over[s] = max(over[s], layer[x])
                    if left[s] == 0 and layer[s] < 0 and not ends[s]:
                        layer[s] = over[s] + 1
                        most = max(most, layer[s])
                        stack[size] = s
                        size += 1


@njit(cache=True, nogil=True)
def approach(process: Process, usable: BoolArray, targets: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the fewest moves by usable choices to a target, and the first choice to make.

    An outcome of that choice is nearer to the target. The results are 0 and -1 at targets, and
    where no usable choice leads to one.
    """
    n = targets.size
    rank = np.zeros(n, np.int64)
    choice = np.full(n, -1, np.int64)
    seen = targets.copy()
    queue = np.empty(n, np.int64)
    tail = 0
    for s in range(n):
        if targets[s]:
            queue[tail] = s
            tail += 1
    head = 0
    # breadth first from the targets, against the moves: the first choice found is a shortest one
    while head < tail:
        y = queue[head]
        head += 1
        for e in range(process.into_ptr[y], process.into_ptr[y + 1]):
            k = process.into[e]
            s = process.owner[k]
            if usable[k] and not seen[s]:
                seen[s] = True
                rank[s] = rank[y] + 1
                choice[s] = k
                queue[tail] = s
                tail += 1
    return rank, choice
