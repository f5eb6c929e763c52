"""The report: verdicts by rule, a page that is whole, and tables that read back."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import sys
from collections.abc import Iterable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from jinja2 import UndefinedError
from small_run import TASKS
from study_work import toy

import wayfield as wf
from pages import outline
from wayfield.graphs.tables.write import MANIFEST
from wayfield_study.engine import (
    Measure,
    Records,
    Row,
    Run,
    Store,
    Study,
    Tables,
    as_records,
    by_experiment,
    look_up,
    what_is_there,
)
from wayfield_study.experiments import STUDIES, paper_study, rollout
from wayfield_study.paper.figures import FIGURES, KINDS, TABLES
from wayfield_study.paper.grid import GRID, SEEDS
from wayfield_study.paper.likelihood import rank
from wayfield_study.paper.rules import Expected, ExpectedFigures, judge, make_claims
from wayfield_study.paper.verdicts import Verdicts, mismatch
from wayfield_study.report import (
    SHAPES,
    Provenance,
    Section,
    Series,
    StudyFinding,
    chart,
    scatter,
    write_report,
)

mpl.use("Agg")

PROVENANCE = Provenance("wayfield reproduce", Run({}, seconds=75.0), 2, {"rollout": 12.3})
CHARTS = (
    "Success against resolution",
    "Success against labels",
    "Success against sweeps",
    "Success against p",
    "success of AMLE, exact by maze, resolution and label fraction",
    "Seven nodes, harmonic",
)
PAPER = STUDIES["all"]
MORE = {
    "cost_all": 1.0, "least_cost_all": 1.0, "weighted": 1.0, "label_count": 0, "ties": "index",
    "boundary": 0, "interior": 0, "dead_ends": 0, "sinks": 0,
}  # fmt: skip
"""Columns of rollouts that no figure of the paper needs."""
EXPERIMENTS = {experiment.name: experiment for experiment in PAPER.experiments}


@pytest.fixture(scope="module")
def tables(paper_store: Store) -> dict[str, list[Row]]:
    """What the store has."""
    found = what_is_there(look_up(TASKS, paper_store))
    assert found.reused == len(TASKS)
    return by_experiment(found.tables)


@pytest.fixture(scope="module")
def folder(tables: dict[str, list[Row]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("new") / "report"
    assert write_report(PAPER, tables, out, PROVENANCE) == out / "index.html"
    return out


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "index.html").read_text(encoding="utf-8")


# ------------------------------------------------------------------- the page


def test_page_is_whole_and_loads_nothing(page: str) -> None:
    found = outline(page)
    assert all(source.startswith("data:") for source in found.sources)
    assert {target for target in found.targets if not target.startswith("#")} == {
        "claims.json",
        "tables/",
    }
    assert len(found.ids) == len(set(found.ids))
    anchors = {target[1:] for target in found.targets if target.startswith("#")}
    assert anchors <= set(found.ids)
    assert not re.search(r"url\((?!#)|@import|https?:", page)


def test_page_has_every_figure_and_section(
    page: str, tables: dict[str, list[Row]], tmp_path: Path
) -> None:
    found = outline(page)
    for name in FIGURES:
        assert f"<code>{name}</code>" in page
    for table in TABLES.values():
        assert f"table-{table.name}" in found.ids
        assert table.title.replace("'", "’") in found.words.replace("'", "’")
    for name in CHARTS:
        assert f'aria-label="{name}"' in page
    assert "wayfield reproduce" in found.words
    assert "1 min 15 s of wall clock for this run on 2 workers" in found.words
    assert "12 s" in found.words
    again = write_report(PAPER, tables, tmp_path, PROVENANCE)
    assert again.read_text(encoding="utf-8") == page


def words_of(tmp_path: Path, provenance: Provenance) -> str:
    """The words of a report without any rows."""
    path = write_report(PAPER, {}, tmp_path, provenance)
    return outline(path.read_text(encoding="utf-8")).words


def test_a_report_says_how_it_came_about(tmp_path: Path) -> None:
    failed = {TASKS[0]: "Traceback\nValueError: <b>bad</b>"}
    outcome = Run({task: [] for task in TASKS[1:]}, failed, reused=len(TASKS) - 1)
    words = words_of(tmp_path, Provenance("wayfield reproduce", outcome, 2))
    assert "ValueError: <b>bad</b>" in words
    assert f"0 run, {len(TASKS) - 1} taken from an earlier run, 1 failed" in words
    sections = sum(len(experiment.sections) for experiment in PAPER.experiments)
    assert words.count("Not run here: wayfield study all computes it.") == sections
    assert "nan" not in words.split()
    assert "stale" not in words

    alone = words_of(tmp_path, Provenance("wayfield report"))
    assert "none for this report: its results were there" in alone
    assert "workers" not in alone.partition("its results were there")[0]

    kinds = ["kernels changed since", "numpy 1.0, now 2.0", "a", "b"]
    for changes, told in (
        ([kinds[0], *kinds], "5 results are stale and used on request: kernels changed since; "
         "numpy 1.0, now 2.0; a; …."),
        (kinds[:1], "1 result is stale and used on request: kernels changed since."),
    ):  # fmt: skip
        stale = Run({}, accepted=dict(zip(TASKS, changes, strict=False)))
        assert told in words_of(tmp_path, Provenance("wayfield report", stale))


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_an_experiment_may_be_alone(
    name: str, tables: dict[str, list[Row]], tmp_path: Path
) -> None:
    page = write_report(PAPER, {name: tables[name]}, tmp_path, PROVENANCE)
    assert "Not run here" in outline(page.read_text(encoding="utf-8")).words


@pytest.mark.parametrize("name", ["rollout", "lbfgs_budget", "other_draws"])
def test_what_others_build_on_may_be_missing(
    name: str, tables: dict[str, list[Row]], tmp_path: Path
) -> None:
    rest = {other: rows for other, rows in tables.items() if other != name}
    page = write_report(PAPER, rest, tmp_path, PROVENANCE).read_text(encoding="utf-8")
    assert "Not run here" in outline(page).words


# ------------------------------------------------------------------- claims and tables


def test_claims_and_tables_read_back(folder: Path) -> None:
    records = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    assert len(records) == len({record["id"] for record in records}) == len(FIGURES)
    for record in records:
        assert record["paper"] == FIGURES[record["id"]].value
        assert record["reading"]
        mark = record["verdict"].partition(":")[0]
        assert mark in ("reproduced", "differs", "solver artefact", "not measured")
        if record["ours"] is None:
            assert mark == "not measured"
            assert record["note"] in record["verdict"]
        else:
            assert record["difference"] == record["ours"] - record["paper"]

    def lines(name: str) -> list[dict[str, str]]:
        text = (folder / "tables" / f"{name}.csv").read_text(encoding="utf-8")
        return list(csv.DictReader(io.StringIO(text)))

    for name, table in TABLES.items():
        printed = [f.printed.replace(",", "") for f in table.figures]  # as programs read them
        assert [line["paper"] for line in lines(name)] == printed, name
    kinds = lines("failures-kinds")
    assert len(kinds) == 15
    assert all(float(entry) >= 0 for line in kinds for entry in list(line.values())[2:])
    for path in sorted((folder / "tables").iterdir()):
        text = path.read_text(encoding="utf-8")
        assert not set(text) & set("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−"), path.name
        assert "row1" not in text
    widths = [line["widest bracket"] for line in lines("finite-p-family")]
    assert all(width == "none" or 0 <= float(width) < 1e-9 for width in widths)


def test_success_is_a_mean_over_cells_in_every_column() -> None:
    """Of a large cell all starts reach, of a small one none."""
    large = arm("amle", 1000, **MORE) | {"starts_all": 9000, "reached_all": 9000}
    small = arm("amle", 0, **MORE) | {"seed": 55}
    table, *_ = rollout.tables(Records.of([large, small]))
    assert table.heads[2:4] == ["success, sampled pairs", "success, all starts"]
    assert table.rows[0][2:4] == ["0.5000 ± 0.5000", "0.50000 ± 0.50000"]
    assert table.rows[0][-1] == "1,000"


# ------------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    ("figure", "measure", "verdict"),
    [
        ("main/amle/success", Measure(0.9704), "reproduced: to the last digit"),
        ("main/amle/success", Measure(0.9195), "close: −0.050"),  # .05 and half a digit
        ("main/amle/success", Measure(0.9194), "differs: −0.051"),
        ("main/amle/success", Measure(0.97, exact=1.0), "solver artefact: 0.970 of the stopped"),
        ("main/amle/success", Measure(0.99, exact=0.97), "close: +0.020"),  # exact does not count
        ("main/amle/success", Measure(None, note="no cells"), "not measured: no cells"),
        ("seven-nodes/harmonic(1)/value", Measure(36 / 29), "reproduced: exactly"),
        ("seven-nodes/harmonic(1)/value", Measure(1.2414), "differs: 0.000"),
        ("subdivision/k4/harmonic_margin", Measure(3 / 29), "reproduced: to the last digit"),
        ("iterations/sweeps50/residual", Measure(0.07), "close: +1.5"),
        ("iterations/sweeps50/residual", Measure(0.08), "differs: +2.5\xa0×\xa010⁻²"),
        ("lbfgs/p16/converged", Measure(2.0), "close: +2"),  # 0 in the paper
        ("failures/harmonic/interior", Measure(0.0), "differs: −1.6"),
    ],
)
def test_verdicts(figure: str, measure: Measure, verdict: str) -> None:
    assert judge(FIGURES[figure], measure).text.startswith(verdict)


def test_the_paper_reproduces_itself() -> None:
    claims = make_claims({name: Measure(figure.value) for name, figure in FIGURES.items()})
    assert {claim.verdict.mark for claim in claims} == {"reproduced"}
    assert all(claim.difference == 0 for claim in claims)


def test_every_kind_is_explained_and_used() -> None:
    assert {figure.kind for figure in FIGURES.values()} == KINDS.keys()


NEAR, FAR = Expected(0.60, 0.01, 30, 6.0), Expected(0.66, 0.01, 30, 6.0)


@pytest.mark.parametrize(
    ("expected", "ours", "verdict"),
    [
        (NEAR, 0.60, "reproduced: 0.600 ± 0.011 expected"),
        (NEAR, 0.70, "reproduced: 0.600 ± 0.011 expected"),  # an unlucky draw does not count
        (FAR, 0.584, "differs: +0.076, 7.0 standard deviations"),  # nor does a lucky one
        (Expected(0.62, 0.01, 30, 6.0), 0.62, "close: +0.036, 3.3 standard deviations"),
        (Expected(0.62, 0.0163, 5), 0.62, "reproduced"),  # one study of ours: √2 as far
        (Expected(0.62, 0.0163, 30, 6.0), 0.62, "close"),
    ],
)
def test_a_verdict_goes_by_many_draws(expected: Expected, ours: float, verdict: str) -> None:
    assert judge(FIGURES["main/harmonic/success"], Measure(ours), expected).text.startswith(verdict)


@pytest.mark.parametrize("mean", [0.84, 0.86, 0.90, 0.97, 0.999])
@pytest.mark.parametrize("sd", [0.0, 0.004, 0.03])
def test_a_share_and_its_complement_have_one_verdict(mean: float, sd: float) -> None:
    for maze, r, lf in GRID:
        share = FIGURES[f"grid-{maze}/r{r}/lf{lf:.2f}/amle"]
        rest = FIGURES[f"grid-{maze}/r{r}/lf{lf:.2f}/amle_loop"]
        one = judge(share, Measure(mean, exact=1.0), Expected(mean, sd))
        other = judge(rest, Measure(1 - mean, exact=0.0), Expected(1 - mean, sd))
        assert one.mark == other.mark


def test_the_exact_solve_is_judged_by_the_same_rule() -> None:
    figure, ours = FIGURES["main/amle/success"], Expected(0.968, 0.004, 30, 6.0)
    measure = Measure(0.968, exact=0.98)
    assert judge(figure, measure, ours, Expected(0.98, 0.004, 5)).mark == "reproduced"
    assert judge(figure, measure, ours, Expected(0.98, 0.002, 5)).mark == "artefact"
    assert judge(figure, measure, Expected(0.85, 0.004), Expected(0.98, 0.002)).mark == "differs"


def test_a_ranking_is_shown_with_the_groups_it_rests_on() -> None:
    names = [f"grid-{maze}/r4/lf0.02/harmonic" for maze in ("medium", "large")]
    values = {"glass": dict.fromkeys(names, 0.84), "ice": dict.fromkeys(names, 0.5)}
    ranking = rank(values, dict.fromkeys(names, 0.02), "ice", lambda reading: (0,))
    verdicts = Verdicts(PAPER.experiments, {}, ExpectedFigures(), ranking)
    (block,) = (block for block in verdicts.details if block.id == "ranking")
    rows = re.findall(r"<tr>(.*?)</tr>", block.html, re.DOTALL)
    assert "glass" in rows[1]
    assert "ice <b>(adopted)</b>" in rows[2]
    lead, error = ranking.behind("ice")
    assert f"{lead:.1f} ± {error:.1f}" in rows[2]
    assert rows[3].count('title="glass">1<') == 2  # the first without either group
    data = json.loads(verdicts.files["readings.json"])
    assert [(each["reading"], each["adopted"]) for each in data["readings"]] == [
        ("glass", False), ("ice", True)
    ]  # fmt: skip
    assert data["figures"] == 2
    assert data["without"] == {"medium": "glass", "large": "glass"}
    assert data["readings"][0]["behind"] == [0.0, 0.0]
    without = Verdicts(PAPER.experiments, {}, ExpectedFigures())
    assert "readings.json" not in without.files
    assert "ranking" not in [block.id for block in without.details]


def test_claims_hold_what_they_rest_on() -> None:
    evidence = ExpectedFigures({"main/harmonic/success": NEAR})
    claims = {
        c.figure.id: c for c in make_claims({"main/harmonic/success": Measure(0.6)}, evidence)
    }
    record = claims["main/harmonic/success"].record()
    assert (record["mean"], record["sd"], record["draws"]) == (0.60, 0.01, 30)
    assert record["z"] == pytest.approx(-0.016 / (0.01 * np.sqrt(7 / 6)))
    assert record["same_as"] == "grid-medium grid-large"
    assert "relaxed" in record["reading"]
    other = claims["main/amle/success"].record()
    assert (other["mean"], other["z"]) == (None, None)


# ------------------------------------------------------------------- sentences


def arm(name: str, reached: int, **more: Any) -> Row:
    about: Row = {"maze": "large", "refinement": 8, "label_fraction": 0.02, "seed": 54, "goals": 16}
    counts: Row = {"arm": name, "pairs": 1000, "reached": reached, "width": 1e-16}
    return about | counts | {"starts_all": 1000, "reached_all": reached} | more


def rollouts(harmonic: int, sweeps: int, exact: int, exits: int) -> Tables:
    rows = [arm("harmonic", harmonic), arm("sweeps", sweeps), arm("amle", exact)]
    return as_records({"rollout": [*rows, arm("amle_exit", exits)]})


def everywhere(rows: Iterable[Row], **more: Any) -> list[Row]:
    """The same rows on every cell of the paper's."""
    return [
        row | {"maze": maze, "refinement": r, "label_fraction": lf, "seed": seed} | more
        for maze, r, lf in GRID
        for seed in SEEDS
        for row in rows
    ]


