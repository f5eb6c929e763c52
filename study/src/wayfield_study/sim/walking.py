"""Walks in a maze: a body follows a plan, or wanders about to collect a buffer.

**Following a plan.** Sub-goals are planned anew at every step.

The body's position (x, y) belongs to a vertex of the plan's graph. The sub-goal is the vertex that
the plan reaches from there after `look_ahead` cells, or the goal itself if the plan reaches it
within that distance. The controller sees only the sub-goal.

A walk ends when the environment counts the body as arrived, when it lies on its back for two
seconds (no ant gets up again), when it comes to rest before the goal, or at the time limit. It has
*looped* if it came to rest, as in most loops: the sub-goal is underneath the body. It has also
looped if time ran out and most of the places it visited in the last third were not new. Places are
squares of a quarter of a cell. A body that pushes against a wall for ever has looped as well. A
fall always counts as a fall.

**Collecting a buffer**, as OGBench's datasets were made: the body walks to random cells, and its
actions are noisy. ``navigate`` has episodes of 1,000 steps and goals anywhere. ``stitch`` has
episodes of 200 steps and goals at most four cells away, so no episode shows a long path, and a
planner has to stitch them together.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield.checks import (
    KeepsReadOnly,
    as_choice,
    as_finite,
    as_real,
    as_vertex,
    as_whole,
    frozen,
)
from wayfield.errors import InputError
from wayfield.graphs.grid import grid_graph
from wayfield.graphs.shortest_paths import cost_to_go
from wayfield.plans.planning import Plan
from wayfield.plans.planning import plan as make_plan
from wayfield.typing import FloatArray

from .controllers import Controller
from .coordinates import Coordinates
from .mazes import Maze, as_maze, global_seed

ON_ITS_BACK = 2.0
"""Seconds after which a body on its back has fallen."""
AT_REST, STILL = 5.0, 1e-4
"""A body is at rest after this many seconds of moving less than this many metres per step."""
PLACES = 4
"""Places along the side of a cell, to detect whether a walk visits new places."""
Style: TypeAlias = Literal["navigate", "stitch"]
_EPISODE = {"navigate": 1000, "stitch": 200}
_NEAR = {"navigate": np.inf, "stitch": 4.0}
"""Distance of the farthest goal in cells."""
_CLOSE = 1.0
"""Distance from a target, in metres for a cell of four, at which the next one is drawn."""


class Ending(StrEnum):
    """How a walk ended.

    Examples
    --------
    >>> Ending.OUT_OF_TIME
    <Ending.OUT_OF_TIME: 'out of time'>
    """

    ARRIVED = "arrived"
    """Within the environment's own tolerance of the goal."""
    LOOPED = "looped"
    """At rest before the goal, or mostly in known places in the last third of its time."""
    FELL = "fell"
    """On its back for two seconds."""
    OUT_OF_TIME = "out of time"
    """Still visiting new places when time ran out."""


