"""Replay buffer to plan: from transitions seen in one direction to a walk nobody has seen.

An agent wanders about a room with a ledge that it can drop from but not climb, and a pit that it
does not get out of. Its transitions become a directed graph. The report says first what cannot
reach the goal at all; then a start and a goal outside the room, never observed, are attached to
their neighbours, and a critic's noisy values make the plan.

Run it with ``python examples/replay_buffer.py [FILE]``; it needs the extra ``plots``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

import wayfield as wf
from wayfield import replay

ROOM = (10.0, 8.0)
LEDGE = 4.5
PIT = (4.0, 0.8, 2.4, 2.4)  # corner, width, height
DROP = 0.4  # more than the tolerance, or merging would open a way through
START, GOAL = (-0.7, 6.5), (10.7, 1.0)


def main(path: Path = Path("replay_buffer.png")) -> None:
    """Collect, merge, look, attach, extend, plan, draw."""
    observations, terminals = wander(episodes=80, steps=120, seed=3)
    buffer = replay.replay_graph(observations, terminals=terminals, tolerance=0.3)
    print(buffer)
    buffer, start = buffer.attach(START, "start", k=3)
    buffer, goal = buffer.attach(GOAL, "goal", k=3)
    print(buffer.report(goal))

    critic = noisy_critic(buffer.graph, goal, fraction=0.05, noise=0.1, seed=0)
    kept = wf.drop_false_sinks(buffer.graph, critic, goal)
    print(f"critic: {critic}\n  kept: {kept}")
    answer = wf.solve(buffer.graph, kept, goal)
    walk = answer.route(start)
    print(answer, walk, sep="\n")

    figure, ax = plt.subplots(figsize=(10, 6.6), layout="constrained")
    wf.plots.field(buffer.graph, answer.values, labels=kept, ax=ax)
    ax.plot([0, ROOM[0]], [LEDGE, LEDGE], color="firebrick", linewidth=2, linestyle=(0, (6, 3)))
    ax.add_patch(Rectangle(PIT[:2], *PIT[2:], fill=False, edgecolor="firebrick", linewidth=2))
    ax.plot(*buffer.states[walk.path].T, color="#e8850c", linewidth=3.5, zorder=6)
    ax.plot(*START, "o", color="#e8850c", markeredgecolor="black", markersize=11, zorder=7)
    ax.plot(*GOAL, "*", color="gold", markeredgecolor="black", markersize=22, zorder=7)
    ax.set_title("Down the ledge (dashed), round the pit (square), out at the goal")
    figure.savefig(path, dpi=100)


def wander(episodes: int, steps: int, seed: int) -> tuple[Any, Any]:
    """Random walks with momentum; nothing climbs the ledge or leaves the pit."""
    rng = np.random.default_rng(seed)
    seen, final = [], []
    for _ in range(episodes):
        here, heading = rng.uniform((0, 0), ROOM), rng.uniform(0, 2 * np.pi)
        for step in range(steps):
            seen.append(here)
            final.append(step == steps - 1)
            heading += rng.normal(scale=0.6)
            there = np.clip(here + 0.45 * np.array([np.cos(heading), np.sin(heading)]), 0, ROOM)
            climbs = here[1] < LEDGE - DROP < there[1]
            if climbs or (in_pit(here) and not in_pit(there)):
                heading += np.pi
            else:
                here = landed(there)
    return np.array(seen), np.array(final)


def landed(place: Any) -> Any:
    """Where a step ends: clear of the ledge's foot, and of the walls of the pit."""
    if LEDGE - DROP < place[1] < LEDGE:
        return np.array([place[0], LEDGE - DROP])
    corner, size = np.array(PIT[:2]), np.array(PIT[2:])
    return np.clip(place, corner + DROP, corner + size - DROP) if in_pit(place) else place


def in_pit(place: Any) -> bool:
    """Whether a place is in the pit."""
    offset = place - np.array(PIT[:2])
    return bool((offset > 0).all() and (offset < PIT[2:]).all())


def noisy_critic(graph: wf.Graph, goal: int, fraction: float, noise: float, seed: int) -> wf.Labels:
    """Values at a few states, each off by a random factor; the goal's is right."""
    exact = wf.sample_labels(graph, goal, fraction=fraction, seed=seed)
    factor = np.random.default_rng(seed).lognormal(sigma=noise, size=len(exact))
    return wf.Labels(exact.vertices, exact.values * factor)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
