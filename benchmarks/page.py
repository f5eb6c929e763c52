"""The page of the benchmarks, a function of stored figures: plots, and tables, as Markdown too.

Exponents are fitted to times in sweeps, from 10,000 vertices up, by least squares: a sweep is one
pass over the graph, measured beside every solve, so that a machine that is busier at one size than
at another does not show.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Callable, Iterable, Sequence
from html import escape
from importlib import metadata, resources
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.cells import METHODS, SHARE
from benchmarks.peer_solvers import PEERS, TARGET
from benchmarks.worlds import KINDS, LABELS

from wayfield_study.report.charts import Chart, Scale, Series, legend, line_chart, tag
from wayfield_study.report.tables import Table

Figures = Sequence[dict[str, Any]]

LOOKS = {
    "2-D grid": ("exact-line", "circle"),
    "2-D, whole": ("exact-line", "square"),
    "2-D, lognormal": ("exact-line", "triangle"),
    "3-D grid": ("harmonic", "circle"),
    "3-D, whole": ("harmonic", "square"),
    "4-regular": ("exit", "circle"),
    "preferential": ("sweeps", "diamond"),
    "geometric": ("line-c", "triangle"),
    "true": ("exact-line", "circle"),
    "random": ("harmonic", "circle"),
}
TITLES = {
    "2-D grid": "2-D grid, 10 % obstacles",
    "2-D, whole": "2-D grid, whole lengths 1–8",
    "2-D, lognormal": "2-D grid, lognormal lengths",
    "3-D grid": "3-D grid",
    "3-D, whole": "3-D grid, whole lengths 1–8",
    "4-regular": "random 4-regular",
    "preferential": "preferential attachment",
    "geometric": "geometric, Euclidean lengths",
    "true": "true labels",
    "random": "random labels",
}
TASKS = {
    "amle": "AMLE",
    "classes": "harmonic, two classes",
    "harmonic": "harmonic",
    "p": "p = 8",
    "paths": "shortest paths",
}
FIT_FROM = 9_000
"""Vertices from which exponents are fitted; below, fixed costs show."""
STATED = (1e-3, TARGET)
"""True errors, over the label range, to which times are given."""
OURS = ("ours", "bare", "bare_wall")
"""Our times: with the proof, without it, and without it in wall-clock time."""


def chosen(figures: Figures, **settings: object) -> list[dict[str, Any]]:
    """Return the figures with these settings, by size."""
    found = [f for f in figures if all(f[name] == value for name, value in settings.items())]
    return sorted(found, key=lambda f: (f["vertices"], f["share"]))


def exponent(figures: Figures) -> float:
    """Return the power of n that the times grow like; NaN if there are too few."""
    large = [f for f in figures if f["vertices"] >= FIT_FROM]
    if len({f["vertices"] for f in large}) < 2:
        return math.nan
    sweeps = [f["seconds"] / f["sweep"] for f in large]
    return 1.0 + float(np.polyfit(np.log([f["vertices"] for f in large]), np.log(sweeps), 1)[0])


# ------------------------------------------------------------------ charts


def against(
    figures: Figures,
    title: str,
    column: str,
    along: Callable[[dict[str, Any]], float],
    names: tuple[str, str],
    split: str = "kind",
) -> Chart | None:
    """Draw a column against something, on logarithmic axes, a line for each kind."""
    lines = []
    for kind in dict.fromkeys(f[split] for f in figures):
        points = [(math.log10(along(f)), f[column]) for f in figures if f[split] == kind]
        points = [(x, max(y, 1e-17)) for x, y in points if y is not None]
        if points:
            colour, shape = LOOKS.get(
                kind, ("exact-line" if kind == "true" else "harmonic", "circle")
            )
            lines.append(Series(TITLES.get(kind, f"{kind} labels"), colour, points, shape=shape))
    values = [y for line in lines for _, y in line.points]
    if not values:
        return None
    low, high = (10.0 ** round_(math.log10(v)) for round_, v in
                 ((math.floor, min(values)), (math.ceil, max(values))))  # fmt: skip
    places = [x for line in lines for x, _ in line.points]
    first, last = math.floor(min(places) + 0.05), math.ceil(max(places) - 0.05)
    ticks = [(float(place), f"10^{place}") for place in range(first, last + 1)]
    scale = Scale(low, high if high > low else 10 * low, log=True)
    drawn = line_chart(lines, ticks, title, scale, names)
    return Chart(title, drawn, legend(lines))


def charts(ours: Figures) -> list[tuple[str, list[Chart]]]:
    """All charts, by the heading they stand under."""
    usual = [f for f in ours if f["share"] == SHARE]
    ordered = [f for kind in KINDS for f in chosen(usual, kind=kind)]

    def by_size(method: str, labels: str, column: str, name: str) -> Chart | None:
        figures = [f for f in ordered if f["method"] == method and f["labels"] == labels]
        title = f"{method}, {labels} labels"
        return against(figures, title, column, lambda f: f["vertices"], ("vertices", name))

    shares = sorted({f["size"] for f in ours if f["share"] != SHARE})
    by_share = [
        against(
            [f for f in ours if f["kind"] == kind and f["size"] in shares and f["method"] == "AMLE"
             and f["labels"] != "noisy"],
            f"AMLE, {TITLES[kind]}", "seconds", lambda f: 100 * f["share"],
            ("labels, % of the vertices", "seconds"), "labels",
        )
        for kind in ("2-D grid", "3-D grid")
    ]  # fmt: skip
    groups = {
        "Time, by kind of labels": [
            by_size("AMLE", labels, "seconds", "seconds") for labels in LABELS
        ],
        "Proved error, as a share of the label range": [
            by_size("AMLE", labels, "error", "error") for labels in LABELS
        ],
        "Few labels and many": by_share,
        "Harmonic and p-Laplacian": [
            by_size(method, labels, "seconds", "seconds")
            for method in ("harmonic", "p = 8")
            for labels in ("true", "random")
        ],
    }
    return [(title, [c for c in drawn if c is not None]) for title, drawn in groups.items()]


# ------------------------------------------------------------------ tables


def our_table(ours: Figures, method: str) -> Table | None:
    """Return one method on every kind of graph and labels, at the largest size all kinds have."""
    usual = [f for f in ours if f["share"] == SHARE and f["method"] == method]
    sizes = sorted(
        size
        for size in {f["size"] for f in usual}
        if {f["kind"] for f in usual if f["size"] == size} == set(KINDS)
    )
    if not sizes:
        return None
    rows = []
    for kind in KINDS:
        for labels in LABELS:
            family = chosen(usual, kind=kind, labels=labels)
            for f in chosen(family, size=sizes[-1]):
                rows.append(
                    [
                        TITLES[kind], labels, f"{f['vertices']:,}", seconds(f["seconds"]),
                        f"{f['seconds'] / f['sweep']:.0f}", power(f["error"]),
                        number(exponent(family), ".2f"), number(f["bytes_per_vertex"], ".0f"),
                    ]
                )  # fmt: skip
    heads = ["graph", "labels", "vertices", "time", "in sweeps", "proved error", "exponent in n",
             "bytes per vertex"]  # fmt: skip
    note = (
        "A sweep is one plain midrange sweep on the same graph, by lengths where it has some, and "
        "exponents are those of times in sweeps, one pass each. The error is proved, as a share of "
        "the label range. Bytes are the peak of the solve beyond the graph and the labels."
    )
    return Table(method, f"{method} with bracket, {SHARE:.0%} labels", heads, rows, note)


def size_table(ours: Figures) -> Table | None:
    """Return how the AMLE grows on the plane grid with true labels."""
    family = chosen(ours, kind="2-D grid", labels="true", share=SHARE, method="AMLE")
    rows = [
        [f"{f['vertices']:,}", seconds(f["seconds"]), f"{f['seconds'] / f['sweep']:.0f}",
         power(f["error"]), number(f["bytes_per_vertex"], ".0f")]
        for f in family
    ]  # fmt: skip
    heads = ["vertices", "time", "in sweeps", "proved error", "bytes per vertex"]
    return Table("sizes", "AMLE on the 2-D grid, true labels", heads, rows) if rows else None


def reached(found: dict[str, Any], error: float) -> dict[str, Any] | None:
    """Return the quickest setting of a peer whose true error is this small, if any is."""
    good = [rung for rung in found["rungs"] if rung["error"] <= error]
    return min(good, key=lambda rung: rung["seconds"]) if good else None


def verdict(found: dict[str, Any]) -> str:
    """Say in a few words how a peer did."""
    best = reached(found, TARGET)
    if best is not None:
        return f"{seconds(best['seconds'])}, {ratios(found, best['seconds'])} ours"
    if found["rungs"]:
        least = min(rung["error"] for rung in found["rungs"])
        return f"true error {least:.1e} at best; {found['stopped'] or 'no tighter setting'}"
    return found["stopped"]


def times(found: dict[str, Any]) -> str:
    """Write what it took us, in as many ways as are known."""
    return " / ".join(seconds(found[what]) for what in OURS if what in found)


def ratios(found: dict[str, Any], taken: float) -> str:
    """Write how many times as long a peer took as we did, in the same ways."""
    return " / ".join(ratio(taken / found[what]) for what in OURS if what in found)


def peer_table(theirs: Figures, missing: dict[str, str]) -> Table | None:
    """Return what every peer took to true errors, beside what we took on the same problem."""
    rows = []
    for found in sorted(
        theirs, key=lambda f: (list(TASKS).index(f["task"]), f["kind"], f["labels"])
    ):
        cells = []
        for error in STATED:
            best = reached(found, error)
            told = f"not in {found['limit']:g} s" if found["stopped"] else "never"
            if best is not None:
                told = f"{seconds(best['seconds'])} ({ratios(found, best['seconds'])})"
            cells.append(told)
        last = min(found["rungs"], key=lambda rung: rung["error"], default=None)
        version = f" {last['version']}" if last else ""
        says = last["says"] if last else found["stopped"]
        first = found["rungs"][0] if found["rungs"] else None
        usual = f"{power(first['error'])} in {seconds(first['seconds'])}" if first else "–"
        rows.append(
            [f"{TASKS[found['task']]}, {found['kind']}, {found['labels']}",
             f"{found['peer']}{version}", times(found), usual, *cells,
             power(last["error"]) if last else "–", says]
        )  # fmt: skip
    for package, reason in missing.items():
        names = [name for name, (_, needs, _) in PEERS.items() if needs == package]
        told = ", ".join(names) or package
        rows.append([f"{package} did not install", told, "", "", "", "", "", reason])
    heads = [
        "problem",
        "peer",
        "ours",
        "peer, as it comes",
        *(f"peer to {power(error)}" for error in STATED),
        "its least error",
        "what it says of its accuracy",
    ]
    note = (
        "Errors are true ones, as shares of the label range, measured against our bracketed "
        "fields, which are exact to about 1e-15 in the time given. Times are processor times, all "
        "threads together. Ours include the bracket; for extensions that can do without it, times "
        "without it are given too, also in wall-clock time. Ratios are to our times. Unit "
        "lengths, 2 % labels. “Never”: no setting of the peer gets that close."
    )
    return Table("peers", "Peers, on the same problems in the same run", heads, rows, note)


def process_row(found: dict[str, Any]) -> list[str]:
    """Write what a process took us, and what it took Storm, as a ratio to ours as well."""
    ours, cells = found["ours"], []
    for name, kind in (("1e-06", "sound"), ("1e-09", "sound"), ("1e-06", "as it comes")):
        storm = storm_answer(found, kind, name)
        told = f"not in {found['limit']:g} s" if "stopped" in storm else found["died"] or "it died"
        if "seconds" in storm:
            told = f"{seconds(storm['seconds'])} ({ratio(storm['seconds'] / ours[name])})"
        cells.append(told)
    sure, usual = (storm_answer(found, kind, "1e-09") for kind in ("sound", "as it comes"))
    width = power(sure.get("width"))
    if not sure.get("holds", True):
        width += ", false"
    return [
        found["model"] + (" *" if found["held_out"] else ""),
        f"{found['states']:,}",
        " / ".join(seconds(ours[name]) for name in ours),
        *cells[:2],
        width,
        cells[2],
        power(storm_answer(found, "as it comes", "1e-06").get("error")),
        power(usual.get("error")),
        power(found["width"]),
        str(found["rounds"]),
    ]


def storm_answer(found: dict[str, Any], kind: str, accuracy: str) -> dict[str, Any]:
    """Return Storm's answer to one question; empty if there is none."""
    asked = [s for s in found["storm"] if s["kind"] == kind and f"{s['accuracy']:.0e}" == accuracy]
    return asked[-1] if asked else {}


