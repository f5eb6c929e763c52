"""A planner for goal-conditioned agents, from a replay buffer, with the odds of arrival.

A plan is a chain of recorded transitions and stitches. A stitch goes on from the outcome of one
transition as if at the beginning of another one; it fails with a probability that grows
superlinearly with its length (`chains`). Distances are in steps (`metric`). `Planner.check` follows
plans of one half of the episodes through the other half (`check`). The plan for a goal is made when
first needed, and then kept.
"""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from ..checks import LARGEST, as_array, as_real, as_real_array, as_whole, frozen, refuse
from ..errors import InputError, TrustWarning
from ..graphs import npz
from ..typing import FloatArray
from ..words import number_of
from .chains import (
    AHEAD,
    FAR,
    HORIZON,
    NOTHING,
    SLACK,
    Chains,
    Plan,
    Rows,
    judged,
    make_chains,
    make_plan,
    read_transitions,
)
from .check import Check, run_check
from .dataset import Ends, as_rows, read_dataset, read_rows
from .kernels.chains import look_ahead
from .metric import Distance, Embedding, Metric, find_metric, given_metric
from .reports import PlanDiagnosis, PlannerReport

_KIND = "wayfield planner 5"
_METRIC = ("wrapped", "low", "span", "middle", "weights")
_LEAST, _RUN, _MARKS = 10, 50, 32
"""Fewest transitions; transitions in a run when some are left out; landmarks of a distance."""


