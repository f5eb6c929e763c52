"""A replay buffer as a Markov decision process, and its expected cost, observed ways first.

**From states alone** choice and chance cannot be told apart, but for jumps: whoever jumped did not
choose where to. So the action y at x is to walk on to y, along an arc x → y; and a share p(x) of
all departures from x, wherever they were meant to go, ended in a jump instead:

    V(x) = p(x) · E V(exit) + (1 - p(x)) · min over arcs of ℓ + V(y).

Exits are pooled over the states next to x that jumps were seen from: they go through one door, and
a few dozen jumps say more of its odds than the three from each state do. A state that was only ever
left by jumps has one action, itself: to stay and be sent somewhere.

**Posterior.** With a `strength` the odds are those of a Dirichlet posterior: so many departures as
happened around a state, on average, are added to its own, and so many exits as all jumps of the
buffer took are added to those around it. Three lucky jumps then do not win.

**From actions** the odds are those of what followed each kind of action.

**Observed ways first.** Guesses have a price, but no odds, and a plan that mixes both would buy its
way round a gamble with a guess. So states from which observed arcs lead on are solved without
guesses, and stay as they are; guesses are for the others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..chance import ExpectedCost, Transitions, expected_cost
from ..errors import InputError
from ..kernels._types import FloatArray, IntArray
from ..labels import Labels
from ._guesses import adjacency

if TYPE_CHECKING:
    from ._replay import Replay

By = Literal["arc", "action"]
BY = ("arc", "action")
Rows = tuple[IntArray, IntArray, IntArray, FloatArray, FloatArray]
"""State, action, next state, count and cost."""


def transitions_of(replay: Replay, by: By, strength: float = 0.0) -> Transitions:
    """Return the process whose actions are arcs to walk along, or kinds of actions.

    `strength` is what the prior of the jumps' odds is worth, in samples.
    """
    if by == "action":
        done = replay.actions
        if done is None:
            raise InputError("the buffer was read without actions: there are none to count")
        rows = done.state, done.action, done.next_state, done.count, done.cost
        return Transitions(*rows, num_states=replay.graph.num_vertices)
    graph = replay.graph
    if not graph.num_arcs:
        raise InputError("the buffer has no arcs: nobody was seen to move")
    walked = np.flatnonzero((replay.counts > replay.leaps) | (replay.counts == 0))
    tails, heads = graph.tails[walked].astype(np.int64), graph.indices[walked].astype(np.int64)
    leaps, steps = _departures(replay, strength)
    parts: list[Rows] = [(tails, heads, heads, steps[tails], graph.lengths[walked])]
    if leaps.any():
        parts.append(_sent(replay, leaps, tails, heads, strength))
    state, action, following, count, cost = map(np.concatenate, zip(*parts, strict=True))
    return Transitions(state, action, following, count, cost, graph.num_vertices)


def _departures(replay: Replay, strength: float) -> tuple[FloatArray, FloatArray]:
    """Departures from every state by jumps and by steps, those of its prior among them."""
    graph = replay.graph
    own: FloatArray = np.bincount(graph.tails, replay.leaps, graph.num_vertices).astype(float)
    steps = replay.departures - own
    if strength == 0.0 or not own.any():
        return own, np.maximum(steps, 1.0)
    next_to = adjacency(replay)
    share = (next_to @ own) / np.maximum(next_to @ replay.departures, 1.0)
    # where all around are sent away, a step is still possible
    return own + strength * share, np.maximum(steps + strength * (1.0 - share), 1e-3)


def _sent(
    replay: Replay, leaps: FloatArray, tails: IntArray, heads: IntArray, strength: float
) -> Rows:
    """Rows for all who meant to walk, or were never seen to, and were sent to an exit."""
    graph, n = replay.graph, replay.graph.num_vertices
    jumping = np.flatnonzero(leaps)
    halted = np.setdiff1d(jumping, graph.tails[replay.counts > replay.leaps])
    state = np.concatenate([tails[leaps[tails] > 0], halted])
    action = np.concatenate([heads[leaps[tails] > 0], halted])
    exits = sparse.csr_array((replay.leaps.astype(float), (graph.tails, graph.indices)), (n, n))
    exits.eliminate_zeros()
    next_to = adjacency(replay)[jumping]
    pooled = (next_to @ exits).tocsr()
    if strength:
        everywhere = exits.sum(axis=0)[np.newaxis] * (strength / exits.sum())
        each = sparse.csr_array(np.ones((jumping.size, 1)))
        pooled = (pooled + each @ sparse.csr_array(everywhere)).tocsr()
    # every action of a jumping state gets that state's exits
    row = np.searchsorted(jumping, state)
    sizes = np.diff(pooled.indptr)[row]
    which = np.repeat(np.arange(state.size), sizes)
    offset = np.arange(which.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    slot = pooled.indptr[row][which] + offset
    totals = pooled.sum(axis=1)[row]
    origin = state[which]
    count = leaps[origin] * pooled.data[slot] / totals[which]
    # arcs of jumps are as long as those took; on an arc of both, steps make the length
    took = np.where(2 * replay.leaps > replay.counts, graph.lengths, np.nan_to_num(replay.dwell))
    took = np.bincount(graph.tails, replay.leaps * took, n)
    cost = ((next_to @ took) / (next_to @ exits.sum(axis=1)))[row][which]
    return origin, action[which], pooled.indices[slot].astype(np.int64), count, cost


def observed_first(
    replay: Replay, goal: ArrayLike, give_up: float | None, labels: Labels | None, check: bool
) -> ExpectedCost:
    """Solve on what was observed, then with guesses for the states that this leads nowhere from."""
    seen = replay.observed
    first = expected_cost(seen.transitions(), goal, give_up, labels, check=check)
    fixed = np.zeros(first.values.size, dtype=bool)
    fixed[first.goal] = True
    if labels is not None:
        fixed[labels.vertices] = True
    lost = (first.plan < 0) & ~fixed
    if seen is replay or not lost.any():
        return first
    known = np.flatnonzero(~lost)
    every = replay.transitions()
    second = expected_cost(every, goal, give_up, Labels(known, first.values[known]), check=check)
    both = replace(
        second,
        labels=labels,
        plan=np.where(lost, second.plan, first.plan),
        gives_up=lost & second.gives_up,
    )
    return both.under(every, check=check)
