"""The command line. Heavy imports wait inside the commands, so that ``--help`` is quick."""

from __future__ import annotations

import shlex
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from . import __version__
from .errors import WayfieldError

if TYPE_CHECKING:
    from .graph import Graph
    from .layouts import Layout
    from .study import Outcome
    from .study.tables import Results

app = typer.Typer(
    name="wayfield",
    help="From a few known cost-to-go values on a graph to a value for every state, a greedy plan "
    "from every start, and a proof of how far to trust it.",
    epilog="Reproduce the study: [bold]wayfield reproduce[/]. "
    "Look at one field: [bold]wayfield maze large --picture field.png[/].",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
study_app = typer.Typer(
    help="Studies beyond the paper's.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(study_app, name="study")
_SLOW = 1.5  # seconds after which a person should be told what is going on


class Cells(StrEnum):
    """Which cells of the study to run."""

    ALL = "all"
    QUICK = "quick"


class MethodName(StrEnum):
    """How to extend the labels."""

    AMLE = "amle"
    HARMONIC = "harmonic"


def main() -> None:
    """Run the command line; an error of the user's is one line and exit code 2."""
    try:
        app(prog_name="wayfield")
    except (WayfieldError, OSError) as error:
        _say(_errors(), f"wayfield: {error}")
        sys.exit(2)
    except KeyboardInterrupt:
        _say(_errors(), "stopped")
        sys.exit(130)


@app.command()
def reproduce(
    out: Annotated[Path, typer.Option(help="Folder for the report.")] = Path("report"),
    results: Annotated[
        Path, typer.Option(help="Folder for the results; a run picks up what is there.")
    ] = Path("results"),
    goals: Annotated[
        int, typer.Option(min=1, max=512, help="Goals per cell, each with 512 // N starts.")
    ] = 16,
    workers: Annotated[int, typer.Option(min=1, help="Number of processes.")] = 2,
    cells: Annotated[
        Cells, typer.Option(help="All 120 cells of the paper, or eight small ones.")
    ] = Cells.ALL,
) -> None:
    """Run the paper's main experiment again and write [bold]report/index.html[/].

    Harmonic, AMLE stopped after 300 sweeps and AMLE solved exactly, beside the figures of the
    paper. Press Ctrl-C at any time: finished cells are kept, and the next run goes on from there.
    """
    from ._optional import need
    from .report import Provenance, write_report
    from .study import Store, run, select_cells
    from .study.tables import Results

    console = _errors()
    need("jinja2", "study")
    out.mkdir(parents=True, exist_ok=True)  # now, not after all the computing
    _compile_kernels(console)
    chosen = select_cells(cells.value, goals)
    try:
        outcome = run(chosen, Store(results), workers, console)
    except KeyboardInterrupt:
        _say(console, f"stopped; finished cells are kept in {results}, run again to go on")
        raise typer.Exit(130) from None
    failed = {cell.key: text for cell, text in outcome.failed.items()}
    if not outcome.records:
        raise WayfieldError(f"all {len(failed)} cells failed; their tracebacks are in {results}")
    command = shlex.join(["wayfield", *sys.argv[1:]])
    provenance = Provenance(command, workers, outcome.seconds, outcome.reused, failed)
    with console.status("writing the report …"):
        found = Results(outcome.records)
        page = write_report(found, out, provenance)
    _summarise(Console(), found, outcome, page)
    if failed:
        _say(console, f"{len(failed)} cells failed; their tracebacks are in {results}")
        raise typer.Exit(1)


@app.command()
def maze(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A map such as umaze, medium, large or giant, or a text file: "
            "anything with a dot or a slash in it.",
        ),
    ],
    refinement: Annotated[int, typer.Option(help="Vertices along the side of a cell.")] = 8,
    label_fraction: Annotated[float, typer.Option(help="Share of the vertices labelled.")] = 0.05,
    method: Annotated[MethodName, typer.Option(help="How to extend.")] = MethodName.AMLE,
    goal: Annotated[
        int, typer.Option(help="Goal vertex, numbered row by row from the top left.")
    ] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the labels.")] = 0,
    picture: Annotated[
        Path | None, typer.Option(help="Draw the field and the plan here (.png, .svg, .pdf).")
    ] = None,
) -> None:
    """Extend a few labels over a maze, plan from every start, and say how it went.

    A maze of your own is a text file, one character per cell: # is wall, . is
    free, 1 to 9 are free at that cost per step, ^ v < > are one-way. Below it,
    4,6 -> 1,7 6,1 gives the teleports out of row 4, column 6, counted from 0.
    Letters such as S and G are free cells; the goal is the vertex you name.
    """
    import numpy as np

    from . import AMLE, Harmonic, extend, grid_graph, plan, sample_labels

    layout = _read_layout(name)
    _compile_kernels(_errors(), layout.directed)
    graph = grid_graph(layout, refinement)
    labels = sample_labels(graph, goal, label_fraction, seed)
    typer.echo(repr(graph))
    _report_reach(graph, goal)
    chosen = AMLE() if method is MethodName.AMLE else Harmonic()
    field = extend(graph, labels, chosen, unreachable="nan")
    outcome = plan(graph, np.nan_to_num(field.values, nan=np.inf, posinf=np.inf), goal)
    for line in (labels, field, outcome):
        typer.echo(repr(line))
    if picture is not None:
        from ._optional import need
        from .plots import field as draw_field

        figure = need("matplotlib.figure", "plots").Figure((8, 6), layout="constrained")
        draw_field(graph, field.values, outcome, labels, figure.subplots())
        try:
            figure.savefig(picture, dpi=150)
        except ValueError as error:  # matplotlib's word for a suffix it does not know
            raise WayfieldError(f"cannot write {picture}: {error}") from error
        typer.echo(f"wrote {picture}")


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
    from .study.directed import places, run_directed, summary, write_lines

    console = _errors()
    _compile_kernels(console, directed=True)
    lines = run_directed(places(large), console)
    table, record = write_lines(lines, out)
    Console().print(summary(lines))
    typer.echo(f"wrote {table} and {record}")


