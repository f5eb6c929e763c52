"""No kernel that Python calls returns a named tuple: `wayfield.numerics.jit` says why.

The source is read, not run. Kernels are functions under `njit`; what they return is taken from
their annotations, and any mention of one outside kernels counts as a call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from importlib.util import resolve_name
from pathlib import Path
from typing import TypeGuard

import pytest

import wayfield


class Source:
    """The modules of a package, in which every name is known by where it was defined."""

    def __init__(self, package: Path) -> None:
        self.trees: dict[str, ast.Module] = {}
        self.imported: dict[str, str] = {}
        for file in sorted(package.rglob("*.py")):
            path = file.relative_to(package.parent).with_suffix("")
            home = ".".join(path.parent.parts)
            module = home if path.name == "__init__" else f"{home}.{path.name}"
            self.trees[module] = tree = ast.parse(file.read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.ImportFrom):
                    origin = resolve_name("." * node.level + (node.module or ""), home)
                    for name in node.names:
                        local, there = name.asname or name.name, f"{origin}.{name.name}"
                        if there != f"{module}.{local}":  # as a package imports its own modules
                            self.imported[f"{module}.{local}"] = there
                elif isinstance(node, ast.Import):
                    for name in node.names:
                        self.imported[f"{module}.{name.asname or name.name}"] = name.name

    def names(self, module: str, nodes: Iterable[ast.AST]) -> Iterator[tuple[str, int]]:
        """Names among the nodes, and their lines; `x.y` as well as `x`."""
        for node in nodes:
            if isinstance(node, ast.Name | ast.Attribute):
                yield self.origin(module, node), node.lineno

    def origin(self, module: str, node: ast.expr) -> str:
        """Return where a name was defined; empty for what is no name."""
        if isinstance(node, ast.Attribute):
            home = self.origin(module, node.value)
            name = f"{home}.{node.attr}" if home else ""
        else:
            name = f"{module}.{node.id}" if isinstance(node, ast.Name) else ""
        while name in self.imported:
            name = self.imported[name]
        return name

    def mentions(self, module: str, node: ast.AST | None, wanted: set[str]) -> bool:
        nodes = ast.walk(node) if node else ()
        return any(name in wanted for name, _ in self.names(module, nodes))

    def named_tuples(self) -> set[str]:
        """Classes of named tuples, and aliases of types that have one in them."""
        found = {"typing.NamedTuple"}
        size = 0
        while size < len(found):
            size = len(found)
            for module, tree in self.trees.items():
                for node in tree.body:
                    if isinstance(node, ast.ClassDef):
                        if any(self.mentions(module, base, found) for base in node.bases):
                            found.add(f"{module}.{node.name}")
                    elif isinstance(node, ast.Assign | ast.AnnAssign):
                        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                        if self.mentions(module, node.value, found):
                            found.update(f"{module}.{ast.unparse(name)}" for name in targets)
        return found

    def returning(self, wanted: set[str]) -> set[str]:
        """Kernels whose annotation says that they return one of these."""
        return {
            f"{module}.{function.name}"
            for module, tree in self.trees.items()
            for function in ast.walk(tree)
            if is_kernel(function) and self.mentions(module, function.returns, wanted)
        }

    def called_by_python(self, kernels: set[str]) -> Iterator[tuple[str, str]]:
        """Those of the kernels that are mentioned outside kernels, and where."""
        for module, tree in self.trees.items():
            for name, line in self.names(module, outside_kernels(tree)):
                if name in kernels:
                    yield name, f"{module}:{line}"


def is_kernel(node: ast.AST) -> TypeGuard[ast.FunctionDef]:
    return isinstance(node, ast.FunctionDef) and any(
        "njit" in ast.unparse(decorator) for decorator in node.decorator_list
    )


def outside_kernels(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below this one that are in no kernel."""
    for child in ast.iter_child_nodes(node):
        if not is_kernel(child):
            yield child
            yield from outside_kernels(child)


def suspects(source: Source) -> set[str]:
    return source.returning(source.named_tuples())


def test_no_kernel_that_python_calls_returns_a_named_tuple() -> None:
    source = Source(Path(wayfield.__file__).parent)
    inner = suspects(source)
    assert "wayfield.replay.kernels.merging._tree" in inner  # which kernels alone call
    assert sorted(source.called_by_python(inner)) == []


KERNELS = """
from typing import NamedTuple
from numba import njit
class Pair(NamedTuple):
    high: int
    low: int
Both = tuple[Pair, Pair]
@njit(cache=True)
def inner() -> Pair: return Pair(1, 2)
@njit(cache=True)
def nested() -> Both: return inner(), inner()
@njit(cache=True)
def plain() -> tuple[int, int]: return inner().high, 2
"""


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from .kernels import inner\ndef f(): return inner()", "inner"),
        ("from .kernels import nested\nx = nested()", "nested"),
        ("from .kernels import inner as run\nclass A:\n    def f(self): return run()", "inner"),
        ("from . import kernels\ndef f(): return kernels.inner()", "inner"),
        ("import room.kernels as k\ndef f(): return k.inner()", "inner"),
        ("from .between import passed\ndef f(): return map(passed, [1])", "inner"),
        ("from .kernels import plain, Pair\ndef f(): return Pair(*plain())", None),
        ("from .kernels import inner, njit\n@njit()\ndef f() -> int: return inner().low", None),
    ],
)
def test_whatever_name_a_call_goes_by(tmp_path: Path, code: str, found: str | None) -> None:
    room = tmp_path / "room"
    room.mkdir()
    (room / "kernels.py").write_text(KERNELS)
    (room / "between.py").write_text("from .kernels import inner as passed")
    (room / "caller.py").write_text(code)
    expected = [] if found is None else [f"room.kernels.{found}"]
    source = Source(room)
    assert [name for name, _ in source.called_by_python(suspects(source))] == expected
