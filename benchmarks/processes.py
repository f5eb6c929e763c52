"""Expected cost of Markov decision processes beside Storm.

``python -m benchmarks.processes [states] [--only WORDS] [--seconds 60]``; with ``known``, small
models whose answers are known in closed form. Storm is measured where it is installed
(``pip install stormpy``), with its defaults and with its sound methods, for relative errors of 1e-6
and 1e-9, each in a forked child with a limit. Seconds are CPU time of the answer, the model being
built, the least of two; ratios are Storm's time over ours for the same accuracy. By default we stop
at the last place of a double.

Models are arrays (state, action, next state, probability, cost), with goal 0 unless said. The first
group served to choose the solver's constants. The second was made afterwards: other sizes, seeds
and odds, and families that are not in the first. Constants that were changed since were chosen with
both in view.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from benchmarks.timing import best_of

import wayfield as wf

STEPS = np.array([(0, 1), (1, 0), (0, -1), (-1, 0)])
ACCURACIES = (1e-6, 1e-9)
COST, REACH = 'R{"cost"}min=? [F "goal"]', 'Pmax=? [F "goal"]'


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


# ------------------------------------------------------------------ Storm


def storm_model(model: Model) -> Any:
    """Return Storm's sparse model; states without a move stay where they are."""
    from stormpy import models
    from stormpy.datastructures import SparseMatrixBuilder

    builder = SparseMatrixBuilder[float](0, 0, 0, False, True, 0)
    columns = (model.state, model.action, model.following, model.odds, model.cost)
    state, action, following, odds, cost = (column.tolist() for column in columns)
    rewards: list[float] = []
    e = 0
    for s in range(model.states):
        builder.new_row_group(len(rewards))
        if e == len(state) or state[e] != s:
            builder.add_next_value(len(rewards), s, 1.0)
            rewards.append(0.0)
        before = None
        while e < len(state) and state[e] == s:
            if action[e] != before:
                before = action[e]
                rewards.append(0.0)
            builder.add_next_value(len(rewards) - 1, following[e], odds[e])
            rewards[-1] += odds[e] * cost[e]
            e += 1
    labels = models.StateLabeling(model.states)
    for name, where in (("goal", model.goal), ("init", 0)):
        labels.add_label(name)
        labels.add_label_to_state(name, where)
    costs = models.SparseRewardModel[float](optional_state_action_reward_vector=rewards)
    return models.SparseMdp[float](
        models.SparseModelComponents[float](
            transition_matrix=builder.build(), state_labeling=labels, reward_models={"cost": costs}
        )
    )


def ask_storm(
    model: Any, question: str, sound: bool, accuracy: float
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray] | None]:
    """Return Storm's values, and its bounds if it gives any."""
    import stormpy

    environment = stormpy.Environment()
    environment.solver().force_soundness = sound
    environment.solver().min_max().precision = stormpy.Rational(accuracy)
    environment.solver().min_max().relative_termination_criterion = True
    formula = stormpy.parse_properties(question)[0]
    answer = stormpy.model_checking(model, formula, environment=environment)
    bounds = None
    if answer.has_lower_bounds() and answer.has_upper_bounds():
        bounds = (
            np.array(answer.get_lower_bound_vector()),
            np.array(answer.get_upper_bound_vector()),
        )
    return np.array(answer.get_value_vector()), bounds


def child(
    model: Any, exact: wf.ExpectedCost, sound: bool, accuracy: float, seconds: float, pipe: Any
) -> None:
    """Send Storm's CPU seconds, true error, the width of its bounds, and whether they hold."""
    times = []
    for _ in range(2):
        signal.setitimer(signal.ITIMER_PROF, seconds)
        start = time.process_time()
        values, bounds = ask_storm(model, COST, sound, accuracy)
        times.append(time.process_time() - start)
    inner = np.isfinite(exact.values) & (exact.upper > 0.0)
    true = exact.values[inner]
    width, holds = np.nan, True
    if bounds is not None:
        low, high = (bound[inner] for bound in bounds)
        slack = 1e-13 * true  # its own rounding does not count as an error
        width = float(((high - low) / true).max())
        holds = bool(((low <= true + slack) & (high >= true - slack)).all())
    pipe.send((min(times), float((np.abs(values[inner] - true) / true).max()), width, holds))


def storm(
    model: Any, exact: wf.ExpectedCost, sound: bool, accuracy: float, seconds: float
) -> tuple[float, float, float, bool] | None:
    """Return what the child sends; None if it did not come in time."""
    mine, theirs = multiprocessing.Pipe(False)
    process = multiprocessing.get_context("fork").Process(
        target=child, args=(model, exact, sound, accuracy, seconds, theirs)
    )
    process.start()
    theirs.close()
    try:
        found: tuple[float, float, float, bool] | None = mine.recv()
    except EOFError:
        found = None
    process.join()
    return found


