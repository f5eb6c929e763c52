"""Lifting: the least field above a given one that descends to the goal from everywhere.

**Definition.** Given u, let v be the pointwise least field with these properties: v ≥ u; v = +inf
exactly where the goal cannot be reached; every other vertex x except the goal has an arc x → y with
v(y) < v(x). Among fields of doubles it exists and is unique:

    v(goal) = u(goal),    v(x) = max(u(x), next(min over arcs x → y of v(y))).

**Guarantee.** Steepest descent on v decreases strictly at every step, so it reaches the goal from
every state that can reach it. v = u if and only if u already had this property. Argmin-Q has the
same guarantee on unit lengths, where it is steepest descent. On other lengths it may climb.

**Cost.** One search if u needs no lifting, else O(m + n log n): priority flooding,
`kernels.flood`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..checks import KeepsReadOnly, as_vertex, frozen, refuse
from ..errors import InputError
from ..fields import Extension, check_field
from ..graphs.graph import Graph
from ..typing import BoolArray, FloatArray
from .kernels import flood, reaching

LARGEST_VALUE = 1e300
"""Finite values lie between -LARGEST_VALUE and LARGEST_VALUE, so lifting never overflows."""


@dataclass(frozen=True, eq=False, repr=False)
class Lifted(KeepsReadOnly):
    """A field that descends to the goal from every state that can reach it.

    Attributes
    ----------
    values : (n,) float array
        The field; +inf exactly where the goal cannot be reached.
    raised : (n,) float array
        ``values`` minus the given values; zero everywhere if nothing was lifted. Positive where a
        value was lifted. inf where a value was finite but the goal cannot be reached. -inf where it
        was +inf but the goal can be reached.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> safe = wf.lift(path, [0.0, 4.0, 1.0, 2.0], goal=0)
    >>> safe.unchanged, safe.raised > 0
    (False, array([False, False,  True,  True]))
    """

    values: FloatArray
    raised: FloatArray

    @property
    def reachable(self) -> BoolArray:
        """(n,) bool: whether the goal can be reached from here."""
        return np.isfinite(self.values)

    @property
    def unchanged(self) -> bool:
        """Whether the given field needed no lifting."""
        return not self.raised.any()

    def __repr__(self) -> str:
        lifts = self.raised[self.reachable & (self.raised > 0)]
        lost = self.values.size - int(self.reachable.sum())
        by = f" by at most {lifts.max():.3g}" if lifts.size else ""
        cut = f", {lost:,} cannot reach the goal" if lost else ""
        return f"Lifted({self.values.size:,} values: {lifts.size:,} raised{by}{cut})"


def lift(graph: Graph, values: ArrayLike | Extension, goal: int) -> Lifted:
    """Raise a field as little as possible so that greedy descent always reaches the goal.

    It works on any field: an extension, a learned critic, or random numbers.

    Parameters
    ----------
    graph : Graph
        State graph; moves follow its arcs.
    values : (n,) array or Extension
        The field, as in `plan`. A +inf at a state that can reach the goal is replaced by the
        largest finite value. The goal's own value must be finite.
    goal : int
        Goal of the descent; every state that can reach it gets a larger value.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> safe = lift(path, [0.0, 2.0, 1.0, 3.0], goal=0)
    >>> safe
    Lifted(4 values: 1 raised by at most 1)
    >>> bool(safe.values[2] > 2.0)
    True
    """
    field = check_field(graph, values)
    goal = as_vertex(goal, "goal", field.size)
    if field[goal] == np.inf:
        raise InputError(f"values[{goal}] must be finite at the goal, got inf")
    beyond = np.isfinite(field) & (np.abs(field) > LARGEST_VALUE)
    refuse(beyond, field, "values", f"is beyond {LARGEST_VALUE:g}: lifting could overflow")
    given = field
    if np.isinf(field).any():
        # a reachable +inf becomes the largest finite value of a reachable vertex; others are +inf
        can = reaching(graph.reverse_arcs, goal)
        finite = np.isfinite(field) & can
        largest = field[finite].max() if finite.any() else 0.0
        field = frozen(np.where(can, np.where(finite, field, largest), np.inf))
    lifted = flood(graph.reverse_arcs, field, goal)
    same = lifted == given
    raised = np.zeros(field.size)
    np.subtract(lifted, given, out=raised, where=~same)
    return Lifted(frozen(lifted), frozen(raised))
