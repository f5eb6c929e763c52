"""Tables and charts of our own: what the paper does not measure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from ..study.rollout import PAPER_SWEEPS
from ..study.tables import Rows
from .charts import LOOKS, Chart, against
from .words import power

_ARMS = ("harmonic", "sweeps", "p8", "amle", "amle_exit", "amle_trimmed", "nearest", "oracle")


@dataclass(frozen=True)
class Plain:
    """A table without figures of the paper.

    Attributes
    ----------
    name, title, note : str
        File name, heading, and what to know.
    heads : list of str
        Of the columns; the first names the rows.
    rows : list of list of str
        As shown.
    """

    name: str
    title: str
    heads: list[str]
    rows: list[list[str]]
    note: str = ""


def arm_tables(rows: Rows) -> list[Plain]:
    """All arms over all cells: success, failures over all starts, cost of the walks that reach."""
    lines = []
    for arm, chosen in rows.by("arm").items():
        failing = chosen.total("starts_all") - chosen.total("reached_all")
        cost = chosen.column("cost_all").sum() / max(chosen.column("least_cost_all").sum(), 1e-300)
        lines.append(
            [
                _title(str(arm)),
                f"{chosen.share('reached', 'pairs').mean():.4f}",
                f"{chosen.share('reached_all', 'starts_all').mean():.5f}",
                f"{failing:,}",
                f"{cost:.3f}",
            ]
        )
    heads = [
        "method",
        "success, sampled pairs",
        "success, all starts",
        "failing starts",
        "cost of walks that reach",
    ]
    note = (
        "“All starts” takes every start of every field instead of the sampled ones. Success is the "
        "mean over cells, failing starts are counted. Cost is the sum over the walks that reach, "
        "divided by the least possible."
    )
    return [Plain("arms", "All methods, all cells at hand", heads, lines, note)]


def sweep_tables(rows: Rows, column: str, title: str) -> list[Plain]:
    """Success of every arm by the values of a column, over sampled pairs."""
    arms = [arm for arm in _ARMS if arm in rows.values("arm")]
    groups = rows.by(column, "arm")
    lines = []
    for value in rows.values(column):
        shares = [
            groups[value, arm].share("reached", "pairs") for arm in arms if (value, arm) in groups
        ]
        lines.append([_say(value), *(f"{share.mean():.4f}" for share in shares)])
    heads = [_HEADS.get(column, column), *map(_title, arms)]
    cells = f"Means over {len(rows.cells)} cells."
    return [Plain(f"by-{column.replace('_', '-')}", title, heads, lines, cells)]


_HEADS = {"count": "labels", "sigma": "σ", "refinement": "r"}


def shared_counts(tables: Mapping[str, Rows]) -> Rows:
    """Keep the numbers of labels that every cell has been tried with."""
    rows = tables["sparse"]
    cells = len(rows.cells)
    common = [count for count, some in rows.by("count").items() if len(some.cells) == cells]
    return Rows.of(row for row in rows if row["count"] in common)


def sparse_charts(rows: Rows) -> list[Chart]:
    """Success against the number of labels."""
    arms = ("harmonic", "p8", "amle", "amle_exit")
    return [against(rows, "count", arms, "Success against the number of labels")]


def noise_charts(rows: Rows) -> list[Chart]:
    """Success against the noise."""
    arms = ("harmonic", "p8", "amle", "amle_trimmed")
    return [
        against(chosen, "sigma", arms, f"Success against noise, lf = {lf:g}", lambda s: f"σ {s:g}")
        for lf, chosen in rows.by("label_fraction").items()
    ]


def all_resolutions(tables: Mapping[str, Rows]) -> Rows:
    """Put the paper's resolutions before the finer ones, with the same labels and seeds."""
    finer, coarser = tables["resolution"], tables.get("rollout", Rows(()))
    fractions, seeds = finer.values("label_fraction"), finer.values("seed")
    arms, mazes = finer.values("arm"), finer.values("maze")
    alike = (
        row
        for row in coarser
        if row["arm"] in arms
        and row["maze"] in mazes
        and row["label_fraction"] in fractions
        and row["seed"] in seeds
    )
    return Rows((*alike, *finer))


