"""What the experiments on wrong graphs share: their worlds, cells and arms."""

from .arms import LOOKS, MENDS, NO_LABELS, OURS, REFERENCE, WALKS, Case, Walked, row, rows_of
from .cells import SEEDS, SMALL, SOME, WrongCell, read_grid, wrong_grid
from .world import WrongWorld
from .worlds import WRONG_WORLDS, make_wrong_world

__all__ = [
    "LOOKS",
    "MENDS",
    "NO_LABELS",
    "OURS",
    "REFERENCE",
    "SEEDS",
    "SMALL",
    "SOME",
    "WALKS",
    "WRONG_WORLDS",
    "Case",
    "Walked",
    "WrongCell",
    "WrongWorld",
    "make_wrong_world",
    "read_grid",
    "row",
    "rows_of",
    "wrong_grid",
]
