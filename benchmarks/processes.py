"""Markov decision processes beside Storm: the models, what we take, what it takes.

Models are arrays (state, action, next state, probability, cost), with goal 0 unless said. The first
group served to choose the solver's constants. The second was made afterwards: other sizes, seeds
and odds, and families that are not in the first. Constants that were changed since were chosen with
both in view.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import storm_solver
from benchmarks._timing import best_of

import wayfield as wf

STEPS = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
QUESTIONS: dict[str, dict[str, float]] = {
    "1e-06": {"rtol": 1e-6},
    "1e-09": {"rtol": 1e-9},
    "default": {},
}
"""Relative errors that we are asked for; Storm is asked for the first two."""


@dataclass(frozen=True)
class Model:
    """A process by its outcomes, each (state, action, next state) once, in this order."""

    state: np.ndarray
    action: np.ndarray
    following: np.ndarray
    odds: np.ndarray
    cost: np.ndarray
    goal: int
    states: int

    @classmethod
    def of(
        cls,
        rows: list[tuple[np.ndarray, ...]],
        goal: int,
        states: int,
        cost: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    ) -> Model:
        """Merge rows of (state, action, next state, weight); weights of a choice become odds."""
        full = (np.broadcast_arrays(*row) for row in rows)
        state, action, following, odds = map(np.concatenate, zip(*full, strict=True))
        keep = (state != goal) & (odds > 0)
        actions = int(action.max()) + 1
        choice = (state * actions + action)[keep]
        key, inverse = np.unique(choice * states + following[keep], return_inverse=True)
        weight = np.bincount(inverse, odds[keep])
        choice, following = np.divmod(key, states)
        weight /= np.bincount(choice, weight)[choice]
        state, action = np.divmod(choice, actions)
        price = np.ones(state.size) if cost is None else cost(state, action)
        return cls(state, action, following, weight, price, int(goal), int(states))

    def transitions(self) -> wf.Transitions:
        return wf.Transitions.from_probabilities(
            self.state, self.action, self.following, self.odds, self.cost, num_states=self.states
        )


# ------------------------------------------------------------------ families


def grid(
    n: int,
    slip: float = 0.2,
    walls: float = 0.0,
    seed: int = 0,
    goal: str = "middle",
    wind: float = 0.0,
    spread: float = 0.0,
) -> Model:
    """Four actions; a move goes astray to either side with half of the slip. Walls hold.

    With wind, gusts of ten cells blow a move in any direction instead. With spread, the logarithms
    of the states' costs have that standard deviation.
    """
    rng, side = np.random.default_rng(seed), round(np.sqrt(n))
    free = rng.random((side, side)) >= walls
    target = (side // 2, side // 2) if goal == "middle" else (0, 0)
    free[target] = True
    number = np.full((side, side), -1)
    number[free] = np.arange(free.sum())
    x, y = np.nonzero(free)
    here = number[x, y]
    there = []
    for dx, dy in STEPS:
        to = number[np.clip(x + dx, 0, side - 1), np.clip(y + dy, 0, side - 1)]
        there.append(np.where(to >= 0, to, here))
    gusts = rng.random((side // 10 + 1, side // 10 + 1, 4)) ** 3
    gusts = wind * (gusts / gusts.sum(axis=2, keepdims=True))[x // 10, y // 10]
    rows = []
    for a in range(4):
        for turn, odds in ((0, 1 - slip), (1, slip / 2), (3, slip / 2)):
            to = (a + turn) % 4
            rows.append((here, a, there[to], odds * (1 - wind) if wind else odds))
        if wind:
            rows += [(here, a, there[d], gusts[:, d]) for d in range(4)]
    price = np.exp(spread * rng.normal(size=here.size))
    return Model.of(rows, number[target], here.size, lambda state, action: price[state])


def anywhere(n: int, seed: int = 0, actions: int = 3, outcomes: int = 4, local: int = 0) -> Model:
    """Moves to anywhere, or at most `local` states away, with random odds and costs."""
    rng = np.random.default_rng(seed)
    state = np.repeat(np.arange(n), actions * outcomes)
    action = np.tile(np.repeat(np.arange(actions), outcomes), n)
    near = np.clip(state + rng.integers(-local, local + 1, state.size), 0, n - 1)
    to = near if local else rng.integers(0, n, state.size)
    price = rng.uniform(0.5, 2.0, (n, actions))
    weight = rng.gamma(1.0, size=state.size) + 1e-3
    return Model.of([(state, action, to, weight)], 0, n, lambda s, a: price[s, a])


def chain(n: int, stay: float, back: float) -> Model:
    """A corridor: the cheap action hardly ever moves, the costly one often steps back."""
    s = np.arange(1, n)
    rows = [(s, 0, s, stay), (s, 0, s - 1, 1 - stay)]
    rows += [(s, 1, s - 1, 1 - back), (s, 1, np.minimum(s + 1, n - 1), back)]
    rows = [tuple(map(np.asarray, row)) for row in rows]
    return Model.of(rows, 0, n, lambda state, action: np.where(action == 0, 1e-9, 1.0))


def space(n: int, slip: float) -> Model:
    """Six actions on a cube; a move goes astray in any of the four directions across it."""
    side = round(n ** (1 / 3))
    place = np.stack(np.unravel_index(np.arange(side**3), (side,) * 3))
    steps = [sign * np.eye(3, dtype=int)[axis] for axis in range(3) for sign in (1, -1)]
    to = [
        np.ravel_multi_index(np.clip(place + step[:, None], 0, side - 1), (side,) * 3)
        for step in steps
    ]
    here = np.arange(side**3)
    rows = [
        (here, a, to[d], 1 - slip if d == a else slip / 4)
        for a in range(6)
        for d in range(6)
        if d == a or d // 2 != a // 2
    ]
    return Model.of(rows, 0, side**3)


def queues(n: int, load: float) -> Model:
    """Two queues and one server, which may hurry at a price; the goal is to empty both."""
    side = round(np.sqrt(n))
    here = np.arange(side * side)
    first, second = np.divmod(here, side)
    up = np.where(first < side - 1, here + side, here), np.where(second < side - 1, here + 1, here)
    down = np.where(first > 0, here - side, here), np.where(second > 0, here - 1, here)
    rows = []
    for a in range(4):  # which queue, and whether to hurry
        served = 0.35 + 0.25 * (a // 2)
        rows += [(here, a, up[0], load / 2), (here, a, up[1], load / 2)]
        rows += [(here, a, down[a % 2], served), (here, a, here, 1 - load - served)]
    held = 1.0 + (first + 2 * second) / side
    return Model.of(rows, 0, side * side, lambda s, a: held[s] * (1 + 0.8 * (a // 2)))


def race(n: int, skid: float) -> Model:
    """A car with a position and a velocity on a square; accelerating fails with the odds of a skid.

    Walls stop it. The goal is a corner, at rest.
    """
    side = round(np.sqrt(n / 25))
    shape = (side, side, 5, 5)
    x, y, u, v = np.unravel_index(np.arange(side * side * 25), shape)
    here = np.arange(x.size)

    def driven(dx: int, dy: int) -> np.ndarray:
        u_new, v_new = np.clip(u + dx, 0, 4), np.clip(v + dy, 0, 4)
        x_new, y_new = x + u_new - 2, y + v_new - 2
        hit_x, hit_y = (x_new < 0) | (x_new >= side), (y_new < 0) | (y_new >= side)
        places = (np.clip(x_new, 0, side - 1), np.clip(y_new, 0, side - 1))
        return np.ravel_multi_index(
            (*places, np.where(hit_x, 2, u_new), np.where(hit_y, 2, v_new)), shape
        )

    rows = []
    for a, (dx, dy) in enumerate([(0, 0), *STEPS]):
        rows += [(here, a, driven(dx, dy), 1 - skid), (here, a, driven(0, 0), skid)]
    return Model.of(rows, int(np.ravel_multi_index((0, 0, 2, 2), shape)), x.size)


def ladder(n: int, seed: int) -> Model:
    """Rungs that fail: each action climbs some rungs, or falls to a rung below, mostly not far."""
    rng = np.random.default_rng(seed)
    s = np.arange(n)
    rows = []
    for a in range(3):
        fall = 0.02 * (a + 1) * rng.random(n)
        rows.append((s, a, np.maximum(s - 1 - a, 0), 1 - fall))
        rows.append((s, a, np.minimum(s + rng.geometric(0.05, n), n - 1), 0.9 * fall))
        rows.append((s, a, np.full(n, n - 1), 0.1 * fall / 100))
    return Model.of(rows, 0, n)


MODELS: dict[str, Callable[[int], Model]] = {
    "slip grid, goal in the middle": lambda n: grid(n),
    "slip grid, 10 % walls": lambda n: grid(n, walls=0.1),
    "slip grid, goal in a corner": lambda n: grid(n, goal="corner"),
    "the same, slip 0.1": lambda n: grid(n, 0.1, goal="corner"),
    "the same, slip 0.5": lambda n: grid(n, 0.5, goal="corner"),
    "wind maze": lambda n: grid(n, 0.0, 0.15, wind=0.3),
    "wind maze, strong": lambda n: grid(n, 0.0, 0.15, wind=0.8),
    "random sparse": lambda n: anywhere(n),
    "random local": lambda n: anywhere(n, local=20),
    "chain, loops of 1 - 1e-9": lambda n: chain(n // 10, 1 - 1e-9, 0.3),
    "chain, loops of 1 - 1e-6": lambda n: chain(n, 1 - 1e-6, 0.45),
}
"""On these the constants of the solver were chosen."""
HELD_OUT: dict[str, Callable[[int], Model]] = {
    "slip grid, smaller, slip 0.35, corner": lambda n: grid(7 * n // 10, 0.35, goal="corner"),
    "slip grid, 25 % walls, slip 0.15": lambda n: grid(n, 0.15, 0.25, seed=7),
    "wind maze, wind 0.5, slip 0.1": lambda n: grid(n, 0.1, 0.1, seed=5, wind=0.5),
    "random sparse, 2 actions, 6 outcomes": lambda n: anywhere(n, 3, 2, 6),
    "random local, at most 60 away": lambda n: anywhere(n, 4, local=60),
    "slip grid, lognormal costs": lambda n: grid(n, 0.2, 0.05, seed=11, spread=1.5),
    "cube, slip 0.3": lambda n: space(n, 0.3),
    "two queues": lambda n: queues(n, 0.3),
    "racetrack": lambda n: race(n, 0.1),
    "ladder with falls": lambda n: ladder(n, 2),
}
"""Made when the first constants stood; the last five are of families not among `MODELS`."""


# ------------------------------------------------------------------ measuring


def measure(name: str, size: int, limit: float, python: Path) -> dict[str, Any]:
    """Time ourselves and Storm on a model, ourselves before and after; Storm is capped."""
    model = (MODELS | HELD_OUT)[name](size)
    moves = model.transitions()
    moves._process  # noqa: B018  # built once, as Storm's model is

    def ours() -> dict[str, float]:
        return {
            name: best_of(
                partial(wf.expected_cost, moves, model.goal, **options), 2, time.process_time
            )
            for name, options in QUESTIONS.items()
        }

    field = wf.expected_cost(moves, model.goal)
    inner = np.isfinite(field.values) & (field.values > 0)
    width = ((field.upper[inner] - field.lower[inner]) / field.values[inner]).max()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        np.savez(path, lower=field.lower, upper=field.upper, **vars(model))
        before = ours()
        storm, died = run_storm(python, str(path), f"{limit:g}")
        after = ours()
    return {
        "model": name,
        "held_out": name in HELD_OUT,
        "states": model.states,
        "outcomes": model.odds.size,
        "limit": limit,
        "ours": {name: min(before[name], after[name]) for name in before},
        "rounds": field.iterations,
        "width": float(width),
        "storm": storm,
        "died": died,
    }


def measure_known(python: Path) -> dict[str, Any]:
    """Ask Storm and our solver about models with answers in closed form."""
    storm, died = run_storm(python, "known")
    ours = {}
    for name, model, question, state, _ in storm_solver.known():
        rows = (model[of] for of in ("state", "action", "following", "odds", "cost"))
        # the more it costs to give up, the more a plan prefers to arrive
        price = 1e6 if question == storm_solver.REACH else None
        try:
            moves = wf.Transitions.from_probabilities(*rows, num_states=int(model["states"]))
            field = wf.expected_cost(moves, int(model["goal"]), price)
        except wf.InputError as error:
            ours[name] = str(error)
        else:
            low, high = (field.lower, field.upper) if price is None else (
                field.reach_lower, field.reach_upper)  # fmt: skip
            ours[name] = [float(low[state]), float(high[state])]
    return {"known": storm, "ours": ours, "died": died}


def run_storm(python: Path, *arguments: str) -> tuple[list[dict[str, Any]], str]:
    """Return what Storm found, and why it did not go on."""
    script = Path(__file__).with_name("storm_solver.py")
    command = [python, "-W", "ignore", script, *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line.startswith("{")]
    last = (ended.stderr.strip().splitlines() or ["it crashed"])[-1]
    return lines, last if ended.returncode else ""
