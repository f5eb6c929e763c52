"""A planner for goal-conditioned agents: sub-goals from a buffer, and the odds of arrival.

A `Planner` holds landmarks of a buffer, the counts between them, and stitched arcs
(`replay._policy` has the mathematics). A goal is the set of landmarks within a radius. Its plan is
made when first needed, and then cached.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _npz
from .._arrays import as_real, as_real_array, as_whole, frozen
from .._text import number_of
from ..errors import InputError
from ..graph import Graph
from ..kernels._types import FloatArray
from ..kernels.merging import Rows
from ..kernels.shortest import breadth_first
from ._counts import ActionCounts, Jumps
from ._dataset import as_rows
from ._landmarks import Distance, Embedding, Landmarks, Metric, UserDistance, embedded, landmarks_of
from ._policy import Policy, make_model, make_policy
from ._replay import Replay
from ._reports import PlannerReport, Suspects
from ._stitching import Stitched, adjacency, find_stitched
from ._walls import Walls

STITCH = 10
"""Nearest states that each state is stitched to."""
_NEAR = 2.0
"""States are near a goal within this many median steps between states."""
_FAR, _FAR_EXACT = 5.0, 0.5
"""Beyond this many median steps between states nothing is near; the latter if all observations are
states."""
_AHEAD = 2.0
"""Sub-goals are this many median arcs ahead."""
_UNSEEN = 0.5
"""Probability that an observation just far from all states gets to the nearest one."""

_KIND = "wayfield planner 1"
_PLAIN = ("tail", "head", "ends", "counts", "dwell", "fastest", "jump_counts", "visits")
_NUMBERS = ("stayed", "tolerance", "speed", "exact")
_JUMPS = ("tail", "head", "count", "launch")
_ACTIONS = ("state", "action", "next_state", "count", "cost", "kinds")
_SETTINGS = ("radius", "ahead", "give_up", "plans")


class Planner:
    """Sub-goals for an agent, from a replay buffer.

    Parameters
    ----------
    dataset : Replay, mapping, path, sequence or array
        The data: a `Replay`, or anything that `Replay.from_dataset` takes, such as a dictionary
        with "observations" and "terminals", an ``.npz`` file of it, or a list of episodes.
    landmarks : int or (k, d) array, optional
        Number of states to plan with, or the states. By default 10 times the cube root of the
        number of observations, a thousand for a million; if observations recur, as in a grid world,
        each of them is a state. Not for a `Replay`, which has its states.
    stitch : int or Graph
        Stitched arcs, for where observed arcs do not lead on: to this many nearest states, or a
        graph on the landmarks, its lengths in steps. 0 for none.
    distance : callable, optional
        ``distance(a, b)`` of shape ``(len(a), len(b))``, for arrays of observations: how far it is
        from each to each, in steps; a learned temporal distance, say. Euclidean if not given.
    embed : callable, optional
        ``embed(a)`` of shape ``(len(a), e)``: features with Euclidean distances.
    radius : float, optional
        States within this distance of a goal count as the goal, if observed steps join them to the
        nearest of them. By default twice the median step between states, and 0 if all observations
        are states. If no state is that near, the nearest is the goal.
    ahead : float, optional
        Distance of sub-goals along the plan, in steps. By default two median arcs, and a single
        one if all observations are states.
    give_up : float, optional
        Cost of never arriving, in steps. The larger, the rarer the risks that are taken. By default
        ten times the longest path to the goal, or more where moves fail so often that walks take
        longer than that.
    jump : float, optional
        Steps longer than this count as jumps, in the space of observations or features. By default
        five times the 90th percentile of nonzero step lengths.
    plans : int
        Number of goals that plans are kept for.
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
    Planner(... states of 1 coordinate, ... observed arcs and ... stitched arcs)
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
        stitch: int | Graph = STITCH,
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
            raise InputError("pass distance or embed, got both")
        found = landmarks_of(dataset, landmarks, distance, embed, _optional(jump, "jump"), seed)
        metric, replay = found.metric(distance, embed), found.replay
        if isinstance(stitch, Graph):
            arcs = find_stitched(replay, stitch, pooled=True)
        else:
            k, arcs = as_whole(stitch, "stitch", least=0), Stitched.none()
            if k > 0 and not replay.exact and replay.stepped.any():
                if isinstance(metric, UserDistance):
                    arcs = find_stitched(replay, metric.graph(k), pooled=True)
                elif replay.speed > 0.0:
                    arcs = find_stitched(replay, k, pooled=True)
        if found.walls is not None:
            arcs = found.walls.refute(arcs, replay.states)
        settings = (_optional(radius, "radius"), _optional(ahead, "ahead"))
        self._hold(found, metric, arcs, *settings, _optional(give_up, "give_up"), plans)

    def _hold(
        self,
        found: Landmarks,
        metric: Metric,
        stitched: Stitched,
        radius: float | None,
        ahead: float | None,
        give_up: float | None,
        plans: int,
    ) -> None:
        replay, steps = found.replay, found.replay.stepped
        graph, exact, actions = replay.graph, replay.exact, replay.actions
        self._found, self._metric = found, metric
        by_action = exact and actions is not None and actions.kinds.ndim == 1
        self._model = make_model(replay, stitched, found.states, by_action)
        usual, self._span = 1.0, 0.0
        if steps.any():
            usual = float(np.median(graph.lengths[steps]))
            spans = metric.spans(graph.tails[steps], graph.indices[steps])
            self._span = float(np.median(spans))
        self._radius = (0.0 if exact else _NEAR * self._span) if radius is None else radius
        far = (_FAR_EXACT if exact else _FAR) * max(self._span, self._radius)
        self._far = max(far, self._radius)
        self._ahead = (0.0 if exact else _AHEAD * usual) if ahead is None else ahead
        self._give_up, self._plans = give_up, as_whole(plans, "plans", least=1)
        # several goals may be the same states, and share a policy
        self._by_states: Cache[Policy] = Cache(self._policy_for_states, self._plans)
        self._by_point: Cache[Policy] = Cache(self._policy_for_point, 4 * self._plans)

    # ---------------------------------------------------------------- what there is

    @property
    def replay(self) -> Replay:
        """The buffer between landmarks; with `embed`, its states are features."""
        return self._found.replay

    @property
    def states(self) -> Rows:
        """(n, d) observations that sub-goals are taken from."""
        return self._found.states

    @property
    def radius(self) -> float:
        """States within this distance of a goal count as the goal."""
        return self._radius

    @property
    def ahead(self) -> float:
        """Distance of sub-goals along the plan, in steps."""
        return self._ahead

    # ---------------------------------------------------------------- questions

    def subgoal(self, observation: ArrayLike, goal: ArrayLike) -> FloatArray:
        """Return the sub-goal: a state along the plan, or the goal itself when it is near.

        Parameters
        ----------
        observation : (d,) or (k, d) array
            Observation of one agent, or of many.
        goal : (d,) or (k, d) array
            One goal for all agents, or one each.

        Returns
        -------
        (d,) or (k, d) float array
            Observations to head for.
        """
        rows, goals, single = self._asked(observation, goal)
        at, _ = self._metric.nearest(rows)
        aims = np.empty(rows.shape)
        for policy, one, which in self._by_goal(goals, len(rows)):
            here = at[which]
            aims[which] = np.where(policy.direct[here, None], one, policy.aims[here])
        return aims[0] if single else aims

    def action(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the action that the plan takes, as the buffer has it.

        For buffers with recurring observations and whole-numbered actions. Where moves often fail,
        a sub-goal does not determine the action: on ice the best action may mostly lead elsewhere.
        Shapes are those of `subgoal`: a number for one observation.

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
        if not self._model.by_action:
            raise InputError(
                "the plan is made of sub-goals: actions need a buffer with recurring observations "
                "and whole-numbered actions"
            )
        rows, goals, single = self._asked(observation, goal)
        at, _ = self._metric.nearest(rows)
        taken = np.empty(len(rows), np.int64)
        for policy, _, which in self._by_goal(goals, len(rows)):
            taken[which] = policy.field.plan[at[which]]
            if (taken[which] < 0).any():
                first = np.arange(len(rows))[which][np.argmax(taken[which] < 0)]
                arrived = np.isin(at[first], policy.goal)
                why = "it is at the goal" if arrived else "nothing observed leads to the goal"
                place = np.array2string(rows[first], precision=4)
                raise InputError(f"there is no action at the observation {place}: {why}")
        assert self.replay.actions is not None
        actions = self.replay.actions.kinds[taken]
        return actions[0] if single else actions

    def value(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the expected cost of getting to the goal, in steps.

        Never arriving counts as giving up. +inf where nothing leads to the goal. Shapes are those
        of `subgoal`: a number for one observation.
        """
        rows, goals, single = self._asked(observation, goal)
        at, _ = self._metric.nearest(rows)
        values = np.empty(len(rows))
        for policy, _, which in self._by_goal(goals, len(rows)):
            values[which] = policy.values[at[which]]
        return values[0] if single else values

    def reach(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the predicted probability of arriving under the plan.

        Stitched arcs count with their odds. The farther an off-distribution observation is from all
        states, the less likely it gets to the nearest one. The same holds for a goal that no
        observation is near. Shapes are those of `subgoal`.
        """
        rows, goals, single = self._asked(observation, goal)
        at, away = self._metric.nearest(rows)
        reach = np.empty(len(rows))
        for policy, one, which in self._by_goal(goals, len(rows)):
            reach[which] = policy.reach[at[which]] * self._last_steps(one)
        off = away > self._far
        reach[off] *= _UNSEEN ** (away[off] / self._far)
        return reach[0] if single else reach

    def report(self, goal: ArrayLike) -> PlannerReport:
        """Return a report on the plan for a goal: coverage, stitched arcs, predicted arrival.

        Examples
        --------
        >>> import numpy as np
        >>> import wayfield as wf
        >>> there = np.linspace(0.0, 40.0, 81)[:, np.newaxis]
        >>> planner = wf.Planner([there, there[::-1]] * 5, landmarks=40)
        >>> print(planner.report([30.0]))
        The goal is 3 states, the nearest 0 away.
        Predicted arrival: 100 % of walks from where the behaviour was; 95 % or more from
        40 of 40 states.
        Observed moves lead to the goal from 100 % of the states; there are 0 dead ends.
        """
        point = np.atleast_2d(self._rows(goal, "goal"))
        if len(point) != 1:
            raise InputError(f"goal must be one observation, got {len(point)}")
        policy, last = self._by_point[point.tobytes()], self._last_steps(point[0])
        hops, _ = breadth_first(self.replay.graph.reverse_arcs, policy.goal)
        observed = np.isfinite(hops)
        n, stitched, walls = observed.size, self._model.stitched, self._found.walls
        moving = np.flatnonzero(policy.planned & (policy.successor != np.arange(n)))
        relied = moving * n + policy.successor[moving]
        which = np.flatnonzero(np.isin(stitched.tail * n + stitched.head, relied))
        which = which[np.argsort(stitched.odds[which], kind="stable")]
        tail, head, length, odds = (of[which] for of in stitched)
        suspects = Suspects(
            tail=frozen(tail),
            head=frozen(head),
            length=frozen(length),
            count=frozen(self.replay.departures[tail]),
            odds=frozen(odds),
            num_arcs=stitched.tail.size,
        )
        return PlannerReport(
            goal=frozen(point[0]),
            goal_states=policy.goal,
            away=float(self._metric.from_states(point).min()),
            last=last,
            observed=frozen(observed),
            dead_ends=frozen(np.flatnonzero(~observed)),
            reach=frozen(last * policy.reach),
            visits=self.replay.visits,
            suspects=suspects,
            walls=frozen(np.array([] if walls is None else walls.down, dtype=np.int64)),
        )

    # ---------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the planner to an ``.npz`` file atomically. Plans are not saved.

        Functions are not saved either: pass the distance or the embedding to `load` again.
        """
        replay, graph, walls = self.replay, self.replay.graph, self._found.walls
        give_up = np.nan if self._give_up is None else self._give_up
        settings = (self._radius, self._ahead, give_up, self._plans)
        arrays: dict[str, Any] = {name: getattr(replay, name) for name in _PLAIN}
        arrays |= {"features": replay.states, "states": self.states}
        arrays |= {"needs": np.array(self._metric.function)}
        arrays |= {name: np.array(getattr(replay, name)) for name in _NUMBERS}
        arrays |= {"indptr": graph.indptr, "indices": graph.indices, "lengths": graph.lengths}
        arrays |= {f"jump_{name}": getattr(replay.jumps, name) for name in _JUMPS}
        stitched = self._model.stitched._asdict()
        arrays |= {f"stitched_{name}": array for name, array in stitched.items()}
        for name, value in zip(_SETTINGS, settings, strict=True):
            arrays[f"set_{name}"] = np.array(float(value))
        if replay.actions is not None:
            arrays |= {f"action_{name}": getattr(replay.actions, name) for name in _ACTIONS}
        if walls is not None:
            arrays |= {f"wall_{name}": array for name, array in walls._asdict().items()}
        return _npz.write(path, _KIND, arrays)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        distance: Distance | None = None,
        embed: Embedding | None = None,
    ) -> Planner:
        """Read a saved planner; raise `InputError` for any other file.

        Parameters
        ----------
        path : path
            The file.
        distance, embed : callable, optional
            The functions that the planner was made with, since they are not saved.
        """
        arrays = _npz.read(path, _KIND)
        try:
            found, stitched, settings, needs = _from_arrays(arrays)
        except KeyError as missing:
            raise InputError(f"{path} is not a {_KIND}: it has no {missing.args[0]}") from missing
        except (ValueError, TypeError) as error:
            raise InputError(f"{path} is not a {_KIND}, or is damaged: {error}") from error
        given = "distance" if distance is not None else "embed" if embed is not None else ""
        if needs != given:
            why = f"pass {needs}=, which is not saved" if needs else f"it was made without {given}"
            raise InputError(f"{path}: {why}")
        if embed is not None:
            saved, made = found.replay.states, embedded(embed, found.states)
            scale = float(np.abs(saved).max())  # rounding may differ
            if made.shape != saved.shape or not np.allclose(made, saved, 1e-3, 1e-3 * scale):
                raise InputError(f"{path}: embed is not what the planner was made with")
        planner = cls.__new__(cls)
        give_up = None if np.isnan(settings["give_up"]) else settings["give_up"]
        limits = settings["radius"], settings["ahead"], give_up, int(settings["plans"])
        planner._hold(found, found.metric(distance, embed), stitched, *limits)
        return planner

    def __repr__(self) -> str:
        n, d = self.states.shape
        observed = number_of(self.replay.graph.num_arcs, "observed arcs")
        stitched = number_of(self._model.stitched.tail.size, "stitched arcs")
        states = f"{number_of(n, 'states')} of {number_of(d, 'coordinates')}"
        return f"Planner({states}, {observed} and {stitched})"

    # ---------------------------------------------------------------- inside

    def _asked(self, observation: ArrayLike, goal: ArrayLike) -> tuple[Rows, Rows, bool]:
        """Return observations and goals as rows, and whether a single one was asked about."""
        rows, goals = self._rows(observation, "observation"), self._rows(goal, "goal")
        count = 1 if rows.ndim == 1 else len(rows)
        if goals.ndim == 2 and len(goals) not in (1, count):
            raise InputError(f"goal must be one or {count} observations, got {len(goals)}")
        return np.atleast_2d(rows), np.atleast_2d(goals), rows.ndim == 1

    def _rows(self, data: ArrayLike, name: str) -> Rows:
        array = as_real_array(data, name)
        if array.ndim not in (1, 2):
            raise InputError(f"{name} must be one observation or rows of them, got {array.shape}")
        rows = as_rows(np.atleast_2d(array), name).astype(np.float64, copy=False)
        if rows.shape[1] != self.states.shape[1]:
            raise InputError(
                f"{name} has {number_of(rows.shape[1], 'coordinates')}, "
                f"the buffer's observations have {self.states.shape[1]}"
            )
        return rows[0] if array.ndim == 1 else rows

    def _by_goal(
        self, goals: Rows, count: int
    ) -> list[tuple[Policy, Rows, NDArray[np.int64] | slice]]:
        """Return the policy for each distinct goal, with the rows that ask for it."""
        if len(goals) == 1:
            return [(self._by_point[goals.tobytes()], goals[0], slice(None))]
        distinct, which = np.unique(goals, axis=0, return_inverse=True)
        which = which.ravel()
        return [
            (self._by_point[one.tobytes()], one, np.flatnonzero(which == i))
            for i, one in enumerate(distinct)
        ]

    def _last_steps(self, goal: FloatArray) -> float:
        """Return the probability of getting from the states of a goal to the goal itself."""
        if self.replay.exact:  # a goal is a state, but for rounding
            return 1.0
        away = float(self._metric.from_states(goal[np.newaxis]).min())
        beyond = max(away - self._radius, 0.0) / max(self._far - self._radius, 1e-300)
        return float(_UNSEEN**beyond)

    def _policy_for_point(self, goal: bytes) -> Policy:
        """Find the states that count as a goal: those near it, joined to the nearest of them."""
        point = np.frombuffer(goal).reshape(1, -1)
        away = self._metric.from_states(point)
        nearest, walls = int(np.argmin(away)), self._found.walls
        if away[nearest] > self._far:
            raise InputError(
                f"no state is near the goal {np.array2string(point[0], precision=4)}: the nearest "
                f"is {away[nearest]:.4g} away, and steps between states span {self._span:.4g}"
            )
        if walls is not None:  # the nearest state may be on the other side of one
            nearest = int(self._metric.nearest(point)[0][0])
            away[nearest] = 0.0
        near = np.flatnonzero(away <= self._radius)
        if near.size == 0:
            return self._by_states[nearest,]
        # A wall or a one-way door may part them: an agent behind it has not arrived. So the goal is
        # the group that observed steps join to the nearest state with such steps.
        joined = adjacency(self.replay)[near][:, near].tocoo()
        if walls is not None:
            places = self.replay.states[near].astype(np.float64)
            joined.data[walls.between(places[joined.row], places[joined.col])[0]] = 0.0
        entered = np.asarray(joined.sum(axis=1)) > 1.0  # by others than itself
        order = np.argsort(away[near], kind="stable")
        first = order[np.argmax(entered[order])] if entered.any() else order[0]
        group, larger = None, np.arange(near.size) == first
        while group is None or (larger != group).any():
            group, larger = larger, np.asarray(joined @ larger) > 0
        return self._by_states[tuple(near[group].tolist())]

    def _policy_for_states(self, goal: tuple[int, ...]) -> Policy:
        states = np.array(goal, dtype=np.int64)
        return make_policy(self._model, self.states, states, self._ahead, self._give_up)


def _optional(value: float | None, name: str) -> float | None:
    return None if value is None else as_real(value, name, least=0.0)


Value = TypeVar("Value")


class Cache(Generic[Value]):
    """Cache of values by key, made when first needed; the least recently used are dropped.

    Threads may share it: each value is made once, and others can be read meanwhile.

    Examples
    --------
    >>> squares = Cache(lambda number: number**2, most=2)
    >>> squares[3], squares[4], squares[5], len(squares)
    (9, 16, 25, 2)
    """

    def __init__(self, make: Callable[..., Value], most: int) -> None:
        self._make, self._most = make, most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._looking, self._making = Lock(), Lock()

    def __getitem__(self, key: Hashable) -> Value:
        """Return the value of a key; make it if necessary."""
        found = self._found(key)
        if found is not None:
            return found
        with self._making:
            found = self._found(key)  # another thread may have just made it
            if found is None:
                found = self._make(key)
                with self._looking:
                    self._values[key] = found
                    while len(self._values) > self._most:
                        self._values.popitem(last=False)
        return found

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle an empty cache: locks cannot be pickled, and values can be made again."""
        return Cache, (self._make, self._most)

    def _found(self, key: Hashable) -> Value | None:
        with self._looking:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        return None


# -------------------------------------------------------------------- files


def _from_arrays(
    arrays: dict[str, NDArray[Any]],
) -> tuple[Landmarks, Stitched, dict[str, float], str]:
    """Return what `Planner.save` wrote; raise `ValueError` if something does not fit."""
    # Every array holds numbers, of the right dimensions, finite, and not negative where it cannot.
    rows = {"features", "states", "jump_launch", "wall_sites", "wall_normal"}
    signed = rows | {"action_kinds", "wall_plane", "wall_offset"}
    for name in arrays.keys() - {"format", "needs"}:
        array = arrays[name]
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name} is of the kind {array.dtype}")
        deep = 0 if name in _NUMBERS or name.startswith("set_") else 1 + (name in rows)
        if array.ndim != deep and name != "action_kinds":
            raise ValueError(f"{name} has {array.ndim} dimensions, not {deep}")
        # an arc that nobody crossed has no dwell, and the price of giving up need not be given
        unknown = name in ("dwell", "fastest", "set_give_up")
        if not (np.isfinite(array) | (unknown & np.isnan(array))).all():
            raise ValueError(f"{name} is not finite")
        if name not in signed and (array < 0).any():
            raise ValueError(f"{name} is negative")

    features = arrays["features"]
    places = features if features.shape[1] in (2, 3) else None
    graph = Graph(arrays["indptr"], arrays["indices"], arrays["lengths"], True, places)
    stitched = Stitched(*(arrays[f"stitched_{name}"] for name in Stitched._fields))
    jumps = Jumps(*(frozen(arrays[f"jump_{name}"]) for name in _JUMPS))
    done = walls = None
    if "action_state" in arrays:
        done = ActionCounts(*(frozen(arrays[f"action_{name}"]) for name in _ACTIONS))
    if "wall_plane" in arrays:
        walls = Walls(*(frozen(arrays[f"wall_{name}"]) for name in Walls._fields))

    # Lengths agree, and indices are in range.
    n, m = graph.num_vertices, graph.num_arcs
    sizes = {"features": n, "states": n, "visits": n}
    sizes |= dict.fromkeys(("counts", "dwell", "fastest", "jump_counts"), m)
    sizes |= {f"stitched_{name}": stitched.tail.size for name in Stitched._fields}
    sizes |= {f"jump_{name}": jumps.tail.size for name in _JUMPS}
    indices = [("stitched_tail", 0, n), ("stitched_head", 0, n), ("jump_tail", 0, n)]
    indices += [("jump_head", 0, n)]
    if walls is not None:
        cells, count = len(walls.sites), walls.offset.size
        sizes |= dict.fromkeys(("wall_plane", "wall_above", "wall_shut"), cells)
        sizes |= dict.fromkeys(("wall_normal", "wall_down", "wall_up"), count)
        indices += [("wall_plane", -1, count), ("wall_above", -1, n)]
        if not walls.sites.shape[1] == walls.normal.shape[1] == features.shape[1]:
            raise ValueError(f"walls are not in the space of the {features.shape[1]} features")
    for name, size in sizes.items():
        if len(arrays[name]) != size:
            raise ValueError(f"{name} has {len(arrays[name])} entries, not {size}")
    for name, least, end in indices:
        ends = arrays[name]
        if ends.size and not (ends.min() >= least and ends.max() < end):
            raise ValueError(f"{name} is not below {end}")
    if not ((stitched.odds > 0.0) & (stitched.odds <= 1.0)).all():
        raise ValueError("stitched_odds are no probabilities")

    plain: dict[str, Any] = {name: frozen(arrays[name]) for name in _PLAIN}
    replay = Replay(
        graph=graph,
        states=frozen(features),
        **plain,
        stayed=int(arrays["stayed"]),
        tolerance=float(arrays["tolerance"]),
        speed=float(arrays["speed"]),
        exact=bool(arrays["exact"]),
        jumps=jumps,
        actions=done,
    )
    settings = {name: float(arrays[f"set_{name}"]) for name in _SETTINGS}
    found = Landmarks(replay, frozen(arrays["states"]), walls)
    return found, stitched, settings, str(arrays["needs"])
