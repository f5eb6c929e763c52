"""The experiments, one module each with all that belongs to it, and the studies they make up.

A new experiment is a module with an ``EXPERIMENT`` and a line in `EXPERIMENTS`.
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
from ..paper.grid import PAIRS
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
from .comparison import Estimate, Paired, over_seeds, paired
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
PROFILES = (
    Profile("paper", "the paper's cells, 32 goals each", 32),
    Profile("quick", "a few small cells of every experiment, half a minute", 4),
    Profile("full", "the paper's cells with up to 512 goals each: hours", PAIRS),
)


def _profiles(**about: str) -> tuple[Profile, ...]:
    return tuple(Profile(name, text) for name, text in about.items())


_BEYOND = "The paper, why it is read as it is, and what lies beyond it"
_DECISIONS = "Moves that are proved, audits with a stated risk, and where to measure next"
_ALL = (
    Study("paper", "The paper's figures again", PAPER, PROFILES, paper_study.cover),
    Study("all", _BEYOND, (*PAPER, *EVIDENCE), PROFILES, paper_study.cover),
    Study(
        "directed", "One-way mazes, terrain and replay-like graphs", (directed.EXPERIMENT,),
        _profiles(
            standard="worlds of 5,000 states, five seeds", quick="small worlds, seconds"
        ),
    ),
    Study(
        "decisions", _DECISIONS, decisions.EXPERIMENTS,
        _profiles(
            standard="13 worlds, three label fractions, 20 seeds: minutes",
            quick="three worlds, seconds",
        ),
    ),
    Study(
        "pointmaze", "From a replay buffer to a plan that arrives", pointmaze.POINT,
        _profiles(
            standard="three mazes, six graphs, three seeds, less data: minutes",
            quick="a part of it, under a minute",
            official="OGBench's own evaluation in MuJoCo; needs the extra sim",
        ),
    ),
    Study(
        "buffers", "From a buffer to the goal, on many worlds", (buffers.EXPERIMENT,),
        _profiles(
            standard="33 worlds of 60,000 rows, about a hundred tasks: minutes",
            quick="two small worlds, seconds",
        ),
        buffers.cover,
    ),
    Study(
        "antmaze", "The paper's plans, walked by an ant", (antmaze.EXPERIMENT, antmaze.BUFFER),
        _profiles(
            standard="the paper's grid, giant mazes and the ant's own buffer",
            quick="a few small cells, a minute",
        ),
    ),
)  # fmt: skip
STUDIES = {study.name: study for study in _ALL}
EXPERIMENTS: tuple[Experiment[Any], ...] = (
    *PAPER,
    *EVIDENCE,
    directed.EXPERIMENT,
    *decisions.EXPERIMENTS,
    *pointmaze.POINT,
    buffers.EXPERIMENT,
    antmaze.EXPERIMENT,
    antmaze.BUFFER,
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
