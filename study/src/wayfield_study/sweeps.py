"""Midrange sweeps: the AMLE by fixed-point iteration, as the literature computes it.

Equation. At every unlabelled vertex the steepest slope up equals the steepest slope down; on unit
lengths ``u(x) = (min u + max u) / 2`` over the neighbours. With ``T u`` the solutions of all vertex
equations, neighbours held, a Jacobi sweep is ``u ← (1 - ω) u + ω T u``, all values at once; plain
at ``ω = 1``, relaxed below.

Stopping rule. A fixed number of sweeps, or fewer if ``max |u - T u|``, the residual, falls below
a tolerance before. ``status`` is ``STOPPED`` either way, for neither bounds the error.

Guarantee. ``T`` is monotone, and so is a relaxed sweep. The iterates from the component's largest
label ("upper") therefore fall to the AMLE, those from its least ("lower") rise to it, and those
from any start in between, the harmonic extension and the mean among them, are caught between the
two. There is no bound after a finite number of sweeps: an error halves after about ``h² / ω`` of
them, where ``h`` is the number of arcs between labels, and a small residual says little (on a path
of 1,000 edges a residual of 1e-6 leaves an error of 0.1). `AMLE` is exact and, as a rule, quicker
than a hundred sweeps.

References
----------
.. [1] A. J. Lazarus, D. E. Loeb, J. G. Propp, W. R. Stromquist, D. H. Ullman, "Combinatorial games
   under auction play", Games and Economic Behavior 27 (1999).
.. [2] A. M. Oberman, "A convergent difference scheme for the infinity Laplacian: construction of
   absolutely minimizing Lipschitz extensions", Mathematics of Computation 74 (2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal, get_args

import numpy as np

from wayfield.checks import as_choice, as_real, as_whole
from wayfield.errors import InputError
from wayfield.fields.base import Problem, Shared, Solution, Status
from wayfield.fields.harmonic import Harmonic
from wayfield.fields.names import WORDS, Word
from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels
from wayfield.numerics.jit import compiling
from wayfield.typing import BoolArray, FloatArray

from .kernels.midrange import jacobi, unit_sweeps

WORDS["sweeps"] = Word("MidrangeSweeps", number="sweeps", usual=300, home=__name__)

Start = Literal["harmonic", "mean", "upper", "lower"]
MANY_UPDATES = 1_000_000
"""Updates of a value that take longer in Python than the sweeps take to compile."""
TOGETHER = 32
"""Fields that are swept side by side; fixed, so that results do not depend on the workers."""


@dataclass(frozen=True)
class MidrangeSweeps:
    """Jacobi midrange sweeps towards the AMLE, without a bound on the error.

    Parameters
    ----------
    sweeps : int
        Number of sweeps, at most.
    start : {"harmonic", "mean", "upper", "lower"}
        First field: the harmonic extension, or in each component the mean, the largest or the
        least of its labels. From "upper" the field is never below the AMLE, from "lower" never
        above it, up to rounding.
    relaxation : float
        ω, above 0 and at most 1: how far a value moves towards its update. Plain sweeps (1) are the
        quickest; relaxed ones damp the oscillation between a vertex and its neighbours.
    tolerance : float
        Residual below which no further sweep is made. The default, 0, makes them all.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study.sweeps import MidrangeSweeps
    >>> path = wf.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> ends = wf.Labels([0, 4], [0.0, 4.0])
    >>> rough = wf.extend(path, ends, MidrangeSweeps(sweeps=2, start="upper"))
    >>> rough.values
    array([0., 2., 3., 4., 4.])
    >>> rough.residual
    0.5
    """

    sweeps: int = 300
    start: Start = "harmonic"
    relaxation: float = 1.0
    tolerance: float = 0.0
    directed: ClassVar[bool] = False

    def __post_init__(self) -> None:
        as_whole(self.sweeps, "sweeps", least=0, most=2**31 - 1)
        as_choice(self.start, "start", get_args(Start))
        if not 0.0 < as_real(self.relaxation, "relaxation") <= 1.0:
            raise InputError(
                f"relaxation must be a number above 0 and at most 1, got {self.relaxation!r}"
            )
        as_real(self.tolerance, "tolerance", least=0.0)

    def solve(self, problem: Problem) -> Solution:
        """Run the sweeps."""
        return self._together(None, [problem])[0]

    def share(self, graph: Graph, label_sets: Sequence[Labels]) -> Shared:
        """Sweep the fields of many label sets side by side, and share the harmonic start."""
        start = Harmonic(bracket=False).share(graph, label_sets)
        prepare = bool if start is None or self.start != "harmonic" else start.prepare
        return Shared(partial(self._together, start), prepare, block=TOGETHER)

    def _together(self, start: Shared | None, problems: Sequence[Problem]) -> list[Solution]:
        if self.start != "harmonic":
            first = [self._level(problem) for problem in problems]
        elif start is not None:
            first = [found.values for found in start.solve(problems)]
        else:
            first = [Harmonic(bracket=False).solve(problem).values for problem in problems]
        fixed = [problem.labelled | problem.orphaned for problem in problems]
        rule = (self.sweeps, float(self.relaxation), float(self.tolerance))
        return [
            Solution(values, Status.STOPPED, residual=residual, iterations=done)
            for values, residual, done in swept(problems[0].graph, fixed, first, *rule)
        ]

    def _level(self, problem: Problem) -> FloatArray:
        """Return the mean, the largest or the least label of each component."""
        labels, component = problem.labels, problem.graph.components
        home = component[labels.vertices]
        level = np.full(int(component.max()) + 1, np.nan)  # stays NaN where there is no label
        if self.start == "upper":
            np.fmax.at(level, home, labels.values)
        elif self.start == "lower":
            np.fmin.at(level, home, labels.values)
        else:
            counts = np.bincount(home, minlength=level.size)
            sums = np.bincount(home, labels.values, level.size)
            np.divide(sums, counts, out=level, where=counts > 0)
        return np.where(problem.labelled, problem.boundary, level[component])


def swept(
    graph: Graph,
    fixed: Sequence[BoolArray],
    fields: Sequence[FloatArray],
    sweeps: int,
    relaxation: float = 1.0,
    tolerance: float = 0.0,
) -> list[tuple[FloatArray, float, int]]:
    """Sweep several fields of one graph; return each one's values, residual and sweeps made.

    Without a tolerance, on unit lengths, they are swept side by side: every value and residual is
    that of the field alone, to the last bit.
    """
    # a kernel foresees its cost by the size of its arguments, not by a number of sweeps
    long = sweeps * graph.num_vertices * len(fields) > MANY_UPDATES
    with compiling("always") if long else nullcontext():
        if tolerance > 0.0 or not graph.is_unit:
            return [
                jacobi(graph.arcs, mask, graph.is_unit, values, sweeps, relaxation, tolerance)
                for mask, values in zip(fixed, fields, strict=True)
            ]
        arcs, held = (graph.indptr, graph.indices), np.stack(fixed, axis=1)
        done = unit_sweeps(*arcs, held, np.stack(fields, axis=1), sweeps, relaxation)
        moved = np.abs(unit_sweeps(*arcs, held, done, 1, 1.0) - done)
    residuals = np.where(held, 0.0, moved).max(axis=0, initial=0.0)
    return list(zip(done.T.copy(), residuals.tolist(), [sweeps] * len(fields), strict=True))
