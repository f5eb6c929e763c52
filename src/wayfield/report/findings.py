"""What the study shows: the headline, and the findings of every experiment at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ..study.cells import SEEDS
from ..study.measures import AUDIT_SEEDS, AUDITED, GRID, papers_rows
from ..study.rollout import PAPER_SWEEPS
from ..study.tables import Rows
from . import findings_beyond as beyond
from . import findings_paper as paper
from .charts import printed_success
from .claims import Claim, count_marks
from .finding import Finding, failing, success
from .words import plural

Maker = Callable[[Rows], Iterator[Finding]]
_MAKERS: dict[str, tuple[Maker, ...]] = {
    "rollout": (paper.artefact, paper.reach, paper.lifts, paper.row_by_row, paper.brackets),
    "finite_p": (paper.family_end, paper.monotone, paper.certified),
    "lbfgs_budget": (paper.stopped,),
    "iteration_audit": (paper.budget,),
    "witnesses": (beyond.papers_witnesses, beyond.witnesses),
    "sparse": (beyond.sparse,),
    "noise": (beyond.noise,),
    "ties": (beyond.rules,),
    "resolution": (beyond.resolution,),
    "held_out": (beyond.held_out,),
}
_PAPERS_CELLS = {
    "rollout": (GRID, SEEDS),
    "finite_p": (GRID, SEEDS),
    "lbfgs_budget": (GRID, SEEDS),
    "iteration_audit": (AUDITED, AUDIT_SEEDS),
}
"""Configurations and seeds of the experiments that are the paper's."""
_WHOLE_ONLY: tuple[Maker, ...] = (paper.row_by_row, paper.budget)
"""Findings that compare numbers with the paper's."""


def headline(claims: list[Claim], tables: Mapping[str, Rows]) -> list[str]:
    """Say it in three sentences, or in one if there are no rollouts.

    Examples
    --------
    >>> from wayfield.report import make_claims
    >>> headline(make_claims({}), {})
    ['Of 483 figures of the paper, 0 are reproduced, 0 belong to a solver that was stopped early,
      0 differ and 483 were not measured.']
    """
    marks = count_marks(claims)
    said = [
        f"Of {len(claims)} figures of the paper, {marks['reproduced']} are reproduced, "
        f"{marks['artefact']} belong to a solver that was stopped early, {marks['differs']} differ "
        f"and {marks['missing']} were not measured."
    ]
    rows = tables.get("rollout")
    if rows is None or not len(rows):
        return said
    harmonic, sweeps = (success(rows, arm) for arm in ("harmonic", "sweeps"))
    theirs = [printed_success(rows, method) for method in ("harmonic", "amle")]
    told = ["" if share is None else f" (paper: {share:.1%})" for share in theirs]
    said.append(
        f"A greedy planner reaches the goal from {harmonic:.1%} of the starts on harmonic values"
        f"{told[0]} and from {sweeps:.1%} on AMLE values after {PAPER_SWEEPS} sweeps{told[1]}."
    )
    index, exits = failing(rows, "amle"), rows.where(arm="amle_exit")
    lost, starts = failing(rows, "amle_exit", "_all"), exits.total("starts_all")
    pairs = rows.where(arm="amle").total("pairs")
    said.append(
        f"Solved exactly, the AMLE fails from {index:,} of {pairs:,} starts under the paper's tie "
        f"rule, and from {lost:,} of all {starts:,} with ties broken towards an exit."
    )
    return said


def findings(tables: Mapping[str, Rows]) -> list[Finding]:
    """List what is new, from the experiments at hand; verdicts on the paper on its own cells only.

    Where the paper's cells are all there, other cells are left out of what is said about it.
    Where they are not, nothing is said about the paper: a finding speaks for the cells at hand.
    """
    found: list[Finding] = []
    for name, makers in _MAKERS.items():
        rows = tables.get(name, Rows(()))
        if len(rows):
            found += _on_the_papers_cells(name, rows) or _on_other_cells(name, rows, makers)
    return found


def _on_the_papers_cells(name: str, rows: Rows) -> list[Finding]:
    """Return the findings on the paper's cells; none if it has none or some are missing."""
    if name not in _PAPERS_CELLS:
        return []
    configurations, seeds = _PAPERS_CELLS[name]
    kept = papers_rows(rows, configurations, seeds)
    cells = len(configurations) * len(seeds)
    if len(kept.cells) < cells:
        return []
    scope = f"On the paper's {cells} cells."
    return [replace(each, scope=scope) for make in _MAKERS[name] for each in make(kept)]


def _on_other_cells(name: str, rows: Rows, makers: tuple[Maker, ...]) -> list[Finding]:
    found = [each for make in makers if make not in _WHOLE_ONLY for each in make(rows)]
    if name == "witnesses":  # graphs of their own, not cells
        return found
    if name not in _PAPERS_CELLS:
        return [replace(each, scope=f"On {_told(rows)}.") for each in found]
    scope = f"On {_told(rows)}; not the paper's whole grid, so no verdict on the paper."
    return [
        replace(each, mark="new" if each.mark == "new" else "partial", scope=scope)
        for each in found
    ]


def _told(rows: Rows) -> str:
    """Name some cells: mazes, resolutions, label fractions, seeds."""
    mazes = dict.fromkeys(
        str(row["maze"]) + (" (one's own map)" if row.get("layout") else "") for row in rows
    )
    settings = [
        ", ".join(mazes),
        "r = " + ", ".join(map(str, rows.values("refinement"))),
        "lf = " + ", ".join(f"{lf:g}" for lf in rows.values("label_fraction")),
        plural(len(rows.values("seed")), "seed"),
    ]
    return f"{plural(len(rows.cells), 'cell')} ({'; '.join(settings)})"
