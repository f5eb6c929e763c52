"""Run cells in a pool of processes, keep each result as it comes, and pick up where a run ended.

Cells already in the store are not run again. At most one cell per worker is in flight, so that is
all a killed run loses. A cell that raises is recorded with its traceback and the rest goes on; a
worker that dies takes its pool with it, and each cell that was in flight gets a second chance,
alone in a new one.
"""

from __future__ import annotations

import os
import signal
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from threading import Thread

from rich.console import Console

from ..errors import InputError
from .cells import Cell
from .progress import Display
from .rollout import Record, run_cell
from .store import Damaged, Store

DEFAULT_WORKERS = 2
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


@dataclass(frozen=True)
class Outcome:
    """What a run left behind.

    Attributes
    ----------
    records : dict
        Figures of every cell that is done, now or before, in the order asked for.
    failed : dict
        Traceback of every cell that failed.
    reused, damaged : int
        Cells found in the store; files that were found damaged, their cells run again.
    seconds : float
        Wall-clock time of this run.
    """

    records: dict[Cell, Record]
    failed: dict[Cell, str]
    reused: int
    damaged: int
    seconds: float


def run(
    cells: Sequence[Cell],
    store: Store,
    workers: int = DEFAULT_WORKERS,
    console: Console | None = None,
    work: Callable[[Cell], Record] = run_cell,
) -> Outcome:
    """Run the cells that the store does not have, and return the figures of all.

    Parameters
    ----------
    cells : sequence of Cell
        What to run; the order does not matter for the results.
    store : Store
        Where results are looked up and kept.
    workers : int
        Processes; 1 runs the cells in this one.
    console : rich Console, optional
        Where to show progress; nothing is shown if not given.
    work : function of a cell
        What to run; must be importable by name when there are several workers.
    """
    if workers < 1:
        raise InputError(f"the number of workers must be at least 1, not {workers}")
    began = time.perf_counter()
    known, damaged = _look_up(cells, store)
    todo = [cell for cell in cells if cell not in known]
    failed: dict[Cell, str] = {}
    results = _serial(todo, work) if workers == 1 else _parallel(todo, workers, work)
    with Display(console or Console(quiet=True), len(todo)) as show, closing(results):
        for message in damaged:
            show.note(f"{message}; running it again")
        for cell, result in results:
            if isinstance(result, str):
                failed[cell] = result
                store.write_failure(cell, result)
                show.note(f"{cell.key} failed: {result.strip().splitlines()[-1]}")
            else:
                known[cell] = result
                store.write(cell, result)
            show.count(None if isinstance(result, str) else result)
    records = {cell: known[cell] for cell in cells if cell in known}
    reused = len(cells) - len(todo)
    return Outcome(records, failed, reused, len(damaged), time.perf_counter() - began)


def _look_up(cells: Sequence[Cell], store: Store) -> tuple[dict[Cell, Record], list[str]]:
    """Results that are there and whole, and what is wrong with those that are not."""
    known: dict[Cell, Record] = {}
    damaged = []
    for cell in cells:
        try:
            record = store.read(cell)
        except Damaged as error:
            damaged.append(str(error))
        else:
            if record is not None:
                known[cell] = record
    return known, damaged


def _serial(
    cells: Sequence[Cell], work: Callable[[Cell], Record]
) -> Generator[tuple[Cell, Record | str]]:
    for cell in cells:
        yield cell, _attempt(work, cell)


def _parallel(
    cells: Sequence[Cell], workers: int, work: Callable[[Cell], Record]
) -> Generator[tuple[Cell, Record | str]]:
    """Results as they come: figures, or a traceback."""
    waiting = deque(cells)
    suspects: set[Cell] = set()  # in flight when a worker died: each flies once more, alone
    while waiting:
        flying: dict[Future[Record | str], Cell] = {}
        with _pool(workers) as pool:
            try:
                while waiting or flying:
                    while waiting and len(flying) < (
                        1 if suspects.intersection([waiting[0], *flying.values()]) else workers
                    ):
                        flying[pool.submit(_attempt, work, waiting[0])] = waiting[0]
                        waiting.popleft()
                    for future in wait(flying, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        yield flying.pop(future), result
            except BrokenProcessPool as error:
                for cell in flying.values():
                    if cell in suspects:
                        yield cell, f"its worker died twice\n{error}\n"
                    else:
                        suspects.add(cell)
                        waiting.append(cell)


def _attempt(work: Callable[[Cell], Record], cell: Cell) -> Record | str:
    """Run one cell; if it raises, return the traceback instead."""
    try:
        return work(cell)
    except Exception:
        return traceback.format_exc()


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Open a pool of processes with one thread each for linear algebra."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    pool = ProcessPoolExecutor(workers, get_context("spawn"), _become_worker)
    try:
        yield pool
    except BaseException:  # Ctrl-C: what is in flight is not waited for
        for process in list(pool._processes.values()):
            process.terminate()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _become_worker() -> None:
    """Leave Ctrl-C to the parent, and end when it ends, however that happens."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_follow_parent, daemon=True).start()


def _follow_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
