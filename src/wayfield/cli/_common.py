"""What the commands share: consoles, the word about kernels, reading a layout."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from ..errors import InputError, WayfieldError

if TYPE_CHECKING:
    from ..layouts import Layout

SLOW = 1.5
"""Seconds after which a person should be told what is going on."""


_LARGEST_MAZE = 1 << 24
"""Bytes of a maze in a file; its graph would have more vertices than memory has room for."""

UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff]")
"""Characters that a terminal obeys instead of showing them, those that turn text round included."""


def printable(text: str) -> str:
    """Return text that a terminal shows as it is: what it would obey is written as an escape."""
    return UNSEEN.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def notes() -> Console:
    """Return the console for everything that is not the answer: standard error."""
    return Console(stderr=True)


def say(console: Console, text: str) -> None:
    """Print a line as it is: brackets are not markup, and paths are not broken."""
    console.print(printable(text), markup=False, highlight=False, soft_wrap=True)


def compile_kernels(console: Console, directed: bool = False, study: bool = False) -> None:
    """Load the kernels; if that takes long they are being compiled, so say it."""
    from .._warmup import warm_up

    with explained(console, "compiling the kernels (first run only) …"):
        warm_up(directed, study)


@contextmanager
def explained(console: Console, message: str) -> Iterator[None]:
    """Show the message while the block runs, once it has taken longer than a moment."""
    status = console.status(message)

    def show() -> None:
        if console.is_terminal:
            status.start()
        else:
            say(console, message)

    timer = threading.Timer(SLOW, show)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()


def read_layout(name: str) -> Layout:
    """Load a map by its name, or from a file if the name has a dot or a slash in it."""
    from ..layouts import Layout, load_layout

    if not any(mark in name for mark in "./\\"):
        return load_layout(name)
    path = Path(name)
    try:
        with path.open("rb") as file:
            data = file.read(_LARGEST_MAZE + 1)
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise WayfieldError(f"{name} is not a text file: {error}") from error
    except OSError as error:
        raise WayfieldError(f"cannot read {name}: {error.strerror}") from error
    if len(data) > _LARGEST_MAZE:
        raise InputError(f"{name} is larger than a maze can be: over {_LARGEST_MAZE:,} bytes")
    if not text.strip():
        raise InputError(f"{name} is empty")
    try:
        return Layout.from_text(text, path.stem)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error
