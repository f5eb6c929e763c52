"""Planners on a buffer, each an arm: ours, three rivals, and an oracle that knows the world.

A planner takes the buffer and returns, for every goal, what it predicts and how it acts. Those that
plan in observations hand sub-goals to the low level (`worlds.steer`).

``subgoals``, ``actions``
    `replay.Planner`, followed by the low level or by its own actions.
``dijkstra``
    Shortest paths on observed arcs between 10 ∛N landmarks, in raw coordinates.
``neighbours``
    Shortest paths on a graph of nearest neighbours among a thousand rows, as in SoRB [1]_ with the
    standardised Euclidean distance in place of a learned one.
``counts``
    Value iteration on counts of (cell, action, cell) and deaths. It is given the coordinates that
    matter, in units of a step: an advantage over all others.
``oracle``
    Value iteration on the true dynamics, from a sample of states as fine as time allows. It holds
    an action for at most as many steps as the low level looks ahead, so whatever it does the low
    level could do too. It sees states, not observations.

References
----------
.. [1] B. Eysenbach, R. Salakhutdinov, S. Levine, Search on the replay buffer, NeurIPS 2019.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import cKDTree

import wayfield as wf
from wayfield import replay
from wayfield.typing import BoolArray, FloatArray

from .worlds import Actions, World, behave, steer

NODES, NEAREST = 1_000, 10
"""Cells and neighbours of the rivals."""
FINE = 12_000
"""States of the oracle."""
HORIZON = 300.0
"""1 / (1 − discount) of value iteration: shorter ways are preferred among equally sure ones."""
_DISCOUNT = 1.0 - 1.0 / HORIZON
_CLOSE = 8
"""Nearest states of the oracle among which none behind a wall is taken."""


class GuidePlan(NamedTuple):
    """What a planner has for one goal."""

    reach: Callable[[FloatArray], FloatArray]
    """Predicted probability of arriving, by observation."""
    act: Callable[[FloatArray, FloatArray], Actions]
    """Actions, by state and observation; only the low level and the oracle look at states."""


Guide: TypeAlias = Callable[[FloatArray], GuidePlan]
"""Makes a plan for a goal, given as a state."""
Columns: TypeAlias = dict[str, NDArray[Any]]


# -------------------------------------------------------------------- ours


def ours(world: World, planner: replay.Planner, by_actions: bool) -> Guide:
    """Return a guide by the actions of a planner, or by its sub-goals."""

    def plan(goal: FloatArray) -> GuidePlan:
        target = world.seen(goal[None])[0]

        def act(states: FloatArray, seen: FloatArray) -> Actions:
            if by_actions:
                return np.asarray(planner.action(seen, target)).astype(np.int64)
            return steer(world, states, world.given(planner.subgoal(seen, target)))

        return GuidePlan(lambda seen: planner.reach(seen, target), act)

    return plan


# -------------------------------------------------------------------- rivals on a graph


def shortest(world: World, data: Columns, seed: int) -> Guide:
    """Plan by shortest paths on observed arcs."""
    count = round(10 * np.cbrt(len(data["observations"])))
    buffer = replay.Replay.from_dataset(data, landmarks=count, seed=seed)
    return _on_graph(world, buffer.graph, buffer.states.astype(np.float64), buffer.locate)


def neighbours(world: World, data: Columns, seed: int) -> Guide:
    """Plan by shortest paths between nearest neighbours."""
    rows = data["observations"].astype(np.float64)
    rng = np.random.default_rng([seed, 31])
    nodes = rows[rng.choice(len(rows), min(NODES, len(rows)), replace=False)]
    scale = rows.std(axis=0) + 1e-12
    tree = cKDTree(nodes / scale)
    away, near = map(np.asarray, tree.query(nodes / scale, NEAREST + 1))
    tails = np.repeat(np.arange(len(nodes)), NEAREST)
    lengths = np.maximum(away[:, 1:].ravel(), 1e-9)
    graph = wf.Graph.from_edges(tails, near[:, 1:].ravel(), lengths, len(nodes))
    return _on_graph(world, graph, nodes, lambda seen: tree.query(seen / scale)[1])


def _on_graph(
    world: World, graph: wf.Graph, nodes: FloatArray, locate: Callable[[FloatArray], Any]
) -> Guide:
    """Head for the second node along the shortest path; its end is the goal itself."""

    def plan(goal: FloatArray) -> GuidePlan:
        target = world.seen(goal[None])
        last = int(locate(target)[0])
        values = wf.cost_to_go(graph, last)
        following = wf.plan(graph, values, last, rule="q").successor
        second = following[following]
        aims = np.where((second == last)[:, None], target, nodes[second])

        def act(states: FloatArray, seen: FloatArray) -> Actions:
            return steer(world, states, world.given(aims[locate(seen)]))

        return GuidePlan(lambda seen: np.isfinite(values[locate(seen)]).astype(float), act)

    return plan


# -------------------------------------------------------------------- value iteration


def counts(world: World, data: Columns, seed: int) -> Guide:
    """Plan by value iteration on counts, given the coordinates that matter."""
    rows = world.given(data["observations"].astype(np.float64))
    rng = np.random.default_rng([seed, 32])
    nodes = rows[rng.choice(len(rows), min(NODES, len(rows)), replace=False)]
    tree, kinds, size = cKDTree(nodes), len(world.controls), min(NODES, len(rows))
    cell, actions = np.asarray(tree.query(rows)[1]), data["actions"]
    died = data["terminals"] & world.deadly
    final = data["terminals"] | data.get("timeouts", np.zeros(len(rows), dtype=bool))
    final[-1] = True
    steps = np.flatnonzero(~final | died)
    outcome = np.where(died[steps], size, cell[np.minimum(steps + 1, len(rows) - 1)])
    ends = cell[steps] * kinds + actions[steps], outcome
    count = sparse.csr_array((np.ones(steps.size), ends), (size * kinds, size + 1))
    total = np.asarray(count.sum(axis=1), dtype=np.float64)
    chance = sparse.diags_array(1.0 / np.maximum(total, 1.0)) @ count
    known = (total > 0).reshape(size, kinds)

    def plan(goal: FloatArray) -> GuidePlan:
        at_goal = np.zeros(size + 1)
        at_goal[tree.query(world.features(goal[None]))[1]] = 1.0
        values, scores = at_goal.copy(), np.zeros((size, kinds))
        for _ in range(world.budget):
            onward = np.asarray(chance @ (_DISCOUNT * values)).reshape(size, kinds)
            scores = np.where(known, onward, -1.0)
            values[:size] = np.maximum(scores.max(axis=1), at_goal[:size])
        best = scores.argmax(axis=1)
        chosen, reach = chance[np.arange(size) * kinds + best], at_goal.copy()
        for _ in range(world.budget):  # the plan that was made, without the discount
            reach[:size] = np.maximum(chosen @ reach, at_goal[:size])

        def locate(seen: FloatArray) -> NDArray[np.int64]:
            return np.asarray(tree.query(world.given(seen))[1])

        return GuidePlan(lambda seen: reach[locate(seen)], lambda _, seen: best[locate(seen)])

    return plan


class Oracle:
    """Value iteration on the true dynamics."""

    def __init__(self, world: World, seed: int) -> None:
        self.world, self.rng = world, np.random.default_rng([seed, 33])
        run = behave(world, seed + 1_000, 120_000)
        states = np.unique(run.states[run.alive], axis=0)
        if len(states) > FINE:
            states = states[self.rng.choice(len(states), FINE, replace=False)]
        self.states, self.tree = states, cKDTree(world.features(states))
        kinds = len(world.controls)
        at, actions = np.repeat(states, kinds, axis=0), np.tile(np.arange(kinds), len(states))
        outcomes = []
        for _ in range(world.draws):
            onward = world.step(at, actions, self.rng)
            outcomes.append(np.where(self.ends(onward), len(states), self.nearest(onward)))
        self.outcomes = np.stack(outcomes, axis=1).reshape(len(states), kinds, world.draws)

    def ends(self, states: FloatArray) -> BoolArray:
        """Whether states are fatal."""
        return self.world.fatal(states) & self.world.deadly

    def nearest(self, states: FloatArray) -> NDArray[np.int64]:
        """Return the nearest state of the sample that no wall hides; one too many if all are."""
        _, near = self.tree.query(self.world.features(states), min(_CLOSE, len(self.states)))
        near = near.reshape(len(states), -1)
        found = np.full(len(states), len(self.states))
        for one in near.T:
            which = np.flatnonzero(found == len(self.states))
            clear = which[~self.world.parted(states[which], self.states[one[which]])]
            found[clear] = one[clear]
        return found

    def __call__(self, goal: FloatArray) -> GuidePlan:
        """Make the plan for a goal."""
        world, kinds, draws = self.world, len(self.world.controls), self.world.draws
        at_goal = np.append(world.arrived(self.states, goal), False).astype(float)
        values = at_goal.copy()
        for _ in range(world.budget):
            scores = _DISCOUNT * values[self.outcomes].mean(axis=2)
            values[:-1] = np.maximum(scores.max(axis=1), at_goal[:-1])

        def act(states: FloatArray, _: FloatArray) -> Actions:
            # each action, held for one to `look` steps, several times over
            at = np.repeat(states, kinds * draws, axis=0)
            actions = np.tile(np.repeat(np.arange(kinds), draws), len(states))
            dead, best = np.zeros(len(at), dtype=bool), np.zeros((len(states), kinds))
            for held in range(1, world.look + 1):
                at = world.step(at, actions, self.rng)
                dead |= self.ends(at)
                value = np.where(world.arrived(at, goal), 1.0, values[self.nearest(at)])
                score = _DISCOUNT**held * np.where(dead, 0.0, value)
                best = np.maximum(best, score.reshape(-1, kinds, draws).mean(axis=2))
            return np.asarray(best.argmax(axis=1))

        return GuidePlan(lambda seen: np.full(len(seen), np.nan), act)
