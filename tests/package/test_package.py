"""The package's front door: names that load when they are used, and nothing before."""

from __future__ import annotations

import ast
import importlib
import inspect
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
        "wayfield.audit",
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


ROOMS = [
    "wayfield",
    "wayfield.advice",
    "wayfield.audit",
    "wayfield.certificates",
    "wayfield.fields",
]
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
