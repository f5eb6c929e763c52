"""The pages on what is proved, and on the open problems, name functions and tests that exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from wayfield_study import audit

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "proved-and-measured.md").read_text(encoding="utf-8")
BOTH = PAGE + (ROOT / "docs" / "open-problems.md").read_text(encoding="utf-8")
FUNCTIONS = sorted(set(re.findall(r"`audit\.([\w.]+)", BOTH)))


def named_tests() -> list[tuple[str, str]]:
    """Module and name of every test on the page; ``…name`` is one of the module before it."""
    found, module = [], ""
    for text in re.findall(r"`([^`\n]+)`", BOTH):
        match = re.fullmatch(r"(?:(\w+/test_\w+)::|…)(test_\w+)", text)
        if match:
            module = match[1] or module
            found.append((module, match[2]))
    return found


def test_it_names_many() -> None:
    assert len(named_tests()) > 25
    assert len(FUNCTIONS) >= 10


@pytest.mark.parametrize(("module", "name"), named_tests())
def test_named_tests_exist(module: str, name: str) -> None:
    homes = [ROOT / tests / f"{module}.py" for tests in ("tests", "study/tests")]
    tree = ast.parse(next(filter(Path.exists, homes)).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("path", FUNCTIONS)
def test_named_functions_exist(path: str) -> None:
    found: object = audit
    for part in path.split("."):
        found = getattr(found, part)
    assert found.__doc__


@pytest.mark.parametrize(
    "statement",
    [
        "operational basin partition",
        "local action-ordering preservation",
        "planner-admissibility certificate",
        "AMLE local extension error",
        "maximum principle",
        "interior cycles",
        "residual–margin bound",
        "harmonic-measure representation",
        "anti-admissibility",
        "extendable interior",
        "harmonic residual",
        "combined local separation",
        "ordinal fidelity",
        "bad-tail mass",
        "subdivision equivariance",
        "seven-node",
    ],
)
def test_every_statement_of_the_paper_has_a_row(statement: str) -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    assert any(statement in row.split("|")[1] for row in rows)