def whole_grid(tables: Tables, **more: Any) -> Tables:
    return as_records({name: everywhere(rows, **more) for name, rows in tables.items()})


def findings(tables: Tables) -> list[StudyFinding]:
    """All findings of the paper's study, in the order of its sections."""
    return [
        finding
        for experiment in PAPER.experiments
        for section in experiment.sections
        if experiment.name in tables and section.findings is not None
        for finding in section.findings(tables[experiment.name])
    ]


def marks(tables: Tables) -> list[str]:
    return [finding.mark for finding in findings(tables)]


def test_findings_follow_the_numbers() -> None:
    def found(*reached: int) -> list[str]:
        return marks(whole_grid(rollouts(*reached)))

    assert found(450, 940, 1000, 1000)[:2] == ["artefact", "new"]
    assert found(450, 940, 990, 999)[:2] == ["differs", "differs"]
    assert found(450, 1000, 1000, 1000)[0] == "differs"  # nothing fails: no artefact
    scopes = {each.scope for each in findings(whole_grid(rollouts(450, 940, 1000, 1000)))}
    assert scopes == {"On the paper's 120 cells."}


def test_nothing_is_said_about_stopped_sweeps_that_did_not_run() -> None:
    tables = rollouts(450, 940, 1000, 1000)
    without = {
        name: [row for row in rows if row["arm"] != "sweeps"] for name, rows in tables.items()
    }
    said = [each.claim for each in findings(as_records(without))]
    assert len(said) == len(findings(tables)) - 1
    assert not any(claim.startswith("The paper: AMLE leaves") for claim in said)


