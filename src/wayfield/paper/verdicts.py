"""The parts of a report that compare with the paper: verdicts at a glance, mismatches, rules."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

from ..report import Block, render
from ..study.records import Tables
from ..study.tasks import Experiment
from .claims import as_json, count_marks, make_claims
from .export import as_csv, as_latex
from .figures import FIGURES, TABLES
from .measures import measures
from .mismatch import inconsistencies, mismatches
from .rules import KINDS, WORDS, Verdict
from .tables import view


class Verdicts:
    """The paper's figures beside those of some experiments, and what a page shows of them."""

    def __init__(self, experiments: Iterable[Experiment[Any]], tables: Tables) -> None:
        self.claims = make_claims(measures(experiments, tables))
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
        rules = _render("rules.html.j2", kinds=_kinds())
        return (
            Block("mismatch", "What does not match, and why", mismatch),
            Block("claims-all", "Every figure", every),
            Block("rules", "The rules of the verdicts", rules),
        )

    @cached_property
    def files(self) -> dict[str, str]:
        """The claims, and every table as CSV and as LaTeX, by file name."""
        files = {"claims.json": as_json(self.claims)}
        for name, table in TABLES.items():
            files[f"tables/{name}.csv"] = as_csv(table, self.by_id)
            files[f"tables/{name}.tex"] = as_latex(table, self.by_id)
        return files


def _render(template: str, **context: Any) -> str:
    return render("wayfield.paper", template, **context)


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
