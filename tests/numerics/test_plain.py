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


LIBRARY = {
    "graphs/labels": "",
    "graphs/graph": "twin or symmetr or components",
    "numerics/laplacian": "not diagonal_where and not hardly_grow and not given_up",
    "fields/linear": "agree_with_dense or barriers or what_is_sure or components_with",
    "replay/outcomes": "",
    "audit/half_gap": "not a_thousand or False-unit",
    "audit/ordering": "",
    "audit/mechanism": "not on_a_maze",
    "audit/failures": "twin or walker",
    "plans/plan": "not hub and not rounds_up",
    "plans/lifting": "not large",
    "certificates/certify": "naive or rounding",
    "certificates/intervals": "definition",
    "fields/exact": "nearest or (hold_the_exact and (grid or star or flat-any) and not iteration)",
    "fields/amle": "followed or hangs or believes or reads_no_arc or near_ties",
    "fields/derivatives": "rationals or chains or discontinuity",
    "package/fuzz": "wild and (AMLE or Harmonic or PLaplacian)",
    "mdp/chance": "tried or biased or teleporter or rare or distance or labels or lucky",
    "replay/replay_counts": "(twin and not 40) or of_time or either_sign or whatever or jumps",
    "replay/replay_odds": "",
}
STUDY = {
    "sweeps": "not first_field or 0.3-0.5",
    "experiments/energy_solvers": "twin or level",
}
"""Test files, and the tests to run in each: those with small cases. An empty text means all."""


@pytest.mark.parametrize(
    ("root", "tests"), [("tests", LIBRARY), ("study/tests", STUDY)], ids=["library", "study"]
)
def test_kernels_without_the_compiler(root: str, tests: dict[str, str]) -> None:
    """One process for the library and one for the study: each takes seconds to start."""
    paths, chosen = [], []
    for name, some in tests.items():
        folder, _, file = f"{name}.py".rpartition("/")
        paths.append(str(Path(root, folder, f"test_{file}")))
        chosen.append(f"({file} and ({some}))" if some else file)
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore::RuntimeWarning"]
    options += ["--hypothesis-profile=few", "-k", " or ".join(chosen)]
    command = [sys.executable, "-m", "pytest", *options, *paths]
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
