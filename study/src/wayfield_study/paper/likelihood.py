"""Which reading of the paper is in use: the one with the largest likelihood.

Let a reading c give the value m_ic for the figure i, s_i be the standard deviation between studies
of the paper's size, and u_i a unit of the last digit printed. The paper's figure is one study, and
the runs of a reading are worth about one, so

    z_ic = (printed_i − m_ic) / √(2 s_i² + u_i² / 12),

and the log-likelihood of a figure is that of Student's t with four degrees of freedom,

    −(5/2) log(1 + z_ic² / 4).

Its tails are heavy on purpose: a figure may depend on a choice that is not a factor, and no such
figure should decide. The score of a reading is the sum over groups of tables, each left out in
turn; nothing is fitted on the others. The rule is on the page "Reading the paper".

Figures of one table share draws, so differences of scores are not odds. Their standard errors are
over groups, the units that are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from wayfield.typing import FloatArray

from .figures import FIGURES, read_lines, same_as
from .rules import DEVIATIONS

FREEDOM = 4.0
"""Degrees of freedom of the likelihood."""
GROUPS = {group: tuple(tables.split()) for group, tables in read_lines("groups.txt")}
"""Groups of the paper's tables that are left out together."""
HEADLINE = tuple(
    name
    for method in ("harmonic", "amle")
    for name in (
        f"main/{method}/success",
        *(f"by-lf-means/lf{lf}/{method}" for lf in ("0.02", "0.05", "0.08")),
    )
)
"""The eight figures that sum the main rollouts up."""
R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class Ranking(Generic[R]):
    """Readings by their likelihood.

    Attributes
    ----------
    readings : sequence
        All of them, best first.
    adopted : R
        The one in use.
    names : sequence of str
        Ids of the figures that count.
    z : (readings, figures) array
        Standardised differences.
    groups : sequence of str
        Groups of tables that have figures.
    scores : (readings, groups) array
        Log-likelihood of each group.
    headline : mapping of readings to mappings of str to (value, z)
        The figures that sum up the main rollouts, under each reading.
    """

    readings: Sequence[R]
    adopted: R
    names: Sequence[str]
    z: FloatArray
    groups: Sequence[str]
    scores: FloatArray
    headline: Mapping[R, Mapping[str, tuple[float, float]]]

    @property
    def met(self) -> FloatArray:
        """Share of the figures within two standard deviations, for every reading, (readings,)."""
        return np.asarray((np.abs(self.z) <= DEVIATIONS).mean(axis=1))

    def behind(self, reading: R) -> tuple[float, float]:
        """Return how far a reading is behind the first, and the standard error over groups."""
        lead = self.scores[0] - self.scores[self.readings.index(reading)]
        return float(lead.sum()), float(np.sqrt(lead.size) * lead.std(ddof=1))

    def without(self, group: str) -> R:
        """Return the first reading if a group does not count."""
        rest = self.scores.sum(axis=1) - self.scores[:, self.groups.index(group)]
        return self.readings[int(np.argmax(rest))]


def rank(
    values: Mapping[R, Mapping[str, float]],
    deviations: Mapping[str, float],
    adopted: R,
    departures: Callable[[R], tuple[int, ...]],
) -> Ranking[R]:
    """Rank readings by their likelihood.

    Parameters
    ----------
    values : mapping of readings to mappings of str to float
        What each gives for the paper's figures, by id.
    deviations : mapping of str to float
        Standard deviations between studies, by id.
    adopted : R
        The reading in use.
    departures : function of a reading
        The smaller they are, the simpler it is. Scores that agree to one decimal are a tie, which
        goes to the simpler.

    Examples
    --------
    >>> ids = ["grid-medium/r4/lf0.02/harmonic", "grid-large/r4/lf0.02/harmonic"]
    >>> values = {"a": dict(zip(ids, [0.80, 0.83])), "b": dict(zip(ids, [0.85, 0.83]))}
    >>> ranking = rank(values, dict.fromkeys(ids, 0.02), "a", lambda reading: (0,))
    >>> ranking.readings, ranking.groups, ranking.scores.round(2).tolist()
    (['b', 'a'], ['medium', 'large'], [[-0.0, -0.0], [-1.4, -0.0]])
    """
    names = [
        name
        for name, figure in FIGURES.items()
        if not same_as(name)
        and figure.kind != "exact"
        and name in deviations
        and all(name in given for given in values.values())
    ]
    tables = np.array([FIGURES[name].table for name in names])
    places = {group: np.isin(tables, some) for group, some in GROUPS.items()}
    groups = [group for group, where in places.items() if where.any()]
    z, scores = {}, {}
    for reading, given in values.items():
        z[reading] = np.array([standardised(name, given[name], deviations[name]) for name in names])
        figures = -0.5 * (FREEDOM + 1.0) * np.log1p(z[reading] ** 2 / FREEDOM)
        scores[reading] = np.array([figures[places[group]].sum() for group in groups])
    readings = sorted(values, key=lambda each: (-round(scores[each].sum(), 1), departures(each)))
    headline = {
        reading: {
            name: (given[name], standardised(name, given[name], deviations[name]))
            for name in HEADLINE
            if name in given
        }
        for reading, given in values.items()
    }
    return Ranking(
        readings,
        adopted,
        names,
        np.array([z[each] for each in readings]),
        groups,
        np.array([scores[each] for each in readings]),
        headline,
    )


def standardised(name: str, value: float, deviation: float) -> float:
    """Return z of a printed figure where a reading gives `value`, as one study of ours."""
    figure = FIGURES[name]
    variance = 2.0 * deviation**2 + figure.unit**2 / 12.0
    return float((figure.value - value) / np.sqrt(variance))