def process_table(found: Figures) -> Table | None:
    """Return expected costs of Markov decision processes, beside Storm's."""
    if not found:
        return None
    rows = [process_row(each) for each in found]
    for held_out in (False, True):
        group = [f for f in found if f["held_out"] == held_out]
        means = []
        for name, kind in (("1e-06", "sound"), ("1e-09", "sound"), ("1e-06", "as it comes")):
            # an answer that did not come in time took longer than the limit
            least = [
                storm_answer(f, kind, name).get("seconds", f["limit"]) / f["ours"][name]
                for f in group
            ]
            solved = sum("seconds" in storm_answer(f, kind, name) for f in group)
            mean = ratio(float(np.exp(np.mean(np.log(least))))) if least else "–"
            least_of_all = ratio(min(least)) if least else "–"
            means.append(f"{mean}, least {least_of_all}; {solved} of {len(group)} solved")
        label = "geometric mean" + (" *" if held_out else "")
        if group:
            rows.append([label, "", "", *means[:2], "", means[2], "", "", "", ""])
    heads = [
        "process", "states", "ours to 1e-6 / 1e-9 / by default", "Storm sound, 1e-6",
        "Storm sound, 1e-9", "width of its bounds", "Storm as it comes, 1e-6", "its true error",
        "its true error, asked for 1e-9", "our width by default", "our rounds",
    ]  # fmt: skip
    note = (
        "Processor times of the answer, the model being built, the least of several; ratios are "
        "Storm's time over ours for the same accuracy. Errors and widths are relative, the largest "
        "over all states. By default we stop at the last place of a double. Models with a * were "
        "made after the constants of the solver had first been fixed; constants changed since "
        "were chosen with all models in view. In means, what Storm did not solve counts as the "
        "time it was given."
    )
    return Table("processes", "Expected cost beside Storm", heads, rows, note)