@runtime_checkable
class Guide(Protocol):
    """Any planner: a method that returns the sub-goal for an observation and a goal."""

    def subgoal(self, observation: Any, goal: Any) -> Any:
        """Return a nearby point; x and y come first."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class Walk(KeepsReadOnly):
    """The walk of a body that followed a plan.

    Attributes
    ----------
    ending : Ending
        How it ended; ``arrived``, ``looped``, ``fell`` or ``out of time``.
    steps : int
        Steps of the environment that it took.
    path : (steps + 1, 2) float array
        Positions of the body, the start first.
    subgoals : (steps, 2) float array
        Sub-goal at each step.
    positions : (steps + 1, nq) float array
        Generalised positions, from which the body can be drawn.
    start, goal : (2,) float arrays
        Start and goal.
    seconds : float
        Simulated time.
    seed : int
        Seed of the posture at the start and of all noise.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study import sim
    >>> maze = sim.make("pointmaze-medium")
    >>> graph = wf.grid_graph(maze.layout, refinement=4)
    >>> plan = wf.plan(graph, wf.cost_to_go(graph, 400), goal=400)
    >>> went = sim.walk(maze, plan, start=0)
    >>> went.arrived, went.path.shape[0] == went.steps + 1
    (True, True)
    """

    ending: Ending
    steps: int
    path: FloatArray
    subgoals: FloatArray
    positions: FloatArray
    start: FloatArray
    goal: FloatArray
    seconds: float
    seed: int

    @property
    def arrived(self) -> bool:
        """Whether the walk reached the goal."""
        return self.ending is Ending.ARRIVED

    @property
    def metres(self) -> float:
        """Length of the path of the body in metres."""
        return float(np.hypot(*np.diff(self.path, axis=0).T).sum())

    def __repr__(self) -> str:
        return f"Walk({self.ending}, {self.steps:,} steps, {self.metres:.1f} m)"


def walk(
    env: Any,
    planner: Any,
    goal: ArrayLike | None = None,
    start: ArrayLike | None = None,
    *,
    seed: int = 0,
    look_ahead: float = 1.0,
    limit: int | None = None,
    controller: Controller | None = None,
) -> Walk:
    """Make a body follow a plan, or any planner, and return its walk.

    Parameters
    ----------
    env : Maze, environment or str
        A result of `make`, an environment of OGBench or Gymnasium-Robotics, or a name.
    planner : Plan, Answer, or anything with ``subgoal(observation, goal)``
        A plan must be on ``grid_graph(maze.layout, r)`` for some r. Any other planner, such as a
        `replay.Planner`, is called at every step with the body's position and velocity (x, y
        first, as many numbers as the goal has) and the goal as given. It returns a point with x and
        y first.
    goal : vertex, (x, y) or observation, optional
        A vertex of the plan's graph, a point, or an observation that begins with x, y. Default: the
        plan's own goal.
    start : vertex or (x, y), optional
        Default: a random vertex with room for the body. An ant that starts within a metre of a wall
        starts with its legs inside the wall.
    seed : int
        Seed of the start, the posture and all noise: the same seed gives the same walk.
    look_ahead : float
        Cells between the body and its sub-goal on a plan.
    limit : int, optional
        Largest number of steps. Default: the environment's own limit.
    controller : function of position, velocity and target, optional
        Returns the next action of the body. Default: the maze's own, such as `AntController`.

    Raises
    ------
    InputError
        If the plan is on another graph or leads to another goal, or start or goal lies in a wall.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study import sim
    >>> graph = wf.grid_graph(wf.load_layout("medium"), refinement=4)
    >>> plan = wf.plan(graph, wf.cost_to_go(graph, 400), goal=400)
    >>> walk("antmaze-medium", plan, start=170)
    Walk(arrived, 119 steps, 17.3 m)
    """
    maze = as_maze(env)
    seed = as_whole(seed, "seed", 0, 2**32 - 1)
    limit = maze.limit if limit is None else as_whole(limit, "limit", 1)
    places, end, subgoal = _guided(maze, planner, goal, look_ahead)
    if start is None:
        begin = places.xy[np.random.default_rng(seed).choice(places.roomy)].copy()
    else:
        begin = _point(start, "start", places)
    watch, control = _Watch(maze, limit), controller or maze.controller
    if not callable(control):
        raise InputError(
            "controller must be a function of position, velocity and target, got "
            f"{type(control).__name__}"
        )
    positions: list[FloatArray] = []
    subgoals: list[FloatArray] = []
    with global_seed(seed):
        maze.place(begin, end, seed)
        positions.append(maze.position)
        ending = watch.look(positions[-1], end)
        action = np.empty(0)
        while ending is None:
            if len(subgoals) % maze.hold == 0:
                target = subgoal(positions[-1][:2])
                action = control(positions[-1], maze.velocity, target)
            maze.step(action)
            subgoals.append(target)
            positions.append(maze.position)
            ending = watch.look(positions[-1], end)
    whole = np.array(positions)
    return Walk(
        ending,
        len(subgoals),
        path=frozen(whole[:, :2].copy()),
        subgoals=frozen(np.array(subgoals).reshape(-1, 2)),
        positions=frozen(whole),
        start=frozen(begin),
        goal=frozen(end),
        seconds=len(subgoals) * maze.seconds,
        seed=seed,
    )


def _guided(
    maze: Maze, planner: Any, goal: Any, look_ahead: float
) -> tuple[Coordinates, FloatArray, Callable[[FloatArray], FloatArray]]:
    """Return the coordinates, the goal as a point, and the sub-goal as a function of (x, y).

    On a plan the sub-goal is the vertex some cells ahead, or the goal itself when it is near.
    """
    plan = planner if isinstance(planner, Plan) else getattr(planner, "plan", None)
    if isinstance(plan, Plan):
        places = maze.coordinates.of(plan.graph)
        cells = as_real(look_ahead, "look_ahead", 1e-6)
        point = places.xy[plan.goal] if goal is None else _point(goal, "goal", places)
        if places.vertex(point) != plan.goal:
            raise InputError(
                f"the plan leads to vertex {plan.goal}, but the goal is at vertex "
                f"{places.vertex(point)}"
            )
        ahead = steps_ahead(plan, max(1, round(cells * places.refinement)))
        targets = places.xy[ahead]
        targets[ahead == plan.goal] = point
        return places, point, lambda xy: targets[places.vertex(xy)]
    if not isinstance(planner, Guide):
        raise InputError(
            "planner must be a wayfield.Plan or have a method subgoal(observation, goal), got "
            f"{type(planner).__name__}"
        )
    if goal is None or np.ndim(goal) == 0:
        raise InputError(f"goal must be (x, y) or an observation for this planner, got {goal!r}")

    def subgoal(xy: FloatArray) -> FloatArray:
        found = planner.subgoal(maze.observation[: np.size(goal)], goal)
        return as_finite(np.ravel(np.asarray(found))[:2], "the planner's sub-goal", 2)

    return maze.coordinates, _point(goal, "goal", maze.coordinates), subgoal


def steps_ahead(plan: Plan, steps: int) -> NDArray[np.int64]:
    """Return the (n,) vertices to which the plan leads from each vertex in this many steps.

    It never leaves the goal or a state without a move.
    """
    here = np.arange(plan.successor.size)
    for _ in range(steps):
        here = plan.successor[here]
    return here


def _point(value: Any, name: str, places: Coordinates) -> FloatArray:
    """Return a vertex or an (x, y) as a point; raise `InputError` if it lies in a wall."""
    if np.ndim(value) == 0:
        there: FloatArray = places.xy[as_vertex(value, name, len(places.xy))].copy()
        return there
    point = as_finite(np.ravel(np.asarray(value))[:2], name, 2)
    if not places.is_free(point):
        x, y = point
        raise InputError(f"the {name} ({x:g}, {y:g}) lies in a wall of {places.layout.name!r}")
    return point


# -------------------------------------------------------------------- how it ends


class _Watch:
    """Watches the positions of a walk; returns how it has ended, or None."""

    def __init__(self, maze: Maze, limit: int) -> None:
        self.maze, self.limit = maze, limit
        self.places = maze.coordinates.at(PLACES)
        self.most_down = round(ON_ITS_BACK / maze.seconds)
        self.most_still = round(AT_REST / maze.seconds)
        self.visits: list[int] = []
        self.last = np.full(2, np.inf)
        self.down = self.still = 0

    def look(self, position: FloatArray, goal: FloatArray) -> Ending | None:
        self.visits.append(self.places.vertex(position[:2]))
        self.down = self.down + 1 if self.maze.upright < 0 else 0
        moved = np.abs(position[:2] - self.last).max()
        self.still, self.last = self.still + 1 if moved < STILL else 0, position[:2]
        if np.hypot(*(position[:2] - goal)) <= self.maze.tolerance:
            return Ending.ARRIVED
        if self.down >= self.most_down:
            return Ending.FELL
        if self.still >= self.most_still:
            return Ending.LOOPED
        if len(self.visits) > self.limit:
            # it circles if most places of the last third were known before
            before = 2 * len(self.visits) // 3
            late = set(self.visits[before:])
            known = late.intersection(self.visits[:before])
            return Ending.LOOPED if 2 * len(known) >= len(late) else Ending.OUT_OF_TIME
        return None


# -------------------------------------------------------------------- collecting data


def wander(
    env: Any, steps: int, style: Style = "navigate", *, noise: float = 0.2, seed: int = 0
) -> dict[str, Any]:
    """Make a body wander about a maze, and return the buffer.

    Parameters
    ----------
    env : Maze, environment or str
        As for `walk`.
    steps : int
        Number of observations to collect.
    style : {"navigate", "stitch"}
        Long episodes with goals anywhere, or short ones with goals nearby.
    noise : float
        Standard deviation of the noise added to actions, as a share of their largest entry.
    seed : int
        Seed of starts, goals and noise.

    Returns
    -------
    dict
        ``observations`` (steps, 2), the positions of the body, and ``terminals`` (steps,), True at
        the last step of an episode. `replay.Planner` and `replay.Replay.from_dataset` read it.

    Examples
    --------
    >>> data = wander("pointmaze-medium", 500, "stitch")
    >>> data["observations"].shape, data["terminals"].nonzero()[0]
    ((500, 2), array([199, 399, 499]))
    """
    maze, steps = as_maze(env), as_whole(steps, "steps", 1)
    as_choice(style, "style", tuple(_EPISODE))
    noise = as_real(noise, "noise", 0.0)
    seed = as_whole(seed, "seed", 0, 2**32 - 1)
    rng = np.random.default_rng(seed)
    places, control = maze.coordinates, maze.controller
    cells, unit = places.xy, places.unit
    graph = grid_graph(maze.layout.without_teleports())

    @cache
    def shortest(goal: int) -> Plan:
        return make_plan(graph, cost_to_go(graph, goal), goal)

    def next_goal(here: int) -> tuple[int, FloatArray]:
        """Draw a cell within reach, and a point in it."""
        hops = shortest(here).steps  # the maze is undirected: both directions are equal
        goal = int(rng.choice(np.flatnonzero((hops >= 0) & (hops <= _NEAR[style]))))
        return goal, cells[goal] + rng.uniform(-unit / 4, unit / 4, 2)

    path: list[FloatArray] = []
    ends = np.zeros(steps, dtype=np.bool_)
    with global_seed(seed):
        while len(path) < steps:  # one episode each; a fall ends it
            most = min(len(path) + _EPISODE[style], steps)
            here = int(rng.integers(len(cells)))
            start = cells[here] + rng.uniform(-unit / 4, unit / 4, 2)
            goal, aim = next_goal(here)
            maze.place(start, aim, int(rng.integers(2**31)))
            begin, action = len(path), np.empty(0)
            while len(path) < most and maze.upright > 0:
                xy = maze.position[:2]
                here = places.vertex(xy)
                if (len(path) - begin) % maze.hold == 0:
                    if np.hypot(*(xy - aim)) < _CLOSE * unit / 4:
                        goal, aim = next_goal(here)
                    ahead = int(shortest(goal).successor[here])
                    target = aim if ahead == goal else cells[ahead]
                    action = control(maze.position, maze.velocity, target)
                    sway = noise * np.abs(action).max() * rng.normal(size=action.size)
                    action = np.clip(action + sway, -1.0, 1.0)
                path.append(xy)
                maze.step(action)
            ends[len(path) - 1] = True
    return {"observations": np.array(path), "terminals": ends}
