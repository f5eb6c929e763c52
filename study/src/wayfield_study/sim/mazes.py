"""Mazes with a body in them: OGBench's and Gymnasium-Robotics', and your own layouts.

`Maze` gives both suites one interface: place the body, move it, read its position. The physics is
theirs, unchanged. `make` creates environments; those made by the suites can be wrapped.

The ant's controller was trained at OGBench's gear 30 and 10 Hz. Gymnasium-Robotics' ant has
gear 150 and 20 Hz: the same torques are divided by 5 and each is held for two steps.
"""

from __future__ import annotations

import re
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeAlias

import numpy as np

from wayfield.checks import as_choice, as_whole, need
from wayfield.errors import InputError
from wayfield.graphs.layouts import Layout, layout_names, load_layout
from wayfield.typing import FloatArray

from .controllers import AntController, Controller, PointController, StepController
from .coordinates import Coordinates, ogbench_coordinates, robotics_coordinates

EXTRA = "sim"
Body: TypeAlias = Literal["ant", "point"]
Suite: TypeAlias = Literal["ogbench", "gymnasium-robotics"]

OGBENCH_MAPS = ("arena", "medium", "large", "giant", "teleport")
_OGBENCH_NAME = re.compile(
    r"(?P<body>ant|point)maze-(?P<map>[a-z]+)"
    r"(-(navigate|stitch|explore))?(-singletask(-task\d)?)?(-v0)?"
)
_ROBOTICS_NAME = re.compile(r"(Ant|Point)Maze_\w+-v\d+")
_ANT = (15, 14, 8)
"""Numbers in an ant's position and velocity, and its motors."""
_DYNAMICS = {("ant", "ogbench"): (30.0, 0.1), ("ant", "gymnasium-robotics"): (150.0, 0.05)}
"""Gear and seconds per step of the ants that the controller supports."""
_LIMIT = 1000


class Maze(ABC):
    """A maze with a body in it.

    Attributes
    ----------
    layout : Layout
        Its walls.
    body : {"ant", "point"}
        The kind of body.
    suite : {"ogbench", "gymnasium-robotics"}
        The suite that provides the physics.
    coordinates : Coordinates
        Coordinates of its cells, with one vertex per cell; ``coordinates.at(r)`` refines them.
    tolerance : float
        Distance from the goal in metres at which the environment counts the body as arrived.
    limit : int
        Largest number of steps of the environment.
    hold : int
        Number of steps for which an action is held.

    Examples
    --------
    >>> maze = make("pointmaze-medium")
    >>> maze
    Maze('medium', point, ogbench)
    >>> maze.coordinates.xy[0], maze.tolerance, maze.limit
    (array([0., 0.]), 1.0, 1000)
    """

    suite: Suite
    hold = 1

    def __init__(self, env: Any, layout: Layout, body: Body, coordinates: Coordinates) -> None:
        self.env, self.layout, self.body, self.coordinates = env, layout, body, coordinates
        self.limit = getattr(getattr(env, "spec", None), "max_episode_steps", None) or _LIMIT
        self.tolerance = 0.0
        if body == "ant":  # must be of the kind that the controller was trained for
            model = self._simulation.model
            gears = model.actuator_gear[:, 0]
            gear, seconds = _DYNAMICS["ant", self.suite]
            known = (model.nq, model.nv, model.nu) == _ANT and np.allclose(gears, gear)
            if not (known and np.isclose(self.seconds, seconds)):
                raise InputError(
                    f"{_called(env)} must have gear {gear:g} and {seconds:g} s per step for this "
                    f"controller, got {gears[0]:g} and {self.seconds:g} s"
                )

    @property
    def position(self) -> FloatArray:
        """Generalised position; x and y come first."""
        return self._data.qpos.copy()  # type: ignore[no-any-return]

    @property
    def velocity(self) -> FloatArray:
        """Generalised velocity."""
        return self._data.qvel.copy()  # type: ignore[no-any-return]

    @property
    def observation(self) -> FloatArray:
        """Observation for a planner: position and velocity, x and y first."""
        return np.concatenate([self._data.qpos, self._data.qvel])

    @property
    def seconds(self) -> float:
        """Simulated seconds per step."""
        return float(self._simulation.dt)

    @property
    def upright(self) -> float:
        """Third entry of the body's up vector: 1 if it stands, -1 on its back."""
        if self.body == "point":
            return 1.0
        x, y = self._data.qpos[4:6]
        return float(1 - 2 * (x * x + y * y))

    @property
    @abstractmethod
    def controller(self) -> Controller:
        """The controller of this body."""

    @abstractmethod
    def place(self, start: FloatArray, goal: FloatArray, seed: int) -> None:
        """Begin an episode: body at `start`, mark at `goal`, posture and noise by the seed."""

    @abstractmethod
    def step(self, action: FloatArray) -> None:
        """Advance by one step."""

    @property
    def _simulation(self) -> Any:
        return self.env.unwrapped

    @property
    def _data(self) -> Any:
        return self._simulation.data

    def __repr__(self) -> str:
        return f"Maze({self.layout.name!r}, {self.body}, {self.suite})"


