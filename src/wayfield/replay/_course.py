"""A course: what to head for from every state, for one goal.

**Process.** Walks along observed arcs, jumps with their posterior odds, and guesses with theirs
(Laplace's rule): a guess that fails is one that does not exist, and whoever relies on it is stuck.
The process has one state more than the buffer, for those. Being stuck costs what giving up does, so
that a guess is taken if it is likelier to arrive than anything observed is, and reach is the
probability that all of it works out.

**Sub-goal.** The state about `ahead` along the plan, at least one arc on; the goal itself once it
is no farther than that. A door that the plan goes through is entered where jumps set in.

**Strays.** Where so little is likely that the plan gives up, an agent still has to go somewhere: on
along the cheapest way, guesses at their price, to a state that has a plan. From a state that no
guess leads on from it heads for the nearest state that has one, which is a guess as well.
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
from ._guesses import Guesses, guess_odds, with_prices
from ._odds import transitions_of
from ._replay import Replay, with_arcs

STRENGTH = 5.0
"""Samples that the prior of a jump's odds is worth."""
ACTION_STRENGTH = 1.0
"""Samples that the prior of an action's outcomes is worth: all that happened at its state."""
GIVE_UP = 10.0
"""Giving up costs so many times the longest way to the goal, or half as many."""
DETOUR = 2.0
"""Sub-goals are at most so many times as far away on foot as they may be as the crow flies."""
RAISES = 20
"""How often the price of giving up is raised, at most."""
_DOOR = 0.5
"""A state is a door if at least this share of its departures were jumps."""


@dataclass(frozen=True, eq=False)
class Terrain(KeepsReadOnly):
    """Everything about a buffer that does not depend on the goal."""

    replay: Replay
    guesses: Guesses
    by_action: bool
    moves: Transitions
    """On one state more than the buffer has: the last is being stuck."""
    walks: Graph
    """Steps that were observed and guesses, as long as they take."""
    steps: Graph
    """Steps that were observed."""
    door: BoolArray
    """States that most departures from were jumps."""
    launch: FloatArray
    """Where these set in, for doors."""


def terrain_of(replay: Replay, guesses: Guesses, states: Rows, by_action: bool) -> Terrain:
    """Prepare a buffer for planning; `states` are those that sub-goals are taken from."""
    graph, n = replay.graph, replay.graph.num_vertices
    steps = replay.counts > replay.leaps
    rows = graph.tails[steps], graph.indices[steps], graph.lengths[steps]
    observed = Graph.from_edges(*rows, n, True)
    walks = with_prices(observed, guesses, guesses.length)
    if by_action:
        moves = _larger(transitions_of(replay, "action").shrunk(ACTION_STRENGTH))
    else:
        every = with_arcs(replay, with_prices(graph, guesses, guesses.length))
        moves = _failing(transitions_of(every, "arc", STRENGTH), guesses)
    leaps = np.bincount(graph.tails, replay.leaps, n)
    door = (leaps >= _DOOR * replay.departures) & (leaps > 0)
    launch = states.astype(np.float64)
    jumps = replay.jumps
    if jumps.launch.shape[1] == states.shape[1]:
        count = np.bincount(jumps.tail, jumps.count, n)
        total = np.zeros(states.shape)
        np.add.at(total, jumps.tail, jumps.launch * jumps.count[:, None])
        launch = np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], launch)
    ways = walks, observed
    return Terrain(replay, guesses, by_action, moves, *ways, frozen(door), frozen(launch))


@dataclass(frozen=True, eq=False)
class Course(KeepsReadOnly):
    """What to do from every state, for one goal."""

    goal: NDArray[np.int64]
    """States that count as the goal."""
    values: FloatArray
    """Expected cost from every state, being stuck counted as giving up; +inf without a plan."""
    reach: FloatArray
    """Probability of arrival."""
    successor: IntArray
    """Next state of the plan; the state itself at the goal and where there is no plan."""
    aims: FloatArray
    """Where to head from every state, unless it is for the goal itself."""
    direct: BoolArray
    """States from which to head for the goal itself."""
    planned: BoolArray
    """States that have a plan or are the goal."""
    field: ExpectedCost
    """What was solved, on one state more."""


