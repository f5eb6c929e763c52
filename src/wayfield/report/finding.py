"""A finding: something the numbers say, and the two shares most of them are about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..study.tables import Rows

Mark = Literal["reproduced", "differs", "artefact", "new", "partial"]
_LABELS: dict[Mark, str] = {
    "reproduced": "reproduced",
    "differs": "differs",
    "artefact": "solver artefact",
    "new": "new",
    "partial": "these cells only",
}


@dataclass(frozen=True)
class Finding:
    """A mark, what was claimed or asked, what was found, and on which cells."""

    mark: Mark
    claim: str
    text: str
    scope: str = ""

    @property
    def label(self) -> str:
        """The mark in words."""
        return _LABELS[self.mark]


def success(rows: Rows, arm: str) -> float:
    """Mean over cells of the share of sampled pairs that reach."""
    return float(rows.where(arm=arm).share("reached", "pairs").mean())


def failing(rows: Rows, arm: str, which: Literal["", "_all"] = "") -> int:
    """Count the sampled pairs, or all starts, that do not reach."""
    chosen = rows.where(arm=arm)
    return chosen.total("starts_all" if which else "pairs") - chosen.total(f"reached{which}")
