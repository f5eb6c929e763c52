"""The documentation: every public name has an example and a place in the reference."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import json
import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import wayfield as wf
from shell import wayfield
from wayfield.adapters.sklearn import GraphValueRegressor
from wayfield_study.paper.figures import FIGURES

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def public_names() -> Iterator[tuple[str, Any]]:
    """Everything a user imports, and what the modules among it hold; results of audits apart."""
    for name in wf.__all__:
        value = getattr(wf, name)
        if not inspect.ismodule(value):
            yield name, value
            continue
        for inner in getattr(value, "__all__", []):
            if inspect.isfunction(getattr(value, inner)):
                yield f"{name}.{inner}", getattr(value, inner)
    yield "adapters.sklearn.GraphValueRegressor", GraphValueRegressor


def script(name: str) -> ModuleType:
    """A module of the documentation's folder."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    return script("hooks")


@pytest.fixture(scope="module")
def reference(hooks: ModuleType) -> str:
    """The reference, its markers filled in."""
    pages = (page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))
    return "\n".join(map(hooks.with_reference, pages))


def test_every_public_name_has_an_example() -> None:
    for name, value in public_names():
        text = inspect.getdoc(value) or ""
        assert "Examples\n--------" in text, f"{name} has no section Examples"
        assert ">>> " in text, f"{name} has no example that runs"


def test_every_public_name_is_in_the_reference(reference: str) -> None:
    for name, _ in public_names():
        home, _, short = name.rpartition(".")
        entry = re.compile(rf"^::: wayfield\.{home}\.?([a-z_]+\.)*{short}$", flags=re.MULTILINE)
        assert entry.search(reference), f"docs/api has no entry for {name}"


@pytest.mark.parametrize("sister", ["travel", "replay", "explorer"])
def test_every_name_of_a_sister_is_in_the_reference(sister: str, reference: str) -> None:
    package = importlib.import_module(f"wayfield.{sister}")
    for name in package.__all__:
        if getattr(package, name).__module__.startswith(package.__name__):  # not the core's
            entry = re.compile(rf"^::: wayfield\.{sister}\.{name}$", flags=re.MULTILINE)
            assert entry.search(reference), f"docs/api has no entry for {sister}.{name}"


# -------------------------------------------------------------------- commands on the pages

CONSOLE = re.compile(r"^```console\n(.*?)^```", flags=re.MULTILINE | re.DOTALL)
VARIES = re.compile(r"\b[\d.]+ m?s\b|\b[\d.]+e-\d+|─+")
"""Times, rounding errors, and lines as wide as the table."""