def test_a_method_of_ones_own_is_drawn() -> None:
    rows = [arm("amle", 1000), arm("amle_exit", 1000), arm("mine:f", 300), arm("mine:f_exit", 300)]
    (some,) = as_records({"rollout": [row | {"label_count": 0} for row in rows]}).values()
    for drawn in rollout.charts(some):
        assert "mine:f" in drawn.legend
        assert "exits" not in drawn.legend
    assert rollout.about(some).startswith("The methods below")  # no others are described


@pytest.mark.parametrize("more", [{}, {"maze": "large@1f0c2a"}])
def test_nothing_is_said_about_the_paper_on_other_cells(more: dict[str, str]) -> None:
    """One cell of the paper's grid, or all of it on a map of one's own."""
    tables = rollouts(450, 940, 1000, 1000)
    found = findings(whole_grid(tables, **more) if more else tables)
    assert {each.mark for each in found} == {"partial", "new"}
    assert len(found) == 3
    cells = "60 cells (large@1f0c2a; r" if more else "1 cell (large; r = 8; lf = 0.02; 1"
    assert all(each.scope.startswith(f"On {cells}") for each in found)
    assert all("no verdict on the paper" in each.scope for each in found)


def test_cells_beside_the_papers_have_no_say() -> None:
    rows = [*whole_grid(rollouts(450, 940, 1000, 1000))["rollout"]]
    odd = [row | {"maze": "umaze", "reached": 0} for row in rows]
    assert findings(as_records({"rollout": rows + odd})) == findings(as_records({"rollout": rows}))


