"""Do the labels pay? The plain graph distance beside every method, on one graph and goal.

Every field is planned on with the default rule and every start walked. Where the graph and its
lengths are right, its own shortest paths cannot be beaten: reaching from everywhere at cost ratio 1
is what the plain distance does by definition, and the verdict says so. Labels pay when the graph is
only a model; hand the true one as `world` to see by how much.

This is a comparison, so it looks at the truth. Nothing that extends or plans imports it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ._arrays import as_vertex
from .errors import InputError
from .extension import (
    AMLE,
    Harmonic,
    McShane,
    Method,
    MidrangeSweeps,
    NearestLabel,
    PLaplacian,
    Whitney,
    describe,
    extend,
)
from .graph import Graph, check_graph
from .kernels._types import FloatArray, IntArray
from .kernels.csr import Arcs
from .kernels.planning import outcomes
from .labels import Labels
from .oracle import cost_to_go
from .plan import plan

PLAIN = "graph distance"
_SAME = 1e-9
"""Cost ratios closer than this are equal."""


@dataclass(frozen=True)
class Row:
    """How one field did.

    Attributes
    ----------
    name : str
        The method, with the settings that are not its defaults.
    success : float
        Share of the starts that can reach the goal whose plan does; the goal itself not counted.
    cost_ratio : float
        Mean of walked cost over least possible cost, over the starts that reached; NaN if none.
    seconds : float
        Time to compute the field.
    """

    name: str
    success: float
    cost_ratio: float
    seconds: float


@dataclass(frozen=True, repr=False)
class Comparison:
    """Rows, the plain graph distance first, and what they say about the labels.

    Attributes
    ----------
    rows : tuple of Row
        One per field.
    starts : int
        Starts that can reach the goal.
    own_world : bool
        Whether plans were walked on the graph they were made on.
    goal_labelled : bool
        Whether the goal is among the labels. If not, no field knows where to descend to.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
    >>> found = wf.compare(ring, wf.sample_labels(ring, 0, count=3), goal=0)
    >>> found.labels_pay, found.starts
    (False, 7)
    """

    rows: tuple[Row, ...]
    starts: int
    own_world: bool
    goal_labelled: bool

    @property
    def best(self) -> Row | None:
        """The best field that used labels, by success, then by cost ratio; None if none did."""
        return max(self.rows[1:], key=_merit, default=None)

    @property
    def labels_pay(self) -> bool:
        """Whether some field that used labels beats the plain graph distance."""
        plain, best = self.rows[0], self.best
        if best is None or best.success != plain.success:
            return best is not None and best.success > plain.success
        return best.cost_ratio < plain.cost_ratio - _SAME

    @property
    def verdict(self) -> str:
        """One sentence."""
        if not self.goal_labelled:
            return "The goal is not among the labels, so no field leads to it: label it."
        plain, best = self.rows[0], self.best
        if best is not None and self.labels_pay:
            return (
                f"The labels pay: {best.name} has success {best.success:.4f} at cost ratio "
                f"{best.cost_ratio:.4f}, the plain graph distance {plain.success:.4f} at "
                f"{plain.cost_ratio:.4f}."
            )
        why = "; on the graph itself nothing can" if self.own_world else ""
        return f"The labels do not beat the plain graph distance{why}."

    def __repr__(self) -> str:
        wide = max(len(row.name) for row in self.rows)
        head = f"{'field':{wide}}  success  cost ratio  seconds"
        lines = [
            f"{row.name:{wide}}  {row.success:7.4f}  {row.cost_ratio:10.4f}  {row.seconds:7.3f}"
            for row in self.rows
        ]
        return "\n".join([f"Comparison over {self.starts:,} starts", head, *lines, self.verdict])


def compare(
    graph: Graph,
    labels: Labels,
    goal: int,
    methods: Iterable[Method] | None = None,
    *,
    world: Graph | None = None,
) -> Comparison:
    """Put the plain graph distance beside extensions of the labels.

    Parameters
    ----------
    graph : Graph
        What is known of the world: fields are computed and plans made on it.
    labels : Labels
        The known values.
    goal : int
        Where to go.
    methods : iterable of Method, optional
        What to compare. By default every method that is defined on the graph, the AMLE of the
        labels without their false sinks, and the AMLE correction of the graph distance
        (``prior=``).
    world : Graph, optional
        Where the plans are walked and paid for, if `graph` is only a model of it; the same
        vertices. A move that the world does not allow is a failure.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges(range(8), [*range(1, 8), 0])
    >>> found = wf.compare(ring, wf.sample_labels(ring, 0, count=3), goal=0)
    >>> found.rows[0].name, found.rows[0].success, found.rows[0].cost_ratio
    ('graph distance', 1.0, 1.0)
    >>> found.verdict
    'The labels do not beat the plain graph distance; on the graph itself nothing can.'
    >>> slow = wf.Graph.from_edges(range(8), [*range(1, 8), 0], [9.0] + [1.0] * 7)
    >>> truth = wf.cost_to_go(slow, 0)
    >>> wf.compare(ring, wf.Labels([0, 1, 3], truth[[0, 1, 3]]), 0, world=slow).labels_pay
    True
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    if world is not None and check_graph(world).num_vertices != graph.num_vertices:
        raise InputError(
            f"the world has {world.num_vertices} vertices, the graph {graph.num_vertices}"
        )
    walked = graph if world is None else world
    truth = cost_to_go(walked, goal)
    able = np.isfinite(truth)
    able[goal] = False
    if not able.any():
        raise InputError(f"no other vertex can reach the goal {goal}: there is nothing to compare")
    rows = []
    for name, field, seconds in _fields(graph, labels, goal, methods):
        moves = plan(graph, field, goal).successor
        _, steps, cost, _, _ = outcomes(walked.arcs, _slots(walked.arcs, moves), goal)
        done = able & (steps >= 0)
        ratio = float((cost[done] / truth[done]).mean()) if done.any() else np.nan
        rows.append(Row(name, float(done.sum() / able.sum()), ratio, seconds))
    labelled = bool(labels.mask(graph)[goal])
    return Comparison(tuple(rows), int(able.sum()), world is None, labelled)


