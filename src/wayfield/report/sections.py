"""What a section of the report is made of, and how one is built from the rows at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..study.paper import TABLES
from ..study.tables import Rows
from .beyond import Plain
from .charts import Chart
from .claims import Claim
from .layout import View, view
from .pictures import Picture


@dataclass(frozen=True)
class Group:
    """Pictures side by side, what they show, and a key to their colours."""

    about: str
    pictures: list[Picture]
    kind: str
    key: str = ""


@dataclass(frozen=True)
class Spec:
    """What a section is made of.

    Attributes
    ----------
    id, title, about : str
        Anchor, heading, and a paragraph on what was done.
    experiments : tuple of str
        Those it needs.
    rows : function of the tables, optional
        Chooses the rows for the functions below; the first experiment's if not given.
    tables : mapping of str to tuple of str
        The paper's tables and the columns shown side by side; all if none are named.
    charts, plain, pictures, drawings : functions of Rows
        What to draw and which tables of our own to show.
    notes : tuple of str
        What a reader must know.
    """

    id: str
    title: str
    about: str
    experiments: tuple[str, ...]
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rows: Callable[[Mapping[str, Rows]], Rows] | None = None
    charts: Callable[[Rows], Sequence[Chart]] | None = None
    plain: Callable[[Rows], Sequence[Plain]] | None = None
    pictures: Callable[[Rows], Sequence[Group]] | None = None
    drawings: Callable[[Rows], Sequence[Chart]] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A section, ready for the page."""

    spec: Spec
    missing: str
    views: list[View]
    charts: Sequence[Chart]
    plain: Sequence[Plain]
    pictures: Sequence[Group]
    drawings: Sequence[Chart]


def build_section(spec: Spec, tables: Mapping[str, Rows], claims: Mapping[str, Claim]) -> Section:
    """Draw what the rows at hand allow."""
    absent = [name for name in spec.experiments if not len(tables.get(name, ()))]
    first = spec.experiments[0]
    rows = None
    if first not in absent:
        rows = tables[first] if spec.rows is None else spec.rows(tables)

    def drawn(make: Callable[[Rows], Sequence[Any]] | None) -> Sequence[Any]:
        return () if make is None or rows is None else make(rows)

    views = [view(TABLES[name], claims, columns) for name, columns in spec.tables.items()]
    return Section(
        spec,
        _say_missing(absent),
        views,
        charts=drawn(spec.charts),
        plain=drawn(spec.plain),
        pictures=drawn(spec.pictures),
        drawings=drawn(spec.drawings),
    )


def _say_missing(absent: Sequence[str]) -> str:
    if not absent:
        return ""
    which = " and ".join(f"“{name}”" for name in absent)
    return (
        f"Not run here: experiment {which}. The command wayfield reproduce --profile paper "
        "computes it."
    )