def test_the_cover_compares_with_the_same_rows_of_the_paper() -> None:
    tables = rollouts(450, 940, 999, 1000)
    said = paper_study.cover(PAPER, tables)
    assert said.lead.startswith(f"The paper prints {len(FIGURES)} figures, ")
    assert [(tile.value, tile.note) for tile in said.tiles[::2]] == [
        ("0.450", "paper 0.458"),
        ("0.999", "1 of 1,000 pairs fail"),
    ]
    assert "<small>0.458</small>" in said.before[0].html
    own = paper_study.cover(PAPER, whole_grid(tables, maze="large@1f0c2a"))
    assert own.tiles[0].note == "66,000 of 120,000 pairs fail"
    assert "<small>" not in own.before[0].html
    nothing = paper_study.cover(PAPER, {})
    assert nothing.lead.count(".") == 2
    assert nothing.lead.endswith("were not measured.")


@pytest.mark.parametrize(
    ("last", "mark"), [(1000, "artefact"), (980, "artefact"), (1012, "differs")]
)
def test_p_sixteen_beside_the_amle(last: int, mark: str) -> None:
    rows = [arm(f"p{p}", 1000, p=float(p)) for p in (4, 8)]
    rows += [arm("p16", last, p=16.0), arm("amle", 1000, p=float("inf"))]
    assert findings(as_records({"finite_p": everywhere(rows)}))[0].mark == mark


