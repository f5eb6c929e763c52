"""Many goals on one graph: how their plans end, without keeping the fields.

    labels, goal → extension → plan → one row

Extensions and plans stay in the workers and are dropped there; only a row of numbers per goal comes
back. So a million vertices and a thousand goals need the memory of a few fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import KeepsReadOnly, as_flag, as_vertex, frozen, plain
from ..errors import InputError
from ..fields import AMLE, Method, MethodLike, describe
from ..fields.extension import package
from ..fields.many import Batch, Many, Request, listed, named
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels
from ..graphs.shortest_paths import cost_to_go
from ..numerics.workers import dispatch
from ..plans.planning import Plan, plan
from ..typing import FloatArray
from ..words import number_of, percent


@dataclass(frozen=True, eq=False, repr=False)
class PlanTable(KeepsReadOnly):
    """How the plans for many goals end: (k,) arrays with one entry per goal.

    Attributes
    ----------
    goals : int64 array
        The goals, as they were given.
    reached, loop, dead_end, unreachable : int64 arrays
        Number of starts by the outcome of their walk, see `Outcome`; the goal not counted.
    cost_ratio : float array
        Mean ratio of the cost of the walks that arrive to that of the shortest paths; NaN if none
        arrives.
    residual, width : float arrays
        Of the extension, see `Extension`; the width is inf where it has no bracket.
    status : tuple of str
        How its solve ended.
    seconds : float array
        Time of its solve.
    method : Method
        The settings.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> noisy = [wf.Labels([0, 2, 4], [0.0, 5.0, 4.0]), wf.Labels([0, 4], [4.0, 0.0])]
    >>> table = wf.plan_many(path, noisy, goals=[0, 4])
    >>> table
    PlanTable(2 goals by AMLE(): 75 % of the starts reach their goal, ...)
    >>> table.success, table.loop, table.cost_ratio
    (array([0.5, 1. ]), array([2, 0]), array([1., 1.]))
    >>> table.records()[0]["reached"]
    2
    """

    goals: NDArray[np.int64]
    reached: NDArray[np.int64]
    loop: NDArray[np.int64]
    dead_end: NDArray[np.int64]
    unreachable: NDArray[np.int64]
    cost_ratio: FloatArray
    residual: FloatArray
    width: FloatArray
    status: tuple[str, ...]
    seconds: FloatArray
    method: Method

    @property
    def able(self) -> NDArray[np.int64]:
        """(k,) number of starts with a path to the goal."""
        return self.reached + self.loop + self.dead_end

    @property
    def success(self) -> FloatArray:
        """(k,) share of those starts from which the plan arrives; 1 if there are none."""
        return np.where(self.able > 0, self.reached / np.maximum(self.able, 1), 1.0)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return the columns as lists of plain numbers; None for values that are not finite."""
        names = ("goals", "success", *(each.name for each in fields(self)[1:-1]))
        return {name: plain(list(getattr(self, name))) for name in names}

    def records(self) -> list[dict[str, Any]]:
        """Return one mapping per goal, for JSON or a data frame."""
        columns = self.to_dict()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    def __len__(self) -> int:
        return self.goals.size

    def __repr__(self) -> str:
        who = f"PlanTable({number_of(len(self), 'goals')} by {describe(self.method)}"
        if not len(self):
            return f"{who})"
        able = int(self.able.sum())
        share = percent(int(self.reached.sum()) / able if able else 1.0)
        least, most = (percent(float(end)) for end in (self.success.min(), self.success.max()))
        spread = "" if least == most else f", from {least} to {most}"
        return f"{who}: {share} of the starts reach their goal{spread})"


