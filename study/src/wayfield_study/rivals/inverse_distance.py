"""Inverse distance weighting: a mean of the nearest labels.

u(x) = Σ w_i y_i / Σ w_i over the k nearest labels i, and those as near: w_i = d(x, i)^−power.
Reference: D. Shepard, "A two-dimensional interpolation function for irregularly-spaced data", ACM
National Conference (1968): power 2. He takes about seven neighbours; k = 8 is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import ClassVar

import numpy as np

from wayfield.fields.base import Problem, Shared, Solution, one_by_one
from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels
from wayfield.graphs.shortest_paths import cost_to_go

from .linear import solved


@dataclass(frozen=True)
class InverseDistance:
    """A mean of the nearest labels, weighted by a power of their distance.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> wf.extend(path, wf.Labels([0, 3], [0.0, 3.0]), InverseDistance()).values
    array([0. , 0.6, 2.4, 3. ])
    """

    nearest: int = 8
    power: float = 2.0
    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Average the nearest labels."""
        return self.share(problem.graph, [problem.labels]).solve([problem])[0]

    def share(self, graph: Graph, label_sets: Sequence[Labels]) -> Shared:
        """Measure the distances to all labels, once for all sets, and order the common ones."""
        sets = [labels.vertices for labels in label_sets]
        every, common = reduce(np.union1d, sets), reduce(np.intersect1d, sets)
        away = np.array([cost_to_go(graph, x) for x in every.tolist()])
        with np.errstate(divide="ignore"):
            pull = away**-self.power
        near = away[np.isin(every, common)]
        if len(near) > self.nearest:
            near = np.partition(near, self.nearest - 1, axis=0)[: self.nearest]

        def average(problem: Problem) -> Solution:
            rows = np.searchsorted(every, problem.labels.vertices)
            own = away[rows[~np.isin(problem.labels.vertices, common)]]
            last = min(self.nearest, len(rows)) - 1
            farthest = np.partition(np.vstack([near, own]), last, axis=0)[last]
            with np.errstate(invalid="ignore"):
                weight = np.where(away[rows] <= farthest, pull[rows], 0.0)
                values = problem.labels.values @ weight / weight.sum(axis=0)
            return solved(np.where(problem.labelled, problem.boundary, values))

        return Shared(partial(one_by_one, average))
