"""Put the report together: tables and sentences from the figures, one page from a template."""

from __future__ import annotations

import datetime as dt
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from .._optional import need
from ..study import paper
from ..study.rollout import ARMS, EXACT, EXACT_EXIT, HARMONIC, PAPER_SWEEPS, SWEEPS
from ..study.statistics import BOOTSTRAP_SEED, RESAMPLES
from ..study.tables import Results
from .figures import field_pictures, phase_panel, slice_chart
from .verdicts import CLOSE, printed_success, signed, verdicts

_PACKAGES = ("wayfield", "numpy", "scipy", "numba", "matplotlib")


@dataclass(frozen=True)
class Provenance:
    """How the figures came about.

    Attributes
    ----------
    command : str
        What was typed.
    workers : int
        Number of processes.
    seconds : float
        Wall-clock time of the run.
    reused : int
        Cells taken from an earlier run.
    failed : mapping of str to str
        Traceback of every cell that failed, by the cell's name.
    """

    command: str
    workers: int
    seconds: float
    reused: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A line of a table: ours and the paper's, over some of the cells."""

    name: tuple[str, ...]
    harmonic: float
    sweeps: float
    exact: float
    exact_exit: float
    printed: paper.Row | None

    @property
    def lift(self) -> float:
        """Gain of AMLE stopped early over harmonic, in percentage points."""
        return 100 * (self.sweeps - self.harmonic)


def write_report(results: Results, out: Path, provenance: Provenance) -> Path:
    """Write ``index.html`` under `out` and return its path. The page needs no other file."""
    page = render(results, provenance)
    out.mkdir(parents=True, exist_ok=True)
    path = out / "index.html"
    path.write_text(page, encoding="utf-8")
    return path


def render(results: Results, provenance: Provenance) -> str:
    """Render the page."""
    jinja2 = need("jinja2", "study")
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("wayfield.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["signed"] = signed
    page: str = environment.get_template("index.html.j2").render(_context(results, provenance))
    return page


def _context(results: Results, provenance: Provenance) -> dict[str, Any]:
    cells = list(results.records)
    return {
        "title": paper.TITLE,
        "results": results,
        "arms": ARMS,
        "aggregates": _aggregates(results),
        "lift": results.lift(SWEEPS.name, HARMONIC.name),
        "paper": paper,
        "printed": {name: printed_success(results, name) for name in ("harmonic", "amle")},
        "budget": PAPER_SWEEPS,
        "verdicts": verdicts(results),
        "panels": _panels(results),
        "charts": _charts(results),
        "slices": [("r", _slice(results, "refinement")), ("lf", _slice(results, "label_fraction"))],
        "mazes": [(maze, _rows(results.where(maze=maze))) for maze in results.values("maze")],
        "picture": _picture(results),
        "goals": cells[0].goals,
        "starts": cells[0].starts,
        "seeds": results.values("seed"),
        "bootstrap": (RESAMPLES, BOOTSTRAP_SEED),
        "close": CLOSE,
        "provenance": provenance,
        "computing": results.figure("seconds").sum(),
        "versions": [("Python", platform.python_version())]
        + [(name, metadata.version(name)) for name in _PACKAGES],
        "today": dt.datetime.now(dt.UTC).date().isoformat(),
    }


def _aggregates(results: Results) -> list[dict[str, Any]]:
    """Lines of the main table; the paper's figures stand where all its cells are present."""
    whole = len(results.configurations) == len(paper.GRID)
    printed = {HARMONIC: paper.HARMONIC, SWEEPS: paper.AMLE} if whole else {}
    return [
        {
            "arm": arm,
            "estimate": results.estimate(arm.name),
            "wilson": results.wilson(arm.name),
            "all_starts": results.all_starts(arm.name),
            "boundary": results.boundary_share(arm.name),
            "failing": results.total("pairs") - results.total(f"{arm.name}.reached"),
            "paper": printed.get(arm),
        }
        for arm in ARMS
    ]


def _panels(results: Results) -> list[tuple[str, str]]:
    return [
        ("Harmonic, exact", phase_panel(results, HARMONIC, "harmonic")),
        (
            f"AMLE stopped after {PAPER_SWEEPS} sweeps",
            phase_panel(results, SWEEPS, "amle"),
        ),
        ("AMLE, exact", phase_panel(results, EXACT, None)),
    ]


def _charts(results: Results) -> list[str]:
    fractions = {lf: paper.by_label_fraction(lf) for lf in paper.LIFT_BY_LABEL_FRACTION}
    return [
        slice_chart(results, "refinement", paper.BY_REFINEMENT),
        slice_chart(results, "label_fraction", fractions),
    ]


def _rows(results: Results) -> list[Row]:
    """One line per configuration."""
    return [
        _row((str(r), f"{lf:.2f}"), results.at((maze, r, lf)), paper.GRID.get((maze, r, lf)))
        for maze, r, lf in results.configurations
    ]


def _slice(results: Results, setting: str) -> list[Row]:
    """One line per value of a setting."""
    rows = []
    for value in results.values(setting):
        if setting == "refinement":
            printed = paper.BY_REFINEMENT.get(value)
        else:
            known = value in paper.LIFT_BY_LABEL_FRACTION
            printed = paper.by_label_fraction(value) if known else None
        rows.append(_row((f"{value:g}",), results.where(**{setting: value}), printed))
    return rows


def _row(name: tuple[str, ...], results: Results, printed: paper.Row | None) -> Row:
    success = results.mean_success
    return Row(
        name,
        harmonic=success(HARMONIC.name),
        sweeps=success(SWEEPS.name),
        exact=success(EXACT.name),
        exact_exit=success(EXACT_EXIT.name),
        printed=printed,
    )


def _picture(results: Results) -> dict[str, Any]:
    """Fields of the cell on which stopping early does worst, at a size that can be seen."""
    shown = min(results.values("refinement"), key=lambda r: abs(r - 8))
    reached = {
        cell: (record[f"{SWEEPS.name}.reached"], record[f"{HARMONIC.name}.reached"])
        for cell, record in results.where(refinement=shown).records.items()
    }
    cell = min(reached, key=lambda cell: reached[cell])
    return {"cell": cell, "fields": field_pictures(cell, (HARMONIC, SWEEPS, EXACT), SWEEPS)}
