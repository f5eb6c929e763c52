"""Worlds to make buffers of: dynamics, behaviour, and a low level that follows sub-goals.

States are rows, and all agents move at once. An action is the number of a row of `controls`.
Without a generator the dynamics have no noise.

**Behaviour.** Episodes begin all over the world. An action is kept with probability `persistence`,
else drawn again.

**Low level.** It knows the dynamics without their noise and the state, but no plan. It tries every
action for one to `look` steps, and takes the one that comes nearest to the sub-goal (`steer`), in
coordinates in which a step is about 1 (`World.features`). It decides again after every step.
"""

from __future__ import annotations

import tomllib
from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from importlib import resources
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from wayfield.graphs.layouts import load_layout
from wayfield.typing import BoolArray, FloatArray

Rng: TypeAlias = np.random.Generator | None
Actions: TypeAlias = NDArray[np.int64]

FLAG = 50.0
"""Length of a change of mode, such as taking a key, in steps."""
_TURN = np.arange(8) * np.pi / 4
EIGHT: FloatArray = np.round(np.stack([np.cos(_TURN), np.sin(_TURN)], axis=1), 12)
"""Eight directions in the plane; every other one is along an axis."""
NO_WALLS: FloatArray = np.empty((0, 4))
StartGoal: TypeAlias = tuple[tuple[float, ...], tuple[float, ...]]
"""Where to start, and where to go: two states."""


