"""What a route's arcs lead to, by what the buffer says of them: chance, and arcs nobody has seen.

A route is walked landmark by landmark: y is the one whose surroundings are entered first from x on
the straight way to where the low level heads for. The probability R of arrival is

    R(x) = p · E R(exit) + (1 - p) · (q · R(y) + (1 - q) · F),    R = 1 at the goal,

where p is the share of departures from x that ended in a jump, and q the odds that the arc exists
at all: those of `Replay.suspects` where the transitions speak against it, 1 where they do not. Who
tries an arc that does not exist stays there for good, F = 0; but if jumps set in at one of its
ends, nobody was seen to cross because all were sent elsewhere, and F = E R(exit).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import spsolve

from wayfield.chance import Transitions
from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray

from .scene import Route, Scene


@dataclass(frozen=True, eq=False)
class Chance:
    """Jumps of a buffer.

    Attributes
    ----------
    odds : (n,) float array
        Share of the departures from a landmark that ended in a jump.
    exits : (n, n) sparse array
        Where to, as shares of 1 in every row with a jump.
    cost : (n,) float array
        Steps that it took; 1 where there is none.
    """

    odds: FloatArray
    exits: sparse.csr_array[np.float64]
    cost: FloatArray


@cache
def chance_of(scene: Scene) -> Chance:
    """Read the jumps out of the transitions of a buffer."""
    moves, n = scene.replay.transitions("arc"), len(scene.states)
    states = np.flatnonzero(np.diff(moves.indptr))
    first = moves.indptr[states]  # every action of a state has the same exits
    outcomes = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    place = np.full(moves.num_choices, -1)
    place[first] = states
    at, to = place[outcomes], moves.next_states
    jumps = (at >= 0) & ((to != moves.actions[outcomes]) | (at == moves.actions[outcomes]))
    at, to, share = at[jumps], to[jumps], moves.probabilities[jumps]
    odds: FloatArray = np.zeros(n)
    np.add.at(odds, at, share)
    cost = np.ones(n)
    cost[at] = moves.costs[jumps]
    return Chance(odds, sparse.csr_array((share / odds[at], (at, to)), shape=(n, n)), cost)


def with_chance(graph: Graph, chance: Chance) -> Transitions:
    """Take every arc of a graph for granted, but for the jumps at its tail.

    A landmark with jumps and no arcs has one action, itself: to stay and be sent somewhere.
    """
    tails, heads = graph.tails.astype(np.int64), graph.indices.astype(np.int64)
    stuck = np.setdiff1d(np.flatnonzero(chance.odds > 0), tails)
    walks = chance.odds[tails] < 1
    state = np.concatenate([tails, stuck])
    action = np.concatenate([heads, stuck])
    exits = chance.exits[state].tocoo()
    row, to = exits.coords
    weight = np.where(row < tails.size, chance.odds[state[row]], 1.0)
    return Transitions(
        np.concatenate([tails[walks], state[row]]),
        np.concatenate([heads[walks], action[row]]),
        np.concatenate([heads[walks], to]),
        np.concatenate([1 - chance.odds[tails[walks]], weight * exits.data]),
        np.concatenate([graph.lengths[walks], chance.cost[state[row]]]),
        graph.num_vertices,
    )


def arrival(scene: Scene, route: Route) -> FloatArray:
    """(n,) probability of arriving from every landmark along a route, before anyone has walked."""
    chance, n = chance_of(scene), len(scene.states)
    here = np.arange(n)
    leaps = scene.leaps(here, route.following)
    steps = np.where(leaps, here, scene.entered(route.targets(scene)))
    stays = steps == here
    jumping = np.where(leaps, 1.0, np.where(stays, 0.0, chance.odds))
    exists = _exist(scene, steps)
    walks = np.where(stays, 0.0, (1 - jumping) * exists)
    fails = np.where(stays, 0.0, (1 - jumping) * (1 - exists))
    door = np.where(chance.odds > 0, here, steps)
    moves = (
        sparse.diags_array(jumping) @ chance.exits
        + sparse.csr_array((walks, (here, steps)), shape=(n, n))
        + sparse.diags_array(fails) @ chance.exits[door]
    ).tocsr()
    known = np.zeros(n)
    known[route.goals] = 1.0
    reaching = _reaching(moves, route.goals)
    free = np.flatnonzero(reaching & (known == 0))
    if free.size:
        system = sparse.eye_array(free.size) - moves[free][:, free]
        known[free] = spsolve(system.tocsc(), moves[free] @ known)
    return np.clip(known, 0.0, 1.0)


def _exist(scene: Scene, steps: NDArray[np.int64]) -> FloatArray:
    """Odds that the arc from each landmark to its next one is there."""
    here = np.arange(steps.size)
    moving = np.flatnonzero(steps != here)
    odds = np.ones(steps.size)
    if moving.size:
        span = np.linalg.norm(scene.states[moving] - scene.states[steps[moving]], axis=1)
        usual = np.median(scene.replay.graph.lengths)
        lengths = np.maximum(span / scene.replay.speed, usual)  # walkers cut corners no finer
        graph = Graph.from_edges(moving, steps[moving], lengths, steps.size, directed=True)
        doubtful = scene.replay.suspects(graph, least=0.0)
        odds[doubtful.tail] = doubtful.odds
    return odds


def _reaching(moves: sparse.csr_array[np.float64], goals: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Landmarks from which the goals can be reached at all."""
    found = np.zeros(moves.shape[0], dtype=bool)
    found[goals] = True
    while True:
        more = found | (moves @ found.astype(float) > 0)
        if (more == found).all():
            return found
        found = more
