"""The duality gap of the p-energy: what the literature certifies p-Laplacian solvers by.

For a flow f on the edges without sources at the free vertices, summation by parts and Hölder's
inequality bound the energy norm of every field u with the given labels from below,

    ‖Du‖ = (Σ ℓ |Δu/ℓ|^p)^{1/p}  ≥  Σ_labels (div f) u / (Σ ℓ |f|^{p'})^{1/p'},     1/p + 1/p' = 1,

with equality for f = |Du|^{p−1} sign Du at the minimiser. A source left at a free vertex costs at
most half the label range times its strength, by the maximum principle. The relative gap of the
energy is 1 − (lower bound / ‖Du‖)^p. It bounds the *energy*; values can be far off at a gap of
1e-12, since an edge whose slope is half the steepest counts 2^{−p}.
"""

from __future__ import annotations

import numpy as np

from ..kernels._types import FloatArray
from ..kernels.plaplacian import flow_balance
from ._base import Problem


def duality_gap(problem: Problem, values: FloatArray, p: float) -> float:
    """Upper bound, short of rounding, on (energy − least energy) / energy of a field."""
    labels = problem.labels
    centred = values - (0.5 * labels.values.min() + 0.5 * labels.values.max())
    energy, work, sources = flow_balance(problem.graph.arcs, problem.labelled, centred, p)
    if energy == 0.0:
        return 0.0
    # primal norm E^{1/p} times dual norm E^{1 − 1/p} is E
    ratio = (work - 0.5 * labels.span * sources) / energy
    return float(-np.expm1(p * np.log(min(ratio, 1.0)))) if ratio > 0.0 else 1.0
