"""Reports on a buffer and its plans, which print as a few lines or a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..checks import KeepsReadOnly
from ..graphs.graph import Graph
from ..typing import BoolArray, FloatArray
from ..words import number_of, percent

_LIKELY = 0.95
"""Arrival with at least this probability is reported as likely."""


@dataclass(frozen=True, eq=False, repr=False)
class ReachReport:
    """Which states can reach a goal. The printed form begins with those that cannot.

    Attributes
    ----------
    goal : int
        The goal.
    reaches : (n,) bool array
        Whether some path leads from here to the goal.
    component : (n,) int32 array
        Strong component of every state: the same where each can reach the other.
    graph : Graph
        The graph that was examined.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import replay
    >>> report = replay.replay_graph([[0.0], [1.0]], [[1.0], [2.0]]).report(goal=1)
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
                f"They end in {number_of(len(self.traps), 'traps')}; the largest has "
                f"{number_of(largest.size, 'states')} (vertex {largest[0]}).",
            ]
        lines.append(
            f"{number_of(parts, 'strong components')}; the goal's has {number_of(home, 'states')}, "
            f"and {n - lost - home:,} lead into it one way."
        )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False, repr=False)
class ToleranceScan:
    """How a replay graph depends on its tolerance. The printed form is a table.

    Attributes
    ----------
    tolerances : (k,) float array
        The tolerances that were tried.
    states, arcs : (k,) int64 arrays
        Vertices and arcs of the graph.
    stayed : (k,) int64 array
        Transitions that begin and end in the same state; they are not arcs.
    joined : (k,) int64 array
        States of the largest strong component: each of them can reach all others.
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


@dataclass(frozen=True, eq=False, repr=False)
class PlannerReport(KeepsReadOnly):
    """What the plan for one goal rests on. The printed form has a few lines.

    Attributes
    ----------
    goal : (d,) float array
        The goal.
    goal_states : (g,) int64 array
        Transitions with outcomes that count as the goal.
    away : float
        Distance from the goal to the nearest outcome, in steps.
    leads : (n,) bool array
        Transitions from which the plan leads to the goal.
    reach : (n,) float array
        Predicted probability of arrival from the beginning of every transition.
    """

    goal: FloatArray
    goal_states: NDArray[np.int64]
    away: float
    leads: BoolArray
    reach: FloatArray

    @property
    def coverage(self) -> float:
        """Share of the transitions from which the plan leads to the goal."""
        return float(self.leads.mean())

    @property
    def arrival(self) -> float:
        """Predicted probability of arrival, averaged over the transitions."""
        return float(self.reach.mean())

    def __repr__(self) -> str:
        covered = f"leads there from {percent(self.coverage)} of {self.leads.size:,} transitions"
        return f"PlannerReport(arrival {percent(self.arrival)}, {covered})"

    def __str__(self) -> str:
        n, likely = self.reach.size, int((self.reach >= _LIKELY).sum())
        return "\n".join(
            [
                f"The goal is {number_of(self.goal_states.size, 'outcomes')}, the nearest "
                f"{self.away:.3g} steps away.",
                f"The plan leads there from {percent(self.coverage)} of "
                f"{number_of(n, 'transitions')}.",
                f"Predicted arrival: {percent(self.arrival)} on average; 95 % or more from "
                f"{likely:,} of them.",
            ]
        )


@dataclass(frozen=True, eq=False, repr=False)
class PlanDiagnosis(KeepsReadOnly):
    """Why a plan does what it does at one observation.

    Attributes
    ----------
    observation, subgoal : (d,) float arrays
        Where the agent is, and where it is sent.
    away : float
        Distance of the observation from the nearest row, in steps.
    at_goal : bool
        Whether it counts as the goal.
    action : number, array or None
        The plan's action.
    path : (k, d) float array
        Recorded outcomes that the plan passes if all goes as in the transitions it chose.
    gaps : (k - 1,) float array
        Lengths of the stitches between them, in steps.
    arrives : bool
        Whether this path ends at the goal.
    reach, low, high : float
        Predicted probability of arrival, and its interval at level 0.9.
    """

    observation: FloatArray
    away: float
    at_goal: bool
    action: Any
    subgoal: FloatArray
    path: FloatArray
    gaps: FloatArray
    arrives: bool
    reach: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"PlanDiagnosis(reach {self.reach:.2f}, {len(self.path)} transitions ahead)"

    def __str__(self) -> str:
        where = "at the goal" if self.at_goal else f"{self.away:.2g} steps from the nearest row"
        aim = np.array2string(self.subgoal, precision=3)
        ahead = "arrives" if self.arrives else "does not arrive"
        lines = [
            f"The observation is {where}; the sub-goal is {aim}.",
            f"Predicted arrival: {self.reach:.2f}, between {self.low:.2f} and {self.high:.2f}.",
            f"The chain has {number_of(len(self.path), 'transitions')} and {ahead}.",
        ]
        if self.gaps.size:
            lines.append(f"Its longest stitch is {self.gaps.max():.2g} steps long.")
        if self.action is not None:
            lines.append(f"The plan's action is {self.action}.")
        if self.away > 3.0:
            lines.append("No observation of the buffer is near: nothing is known here.")
        return "\n".join(lines)
