"""What experiments share: cells of settings, one section each, and methods side by side.

Figures are pooled over goals and seeds, and tables have a row for each arm.

A rate is a quotient of sums. Within a cell the sums are over goals. Then, for every seed, the mean
over cells is taken, or for a *pooled* rate the sums are over cells too, so that every decision
weighs the same. What is shown is the mean over seeds and its standard error: seeds are what is
independent. Cells that do not allow a rate (0 / 0) are left out.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib import resources
from itertools import cycle
from typing import Any, Literal, NamedTuple

import numpy as np

from wayfield.typing import FloatArray
from wayfield.words import number_of

from ..engine import Experiment, Profile, Records, Row
from ..engine.statistics import wilson_interval
from ..engine.tasks import C
from ..paper.figures import FIGURES, value
from ..paper.grid import CONFIGURATION, GRID, SEEDS, on_papers_mazes
from ..report import SHAPES, TONES, Figures, Look, Section, Series, Table
from .trial import EXACT, EXIT, HARMONIC, ORACLE, SWEEPS, title_of

LABELS = ("label_count", "label_fraction")
CELL = ("maze", "refinement", *LABELS, "seed", "goals")
"""Columns that tell cells apart."""
_FILE = resources.files(__package__).joinpath("words.toml")
WORDS: Mapping[str, Any] = tomllib.loads(_FILE.read_text("utf-8"))
"""Titles, profiles, paragraphs and notes of the studies and of the sections of their reports."""


@dataclass(frozen=True)
class Settings:
    """A cell: its fields are the settings of an experiment."""

    @property
    def columns(self) -> Row:
        """All settings."""
        return asdict(self)


def section(name: str, **shown: Any) -> Section:
    """Return a section of a report: its words in ``words.toml``, and what it shows of the rows."""
    return Section(name, **WORDS["sections"][name] | shown)


def make_experiment(
    name: str,
    version: int,
    run: Callable[[C], list[Row]],
    cells: Callable[[Profile], Sequence[C]],
    shown: Mapping[str, Any],
    **settings: Any,
) -> Experiment[C]:
    """Make an experiment with one section of the same name; `shown` is what that shows."""
    one = section(name.replace("_", "-"), **shown)
    return Experiment(name, one.title, version, run, cells, sections=(one,), **settings)


def share_of(part: str, total: str) -> Figures:
    """Return the figures "share of a count in another", with Wilson's interval."""

    def figures(rows: Records) -> tuple[float, float, float]:
        return rows.ratio(part, total), *wilson_interval(rows.total(part), rows.total(total))

    return figures


# -------------------------------------------------------------------- figures by arm


class Estimate(NamedTuple):
    """A mean over seeds, its standard error (NaN with one seed), and the number of seeds."""

    mean: float
    error: float
    seeds: int

    def text(self, digits: int, scale: float = 1.0) -> str:
        """Write it, with its error if that is known."""
        if not np.isfinite(self.mean):
            return "–"
        error = f" ± {scale * self.error:.{digits}f}" if np.isfinite(self.error) else ""
        mean = round(scale * self.mean, digits) + 0.0  # no negative zero
        return f"{mean:.{digits}f}{error}".replace("-", "−")


class Paired(NamedTuple):
    """A difference of two arms on the same cells, and in how many of them each is ahead."""

    difference: Estimate
    won: int
    lost: int
    tied: int


def over_seeds(rows: Records, part: str, whole: str, pooled: bool = False) -> Estimate:
    """Return the mean of a rate over seeds.

    Parameters
    ----------
    rows : Records
        Of one arm, one row for every cell.
    part, whole : str
        Columns whose quotient it is.
    pooled : bool
        Whether the sums are over the cells of a seed; by default the mean of their rates is taken.

    Examples
    --------
    >>> rows = [{"seed": seed, "reached": n, "pairs": 4} for seed, n in ((1, 2), (1, 4), (2, 4))]
    >>> over_seeds(Records.of(rows), "reached", "pairs")
    Estimate(mean=0.875, error=0.125, seeds=2)
    """
    if pooled:
        seeds = rows.by("seed").items()
        sums = [(k, *(some.column(name).sum() for name in (part, whole))) for k, some in seeds]
        rows = Records.of(dict(zip(("seed", part, whole), each, strict=True)) for each in sums)
    return _estimate(rows, _rates(rows, part, whole))


