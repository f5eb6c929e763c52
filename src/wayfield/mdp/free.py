"""Choices that cost nothing: least expected cost where costs may be 0.

Only policies that end surely count. A free end component is a set of states in which free choices
can keep the walk for ever, and can lead it from any state to any other. All its states have the
same expected cost, because the walk moves to any of them at no cost. Each maximal component becomes
a single state with the choices of its members. Choices that stay inside are never needed: they
leave the state as it is.

After that, no policy makes free moves for ever: the states and choices that it used for ever would
form an end component. So policies that do not end have infinite cost, as with positive costs, and
policy iteration is the same. For its bounds (`solver`) the barrier b is the largest
expected number of free moves in a row, over all policies. It is also computed by policy iteration,
but only roughly: at every free choice it must fall by at least half a move in expectation.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..checks import frozen
from ..numerics.csr import entries_of
from ..numerics.doubledouble import Pair
from ..typing import BoolArray, FloatArray, IntArray
from . import solver as _solver
from .kernels import MDP, approach, mean_falls, prepared
from .solver import (
    FINEST,
    FREE_MOVE,
    MOST_EVALUATIONS,
    Boundary,
    Solved,
    counting_moves,
    evaluate,
    free_choices,
)

ROUGH_MOVES = 0.01
"""Relative accuracy of the expected number of free moves."""


def least_cost(process: MDP, boundary: Boundary, rtol: float = FINEST) -> Solved:
    """Minimise the expected cost of ending on the boundary or giving up."""
    free = free_choices(process)
    if not free.any():
        return _solver.least_cost(process, boundary, rtol)
    part, inside = free_components(process, boundary.fixed, free)
    small, kept = _collapsed(process, part)
    firsts = np.unique(part, return_index=True)[1]
    ends = Boundary(boundary.fixed[firsts], boundary.values[firsts], boundary.give_up)
    small, barrier = relieved_everywhere(small, free[kept], ends.fixed)
    solved = _solver.least_cost(small, ends, rtol)
    # back to all states: members of a component move to the member that the policy leaves from
    policy = np.full(part.size, -1, np.int64)
    chosen = kept[solved.policy[solved.policy >= 0]]
    leaving = np.zeros(part.size, dtype=bool)
    leaving[process.owner[chosen]] = True
    policy[process.owner[chosen]] = chosen
    _, towards = approach(process, inside, leaving)
    policy = np.where(leaving, policy, towards)
    pair = Pair(solved.pair.high[part], solved.pair.low[part])
    return replace(solved, pair=pair, policy=policy, barrier=barrier[part])


def barrier_for_all(
    process: MDP, fixed: BoolArray, free: BoolArray
) -> tuple[FloatArray, IntArray, BoolArray]:
    """Return a barrier for all free choices, the free components, and the choices inside them."""
    part, inside = free_components(process, fixed, free)
    small, kept = _collapsed(process, part)
    firsts = np.unique(part, return_index=True)[1]
    _, barrier = relieved_everywhere(small, free[kept], fixed[firsts])
    return barrier[part], part, inside


def free_components(process: MDP, fixed: BoolArray, free: BoolArray) -> tuple[IntArray, BoolArray]:
    """Return the maximal free end component of every state, and the choices inside components.

    Components are numbered by their first state. A state in no component has its own number.
    """
    n, owner = fixed.size, process.owner
    inside = free & ~fixed[owner]
    while True:
        # strongly connected components; then drop the choices that may leave theirs
        edges = np.repeat(inside, np.diff(process.ptr))
        tails = np.repeat(owner, np.diff(process.ptr))[edges]
        arcs = (np.ones(tails.size), (tails, process.heads[edges]))
        _, part = connected_components(
            sparse.csr_array(arcs, (n, n)), directed=True, connection="strong"
        )
        same = np.logical_and.reduceat(
            part[process.heads] == np.repeat(part[owner], np.diff(process.ptr)), process.ptr[:-1]
        )
        if not (inside & ~same).any():
            break
        inside &= same
    _, first, number = np.unique(part, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    return order[number], inside


def _collapsed(process: MDP, part: IntArray) -> tuple[MDP, IntArray]:
    """Return the process with one state per part, and the original index of each choice."""
    owner = part[process.owner]
    kept = np.argsort(owner, kind="stable")
    _, rows = entries_of(kept, process.ptr)
    # the types of every other process: for other types, kernels would be compiled again
    owner = owner[kept].astype(np.uint32)
    first = frozen(np.searchsorted(owner, np.arange(int(part.max()) + 2)))
    ptr = np.append(0, np.cumsum(np.diff(process.ptr)[kept])).astype(np.uint32)
    heads = part[process.heads[rows]].astype(np.uint32)
    return prepared(first, ptr, heads, process.counts[rows], process.costs[rows], owner), kept


def relieved_everywhere(process: MDP, free: BoolArray, fixed: BoolArray) -> tuple[MDP, FloatArray]:
    """Return the process with relief for all choices, and the barrier.

    It must have no free end components.
    """
    n = fixed.size
    moves = np.flatnonzero(free & (process.fee < np.inf) & ~fixed[process.owner])
    policy = np.full(n, -1, np.int64)
    policy[process.owner[moves]] = moves
    steps, leaving = counting_moves(process)
    pair = Pair(np.zeros(n), np.zeros(n))
    everything = np.flatnonzero(process.fee < np.inf)
    for _ in range(MOST_EVALUATIONS):
        evaluate(steps, policy, pair, np.zeros(n), 1.0, ROUGH_MOVES)
        barrier = np.maximum(pair.high, 0.0)
        falls = mean_falls(process, everything, Pair(barrier, np.zeros(n)))
        share = falls[moves] / leaving[moves]
        if not (share < 0.5).any():
            break
        # at every state, switch to the choice with the most moves, if it is not the policy's own
        order = np.lexsort((-share, process.owner[moves]))
        last = np.append(np.diff(process.owner[moves[order]]) != 0, True)
        worst = moves[order[last]]
        better = falls[worst] / leaving[worst] < 0.5
        policy[process.owner[worst[better]]] = worst[better]
        pair.low[:] = 0.0
    # costly choices may raise the barrier, in expectation by at most half of their cost
    paid = np.add.reduceat(process.counts * process.costs, process.ptr[:-1])
    scale = FREE_MOVE
    raised = everything[(falls[everything] < 0.0) & (paid[everything] > 0.0)]
    if raised.size:
        scale = min(scale, float((paid[raised] / -falls[raised]).min()) / 4)
    scale = 2.0 ** np.floor(np.log2(scale))
    relief = scale * falls
    hopeless = everything[paid[everything] + relief[everything] <= 0.0]
    relief[hopeless] = np.nan
    return process._replace(relief=relief), scale * barrier
