"""The paper's study again, and its report."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from ..errors import WayfieldError
from ._common import notes, say
from ._studies import (
    RESULTS,
    Cluster,
    Config,
    Goals,
    Profile,
    Results,
    WhichProfile,
    Workers,
    choose_tasks,
    conclude,
    count_workers,
    run_tasks,
)

if TYPE_CHECKING:
    from ..study import Outcome

Out = Annotated[Path, typer.Option(help="Folder for the report.")]
OUT = Path("report")


def reproduce(
    profile: WhichProfile = Profile.PAPER,
    goals: Goals = None,
    out: Out = OUT,
    results: Results = RESULTS,
    workers: Workers = None,
    cluster: Cluster = None,
) -> None:
    """Run the paper's experiments again and write [bold]report/index.html[/].

    Every table and figure of the paper beside ours, and what lies beyond it. Press Ctrl-C at any
    time: what is finished is kept, and the next run goes on from there.
    """
    tasks = choose_tasks(None, profile, goals)
    _prepare_report(out)
    outcome = run_tasks(tasks, results, workers, cluster)
    page = _write_report(outcome, results, out, 0 if cluster else count_workers(workers))
    conclude(outcome, results, f"report: {page}")


def report(
    config: Config = None,
    profile: WhichProfile = Profile.PAPER,
    goals: Goals = None,
    out: Out = OUT,
    results: Results = RESULTS,
) -> None:
    """Write the report from the results that are there, and say what is missing."""
    from ..study import Outcome, State, Store, look_up

    tasks = choose_tasks(config, profile, goals)
    _prepare_report(out)
    entries = look_up(tasks, Store(results))
    tables = {task: entry.rows for task, entry in entries.items() if entry.state is State.DONE}
    lacking = Counter(task.experiment for task in tasks if task not in tables)
    for experiment, count in lacking.items():
        total = sum(task.experiment == experiment for task in tasks)
        say(notes(), f"{experiment}: {count} of {total} tasks are missing")
    outcome = Outcome(tables, {}, len(tables), 0, 0, 0.0)
    page = _write_report(outcome, results, out, workers=0)
    say(Console(), f"report: {page}")


def _prepare_report(out: Path) -> None:
    """Find out now what would stop the report after all the computing."""
    from .._optional import need

    need("jinja2", "study")
    out.mkdir(parents=True, exist_ok=True)


def _write_report(outcome: Outcome, results: Path, out: Path, workers: int) -> Path:
    from ..report import Provenance, write_report
    from ..study import Store, by_experiment

    if not outcome.tables:
        raise WayfieldError(f"there are no results in {results} yet: wayfield reproduce")
    provenance = Provenance(
        command=shlex.join(["wayfield", *sys.argv[1:]]),
        workers=workers,
        seconds=outcome.seconds,
        reused=outcome.reused,
        failed={task.key: text for task, text in outcome.failed.items()},
        computing=Store(results).computing(outcome.tables),
    )
    with notes().status("writing the report …"):
        return write_report(by_experiment(outcome.tables), out, provenance)
