from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import wayfield as wf
from exact import contains, exact_harmonic
from methods import methods
from wayfield.fields import Extension, harmonic
from wayfield.fields.base import Problem, Solution, Status


@pytest.fixture(scope="module")
def maze() -> wf.Graph:
    return wf.grid_graph(wf.load_layout("antmaze-medium"), 4)


@pytest.fixture(scope="module")
def goals(maze: wf.Graph) -> list[wf.Labels]:
    chosen = np.random.default_rng(0).choice(maze.num_vertices, 40, replace=False)
    return [wf.sample_labels(maze, int(goal), 0.05, seed=54) for goal in chosen]


def same(a: Extension, b: Extension) -> bool:
    pairs = ((a.values, b.values), (a.lower, b.lower), (a.upper, b.upper))
    return all((x is None and y is None) or np.array_equal(x, y, equal_nan=True) for x, y in pairs)


@methods(shares=False)
def test_bit_for_bit_as_single_calls(
    method: wf.fields.Method, maze: wf.Graph, goals: list[wf.Labels]
) -> None:
    many = wf.extend_many(maze, goals[:6], method)
    for labels, extension in zip(goals, many, strict=False):
        assert same(extension, wf.extend(maze, labels, method))


def test_harmonic_shares_its_factorisation(
    maze: wf.Graph, goals: list[wf.Labels], monkeypatch: pytest.MonkeyPatch
) -> None:
    singles = [wf.extend(maze, labels, wf.Harmonic()) for labels in goals]
    built: list[int] = []
    solver = harmonic.symmetric_solver
    monkeypatch.setattr(
        harmonic, "symmetric_solver", lambda interior: built.append(1) or solver(interior)
    )
    many = wf.extend_many(maze, goals, wf.Harmonic())
    assert built == [1]
    for labels, one, other in zip(goals, singles, many, strict=True):
        assert other.status == Status.CONVERGED
        assert other.lower is not None
        assert other.upper is not None
        assert (other.lower <= one.values).all()
        assert (one.values <= other.upper).all()
        assert other.width <= 1e-15 * labels.span
        assert np.abs(one.values - other.values).max() <= 1e-15 * labels.span
        assert (other.values[labels.vertices] == labels.values).all()


@pytest.mark.parametrize("method", [wf.Harmonic(), wf.NearestLabel()], ids=str)
def test_workers_do_not_change_a_bit(
    method: wf.fields.Method, maze: wf.Graph, goals: list[wf.Labels]
) -> None:
    one = wf.extend_many(maze, goals, method, workers=1)
    three = wf.extend_many(maze, goals, method, workers=3)
    assert all(same(a, b) for a, b in zip(one, three, strict=True))


def test_shared_brackets_contain_exact_rationals() -> None:
    rng = np.random.default_rng(5)
    ring = np.arange(10)
    graph = wf.Graph.from_edges(ring, (ring + 1) % 10, rng.uniform(0.3, 2.0, 10))
    labels = [
        wf.Labels([0, 9, *extra], rng.normal(size=2 + len(extra)))
        for extra in ([3], [4, 5], [], [7], [1, 2, 6])
    ]
    for each, extension in zip(labels, wf.extend_many(graph, labels, wf.Harmonic()), strict=True):
        assert contains(extension, exact_harmonic(graph, each))


def test_label_sets_with_little_in_common(maze: wf.Graph) -> None:
    rng = np.random.default_rng(2)
    labels = [
        wf.Labels(rng.choice(maze.num_vertices, 20, replace=False), rng.normal(size=20))
        for _ in range(4)
    ]
    for each, extension in zip(labels, wf.extend_many(maze, labels, wf.Harmonic()), strict=True):
        assert same(extension, wf.extend(maze, each, wf.Harmonic()))


def test_orphans_and_components_the_shared_labels_miss() -> None:
    graph = wf.Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5], num_vertices=7)
    shared = [wf.Labels([0, 2, k], [0.0, 2.0, 5.0]) for k in (3, 4, 5)]
    many = wf.extend_many(graph, shared, wf.Harmonic(), unreachable="nan")
    for extension in many:
        assert extension.values[:6] == pytest.approx([0, 1, 2, 5, 5, 5])
        assert np.isnan(extension.values[6])
    nowhere = [wf.Labels([0, 2], [0.0, float(k)]) for k in range(4)]
    many = wf.extend_many(graph, nowhere, wf.Harmonic(), unreachable="nan")
    assert all(np.isnan(extension.values[3:]).all() for extension in many)
    assert [extension.values[1] for extension in many] == [0.0, 0.5, 1.0, 1.5]


