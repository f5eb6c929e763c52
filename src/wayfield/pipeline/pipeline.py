"""From labels to a plan, and how far to trust it: one call.

    labels → extension → (least field above it that descends) → plan → certificate

Each step is a public function of its own, `extend`, `descending`, `plan` and `certify`; `solve`
does what has to be done between them. A component without a label cannot reach the goal. A field
that was lifted is no longer inside its bracket, and no longer takes the labels that were lifted:
its plan is certified for the lifted values themselves, and for the labels that are left.

If the graph is a guess, labels may serve to mend it instead (`mend`):

    labels → mended graph → its own distances → plan → certificate

Distances have no false sinks. A method named as well extends what the labels say beyond them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import as_flag, as_vertex
from ..certificates import certify
from ..errors import InputError
from ..extension import AMLE, Extension, Method, extend
from ..graph import Graph, check_graph
from ..labels import Labels, check_labels
from ..lifting import Lifted
from ..lifting import lift as lift_field
from ..mending import MendMethod
from ..mending import mend as fit
from ..plans import plan
from ..shortest_paths import cost_to_go
from .answer import Answer


def solve(
    graph: Graph,
    labels: Labels,
    goal: int,
    method: Method | None = None,
    *,
    mend: MendMethod | None = None,
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
        The known values, that of the goal among them.
    goal : int
        Where to go.
    method : Method, optional
        How to extend the labels: `AMLE()`, or not at all if the graph is mended.
    mend : MendMethod, optional
        Mend the graph by the labels first, and plan on the mended graph, by its own distances; see
        `wayfield.mend`. With a `method`, these are the prior that the labels correct.
    prior : (n,) array, optional
        A field that the labels correct, such as ``cost_to_go(graph, goal)``; see `extend`.
    lift : bool
        Lift the field, as little as possible, until every start that can reach the goal does; see
        `descending`.
    error : float or (n,) array, optional
        How far the values may be from the true cost-to-go. The certificate then says which moves
        are optimal all the same; without it, by how much each move leads.
    check : bool
        Raise `NotConverged` if the method misses its guarantee, or hand back an answer whose
        ``field.status`` says so.

    Returns
    -------
    Answer
        Field, plan, certificate and outcomes; ``answer.summary()`` says it all in a few lines.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> noisy = wf.Labels([0, 2, 4], [0.0, 5.0, 4.0])
    >>> wf.solve(path, noisy, goal=0)
    Answer(AMLE(): converged; 2 of 4 starts that can reach the goal do)
    >>> safe = wf.solve(path, noisy, goal=0, lift=True)
    >>> safe
    Answer(AMLE(): converged; 4 of 4 starts that can reach the goal do, 2 values raised)
    >>> safe.route(4)
    Rollout(reached, 4 steps, cost 4)
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> wf.solve(ring, wf.Labels([0, 4, 5], [0.0, 4.0, 5.0]), 0, mend=wf.LeastChange())
    Answer(mended by LeastChange(): converged; 9 of 9 starts that can reach the goal do)
    """
    goal = as_vertex(goal, "goal", check_graph(graph).num_vertices)
    mended, known = None, labels
    as_flag(lift, "lift")
    if mend is not None:
        if prior is not None:
            raise InputError("prior and mend exclude each other: a mended graph is its own prior")
        mended = fit(graph, labels, goal, mend)
        graph, labels = mended.graph, _with_goal(check_labels(labels, graph), goal)
        prior = cost_to_go(graph, goal)
        known = Labels([goal], [0.0]) if method is None else labels
        method = AMLE(fill="flat") if method is None else method  # 0 everywhere: the prior itself
    how = AMLE() if method is None else method
    field = extend(graph, known, how, prior=prior, unreachable="nan", check=check)
    if lift and not np.isfinite(field.values[goal]):
        raise InputError(f"no label is in reach of the goal {goal}, so it has no value: label it")
    lifted = lift_field(graph, field, goal) if lift else None
    judged, kept = _after(field, known, lifted)
    moves = plan(graph, judged, goal)
    certificate = certify(graph, kept, judged, moves, 0.0 if error is None else error)
    return Answer(labels, field, moves, replace(certificate, field=field), lifted, mended)


def _with_goal(labels: Labels, goal: int) -> Labels:
    """Return the labels with the goal's own, which mending knows to be 0."""
    away = labels.vertices != goal
    vertices, values = labels.vertices[away], labels.values[away]
    return Labels(np.append(vertices, goal), np.append(values, 0.0), labels.error)


def _after(field: Extension, labels: Labels, lifted: Lifted | None) -> tuple[Extension, Labels]:
    """Return the field to plan on, and those of its labels that it still takes."""
    if lifted is None or lifted.unchanged:
        return field, labels
    stays = lifted.values[labels.vertices] == labels.values
    if not stays.any():  # the goal's own label would have stayed
        raise InputError("lifting raised every label, since the goal has none: label it")
    kept = Labels(labels.vertices[stays], labels.values[stays], labels.error)
    return replace(field, values=lifted.values, lower=None, upper=None), kept
