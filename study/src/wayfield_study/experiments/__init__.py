"""The experiments, one module each with all that belongs to it, and the studies they make up.

A new experiment is a module with an ``EXPERIMENT`` and a place in `_MADE_OF`. The words of the
studies and of their reports are in ``words.toml``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

from wayfield.errors import InputError

from ..engine import Cell, Experiment, Profile, Study, load_config
from ..report import Cover
from . import (
    antmaze,
    beyond,
    buffers,
    certificates,
    decisions,
    directed,
    finite_p,
    iteration_audit,
    mechanism,
    ordering,
    paper_study,
    pointmaze,
    readings,
    rollout,
    small_graphs,
    solver_audit,
    witnesses,
)
from .comparison import WORDS, Estimate, Paired, over_seeds, paired
from .directed import WorldCell
from .mazes import SAMPLE, MazeCell, grid, read_grid
from .methods import find_method
from .trial import Trial

__all__ = [
    "EXPERIMENTS", "SAMPLE", "STUDIES", "Estimate", "MazeCell", "Paired", "Trial", "WorldCell",
    "add_methods", "find_method", "find_study", "grid", "over_seeds", "paired", "read_grid",
]  # fmt: skip

PAPER: tuple[Experiment[Any], ...] = (
    rollout.EXPERIMENT,
    ordering.EXPERIMENT,
    mechanism.EXPERIMENT,
    certificates.EXPERIMENT,
    finite_p.EXPERIMENT,
    solver_audit.BUDGET,
    solver_audit.EXPERIMENT,
    iteration_audit.EXPERIMENT,
    readings.OTHER_DRAWS,
    witnesses.OTHER_SEARCHES,
    witnesses.EXPERIMENT,
    small_graphs.EXPERIMENT,
)
"""What ``make reproduce`` runs: the paper's tables and figures, and the other draws on which
verdicts rest; in the order of the report."""
EVIDENCE: tuple[Experiment[Any], ...] = (readings.DESIGN, beyond.EXPERIMENT)
"""What ``make evidence`` adds: why the paper is read as it is, and what lies beyond it."""
_MADE_OF: dict[str, tuple[tuple[Experiment[Any], ...], Callable[..., Cover] | None]] = {
    "paper": (PAPER, paper_study.cover),
    "all": ((*PAPER, *EVIDENCE), paper_study.cover),
    "directed": ((directed.EXPERIMENT,), None),
    "decisions": (decisions.EXPERIMENTS, None),
    "pointmaze": (pointmaze.POINT, None),
    "buffers": ((buffers.EXPERIMENT,), buffers.cover),
    "antmaze": ((antmaze.EXPERIMENT, antmaze.BUFFER), None),
}
"""The experiments of every study, and what its report begins and ends with."""


def _study(name: str) -> Study:
    """Return a study with the title and the profiles that it has in ``words.toml``."""
    words, (experiments, cover) = WORDS["studies"][name], _MADE_OF[name]
    profiles = tuple(Profile(**each) for each in words["profiles"])
    return Study(name, words["title"], experiments, profiles, cover)


STUDIES = {name: _study(name) for name in _MADE_OF}
EXPERIMENTS: tuple[Experiment[Any], ...] = tuple(
    dict.fromkeys(each for study in STUDIES.values() for each in study.experiments)
)
"""All of them, by name in a study of one's own."""


def find_study(which: str) -> Study:
    """Return a study by its name, or read one of the user's own from a TOML file.

    Examples
    --------
    >>> find_study("directed").title
    'One-way mazes, terrain and replay-like graphs'
    """
    if which in STUDIES:
        return STUDIES[which]
    if not any(mark in which for mark in "./\\"):
        close = get_close_matches(which, STUDIES, 1)
        known = f"known are {', '.join(STUDIES)}, or give a TOML file"
        hint = f"did you mean {close[0]}?" if close else known
        raise InputError(f"unknown study {which!r}; {hint}")
    return replace(load_config(Path(which), EXPERIMENTS), cover=paper_study.cover)


def add_methods(study: Study, methods: Sequence[str]) -> Study:
    """Return a study with more methods in every table of methods: `find_method` has their names.

    Each is run on the cells of the study's own methods, by both tie rules, as tasks of its own:
    results that are there stay as they are.
    """
    for name in methods:
        find_method(name, Path())
    if methods and not any(each.compares for each in study.experiments):
        raise InputError(f"no experiment of the study {study.name} compares methods")

    def more(cells: Callable[[Profile], Sequence[Cell]], profile: Profile) -> list[Cell]:
        usual = list(cells(profile))
        own = [cell for cell in usual if isinstance(cell, MazeCell) and not cell.method]
        return [*usual, *(replace(cell, method=name) for name in methods for cell in own)]

    experiments = (
        replace(each, cells=partial(more, each.cells)) if each.compares and methods else each
        for each in study.experiments
    )
    return replace(study, experiments=tuple(experiments))
