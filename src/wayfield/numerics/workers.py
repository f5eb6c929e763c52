"""Parallel work: threads, any executor, processes that can be killed, a Dask cluster.

| | who works | results |
|---|---|---|
| `dispatch` | threads, or an executor of `concurrent.futures` | in order |
| `in_processes` | our own processes, each a `Worker` | as they come |
| `on_cluster` | a Dask cluster, by the address of its scheduler | as they come |

**A lost worker costs only time.** A process that dies is replaced and its task is tried again. Dask
gives the tasks of a lost worker to another one. An executor may break for good, as a
`ProcessPoolExecutor` does; `dispatch` then finishes the tasks in this process and warns.

**Ctrl-C raises KeyboardInterrupt at once**, without waiting for running tasks.
"""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import sys
import warnings
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
)
from contextlib import contextmanager, suppress
from contextvars import copy_context
from functools import partial
from multiprocessing import connection, get_context, parent_process, resource_tracker
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from threading import Event, Lock, Thread
from typing import Any, TypeVar

from ..checks import need
from ..errors import InputError, WayfieldError
from .threads import num_processors, stop_event

Task = TypeVar("Task")
Result = TypeVar("Result")

MOST_THREADS = 1024
"""Largest number of threads that `dispatch` starts."""

AHEAD = 64
"""Number of tasks submitted ahead; others are made when it is their turn."""

TRIES = 3
"""Attempts at a task whose worker process dies."""

STARTS = 5
"""Number of consecutive worker processes that may die before they are ready."""

CONNECT = 8.0
"""Seconds to wait for a Dask scheduler."""

SILENCE = 10.0
"""Seconds without a result before the cluster is checked."""


# ------------------------------------------------------------------ results in order


def dispatch(
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    *,
    workers: int | None = None,
    executor: Executor | None = None,
) -> Generator[Result]:
    """Yield ``work(task)`` for each task, in order.

    `work` may be large: it is sent once to each process of an executor. Close the generator to
    cancel tasks that have not begun.

    Parameters
    ----------
    work : callable
        For an executor of processes it must be picklable.
    tasks : iterable
        Small; each is made when its turn comes.
    workers : int, optional
        Number of threads if there is no executor. Default: one per processor.
    executor : Executor, optional
        Executor to use; it is left running.
    """
    if executor is None:
        count = num_processors() if workers is None else workers
        if isinstance(count, bool) or not hasattr(count, "__index__") or count < 1:
            raise InputError(f"workers must be a whole number of at least 1, got {count!r}")
        if count > MOST_THREADS:
            raise InputError(f"workers must be at most {MOST_THREADS:,}, got {count}")
        threads = _Threads(count)
        try:
            yield from _in_order(partial(_in_thread, threads, work), work, tasks, max(AHEAD, count))
        finally:
            threads.shutdown()
        return
    if not isinstance(executor, Executor):
        is_client = hasattr(executor, "get_executor") and hasattr(executor, "scatter")
        hint = "; for a Dask client, pass client.get_executor()" if is_client else ""
        raise InputError(
            "executor must be a concurrent.futures executor, such as ProcessPoolExecutor(), "
            f"got {executor!r}{hint}"
        )
    if workers is not None:
        raise InputError("workers and executor exclude each other: an executor has its own")
    if isinstance(executor, ThreadPoolExecutor):
        yield from _in_order(partial(_in_thread, executor, work), work, tasks, AHEAD)
        return
    try:
        parcel = pickle.dumps(work, protocol=5)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InputError(f"this cannot be sent to the executor's processes: {error}") from error
    client: Any = getattr(executor, "_client", None)  # Dask's executor offers no public access
    if hasattr(client, "scatter"):
        shared = client.scatter(work, broadcast=True, hash=False)  # the workers hold it as data
        yield from _in_order(partial(_on_dask, executor, shared), work, tasks, AHEAD)
        return
    with TemporaryDirectory(prefix="wayfield-", ignore_cleanup_errors=True) as folder:
        path = Path(folder) / "work.pickle"
        path.write_bytes(parcel)
        del parcel

        def submit(task: Task) -> Future[Result]:
            return executor.submit(_from_file, str(path), task)

        yield from _in_order(submit, work, tasks, AHEAD)


