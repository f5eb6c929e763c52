"""Storm on one process, in the peers' own environment: nothing of ours is imported.

``python storm_solver.py MODEL.npz SECONDS`` asks with Storm's defaults and with its sound methods,
at two accuracies, and writes a line of JSON for each question: its processor time, its true error
and what it says of that. Each question is a process of its own, which is ended when the time is up.
``python storm_solver.py known`` asks about small models with answers in closed form.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from importlib import metadata
from typing import Any

import numpy as np

SETTINGS = [(kind, accuracy) for kind in ("as it comes", "sound") for accuracy in (1e-6, 1e-9)]
COST, REACH = 'R{"cost"}min=? [F "goal"]', 'Pmax=? [F "goal"]'


def build(model: dict[str, np.ndarray]) -> Any:
    """Return Storm's sparse model; states without a move stay where they are."""
    from stormpy import models
    from stormpy.datastructures import SparseMatrixBuilder

    builder = SparseMatrixBuilder[float](
        rows=0,
        columns=0,
        entries=0,
        force_dimensions=False,
        has_custom_row_grouping=True,
        row_groups=0,
    )
    state, action, following, odds, cost = (
        model[name].tolist() for name in ("state", "action", "following", "odds", "cost")
    )
    states, goal = int(model["states"]), int(model["goal"])
    rewards: list[float] = []
    row, e = -1, 0
    for s in range(states):
        row += 1
        builder.new_row_group(row)
        rewards.append(0.0)
        if e == len(state) or state[e] != s:
            builder.add_next_value(row, s, 1.0)
        first = True
        while e < len(state) and state[e] == s:
            if not first and action[e] != action[e - 1]:
                row += 1
                rewards.append(0.0)
            first = False
            builder.add_next_value(row, following[e], odds[e])
            rewards[row] += odds[e] * cost[e]
            e += 1
    labels = models.StateLabeling(states)
    for name, where in (("goal", goal), ("init", 0)):
        labels.add_label(name)
        labels.add_label_to_state(name, where)
    return models.SparseMdp[float](
        models.SparseModelComponents[float](
            transition_matrix=builder.build(),
            state_labeling=labels,
            reward_models={
                "cost": models.SparseRewardModel[float](optional_state_action_reward_vector=rewards)
            },
        )
    )


def ask(model: Any, question: str, kind: str, accuracy: float) -> tuple[np.ndarray, Any, float]:
    """Return Storm's values, its bounds if it gives any, and the processor time of its answer."""
    import stormpy

    environment = stormpy.Environment()
    environment.solver().force_soundness = kind == "sound"
    environment.solver().min_max().precision = stormpy.Rational(accuracy)
    environment.solver().min_max().relative_termination_criterion = True
    formula = stormpy.parse_properties(question)[0]
    began = time.process_time()
    answer = stormpy.model_checking(model, formula, environment=environment)
    seconds = time.process_time() - began
    bounds = None
    if answer.has_lower_bounds() and answer.has_upper_bounds():
        bounds = answer.get_lower_bound_vector(), answer.get_upper_bound_vector()
    return np.array(answer.get_value_vector()), bounds, seconds


def report(path: str, limit: float) -> None:
    """Ask every question about a model; exact values come with it."""
    with np.load(path) as file:
        arrays = dict(file)
    model = build(arrays)
    lower, upper = arrays["lower"], arrays["upper"]
    inner = np.isfinite(lower) & (upper > 0.0)
    exact = lower[inner]
    stopped: set[str] = set()
    for kind, accuracy in SETTINGS:
        line: dict[str, Any] = {"kind": kind, "accuracy": accuracy}
        if kind in stopped:  # it would take longer still
            print(json.dumps(line | {"stopped": True}), flush=True)
            continue
        child = os.fork()
        if child == 0:
            signal.setitimer(signal.ITIMER_PROF, limit)
            found = [ask(model, COST, kind, accuracy)]
            if found[0][2] < min(5.0, limit / 2):  # the least of two
                signal.setitimer(signal.ITIMER_PROF, limit)
                found.append(ask(model, COST, kind, accuracy))
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            values, bounds, _ = found[0]
            line["seconds"] = min(seconds for _, _, seconds in found)
            line["error"] = float((np.abs(values[inner] - exact) / exact).max())
            if bounds is not None:
                low, high = (np.array(bound)[inner] for bound in bounds)
                line["width"] = float(((high - low) / exact).max())
                # its own rounding does not count as an error
                slack = 1e-13 * exact
                line["holds"] = bool(
                    ((low <= upper[inner] + slack) & (high >= exact - slack)).all()
                )
            print(json.dumps(line | {"version": metadata.version("stormpy")}), flush=True)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            if os.WTERMSIG(status) == signal.SIGPROF:
                stopped.add(kind)
                line["stopped"] = True
            print(json.dumps(line | {"died": os.WTERMSIG(status)}), flush=True)


def walk(n: int, ends: tuple[int, int], slow: float) -> dict[str, np.ndarray]:
    """A fair walk on a path, and a slightly unfair one that costs more, where it goes on."""
    rows = []
    for x in range(ends[0], ends[1]):
        for action, down, cost in ((0, 0.5, 1.0), (1, slow, 1.1)):
            rows += [(x, action, x - 1, down, cost), (x, action, min(x + 1, n - 1), 1 - down, cost)]
    return small(rows, n)


def small(rows: list[tuple[Any, ...]], states: int) -> dict[str, np.ndarray]:
    names = ("state", "action", "following", "odds", "cost")
    return dict(zip(names, map(np.array, zip(*rows, strict=True)), strict=True)) | {
        "states": np.array(states)
    }


def known() -> list[tuple[str, dict[str, np.ndarray], str, int, float]]:
    """Small models: what is asked, about which state, and the answer in closed form."""
    paid = small([(0, 0, 1, 1.0, -1.0), (1, 0, 0, 0.9, 0.5), (1, 0, 2, 0.1, 0.5)], 3)
    return [
        ("negative reward, 3 states", paid | {"goal": np.array(2)}, COST, 0, -5.0),
        ("walk, 401 states", walk(401, (1, 400), 0.51) | {"goal": np.array(400)}, REACH, 200, 0.5),
        ("reflected walk, 101 states", walk(101, (1, 101), 0.49) | {"goal": np.array(0)}, COST, 100,
         10_100.0),
    ]  # fmt: skip


def report_known() -> None:
    for name, arrays, question, state, exact in known():
        for kind, accuracy in SETTINGS[::2]:
            values, bounds, _ = ask(build(arrays), question, kind, accuracy)
            line = {"model": name, "kind": kind, "accuracy": accuracy, "exact": exact}
            line |= {"value": float(values[state]), "version": metadata.version("stormpy")}
            if bounds is not None:
                line["bounds"] = [float(bound[state]) for bound in bounds]
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "known":
        report_known()
    else:
        report(sys.argv[1], float(sys.argv[2]))
