"""The tables from the checker to its theorems name both sides as they are, all and nothing else."""

from __future__ import annotations

import ast
import re
import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CHECKER = ROOT / "src" / "wayfield_verify"
PAGE = runpy.run_path(str(ROOT / "docs" / "theorems.py"))
ROWS: list[list[str]] = PAGE["tables"]()
COQ = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "theorems").glob("*.v")}
WITHOUT_LIBRARY = {"None", "Z.sgn"}


def functions() -> set[str]:
    """Every function and class of the modules that prove, with a method's class before it."""
    found = set()
    for module in ("_field", "_numbers", "_powers", "_plan", "_chance"):
        for node in ast.parse((CHECKER / f"{module}.py").read_text(encoding="utf-8")).body:
            if not isinstance(node, ast.FunctionDef | ast.ClassDef) or node.name == "NotProved":
                continue
            found.add(f"{module}.{node.name}")
            if isinstance(node, ast.ClassDef):
                inner = (each.name for each in node.body if isinstance(each, ast.FunctionDef))
                found.update(f"{module}.{node.name}.{name}" for name in inner)
    return found


def message(node: Any, names: dict[str, ast.expr]) -> str:
    """What an error says, with dots for what it names."""
    if isinstance(node, ast.Name):
        return message(names[node.id], names)
    if isinstance(node, ast.JoinedStr):
        return "".join(message(part, names) for part in node.values)
    return str(node.value) if isinstance(node, ast.Constant) else "…"


def refusals() -> set[str]:
    """Every `raise NotProved` of the modules that prove, by its message."""
    found = set()
    for module in ("_field", "_plan", "_chance"):
        tree = ast.parse((CHECKER / f"{module}.py").read_text(encoding="utf-8"))
        names = {
            node.targets[0].id: node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            call = node.exc if isinstance(node, ast.Raise) else None
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "NotProved":
                found.add(f"`{module}`: {message(call.args[0], names)}")
    return found


def test_every_function_and_every_refusal_has_one_row() -> None:
    rows = Counter(row[0] for row in ROWS)
    assert len(functions()) > 40
    assert len(refusals()) > 50
    assert rows == Counter({f"`{name}`" for name in functions()} | refusals())


def test_every_row_names_theorems_and_hypotheses_that_exist() -> None:
    every = "\n".join(COQ.values())
    named = {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[1])}
    assert len(named) > 60
    kinds = r"(?:Theorem|Lemma|Definition|Record|Hypothesis|Inductive)"
    for name in named - WITHOUT_LIBRARY:
        assert re.search(rf"\b{kinds} {re.escape(name)}\b", every), name


def test_a_row_says_what_covers_it_or_that_nothing_does() -> None:
    for row in ROWS:
        assert len(row) == 2, row
        assert "`" in row[1] or PAGE["NONE"] in row[1], row


def test_every_theorem_is_in_words_and_on_the_page() -> None:
    stated = [f"{each.file}: {each.name}" for each in PAGE["theorems"]()]
    found = [
        f"{module}.v: {name}"
        for module, text in COQ.items()
        for name in re.findall(r"^Theorem (\w+)", text, flags=re.MULTILINE)
    ]
    assert sorted(stated) == sorted(found)
    page = PAGE["as_markdown"]()
    for each in PAGE["theorems"]():
        assert each.words.endswith("."), each
        assert f"| `{each.name}` | {each.words} | {each.line} | {each.assumptions} |" in page


def test_every_theorem_serves_the_checker() -> None:
    named = {name for row in ROWS for name in re.findall(r"`([^`]+)`", row[1])}
    assert {each.name for each in PAGE["theorems"]()} <= named


@pytest.mark.parametrize(
    "place", ["docs/proofs.md", "docs/how-to/certificates.md", "docs/proofs-of-plans.md"]
)
def test_the_interval_test_is_quoted_with_its_proviso(place: str) -> None:
    text = (ROOT / place).read_text(encoding="utf-8")
    assert re.search(r"cost what the graph says|costs what the graph says", text)
