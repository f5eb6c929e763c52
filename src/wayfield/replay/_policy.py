"""Policies: the sub-goal of each state, for one goal.

**Process.** Observed arcs, jumps with their posterior odds, and stitched arcs with theirs
(Laplace's rule). A stitched arc that fails does not exist, and an agent that relies on it is stuck.
The process has one more state than the buffer, for being stuck. Being stuck costs as much as giving
up. So a stitched arc is taken if it is likelier to arrive than anything observed, and reach is the
probability that all of it works out.

**Sub-goal.** The state about `ahead` along the plan, at least one arc on; the goal itself once it
is no farther than that. A teleporter on the plan is entered where jumps began.

**States without a plan.** Where arrival is so unlikely that the plan gives up, an agent still has
to go somewhere: along the cheapest path, with stitched arcs at their price, to a state with a plan.
If not even stitched arcs lead on, it heads for the nearest state with a plan, as if by a stitched
arc.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from .._arrays import KeepsReadOnly, frozen
from ..chance import ExpectedCost, Transitions, expected_cost
from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..kernels.merging import Rows
from ..kernels.shortest import dijkstra
from ._process import transitions_of
from ._replay import Replay, with_arcs
from ._stitching import Stitched, stitched_odds

STRENGTH = 5.0
"""Samples that the prior of a jump's odds is worth."""
ACTION_STRENGTH = 1.0
"""Samples that the prior of an action's outcomes is worth: all outcomes at its state."""
GIVE_UP = 10.0
"""Giving up costs this many times the longest path to the goal, or half as many."""
DETOUR = 2.0
"""Paths to sub-goals are at most this many times as long as the straight line may be."""
RAISES = 20
"""Largest number of times that the price of giving up is raised."""
_TELEPORTER = 0.5
"""A state belongs to a teleporter if at least this share of its departures were jumps."""


@dataclass(frozen=True, eq=False)
class BufferModel(KeepsReadOnly):
    """Everything about a buffer that does not depend on the goal."""

    replay: Replay
    stitched: Stitched
    by_action: bool
    moves: Transitions
    """On one more state than the buffer has: the last is being stuck."""
    steps: Graph
    """Observed steps."""
    walks: Graph
    """Observed steps and stitched arcs, at their lengths."""
    teleporter: BoolArray
    """(n,) states that were mostly left by jumps."""
    launch: FloatArray
    """(n, d) mean observation from which the jumps of a state began, or the state."""


def make_model(replay: Replay, stitched: Stitched, states: Rows, by_action: bool) -> BufferModel:
    """Prepare a buffer for planning; sub-goals are taken from the observations `states`."""
    graph, n = replay.graph, replay.graph.num_vertices
    seen = replay.stepped
    rows = graph.tails[seen], graph.indices[seen], graph.lengths[seen]
    steps = Graph.from_edges(*rows, n, True)
    if by_action:
        moves = transitions_of(replay, "action").shrunk(ACTION_STRENGTH)
        failing = Stitched.none()
    else:
        every = with_arcs(replay, stitched.added_to(graph, stitched.length))
        moves, failing = transitions_of(every, "arc", STRENGTH), stitched

    # The process with one more state, in which stitched arcs work only with their odds.
    choice = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    state, action = moves.states[choice], moves.actions[choice]
    keys, wanted = failing.tail * n + failing.head, state * n + action
    order = np.argsort(keys)
    uncertain = np.isin(wanted, keys) & (moves.next_states == action)
    odds = failing.odds[order][np.searchsorted(keys[order], wanted[uncertain])]
    works = np.ones(state.size)
    works[uncertain] = odds
    count = moves.counts[uncertain] * (1.0 - odds)
    process = Transitions(
        np.append(state, state[uncertain]),
        np.append(action, action[uncertain]),
        np.append(moves.next_states, np.full(odds.size, n)),
        np.append(moves.counts * works, count),
        np.append(moves.costs, moves.costs[uncertain]),
        n + 1,
    )

    # Teleporters, and where their jumps began.
    jumps = np.bincount(graph.tails, replay.jump_counts, n)
    launch, begun = states.astype(np.float64), replay.jumps
    if begun.launch.shape[1] == states.shape[1]:
        times = np.bincount(begun.tail, begun.count, n)
        total = np.zeros(states.shape)
        np.add.at(total, begun.tail, begun.launch * begun.count[:, None])
        launch = np.where(times[:, None] > 0, total / np.maximum(times, 1)[:, None], launch)
    return BufferModel(
        replay,
        stitched,
        by_action,
        process,
        steps,
        walks=stitched.added_to(steps, stitched.length),
        teleporter=frozen((jumps >= _TELEPORTER * replay.departures) & (jumps > 0)),
        launch=frozen(launch),
    )


