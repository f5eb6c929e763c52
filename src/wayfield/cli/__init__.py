"""The command line. Heavy imports are inside the commands, so that ``--help`` is quick."""

from __future__ import annotations

import os
import signal
import sys
import threading
from functools import cache
from importlib.metadata import entry_points
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn

import typer

from .. import __version__
from ..errors import InputError, NotConverged, WayfieldError
from .commands import compare, maze, plan
from .doctor import doctor
from .options import INSTALLATION, Group, add_command, paragraphs
from .output import in_flags, notes, say

__all__ = ["app", "main"]

FAILED, BAD_INPUT, STOPPED, TERMINATED = 1, 2, 130, 143
"""Exit codes besides 0."""
OF_THE_STUDY = ("reproduce", "study", "report")
"""Commands of wayfield-study, which registers them by one entry point."""

_EPILOG = """\
[bold]Examples[/]

wayfield plan roads.csv known.csv --goal Bern --start Genève

wayfield compare roads.csv known.csv --goal Bern

wayfield maze medium --method harmonic --picture field.png

wayfield travel trips network.csv trips.csv --positions places.csv

wayfield explore

wayfield plan arcs.tsv.gz values.parquet --goal 17 --directed --json

[bold]Exit codes[/]

0 success; 1 it ran, but a solve missed its guarantee, a --start does not arrive, a file \
could not be written or a check failed; 2 bad input, reported in one line with file, row and \
column; 3 times and distances do not go together; 130 stopped by Ctrl-C, 143 by SIGTERM.
"""

app = typer.Typer(
    name="wayfield",
    cls=Group,
    epilog=_EPILOG,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run the command line; any error is one line and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # characters that a terminal cannot show are no error
            stream.reconfigure(errors="replace")
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, _terminate)
    try:
        if not {each.__name__ for each in (*_COMMANDS, doctor)} & set(sys.argv[1:2]):
            _register_others()
        code = app(prog_name="wayfield", standalone_mode=False)
    except (KeyboardInterrupt, typer.Abort):
        code = STOPPED
    except WayfieldError as error:
        text = in_flags(error.message) if isinstance(error, InputError) else str(error)
        code = _complain(text, FAILED if isinstance(error, NotConverged) else BAD_INPUT)
    except OSError as error:
        what = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        code = _complain(what, BAD_INPUT if error.filename else FAILED)
    except MemoryError:
        code = _complain("not enough memory for a graph of this size", FAILED)
    except Exception as error:
        format_message = getattr(error, "format_message", None)
        if format_message is not None:  # click's errors, whichever package vendors click
            code = BAD_INPUT
            if format_message():  # empty: no command at all, and the help has been printed
                context = getattr(error, "ctx", None)
                path = context.command_path if context is not None else "wayfield"
                _complain(f"{format_message()} Try '{path} --help'.", BAD_INPUT)
        elif os.environ.get("WAYFIELD_TRACEBACK"):
            raise
        else:
            what = f"{type(error).__name__}: {error}"
            where = "(WAYFIELD_TRACEBACK=1 shows where)"
            code = _complain(f"internal error; please report it: {what} {where}", FAILED)
    if code == STOPPED:  # reported here, since typer turns some Ctrl-C into this exit code
        _complain("stopped", STOPPED)
    sys.exit(code or 0)


def _terminate(*_: object) -> NoReturn:
    """End as after an error, so that half-written files are removed."""
    sys.exit(TERMINATED)


def _complain(text: str, code: int) -> int:
    say(notes(), f"wayfield: {' '.join(text.split())}")
    return code


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"wayfield {__version__}")
        raise typer.Exit


def _wayfield(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """From a few known cost-to-go values on a graph to a value and a plan for every state.

    Bring a graph and the values you know: wayfield extends them to every state, plans greedily
    from every start at once, and says how far to trust each number.
    """


app.callback(help=paragraphs(_wayfield.__doc__))(_wayfield)
_COMMANDS = (plan, compare, maze)
for _command in _COMMANDS:
    add_command(app, _command)
add_command(app, doctor, INSTALLATION)


@cache
def _register_others() -> None:
    """Add the commands that other packages register by entry point, once.

    One that is not there or cannot be loaded says so when it is called; all others work.
    """
    absent = "is a command of wayfield-study, which is not installed: run pip install ./study in "
    refused = dict.fromkeys(OF_THE_STUDY, f"{absent}your clone of wayfield")
    for entry in entry_points(group="wayfield.commands"):
        names = OF_THE_STUDY if entry.name == "study" else (entry.name,)
        try:
            entry.load()(app)
        except (ImportError, AttributeError) as error:  # of another version, or cut off
            refused |= dict.fromkeys(names, f"cannot be loaded: {error}")
        else:
            refused = {name: why for name, why in refused.items() if name not in names}
    for name, why in refused.items():
        _add_refusal(name, why)


def _add_refusal(name: str, why: str) -> None:
    """Add a hidden command that takes any words and raises."""

    def refuse() -> None:
        raise WayfieldError(f"wayfield {name} {why}")

    anything = {"ignore_unknown_options": True, "allow_extra_args": True}
    settings: Any = {"hidden": True, "add_help_option": False, "context_settings": anything}
    app.command(name, **settings)(refuse)
