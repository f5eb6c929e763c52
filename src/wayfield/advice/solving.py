"""From labels to a plan with its certificate, in one call: `solve`, and `plan_many` for many goals.

    labels → extension → (lifted, if asked) → plan → certificate

Each step is a public function: `extend`, `lift`, `plan` and `certify`. `solve` does what is needed
between them. A component without a label cannot reach the goal. A lifted field is no longer inside
its bracket, and differs from the labels that were lifted. So its plan is certified for the lifted
values, and for the remaining labels.

    labels, goal → extension → plan → one row

`plan_many` keeps no field. Extensions and plans stay in the workers and are dropped there; only a
row of numbers per goal comes back. So a million vertices and a thousand goals need the memory of a
few fields.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import closing
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..certificates import Certificate, certify
from ..checks import KeepsReadOnly, as_flag, as_vertex, frozen, plain
from ..errors import InputError
from ..fields import AMLE, Extension, Method, MethodLike, check_field, describe, extend
from ..fields.extension import package
from ..fields.many import Batch, Many, Request, listed, named
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels
from ..graphs.shortest_paths import cost_to_go
from ..numerics.workers import dispatch
from ..plans.lifting import Lifted
from ..plans.lifting import lift as lift_field
from ..plans.planning import Outcome, Plan, Rollout, false_sinks, plan
from ..typing import FloatArray
from ..words import number_of, percent
from .text import facts, lines

if TYPE_CHECKING:
    from ..graphs.names import Naming


@dataclass(frozen=True, eq=False, repr=False)
class Answer:
    """A value and a move for each state, where they lead, and how far to trust them.

    Attributes
    ----------
    labels : Labels
        The given labels.
    field : Extension
        Their extension, with its bracket and status.
    plan : Plan
        The greedy plan, on the field or on the lifted field.
    certificate : Certificate
        What the values prove about the plan's moves.
    lifted : Lifted or None
        The lifted field, or None without `lift`.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> answer = wf.solve(path, wf.Labels([0, 4], [0.0, 4.0]), goal=0)
    >>> answer.values
    array([0., 1., 2., 3., 4.])
    >>> print(answer.summary(names=["home", "bridge", "mill", "wood", "farm"], starts=[4]))
    graph     5 vertices, 4 edges, all of length 1; in one piece
    labels    2 (40 % of the vertices), values 0 to 4; goal home
    method    AMLE(): converged; its equation is solved to within ...
    plan      4 of 4 starts reach the goal (100 %)
    proved    4 moves and 4 routes are optimal, if labels are right, no edge is false and ...
    margin    every route tolerates errors of the values below 1; weakest at mill (1, 3 routes), ...
    bound     the field is the true cost-to-go, if graph and labels are right
    route     farm → wood → mill → bridge → home: cost 4, 4 steps; tolerates errors below 1, ...
    advice    compare(graph, labels, goal) says what to use: the labels, or ...
    """

    labels: Labels
    field: Extension
    plan: Plan
    certificate: Certificate
    lifted: Lifted | None = None

    @property
    def graph(self) -> Graph:
        """The graph of the plan."""
        return self.plan.graph

    @property
    def goal(self) -> int:
        """The goal of the plan."""
        return self.plan.goal

    @property
    def values(self) -> FloatArray:
        """(n,) values that the plan follows: those of the field, or of the lifted field.

        +inf where no label can be reached. A label at a state that cannot reach the goal keeps its
        value; no start is sent there.
        """
        return self.plan.values

    @property
    def outcomes(self) -> NDArray[np.object_]:
        """(n,) array of `Outcome`: how the rollout from each start ends."""
        return self.plan.outcomes

    @cached_property
    def raised(self) -> FloatArray:
        """(n,) amount that `lift` added to each value, as in `Lifted`; 0 without `lift`."""
        return frozen(np.zeros(self.values.size)) if self.lifted is None else self.lifted.raised

    @cached_property
    def raised_states(self) -> NDArray[np.int64]:
        """(k,) states with a path to the goal and a raised value, most raised first."""
        up = np.flatnonzero((self.raised > 0.0) & self.plan.reachable)
        amount = np.round(self.raised[up], 9)  # differences of rounding do not count
        return frozen(up[np.argsort(-amount, kind="stable")])

    @cached_property
    def false_sinks(self) -> NDArray[np.int64]:
        """(k,) labels other than the goal's without a descending arc, before any lift."""
        before = check_field(self.graph, self.field)
        return frozen(false_sinks(self.graph, before, self.labels, self.goal))

    @cached_property
    def graph_distance(self) -> FloatArray:
        """(n,) graph distance to the goal, independent of the labels; inf if there is no path."""
        return frozen(cost_to_go(self.graph, self.goal))

    def route(self, start: int) -> Rollout:
        """Walk from a start by the plan; a start without a path to the goal does not begin."""
        start = as_vertex(start, "start", self.graph.num_vertices)
        if self.outcomes[start] is Outcome.UNREACHABLE:
            return Rollout(frozen(np.array([start])), 0.0, Outcome.UNREACHABLE)
        return self.plan.rollout(start)

    def write_proof(
        self, path: str | os.PathLike[str], names: Collection[object] | bool = False
    ) -> Path:
        """Write the field, the plan, its certified moves and their proof into one file.

        ``python -m wayfield_verify FILE`` proves them again in exact arithmetic, using nothing but
        the file. With ``names=True`` it calls vertices by their names in the graph; pass a list
        for other names. Returns the path.
        """
        return self.certificate.write_proof(path, names)

    def summary(self, names: Naming | None = None, starts: Iterable[int] = ()) -> str:
        """Return a few lines of text: the findings, and what to do next.

        Parameters
        ----------
        names : sequence or mapping, optional
            Names of the vertices: ``names[x]``. Default: the graph's own names, or indices.
        starts : iterable of int
            Start vertices of the routes to show.
        """
        rows = lines(self.facts(names, starts))
        return "\n".join(f"{word:<9} {text}" for word, text in rows)

    def facts(
        self,
        names: Naming | None = None,
        starts: Iterable[int] = (),
        held_out: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the content of the summary, and more, as plain data that JSON can hold.

        Numbers that are infinite or unknown are None. `names` and `starts` as in `summary`;
        `held_out` holds the facts of a `CrossValidation` of the same field, for the advice.
        """
        return facts(self, self.graph.names if names is None else names, starts, held_out)

    def __repr__(self) -> str:
        reach = f"{self.plan.num_arrived:,} of {self.plan.num_able:,} starts reach the goal"
        count = self.raised_states.size
        lift = f", {number_of(count, 'values')} raised" if count else ""
        return f"Answer({describe(self.field.method)}: {self.field.status}; {reach}{lift})"


def solve(
    graph: Graph,
    labels: Labels,
    goal: int,
    method: MethodLike = AMLE(),  # noqa: B008  (frozen settings)
    *,
    prior: ArrayLike | None = None,
    lift: bool = False,
    error: ArrayLike | None = None,
    check: bool = True,
) -> Answer:
    """Extend labels over a graph, plan from every start, and certify the plan.

    Parameters
    ----------
    graph : Graph
        State graph; moves follow its arcs.
    labels : Labels
        The known values, including the goal's.
    goal : int
        The goal.
    method : Method or function
        How to extend the labels; see `extend`.
    prior : (n,) array, optional
        A field that the labels correct, such as ``cost_to_go(graph, goal)``; see `extend`.
    lift : bool
        Lift the field as little as possible, so that every start with a path to the goal reaches
        it; see `wayfield.lift`.
    error : float or (n,) array, optional
        Bound on the difference between the values and the true cost-to-go. The certificate then
        says which moves are optimal in spite of it; without it, by how much each move leads.
    check : bool
        Raise `NotConverged` if the method misses its guarantee. If False, return an answer with a
        ``field.status`` that says so.

    Returns
    -------
    Answer
        Field, plan, certificate and outcomes; see ``answer.summary()``.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> noisy = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0])
    >>> wf.solve(path, noisy, goal=0)
    Answer(AMLE(): converged; 2 of 4 starts reach the goal)
    >>> safe = wf.solve(path, noisy, goal=0, lift=True)
    >>> safe
    Answer(AMLE(): converged; 4 of 4 starts reach the goal, 2 values raised)
    >>> safe.route(4)
    Rollout(reached, 4 steps, cost 4)
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    as_flag(lift, "lift")
    field = extend(graph, labels, method, prior=prior, unreachable="nan", check=check)
    known = labels
    lifted, judged = None, field
    if lift:
        if not np.isfinite(field.values[goal]):
            raise InputError(
                f"no label is in reach of the goal {goal}, so it has no value: label it"
            )
        lifted = lift_field(graph, field, goal)
        if not lifted.unchanged:
            # the lifted field is certified as it is, for the labels that were not raised
            judged = replace(field, values=lifted.values, lower=None, upper=None)
            stays = lifted.raised[known.vertices] == 0.0
            if not stays.any():  # a label at the goal would have stayed
                raise InputError("lifting raised every label, since the goal has none: label it")
            known = Labels(known.vertices[stays], known.values[stays], known.error)
    moves = plan(graph, judged, goal)
    certificate = certify(graph, known, judged, moves, 0.0 if error is None else error)
    return Answer(labels, field, moves, replace(certificate, field=field), lifted)


# ------------------------------------------------------------------ many goals


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
