"""False arcs first, then slowness: the graph is screened, and what is left is smoothed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from ._base import Fit, MendMethod, MendProblem, name_of
from .least_change import LeastChange
from .smooth import Smooth


@dataclass(frozen=True)
class Both:
    """Fit twice: `first` for arcs that are false, `then` for what these leave unexplained.

    Parameters
    ----------
    first : MendMethod
        The least change of odd arcs unless given; `NoShortcuts` needs no evidence of costs.
    then : MendMethod
        `Smooth` unless given, on the graph that `first` has mended.

    Examples
    --------
    >>> import wayfield as wf
    >>> ring = wf.Graph.from_edges([*range(10), 0], [*range(1, 10), 0, 5])
    >>> labels = wf.Labels([0, 2, 4, 5, 7], [0.0, 4.0, 8.0, 10.0, 6.0])
    >>> mended = wf.mend(ring, labels, goal=0, method=wf.Both())
    >>> [round(float(cost)) for cost in wf.cost_to_go(mended.graph, 0)[[2, 4, 5, 7]]]
    [4, 8, 10, 6]
    """

    first: MendMethod = field(default_factory=LeastChange)
    then: MendMethod = field(default_factory=Smooth)

    @property
    def name(self) -> str:
        """What the method is called among candidates."""
        usual = isinstance(self.first, LeastChange) and isinstance(self.then, Smooth)
        return "both" if usual else f"{name_of(self.first)}, then {name_of(self.then)}"

    def fit(self, problem: MendProblem) -> Fit:
        """Fit one after the other. Value and bound are those of `then`; ``details``: of both."""
        first = self.first.fit(problem)
        changed = not np.array_equal(first.lengths, problem.graph.lengths)
        then = self.then.fit(problem.on(first.lengths) if changed else problem)
        return replace(then, details={"first": first.details, "then": then.details})