def known_table(found: dict[str, Any]) -> Table:
    """Return answers to models whose solution is known in closed form."""
    rows = []
    for line in found["known"]:
        ours = found["ours"][line["model"]]
        bounds = line.get("bounds")
        rows.append(
            [line["model"], f"Storm {line['version']}, {line['kind']}", f"{line['exact']:.10g}",
             f"{line['value']:.10g}",
             f"{bounds[0]:.10g} to {bounds[1]:.10g}" if bounds else "nothing",
             ours if isinstance(ours, str) else f"{ours[0]:.16g} to {ours[1]:.16g}"]
        )  # fmt: skip
    heads = ["process", "peer", "exact", "its answer", "what it says of its accuracy", "ours"]
    note = "Both were asked for a relative error of 1e-6, Storm's default; ours are brackets."
    return Table("known", "Answers in closed form, beside Storm", heads, rows, note)


def seconds(value: float) -> str:
    """Write a time to two digits."""
    if value >= 100:
        return f"{value:.0f} s"
    return f"{value:.2g} s" if value >= 0.1 else f"{1000 * value:.2g} ms"


def ratio(value: float) -> str:
    return f"{value:.0f}×" if value >= 10 else f"{value:.2g}×"


def power(value: float | None) -> str:
    """Write a small number."""
    if value is None:
        return "–"
    return f"{value:.0e}" if value > 0 else "0"