@pytest.mark.parametrize(
    ("eight", "everyone", "told"),
    [
        (900, 1000, "1 of 1 cell on the sampled pairs, and in 1 over all starts."),
        (400, 1000, "0 of 1 cell on the sampled pairs, and in 0 over all starts."),
        (900, 999, "and in 0 over all starts. Of the others 1 fall at the last step alone"),
    ],
)
def test_monotone_in_p(eight: int, everyone: int, told: str) -> None:
    rows = [arm("harmonic", 500, p=2.0), arm("p8", eight, p=8.0), arm("p16", 1000, p=16.0)]
    rows += [arm("sweeps", 700, p=float("inf"))]
    rows += [arm("amle", 1000, p=float("inf"), reached_all=everyone)]
    assert told in findings(as_records({"finite_p": rows}))[1].text


def test_the_nearest_of_our_budgets_is_named() -> None:
    rows = [arm("sweeps", 930, sweeps=200), arm("sweeps", 990, sweeps=500)]
    (found,) = findings(as_records({"iteration_audit": everywhere(rows)}))
    assert "have 0.990 after 500" in found.text
    assert "nearest to the main grid after 200, with 0.930" in found.text
    assert found.text.endswith("The relaxation is fitted.")
    assert not findings(as_records({"iteration_audit": rows}))


