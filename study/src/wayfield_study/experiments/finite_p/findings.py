"""What the certified family says about the paper's claims, in sentences made by rule."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from math import inf

import numpy as np

from wayfield._text import number_of

from ...engine import Records
from ...paper.figures import value
from ...paper.grid import CELL, on_papers_cells
from ...report import Finding, Mark, power
from .._shown import success


def family_end(rows: Records) -> Iterator[Finding]:
    """Compare p = 16 with the AMLE, both solved."""
    last, end = success(rows, "p16"), success(rows, "amle")
    ahead = value("finite-p/p16/success") - value("finite-p/pinf/success")
    gone = last - end < 0.25 * ahead
    yield Finding(
        "artefact" if gone else "differs",
        f"The paper: p = 16 reaches {value('finite-p/p16/success'):.3f}, AMLE "
        f"{value('finite-p/pinf/success'):.3f}.",
        f"Certified p = 16 reaches {last:.4f} and the exact AMLE {end:.4f} on the same "
        f"{number_of(len(rows.distinct(*CELL)), 'cells')}: "
        + ("the lead of p = 16 is gone once both are solved." if gone else "the lead stays."),
    )


def monotone(rows: Records) -> Iterator[Finding]:
    """Count the cells in which success never falls along the family, every member solved."""
    exact = Records.of(row for row in rows if row["arm"] != "sweeps")
    family = sorted(exact.values("p"))
    falls = {part: _falls(exact, family, *part) for part in (_SAMPLED, _ALL)}
    cells = len(exact.distinct(*CELL))
    rising, always = (cells - sum(map(bool, some)) for some in falls.values())
    at_the_end = sum(some == [inf] for some in falls[_ALL])
    theirs = value("monotone/success_monotone/count")
    mark: Mark = "new" if rising / cells > theirs / 120 else "differs"
    yield Finding(
        mark,
        f"The paper: success never falls with p in {theirs:.0f} of 120 cells only.",
        f"With every member solved it never falls from p = 2 over {len(family) - 2} values of p "
        f"to ∞ in {rising} of {number_of(cells, 'cells')} on the sampled pairs, and in {always} over "
        "all starts."
        + (
            f" Of the others {at_the_end} fall at the last step alone, to the AMLE, where "
            "lowest-index ties trap starts."
            if at_the_end
            else ""
        ),
    )


_SAMPLED, _ALL = ("reached", "pairs"), ("reached_all", "starts_all")


def _falls(rows: Records, family: list[float], part: str, whole: str) -> list[list[float]]:
    """Tell for every cell the p at which success is less than at the p before."""
    found = []
    for cell in rows.by(*CELL).values():
        members = cell.by("p")
        shares = [members[p].ratio(part, whole) for p in family]
        steps = zip(pairwise(shares), family[1:], strict=True)
        found.append([p for (before, after), p in steps if after < before])
    return found


def certified(rows: Records) -> Iterator[Finding]:
    """Tell success and brackets along the family."""
    finite = Records.of(row for row in rows if 2 < float(row["p"]) < inf)
    powers = [int(p) for p in finite.values("p")]
    width = float(finite.column("width").max())
    told = ", ".join(f"{success(rows, f'p{p}'):.3f} at p = {p}" for p in powers)
    yield Finding(
        "new" if np.isfinite(width) else "differs",
        "Certified p-Laplacian fields exist for every p.",
        f"Every field for p = {', '.join(map(str, powers))} has a proved bracket, at most "
        f"{power(width)} of the label range wide. Success: {told}.",
    )


findings = on_papers_cells([family_end, monotone, certified])
