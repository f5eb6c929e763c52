"""Many goals by executors: the same bits, the graph sent once, lost workers survived."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import wayfield as wf
from executor_work import KillsItsWorker, Overseas, Posting, Slow
from wayfield.errors import OutOfTime
from wayfield.fields import Extension, time_limit
from wayfield.fields.base import Problem, Solution
from wayfield.numerics import workers as _workers
from wayfield.typing import FloatArray

GOALS = tuple(range(0, 400, 20))


@pytest.fixture(scope="module")
def maze() -> wf.Graph:
    return wf.grid_graph(wf.load_layout("antmaze-medium"), 4)


@pytest.fixture(scope="module")
def label_sets(maze: wf.Graph) -> list[wf.Labels]:
    return [wf.sample_labels(maze, goal, 0.05, seed=54) for goal in GOALS]


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


def same(one: list[Extension], other: list[Extension]) -> bool:
    def arrays(field: Extension) -> list[FloatArray | None]:
        return [field.values, field.lower, field.upper]

    return len(one) == len(other) and all(
        (x is None and y is None) or np.array_equal(x, y, equal_nan=True)
        for a, b in zip(one, other, strict=True)
        for x, y in zip(arrays(a), arrays(b), strict=True)
    )


# ------------------------------------------------------------------ the same bits


@pytest.mark.parametrize(
    "method", [wf.Harmonic(), wf.PLaplacian(8), wf.AMLE(), wf.NearestLabel()], ids=str
)
def test_processes_give_the_bits_of_threads(
    method: wf.fields.Method,
    maze: wf.Graph,
    label_sets: list[wf.Labels],
    processes: ProcessPoolExecutor,
) -> None:
    ours = wf.extend_many(maze, label_sets, method)
    theirs = wf.extend_many(maze, label_sets, method, executor=processes)
    assert same(ours, theirs)
    assert all(field.graph is maze and field.method == method for field in theirs)


@pytest.mark.parametrize("each", [False, True], ids=["one prior", "a prior each"])
def test_priors_travel(
    each: bool, maze: wf.Graph, label_sets: list[wf.Labels], processes: ProcessPoolExecutor
) -> None:
    truth = np.array([wf.cost_to_go(maze, goal) for goal in GOALS])
    prior = 1.1 * (truth if each else truth[0])
    ours = wf.extend_many(maze, label_sets, wf.Harmonic(), prior=prior)
    theirs = wf.extend_many(maze, label_sets, wf.Harmonic(), prior=prior, executor=processes)
    assert same(ours, theirs)
    assert all(np.array_equal(a.prior, b.prior) for a, b in zip(ours, theirs, strict=True))


def test_somebody_elses_threads_serve_and_are_left_running(
    maze: wf.Graph, label_sets: list[wf.Labels]
) -> None:
    with ThreadPoolExecutor(2) as pool:
        theirs = wf.extend_many(maze, label_sets, wf.Harmonic(), executor=pool)
        assert pool.submit(len, "abc").result() == 3
    assert same(theirs, wf.extend_many(maze, label_sets, wf.Harmonic()))


def test_progress_is_in_order_and_ours(
    maze: wf.Graph, label_sets: list[wf.Labels], processes: ProcessPoolExecutor
) -> None:
    calls: list[tuple[int, int]] = []
    main = threading.get_ident()

    def progress(done: int, total: int) -> None:
        assert threading.get_ident() == main
        calls.append((done, total))

    wf.extend_many(maze, label_sets, wf.AMLE(), executor=processes, progress=progress)
    assert calls == [(k + 1, len(GOALS)) for k in range(len(GOALS))]


# ------------------------------------------------------------------ the graph travels once


@pytest.mark.parametrize("method", [wf.Harmonic(), wf.AMLE()], ids=str)
def test_tasks_are_light_and_the_graph_is_read_once(
    method: wf.fields.Method,
    maze: wf.Graph,
    label_sets: list[wf.Labels],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reads: list[int] = []
    loads = _workers.pickle.loads
    monkeypatch.setattr(
        _workers.pickle, "loads", lambda parcel: reads.append(len(parcel)) or loads(parcel)
    )
    post = Posting()
    theirs = wf.extend_many(maze, label_sets, method, executor=post)
    heavy = len(pickle.dumps(maze))
    large = [size for size in reads if size > heavy // 2]
    assert len(large) == 1
    assert max(post.weights) < heavy
    assert same(theirs, wf.extend_many(maze, label_sets, method))


def test_processes_that_cannot_read_our_files_are_refused(
    maze: wf.Graph, label_sets: list[wf.Labels]
) -> None:
    with pytest.raises(wf.InputError, match="processes must run on this machine"):
        wf.extend_many(maze, label_sets, wf.AMLE(), executor=Overseas())


def test_no_file_is_left_behind(
    maze: wf.Graph, label_sets: list[wf.Labels], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    wf.extend_many(maze, label_sets[:2], wf.AMLE(), executor=Posting())
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------ lost workers


def test_where_a_process_pool_breaks_the_rest_is_solved_here(maze: wf.Graph) -> None:
    rng = np.random.default_rng(0)
    label_sets = [wf.Labels(rng.choice(100, 5, replace=False), rng.random(5)) for _ in range(12)]
    label_sets[4] = wf.Labels([0, 1], [0.0, 13.0])
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.warns(RuntimeWarning, match="lost its workers.*run in this process"):
            fields = wf.extend_many(maze, label_sets, KillsItsWorker(os.getpid()), executor=pool)
        with pytest.raises(BrokenProcessPool):
            pool.submit(len, "abc")
        with pytest.warns(RuntimeWarning, match="lost its workers"):  # broken before we came
            again = wf.extend_many(maze, label_sets[:2], wf.AMLE(), executor=pool)
    alone = wf.extend_many(maze, label_sets, wf.AMLE())
    assert same(fields, alone)
    assert same(again, alone[:2])


def test_a_dask_worker_that_is_killed_costs_nothing(
    maze: wf.Graph, label_sets: list[wf.Labels], tmp_path: Path
) -> None:
    distributed = pytest.importorskip("distributed")
    from dask_cluster import LONGEST, Dask

    (seen := tmp_path / "seen").mkdir()
    with closing(Dask(tmp_path, PYTHONPATH=os.pathsep.join(filter(None, sys.path)))) as dask:
        victim, _ = dask.add_worker(), dask.add_worker()
        with distributed.Client(dask.address, timeout=LONGEST, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=LONGEST)
            killed_at: list[int] = []

            def kill_in_mid_run(done: int, total: int) -> None:
                if not killed_at and (seen / str(victim.pid)).exists():
                    victim.kill()
                    killed_at.append(done)

            method = Slow(str(seen))
            executor = client.get_executor()
            fields = wf.extend_many(
                maze, label_sets, method, executor=executor, progress=kill_in_mid_run
            )
            assert 0 < killed_at[0] < len(label_sets)
            deadline = time.monotonic() + LONGEST
            while len(client.nthreads()) > 1 and time.monotonic() < deadline:
                time.sleep(0.05)
            table = wf.plan_many(maze, label_sets, GOALS, wf.AMLE(), executor=executor)
            harmonic = wf.extend_many(maze, label_sets, wf.Harmonic(), executor=executor)
    assert len(list(seen.iterdir())) == 2
    assert same(fields, wf.extend_many(maze, label_sets, wf.AMLE()))
    assert same(harmonic, wf.extend_many(maze, label_sets, wf.Harmonic()))
    assert (table.success == 1.0).all()


# ------------------------------------------------------------------ what goes wrong


def test_failures_travel_and_are_named(maze: wf.Graph, processes: ProcessPoolExecutor) -> None:
    good, bad = wf.sample_labels(maze, 0, 0.05), wf.Labels([maze.num_vertices], [0.0])
    with pytest.raises(wf.InputError, match=r"^labels_list\[1\]: label vertices"):
        wf.extend_many(maze, [good, bad], wf.AMLE(), executor=processes)
    hasty = wf.PLaplacian(16, max_steps=1)
    with pytest.raises(wf.NotConverged, match=r"^labels_list\[0\]: the cap on iterations"):
        wf.extend_many(maze, [good] * 2, hasty, executor=processes)
    with pytest.raises(wf.NotConverged, match=r"^labels_list\[0\]: the cap on iterations"):
        wf.plan_many(maze, [good] * 2, [0, 0], hasty, executor=processes)


def test_a_time_limit_reaches_other_processes(
    maze: wf.Graph, label_sets: list[wf.Labels], processes: ProcessPoolExecutor
) -> None:
    with pytest.raises(OutOfTime, match=r"limit of 0.2 s"), time_limit(0.2):
        wf.extend_many(maze, label_sets * 50, wf.PLaplacian(8), executor=processes)
    assert processes.submit(len, "abc").result() == 3


@pytest.mark.parametrize("executor", [2, "threads", ProcessPoolExecutor])
def test_what_is_no_executor(executor: object, maze: wf.Graph, label_sets: list[wf.Labels]) -> None:
    with pytest.raises(wf.InputError, match=r"executor must be a concurrent\.futures executor"):
        wf.extend_many(maze, label_sets, wf.AMLE(), executor=executor)  # type: ignore[arg-type]


def test_a_dask_client_is_asked_for_its_executor(
    maze: wf.Graph, label_sets: list[wf.Labels]
) -> None:
    class Client:
        def get_executor(self) -> None: ...

        def scatter(self) -> None: ...

    with pytest.raises(wf.InputError, match=r"pass client\.get_executor\(\)"):
        wf.extend_many(maze, label_sets, wf.AMLE(), executor=Client())  # type: ignore[arg-type]


def test_workers_and_executor_exclude_each_other(
    maze: wf.Graph, label_sets: list[wf.Labels], processes: ProcessPoolExecutor
) -> None:
    with pytest.raises(wf.InputError, match="exclude each other"):
        wf.extend_many(maze, label_sets, wf.AMLE(), workers=2, executor=processes)


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_an_executor_that_was_shut_down(
    make: Callable[[int], Executor], maze: wf.Graph, label_sets: list[wf.Labels]
) -> None:
    with make(1) as pool:
        pass
    with pytest.raises(wf.InputError, match="takes no more tasks: cannot schedule new futures"):
        wf.extend_many(maze, label_sets, wf.AMLE(), executor=pool)


def test_a_method_that_cannot_travel(
    maze: wf.Graph, label_sets: list[wf.Labels], processes: ProcessPoolExecutor
) -> None:
    @dataclass(frozen=True)
    class Local:
        directed: ClassVar[bool] = True

        def solve(self, problem: Problem) -> Solution:
            return wf.AMLE().solve(problem)

    with pytest.raises(wf.InputError, match=r"cannot be sent to the executor's processes.*Local"):
        wf.extend_many(maze, label_sets, Local(), executor=processes)
    assert same(
        wf.extend_many(maze, label_sets, Local()), wf.extend_many(maze, label_sets, wf.AMLE())
    )


# ------------------------------------------------------------------ tables of plans


@pytest.mark.parametrize("method", [None, wf.Harmonic()], ids=["AMLE", "harmonic"])
def test_tables_say_what_plans_do(
    method: wf.fields.Method | None,
    maze: wf.Graph,
    label_sets: list[wf.Labels],
    processes: ProcessPoolExecutor,
) -> None:
    calls: list[tuple[int, int]] = []
    table = wf.plan_many(maze, label_sets, GOALS, method, progress=lambda *done: calls.append(done))
    assert calls[-1] == (len(GOALS), len(GOALS))
    fields = wf.extend_many(maze, label_sets, method or wf.AMLE())
    for k, (goal, field) in enumerate(zip(GOALS, fields, strict=True)):
        plan = wf.plan(maze, field, goal)
        away = np.arange(maze.num_vertices) != goal
        assert table.success[k] == plan.success
        assert table.reached[k] == (plan.outcomes[away] == "reached").sum()
        assert table.loop[k] == (plan.outcomes[away] == "loop").sum()
        assert table.dead_end[k] == (plan.outcomes[away] == "dead end").sum()
        assert table.unreachable[k] == (plan.outcomes[away] == "unreachable").sum()
        done = plan.reached & away
        ratio = plan.cost[done] / wf.cost_to_go(maze, goal)[done]
        assert table.cost_ratio[k] == pytest.approx(ratio.mean(), rel=1e-14)
        assert (table.width[k], table.residual[k]) == (field.width, field.residual)
        assert table.status[k] == "converged"
    sent = wf.plan_many(maze, label_sets, GOALS, method, executor=processes)
    for name in ("goals", "reached", "loop", "dead_end", "unreachable", "cost_ratio", "width"):
        assert np.array_equal(getattr(sent, name), getattr(table, name))


def test_dead_ends_and_what_cannot_arrive_are_counted() -> None:
    one_way = wf.Graph.from_edges([1, 2, 0, 4], [0, 1, 3, 2], directed=True)
    table = wf.plan_many(one_way, [wf.Labels([0], [0.0])], [0])
    assert (table.reached[0], table.unreachable[0], table.loop[0]) == (3, 1, 0)
    prior = [0.0, 1.0, np.inf, 1.0, 5.0]
    stuck = wf.plan_many(one_way, [wf.Labels([0], [0.0])], [0], prior=prior)
    assert (stuck.reached[0], stuck.dead_end[0], stuck.unreachable[0]) == (2, 1, 1)
    nobody = wf.plan_many(
        wf.Graph.from_edges([0], [1], directed=True), [wf.Labels([0], [0.0])], [0]
    )
    assert nobody.success[0] == 1.0
    assert np.isnan(nobody.cost_ratio[0])
    assert nobody.records()[0]["cost_ratio"] is None


def test_tables_as_plain_data_and_in_words(maze: wf.Graph, label_sets: list[wf.Labels]) -> None:
    table = wf.plan_many(maze, label_sets[:3], GOALS[:3])
    assert repr(table) == ("PlanTable(3 goals by AMLE(): 100 % of the starts reach their goal)")
    assert len(table) == 3
    columns = table.to_dict()
    assert columns["goals"] == [0, 20, 40]
    assert [record["goals"] for record in table.records()] == [0, 20, 40]
    assert all(type(x) in (int, float, str) for x in table.records()[0].values())
    again = pickle.loads(pickle.dumps(table))
    assert not again.goals.flags.writeable
    empty = wf.plan_many(maze, [], [])
    assert (len(empty), empty.records(), repr(empty)) == (0, [], "PlanTable(0 goals by AMLE())")


@pytest.mark.parametrize(
    ("goals", "complaint"),
    [
        ([0], r"^1 goal for 2 label sets"),
        ([0, 1, 2], r"^3 goals for 2 label sets"),
        (7, r"^goals must be a list of vertices, got 7"),
        ([0, 10_000], r"^goals\[1\] 10000 is not a vertex"),
        ([0, -1], r"^goals\[1\] -1 is not a vertex"),
        ([0.5, 1], r"^goals\[0\] must be a whole number"),
        (["a", 1], r"^goals\[0\] must be one vertex index"),
    ],
)
def test_bad_goals(
    goals: object, complaint: str, maze: wf.Graph, label_sets: list[wf.Labels]
) -> None:
    with pytest.raises(wf.InputError, match=complaint):
        wf.plan_many(maze, label_sets[:2], goals)  # type: ignore[arg-type]