def _in_order(
    submit: Callable[[Task], Future[Result]],
    work: Callable[[Task], Result],
    tasks: Iterable[Task],
    ahead: int,
) -> Iterator[Result]:
    """Submit tasks, `ahead` of them in advance, and yield results; redo here what workers lost."""
    waiting: deque[tuple[Task, Future[Result] | None]] = deque()
    lost = False

    def result() -> Result:
        nonlocal lost
        task, future = waiting.popleft()
        scheduler = sys.modules.get("distributed.scheduler")
        killed = () if scheduler is None else (scheduler.KilledWorker,)
        try:
            if future is not None:
                return future.result()
        except (BrokenExecutor, CancelledError, *killed) as error:
            if not lost:
                warnings.warn(
                    f"the executor lost its workers ({type(error).__name__}: {error}); the "
                    "remaining tasks run in this process",
                    RuntimeWarning,
                    stacklevel=5,
                )
            lost = True
        return work(task)

    try:
        for task in tasks:
            future: Future[Result] | None = None
            try:
                future = None if lost else submit(task)
            except BrokenExecutor as error:  # a worker died just now or earlier
                future = Future()
                future.set_exception(error)
            except RuntimeError as error:
                raise InputError(f"the executor takes no more tasks: {error}") from error
            waiting.append((task, future))
            if len(waiting) > ahead:
                yield result()
        while waiting:
            yield result()
    finally:
        for _, future in waiting:
            if future is not None:
                future.cancel()


class _Threads(Executor):
    """A pool of daemon threads.

    Python waits for the threads of a `ThreadPoolExecutor` at the end of its ``with`` block and at
    exit. After Ctrl-C that would take as long as the running solves.
    """

    def __init__(self, count: int) -> None:
        self.count, self.started = count, 0
        self.stopped = Event()
        """Set when nobody needs the results: running solves end at their next `check_stopped`."""
        self.tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()

        def perform() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(fn(*args, **kwargs))
                except BaseException as error:
                    future.set_exception(error)

        self.tasks.put(perform)
        if self.started < self.count:
            self.started += 1
            Thread(target=self._serve, daemon=True).start()
        return future

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = False) -> None:
        self.stopped.set()
        for _ in range(self.started):
            self.tasks.put(None)

    def _serve(self) -> None:
        while (perform := self.tasks.get()) is not None:
            perform()


def _in_thread(pool: Executor, work: Callable[[Task], Result], task: Task) -> Future[Result]:
    context = copy_context()
    if isinstance(pool, _Threads):
        context.run(stop_event.set, pool.stopped)
    return pool.submit(context.run, work, task)


def _on_dask(executor: Any, work: Any, *task: Any, priority: int = 0) -> Future[Any]:
    """Submit a task to Dask; `work` may be data that its workers hold."""
    done: Future[Any] = executor.submit(_call, work, *task, pure=False, priority=priority)
    return done


def _call(work: Callable[..., Result], *task: Any) -> Result:
    return work(*task)


# Other processes get the function as a file, which each process reads once and keeps.

_kept: dict[str, Callable[[Any], Any]] = {}
"""The function of this process, by its file. Only one is kept: it may be large."""


def _from_file(path: str, task: Any) -> Any:
    """Run a task in a worker process, with the function it has kept or the one in the file."""
    if path not in _kept:
        try:
            work = pickle.loads(Path(path).read_bytes())
        except OSError as error:
            raise InputError(
                "the executor's processes must run on this machine, but one cannot read its files; "
                "for other machines, pass the executor of a Dask client"
            ) from error
        _kept.clear()
        _kept[path] = work
    return _kept[path](task)


# ------------------------------------------------------------------ processes that can be killed


