"""What each tolerance makes of a replay buffer: how much it merges, and what that joins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import as_finite, frozen, refuse
from ..errors import InputError
from ..kernels._types import FloatArray
from ..kernels.stays import step_lengths
from ._buffer import read_rows
from ._replay import replay_graph

_SCALES = (0.0, 0.125, 0.25, 0.5, 1.0, 2.0, 4.0)
"""Tolerances to look at, in median steps."""


@dataclass(frozen=True, eq=False, repr=False)
class ToleranceScan:
    """How a replay graph depends on its tolerance. Printed, it is a table.

    Attributes
    ----------
    tolerances : (k,) float array
        What was tried.
    states, arcs : (k,) int64 arrays
        Vertices and arcs of the graph.
    stayed : (k,) int64 array
        Transitions that begin and end in the same state; they are no arcs.
    joined : (k,) int64 array
        States of the largest strong component: from each of them all others of it can be reached.
    """

    tolerances: FloatArray
    states: NDArray[np.int64]
    arcs: NDArray[np.int64]
    stayed: NDArray[np.int64]
    joined: NDArray[np.int64]

    def __repr__(self) -> str:
        low, high = self.tolerances.min(), self.tolerances.max()
        span = f"tolerances {low:.3g} to {high:.3g}, states {self.states.max():,}"
        return f"ToleranceScan({span} to {self.states.min():,})"

    def __str__(self) -> str:
        rows: list[tuple[str, ...]] = [("tolerance", "states", "arcs", "stayed", "joined")]
        for tolerance, *counts, joined in zip(
            self.tolerances, self.states, self.arcs, self.stayed, self.joined, strict=True
        ):
            share = f"{100 * joined / counts[0]:.1f} %"
            rows.append((f"{tolerance:.4g}", *(f"{count:,}" for count in counts), share))
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        return "\n".join(
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in rows
        )


def scan_tolerances(
    observations: ArrayLike,
    next_observations: ArrayLike | None = None,
    terminals: ArrayLike | None = None,
    *,
    tolerances: ArrayLike | None = None,
) -> ToleranceScan:
    """Build the graph of a replay buffer for several tolerances, and count what is in it.

    With too small a tolerance hardly any state is met twice and episodes lie side by side, each a
    component of its own; with too large a one, transitions begin and end in the same state and
    walls are merged away. In between there is a tolerance from which on most states are joined.

    Parameters
    ----------
    observations, next_observations, terminals
        As for `replay_graph`.
    tolerances : (k,) float array, optional
        What to try. By default 0 and six multiples of the median step that a transition makes,
        from an eighth to four times of it.

    Examples
    --------
    >>> import numpy as np
    >>> import wayfield as wf
    >>> there = np.linspace(0, 1, 11)
    >>> walk = np.concatenate([there, 1 - there + 0.01])[:, None]
    >>> scan = wf.replay.scan_tolerances(walk, tolerances=[0, 0.02, 0.5])
    >>> print(scan)
    tolerance  states  arcs  stayed  joined
            0      22    21       0   4.5 %
         0.02      11    20       1 100.0 %
          0.5       2     2      19 100.0 %
    >>> scan.states
    array([22, 11,  2])
    """
    chosen = _median_step(observations, next_observations, terminals) * np.array(_SCALES)
    if tolerances is not None:
        chosen = as_finite(tolerances, "tolerances")
        refuse(chosen < 0, chosen, "tolerances", "is negative")
        if not chosen.size:
            raise InputError("tolerances are empty")
    counts = []
    for tolerance in chosen.tolist():
        replay = replay_graph(observations, next_observations, terminals, tolerance=tolerance)
        graph = replay.graph
        joined = np.bincount(graph.strong_components).max()
        counts.append((graph.num_vertices, graph.num_arcs, replay.stayed, joined))
    columns = (frozen(np.array(column, dtype=np.int64)) for column in zip(*counts, strict=True))
    return ToleranceScan(frozen(chosen), *columns)


def _median_step(
    observations: ArrayLike, next_observations: ArrayLike | None, terminals: ArrayLike | None
) -> float:
    """Distance that the median transition makes, of those that go anywhere; 1 if none does."""
    buffer = read_rows(observations, next_observations, terminals)
    step = step_lengths(buffer.first, buffer.second, buffer.valid)
    return float(np.median(step[step > 0])) if step.any() else 1.0
