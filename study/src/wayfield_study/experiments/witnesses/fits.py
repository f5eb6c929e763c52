"""Graphs that fit the paper's five adversarial witnesses.

The paper prints of each witness its size, its goal, the number of labels, the two shares of starts
that reach, and from which vertices the AMLE fails, but neither edges nor labels. All connected
subgraphs of the 4 × 4 lattice with all label sets are few enough to try: for every line of its
table some reproduce the line, number by number, if both fields are found by sweeps that stop at an
update of 1e-8, as the paper says (the AMLE's from the harmonic field), and starts are all vertices
but the goal: 567, 18, 5, 4 and 26 of 262,197 candidates. `FITS` has the first of each line, in
lexicographic order of (vertices left out, labels). What becomes of a line when the fields are
solved is said of these graphs, not of the paper's own, which may be others.

On the same graphs the fields can be solved, which the sweeps do not do: values that are equal in
the exact field differ in the last digits after sweeps, and a greedy planner follows them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wayfield.graph import Graph
from wayfield.grid import grid_graph
from wayfield.kernels._types import FloatArray
from wayfield.labels import Labels
from wayfield.layouts import Layout
from wayfield.plans import Plan, plan
from wayfield.shortest_paths import cost_to_go

from ...audit.lattice_search import UPDATE, contests
from ...audit.witnesses import Witness

SIDE = 4


@dataclass(frozen=True)
class Fit:
    """A subgraph of the 4 × 4 lattice, whose vertices are numbered row by row.

    Attributes
    ----------
    goal : int
        Its number in the lattice.
    left_out : tuple of int
        Vertices of the lattice that the graph has not.
    others : tuple of int
        Labelled vertices beside the goal.
    """

    goal: int
    left_out: tuple[int, ...]
    others: tuple[int, ...]

    @cached_property
    def witnesses(self) -> dict[str, Witness]:
        """Both fields and their plans, the AMLE in three ways: see `audit.lattice_search`."""
        free = ["#" if v in self.left_out else "." for v in range(SIDE**2)]
        rows = ["".join(free[SIDE * row : SIDE * (row + 1)]) for row in range(SIDE)]
        graph = grid_graph(Layout.from_text("\n".join(rows), "witness"), 1)
        names = np.array([v for v in range(SIDE**2) if v not in self.left_out])
        vertices = np.searchsorted(names, sorted((self.goal, *self.others)))
        goal = int(np.searchsorted(names, self.goal))
        labels = Labels(vertices, cost_to_go(graph, goal)[vertices])
        return contests(graph, labels, goal, names)

    @cached_property
    def swept_harmonic(self) -> Plan:
        """Plan on the harmonic field as averaging sweeps leave it, from zero, index ties."""
        known = self.witnesses["swept"]
        values = _averaged(known.graph, known.labels)
        return plan(known.graph, values, known.goal, "q", "index")

    def success(self, route: Plan) -> float:
        """Share of the vertices but the goal from which a plan reaches.

        Examples
        --------
        >>> fit = FITS[1]
        >>> [round(fit.success(fit.witnesses[way].amle_plan), 3) for way in ("swept", "exact")]
        [0.833, 1.0]
        """
        return float(np.delete(route.reached, route.goal).mean())

    def failing(self, route: Plan) -> list[int]:
        """Numbers of the vertices from which a plan does not reach."""
        names = self.witnesses["swept"].names
        return [int(name) for name in names[~route.reached]]


def _averaged(graph: Graph, labels: Labels) -> FloatArray:
    """Sweep: every unlabelled value becomes its neighbours' mean, until none changes by 1e-8."""
    fixed = labels.mask(graph)
    degrees = np.diff(graph.indptr)
    values = np.zeros(graph.num_vertices)
    values[labels.vertices] = labels.values
    while True:
        means = np.bincount(graph.tails, values[graph.indices], graph.num_vertices) / degrees
        after = np.where(fixed, values, means)
        if np.abs(after - values).max() < UPDATE:
            return after
        values = after


FITS = {
    1: Fit(10, (0, 1, 8), (2, 3, 4, 14)),
    2: Fit(6, (4, 14), (0, 1, 15)),
    3: Fit(15, (0, 2, 4), (3, 13, 14)),
    4: Fit(3, (), (0, 2, 7, 10)),
    5: Fit(2, (0, 10, 13), (1, 3, 4, 12)),
}
"""By the number of the paper's witness."""
