"""A study of one's own: a grid of cells and the experiments to run on it, as a TOML file.

Every complaint is one line that names the file and the key.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from .._arrays import as_real, as_whole
from ..errors import InputError
from ..grid import grid_graph
from ..layouts import Layout, load_layout
from .cells import LABEL_FRACTIONS, MAZES, PAIRS, REFINEMENTS, SEEDS, grid
from .runner import find_experiment
from .tasks import Experiment, Task

SAMPLE = """\
# A study of your own: every experiment runs on every combination of the settings below.
# Leave a line out to have the paper's values.

[grid]
mazes = ["medium", "large"]        # names of maps, or text files beside this one: "mine.txt"
refinements = [4, 8, 12]           # vertices along the side of a maze cell
label_fractions = [0.02, 0.05]     # share of the vertices that are labelled
seeds = [54, 55, 56]
goals = 16                         # per cell, each with 512 // goals starts
experiments = ["rollout"]
"""

T = TypeVar("T")


def load_config(path: Path, experiments: Mapping[str, Experiment] | None = None) -> list[Task]:
    """Read a study and list its tasks.

    Parameters
    ----------
    path : Path
        A TOML file such as `SAMPLE`.
    experiments : mapping of str to Experiment, optional
        What there is to choose from; the study's own if not given.

    Raises
    ------
    InputError
        Naming the file and the key that cannot be read.
    """
    try:
        with path.open("rb") as file:
            return _tasks(tomllib.load(file), path.parent, experiments)
    except (InputError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: {error}") from error


def _tasks(
    content: dict[str, Any], folder: Path, experiments: Mapping[str, Experiment] | None
) -> list[Task]:
    _refuse_others(content, ("grid",), "")
    given = content.get("grid", {})
    if not isinstance(given, dict):
        raise InputError("grid must be a table: [grid]")
    names = ("mazes", "refinements", "label_fractions", "seeds", "goals", "experiments")
    _refuse_others(given, names, "grid.")
    mazes = _list(given, "mazes", MAZES, lambda maze, name: _maze(maze, name, folder))
    refinements = _list(given, "refinements", REFINEMENTS, lambda r, name: as_whole(r, name, 1))
    fractions = _list(given, "label_fractions", LABEL_FRACTIONS, _fraction)
    seeds = _list(given, "seeds", SEEDS, lambda seed, name: as_whole(seed, name, 0, 2**63 - 1))
    goals = as_whole(given.get("goals", 16), "grid.goals", 1, PAIRS)
    chosen = _list(
        given, "experiments", ("rollout",), lambda x, name: _choice(x, name, experiments)
    )
    cells = [
        replace(cell, layout=text)
        for maze, text in mazes
        for cell in grid([maze], refinements, fractions, seeds, goals)
    ]
    return [Task(experiment, cell) for experiment in chosen for cell in cells]


def _refuse_others(table: dict[str, Any], known: tuple[str, ...], prefix: str) -> None:
    for key in table:
        if key not in known:
            raise InputError(f"unknown key {prefix}{key}; known are {', '.join(known)}")


def _list(
    given: dict[str, Any], key: str, default: tuple[Any, ...], read: Callable[[Any, str], T]
) -> list[T]:
    """Read a list, every entry by the same rule; none may be there twice."""
    entries = given.get(key, list(default))
    if not isinstance(entries, list) or not entries:
        raise InputError(f"grid.{key} must be a list with something in it, not {entries!r}")
    found: list[T] = []
    for number, entry in enumerate(entries):
        value = read(entry, f"grid.{key}[{number}]")
        if value in found:
            raise InputError(f"grid.{key}[{number}] = {entry!r} is there twice")
        found.append(value)
    return found


def _fraction(value: Any, name: str) -> float:
    fraction = as_real(value, name, 0.0, 1.0)
    if fraction == 0.0:
        raise InputError(f"{name} must be more than 0")
    return fraction


def _choice(value: Any, name: str, experiments: Mapping[str, Experiment] | None) -> str:
    if not isinstance(value, str):
        raise InputError(f"{name} must be the name of an experiment, not {value!r}")
    try:
        experiment = find_experiment(value, experiments)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
    if not experiment.on_mazes:
        raise InputError(f"{name}: {value} has graphs of its own and runs on no maze")
    return experiment.name


def _maze(maze: Any, name: str, folder: Path) -> tuple[str, str]:
    """Name of a maze, and its text if it is one's own: a dot or a slash makes it a file.

    A digest of the text is part of its name, so that a maze that was edited is another one, and
    none passes for a map known by name.
    """
    if not isinstance(maze, str):
        raise InputError(f"{name} must be the name of a map or of a text file, not {maze!r}")
    try:
        if any(mark in maze for mark in "./\\"):
            path = folder / maze
            layout = Layout.from_text(path.read_text(encoding="utf-8-sig"), path.stem)
            text = layout.to_text()
            title = f"{path.stem}@{hashlib.sha256(text.encode()).hexdigest()[:6]}"
        else:
            layout, text = load_layout(maze), ""
            title = layout.name
    except OSError as error:
        raise InputError(f"{name}: cannot read {maze}: {error.strerror}") from error
    except (InputError, UnicodeDecodeError) as error:
        raise InputError(f"{name}: {maze}: {error}") from error
    if layout.directed:
        raise InputError(f"{name}: {maze} has one-way cells or teleports; the study has none")
    if layout.free.sum() < 2 or grid_graph(layout).components.any():
        raise InputError(f"{name}: {maze} must have two free cells or more, all in one piece")
    return title, text
