"""Small experiments for the tests; a module of its own, so that worker processes can import it.

Workers inherit the environment: a file that it names is where experiments leave marks.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from wayfield.study import Cell, Experiment, Row, Store, Task, grid, run

BAD_SEED = 66
MARKER = "WAYFIELD_TEST_MARKER"


def figures(cell: Cell) -> list[Row]:
    """Quick figures that depend on the cell alone."""
    shares = {"harmonic": cell.seed, "exact": 512}
    return [{"arm": arm, "reached": n, "pairs": 512, "ratio": n / 3} for arm, n in shares.items()]


def other_figures(cell: Cell) -> list[Row]:
    return [{"figure": cell.seed + 0.1}]


def slow_figures(cell: Cell) -> list[Row]:
    """The same after a while, with a mark for every time the cell was begun."""
    with Path(os.environ[MARKER]).open("a") as file:
        file.write(f"{cell.seed}\n")
    time.sleep(0.1)
    return figures(cell)


def fail_on_bad_seed(cell: Cell) -> list[Row]:
    if cell.seed == BAD_SEED:
        raise RuntimeError(f"seed {BAD_SEED} is bad")
    return figures(cell)


def die_on_bad_seed(cell: Cell) -> list[Row]:
    if cell.seed == BAD_SEED:
        os.kill(os.getpid(), signal.SIGKILL)
    return figures(cell)


def die_once(cell: Cell) -> list[Row]:
    """Die the first time; a mark says that it happened."""
    marker = Path(os.environ[MARKER])
    if cell.seed == BAD_SEED and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return figures(cell)


def be_interrupted(cell: Cell) -> list[Row]:
    if cell.seed == BAD_SEED:
        raise KeyboardInterrupt
    return figures(cell)


def count_threads(cell: Cell) -> list[Row]:
    return [{"threads": int(os.environ.get("OMP_NUM_THREADS", "-1"))}]


def return_odd_rows(cell: Cell) -> list[Row]:
    return [{"figure": 1}, {"figure": 1.5}]


def toys(work: Callable[[Cell], list[Row]] = figures, version: int = 1) -> dict[str, Experiment]:
    """One experiment, called "toy"."""
    return {"toy": Experiment("toy", "a toy", version, work)}


def some_tasks(*seeds: int) -> list[Task]:
    return [Task("toy", cell) for cell in grid(["umaze"], [2], [0.1], seeds, goals=2)]


def files(store: Store) -> dict[str, bytes]:
    """Every result there is, by the name of its file."""
    found = store.directory.rglob("*.parquet")
    return {path.relative_to(store.directory).as_posix(): path.read_bytes() for path in found}


def run_slowly(directory: str, seeds: Iterable[int]) -> None:
    """What the tests start in a process of its own, to kill it."""
    try:
        run(some_tasks(*seeds), Store(Path(directory)), experiments=toys(slow_figures))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
