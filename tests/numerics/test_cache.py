"""Compiled kernels are kept where that is possible, and never stand in the way of an answer."""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from numba import types

import wayfield as wf
from wayfield.numerics import jit
from wayfield.numerics.csr import Arcs

PACKAGE = Path(wf.__file__).parent
BLOCKED = Path("/dev/null")
"""What no folder can be made in, not even by root."""

USE = """
from wayfield.numerics import compiled, doubledouble, jit
with jit.compiling("always"):
    assert doubledouble.two_sum(1.0, 2.0) == (3.0, 0.0)
print(sum(doubledouble.two_sum.dispatcher.stats.cache_hits.values()), compiled.shortfall())
"""


def run(code: str, path: Path, **environment: str) -> str:
    """Run code in a process of its own, where warnings are errors, and return what it prints."""
    free = {name: text for name, text in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        env=free | {"PYTHONPATH": str(path)} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.fixture
def read_only(tmp_path: Path) -> Path:
    """A copy of the package beside which nothing can be kept."""
    package = tmp_path / "site-packages" / "wayfield"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in (package, *(found for found in package.rglob("*") if found.is_dir())):
        (folder / "__pycache__").touch()
    return package.parent


@pytest.mark.skipif(sys.platform == "win32", reason="folders are blocked as on POSIX")
def test_without_a_place_to_write_kernels_are_not_kept(read_only: Path) -> None:
    blocked = {"HOME": str(BLOCKED), "XDG_CACHE_HOME": str(BLOCKED)}
    for _ in range(2):
        assert run(USE, read_only, **blocked) == (
            "0 compiled kernels are not kept, so that every start compiles them anew: "
            "no folder for them can be written"
        )


def test_the_folder_of_the_environment_is_used(read_only: Path, tmp_path: Path) -> None:
    chosen = tmp_path / "chosen"
    for hits in ("0", "1"):
        assert run(USE, read_only, NUMBA_CACHE_DIR=str(chosen)) == hits
    assert list(chosen.rglob("*.nbc"))


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package of kernels of its own: one takes a named tuple, and calls another kernel."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    home = tmp_path / "tiny"
    home.mkdir()
    for name in ("jit.py", "compiled.py"):
        shutil.copy(PACKAGE / "numerics" / name, home)
    (home / "__init__.py").touch()
    (home / "kinds.py").write_text(
        "from typing import NamedTuple\n"
        "class Two(NamedTuple):\n    x: int\n    y: int\nKind = Two\n"
    )
    (home / "inner.py").write_text(
        "from .jit import njit\n@njit(cache=True)\ndef times(x):\n    return 10 * x\n"
    )
    (home / "outer.py").write_text(
        "from .jit import njit\nfrom .inner import times\n"
        "@njit(cache=True)\ndef total(pair):\n    return times(pair.x + pair.y)\n"
    )
    return tmp_path


def total() -> tuple[int, int]:
    """Import the package anew; return what its kernel computes, and how often the cache had it."""
    for name in [name for name in sys.modules if name.split(".")[0] == "tiny"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    kinds, outer = (importlib.import_module(f"tiny.{name}") for name in ("kinds", "outer"))
    with importlib.import_module("tiny.jit").compiling("always"):
        found = outer.total(kinds.Kind(1, 2))
    return found, sum(outer.total.dispatcher.stats.cache_hits.values())


def rewrite(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def test_what_depends_on_a_changed_file_is_compiled_anew(package: Path) -> None:
    assert total() == (30, 0)
    assert total() == (30, 1)
    rewrite(package / "tiny" / "kinds.py", "Two", "Couple")  # a type of an argument
    assert total() == (30, 0)
    rewrite(package / "tiny" / "inner.py", "10", "100")  # a kernel that is called
    assert total() == (300, 0)
    assert total() == (300, 1)


def test_broken_files_of_the_cache_are_replaced(package: Path) -> None:
    assert total() == (30, 0)
    for ending in ("nbi", "nbc"):
        for content in (b"", b"cno_such_module\nname\n."):
            (broken,) = (package / "tiny" / "__pycache__").glob(f"outer.*.{ending}")
            broken.write_bytes(content)
            assert total() == (30, 0)
            assert broken.read_bytes() != content
    assert total() == (30, 1)


def test_a_kernel_that_cannot_be_written_is_used_all_the_same(package: Path) -> None:
    lost = """
from pathlib import Path
from shutil import rmtree
from tiny import compiled, jit
from tiny.kinds import Kind
from tiny.outer import total
folder = Path(total.dispatcher.stats.cache_path)
rmtree(folder)
folder.touch()
with jit.compiling("always"):
    print(total(Kind(1, 2)), compiled.shortfall())
"""
    said = run(lost, package, NUMBA_CACHE_DIR=str(package / "cache"))
    assert said.startswith("30 compiled kernels are not kept, so that every start compiles them")
    assert said.endswith("Not a directory")


def test_constants_and_widths_of_integers_make_no_further_kernels() -> None:
    inner = jit.njit(cache=False)(lambda x, y: x + y)

    @jit.njit(cache=False)
    def outer(narrow: Any, wide: Any) -> Any:
        return inner(narrow[0], 1) + inner(wide[0], 2) + inner(3, wide[0])

    assert outer(np.array([2**31 - 1], np.int32), np.array([5])) == 2**31 + 7 + 8
    if isinstance(inner, jit.Kernel):  # not so where kernels run as plain Python
        assert inner.dispatcher.signatures == [(types.int64, types.int64)]


def test_read_only_arrays_make_no_further_kernels() -> None:
    inner = jit.njit(cache=False)(lambda arcs, values: values[arcs.indices[0]])

    @jit.njit(cache=False)
    def outer(arcs: Any, values: Any) -> Any:
        return inner(arcs, values) + arcs.lengths[0]

    values = np.array([7.0, 8.0])
    values.flags.writeable = False
    graph = wf.Graph.from_edges([0], [1], [5.0])
    for arcs in (graph.arcs, Arcs(*(array.copy() for array in graph.arcs))):
        for each in (values, values.copy()):
            for _ in range(2):
                assert outer(arcs, each) == 13.0
    if isinstance(inner, jit.Kernel):
        assert len(outer.dispatcher.signatures) == len(inner.dispatcher.signatures) == 1


def test_no_module_of_kernels_uses_numba_itself() -> None:
    sources = [file.read_text("utf-8") for file in PACKAGE.rglob("*.py")]
    kernels = [source for source in sources if "\n@njit(" in source]
    assert len(kernels) > 20
    assert not any("numba" in source for source in kernels)
