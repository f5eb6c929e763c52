"""wayfield: from a few known values on a graph to a plan, and a proof of how far to trust it.

The public names are listed once, in ``__init__.pyi``: editors and type checkers read that file, and
so does `__getattr__`. A name is imported when it is first used, so ``import wayfield`` and
``wayfield --help`` cost nothing.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any


def _read_stub() -> dict[str, str]:
    """Return the module that each public name is imported from; "" for modules themselves."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = (node for node in stub.body if isinstance(node, ast.ImportFrom))
    return {alias.name: node.module or "" for node in imports for alias in node.names}


_MODULE_OF = _read_stub()
_PUBLIC_MODULES = ("plots", "sim")
"""Modules that are public as a whole. The others in the stub are for those who look for them."""

__all__ = sorted(name for name, home in _MODULE_OF.items() if home or name in _PUBLIC_MODULES)


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name == "__version__":
        value = import_module("importlib.metadata").version(__name__)
    elif name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    elif _MODULE_OF[name]:
        value = getattr(import_module(f".{_MODULE_OF[name]}", __name__), name)
    else:
        value = import_module(f".{name}", __name__)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, whether imported yet or not."""
    return sorted({*globals(), *__all__})
