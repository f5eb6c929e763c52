"""Which states can reach a goal at all, by strong components."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ..kernels._types import BoolArray


@dataclass(frozen=True, eq=False, repr=False)
class ReachReport:
    """Which states can reach a goal at all. Printed, it says what cannot, first.

    Attributes
    ----------
    goal : int
        The goal.
    reaches : (n,) bool array
        Whether some walk leads from here to the goal.
    component : (n,) int32 array
        Strong component of every state: the same where each can reach the other.
    graph : Graph
        What was looked at.

    Examples
    --------
    >>> import wayfield as wf
    >>> report = wf.replay_graph([[0.0], [1.0]], [[1.0], [2.0]]).report(goal=1)
    >>> report
    ReachReport(2 of 3 states can reach the goal 1)
    >>> report.reaches, report.traps
    (array([ True,  True, False]), (array([2]),))
    """

    goal: int
    reaches: BoolArray
    component: NDArray[np.int32]
    graph: Graph

    @cached_property
    def traps(self) -> tuple[NDArray[np.int64], ...]:
        """Strong components that no arc leaves and that do not hold the goal, largest first.

        Every state that cannot reach the goal leads into one of them.
        """
        tails, heads = self.component[self.graph.tails], self.component[self.graph.indices]
        closed = np.ones(int(self.component.max(initial=-1)) + 1, dtype=bool)
        closed[tails[tails != heads]] = False
        closed[self.component[self.goal]] = False
        members = np.flatnonzero(closed[self.component])
        names, sizes = np.unique(self.component[members], return_counts=True)
        order = np.argsort(self.component[members], kind="stable")
        groups = np.split(members[order], np.cumsum(sizes)[:-1]) if names.size else []
        return tuple(sorted(groups, key=lambda group: -group.size))

    def __repr__(self) -> str:
        able, n = int(self.reaches.sum()), self.reaches.size
        return f"ReachReport({able:,} of {n:,} states can reach the goal {self.goal})"

    def __str__(self) -> str:
        n, lost = self.reaches.size, int((~self.reaches).sum())
        home = int((self.component == self.component[self.goal]).sum())
        parts = int(self.component.max(initial=-1)) + 1
        lines = [f"All {n:,} states can reach the goal {self.goal}."]
        if lost:
            largest = self.traps[0]
            lines = [
                f"{lost:,} of {n:,} states cannot reach the goal {self.goal}: "
                "no plan can help them.",
                f"They end in {_count(len(self.traps), 'trap')}; the largest has "
                f"{_count(largest.size, 'state')} (vertex {largest[0]}).",
            ]
        lines.append(
            f"{_count(parts, 'strong component')}; the goal's has {_count(home, 'state')}, "
            f"and {n - lost - home:,} lead into it one way."
        )
        return "\n".join(lines)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
