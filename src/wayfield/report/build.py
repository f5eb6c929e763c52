"""Put the report together: claims, tables and one page, each written whole or not at all."""

from __future__ import annotations

import datetime as dt
import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .._optional import need
from ..study.measures import measures
from ..study.paper import AUTHOR, FIGURES, TABLES, TITLE
from ..study.tables import Rows, as_rows
from ..study.tasks import Row
from .charts import LOOKS, panels, printed_success
from .claims import as_json, count_marks, make_claims
from .contents import SPECS
from .export import as_csv, as_latex, plain_csv, plain_latex
from .findings import findings, headline
from .mismatch import inconsistencies, mismatches
from .phase import colour_bar
from .provenance import Provenance, experiment_line, facts, sampling, versions
from .rules import KINDS, WORDS, Verdict
from .sections import build_section
from .words import plural

_OWN_PARTS = (
    ("picture", "The headline in one picture"),
    ("glance", "All figures at a glance"),
    ("new", "Findings, and what is new"),
)
_PAPERS = {"harmonic": "harmonic", "sweeps": "amle"}  # arms that stand for the paper's methods
_LAST_PARTS = (
    ("mismatch", "What does not match, and why"),
    ("claims-all", "Every figure"),
    ("rules", "The rules of the verdicts"),
    ("made", "How this was made"),
)


def write_report(tables: Mapping[str, Iterable[Row]], out: Path, provenance: Provenance) -> Path:
    """Write the page, the claims and the tables under a folder; return the page's path.

    Parameters
    ----------
    tables : mapping of str to rows
        The rows of every experiment, by its name; any may be missing or partial.
    out : Path
        Gets ``index.html``, which needs no other file, ``claims.json``, and ``tables/`` with each
        table as CSV and LaTeX.
    provenance : Provenance
        Goes into the page.

    Examples
    --------
    >>> import tempfile
    >>> out = Path(tempfile.mkdtemp())
    >>> write_report({}, out, Provenance("wayfield report", workers=0, seconds=0.0)).name
    'index.html'
    >>> sorted(path.name for path in out.iterdir())
    ['claims.json', 'index.html', 'tables']
    """
    report = Report(as_rows(tables), provenance)
    files = {"claims.json": as_json(report.claims), **report.table_files()}
    files["index.html"] = report.page()
    for name, text in files.items():
        _write(out / name, text)
    return out / "index.html"


class Report:
    """The claims and sections made from some rows."""

    def __init__(self, tables: Mapping[str, Rows], provenance: Provenance) -> None:
        self.tables = tables
        self.provenance = provenance
        self.claims = make_claims(measures(tables))
        self.by_id = {claim.figure.id: claim for claim in self.claims}
        self.sections = [build_section(spec, tables, self.by_id) for spec in SPECS]

    def table_files(self) -> dict[str, str]:
        """Every table as CSV and as LaTeX, by file name."""
        files = {}
        for name, table in TABLES.items():
            files[f"tables/{name}.csv"] = as_csv(table, self.by_id)
            files[f"tables/{name}.tex"] = as_latex(table, self.by_id)
        for section in self.sections:
            for own in section.plain:
                name = f"tables/{section.spec.id}-{own.name}"
                files[f"{name}.csv"] = plain_csv(own.heads, own.rows)
                files[f"{name}.tex"] = plain_latex(own.title, own.name, own.heads, own.rows)
        return files

    def page(self) -> str:
        """Render the page."""
        jinja2 = need("jinja2", "study")
        environment = jinja2.Environment(
            loader=jinja2.PackageLoader("wayfield.report"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        page: str = environment.get_template("index.html.j2").render(self._context())
        return page

    def _context(self) -> dict[str, Any]:
        rollouts = self.tables.get("rollout", Rows(()))
        contents = [(section.spec.id, section.spec.title) for section in self.sections]
        return {
            "title": TITLE,
            "author": AUTHOR,
            "headline": headline(self.claims, self.tables),
            "tiles": _tiles(rollouts),
            "contents": [*_OWN_PARTS, *contents, *_LAST_PARTS],
            "panels": panels(rollouts) if len(rollouts) else [],
            "colours": colour_bar(),
            "about": sampling(rollouts),
            "claims": self.claims,
            "marks": count_marks(self.claims),
            "mark_words": WORDS,
            "plural": plural,
            "examples": {mark: Verdict(mark, words) for mark, words in WORDS.items()},
            "glance": [each for section in self.sections for each in section.views],
            "findings": findings(self.tables),
            "sections": self.sections,
            "mismatches": mismatches(self.claims),
            "inconsistencies": inconsistencies(),
            "kinds": _kinds(),
            "provenance": self.provenance,
            "facts": facts(rollouts, self.provenance),
            "experiments": [
                experiment_line(name, rows, self.provenance) for name, rows in self.tables.items()
            ],
            "versions": versions(),
            "today": dt.datetime.now(dt.UTC).date().isoformat(),
        }


def _tiles(rows: Rows) -> list[dict[str, str]]:
    """Success of the four main arms in large type; that with exit ties over all starts."""
    if not len(rows):
        return []
    tiles = [_tile(rows, arm, "reached", "pairs") for arm in ("harmonic", "sweeps", "amle")]
    return [*tiles, _tile(rows, "amle_exit", "reached_all", "starts_all")]


def _tile(rows: Rows, arm: str, part: str, whole: str) -> dict[str, str]:
    chosen = rows.where(arm=arm)
    theirs = printed_success(rows, _PAPERS[arm]) if arm in _PAPERS else None
    lost, everyone = chosen.total(whole) - chosen.total(part), chosen.total(whole)
    what = whole.removesuffix("_all")
    note = f"{lost:,} of {everyone:,} {what} fail" if theirs is None else f"paper {theirs:.3f}"
    share = chosen.share(part, whole).mean()
    return {"name": LOOKS[arm][0], "value": f"{share:.3f}", "note": note}


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


def _write(path: Path, text: str) -> None:
    """Write under a temporary name and rename, so that nobody ever sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
