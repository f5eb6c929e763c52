"""The core without its sisters and without the study: it imports, solves, proves and plans."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wayfield as wf

SISTERS = ("travel", "replay", "explorer")
DATA = Path(__file__).parents[2] / "examples" / "data"
ALONE = """
import sys
from pathlib import Path
others = ("wayfield", "wayfield_study")
sys.path = [sys.argv.pop(1)] + [
    path for path in sys.path if path and not any(Path(path, each).is_dir() for each in others)
]
"""
"""The copy of the core comes first, and nothing else of ours is there."""


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of the library without its sisters, and the checker of proofs."""
    folder, source = tmp_path_factory.mktemp("core"), Path(wf.__file__).parents[1]
    ignored = shutil.ignore_patterns("__pycache__", *SISTERS)
    for package in ("wayfield", "wayfield_verify"):
        shutil.copytree(source / package, folder / package, ignore=ignored)
    return folder


def run(core: Path, code: str, *words: object) -> subprocess.CompletedProcess[str]:
    """Run code with the copy of the core in a fresh interpreter, as plain Python."""
    return subprocess.run(
        [sys.executable, "-c", ALONE + code, str(core), *map(str, words)],
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
        cwd=core,
    )


def wayfield(core: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run the command line of the core."""
    return run(core, "from wayfield.cli import main\nmain()", *words)


def test_every_module_of_the_core_can_be_imported(core: Path) -> None:
    code = """
import importlib, importlib.util, pkgutil, wayfield
found = [each.name for each in pkgutil.walk_packages(wayfield.__path__, "wayfield.")]
for name in found:
    room, _, last = name.rpartition(".")
    if last != "__main__" and (room != "wayfield.adapters" or importlib.util.find_spec(last)):
        importlib.import_module(name)
for name in wayfield.__all__:
    getattr(wayfield, name)
print(len(found), wayfield.__file__, importlib.util.find_spec("wayfield_study"))
print(*(name for name in sys.modules if name.startswith("wayfield")))
"""
    told = run(core, code)
    assert told.returncode == 0, told.stderr
    first, loaded = told.stdout.splitlines()
    count, file, study = first.split()
    assert int(count) > 50
    assert file.startswith(str(core))
    assert study == "None"
    homes = {tuple(name.split(".")[:2]) for name in loaded.split()}
    assert not homes & {("wayfield", sister) for sister in SISTERS}


def test_its_command_plans_and_writes_a_proof_that_the_checker_accepts(
    core: Path, tmp_path: Path
) -> None:
    words = (DATA / "roads.csv", DATA / "known.csv", "--goal", "Bern", "--start", "Genève")
    told = wayfield(core, "plan", *words, "--out", tmp_path, "--proof", tmp_path / "a.proof")
    assert told.returncode == 0, told.stderr
    assert "9 of 9 starts reach the goal" in told.stdout
    assert {"values.csv", "routes.csv", "a.proof"} <= {file.name for file in tmp_path.iterdir()}
    check = "import runpy\nrunpy.run_module('wayfield_verify', run_name='__main__')"
    checked = run(core, check, tmp_path / "a.proof")
    assert checked.returncode == 0, checked.stderr
    assert "9 moves of the plan" in checked.stdout, checked.stdout


@pytest.mark.parametrize("words", [[], ["plan"]])
def test_its_help_does_without_them(core: Path, words: list[str]) -> None:
    told = wayfield(core, *words, "--help")
    assert (told.returncode, told.stderr) == (0, "")
    assert "Usage: wayfield" in told.stdout


@pytest.mark.parametrize(
    "words", [["travel"], ["travel", "trips", "roads.csv"], ["travel", "--help"], ["explore"]]
)
def test_a_command_of_a_sister_that_is_missing_says_so_in_one_line(
    core: Path, words: list[str]
) -> None:
    told = wayfield(core, *words)
    assert told.returncode == 2
    sister = "explorer" if words == ["explore"] else "travel"
    why = f"cannot be loaded: No module named 'wayfield.{sister}'"
    assert told.stderr == f"wayfield: wayfield {words[0]} {why}\n"
    assert told.stdout == ""