class _OGBenchMaze(Maze):
    """A maze of OGBench, or its ant or point in another layout."""

    suite: Suite = "ogbench"

    def __init__(self, env: Any) -> None:
        inner = env.unwrapped
        body: Body = "ant" if inner.model.nq == _ANT[0] else "point"
        unit, layout = float(inner._maze_unit), _layout_of(inner.maze_map)
        super().__init__(env, layout, body, ogbench_coordinates(layout, unit=unit))
        self.tolerance = float(inner._goal_tol)

    @property
    def observation(self) -> FloatArray:
        return self.env.unwrapped.get_ob(ob_type="states")  # type: ignore[no-any-return]

    @property
    def controller(self) -> Controller:
        return AntController() if self.body == "ant" else StepController()

    def place(self, start: FloatArray, goal: FloatArray, seed: int) -> None:
        inner = self.env.unwrapped
        inner.reset(seed=seed, options={"task_id": 1})  # its own start and goal are replaced now
        inner.set_goal(goal_xy=goal)
        inner.set_xy(start)

    def step(self, action: FloatArray) -> None:
        self.env.unwrapped.step(action)


class _RoboticsMaze(Maze):
    """A maze of Gymnasium-Robotics."""

    suite: Suite = "gymnasium-robotics"

    def __init__(self, env: Any) -> None:
        inner = env.unwrapped
        body: Body = "ant" if hasattr(inner, "ant_env") else "point"
        layout = _layout_of([[cell == 1 for cell in row] for row in inner.maze.maze_map])
        places = robotics_coordinates(layout, unit=float(inner.maze.maze_size_scaling))
        super().__init__(env, layout, body, places)
        self.tolerance = 0.45  # of the suite's own compute_terminated
        self.hold = 2 if body == "ant" else 1

    @property
    def controller(self) -> Controller:
        return _Gentle() if self.body == "ant" else PointController()

    def place(self, start: FloatArray, goal: FloatArray, seed: int) -> None:
        inner, body = self.env.unwrapped, self._simulation
        cell = np.argwhere(self.layout.free)[0]  # by default it would look for two distant cells
        inner.reset(seed=seed, options={"goal_cell": cell, "reset_cell": cell})
        inner.goal = goal.copy()
        inner.update_target_site_pos()
        position = body.init_qpos.copy()
        position[:2] = start
        body.set_state(position, body.init_qvel)

    def step(self, action: FloatArray) -> None:
        self._simulation.step(np.asarray(action, dtype=np.float32))

    @property
    def _simulation(self) -> Any:
        inner = self.env.unwrapped
        return inner.ant_env if self.body == "ant" else inner.point_env


class _Gentle(AntController):
    """The ant's controller for motors five times as strong."""

    def __call__(
        self, position: FloatArray, velocity: FloatArray, target: FloatArray
    ) -> FloatArray:
        return super().__call__(position, velocity, target) / 5


def make(maze: str | Layout, body: Body = "ant", suite: Suite = "ogbench") -> Maze:
    r"""Make a maze with a body in it.

    Parameters
    ----------
    maze : str or Layout
        A name in the spelling of OGBench (``"antmaze-medium"``, ``"pointmaze-large-navigate-v0"``)
        or Gymnasium-Robotics (``"AntMaze_Large-v5"``, ``"PointMaze_UMaze-v3"``), which determines
        body and suite; or a layout, to be built from the suite's own blocks.
    body : {"ant", "point"}
        The body in a layout.
    suite : {"ogbench", "gymnasium-robotics"}
        The suite that provides the physics of a layout.

    Raises
    ------
    WayfieldError
        If the suite is not installed.
    InputError
        If it has no such maze, or a layout has free cells at its border, costs, arrows or
        teleports: the floor of these suites has none.

    Examples
    --------
    >>> from wayfield import Layout
    >>> make("antmaze-large")
    Maze('large', ant, ogbench)
    >>> make(Layout.from_text("#####\n#...#\n#.#.#\n#####", "bend"), "point")
    Maze('bend', point, ogbench)
    """
    as_choice(body, "body", ("ant", "point"))
    as_choice(suite, "suite", ("ogbench", "gymnasium-robotics"))
    if isinstance(maze, str):
        if match := _OGBENCH_NAME.fullmatch(maze):
            return _ogbench_maze("ant" if match["body"] == "ant" else "point", match["map"])
        if _ROBOTICS_NAME.fullmatch(maze):
            return _robotics_maze(maze)
        raise InputError(
            f"unknown environment {maze!r}; OGBench's are called antmaze-… or pointmaze-… with "
            f"{', '.join(OGBENCH_MAPS)}, Gymnasium-Robotics' AntMaze_…-v5 or PointMaze_…-v3"
        )
    if not isinstance(maze, Layout):
        raise InputError(f"maze must be a name or a wayfield.Layout, got {type(maze).__name__}")
    if maze.directed or not maze.is_unit:
        raise InputError(f"maze must have no arrows, costs or teleports, got {maze!r}")
    edge = np.ones(maze.shape, dtype=np.bool_)
    edge[1:-1, 1:-1] = False
    if (edge & maze.free).any():
        row, column = np.argwhere(edge & maze.free)[0].tolist()
        raise InputError(
            f"cell ({row}, {column}) of {maze.name!r} is free and at the border, where the body "
            "would walk out: put walls around the maze"
        )
    if suite == "ogbench":
        made, places = _ogbench_maze(body, maze), ogbench_coordinates
    else:
        name = "AntMaze_UMaze-v5" if body == "ant" else "PointMaze_UMaze-v3"
        walls = np.where(maze.free, 0, 1).tolist()
        made = _robotics_maze(name, maze_map=walls, max_episode_steps=_LIMIT)
        places = robotics_coordinates
    made.layout, made.coordinates = maze, places(maze, unit=made.coordinates.unit)
    return made


