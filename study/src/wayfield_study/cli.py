"""Studies: run one, see how far it has come, report on it, query its results."""

from __future__ import annotations

import shlex
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from wayfield.cli.options import Command, Force, Group, paragraphs, with_options
from wayfield.cli.output import announce_compiling, notes, say
from wayfield.errors import InputError, WayfieldError
from wayfield.words import number_of

if TYPE_CHECKING:
    from .engine import Run, Study
    from .engine.store import Entry

RESULTS = Path("results")
PAPER, ALL = "paper", "all"
PANEL = "The studies"
"""Heading of these commands in the help of ``wayfield``."""

Which = Annotated[
    str,
    typer.Argument(
        metavar="STUDY", help="Name of a study (see wayfield study list), or your own TOML file."
    ),
]


def _option(text: str, *names: str, default: str | bool = True, **limits: Any) -> Any:
    """Return an option with its help, and what the help calls its default."""
    return typer.Option(*names, help=text, show_default=default, **limits)


WhichProfile = Annotated[
    str | None,
    _option(
        "How much to run; wayfield study list shows the profiles.",
        "--profile",
        default="the study's first",
    ),
]
GOALS = "Goals per cell, each with 512 // N starts."
Goals = Annotated[int | None, _option(GOALS, default="the profile's", min=1, max=512)]
Out = Annotated[
    Path | None,
    _option(
        "Folder for the report, and for the results unless --results names another.",
        default="report or report/STUDY, and results",
    ),
]
Results = Annotated[Path, _option("Folder of the results.")]
ResultsOrOut = Annotated[
    Path | None,
    _option(
        "Folder of the results, DIR/EXPERIMENT/*.parquet; a run reuses what is there.",
        default="that of --out, else results",
    ),
]
ResultsToRead = Annotated[
    Path | None,
    _option("Folder of the results.", default="that of --out if there are any in it, else results"),
]
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


@dataclass(frozen=True)
class Running:
    """Options of the commands that run a study."""

    profile: WhichProfile = None
    goals: Goals = None
    method: Methods = None
    out: Out = None
    results: ResultsOrOut = None
    workers: Workers = None
    cluster: Cluster = None
    accept_stale: AcceptStale = False
    force: Force = False


def run_study(which: Which, given: Running, official: Official = False) -> None:
    """Run a study and write its report; [bold]wayfield study NAME[/] is short for it.

    It writes one Parquet file per cell and experiment, to query with DuckDB or anything else.
    Press Ctrl-C at any time: finished tasks are kept, and the next run continues from there.
    """
    from wayfield.cli.warmup import COMMON, warm_up
    from wayfield.numerics.workers import num_processors

    from .engine import Store, run
    from .engine.tasks import headline
    from .experiments import add_methods, find_study
    from .sweeps import MidrangeSweeps

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
    page = _prepare_report(study, given.out, given.force)
    results = given.results or given.out or RESULTS
    workers, cluster = given.workers, given.cluster
    for name, lack in lacking.items():
        say(notes(), f"{name} is left out: {lack}")

    # run the tasks and report on them
    if cluster is None:
        directed = any(experiment.name == "directed" for experiment in study.experiments)
        announce_compiling()
        warm_up([*COMMON, MidrangeSweeps(1)], directed)
        _warm_up()
    try:
        stale = given.accept_stale
        outcome = run(tasks, Store(results), workers, cluster, notes(), accept_stale=stale)
    except KeyboardInterrupt:
        say(notes(), f"finished tasks are kept in {results}: run again to continue")
        raise typer.Exit(130) from None
    if not outcome.tables:
        raise WayfieldError(f"every task failed; see *.failed.txt in {results}")
    busy = 0 if cluster else workers or num_processors()
    _write_report(study, outcome, results, page, busy, given.force)

    # sum up the study's first experiment: by arm, the mean of its measure over the cells
    measure, figures = "", defaultdict[str, list[float]](list)
    for task, rows in outcome.tables.items():
        if task.experiment.name == study.experiments[0].name:
            measure, values = headline(rows)
            for arm, value in values.items():
                figures[arm].append(value)
    if figures:
        title = Text(f"mean {measure}")
        table = Table("arm", "cells", escape(measure), title=title, title_justify="left")
        for arm, found in figures.items():
            table.add_row(Text(arm), str(len(found)), f"{sum(found) / len(found):.4f}")
        Console().print(table)
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


