"""Progress display: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from .tasks import Row, headline

_MOST_ARMS = 4  # at most this many arms fit on a line


@dataclass
class _Count:
    """Progress of one experiment.

    Attributes
    ----------
    total, done : int
        Tasks.
    work, worked : float
        Estimated work in the tasks of this run, and in those that are done.
    seconds : float
        Seconds that those tasks took.
    measure : str
        The measure of the finished cells: success or SPL.
    found : dict
        By arm, the measure in every finished cell.
    """

    total: int
    work: float
    done: int = 0
    worked: float = 0.0
    seconds: float = 0.0
    measure: str = ""
    found: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, rows: Sequence[Row]) -> None:
        self.done += 1
        self.measure, values = headline(rows) if rows else (self.measure, {})
        for arm, value in values.items():
            self.found[arm].append(value)

    @property
    def means(self) -> str:
        """The measure and its mean over the finished cells, by arm; empty if there is none."""
        shown = list(self.found.items())[:_MOST_ARMS]
        means = " · ".join(f"{arm} {sum(values) / len(values):.3f}" for arm, values in shown)
        return f"{self.measure} {means}" if means else ""


class Display:
    """Tasks done, rate, time left, and the figures so far. A context manager.

    Parameters
    ----------
    console : rich Console
        Where to show it.
    every : float
        Seconds between two lines where there is no terminal.

    Examples
    --------
    >>> import sys
    >>> with Display(Console(file=sys.stdout)) as show:
    ...     show.expect("rollout", 1)
    ...     show.count("rollout", [{"arm": "exact", "reached": 511, "pairs": 512}])
    1/1 tasks, ...; rollout 1/1: success exact 0.998
    """

    def __init__(self, console: Console, every: float = 5.0) -> None:
        self.console = console
        self.every = every
        self._counts: dict[str, _Count] = {}
        self._changed: set[str] = set()  # since the last plain line
        self._fresh = 0
        self._began = self._spoke = self._counted = time.monotonic()
        self._spinner = Spinner("dots")
        self._live = Live(console=console, transient=True, get_renderable=self._render)

    def __enter__(self) -> Self:
        if self.console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.console.is_terminal:
            self._live.stop()

    def note(self, message: str) -> None:
        """Print one line."""
        self.console.print(message, markup=False, emoji=False, highlight=False, soft_wrap=True)

    def expect(self, experiment: str, tasks: int, work: float | None = None) -> None:
        """Announce the tasks of an experiment, and the work still to be done."""
        self._counts[experiment] = _Count(tasks, tasks if work is None else work)

    def recall(self, experiment: str, rows: Sequence[Row]) -> None:
        """Count a task that an earlier run finished."""
        self._counts[experiment].add(rows)

    def count(
        self, experiment: str, rows: Sequence[Row], work: float = 1.0, seconds: float | None = None
    ) -> None:
        """Count one more task; it has no rows if it failed.

        `seconds` is what it took, the time since the last one if not given.
        """
        now, count = time.monotonic(), self._counts[experiment]
        count.add(rows)
        count.worked += work
        count.seconds += now - self._counted if seconds is None else seconds
        self._counted = now
        self._fresh += 1
        self._changed.add(experiment)
        due = self.done == self.total or now - self._spoke >= self.every
        if due and not self.console.is_terminal:
            self.note(f"{self.pace}; {self._line(self._changed)}")
            self._spoke = now
            self._changed.clear()

    @property
    def done(self) -> int:
        """Number of tasks done, in this run or before."""
        return sum(count.done for count in self._counts.values())

    @property
    def total(self) -> int:
        """Total number of tasks."""
        return sum(count.total for count in self._counts.values())

    @property
    def pace(self) -> str:
        """Tasks done, tasks per second or minute, and time left, as text."""
        done = f"{self.done}/{self.total} tasks"
        if not self._fresh:
            return done
        elapsed = max(time.monotonic() - self._began, 1e-9)
        left, rate = round(self._time_left(elapsed)), self._fresh / elapsed
        pace = f"{rate:.1f}/s" if rate >= 0.1 else f"{60 * rate:.1f}/min"
        return f"{done}, {pace}, {left // 60}:{left % 60:02d} left"

    def _time_left(self, elapsed: float) -> float:
        """Estimate the time left from what each experiment's tasks took so far."""
        counts = self._counts.values()
        seconds, worked = sum(c.seconds for c in counts), sum(c.worked for c in counts)
        if not seconds or not worked:
            return 0.0
        cost = [c.seconds / c.worked if c.worked else seconds / worked for c in counts]
        left = sum(max(c.work - c.worked, 0.0) * each for c, each in zip(counts, cost, strict=True))
        return left * elapsed / seconds  # workers run at the same time

    def _line(self, names: Set[str]) -> str:
        """Return the progress of these experiments, and the figures of the first that has any."""
        parts, shown = [], False
        for name, count in self._counts.items():
            if name in names:
                means = "" if shown or not count.means else f": {count.means}"
                parts.append(f"{name} {count.done}/{count.total}{means}")
                shown = shown or bool(means)
        return "; ".join(parts)

    def _render(self) -> RenderableType:
        table = Table.grid(padding=(0, 1))
        for _ in range(3):
            table.add_column(no_wrap=True)
        table.add_column(no_wrap=True, overflow="ellipsis", style="dim")
        for name, count in self._counts.items():
            bar = ProgressBar(count.total, count.done, width=20)
            table.add_row(name, bar, f"{count.done}/{count.total}", count.means)
        head = Table.grid(padding=(0, 1))
        bar = ProgressBar(max(self.total, 1), self.done, width=40)
        head.add_row(self._spinner, bar, Text(self.pace, style="bold"))
        return Group(head, table)