def number(value: float | None, style: str) -> str:
    return "–" if value is None or math.isnan(value) else format(value, style)


# ------------------------------------------------------------------ the files


def write(
    out: Path,
    profile: str,
    ours: Figures,
    theirs: Figures,
    missing: dict[str, str],
    processes: Figures = (),
) -> list[Path]:
    """Write the page and the tables as Markdown."""
    out.mkdir(parents=True, exist_ok=True)
    tables = [
        table
        for table in (
            size_table(ours),
            *(our_table(ours, method) for method in METHODS),
            peer_table(theirs, missing) if theirs or missing else None,
            process_table([f for f in processes if "model" in f]),
            *(known_table(f) for f in processes if "known" in f),
        )
        if table is not None
    ]
    html, markdown = out / "benchmarks.html", out / "benchmarks.md"
    html.write_text(_html(profile, tables, charts(ours)), encoding="utf-8")
    markdown.write_text("\n\n".join(map(as_markdown, tables)) + "\n", encoding="utf-8")
    return [html, markdown]


def as_markdown(table: Table) -> str:
    """Write a table for the documentation."""
    lines = [table.heads, ["---"] * len(table.heads), *table.rows]
    body = "\n".join("| " + " | ".join(row) + " |" for row in lines)
    return f"### {table.title}\n\n{body}" + (f"\n\n{table.note}" if table.note else "")


