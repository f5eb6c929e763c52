"""A report: one page and its tables, a pure function of the rows that a study has stored.

Nothing is computed here but what a table or a chart needs to be drawn. Every `Section` belongs to
an experiment; a study's `Cover` has what comes before and after them.
"""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal

from wayfield.errors import InputError
from wayfield.graphs.tables import Outbox

from ..engine.records import NO_ROWS, Records, Tables, as_records
from ..engine.runner import Run
from ..engine.tasks import Experiment, Row, Study
from .charts import Chart, render
from .tables import Table, as_csv

_PACKAGES = ("wayfield", "numpy", "scipy", "numba", "matplotlib")
Mark = Literal["reproduced", "differs", "artefact", "new", "partial"]


# -------------------------------------------------------------------- sections


@dataclass(frozen=True)
class StudyFinding:
    """A statement about the numbers.

    Attributes
    ----------
    mark : str
        Whether it confirms, refutes, explains or adds.
    claim, text, scope : str
        What was claimed or asked, what was found, and on which cells.
    """

    mark: Mark
    claim: str
    text: str
    scope: str = ""


@dataclass(frozen=True)
class Section:
    """A section: its words, and functions from an experiment's rows to what is shown of them.

    Attributes
    ----------
    id, title : str
        Anchor and heading.
    about : str, or function of Records
        A paragraph on what was done.
    compared : mapping of str to sequence of str
        Published tables to set ours beside, and the columns to show; all if none are named.
    charts, drawings, tables : functions of Records
        What to draw, and which tables of our own to show.
    findings : function of Records
        What the numbers say, for the top of the page.
    notes : tuple of str
        What a reader must know.
    """

    id: str
    title: str
    about: str | Callable[[Records], str]
    compared: Mapping[str, Sequence[str]] = field(default_factory=dict)
    charts: Callable[[Records], Iterable[Chart]] | None = None
    drawings: Callable[[Records], Iterable[Chart]] | None = None
    tables: Callable[[Records], Iterable[Table]] | None = None
    findings: Callable[[Records], Iterable[StudyFinding]] | None = None
    notes: tuple[str, ...] = ()


# -------------------------------------------------------------------- before and after them


@dataclass(frozen=True)
class Block:
    """A part of the page outside the experiments: anchor, heading, and content as HTML."""

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
        Parts before and after the sections.
    facts : sequence of two texts each
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
    facts: Sequence[Sequence[str]] = ()
    compare: Callable[[str, Sequence[str]], str] | None = None
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Provenance:
    """How the figures came about.

    Attributes
    ----------
    command : str
        What was typed.
    run : Run
        Which tasks were run, reused, accepted though stale, or failed.
    workers : int
        Number of processes; 0 if nothing was computed.
    computing : mapping of str to float
        Seconds of computing by experiment, all workers together, where known.
    """

    command: str
    run: Run = field(default_factory=lambda: Run({}))
    workers: int = 0
    computing: Mapping[str, float] = field(default_factory=dict)


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
        Gets ``index.html``, which needs no other file, and ``tables/`` with each table as CSV,
        and whatever the cover adds.
    provenance : Provenance
        Goes into the page.
    force : bool
        Replace files that wayfield did not write, or that were changed since.

    Raises
    ------
    InputError
        If files that wayfield did not write are in the way.
    """
    rows = as_records(tables)
    cover = study.cover(study, rows) if study.cover is not None else Cover(study.title)
    sections = [
        shown
        for experiment in study.experiments
        for section in experiment.sections
        if (shown := _show(section, experiment, rows, cover, study.command(experiment)))
    ]
    files = dict(cover.files)
    for shown in sections:
        for table in shown["tables"]:
            name = f"tables/{shown['section'].id}-{table.name}"
            files[f"{name}.csv"] = as_csv(table)
    versions = {name: metadata.version(name) for name in _PACKAGES}
    files["index.html"] = render(
        "wayfield_study.report",
        "index.html.j2",
        study=study,
        cover=cover,
        sections=sections,
        findings=[finding for shown in sections for finding in shown["findings"]],
        provenance=provenance,
        rows={name: len(some) for name, some in rows.items()},
        versions={"Python": platform.python_version()} | versions,
        today=dt.datetime.now(dt.UTC).date().isoformat(),
    )
    with Outbox(out, force) as outbox:
        for name, text in files.items():
            outbox.path(name).write_text(text, encoding="utf-8")
    return out / "index.html"


def _show(
    section: Any, experiment: Experiment[Any], tables: Tables, cover: Cover, command: str
) -> dict[str, Any] | None:
    """Draw what the available rows allow; None if the experiment was run and shows nothing.

    `command` is what to type to run the experiment.
    """
    if not isinstance(section, Section):
        raise InputError(
            f"a section of {experiment.name!r} must be a wayfield_study.report.Section, got a "
            f"{type(section).__name__}"
        )
    rows = tables.get(experiment.name, NO_ROWS)
    missing = not len(rows)
    shown: dict[str, Any] = {"compared": []}
    if cover.compare is not None:
        shown["compared"] = [cover.compare(*entry) for entry in section.compared.items()]
    for part in ("charts", "drawings", "tables", "findings"):
        make: Callable[[Records], Iterable[Any]] | None = getattr(section, part)
        shown[part] = [] if make is None or missing else list(make(rows))
    if not missing and not any(shown.values()):
        return None
    shown["about"] = section.about(rows) if callable(section.about) else section.about
    return shown | {
        "section": section, "missing": missing, "lack": experiment.lacks(), "command": command
    }  # fmt: skip
