"""The mean of the two Lipschitz envelopes of the labels.

u = (M + W) / 2, with M(x) = min y_i + L d(x, i) McShane's extension, W(x) = max y_i − L d(x, i)
Whitney's, and L the labels' own constant. No field has a smaller largest error over all L-Lipschitz
functions with these labels. With exact labels on unit lengths M is the truth.

Reference: G. Beliakov, "Interpolation of Lipschitz functions", Journal of Computational and Applied
Mathematics 196 (2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from wayfield.fields import McShane, Whitney
from wayfield.fields.base import Problem, Solution

from .linear import solved


@dataclass(frozen=True)
class MeanOfEnvelopes:
    """The mean of McShane's and Whitney's extensions.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> wf.extend(path, wf.Labels([0, 2], [0.0, 1.0]), MeanOfEnvelopes()).values
    array([0. , 0.5, 1. , 1. , 1. ])
    """

    directed: ClassVar[bool] = False

    def solve(self, problem: Problem) -> Solution:
        """Average the two extensions."""
        upper, lower = (each.solve(problem).values for each in (McShane(None), Whitney(None)))
        return solved(0.5 * (upper + lower))