class Planner:
    """Sub-goals and actions for an agent, from a replay buffer, and how likely it is to arrive.

    Parameters
    ----------
    dataset : mapping, path, sequence or object
        Anything that `Replay.from_dataset` takes: a dictionary with "observations" and "terminals",
        preferably also "actions" and "timeouts"; an ``.npz`` file with these arrays; a list of
        episodes; a Minari dataset; or a replay buffer of Stable-Baselines3.
    entry : str
        As for `Replay.from_dataset`.
    ends : {"absorbing", "truncated"}, optional
        What the end of an episode means: a state that is never left (a death, or a goal that ends
        the episode), or an interruption. By default, timeouts and truncations tell the two apart.
        Without them, episodes of equal length count as interrupted, those of irregular length as
        absorbed. A warning is issued if only some are of equal length.
    embed : callable, optional
        ``embed(rows)`` of shape ``(len(rows), e)``: features with Euclidean distances, in place of
        those that the planner finds by itself.
    distance : callable, optional
        ``distance(a, b)`` of shape ``(len(a), len(b))``, such as a temporal distance. Observations
        are then described by their distances to 32 of them.
    states : int
        Largest number of transitions to plan with. Of more, runs of 50 are drawn.
    plans : int
        Largest number of goals whose plans are kept.
    seed : int
        Seed of these draws, and of the test.

    Examples
    --------
    A corridor, walked up and down in steps of one half:

    >>> import numpy as np
    >>> import wayfield as wf
    >>> from wayfield import replay
    >>> there = np.linspace(0.0, 40.0, 81)[:, np.newaxis]
    >>> up = {"observations": there, "actions": np.ones(80, int)}
    >>> down = {"observations": there[::-1], "actions": np.zeros(80, int)}
    >>> planner = replay.Planner([up, down] * 10)
    >>> planner
    Planner(1,600 transitions, 1 of 1 coordinate used, with actions)
    >>> planner.subgoal([10.0], goal=[30.0]) > 10.0, planner.action([10.0], goal=[30.0])
    (array([ True]), np.int64(1))
    >>> planner.subgoal([29.5], goal=[30.0])
    array([30.])
    >>> bool(planner.reach([10.0], goal=[30.0]) > 0.9)
    True
    >>> planner.subgoal([[10.0], [35.0]], goal=[30.0]).shape
    (2, 1)
    """

    def __init__(
        self,
        dataset: Any,
        *,
        entry: str = "observation",
        ends: Ends | None = None,
        embed: Embedding | None = None,
        distance: Distance | None = None,
        states: int = 60_000,
        plans: int = 64,
        seed: int = 0,
    ) -> None:
        if distance is not None and embed is not None:
            raise InputError("pass distance or embed, got both")
        states, plans = as_whole(states, "states", least=_LEAST), as_whole(plans, "plans", least=1)
        seed = as_whole(seed, "seed", 0, 2**32 - 1)
        columns = read_dataset(dataset, entry, ends)
        actions = columns.pop("actions", None)
        buffer = read_rows(**columns)
        if actions is not None:
            actions = as_array(actions, "actions")
            if actions.dtype.kind != "b":
                actions = as_real_array(actions, "actions")
            if len(actions) != len(buffer.first):
                raise InputError(f"{len(buffer.first)} rows but {len(actions)} actions")
            refuse(~np.isfinite(actions), actions, "actions", "is not a finite number")
        rows = read_transitions(buffer, actions)
        if len(rows.before) < _LEAST:
            raise InputError(
                f"the dataset has {number_of(len(rows.before), 'transitions')}: a planner needs at "
                f"least {_LEAST}"
            )
        if rows.episode[-1] == rows.episode[0]:
            raise InputError(
                f"the dataset is a single episode of {len(rows.before):,} transitions: a planner "
                "needs at least two, to go on from one where another one was"
            )
        if len(rows.before) > states:
            run = np.arange(len(rows.before)) // min(_RUN, states)
            drawn = np.random.default_rng(seed).permutation(run[-1] + 1)
            rows = rows.some(np.isin(run, drawn[: states // min(_RUN, states)]))
        if distance is not None:
            drawn = np.random.default_rng([seed, 1]).permutation(len(rows.before))
            embed = Landmarks(distance, rows.before[np.sort(drawn[:_MARKS])])
        if embed is not None:
            metric = given_metric(embed, rows.before, rows.after)
        else:
            metric = find_metric(rows.before, rows.after, rows.vectors, rows.episode)
        self._hold(rows, metric, plans, seed)

    def _hold(self, rows: Rows, metric: Metric, plans: int, seed: int) -> None:
        # actions that are all the same say nothing
        self._acted = rows.vectors is not None and bool(np.ptp(rows.vectors, axis=0).any())
        self._seed, self._warned = seed, False
        self._check: Check | None = None
        self._chains: Chains = make_chains(rows, metric, self._acted, seed)
        self._plans: Cache[Plan] = Cache(self._make, plans)

    # ---------------------------------------------------------------- what there is

    @property
    def states(self) -> FloatArray:
        """(n, d) observations of the buffer that plans use."""
        return self._chains.rows.before

    @property
    def actions(self) -> NDArray[Any]:
        """(a,) or (a, k) actions that `action` chooses from; empty if it has none."""
        taken = self._chains.rows.taken
        return np.unique(taken, axis=0) if taken is not None and self._acted else np.zeros(0)

    # ---------------------------------------------------------------- questions

    def subgoal(self, observation: ArrayLike, goal: ArrayLike) -> FloatArray:
        """Return the sub-goal: an observation along the plan, or the goal itself when it is near.

        It lies as far ahead as the chain stays near a straight line, in the widest directions of
        the buffer. Where nothing leads to the goal, it is the nearest observation from which the
        plan does. Coordinates that the planner ignores are copied from the observation.

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
        aims, chains = np.empty(rows.shape), self._chains
        for which, plan, points in self._by_goal(rows, goals):
            row, _, score = chains.choose(points, plan.worth)
            last = look_ahead(
                points @ chains.wide, row, chains.wide_after, plan.following, plan.goal,
                SLACK, AHEAD,
            )  # fmt: skip
            aim = np.where(chains.metric.used, chains.rows.after[last], rows[which])
            aim[plan.goal[last] | plan.at_goal(points)] = plan.asked
            lost = np.flatnonzero((score == 0.0) & ~plan.at_goal(points))
            led = np.flatnonzero(plan.worth > NOTHING)
            if lost.size and led.size:
                aim[lost] = chains.rows.before[led[chains.nearest(points[lost], led)]]
            aims[which] = aim
        return aims[0] if single else aims

    def action(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the recorded action that the plan takes.

        At the goal it is the action that stays nearest to it. Shapes are those of `subgoal`: a
        number, or one vector, for one observation.

        Examples
        --------
        >>> import wayfield as wf
        >>> from wayfield import replay
        >>> walk = {"observations": [[0], [1], [2], [1], [0]], "actions": [7, 7, 5, 5]}
        >>> replay.Planner([walk] * 10).action([0], goal=[2])
        np.int64(7)
        """
        taken = self._chains.rows.taken
        if taken is None or not self._acted:
            raise InputError(
                "the plan has no actions: the buffer has none, or they do not say where steps lead"
            )
        rows, goals, single = self._asked(observation, goal)
        found = np.empty(len(rows), np.int64)
        for which, plan, points in self._by_goal(rows, goals):
            there, best = plan.at_goal(points), self._chains.choose(points, plan.worth)[0]
            if there.any():
                best[there] = self._chains.choose(points[there], plan.stay)[0]
            found[which] = best
        actions = taken[found]
        return actions[0] if single else actions

    def value(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the cost of getting to the goal, in steps; +inf where nothing leads there.

        It is the length of a sure path of the same value to the plan. So risk counts: one chance in
        two of never arriving costs 139 steps. Shapes are those of `subgoal`: a number for one
        observation.
        """
        rows, goals, single = self._asked(observation, goal)
        values = np.empty(len(rows))
        for which, plan, points in self._by_goal(rows, goals):
            score = np.where(plan.at_goal(points), 1.0, self._chains.choose(points, plan.worth)[2])
            with np.errstate(divide="ignore"):
                values[which] = np.abs(np.log(score) / np.log1p(-1.0 / HORIZON))
        return values[0] if single else values

    def reach(
        self, observation: ArrayLike, goal: ArrayLike, radius: ArrayLike | None = None
    ) -> Any:
        """Return the probability of arriving under the plan: an estimate, not a proof.

        There is no deadline. `check` says what such estimates are worth on held-out episodes. Once
        it has said "do not use", `errors.TrustWarning` is issued, once. Shapes are those of
        `value`.

        Parameters
        ----------
        observation, goal : arrays
            As for `subgoal`.
        radius : float or (d,) array, optional
            How near is near enough, in the units of the observations: the Euclidean distance to the
            goal, or one radius per coordinate, +inf where it does not matter. Default: 0.7 steps
            of the buffer, or the three nearest outcomes.
        """
        rows, goals, single = self._asked(observation, goal)
        near = self._radius(radius, rows.shape[1])
        if self._check is not None and self._check.verdict == "do not use" and not self._warned:
            self._warned = True
            warnings.warn(
                "the planner failed its test on held-out episodes, so reach means little: "
                "planner.check() says why",
                TrustWarning,
                stacklevel=2,
            )
        reach = np.empty(len(rows))
        for which, plan, points in self._by_goal(rows, goals, near):
            there = plan.arrived(rows[which], points)
            reach[which] = np.where(there, 1.0, self._arrival(plan, points, plan.arrival))
        return reach[0] if single else reach

    def reach_interval(
        self, observation: ArrayLike, goal: ArrayLike, level: float = 0.9
    ) -> tuple[Any, Any]:
        """Return an interval for the probability of arriving: its lower and its upper end.

        At the upper end no stitch fails, and every action is as good as its recorded outcomes
        allow; at the lower end stitches fail twice as often, and actions are as bad.

        Parameters
        ----------
        observation, goal : arrays
            As for `subgoal`.
        level : float
            Share of tasks whose probability should lie in the interval. It carries no guarantee;
            `wayfield study buffers` counts how often it holds. Without actions, chance looks like
            choice, and the interval begins at 0.
        """
        level = as_real(level, "level")
        if not 0.0 < level < 1.0:
            raise InputError(f"level must be between 0 and 1, got {level:g}")
        rows, goals, single = self._asked(observation, goal)
        low, high = np.zeros(len(rows)), np.ones(len(rows))
        errors = float(ndtri(0.5 + level / 2))
        for which, plan, points in self._by_goal(rows, goals):
            there = plan.at_goal(points)
            away = self._chains.nearest_gap(points)
            for ends, sign, power in ((low, 1.0, 2.0), (high, -1.0, 0.0)):
                arrival = judged(self._chains, plan, sign * errors, power)
                ends[which] = np.where(there, 1.0, self._arrival(plan, points, arrival, power))
            high[which] = np.where(away > FAR, 1.0, high[which])
        said = np.atleast_1d(self.reach(rows, goals))
        slack = 0.05 * level / 0.9
        low = np.clip(np.minimum(low, said) - slack, 0.0, 1.0) * self._acted
        high = np.clip(np.maximum(high, said) + slack, 0.0, 1.0)
        return (low[0], high[0]) if single else (low, high)

    def check(self) -> Check:
        """Return how plans of one half of the episodes fare in the other half, and a verdict.

        Examples
        --------
        >>> import numpy as np
        >>> import wayfield as wf
        >>> from wayfield import replay
        >>> there = np.linspace(0.0, 40.0, 81)[:, np.newaxis]
        >>> up = {"observations": there, "actions": np.ones(80, int)}
        >>> down = {"observations": there[::-1], "actions": np.zeros(80, int)}
        >>> replay.Planner([up, down] * 20).check().kept > 0.9
        True
        """
        if self._check is None:
            self._check = run_check(self._chains, self._seed)
        return self._check

    def report(self, goal: ArrayLike) -> PlannerReport:
        """Return a report on the plan for a goal: its states, coverage and predicted arrival."""
        point = self._one(goal, "goal")
        plan = self._plans[point.tobytes(), None]
        arrival = self._chains.mean_of(plan.arrival, np.arange(len(plan.worth)))
        return PlannerReport(
            goal=frozen(point),
            goal_states=frozen(np.flatnonzero(plan.goal)),
            away=plan.away,
            leads=frozen(plan.worth > NOTHING),
            reach=frozen(arrival),
        )

    def diagnose(self, observation: ArrayLike, goal: ArrayLike) -> PlanDiagnosis:
        """Return why the plan does what it does at an observation: a few lines when printed."""
        here, point = self._one(observation, "observation"), self._one(goal, "goal")
        plan, chains = self._plans[point.tobytes(), None], self._chains
        points = chains.metric(here[None])
        at = int(chains.choose(points, plan.worth)[0][0])
        path, there = [], bool(plan.at_goal(points)[0])
        while at >= 0 and at not in path and not there:
            path.append(at)
            at = -1 if plan.goal[at] else int(plan.following[at])
        low, high = self.reach_interval(here, point)
        return PlanDiagnosis(
            observation=frozen(here),
            away=float(chains.nearest_gap(points)[0]),
            at_goal=there,
            action=self.action(here, point) if self._acted else None,
            subgoal=self.subgoal(here, point),
            path=frozen(chains.rows.after[path]),
            gaps=frozen(chains.gaps_along(path)),
            arrives=there or bool(path and plan.goal[path[-1]]),
            reach=float(self.reach(here, point)),
            low=float(low),
            high=float(high),
        )

    # ---------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the planner to an ``.npz`` file; functions are not saved. Return its path."""
        rows, metric = self._chains.rows, self._chains.metric
        arrays: dict[str, NDArray[Any]] = {
            name: getattr(rows, name)
            for name in Rows.__dataclass_fields__
            if getattr(rows, name) is not None
        }
        for name in _METRIC:
            arrays[f"metric_{name}"] = getattr(metric, name)
        embed = metric.embed
        given = "" if embed is None else "distance" if isinstance(embed, Landmarks) else "embed"
        if isinstance(embed, Landmarks):
            arrays["marks"] = embed.marks
        return npz.write(
            path,
            _KIND,
            arrays
            | {
                "metric_kind": np.array(metric.kind),
                "given": np.array(given),
                "score_names": np.array(list(metric.scores), str),
                "scores": np.array(list(metric.scores.values()), float),
                "settings": np.array([self._plans.most, self._seed]),
            },
        )

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        embed: Embedding | None = None,
        distance: Distance | None = None,
    ) -> Planner:
        """Read a saved planner; raise `InputError` for any other file.

        Parameters
        ----------
        path : path
            The file.
        embed, distance : callable, optional
            The function that the planner was made with, since it is not saved.
        """
        arrays = npz.read(path, _KIND)
        passed = "distance" if distance is not None else "embed" if embed is not None else ""
        need = str(arrays.get("given", ""))
        if need != passed:
            why = f"pass {need}=, which is not saved" if need else f"it was made without {passed}"
            raise InputError(f"{path}: {why}")
        for name, array in arrays.items():
            if array.dtype.kind == "f" and not np.isfinite(array).all():
                raise InputError(f"{path}: {name} has entries that are not finite numbers")
        try:
            if distance is not None:
                embed = Landmarks(distance, arrays["marks"])
            scores = dict(zip(arrays["score_names"].tolist(), arrays["scores"], strict=True))
            parts: Any = {name: arrays[f"metric_{name}"] for name in _METRIC}
            metric = Metric(**parts, kind=str(arrays["metric_kind"]), scores=scores, embed=embed)
            given: dict[str, Any] = {name: arrays.get(name) for name in Rows.__dataclass_fields__}
            for name in given.keys() - {"taken", "vectors"}:
                given[name] = arrays[name]
            rows, planner = Rows(**given), cls.__new__(cls)
            plans, seed = (int(number) for number in arrays["settings"])
            planner._hold(rows, metric, plans, seed)
        except KeyError as missing:
            raise InputError(f"{path} is not a {_KIND}: it has no {missing.args[0]}") from missing
        except (ValueError, TypeError, IndexError) as error:
            raise InputError(f"{path} is not a {_KIND}, or is damaged: {error}") from error
        return planner

    def __repr__(self) -> str:
        chains, d = self._chains, self.states.shape[1]
        used = f"{int(chains.metric.used.sum())} of {number_of(d, 'coordinates')} used"
        with_actions = "with actions" if self._acted else "without actions"
        return f"Planner({number_of(len(self.states), 'transitions')}, {used}, {with_actions})"

    # ---------------------------------------------------------------- inside

    def _make(self, key: tuple[bytes, bytes | None]) -> Plan:
        goal, radius = (None if part is None else np.frombuffer(part) for part in key)
        assert goal is not None
        plan = make_plan(self._chains, goal, radius)
        if radius is None and plan.away > FAR:
            text = np.array2string(goal, precision=4)
            raise InputError(
                f"no state is near the goal {text}: the nearest is {plan.away:.3g} steps away"
            )
        return plan

    def _by_goal(
        self, rows: FloatArray, goals: FloatArray, radius: FloatArray | None = None
    ) -> Iterator[tuple[Any, Plan, FloatArray]]:
        """Yield each distinct goal's rows, plan and features of the rows."""
        points, key = self._chains.metric(rows), None if radius is None else radius.tobytes()
        if len(goals) == 1:
            yield slice(None), self._plans[goals[0].tobytes(), key], points
            return
        distinct, which = np.unique(goals, axis=0, return_inverse=True)
        for i, one in enumerate(distinct):
            some = np.flatnonzero(which.ravel() == i)
            yield some, self._plans[one.tobytes(), key], points[some]

    def _arrival(
        self, plan: Plan, points: FloatArray, arrival: FloatArray, power: float = 1.0
    ) -> FloatArray:
        row, odds, score = self._chains.choose(points, plan.worth)
        found = odds**power * self._chains.mean_of(arrival, row)
        return np.where(score > 0.0, found, 0.0)

    def _radius(self, radius: ArrayLike | None, width: int) -> FloatArray | None:
        if radius is None:
            return None
        given = np.asarray(radius, float)
        if given.shape not in ((), (width,)) or not (given > 0.0).all():
            raise InputError(
                f"radius must be a positive number, or one for each of {width} coordinates, got "
                f"{radius!r}"
            )
        return np.broadcast_to(given, (width,)).copy()

    def _asked(
        self, observation: ArrayLike, goal: ArrayLike
    ) -> tuple[FloatArray, FloatArray, bool]:
        """Return observations and goals as rows, and whether a single one was asked about."""
        # A short cut for the usual case, because full checks take longer than finding the sub-goal.
        # A goal with a plan was checked before.
        width = (self.states.shape[1],)
        if (
            type(observation) is type(goal) is np.ndarray
            and observation.dtype == goal.dtype == np.float64
            and observation.shape == goal.shape == width
            and observation @ observation <= LARGEST  # so all coordinates are finite
            and (goal.tobytes(), None) in self._plans
        ):
            return observation[None], goal[None], True
        rows, goals = self._rows(observation, "observation"), self._rows(goal, "goal")
        count = 1 if rows.ndim == 1 else len(rows)
        if goals.ndim == 2 and len(goals) not in (1, count):
            raise InputError(f"goal must be one or {count} observations, got {len(goals)}")
        return np.atleast_2d(rows), np.atleast_2d(goals), rows.ndim == 1

    def _rows(self, data: ArrayLike, name: str) -> FloatArray:
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

    def _one(self, data: ArrayLike, name: str) -> FloatArray:
        rows = np.atleast_2d(self._rows(data, name))
        if len(rows) != 1:
            raise InputError(f"{name} must be one observation, got {len(rows)}")
        return np.asarray(rows[0])


@dataclass(frozen=True)
class Landmarks:
    """Distances to some observations, as features."""

    distance: Distance
    marks: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return the (n, m) distances."""
        found = np.asarray(self.distance(rows, self.marks), float)
        if found.shape != (len(rows), len(self.marks)) or not np.isfinite(found).all():
            raise InputError(
                f"distance must return finite numbers of shape {(len(rows), len(self.marks))}, "
                f"got shape {found.shape}"
            )
        return found


Value = TypeVar("Value")


class Cache(Generic[Value]):
    """Cache of values by key, made when first needed; the least recently used are dropped.

    Threads may share it: each value is made once.

    Examples
    --------
    >>> squares = Cache(lambda number: number**2, most=2)
    >>> squares[3], squares[4], squares[5], len(squares)
    (9, 16, 25, 2)
    """

    def __init__(self, make: Callable[..., Value], most: int) -> None:
        self._make, self.most = make, most
        self._values: OrderedDict[Any, Value] = OrderedDict()
        self._lock = RLock()

    def __getitem__(self, key: Any) -> Value:
        """Return the value of a key; make it if necessary."""
        with self._lock:
            if key not in self._values:
                self._values[key] = self._make(key)
            self._values.move_to_end(key)
            while len(self._values) > self.most:
                self._values.popitem(last=False)
            return self._values[key]

    def __contains__(self, key: Any) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle an empty cache: locks cannot be pickled, and values can be made again."""
        return Cache, (self._make, self.most)
