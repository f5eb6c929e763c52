"""No kernel that Python calls returns a named tuple: `wayfield.numerics.jit` says why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wayfield as wf
from methods import choose
from wayfield.numerics import jit


def test_kernels_return_arrays_numbers_and_plain_tuples(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that runs in plain Python here: the kernels' Python side sees what they return."""
    unboxed, seen = jit._unboxed, []

    def checked(found: Any) -> Any:
        seen.append(type(found))
        return unboxed(found)

    monkeypatch.setattr(jit, "_unboxed", checked)
    maze = wf.grid_graph(wf.load_layout("umaze"), 2)
    one_way = wf.grid_graph(wf.load_layout("teleport"), 1)
    with jit.compiling("never"):
        for graph, methods in ((maze, choose()), (one_way, choose(directed=True))):
            labels = wf.sample_labels(graph, 0, 0.3, seed=1)
            for method in methods:
                field = wf.solve(graph, labels, 0, method, check=False).field
                if field.lower is not None:
                    field.influence(1)
        wf.next_labels(maze, wf.sample_labels(maze, 0, 0.3, seed=1), 0, 2)
        moves = wf.Transitions(np.arange(8) // 2, [0, 1] * 4, [1, 2, 0, 3, 3, 0, 0, 2], [2] * 8)
        wf.expected_cost(moves, 0, give_up=9.0)
    kinds = {kind for kind in seen if issubclass(kind, tuple)}
    assert kinds <= {tuple}
    assert len(seen) > 100
