"""Fill the figures of the page about the paper from a report of ``wayfield study all``.

A figure on this page is followed by a comment that says where it comes from, such as
``0.970<!--main/amle/success paper-->``: the id of a claim, and its column. Columns: ``paper``,
``ours`` at the paper's budget, ``exact`` with solved fields, ``mean``, ``sd`` and ``z`` over many
draws. ``<!--run KEY-->`` is a figure of the run as a whole: see `summary`.

``python docs/figures.py report`` writes what the pages quote to ``docs/assets/note-claims.json``
and ``docs/assets/note-run.json``, and the figures into the pages. The tests compare pages and
files.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from pathlib import Path
from statistics import median
from typing import Any

from wayfield_study.paper.figures import FIGURES, number
from wayfield_study.paper.grid import SEEDS
from wayfield_study.paper.likelihood import GROUPS

DOCS = Path(__file__).parent
PAGES = [DOCS / "reading-the-paper.md"]
CLAIMS, RUN = DOCS / "assets" / "note-claims.json", DOCS / "assets" / "note-run.json"
BY_METHOD = (
    "certificates-premise", "certificates-bound", "certificates-corollary", "certificates-proved",
    "certificates-label-fidelity", "certificates-extrema", "certificates-audits",
    "certificates-success", "certificates-cost",
)  # fmt: skip
"""Tables with a row for each method that pages quote."""
QUOTED = re.compile(r"((?:[^\s(<>|]|\u00a0)+)<!--(\S+) (\S+)-->")
KEPT = (
    "id",
    "paper",
    "ours",
    "ours_exact",
    "mean",
    "sd",
    "draws",
    "z",
    "mark",
    "verdict",
    "same_as",
)
DRAWN = ("main/harmonic/success", *(f"finite-p/p{p}/success" for p in (4, 8, 16, "inf")))
"""What `examples/solved_fields.py` draws beside what the pages quote."""
SETTLED = ("exact", "set", "sentence")
"""Kinds of figures that are no measurements: settings, mathematics, statements in words."""


def summary(claims: list[dict[str, Any]], ranking: dict[str, Any]) -> dict[str, str]:
    """Return the figures of a run as a whole, as text: verdicts counted, readings ranked."""
    alone = [claim for claim in claims if not claim["same_as"]]
    measured = [claim for claim in alone if claim["kind"] not in SETTLED]
    found: dict[str, str] = {"claims": str(len(claims)), "restated": str(len(claims) - len(alone))}
    for name, some in (("independent", alone), ("empirical", measured)):
        found[name] = str(len(some))
        for mark in ("reproduced", "artefact", "close", "differs", "missing"):
            found[f"{name}/{mark}"] = str(sum(claim["mark"] == mark for claim in some))
        met = sum(claim["mark"] in ("reproduced", "artefact") for claim in some)
        there = sum(claim["mark"] != "missing" for claim in some)
        found[f"{name}/share"] = f"{100 * met / there:.0f}"
        found[f"{name}/measured"] = str(there)
    # judged on seeds on which nothing was fitted
    z = [c["z"] for c in measured if c["z"] is not None and c["draws"] > len(SEEDS)]
    if z:
        found["other-seeds/figures"] = str(len(z))
        found["other-seeds/variance"] = f"{sum(x * x for x in z) / len(z):.1f}"
        found["other-seeds/median"] = f"{median(x * x for x in z):.1f}"
        found["other-seeds/draws"] = str(max(c["draws"] for c in measured if c["draws"]))
    # by groups of tables
    groups = GROUPS | {"solvers": ("solvers", "solver-gradient"), "search": ("search",)}
    for group, tables in groups.items():
        some = [c for c in measured if c["id"].split("/")[0] in tables and c["mark"] != "missing"]
        met = sum(claim["mark"] in ("reproduced", "artefact") for claim in some)
        squares = sorted(claim["z"] ** 2 for claim in some if claim["z"] is not None)
        name = group.replace(" ", "-")
        found[f"group/{name}/figures"], found[f"group/{name}/met"] = str(len(some)), str(met)
        found[f"group/{name}/median"] = f"{median(squares):.1f}" if squares else "–"
    # the design of readings, best first
    design = ranking["readings"]
    for mark, place in (("adopted", [each["adopted"] for each in design].index(True)), ("next", 1)):
        lead, error = design[place]["behind"]
        found[f"reading/{mark}"] = signed(design[place]["score"])
        found[f"reading/{mark}/rank"] = str(place + 1)
        found[f"reading/{mark}/behind"], found[f"reading/{mark}/error"] = (
            f"{lead:.1f}",
            f"{error:.1f}",
        )
        found[f"reading/{mark}/met"] = f"{100 * design[place]['met']:.0f}"
    adopted, without = (
        next(each["reading"] for each in design if each["adopted"]),
        ranking["without"],
    )
    found["reading/readings"], found["reading/figures"] = str(len(design)), str(ranking["figures"])
    found["reading/groups"] = str(len(without))
    found["reading/chosen"] = str(sum(each == adopted for each in without.values()))
    found["met/most"] = f"{100 * max(each['met'] for each in design):.0f}"
    return found


def signed(score: float) -> str:
    """Return a log-likelihood as text."""
    return f"{score:.1f}".replace("-", "−")


def text_of(name: str, column: str, claims: dict[str, Any], run: dict[str, str]) -> str:
    """Return a figure as a page quotes it."""
    if name == "run":
        return run[column]
    claim = claims[name]
    if column == "z":
        return f"{claim['z']:+.1f}".replace("-", "−")
    value = claim["ours_exact"] if column == "exact" else claim[column]
    return number(claim["ours"] if value is None else value, FIGURES[name])


def by_method(folder: Path) -> dict[str, str]:
    """Return the figures of the report's tables with a row for each method.

    Keys are table, method, ties, column, and the figure's place where an entry has several.
    """
    found = {}
    for table in BY_METHOD:
        with (folder / f"{table}.csv").open(encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                method, ties = row.pop("method"), row.pop("ties")
                for column, entry in row.items():
                    for place, figure in enumerate(entry.split(" / "), 1):
                        key = "/".join([table, method, ties, column, str(place)])
                        found[re.sub(r"[ ,=]+", "-", key)] = figure.partition(" ±")[0]
    return found


def main(report: Path) -> None:
    """Write the two files and the pages."""
    claims = json.loads((report / "claims.json").read_text(encoding="utf-8"))
    ranking = json.loads((report / "readings.json").read_text(encoding="utf-8"))
    # what the report did not measure keeps the figures of the run before, and the pages say so
    run = json.loads(RUN.read_text(encoding="utf-8")) | summary(claims, ranking)
    # mean τ by the formula that the paper prints, from the table of the ordering audit
    with (report / "tables" / "ordering-tau-formulas.csv").open(encoding="utf-8") as lines:
        for name, *_, printed, _ in list(csv.reader(lines))[1:]:
            run[f"printed-tau/{name.replace(', ', '/')}"] = printed
    # loops without a label under other readings of the harmonic solver, from the design's table
    with (report / "tables" / "design-walks.csv").open(encoding="utf-8") as lines:
        for line in csv.DictReader(lines):
            loops = line["harmonic loops without a label"].rstrip("%")
            run[f"interior/{line['factor'].replace(' ', '/')}"] = loops
    run |= by_method(report / "tables")
    before = {claim["id"]: claim for claim in json.loads(CLAIMS.read_text(encoding="utf-8"))}
    by_id = {
        claim["id"]: before.get(claim["id"], claim) if claim["mark"] == "missing" else claim
        for claim in claims
    }
    names, keys = set(DRAWN), set()
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for _, name, column in QUOTED.findall(text):
            (keys if name == "run" else names).add(column if name == "run" else name)
        filled = QUOTED.sub(
            lambda m: f"{text_of(m[2], m[3], by_id, run)}<!--{m[2]} {m[3]}-->", text
        )
        page.write_text(filled, encoding="utf-8")
    kept = [{key: by_id[name].get(key) for key in KEPT} for name in by_id if name in names]
    lines = ",\n".join(json.dumps(claim, ensure_ascii=False) for claim in kept)
    CLAIMS.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    quoted = {key: run[key] for key in sorted(keys)}
    RUN.write_text(json.dumps(quoted, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
