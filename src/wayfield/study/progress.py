"""What a person sees while the study runs: a live bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn
from rich.text import Text

from .rollout import ARMS, Arm, Record


class Display:
    """Cells done, rate, time left, and success so far. A context manager.

    Parameters
    ----------
    console : rich Console
        Where to show it.
    total : int
        Number of cells to come.
    arms : sequence of Arm
        Whose success to show.
    every : float
        Seconds between two lines where there is no terminal.
    """

    def __init__(
        self, console: Console, total: int, arms: Sequence[Arm] = ARMS, every: float = 10.0
    ) -> None:
        self.console = console
        self.total = total
        self.arms = arms
        self.every = every
        self._done = 0
        self._pairs = 0.0
        self._reached = {arm.name: 0.0 for arm in arms}
        self._began = self._spoke = time.monotonic()
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("[bold]{task.completed}/{task.total}[/] cells"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[rate]}"),
            expand=True,
        )
        self._task = self._bar.add_task("cells", total=total, rate="")
        self._success = Text(style="dim")
        self._live = Live(Group(self._bar, self._success), console=console, transient=True)

    def __enter__(self) -> Self:
        if self.console.is_terminal and self.total:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self.console.is_terminal and self.total:
            self._live.stop()

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
        self._bar.update(self._task, completed=self._done, rate=self.rate)
        self._success.plain = f"success: {self.success}"
        now = time.monotonic()
        due = self._done == self.total or now - self._spoke >= self.every
        if due and not self.console.is_terminal:
            self._spoke = now
            self.note(f"{self._done}/{self.total} cells, {self.rate}; success: {self.success}")

    @property
    def rate(self) -> str:
        """Cells per second and time left, in words."""
        elapsed = max(time.monotonic() - self._began, 1e-9)
        left = round((self.total - self._done) * elapsed / max(self._done, 1))
        return f"{self._done / elapsed:.1f}/s, {left // 60}:{left % 60:02d} left"

    @property
    def success(self) -> str:
        """Share of the sampled pairs that reached so far, by arm."""
        if not self._pairs:
            return "–"
        shares = [f"{arm.title} {self._reached[arm.name] / self._pairs:.3f}" for arm in self.arms]
        return " · ".join(shares)
