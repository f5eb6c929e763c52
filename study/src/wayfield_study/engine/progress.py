"""Progress display: bars on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Column
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
    bar : TaskID
        Its bar.
    seconds : float
        Seconds that those tasks took.
    measure : str
        The measure of the finished cells: success or SPL.
    found : dict
        By arm, the measure in every finished cell.
    """

    total: int
    work: float
    bar: TaskID
    done: int = 0
    worked: float = 0.0
    seconds: float = 0.0
    measure: str = ""
    found: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

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
        said = Column(no_wrap=True, overflow="ellipsis")
        self.bars = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[said]}", style="dim", markup=False, table_column=said),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._all = self.bars.add_task("all", total=0, said="")

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def note(self, text: str) -> None:
        """Print one line, above the bars if there are any."""
        self.console.print(Text(text), soft_wrap=True)

    def expect(self, experiment: str, tasks: int, work: float | None = None) -> None:
        """Set the tasks of an experiment, and the work still to be done."""
        bar = self.bars.add_task(experiment, total=tasks, said="")
        self._counts[experiment] = _Count(tasks, tasks if work is None else work, bar)

    def recall(self, experiment: str, rows: Sequence[Row]) -> None:
        """Count a task that is done, by an earlier run or this one; no rows if it failed."""
        count = self._counts[experiment]
        count.done += 1
        count.measure, values = headline(rows) if rows else (count.measure, {})
        for arm, value in values.items():
            count.found[arm].append(value)
        self.bars.update(count.bar, completed=count.done, said=count.means)
        self.bars.update(self._all, completed=self.done, total=self.total, said=self.pace)

    def count(
        self, experiment: str, rows: Sequence[Row], work: float = 1.0, seconds: float | None = None
    ) -> None:
        """Count one more task; it has no rows if it failed.

        `seconds` is what it took, the time since the last one if not given.
        """
        now, count = time.monotonic(), self._counts[experiment]
        count.worked += work
        count.seconds += now - self._counted if seconds is None else seconds
        self._counted = now
        self._fresh += 1
        self.recall(experiment, rows)
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
        # every experiment has its own unit of work: its seconds per unit so far, else the mean
        counts = self._counts.values()
        seconds, worked = sum(c.seconds for c in counts), sum(c.worked for c in counts)
        left = 0.0
        if seconds and worked:
            cost = [c.seconds / c.worked if c.worked else seconds / worked for c in counts]
            rest = [max(c.work - c.worked, 0.0) for c in counts]
            left = sum(a * b for a, b in zip(rest, cost, strict=True))
            left *= elapsed / seconds  # workers run at the same time
        minutes, remainder = divmod(round(left), 60)
        rate = self._fresh / elapsed
        pace = f"{rate:.1f}/s" if rate >= 0.1 else f"{60 * rate:.1f}/min"
        return f"{done}, {pace}, {minutes}:{remainder:02d} left"

    def _line(self, names: Set[str]) -> str:
        """Return the progress of these experiments, and the figures of the first that has any."""
        parts, shown = [], False
        for name, count in self._counts.items():
            if name in names:
                means = "" if shown or not count.means else f": {count.means}"
                parts.append(f"{name} {count.done}/{count.total}{means}")
                shown = shown or bool(means)
        return "; ".join(parts)
