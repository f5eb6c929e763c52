"""The report: verdicts by rule, a page that is whole, and tables that read back."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib as mpl
import pytest

from wayfield.report import Provenance, judge, make_claims, write_report
from wayfield.report.beyond import arm_tables
from wayfield.report.charts import panels
from wayfield.report.findings import findings, headline
from wayfield.report.mismatch import inconsistencies, mismatches
from wayfield.report.rules import KINDS, REASONS
from wayfield.report.svg import Scale, Series, line_chart
from wayfield.study import Cell
from wayfield.study.cells import SEEDS
from wayfield.study.experiments import EXPERIMENTS, witnesses
from wayfield.study.measures import GRID, Measure
from wayfield.study.paper import FIGURES, TABLES, value
from wayfield.study.tables import Rows, as_rows
from wayfield.study.tasks import Row, as_table

mpl.use("Agg")

PROVENANCE = Provenance("wayfield reproduce", 2, 75.0, computing={"rollout": 12.3})
CHARTS = (
    "Success against resolution",
    "Success against labels",
    "Success against sweeps",
    "Residual against sweeps",
    "Success against p",
    "Poorly ranked decisions against p",
    "Mechanism audit against resolution",
    "Success against the number of labels",
    "Success against noise, lf = 0.08",
    "Success on finer graphs",
    "success of AMLE, exact by maze, resolution and label fraction",
    "Seven nodes, harmonic",
)
VOID = {"meta", "img", "br", "input"}


class Outline(HTMLParser):
    """Complains about tags that do not match; keeps the text, and what the page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.sources: list[str] = []
        self.targets: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        given = {name: value or "" for name, value in attrs}
        self.sources += [given["src"]] if "src" in given else []
        self.targets += [given["href"]] if "href" in given else []
        self.ids += [given["id"]] if "id" in given else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    @property
    def words(self) -> str:
        return " ".join("".join(self.text).split())


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


@pytest.fixture(scope="module")
def tables() -> dict[str, list[Row]]:
    """Every experiment on one tiny cell of the paper's grid's kind, and the small graphs."""
    cell = Cell("medium", 2, 0.08, 54, goals=2)
    found = {
        name: as_table(cell, experiment.run(cell))
        for name, experiment in EXPERIMENTS.items()
        if name != "witnesses"
    }
    small = witnesses.special_cell(witnesses.SEVEN_NODE)
    return found | {"witnesses": as_table(small, witnesses.run(small))}


