"""The table of docs/mathematics.md: what energy solvers say, and the truth.

Run with ``python -m benchmarks.energy_solvers [maze refinement]``. At p = 16 L-BFGS-B runs into
its cap of 50,000 iterations, which takes minutes on a large maze.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import wayfield as wf
from wayfield_study.experiments.solver_audit import Energy, lbfgs, newton_cg, relaxed_picard

SOLVERS = {
    "L-BFGS-B": lbfgs,
    "relaxed Picard": relaxed_picard,
    "Newton-CG, 20 steps": newton_cg,
}

HEADER = (
    "| p | solver | says converged | iterations | largest gradient | duality gap "
    "| update residual / range | true error / range | seconds |\n|" + "---|" * 9
)


def main(maze: str, refinement: int) -> None:
    graph = wf.grid_graph(wf.load_layout(maze), refinement)
    labels = wf.sample_labels(graph, graph.num_vertices // 30, fraction=0.02, seed=54)
    print(f"{maze}, r = {refinement}: {graph}, {labels}\n\n{HEADER}")
    for p in (4.0, 8.0, 16.0):
        exact = wf.extend(graph, labels, wf.PLaplacian(p))
        for name, solver in SOLVERS.items():
            start = time.perf_counter()
            found = solver(Energy(graph, labels, p))
            seconds = time.perf_counter() - start
            error = np.abs(found.values - exact.values).max() / labels.span
            print(
                f"| {p:g} | {name} | {'yes' if found.converged else 'no'} | {found.iterations:,} "
                f"| {found.gradient:.0e} | {found.gap:.0e} | {found.update / labels.span:.0e} "
                f"| {error:.0e} | {seconds:.1f} |",
                flush=True,
            )
        print(
            f"| {p:g} | **`PLaplacian`** | yes | {exact.iterations} | | {exact.details['gap']:.0e} "
            f"| {exact.residual / labels.span:.0e} | at most {exact.details['width']:.0e} "
            f"| {exact.seconds:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    name, resolution = sys.argv[1:3] or ("antmaze-large", "8")
    main(name, int(resolution))