def paired(
    rows: Records, arm: str, base: str, part: str = "reached", whole: str = "pairs"
) -> Paired:
    """Compare a rate of two arms on the cells that both have.

    Examples
    --------
    >>> about = {"maze": "umaze", "refinement": 4, "label_fraction": 0.1, "label_count": 0}
    >>> rows = [
    ...     about | {"goals": 8, "seed": seed, "arm": arm, "reached": n, "pairs": 4}
    ...     for seed, arm, n in ((1, "a", 4), (1, "b", 2), (2, "a", 4), (2, "b", 4))
    ... ]
    >>> paired(Records.of(rows), "a", "b")
    Paired(difference=Estimate(mean=0.25, error=0.25, seeds=2), won=1, lost=0, tied=1)
    """
    first, second = (rows.where(arm=name).by(*CELL) for name in (arm, base))
    both = [cell for cell in first if cell in second]
    ours, theirs = (
        Records.of(row for cell in both for row in some[cell]) for some in (first, second)
    )
    apart = _rates(ours, part, whole) - _rates(theirs, part, whole)
    won, lost = int((apart > 0.0).sum()), int((apart < 0.0).sum())
    return Paired(_estimate(ours, apart), won, lost, len(both) - won - lost)


def _rates(rows: Records, part: str, whole: str) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return rows.column(part) / rows.column(whole)


def _estimate(rows: Records, figures: FloatArray) -> Estimate:
    known = np.isfinite(figures)
    seeds = rows.column("seed")[known]
    means = np.array([figures[known][seeds == seed].mean() for seed in np.unique(seeds)])
    if not means.size:
        return Estimate(np.nan, np.nan, 0)
    error = means.std(ddof=1) / np.sqrt(means.size) if means.size > 1 else np.nan
    return Estimate(float(means.mean()), float(error), means.size)


# -------------------------------------------------------------------- tables by arm


@dataclass(frozen=True)
class Rate:
    """A column of a table with a row for each arm.

    Attributes
    ----------
    part, whole : str
        Columns of the rows whose quotient it is.
    digits : int
        How many are shown.
    percent : bool
        Whether it is shown in per cent.
    printed : mapping of str to str
        Ids of the paper's figures, by the arm that stands for its method.
    pooled : bool
        Whether every decision weighs the same, in place of every cell.
    """

    part: str
    whole: str
    digits: int = 4
    percent: bool = False
    printed: Mapping[str, str] = field(default_factory=dict)
    pooled: bool = False

    def of(self, rows: Records) -> str:
        """Write the rate of some rows."""
        scale = 100.0 if self.percent else 1.0
        return over_seeds(rows, self.part, self.whole, self.pooled).text(self.digits, scale)


SUCCESS = Rate("reached", "pairs")
"""Share of the sampled pairs that reach the goal."""


def titles(arm: str, rows: Records) -> list[str]:
    """Return an arm's name for people, and its tie rule."""
    return [title_of(arm), rows.rows[0].get("ties", "index")]


def by_arm(
    rows: Records,
    name: str,
    title: str,
    rates: Mapping[str, Rate],
    note: str = "",
    counts: Mapping[str, Callable[[Records], str]] | None = None,
) -> Table:
    """Tabulate rates: a row for each method and tie rule, whatever methods there are.

    The paper's own figures stand beside ours where an arm's rows are on all of its cells alone.
    """
    groups = {str(arm): some for arm, some in rows.by("arm").items()}
    papers = {arm for arm, some in groups.items() if on_papers_grid(some)}
    beside = {head: papers & set(rate.printed) for head, rate in rates.items()}
    heads, lines = ["method", "ties"], []
    for head in rates:
        heads += [head, "paper"] if beside[head] else [head]
    for arm, some in groups.items():
        line = titles(arm, some)
        for head, rate in rates.items():
            line.append(rate.of(some))
            if beside[head]:
                line.append(FIGURES[rate.printed[arm]].text if arm in beside[head] else "")
        lines.append([*line, *(count(some) for count in (counts or {}).values())])
    return Table(name, title, [*heads, *(counts or {})], lines, f"{_pooled(rows)} {note}".strip())


def across(
    rows: Records,
    columns: Sequence[str],
    name: str,
    title: str,
    *rates: Rate,
    note: str = "",
    base: str = "",
) -> Table:
    """Tabulate rates: a row for each arm, a column for each value of some columns of the rows.

    With a `base`, differences from this arm on the same cells, and cells won and lost.
    """
    groups, lines = rows.by(*columns), []
    for arm, some in rows.by("arm").items():
        cells, line = some.by(*columns), titles(str(arm), some)
        for each in groups:
            if each not in cells:
                line.append("–")
            elif base:
                rate = rates[0]
                found = paired(groups[each], str(arm), base, rate.part, rate.whole)
                text = found.difference.text(rate.digits, 100.0 if rate.percent else 1.0)
                line.append(f"{text} ({found.won} : {found.lost})")
            else:
                line.append(" / ".join(rate.of(cells[each]) for rate in rates))
        lines.append(line)
    heads = ["method", "ties", *map(str, groups)]
    return Table(name, title, heads, lines, f"{_pooled(rows)} {note}".strip())


