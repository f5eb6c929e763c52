"""The paper's tables as the page shows them: its figure, ours, the difference, the exact one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .claims import Claim, count_marks
from .figures import PaperTable
from .rules import VerdictMark

NAMES = {
    "amle": "AMLE",
    "inf": "∞",
    "sd": "sd",
    "low": "95 % from",
    "high": "to",
    "loop": "loops",
    "harmonic_loop": "harmonic loops",
    "amle_loop": "AMLE loops",
    "tau_lt_05_rate": "share with τ < 0.5",
    "best_agree_rate": "best action agrees",
    "mean_beta_true_gap": "mean true gap of the choice",
    "positive_gap_rate": "choice is not best",
    "tau_mean": "mean τ",
    "eval_rollouts": "rollouts",
    "primary_geometry": "AMLE-compatible only",
    "both_compatible": "both compatible",
    "both_incompatible": "neither compatible",
    "inversions": "harmonic inversions",
    "inversions_in_primary": "inversions that are AMLE-compatible only",
    "corrected": "corrected by AMLE",
    "certified": "certified",
    "interior": "without a label",
    "boundary": "through a label",
    "boundary_share": "share through a label",
    "strict_minima": "cells with a strict minimum",
    "lbfgs": "L-BFGS-B",
    "picard": "fixed point",
    "newton": "Newton-CG",
    "converged": "converged",
    "residual": "residual",
    "residual_max": "largest residual",
    "low_tau": "share with τ < 0.5",
    "best_agree": "best action agrees",
    "mean_gap": "mean gap",
    "mean_tau": "mean τ",
    "success_monotone": "success monotone in p",
    "tau_monotone": "mean τ monotone in p",
    "p16_between": "p = 16 between p = 8 and ∞",
    "over_nearest": "AMLE over nearest label, §5.4",
    "over_nearest_appendix": "AMLE over nearest label, appendix",
    "oracle_over_amle": "oracle over AMLE",
    "nearest": "nearest label",
    "nearest_sd": "nearest label, sd",
    "oracle": "oracle",
    "oracle_sd": "oracle, sd",
    "harmonic_margin": "harmonic margin",
    "amle_margin": "AMLE margin",
    "true": "true branch",
    "at_50": "after 50 sweeps",
    "at_5000": "after 5000 sweeps",
    "pairs_per_cell": "pairs per cell",
    "failing": "failing starts",
    "harmonic(1)": "harmonic value at 1",
    "harmonic(3)": "harmonic value at 3",
    "amle(1)": "AMLE value at 1",
    "amle(3)": "AMLE value at 3",
    "measure(1)": "harmonic measure at 1",
    "measure(3)": "harmonic measure at 3",
    "measure(1)-measure(3)": "harmonic measure at 1 less that at 3",
    "harmonic_error(4)": "harmonic error around 4",
    "amle_error(4)": "AMLE error around 4",
    "gap(4)": "true gap at 4",
    "p2": "p = 2",
    "p4": "p = 4",
    "p8": "p = 8",
    "p16": "p = 16",
    "pinf": "p = ∞",
    "p4_sd": "p = 4, sd",
    "p8_sd": "p = 8, sd",
    "p16_sd": "p = 16, sd",
}
"""How the page calls rows and columns; the rest keep their names."""


@dataclass(frozen=True)
class View:
    """A table for the page: the columns shown side by side, and all figures one below the other.

    Attributes
    ----------
    table : PaperTable
        The paper's.
    keys : list of str
        Headings of the row's keys.
    groups : list of (str, bool)
        Headings of the columns shown, and whether any of their figures has an exact one.
    rows : list of (list of str, list of (Claim or None))
        Names of a row, and its claims in the columns shown.
    claims : list of Claim
        All of the table.
    """

    table: PaperTable
    keys: list[str]
    groups: list[tuple[str, bool]]
    rows: list[tuple[list[str], list[Claim | None]]]
    claims: list[Claim]

    @property
    def marks(self) -> dict[VerdictMark, int]:
        """Number of claims by mark, in the order of the page."""
        return count_marks(self.claims)


def view(table: PaperTable, claims: Mapping[str, Claim], columns: Sequence[str] = ()) -> View:
    """Lay a table out.

    Parameters
    ----------
    table : PaperTable
        Which.
    claims : mapping of str to Claim
        By id.
    columns : sequence of str
        Those to show side by side; all if none are named.
    """
    shown = list(columns) or list(table.columns)
    rows = [
        ([name(entry) for entry in row], [claims.get(table.id(row, each)) for each in shown])
        for row in table.rows
    ]
    columns_of_claims = zip(*(row for _, row in rows), strict=True)
    exact = [any(c is not None and c.exact is not None for c in some) for some in columns_of_claims]
    groups = [(name(each), some) for each, some in zip(shown, exact, strict=True)]
    return View(
        table, table.key_names, groups, rows, [claims[figure.id] for figure in table.figures]
    )


def name(text: str) -> str:
    """Return the page's name of a row or column.

    Examples
    --------
    >>> name("tau_mean"), name("oracle_over_amle/r4"), name("0.02")
    ('mean τ', 'oracle over AMLE, r4', '0.02')
    """
    return ", ".join(NAMES.get(part, part.replace("_", " ")) for part in text.split("/"))