@pytest.mark.parametrize(("higher", "told"), [(24, True), (18, True), (17, False), (0, True)])
def test_differences_in_one_direction_are_told(higher: int, told: bool) -> None:
    """Seventeen heads of twenty-four coins are no surprise, eighteen are."""
    ours = {name: Measure(figure.value) for name, figure in FIGURES.items()}
    for number, (maze, r, lf) in enumerate(GRID):
        name = f"grid-{maze}/r{r}/lf{lf:.2f}/harmonic"
        ours[name] = Measure(FIGURES[name].value + (0.01 if number < higher else -0.01))
    ours["main/harmonic/low"] = Measure(0.591)
    found = outline(mismatch({claim.figure.id: claim for claim in make_claims(ours)})).words
    assert ("Harmonic is systematically" in found) == told
    if told:
        assert f"ours is higher in {higher} and lower in {24 - higher}" in found
        assert "0.591 to 0.623 excludes it" in found
    for quoted in ("93.8", "93.9", "2 and 5", "0.750", "0.833", "0.929", "about 300"):
        assert quoted in found  # of the paper's own inconsistencies


# ------------------------------------------------------------------- charts


def moves(drawn: str) -> list[tuple[float, float]]:
    """Places of the marks in a chart."""
    found = re.findall(r'class="mark" d="[^"]*" transform="translate\(([\d.]+) ([\d.]+)\)"', drawn)
    return [(float(x), float(y)) for x, y in found]


@pytest.mark.parametrize("count", [1, 2, 9])
def test_marks_at_one_place_stand_beside_each_other(count: int) -> None:
    """Five arms that all reach: each is seen, in its place and beside no other place."""
    ticks = [(float(k), str(k)) for k in range(count)]
    points = [(place, 1.0) for place, _ in ticks]
    series = [Series(f"arm {k}", f"line-{k}", points) for k in range(5)]
    drawn = moves(chart("success", series, ticks).svg)
    assert len(set(drawn)) == 5 * count
    columns = sorted(x for x, _ in drawn)
    groups = [columns[5 * k : 5 * k + 5] for k in range(count)]
    assert all(a[-1] < b[0] for a, b in pairwise(groups))
    if count == 1:
        assert np.diff(columns).min() > 15  # there is room


def test_the_papers_marks_stay_with_the_line_of_their_colour() -> None:
    ticks = [(0.0, "r = 4"), (1.0, "r = 8")]
    ours = [Series(name, name, [(0.0, 0.5), (1.0, 0.5)]) for name in ("harmonic", "exact")]
    paper = Series("paper", "exact", [(0.0, 0.6), (1.0, 0.7)], hollow=True)
    drawn = moves(chart("success", [*ours, paper], ticks).svg)
    assert [x for x, _ in drawn[4:]] == [x for x, _ in drawn[2:4]]
    off_ticks = Series("elsewhere", "nearest", [(0.3, 0.5)])
    (x, _), *_ = moves(chart("success", [off_ticks, *ours], ticks).svg)
    assert [x for x, _ in moves(chart("success", [off_ticks], ticks).svg)] == [x]


