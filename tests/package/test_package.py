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
    assert ours == {"wayfield", "wayfield._lazy"}
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
        assert inspect.ismodule(value) == (name in ("plots", "sim")), name


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


ROOMS = ["wayfield", "wayfield.certificates", "wayfield.fields", "wayfield.advice"]
"""Packages whose names are listed in a stub, and imported when they are first used."""


@pytest.mark.parametrize("room", ROOMS)
def test_stubs_and_packages_agree(room: str) -> None:
    """Type checkers are told what is there: each name once, and under its own name."""
    package = importlib.import_module(room)
    stub = Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    aliases = [
        alias
        for node in ast.parse(stub).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert all(alias.name == alias.asname for alias in aliases)  # else it is not exported
    names = [alias.name for alias in aliases]
    assert len(set(names)) == len(names)
    assert set(package.__all__) <= set(names)
    for name in names:
        assert getattr(package, name) is not None


# ------------------------------------------------------------------ what keeps the house small


def test_there_are_few_public_names() -> None:
    assert len(wf.__all__) <= 55


def test_solving_loads_few_modules() -> None:
    loaded = loaded_by("import wayfield as wf\nwf.solve")
    ours = {name for name in loaded if name.split(".")[0] == "wayfield"}
    assert len(ours) <= 55, sorted(ours)
    assert not {name for name in ours if name.split(".")[1:2] in (["mending"], ["chance"])}


def test_no_module_is_called_like_a_public_function() -> None:
    folder = Path(wf.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    functions = {name for name in wf.__all__ if inspect.isfunction(getattr(wf, name))}
    assert not modules & functions
