"""The parts of a report that compare with the paper: verdicts at a glance, mismatches, rules."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from math import comb
from typing import Any

from ..engine.records import Tables
from ..engine.tasks import Experiment
from ..report import Block
from ..report.page import render
from .claims import Claim, as_csv, as_json, count_marks, make_claims, view
from .figures import FIGURES, TABLES, value
from .grid import GRID, audited_success, papers_budget
from .likelihood import Ranking
from .measures import measures
from .rules import KINDS, WORDS, ExpectedFigures, Verdict

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

    @property
    def empty(self) -> bool:
        """Whether no figure of the paper was measured."""
        return all(claim.measure.value is None for claim in self.claims)

    @property
    def independent(self) -> list[Claim]:
        """The claims that do not follow from others."""
        return [claim for claim in self.claims if not claim.same_as]

    @cached_property
    def tally(self) -> str:
        """How many figures there are of each verdict, in a sentence."""
        some = self.independent
        marks = count_marks(some)
        return (
            f"The paper prints {len(self.claims)} figures, of which "
            f"{len(self.claims) - len(some)} follow from others. Of the {len(some)} independent "
            f"ones, {marks['reproduced']} are reproduced within two standard deviations, "
            f"{marks['artefact']} belong to a solver that was stopped early, {marks['close']} are "
            f"close but not reproduced, {marks['differs']} differ and {marks['missing']} were not "
            "measured."
        )

    def table(self, name: str, columns: tuple[str, ...]) -> str:
        """Write one of the paper's tables with ours beside it, as HTML."""
        return _render("table.html.j2", view=view(TABLES[name], self.by_id, columns))

    @cached_property
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

        off, inner = systematic(self.by_id), inconsistencies()
        mismatch = _render("mismatch.html.j2", systematic=off, inconsistencies=inner)
        every = _render(
            "claims.html.j2", claims=self.claims, marks=count_marks(self.claims), mark_words=WORDS
        )
        used = Counter(figure.kind for figure in FIGURES.values())
        kinds = [
            {"title": kind.title, "tolerance": kind.described, "count": used[name]}
            for name, kind in KINDS.items()
        ]
        rules = _render("rules.html.j2", kinds=kinds)
        return (
            *blocks,
            Block("mismatch", "What does not match", mismatch),
            Block("claims-all", "Every figure", every),
            Block("rules", "The rules of the verdicts", rules),
        )

    @cached_property
    def files(self) -> dict[str, str]:
        """The claims, and every table as CSV, by file name."""
        files = {"claims.json": as_json(self.claims)}
        if self.ranking is not None:
            files["readings.json"] = json.dumps(_as_data(self.ranking), indent=1)
        for name, table in TABLES.items():
            files[f"tables/{name}.csv"] = as_csv(table, self.by_id)
        return files


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


def _render(template: str, **context: Any) -> str:
    return render("wayfield_study.paper", template, **context)


# -------------------------------------------------------------------- what does not match


def systematic(claims: Mapping[str, Claim]) -> list[tuple[str, str]]:
    """List the methods that are systematically higher or lower throughout the paper's large tables.

    By the sign test: if a difference were as likely up as down, so many on one side of all
    configurations would have a probability below 5 %.
    """
    found = []
    for method, title in (("harmonic", "Harmonic"), ("amle", "AMLE")):
        grid = [claims[f"grid-{maze}/r{r}/lf{lf:.2f}/{method}"] for maze, r, lf in GRID]
        apart = [claim.difference for claim in grid if claim.difference is not None]
        higher, lower = (sum(sign * each > 0 for each in apart) for sign in (1, -1))
        signs, most = higher + lower, max(higher, lower)
        chance = 2 * sum(comb(signs, k) for k in range(most, signs + 1)) * 0.5**signs
        if len(apart) < len(grid) or chance >= _UNLIKELY:
            continue
        whole, low, high = (claims[f"main/{method}/{each}"] for each in ("success", "low", "high"))
        overall = f"{whole.ours_text} against {whole.figure.text}"
        if low.measure.value is not None and high.measure.value is not None:
            inside = low.measure.value <= whole.figure.value <= high.measure.value
            overall += (
                f", and our 95 % interval {low.ours_text} to {high.ours_text} "
                f"{'holds' if inside else 'excludes'} it"
            )
        mean = f"{sum(apart) / len(apart):+.3f}".replace("-", "−")
        text = (
            f"Of {len(grid)} configurations ours is higher in {higher} and lower in {lower}, the "
            f"mean difference {mean}: {overall}. "
            "Each figure may be reproduced, all of them together are not: graphs, draws or solver "
            "are not quite the paper's."
        )
        where = "higher" if higher > lower else "lower"
        found.append((f"{title} is systematically {where}.", text))
    return found


def inconsistencies() -> list[str]:
    """List where the paper's figures do not agree with each other.

    Examples
    --------
    >>> inconsistencies()[0]
    "AMLE's lead over the nearest label is 93.8 points in §5.4 and 93.9 in Appendix A.5."
    """
    gaps = [
        value(f"baseline-gaps/{each}/value") for each in ("over_nearest", "over_nearest_appendix")
    ]
    short = [row for row in range(1, 6) if value(f"witnesses/witness{row}/harmonic") < 1]
    failing, vertices, labels, share = (
        value(f"witnesses/witness1/{column}")
        for column in ("failing", "vertices", "labels", "amle")
    )
    return [
        f"AMLE's lead over the nearest label is {gaps[0]} points in §5.4 and {gaps[1]} in "
        "Appendix A.5.",
        "Appendix A.10 says that harmonic succeeds from every start on all five witnesses; its "
        f"table has less for numbers {' and '.join(map(str, short))}.",
        "The same table says that success counts starts from non-boundary vertices. For witness "
        f"1 that would be {1 - failing / (vertices - labels):.3f}; the printed {share} fits "
        f"starts from all vertices but the goal, {1 - failing / (vertices - 1):.3f}, and so do "
        "the other four.",
        "The iteration audit names 500 sweeps as the main experiment's approximate budget. On its "
        f"configurations the main grid has {audited_success():.3f}, the audit after 500 sweeps "
        f"{value('iterations/sweeps500/success'):.3f}: interpolated in the audit, the main grid "
        f"fits about {round(papers_budget(), -1):.0f}. The one has five seeds, the other three.",
    ]
