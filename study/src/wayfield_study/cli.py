"""Studies: run one, see how far it has come, report on it, query its results."""

from __future__ import annotations

import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from wayfield.cli.options import Command, Force, Group, paragraphs, with_options
from wayfield.cli.output import announce_compiling, notes, say
from wayfield.errors import InputError, WayfieldError
from wayfield.words import number_of

if TYPE_CHECKING:
    from .engine import Run, Study

RESULTS = Path("results")
PAPER, ALL = "paper", "all"
PANEL = "The studies"
"""Heading of these commands in the help of ``wayfield``."""


def _option(text: str, *names: str, default: str | bool = True, **limits: Any) -> Any:
    """Return an option with its help, and what the help calls its default."""
    return typer.Option(*names, help=text, show_default=default, **limits)


STUDY_OR_FILE = "Name of a study (see wayfield study list), or your own TOML file."
Which = Annotated[str, typer.Argument(metavar="STUDY", help=STUDY_OR_FILE)]
HOW_MUCH = "How much to run; wayfield study list shows the profiles."
WhichProfile = Annotated[str | None, _option(HOW_MUCH, "--profile", default="the study's first")]
GOALS = "Goals per cell, each with 512 // N starts."
Goals = Annotated[int | None, _option(GOALS, default="the profile's", min=1, max=512)]
OUT = "Folder for the report, and for the results unless --results names another."
Out = Annotated[Path | None, _option(OUT, default="report or report/STUDY, and results")]
Results = Annotated[Path, _option("Folder of the results.")]
THERE = "Folder of the results, DIR/EXPERIMENT/*.parquet; a run reuses what is there."
ResultsOrOut = Annotated[Path | None, _option(THERE, default="that of --out, else results")]
Workers = Annotated[int | None, _option("Number of processes.", default="one per processor", min=1)]
SCHEDULER = "Run on a Dask cluster instead: its scheduler, tcp://HOST:PORT."
Cluster = Annotated[str | None, _option(SCHEDULER, metavar="ADDRESS")]
STALE = "Use results of other code or package versions; the report says so."
AcceptStale = Annotated[bool, _option(STALE, "--accept-stale")]
METHOD = "Another method for the tables: a name, or module:name for your own. Repeat for more."
Methods = Annotated[list[str] | None, _option(METHOD, "--method", default="none")]
OFFICIAL = "The profile official: OGBench's own evaluation of pointmaze, in MuJoCo."
Official = Annotated[bool, _option(OFFICIAL, "--official")]


class _NamesRun(Group):
    """A group of commands; a word that is not a command is the name of a study to run."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        from .experiments import STUDIES

        word, commands = args[0], self.list_commands(ctx)
        if word in commands or word.startswith("-"):
            return super().resolve_command(ctx, args)
        meant = get_close_matches(word, commands, 1)
        names_study = any(mark in word for mark in "./\\") or get_close_matches(word, STUDIES, 1)
        if meant and not names_study:
            raise InputError(f"there is no study or command {word!r}; did you mean {meant[0]}?")
        return super().resolve_command(ctx, ["run", *args])


study_app = typer.Typer(
    cls=_NamesRun,
    help="Run a study with [bold]wayfield study NAME[/], see its progress, query its results.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table."""
    table = Table(*heads, title=Text(title), title_justify="left")
    for row in rows:
        table.add_row(*(Text(str(entry)) for entry in row))
    Console().print(table)


@study_app.command("list", cls=Command)
def list_studies() -> None:
    """List all studies, with their profiles and experiments."""
    from .experiments import STUDIES

    console = Console()
    for study in STUDIES.values():
        console.print(f"[bold]{study.name}[/]  {study.title}", highlight=False)
        table = Table.grid(padding=(0, 2))
        for profile in study.profiles:
            count = len(study.tasks(profile))
            table.add_row(f"  --profile {profile.name}", f"{count:,} tasks", Text(profile.about))
        console.print(table)
        names = ", ".join(experiment.name for experiment in study.experiments)
        console.print(f"  experiments: {names}\n", highlight=False)


