"""All audits of one maze cell, in units of its harmonic solves.

Run with ``python -m benchmarks.audit``. The promise: certificate and audits of the large maze at
r = 12 with 16 goals take less than five times the 16 harmonic solves, brackets included.
"""

from __future__ import annotations

from collections.abc import Callable

from benchmarks._timing import best_of

import wayfield as wf
from wayfield_study import audit
from wayfield_study.experiments import MazeCell

HARMONIC, AMLE = wf.Harmonic(), wf.AMLE()


def main(label_fraction: float = 0.05) -> None:
    cell = MazeCell("large", 12, label_fraction, 54).draw()
    graph = cell.graph
    goals = [int(goal) for goal in cell.goals]
    smooth = [wf.extend(graph, labels, HARMONIC) for labels in cell.labels]
    sharp = [wf.extend(graph, labels, AMLE) for labels in cell.labels]
    plans = [wf.plan(graph, field.values, goal) for field, goal in zip(sharp, goals, strict=True)]
    truths, starts, labels = cell.truths, cell.starts, cell.labels
    audits: dict[str, Callable[[int], object]] = {
        "certify": lambda k: wf.certify(graph, labels[k], sharp[k], plans[k]).start_certified,
        "intervals": lambda k: wf.certify(graph, labels[k], sharp[k], plans[k]).intervals,
        "half_gap": lambda k: audit.half_gap(graph, sharp[k], truths[k], goals[k]),
        "ordering": lambda k: _both_scopes(graph, smooth[k], truths[k], goals[k], starts[k]),
        "mechanism": lambda k: audit.mechanism(
            graph, smooth[k], sharp[k], truths[k], goals[k], starts[k]
        ),
        "geometry": lambda k: audit.geometry(graph, truths[k], goals[k]),
        "failures": lambda k: audit.failures(graph, smooth[k], labels[k], goals[k]),
    }
    alone = best_of(lambda: [wf.extend(graph, given, HARMONIC) for given in labels], 3)
    print(f"{graph.num_vertices:,} states, {len(goals)} goals; harmonic solves {alone:.3f} s")
    total = 0.0
    for name, measure in audits.items():
        seconds = best_of(lambda measure=measure: [measure(k) for k in range(len(goals))], 3)
        total += seconds
        print(f"{name:10} {seconds / alone:6.2f}")
    print(f"{'all':10} {total / alone:6.2f} times the harmonic solves")


def _both_scopes(graph, field, truth, goal, starts) -> object:
    found = audit.ordering(graph, field, truth, goal, starts=starts)
    return found.all, found.eval_rollouts


if __name__ == "__main__":
    main()
