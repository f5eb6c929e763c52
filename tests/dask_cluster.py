"""A Dask scheduler and its workers on loopback, for tests that lose some of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

LONGEST = 60.0
"""Seconds after which something is stuck, however slow the machine."""


class Dask:
    """A scheduler and its workers, processes of their own that are killed at the end."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.file = folder / "scheduler.json"
        self.log = folder / "log"
        path = os.pathsep.join(filter(None, sys.path))  # workers import what the tests do
        self.environment = os.environ | {"PYTHONPATH": path} | environment
        self.processes: list[subprocess.Popen[bytes]] = []
        options = ("--port", "0", "--scheduler-file", str(self.file))
        self.scheduler = self._start("dask_scheduler", *options)
        deadline = time.monotonic() + LONGEST
        while not self._is_written():
            assert self.scheduler.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)
        self.address = json.loads(self.file.read_text())["address"]

    def _is_written(self) -> bool:
        """Whether the scheduler has written its file, and all of it: it is empty at first."""
        try:
            return "address" in json.loads(self.file.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            return False

    def add_worker(self) -> subprocess.Popen[bytes]:
        return self._start("dask_worker", self.address, "--nthreads", "1", "--no-nanny")

    def close(self) -> None:
        for process in reversed(self.processes):
            process.kill()
            process.wait(LONGEST)

    def _start(self, command: str, *options: str) -> subprocess.Popen[bytes]:
        line = [sys.executable, "-m", f"distributed.cli.{command}", *options]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                [*line, "--host", "127.0.0.1", "--no-dashboard"],
                env=self.environment, cwd=self.file.parent, stdout=log, stderr=log,
            )  # fmt: skip
        self.processes.append(process)
        return process
