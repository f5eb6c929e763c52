"""The linear system behind the harmonic extension, for those who ask more of it than the field.

On the free vertices, with L the Laplacian of the conductances 1/ℓ and B the conductances from free
vertices to the labels y, the extension is u = L⁻¹ B y. L⁻¹ is also the Green's function of the
random walk that takes an arc with probability proportional to 1/ℓ and ends at the labels, and
L⁻¹ B are its hitting probabilities.
"""

from __future__ import annotations

import time
from functools import cached_property

import numpy as np
from scipy import sparse

from ..graph import Graph
from ..kernels._types import BoolArray, FloatArray, IntArray
from ..labels import Labels
from ._base import Extension, make_problem, package
from ._linear import Interior
from .harmonic import Harmonic, System, solve_block


class HarmonicSystem:
    """The harmonic equation for one set of labels on an undirected graph, factored once.

    Components without a label have no part in it.

    Parameters
    ----------
    graph : Graph
        Undirected; conductances are 1/length.
    labels : Labels
        Where values are given.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> system = wf.extension.HarmonicSystem(path, wf.Labels([0, 3], [0.0, 3.0]))
    >>> system.free
    array([1, 2], dtype=int32)
    >>> system.solve(system.coupling @ [0.0, 3.0]).round(12)
    array([1., 2.])
    >>> system.hitting_time.round(12)
    array([2., 2.])
    """

    def __init__(self, graph: Graph, labels: Labels) -> None:
        self._problem = make_problem(graph, labels, Harmonic(), "nan")
        self.graph, self.labels = graph, labels
        free = np.flatnonzero(~(self._problem.labelled | self._problem.orphaned))
        self._system = System(Interior.of(graph, free))

    @property
    def free(self) -> IntArray:
        """(m,) the unlabelled vertices of components with a label, in the order of the rows."""
        return self._system.interior.vertices

    @property
    def row(self) -> IntArray:
        """(n,) the row of every free vertex; -1 elsewhere."""
        return self._system.interior.row

    @property
    def labelled(self) -> BoolArray:
        """(n,) where values are given."""
        return self._problem.labelled

    @property
    def orphaned(self) -> BoolArray:
        """(n,) vertices of components without a label."""
        return self._problem.orphaned

    @property
    def laplacian(self) -> sparse.csr_array[np.float64]:
        """(m, m) matrix L, its entries rounded to nearest."""
        return self._system.interior.laplacian

    @property
    def degree(self) -> FloatArray:
        """(m,) the diagonal of L: sums of conductances, those to labels included."""
        return self._system.degree

    @cached_property
    def coupling(self) -> sparse.csr_array[np.float64]:
        """(m, number of labels) conductances B."""
        graph, tails = self.graph, self.graph.tails
        out = (self.row[tails] >= 0) & self.labelled[graph.indices]
        column = np.searchsorted(self.labels.vertices, graph.indices[out])
        entries = (1.0 / graph.lengths[out], (self.row[tails[out]], column))
        return sparse.csr_array(entries, shape=(self.free.size, len(self.labels)))

    @cached_property
    def hitting_time(self) -> FloatArray:
        """(m,) mean number of steps until the random walk meets a label."""
        return self.solve(self.degree)

    def solve(self, rhs: FloatArray) -> FloatArray:
        """Return L⁻¹ times one right-hand side (m,), or several (m, k), accurate to rounding.

        Not refined: whoever needs a bound takes the residual with `laplacian`.
        """
        return self._system.solver.solve(np.asfortranarray(rhs))

    def extension(self, *, check: bool = True) -> Extension:
        """Return what ``extend(graph, labels, Harmonic(), unreachable="nan")`` does."""
        start = time.perf_counter()
        solution = solve_block(self._system, [self._problem], bracket=True)[0]
        seconds = time.perf_counter() - start
        return package(solution, self.graph, self.labels, Harmonic(), seconds, check)
