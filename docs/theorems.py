"""What the page on machine-checked theorems says, read from the Coq sources and two tables.

Every ``Theorem`` of ``theorems/*.v`` follows a comment ``(** … *)`` that says it in words.
``theorems/assumptions.txt`` says what each assumes; ``make theorems`` compares it with what Coq
prints. ``theorems/checker.txt`` leads from each function of the checker, and then from everything
that makes it say no, to the theorems. A test compares it with the checker's source.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "theorems"
STATED = re.compile(r"\(\*\*((?:(?!\*\)).)*)\*\)\s*Theorem (\w+)", re.DOTALL)
NONE = "no theorem covers this"
HEADS = (
    "## From the checker to its theorems\n\n| function | theorem |",
    "Dots in a message stand for a vertex, a state or a number.\n\n"
    "| the checker says no | hypothesis |",
)
ORDER = (
    "Field", "Filled", "TwoLeast", "Signs", "Powers", "Plans",
    "Cost", "Arrival", "Odds", "Intervals",
)  # fmt: skip
"""The files with theorems, as one reads them; the others hold what these rest on."""


class Theorem(NamedTuple):
    """A theorem that Coq has checked."""

    file: str
    line: int
    name: str
    words: str
    assumptions: str


def theorems() -> list[Theorem]:
    """Return the theorems of all files, in reading order."""
    lines = (FOLDER / "assumptions.txt").read_text(encoding="utf-8").splitlines()
    assumed = dict(line.split(": ", 1) for line in lines)
    found = []
    for module in ORDER:
        text = (FOLDER / f"{module}.v").read_text(encoding="utf-8")
        for match in STATED.finditer(text):
            line = text.count("\n", 0, match.start(2)) + 1
            words = " ".join(match[1].split())
            axioms = assumed[f"{module}.{match[2]}"]
            found.append(Theorem(f"{module}.v", line, match[2], words, _in_words(axioms)))
    return found


def _in_words(axioms: str) -> str:
    if axioms == "none":
        return "none"
    return "Coq's reals" + (", excluded middle" if "Classical_Prop.classic" in axioms else "")


def tables() -> list[list[str]]:
    """Return the rows that lead from the checker to the theorems: functions, then refusals."""
    return [row for table in _tables() for row in table]


def _tables() -> list[list[list[str]]]:
    text = (FOLDER / "checker.txt").read_text(encoding="utf-8")
    return [[line.split(" | ") for line in part.splitlines()] for part in text.split("\n\n")]


def as_markdown() -> str:
    """Write every theorem in words, and what no theorem covers."""
    parts = []
    for module in ORDER:
        text = (FOLDER / f"{module}.v").read_text(encoding="utf-8")
        head = re.match(r"\(\*(.*?)\*\)", text, re.DOTALL)
        assert head is not None
        parts.append(f"### {module}.v\n\n{' '.join(head[1].split())}\n")
        parts.append("| theorem | in words | line | assumes |\n|---|---|---|---|")
        parts += [
            f"| `{each.name}` | {each.words} | {each.line} | {each.assumptions} |"
            for each in theorems()
            if each.file == f"{module}.v"
        ]
        parts.append("")
    for title, rows in zip(HEADS, _tables(), strict=True):
        parts.append(f"{title}\n|---|---|")
        parts += [f"| {checked} | {theorem} |" for checked, theorem in rows]
        parts.append("")
    return "\n".join(parts)