@dataclass(frozen=True, eq=False)
class _PlanMany:
    """Solve a batch and plan on its fields; it is sent once to each worker."""

    many: Many
    check: bool

    def __call__(self, task: tuple[Batch, list[int]]) -> list[tuple[float | str, ...]]:
        """Return the columns of `PlanTable` for each goal of a batch, from ``reached`` on."""
        batch, goals = task
        solutions, seconds = self.many(batch)
        graph, method = self.many.graph, self.many.method
        rows = list[tuple[float | str, ...]]()
        for position, labels, goal, solution in zip(
            batch.positions, batch.labels, goals, solutions, strict=True
        ):
            with named(position):
                field = package(solution, graph, labels, method, seconds, self.check)
            # outcomes of the starts, the goal apart
            moves = plan(graph, field, goal)
            looping = int((moves.reachable & (moves.basin >= 0)).sum())
            stuck = moves.num_able - moves.num_arrived - looping
            shut_out = moves.reached.size - 1 - moves.num_able
            counts = moves.num_arrived, looping, stuck, shut_out
            ratio = cost_ratio(moves, cost_to_go(graph, goal))
            status = str(field.status)
            rows.append((*counts, ratio, field.residual, field.width, status, seconds))
        return rows


def cost_ratio(moves: Plan, distance: FloatArray) -> float:
    """Return the mean ratio of walked to least cost over the starts that arrive; NaN if none."""
    arrived = moves.reached.copy()
    arrived[moves.goal] = False
    ratio: FloatArray = moves.cost[arrived] / distance[arrived]
    return float(ratio.mean()) if ratio.size else np.nan


def plan_many(
    graph: Graph,
    labels_list: Iterable[Labels],
    goals: Iterable[int],
    method: MethodLike | None = None,
    workers: int | None = None,
    *,
    executor: Executor | None = None,
    prior: ArrayLike | None = None,
    unreachable: Literal["error", "nan"] = "error",
    check: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> PlanTable:
    """Extend many label sets over one graph, plan for a goal each, and keep only how plans end.

    Parameters
    ----------
    graph, labels_list, workers, executor, prior, unreachable, check
        As for `extend_many`. NaN and +inf in a field mean that the goal cannot be reached there.
    goals : iterable of int
        The goal of each label set.
    method : Method or function, optional
        The extension, see `extend`; `AMLE()` if not given.
    progress : callable, optional
        Called with (goals done so far, total), in order, from the calling thread.

    Returns
    -------
    PlanTable
        Outcomes, success and cost ratio per goal, in the order of `goals`. The plans are those of
        ``plan(graph, extend(graph, labels, method), goal)``.

    Raises
    ------
    InputError, NotConverged
        As for `extend_many`; the error names a goal by its position in `goals`.

    Examples
    --------
    >>> import wayfield as wf
    >>> maze = wf.grid_graph(wf.load_layout("medium"), refinement=4)
    >>> goals = [0, 100, 200, 300]
    >>> labels = [wf.sample_labels(maze, goal, fraction=0.05, seed=54) for goal in goals]
    >>> wf.plan_many(maze, labels, goals, wf.Harmonic()).success.round(2)
    array([0.91, 0.82, 0.67, 0.91])
    """
    as_flag(check, "check")
    settings: MethodLike = AMLE() if method is None else method
    request = Request.of(graph, labels_list, settings, prior, unreachable)
    given = listed(goals, "goals", "vertices")
    if len(given) != len(request.label_sets):
        raise InputError(
            f"{number_of(len(given), 'goals')} for {len(request.label_sets)} label sets"
        )
    n = check_graph(graph).num_vertices
    ends = [as_vertex(goal, f"goals[{i}]", n) for i, goal in enumerate(given)]
    if executor is None:
        request.many.shared.prepare()

    def tasks() -> Iterator[tuple[Batch, list[int]]]:
        for batch in request.batches():
            yield batch, [ends[position] for position in batch.positions]

    rows: list[tuple[float | str, ...]] = []
    work, threads = _PlanMany(request.many, check), request.num_threads(workers, executor)
    with closing(dispatch(work, tasks(), workers=threads, executor=executor)) as solved:
        for found in solved:
            rows += found
            if progress is not None:
                progress(len(rows), len(ends))
    names = [each.name for each in fields(PlanTable)][1:-1]
    kinds = [np.int64] * 4 + [np.float64] * 3 + [object, np.float64]
    table = np.array(rows, [*zip(names, kinds, strict=True)])
    columns: dict[str, Any] = {name: frozen(table[name]) for name in names}
    columns["status"] = tuple(table["status"])
    goal_array = frozen(np.array(ends, dtype=np.int64))
    return PlanTable(goals=goal_array, method=request.many.method, **columns)
