"""What the study shows: the headline, and the findings of every experiment at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ..study.rollout import PAPER_SWEEPS
from ..study.tables import Rows
from . import findings_beyond as beyond
from . import findings_paper as paper
from .charts import printed_success
from .claims import Claim, count_marks
from .finding import Finding, failing, success

_MAKERS: dict[str, tuple[Callable[[Rows], Iterator[Finding]], ...]] = {
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
    """List what is new, from the experiments at hand."""
    return [
        finding
        for name, some in _MAKERS.items()
        if name in tables and len(tables[name])
        for make in some
        for finding in make(tables[name])
    ]