@dataclass(frozen=True, kw_only=True, eq=False)
class World(ABC):
    """Dynamics, tasks, and how a buffer is collected."""

    tasks: tuple[StartGoal, ...]
    rows: int = 60_000
    length: int = 100
    """Steps of an episode."""
    persistence: float = 0.8
    budget: int = 400
    """Steps within which a task must be done."""
    look: int = 2
    """Steps that the low level looks ahead."""
    radius: float = 0.4
    """Distance within which a goal is reached."""
    jitter: float = 0.0
    """Standard deviation of the noise of a step."""
    sensor: float = 0.0
    """Standard deviation of the noise of observations."""
    has_actions: bool = True
    """Whether the buffer shows actions."""
    deadly: bool = False
    """Whether `fatal` states end the episode; then terminals stand beside timeouts."""
    draws: int = 3
    """Outcomes that the oracle draws for each action; many where rare ones matter."""

    @property
    @abstractmethod
    def controls(self) -> FloatArray:
        """(a, c) what each action does."""

    @abstractmethod
    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Return the next states."""

    @abstractmethod
    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw states for episodes to begin in."""

    @abstractmethod
    def arrived(self, states: FloatArray, goal: FloatArray) -> BoolArray:
        """Whether states are at a goal, one for all or one each."""

    @abstractmethod
    def given(self, observations: FloatArray) -> FloatArray:
        """Return the coordinates that matter, from observations; a step is about 1 long."""

    def observe(self, states: FloatArray, rng: Rng) -> FloatArray:
        """Return what is seen of states."""
        return self.seen(states) if rng is None else self.blur(self.seen(states), rng)

    def seen(self, states: FloatArray) -> FloatArray:
        """Return what a sensor without noise sees."""
        return states

    def blur(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Add the noise of the sensor."""
        return seen + self.sensor * rng.normal(size=seen.shape) if self.sensor else seen

    def jittered(self, moved: FloatArray, rng: Rng) -> FloatArray:
        """Add the noise of a step."""
        return moved if rng is None else moved + self.jitter * rng.normal(size=moved.shape)

    def features(self, states: FloatArray) -> FloatArray:
        """Return the coordinates that matter; a step is about 1 long."""
        return self.given(self.seen(states))

    def fatal(self, states: FloatArray) -> BoolArray:
        """Whether states end the episode, if the world is deadly."""
        return np.zeros(len(states), dtype=bool)

    def parted(self, a: FloatArray, b: FloatArray) -> BoolArray:
        """Whether a wall stands between near states; for the oracle."""
        return np.zeros(len(a), dtype=bool)


class RecordedEpisodes(NamedTuple):
    """Behaviour in a world: (episodes, length, ...) arrays."""

    states: FloatArray
    seen: FloatArray
    actions: Actions
    died: BoolArray
    """Steps that ended in a fatal state."""
    alive: BoolArray
    """Rows that were recorded."""


def behave(world: World, seed: int, rows: int) -> RecordedEpisodes:
    """Run the behaviour for about this many rows."""
    rng = np.random.default_rng([seed, 30])
    count, kinds = max(1, rows // world.length), len(world.controls)
    states, actions = world.draw(rng, count), rng.integers(kinds, size=count)
    alive, kept = np.ones(count, dtype=bool), []
    for _ in range(world.length):
        again = rng.random(count) >= world.persistence
        actions = np.where(again, rng.integers(kinds, size=count), actions)
        onward = world.step(states, actions, rng)
        died = alive & world.fatal(onward) & world.deadly
        kept.append((states, world.observe(states, rng), actions, died, alive))
        states, alive = onward, alive & ~died
    return RecordedEpisodes(*(np.stack(column, axis=1) for column in zip(*kept, strict=True)))


def make_buffer(world: World, seed: int) -> dict[str, NDArray[Any]]:
    """Return a buffer of a world, in the form of D4RL if it is deadly, else of OGBench's files."""
    run = behave(world, seed, world.rows)
    last = np.zeros_like(run.alive)
    last[:, -1] = True
    columns: dict[str, NDArray[Any]] = {
        "observations": run.seen[run.alive].astype(np.float32),
        "terminals": run.died[run.alive] if world.deadly else last[run.alive],
    }
    if world.deadly:
        columns["timeouts"] = (last & ~run.died)[run.alive]
    if world.has_actions:
        columns["actions"] = run.actions[run.alive]
    return columns


def steer(world: World, states: FloatArray, aims: FloatArray) -> Actions:
    """Return the actions that bring states nearest to aims, given as `World.features`."""
    kinds = len(world.controls)
    at, target = np.repeat(states, kinds, axis=0), np.repeat(aims, kinds, axis=0)
    actions = np.tile(np.arange(kinds), len(states))
    best = np.full(len(at), np.inf)
    for _ in range(world.look):
        at = world.step(at, actions, None)
        best = np.minimum(best, np.linalg.norm(world.features(at) - target, axis=1))
    found: Actions = best.reshape(-1, kinds).argmin(axis=1)
    return found


def wrap(angles: FloatArray) -> FloatArray:
    """Return angles between −π and π."""
    turned: FloatArray = (angles + np.pi) % (2 * np.pi) - np.pi
    return turned


# -------------------------------------------------------------------- a point in the plane


def crosses(p: FloatArray, q: FloatArray, walls: FloatArray) -> BoolArray:
    """Whether the line from each p to each q crosses any wall (x0, y0, x1, y1)."""
    a, b, p, q = walls[None, :, :2], walls[None, :, 2:], p[:, None], q[:, None]

    def side(u: FloatArray, v: FloatArray) -> FloatArray:
        area: FloatArray = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
        return area

    across = side(q - p, a - p) * side(q - p, b - p) < 0
    along = side(b - a, p - a) * side(b - a, q - a) <= 0
    return np.asarray((across & along).any(axis=1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Plane(World):
    """A point that moves in eight directions among walls, thin ones and blocks to slide along.

    It is seen in a frame of its own (`frame` @ position), beside coordinates of pure noise.
    """

    size: tuple[float, float]
    walls: FloatArray = field(default_factory=lambda: NO_WALLS)
    blocks: FloatArray = field(default_factory=lambda: NO_WALLS)
    """(b, 4) lower left and upper right corners."""
    stride: float = 0.25
    jitter: float = 0.04
    frame: FloatArray = field(default_factory=lambda: np.eye(2))
    distractors: tuple[float, ...] = ()
    """Scale of every coordinate that is noise."""

    @property
    def controls(self) -> FloatArray:
        """Eight directions."""
        return self.stride * EIGHT

    def moved(self, places: FloatArray, wish: FloatArray) -> FloatArray:
        """Return where one gets who wants to go somewhere: walls stop, blocks are slid along."""
        wish = np.clip(wish, 0.01, np.array(self.size) - 0.01)
        if len(self.blocks):
            beside = np.stack([wish[:, 0], places[:, 1]], axis=1)
            above = np.stack([places[:, 0], wish[:, 1]], axis=1)
            for instead in (beside, above, places):
                wish = np.where(self.inside(wish)[:, None], instead, wish)
        if len(self.walls):
            wish = np.where(crosses(places, wish, self.walls)[:, None], places, wish)
        return wish

    def inside(self, places: FloatArray) -> BoolArray:
        """Whether places are in a block."""
        low, high = self.blocks[None, :, :2], self.blocks[None, :, 2:]
        at = places[:, None]
        within: BoolArray = np.all((at > low) & (at < high), axis=2)
        return np.asarray(within.any(axis=1))

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Move."""
        wish = self.jittered(states[:, :2] + self.controls[actions], rng)
        return self.moved(states[:, :2], wish)

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw places all over the plane."""
        found = rng.uniform(0.05, np.array(self.size) - 0.05, (8 * count + 50, 2))
        return found[~self.inside(found)][:count]

    def arrived(self, states: FloatArray, goal: FloatArray) -> BoolArray:
        """Whether places are near."""
        goals = np.broadcast_to(goal, states.shape)
        away = np.linalg.norm(states[:, :2] - goals[:, :2], axis=1)
        return np.asarray((away < self.radius) & ~self.parted(states, goals))

    def seen(self, states: FloatArray) -> FloatArray:
        """Return places in the frame, and zeros for distractors."""
        places = states[:, :2] @ self.frame.T
        return np.hstack([places, states[:, 2:], np.zeros((len(states), len(self.distractors)))])

    def blur(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Add noise to places, and draw distractors."""
        seen = seen.copy()
        if self.sensor:
            seen[:, :2] += self.sensor * rng.normal(size=(len(seen), 2))
        if self.distractors:
            count = len(self.distractors)
            seen[:, -count:] = np.array(self.distractors) * rng.normal(size=(len(seen), count))
        return seen

    def given(self, observations: FloatArray) -> FloatArray:
        """Return places in strides, and flags."""
        places = observations[:, :2] @ np.linalg.inv(self.frame).T / self.stride
        count = observations.shape[1] - len(self.distractors)
        return np.hstack([places, FLAG * observations[:, 2:count]])

    def parted(self, a: FloatArray, b: FloatArray) -> BoolArray:
        """Whether a wall or a block is between places."""
        p, q = a[:, :2], b[:, :2]
        apart = self.inside((p + q) / 2)
        return apart | crosses(p, q, self.walls) if len(self.walls) else apart


@dataclass(frozen=True, kw_only=True, eq=False)
class KeyDoor(Plane):
    """A plane with a door that opens only to those who have been at the key."""

    key: tuple[float, float]
    door: FloatArray
    """(1, 4) a wall to those without the key."""
    border: FloatArray
    """(2, k) corners of a line through the door, by one coordinate: where, and the other there."""
    beyond: tuple[int, int]
    """The other coordinate, 0 or 1, and in which direction from the line one is behind the door."""
    reach: float = 0.6
    """Distance from which the key is taken."""

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Move, stop at the door, take the key."""
        here, has = states[:, :2], states[:, 2]
        there = super().step(states, actions, rng)
        shut = (has < 0.5) & crosses(here, there, self.door)
        there = np.where(shut[:, None], here, there)
        near = np.linalg.norm(there - np.array(self.key), axis=1) < self.reach
        return np.hstack([there, np.maximum(has, near)[:, None]])

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw places; those behind the door have the key, and three in ten of the others."""
        places, (axis, way) = super().draw(rng, count), self.beyond
        behind = way * (places[:, axis] - np.interp(places[:, 1 - axis], *self.border)) > 0
        has = behind | (rng.random(count) < 0.3)
        return np.hstack([places, has[:, None]])

    def parted(self, a: FloatArray, b: FloatArray) -> BoolArray:
        """Whether a wall or the shut door stands between states."""
        shut = (a[:, 2] < 0.5) & crosses(a[:, :2], b[:, :2], self.door)
        return super().parted(a, b) | shut


@dataclass(frozen=True, kw_only=True, eq=False)
class Ledge(Plane):
    """A plane with a ledge above a pit. Gusts push down those on the ledge; the pit is deadly.

    With `slow` actions there are two gaits, and gusts move only those who take large steps.
    """

    ledge: tuple[float, float]
    """Where it begins and ends, along the first coordinate."""
    edge: float
    """Below this height is the pit."""
    gust: float
    """Probability of a gust in a step."""
    push: float
    """How far it pushes."""
    slow: float = 0.0
    """Length of slow steps in strides; 0 for none."""
    deadly: bool = True
    draws: int = 16

    @property
    def controls(self) -> FloatArray:
        """Eight directions, or four at two gaits."""
        if not self.slow:
            return self.stride * EIGHT
        return self.stride * np.vstack([EIGHT[::2], self.slow * EIGHT[::2]])

    def on(self, places: FloatArray) -> BoolArray:
        """Whether places are on the ledge or in the pit."""
        return np.asarray((places[:, 0] > self.ledge[0]) & (places[:, 0] < self.ledge[1]))

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Move, and be pushed."""
        there = super().step(states, actions, rng)
        if rng is not None:
            pushed = self.on(states) & (rng.random(len(states)) < self.gust)
            if self.slow:
                pushed &= actions < 4
            there[pushed, 1] = np.maximum(there[pushed, 1] - self.push, 0.01)
        return there

    def fatal(self, states: FloatArray) -> BoolArray:
        """Whether states are in the pit."""
        return self.on(states) & (states[:, 1] < self.edge)

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw places that are not in the pit."""
        found = super().draw(rng, 4 * count)
        return found[~self.fatal(found)][:count]


@dataclass(frozen=True, kw_only=True, eq=False)
class Belts(Plane):
    """A plane with belts that carry along: some directions are faster, some impossible."""

    belts: tuple[tuple[float, float, float], ...]
    """Lower and upper end of each along the second coordinate, and its speed along the first."""

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Move, and be carried."""
        there = super().step(states, actions, rng)
        drift = np.zeros(len(states))
        for low, high, speed in self.belts:
            drift += speed * ((states[:, 1] >= low) & (states[:, 1] < high))
        return self.moved(there, there + np.stack([drift, np.zeros_like(drift)], axis=1))


# -------------------------------------------------------------------- grids


@dataclass(frozen=True, kw_only=True, eq=False)
class Ice(World):
    """A slippery grid: ``.`` is free, ``#`` a wall, ``O`` a hole that is never left."""

    plan: tuple[str, ...]
    slip: float
    """Probability of going to the left or right of where one wants to go."""
    radius: float = 0.5
    persistence: float = 0.5
    length: int = 60
    look: int = 1
    draws: int = 200

    @property
    def controls(self) -> FloatArray:
        """Along the axes."""
        return EIGHT[::2]

    @cached_property
    def tiles(self) -> NDArray[np.str_]:
        """(rows, columns) characters of the plan."""
        return np.array([list(row) for row in self.plan])

    def at(self, states: FloatArray, tile: str) -> BoolArray:
        """Whether states are on tiles of a kind."""
        i, j = states.astype(np.int64).T
        return np.asarray(self.tiles[i, j] == tile)

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Move or slip; walls stop, holes hold."""
        if rng is not None:
            slips = rng.random(len(states)) < self.slip
            actions = (actions + np.where(slips, rng.choice([-1, 1], len(states)), 0)) % 4
        wish = np.clip(states + self.controls[actions], 0, np.array(self.tiles.shape) - 1)
        stays = self.at(states, "O") | self.at(wish, "#")
        return np.where(stays[:, None], states, wish)

    def fatal(self, states: FloatArray) -> BoolArray:
        """Whether states are holes."""
        return self.at(states, "O")

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw free tiles."""
        free = np.argwhere(self.tiles == ".").astype(np.float64)
        return free[rng.integers(len(free), size=count)]

    def arrived(self, states: FloatArray, goal: FloatArray) -> BoolArray:
        """Whether states are the goal's tile."""
        return np.asarray((states == goal).all(axis=1))

    def given(self, observations: FloatArray) -> FloatArray:
        """Return the coordinates themselves."""
        return observations


# -------------------------------------------------------------------- velocities


@dataclass(frozen=True, kw_only=True, eq=False)
class Mass(Plane):
    """A mass that is pushed about a plane: position and velocity, the latter in units of its own.

    Walls stop it.
    """

    thrust: float = 0.04
    drag: float = 0.1
    unit: float = 1.0
    """What a velocity of one per step is shown as."""
    jitter: float = 0.01
    look: int = 4
    radius: float = 0.5

    @property
    def controls(self) -> FloatArray:
        """Pushes in nine directions, none included."""
        return self.thrust * np.array([(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)], float)

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Push and move."""
        here, pace = states[:, :2], (1.0 - self.drag) * states[:, 2:] + self.controls[actions]
        pace = self.jittered(pace, rng)
        wish = here + pace
        there = self.moved(here, wish)
        return np.hstack([there, np.where(there == wish, pace, 0.0)])

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw places, and velocities around rest."""
        return np.hstack([super().draw(rng, count), rng.normal(0.0, 3 * self.thrust, (count, 2))])

    def seen(self, states: FloatArray) -> FloatArray:
        """Return places and velocities in their units."""
        return np.hstack([states[:, :2] @ self.frame.T, self.unit * states[:, 2:]])

    def given(self, observations: FloatArray) -> FloatArray:
        """Return places and velocities, divided by their changes per step."""
        places = observations[:, :2] @ np.linalg.inv(self.frame).T / (4 * self.thrust)
        return np.hstack([places, observations[:, 2:] / (self.unit * self.thrust)])


@dataclass(frozen=True, kw_only=True, eq=False)
class Car(Plane):
    """A car that drives ahead and steers: place and heading, the latter as cosine and sine."""

    turn: float = 0.35
    jitter: float = 0.02
    look: int = 4
    radius: float = 0.7

    @property
    def controls(self) -> FloatArray:
        """Left, straight, right."""
        return np.array([[self.turn], [0.0], [-self.turn]])

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Steer, then drive."""
        heading = self.jittered(states[:, 2] + self.controls[actions, 0], rng)
        ahead = self.stride * np.stack([np.cos(heading), np.sin(heading)], axis=1)
        places = self.moved(states[:, :2], states[:, :2] + ahead)
        return np.hstack([places, wrap(heading)[:, None]])

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw places and headings."""
        return np.hstack([super().draw(rng, count), rng.uniform(-np.pi, np.pi, (count, 1))])

    def seen(self, states: FloatArray) -> FloatArray:
        """Return places and headings."""
        heading = states[:, 2:]
        return np.hstack([states[:, :2] @ self.frame.T, np.cos(heading), np.sin(heading)])

    def given(self, observations: FloatArray) -> FloatArray:
        """Return places in strides and headings in turns."""
        places = observations[:, :2] @ np.linalg.inv(self.frame).T / self.stride
        return np.hstack([places, observations[:, 2:] / self.turn])


@dataclass(frozen=True, kw_only=True, eq=False)
class Hill(World):
    """A car in a valley that is too weak to drive straight up (MountainCar's equations)."""

    power: float = 0.001
    slope: float = 0.0025
    jitter: float = 1e-4
    bounds: tuple[float, float] = (-1.2, 0.6)
    look: int = 4
    persistence: float = 0.9
    radius: float = 0.06

    @property
    def controls(self) -> FloatArray:
        """Back, nothing, ahead."""
        return self.power * np.array([[-1.0], [0.0], [1.0]])

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Drive."""
        x, v = states.T
        v = v + self.controls[actions, 0] - self.slope * np.cos(3 * x)
        v = np.clip(self.jittered(v, rng), -0.07, 0.07)
        x = np.clip(x + v, *self.bounds)
        return np.stack([x, np.where((x == self.bounds[0]) | (x == self.bounds[1]), 0.0, v)], 1)

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw places and low speeds."""
        places = rng.uniform(self.bounds[0], self.bounds[1] - 0.1, count)
        return np.stack([places, rng.normal(0.0, 0.015, count)], axis=1)

    def arrived(self, states: FloatArray, goal: FloatArray) -> BoolArray:
        """Whether places are near, at any speed."""
        return np.asarray(np.abs(states[:, 0] - goal[..., 0]) < self.radius)

    def given(self, observations: FloatArray) -> FloatArray:
        """Return place and speed, divided by their changes per step."""
        return np.asarray(observations / np.array([0.02, 0.0015]))


@dataclass(frozen=True, kw_only=True, eq=False)
class Pendulum(World):
    """A pendulum that is too heavy to lift at once: angle as cosine and sine, and its speed."""

    torque: float = 0.02
    weight: float = 0.045
    jitter: float = 0.002
    look: int = 4
    persistence: float = 0.9
    radius: float = 0.3

    @property
    def controls(self) -> FloatArray:
        """Push one way, not at all, the other way."""
        return self.torque * np.array([[-1.0], [0.0], [1.0]])

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Swing; an angle of 0 hangs."""
        angle, speed = states.T
        speed = 0.995 * speed + self.controls[actions, 0] - self.weight * np.sin(angle)
        speed = np.clip(self.jittered(speed, rng), -0.6, 0.6)
        return np.stack([wrap(angle + speed), speed], axis=1)

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw angles and speeds."""
        return np.stack([rng.uniform(-np.pi, np.pi, count), rng.normal(0.0, 0.15, count)], axis=1)

    def arrived(self, states: FloatArray, goal: FloatArray) -> BoolArray:
        """Whether angles are near, at any speed."""
        return np.asarray(np.abs(wrap(states[:, 0] - goal[..., 0])) < self.radius)

    def seen(self, states: FloatArray) -> FloatArray:
        """Return cosine, sine and speed."""
        return np.stack([np.cos(states[:, 0]), np.sin(states[:, 0]), 10 * states[:, 1]], axis=1)

    def given(self, observations: FloatArray) -> FloatArray:
        """Return all three, divided by their changes per step."""
        return np.asarray(observations / np.array([0.15, 0.15, 0.3]))


# -------------------------------------------------------------------- arms


@dataclass(frozen=True, kw_only=True, eq=False)
class RobotArm(World):
    """An arm whose joints are turned one at a time; some postures are blocked.

    It is seen by its angles, wrapped, or by their cosines and sines.
    """

    blocked: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...]
    """Boxes of postures: centre and half sides."""
    circles: bool
    """Whether cosines and sines are seen."""
    stride: float = 0.15
    jitter: float = 0.03
    look: int = 2
    radius: float = 0.35

    @property
    def links(self) -> int:
        """Number of joints."""
        return len(self.tasks[0][0])

    @property
    def controls(self) -> FloatArray:
        """One joint one way or the other, or rest."""
        one = np.eye(self.links)
        return self.stride * np.vstack([one, -one, np.zeros((1, self.links))])

    def free(self, angles: FloatArray) -> BoolArray:
        """Whether postures are possible."""
        found = np.ones(len(angles), dtype=bool)
        for centre, half in self.blocked:
            found &= (np.abs(wrap(angles - np.array(centre))) > np.array(half)).any(axis=1)
        return found

    def step(self, states: FloatArray, actions: Actions, rng: Rng) -> FloatArray:
        """Turn a joint, unless the posture is blocked."""
        wish = wrap(self.jittered(states + self.controls[actions], rng))
        return np.where(self.free(wish)[:, None], wish, states)

    def draw(self, rng: np.random.Generator, count: int) -> FloatArray:
        """Draw postures."""
        found = rng.uniform(-np.pi, np.pi, (10 * count + 50, self.links))
        return found[self.free(found)][:count]

    def arrived(self, states: FloatArray, goal: FloatArray) -> BoolArray:
        """Whether all angles are near."""
        return np.asarray((np.abs(wrap(states - goal)) < self.radius).all(axis=1))

    def seen(self, states: FloatArray) -> FloatArray:
        """Return angles, or their cosines and sines."""
        return np.hstack([np.cos(states), np.sin(states)]) if self.circles else states

    def blur(self, seen: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Add noise; angles stay wrapped."""
        blurred = super().blur(seen, rng)
        return blurred if self.circles else wrap(blurred)

    def given(self, observations: FloatArray) -> FloatArray:
        """Return cosines and sines in strides."""
        if not self.circles:
            observations = np.hstack([np.cos(observations), np.sin(observations)])
        return np.asarray(observations / self.stride)


# -------------------------------------------------------------------- the worlds themselves


def read_worlds(name: str) -> dict[str, World]:
    """Read the worlds of a set from the file of its name.

    A world has a `kind` and the fields of this class, or is `like` another one but for some fields.
    The cells of a `maze`, of side 1, are its walls.
    """
    text = resources.files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8")
    worlds: dict[str, World] = {}
    for title, given in tomllib.loads(text).items():
        like = worlds.get(given.pop("like", ""))
        kind = globals()[given.pop("kind")] if like is None else type(like)
        if "maze" in given:
            free = load_layout(given.pop("maze")).free
            walls = np.argwhere(~free).astype(np.float64)
            given |= {"size": free.shape, "blocks": np.hstack([walls, walls + 1.0])}
        arrays = {each.name for each in fields(kind) if each.type == "FloatArray"}
        settings: dict[str, Any] = {
            key: np.array(value, dtype=np.float64) if key in arrays else as_tuples(value)
            for key, value in given.items()
        }
        worlds[title] = kind(**settings) if like is None else replace(like, **settings)
    return worlds


def as_tuples(value: Any) -> Any:
    """Return nested lists as nested tuples; anything else as it is."""
    return tuple(map(as_tuples, value)) if isinstance(value, list) else value


SETS = {"tuned": read_worlds("tuned"), "held back": read_worlds("held_back")}
"""Worlds on which constants of the planner may be chosen, and those on which none was."""