def as_maze(env: Any) -> Maze:
    """Return `env` as a `Maze`; it may be a name, a Maze, or an environment of either suite."""
    if isinstance(env, Maze):
        return env
    if isinstance(env, str | Layout):
        return make(env)
    inner: Any = getattr(env, "unwrapped", None)
    if all(hasattr(inner, name) for name in ("maze_map", "set_xy", "set_goal", "get_ob", "model")):
        if inner.model.nq not in (_ANT[0], 2):
            raise InputError(
                f"no controller is known for a body with {inner.model.nq} position coordinates"
            )
        return _OGBenchMaze(env)
    if hasattr(inner, "maze") and (hasattr(inner, "ant_env") or hasattr(inner, "point_env")):
        return _RoboticsMaze(env)
    raise InputError(
        f"env must be a maze of OGBench (antmaze, pointmaze) or of Gymnasium-Robotics "
        f"(AntMaze_…-v5, PointMaze_…-v3), got {_called(env)}"
    )


# -------------------------------------------------------------------- the suites themselves


def _ogbench_maze(body: Body, which: str | Layout) -> Maze:
    """Make one of OGBench's mazes, or its class with another map."""
    need("mujoco", EXTRA)
    mazes = need("ogbench.locomaze.maze", EXTRA)
    if isinstance(which, str):
        if which not in OGBENCH_MAPS:
            own = which in layout_names()
            hint = f"; build it with make(wf.load_layout({which!r}))" if own else ""
            maps = ", ".join(OGBENCH_MAPS)
            raise InputError(f"OGBench has no maze {which!r}; it has {maps}{hint}")
        with _no_litter():
            return _OGBenchMaze(mazes.make_maze_env(body, "maze", maze_type=which))
    layout = which
    with _no_litter():
        arena = type(mazes.make_maze_env(body, "maze", maze_type="arena"))

        class Drawn(arena):  # type: ignore[misc, valid-type]
            def update_tree(self, tree: Any) -> None:  # reads the map when it writes the walls
                self.maze_map = np.where(layout.free, 0, 1)
                super().update_tree(tree)

            def set_tasks(self) -> None:
                free = np.argwhere(layout.free)
                first, last = (tuple(cell.tolist()) for cell in free[[0, -1]])
                self.task_infos = [{"task_name": "task1", "init_ij": first, "goal_ij": last}]

        return _OGBenchMaze(Drawn(maze_type="arena"))


def _robotics_maze(name: str, **settings: Any) -> Maze:
    gymnasium, suite = need("gymnasium", EXTRA), need("gymnasium_robotics", EXTRA)
    gymnasium.register_envs(suite)
    try:
        with _no_litter():
            env = gymnasium.make(name, **settings)
    except gymnasium.error.Error as error:  # unknown, or of a version that no longer exists
        raise InputError(f"Gymnasium-Robotics {suite.__version__}: {error}") from error
    return as_maze(env)


def _layout_of(walls: Any) -> Layout:
    """Return the layout with these walls, under its own name if it is a known map."""
    free = ~np.asarray(walls).astype(np.bool_)
    for name in layout_names():
        known = load_layout(name)
        if np.array_equal(known.free, free):
            return known
    return Layout("custom", free)


def _called(env: Any) -> str:
    spec = getattr(env, "spec", None)
    return repr(spec.id) if spec is not None else type(env).__name__


@contextmanager
def _no_litter() -> Iterator[None]:
    """Delete the models that both suites leave in the temporary folder."""
    before = tempfile.tempdir
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        try:
            yield
        finally:
            tempfile.tempdir = before


@contextmanager
def global_seed(seed: int) -> Iterator[None]:
    """Seed NumPy's global generator, which OGBench uses, and restore it afterwards."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(as_whole(seed, "seed", 0, 2**32 - 1))  # noqa: NPY002
    try:
        yield
    finally:
        np.random.set_state(state)  # noqa: NPY002
