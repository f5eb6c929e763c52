"""Small experiments for the tests; a module of its own, so that worker processes can import it.

Workers inherit the environment: a file that it names is where experiments leave marks.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from wayfield_study.engine import Experiment, Row, Store, Task, run


@dataclass(frozen=True)
class ToyCell:
    """A cell with a maze cell's settings: processes load it without any experiment."""

    seed: int
    maze: str = "umaze"
    refinement: int = 2
    label_fraction: float = 0.1
    goals: int = 2

    @property
    def columns(self) -> Row:
        return asdict(self)

    def draw(self) -> None:
        """Nothing to draw."""


Work: TypeAlias = Callable[[Any], list[Row]]
BAD_SEED = 66
MARKER = "WAYFIELD_TEST_MARKER"
PYTHONPATH = os.pathsep.join(filter(None, sys.path))
"""Where processes of their own find this module, and the same wayfield as the tests."""


def figures(cell: ToyCell) -> list[Row]:
    """Quick figures that depend on the cell alone."""
    shares = {"harmonic": cell.seed, "exact": 512}
    return [{"arm": arm, "reached": n, "pairs": 512, "ratio": n / 3} for arm, n in shares.items()]


def other_figures(cell: ToyCell) -> list[Row]:
    return [{"figure": cell.seed + 0.1}]


def slow_figures(cell: ToyCell) -> list[Row]:
    """The same after a while, with a mark for every time the cell was begun."""
    with Path(os.environ[MARKER]).open("a") as file:
        file.write(f"{cell.seed}\n")
    time.sleep(0.1)
    return figures(cell)


def fail_on_bad_seed(cell: ToyCell) -> list[Row]:
    if cell.seed == BAD_SEED:
        raise RuntimeError(f"seed {BAD_SEED}\nis bad")
    return figures(cell)


def die_on_bad_seed(cell: ToyCell) -> list[Row]:
    if cell.seed == BAD_SEED:
        os.kill(os.getpid(), signal.SIGKILL)
    return figures(cell)


def die_once(cell: ToyCell) -> list[Row]:
    """Die the first time; a mark says that it happened."""
    marker = Path(os.environ[MARKER])
    if cell.seed == BAD_SEED and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return figures(cell)


def be_interrupted(cell: ToyCell) -> list[Row]:
    if cell.seed == BAD_SEED:
        raise KeyboardInterrupt
    return figures(cell)


def count_threads(cell: ToyCell) -> list[Row]:
    return [{"threads": int(os.environ.get("OMP_NUM_THREADS", "-1"))}]


def return_odd_rows(cell: ToyCell) -> list[Row]:
    return [{"figure": 1}, {"figure": 1.5}]


def fail_oddly(cell: ToyCell) -> list[Row]:
    raise ValueError("\udcff")


@dataclass(frozen=True)
class Dice:
    """A cell that is no maze."""

    sides: int

    @property
    def columns(self) -> Row:
        return {"sides": self.sides}

    def draw(self) -> range:
        return range(1, self.sides + 1)


def cast(cell: Dice) -> list[Row]:
    return [{"cast": number} for number in cell.draw()]


CAST = Experiment("cast", "Casts of a die", 1, cast)


@cache
def toy(work: Work = figures, version: int = 1) -> Experiment[Any]:
    """An experiment, called "toy"; large mazes take it longer."""
    return Experiment("toy", "a toy", version, work, effort=lambda cell: cell.refinement**2)


def some_tasks(*seeds: int, work: Work = figures, version: int = 1) -> list[Task]:
    """The toy on a small cell for every seed."""
    return [Task(toy(work, version), ToyCell(seed)) for seed in seeds]


def files(store: Store) -> dict[str, bytes]:
    """Every result there is, by the name of its file."""
    found = store.directory.rglob("*.parquet")
    return {path.relative_to(store.directory).as_posix(): path.read_bytes() for path in found}


def run_slowly(directory: str, seeds: Iterable[int]) -> None:
    """What the tests start in a process of its own, to kill it."""
    try:
        run(some_tasks(*seeds, work=slow_figures), Store(Path(directory)), workers=2)
    except KeyboardInterrupt:
        raise SystemExit(130) from None
