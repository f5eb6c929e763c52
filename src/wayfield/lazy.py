"""Names that are imported when they are first used."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def public_names(package: str) -> dict[str, str]:
    """Return the module that each public name of a package comes from, relative to the package.

    The public names are those that its ``__init__.py`` imports for type checkers. They are read
    from that source, so that every name is written once.
    """
    source = Path(str(sys.modules[package].__file__)).read_text(encoding="utf-8")
    return {
        alias.name: "." * node.level + (node.module or "")
        for block in ast.parse(source).body
        if isinstance(block, ast.If)  # TYPE_CHECKING
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


def load_on_use(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` for a package."""
    home_of = public_names(package)
    own = vars(sys.modules[package])

    def get(name: str) -> Any:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = import_module(home_of[name], package)
        own[name] = vars(home).get(name) or import_module(f"{home.__name__}.{name}")
        return own[name]

    return get, lambda: sorted({*own, *home_of}), sorted(home_of)
