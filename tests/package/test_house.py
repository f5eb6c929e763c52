"""What keeps the house small and each word clear: names, modules, calls, classes and imports."""

from __future__ import annotations

import ast
import importlib
import inspect
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from scipy import sparse

import wayfield as wf

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src", ROOT / "study" / "src")
SISTERS = ("travel", "replay", "explorer")
CALLS, FILES = 3_000, 45
"""Most calls in our own files, and most files, of a plan on nine cities."""
MODULES = 58
"""Most modules that `solve` may load, packages among them."""


def trees() -> Iterator[tuple[Path, ast.Module]]:
    """Every module of the library, of the checker and of the study, parsed."""
    for source in SOURCES:
        for file in sorted(source.rglob("*.py")):
            yield file.relative_to(source), ast.parse(file.read_text(encoding="utf-8"))


# ------------------------------------------------------------------ names


def test_there_are_few_public_names() -> None:
    assert len(wf.__all__) <= 40


@pytest.mark.parametrize("sister", SISTERS)
def test_a_sister_has_few_public_names(sister: str) -> None:
    assert len(importlib.import_module(f"wayfield.{sister}").__all__) <= 12


def test_no_module_is_called_like_a_public_function() -> None:
    folder = Path(wf.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or path.is_dir()}
    functions = {name for name in wf.__all__ if inspect.isfunction(getattr(wf, name))}
    assert not modules & functions


def test_no_class_name_is_defined_twice() -> None:
    """One word, one thing; a protocol may share the name of what implements it."""
    homes = defaultdict(list)
    for file, tree in trees():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and "Protocol" not in map(ast.unparse, node.bases):
                homes[node.name].append(str(file))
    twice = {name: files for name, files in homes.items() if len(files) > 1}
    assert not twice, "\n".join(f"{name}: {', '.join(files)}" for name, files in twice.items())


# ------------------------------------------------------------------ imports


class Imports(ast.NodeVisitor):
    """All imports of a module, those inside functions included; those for type checkers not."""

    def __init__(self) -> None:
        self.found: list[ast.Import | ast.ImportFrom] = []

    def visit_If(self, node: ast.If) -> None:
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        self.found.append(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.found.append(node)


def imported(module: str, tree: ast.Module, package: bool) -> Iterator[tuple[str, str]]:
    """Module and name of everything that a module imports from one of ours, absolute."""
    visitor = Imports()
    visitor.visit(tree)
    parts = module.split(".")
    for node in visitor.found:
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
            continue
        base = parts[: len(parts) - node.level + package] if node.level else []
        home = ".".join([*base, *([node.module] if node.module else [])])
        yield from ((home, alias.name) for alias in node.names)


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports inside functions count, and a name of a front page counts as one of its home."""
    modules, homes = {}, {}
    for file, tree in trees():
        package = file.name == "__init__.py"
        module = ".".join((file.parent if package else file.with_suffix("")).parts)
        modules[module] = (tree, package)
        front = [block for block in tree.body if isinstance(block, ast.If)] if package else []
        listed = ast.Module([each for block in front for each in block.body], [])
        for home, name in imported(module, listed, package):
            homes[module, name] = home
    number = {module: i for i, module in enumerate(modules)}
    edges = set()
    for module, (tree, package) in modules.items():
        for home, name in imported(module, tree, package):
            inner = f"{home}.{name}"
            target = homes.get((home, name), inner if inner in modules else home)
            if target in modules and target != module:
                edges.add((number[module], number[target]))
    assert len(edges) > 500
    tails, heads = zip(*edges, strict=True)
    graph = sparse.coo_array(([1] * len(edges), (tails, heads)), shape=(len(modules),) * 2)
    _, circle = sparse.csgraph.connected_components(graph, connection="strong")
    members = defaultdict(list)
    for module, i in number.items():
        members[circle[i]].append(module)
    circles = [sorted(each) for each in members.values() if len(each) > 1]
    assert not circles, "\n".join(map(", ".join, circles))


# ------------------------------------------------------------------ what a call costs


def test_solving_loads_few_modules() -> None:
    code = "import sys, wayfield as wf\nwf.solve\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    ours = {name for name in run.stdout.split() if name.split(".")[0] == "wayfield"}
    assert len(ours) <= MODULES, sorted(ours)
    rooms = {name.split(".")[1] for name in ours if "." in name}
    assert rooms.isdisjoint({*SISTERS, "mdp", "cli", "plots", "adapters"})


COUNT = """
import contextlib, io, os, sys
import wayfield
from wayfield import cli

def plan():
    sys.argv[1:] = WORDS
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        cli.main()
    return out.getvalue()

def count(frame, event, _):
    file = frame.f_code.co_filename
    if event == "call" and file.startswith(home):
        files[file] = files.get(file, 0) + 1

files, home = {}, os.path.dirname(wayfield.__file__)
WORDS = sys.argv[1:]
plan()
sys.setprofile(count)
told = plan()
sys.setprofile(None)
assert "9 of 9 starts reach the goal" in told, told
print(sum(files.values()), len(files))
"""


def test_a_plan_of_nine_cities_makes_few_calls_in_few_files(tmp_path: Path) -> None:
    """Run the command twice in one process; the second time nothing is imported any more."""
    files = [ROOT / "examples" / "data" / name for name in ("roads.csv", "known.csv")]
    words = ["plan", *files, "--goal", "Bern", "--start", "Genève", "--out", tmp_path]
    run = [sys.executable, "-c", COUNT, *map(str, words)]
    told = subprocess.run(run, check=True, capture_output=True, text=True).stdout
    calls, used = map(int, told.split())
    assert 500 < calls <= CALLS
    assert 10 < used <= FILES