def default_methods(graph: Graph) -> list[Method]:
    """Every method that is defined on the graph."""
    other_fill = AMLE(fill="flat" if graph.directed else "cost")
    own = None  # the labels' own Lipschitz constant: others may not fit them
    every: list[Method] = [AMLE(), other_fill, PLaplacian(8), Harmonic(), MidrangeSweeps()]
    every += [NearestLabel(), McShane(own), Whitney(own)]
    return [method for method in every if method.directed or not graph.directed]


def _fields(
    graph: Graph, labels: Labels, goal: int, methods: Iterable[Method] | None
) -> Iterator[tuple[str, FloatArray, float]]:
    """Name, values and seconds of every field to compare; +inf where there is no value."""
    began = time.perf_counter()
    distance = cost_to_go(graph, goal)
    yield PLAIN, distance, time.perf_counter() - began
    for method in default_methods(graph) if methods is None else methods:
        yield _extended(graph, labels, method)
    if methods is not None:
        return
    if labels.mask(graph)[goal]:
        began = time.perf_counter()
        kept = labels.without_false_sinks(graph, goal, AMLE())
        _, field, _ = _extended(graph, kept, AMLE())
        yield "AMLE(), false sinks dropped", field, time.perf_counter() - began
    if np.isfinite(distance[labels.vertices]).all():
        _, field, seconds = _extended(graph, labels, AMLE(), distance)
        yield f"AMLE() on the {PLAIN}", field, seconds


def _extended(
    graph: Graph, labels: Labels, method: Method, prior: FloatArray | None = None
) -> tuple[str, FloatArray, float]:
    field = extend(graph, labels, method, prior=prior, unreachable="nan", check=False)
    known = np.where(np.isnan(field.values), np.inf, field.values)
    return describe(method), known, field.seconds


def _slots(arcs: Arcs, successor: IntArray) -> IntArray:
    """Arc that each move takes; -1 where there is no move, or no such arc."""
    n = successor.size
    tails = np.repeat(np.arange(n), np.diff(arcs.indptr))
    keys = tails * n + arcs.indices
    wanted = np.arange(n) * n + successor
    at = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
    there = (successor >= 0) & (keys[at] == wanted)
    return np.where(there, at, -1)


def _merit(row: Row) -> tuple[float, float]:
    return row.success, -float(np.nan_to_num(row.cost_ratio, nan=np.inf))
