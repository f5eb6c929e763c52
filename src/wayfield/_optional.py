"""Optional dependencies, imported where they are used."""

from __future__ import annotations

import importlib
from types import ModuleType

from .errors import WayfieldError


def missing(module: str, extra: str) -> str | None:
    """Return the error that `need` would raise, or None if the module is installed."""
    try:
        need(module, extra)
    except WayfieldError as error:
        return str(error)
    return None


def need(module: str, extra: str) -> ModuleType:
    """Import `module`; raise an error that names the extra to install if it is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # the module is installed; one of its own imports is missing
        raise WayfieldError(
            f"this needs {package}, which is not installed: run {how_to_install(extra)}"
        ) from error


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra; from a clone, until there is a release."""
    return f"pip install '.[{extra}]' in your clone of wayfield"
