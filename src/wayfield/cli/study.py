"""Studies of one's own, and questions to the results of any."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from ..errors import WayfieldError
from ._common import compile_kernels, notes, say
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
    run_tasks,
)

study_app = typer.Typer(
    help="A study of your own, how far one has come, and questions to its results.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@study_app.command("run")
def run_study(
    config: Annotated[Path, typer.Argument(help="TOML file: see wayfield study init.")],
    results: Results = RESULTS,
    workers: Workers = None,
    cluster: Cluster = None,
) -> None:
    """Run a study of your own: a grid of mazes, resolutions, label fractions and seeds.

    One Parquet file per cell and experiment comes out, to be queried with DuckDB or anything else.
    Press Ctrl-C at any time: what is finished is kept, and the next run goes on from there.
    """
    from ..study.config import load_config

    outcome = run_tasks(load_config(config), results, workers, cluster)
    conclude(outcome, results, f"results: {results}")


@study_app.command()
def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("study.toml"),
) -> None:
    """Write a sample study to start from."""
    from ..study.config import SAMPLE

    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(SAMPLE)
    except FileExistsError:
        raise WayfieldError(f"{file} is there already") from None
    typer.echo(f"wrote {file}; edit it, then: wayfield study run {file}")


@study_app.command()
def status(
    config: Config = None,
    profile: WhichProfile = Profile.PAPER,
    goals: Goals = None,
    results: Results = RESULTS,
) -> None:
    """Say how far a study has come: what is done, missing, failed, stale or damaged."""
    from ..study import State, Store, look_up

    entries = look_up(choose_tasks(config, profile, goals), Store(results))
    table = Table("experiment", title=f"tasks in {results}", title_justify="left")
    for state in State:
        table.add_column(state.value, justify="right")
    counts = Counter((task.experiment, entry.state) for task, entry in entries.items())
    for experiment in dict.fromkeys(task.experiment for task in entries):
        table.add_row(experiment, *(str(counts[experiment, state] or "") for state in State))
    totals = Counter(entry.state for entry in entries.values())
    table.add_section()
    table.add_row("all", *(str(totals[state]) for state in State))
    Console().print(table)
    for entry in entries.values():
        if entry.note:
            say(notes(), entry.note)


@study_app.command()
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="Experiments are its tables.")],
    results: Results = RESULTS,
) -> None:
    """Ask the results with DuckDB: every experiment is a table, every setting a column.

    For example: SELECT label_fraction, avg(reached / pairs) FROM rollout WHERE arm = 'amle'
    GROUP BY 1 ORDER BY 1
    """
    from .._optional import need

    duckdb = need("duckdb", "study")
    folders = sorted({path.parent for path in results.glob("*/*.parquet")})
    if not folders:
        raise WayfieldError(f"there are no results in {results} yet")
    try:
        with duckdb.connect() as connection:
            for folder in folders:
                rows = connection.read_parquet(f"{folder}/*.parquet", union_by_name=True)
                rows.create(folder.name)
            connection.execute("SET enable_external_access = false")  # results are only read
            answer = connection.sql(sql)
            if answer is not None:
                typer.echo(str(answer).rstrip())
    except duckdb.Error as error:
        said = str(error).partition("\n")[0]
        hint = "DESCRIBE rollout lists the columns of a table, SHOW TABLES the tables"
        raise WayfieldError(f"{said} ({hint})") from error


@study_app.command()
def directed(
    out: Annotated[Path, typer.Option(help="Folder for the figures, as CSV and JSON.")] = Path(
        "results/directed"
    ),
    large: Annotated[
        bool, typer.Option("--large", help="Add worlds of up to 100,000 states.")
    ] = False,
) -> None:
    """One-way mazes, terrain and replay-like graphs: who reaches the goal, and at what cost.

    The directed AMLE beside what one gets by symmetrising, by the nearest label and by repairing
    on the way, with reverse Dijkstra as the reference: nothing beats it on the right graph.
    """
    from ..study.directed import places, run_directed, summary, write_lines

    console = notes()
    compile_kernels(console, directed=True)
    lines = run_directed(places(large), console)
    table, record = write_lines(lines, out)
    Console().print(summary(lines))
    typer.echo(f"wrote {table} and {record}")
