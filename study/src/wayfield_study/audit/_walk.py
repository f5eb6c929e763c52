"""The random walk that ends at the labels: hitting probabilities with bounds on their error.

ω_x(z) is the probability that the walk from x, which takes an arc with probability proportional to
1/ℓ, meets the label z before any other. With L the Laplacian on the free vertices and B the
conductances from them to the labels, ω = L⁻¹ B; one factorisation serves all entries, from
whichever side takes fewer solves: a column L⁻¹ B e_z per label or, since L is symmetric, a Green's
column L⁻¹ e_x per state.

**Error.** Solutions are refined and their residuals kept. A Green's column g with residual
r = e_x − L g gives a row that is off by Bᵀ L⁻¹ r, at most Σ|r| in total, because every row of ω
sums to 1. A column with residual r is off by at most max |r|/degree times the mean hitting time
of the labels (comparison principle). The rounding of the residuals is counted in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield._arrays import as_vertices, refuse
from wayfield.errors import NotConverged
from wayfield.extension import HarmonicSystem
from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray, IntArray
from wayfield.labels import Labels

from ._inputs import EPS

BLOCK = 64
"""Right-hand sides solved together."""
MAX_SOLVES = 4


@dataclass(frozen=True, eq=False)
class Walk:
    """The random walk that ends at the labels."""

    system: HarmonicSystem

    @classmethod
    def of(cls, graph: Graph, labels: Labels) -> Walk:
        return cls(HarmonicSystem(graph, labels))

    def check_states(self, states: ArrayLike) -> NDArray[np.int64]:
        """Return `states` as vertices from which the walk ends."""
        listed = np.atleast_1d(np.asarray(states))
        vertices = as_vertices(listed, "states", self.system.graph.num_vertices)
        lost = self.system.orphaned[vertices]
        refuse(lost, vertices, "states", "lies in a component without a label")
        return vertices

    def measure(self, states: IntArray) -> tuple[FloatArray, FloatArray]:
        """(k, labels) harmonic measures, and (k,) bounds on the absolute error of their rows."""
        omega = np.zeros((states.size, len(self.system.labels)))
        error = np.zeros(states.size)
        labelled = self.system.labelled[states]
        places = np.searchsorted(self.system.labels.vertices, states[labelled])
        omega[np.flatnonzero(labelled), places] = 1.0
        rows, at = np.unique(self.system.row[states[~labelled]], return_inverse=True)
        touched = np.flatnonzero(self.system.coupling.sum(axis=0) > 0.0)
        by_state = rows.size <= touched.size
        found, off = self._by_state(rows) if by_state else self._by_label(rows, touched)
        omega[~labelled], error[~labelled] = found[at], off[at]
        return omega, error

    def _by_state(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Rows of ω from Green's columns."""
        coupling = self.system.coupling
        omega, error = np.empty((rows.size, coupling.shape[1])), np.empty(rows.size)
        back = coupling.T.tocsr()
        for block in _blocks(rows.size):
            units = np.zeros((self.system.free.size, rows[block].size), order="F")
            units[rows[block], np.arange(rows[block].size)] = 1.0
            green, residual = self._refined(units)
            omega[block] = np.maximum(np.asarray(back @ green).T, 0.0)
            error[block] = residual.sum(axis=0)
        return omega, error + self._slack * (1.0 + error)

    def _by_label(self, rows: IntArray, touched: IntArray) -> tuple[FloatArray, FloatArray]:
        """Rows of ω from columns of it, for the labels beside a free vertex."""
        columns = self.system.coupling.tocsc()
        omega, total = np.zeros((rows.size, columns.shape[1])), 0.0
        for block in _blocks(touched.size):
            into = np.asfortranarray(columns[:, touched[block]].toarray())
            found, residual = self._refined(into)
            omega[:, touched[block]] = np.maximum(found[rows], 0.0)
            total += float((residual / self.system.degree[:, None]).max(axis=0).sum())
        times = self.system.hitting_time[rows]
        return omega, 2.0 * total * times  # twice, for the rounding of the times themselves

    def _refined(self, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Solve for some columns, and bound their residuals entry by entry.

        Refined until nothing but rounding is left of the residual: at once, as a rule, where the
        solver factors, after a step or two where it iterates.
        """
        matrix, degree = self.system.laplacian, self.system.degree[:, None]
        found = np.zeros_like(rhs)
        residual = rhs
        for _ in range(MAX_SOLVES):
            found = found + self.system.solve(residual)
            residual = rhs - matrix @ found
            size = np.abs(found)
            rounding = self._slack * (2.0 * degree * size - matrix @ size + rhs)
            if float(np.abs(residual).sum()) <= float(rounding.sum()):
                break
        return found, np.abs(residual) + rounding

    @property
    def _slack(self) -> float:
        """Relative rounding of a sum over the arcs of a vertex, conductances included."""
        return float(int(self.system.graph.degrees.max()) + 6) * EPS

    def both_forms(
        self, vertices: IntArray, omega: FloatArray, error: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Harmonic values, Σ ω Y at the same vertices, and a checked bound on their difference."""
        field = self.system.extension()
        assert field.lower is not None
        assert field.upper is not None
        labels = self.system.labels
        middle = 0.5 * float(labels.values.min()) + 0.5 * float(labels.values.max())
        away = labels.values - middle
        reach = float(np.abs(away).max())
        by_measure = middle + omega @ away
        sums = (len(labels) + 4) * EPS * (1.0 + error) * reach + 2.0 * EPS * abs(middle)
        width = field.upper[vertices] - field.lower[vertices]
        bound = width + error * reach + sums
        apart = np.abs(field.values[vertices] - by_measure)
        if (apart > bound).any():
            worst = int(np.argmax(apart - bound))
            where = f"vertex {vertices[worst]}: the two forms of the harmonic value disagree"
            raise NotConverged(where, float(apart[worst]), float(bound[worst]))
        return field.values[vertices], by_measure, bound


def _blocks(count: int) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, count, BLOCK)]