def sessions(page: str) -> list[tuple[str, list[str]]]:
    """The commands of a page in their order, each with the lines that are shown below it."""
    found: list[tuple[str, list[str]]] = []
    for block in CONSOLE.findall((ROOT / page).read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def settled(text: str) -> list[str]:
    """Lines without what varies from run to run; blank ones left out."""
    lines = (" ".join(VARIES.sub("~", line).split()) for line in text.splitlines())
    return [line for line in lines if line]


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in (ROOT / "examples" / "data").glob("*.csv"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("data")
@pytest.mark.parametrize(
    "page",
    ["README.md", "docs/tutorial.md", "docs/command-line.md", "docs/how-to/travel-times.md"],
)
def test_commands_print_what_their_page_shows(page: str) -> None:
    commands = sessions(page)
    assert commands
    for command, shown in commands:
        first, *words = shlex.split(command)
        assert first == "wayfield"
        answer = wayfield(*words)
        assert answer.code == (2 if shown[0].startswith("wayfield: ") else 0), answer.err
        printed = iter(settled(answer.out + answer.err))
        for line in settled("\n".join(shown)):
            assert line == "…" or line in printed, f"{command}: {line}"


# -------------------------------------------------------------------- hooks of the site


def test_formulas_become_mathml(hooks: ModuleType) -> None:
    page = r'<span class="arithmatex">\(x &lt; y\)</span><div class="arithmatex">\[z^2\]</div>'
    html = hooks.on_page_content(page, None, None, None)
    assert "arithmatex" not in html
    assert re.search(r'<math[^>]*display="inline".*<mi>x</mi><mo>&#x0003C;</mo><mi>y</mi>', html)
    assert re.search(r'<math[^>]*display="block".*<msup>', html)


def test_an_unknown_command_in_a_formula_is_a_warning(
    hooks: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    page = r'<span class="arithmatex">\(\nosuchcommand x\)</span>'
    hooks.on_page_content(page, None, None, None)
    assert "nosuchcommand" in caplog.text


@pytest.mark.parametrize(
    ("html", "loads"),
    [
        ('<script src="https://example.org/x.js"></script>', True),
        ('<link rel="stylesheet" href="//example.org/x.css">', True),
        ('<img alt="x" src=http://example.org/x.png>', True),
        ('<script src="../assets/x.js"></script><a href="https://example.org">there</a>', False),
    ],
)
def test_what_a_page_loads_from_elsewhere_is_a_warning(
    html: str, loads: bool, hooks: ModuleType, caplog: pytest.LogCaptureFixture
) -> None:
    class Page:
        class file:  # noqa: N801  (as mkdocs names it)
            src_uri = "page.md"

    assert hooks.on_post_page(html, Page, None) == html
    assert ("page.md loads something" in caplog.text) == loads


def test_the_command_lines_page_has_the_help_of_every_command(hooks: ModuleType) -> None:
    page = (DOCS / "command-line.md").read_text(encoding="utf-8")
    listed = re.findall(r"^│ ([a-z]+) ", wayfield("--help").out, flags=re.MULTILINE)
    assert {"plan", "compare", "doctor"} <= set(listed)
    shown = {words.split()[0] for words in hooks.HELP.findall(page)}
    assert set(listed) - {"reproduce", "study", "report"} == shown
    printed = hooks.on_page_markdown("<!-- help: travel trips -->", None, None, None)
    assert printed.startswith("```text\n")
    assert "Usage: wayfield travel trips" in printed


@pytest.mark.parametrize("door", ["tutorial", "how-to/travel-times", "how-to/buffer-to-agent",
                                  "how-to/explore"])  # fmt: skip
def test_a_door_begins_with_a_run_its_picture_and_what_it_means(door: str) -> None:
    page = (DOCS / f"{door}.md").read_text(encoding="utf-8")
    parts = [page.index(mark) for mark in ("\n```", "\n```\n", "\n![", "\n*", "\n## ")]
    assert parts == sorted(parts)


def test_readme_and_glossary_are_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 90
    page = (DOCS / "glossary.md").read_text(encoding="utf-8")
    words = re.findall(r"^- \*\*(.+?)\*\*", page, flags=re.MULTILINE)
    assert 20 < len(words) <= 35
    assert words == sorted(words, key=str.lower)


def test_every_example_is_in_the_gallery(hooks: ModuleType) -> None:
    shown = hooks.EXAMPLE.findall((DOCS / "gallery.md").read_text(encoding="utf-8"))
    there = [script.stem for script in (ROOT / "examples").glob("*.py")]
    assert sorted(shown) == sorted(there)


# -------------------------------------------------------------------- types


def test_the_package_says_that_it_is_typed() -> None:
    assert Path(wf.__file__).with_name("py.typed").exists()


# -------------------------------------------------------------------- figures of the paper

figures = script("figures")
CLAIMS = {claim["id"]: claim for claim in json.loads(figures.CLAIMS.read_text(encoding="utf-8"))}
RUN = json.loads(figures.RUN.read_text(encoding="utf-8"))
"""Those of the run that the pages quote."""
PAGES = {page.name: page.read_text(encoding="utf-8") for page in figures.PAGES}
FIGURE = re.compile(r"(?<![\w.§])\d[\d,]*\.\d+|\d{1,3}(?:,\d{3})+")
"""Decimals, and numbers of four digits and more."""
COMMAND = re.compile(r"`[^`]*`|\]\([^)]*\)")
STATED = {
    "0.02", "0.05", "0.08", "0.12",  # label fractions
    "0.01",  # where sweeps stop
    "1.000", "5,000", "1,000", "15,000", "2,000",  # budgets, draws, what a sentence asks for
    "0.4",  # of a formula in the same sentence
}  # fmt: skip
"""Numbers on these pages that are no figures of a run."""


@pytest.mark.parametrize("page", PAGES)
def test_figures_of_the_paper_are_those_of_a_run(page: str) -> None:
    quoted = figures.QUOTED.findall(PAGES[page])
    assert len(quoted) > 30
    for text, name, column in quoted:
        assert figures.text_of(name, column, CLAIMS, RUN) == text, (name, column)


def test_stored_claims_have_the_papers_figures() -> None:
    for name, claim in CLAIMS.items():
        assert claim["paper"] == FIGURES[name].value, name


@pytest.mark.parametrize("page", PAGES)
def test_every_figure_says_where_it_comes_from(page: str) -> None:
    """A number without a comment is a setting, or marked as found earlier."""
    for line in PAGES[page].splitlines():
        for sentence in re.split(r"(?<=[.:?])\s", COMMAND.sub("", figures.QUOTED.sub("", line))):
            bare = set(FIGURE.findall(sentence)) - STATED
            assert not bare or "*Earlier" in line, (sentence, bare)


def test_nothing_is_stored_that_is_not_quoted() -> None:
    quoted = {
        (name, column)
        for text in PAGES.values()
        for _, name, column in figures.QUOTED.findall(text)
    }
    names = {name for name, _ in quoted} - {"run"}
    assert names | set(figures.DRAWN) == CLAIMS.keys()
    assert {column for name, column in quoted if name == "run"} == RUN.keys()
