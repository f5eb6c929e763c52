"""What the profile *paper* costs, experiment by experiment, from a sample of its tasks.

Run with ``python -m benchmarks.study [tasks per experiment]``. Processor time, so that other work
on the machine does not count; on k cores the study takes about a k-th of it.
"""

from __future__ import annotations

import random
import sys
import time

from wayfield_study.experiments import STUDIES


def main(sample: int = 6) -> None:
    study, whole = STUDIES["paper"], 0.0
    tasks = study.tasks()
    print("| experiment | tasks | seconds per task | seconds in all |\n|---|---|---|---|")
    for experiment in study.experiments:
        cells = [task.cell for task in tasks if task.experiment is experiment]
        chosen = random.Random(0).sample(cells, min(sample, len(cells)))
        experiment.run(min(cells, key=experiment.effort))  # compiles
        start = time.process_time()
        for cell in chosen:
            experiment.run(cell)
        each = (time.process_time() - start) / len(chosen)
        whole += each * len(cells)
        print(
            f"| {experiment.name} | {len(cells)} | {each:.2f} | {each * len(cells):.0f} |",
            flush=True,
        )
    print(f"| all | {len(tasks)} | | {whole:.0f} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