def test_lines_have_marks_of_their_own() -> None:
    series = [Series(f"arm {k}", "exact-line", [(0.0, 0.5)]) for k in range(len(SHAPES) + 1)]
    drawn = chart("all alike", series, [(0.0, "r = 4")])
    shapes = re.findall(r'class="mark" d="([^"]*)"', drawn.legend)
    assert len(set(shapes)) == len(SHAPES)
    scattered = scatter("two", [replace(each, hollow=True) for each in series[:2]], ("x", "y"))
    assert len(set(re.findall(r'class="mark" d="([^"]*)"', scattered.legend))) == 2


@pytest.mark.parametrize(
    ("low", "ticks"),
    [
        (0.2, "0 0.2 0.4 0.6 0.8 1"),
        (0.63, "0.6 0.7 0.8 0.9 1"),
        (0.93, "0.9 0.92 0.94 0.96 0.98 1"),
        (0.97, "0.95 0.96 0.97 0.98 0.99 1"),
    ],
)
def test_an_axis_of_shares_holds_the_intervals_and_shows_that_it_is_cut(
    low: float, ticks: str
) -> None:
    series = [Series("ours", "harmonic", [(0.0, 0.98)], [(low, 1.0)])]
    drawn = chart("success", series, [(0.0, "r = 4")]).svg
    assert " ".join(re.findall(r'text-anchor="end">([\d.]+)</text>', drawn)) == ticks
    assert ('class="cut"' in drawn) == (low > 0.4)
    (bar,) = re.findall(r'<path d="M[\d.]+ ([\d.]+)V([\d.]+)"', drawn)
    heights = [float(y) for y in re.findall(r'class="rule" d="M52 ([\d.]+)H', drawn)]
    assert heights[0] >= float(bar[0]) > float(bar[1]) == heights[-1]


def test_shares_against_shares_have_a_diagonal() -> None:
    points = [(0.0, 0.0), (1.0, 1.0), (math.nan, 0.5)]
    drawn = scatter("foretold", [Series("ours", "harmonic", points)], ("predicted", "measured")).svg
    (x0, y0), (x1, y1) = moves(drawn)
    assert f'class="line" d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}"' in drawn
    assert x1 - x0 == y0 - y1  # a square
    assert "<title>ours: predicted 1, measured 1</title>" in drawn


def test_long_names_along_an_axis_are_slanted_and_cut_short() -> None:
    names = [f"an-arm-with-a-very-long-name-{k}" for k in range(6)]
    series = [Series("ours", "harmonic", [(k, 0.5) for k in range(6)])]
    drawn = chart("success", series, list(enumerate(names))).svg
    assert drawn.count("rotate(-35 ") == 6
    assert all(f"<title>{name}</title>" in drawn for name in names)
    height = float(drawn.split('viewBox="0 0 500 ')[1].split('"')[0])
    assert height > 300
    few = chart("success", series, [(k, f"r = {k}") for k in range(6)]).svg
    assert "rotate(-35 " not in few
    assert 'viewBox="0 0 500 300"' in few


def test_a_chart_says_its_numbers_and_leaves_out_what_is_none() -> None:
    points, nan = [(0, 0.25), (1, 1.0), (2, float("nan"))], float("nan")
    series = [Series("ours", "harmonic", points, [(0.2, 0.3), (1.0, 1.0)])]
    ticks = [(0, "r = 4"), (1, "r = 8"), (2, "r = <")]
    drawn = chart("success", [*series, Series("none", "exit", [(0, nan)])], ticks).svg
    assert "<title>ours, r = 4: 0.25</title>" in drawn
    assert outline(drawn).tags.count("title") == 2
    assert "nan" not in drawn
    assert "r = &lt;" in drawn
    with pytest.raises(UndefinedError):  # every mark has its path
        chart("odd", [Series("ours", "harmonic", [(0, 0.5)], shape="heart")], [(0, "a")])
    every = [Series(shape, "harmonic", [(0, 0.5)], shape=shape) for shape in SHAPES]
    assert chart("all", every, [(0, "a")]).svg.count('class="mark"') == len(SHAPES)


# ------------------------------------------------------------------- nothing is solved


