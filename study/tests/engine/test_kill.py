"""Runs killed at random moments, in processes of their own, and started again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from study_work import MARKER, PYTHONPATH, files, run_slowly, slow_figures, some_tasks

from wayfield_study.engine import Condition, Store, run

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

SEEDS = range(40)
TASKS = some_tasks(*SEEDS, work=slow_figures)
LONGEST = 60.0
"""Seconds after which something is stuck, however slow the machine."""


@pytest.fixture
def marker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where workers leave a line for every task they begin."""
    path = tmp_path / "begun"
    path.touch()
    monkeypatch.setenv(MARKER, str(path))
    monkeypatch.setenv("PYTHONPATH", PYTHONPATH)
    return path


HEED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
"""Ctrl-C is heard, even if whoever runs the tests in the background has it ignored."""


def start(store: Store) -> subprocess.Popen[str]:
    work = f"study_work.{run_slowly.__name__}({str(store.directory)!r}, {SEEDS})"
    code = f"{HEED}; import study_work; {work}"
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code], stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def wait_until(true: Callable[[], object], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + LONGEST
    while not true():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.005)


def finish(process: subprocess.Popen[str]) -> str:
    """Wait for the end and return what was said: both pipes end only when the workers have too."""
    try:
        _, errors = process.communicate(timeout=LONGEST)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return errors


def done(store: Store) -> int:
    """Count the tasks that are done; no file may be damaged, at any moment."""
    conditions = [store.look(task).condition for task in TASKS]
    assert set(conditions) <= {Condition.DONE, Condition.MISSING}
    return conditions.count(Condition.DONE)


def test_a_run_killed_again_and_again_loses_only_what_was_in_flight(
    tmp_path: Path, marker: Path
) -> None:
    store, rng, rounds = Store(tmp_path / "results"), random.Random(7), 2
    for _ in range(rounds):
        process, before = start(store), len(files(store))
        wait_until(lambda before=before: len(files(store)) > before, process)
        time.sleep(rng.uniform(0.0, 0.2))
        process.kill()
        assert "Traceback" not in finish(process)
        assert process.returncode == -signal.SIGKILL
        kept = done(store)
    assert 0 < kept < len(TASKS)
    outcome = run(TASKS, store, workers=2)
    assert (outcome.reused, outcome.failed) == (kept, {})
    # lost with each kill: what two workers compute, and one result that is being written
    assert len(marker.read_text().split()) <= len(TASKS) + (2 + 1) * rounds
    assert not list(store.directory.rglob(".*.tmp"))
    undisturbed = Store(tmp_path / "undisturbed")
    run(some_tasks(*SEEDS), undisturbed, workers=0)
    assert files(store) == files(undisturbed)


def test_ctrl_c_stops_the_run_and_its_workers(tmp_path: Path, marker: Path) -> None:
    store = Store(tmp_path / "results")
    process = start(store)
    wait_until(lambda: files(store), process)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to everyone
    assert finish(process) == ""
    assert process.returncode == 130
    assert 0 < done(store) < len(TASKS)


def test_ctrl_c_while_workers_start(tmp_path: Path, marker: Path) -> None:
    store = Store(tmp_path / "results")
    process = start(store)
    wait_until((store.directory / ".lock").exists, process)
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    assert finish(process) == ""
    assert process.returncode == 130
