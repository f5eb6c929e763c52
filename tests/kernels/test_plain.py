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
        (["labels", "oracle", "sweeps", "envelopes", "kernels_amle"], ""),
        (["harmonic", "plan", "descending", "following"], ""),
        (["amle_hostile"], "followed or hangs or never_make"),
        (["principles"], "Harmonic"),
        (["graph"], "twin or symmetr or components"),
        (["certify"], "naive or rounding or periods or round_trips or gap_bound"),
        (["audit_half_gap", "audit_ordering", "audit_mechanism"], ""),
        (["audit_failures"], "twin or walker"),
        (["energy_solvers"], "twin or level"),
        (["chance"], "tried or biased or teleporter or rare or distance or labels or lucky"),
        (["fuzz"], "wild"),
        (["replay_counts"], "twin or order_of_time or either_sign or whatever or jumps"),
        (["replay_odds"], "suspect or around"),
    ],
    ids=str,
)
def test_kernels_without_the_compiler(files: list[str], chosen: str) -> None:
    paths = [f"tests/test_{name}.py" for name in files]
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning", "-k", chosen]
    command = [sys.executable, "-m", "pytest", *options, *paths]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
