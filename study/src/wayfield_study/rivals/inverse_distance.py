"""Inverse distance weighting: a mean of the nearest labels.

u(x) = Σ w_i y_i / Σ w_i over the k nearest labels i, and those as near: w_i = d(x, i)^−power.

Reference: D. Shepard, "A two-dimensional interpolation function for irregularly-spaced data", ACM
National Conference (1968): power 2. He takes about seven neighbours; k = 8 is ours.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import ClassVar

import numpy as np

from wayfield.fields.base import Problem, Shared, Solution
from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels
from wayfield.graphs.shortest_paths import cost_to_go
from wayfield.typing import FloatArray, IntArray

from .linear import solved


@dataclass(frozen=True)
class InverseDistance:
    """A mean of the nearest labels, weighted by a power of their distance.

    `nearest` labels count at each vertex, with weights distance to the power of −`power`.

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
        """Measure the distances to all labels, once for all sets."""
        every = reduce(np.union1d, (labels.vertices for labels in label_sets))
        away = np.array([cost_to_go(graph, x) for x in every.tolist()])
        return Shared(lambda problems: [self._average(away, every, each) for each in problems])

    def _average(self, away: FloatArray, every: IntArray, problem: Problem) -> Solution:
        some = away[np.searchsorted(every, problem.labels.vertices)]
        last = min(self.nearest, len(some)) - 1
        farthest = np.partition(some, last, axis=0)[last]
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.where(some <= farthest, some**-self.power, 0.0)
            values = problem.labels.values @ weight / weight.sum(axis=0)
        return solved(np.where(problem.labelled, problem.boundary, values))