def _html(profile: str, tables: Iterable[Table], groups: Iterable[tuple[str, list[Chart]]]) -> str:
    style = (
        resources.files("wayfield_study.report")
        .joinpath("templates", "style.css")
        .read_text("utf-8")
    )
    packages = ("wayfield", "numpy", "scipy", "numba")
    used = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    parts = [
        f'<p class="kicker">{escape(used)} · profile “{profile}” · {dt.date.today():%d %B %Y}</p>',
        "<h1>wayfield: time and true error</h1>",
        '<p class="lead">Ratios on this page were taken side by side. Errors are true errors: '
        "ours are proved by brackets, those of peers measured against them. Seconds depend on the "
        "machine and on who else uses it; ratios and exponents much less.</p>",
    ]
    for title, drawn in groups:
        if drawn:
            figures = "".join(
                f"<figure><figcaption>{escape(c.title)}</figcaption>{c.svg}</figure>" for c in drawn
            )
            key = max((c.legend for c in drawn), key=len)  # one for all: a kind looks alike in all
            parts.append(f'<h2>{escape(title)}</h2><div class="charts">{figures}</div>{key}')
    parts += ["<h2>Tables</h2>", *map(_table_html, tables)]
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"<title>wayfield: benchmarks</title><style>{style}</style></head>"
        f"<body><main>{body}</main></body></html>\n"
    )


def _table_html(table: Table) -> str:
    columns = list(zip(*table.rows, strict=True))
    aligned = ["", *("num" if all(map(_is_number, each)) else "" for each in columns[1:])]

    def line(cells: Sequence[str], kind: str) -> str:
        marked = zip(cells, aligned, strict=True)
        return tag("tr", "".join(tag(kind, escape(cell), class_=name) for cell, name in marked))

    head = tag("thead", line(table.heads, "th"))
    body = tag("tbody", "".join(line(row, "td") for row in table.rows))
    note = tag("p", escape(table.note), class_="note") if table.note else ""
    grid = tag("div", tag("table", head + body), class_="scroll")
    return tag("h3", escape(table.title)) + grid + note


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or cell in ("–", "")