# ------------------------------------------------------------------ run and report


@dataclass(frozen=True)
class Reporting:
    """Options of the commands that write a report."""

    profile: WhichProfile = None
    goals: Goals = None
    method: Methods = None
    out: Out = None
    results: ResultsOrOut = None
    accept_stale: AcceptStale = False
    force: Force = False


@dataclass(frozen=True)
class Running(Reporting):
    """Options of the commands that run a study."""

    workers: Workers = None
    cluster: Cluster = None


def run_study(which: Which, given: Running, official: Official = False) -> None:
    """Run a study and write its report; [bold]wayfield study NAME[/] is short for it.

    It writes one Parquet file per cell and experiment, to query with DuckDB or anything else.
    Press Ctrl-C at any time: finished tasks are kept, and the next run continues from there.
    """
    from wayfield.numerics.workers import num_processors

    from .engine import Store, run
    from .engine.tasks import headline
    from .experiments import add_methods, find_study

    # refuse what cannot be run or written, before anything is computed
    if official and given.profile is not None:
        raise typer.BadParameter("--official and --profile exclude each other")
    if given.workers and given.cluster:
        raise typer.BadParameter("--workers and --cluster exclude each other")
    study = add_methods(find_study(which), given.method or ())
    chosen = study.profile("official" if official else given.profile, given.goals)
    tasks, lacking = study.tasks(chosen), study.left_out(chosen)
    if not tasks and lacking:
        raise WayfieldError("; ".join(dict.fromkeys(lacking.values())))
    page = _prepare_report(study, given)
    results = given.results or given.out or RESULTS
    for name, lack in lacking.items():
        say(notes(), f"{name} is left out: {lack}")

    # run the tasks and report on them
    if given.cluster is None:
        _warm_up(study)
    try:
        outcome = run(
            tasks, Store(results), given.workers, given.cluster, notes(),
            accept_stale=given.accept_stale,
        )  # fmt: skip
    except KeyboardInterrupt:
        say(notes(), f"finished tasks are kept in {results}: run again to continue")
        raise typer.Exit(130) from None
    if not outcome.tables:
        raise WayfieldError(f"every task failed; see *.failed.txt in {results}")
    busy = 0 if given.cluster else given.workers or num_processors()
    _write_report(study, outcome, results, page, busy, given.force)

    # sum up the study's first experiment: by arm, the mean of its measure over the cells
    measure, figures = "", defaultdict[str, list[float]](list)
    for task, rows in outcome.tables.items():
        if task.experiment.name == study.experiments[0].name:
            measure, values = headline(rows)
            for arm, value in values.items():
                figures[arm].append(value)
    if figures:
        means = [(arm, len(some), f"{sum(some) / len(some):.4f}") for arm, some in figures.items()]
        _show(f"mean {measure}", ("arm", "cells", measure), means)
    ran = len(outcome.tables) - outcome.reused
    say(Console(), f"tasks run: {ran}, reused: {outcome.reused}; {outcome.seconds:.0f} s")
    say(Console(), f"report: {page}")
    if outcome.failed:
        failed = number_of(len(outcome.failed), "tasks")
        say(notes(), f"{failed} failed; see *.failed.txt in {results}")
        raise typer.Exit(1)


study_app.command("run", cls=Command)(with_options(run_study))


def reproduce(given: Running) -> None:
    """Run the paper's experiments again and write [bold]report/index.html[/].

    Every table and figure of the paper beside ours. Press Ctrl-C at any time: finished tasks are
    kept, and the next run continues from there. The same as [bold]wayfield study paper[/];
    [bold]wayfield study all[/] adds what lies beyond the paper.
    """
    run_study(PAPER, given)


