"""What a plan for one goal rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._arrays import KeepsReadOnly, frozen
from .._text import number_of, percent
from ..kernels._types import BoolArray, FloatArray
from ..kernels.shortest import breadth_first
from ._barriers import Barriers
from ._course import Course, Terrain
from ._guesses import Suspects

_LIKELY = 0.95
"""Arrival this likely is said to be likely."""


@dataclass(frozen=True, eq=False, repr=False)
class PlannerReport(KeepsReadOnly):
    """What a plan for one goal rests on. Printed, it is a few lines.

    Attributes
    ----------
    goal : (d,) float array
        What was asked for.
    goal_states : (g,) int64 array
        States that count as the goal.
    away : float
        Distance of the goal from the nearest state.
    last : float
        Odds of getting from the states that count as the goal to the goal itself: 1 if somebody was
        near it.
    observed : (n,) bool array
        States from which something observed leads to the goal, by luck at least.
    dead_ends : (e,) int64 array
        States from which nothing observed does.
    reach : (n,) float array
        Predicted probability of arrival from every state, under the plan.
    visits : (n,) int64 array
        How often each state was visited.
    suspects : Suspects
        Guesses that the plan relies on at some state, the most doubtful first.
    barriers : (b,) int64 array
        How often somebody headed for each one-way door or thin wall that runs through landmarks'
        cells, and did not cross it; the sides of such cells are states of their own.

    Examples
    --------
    >>> import wayfield as wf
    >>> planner = wf.Planner([{"observations": [[0.0], [1.0], [2.0], [3.0]]}] * 10)
    >>> report = planner.report([2.0])
    >>> report
    PlannerReport(arrival 75 %, 1 of 4 states is a dead end, 0 guesses relied on)
    >>> report.dead_ends, report.reach
    (array([3]), array([1., 1., 1., 0.]))
    """

    goal: FloatArray
    goal_states: NDArray[np.int64]
    away: float
    last: float
    observed: BoolArray
    dead_ends: NDArray[np.int64]
    reach: FloatArray
    visits: NDArray[np.int64]
    suspects: Suspects
    barriers: NDArray[np.int64]

    @property
    def coverage(self) -> float:
        """Share of the states from which something observed leads to the goal."""
        return float(self.observed.mean())

    @property
    def arrival(self) -> float:
        """Predicted probability of arrival from where the behaviour was: its visits' mean."""
        return float(np.average(self.reach, weights=self.visits))

    def __repr__(self) -> str:
        n, dead = self.reach.size, self.dead_ends.size
        ends = f"{dead:,} of {number_of(n, 'states')} {_are(dead)}"
        guesses = number_of(len(self.suspects), "guesses", "guess")
        return f"PlannerReport(arrival {percent(self.arrival)}, {ends}, {guesses} relied on)"

    def __str__(self) -> str:
        n, likely = self.reach.size, int((self.reach >= _LIKELY).sum())
        count = number_of(self.goal_states.size, "states")
        lines = [
            f"The goal is {count}, the nearest {self.away:.3g} away.",
            f"Arrival is predicted in {percent(self.arrival)} of walks from where the behaviour "
            f"was, and 95 % or more from\n{likely:,} of {number_of(n, 'states')}.",
            f"Observed moves lead to the goal from {percent(self.coverage)} of the states; "
            f"{self.dead_ends.size:,} {_are(self.dead_ends.size)}.",
        ]
        if self.last < 1.0:
            lines.insert(1, f"Nobody came nearer, so that the last {self.away:.3g} are a guess.")
        if self.barriers.size:
            count = number_of(self.barriers.size, "barriers")
            lines.append(
                f"{count} in the way, a door that opens one way or a thin wall, each headed for at "
                f"least {self.barriers.min():,} times and never crossed."
            )
        if len(self.suspects):
            lines += [
                f"The plan relies on {number_of(len(self.suspects), 'guesses', 'guess')}, "
                "moves that nobody was seen to make:",
                str(self.suspects),
            ]
        return "\n".join(lines)


def planner_report(
    terrain: Terrain,
    course: Course,
    goal: FloatArray,
    away: float,
    last: float,
    barriers: Barriers | None,
) -> PlannerReport:
    """Look at a course; `last` are the odds of the last steps to the goal itself."""
    replay, guesses = terrain.replay, terrain.guesses
    hops, _ = breadth_first(replay.graph.reverse_arcs, course.goal)
    observed = np.isfinite(hops)
    n = observed.size
    moving = np.flatnonzero(course.planned & (course.successor != np.arange(n)))
    taken = np.isin(guesses.tail * n + guesses.head, moving * n + course.successor[moving])
    which = np.flatnonzero(taken)
    which = which[np.argsort(guesses.odds[which], kind="stable")]
    tails = guesses.tail[which]
    relied = Suspects(
        tail=frozen(tails),
        head=frozen(guesses.head[which]),
        length=frozen(guesses.length[which]),
        count=frozen(replay.departures[tails]),
        odds=frozen(guesses.odds[which]),
        num_arcs=guesses.tail.size,
    )
    return PlannerReport(
        goal=frozen(goal),
        goal_states=course.goal,
        away=away,
        observed=frozen(observed),
        dead_ends=frozen(np.flatnonzero(~observed)),
        last=last,
        reach=frozen(last * course.reach),
        visits=replay.visits,
        suspects=relied,
        barriers=frozen(np.array([] if barriers is None else barriers.down, dtype=np.int64)),
    )


def _are(count: int) -> str:
    return "is a dead end" if count == 1 else "are dead ends"
