"""Kernels run as plain Python until compiling them pays, with the same results."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from wayfield.numerics import jit
from worlds import random_graph

ROOT = Path(__file__).parents[2]
compiler = pytest.mark.skipif(
    "NUMBA_DISABLE_JIT" in os.environ, reason="kernels are plain functions then"
)

PLAN = """
import sys
from wayfield.cli import main
sys.argv = ["wayfield", "plan", "roads.csv", "known.csv", "--goal", "Bern", "--out", sys.argv[1]]
try:
    main()
finally:
    print("NUMBA" if "numba" in sys.modules else "PLAIN")
"""


@compiler
def test_the_plan_of_nine_cities_compiles_nothing(tmp_path: Path) -> None:
    run = [sys.executable, "-c", PLAN, str(tmp_path / "plan")]
    done = subprocess.run(
        run,
        cwd=ROOT / "examples" / "data",
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kernels")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "9 of 9 starts reach the goal" in done.stdout
    assert done.stdout.endswith("PLAIN\n")
    assert not (tmp_path / "kernels").exists()


METHODS = (
    wf.AMLE(),
    wf.Harmonic(),
    wf.PLaplacian(8),
    wf.Whitney(lipschitz=None),
    wf.NearestLabel(),
)


def solved(graph: wf.Graph, labels: wf.Labels, method: Any) -> dict[str, Any]:
    answer = wf.solve(graph, labels, 0, method, check=False)
    field, certificate = answer.field, answer.certificate
    return {
        "values": field.values,
        "lower": field.lower,
        "upper": field.upper,
        "residual": field.residual,
        "outcomes": [outcome.name for outcome in answer.outcomes],
        "proved": certificate.certified,
        "margins": certificate.start_margin,
        "held out": wf.cross_validate(graph, labels, 0, method).predicted,
    }


@compiler
@pytest.mark.parametrize("lengths", ["unit", "real"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_bits_are_those_of_compiled_kernels(method: Any, lengths: str, directed: bool) -> None:
    if directed and not method.directed:
        pytest.skip("not defined on directed graphs")
    rng = np.random.default_rng(3)
    graph = random_graph(rng, 200, lengths, backbone="tree", edges=600, directed=directed)
    vertices = np.append(0, 1 + rng.choice(199, 20, replace=False))
    labels = wf.Labels(vertices, np.append(0.0, 9.0 * rng.random(20)))
    with jit.compiling("never"):
        plain = solved(graph, labels, method)
    with jit.compiling("always"):
        compiled = solved(graph, labels, method)
    for name, value in compiled.items():
        np.testing.assert_array_equal(plain[name], value, err_msg=name)


def kernel() -> Any:
    """A kernel of few bytes."""

    @jit.njit(cache=False)
    def total(numbers: Any) -> Any:
        found = 0.0
        for number in numbers:
            found += number
        return found

    return total


@compiler
@pytest.mark.parametrize("spent", [0.0, 1e9])
def test_a_kernel_is_compiled_once_its_calls_have_cost_as_much(
    monkeypatch: pytest.MonkeyPatch, spent: float
) -> None:
    monkeypatch.setattr(jit, "_spent", 1e9)
    total = kernel()
    total.spent, total.entries = spent, 1
    with jit.compiling(None):
        assert total(np.arange(3.0)) == 3.0
    assert total.is_compiled == (spent > 0.0)


@compiler
def test_a_large_problem_is_compiled_at_once() -> None:
    total = kernel()
    with jit.compiling(None):
        assert total(np.ones(3_000_000)) == 3e6
    assert total.is_compiled


def test_numbers_are_those_of_python() -> None:
    pair = jit.njit(cache=False)(lambda numbers: (numbers[0], numbers.sum(), numbers))
    for when in ("always", "never"):
        with jit.compiling(when):
            first, total, numbers = pair(np.array([1.0, 2.0]))
        if isinstance(pair, jit.Kernel):
            assert (type(first), type(total), type(numbers)) == (float, float, np.ndarray)
        assert (first, total) == (1.0, 3.0)


def test_plain_kernels_write_into_no_read_only_array() -> None:
    @jit.njit(cache=False)
    def write(numbers: Any) -> None:
        numbers[0] = 1.0

    kept = np.zeros(1)
    kept.flags.writeable = False
    with jit.compiling("never"), pytest.raises(ValueError, match="read-only"):
        write(kept)
