"""Draw success by p: in the paper, with solvers stopped early as there, and with solved fields.

Run it with ``python examples/solved_fields.py [FILE [CLAIMS]]``; CLAIMS is a ``claims.json`` that
``wayfield reproduce`` wrote, by default the figures of the note. It needs the extra ``plots``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import matplotlib.pyplot as plt

DOCS = Path(__file__).parents[1] / "docs"
PICTURE = DOCS / "images" / "solved_fields.png"
CLAIMS = DOCS / "assets" / "note-claims.json"
FIGURES = {
    "2": "main/harmonic/success",
    "4": "finite-p/p4/success",
    "8": "finite-p/p8/success",
    "16": "finite-p/p16/success",
    "∞ (AMLE)": "finite-p/pinf/success",
}


def main(path: Path = PICTURE, claims: Path = CLAIMS) -> None:
    """Draw three lines: the paper's figures, ours at its budget, and ours with solved fields."""
    found = {claim["id"]: claim for claim in json.loads(claims.read_text(encoding="utf-8"))}
    rows = [found[name] for name in FIGURES.values()]
    # A harmonic field is a linear solve: there is no early stop, and "ours" is the solved one.
    solved = [row["ours"] if row["ours_exact"] is None else row["ours_exact"] for row in rows]
    members = list(FIGURES)
    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    ax.plot(members, [row["paper"] for row in rows], "o--", label="the paper")
    ax.plot(members, [row["ours"] for row in rows], "s:", label="ours, solvers stopped early")
    ax.plot(members, solved, "^-", label="ours, solved fields")
    ax.set(xlabel="p", ylabel="share of starts that reach the goal", ylim=(0.55, 1.02))
    ax.legend(loc="lower right")
    figure.savefig(path, dpi=120)
    for p, row, exact in zip(members, rows, solved, strict=True):
        stopped = row["ours"]
        print(f"p = {p}: paper {row['paper']:.3f}, stopped early {stopped:.3f}, solved {exact:.3f}")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
