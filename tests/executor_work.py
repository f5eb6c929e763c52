"""Methods and executors for tests of many goals: importable, so that processes find them."""

from __future__ import annotations

import os
import pickle
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import wayfield as wf
from wayfield.fields.base import Problem, Solution
from wayfield.typing import FloatArray


@dataclass(frozen=True)
class KillsItsWorker:
    """The exact AMLE, but a process other than ours that meets the label value 13 is killed."""

    ours: int
    directed: ClassVar[bool] = True

    def solve(self, problem: Problem) -> Solution:
        if os.getpid() != self.ours and 13.0 in problem.labels.values:
            os.kill(os.getpid(), signal.SIGKILL)
        return wf.AMLE().solve(problem)


@dataclass(frozen=True)
class Slow:
    """The exact AMLE after a moment; every process leaves its number in a folder."""

    folder: str
    seconds: float = 0.1
    directed: ClassVar[bool] = True

    def solve(self, problem: Problem) -> Solution:
        (Path(self.folder) / str(os.getpid())).touch()
        time.sleep(self.seconds)
        return wf.AMLE().solve(problem)


def process_number(graph: wf.Graph, labels: wf.Labels) -> FloatArray:
    """A method that tells which process it ran in."""
    return np.full(graph.num_vertices, float(os.getpid()))


@dataclass(frozen=True)
class Travels:
    """The exact AMLE, which counts how often it has arrived somewhere."""

    number: int = 0
    arrivals: ClassVar[int] = 0
    directed: ClassVar[bool] = True

    def __setstate__(self, _: object) -> None:
        Travels.arrivals += 1

    def solve(self, problem: Problem) -> Solution:
        return wf.AMLE().solve(problem)


class Posting(Executor):
    """Runs in this process what would be sent to another one."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        task, its_args, its_kwargs = pickle.loads(pickle.dumps((fn, args, kwargs)))
        future: Future[Any] = Future()
        try:
            future.set_result(task(*its_args, **its_kwargs))
        except Exception as error:
            future.set_exception(error)
        return future
