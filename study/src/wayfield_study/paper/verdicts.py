"""The parts of a report that compare with the paper: verdicts at a glance, mismatches, rules."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import product
from math import comb
from typing import Any

from ..engine.records import Tables
from ..engine.tasks import Experiment
from ..report import Block, Table, render
from ..report.tables import as_csv as write_csv
from .figures import FIGURES, KINDS, TABLES, PaperTable, shown_name, signed, value
from .grid import GRID, audited_success, papers_budget
from .likelihood import Ranking
from .measures import measures
from .rules import WORDS, Claim, ExpectedFigures, Verdict, count_marks, make_claims

SHOWN = 8
"""Best readings that a ranking shows."""
_UNLIKELY = 0.05
"""Probability below which a lopsided list of differences is no accident."""


class Verdicts:
    """The paper's figures beside those of some experiments, and what a page shows of them."""

    def __init__(
        self,
        experiments: Iterable[Experiment[Any]],
        tables: Tables,
        evidence: ExpectedFigures,
        ranking: Ranking[Any] | None = None,
    ) -> None:
        self.ranking = ranking
        self.claims = make_claims(measures(experiments, tables), evidence)
        self.by_id = {claim.figure.id: claim for claim in self.claims}
        self.independent = [claim for claim in self.claims if not claim.same_as]

    @property
    def empty(self) -> bool:
        """Whether no figure of the paper was measured."""
        return all(claim.measure.value is None for claim in self.claims)

    @property
    def tally(self) -> str:
        """How many figures there are of each verdict, in a sentence."""
        counts = {"all": len(self.claims), "independent": len(self.independent)}
        return _render("tally.txt.j2", marks=count_marks(self.independent), **counts).strip()

    def table(self, name: str, columns: Sequence[str]) -> str:
        """Write one of the paper's tables with ours beside it, as HTML."""
        return _render("table.html.j2", view=view(TABLES[name], self.by_id, columns))

    @property
    def glance(self) -> Block:
        """All tables with their verdicts."""
        html = _render(
            "glance.html.j2",
            marks=count_marks(self.independent),
            independent=len(self.independent),
            examples={mark: Verdict(mark, words) for mark, words in WORDS.items()},
            glance=[view(table, self.by_id) for table in TABLES.values()],
        )
        return Block("glance", f"The paper's {len(self.claims)} figures at a glance", html)

    @cached_property
    def details(self) -> tuple[Block, ...]:
        """What does not match, every figure, and the rules; readings if any."""
        blocks = []
        if self.ranking is not None:
            html = _render("ranking.html.j2", ranking=self.ranking, shown=SHOWN)
            blocks.append(Block("ranking", "Which reading fits the paper best", html))
        every = _render("claims.html.j2", claims=self.claims, marks=count_marks(self.claims))
        used = Counter(figure.kind for figure in FIGURES.values())
        return (
            *blocks,
            Block("mismatch", "What does not match", mismatch(self.by_id)),
            Block("claims-all", "Every figure", every),
            Block(
                "rules",
                "The rules of the verdicts",
                _render("rules.html.j2", kinds=KINDS, used=used),
            ),
        )

    @cached_property
    def files(self) -> dict[str, str]:
        """The claims, and every table as CSV, by file name."""
        records = (
            json.dumps(claim.record(), ensure_ascii=False, allow_nan=False) for claim in self.claims
        )
        files = {"claims.json": "[\n" + ",\n".join(records) + "\n]\n"}
        if self.ranking is not None:
            files["readings.json"] = json.dumps(_as_data(self.ranking), indent=1)
        for name, table in TABLES.items():
            files[f"tables/{name}.csv"] = as_csv(table, self.by_id)
        return files


def _render(template: str, **context: Any) -> str:
    return render("wayfield_study.paper", template, signed=signed, **context)


# -------------------------------------------------------------------- tables


