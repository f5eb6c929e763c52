"""A user's own study: a grid of cells and the experiments to run on it, as a TOML file.

Which settings a grid has is the experiments' own business: each reads the ``[grid]`` with its
`Experiment.read_grid`, and all experiments of a study must read it alike. An experiment is named,
if it is one of wayfield's, or given as ``"module:NAME"``, a module that Python finds beside the
file or anywhere else. Every error is one line that names the file and the key.
"""

from __future__ import annotations

import importlib
import math
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from wayfield.checks import as_choice, as_real, as_whole
from wayfield.errors import InputError

from .tasks import Experiment, Profile, Study

T = TypeVar("T")
Reader: TypeAlias = Callable[[Any, str], T]
"""Converts an entry and its name to a value; raises `InputError` if it is invalid."""

_LARGEST = 1 << 20
"""Bytes of a study; a file may be a stream that never ends."""
MOST_CELLS = 100_000
"""Largest number of cells of a study: each is a file of results."""


def load_config(path: Path, known: Sequence[Experiment[Any]]) -> Study:
    """Read a user's own study.

    Parameters
    ----------
    path : Path
        A TOML file.
    known : sequence of Experiment
        Experiments that the file may name; the first runs if it names none.

    Raises
    ------
    InputError
        Naming the file and the key that cannot be read.
    """
    with path.open("rb") as file:
        data = file.read(_LARGEST + 1)
    try:
        return _study(data, path, known)
    except RecursionError as error:
        raise InputError(f"{path}: nested too deeply for a study") from error
    except SystemExit as error:  # of the user's own `read_grid`
        raise InputError(f"{path}: an experiment called sys.exit({error.code!r})") from error
    except (InputError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error


def _study(data: bytes, path: Path, known: Sequence[Experiment[Any]]) -> Study:
    if len(data) > _LARGEST:
        raise InputError(f"a study file must have at most {_LARGEST:,} bytes, got more")
    content = tomllib.loads(data.decode("utf-8-sig"))
    refuse_others(content, ("grid",), "")
    given = content.get("grid", {})
    if not isinstance(given, dict):
        raise InputError("grid must be a table: [grid]")

    # the experiments, which must read the rest alike
    default = (known[0].name,)
    chosen = read_list(given, "experiments", default, partial(_experiment, path.parent, known))
    readers = {experiment.read_grid for experiment in chosen}
    if len(readers) > 1:
        names = ", ".join(experiment.name for experiment in chosen)
        raise InputError(f"grid.experiments: {names} run on cells of different kinds")
    (read_grid,) = readers
    assert read_grid is not None
    settings = {key: value for key, value in given.items() if key != "experiments"}
    if "methods" in settings and (alone := [e.name for e in chosen if not e.compares]):
        raise InputError(f"grid.methods: the experiment {alone[0]} takes no methods")
    cells = read_grid(settings, path.parent)
    experiments = tuple(replace(each, cells=lambda _: cells) for each in chosen)
    own = Profile("own", "the grid of the file")
    return Study(path.stem, f"Study: {path.name}", experiments, (own,))


def _experiment(
    folder: Path, known: Sequence[Experiment[Any]], value: Any, name: str
) -> Experiment[Any]:
    """Return an experiment by its name, or import the user's own by "module:NAME"."""
    names = {each.name: each for each in known}
    if not (isinstance(value, str) and ":" in value):
        found = names[as_choice(value, name, tuple(names))]
    else:
        found = import_own(value, folder, f"{name}: ")
    if not isinstance(found, Experiment):
        raise InputError(f"{name}: {value} is not an Experiment but {type(found).__name__}")
    if found.read_grid is None:
        raise InputError(f"{name}: {value} brings its own graphs and cannot run on a grid")
    if found not in known and found.name.casefold() in map(str.casefold, names):
        raise InputError(f"{name}: {value} must have another name: {found.name!r} is taken")
    return found


def import_own(value: str, folder: Path | None = None, prefix: str = "") -> Any:
    """Import what "module:NAME" names, from a folder or from anywhere that Python looks.

    `prefix` goes before the message of an error.
    """
    module, _, attribute = value.partition(":")
    if folder is not None and str(folder.resolve()) not in sys.path:
        sys.path.insert(0, str(folder.resolve()))  # workers look on the same path
    try:
        return getattr(importlib.import_module(module), attribute)
    except SystemExit as error:
        raise InputError(f"{prefix}{value} called sys.exit({error.code!r})") from error
    except Exception as error:  # the user's module may raise anything
        raise InputError(f"{prefix}cannot import {value}: {error}") from error


def refuse_others(table: Mapping[str, Any], known: Sequence[str], prefix: str) -> None:
    """Raise `InputError` for unknown keys of a file, or of its grid without the experiments."""
    every = (*known, "experiments") if prefix else known
    for key in table:
        if key not in known:
            raise InputError(f"unknown key {prefix}{key}; known are {', '.join(every)}")


def read_list(
    given: Mapping[str, Any], key: str, default: Sequence[Any], read: Reader[T]
) -> list[T]:
    """Read a list of the grid, every entry by the same rule; entries must be distinct."""
    entries = given.get(key, list(default))
    if not isinstance(entries, list) or not entries:
        raise InputError(f"grid.{key} must be a nonempty list, got {entries!r}")
    found: dict[T, None] = {}  # a set that keeps the order
    for number, entry in enumerate(entries):
        value = read(entry, f"grid.{key}[{number}]")
        if value in found:
            raise InputError(f"grid.{key}[{number}] = {entry!r} is listed twice")
        found[value] = None
    return list(found)


def check_size(*lists: Sequence[Any]) -> None:
    """Raise `InputError` if the combinations of all lists are too many cells."""
    size = math.prod(map(len, lists))
    if size > MOST_CELLS:
        raise InputError(f"a grid must have at most {MOST_CELLS:,} cells, got {size:,}")


def real(least: float, most: float) -> Reader[float]:
    """Return a reader of numbers."""
    return partial(as_real, least=least, most=most)


def whole(least: int, most: int) -> Reader[int]:
    """Return a reader of whole numbers."""
    return partial(as_whole, least=least, most=most)