class Worker:
    """A process that answers one call after another and can be killed at any time.

    It ignores Ctrl-C, uses one thread for linear algebra, and ends when this process does.

    Parameters
    ----------
    answer : callable
        Importable function, called in the process with the arguments that are sent.
    prepare : callable, optional
        Importable function, called once before the worker is ready.
    """

    def __init__(
        self, answer: Callable[..., Any], prepare: Callable[[], None] | None = None
    ) -> None:
        self.jobs = answer, prepare
        self.start()

    def start(self) -> None:
        """Start the process."""
        # on Linux they are forked by a server that has imported the module of the function once
        context: Any = get_context("forkserver" if sys.platform == "linux" else "spawn")
        context.set_forkserver_preload(["__main__", self.jobs[0].__module__])
        self.pipe, theirs = context.Pipe()
        self.ready = False
        with _starting_workers():
            # the server keeps the environment of its own start
            arguments = theirs, dict(os.environ), *self.jobs
            self.process = context.Process(target=_serve, args=arguments, daemon=True)
            self.process.start()
        theirs.close()  # so that the pipe ends when the process does

    def send(self, *arguments: Any) -> None:
        """Send the arguments of a call. If the process has died, `receive` raises."""
        with suppress(OSError):
            self.pipe.send(arguments)

    def receive(self, timeout: float | None = None) -> Any:
        """Return one message: the result of a call, or None when the worker is ready.

        Raises
        ------
        EOFError
            If the process has died.
        TimeoutError
            If no message arrives within this many seconds.
        """
        try:
            arrived = self.pipe.poll(timeout)
            message = self.pipe.recv() if arrived else None
        except OSError as error:
            raise EOFError from error
        if not arrived:
            raise TimeoutError
        self.ready = True
        return message

    def kill(self) -> None:
        """Kill the process. A caller waiting in `receive` gets an EOFError."""
        self.process.kill()

    def close(self) -> None:
        """Kill the process and wait until it is gone."""
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(
    pipe: connection.Connection,
    environment: dict[str, str],
    answer: Callable[..., Any],
    prepare: Callable[[], None] | None,
) -> None:
    """Answer calls until the other end of the pipe is closed or its process ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles Ctrl-C
    os.environ.clear()
    os.environ.update(environment)

    def end_with_parent() -> None:
        parent = parent_process()
        if parent is not None:
            parent.join()
            os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
    if prepare is not None:
        prepare()
    with suppress(EOFError, OSError):
        pipe.send(None)
        while True:
            pipe.send(answer(*pipe.recv()))


_start = Lock()


@contextmanager
def _starting_workers() -> Iterator[None]:
    """Set what new processes inherit: one thread each, and Ctrl-C ignored."""
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
    masks = hasattr(signal, "pthread_sigmask")  # not on Windows
    with _start:
        if masks:
            resource_tracker.ensure_running()  # it would let Ctrl-C through again as it starts
            before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        set_before = {name: os.environ.get(name) for name in names}
        os.environ.update(dict.fromkeys(names, "1"))
        try:
            yield
        finally:
            for name, value in set_before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
            if masks:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)


def in_processes(
    work: Callable[..., Any], tasks: Sequence[tuple[Any, ...]], count: int
) -> Generator[tuple[int, Any]]:
    """Yield (position, ``work(*task)``) as tasks finish, from a pool of worker processes.

    Parameters
    ----------
    work : callable
        Importable function.
    tasks : sequence of tuples
        Arguments of each task, in the order to start them.
    count : int
        Number of processes.

    Yields
    ------
    (int, object)
        The result is None if the task's worker died `TRIES` times.

    Raises
    ------
    WayfieldError
        If worker processes die before they are ready.
    """
    waiting, deaths = deque(range(len(tasks))), Counter[int]()
    workers: dict[Any, Worker] = {}
    busy: dict[Any, int] = {}
    stillborn = 0

    def start() -> None:
        worker = Worker(work)
        workers[worker.pipe] = worker

    def hand_out() -> None:
        for pipe, worker in workers.items():
            if worker.ready and pipe not in busy and waiting:
                busy[pipe] = waiting.popleft()
                worker.send(*tasks[busy[pipe]])

    try:
        for _ in range(min(count, len(tasks))):
            start()
        while waiting or busy:
            for pipe in connection.wait(list(workers)):
                worker, position = workers[pipe], busy.pop(pipe, None)
                try:
                    result = worker.receive()
                except EOFError:
                    stillborn = 0 if worker.ready else stillborn + 1
                    if stillborn == STARTS:
                        raise WayfieldError("worker processes die before they are ready") from None
                    del workers[pipe]
                    worker.close()
                    start()
                    if position is None:
                        continue
                    deaths[position] += 1
                    if deaths[position] < TRIES:
                        waiting.appendleft(position)
                        continue
                    result = None
                else:
                    stillborn = 0
                    hand_out()  # before the result is processed, which takes a moment
                if position is not None:
                    yield position, result
            hand_out()
    finally:
        for worker in workers.values():
            worker.close()


# ------------------------------------------------------------------ a Dask cluster by its address


def on_cluster(
    work: Callable[..., Any],
    tasks: Sequence[tuple[Any, ...]],
    address: str,
    note: Callable[[str], None],
    check: Callable[[Any], None],
) -> Generator[tuple[int, Any]]:
    """Yield (position, ``work(*task)``) as tasks finish, from a Dask cluster.

    Results come back here, so workers need no common disk.

    Parameters
    ----------
    work : callable
        Small function that the workers can import.
    tasks : sequence of tuples
        Arguments of each task, in the order to start them.
    address : str
        Of the scheduler, such as ``"tcp://10.0.0.1:8786"``.
    note : callable
        Called with messages for the user.
    check : callable
        Called with the Dask client before any task is sent; raises if the workers are unsuitable.

    Yields
    ------
    (int, object)
        The result is an exception if the task's workers failed.

    Raises
    ------
    WayfieldError
        If no scheduler answers at the address, or the scheduler is lost.
    """

    def check_presence(client: Any, cancelled: bool = False) -> None:
        """Raise if the scheduler is lost, and note if it has no workers."""
        try:
            lost = cancelled or client.status != "running"
            present = not lost and client.nthreads()
        except OSError:
            lost = True
        if lost:
            raise WayfieldError(
                f"lost the scheduler at {address}; finished tasks are kept, run again to continue"
            )
        if not present:
            note(f"the scheduler at {address} has no workers: waiting for some")

    if not tasks:
        return
    with dask_client(address) as client:
        try:
            client.wait_for_workers(1, timeout=SILENCE)
        except OSError:  # some clusters start workers only when there is work
            check_presence(client)
        check(client)
        executor, done = client.get_executor(), SimpleQueue[Future[Any]]()
        pending: dict[Future[Any], int] = {}
        for position, task in enumerate(tasks):
            future = _on_dask(executor, work, *task, priority=-position)
            pending[future] = position
            future.add_done_callback(done.put)
        while pending:
            try:
                future = done.get(timeout=SILENCE)
            except Empty:
                check_presence(client)
                continue
            if future.cancelled() or future.exception() is not None:
                check_presence(client, future.cancelled())  # tasks of a lost scheduler do not fail
            error = future.exception()
            yield pending.pop(future), future.result() if error is None else error


@contextmanager
def dask_client(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler, or raise `WayfieldError` with the reason in one line."""
    distributed = need("distributed", "dask")

    async def greet() -> str:
        """Return the type of the server at the address; raise if none answers in time."""
        core = need("distributed.core", "dask")
        async with asyncio.timeout(CONNECT), core.rpc(address, timeout=CONNECT) as server:
            return str((await server.identity())["type"])

    # Dask's own messages are kept out of the display; the errors below say what matters
    handlers = {handler: handler.level for handler in logging.getLogger("distributed").handlers}
    for handler in handlers:
        handler.setLevel(logging.CRITICAL + 1)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about versions: callers check them more strictly
            try:
                with ThreadPoolExecutor(1) as thread:  # a notebook already runs an event loop here
                    kind = thread.submit(asyncio.run, greet()).result()
            except Exception as error:  # any service may answer there
                reason = f" ({error})" if isinstance(error, ValueError) else ""
                raise WayfieldError(f"no Dask scheduler answers at {address!r}{reason}") from error
            if kind != "Scheduler":
                raise WayfieldError(f"{address} is not a Dask scheduler but a {kind.lower()}")
            with distributed.Client(address, timeout=CONNECT, set_as_default=False) as client:
                yield client
    finally:
        for handler, level in handlers.items():
            handler.setLevel(level)