@pytest.fixture(scope="module")
def folder(tables: dict[str, list[Row]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("new") / "report"
    assert write_report(tables, out, PROVENANCE) == out / "index.html"
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


def test_page_has_every_figure_and_section(page: str) -> None:
    found = outline(page)
    for name in FIGURES:
        assert f"<code>{name}</code>" in page
    for table in TABLES.values():
        assert f"table-{table.name}" in found.ids
        assert table.title.replace("'", "’") in found.words.replace("'", "’")
    assert found.tags.count("img") == 6  # three fields, three failure maps
    for chart in CHARTS:
        assert f'aria-label="{chart}"' in page
    assert "wayfield reproduce" in found.words
    assert "1 min 15 s of wall clock" in found.words
    assert "12 s" in found.words


def test_same_rows_same_page(tables: dict[str, list[Row]], page: str, tmp_path: Path) -> None:
    again = write_report(tables, tmp_path, PROVENANCE)
    assert again.read_text(encoding="utf-8") == page


def test_failed_tasks_are_shown_and_escaped(tmp_path: Path) -> None:
    failed = {"rollout medium-r04": "Traceback\nValueError: <b>bad</b>"}
    path = write_report({}, tmp_path, Provenance("wayfield reproduce", 2, 1.0, 119, failed))
    page = path.read_text(encoding="utf-8")
    assert "ValueError: &lt;b&gt;bad&lt;/b&gt;" in page
    assert "119 taken from an earlier run, 1 failed" in page


def test_a_report_alone_takes_no_time(tmp_path: Path) -> None:
    words = outline(
        write_report({}, tmp_path, Provenance("wayfield report", 0, 0.0)).read_text()
    ).words
    assert "none for this report: its results were there" in words
    assert "workers" not in words.partition("its results were there")[0]


def test_a_report_of_nothing_says_what_to_run(tmp_path: Path) -> None:
    words = outline(write_report({}, tmp_path, PROVENANCE).read_text(encoding="utf-8")).words
    for name in EXPERIMENTS:
        assert f"“{name}”" in words
    assert "wayfield reproduce --profile paper" in words
    assert "nan" not in words.split()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_any_experiment_may_be_missing(
    name: str, tables: dict[str, list[Row]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wayfield.report.contents.field_pictures", lambda cell: [])
    monkeypatch.setattr("wayfield.report.contents.failure_maps", lambda cells: [])
    alone = write_report({name: tables[name]}, tmp_path / "alone", PROVENANCE)
    outline(alone.read_text(encoding="utf-8"))
    rest = {other: rows for other, rows in tables.items() if other != name}
    page = write_report(rest, tmp_path / "rest", PROVENANCE).read_text(encoding="utf-8")
    assert "Not run here" in outline(page).words


def test_nothing_is_left_half_written(
    folder: Path, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Path, target: Path) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        write_report({}, folder, PROVENANCE)
    assert (folder / "index.html").read_text(encoding="utf-8") == page
    assert not list(folder.rglob(".*"))


# ------------------------------------------------------------------- claims and tables


def test_claims_read_back(folder: Path) -> None:
    records = json.loads((folder / "claims.json").read_text(encoding="utf-8"))
    assert len(records) == len({record["id"] for record in records}) == len(FIGURES) >= 150
    fields = {"id", "table", "paper", "ours", "ours_exact", "difference", "verdict"}
    for record in records:
        assert fields <= record.keys()
        assert record["paper"] == FIGURES[record["id"]].value
        mark = record["verdict"].partition(":")[0]
        assert mark in ("reproduced", "differs", "solver artefact", "not measured")
        if record["ours"] is None:
            assert mark == "not measured"
            assert record["note"] in record["verdict"]
        else:
            assert record["difference"] == record["ours"] - record["paper"]


@pytest.mark.parametrize("name", TABLES)
def test_tables_read_back(name: str, folder: Path) -> None:
    text = (folder / "tables" / f"{name}.csv").read_text(encoding="utf-8")
    lines = list(csv.DictReader(io.StringIO(text)))
    assert [line["paper"] for line in lines] == [f.printed for f in TABLES[name].figures]
    latex = (folder / "tables" / f"{name}.tex").read_text(encoding="utf-8")
    columns = len(re.search(r"\\begin\{tabular\}\{([lr]+)\}", latex)[1])  # type: ignore[index]
    body = latex.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert len(body) == len(TABLES[name].rows)
    assert all(line.count("&") == columns - 1 and line.endswith(r"\\") for line in body)
    assert latex.count("{") == latex.count("}")
    assert latex.isascii()


def test_our_own_tables_read_back(folder: Path) -> None:
    text = (folder / "tables" / "ties-ties.csv").read_text(encoding="utf-8")
    lines = list(csv.reader(io.StringIO(text)))
    assert len(lines) == 17
    assert len({len(line) for line in lines}) == 1
    assert all(float(entry) >= 0 for line in lines[1:] for entry in line[1:])


def test_powers_are_what_each_format_reads(folder: Path) -> None:
    for path in sorted((folder / "tables").iterdir()):
        text = path.read_text(encoding="utf-8")
        assert not set(text) & set("⁻⁰¹²³⁴⁵⁶⁷⁸⁹−"), path.name
        assert path.suffix != ".tex" or text.isascii(), path.name
        assert "row1" not in text
    assert "within $10^{-9}$" in (folder / "tables" / "ties-ties.tex").read_text("utf-8")
    text = (folder / "tables" / "finite-p-family.csv").read_text(encoding="utf-8")
    widths = [line["widest bracket"] for line in csv.DictReader(io.StringIO(text))]
    assert all(width == "none" or 0 <= float(width) < 1e-9 for width in widths)


def test_success_is_a_mean_over_cells_in_every_column() -> None:
    """Of a large cell all starts reach, of a small one none."""
    more = {"cost_all": 1.0, "least_cost_all": 1.0}
    large = arm("amle", 1000, **more) | {"starts_all": 9000, "reached_all": 9000}
    small = arm("amle", 0, **more) | {"seed": 55}
    (table,) = arm_tables(Rows.of([large, small]))
    assert table.rows[0][1:4] == ["0.5000", "0.50000", "1,000"]


# ------------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    ("figure", "measure", "verdict"),
    [
        ("main/amle/success", Measure(0.9704), "reproduced: to the last digit"),
        ("main/amle/success", Measure(0.99), "reproduced: within 0.05"),
        ("main/amle/success", Measure(0.9195), "reproduced: within 0.05"),  # .05 and half a digit
        ("main/amle/success", Measure(0.9194), "differs: −0.051, probably the paper's sweeps"),
        ("main/harmonic/success", Measure(0.7), "differs: +0.116, probably the paper's harmonic"),
        (
            "main/harmonic/success",
            Measure(0.7, error=0.06),
            "differs: +0.116, within the spread of",
        ),
        (
            "main/amle/success",
            Measure(0.97, exact=1.0),
            "solver artefact: 0.970 stopped early, 1.000 solved exactly",
        ),
        ("main/amle/success", Measure(0.99, exact=0.97), "reproduced"),  # exact is closer
        ("main/amle/success", Measure(0.99, exact=0.993), "reproduced"),  # less than the grain
        ("main/amle/success", Measure(0.9, exact=1.0), "differs"),  # budget does not match
        ("finite-p/p16/success", Measure(0.9, exact=0.9), "differs"),  # no stopped solver of ours
        ("finite-p/p16/success", Measure(1.0, exact=1.0), "reproduced"),
        ("finite-p/p8/success", Measure(0.98950, exact=0.99367), "reproduced: within 0.05"),
        ("p-family/p8/loop", Measure(0.0136), "reproduced: within 50% of a small figure"),
        ("p-family/p8/loop", Measure(0.0129), "differs: −0.014"),  # half of it and half a digit
        ("baseline-gaps/oracle_over_amle/r4/value", Measure(0.2), "differs: −0.5"),
        ("failures/amle/interior", Measure(0.09), "differs: −0.25"),
        ("ordering/all/tau_lt_05_rate/delta", Measure(-0.0121), "reproduced: within 50%"),
        ("ordering/all/tau_lt_05_rate/delta", Measure(-0.0118), "differs: +0.0121"),
        ("lbfgs/p16/converged", Measure(2.0), "reproduced: within 12"),  # 0 in the paper
        ("main/amle/success", Measure(None, note="no cells"), "not measured: no cells"),
        ("seven-nodes/harmonic(1)/value", Measure(36 / 29), "reproduced"),
        ("seven-nodes/harmonic(1)/value", Measure(1.2414), "differs: 0.000"),
        ("subdivision/k4/harmonic_margin", Measure(3 / 29), "reproduced: to the last digit"),
        ("iterations/sweeps50/residual", Measure(0.07), "reproduced: within 25%"),
        ("iterations/sweeps50/residual", Measure(0.08), "differs: +2.5\xa0×\xa010⁻²"),
        (
            "mechanism-main/primary_geometry/rate",
            Measure(34.8),
            "differs: −20.0, probably other graphs",
        ),
        ("baselines/nearest/success", Measure(0.05), "differs: +0.018, probably other graphs"),
        ("failures/harmonic/interior", Measure(0.0), "differs: −1.6, probably the paper's harm"),
        ("failures/harmonic/strict_minima", Measure(3.0), "differs: −113"),
        ("lbfgs/p8/converged", Measure(20.0), "differs: +10"),
        ("search/witnesses/value", Measure(8.0, exact=2.0), "differs: +3, probably another draw"),
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


def test_every_difference_has_a_reason() -> None:
    claims = make_claims({name: Measure(figure.value + 1e9) for name, figure in FIGURES.items()})
    unexplained = [c.figure.table for c in claims if c.verdict.reason == "unknown"]
    allowed = ("ordering", "baselines", "baselines-by-r", "seven-nodes", "subdivision", "witnesses")
    assert set(unexplained) <= set(allowed)
    assert {claim.verdict.reason for claim in claims} == REASONS.keys() - {"seeds"}


# ------------------------------------------------------------------- sentences


def arm(name: str, reached: int, **more: Any) -> Row:
    about: Row = {"maze": "large", "refinement": 8, "label_fraction": 0.02, "seed": 54, "goals": 16}
    counts: Row = {"arm": name, "pairs": 1000, "reached": reached, "width": 1e-16}
    return about | counts | {"starts_all": 1000, "reached_all": reached} | more


def rollouts(harmonic: int, sweeps: int, exact: int, exits: int) -> Mapping[str, Rows]:
    rows = [arm("harmonic", harmonic), arm("sweeps", sweeps), arm("amle", exact)]
    return as_rows({"rollout": [*rows, arm("amle_exit", exits)]})


def everywhere(rows: Iterable[Row], **more: Any) -> list[Row]:
    """The same rows on every cell of the paper's."""
    return [
        row | {"maze": maze, "refinement": r, "label_fraction": lf, "seed": seed} | more
        for maze, r, lf in GRID
        for seed in SEEDS
        for row in rows
    ]


def whole_grid(tables: Mapping[str, Rows], **more: Any) -> Mapping[str, Rows]:
    return as_rows({name: everywhere(rows, **more) for name, rows in tables.items()})


def marks(tables: Mapping[str, Rows]) -> list[str]:
    return [finding.mark for finding in findings(tables)]


def test_findings_follow_the_numbers() -> None:
    def found(*reached: int) -> list[str]:
        return marks(whole_grid(rollouts(*reached)))

    assert found(450, 940, 1000, 1000)[:2] == ["artefact", "new"]
    assert found(450, 940, 990, 999)[:2] == ["differs", "differs"]
    assert found(450, 1000, 1000, 1000)[0] == "differs"  # nothing fails: no artefact
    assert found(950, 940, 1000, 1000)[2] == "differs"  # no lift
    assert found(450, 940, 1000, 1000)[2] == "differs"  # the same lift at every resolution
    assert found(450, 940, 1000, 1000)[3] == "differs"  # row by row


def test_row_by_row_against_the_papers_own() -> None:
    rows = [
        row | {"reached": round(1000 * value(f"grid-{maze}/r{r}/lf{lf:.2f}/{method}"))}
        for maze, r, lf in GRID
        for seed in SEEDS
        for row, method in ((arm("harmonic", 0), "harmonic"), (arm("sweeps", 0), "amle"))
        for row in [row | {"maze": maze, "refinement": r, "label_fraction": lf, "seed": seed}]
    ]
    exact = everywhere([arm("amle", 1000), arm("amle_exit", 1000)])
    found = findings(as_rows({"rollout": rows + exact}))
    assert [each.mark for each in found[:4]] == ["artefact", "new", "reproduced", "reproduced"]
    assert "is 0.000 for harmonic and 0.000 for AMLE" in found[3].text
    assert {each.scope for each in found} == {"On the paper's 120 cells."}


@pytest.mark.parametrize("more", [{}, {"layout": "....", "maze": "large"}])
def test_nothing_is_said_about_the_paper_on_other_cells(more: dict[str, str]) -> None:
    """One cell of the paper's grid, or all of it on a map of one's own."""
    tables = rollouts(450, 940, 1000, 1000)
    found = findings(whole_grid(tables, **more) if more else tables)
    assert {each.mark for each in found} == {"partial", "new"}
    assert len(found) == 4  # none row by row
    cells = "60 cells (large (one's own map); r" if more else "1 cell (large; r = 8; lf = 0.02; 1"
    assert all(each.scope.startswith(f"On {cells}") for each in found)
    assert all("no verdict on the paper" in each.scope for each in found)


def test_cells_beside_the_papers_have_no_say() -> None:
    rows = [*whole_grid(rollouts(450, 940, 1000, 1000))["rollout"]]
    odd = [row | {"maze": "umaze", "reached": 0} for row in rows]
    assert findings(as_rows({"rollout": rows + odd})) == findings(as_rows({"rollout": rows}))


def test_headline_compares_with_the_same_rows_of_the_paper() -> None:
    said = headline(make_claims({}), rollouts(450, 940, 999, 1000))
    assert len(said) == 3
    assert "45.0% of the starts on harmonic values (paper: 45.8%)" in said[1]
    assert "fails from 1 of 1,000 starts" in said[2]
    own = whole_grid(rollouts(450, 940, 999, 1000), layout="....")
    assert "paper" not in headline(make_claims({}), own)[1]
    assert not any("theirs" in svg for _, svg in panels(own["rollout"]))
    assert len(headline(make_claims({}), {})) == 1


@pytest.mark.parametrize(
    ("last", "mark"), [(1000, "artefact"), (980, "artefact"), (1012, "differs")]
)
def test_p_sixteen_beside_the_amle(last: int, mark: str) -> None:
    rows = [arm(f"p{p}", 1000, p=float(p)) for p in (4, 8)]
    rows += [arm("p16", last, p=16.0), arm("amle", 1000, p=float("inf"))]
    assert findings(as_rows({"finite_p": everywhere(rows)}))[0].mark == mark


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
    assert told in findings(as_rows({"finite_p": rows}))[1].text


def test_the_nearest_of_our_budgets_is_named() -> None:
    rows = [arm("sweeps", 930, sweeps=200), arm("sweeps", 990, sweeps=500)]
    (found,) = findings(as_rows({"iteration_audit": everywhere(rows)}))
    assert "200 comes nearest, with 0.930; after 500 ours have 0.990" in found.text
    assert "our reading" in found.text
    assert not findings(as_rows({"iteration_audit": rows}))


@pytest.mark.parametrize(("higher", "told"), [(24, True), (18, True), (17, False), (0, True)])
def test_differences_in_one_direction_are_told(higher: int, told: bool) -> None:
    """Seventeen heads of twenty-four coins are no surprise, eighteen are."""
    ours = {name: Measure(figure.value) for name, figure in FIGURES.items()}
    for number, (maze, r, lf) in enumerate(GRID):
        name = f"grid-{maze}/r{r}/lf{lf:.2f}/harmonic"
        ours[name] = Measure(FIGURES[name].value + (0.01 if number < higher else -0.01))
    ours["main/harmonic/low"] = Measure(0.591)
    first = mismatches(make_claims(ours))[0]
    assert first.title.startswith("Harmonic is systematically") == told
    if told:
        assert f"higher in {higher} and lower in {24 - higher}" in first.text
        assert "0.591 to 0.623 excludes it" in first.text


def test_mismatches_are_grouped_by_reason() -> None:
    ours = {name: Measure(figure.value) for name, figure in FIGURES.items()}
    assert mismatches(make_claims(ours))[0].title == "Nothing differs"
    ours |= {
        "failures/harmonic/strict_minima": Measure(3.0),
        "baselines/nearest/success": Measure(0.05),
        "setup/medium/r4/rows/value": Measure(32.0),
    }
    found = mismatches(make_claims(ours))
    assert [item.title for item in found] == [
        "Probably other graphs: 2 figures.",
        "Probably the paper's harmonic solver: 1 figure.",
    ]
    assert "32 × 24" in found[0].text
    assert "3 against 116" in found[1].text


def test_inconsistencies_quote_the_paper() -> None:
    told = " ".join(inconsistencies())
    for quoted in ("93.8", "93.9", "2 and 5", "0.750", "0.833"):
        assert quoted in told


# ------------------------------------------------------------------- charts


def test_a_chart_says_its_numbers() -> None:
    series = [Series("ours", "harmonic", [(0, 0.25), (1, 1.0)], [(0.2, 0.3), (1.0, 1.0)])]
    drawn = line_chart(series, [(0, "r = 4"), (1, "r = 8")], "success")
    assert "<title>ours, r = 4: 0.25</title>" in drawn
    assert outline(drawn).tags.count("title") == 2


def test_a_chart_leaves_out_what_is_no_number() -> None:
    series = [Series("ours", "harmonic", [(0, float("nan")), (1, 0.5)])]
    drawn = line_chart(
        [*series, Series("none", "exit", [(0, float("nan"))])], [(0, "a"), (1, "b")], ""
    )
    assert outline(drawn).tags.count("title") == 1
    assert "nan" not in drawn


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (Scale(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (Scale(0.95, 1), [0.95, 0.96, 0.97, 0.98, 0.99, 1.0]),
        (Scale(1e-5, 1e-1, log=True), [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]),
    ],
)
def test_ticks_are_round(scale: Scale, ticks: list[float]) -> None:
    assert scale.ticks == pytest.approx(ticks)
    assert scale.place(scale.low) > scale.place(scale.high)
    assert scale.place(scale.high * 10) == scale.place(scale.high)
