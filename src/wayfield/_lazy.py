"""Lazy imports of a package's public names, listed once in its ``__init__.pyi``.

Editors and type checkers read the stub, and so does this module. A module is loaded when one of its
names is first used.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def read_stub(package: str) -> dict[str, str]:
    """Return the module that each name is imported from; "" for modules themselves."""
    stub = Path(str(sys.modules[package].__file__)).with_suffix(".pyi")
    imports = ast.walk(ast.parse(stub.read_text(encoding="utf-8")))
    return {
        alias.name: node.module or ""
        for node in imports
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def load_on_use(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package that has a stub."""
    home_of = read_stub(package)
    own = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(f".{home_of[name] or name}", package)
        own[name] = getattr(home, name) if home_of[name] else home
        return own[name]

    return get, lambda: sorted({*own, *home_of}), sorted(home_of)
