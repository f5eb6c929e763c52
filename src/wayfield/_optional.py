"""Dependencies that not everyone needs, imported where they are used."""

from __future__ import annotations

import importlib
from types import ModuleType

from .errors import WayfieldError


def missing(module: str, extra: str) -> str | None:
    """Return what `need` would say, None if the module is there."""
    try:
        need(module, extra)
    except WayfieldError as error:
        return str(error)
    return None


def need(module: str, extra: str) -> ModuleType:
    """Import `module`, or say which extra of this package brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # it is there; something it needs is not
        raise WayfieldError(
            f"this needs {package}, which is not installed: pip install wayfield[{extra}]"
        ) from error
