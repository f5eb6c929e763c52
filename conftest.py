"""Leave out examples that need an extra that is not installed, and compile kernels early."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from typing import Any

import pytest

NEEDED = {
    ("mujoco", "ogbench", "gymnasium_robotics"): [
        "study/src/wayfield_study/sim/mazes.py",
        "study/src/wayfield_study/sim/walking.py",
        "docs/how-to/closed-loop.md",
    ],
    ("jax",): [
        "src/wayfield/adapters/jax.py",
        "docs/how-to/learn-labels.md",
        "docs/how-to/p-laplacian-in-jax.md",
    ],
}
collect_ignore = [
    path for names, paths in NEEDED.items() if not all(map(find_spec, names)) for path in paths
]
_warming: list[subprocess.Popen[bytes]] = []


def pytest_configure(config: Any) -> None:
    """Run all kernels compiled; if there are workers, each is compiled by only one of them."""
    from wayfield.numerics.jit import choice

    choice.set("always")
    if hasattr(config, "workerinput"):
        import compile_once

        compile_once.install()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: Any, specs: Any) -> None:
    """Compile the kernels that most tests use while the workers collect the tests."""
    code = (
        "import compile_once; compile_once.install(); import wayfield as wf;"
        "from wayfield.cli.warmup import COMMON, warm_up; warm_up((*COMMON, wf.PLaplacian(8)))"
    )
    path = os.pathsep.join(filter(None, sys.path))
    environment = os.environ | {"PYTHONPATH": path}
    if not _warming:
        _warming.append(subprocess.Popen([sys.executable, "-c", code], env=environment))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the browser tests early: they mostly wait, and one worker should have all of them.

    A worker that has nothing left takes tests from the end of another's list. If it took some of
    the browser tests, it would need a second browser and a second server.
    """
    items.sort(key=lambda item: not item.nodeid.startswith(("src/", "tests/explorer/")))


def pytest_unconfigure(config: Any) -> None:
    """End the process that compiles. Unless few tests were run, it ended long ago."""
    for process in _warming:
        process.terminate()
        process.wait()