def course_to(
    terrain: Terrain, states: Rows, goal: NDArray[np.int64], ahead: float, give_up: float | None
) -> Course:
    """Plan for one goal."""
    n = len(states)
    price, field = _patient(terrain, goal, give_up)
    arrived = np.zeros(n, dtype=bool)
    arrived[goal] = True
    planned = arrived | (field.plan[:n] >= 0)
    successor = _successors(terrain, field)
    values, reach = field.values[:n].copy(), field.reach[:n].copy()
    if terrain.guesses.tail.size and not planned.all():
        planned = _guess_on(terrain, planned, (values, reach, successor), price)
    aim = _look_ahead(terrain, states, successor, arrived, ahead)
    entering = terrain.door & terrain.door[successor] & ~arrived & planned
    aims = np.where(entering[:, None], terrain.launch, states[aim])
    if not planned.all():
        _send_strays(terrain, states, planned, (values, reach, aims), price)
    direct = arrived[aim] & ~entering & planned
    return Course(
        goal=frozen(goal),
        values=frozen(values),
        reach=frozen(reach),
        successor=frozen(successor),
        aims=frozen(aims),
        direct=frozen(direct),
        planned=frozen(planned),
        field=field,
    )


def _patient(
    terrain: Terrain, goal: NDArray[np.int64], give_up: float | None
) -> tuple[float, ExpectedCost]:
    """Solve with a price of giving up, if none is given many times the longest way to the goal.

    Ways are first as long as if all moves did what they are meant to. Where they often do not,
    walks take many times as long, and with that price they would rather be given up: so it is
    raised until it is many times what the plan takes on average.
    """
    if give_up is not None:
        return give_up, expected_cost(terrain.moves, goal, give_up)
    longest = _longest_way(terrain, goal)
    for _ in range(RAISES):
        price = GIVE_UP * longest
        field = expected_cost(terrain.moves, goal, price)
        longest = float((field.values - (1.0 - field.reach) * price).max())
        if price >= GIVE_UP / 2 * longest:
            break
    return price, field


def _longest_way(terrain: Terrain, goal: NDArray[np.int64]) -> float:
    """Return the longest of observed ways to the goal or, where these lead nowhere, of guesses.

    As long as they claim to be, guesses are shortcuts, and risks would seem to be worth taking.
    """
    nothing = np.zeros(goal.size)
    ways = [
        dijkstra(of.reverse_arcs, goal, nothing, 1.0)[0] for of in (terrain.steps, terrain.walks)
    ]
    longest = max(float(each[np.isfinite(each)].max()) for each in ways)
    return max(longest, float(terrain.moves.costs.max()))


def _successors(terrain: Terrain, field: ExpectedCost) -> IntArray:
    """Next state of the plan: the one to walk to or, of an action, the likeliest other one."""
    n = field.values.size - 1
    successor = np.arange(n)
    moving = np.flatnonzero(field.plan[:n] >= 0)
    if not terrain.by_action:
        successor[moving] = field.plan[moving]
        return successor
    moves = terrain.moves
    choice = moves._choices(field.plan)[moving]
    for s, k in zip(moving, choice, strict=True):
        outcomes = slice(moves.outcome_indptr[k], moves.outcome_indptr[k + 1])
        heads, counts = moves.next_states[outcomes], moves.counts[outcomes].copy()
        counts[heads == s] = 0.0
        if counts.any():
            successor[s] = heads[np.argmax(counts)]
    return successor


def _look_ahead(
    terrain: Terrain, states: Rows, successor: IntArray, arrived: BoolArray, ahead: float
) -> IntArray:
    """Last state of the plan's walk from every state that is about `ahead` away, or one arc on.

    Away is as the crow flies, at most twice as far on foot: where a plan zigzags between states,
    whoever headed for the next of them would enter the surroundings of another, and be sent back.
    """
    stride = _strides(terrain.walks, successor)
    speed = terrain.replay.speed
    # nobody looks beyond the goal, a door, or the end of a plan
    ends = arrived | terrain.door | (successor == np.arange(successor.size))
    aim, walked = successor.copy(), stride.copy()
    while True:
        further = successor[aim]
        on_foot = walked + stride[aim]
        away = np.linalg.norm(states[further].astype(np.float64) - states, axis=1) / (speed or 1.0)
        near = (on_foot <= ahead) | ((on_foot <= DETOUR * ahead) & (away <= ahead))
        onward = near & ~ends[aim]
        if not onward.any():
            return aim
        walked[onward] += stride[aim[onward]]
        aim[onward] = further[onward]


