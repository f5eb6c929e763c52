"""Shared by the commands: consoles, progress, options as flags, reading a layout."""

from __future__ import annotations

import re
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rich.console import Console

from .._text import seconds_text
from ..errors import InputError, Message, Option, WayfieldError

if TYPE_CHECKING:
    from rich.progress import Progress

    from ..extension import Method
    from ..layouts import Layout
    from ..mending import MendMethod

SLOW = 1.5
"""Seconds after which a command shows what it is doing."""
KERNELS = {"amle": 80, "harmonic": 40, "p": 83, "mend": 50, "directed": 13}
"""Kernels that a first use compiles, by method and kind of job, as measured; others take 40."""
SECONDS_PER_KERNEL = (0.4, 1.2)
"""Time to compile a kernel, on average, on a fast machine and on a slow or busy one."""

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
    ('--force', '--no-oneway')
    """
    name, value = option.name, option.value
    if option.within == "columns":
        if (name, value) == ("oneway", "none"):
            return "--no-oneway"
        name = {"from": "tail", "to": "head"}.get(name, name)
        name = f"trip-{name}" if name in ("start", "end", "cost") else name
    shown = f"{value:.3g}" if isinstance(value, float) else value
    return f"--{name.replace('_', '-')}" + ("" if value in (None, True) else f" {shown}")


def in_flags(text: str, length_unit: float = 1.0) -> str:
    """Return a message of the library with its options as flags.

    A unit that it recommends is for lengths that were multiplied by `length_unit` already; the flag
    is for lengths as they are in the file.
    """

    def spell(option: Option) -> str:
        if option.name != "length_unit" or not isinstance(option.value, float):
            return flag(option)
        return f"pass {flag(replace(option, value=length_unit * option.value))}"

    return text.render(spell) if isinstance(text, Message) else text


def notes() -> Console:
    """Return the console for everything but the result: standard error."""
    return Console(stderr=True)


def say(console: Console, text: str) -> None:
    """Print a line as it is: brackets are not markup, :x: is no emoji, and paths are not broken."""
    console.print(printable(text), markup=False, emoji=False, highlight=False, soft_wrap=True)


def compile_kernels(
    console: Console,
    methods: Sequence[Method] = (),
    directed: bool = False,
    mend: MendMethod | None = None,
    more: Callable[[], None] | None = None,
    size: float = inf,
) -> None:
    """Load the kernels of these methods and of a mend method, or of the common methods.

    `more` calls kernels of other packages. `size` is the number of vertices and arcs to be solved.

    A message appears if compiling takes long, and if compiled kernels cannot be cached.
    """
    from rich.progress import BarColumn, Progress, TextColumn

    from .._warmup import COMMON, warm_up, warm_up_mend
    from ..extension._names import method_word
    from ..kernels._jit import is_compiled, shortfall
    from ..kernels.amle import SMALL

    event: Any = import_module("numba.core.event")
    begun = threading.Event()
    what = f"the kernels of {method_word(methods[0])}" if len(methods) == 1 else "the kernels"
    what += "" if mend is None else " and those of mending" if methods else " of mending"
    kept = "" if shortfall() else "; once only"

    # about how many kernels: as measured for such a job, but not more than are missing
    words = {method_word(method).partition("=")[0] for method in methods or COMMON}
    words -= {"amle"} if size <= SMALL else set()
    usual = max((KERNELS.get(word, 40) for word in words), default=40) if methods or not mend else 0
    usual += 0 if mend is None else KERNELS["mend"]
    usual += KERNELS["directed"] if directed else 0
    modules = [m for name, m in list(sys.modules.items()) if name.startswith("wayfield.kernels.")]
    known = {id(each): each for module in modules for each in vars(module).values()}
    total = max(1, min(usual, sum(not is_compiled(each) for each in known.values())))
    low, high = (round(total * seconds) for seconds in SECONDS_PER_KERNEL)
    message = f"compiling {what} (about {total}), usually {low} to {high} s{kept} …"
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[left]}", markup=False),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
    task = bar.add_task(f"compiling {what}", total=total, left=f"{low} to {high} s{kept}")

    class Watch(event.Listener):  # type: ignore[misc]
        done, since = 0, 0.0

        def on_start(self, happening: Any) -> None:
            if not begun.is_set():
                self.since = time.monotonic()
            begun.set()
            if name := _own_kernel(happening):
                bar.update(task, description=f"compiling {name}")

        def on_end(self, happening: Any) -> None:
            self.done += bool(_own_kernel(happening))
            done = min(self.done, total - 1)  # a rough total: never full before the end
            left = f"{low} to {high} s{kept}"
            if done >= 5:
                pace = (time.monotonic() - self.since) / done
                left = f"about {seconds_text(pace * (total - done))} left{kept}"
            bar.update(task, completed=done, left=left)

    watching = event.install_listener("numba:compile", Watch())
    with watching, explained(console, message, begun, bar):
        if mend is not None:
            warm_up_mend(mend, directed)
        if methods or mend is None:
            warm_up(methods or COMMON, directed, size)
        if more is not None:
            more()
    if begun.is_set() and shortfall():
        say(console, f"{shortfall()}; NUMBA_CACHE_DIR=FOLDER names a place for them")


def _own_kernel(happening: Any) -> str:
    """Return the name of a kernel of wayfield that is compiled; empty for Numba's own functions."""
    kernel: Any = (happening.data or {}).get("dispatcher")
    home = getattr(getattr(kernel, "py_func", None), "__module__", "")
    return f"{home.rpartition('.')[2]}.{kernel.__name__}" if home.startswith("wayfield") else ""


@contextmanager
def explained(
    console: Console,
    message: str,
    begun: threading.Event | None = None,
    display: Progress | None = None,
) -> Iterator[None]:
    """Show the message while the block runs, once it has taken longer than a moment.

    If there is something to wait for, the message appears only after it has begun. On a terminal
    the `display`, if any, is shown in its place.
    """
    status = display or console.status(message)
    over = threading.Event()

    def watch() -> None:
        if over.wait(SLOW):
            return
        while begun is not None and not begun.is_set():
            if over.wait(0.1):
                return
        if console.is_terminal:
            status.start()
        else:
            say(console, message)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
        if console.is_terminal:  # a bar that was never started prints a blank line elsewhere
            status.stop()


class Stages:
    """A progress display of one stage after another; it vanishes at the end.

    Examples
    --------
    >>> from io import StringIO
    >>> with Stages(Console(file=StringIO())) as stages:
    ...     progress = stages.begin("reading")
    ...     progress(1, 2)
    """

    def __init__(self, console: Console) -> None:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        self.display = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TimeElapsedColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> Self:
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
    from ..layouts import Layout, load_layout, read_maze_file

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