@dataclass(frozen=True, eq=False)
class Policy(KeepsReadOnly):
    """The policy of every state, for one goal."""

    goal: NDArray[np.int64]
    """States that count as the goal."""
    values: FloatArray
    """Expected cost from every state, being stuck counted as giving up; +inf without a plan."""
    reach: FloatArray
    """Probability of arrival."""
    successor: IntArray
    """Next state of the plan; the state itself at the goal and where there is no plan."""
    aims: FloatArray
    """Sub-goal of each state, unless it is the goal itself."""
    direct: BoolArray
    """States with the goal itself as sub-goal."""
    planned: BoolArray
    """States that have a plan or are the goal."""
    field: ExpectedCost
    """The solution, on one more state."""


def make_policy(
    model: BufferModel, states: Rows, goal: NDArray[np.int64], ahead: float, give_up: float | None
) -> Policy:
    """Plan for one goal."""
    n, moves = len(states), model.moves
    price, field = _solve(model, goal, give_up)
    arrived = np.zeros(n, dtype=bool)
    arrived[goal] = True
    planned = arrived | (field.plan[:n] >= 0)
    values, reach = field.values[:n].copy(), field.reach[:n].copy()

    # The next state: the one to walk to or, of an action, its likeliest outcome elsewhere.
    successor = np.arange(n)
    moving = np.flatnonzero(field.plan[:n] >= 0)
    if not model.by_action:
        successor[moving] = field.plan[moving]
    else:
        for s, k in zip(moving, moves._choices(field.plan)[moving], strict=True):
            outcomes = slice(moves.outcome_indptr[k], moves.outcome_indptr[k + 1])
            heads, counts = moves.next_states[outcomes], moves.counts[outcomes].copy()
            counts[heads == s] = 0.0
            if counts.any():
                successor[s] = heads[np.argmax(counts)]
    if model.stitched.tail.size and not planned.all():
        planned = _stitch_on(model, planned, (values, reach, successor), price)

    aim = _look_ahead(model, states, successor, arrived, ahead)
    entering = model.teleporter & model.teleporter[successor] & ~arrived & planned
    aims = np.where(entering[:, None], model.launch, states[aim])
    direct = arrived[aim] & ~entering & planned

    # States still without a plan head for the nearest one with a plan. If no arcs are stitched,
    # this one is not either: nothing leads to the goal from there.
    if not planned.all():
        lost, able = np.flatnonzero(~planned), np.flatnonzero(planned)
        away, which = map(np.asarray, cKDTree(states[able]).query(states[lost]))
        to = able[which]
        aims[lost] = states[to]
        if model.stitched.tail.size:
            lengths = np.maximum(away / model.replay.speed, 1.0)
            odds = stitched_odds(model.replay, lost, to, lengths)
            values[lost] = lengths + odds * values[to] + (1.0 - odds) * price
            reach[lost] = odds * reach[to]
        else:
            values[lost], reach[lost] = np.inf, 0.0
    return Policy(
        goal=frozen(goal),
        values=frozen(values),
        reach=frozen(reach),
        successor=frozen(successor),
        aims=frozen(aims),
        direct=frozen(direct),
        planned=frozen(planned),
        field=field,
    )