HARMLESS = ("checks", "errors", "graphs", "lazy", "plots", "typing", "words")
"""Rooms whose functions a report may call; those of all others solve."""
SOLVES = "graphs.shortest_paths"
KERNELS = re.compile(r"wayfield\.(numerics|.*\.kernels)\b")
"""Modules whose own names stay, so that kernels may call each other."""
DRAWS = "wayfield.numerics.csr"
"""What graphs are put together with: the one kernel that a drawing may need."""


class SolvedError(Exception):
    """Somebody computes while a report is drawn."""


def refuse(*_: object, **__: object) -> Any:
    raise SolvedError


def solves(thing: Any) -> bool:
    """Whether it is a function of a room that solves, or a kernel."""
    if isinstance(thing, type) or not callable(thing):
        return False
    package, _, room = (getattr(thing, "__module__", None) or "").partition(".")
    if package != "wayfield" or not room or f"{package}.{room}" == DRAWS:
        return False
    return room.startswith(SOLVES) or not room.startswith(HARMLESS)


@pytest.fixture
def no_solver(monkeypatch: pytest.MonkeyPatch) -> int:
    """Make every solver raise, wherever it is imported; the number of names it had."""
    count = 0
    for name, module in sorted(sys.modules.items()):
        if name == "wayfield" or (name.startswith("wayfield.") and not KERNELS.match(name)):
            for attribute, thing in sorted(vars(module).items()):
                if solves(thing):
                    monkeypatch.setattr(module, attribute, refuse)
                    count += 1
                elif isinstance(thing, type) and thing.__module__ == name:
                    for method in ("solve", "draw", "rollout"):
                        if method in vars(thing):
                            monkeypatch.setattr(thing, method, refuse)
                            count += 1
    return count


def test_a_report_is_a_function_of_the_store(
    paper_store: Store, folder: Path, tmp_path: Path, no_solver: int
) -> None:
    """Every page and table comes out the same when nothing can be solved any more."""
    assert no_solver > 100
    found = what_is_there(look_up(TASKS, paper_store))
    write_report(PAPER, by_experiment(found.tables), tmp_path, PROVENANCE)
    files = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*")}
    assert len(files) > 40
    again = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert again == files


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_experiments_do_solve(name: str, no_solver: int) -> None:
    """So the test above could fail."""
    task = next(task for task in TASKS if task.experiment.name == name)
    with pytest.raises(SolvedError):
        task.experiment.run(task.cell)


# ------------------------------------------------------------------- studies of one's own


def test_where_nothing_of_the_paper_was_measured_there_are_no_verdicts(tmp_path: Path) -> None:
    """Rollouts on mazes of one's own: their sections, but no figure of the paper."""
    own = Study("own", "A study of one's own", (rollout.EXPERIMENT,), (), paper_study.cover)
    rows = [row | {"maze": "mine@1f0c2a"} for row in rollouts(450, 940, 1000, 1000)["rollout"]]
    page = write_report(own, {"rollout": [row | MORE for row in rows]}, tmp_path, PROVENANCE)
    found = outline(page.read_text(encoding="utf-8"))
    assert "A study of one's own" in found.words.replace("’", "'")
    assert {"picture", "rollouts"} <= set(found.ids)
    assert "Harmonic values, the AMLE by midrange sweeps" in found.words
    assert not {"glance", "mismatch", "claims-all", "rules"} & set(found.ids)
    assert not any(each.startswith("table-") for each in found.ids)
    assert wf.__version__ in found.words
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == [
        MANIFEST,
        "failures-kinds.csv", "index.html", "rollouts-arms.csv", "rollouts-by-labels.csv",
        "rollouts-cost-by-labels.csv", "rollouts-paired.csv",
    ]  # fmt: skip


def test_a_study_without_a_cover(tmp_path: Path) -> None:
    section = Section("toys", "Toys", "What toys do.", findings=lambda rows: [
        StudyFinding("new", "Is it there?", f"{len(rows)} of it.")
    ])  # fmt: skip
    study = Study("toys", "Only <toys>", (replace(toy(), sections=(section,)),), ())
    page = write_report(study, {"toy": [{"x": 1}]}, tmp_path, PROVENANCE)
    text = page.read_text(encoding="utf-8")
    assert "Only &lt;toys&gt;" in text
    assert "1 of it." in text
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == [MANIFEST, "index.html"]
