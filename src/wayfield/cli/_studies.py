"""What the commands about studies share: their options, a run, and its last words."""

from __future__ import annotations

import os
from collections import defaultdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..errors import WayfieldError
from ._common import compile_kernels, notes, say

if TYPE_CHECKING:
    from ..study import Outcome, Task


class Profile(StrEnum):
    """How much of the study to run."""

    QUICK = "quick"
    PAPER = "paper"
    FULL = "full"


Results = Annotated[Path, typer.Option(help="Folder of the results; a run picks up what is there.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Number of processes.", show_default="one per core")
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS", help="Run on a Dask cluster instead: its scheduler, tcp://HOST:PORT."
    ),
]
WhichProfile = Annotated[
    Profile,
    typer.Option(
        help="quick: a few small cells of everything; paper: all of the paper and beyond it, "
        "16 goals per cell; full: 512 goals."
    ),
]
Goals = Annotated[
    int | None,
    typer.Option(
        min=1,
        max=512,
        help="Goals per cell, each with 512 // N starts.",
        show_default="4, 16 or 512, by profile",
    ),
]
Config = Annotated[
    Path | None,
    typer.Argument(metavar="CONFIG", help="A study of your own, instead of a profile."),
]
RESULTS = Path("results")


def choose_tasks(config: Path | None, profile: Profile, goals: int | None) -> list[Task]:
    """List what to run or to look for: a study of one's own, or a profile."""
    from ..study.config import load_config
    from ..study.experiments import profile as list_tasks

    return load_config(config) if config else list_tasks(profile.value, goals)


def count_workers(workers: int | None) -> int:
    """Return how many processes to use: as asked for, or one for every core we may use."""
    if workers is not None:
        return workers
    ours = getattr(os, "sched_getaffinity", None)  # Linux knows which cores are ours
    return len(ours(0)) if ours else os.cpu_count() or 1


def run_tasks(
    tasks: list[Task], results: Path, workers: int | None, cluster: str | None
) -> Outcome:
    """Run tasks here or on a cluster, and keep their results."""
    from ..study import Store, run

    if workers and cluster:
        raise typer.BadParameter("--workers and --cluster exclude each other")
    console = notes()
    if cluster is None:
        compile_kernels(console, study=True)
    try:
        outcome = run(tasks, Store(results), count_workers(workers), cluster, console)
    except KeyboardInterrupt:
        say(console, f"stopped; what is finished is kept in {results}, run again to go on")
        raise typer.Exit(130) from None
    if not outcome.tables:
        raise WayfieldError(f"all {len(tasks)} tasks failed; their tracebacks are in {results}")
    return outcome


def conclude(outcome: Outcome, results: Path, last_line: str) -> None:
    """Print what came out, and leave with code 1 if anything failed."""
    console = Console()
    if shares := _success(outcome):
        table = Table("arm", "cells", "success", title="mean success", title_justify="left")
        for arm, found in shares.items():
            table.add_row(arm, str(len(found)), f"{sum(found) / len(found):.4f}")
        console.print(table)
    ran = len(outcome.tables) - outcome.reused
    say(console, f"tasks run: {ran}, reused: {outcome.reused}; {outcome.seconds:.0f} s")
    say(console, last_line)
    if outcome.failed:
        say(notes(), f"{len(outcome.failed)} tasks failed; their tracebacks are in {results}")
        raise typer.Exit(1)


def _success(outcome: Outcome) -> dict[str, list[float]]:
    """Success in every cell of the main experiment, by arm."""
    from ..study.tasks import success

    shares: defaultdict[str, list[float]] = defaultdict(list)
    for task, rows in outcome.tables.items():
        if task.experiment == "rollout":
            for arm, share in success(rows).items():
                shares[arm].append(share)
    return shares
