"""The documentation: every public name has an example and a place in the reference."""

from __future__ import annotations

import importlib.util
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import wayfield as wf
import wayfield.sklearn

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
REFERENCE = "\n".join(page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.md"))


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
    yield "sklearn.GraphValueRegressor", wayfield.sklearn.GraphValueRegressor


@pytest.mark.parametrize(("name", "value"), list(public_names()))
def test_every_public_name_has_an_example(name: str, value: Any) -> None:
    text = inspect.getdoc(value) or ""
    assert "Examples\n--------" in text, f"{name} has no section Examples"
    assert ">>> " in text, f"{name} has no example that runs"


@pytest.mark.parametrize("name", [name for name, _ in public_names()])
def test_every_public_name_is_in_the_reference(name: str) -> None:
    home, _, short = name.rpartition(".")
    entry = re.compile(rf"^::: wayfield\.{home}\.?([a-z_]+\.)*{short}$", flags=re.MULTILINE)
    assert entry.search(REFERENCE), f"docs/api has no entry for {name}"


# -------------------------------------------------------------------- hooks of the site


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hooks", DOCS / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_every_example_is_in_the_gallery(hooks: ModuleType) -> None:
    shown = hooks.EXAMPLE.findall((DOCS / "gallery.md").read_text(encoding="utf-8"))
    there = [script.stem for script in (ROOT / "examples").glob("*.py")]
    assert sorted(shown) == sorted(there)


# -------------------------------------------------------------------- types


def test_the_package_says_that_it_is_typed() -> None:
    assert Path(wf.__file__).with_name("py.typed").exists()