def report(given: Reporting, which: Which = PAPER) -> None:
    """Write a study's report from the results so far, and list what is missing."""
    from .engine import Store, look_up, what_is_there
    from .experiments import add_methods, find_study

    study = add_methods(find_study(which), given.method or ())
    tasks = study.tasks(study.profile(given.profile, given.goals))
    page, out, results = _prepare_report(study, given), given.out, given.results
    if results is None:
        results = out if out is not None and any(out.glob("*/*.parquet")) else RESULTS
    found = what_is_there(look_up(tasks, Store(results)), given.accept_stale)
    lacking = Counter(task.experiment.name for task in tasks if task not in found.tables)
    for experiment, count in lacking.items():
        total = sum(task.experiment.name == experiment for task in tasks)
        say(notes(), f"{experiment}: {count} of {total} tasks are missing")
    if found.stale:
        say(notes(), f"stale results left out: {found.stale} (--accept-stale uses them)")
    _write_report(study, found, results, page, 0, given.force)
    say(Console(), f"report: {page}")


def _prepare_report(study: Study, given: Reporting) -> Path:
    """Check before computing that the report can be written; return the path of its page."""
    from wayfield.checks import need
    from wayfield.graphs.tables import check_outputs

    need("jinja2", "study")
    of_paper = study.name in (PAPER, ALL)  # they share a report
    folder = given.out or (Path("report") if of_paper else Path("report") / study.name)
    names = ("index.html", "claims.json") if of_paper else ("index.html",)
    check_outputs(folder, names, given.force)
    return folder / "index.html"


def _write_report(
    study: Study, found: Run, results: Path, page: Path, workers: int, force: bool
) -> None:
    from .engine import Store, by_experiment
    from .report import Provenance, write_report

    if not found.tables:
        raise WayfieldError(f"there are no results in {results} yet: wayfield study {study.name}")
    command, spent = shlex.join(["wayfield", *sys.argv[1:]]), Store(results).computing(found.tables)
    provenance = Provenance(command, found, workers, spent)
    with notes().status("writing the report …"):
        write_report(study, by_experiment(found.tables), page.parent, provenance, force)


def _warm_up(study: Study) -> None:
    """Compile the kernels of a study here, once, and not in every worker."""
    from wayfield.cli.warmup import warm_up
    from wayfield.numerics.jit import compiling

    announce_compiling()
    warm_up(directed=any(experiment.name == "directed" for experiment in study.experiments))
    if study.name in (PAPER, ALL):
        with compiling("always"):  # the smallest cell of each experiment
            for experiment in study.experiments:
                cells = experiment.cells(study.profile("quick"))
                experiment.run(min(cells, key=experiment.effort))


# ------------------------------------------------------------------ progress and results


@study_app.command(cls=Command)
def init(
    file: Annotated[Path, typer.Argument(help="Where to write it.")] = Path("study.toml"),
) -> None:
    """Write a sample study to start from."""
    from .experiments import SAMPLE

    try:
        with file.open("x", encoding="utf-8") as new:
            new.write(SAMPLE)
    except FileExistsError:
        raise WayfieldError(f"{file} already exists") from None
    typer.echo(f"wrote {file}; edit it, then: wayfield study run {file}")


STUDY_OR_NONE = "Name of a study, or your own TOML file. Default: all studies with results."