def report(
    which: Which = PAPER,
    profile: WhichProfile = None,
    goals: Goals = None,
    method: Methods = None,
    out: Out = None,
    results: ResultsToRead = None,
    accept_stale: AcceptStale = False,
    force: Force = False,
) -> None:
    """Write a study's report from the results so far, and list what is missing."""
    from .engine import Store, look_up, what_is_there
    from .experiments import add_methods, find_study

    study = add_methods(find_study(which), method or ())
    tasks = study.tasks(study.profile(profile, goals))
    page = _prepare_report(study, out, force)
    if results is None:
        results = out if out is not None and any(out.glob("*/*.parquet")) else RESULTS
    found = what_is_there(look_up(tasks, Store(results)), accept_stale)
    lacking = Counter(task.experiment.name for task in tasks if task not in found.tables)
    for experiment, count in lacking.items():
        total = sum(task.experiment.name == experiment for task in tasks)
        say(notes(), f"{experiment}: {count} of {total} tasks are missing")
    if found.stale:
        say(notes(), f"stale results left out: {found.stale} (--accept-stale uses them)")
    _write_report(study, found, results, page, 0, force)
    say(Console(), f"report: {page}")


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


@study_app.command(cls=Command)
def status(
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="[STUDY]",
            help="Name of a study, or your own TOML file. Default: all studies with results.",
        ),
    ] = None,
    profile: WhichProfile = None,
    goals: Goals = None,
    results: Results = RESULTS,
) -> None:
    """Show the progress of a study: what is done, missing, failed, stale or damaged, and why."""
    from .engine import Condition, Store, look_up
    from .experiments import find_study

    if which is None:
        if profile is not None or goals is not None:
            raise typer.BadParameter("--profile and --goals need the name of a study")
        _overview(results)
        return
    study = find_study(which)
    chosen = study.profile(profile, goals)
    entries = look_up(study.tasks(chosen), Store(results))
    title = f"study {study.name}, profile {chosen.name}: tasks in {results}"
    found: dict[tuple[str, ...], list[Entry]] = {}
    for task, entry in entries.items():
        found.setdefault((task.experiment.name,), []).append(entry)
    table = _condition_table(title, ["experiment"], found)
    table.add_section()
    counts = Counter(entry.condition for entry in entries.values())
    table.add_row("all", *(str(counts[each]) for each in Condition))
    Console().print(table)
    for changed, count in Counter(e.changed for e in entries.values() if e.changed).items():
        say(notes(), f"stale: {count:,} × {changed}")
    for entry in entries.values():
        if entry.condition is Condition.DAMAGED:
            say(notes(), entry.note)


def _overview(results: Path) -> None:
    """List every profile of every study that has results."""
    from .engine import Condition, Store, look_up
    from .experiments import STUDIES

    store, known = Store(results), set[Path]()
    there: dict[tuple[str, ...], Iterable[Entry]] = {}
    for study in STUDIES.values():
        for profile in study.profiles:
            entries = look_up(study.tasks(profile), store)
            if any(each.condition is not Condition.MISSING for each in entries.values()):
                there[study.name, profile.name] = entries.values()
                known |= {store.path(task) for task in entries}
    others = sum(path not in known for path in results.glob("*/*.parquet"))
    if not there and not others:
        raise WayfieldError(f"there are no results in {results} yet")
    if there:
        title = f"studies with results in {results}"
        Console().print(_condition_table(title, ["study", "profile"], there))
    if others:
        phrase = number_of(others, "results")
        say(notes(), f"{phrase} belong to other settings or to your own studies: name the file")


