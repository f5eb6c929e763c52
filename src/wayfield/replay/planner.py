"""A planner for goal-conditioned agents: from a buffer to sub-goals, and how likely they arrive.

A `Planner` holds landmarks of a buffer, what was seen between them and what may be guessed
(`replay._course` has the mathematics). A goal is a set of landmarks: those within a radius. Its
plan is made when it is first asked for and then kept.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import as_real, as_real_array, as_whole
from .._text import number_of
from ..errors import InputError
from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray
from ..kernels.merging import Rows
from ._barriers import Barriers, refuted
from ._buffer import as_rows
from ._course import Course, course_to, terrain_of
from ._guesses import Guesses, adjacency, find_guesses
from ._kept import Kept
from ._landmarks import Landmarks, landmarks_of
from ._metric import Distance, Embedding, Euclidean, Given, Metric, embedded
from ._planner_file import read_planner, write_planner
from ._replay import Replay
from ._report import PlannerReport, planner_report

GUESSES = 10
"""Nearest states that each state is joined to by a guess."""
_NEAR = 2.0
"""States are near a goal within so many median spans of a step between states."""
_FAR, _FAR_EXACT = 5.0, 0.5
"""No state is near that is farther away than so many median spans of a step between states; the
latter if all observations are states."""
_AHEAD = 2.0
"""Sub-goals are so many median arcs ahead."""
_UNSEEN = 0.5
"""Odds that an observation just far from all states can get to the nearest one."""


class Planner:
    """Sub-goals for an agent, from a replay buffer.

    Parameters
    ----------
    dataset : Replay, mapping, path, sequence or array
        What was seen: a `Replay`, or anything that `Replay.from_dataset` takes, such as a
        dictionary with "observations" and "terminals", an ``.npz`` file of it, or a list of
        episodes.
    landmarks : int or (k, d) array, optional
        How many states to plan with, or which. By default 10 times the cube root of the number of
        observations, a thousand for a million; if observations recur, as in a grid world, each of
        them is a state. Not for a `Replay`, which has its states.
    guesses : int or Graph
        Arcs that nobody has seen, for where observed ones do not lead on: to so many nearest
        states, or a graph on the landmarks, its lengths in steps. 0 for none.
    distance : callable, optional
        ``distance(a, b)`` of shape ``(len(a), len(b))``, for arrays of observations: how far it is
        from each to each, in steps; a learned temporal distance, say. Euclid's if not given.
    embed : callable, optional
        ``embed(a)`` of shape ``(len(a), e)``: features in which Euclidean distances count.
    radius : float, optional
        States that near to a goal count as the goal, those that observed steps join to the nearest
        of them. By default twice the median span of a step between states, and 0 if all
        observations are states. If no state is that near, the nearest is the goal.
    ahead : float, optional
        How far along the plan a sub-goal is, in steps. By default two median arcs, and a single
        one if all observations are states.
    give_up : float, optional
        What never arriving costs, in steps: the larger, the rarer the risks that are taken. By
        default ten times the longest way to the goal, or more where moves fail so often that
        walks take longer than that.
    jump : float, optional
        Longest step that is no jump, in the space of observations or features. By default five
        times the length that nine tenths of the steps that move do not exceed.
    plans : int
        How many goals' plans are kept.
    seed : int
        Landmarks are chosen among 60,000 observations drawn with it.

    Examples
    --------
    A corridor of 40 steps, walked up and down:

    >>> import numpy as np
    >>> import wayfield as wf
    >>> there = np.linspace(0.0, 40.0, 81)[:, np.newaxis]
    >>> planner = wf.Planner([there, there[::-1]] * 5)
    >>> planner
    Planner(... states of 1 coordinate, ... observed arcs and ... guesses)
    >>> planner.subgoal([10.0], goal=[30.0]) > 10.0
    array([ True])
    >>> planner.subgoal([29.5], goal=[30.0])
    array([30.])
    >>> float(planner.reach([10.0], goal=[30.0]))
    1.0
    >>> planner.subgoal([[10.0], [35.0]], goal=[30.0]).shape
    (2, 1)
    """

    def __init__(
        self,
        dataset: Any,
        landmarks: int | ArrayLike | None = None,
        *,
        guesses: int | Graph = GUESSES,
        distance: Distance | None = None,
        embed: Embedding | None = None,
        radius: float | None = None,
        ahead: float | None = None,
        give_up: float | None = None,
        jump: float | None = None,
        plans: int = 256,
        seed: int = 0,
    ) -> None:
        if distance is not None and embed is not None:
            raise InputError("give distance or embed, not both")
        found = landmarks_of(dataset, landmarks, distance, embed, _optional(jump, "jump"), seed)
        metric = _metric(found, distance, embed)
        arcs = _guessed(found.replay, guesses, metric)
        if found.barriers is not None:
            arcs = refuted(arcs, found.barriers, found.replay.states)
        settings = (_optional(radius, "radius"), _optional(ahead, "ahead"))
        self._hold(found, metric, arcs, *settings, _optional(give_up, "give_up"), plans)

    def _hold(
        self,
        found: Landmarks,
        metric: Metric,
        guesses: Guesses,
        radius: float | None,
        ahead: float | None,
        give_up: float | None,
        plans: int,
    ) -> None:
        replay = found.replay
        exact_actions = replay.exact and replay.actions is not None
        by_action = exact_actions and replay.actions.kinds.ndim == 1  # type: ignore[union-attr]
        self._found, self._metric = found, metric
        self._terrain = terrain_of(replay, guesses, found.states, by_action)
        steps = replay.counts > replay.leaps
        self._span = _median_span(replay, steps, metric)
        self._radius = (0.0 if replay.exact else _NEAR * self._span) if radius is None else radius
        far = _FAR_EXACT if replay.exact else _FAR
        self._far = max(far * max(self._span, self._radius), self._radius)
        usual = float(np.median(replay.graph.lengths[steps])) if steps.any() else 1.0
        self._ahead = (0.0 if replay.exact else _AHEAD * usual) if ahead is None else ahead
        self._give_up, self._plans = give_up, as_whole(plans, "plans", least=1)
        self._courses: Kept[Course] = Kept(self._planned, self._plans)
        self._goals: Kept[Course] = Kept(self._course_to_bytes, 4 * self._plans)

    # ---------------------------------------------------------------- what there is

    @property
    def replay(self) -> Replay:
        """The buffer that is planned with; with `embed`, its states are features."""
        return self._found.replay

    @property
    def states(self) -> Rows:
        """(n, d) observations that sub-goals are taken from."""
        return self._found.states

    @property
    def radius(self) -> float:
        """States that near to a goal count as the goal."""
        return self._radius

    @property
    def ahead(self) -> float:
        """How far along the plan sub-goals are, in steps."""
        return self._ahead

    # ---------------------------------------------------------------- questions

    def subgoal(self, observation: ArrayLike, goal: ArrayLike) -> FloatArray:
        """Return where to head for now: a state on the way, or the goal itself when it is near.

        Parameters
        ----------
        observation : (d,) or (k, d) array
            Where the agent is, or many agents are.
        goal : (d,) or (k, d) array
            Where to, one for all or one each.

        Returns
        -------
        (d,) or (k, d) float array
            Observations to head for.
        """
        rows, goals, single = self._asked(observation, goal)
        at, _ = self._metric.nearest(rows)
        aims = np.empty(rows.shape)
        for course, one, which in self._by_goal(goals, len(rows)):
            here = at[which]
            aims[which] = np.where(course.direct[here, None], one, course.aims[here])
        return aims[0] if single else aims

    def action(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the action that the plan takes, as the buffer has it.

        For buffers whose observations recur and whose actions are whole numbers. Where moves often
        fail a sub-goal does not say what to do: on ice the best action may be one that mostly
        leads elsewhere. Shapes are those of `subgoal`: a number for one observation.

        Examples
        --------
        >>> import wayfield as wf
        >>> walk = {"observations": [[0], [1], [2], [1], [0]], "actions": [7, 7, 5, 5]}
        >>> planner = wf.Planner([walk] * 10)
        >>> planner.action([0], goal=[2])
        np.int64(7)
        >>> planner.action([2], goal=[2])
        Traceback (most recent call last):
        wayfield.errors.InputError: there is no action at the observation [2.]: it is at the goal
        """
        if not self._terrain.by_action:
            raise InputError(
                "the plan is made of sub-goals: actions need a buffer whose observations recur, "
                "and whose actions are whole numbers"
            )
        rows, goals, single = self._asked(observation, goal)
        at, _ = self._metric.nearest(rows)
        taken = np.empty(len(rows), np.int64)
        for course, _, which in self._by_goal(goals, len(rows)):
            taken[which] = course.field.plan[at[which]]
            if (taken[which] < 0).any():
                first = np.arange(len(rows))[which][np.argmax(taken[which] < 0)]
                arrived = np.isin(at[first], course.goal)
                why = "it is at the goal" if arrived else "nothing observed leads to the goal"
                place = np.array2string(rows[first], precision=4)
                raise InputError(f"there is no action at the observation {place}: {why}")
        assert self.replay.actions is not None
        actions = self.replay.actions.kinds[taken]
        return actions[0] if single else actions

    def value(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the expected cost of getting to the goal, in steps.

        Never arriving counts as much as giving up does, times its odds. +inf where nothing leads to
        the goal. Shapes are those of `subgoal`: a number for one observation.
        """
        rows, goals, single = self._asked(observation, goal)
        at, _ = self._metric.nearest(rows)
        values = np.empty(len(rows))
        for course, _, which in self._by_goal(goals, len(rows)):
            values[which] = course.values[at[which]]
        return values[0] if single else values

    def reach(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the probability of arriving, by what was seen, under the plan.

        Guesses count with the odds that they work. That an observation far from all that was seen
        gets to the nearest state is a guess, too, the bolder the farther it is; so are the last
        steps to a goal that nobody was near. Shapes are those of `subgoal`.
        """
        rows, goals, single = self._asked(observation, goal)
        at, away = self._metric.nearest(rows)
        reach = np.empty(len(rows))
        for course, one, which in self._by_goal(goals, len(rows)):
            reach[which] = course.reach[at[which]] * self._last_steps(one)
        astray = away > self._far
        reach[astray] *= _UNSEEN ** (away[astray] / self._far)
        return reach[0] if single else reach

    def _last_steps(self, goal: FloatArray) -> float:
        """Odds of getting from the states that count as a goal to the goal itself."""
        if self.replay.exact:  # a goal is a state, but for rounding
            return 1.0
        away = float(self._metric.from_states(goal[np.newaxis]).min())
        beyond = max(away - self._radius, 0.0) / max(self._far - self._radius, 1e-300)
        return float(_UNSEEN**beyond)

    def report(self, goal: ArrayLike) -> PlannerReport:
        """Say what the plan for a goal rests on: coverage, guesses, dead ends, predicted arrival.

        Examples
        --------
        >>> import numpy as np
        >>> import wayfield as wf
        >>> there = np.linspace(0.0, 40.0, 81)[:, np.newaxis]
        >>> planner = wf.Planner([there, there[::-1]] * 5, landmarks=40)
        >>> print(planner.report([30.0]))
        The goal is 3 states, the nearest 0 away.
        Arrival is predicted in 100 % of walks from where the behaviour was, and 95 % or more from
        40 of 40 states.
        Observed moves lead to the goal from 100 % of the states; 0 are dead ends.
        """
        point = self._point(goal, "goal")
        course = self._goals[point.tobytes()]
        away = float(self._metric.from_states(point).min())
        last = self._last_steps(point[0])
        return planner_report(self._terrain, course, point[0], away, last, self._found.barriers)

    # ---------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the planner to an ``.npz`` file, whole or not at all; plans are made again.

        Functions are not saved: a planner with a distance or an embedding of yours has to be given
        it again when it is loaded.
        """
        settings = {
            "radius": self._radius,
            "ahead": self._ahead,
            "give_up": np.nan if self._give_up is None else self._give_up,
            "plans": self._plans,
        }
        return write_planner(
            path, self._found, self._terrain.guesses, settings, self._metric.function
        )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        distance: Distance | None = None,
        embed: Embedding | None = None,
    ) -> Planner:
        """Read a planner that was saved; anything else is an `InputError`.

        Parameters
        ----------
        path : path
            The file.
        distance, embed : callable, optional
            What the planner was made with, since functions are not saved.
        """
        found, guesses, settings, needs = read_planner(path)
        given = "distance" if distance is not None else "embed" if embed is not None else ""
        if needs != given:
            told = f"pass {needs}=, which is not saved" if needs else f"it was made without {given}"
            raise InputError(f"{path}: {told}")
        if embed is not None:
            _check_embedding(path, found, embed)
        made = cls.__new__(cls)
        give_up = None if np.isnan(settings["give_up"]) else settings["give_up"]
        limits = settings["radius"], settings["ahead"], give_up, int(settings["plans"])
        made._hold(found, _metric(found, distance, embed), guesses, *limits)
        return made

    def __repr__(self) -> str:
        n, d = self.states.shape
        observed = number_of(self.replay.graph.num_arcs, "observed arcs")
        guesses = number_of(self._terrain.guesses.tail.size, "guesses", "guess")
        states = f"{number_of(n, 'states')} of {number_of(d, 'coordinates')}"
        return f"Planner({states}, {observed} and {guesses})"

    # ---------------------------------------------------------------- inside

    def _asked(self, observation: ArrayLike, goal: ArrayLike) -> tuple[Rows, Rows, bool]:
        """Return observations and goals as rows, and whether a single one was asked about."""
        rows, goals = self._rows(observation, "observation"), self._rows(goal, "goal")
        count = 1 if rows.ndim == 1 else len(rows)
        if goals.ndim == 2 and len(goals) not in (1, count):
            raise InputError(f"{number_of(count, 'observations')} but {len(goals)} goals")
        return np.atleast_2d(rows), np.atleast_2d(goals), rows.ndim == 1

    def _rows(self, data: ArrayLike, name: str) -> Rows:
        array = as_real_array(data, name)
        if array.ndim not in (1, 2):
            raise InputError(f"{name} must be one observation or rows of them, not {array.shape}")
        rows = as_rows(np.atleast_2d(array), name).astype(np.float64, copy=False)
        if rows.shape[1] != self.states.shape[1]:
            raise InputError(
                f"{name} has {number_of(rows.shape[1], 'coordinates')}, "
                f"the buffer's observations have {self.states.shape[1]}"
            )
        return rows[0] if array.ndim == 1 else rows

    def _point(self, data: ArrayLike, name: str) -> Rows:
        rows = np.atleast_2d(self._rows(data, name))
        if len(rows) != 1:
            raise InputError(f"{name} must be one observation, not {len(rows)}")
        return rows

    def _by_goal(
        self, goals: Rows, count: int
    ) -> list[tuple[Course, Rows, NDArray[np.int64] | slice]]:
        """Courses for the goals, each with the rows that ask for it."""
        if len(goals) == 1:
            return [(self._goals[goals.tobytes()], goals[0], slice(None))]
        distinct, which = np.unique(goals, axis=0, return_inverse=True)
        which = which.ravel()
        return [
            (self._goals[one.tobytes()], one, np.flatnonzero(which == i))
            for i, one in enumerate(distinct)
        ]

    def _course_to_bytes(self, goal: bytes) -> Course:
        point = np.frombuffer(goal).reshape(1, -1)
        return self._courses[tuple(self._goal_states(point).tolist())]

    def _goal_states(self, goal: Rows) -> NDArray[np.int64]:
        """States that count as a goal: those near it that are joined to the nearest of them."""
        away = self._metric.from_states(goal)
        nearest = int(np.argmin(away))
        if away[nearest] > self._far:
            raise InputError(
                f"no state is near the goal {np.array2string(goal[0], precision=4)}: the nearest "
                f"is {away[nearest]:.4g} away, and steps between states span {self._span:.4g}"
            )
        if self._found.barriers is not None:  # the nearest state may be on the other side of one
            nearest = int(self._metric.nearest(goal)[0][0])
            away[nearest] = 0.0
        near = np.flatnonzero(away <= self._radius)
        if near.size == 0:
            return np.array([nearest])
        return _joined(self.replay, self._found.barriers, near, away)

    def _planned(self, goal: tuple[int, ...]) -> Course:
        states = np.array(goal, dtype=np.int64)
        return course_to(self._terrain, self.states, states, self._ahead, self._give_up)


def _joined(
    replay: Replay, barriers: Barriers | None, near: NDArray[np.int64], away: FloatArray
) -> NDArray[np.int64]:
    """States out of `near` that observed steps among them join to the nearest one.

    A wall may part them, or a door that opens one way: whoever stands behind it has not arrived.
    """
    next_to = adjacency(replay)[near][:, near].tocoo()
    if barriers is not None:
        places = replay.states[near].astype(np.float64)
        next_to.data[barriers.parted(places[next_to.row], places[next_to.col])] = 0.0
    entered = np.asarray(next_to.sum(axis=1)) > 1.0  # by others than itself
    order = np.argsort(away[near], kind="stable")
    first = order[np.argmax(entered[order])] if entered.any() else order[0]
    group: BoolArray = np.zeros(near.size, dtype=bool)
    group[first] = True
    while True:
        larger = np.asarray(next_to @ group) > 0
        if (larger == group).all():
            return near[group]
        group = larger


def _metric(found: Landmarks, distance: Distance | None, embed: Embedding | None) -> Metric:
    if distance is not None:
        return Given(found.states, distance)
    features = found.replay.states if embed is not None else found.states
    return Euclidean(features, embed, found.barriers)


def _check_embedding(path: str | os.PathLike[str], found: Landmarks, embed: Embedding) -> None:
    """Refuse an embedding that does not make of the states what it did; rounding may differ."""
    saved, made = found.replay.states, embedded(embed, found.states)
    scale = float(np.abs(saved).max())
    if made.shape != saved.shape or not np.allclose(made, saved, 1e-3, 1e-3 * scale):
        raise InputError(f"{path}: embed is not what the planner was made with")


def _guessed(replay: Replay, guesses: int | Graph, metric: Metric) -> Guesses:
    """Arcs that nobody has seen, none if none are wanted or there is nothing to go by."""
    nothing = np.empty(0, np.int64)
    none = Guesses(nothing, nothing, np.empty(0), np.empty(0))
    if isinstance(guesses, Graph):
        return find_guesses(replay, guesses, pooled=True)
    k = as_whole(guesses, "guesses", least=0)
    if k == 0 or replay.exact or not (replay.counts > replay.leaps).any():
        return none
    if isinstance(metric, Given):
        return find_guesses(replay, metric.graph(k), pooled=True)
    return find_guesses(replay, k, pooled=True) if replay.speed > 0.0 else none


def _median_span(replay: Replay, steps: BoolArray, metric: Metric) -> float:
    """Median distance between states that an observed step joins; 0 if there is none."""
    tails, heads = replay.graph.tails[steps], replay.graph.indices[steps]
    if not tails.size:
        return 0.0
    if isinstance(metric, Given):
        return metric.median_span(tails, heads)
    features = replay.states.astype(np.float64)
    return float(np.median(np.linalg.norm(features[tails] - features[heads], axis=1)))


def _optional(value: float | None, name: str) -> float | None:
    return None if value is None else as_real(value, name, least=0.0)
