"""Check that trained weights carry the ant through OGBench's five tasks on its three mazes.

``python training/check.py out/ant.npz`` walks the tasks in MuJoCo itself, on the CPU, sub-goals one
cell down a true shortest path. It leaves with code 1 if a smaller share arrives than `ENOUGH`.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np

import wayfield as wf
from wayfield_study import sim

MAZES = ("medium", "large", "giant")
ENOUGH = 0.98


def walks(maze: sim.Maze, weights: Path, episodes: int, seed: int) -> list[sim.Walk]:
    """Walk every task several times, start and goal up to a metre off their cells' middles."""
    graph, inner = wf.grid_graph(maze.layout), maze.env.unwrapped
    control, rng = sim.AntController(weights), np.random.default_rng(seed)
    found = []
    for task in inner.task_infos:
        for _ in range(episodes):
            start, goal = (
                np.array(inner.ij_to_xy(task[name])) + rng.uniform(-1, 1, 2)
                for name in ("init_ij", "goal_ij")
            )
            vertex = maze.coordinates.vertex(goal)
            plan = wf.plan(graph, wf.cost_to_go(graph, vertex), vertex)
            chance = int(rng.integers(2**31))
            found.append(sim.walk(maze, plan, goal, start, seed=chance, controller=control))
    return found


def main() -> None:
    """Print how the walks end, maze by maze."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("weights", type=Path, help="ant.npz, as train.py writes it")
    parser.add_argument("--episodes", type=int, default=10, help="for each of the five tasks")
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    arrived = total = 0
    for name in MAZES:
        found = walks(sim.make(f"antmaze-{name}"), given.weights, given.episodes, given.seed)
        ends = Counter(str(walk.ending) for walk in found)
        metres, seconds = (sum(getattr(w, of) for w in found) for of in ("metres", "seconds"))
        text = ", ".join(f"{count} {ending}" for ending, count in ends.most_common())
        print(f"{name}: {text}; {metres / seconds:.2f} m/s", flush=True)
        arrived, total = arrived + ends["arrived"], total + len(found)
    raise SystemExit(arrived < ENOUGH * total)


if __name__ == "__main__":
    main()