def test_empty_list_progress_and_seconds(maze: wf.Graph, goals: list[wf.Labels]) -> None:
    assert wf.extend_many(maze, [], wf.Harmonic()) == []
    calls: list[tuple[int, int]] = []
    main = threading.get_ident()

    def progress(done: int, total: int) -> None:
        assert threading.get_ident() == main
        calls.append((done, total))

    many = wf.extend_many(maze, iter(goals), wf.Harmonic(), progress=progress)
    assert calls[-1] == (40, 40)
    assert calls == sorted(calls)
    assert all(extension.seconds > 0 for extension in many)


# ------------------------------------------------------------------ what goes wrong


@dataclass(frozen=True)
class Fails:
    """Misses its guarantee, or is interrupted, wherever the first label is negative."""

    interrupt: bool = False
    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        bad = problem.labels.values[0] < 0
        if bad and self.interrupt:
            raise KeyboardInterrupt
        return Solution(problem.boundary.copy(), status=Status.STALLED if bad else Status.STOPPED)


def test_the_first_failure_is_named() -> None:
    graph = wf.Graph.from_edges([0], [1])
    labels = [wf.Labels([0], [float(v)]) for v in (1, 2, -3, 4, -5)]
    with pytest.raises(wf.NotConverged, match=r"^labels_list\[2\]: the iteration stalled"):
        wf.extend_many(graph, labels, Fails())
    unchecked = wf.extend_many(graph, labels, Fails(), check=False)
    assert [extension.status.good for extension in unchecked] == [True, True, False, True, False]
    with pytest.raises(KeyboardInterrupt):
        wf.extend_many(graph, labels, Fails(interrupt=True))


def test_bad_input_is_named_by_position(maze: wf.Graph, goals: list[wf.Labels]) -> None:
    beyond = wf.Labels([maze.num_vertices], [0.0])
    with pytest.raises(wf.InputError, match=r"^labels_list\[1\]: label vertices.*out of range"):
        wf.extend_many(maze, [goals[0], beyond], wf.Harmonic())
    with pytest.raises(wf.InputError, match=r"^labels_list\[0\]: labels must be wayfield.Labels"):
        wf.extend_many(maze, [[0, 1]], wf.Harmonic())  # type: ignore[list-item]
    with pytest.raises(wf.InputError, match="labels_list must be a list, got Labels"):
        wf.extend_many(maze, goals[0], wf.Harmonic())  # type: ignore[arg-type]
    split = wf.Graph.from_edges([0, 2], [1, 3])
    with pytest.raises(wf.InputError, match=r"^labels_list\[0\]: the component of vertex 2"):
        wf.extend_many(split, [wf.Labels([0], [0.0])], wf.Harmonic())


def test_lists_that_never_end(maze: wf.Graph, goals: list[wf.Labels]) -> None:
    with pytest.raises(wf.InputError, match="labels_list must have at most 1,000,000 entries"):
        wf.extend_many(maze, itertools.cycle(goals), wf.Harmonic())
    with pytest.raises(wf.InputError, match="goals must have at most 1,000,000 entries"):
        wf.plan_many(maze, goals, itertools.count())


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("call", ["extend_many(graph, sets, Slow('.', 60))",
                                  "plan_many(graph, sets, [0] * 9, Slow('.', 60))"])  # fmt: skip
def test_ctrl_c_waits_for_no_running_solve(call: str, tmp_path: Path) -> None:
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import wayfield as wf; from executor_work import Slow\n"
        "graph, sets = wf.Graph.from_edges([0], [1]), [wf.Labels([0], [0.0])] * 9\n"
        f"wf.{call}"
    )
    folders = (Path(__file__).parents[1], Path(wf.__file__).parents[1])
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=tmp_path, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, folders))},
    )  # fmt: skip
    while not any(tmp_path.iterdir()):  # no solve has begun
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, said = process.communicate(timeout=30)
    assert time.monotonic() - begun < 10
    assert said.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2", 10**9])
def test_bad_worker_counts(workers: object, maze: wf.Graph, goals: list[wf.Labels]) -> None:
    with pytest.raises(wf.InputError, match="workers must be"):
        wf.extend_many(maze, goals, wf.Harmonic(), workers=workers)  # type: ignore[arg-type]