def labels_text(labels: Sequence[float]) -> str:
    """Name a number of labels besides the goal's, or a fraction.

    Examples
    --------
    >>> labels_text((1, 0.0)), labels_text((4, 0.0)), labels_text((0, 0.02))
    ('1 label', '4 labels', 'lf = 0.02')
    """
    count, fraction = labels
    return number_of(int(count), "labels") if count else f"lf = {fraction:g}"


def with_labels(rows: Records) -> Records:
    """Return the rows in the order of their labels, which a column ``labels`` names."""
    order = sorted(rows, key=lambda row: (row["label_fraction"], row["label_count"]))
    return Records.of(
        row | {"labels": labels_text((row["label_count"], row["label_fraction"]))} for row in order
    )


def looks_of(rows: Records) -> list[Look]:
    """Return how the arms of some rows are drawn, the oracle left out."""
    return [
        Look(
            str(arm),
            " ".join([title_of(str(arm)), "by exits" * str(arm).endswith(EXIT)]).strip(),
            tone,
            shape,
        )
        for arm, tone, shape in zip(rows.values("arm"), cycle(TONES), cycle(SHAPES), strict=False)
        if arm != ORACLE.name
    ]


def base_arm(rows: Records) -> str:
    """Return the arm to compare with: the exact AMLE if there is one, else the first."""
    arms = [str(arm) for arm in rows.values("arm")]
    return EXACT.name if EXACT.name in arms else arms[0]


def on_papers_grid(rows: Records) -> bool:
    """Whether the rows are on all of the paper's cells, and on no others."""
    cells = {((maze, r, lf), seed) for maze, r, _, lf, seed, _ in rows.distinct(*CELL)}
    return cells == {(cell, seed) for cell in GRID for seed in SEEDS}


def _pooled(rows: Records) -> str:
    """Return a sentence on what the figures are means over."""
    by_cells: dict[tuple[int, int], list[str]] = {}
    for arm, some in rows.by("arm").items():
        numbers = len(some.distinct(*CELL)), len(some.values("seed"))
        by_cells.setdefault(numbers, []).append(title_of(str(arm)))
    texts = []
    for (cells, seeds), arms in by_cells.items():
        who = "" if len(by_cells) == 1 else f" ({', '.join(dict.fromkeys(arms))})"
        texts.append(f"{number_of(cells, 'cells')} of {number_of(seeds, 'seeds')}{who}")
    spread = ", ± the standard error over seeds" if max(n for _, n in by_cells) > 1 else ""
    return f"Means over {'; '.join(texts)}{spread}."


# -------------------------------------------------------------------- success by arm


def shares(rows: Records, arm: str) -> FloatArray:
    """Share of the sampled pairs that reach, per cell."""
    return rows.where(arm=arm).share("reached", "pairs")


def success(rows: Records, arm: str) -> float:
    """Return the mean over cells of the share of sampled pairs that reach the goal."""
    return float(shares(rows, arm).mean())


def failing(rows: Records, arm: str, which: Literal["", "_all"] = "") -> int:
    """Count the sampled pairs, or all starts, that do not reach."""
    chosen = rows.where(arm=arm)
    return chosen.total("starts_all" if which else "pairs") - chosen.total(f"reached{which}")


# -------------------------------------------------------------------- the paper's figures


def printed_success(rows: Records, method: str) -> float | None:
    """Return the paper's mean over these configurations; None if it lacks one of them."""
    if not on_papers_mazes(rows):
        return None
    names = [f"grid-{m}/r{r}/lf{lf:.2f}/{method}" for m, r, lf in rows.distinct(*CONFIGURATION)]
    known = all(name in FIGURES for name in names)
    return float(np.mean([value(name) for name in names])) if known else None


def printed_series(rows: Records, column: str) -> list[Series]:
    """Return the paper's success by a column, on the same configurations, where it has them."""
    groups, found = rows.by(column), []
    for method, arm, name in (("harmonic", HARMONIC, "harmonic"), ("amle", SWEEPS, "AMLE")):
        means = [printed_success(groups[each], method) for each in rows.values(column)]
        points = [(float(k), mean) for k, mean in enumerate(means) if mean is not None]
        if points:
            found.append(Series(f"paper, {name}", arm.colour, points, (), "diamond", hollow=True))
    return found


def printed_points(
    rows: Records, names: Sequence[str], first: int = 0
) -> list[tuple[float, float]]:
    """Return the paper's figures by these ids, where it has them and the rows are on its mazes."""
    if not on_papers_mazes(rows):
        return []
    found = enumerate(names, first)
    return [(float(place), value(name)) for place, name in found if name in FIGURES]
