"""Many label sets, methods of a user's own, executors, and priors."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given

import wayfield as wf
from exact import contains, exact_harmonic
from executor_work import KillsItsWorker, Posting, Slow, Travels
from methods import choose, methods
from wayfield.errors import OutOfTime
from wayfield.fields import Extension, Method, Problem, Shared, Solution, harmonic, time_limit
from wayfield.fields.base import Status
from worlds import ENDS, PATH, labelled_graphs, random_graph

GOALS = tuple(range(0, 400, 20))


@pytest.fixture(scope="module")
def maze() -> wf.Graph:
    return wf.grid_graph(wf.load_layout("antmaze-medium"), 4)


@pytest.fixture(scope="module")
def goals(maze: wf.Graph) -> list[wf.Labels]:
    return [wf.sample_labels(maze, goal, 0.05, seed=54) for goal in GOALS]


def same(a: Extension, b: Extension) -> bool:
    pairs = ((a.values, b.values), (a.lower, b.lower), (a.upper, b.upper))
    return all((x is None and y is None) or np.array_equal(x, y, equal_nan=True) for x, y in pairs)


def all_same(one: list[Extension], other: list[Extension]) -> bool:
    return all(same(*pair) for pair in zip(one, other, strict=True))


# ------------------------------------------------------------------ the same as one by one


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


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("call", ["extend_many(graph, sets, Slow('.', 60))",
                                  "plan_many(graph, sets, [0] * 9, Slow('.', 60))"])  # fmt: skip
def test_ctrl_c_waits_for_no_running_solve(call: str, tmp_path: Path) -> None:
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "import wayfield as wf; from executor_work import KillsItsWorker, Posting, Slow, Travels\n"
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


# ------------------------------------------------------------------ executors


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize(
    "method", [wf.Harmonic(), wf.PLaplacian(8), wf.AMLE(), wf.NearestLabel()], ids=str
)
def test_processes_give_the_bits_of_threads(
    method: wf.fields.Method,
    maze: wf.Graph,
    goals: list[wf.Labels],
    processes: ProcessPoolExecutor,
) -> None:
    ours = wf.extend_many(maze, goals, method)
    theirs = wf.extend_many(maze, goals, method, executor=processes)
    assert all_same(ours, theirs)
    assert all(field.graph is maze and field.method == method for field in theirs)


def test_somebody_elses_threads_serve_and_are_left_running(
    maze: wf.Graph, goals: list[wf.Labels]
) -> None:
    with ThreadPoolExecutor(2) as pool:
        theirs = wf.extend_many(maze, goals, wf.Harmonic(), executor=pool)
        assert pool.submit(len, "abc").result() == 3
    assert all_same(theirs, wf.extend_many(maze, goals, wf.Harmonic()))


def test_progress_is_in_order_and_ours(
    maze: wf.Graph, goals: list[wf.Labels], processes: ProcessPoolExecutor
) -> None:
    calls: list[tuple[int, int]] = []
    main = threading.get_ident()

    def progress(done: int, total: int) -> None:
        assert threading.get_ident() == main
        calls.append((done, total))

    wf.extend_many(maze, goals, wf.AMLE(), executor=processes, progress=progress)
    assert calls == [(k + 1, len(GOALS)) for k in range(len(GOALS))]


def test_each_process_reads_the_work_once(maze: wf.Graph, goals: list[wf.Labels]) -> None:
    Travels.arrivals = 0
    theirs = wf.extend_many(maze, goals, Travels(), executor=Posting())
    assert Travels.arrivals == 1
    assert all_same(theirs, wf.extend_many(maze, goals, wf.AMLE()))


def test_a_process_pool_that_breaks_is_said(maze: wf.Graph) -> None:
    sets = [wf.Labels([0, 1], [0.0, 13.0])] * 3
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        with pytest.raises(BrokenProcessPool):
            wf.extend_many(maze, sets, KillsItsWorker(os.getpid()), executor=pool)
        with pytest.raises(wf.InputError, match="the executor takes no more tasks"):
            wf.extend_many(maze, sets, wf.AMLE(), executor=pool)


def test_a_dask_worker_that_is_killed_costs_nothing(
    maze: wf.Graph, goals: list[wf.Labels], tmp_path: Path
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
                maze, goals, method, executor=executor, progress=kill_in_mid_run
            )
            assert 0 < killed_at[0] < len(goals)
            deadline = time.monotonic() + LONGEST
            while len(client.nthreads()) > 1 and time.monotonic() < deadline:
                time.sleep(0.05)
            table = wf.plan_many(maze, goals, GOALS, wf.AMLE(), executor=executor)
            harmonic = wf.extend_many(maze, goals, wf.Harmonic(), executor=executor)
    assert len(list(seen.iterdir())) == 2
    assert all_same(fields, wf.extend_many(maze, goals, wf.AMLE()))
    assert all_same(harmonic, wf.extend_many(maze, goals, wf.Harmonic()))
    assert (table.success == 1.0).all()


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
    maze: wf.Graph, goals: list[wf.Labels], processes: ProcessPoolExecutor
) -> None:
    with pytest.raises(OutOfTime, match=r"limit of 0.2 s"), time_limit(0.2):
        wf.extend_many(maze, goals * 50, wf.PLaplacian(8), executor=processes)
    assert processes.submit(len, "abc").result() == 3


def test_a_method_that_cannot_travel(
    maze: wf.Graph, goals: list[wf.Labels], processes: ProcessPoolExecutor
) -> None:
    @dataclass(frozen=True)
    class Local:
        directed: ClassVar[bool] = True

        def solve(self, problem: Problem) -> Solution:
            return wf.AMLE().solve(problem)

    with pytest.raises(wf.InputError, match=r"cannot be sent to the executor's processes.*Local"):
        wf.extend_many(maze, goals, Local(), executor=processes)
    assert all_same(wf.extend_many(maze, goals, Local()), wf.extend_many(maze, goals, wf.AMLE()))


# ------------------------------------------------------------------ tables of plans


@pytest.mark.parametrize("method", [None, wf.Harmonic()], ids=["AMLE", "harmonic"])
def test_tables_say_what_plans_do(
    method: wf.fields.Method | None,
    maze: wf.Graph,
    goals: list[wf.Labels],
    processes: ProcessPoolExecutor,
) -> None:
    calls: list[tuple[int, int]] = []
    table = wf.plan_many(maze, goals, GOALS, method, progress=lambda *done: calls.append(done))
    assert calls[-1] == (len(GOALS), len(GOALS))
    fields = wf.extend_many(maze, goals, method or wf.AMLE())
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
    sent = wf.plan_many(maze, goals, GOALS, method, executor=processes)
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


def test_tables_as_plain_data_and_in_words(maze: wf.Graph, goals: list[wf.Labels]) -> None:
    table = wf.plan_many(maze, goals[:3], GOALS[:3])
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


# ------------------------------------------------------------------ methods of a user's own


INTERPOLATED = np.array([0.0, 1.0, 2.0, 3.0])


def mean(graph: wf.Graph, labels: wf.Labels) -> Any:
    """The mean of the labels, and the labels themselves."""
    values = np.full(graph.num_vertices, labels.values.mean())
    values[labels.vertices] = labels.values
    return values


@dataclass
class Constant:
    """One number everywhere; it says how it ended. Not hashable."""

    value: float = 1.0
    status: wf.Status = wf.Status.STOPPED

    def solve(self, problem: Problem) -> Solution:
        return Solution(np.full(problem.graph.num_vertices, self.value), self.status)


class Undirected:
    """A method with a name that is not defined on directed graphs."""

    name = "my own"
    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Any:
        return mean(problem.graph, problem.labels)


@given(labelled_graphs())
def test_a_function_and_an_object_are_methods(world) -> None:
    graph, labels = world
    expected = mean(graph, labels)
    for method in (mean, Undirected()):
        field = wf.extend(graph, labels, method)
        assert np.array_equal(field.values, expected)
        assert field.status is wf.Status.NO_BRACKET
        assert np.isnan(field.residual)
        assert field.lower is None
        assert not field.missed.any()
    assert repr(field).startswith("Extension(my own, ")
    [one, two] = wf.extend_many(graph, [labels, labels], mean)
    assert np.array_equal(one.values, expected)
    assert np.array_equal(two.values, expected)
    goal = int(labels.vertices[0])
    answer = wf.solve(graph, labels, goal, mean)
    assert np.array_equal(answer.values, expected)
    assert np.array_equal(answer.plan.successor, wf.plan(graph, expected, goal).successor)
    [row] = wf.plan_many(graph, [labels], [goal], mean).records()
    assert row["reached"] == answer.plan.num_arrived


def test_the_callers_array_stays_his() -> None:
    mine = INTERPOLATED.copy()
    field = wf.extend(PATH, ENDS, lambda graph, labels: mine)
    mine[1] = 7.0
    assert field.values.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert not field.values.flags.writeable


def test_what_differs_from_the_labels_is_said() -> None:
    field = wf.extend(PATH, ENDS, Constant(2.0))
    assert field.missed.tolist() == [2.0, -1.0]
    assert "no bracket, differs from 2 of 2 labels, by up to 2)" in repr(field)
    answer = wf.solve(PATH, ENDS, 0, Constant(2.0))
    line = "missed    the field differs from 2 of 2 labels, by up to 2"
    assert line in answer.summary().splitlines()
    assert "differs" not in repr(wf.extend(PATH, ENDS, wf.AMLE()))
    lifted = wf.solve(PATH, ENDS, 0, Constant(2.0), lift=True)
    assert lifted.plan.reached.all()


def test_rounding_at_a_label_is_no_difference() -> None:
    for off, count in ((7e-15, 0), (7e-14, 1)):  # an ulp of the largest label is 4e-16
        values = np.array([0.0, 1.0, 2.0, 3.0 + off])
        field = wf.extend(PATH, ENDS, lambda graph, labels, values=values: values)
        assert np.count_nonzero(field.missed) == count


def test_a_solution_says_how_it_ended() -> None:
    with pytest.raises(TypeError, match="status"):
        Solution(INTERPOLATED)  # type: ignore[call-arg]
    assert wf.extend(PATH, ENDS, Constant()).status is wf.Status.STOPPED
    stalled = Constant(status=wf.Status.STALLED)
    with pytest.raises(wf.NotConverged, match="stalled"):
        wf.extend(PATH, ENDS, stalled)
    assert wf.extend(PATH, ENDS, stalled, check=False).status is wf.Status.STALLED


def test_values_where_there_is_no_label() -> None:
    apart = wf.Graph.from_edges([0, 2], [1, 3])
    labels = wf.Labels([0], [0.0])
    for there in (np.nan, 7.0):
        values = np.array([0.0, 0.0, there, there])
        field = wf.extend(apart, labels, lambda g, y, v=values: v, unreachable="nan")
        assert np.array_equal(field.values, values, equal_nan=True)
    one_way = wf.Graph.from_edges([0, 1], [1, 2], directed=True)
    behind = wf.Labels([1], [0.0])
    field = wf.extend(one_way, behind, lambda graph, labels: [1.0, 0.0, np.inf])
    assert field.values.tolist() == [1.0, 0.0, np.inf]
    with pytest.raises(wf.InputError, match=r"values\[0\] = inf is not a finite number"):
        wf.extend(one_way, behind, lambda graph, labels: [np.inf, 0.0, np.inf])


def generator(graph: wf.Graph, labels: wf.Labels) -> Any:
    yield from labels.values


def failing(graph: wf.Graph, labels: wf.Labels) -> Any:
    raise ZeroDivisionError("no\n  luck")


BAD: list[tuple[Callable[..., Any], str]] = [
    (generator, r"^generator: values must be an array of 4 numbers, got <generator"),
    (failing, r"^failing raised ZeroDivisionError: no luck$"),
    (lambda graph, labels: None, r"^<lambda>: values must be an array of 4 numbers, got None$"),
    (lambda graph, labels: {0: 1.0}, r"values must be an array of 4 numbers, got \{0: 1.0\}"),
    (lambda graph, labels: INTERPOLATED[:, None], r"values must be one-.*, got shape \(4, 1\)$"),
    (lambda graph, labels: INTERPOLATED[:3], r"values has 3 entries, expected 4$"),
    (lambda graph, labels: np.append(INTERPOLATED, 4.0), r"values has 5 entries, expected 4$"),
    (lambda graph, labels: [0.0, 1.0, np.nan, 3.0], r"values\[2\] = nan is not a finite number$"),
    (lambda graph, labels: [0.0, -np.inf, 2.0, 3.0], r"values\[1\] = -inf is not a finite"),
    (lambda graph, labels: [0.0, np.inf, 2.0, 3.0], r"values\[1\] = inf is not a finite"),
    (lambda graph, labels: list("abcd"), r"values must be real numbers, got <U1"),
    (lambda graph: INTERPOLATED, r"raised TypeError: .* takes 1 positional argument"),
]


@pytest.mark.parametrize(("method", "message"), BAD)
def test_a_bad_method_is_refused_in_one_line(method: Any, message: str) -> None:
    for call in (
        lambda: wf.extend(PATH, ENDS, method),
        lambda: wf.solve(PATH, ENDS, 0, method),
    ):
        with pytest.raises(wf.InputError, match=message) as caught:
            call()
        assert "\n" not in str(caught.value)
    with pytest.raises(wf.InputError, match=message.replace("^", r"^labels_list\[0\]: ")):
        wf.extend_many(PATH, [ENDS], method)


def test_an_error_keeps_its_cause() -> None:
    with pytest.raises(wf.InputError) as caught:
        wf.extend(PATH, ENDS, failing)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)

    def ours(graph: wf.Graph, labels: wf.Labels) -> Any:
        raise wf.NotConverged("given up", 1.0, 2.0)

    with pytest.raises(wf.NotConverged, match="given up"):
        wf.extend(PATH, ENDS, ours)


@pytest.mark.parametrize("bound", ["lower", "upper"])
def test_bounds_are_checked(bound: str) -> None:
    class Short:
        def solve(self, problem: Problem) -> Solution:
            return Solution(INTERPOLATED, wf.Status.CONVERGED, **{bound: INTERPOLATED[:2]})

    with pytest.raises(wf.InputError, match=rf"Short\(\): {bound} has 2 entries, expected 4"):
        wf.extend(PATH, ENDS, Short())


def test_a_status_that_is_none() -> None:
    with pytest.raises(wf.InputError, match=r"returned the status 'fine': expected a"):
        wf.extend(PATH, ENDS, Constant(status="fine"))  # type: ignore[arg-type]


def test_directed_graphs_are_refused_only_where_the_method_says_so() -> None:
    arcs = wf.Graph.from_edges([0, 1, 2], [1, 2, 0], directed=True)
    labels = wf.Labels([0], [0.0])
    assert wf.extend(arcs, labels, mean).values.tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(wf.InputError, match="Undirected is not defined on directed graphs"):
        wf.extend(arcs, labels, Undirected())


def test_a_method_from_outside_runs_in_one_thread_unless_asked() -> None:
    seen: set[int] = set()

    def spying(graph: wf.Graph, labels: wf.Labels) -> Any:
        seen.add(threading.get_ident())
        return mean(graph, labels)

    wf.extend_many(PATH, [ENDS] * 200, spying)
    wf.plan_many(PATH, [ENDS] * 200, [0] * 200, spying)
    assert len(seen) <= 2  # one for each call


@dataclass(frozen=True)
class Sharing:
    """A method that solves label sets together, perhaps too few of them."""

    lost: int = 0

    def solve(self, problem: Problem) -> Solution:
        raise AssertionError("solved one by one")

    def share(self, graph: wf.Graph, goals: Any) -> Shared:
        return Shared(self.together, block=4)

    def together(self, problems: Any) -> list[Solution]:
        kept = problems[: len(problems) - self.lost]
        return [Solution(mean(p.graph, p.labels), wf.Status.NO_BRACKET) for p in kept]


def test_work_that_is_shared_between_goals() -> None:
    fields = wf.extend_many(PATH, [ENDS] * 5, Sharing())
    assert [field.values.tolist() for field in fields] == [mean(PATH, ENDS).tolist()] * 5
    with pytest.raises(
        wf.InputError, match=r"^labels_list\[0:4\]: Sharing\(lost=1\) returned 3 solutions for 4"
    ):
        wf.extend_many(PATH, [ENDS] * 4, Sharing(lost=1))


@dataclass(frozen=True)
class Table:
    """Values in a table, one of the settings."""

    values: Any
    scale: float = 1.0

    def solve(self, problem: Problem) -> Any:
        return self.scale * self.values


def test_settings_are_shown_and_tables_by_their_shape() -> None:
    field = wf.extend(PATH, ENDS, Table(INTERPOLATED, scale=2.0))
    assert repr(field).startswith("Extension(Table(values=array of shape (4,), scale=2.0), 4 val")


# ------------------------------------------------------------------ priors


def world(seed: int, directed: bool = False, n: int = 12) -> tuple[wf.Graph, np.random.Generator]:
    """A connected graph with odd lengths, and the generator it came from."""
    rng = np.random.default_rng(seed)
    return random_graph(rng, n, "real", backbone="tree", edges=n, directed=directed), rng


def uneven(seed: int, directed: bool = False) -> tuple[wf.Graph, wf.Labels, np.ndarray]:
    """A world whose labels less the prior cannot be had without rounding."""
    graph, rng = world(seed, directed)
    prior = rng.normal(size=graph.num_vertices) * 10.0 ** rng.integers(-3, 4, graph.num_vertices)
    labels = wf.Labels(rng.choice(graph.num_vertices, 4, replace=False), rng.normal(size=4))
    return graph, labels, prior


@methods()
def test_labels_that_agree_give_back_the_prior_exactly(method: Method) -> None:
    for seed in range(20):
        graph, rng = world(seed)
        prior = rng.normal(size=graph.num_vertices) * 1e3
        vertices = rng.choice(graph.num_vertices, 3, replace=False)
        field = wf.extend(graph, wf.Labels(vertices, prior[vertices]), method, prior=prior)
        assert np.array_equal(field.values, prior)
        if field.lower is not None:
            assert field.width == 0.0


@pytest.mark.parametrize("fill", [None, "cost", "flat"])
def test_on_a_directed_graph_too(fill: str | None) -> None:
    for seed in range(50):
        graph, rng = world(seed, directed=True)
        truth = wf.cost_to_go(graph, 0)
        finite = np.flatnonzero(np.isfinite(truth))
        vertices = np.union1d([0], rng.choice(finite, 3))
        labels = wf.Labels(vertices, truth[vertices])
        field = wf.extend(graph, labels, wf.AMLE(fill=fill), prior=truth)
        assert np.array_equal(field.values, truth)
        assert field.lower is not None
        assert field.width == 0.0


@methods(sloped=False)
def test_it_is_the_prior_plus_the_extended_difference(method: Method) -> None:
    graph, labels, prior = uneven(3)
    difference = wf.Labels(labels.vertices, labels.values - prior[labels.vertices])
    apart = prior + wf.extend(graph, difference, method).values
    field = wf.extend(graph, labels, method, prior=prior)
    free = ~labels.mask(graph)
    assert np.array_equal(field.values[free], apart[free])
    assert np.array_equal(field.values[labels.vertices], labels.values)


def test_a_correction_has_no_slope_of_its_own() -> None:
    path = wf.Graph.from_edges(range(4), range(1, 5))
    labels = wf.Labels([0, 2], [0.0, 4.0])
    for method in (wf.AMLE(), wf.AMLE(fill="cost"), wf.McShane(), wf.Whitney()):
        field = wf.extend(path, labels, method, prior=np.arange(5.0))
        assert field.values[:3].tolist() == [0.0, 2.0, 4.0]
    field = wf.extend(path, labels, wf.AMLE(fill="cost"), prior=np.arange(5.0))
    assert field.values.tolist() == [0.0, 2.0, 4.0, 5.0, 6.0]
    assert field.method == wf.AMLE(fill="flat")


def test_labels_correct_a_wrong_graph() -> None:
    """The graph says every step costs 1; the far half of the world costs 3."""
    path = wf.Graph.from_edges(range(8), range(1, 9))
    true = wf.Graph.from_edges(range(8), range(1, 9), [1.0] * 4 + [3.0] * 4)
    truth, prior = wf.cost_to_go(true, 0), wf.cost_to_go(path, 0)
    labels = wf.Labels([0, 4, 8], truth[[0, 4, 8]])
    assert np.array_equal(wf.extend(path, labels, wf.AMLE(), prior=prior).values, truth)


def test_plus_infinity_stays() -> None:
    graph = wf.Graph.from_edges([0, 1, 3], [1, 2, 0], directed=True)
    truth = wf.cost_to_go(graph, 1)  # 2 cannot reach it
    field = wf.extend(graph, wf.Labels([1, 0], [0.0, 2.0]), wf.AMLE(), prior=truth)
    assert field.values.tolist() == [2.0, 0.0, np.inf, 3.0]
    path = wf.Graph.from_edges([0, 1], [1, 2], num_vertices=4)
    for method in choose():
        field = wf.extend(
            path,
            wf.Labels([0], [1.0]),
            method,
            prior=[0.0, np.inf, 2.0, np.inf],
            unreachable="nan",
        )
        assert field.values.tolist() == [1.0, np.inf, 3.0, np.inf]


@methods(bracket=True)
def test_many_as_single_calls(method: Method) -> None:
    graph, rng = world(5, n=30)
    goals = [0, 7, 9, 20]
    sets = [wf.sample_labels(graph, goal, count=6, seed=1) for goal in goals]
    noisy = [wf.Labels(s.vertices, s.values * 1.5 + rng.random(len(s))) for s in sets]
    priors = [wf.cost_to_go(graph, goal) for goal in goals]
    for prior in (priors, np.array(priors), priors[0]):
        many = wf.extend_many(graph, noisy, method, prior=prior)
        for i, (labels, field) in enumerate(zip(noisy, many, strict=True)):
            own = priors[0] if prior is priors[0] else priors[i]
            one = wf.extend(graph, labels, method, prior=own)
            np.testing.assert_allclose(field.values, one.values, rtol=0, atol=1e-12)
            assert (field.lower <= one.upper).all()
            assert (one.lower <= field.upper).all()
            assert field.method == one.method
            assert np.array_equal(field.prior, own)
