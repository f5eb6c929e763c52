"""What is going on, on standard error: a bar for the stage that is running, in a terminal only."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from ._common import printable


class Stages:
    """A progress display of one stage after another; it vanishes at the end.

    Examples
    --------
    >>> from io import StringIO
    >>> with Stages(Console(file=StringIO())) as stages:
    ...     tell = stages.begin("reading")
    ...     tell(1, 2)
    """

    def __init__(self, console: Console) -> None:
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
        self.display.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.display.__exit__(kind, error, trace)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Take the display away while something is printed."""
        self.display.stop()
        yield
        self.display.start()

    def begin(self, name: str) -> Callable[[int, int], None]:
        """End the stage before and begin this one; the answer is to be told how far it is."""
        for task in self.display.tasks:
            task.visible = False
        number = self.display.add_task(printable(name), total=None)

        def tell(done: int, total: int) -> None:
            self.display.update(number, completed=done, total=total)

        return tell
