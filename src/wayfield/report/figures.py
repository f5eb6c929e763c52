"""The report's pictures: inline SVG that takes its ink from the page, and fields as PNG.

SVG text stays text, in the page's font; everything drawn in `PAGE_INK` becomes ``currentColor``,
so that one file serves a light page and a dark one.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import plots
from .._optional import need
from ..extension import extend, extend_many
from ..layouts import load_layout
from ..plan import plan
from ..study import paper
from ..study.cells import Cell, draw
from ..study.rollout import EXACT, HARMONIC, SWEEPS, Arm
from ..study.tables import Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAGE_INK = "#123456"
"""Stands for the page's own text colour."""
ARM_COLOURS = {"harmonic": "#d95f43", "sweeps": "#e0a030", "amle": "#2f86b5"}
_SUCCESS_COLOURS = ("#7d2342", "#c2513f", "#e79a4f", "#f3dca0", "#9fcbd0", "#2b7fa3")
_SVG = {"svg.fonttype": "none", "svg.hashsalt": "wayfield", "font.size": 10.0}


def phase_panel(results: Results, arm: Arm, printed: str | None) -> str:
    """Success of one arm by maze, r and lf, with the paper's figure under ours; SVG.

    Parameters
    ----------
    printed : {"harmonic", "amle", None}
        Which of the paper's figures to show.
    """
    mazes, sizes = results.values("maze"), results.values("refinement")
    fractions = results.values("label_fraction")
    with _style():
        figure = _figure(4.1, 0.62 * len(sizes) * len(mazes) + 0.75)
        for ax, maze in zip(np.atleast_1d(figure.subplots(len(mazes), 1)), mazes, strict=True):
            chosen = results.where(maze=maze)
            shares = [
                [chosen.at((maze, r, lf)).mean_success(arm.name) for lf in fractions] for r in sizes
            ]
            _heat_map(ax, np.array(shares))
            for row, r in enumerate(sizes):
                for column, lf in enumerate(fractions):
                    theirs = getattr(paper.GRID.get((maze, r, lf)), printed or "", None)
                    _write_share(ax, (column, row), shares[row][column], theirs)
            ax.set_yticks(range(len(sizes)), [f"r = {r}" for r in sizes])
            ax.set_xticks(range(len(fractions)), [f"lf {lf:g}" for lf in fractions])
            ax.set_title(maze, loc="left", fontsize=10, color=PAGE_INK)
        return _to_svg(figure, f"success of {arm.title} by maze, resolution and label fraction")


def slice_chart(results: Results, setting: str, printed: Mapping[Any, paper.Row]) -> str:
    """Success against r or lf: ours with intervals, the paper's as hollow marks; SVG."""
    values = results.values(setting)
    places = np.arange(len(values))
    with _style():
        figure = _figure(4.6, 3.0)
        ax = figure.subplots()
        for arm in (HARMONIC, SWEEPS, EXACT):
            found = [results.where(**{setting: value}).estimate(arm.name) for value in values]
            mean = np.array([each.mean for each in found])
            error = np.abs(np.array([[each.low, each.high] for each in found]).T - mean)
            colour = ARM_COLOURS[arm.name]
            ax.errorbar(places, mean, error, color=colour, lw=2, marker="o", ms=5, label=arm.title)
        for arm, method, name in ((HARMONIC, "harmonic", "harmonic"), (SWEEPS, "amle", "AMLE")):
            theirs = [getattr(printed[value], method) for value in values if value in printed]
            where = [place for place, v in zip(places, values, strict=True) if v in printed]
            look: dict[str, Any] = {"ls": "none", "marker": "D", "ms": 7, "mfc": "none"}
            ax.plot(where, theirs, color=ARM_COLOURS[arm.name], **look, label=f"paper, {name}")
        name = "r" if setting == "refinement" else "lf"
        ax.set_xticks(places, [f"{name} = {value:g}" for value in values])
        ax.set(ylim=(0, 1.05), ylabel="success", xlim=(-0.3, len(values) - 0.7))
        ax.legend(frameon=False, fontsize=8.5, labelcolor=PAGE_INK, loc="lower left", ncols=2)
        ax.grid(axis="y", color=PAGE_INK, alpha=0.15, lw=0.7)
        ax.spines[["top", "right"]].set_visible(False)
        return _to_svg(figure, f"success against {setting.replace('_', ' ')}")


