"""Film an ant that follows a harmonic plan round and round, and one that the AMLE brings home.

Run it with ``python examples/ant_loop.py [FILE]``, FILE ending in .png (animated), .gif or .webp;
it needs the extras ``plots`` and ``sim``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import wayfield as wf
from wayfield_study import sim
from wayfield_study.film import film

FILM = Path(__file__).parents[1] / "docs" / "images" / "ant_loop.gif"
GOAL, START, SEED = 22, 390, 58


def main(path: Path = FILM) -> None:
    """Plan on the same labels in two ways, let the ant walk both, film them side by side."""
    maze = sim.make("antmaze-medium")
    graph = wf.grid_graph(maze.layout, refinement=4)
    labels = wf.sample_labels(graph, GOAL, fraction=0.05, seed=SEED)
    methods: dict[str, wf.fields.Method] = {"harmonic": wf.Harmonic(), "exact AMLE": wf.AMLE()}
    plans = [wf.plan(graph, wf.extend(graph, labels, each), GOAL) for each in methods.values()]
    walks = [sim.walk(maze, plan, start=START, seed=SEED) for plan in plans]
    for name, walk in zip(methods, walks, strict=True):
        print(f"{name}: {walk}")
    film(walks, plans, maze, path, list(methods), labels)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
