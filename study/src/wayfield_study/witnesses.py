"""Small graphs on which the harmonic extension and the AMLE plan differently.

**The seven-node graph** (Example, harmonic-measure mismatch): at the vertex called 4 the harmonic
extension prefers the detour over 1 to the direct path over 3, because the random walk from 3 ends
more often at the costly label 7.

**Subdivision** (Corollary on strict harmonic rankings, Lemma on the AMLE): with every edge cut into
k and labels multiplied by k, values at the old vertices grow by the factor k and slopes stay, so
the margin between the first steps of two branches does not depend on k: refining the graph neither
rescues a wrong ranking nor spoils a right one.

**Rationals.** All of these numbers are rationals with small denominators. Fields are solved within
proved brackets that are much narrower than the distance between two such rationals, so rounding to
the nearest one gives the exact value. The tests compute the same in exact arithmetic.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfield.checks import as_list, as_whole
from wayfield.fields import AMLE, Harmonic, extend
from wayfield.graphs.graph import Graph
from wayfield.graphs.labels import Labels
from wayfield.plans.planning import Plan

DECISION, DIRECT, DETOUR = 4, 3, 1
"""The decision state of the seven-node graph, its optimal neighbour, and the harmonic choice."""


class SevenNode(NamedTuple):
    """The seven-node graph; vertex x is called ``names[x]`` in the paper."""

    graph: Graph
    labels: Labels
    goal: int
    names: tuple[int, ...]


def seven_node() -> SevenNode:
    """Build the seven-node graph G₇: goal 0, labels Y(0) = 0 and Y(7) = 3.

    Examples
    --------
    >>> import wayfield as wf
    >>> graph, labels, goal, names = seven_node()
    >>> graph
    Graph(7 vertices, 8 edges, unit lengths)
    >>> field = wf.extend(graph, labels, wf.AMLE())
    >>> float(field.values[names.index(3)])
    1.0
    """
    names = (0, 1, 3, 4, 5, 6, 7)
    edges = ((0, 3), (0, 5), (5, 1), (1, 4), (3, 4), (3, 6), (6, 7), (4, 7))
    tails, heads = (np.searchsorted(names, end) for end in zip(*edges, strict=True))
    places = {0: (0, 0), 3: (2, 0), 4: (4, 0), 7: (6, 0), 5: (1, -2), 1: (3, -2), 6: (3, 2)}
    positions = [places[name] for name in names]
    graph = Graph.from_edges(tails, heads, positions=positions)
    return SevenNode(graph, Labels([0, 6], [0.0, 3.0]), 0, names)


class SevenNodeValues(NamedTuple):
    """Exact values on the seven-node graph, each by the paper's name of the vertex."""

    harmonic: dict[int, Fraction]
    amle: dict[int, Fraction]
    measure: dict[int, Fraction]
    """ω(7): the probability of meeting the label 7 before the goal."""


def seven_node_values() -> SevenNodeValues:
    """Solve the seven-node graph (Example, harmonic-measure mismatch).

    Examples
    --------
    >>> exact = seven_node_values()
    >>> exact.harmonic[1], exact.harmonic[3]
    (Fraction(36, 29), Fraction(39, 29))
    >>> exact.amle[3], exact.amle[1]
    (Fraction(1, 1), Fraction(4, 3))
    >>> exact.measure[1], exact.measure[3]
    (Fraction(12, 29), Fraction(13, 29))
    """
    graph, labels, _, names = seven_node()
    at_seven = Labels(labels.vertices, [0.0, 1.0])
    fields = [
        extend(graph, known, method).values.tolist()
        for known, method in ((labels, Harmonic()), (labels, AMLE()), (at_seven, Harmonic()))
    ]
    return SevenNodeValues(
        *(dict(zip(names, map(_rational, each), strict=True)) for each in fields)
    )


def _rational(value: float) -> Fraction:
    """Return the rational with a small denominator that is nearest to a value."""
    return Fraction(value).limit_denominator(1000)


class Branch(NamedTuple):
    """Which branch a field takes at the decision state of the seven-node graph, and by how much."""

    chosen: int
    """1, the detour, or 3, the direct path."""
    margin: Fraction
    """Value of the detour's first step minus that of the direct path's; negative: 1 is chosen."""
    computed: float
    """The same margin in floating point, as computed."""


class SubdivisionRow(NamedTuple):
    """The decision on the seven-node graph with every edge cut into k."""

    k: int
    harmonic: Branch
    amle: Branch


def subdivision(ks: Iterable[int] = (1, 2, 4, 8, 16)) -> list[SubdivisionRow]:
    """Return the margins at the decision state under k-subdivision, labels times k.

    Corollary (subdivision-equivariance of strict harmonic rankings) and Lemma (AMLE midrange
    equivariance under uniform subdivision): they are -3/29 and 1/3 for every k. Each is computed
    on the subdivided graph itself.

    Examples
    --------
    >>> for row in subdivision([1, 3]):
    ...     print(row.k, *row.harmonic[:2], *row.amle[:2])
    1 1 -3/29 3 1/3
    3 1 -3/29 3 1/3
    """
    graph, labels, _, names = seven_node()
    s, rows = names.index(DECISION), []
    once = graph.tails < graph.indices
    for k in (as_whole(k, "k", least=1) for k in as_list(ks, "ks")):
        fine = graph.subdivide(k)
        scaled = Labels(labels.vertices, k * labels.values)
        steps = []
        for a in (names.index(DETOUR), names.index(DIRECT)):
            # the vertex next to s on its edge to a; see `Graph.subdivide`
            low, high = min(s, a), max(s, a)
            edge = np.flatnonzero((graph.tails[once] == low) & (graph.indices[once] == high))[0]
            first = graph.num_vertices + int(edge) * (k - 1)
            steps.append(a if k == 1 else first if s == low else first + k - 2)
        branches = []
        for method in (Harmonic(), AMLE()):
            values = extend(fine, scaled, method).values
            computed = float(values[steps[0]] - values[steps[1]])
            chosen = DETOUR if computed < 0 else DIRECT
            branches.append(Branch(chosen, _rational(computed), computed))
        rows.append(SubdivisionRow(k, *branches))
    return rows


@dataclass(frozen=True, eq=False, repr=False)
class Witness:
    """A labelled graph with greedy plans on its harmonic extension and on its AMLE.

    Attributes
    ----------
    graph, labels, goal
        The problem; the graph has positions.
    names : (n,) int64 array
        What the vertices are called: on a lattice, row · columns + column.
    harmonic_plan, amle_plan : Plan
        The plans; their `values` are the fields.
    """

    graph: Graph
    labels: Labels
    goal: int
    names: NDArray[np.int64]
    harmonic_plan: Plan
    amle_plan: Plan

    @property
    def starts(self) -> NDArray[np.int64]:
        """Vertices that are not labelled, from which success is counted."""
        return np.flatnonzero(~self.labels.mask(self.graph))

    @property
    def harmonic_wins(self) -> bool:
        """Whether harmonic-greedy reaches the goal from more vertices than AMLE-greedy."""
        won, lost = (plan.reached[self.starts] for plan in (self.harmonic_plan, self.amle_plan))
        return int(won.sum()) > int(lost.sum())
