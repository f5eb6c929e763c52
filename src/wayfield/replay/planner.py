"""A planner for goal-conditioned agents, from a replay buffer, with the odds of arrival.

A `Planner` holds a metric (`replay.metric`), a model of what actions do (`replay.model`), and the
results of a test on held-out episodes (`replay.check`). The plan for a goal (`replay.goal_plans`)
is made when first needed, and then cached.
"""

from __future__ import annotations

import os
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import fields, replace
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from ..checks import LARGEST, as_real, as_real_array, as_whole, frozen
from ..errors import InputError, TrustWarning
from ..graphs import npz
from ..typing import FloatArray, IntArray
from ..words import number_of
from .check import Check, Test, calibrated, interval, make_check, run_test
from .dataset import Ends, as_rows, read_dataset, read_rows
from .goal_plans import GoalPlan, find_horizon, make_plan
from .kernels.merging import Rows
from .kernels.outcomes import consult
from .metric import Distance, Embedding, EmbeddingMetric, Landmarks, Metric, time_metric
from .model import (
    MOST_STATES,
    BufferModel,
    Steps,
    explained_locally,
    kinds_of,
    make_model,
    read_steps,
    weights,
    where_steps_led,
)
from .reports import PlanDiagnosis, PlannerReport

_LOOKED_AT = 8
"""States around an observation that are looked at; the three nearest with a plan are averaged."""
_EXPLAINED = 0.1
"""Least share of the local variance of steps that actions must explain to be used."""
_OFF_DISTRIBUTION = 3.0
"""Observations farther than this many steps from all states are off the distribution."""
_KIND = "wayfield planner 4"
_METRICS: dict[str, tuple[Any, str]] = {
    "Metric": (Metric, ""),
    "Given": (EmbeddingMetric, "embed"),
    "Landmarks": (Landmarks, "distance"),
}
"""Metrics by their names in files, and the argument that a user's function is passed as."""


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
        Largest number of observations to plan with.
    plans : int
        Largest number of goals whose plans are kept.
    seed : int
        Seed of the states, of the halves of the episodes, and of the test.

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
    Planner(1,620 states of 1 coordinate, 2 actions, skill 1.00 in its test)
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
        states: int = MOST_STATES,
        plans: int = 64,
        seed: int = 0,
    ) -> None:
        if distance is not None and embed is not None:
            raise InputError("pass distance or embed, got both")
        states, plans = as_whole(states, "states", least=10), as_whole(plans, "plans", least=1)
        seed = as_whole(seed, "seed", 0, 2**32 - 1)
        columns = read_dataset(dataset, entry, ends)
        actions = columns.pop("actions", None)
        rows, onward, absorbing, source = read_steps(read_rows(**columns))
        going = np.flatnonzero(onward)
        if not going.size:
            raise InputError("the dataset has no transition")

        # halves of the episodes; one long episode is cut into pieces
        begins = np.append(True, ~onward[:-1])
        episode = np.cumsum(begins) - 1
        if episode[-1] < 9:
            episode = np.maximum.accumulate(np.arange(len(rows)) * 20 // len(rows) + 20 * episode)
        half = (np.random.default_rng(seed).permutation(episode[-1] + 1) % 2)[episode]

        # kinds of actions; without any, or if they say nothing, directions of steps
        kind, values = np.zeros(len(rows), np.int64), np.zeros(0)
        if actions is not None:
            taken = np.asarray(actions)
            if len(taken) != source.max() + 1:
                raise InputError(f"{source.max() + 1} rows but {len(taken)} actions")
            acted = onward & (source >= 0)  # the last row of an episode may hold a dummy action
            kind[acted], values = kinds_of(taken[source[acted]], seed)
        metric: Metric | EmbeddingMetric | Landmarks
        if embed is not None:
            metric = EmbeddingMetric.fitted(embed, rows, going)
        elif distance is not None:
            metric = Landmarks.fitted(distance, rows, going, seed)
        else:
            metric = time_metric(rows, going, kind)
        features = metric(rows)
        if not features.shape[1]:
            raise InputError("observations have no coordinate that changes from step to step")
        vectors = np.zeros((0, 0))
        if values.ndim > 1:
            vectors = np.zeros((len(rows), values.reshape(len(values), -1).shape[1]))
            vectors[source >= 0] = np.reshape(actions, (len(taken), -1))
        steps = Steps(rows, features, onward, absorbing, kind, vectors, episode, half)
        if actions is None or (values.ndim > 1 and explained_locally(steps, seed) < _EXPLAINED):
            vectors, values = where_steps_led(features, going), np.zeros(0)
            kind = kinds_of(vectors, seed)[0]
            steps = replace(steps, kind=kind, vectors=vectors, acted=False)
        model, moves, sparse = make_model(steps, states, seed)
        if values.size and moves.values is not None:
            values = moves.values.reshape(-1, *values.shape[1:])
        unseen = sparse if steps.acted else 1.0  # without actions, any wall may go unnoticed
        test = run_test(model, steps, moves, unseen, metric.dropped, seed)
        self._hold(metric, model, values, test, find_horizon(model, seed), plans)

    def _hold(
        self,
        metric: Metric | EmbeddingMetric | Landmarks,
        model: BufferModel,
        values: NDArray[Any],
        test: Test,
        horizon: float,
        plans: int,
    ) -> None:
        self._metric, self._model, self._values, self._test = metric, model, values, test
        self._horizon, self._ignores = horizon, bool(metric.dropped.any())
        self._plans: Cache[GoalPlan] = Cache(self._make, plans)
        self._warned = False

    # ---------------------------------------------------------------- what there is

    @property
    def states(self) -> Rows:
        """(n, d) observations of the buffer that plans use."""
        return self._model.rows[: self._model.num_living]

    @property
    def actions(self) -> NDArray[Any]:
        """(a,) or (a, k) actions that `action` chooses from; empty if it has none."""
        return self._values

    # ---------------------------------------------------------------- questions

    def subgoal(self, observation: ArrayLike, goal: ArrayLike) -> FloatArray:
        """Return the sub-goal: an observation along the plan, or the goal itself when it is near.

        It lies as far ahead as the plan stays straight, with no wall in between and no change of a
        discrete coordinate. Where another action would spoil the plan, it is a single move ahead.
        Elsewhere, if the buffer has no actions and it is so near that an agent would stop there,
        one farther ahead is taken. Where nothing leads to the goal, it is the nearest state from
        which the plan does. Coordinates that the planner ignores are copied from the observation.

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
        aims = np.empty(rows.shape)
        for one, which in _groups(goals, len(rows)):
            plan, here = self._plans[one.tobytes()], rows[which]
            near, _, action, at = self._consult(here, plan)
            ahead = plan.ahead[at]
            aim = self._model.rows[ahead]
            moves = np.flatnonzero((ahead == at) & (action >= 0))
            if moves.size:
                change = self._model.drift[at[moves], action[moves]]
                aim[moves] = self._metric.moved(here[moves], change)
                beyond = plan.beyond[at[moves]]
                short = self._model.stride[at[moves], action[moves]] < self._model.least
                short &= beyond != at[moves]
                aim[moves[short]] = self._model.rows[beyond[short]]
            lost = np.flatnonzero(plan.values[near].max(axis=1) == 0.0)
            led = np.flatnonzero(plan.values[: self._model.num_living] > 0.0)
            if lost.size and led.size:
                tree = cKDTree(self._model.features[led])
                aim[lost] = self._model.rows[led[tree.query(self._metric(here[lost]))[1]]]
            if self._ignores:
                aim = np.where(self._metric.dropped, here, aim)
            aim[(ahead < 0) | plan.goal[near[:, 0]]] = one
            aims[which] = aim
        return aims[0] if single else aims

    def action(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the action that the plan takes, one of `actions`.

        At the goal it is the action that stays nearest to it. Where nothing leads to the goal, and
        `value` is +inf, it is the first action. Shapes are those of `subgoal`: a
        number, or one vector, for one observation.

        Examples
        --------
        >>> import wayfield as wf
        >>> from wayfield import replay
        >>> walk = {"observations": [[0], [1], [2], [1], [0]], "actions": [7, 7, 5, 5]}
        >>> replay.Planner([walk] * 10).action([0], goal=[2])
        np.int64(7)
        """
        if not self._values.size:
            raise InputError(
                "the plan has no actions: the buffer has none, or they do not say where steps lead"
            )
        rows, goals, single = self._asked(observation, goal)
        taken = np.empty(len(rows), np.int64)
        for one, which in _groups(goals, len(rows)):
            plan = self._plans[one.tobytes()]
            near, _, action, _ = self._consult(rows[which], plan)
            taken[which] = np.where(plan.goal[near[:, 0]], plan.stay[near[:, 0]], action)
        actions = self._values[np.maximum(taken, 0)]
        return actions[0] if single else actions

    def value(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the cost of getting to the goal, in steps; +inf where nothing leads there.

        It is the length of a sure path of the same value to the plan. So risk counts: one chance in
        two of never arriving costs at least 200 steps, and more in large worlds. Shapes are
        those of `subgoal`: a number for one observation.
        """
        rows, goals, single = self._asked(observation, goal)
        values = np.empty(len(rows))
        for one, which in _groups(goals, len(rows)):
            plan = self._plans[one.tobytes()]
            near, share, _, _ = self._consult(rows[which], plan)
            worth = (share * plan.values[near]).sum(axis=1)
            with np.errstate(divide="ignore"):
                values[which] = np.abs(np.log(worth) / np.log1p(-1.0 / self._horizon))
        return values[0] if single else values

    def reach(self, observation: ArrayLike, goal: ArrayLike) -> Any:
        """Return the probability of arriving under the plan: an estimate, not a proof.

        It lies between a low estimate, by episodes that did not choose the plan, and a high one, by
        those that did. Where it lies in between was chosen on some worlds; `wayfield study buffers`
        measures it on others. It is not fitted to passages of held-out episodes, from a start to a
        later state. All of these arrived, so a fit to them can only raise predictions: on average
        it brings them nearer to what happens, but more of them are far too high.
        `errors.TrustWarning` is issued once if the planner failed its test: see `check`. Shapes are
        those of `value`.
        """
        rows, goals, single = self._asked(observation, goal)
        low, high, far = self._bounds(rows, goals)
        # off the distribution nothing is known: halve the odds for every three steps
        reach = calibrated(0.25**far * low, 0.5**far * high, self._test.blind)
        return reach[0] if single else reach

    def reach_interval(
        self, observation: ArrayLike, goal: ArrayLike, level: float = 0.9
    ) -> tuple[Any, Any]:
        """Return an interval for the probability of arriving: its lower and its upper end.

        Parameters
        ----------
        observation, goal : arrays
            As for `subgoal`.
        level : float
            Share of tasks whose probability should lie in the interval. Widths were chosen on some
            worlds and carry no guarantee; `wayfield study buffers` counts how often they hold on
            others. Without actions, walls may go unnoticed, and the interval begins at 0.
        """
        level = as_real(level, "level")
        if not 0.0 < level < 1.0:
            raise InputError(f"level must be between 0 and 1, got {level:g}")
        rows, goals, single = self._asked(observation, goal)
        low, high, far = self._bounds(rows, goals)
        high = np.where(far > 0.0, 1.0, high)  # nothing is known, so nothing is ruled out
        low, high = interval(0.25**far * low, high, self._test, level)
        return (low[0], high[0]) if single else (low, high)

    def check(self) -> Check:
        """Return how the model was tested on held-out episodes, and whether to trust it.

        Examples
        --------
        >>> import numpy as np
        >>> import wayfield as wf
        >>> from wayfield import replay
        >>> there = np.linspace(0.0, 40.0, 81)[:, np.newaxis]
        >>> up = {"observations": there, "actions": np.ones(80, int)}
        >>> down = {"observations": there[::-1], "actions": np.zeros(80, int)}
        >>> replay.Planner([up, down] * 20).check().verdict
        'trust'
        """
        return self._checked

    @cached_property
    def _checked(self) -> Check:
        model, rng = self._model, np.random.default_rng(0)
        drawn = rng.permutation(model.num_living)[:4]
        plans = [make_plan(model, self._horizon, model.features[i]) for i in drawn]
        return make_check(model, self._metric, self._test, plans, self._values.size > 0)

    def report(self, goal: ArrayLike) -> PlannerReport:
        """Return a report on the plan for a goal: its states, coverage and predicted arrival."""
        point = self._one(goal, "goal")
        plan, living = self._plans[point.tobytes()], self._model.num_living
        reach = calibrated(plan.low, plan.high, self._test.blind)
        return PlannerReport(
            goal=frozen(point),
            goal_states=frozen(np.flatnonzero(plan.goal)),
            away=plan.away,
            visited=plan.visited,
            leads=frozen(plan.values[:living] > 0.0),
            reach=frozen(reach[:living]),
            low=frozen(plan.low[:living]),
            high=frozen(plan.high[:living]),
            risky=frozen(plan.risky[:living]),
        )

    def diagnose(self, observation: ArrayLike, goal: ArrayLike) -> PlanDiagnosis:
        """Return why the plan does what it does at an observation: a few lines when printed."""
        here, point = self._one(observation, "observation"), self._one(goal, "goal")
        plan, model = self._plans[point.tobytes()], self._model
        near, share, (action,), _ = self._consult(here[None], plan)
        away = np.linalg.norm(model.features[near[0]] - self._metric(here[None]), axis=1)
        has_action = self._values.size and action >= 0
        path: list[int] = []
        at = int(near[0, 0])
        while at not in path and len(path) < 1000:
            path.append(at)
            if plan.goal[at] or plan.following[at] == at:
                break
            at = int(plan.following[at])
        low, high = self.reach_interval(here, point)
        return PlanDiagnosis(
            observation=frozen(here),
            away=float(away[0]),
            at_goal=bool(plan.goal[near[0, 0]]),
            risky=bool(plan.risky[near[0, 0]]),
            action=self._values[action] if has_action else None,
            scores=frozen(np.asarray((share[0, :, None] * plan.scores[near[0]]).sum(axis=0))),
            subgoal=self.subgoal(here, point),
            path=frozen(model.rows[path]),
            arrives=bool(plan.goal[path[-1]]),
            reach=float(self.reach(here, point)),
            low=float(low),
            high=float(high),
        )

    # ---------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the planner to an ``.npz`` file; functions are not saved. Return its path."""
        arrays: dict[str, NDArray[Any]] = {
            "values": self._values,
            "plans": np.array(self._plans.most),
            "horizon": np.array(self._horizon),
            "metric": np.array(
                next(name for name, (kind, _) in _METRICS.items() if isinstance(self._metric, kind))
            ),
        }
        for part, thing in (("m", self._model), ("f", self._metric), ("t", self._test)):
            arrays |= {
                f"{part}_{field.name}": np.asarray(getattr(thing, field.name))
                for field in fields(thing)
                if field.name != "function"
            }
        return npz.write(path, _KIND, arrays)

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
        given = "distance" if distance is not None else "embed" if embed is not None else ""
        name = str(arrays.get("metric"))
        if name not in _METRICS:
            raise InputError(f"{path} is not a {_KIND}: it has no metric")
        kind, need = _METRICS[name]
        if need != given:
            why = f"pass {need}=, which is not saved" if need else f"it was made without {given}"
            raise InputError(f"{path}: {why}")
        try:
            model: BufferModel = _read(BufferModel, "m", arrays)
            metric: Any = _read(kind, "f", arrays, embed if embed is not None else distance)
            test: Test = _read(Test, "t", arrays)
            model.validate(metric(model.rows[:1]).shape[1])
            values, plans = arrays["values"], int(arrays["plans"])
            horizon = float(arrays["horizon"])
        except KeyError as missing:
            raise InputError(f"{path} is not a {_KIND}: it has no {missing.args[0]}") from missing
        except (ValueError, TypeError, IndexError) as error:
            raise InputError(f"{path} is not a {_KIND}, or is damaged: {error}") from error
        if given:
            made, scale = metric(model.rows), float(np.abs(model.features).max())
            if not np.allclose(made, model.features, 1e-3, 1e-3 * scale):  # rounding may differ
                raise InputError(f"{path}: {given} is not what the planner was made with")
        planner = cls.__new__(cls)
        planner._hold(metric, model, values, test, horizon, plans)
        return planner

    def __repr__(self) -> str:
        n, d = self.states.shape
        states = f"{number_of(n, 'states')} of {number_of(d, 'coordinates')}"
        actions = number_of(len(self._values), "actions") if self._values.size else "no actions"
        skill = self._test.skill
        tested = f"skill {skill:.2f} in its test" if np.isfinite(skill) else "skill unknown"
        return f"Planner({states}, {actions}, {tested})"

    # ---------------------------------------------------------------- inside

    def _make(self, goal: bytes) -> GoalPlan:
        point = np.frombuffer(goal)
        try:
            return make_plan(self._model, self._horizon, self._metric(point[None])[0])
        except InputError as error:
            text = np.array2string(point, precision=4)
            raise InputError(str(error).replace("the goal", f"the goal {text}")) from None

    def _asked(self, observation: ArrayLike, goal: ArrayLike) -> tuple[Rows, Rows, bool]:
        """Return observations and goals as rows, and whether a single one was asked about."""
        # A short cut for the usual case, because full checks take longer than finding the sub-goal.
        # A goal with a plan was checked before.
        width = (self._model.rows.shape[1],)
        if (
            type(observation) is type(goal) is np.ndarray
            and observation.dtype == goal.dtype == np.float64
            and observation.shape == goal.shape == width
            and observation @ observation <= LARGEST  # so all coordinates are finite
            and goal.tobytes() in self._plans
        ):
            return observation[None], goal[None], True
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

    def _one(self, data: ArrayLike, name: str) -> FloatArray:
        rows = np.atleast_2d(self._rows(data, name))
        if len(rows) != 1:
            raise InputError(f"{name} must be one observation, got {len(rows)}")
        return np.asarray(rows[0])

    def _consult(
        self, rows: Rows, plan: GoalPlan
    ) -> tuple[IntArray, FloatArray, IntArray, IntArray]:
        """Return what `kernels.outcomes.consult` says about observations."""
        away, near = self._model.around(self._metric(rows), _LOOKED_AT)
        return consult(away, near, plan.values, plan.scores)

    def _bounds(self, rows: Rows, goals: Rows) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return low and high estimates of the probability of arrival; warn if the test failed.

        The third array says how far observation and goal are from all states, in units of
        `_OFF_DISTRIBUTION` steps beyond the first.
        """
        if self._test.verdict == "do not use" and not self._warned:
            self._warned = True
            warnings.warn(
                "the planner failed its test on held-out episodes, so reach means little: "
                "planner.check() says why",
                TrustWarning,
                stacklevel=3,
            )
        low, high, far = np.empty((3, len(rows)))
        for one, which in _groups(goals, len(rows)):
            plan = self._plans[one.tobytes()]
            points = self._metric(rows[which])
            away, near = self._model.around(points, 3)
            share = weights(away)
            low[which] = (share * plan.low[near]).sum(axis=1)
            high[which] = (share * plan.high[near]).sum(axis=1)
            apart = np.linalg.norm(points - self._model.features[near[:, 0]], axis=1)
            beyond = np.maximum(apart / _OFF_DISTRIBUTION - 1.0, 0.0)
            far[which] = beyond + max(plan.away / _OFF_DISTRIBUTION - 1.0, 0.0)
        return low, high, far


def _read(kind: Any, part: str, arrays: dict[str, NDArray[Any]], function: Any = None) -> Any:
    """Return a part of a saved planner; raise `ValueError` for entries that are not numbers."""
    some: dict[str, Any] = {}
    for field in fields(kind):
        if field.name == "function":
            some["function"] = function
            continue
        array = arrays[f"{part}_{field.name}"]
        finite = array.dtype.kind in "biuf" and (field.name == "planes" or np.isfinite(array).all())
        if not finite:
            raise ValueError(f"{field.name} has entries that are not finite numbers")
        some[field.name] = frozen(array) if array.ndim else array.item()
    return kind(**some)


def _groups(goals: Rows, count: int) -> list[tuple[FloatArray, NDArray[np.int64] | slice]]:
    """Return each distinct goal, with the rows that ask for it."""
    if len(goals) == 1:
        return [(goals[0], slice(None))]
    distinct, which = np.unique(goals, axis=0, return_inverse=True)
    which = which.ravel()
    return [(one, np.flatnonzero(which == i)) for i, one in enumerate(distinct)]


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
        self._make, self.most = make, most
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
                    while len(self._values) > self.most:
                        self._values.popitem(last=False)
        return found

    def __contains__(self, key: Hashable) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle an empty cache: locks cannot be pickled, and values can be made again."""
        return Cache, (self._make, self.most)

    def _found(self, key: Hashable) -> Value | None:
        with self._looking:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key]
        return None
