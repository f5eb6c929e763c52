"""The pages on what is proved, and on the open problems, name functions and tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

from wayfield import audit

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reading-the-paper.md").read_text(encoding="utf-8")
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
    assert len(FUNCTIONS) >= 7


def test_named_tests_exist() -> None:
    for module, name in named_tests():
        homes = [ROOT / tests / f"{module}.py" for tests in ("tests", "study/tests")]
        text = next(filter(Path.exists, homes)).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", text, flags=re.MULTILINE), (module, name)


def test_named_functions_exist() -> None:
    for path in FUNCTIONS:
        found: object = audit
        for part in path.split("."):
            found = getattr(found, part)
        assert found.__doc__, path


def test_every_statement_of_the_paper_has_a_row() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| ")]
    for statement in (
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
    ):
        assert any(statement in row.split("|")[1] for row in rows), statement