def resolution_charts(rows: Rows) -> list[Chart]:
    """Success against resolution."""
    arms = ("harmonic", "amle", "amle_exit")
    return [against(rows, "refinement", arms, "Success on finer graphs", lambda r: f"r = {r}")]


def family_tables(rows: Rows) -> list[Plain]:
    """Tell success and the widest bracket along the whole family."""
    ends = {"sweeps": f"∞, {PAPER_SWEEPS} sweeps", "amle": "∞, exact"}
    lines = []
    for (p, arm), chosen in rows.by("p", "arm").items():
        width = float(chosen.column("width").max())
        lines.append(
            [
                ends.get(str(arm), f"{p:g}"),
                f"{chosen.share('reached', 'pairs').mean():.4f}",
                f"{chosen.share('reached_all', 'starts_all').mean():.5f}",
                "none" if width == inf else power(width),
            ]
        )
    heads = ["p", "success, sampled pairs", "success, all starts", "widest bracket"]
    note = (
        "Success is the mean over cells. Widths are relative to the range of the labels, the "
        "widest over all cells and goals."
    )
    return [Plain("family", "The p-family, certified", heads, lines, note)]


def solver_tables(rows: Rows) -> list[Plain]:
    """Tell what each solver claims, and how far it is from the certified field."""
    lines = []
    for (p, arm), chosen in rows.by("p", "arm").items():
        lines.append(
            [
                f"p = {p:g}, {_SOLVERS.get(str(arm), str(arm))}",
                f"{chosen.ratio('reached', 'pairs'):.3f}",
                f"{chosen.total('converged')} of {chosen.total('solves')}",
                power(float(chosen.column("fixed_point").mean())),
                power(float(chosen.column("gap").max())),
                power(float(chosen.column("error").max())),
            ]
        )
    heads = ["solver", "success", "converged, it says", "residual", "largest gap", "largest error"]
    note = (
        "Gap: relative duality gap of the energy. Error: largest distance from the certified "
        "field, relative to the range of the labels."
    )
    return [
        Plain(
            "solver-errors", "What the solvers claim, and how far off they are", heads, lines, note
        )
    ]


_SOLVERS = {
    "lbfgs": "L-BFGS-B",
    "picard": "fixed point",
    "newton": "Newton-CG",
    "certified": "certified",
}


def search_tables(rows: Rows) -> list[Plain]:
    """Tell the adversarial search by lattice and way of solving."""
    lines = []
    for maze, chosen in rows.where(table="search").by("maze").items():
        figures = {str(row["quantity"]): int(row["value"]) for row in chosen}
        ways = [f"{figures[f'witnesses_{way}']}" for way in ("swept", "exact", "exit")]
        lines.append(
            [
                str(maze).removeprefix("lattice-").replace("x", " × "),
                f"{figures['tested']:,}",
                *ways,
            ]
        )
    if not lines:
        return []
    heads = ["lattice", "candidates", "witnesses, sweeps", "exact, index ties", "exact, exit ties"]
    return [
        Plain(
            "search-ways",
            "Graphs on which harmonic beats AMLE, by how the AMLE is solved",
            heads,
            lines,
        )
    ]


def tie_tables(rows: Rows) -> list[Plain]:
    """Success by lengths, rule, tie rule and tolerance."""
    lines = []
    for (lengths, rule, ties, tolerance), chosen in rows.by(
        "lengths", "rule", "ties", "tolerance"
    ).items():
        failing = chosen.total("starts_all") - chosen.total("reached_all")
        lines.append(
            [
                f"{lengths} lengths, {_RULES[str(rule)]}, {ties} ties"
                + (" within 10⁻⁹" if tolerance else ""),
                f"{chosen.share('reached', 'pairs').mean():.4f}",
                f"{chosen.share('reached_all', 'starts_all').mean():.5f}",
                f"{failing:,}",
            ]
        )
    heads = ["planner", "success, sampled pairs", "success, all starts", "failing starts"]
    note = "Success is the mean over cells, failing starts are counted."
    return [Plain("ties", "Exact AMLE by planner", heads, lines, note)]


_RULES = {"q": "argmin Q", "slope": "steepest descent"}


def _title(arm: str) -> str:
    return LOOKS[arm][0] if arm in LOOKS else arm


def _say(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