def view(
    table: PaperTable, claims: Mapping[str, Claim], columns: Sequence[str] = ()
) -> dict[str, Any]:
    """Lay a table out for the page: some columns side by side, and all figures below.

    Parameters
    ----------
    table : PaperTable
        The table of the paper.
    claims : mapping of str to Claim
        Claims by the figure's id.
    columns : sequence of str
        Columns to show side by side; all if none are named.

    Returns
    -------
    dict
        The ``table``; ``groups``, the headings of the columns, each with a flag whether any of its
        figures has an exact one; ``rows``, the names of each row and its claims; all ``claims``;
        and their ``marks``, counted.
    """
    shown = list(columns) or list(table.columns)
    rows = [
        ([shown_name(entry) for entry in row], [claims.get(table.id(row, each)) for each in shown])
        for row in table.rows
    ]
    columns_of_claims = zip(*(row for _, row in rows), strict=True)
    groups = [
        (shown_name(each), any(c is not None and c.exact is not None for c in some))
        for each, some in zip(shown, columns_of_claims, strict=True)
    ]
    own = [claims[figure.id] for figure in table.figures]
    return {
        "table": table, "groups": groups, "rows": rows, "claims": own, "marks": count_marks(own)
    }  # fmt: skip


def as_csv(table: PaperTable, claims: Mapping[str, Claim]) -> str:
    """Write a table as CSV: a line per figure, the keys of its row in columns of their own.

    Parameters
    ----------
    table : PaperTable
        The table of the paper.
    claims : mapping of str to Claim
        Claims by the figure's id.

    Examples
    --------
    >>> claims = {claim.figure.id: claim for claim in make_claims({})}
    >>> print(as_csv(TABLES["by-r"], claims).splitlines()[1])
    4,harmonic,0.850,,,,not measured: not among the experiments that were run
    """
    heads = [*table.key_names, "figure", "paper", "ours", "ours_exact", "difference", "verdict"]
    lines = []
    for row, column in product(table.rows, table.columns):
        if claim := claims.get(table.id(row, column)):
            numbers = (claim.measure.value, claim.exact, claim.difference)
            ours = ["" if value is None else repr(value) for value in numbers]
            lines.append([*row, column, claim.figure.printed, *ours, claim.verdict.text])
    return write_csv(Table(table.name, table.title, heads, lines))


def _as_data(ranking: Ranking[Any]) -> dict[str, Any]:
    """Return a ranking as plain data: every reading, and the first if a group does not count."""
    readings = [
        {
            "reading": str(reading),
            "adopted": reading == ranking.adopted,
            "score": round(float(scores.sum()), 2),
            "behind": [round(figure, 2) for figure in ranking.behind(reading)],
            "by_group": dict(zip(ranking.groups, scores.round(2).tolist(), strict=True)),
            "met": round(float(met), 4),
            "headline": {
                name: [round(ours, 4), round(z, 2)]
                for name, (ours, z) in ranking.headline[reading].items()
            },
        }
        for reading, scores, met in zip(ranking.readings, ranking.scores, ranking.met, strict=True)
    ]
    without = {group: str(ranking.without(group)) for group in ranking.groups}
    return {"figures": len(ranking.names), "readings": readings, "without": without}


# -------------------------------------------------------------------- what does not match


def mismatch(claims: Mapping[str, Claim]) -> str:
    """Write which methods are systematically off, and where the paper disagrees with itself.

    A method is if its differences throughout the paper's large tables lie on one side so often
    that the sign test gives this a probability below 5 %.
    """
    found = []
    for method, title in (("harmonic", "Harmonic"), ("amle", "AMLE")):
        grid = [claims[f"grid-{maze}/r{r}/lf{lf:.2f}/{method}"] for maze, r, lf in GRID]
        apart = [claim.difference for claim in grid if claim.difference is not None]
        higher, lower = (sum(sign * each > 0 for each in apart) for sign in (1, -1))
        signs, most = higher + lower, max(higher, lower)
        chance = 2 * sum(comb(signs, k) for k in range(most, signs + 1)) * 0.5**signs
        if len(apart) == len(grid) and chance < _UNLIKELY:
            parts = (claims[f"main/{method}/{each}"] for each in ("success", "low", "high"))
            found.append((title, higher, lower, sum(apart) / len(apart), *parts))
    short = [row for row in range(1, 6) if value(f"witnesses/witness{row}/harmonic") < 1]
    return _render(
        "mismatch.html.j2",
        systematic=found,
        of=len(GRID),
        value=value,
        short=short,
        audited=audited_success(),
        budget=papers_budget(),
    )