def _solve(
    model: BufferModel, goal: NDArray[np.int64], give_up: float | None
) -> tuple[float, ExpectedCost]:
    """Return the price of giving up, and the expected cost with it.

    By default, the price is many times the longest path to the goal. Paths are first measured as if
    all moves succeeded. Where moves often fail, walks take many times as long and would be given up
    at that price. So the price is raised until it is many times the plan's average cost.
    """
    if give_up is not None:
        return give_up, expected_cost(model.moves, goal, give_up)
    # Longest of the observed paths or, where these lead nowhere, of those with stitched arcs. At
    # their own lengths stitched arcs are shortcuts, and risks would seem to be worth taking.
    longest = float(model.moves.costs.max())
    for graph in (model.steps, model.walks):
        lengths = dijkstra(graph.reverse_arcs, goal, np.zeros(goal.size), 1.0)[0]
        longest = max(longest, float(lengths[np.isfinite(lengths)].max()))
    for _ in range(RAISES):
        price = GIVE_UP * longest
        field = expected_cost(model.moves, goal, price)
        longest = float((field.values - (1.0 - field.reach) * price).max())
        if price >= GIVE_UP / 2 * longest:
            break
    return price, field


def _stitch_on(
    model: BufferModel,
    planned: BoolArray,
    tables: tuple[FloatArray, FloatArray, IntArray],
    give_up: float,
) -> BoolArray:
    """Lead states without a plan along the cheapest paths, with stitched arcs at their price.

    Updates values, reach and successors in place; returns which states now have a plan.
    """
    values, reach, successor = tables
    walks, stitched, n = model.walks, model.stitched, planned.size
    prices, odds = walks.lengths.copy(), np.ones(walks.num_arcs)
    slot = np.searchsorted(walks.tails * n + walks.indices, stitched.tail * n + stitched.head)
    prices[slot], odds[slot] = stitched.price, stitched.odds
    able = np.flatnonzero(planned)
    priced = replace(walks, lengths=prices)
    ways, _ = dijkstra(priced.reverse_arcs, able, values[able], 1.0)
    scores = prices + ways[walks.indices]
    lost = np.flatnonzero(~planned & np.isfinite(ways))
    for x in lost[np.argsort(ways[lost], kind="stable")]:  # successors come first
        arcs = slice(walks.indptr[x], walks.indptr[x + 1])
        best = walks.indptr[x] + int(np.argmin(scores[arcs]))
        y = successor[x] = walks.indices[best]
        values[x] = walks.lengths[best] + odds[best] * values[y] + (1.0 - odds[best]) * give_up
        reach[x] = odds[best] * reach[y]
    found: BoolArray = np.isfinite(ways)
    return found


def _look_ahead(
    model: BufferModel, states: Rows, successor: IntArray, arrived: BoolArray, ahead: float
) -> IntArray:
    """Return the last state along the plan that is about `ahead` away, at least one arc on.

    Distance is the straight line, and at most twice as much along the path. Where a plan zigzags
    between states, an agent that headed for the very next one would enter the cell of another, and
    be sent back.
    """
    n, walks = successor.size, model.walks
    stride = np.full(n, np.inf)  # length of the arc to each successor
    keys, wanted = walks.tails * n + walks.indices, np.arange(n) * n + successor
    if keys.size:
        slot = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        stride = np.where(keys[slot] == wanted, walks.lengths[slot], np.inf)
    # a sub-goal is never beyond the goal, a teleporter, or the end of a plan
    ends = arrived | model.teleporter | (successor == np.arange(n))
    aim, walked = successor.copy(), stride.copy()
    while True:
        further = successor[aim]
        length = walked + stride[aim]
        away = np.linalg.norm(states[further].astype(np.float64) - states, axis=1)
        away /= model.replay.speed or 1.0
        near = (length <= ahead) | ((length <= DETOUR * ahead) & (away <= ahead))
        onward = near & ~ends[aim]
        if not onward.any():
            return aim
        walked[onward] += stride[aim[onward]]
        aim[onward] = further[onward]
