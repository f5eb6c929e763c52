"""How the figures came about: the command, the settings, the versions, the time."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from ..study.rollout import PAPER_SWEEPS
from ..study.statistics import BOOTSTRAP_SEED, RESAMPLES
from ..study.tables import Rows
from .words import plural

_PACKAGES = ("wayfield", "numpy", "scipy", "numba", "matplotlib")


@dataclass(frozen=True)
class Provenance:
    """How the figures came about.

    Attributes
    ----------
    command : str
        What was typed.
    workers : int
        Number of processes; 0 if nothing was computed.
    seconds : float
        Wall-clock time of the run.
    reused : int
        Tasks taken from an earlier run.
    failed : mapping of str to str
        Traceback of every task that failed, by its name.
    computing : mapping of str to float
        Seconds of computing by experiment, all workers together, where known.
    """

    command: str
    workers: int
    seconds: float
    reused: int = 0
    failed: Mapping[str, str] = field(default_factory=dict)
    computing: Mapping[str, float] = field(default_factory=dict)


def versions() -> dict[str, str]:
    """Tell the versions of everything that has a say in the report.

    Examples
    --------
    >>> list(versions())[:2]
    ['Python', 'wayfield']
    """
    packages = {name: metadata.version(name) for name in _PACKAGES}
    return {"Python": platform.python_version(), **packages}


def sampling(rows: Rows) -> dict[str, Any]:
    """Seeds, goals and starts per cell of the main rollouts."""
    if not len(rows):
        return {"seeds": [], "goals": 0, "starts": 0}
    goals = max(rows.values("goals"))
    return {
        "seeds": rows.values("seed"),
        "goals": goals,
        "starts": rows.total("pairs") // (len(rows) * goals),
    }


def experiment_line(name: str, rows: Rows, provenance: Provenance) -> dict[str, str]:
    """Tell the size of an experiment and the time it took, for one line of a table."""
    seconds = provenance.computing.get(name)
    told = "" if seconds is None else f"{seconds:,.0f} s"
    return {
        "name": name,
        "cells": f"{len(rows.cells):,}",
        "rows": f"{len(rows):,}",
        "seconds": told,
    }


def facts(rows: Rows, provenance: Provenance) -> list[tuple[str, str]]:
    """List settings and circumstances, each with its name."""
    about = sampling(rows)
    seeds = ", ".join(map(str, about["seeds"])) or "none"
    minutes, seconds = divmod(round(provenance.seconds), 60)
    clock = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
    spent = f"{clock} of wall clock for this run on {plural(provenance.workers, 'worker')}"
    return [
        (
            "tasks",
            f"{provenance.reused:,} taken from an earlier run, {len(provenance.failed)} failed",
        ),
        ("time", spent if provenance.workers else "none for this report: its results were there"),
        (
            "seeds",
            f"{seeds}; draws come from numpy's SeedSequence of (maze, r, lf, seed), so results "
            "depend neither on order nor on the number of workers",
        ),
        (
            "graphs",
            "the public D4RL maps, medium 8 × 8 and large 9 × 12; each free cell becomes r × r "
            "vertices, 4-neighbour, unit lengths, numbered row by row",
        ),
        (
            "labels",
            "round(lf · vertices) uniform vertices, shared by all goals of a cell, and the goal; "
            "exact distances",
        ),
        ("pairs", f"{about['goals']} goals × {about['starts']} starts per cell"),
        (
            "planner",
            "argmin Q, lowest index first in a tie; “exit ties” prefer the neighbour nearest to "
            "a lower one",
        ),
        (
            "fields",
            f"harmonic: exact sparse solve; AMLE: {PAPER_SWEEPS} Jacobi midrange sweeps from the "
            "harmonic field, and exact with a proved bracket; p-Laplacian: solved with a proved "
            "bracket",
        ),
        ("bootstrap", f"resamples whole cells, {RESAMPLES:,} times, seed {BOOTSTRAP_SEED}"),
    ]
