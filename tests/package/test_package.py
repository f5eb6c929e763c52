"""The package's front door: names that load when they are used, and nothing before."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import wayfield as wf


def loaded_by(code: str) -> set[str]:
    """Modules that are loaded once a fresh interpreter has run the code."""
    told = f"{code}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    return set(run.stdout.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = loaded_by("import wayfield")
    ours = {name for name in loaded if name.startswith("wayfield")}
    assert ours == {"wayfield"}
    assert loaded.isdisjoint({"numpy", "scipy", "numba", "matplotlib"})


def test_solving_loads_no_pictures_audits_or_extras() -> None:
    loaded = loaded_by(
        "import wayfield as wf\n"
        "path = wf.Graph.from_edges([0, 1], [1, 2])\n"
        "wf.solve(path, wf.Labels([0], [0.0]), 0).summary()"
    )
    rooms = {
        "wayfield_study.audit",
        "wayfield.plots",
        "wayfield.adapters.sklearn",
        "wayfield_study.engine",
    }
    assert loaded.isdisjoint(rooms | {"matplotlib", "sklearn", "pyarrow", "pandas"})


def test_every_name_is_there() -> None:
    for name in wf.__all__:
        value = getattr(wf, name)
        assert value is getattr(wf, name)
        assert name in dir(wf)
        assert not inspect.ismodule(value), name


def test_a_star_brings_all_of_them() -> None:
    names: dict[str, object] = {}
    exec("from wayfield import *", names)
    assert set(wf.__all__) <= set(names)


def test_names_that_are_not_there_are_named() -> None:
    with pytest.raises(AttributeError, match="module 'wayfield' has no attribute 'sinks_of'"):
        wf.sinks_of  # noqa: B018
    assert not hasattr(wf, "__wrapped__")
    with pytest.raises(ImportError):
        exec("from wayfield import no_such_name")


ROOMS = ["wayfield", "wayfield.advice", "wayfield.certificates", "wayfield.fields"]
"""Packages whose names are imported when they are first used."""


@pytest.mark.parametrize("room", ROOMS)
def test_each_name_is_listed_once_and_under_its_own_name(room: str) -> None:
    package = importlib.import_module(room)
    source = ast.parse(Path(str(package.__file__)).read_text(encoding="utf-8"))
    listed = [
        alias
        for block in source.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert all(alias.name == alias.asname for alias in listed)  # else it is not exported
    names = [alias.name for alias in listed]
    assert len(set(names)) == len(names)
    assert set(package.__all__) <= set(names)
    for name in names:
        assert getattr(package, name) is not None


SISTERS = ("travel", "replay", "explorer")


def test_the_core_stands_alone(tmp_path: Path) -> None:
    """Without the sisters' folders every module of the core can be imported, and it solves."""
    home = Path(wf.__file__).parent
    shutil.copytree(
        home, tmp_path / "wayfield", ignore=shutil.ignore_patterns("__pycache__", *SISTERS)
    )
    code = (
        "import importlib, pkgutil, wayfield as wf\n"
        "found = [each.name for each in pkgutil.walk_packages(wf.__path__, 'wayfield.')]\n"
        "for name in found:\n"
        "    if not name.endswith(('__main__', '.jax', '.sklearn')):\n"
        "        importlib.import_module(name)\n"
        "path = wf.Graph.from_edges([0, 1], [1, 2])\n"
        "print(len(found), wf.__file__, wf.solve(path, wf.Labels([0], [0.0]), 0).plan.reached)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    count, file, *reached = run.stdout.split(maxsplit=2)
    assert int(count) > 50
    assert file.startswith(str(tmp_path))
    assert reached == ["[ True  True  True]\n"]


# ------------------------------------------------------------------ what keeps the house small


def test_there_are_few_public_names() -> None:
    assert len(wf.__all__) <= 40
    for sister in SISTERS:
        assert len(importlib.import_module(f"wayfield.{sister}").__all__) <= 12


def test_solving_loads_few_modules() -> None:
    loaded = loaded_by("import wayfield as wf\nwf.solve")
    ours = {name for name in loaded if name.split(".")[0] == "wayfield"}
    assert len(ours) <= 55, sorted(ours)
    assert not {name for name in ours if name.split(".")[1:2] in [[sister] for sister in SISTERS]}
    assert "wayfield.mdp" not in ours


def test_no_module_is_called_like_a_public_function() -> None:
    folder = Path(wf.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    functions = {name for name in wf.__all__ if inspect.isfunction(getattr(wf, name))}
    assert not modules & functions
