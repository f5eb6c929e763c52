"""Which reading of the paper fits its figures best: one likelihood, cross-validated over tables.

Let a reading c give the value m_ic for the figure i, s_i be the standard deviation between studies
of the paper's size, and u_i a unit of the last digit printed. The paper's figure is one study, and
the runs of a reading are worth about one, so

    z_ic = (printed_i − m_ic) / √(2 s_i² + u_i² / 12),

and the log-likelihood of a reading is that of Student's t with four degrees of freedom,

    L_c = − Σ_i (5/2) log(1 + z_ic² / 4),

over the independent figures that every reading gives. Its tails are heavy on purpose: a figure may
depend on a choice that is not a factor, and no such figure should decide. The deviations
are those of the adopted reading, the same for all, so that a reading gains nothing by its noise.

Figures of one table share draws. L is a composite likelihood: it ranks readings, and its
differences are not odds. What protects against a fit to chance is cross-validation: each group of
tables is left out in turn, the best reading on the others is taken, and judged on what was left
out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

import numpy as np

from wayfield.typing import BoolArray, FloatArray

from .figures import FIGURES, same_as
from .rules import DEVIATIONS, Expected

FREEDOM = 4.0
"""Degrees of freedom of the likelihood."""
GROUPS = {
    "medium": ("grid-medium",),
    "large": ("grid-large",),
    "spread": ("main", "lift"),
    "baselines": ("baselines", "baselines-by-r"),
    "failures": ("failures",),
    "ordering": ("ordering",),
    "mechanism": ("mechanism", "mechanism-by-r"),
    "iterations": ("iterations", "iteration-gap", "stable"),
    "success by p": ("finite-p-by-r",),
    "ordering by p": ("p-family", "monotone"),
    "L-BFGS-B": ("lbfgs",),
}
"""Groups of the paper's tables that are left out together; a design has figures of some."""
R = TypeVar("R")


@dataclass(frozen=True)
class Fold(Generic[R]):
    """One group of tables, left out.

    Attributes
    ----------
    group : str
        Which.
    figures : int
        How many it has.
    chosen : R
        The best reading on all other groups.
    likelihood : float
        Log-likelihood of the group under that reading.
    variance : float
        Mean z² of the group under that reading.
    """

    group: str
    figures: int
    chosen: R
    likelihood: float
    variance: float


@dataclass(frozen=True, eq=False)
class Ranking(Generic[R]):
    """Readings by how well they fit.

    Attributes
    ----------
    readings : sequence
        All of them, best first.
    names : sequence of str
        Ids of the figures that count.
    z : (readings, figures) array
        Standardised differences.
    marked : mapping of readings to str
        Readings to be shown in any case, and what they are.
    values : mapping of readings to mappings of str to float
        What each gives, including figures that do not count.
    """

    readings: Sequence[R]
    names: Sequence[str]
    z: FloatArray
    marked: Mapping[R, str]
    values: Mapping[R, Mapping[str, float]]

    @cached_property
    def groups(self) -> dict[str, BoolArray]:
        """Which figures belong to each group; groups without figures are left out."""
        tables = np.array([FIGURES[name].table for name in self.names])
        places = {group: np.isin(tables, some) for group, some in GROUPS.items()}
        return {group: where for group, where in places.items() if where.any()}

    @cached_property
    def scores(self) -> dict[str, FloatArray]:
        """Log-likelihoods of every reading, (readings,) for each group."""
        likelihoods = -0.5 * (FREEDOM + 1.0) * np.log1p(self.z**2 / FREEDOM)
        return {group: likelihoods[:, where].sum(axis=1) for group, where in self.groups.items()}

    @property
    def totals(self) -> FloatArray:
        """Log-likelihoods of every reading over all figures, (readings,)."""
        return np.asarray(np.sum(list(self.scores.values()), axis=0))

    @property
    def met(self) -> FloatArray:
        """Share of the figures within two standard deviations, for every reading, (readings,)."""
        return np.asarray((np.abs(self.z) <= DEVIATIONS).mean(axis=1))

    def of(self, reading: R, group: str | None = None) -> float:
        """Return the log-likelihood of one reading, over all figures or those of a group."""
        scores = self.totals if group is None else self.scores[group]
        return float(scores[self.readings.index(reading)])

    def folds(self) -> list[Fold[R]]:
        """Leave every group out in turn, and judge the best reading of the others on it."""
        found = []
        for group, where in self.groups.items():
            best = int(np.argmax(self.totals - self.scores[group]))
            variance = float((self.z[best, where] ** 2).mean())
            score = float(self.scores[group][best])
            found.append(Fold(group, int(where.sum()), self.readings[best], score, variance))
        return found


def standardised(name: str, value: float, expected: Mapping[str, Expected]) -> float:
    """Return z of a printed figure where a reading gives `value`, as one study of ours."""
    figure = FIGURES[name]
    variance = 2.0 * expected[name].sd ** 2 + figure.unit**2 / 12.0
    return float((figure.value - value) / np.sqrt(variance))


def rank(
    values: Mapping[R, Mapping[str, float]],
    expected: Mapping[str, Expected],
    marked: Mapping[R, str],
) -> Ranking[R]:
    """Rank readings by their likelihood.

    Parameters
    ----------
    values : mapping of readings to mappings of str to float
        What each gives for the paper's figures, by id.
    expected : mapping of str to Expected
        Deviations between studies, by id.
    marked : mapping of readings to str
        Readings to be shown in any case, and what they are.

    Examples
    --------
    >>> ids = ["grid-medium/r4/lf0.02/harmonic", "grid-large/r4/lf0.02/harmonic"]
    >>> values = {"a": dict(zip(ids, [0.80, 0.83])), "b": dict(zip(ids, [0.85, 0.83]))}
    >>> ranking = rank(values, {name: Expected(0.8, 0.02) for name in ids}, {"a": "adopted"})
    >>> ranking.readings, round(ranking.of("b") - ranking.of("a"), 2)
    (['b', 'a'], 1.4)
    """
    names = [
        name
        for name, figure in FIGURES.items()
        if values
        and not same_as(name)
        and figure.kind != "exact"
        and name in expected
        and all(name in given for given in values.values())
    ]
    given = [
        [standardised(name, some[name], expected) for name in names] for some in values.values()
    ]
    z = np.array(given).reshape(len(values), len(names))
    order = np.argsort(np.log1p(z**2 / FREEDOM).sum(axis=1), kind="stable")
    readings = list(values)
    return Ranking([readings[k] for k in order], names, z[order], marked, values)
