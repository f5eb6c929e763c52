"""How sure is my agent? Bounds on a plan's arrival that narrow as the buffer grows.

The world is a slippery floor with pits. An agent has tried every action n times at every cell, and
a plan is made from these counts alone. `doubt()` bounds its true probability of arrival, which is
drawn beside the bounds. After three samples the counts promise far too much.

Run it with ``python examples/how_sure.py [FILE]``; it needs the extra ``plots``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import wayfield as wf

HEIGHT, WIDTH, PITS = 4, 6, (8, 9, 15, 22)
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


def world() -> wf.Transitions:
    """Return the true odds: a move slides left with probability 1/8, and right with 1/8."""
    rows = []
    for s in set(range(HEIGHT * WIDTH - 1)) - set(PITS):
        for a in range(4):
            for turn, p in ((0, 0.75), (1, 0.125), (3, 0.125)):
                dy, dx = STEPS[(a + turn) % 4]
                y, x = s // WIDTH + dy, s % WIDTH + dx
                to = y * WIDTH + x if 0 <= y < HEIGHT and 0 <= x < WIDTH else s
                rows.append((s, a, to, p))
    state, action, following, odds = (list(column) for column in zip(*rows, strict=True))
    return wf.Transitions(state, action, following, odds, num_states=HEIGHT * WIDTH)


def main(path: Path = Path("how_sure.png")) -> None:
    """Sample more and more transitions, plan from them, and compare the bounds with the truth."""
    truth, rng, goal = world(), np.random.default_rng(7), HEIGHT * WIDTH - 1
    first = truth.outcome_indptr
    choice = np.repeat(np.arange(truth.num_choices), np.diff(first))
    odds = np.split(truth.probabilities, first[1:-1])
    sizes, lines = (3, 5, 10, 20, 50, 100, 200, 500, 1000, 3000), []
    counts = np.zeros(choice.size)
    for n, more in zip(sizes, np.diff(sizes, prepend=0), strict=True):
        counts += np.concatenate([rng.multinomial(more, p / p.sum()) for p in odds])
        seen = counts > 0
        state, action = truth.states[choice][seen], truth.actions[choice][seen]
        buffer = wf.Transitions(
            state, action, truth.next_states[seen], counts[seen], num_states=truth.num_states
        )
        field = wf.expected_cost(buffer, goal, give_up=200)
        doubt, true = field.doubt(0.95), field.under(truth)
        lines.append((doubt.reach_low[0], doubt.reach_high[0], field.reach[0], true.reach[0]))
        print(
            f"{n:5,} samples per action: the counts say {field.reach[0]:.2f}, "
            f"95 % bounds {doubt.reach_low[0]:.2f} to {doubt.reach_high[0]:.2f}, "
            f"in truth {true.reach[0]:.2f}"
        )
    low, high, counted, true_reach = np.array(lines).T
    figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    ax.fill_between(sizes, low, high, color="#8fc1b5", alpha=0.6, label="doubt(0.95)")
    ax.plot(sizes, counted, "o--", color="#c2571a", label="what the counts say")
    ax.plot(sizes, true_reach, "k.-", label="the truth")
    ax.set_xscale("log")
    ax.set_xlabel("samples per action")
    ax.set_ylabel("probability that the plan arrives")
    ax.set_ylim(0, 1.02)
    ax.legend(loc="lower right")
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
