"""What a verdict rests on beside one draw of our own: other draws, and other readings.

The study's five seeds are one draw. Others, of the same protocol, say what its figures are on
average and how far two studies of five seeds lie apart. Other readings of the protocol say whether
a difference would go away under an assumption that the paper's text does not make.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

NOT_IN_THE_TEXT = "an assumption the text does not make"


@dataclass(frozen=True)
class Expected:
    """A figure over many draws of the same protocol.

    Attributes
    ----------
    value : float
        Its mean.
    error : float
        Standard error of that mean.
    spread : float
        Standard deviation of the figure between studies with as many seeds as the paper's.
    """

    value: float
    error: float
    spread: float

    @property
    def apart(self) -> float:
        """Standard deviation of another study's figure about this mean, whose own error counts."""
        return float(np.hypot(self.spread, self.error))


def expect(draws: Sequence[Sequence[float]]) -> Expected:
    """Sum up a figure's values in several groupings of the same draws into studies.

    Parameters
    ----------
    draws : sequence of sequences
        For every grouping the figure's value in each of its studies, which are independent.

    Examples
    --------
    >>> expect([[1.0, 3.0], [2.0, 2.0]])
    Expected(value=2.0, error=0.707..., spread=1.0)
    """
    values = np.array(draws, dtype=np.float64)
    spread = float(np.sqrt(values.var(axis=1, ddof=1).mean()))
    return Expected(float(values.mean()), float(spread / np.sqrt(values.shape[1])), spread)


@dataclass(frozen=True)
class Evidence:
    """All of it, by the id of a figure.

    Attributes
    ----------
    expected : mapping of str to Expected
        What other draws give; figures that none was made for are missing.
    tried : mapping of str to mapping of str to float
        What other readings give, by what they assume.
    """

    expected: Mapping[str, Expected] = field(default_factory=dict)
    tried: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


READING_OF = {
    "setup": "the public maps of D4RL, walls included",
    "main lift wilson by-r by-lf grid-medium grid-large baselines baseline-gaps "
    "baselines-by-r": "32 goals × 16 starts, uniform; exact harmonic fields; AMLE "
    "by 500 relaxed midrange sweeps, u ← ½u + ½·midrange(u), from the harmonic field",
    "failures": "32 goals × 16 starts; a loop is by its limit cycle; strict minima at any vertex "
    "but the goal, labels included, in the field of a cell's first goal",
    "ordering": "Kendall's τ-b; every decision once, or as the method's own walks meet it",
    "mechanism mechanism-main mechanism-by-r": "decisions of the harmonic walks, the goal none; "
    "geometry classes over the state and its neighbours",
    "iterations iteration-gap stable": "relaxed midrange sweeps, ω = ½, from the harmonic field; "
    "residual: the largest over vertices, mean over the goals of a cell",
    "finite-p finite-p-by-r p-family monotone": "p = 4, 8 and 16 by L-BFGS-B from the harmonic "
    "field: 700 iterations, or a step that lowers the energy by less than a share of 1e-10; the "
    "main rollouts' fields at the ends",
    "lbfgs": "L-BFGS-B from the harmonic field: 700 iterations, or a step that lowers the energy "
    "by less than a share of 1e-10; a cell has converged if its goals all have, its residual is "
    "the largest of theirs",
    "solvers solver-gradient": "each from the harmonic field; L-BFGS-B stops as well where a step "
    "lowers the energy by less than a share of 1e-12, and after 15,000 evaluations, SciPy's limit; "
    "a cell has converged if its goals all have, its residual is the largest of theirs",
    "seven-nodes subdivision": "exact rationals",
    "search": "connected subgraphs drawn vertex by vertex, uniform labels",
    "witnesses": "the first graph of the 4 × 4 lattice that fits all numbers of the line",
}
"""How we read what the paper leaves open, by table."""


def reading_of(table: str) -> str:
    """Return how we read the protocol behind a table of the paper.

    Examples
    --------
    >>> reading_of("subdivision")
    'exact rationals'
    """
    return next(text for tables, text in READING_OF.items() if table in tables.split())
