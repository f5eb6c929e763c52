"""What a section of a report is made of, and how one is put together from the rows at hand."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..engine.records import NO_ROWS, Records, Tables
from .charts import Chart
from .pictures import Gallery
from .tables import Table

Mark = Literal["reproduced", "differs", "artefact", "new", "partial"]
_LABELS: dict[Mark, str] = {
    "reproduced": "reproduced",
    "differs": "differs",
    "artefact": "solver artefact",
    "new": "new",
    "partial": "these cells only",
}


@dataclass(frozen=True)
class Finding:
    """Something the numbers say.

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

    @property
    def label(self) -> str:
        """The mark in words."""
        return _LABELS[self.mark]


@dataclass(frozen=True)
class Section:
    """A section: its words, and functions from an experiment's rows to what is shown of them.

    Attributes
    ----------
    id, title, about : str
        Anchor, heading, and a paragraph on what was done.
    compared : mapping of str to tuple of str
        Published tables to set ours beside, and the columns to show; all if none are named.
    rows : function of the tables, optional
        Chooses the rows for the functions below; the experiment's own if not given.
    charts, drawings, tables, galleries : functions of Records
        What to draw, and which tables of our own to show.
    findings : function of Records
        What the numbers say, for the top of the page.
    notes : tuple of str
        What a reader must know.
    """

    id: str
    title: str
    about: str
    compared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: Callable[[Tables], Records] | None = None
    charts: Callable[[Records], Iterable[Chart]] | None = None
    drawings: Callable[[Records], Iterable[Chart]] | None = None
    tables: Callable[[Records], Iterable[Table]] | None = None
    galleries: Callable[[Records], Iterable[Gallery]] | None = None
    findings: Callable[[Records], Iterable[Finding]] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Shown:
    """A section with everything that the rows at hand allow, ready for the page.

    `lack` is what has to be installed before it can be run, and `command` what then runs it.
    """

    section: Section
    missing: bool
    lack: str | None
    command: str
    compared: Sequence[str]
    charts: Sequence[Chart]
    drawings: Sequence[Chart]
    tables: Sequence[Table]
    galleries: Sequence[Gallery]
    findings: Sequence[Finding]

    @property
    def empty(self) -> bool:
        """Whether it was run and yet has nothing to show, as where nothing is compared."""
        parts = (self.compared, self.charts, self.drawings, self.tables, self.galleries)
        return not (self.missing or any(parts))


def show(
    section: Section,
    experiment: str,
    tables: Tables,
    compare: Callable[[str, tuple[str, ...]], str] | None = None,
    lack: str | None = None,
    command: str = "",
) -> Shown:
    """Draw what the rows at hand allow.

    Parameters
    ----------
    section : Section
        What to show.
    experiment : str
        Name of the experiment it belongs to.
    tables : mapping of str to Records
        The rows at hand.
    compare : function of a table's name and columns, optional
        Writes a published table with ours beside it, as HTML.
    lack : str, optional
        What the experiment needs and is not installed.
    command : str
        What to type to run it.
    """
    missing = not len(tables.get(experiment, NO_ROWS))
    rows = NO_ROWS
    if not missing:
        rows = tables[experiment] if section.rows is None else section.rows(tables)

    def drawn(make: Callable[[Records], Iterable[Any]] | None) -> list[Any]:
        return [] if make is None or missing else list(make(rows))

    return Shown(
        section,
        missing,
        lack,
        command,
        [] if compare is None else [compare(*entry) for entry in section.compared.items()],
        charts=drawn(section.charts),
        drawings=drawn(section.drawings),
        tables=drawn(section.tables),
        galleries=drawn(section.galleries),
        findings=drawn(section.findings),
    )