def _condition_table(
    title: str, heads: Sequence[str], found: Mapping[tuple[str, ...], Iterable[Entry]]
) -> Table:
    """Return a table of the number of tasks in each condition, one line per name."""
    from .engine import Condition

    table = Table(*heads, title=Text(title), title_justify="left")
    for condition in Condition:
        table.add_column(condition.value, justify="right")
    for names, entries in found.items():
        counts = Counter(entry.condition for entry in entries)
        table.add_row(*map(Text, names), *(str(counts[each] or "") for each in Condition))
    return table


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
    studies = STUDIES.values() if which is None else [find_study(which)]
    tasks = {
        store.path(task): task
        for study in studies
        for profile in study.profiles
        for task in study.tasks(study.profile(profile.name, goals))
    }
    there = sorted(path for path in tasks if path.exists())
    random.Random(seed).shuffle(there)
    checked, sound = 0, True
    for path in there:
        if checked == sample:
            break
        task, entry = tasks[path], store.look(tasks[path])
        if not has_proofs(entry.rows):
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

    from .engine.queries import connect

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
    title = f"{len(ranking.readings)} readings by {len(ranking.names)} figures of the paper"
    table = Table("rank", "reading", "score", "behind", title=Text(title), title_justify="left")
    for place, reading in enumerate(ranking.readings, 1):
        adopted = reading == ranking.adopted
        if place > SHOWN and not adopted:
            continue
        lead, error = ranking.behind(reading)
        name = f"{reading} (adopted)" if adopted else str(reading)
        behind = "" if place == 1 else f"{lead:.1f} ± {error:.1f}"
        score = ranking.scores[place - 1].sum()
        table.add_row(str(place), Text(name), f"{score:.1f}", behind)
    Console().print(table)


@study_app.command(cls=Command)
def travel(
    path: Annotated[
        Path,
        typer.Argument(
            help="A network, NAME_net.tntp, or a folder of them, with NAME_flow.tntp or "
            "NAME_trips.tntp beside each.",
            show_default=False,
        ),
    ],
    trips: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Measured trips between nodes of the one network: start, end, time.",
            show_default=False,
        ),
    ] = None,
    draws: Annotated[int, typer.Option(min=1, help="Draws of trips for each network.")] = 6,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the first draw.")] = 0,
) -> None:
    """Compare predictions of travel times on networks of your own, and plant faults in them.

    The repository holds no networks: those of TransportationNetworks are in the format TNTP. With
    --trips, measured trips are predicted from others, and nothing is planted.
    """
    from .experiments import travel_times

    seeds, console = range(seed, seed + draws), Console()
    with notes().status("reading the networks …"):
        towns = [] if trips else travel_times.read_towns(path)
        measured = travel_times.read_measured(path, trips) if trips else None
    found = travel_times.tables(towns, seeds)
    if measured:
        found = iter([travel_times.measured_table(*measured, seeds)])
    for title, heads, rows in found:
        table = Table(*heads, title=Text(title), title_justify="left")
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)


def _prepare_report(study: Study, out: Path | None, force: bool) -> Path:
    """Check before computing that the report can be written; return the path of its page."""
    from wayfield.checks import need
    from wayfield.graphs.tables import check_outputs

    need("jinja2", "study")
    of_paper = study.name in (PAPER, ALL)  # they share a report
    folder = out or (Path("report") if of_paper else Path("report") / study.name)
    names = ("index.html", "claims.json") if of_paper else ("index.html",)
    check_outputs(folder, names, force)
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


def _warm_up() -> None:
    """Call every kernel that only the studies use, on a small maze."""
    import wayfield as wf
    from wayfield import audit

    from .rivals import GamePLaplacian

    graph = wf.grid_graph(wf.load_layout("umaze"), 4)
    labels, truth = wf.sample_labels(graph, 0, 0.1, seed=0), wf.cost_to_go(graph, 0)
    methods = (wf.Harmonic(), wf.PLaplacian(4.0), GamePLaplacian(), wf.AMLE())
    smooth, *_, sharp = (wf.extend(graph, labels, method) for method in methods)
    wf.plan(graph, sharp.values, 0, "q", "index")
    audit.ordering(graph, smooth, truth, 0)
    audit.mechanism(graph, smooth, sharp, truth, 0)
    audit.failures(graph, smooth, labels, 0)


def register(app: typer.Typer) -> None:
    """Add the commands of the studies to ``wayfield``."""
    for command in (reproduce, report):
        app.command(cls=Command, rich_help_panel=PANEL, help=paragraphs(command.__doc__))(
            with_options(command)
        )
    app.add_typer(study_app, name="study", rich_help_panel=PANEL)
