"""The parts of a report that compare with the paper: verdicts at a glance, mismatches, rules."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from ..engine.records import Tables
from ..engine.tasks import Experiment
from ..report import Block, render
from .claims import Claim, as_json, count_marks, make_claims
from .evidence import Evidence
from .export import as_csv, as_latex
from .figures import FIGURES, TABLES
from .measures import measures
from .mismatch import inconsistencies, mismatches
from .rules import KINDS, WORDS, Verdict, close
from .tables import view


class Verdicts:
    """The paper's figures beside those of some experiments, and what a page shows of them."""

    def __init__(
        self,
        experiments: Iterable[Experiment[Any]],
        tables: Tables,
        evidence: Evidence | None = None,
    ) -> None:
        self.claims = make_claims(measures(experiments, tables), evidence)
        self.by_id = {claim.figure.id: claim for claim in self.claims}

    @property
    def empty(self) -> bool:
        """Whether no figure of the paper was measured."""
        return all(claim.measure.value is None for claim in self.claims)

    @cached_property
    def tally(self) -> str:
        """How many figures there are of each verdict, in a sentence."""
        marks = count_marks(self.claims)
        return (
            f"Of {len(self.claims)} figures of the paper, {marks['reproduced']} are reproduced, "
            f"{marks['artefact']} belong to a solver that was stopped early, {marks['differs']} "
            f"{'differs' if marks['differs'] == 1 else 'differ'} and {marks['missing']} "
            f"{'was' if marks['missing'] == 1 else 'were'} not measured."
        )

    def table(self, name: str, columns: tuple[str, ...]) -> str:
        """Write one of the paper's tables with ours beside it, as HTML."""
        return _render("table.html.j2", view=view(TABLES[name], self.by_id, columns))

    @cached_property
    def glance(self) -> Block:
        """All tables with their verdicts."""
        html = _render(
            "glance.html.j2",
            marks=count_marks(self.claims),
            examples={mark: Verdict(mark, words) for mark, words in WORDS.items()},
            glance=[view(table, self.by_id) for table in TABLES.values()],
        )
        return Block("glance", f"The paper's {len(self.claims)} figures at a glance", html)

    @cached_property
    def details(self) -> tuple[Block, ...]:
        """What does not match, every figure, and the rules."""
        mismatch = _render(
            "mismatch.html.j2",
            mismatches=mismatches(self.claims),
            inconsistencies=inconsistencies(),
        )
        every = _render(
            "claims.html.j2",
            claims=self.claims,
            marks=count_marks(self.claims),
            mark_words=WORDS,
        )
        by_draws = sum(claim.verdict.basis == "draws" for claim in self.claims)
        rules = _render("rules.html.j2", kinds=_kinds(), by_draws=by_draws)
        return (
            *self._draws,
            *self._readings,
            Block("mismatch", "What does not match, and what was tried", mismatch),
            Block("claims-all", "Every figure", every),
            Block("rules", "The rules of the verdicts", rules),
        )

    @property
    def _draws(self) -> list[Block]:
        """Our draw beside many; none if no other was made."""
        shown = [
            claim
            for claim in self.claims
            if claim.expected is not None and claim.figure.table in _DRAWS_SHOWN
        ]
        html = _render("draws.html.j2", claims=shown)
        return [Block("draws", "Our own draw, and others", html)] if shown else []

    @property
    def _readings(self) -> list[Block]:
        """How many figures every reading meets; none if no other was tried."""
        assumed = dict.fromkeys(name for claim in self.claims for name in claim.tried)
        if not assumed:
            return []
        lines = [
            (name, [_met(self.claims, name, tables) for tables in _GROUPS.values()])
            for name in assumed
        ]
        html = _render("readings.html.j2", heads=list(_GROUPS), lines=lines)
        return [Block("readings", "Other readings, and what they would buy", html)]

    @cached_property
    def files(self) -> dict[str, str]:
        """The claims, and every table as CSV and as LaTeX, by file name."""
        files = {"claims.json": as_json(self.claims)}
        for name, table in TABLES.items():
            files[f"tables/{name}.csv"] = as_csv(table, self.by_id)
            files[f"tables/{name}.tex"] = as_latex(table, self.by_id)
        return files


_DRAWS_SHOWN = ("main", "lift", "by-r", "failures", "mechanism-main", "baselines")
"""Tables whose figures are shown with their mean over many draws; claims.json has all."""
_GROUPS = {
    "all figures": (),
    "large tables": ("grid-medium", "grid-large"),
    "mechanism": ("mechanism", "mechanism-main", "mechanism-by-r"),
    "failures": ("failures",),
    "iterations": ("iterations", "iteration-gap", "stable"),
    "baselines": ("baselines", "baselines-by-r", "baseline-gaps"),
    "ordering": ("ordering",),
    "finite p": ("finite-p", "finite-p-by-r", "p-family", "monotone", "lbfgs", "solvers"),
}
"""Groups of figures, by table, in which readings are counted; the first has all of them."""


def _met(claims: Sequence[Claim], assumed: str, tables: tuple[str, ...]) -> str:
    """Count the figures of some tables that a reading meets, and that our own draw does."""
    some = [
        claim
        for claim in claims
        if assumed in claim.tried and (not tables or claim.figure.table in tables)
    ]
    met = sum(close(claim.figure, claim.tried[assumed]) for claim in some)
    values = ((claim.figure, claim.measure.value) for claim in some)
    adopted = sum(value is not None and close(figure, value) for figure, value in values)
    return f"{met} ({adopted}) of {len(some)}" if some else "–"


def _render(template: str, **context: Any) -> str:
    return render("wayfield_study.paper", template, **context)


def _kinds() -> list[dict[str, Any]]:
    """List the kinds of figures, for the table of rules."""
    used = [figure.kind for figure in FIGURES.values()]
    return [
        {
            "title": kind.title,
            "tolerance": kind.described(),
            "grain": kind.grain_described(),
            "count": used.count(name),
        }
        for name, kind in KINDS.items()
    ]