def row(name: str, size: int, seconds: float) -> list[str]:
    """Return a line of the table."""
    model = (MODELS | HELD_OUT)[name](size)
    moves = model.transitions()
    exact = wf.expected_cost(moves, model.goal)  # builds what is kept, as Storm's model is built
    ours = {
        rtol: best_of(partial(wf.expected_cost, moves, model.goal, rtol=rtol), 2, time.process_time)
        for rtol in (*ACCURACIES, 0.0)
    }
    line = [name + (" *" if name in HELD_OUT else ""), f"{model.states:,}"]
    line.append(" / ".join(f"{taken:.2g} s" for taken in ours.values()))
    if find_spec("stormpy"):
        built = storm_model(model)
        for sound in (True, False):
            for accuracy in ACCURACIES:
                found = storm(built, exact, sound, accuracy, seconds)
                if found is None:
                    line.append(f"not in {seconds:g} s")
                    continue
                taken, error, width, holds = found
                told = f"{taken:.2g} s ({taken / ours[accuracy]:.2g}×), error {error:.0e}"
                line.append(told + ("" if np.isnan(width) else f", width {width:.0e}"))
                line[-1] += "" if holds else ", false"
    return line


# ------------------------------------------------------------------ answers in closed form


def small(rows: list[tuple[Any, ...]], goal: int, states: int) -> Model:
    return Model(*map(np.array, zip(*rows, strict=True)), goal, states)


def walk(n: int, ends: tuple[int, int], slow: float, goal: int) -> Model:
    """A fair walk on a path, and a slightly unfair one that costs more, where it goes on."""
    rows = []
    for x in range(*ends):
        for action, down, cost in ((0, 0.5, 1.0), (1, slow, 1.1)):
            rows += [(x, action, x - 1, down, cost), (x, action, min(x + 1, n - 1), 1 - down, cost)]
    return small(rows, goal, n)


def known() -> None:
    """Print what we and Storm say of small models, asked for 1e-6, beside the answer."""
    paid = small([(0, 0, 1, 1.0, -1.0), (1, 0, 0, 0.9, 0.5), (1, 0, 2, 0.1, 0.5)], 2, 3)
    for name, model, question, state, exact in (
        ("negative cost, 3 states", paid, COST, 0, -5.0),
        ("walk, 401 states", walk(401, (1, 400), 0.51, 400), REACH, 200, 0.5),
        ("reflected walk, 101 states", walk(101, (1, 101), 0.49, 0), COST, 100, 10_100.0),
    ):
        # the more it costs to give up, the more a plan prefers to arrive
        price = 1e6 if question == REACH else None
        try:
            field = wf.expected_cost(model.transitions(), model.goal, price)
        except wf.InputError as error:
            ours = str(error)
        else:
            low, high = (
                (field.lower, field.upper)
                if price is None
                else (field.reach_lower, field.reach_upper)
            )
            ours = f"{low[state]:.17g} to {high[state]:.17g}"
        print(f"{name}: exactly {exact:g}; ours {ours}", flush=True)
        for sound in (False, True) if find_spec("stormpy") else ():
            values, bounds = ask_storm(storm_model(model), question, sound, 1e-6)
            told = f", {bounds[0][state]:.10g} to {bounds[1][state]:.10g}" if bounds else ""
            print(f"  Storm, {'sound' if sound else 'as it comes'}: {values[state]:.10g}{told}")


def main() -> None:
    """Print a table, a line for each model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("states", nargs="?", default="1e5", help="about how many, or: known")
    parser.add_argument("--only", default="", help="parts of names, with commas")
    parser.add_argument("--seconds", type=float, default=60.0, help="Storm's limit, CPU time")
    given = parser.parse_args()
    if given.states == "known":
        known()
        return
    heads = ["process", "states", "ours to 1e-6 / 1e-9 / by default"]
    if find_spec("stormpy"):
        heads += [f"Storm {kind}, {e:g}" for kind in ("sound", "as it comes") for e in ACCURACIES]
    print("| " + " | ".join(heads) + " |\n" + "|---" * len(heads) + "|", flush=True)
    for name in (*MODELS, *HELD_OUT):
        if any(word in name for word in given.only.split(",")):
            print(
                "| " + " | ".join(row(name, int(float(given.states)), given.seconds)) + " |",
                flush=True,
            )


if __name__ == "__main__":
    main()
