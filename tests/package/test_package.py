"""The package's front door: names that load when they are used, and nothing before."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import wayfield as wf


def loaded_by(code: str) -> set[str]:
    """Modules that are loaded once a fresh interpreter has run the code."""
    told = f"{code}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", told], check=True, capture_output=True, text=True)
    return set(run.stdout.splitlines()[-1].split())


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = loaded_by("import wayfield")
    assert {name for name in loaded if name.startswith("wayfield")} == {"wayfield"}
    assert loaded.isdisjoint({"numpy", "scipy", "numba", "matplotlib"})


def test_solving_loads_no_pictures_audits_or_extras() -> None:
    loaded = loaded_by(
        "import wayfield as wf\n"
        "path = wf.Graph.from_edges([0, 1], [1, 2])\n"
        "wf.solve(path, wf.Labels([0], [0.0]), 0).summary()"
    )
    rooms = {"wayfield_study.audit", "wayfield.plots", "wayfield.sklearn", "wayfield_study.engine"}
    assert loaded.isdisjoint(rooms | {"matplotlib", "sklearn", "pyarrow", "pandas"})


@pytest.mark.parametrize("name", wf.__all__)
def test_every_name_is_there(name: str) -> None:
    value = getattr(wf, name)
    assert value is getattr(wf, name)
    assert name in dir(wf)
    assert inspect.ismodule(value) == (name in ("audit", "plots", "sim"))


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


@pytest.mark.parametrize("name", ["certify", "compare", "descending", "plan", "solve"])
def test_modules_do_not_hide_the_functions_of_their_names(name: str) -> None:
    """Whoever comes first: importing the module sets an attribute of the package."""
    code = (
        f"import wayfield.{name}, wayfield as wf\n"
        f"from wayfield.{name} import {name}\n"
        f"assert wf.{name} is {name}, wf.{name}\n"
    )
    loaded_by(code)
    home = importlib.import_module(f"wayfield.{name}")
    assert isinstance(home, ModuleType)
    assert getattr(wf, name) is getattr(home, name)


def test_type_checkers_are_told_what_is_there() -> None:
    source = ast.parse(Path(wf.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in source.body if isinstance(node, ast.If))
    told: dict[str, str] = {}
    for line in guarded.body:
        if isinstance(line, ast.AnnAssign):  # __version__, which comes from the metadata
            continue
        assert isinstance(line, ast.ImportFrom)
        for name in line.names:
            assert name.name == name.asname  # else it is not exported
            told[name.name] = line.module or "."
    assert {name: home for name, home in told.items() if home != "."} == wf._HOME_OF
    assert {name for name, home in told.items() if home == "."} == {*wf._ROOMS, *wf._BACK_ROOMS}
