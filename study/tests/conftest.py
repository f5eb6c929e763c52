"""Settings of every test run of the study: those of the library's tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import starmap
from typing import Any

import pytest
import small_run
from hypothesis import settings

import wayfield.cli  # noqa: F401  (before the study's commands, which it loads)
from wayfield_study.engine import runner

# The first call of a kernel compiles it, which is no test's fault.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=30)
settings.register_profile("few", deadline=None, derandomize=True, max_examples=10)
settings.register_profile("fresh", deadline=None)
settings.load_profile("steady")


@pytest.fixture(scope="session")
def paper_store(tmp_path_factory: pytest.TempPathFactory) -> small_run.Store:
    """Every experiment of the paper's study on one tiny cell, and the small graphs, run once."""
    root = tmp_path_factory.getbasetemp()
    shared = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    return small_run.compute(shared / "paper-results")


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run tasks here: a worker process would import everything and load every kernel again."""

    def here(
        work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], count: int
    ) -> Iterator[tuple[int, Any]]:
        yield from enumerate(starmap(work, tasks))

    monkeypatch.setattr(runner, "in_processes", here)