@app.command()
def version() -> None:
    """Print the version of wayfield and of what it computes with."""
    import platform
    from importlib import metadata

    typer.echo(f"wayfield {__version__}")
    typer.echo(f"Python {platform.python_version()}")
    for package in ("numpy", "scipy", "numba"):
        typer.echo(f"{package} {metadata.version(package)}")


def _errors() -> Console:
    return Console(stderr=True)


def _say(console: Console, text: str) -> None:
    """Print a line as it is: brackets are not markup, and paths are not broken."""
    console.print(text, markup=False, highlight=False, soft_wrap=True)


def _compile_kernels(console: Console, directed: bool = False) -> None:
    """Load the kernels; if that takes long they are being compiled, so say it."""
    from ._warmup import warm_up

    with _explained(console, "compiling the kernels (first run only) …"):
        warm_up(directed)


@contextmanager
def _explained(console: Console, message: str) -> Iterator[None]:
    """Show the message while the block runs, once it has taken longer than a moment."""
    status = console.status(message)

    def show() -> None:
        if console.is_terminal:
            status.start()
        else:
            _say(console, message)

    timer = threading.Timer(_SLOW, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def _read_layout(name: str) -> Layout:
    """Load a map by its name, or from a file if the name has a dot or a slash in it."""
    from .layouts import Layout, load_layout

    if not any(mark in name for mark in "./\\"):
        return load_layout(name)
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise WayfieldError(f"{name} is not a text file: {error}") from error
    except OSError as error:
        raise WayfieldError(f"cannot read {name}: {error.strerror}") from error
    return Layout.from_text(text, path.stem)


def _report_reach(graph: Graph, goal: int) -> None:
    """Say what cannot be reached from where; nothing if every state can reach every other."""
    from .oracle import cost_to_go

    pieces = int(graph.strong_components.max()) + 1
    if pieces == 1:
        return
    lost = int((cost_to_go(graph, goal) == float("inf")).sum())
    states = f"{lost:,} of {graph.num_vertices:,} states cannot" if lost else "every state can"
    typer.echo(f"{pieces:,} strong components; {states} reach the goal")


def _summarise(console: Console, results: Results, outcome: Outcome, page: Path) -> None:
    """Print the figures and where the report is."""
    from .report.verdicts import printed_success
    from .study import ARMS
    from .study.rollout import HARMONIC, SWEEPS

    table = Table(title=f"success over {len(results.records)} cells", title_justify="left")
    table.add_column("method")
    for heading in ("ours", "paper", "all starts"):
        table.add_column(heading, justify="right")
    printed = {
        HARMONIC: f"{printed_success(results, 'harmonic'):.3f}",
        SWEEPS: f"{printed_success(results, 'amle'):.3f}",
    }
    for arm in ARMS:
        ours, every = results.mean_success(arm.name), results.all_starts(arm.name)
        table.add_row(arm.title, f"{ours:.3f}", printed.get(arm, "–"), f"{every:.5f}")
    console.print(table)
    ran = len(outcome.records) - outcome.reused
    _say(console, f"cells run: {ran}, reused: {outcome.reused}; {outcome.seconds:.0f} s")
    _say(console, f"report: {page}")


if __name__ == "__main__":
    main()
