"""Expected cost with its bracket on processes of up to a million states.

Run with ``python -m benchmarks.chance [states]``. The promise: 1e4 states in 1 second, 1e6 in 60,
with a bracket of at most 1e-8 of the range. Worlds: a grid with walls whose floor is slippery (a
move slides sideways in three cases of ten); the same with teleporters, of whose exits one in three
is a dead end, and a price for giving up; moves that are hardly better than a random walk; arcs to
anywhere, with odds and costs drawn at random. Seconds are those of the processor, so that
neighbours on the machine do not count, beside those of one sweep of value iteration.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np

import wayfield as wf
from wayfield.chance import ExpectedCost
from wayfield.kernels.chance import numbered, sweep

World = tuple[wf.Transitions, float | None]


def grid(n: int, seed: int, ahead: float, back: float) -> tuple[np.ndarray, ...]:
    """Four ways to go; the way meant comes with odds `ahead`, its opposite with `back`."""
    rng, side = np.random.default_rng(seed), round(np.sqrt(n))
    free = rng.random((side, side)) >= 0.1
    free[0, 0] = True
    number = np.arange(side * side).reshape(side, side)
    x, y = np.divmod(np.arange(side * side), side)
    steps = np.array([(1, 0), (0, 1), (-1, 0), (0, -1)])
    to = np.empty((4, side * side), np.int64)
    for a, (dx, dy) in enumerate(steps):
        u, v = np.clip(x + dx, 0, side - 1), np.clip(y + dy, 0, side - 1)
        to[a] = np.where(free[u, v], number[u, v], number[x, y])
    aside = (1.0 - ahead - back) / 2
    inside = np.flatnonzero(free.ravel())
    state = np.repeat(inside, 16)
    action = np.tile(np.repeat(np.arange(4), 4), inside.size)
    turn = np.tile(np.arange(4), 4 * inside.size)
    odds = np.array([ahead, aside, back, aside])[turn]
    return state, action, to[(action + turn) % 4, state], odds


def slippery(n: int, seed: int) -> World:
    state, action, following, odds = grid(n, seed, 0.7, 0.0)
    keep = odds > 0
    rows = (state[keep], action[keep], following[keep], odds[keep])
    return wf.Transitions(*rows), None


def teleporters(n: int, seed: int) -> World:
    moves, _ = slippery(n, seed)
    rng = np.random.default_rng(seed)
    size = moves.num_states
    doors = rng.choice(np.arange(1, size), size // 500, replace=False)
    open_ = ~np.isin(moves.states, doors)
    outcomes = np.repeat(open_, np.diff(moves.outcome_indptr))
    choice = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))[outcomes]
    near, far = rng.integers(0, size, (2, doors.size))
    state = np.concatenate([moves.states[choice], np.repeat(doors, 3)])
    action = np.concatenate([moves.actions[choice], np.zeros(3 * doors.size, int)])
    exits = np.column_stack([near, far, np.full(doors.size, size)]).ravel()
    following = np.concatenate([moves.next_states[outcomes], exits])
    count = np.concatenate([moves.counts[outcomes], np.ones(3 * doors.size)])
    return wf.Transitions(state, action, following, count), 4.0 * np.sqrt(size)


def drunk(n: int, seed: int) -> World:
    state, action, following, odds = grid(n, seed, 0.3, 0.2)
    return wf.Transitions(state, action, following, odds), None


def anywhere(n: int, seed: int) -> World:
    rng = np.random.default_rng(seed)
    state, action = np.repeat(np.arange(n), 12), np.tile(np.repeat(np.arange(3), 4), n)
    following, count = rng.integers(0, n, 12 * n), rng.integers(1, 20, 12 * n)
    return wf.Transitions(state, action, following, count, rng.uniform(0.1, 5.0, 12 * n)), None


WORLDS: dict[str, Callable[[int, int], World]] = {
    "slippery": slippery,
    "teleporters": teleporters,
    "anywhere": anywhere,
    "drunk": drunk,
}


def one_sweep(moves: wf.Transitions, field: ExpectedCost) -> float:
    """Processor time of one sweep over the states of finite cost."""
    process, order = moves._process, np.flatnonzero(np.isfinite(field.values) & (field.plan >= 0))
    choices = numbered(process, process.fee < np.inf, order)
    stops, change = np.full(order.size, np.inf), np.zeros(order.size)
    start = time.process_time()
    sweep(choices, choices.fee, stops, change, np.zeros(order.size, np.int64))
    return time.process_time() - start


def main(sizes: list[int], names: list[str]) -> None:
    for name in names:
        for n in [1000, *sizes]:
            moves, give_up = WORLDS[name](n, 0)
            start = time.process_time()
            field = wf.expected_cost(moves, 0, give_up)
            seconds = time.process_time() - start
            if n == 1000:  # which compiles
                continue
            known = np.isfinite(field.values)
            spread = np.ptp(field.values[known])
            reached = field.reach_upper[known] - field.reach_lower[known]
            print(
                f"{name:12} {moves.num_states:>9,} states, {moves.counts.size:>10,} outcomes: "
                f"{seconds:6.2f} s = {seconds / one_sweep(moves, field):5.0f} sweeps, "
                f"{field.iterations} policies, bracket {field.width / spread:.0e} of the range, "
                f"that of reach {reached.max():.0e}",
                flush=True,
            )


if __name__ == "__main__":
    told = [int(a) for a in sys.argv[1:] if a.isdigit()]
    named = [a for a in sys.argv[1:] if not a.isdigit()]
    main(told or [10_000, 100_000], named or list(WORLDS))