def field_pictures(cell: Cell, arms: Sequence[Arm], worst_for: Arm) -> list[tuple[str, str]]:
    """Fields of one goal of a cell, an arm each: what to say under it, and a PNG as data URI.

    The goal is the one that the fewest starts reach under `worst_for`.
    """
    drawn = draw(cell)
    fields = extend_many(drawn.graph, drawn.labels, worst_for.method, workers=1)
    success = [
        plan(drawn.graph, each.values, int(goal), "q", worst_for.ties).success
        for each, goal in zip(fields, drawn.goals, strict=True)
    ]
    worst = int(np.argmin(success))
    goal, labels = int(drawn.goals[worst]), drawn.labels[worst]
    pictures = []
    for arm in arms:
        values = extend(drawn.graph, labels, arm.method).values
        outcome = plan(drawn.graph, values, goal, "q", arm.ties)
        rows, columns = load_layout(cell.maze).shape
        figure = _figure(6.4, 6.4 * (rows - 2) / (columns - 2))
        plots.field(drawn.graph, values, outcome, labels, figure.subplots(), colour_bar=False)
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", dpi=150)
        data = base64.b64encode(buffer.getvalue()).decode()
        caption = f"{arm.title}: {outcome.success:.1%} of the starts reach"
        pictures.append((caption, f"data:image/png;base64,{data}"))
    return pictures


def _style() -> Any:
    ink = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
    return need("matplotlib", "study").rc_context(_SVG | dict.fromkeys(ink, PAGE_INK))


def _figure(width: float, height: float) -> Figure:
    figure: Figure = need("matplotlib.figure", "study").Figure(
        (width, height), layout="constrained"
    )
    return figure


def _heat_map(ax: Axes, shares: np.ndarray[Any, np.dtype[np.float64]]) -> None:
    colours = need("matplotlib.colors", "study")
    scale = colours.LinearSegmentedColormap.from_list("success", _SUCCESS_COLOURS)
    edges = [np.arange(count + 1) - 0.5 for count in shares.shape]
    ax.pcolormesh(edges[1], edges[0], shares, cmap=scale, vmin=0, vmax=1, lw=1.5, ec="white")
    ax.invert_yaxis()
    ax.tick_params(length=0, pad=7)
    ax.spines[:].set_visible(False)


def _write_share(ax: Axes, place: tuple[float, float], ours: float, theirs: float | None) -> None:
    """Write our figure and the paper's into a cell, in ink that shows on its colour."""
    ink = "white" if ours < 0.42 or ours > 0.93 else "#16212c"
    x, y = place
    middle: dict[str, Any] = {"ha": "center", "va": "center", "color": ink}
    if theirs is None:
        ax.text(x, y, f"{ours:.3f}", fontsize=11, weight="bold", **middle)
    else:
        ax.text(x, y - 0.16, f"{ours:.3f}", fontsize=11, weight="bold", **middle)
        ax.text(x, y + 0.25, f"paper {theirs:.3f}", fontsize=7.5, **middle)


def _to_svg(figure: Figure, description: str) -> str:
    """Inline SVG: no prolog, scalable, page ink, and a description for screen readers."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'<svg([^>]*?) width="[^"]*"', r"<svg\1", text, count=1)
    text = re.sub(r'<svg([^>]*?) height="[^"]*"', r"<svg\1", text, count=1)
    text = text.replace(PAGE_INK, "currentColor")
    return text.replace("<svg", f'<svg role="img" aria-label="{description}"', 1)
