"""What a person sees while the study runs: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

from .rollout import ARMS, Arm, Record


class Display:
    """Cells done, rate, time left, and success so far.

    Parameters
    ----------
    console : rich Console
        Where to show it.
    arms : sequence of Arm
        Whose success to show.
    every : float
        Seconds between two lines where there is no terminal.
    """

    def __init__(self, console: Console, arms: Sequence[Arm] = ARMS, every: float = 10.0) -> None:
        self.console = console
        self.arms = arms
        self.every = every
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]{task.completed}/{task.total}[/] cells"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[rate]}"),
            TextColumn("[dim]success[/] {task.fields[success]}"),
            console=console,
            transient=True,
            expand=True,
        )
        self._reset(0)

    @contextmanager
    def over(self, total: int) -> Iterator[None]:
        """Show progress over so many cells."""
        self._reset(total)
        live = self.console.is_terminal and total > 0
        if live:
            self._bar.start()
        try:
            yield
        finally:
            if live:
                self._bar.stop()

    def note(self, message: str) -> None:
        """Write a line of its own."""
        self.console.print(message, markup=False, highlight=False, soft_wrap=True)

    def count(self, record: Record | None) -> None:
        """Count one more cell; None if it failed."""
        self._done += 1
        if record is not None:
            self._pairs += record["pairs"]
            for name in self._reached:
                self._reached[name] += record[f"{name}.reached"]
        self._bar.update(self._task, completed=self._done, rate=self.rate, success=self.success)
        now = time.monotonic()
        last = self._done == self._total
        if not self.console.is_terminal and (last or now - self._spoke >= self.every):
            self._spoke = now
            self.note(f"{self._done}/{self._total} cells, {self.rate}; success: {self.success}")

    @property
    def rate(self) -> str:
        """Cells per second and time left, in words."""
        elapsed = max(time.monotonic() - self._began, 1e-9)
        left = round((self._total - self._done) * elapsed / max(self._done, 1))
        return f"{self._done / elapsed:.1f}/s, {left // 60}:{left % 60:02d} left"

    @property
    def success(self) -> str:
        """Share of the sampled pairs that reached so far, by arm."""
        if not self._pairs:
            return "–"
        shares = [f"{arm.title} {self._reached[arm.name] / self._pairs:.3f}" for arm in self.arms]
        return " · ".join(shares)

    def _reset(self, total: int) -> None:
        self._total = total
        self._done = 0
        self._pairs = 0.0
        self._reached = {arm.name: 0.0 for arm in self.arms}
        for task in self._bar.task_ids:
            self._bar.remove_task(task)
        self._task = self._bar.add_task("cells", total=total, rate="", success="–")
        self._began = self._spoke = time.monotonic()
