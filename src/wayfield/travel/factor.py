"""A common factor: everything costs a little more or less, alike everywhere.

The simplest change of a graph: c = (1 + μ) ℓ, or with waits c = (1 + μ) ℓ + κ π, where π is the
price of a crossing (`_slowness`). It has one or two unknowns, so noise moves it little. Given the
rays, they minimise the squared relative errors of the trips; given the costs, rays are shortest
paths. The two steps alternate `ROUNDS` times. A factor alone is the weighted median of the ratios.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls

from ..advice.units import median_ratio
from ..checks import as_flag
from .base import LEAST, Fit, MendMethod, MendProblem
from .slowness import slowness_of

ROUNDS = 3
"""Number of times that paths and costs are fitted in turn."""


@dataclass(frozen=True)
class Factor(MendMethod):
    """Multiply all lengths by one factor; with `waits`, also add a wait at each crossing.

    Parameters
    ----------
    waits : bool
        Whether crossings have a wait.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import travel
    >>> path = wf.Graph.from_edges(range(4), range(1, 5))
    >>> labels = wf.Labels([0, 2, 3, 4], [0.0, 3.0, 4.5, 6.0])
    >>> travel.mend(path, labels, 0, travel.Factor()).graph.lengths[0]
    np.float64(1.5)
    """

    waits: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "waits", as_flag(self.waits, "waits"))

    @property
    def name(self) -> str:
        """Name of the method among candidates."""
        return "factor and waits" if self.waits else "factor"

    def fit(self, problem: MendProblem) -> Fit:
        """Fit the factor. The value is the mean of ``|least cost - cost|``."""
        graph, own = problem.graph, problem.graph.lengths
        lengths = own * median_ratio(problem.costs, problem.distances())
        for _ in range(ROUNDS if self.waits else 0):
            prices = slowness_of(graph, "crossing").shared[:, 1]
            rows = np.empty((problem.costs.size, 2))
            for goal in problem.goals:
                trips = np.flatnonzero(problem.ends == goal)
                _, ways = problem.paths(goal, problem.starts[trips], lengths)
                rows[trips] = np.column_stack([ways @ own, ways @ prices])
            (factor, wait), _ = nnls(rows / problem.costs[:, None], np.ones(problem.costs.size))
            lengths = max(factor, LEAST) * own + wait * prices
        value = float(np.abs(problem.distances(lengths) - problem.costs).mean())
        return Fit(lengths, value)
