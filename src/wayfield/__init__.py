"""wayfield: from a few known values on a graph to a plan, and a proof of how far to trust it.

The public names are listed once, in ``__init__.pyi``. A name is imported when it is first used, so
``import wayfield`` and ``wayfield --help`` cost nothing.
"""

from typing import Any

from ._lazy import load_on_use

_load, __dir__, _names = load_on_use(__name__)
_ROOMS = ("errors", "extension", "files", "replay", "sklearn")
"""Modules that are there as attributes, but not among the public names."""

__all__ = [name for name in _names if name not in _ROOMS]


def __getattr__(name: str) -> Any:
    """Import a public name on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    return _load(name)