@study_app.command(cls=Command)
def status(
    which: Annotated[str | None, typer.Argument(metavar="[STUDY]", help=STUDY_OR_NONE)] = None,
    profile: WhichProfile = None,
    goals: Goals = None,
    method: Methods = None,
    results: Results = RESULTS,
) -> None:
    """Show the progress of a study: what is done, missing, failed, stale or damaged, and why."""
    from .engine import Condition, Store, look_up
    from .experiments import STUDIES, add_methods, find_study

    store = Store(results)
    lines: dict[tuple[str, ...], list[Any]] = {}
    if which is None:
        if (profile, goals, method) != (None, None, None):
            raise typer.BadParameter("--profile, --goals and --method need the name of a study")
        title, heads, known = f"studies with results in {results}", ["study", "profile"], set()
        for study in STUDIES.values():
            for each in study.profiles:
                entries = look_up(study.tasks(each), store)
                if any(entry.condition is not Condition.MISSING for entry in entries.values()):
                    lines[study.name, each.name] = list(entries.values())
                    known |= {store.path(task) for task in entries}
        if others := sum(path not in known for path in results.glob("*/*.parquet")):
            phrase = number_of(others, "results")
            say(notes(), f"{phrase} belong to other settings or to your own studies: name the file")
        elif not lines:
            raise WayfieldError(f"there are no results in {results} yet")
    else:
        study = add_methods(find_study(which), method or ())
        chosen = study.profile(profile, goals)
        entries = look_up(study.tasks(chosen), store)
        title = f"study {study.name}, profile {chosen.name}: tasks in {results}"
        heads = ["experiment"]
        for task, entry in entries.items():
            lines.setdefault((task.experiment.name,), []).append(entry)
        lines["all",] = list(entries.values())
        changes = Counter(entry.changed for entry in entries.values() if entry.changed)
        damage = [e.note for e in entries.values() if e.condition is Condition.DAMAGED]
        for text in (*(f"stale: {n:,} × {changed}" for changed, n in changes.items()), *damage):
            say(notes(), text)
    if lines:
        counts = {name: Counter(each.condition for each in some) for name, some in lines.items()}
        rows = [(*name, *(found[each] for each in Condition)) for name, found in counts.items()]
        _show(title, [*heads, *(condition.value for condition in Condition)], rows)


@study_app.command(cls=Command)
def verify(
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="[STUDY or DIR]",
            help="Name of a study, or a TOML file of your own; or a folder of results, for all "
            "studies that have any there.",
        ),
    ] = None,
    results: Results = RESULTS,
    sample: Annotated[int, typer.Option(min=1, help="Number of tasks to check.")] = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample of tasks.")] = 0,
    goals: Goals = None,
) -> None:
    """Prove a sample of results again, with a checker that shares no code with the solver.

    Tasks whose rows hold digests of proofs are run again: the proofs must have the same
    digests, and python -m wayfield_verify must prove them.
    """
    import random

    from .engine import Store, has_proofs, recheck
    from .experiments import STUDIES, find_study

    if which is not None and which not in STUDIES and Path(which).is_dir():
        results, which = Path(which), None
    store = Store(results)
    tasks = {
        store.path(task): task
        for study in (STUDIES.values() if which is None else [find_study(which)])
        for profile in study.profiles
        for task in study.tasks(study.profile(profile.name, goals))
    }
    there = sorted(path for path in tasks if path.exists())
    random.Random(seed).shuffle(there)
    checked, sound = 0, True
    for path in there:
        task, entry = tasks[path], store.look(tasks[path])
        if checked == sample or not has_proofs(entry.rows):
            continue
        checked += 1
        with notes().status(f"running {task.key} again …"):
            found = recheck(task, entry.rows)
        stale = f" (stale: {entry.changed})" if entry.changed else ""
        said = "; ".join(found.faults) or f"{found.proved} proved, digests as in the results"
        say(Console(), f"{task.key}{stale}: {said}")
        sound = sound and not found.faults
    if not checked:
        raise WayfieldError(
            f"there are no results with proofs in the folder {results}: only the exact "
            "methods of the paper's study (wayfield reproduce) have them"
        )
    if not sound:
        raise typer.Exit(1)


