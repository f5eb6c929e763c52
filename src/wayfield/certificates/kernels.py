"""What a field proves about greedy moves: gaps and margins, with all rounding included.

Every number here is a bound. Sums are rounded down or up by the remainder that `two_sum` leaves. So
a sum that is a double stays exact, and comparisons of doubles are exact. Numbers too large for this
count as unknown, which certifies nothing.
"""

from __future__ import annotations

from math import inf, isnan

import numpy as np

from ..numerics.csr import Arcs
from ..numerics.doubledouble import two_sum
from ..numerics.jit import njit
from ..typing import BoolArray, FloatArray, IntArray

# -------------------------------------------------------------------- rounded sums


@njit(cache=True, inline="always")
def sum_down(a: float, b: float) -> float:
    """Return a double of at most a + b, the largest or nearly so; also if the sum overflows."""
    total, rest = two_sum(a, b)
    return total if rest >= 0.0 else np.nextafter(total, -inf)


@njit(cache=True, inline="always")
def sum_up(a: float, b: float) -> float:
    """Return a double of at least a + b, the smallest or nearly so; also if the sum overflows."""
    return -sum_down(-a, -b)


@njit(cache=True, nogil=True)
def excess(length: float, value: float, other_length: float, other_value: float) -> float:
    """Return a lower bound on (length + value) - (other_length + other_value); -inf on overflow."""
    # equal lengths cancel exactly, which adding them first would not
    if length == other_length:
        least = sum_down(value, -other_value)
        return -inf if isnan(least) else least
    # four doubles, two of them remainders: added from the smallest up, each sum rounded down
    high, low = two_sum(length, value)
    other_high, other_low = two_sum(other_length, other_value)
    top, rest = two_sum(high, -other_high)
    least = sum_down(top, sum_down(rest, sum_down(low, -other_low)))
    return -inf if isnan(least) else least


# -------------------------------------------------------------------- decisions and walks


@njit(cache=True, nogil=True)
def decisions(
    arcs: Arcs,
    lower: FloatArray,
    upper: FloatArray,
    errors: FloatArray,
    successor: IntArray,
    goal: int,
) -> tuple[FloatArray, BoolArray]:
    """Return the gap of each state's move, and whether no error within the bounds can undo it.

    A neighbour with `lower` = +inf cannot reach the goal: it is not a rival, and a move to it is
    never safe. One with -inf is unknown, so the gap is -inf.
    """
    indptr, indices, lengths = arcs
    n = successor.size
    gap = np.full(n, -inf)
    safe = np.zeros(n, np.bool_)
    for s in range(n):
        chosen = successor[s]
        if chosen == s or lower[chosen] == inf:  # the goal, a dead end, a move to nowhere
            continue
        # the plan keeps heads, not slots: rows are short
        slot = indptr[s]
        while indices[slot] != chosen:
            slot += 1
        length, value, error = lengths[slot], upper[chosen], errors[chosen]
        # no other arc: nothing can beat the move, and the gap stays inf
        least, stands = inf, error < inf
        for e in range(indptr[s], indptr[s + 1]):
            y = indices[e]
            if e == slot or lower[y] == inf:
                continue
            lead = excess(lengths[e], lower[y], length, value)
            least = min(least, lead)
            # no early exit: the gap needs all rivals, whether or not the move still stands
            stands = stands and lead > sum_up(errors[y], error)
        gap[s], safe[s] = least, stands
    gap[goal], safe[goal] = inf, True
    return gap, safe


@njit(cache=True, nogil=True)
def proved_moves(
    arcs: Arcs,
    lower: FloatArray,
    upper: FloatArray,
    successor: IntArray,
    goal: int,
    slack: float,
) -> tuple[BoolArray, BoolArray]:
    """Whether each move is best for all values between the bounds, and likewise its whole walk.

    Ties count as best; walks that do not lead to the goal do not. Bounds must not be negative.
    `slack` bounds the relative error of plain sums. It is 0 if they are exact.
    """
    indptr, indices, lengths = arcs
    n = successor.size
    moves = np.empty(n, np.bool_)
    for s in range(n):
        chosen = successor[s]
        cost = least = np.inf
        for e in range(indptr[s], indptr[s + 1]):
            # without branches, which would be mispredicted half of the time
            y = indices[e]
            taken = y == chosen
            through = lengths[e] + (upper[y] if taken else lower[y])
            cost = through if taken else cost
            least = through if not taken and through < least else least
        stands = cost < inf and cost * (1.0 - slack) <= least * (1.0 + slack)
        if stands and cost * (1.0 + slack) > least * (1.0 - slack):
            # too close for plain sums
            slot = indptr[s]
            while indices[slot] != chosen:
                slot += 1
            for e in range(indptr[s], indptr[s + 1]):
                if e != slot and stands:
                    lead = excess(lengths[e], lower[indices[e]], lengths[slot], upper[chosen])
                    stands = lead >= 0.0
        moves[s] = stands
    moves[goal] = True
    # follow each walk to a state whose answer is known; 0 is not yet known, 2 proved, 1 not
    known = np.zeros(n, np.uint8)
    path = np.empty(n, np.int32)
    known[goal] = 2
    for start in range(n):
        x, size = start, 0
        while known[x] == 0:
            # 1 while the walk is under way: one that comes back to itself is not proved
            known[x] = 1
            path[size] = x
            size += 1
            if not moves[x]:
                break
            x = successor[x]
        if known[x] == 2:
            for i in range(size):
                known[path[i]] = 2
    return moves, known == 2


@njit(cache=True, nogil=True)
def along_walks(
    successor: IntArray, goal: int, margin: FloatArray, safe: BoolArray
) -> tuple[FloatArray, IntArray, IntArray]:
    """Return the least margin on each walk, the first state with it, and the first unsafe state.

    The goal itself is not on the walk: (inf, -1, -1) there.
    """
    n = successor.size
    least = np.full(n, inf)
    weakest = np.full(n, -1, np.int64)
    first_weak = np.full(n, -1, np.int64)
    seen = np.zeros(n, np.bool_)
    path = np.empty(n, np.int64)
    seen[goal] = True
    for start in range(n):
        x, size = start, 0
        while not seen[x]:
            seen[x] = True
            path[size] = x
            size += 1
            # a dead end is its own successor: marked as seen, it ends the loop
            x = successor[x]
        # the second turn carries a cycle's least all the way round; elsewhere it changes nothing
        for _ in range(2):
            y = x
            for i in range(size - 1, -1, -1):
                s = path[i]
                own = margin[s] <= least[y]
                least[s] = margin[s] if own else least[y]
                weakest[s] = s if own else weakest[y]
                first_weak[s] = first_weak[y] if safe[s] else s
                y = s
    return least, weakest, first_weak