def _strides(walks: Graph, successor: IntArray) -> FloatArray:
    """Length of the arc to each successor; +inf where there is none."""
    n = successor.size
    keys, wanted = walks.tails * n + walks.indices, np.arange(n) * n + successor
    if not keys.size:
        return np.full(n, np.inf)
    slot = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    stride: FloatArray = np.where(keys[slot] == wanted, walks.lengths[slot], np.inf)
    return stride


def _guess_on(
    terrain: Terrain,
    planned: BoolArray,
    tables: tuple[FloatArray, FloatArray, IntArray],
    give_up: float,
) -> BoolArray:
    """Lead states without a plan along the cheapest priced ways; return which have one then."""
    values, reach, successor = tables
    steps = terrain.walks
    guesses, n = terrain.guesses, planned.size
    prices, odds = steps.lengths.copy(), np.ones(steps.num_arcs)
    slot = np.searchsorted(steps.tails * n + steps.indices, guesses.tail * n + guesses.head)
    prices[slot], odds[slot] = guesses.price, guesses.odds
    priced = replace(steps, lengths=prices)
    able = np.flatnonzero(planned)
    ways, _ = dijkstra(priced.reverse_arcs, able, values[able], 1.0)
    scores = prices + ways[steps.indices]
    lost = np.flatnonzero(~planned & np.isfinite(ways))
    for x in lost[np.argsort(ways[lost], kind="stable")]:  # those that others go on to first
        arcs = slice(steps.indptr[x], steps.indptr[x + 1])
        best = steps.indptr[x] + int(np.argmin(scores[arcs]))
        y = successor[x] = steps.indices[best]
        works = odds[best]
        values[x] = steps.lengths[best] + works * values[y] + (1.0 - works) * give_up
        reach[x] = works * reach[y]
    found: BoolArray = np.isfinite(ways)
    return found


def _send_strays(
    terrain: Terrain,
    states: Rows,
    planned: BoolArray,
    tables: tuple[FloatArray, FloatArray, FloatArray],
    give_up: float,
) -> None:
    """Send states without a plan to the nearest one that has one: a guess, with a guess's odds.

    If there are no guesses, this is not one either: nothing leads to the goal from there.
    """
    values, reach, aims = tables
    lost, able = np.flatnonzero(~planned), np.flatnonzero(planned)
    away, which = cKDTree(states[able]).query(states[lost])
    to = able[np.asarray(which)]
    aims[lost] = states[to]
    if not terrain.guesses.tail.size:
        values[lost], reach[lost] = np.inf, 0.0
        return
    lengths = np.maximum(np.asarray(away) / terrain.replay.speed, 1.0)
    odds = guess_odds(terrain.replay, lost, to, lengths)
    values[lost] = lengths + odds * values[to] + (1.0 - odds) * give_up
    reach[lost] = odds * reach[to]


def _larger(moves: Transitions) -> Transitions:
    """Return the same process with one state more, for those who are stuck."""
    choice = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    rows = moves.states[choice], moves.actions[choice], moves.next_states
    return Transitions(*rows, moves.counts, moves.costs, moves.num_states + 1)


def _failing(moves: Transitions, guesses: Guesses) -> Transitions:
    """Return the process with one state more, in which guesses work with their odds alone."""
    n = moves.num_states
    choice = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    state, action = moves.states[choice], moves.actions[choice]
    rows = state, action, moves.next_states.astype(np.int64), moves.counts, moves.costs
    keys = guesses.tail * n + guesses.head
    order = np.argsort(keys)
    keys = keys[order]
    wanted = state * n + action
    slot = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
    guessed = np.zeros(state.size, dtype=bool)
    if keys.size:
        guessed = (keys[slot] == wanted) & (moves.next_states == action)
    works = np.ones(state.size)
    works[guessed] = guesses.odds[order][slot[guessed]]
    stuck = [column[guessed] for column in rows]
    stuck[2] = np.full(int(guessed.sum()), n)
    stuck[3] = stuck[3] * (1.0 - works[guessed])
    origin, taken, to, count, cost = map(np.concatenate, zip(rows, stuck, strict=True))
    odds = np.append(works, np.ones(origin.size - state.size))
    return Transitions(origin, taken, to, count * odds, cost, n + 1)
