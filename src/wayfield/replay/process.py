"""A replay buffer as a Markov decision process.

**From states alone**, choice cannot be distinguished from chance, except for jumps: nobody chooses
where a jump leads. So the action y at x is to walk to y, along an arc x → y; and a share p(x) of
all departures from x, whatever the action, ends in a jump instead:

    V(x) = p(x) · E V(exit) + (1 - p(x)) · min over arcs of ℓ + V(y).

Exits are pooled over the adjacent states that jumps were seen from: these belong to one teleporter,
and a few dozen jumps say more about its odds than three jumps from each state. A state that was
left only by jumps has one action, itself: to stay until a jump happens.

**From actions** the odds are those of what followed each kind of action.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..mdp import Transitions
from ..typing import FloatArray

if TYPE_CHECKING:
    from .state_graph import Replay

By = Literal["arc", "action"]
BY = ("arc", "action")


def transitions_of(replay: Replay, by: By) -> Transitions:
    """Return the process whose actions are arcs to walk along, or kinds of actions."""
    graph, n = replay.graph, replay.graph.num_vertices
    if by == "action":
        done = replay.actions
        if done is None:
            raise InputError("by='action' needs actions, but the buffer was read without actions")
        return Transitions(
            done.state, done.action, done.next_state, done.count, done.cost, num_states=n
        )
    if not graph.num_arcs:
        raise InputError("the buffer has no arcs: no transition changes the state")
    # Departures from every state by jumps and by steps.
    jumps: FloatArray = np.bincount(graph.tails, replay.jump_counts, n).astype(float)
    steps = np.maximum(replay.departures - jumps, 1.0)

    # Steps that lead where they are meant to.
    walked = np.flatnonzero(replay.stepped | (replay.counts == 0))
    tails, heads = graph.tails[walked].astype(np.int64), graph.indices[walked].astype(np.int64)
    if not jumps.any():
        return Transitions(tails, heads, heads, steps[tails], graph.lengths[walked], n)

    # Exits of every state with jumps: its own, and those of the states that a step joins it to.
    own, stepped = np.arange(n), replay.stepped
    one = np.concatenate([graph.tails[stepped], graph.indices[stepped], own])
    other = np.concatenate([graph.indices[stepped], graph.tails[stepped], own])
    adjacent = sparse.csr_array((np.ones(one.size), (one, other)), shape=(n, n))
    adjacent.data[:] = 1.0
    jumping = np.flatnonzero(jumps)
    taken = replay.jump_counts.astype(float)
    exits = sparse.csr_array((taken, (graph.tails, graph.indices)), (n, n))
    exits.eliminate_zeros()
    around = adjacent[jumping]
    pooled = (around @ exits).tocsr()
    # a jump takes its dwell; an arc crossed by both has the length of the steps
    took = np.where(2 * taken > replay.counts, graph.lengths, np.nan_to_num(replay.dwell))
    took = np.bincount(graph.tails, taken * took, n)
    mean_cost = (around @ took) / (around @ exits.sum(axis=1))

    # Every action of a state with jumps, even of one left by jumps alone, gets its exits.
    halted = np.setdiff1d(jumping, graph.tails[replay.stepped])
    state = np.concatenate([tails[jumps[tails] > 0], halted])
    action = np.concatenate([heads[jumps[tails] > 0], halted])
    row = np.searchsorted(jumping, state)
    sizes = np.diff(pooled.indptr)[row]
    which = np.repeat(np.arange(state.size), sizes)
    offset = np.arange(which.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    slot = pooled.indptr[row][which] + offset
    count = jumps[state[which]] * pooled.data[slot] / pooled.sum(axis=1)[row][which]
    return Transitions(
        np.concatenate([tails, state[which]]),
        np.concatenate([heads, action[which]]),
        np.concatenate([heads, pooled.indices[slot].astype(np.int64)]),
        np.concatenate([steps[tails], count]),
        np.concatenate([graph.lengths[walked], mean_cost[row][which]]),
        n,
    )
