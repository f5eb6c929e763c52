"""The kernels as plain Python, in a process of its own: coverage sees them, and bounds are checked.

Compiled kernels index without looking; NumPy raises an `IndexError` past the end of an array. Its
warnings of arithmetic with infinities are left out, since compiled code gives none.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("files", "chosen"),
    [
        (["graph/labels", "graph/shortest_paths", "kernels/amle_kernels", "kernels/following"], ""),
        (["extension/sweeps", "extension/envelopes", "extension/harmonic"], ""),
        (["plans/plan", "plans/lifting"], ""),
        (["extension/amle_hostile"], "followed or hangs or never_make"),
        (["extension/principles"], "Harmonic"),
        (["graph/graph"], "twin or symmetr or components"),
        (["certificates/certify"], "naive or rounding or periods or round_trips or gap_bound"),
        (["audit/half_gap", "audit/ordering", "audit/mechanism"], ""),
        (["audit/failures"], "twin or walker"),
        (["experiments/energy_solvers"], "twin or level"),
        (["chance/chance"], "tried or biased or teleporter or rare or distance or labels or lucky"),
        (["package/fuzz"], "wild"),
        (["replay/replay_counts"], "twin or order_of_time or either_sign or whatever or jumps"),
        (["replay/replay_odds"], "suspect or around"),
    ],
    ids=str,
)
def test_kernels_without_the_compiler(files: list[str], chosen: str) -> None:
    paths = []
    for name in files:
        file = f"{name.replace('/', '/test_')}.py"
        paths.append(
            next(p for p in (f"tests/{file}", f"study/tests/{file}") if (ROOT / p).exists())
        )
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning", "-k", chosen]
    if all(path.startswith("tests/") for path in paths):
        options.append("--hypothesis-profile=few")
    command = [sys.executable, "-m", "pytest", *options, *paths]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
