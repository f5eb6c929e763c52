"""Mazes with terrain, arrows and teleports for the tests to draw."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

from wayfield import Layout


def grids(max_side: int = 9) -> st.SearchStrategy[NDArray[np.bool_]]:
    """Rectangles with at least one free cell."""
    shapes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=max_side)
    return hnp.arrays(np.bool_, shapes).filter(np.any)


@st.composite
def layouts(draw: st.DrawFn, max_side: int = 9, max_teleports: int = 4) -> Layout:
    """Mazes in which about every third cell has an arrow, and most others a cost."""
    free = draw(grids(max_side))
    kinds = draw(hnp.arrays(np.int64, free.shape, elements=st.integers(0, 13)))
    arrows = np.where(free, np.array([""] * 10 + list("^v<>"))[kinds], "")
    costs = np.where(arrows == "", np.clip(kinds, 1, 9), 1)
    cells = [(int(row), int(column)) for row, column in np.argwhere(free)]
    ends = st.lists(st.sampled_from(cells), min_size=2, max_size=2, unique=True).map(tuple)
    teleports = draw(st.lists(ends, max_size=max_teleports)) if len(cells) > 1 else []
    return Layout("any", free, costs, arrows, teleports)
