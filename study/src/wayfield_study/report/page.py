"""A report: one page and its tables, a pure function of the rows that a study has stored.

Nothing is computed here but what a table or a chart needs to be drawn. A study's `Cover` brings
what stands before and after the sections; every section belongs to an experiment.
"""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from wayfield._optional import need
from wayfield.errors import InputError
from wayfield.files import Outbox
from wayfield.files.write import MANIFEST

from ..engine.records import Tables, as_records
from ..engine.tasks import Row, Study
from .section import Section, Shown, show
from .tables import as_csv, as_latex
from .text import plural

_PACKAGES = ("wayfield", "numpy", "scipy", "numba", "matplotlib")
_MOST_CHANGES = 3
_PAGE = "index.html"
_HEAD = b"<title>wayfield: "
"""How the title of every report begins."""


@dataclass(frozen=True)
class Block:
    """A part of the page that is no experiment's: anchor, heading, and its content as HTML."""

    id: str
    title: str
    html: str


@dataclass(frozen=True)
class Tile:
    """A number in large type: what it is, the number, and a remark."""

    name: str
    value: str
    note: str


@dataclass(frozen=True)
class Cover:
    """What a study's report begins and ends with.

    Attributes
    ----------
    title, note, lead : str
        Heading, a line under it, and the summary in large type.
    tiles : sequence of Tile
        The figures that matter most.
    before, after : sequence of Block
        Parts that stand before and after the sections.
    facts : sequence of (str, str)
        Settings of the study, each with its name.
    compare : function of a table's name and columns, optional
        Writes a published table with ours beside it, as HTML.
    files : mapping of str to str
        Further files of the report, by name.
    """

    title: str
    note: str = ""
    lead: str = ""
    tiles: Sequence[Tile] = ()
    before: Sequence[Block] = ()
    after: Sequence[Block] = ()
    facts: Sequence[tuple[str, str]] = ()
    compare: Callable[[str, tuple[str, ...]], str] | None = None
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """How the figures came about.

    Attributes
    ----------
    command : str
        What was typed.
    workers : int
        Number of processes; 0 if nothing was computed.
    seconds : float
        Wall-clock time of the run.
    reused : int
        Tasks taken from an earlier run.
    failed : mapping of str to str
        Traceback of every task that failed, by its name.
    stale : sequence of str
        For every result that is used though it is stale: what has changed since.
    computing : mapping of str to float
        Seconds of computing by experiment, all workers together, where known.
    ran : int
        Tasks run for this report.
    """

    command: str
    workers: int = 0
    seconds: float = 0.0
    reused: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    stale: Sequence[str] = ()
    computing: Mapping[str, float] = field(default_factory=dict)
    ran: int = 0

    @property
    def warning(self) -> str:
        """Say that stale results were used, and what has changed since; empty if none were."""
        if not self.stale:
            return ""
        kinds = list(dict.fromkeys(self.stale))
        told = "; ".join(kinds[:_MOST_CHANGES]) + ("; …" if len(kinds) > _MOST_CHANGES else "")
        verb = "is" if len(self.stale) == 1 else "are"
        return f"{plural(len(self.stale), 'result')} {verb} stale and used on request: {told}."


def write_report(
    study: Study,
    tables: Mapping[str, Iterable[Row]],
    out: Path,
    provenance: Provenance,
    force: bool = False,
) -> Path:
    """Write the page and the tables under a folder, all or nothing; return the page's path.

    Parameters
    ----------
    study : Study
        Whose experiments' sections to show, and its cover.
    tables : mapping of str to rows
        The rows of every experiment, by its name; any may be missing or partial.
    out : Path
        Gets ``index.html``, which needs no other file, and ``tables/`` with each table as CSV and
        LaTeX, and whatever the cover adds.
    provenance : Provenance
        Goes into the page.
    force : bool
        Replace files that wayfield did not write, or that were changed since.

    Raises
    ------
    InputError
        If files of others are in the way. A report of an earlier version is not.
    """
    rows = as_records(tables)
    cover = study.cover(study, rows) if study.cover is not None else Cover(study.title)
    sections = [
        show(
            _checked(section, experiment.name),
            experiment.name,
            rows,
            cover.compare,
            experiment.lacks(),
            study.command(experiment),
        )
        for experiment in study.experiments
        for section in experiment.sections
    ]
    sections = [shown for shown in sections if not shown.empty or shown.findings]
    files = {**cover.files, **_table_files(sections)}
    files[_PAGE] = _page(study, cover, sections, rows, provenance)
    with Outbox(out, force or holds_earlier_report(out)) as outbox:
        for name, text in files.items():
            outbox.path(name).write_text(text, encoding="utf-8")
    return out / _PAGE


def holds_earlier_report(folder: Path) -> bool:
    """Whether a folder holds a report of a version that kept no list of what it wrote."""
    page = folder / _PAGE
    if (folder / MANIFEST).exists() or not page.is_file():
        return False
    with page.open("rb") as file:
        return _HEAD in file.read(1000)


def render(package: str, template: str, **context: Any) -> str:
    """Render a template that a package has in its folder ``templates``."""
    jinja2 = need("jinja2", "study")
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader(package), jinja2.PackageLoader("wayfield_study.report")]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text: str = environment.get_template(template).render(plural=plural, **context)
    return text


def _checked(section: Any, experiment: str) -> Section:
    if not isinstance(section, Section):
        kind = type(section).__name__
        raise InputError(
            f"a section of {experiment!r} is no wayfield_study.report.Section but a {kind}"
        )
    return section


def _table_files(sections: Sequence[Shown]) -> dict[str, str]:
    """Every table of our own as CSV and as LaTeX, by file name."""
    files = {}
    for shown in sections:
        for table in shown.tables:
            name = f"tables/{shown.section.id}-{table.name}"
            files[f"{name}.csv"] = as_csv(table)
            files[f"{name}.tex"] = as_latex(table)
    return files


def _page(
    study: Study,
    cover: Cover,
    sections: Sequence[Shown],
    tables: Tables,
    provenance: Provenance,
) -> str:
    packages = {name: metadata.version(name) for name in _PACKAGES}
    return render(
        "wayfield_study.report",
        "index.html.j2",
        study=study,
        cover=cover,
        sections=sections,
        findings=[finding for shown in sections for finding in shown.findings],
        provenance=provenance,
        facts=[*_circumstances(provenance), *cover.facts],
        experiments=[_experiment_line(name, rows, provenance) for name, rows in tables.items()],
        versions={"Python": platform.python_version(), **packages},
        today=dt.datetime.now(dt.UTC).date().isoformat(),
    )


def _circumstances(provenance: Provenance) -> list[tuple[str, str]]:
    minutes, seconds = divmod(round(provenance.seconds), 60)
    clock = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    spent = f"{clock} of wall clock for this run on {plural(provenance.workers, 'worker')}"
    return [
        (
            "tasks",
            f"{provenance.ran:,} run, {provenance.reused:,} taken from an earlier run, "
            f"{len(provenance.failed)} failed",
        ),
        ("time", spent if provenance.workers else "none for this report: its results were there"),
    ]


def _experiment_line(
    name: str, rows: Sequence[Row] | Any, provenance: Provenance
) -> dict[str, str]:
    """Tell the size of an experiment and the time it took, for one line of a table."""
    seconds = provenance.computing.get(name)
    told = "" if seconds is None else f"{seconds:,.0f} s"
    return {"name": name, "rows": f"{len(rows):,}", "seconds": told}
