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
        States that count as the goal.
    away : float
        Distance from the goal to the nearest state, in steps.
    visited : bool
        Whether plans lead to the goal itself. If from hardly any state, others around count too.
    leads : (n,) bool array
        States from which the plan leads to the goal.
    reach : (n,) float array
        Predicted probability of arrival from every state.
    low, high : (n,) float arrays
        The same as judged by episodes that did not choose the plan, and by those that did.
    risky : (n,) bool array
        States where an action other than the plan's would spoil it.
    """

    goal: FloatArray
    goal_states: NDArray[np.int64]
    away: float
    visited: bool
    leads: BoolArray
    reach: FloatArray
    low: FloatArray
    high: FloatArray
    risky: BoolArray

    @property
    def coverage(self) -> float:
        """Share of the states from which the plan leads to the goal."""
        return float(self.leads.mean())

    @property
    def arrival(self) -> float:
        """Predicted probability of arrival, averaged over the states."""
        return float(self.reach.mean())

    def __repr__(self) -> str:
        covered = f"leads there from {percent(self.coverage)} of {self.leads.size:,} states"
        return f"PlannerReport(arrival {percent(self.arrival)}, {covered})"

    def __str__(self) -> str:
        n, likely = self.reach.size, int((self.reach >= _LIKELY).sum())
        share = percent(self.goal_states.size / n)
        where = f"the nearest {self.away:.3g} steps away."
        if not self.visited:
            where += " Hardly any plan leads to the goal itself, so states around it count too."
        return "\n".join(
            [
                f"The goal is {number_of(self.goal_states.size, 'states')} ({share}), {where}",
                f"The plan leads there from {percent(self.coverage)} of {number_of(n, 'states')}.",
                f"Predicted arrival: {percent(self.arrival)} on average; 95 % or more from "
                f"{likely:,} states.",
                f"Held-out episodes say {percent(float(self.low.mean()))}, those that chose the "
                f"plan {percent(float(self.high.mean()))}.",
                f"Another action would spoil the plan at {percent(float(self.risky.mean()))} of "
                "the states.",
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
        Distance of the observation from the nearest state, in steps.
    at_goal, risky : bool
        Whether it counts as the goal; whether another action would spoil the plan.
    action : number, array or None
        The plan's action.
    scores : (a,) float array
        Discounted probability of arrival for each action taken first.
    path : (k, d) float array
        States that the plan passes in a typical case.
    arrives : bool
        Whether this path ends at the goal.
    reach, low, high : float
        Predicted probability of arrival, and its interval at level 0.9.
    """

    observation: FloatArray
    subgoal: FloatArray
    away: float
    at_goal: bool
    risky: bool
    action: Any
    scores: FloatArray
    path: FloatArray
    arrives: bool
    reach: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"PlanDiagnosis(reach {self.reach:.2f}, {len(self.path)} states ahead)"

    def __str__(self) -> str:
        where = "at the goal" if self.at_goal else f"{self.away:.2g} steps from the nearest state"
        aim = np.array2string(self.subgoal, precision=3)
        ahead = "arrives" if self.arrives else "does not arrive"
        lines = [
            f"The observation is {where}; the sub-goal is {aim}.",
            f"Predicted arrival: {self.reach:.2f}, between {self.low:.2f} and {self.high:.2f}.",
            f"A typical path passes {number_of(len(self.path), 'states')} and {ahead}.",
        ]
        if self.action is not None:
            lines.append(f"The plan's action is {self.action}.")
        if self.risky:
            lines.append("Another action would spoil the plan here.")
        if self.away > 3.0:
            lines.append("No observation of the buffer is near: nothing is known here.")
        return "\n".join(lines)
