from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import matplotlib as mpl
import pytest

from wayfield.report import Provenance, render, write_report
from wayfield.report.verdicts import compare, power, printed_success, signed, verdicts
from wayfield.study import Cell, Record, Store, paper, run, select_cells
from wayfield.study.tables import Results

mpl.use("Agg")

PROVENANCE = Provenance("wayfield reproduce", workers=2, seconds=12.0)
VOID = {"meta", "img", "br"}


class Outline(HTMLParser):
    """Complains about tags that do not match; keeps the text, and what the page would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.sources: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.sources += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    parser.close()
    assert parser.open == []
    return parser


def as_printed(cell: Cell, exact_failures: int = 0) -> Record:
    """Figures of a cell that has exactly the paper's success."""
    row = paper.GRID[cell.configuration]
    record: Record = {"pairs": 512.0, "seconds": 0.5, "vertices": 416.0, "labels": 9.0}
    reached = {
        "harmonic": round(512 * row.harmonic),
        "sweeps": round(512 * row.amle),
        "amle": 512 - exact_failures,
        "amle_exit": 512 - exact_failures,
    }
    for arm, count in reached.items():
        for suffix in ("", "_all"):
            record[f"{arm}.reached{suffix}"] = count
            record[f"{arm}.boundary{suffix}"] = 512 - count
            record[f"{arm}.interior{suffix}"] = 0
        record[f"{arm}.relative_width"] = 1e-16
    return record


@pytest.fixture(scope="module")
def printed() -> Results:
    return Results({cell: as_printed(cell) for cell in select_cells("all")})


@pytest.fixture(scope="module")
def page(printed: Results) -> str:
    return render(printed, PROVENANCE)


def test_page_is_whole_and_loads_nothing(page: str) -> None:
    found = outline(page)
    assert found.tags.count("svg") == 5  # three panels, two charts
    assert found.tags.count("img") == 3
    assert all(source.startswith(("data:", "#")) for source in found.sources)
    assert "<script" not in page
    assert not re.search(r"url\((?!#)|@import", page)


@pytest.mark.parametrize("configuration", paper.GRID)
def test_page_has_the_papers_figures(page: str, configuration: tuple[str, int, float]) -> None:
    row = paper.GRID[configuration]
    maze, refinement, fraction = configuration
    table = page[page.index(f"AntMaze {maze}") :]
    place = re.search(
        rf'<tr><th scope="row">{refinement}</th><th scope="row">{fraction:.2f}</th>(.*?)</tr>',
        table,
        flags=re.DOTALL,
    )
    assert place is not None
    numbers = re.findall(r">([+−]?\d+\.\d+)<", place[1])
    assert numbers[1] == f"{row.harmonic:.3f}"
    assert numbers[4] == f"{row.amle:.3f}"
    assert numbers[7] == f"+{row.lift:.1f}"


def test_page_has_the_aggregates(page: str) -> None:
    text = " ".join("".join(outline(page).text).split())
    for figure in ("0.584 ± 0.230", "[0.543, 0.623]", "0.970 ± 0.061", "+38.6 ± 20.9", "96.1 %"):
        assert figure in text
    assert "wayfield reproduce" in text
    assert "54, 55, 56, 57, 58" in text


def test_ink_follows_the_page(page: str) -> None:
    assert "currentColor" in page
    assert "#123456" not in page


def test_same_figures_same_page(printed: Results, page: str) -> None:
    assert render(printed, PROVENANCE) == page


def test_report_of_a_quick_run(tmp_path: Path) -> None:
    outcome = run(select_cells("quick", goals=2), Store(tmp_path / "results"), workers=1)
    path = write_report(Results(outcome.records), tmp_path / "new" / "report", PROVENANCE)
    assert path == tmp_path / "new" / "report" / "index.html"
    text = "".join(outline(path.read_text(encoding="utf-8")).text)
    assert "8 cells" in text
    assert "2 goals" in text


def test_failed_cells_are_shown_and_escaped(printed: Results) -> None:
    failed = {"medium-r04": "Traceback\nValueError: <b>bad</b>"}
    page = render(printed, Provenance("wayfield reproduce", 2, 1.0, 119, failed))
    assert "ValueError: &lt;b&gt;bad&lt;/b&gt;" in page
    assert "119 taken from an earlier run, 1 failed" in page


# ------------------------------------------------------------------- verdicts


def test_verdicts_on_the_papers_own_figures(printed: Results) -> None:
    marks = [verdict.mark for verdict in verdicts(printed)]
    expected = ["reproduced", "reproduced", "reproduced", "artefact", "new", "reproduced", "new"]
    assert marks == expected
    assert "reproduced within 0.01" in verdicts(printed)[0].finding
    assert "Positive in 24 of 24" in verdicts(printed)[2].finding


def test_no_artefact_while_exact_solves_fail() -> None:
    worse = Results({cell: as_printed(cell, exact_failures=9) for cell in select_cells("all")})
    found = verdicts(worse)
    assert found[3].mark == found[4].mark == "differs"
    assert "Solver artefact" not in found[3].finding
    assert "1,080 of 61,440 starts fail" in found[4].finding


def test_no_failures_at_all() -> None:
    perfect = {
        cell: {
            name: 512.0 if "reached" in name else 0.0 if "." in name else value
            for name, value in as_printed(cell).items()
        }
        for cell in select_cells("all")
    }
    found = verdicts(Results(perfect))
    assert found[3].mark == "differs"
    assert found[5].finding == "Ours: no sampled pair ends in a loop."
    assert "nan" not in "".join(outline(render(Results(perfect), PROVENANCE)).text).split()


def test_printed_success_is_the_papers(printed: Results) -> None:
    assert printed_success(printed, "harmonic") == pytest.approx(0.584, abs=1e-3)
    medium = printed.where(maze="medium", refinement=4)
    assert printed_success(medium, "amle") == pytest.approx((0.977 + 0.996 + 0.996 + 1) / 4)


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (0.5, 0.5, "reproduced within 0.01"),
        (0.52, 0.5049, "reproduced within 0.02"),
        (0.55, 0.51, "reproduced within 0.05"),
        (0.6, 0.5, "differs by +0.100"),
        (0.4, 0.5, "differs by −0.100"),
    ],
)
def test_comparisons_in_words(ours: float, theirs: float, words: str) -> None:
    assert compare(ours, theirs) == words


def test_powers_of_ten() -> None:
    assert [power(x).split() for x in (4.4e-16, 0.0, 25.0)] == [
        ["4.4", "×", "10⁻¹⁶"],
        ["0"],
        ["2.5", "×", "10¹"],
    ]


def test_signs() -> None:
    assert [signed(x, 1) for x in (1.25, -1.25, 0.0, -0.01)] == ["+1.2", "−1.2", "0.0", "0.0"]
