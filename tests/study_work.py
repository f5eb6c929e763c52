"""What the tests have worker processes do; a module of its own, so that they can import it."""

from __future__ import annotations

import os
import time

from wayfield.study import Cell, Record

BAD_SEED = 66


def figures(cell: Cell) -> Record:
    """Quick figures that depend on the cell alone."""
    names = ("harmonic", "sweeps", "amle", "amle_exit")
    return {"pairs": 512.0} | {f"{name}.reached": float(cell.seed) for name in names}


def fail_on_bad_seed(cell: Cell) -> Record:
    if cell.seed == BAD_SEED:
        raise RuntimeError(f"seed {BAD_SEED} is bad")
    return figures(cell)


def die_on_bad_seed(cell: Cell) -> Record:
    if cell.seed == BAD_SEED:
        os._exit(3)
    time.sleep(0.05)
    return figures(cell)


def die_once(cell: Cell) -> Record:
    """Die the first time; the marker that says so is named by the environment."""
    marker = os.environ["WAYFIELD_TEST_MARKER"]
    if cell.seed == BAD_SEED and not os.path.exists(marker):  # noqa: PTH110
        with open(marker, "w"):  # noqa: PTH123
            pass
        os._exit(3)
    return figures(cell)


def be_interrupted(cell: Cell) -> Record:
    if cell.seed == BAD_SEED:
        raise KeyboardInterrupt
    return figures(cell)