@study_app.command(cls=Command)
def query(
    sql: Annotated[str, typer.Argument(metavar="SQL", help="Experiments are its tables.")],
    results: Results = RESULTS,
) -> None:
    """Query the results with DuckDB: every experiment is a table, every setting a column.

    The table pairs has a row for every sampled pair and arm of the rollouts.

    For example: SELECT label_fraction, avg(reached / pairs) FROM rollout WHERE arm = 'amle'
    GROUP BY 1 ORDER BY 1
    """
    from wayfield.checks import need

    from .engine import connect

    duckdb = need("duckdb", "study")
    try:
        with connect(results) as connection:
            answer = connection.sql(sql)
            if answer is not None:
                typer.echo(str(answer).rstrip())
    except duckdb.Error as error:
        said = str(error).partition("\n")[0]
        hint = "DESCRIBE rollout lists the columns of a table, SHOW TABLES the tables"
        if isinstance(error, duckdb.InvalidInputException | duckdb.IOException):
            hint = "wayfield study status names damaged results, and a run computes them again"
        raise WayfieldError(f"{said} ({hint})") from error


@study_app.command(cls=Command)
def readings(results: Results = RESULTS, accept_stale: AcceptStale = False) -> None:
    """Rank the readings of the paper by the rule that chooses the one in use.

    From the results of [bold]wayfield study all[/].
    """
    from .engine import Store, as_records, by_experiment, look_up, what_is_there
    from .experiments import STUDIES
    from .experiments import readings as design
    from .paper.verdicts import SHOWN

    study = STUDIES[ALL]
    tasks = [task for task in study.tasks() if task.experiment is design.DESIGN]
    found = what_is_there(look_up(tasks, Store(results)), accept_stale)
    tables = as_records(by_experiment(found.tables))
    ranking = design.ranking(study.experiments, tables)
    if ranking is None:
        raise WayfieldError(f"{results} lacks results of the design: run wayfield study {ALL}")
    rows = []
    for place, reading in enumerate(ranking.readings, 1):
        adopted = reading == ranking.adopted
        if place <= SHOWN or adopted:
            lead, error = ranking.behind(reading)
            name = f"{reading} (adopted)" if adopted else str(reading)
            behind = "" if place == 1 else f"{lead:.1f} ± {error:.1f}"
            rows.append((place, name, f"{ranking.scores[place - 1].sum():.1f}", behind))
    title = f"{len(ranking.readings)} readings by {len(ranking.names)} figures of the paper"
    _show(title, ("rank", "reading", "score", "behind"), rows)


NETWORKS = (
    "A network, NAME_net.tntp, or a folder of them, with NAME_flow.tntp or NAME_trips.tntp beside "
    "each."
)
TRIPS = "Measured trips between nodes of the one network: start, end, time."


@study_app.command(cls=Command)
def travel(
    path: Annotated[Path, typer.Argument(help=NETWORKS, show_default=False)],
    trips: Annotated[Path | None, _option(TRIPS, metavar="FILE", default=False)] = None,
    draws: Annotated[int, typer.Option(min=1, help="Draws of trips for each network.")] = 6,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first draw.")] = 0,
) -> None:
    """Compare predictions of travel times on networks of your own, and plant faults in them.

    The repository holds no networks: those of TransportationNetworks are in the format TNTP. With
    --trips, measured trips are predicted from others, and nothing is planted.
    """
    from .experiments import travel_times

    seeds = range(seed, seed + draws)
    with notes().status("reading the networks …"):
        towns = [] if trips else travel_times.read_towns(path)
        measured = travel_times.read_measured(path, trips) if trips else None
    found = travel_times.tables(towns, seeds)
    if measured:
        found = iter([travel_times.measured_table(*measured, seeds)])
    for title, heads, rows in found:
        _show(title, heads, rows)


def register(app: typer.Typer) -> None:
    """Add the commands of the studies to ``wayfield``."""
    for command in (reproduce, report):
        app.command(cls=Command, rich_help_panel=PANEL, help=paragraphs(command.__doc__))(
            with_options(command)
        )
    app.add_typer(study_app, name="study", rich_help_panel=PANEL)
