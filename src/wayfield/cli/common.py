"""Shared by the commands: consoles, progress, options as flags, reading a layout."""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rich.console import Console

from ..errors import InputError, Message, Option, WayfieldError

if TYPE_CHECKING:
    from ..graphs.layouts import Layout

SLOW = 1.5
"""Seconds of compiling after which a command announces it."""

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Characters that control a terminal, including those that reverse the direction of text."""


def printable(text: str) -> str:
    """Return text that is safe for a terminal: control characters are escaped."""
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def flag(option: Option) -> str:
    """Return an option of the library as a flag of the command line.

    Examples
    --------
    >>> flag(Option("decimal", ",", "Style")), flag(Option("from", within="columns"))
    ('--decimal ,', '--tail')
    >>> flag(Option("force", True)), flag(Option("oneway", "none", "columns"))
    ('--force', '--oneway none')
    """
    name, value = option.name, option.value
    if option.within == "columns":
        name = {"from": "tail", "to": "head"}.get(name, name)
        name = f"trip-{name}" if name in ("start", "end", "cost") else name
    shown = f"{value:.3g}" if isinstance(value, float) else value
    return f"--{name.replace('_', '-')}" + ("" if value in (None, True) else f" {shown}")


def in_flags(text: str, length_unit: float = 1.0, words: Iterable[object] = ()) -> str:
    """Return a message of the library with its options as flags, and commands with their `words`.

    A unit that it recommends is for lengths that were multiplied by `length_unit` already; the flag
    is for lengths as they are in the file.
    """

    def spell(option: Option) -> str:
        if option.within == "command":
            return f"`{shlex.join(['wayfield', *option.name.split(), *map(str, words)])}`"
        if option.name != "length_unit" or not isinstance(option.value, float):
            return flag(option)
        return f"pass {flag(replace(option, value=length_unit * option.value))}"

    return text.render(spell) if isinstance(text, Message) else text


@cache
def notes() -> Console:
    """Return the console for everything but the result: standard error."""
    return Console(stderr=True)


def say(console: Console, text: str) -> None:
    """Print a line as it is: brackets are not markup, :x: is no emoji, and paths are not broken."""
    console.print(printable(text), markup=False, emoji=False, highlight=False, soft_wrap=True)


class Announcement:
    """Print one line once compiling takes longer than a moment, whichever step needs a kernel."""

    since, done = inf, False

    def __call__(self) -> None:
        """Note that a kernel is about to be compiled."""
        now = time.monotonic()
        self.since = min(self.since, now)
        if not self.done and now - self.since >= SLOW:
            from ..numerics.compiled import shortfall

            self.done, lost = True, shortfall()
            kept = f"{lost}; NUMBA_CACHE_DIR=FOLDER names a place for them" if lost else ""
            say(notes(), f"compiling kernels: a minute or two, {kept or 'once only'} …")


@cache
def announce_compiling() -> Announcement:
    """Announce compiling for the rest of the process."""
    from ..numerics.jit import on_compiling

    announcement = Announcement()
    on_compiling.append(announcement)
    return announcement


class Stages:
    """A progress display of one stage after another; it vanishes at the end.

    Only terminals show it. The line about compiling is always printed: see `announce_compiling`.

    Examples
    --------
    >>> with Stages() as stages:
    ...     progress = stages.begin("reading")
    ...     progress(1, 2)
    """

    def __init__(self, console: Console | None = None) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self.display = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TimeElapsedColumn(),
            console=console or notes(),
            transient=True,
            disable=not (console or notes()).is_terminal,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
        announce_compiling()
        self.display.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.display.stop()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Hide the display while something is printed."""
        self.display.stop()
        yield
        self.display.start()

    def begin(self, name: str) -> Callable[[int, int], None]:
        """End the previous stage and begin this one; return a function of (done, total)."""
        for task in self.display.tasks:
            task.visible = False
        number = self.display.add_task(printable(name), total=None)

        def progress(done: int, total: int) -> None:
            self.display.update(number, completed=done, total=total)

        return progress


def read_layout(name: str) -> Layout:
    """Load a map by name, or from a file if the name contains a dot or a slash."""
    from ..graphs.layouts import Layout, load_layout, read_maze_file

    if not any(mark in name for mark in "./\\"):
        return load_layout(name)
    path = Path(name)
    try:
        text = read_maze_file(path)
        if text.strip():
            return Layout.from_text(text, path.stem)
    except UnicodeDecodeError as error:
        raise WayfieldError(f"{name} is not a text file: {error}") from error
    except OSError as error:
        raise WayfieldError(f"cannot read {name}: {error.strerror}") from error
    except InputError as error:
        raise InputError(f"{name}: ", error.message) from error
    raise InputError(f"{name} is empty")
