"""Many label sets on one graph: the work they have in common is done once, the rest in parallel.

Threads serve, since kernels and factorisations work outside Python's lock. A method that can share
work between problems offers `share`, which splits them into batches; every other method is one
batch per problem. Batches do not depend on the number of workers, so neither do the results.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import Literal, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import as_flag, as_real_array
from ..errors import InputError, NotConverged
from ..graph import Graph
from ..kernels._types import FloatArray
from ..labels import Labels
from ._base import (
    Extension,
    Method,
    Problem,
    Solution,
    correcting,
    make_problem,
    package,
    with_prior,
    without_prior,
)
from ._deadline import check_time
from ._prior import check_prior


class Batch(NamedTuple):
    """Problems that are solved together."""

    positions: range
    solve: Callable[[], Sequence[Solution]]


@runtime_checkable
class SharesWork(Protocol):
    """A method that solves many problems on one graph faster than one by one."""

    def share(self, problems: Sequence[Problem]) -> list[Batch] | None:
        """Split into batches, in order; None where nothing can be shared."""
        ...


def extend_many(
    graph: Graph,
    labels_list: Iterable[Labels],
    method: Method,
    workers: int | None = None,
    *,
    prior: ArrayLike | None = None,
    unreachable: Literal["error", "nan"] = "error",
    check: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> list[Extension]:
    """Extend many label sets over one graph, each as `extend` would.

    Parameters
    ----------
    graph : Graph
        Where to extend.
    labels_list : iterable of Labels
        One label set per extension; all are validated before any is solved.
    method : Method
        The extension. `Harmonic` and `PLaplacian` order and factor once if the label sets have
        most vertices in common (one set of states, a goal each); their results then agree with
        single calls to rounding, each with its own rigorous bracket. Other methods give the same
        results bit for bit.
    workers : int, optional
        Number of threads; as many as there are processors if not given. Results do not depend
        on it.
    prior : (n,) or (k, n) array, optional
        One prior for all label sets, or one for each; see `extend`.
    unreachable : {"error", "nan"}
        As for `extend`.
    check : bool
        As for `extend`.
    progress : callable, optional
        Called with (solved so far, total), in order, from the calling thread.

    Returns
    -------
    list of Extension
        In the order of `labels_list`. ``seconds`` of a batch is shared out evenly.

    Raises
    ------
    InputError, NotConverged
        For the first problem at fault; the message begins with its position in `labels_list`.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> goals = [wf.Labels([0, 3], [0.0, 3.0]), wf.Labels([0, 3], [3.0, 0.0])]
    >>> [field.values for field in wf.extend_many(path, goals, wf.Harmonic())]
    [array([0., 1., 2., 3.]), array([3., 2., 1., 0.])]
    """
    as_flag(check, "check")
    workers = _worker_count(workers)
    problems = _problems(graph, labels_list, method, unreachable)
    priors = None if prior is None else _priors(prior, graph, len(problems))
    if priors is None:
        batches = _batches(problems, method)
    else:
        method = correcting(method)
        batches = _batches_around(problems, priors, method)
    results: list[Extension] = []
    with ThreadPoolExecutor(max_workers=min(workers, max(len(batches), 1))) as pool:
        futures = [pool.submit(copy_context().run, _timed, batch) for batch in batches]
        try:
            for batch, future in zip(batches, futures, strict=True):
                solutions, seconds = future.result()
                share = seconds / len(batch.positions)
                for position, solution in zip(batch.positions, solutions, strict=True):
                    around = None if priors is None else priors[position]
                    with _named(position):
                        results.append(
                            package(solution, problems[position], method, share, check, around)
                        )
                if progress is not None:
                    progress(len(results), len(problems))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return results


def _worker_count(workers: int | None) -> int:
    if workers is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if isinstance(workers, bool) or not isinstance(workers, int | np.integer) or workers < 1:
        raise InputError(f"workers must be a whole number of at least 1, not {workers!r}")
    return int(workers)


def _problems(
    graph: Graph,
    labels_list: Iterable[Labels],
    method: Method,
    unreachable: Literal["error", "nan"],
) -> list[Problem]:
    if isinstance(labels_list, Labels):
        raise InputError("labels_list must be a list of Labels; for one use extend")
    try:
        label_sets = list(labels_list)
    except TypeError as error:
        kind = type(labels_list).__name__
        raise InputError(f"labels_list must be a list of Labels, not {kind}") from error
    problems = []
    for position, labels in enumerate(label_sets):
        with _named(position):
            problems.append(make_problem(graph, labels, method, unreachable))
    return problems


def _batches(problems: Sequence[Problem], method: Method) -> list[Batch]:
    batches = method.share(problems) if problems and isinstance(method, SharesWork) else None
    if batches is None:
        batches = [Batch(range(i, i + 1), partial(_one, method, p)) for i, p in enumerate(problems)]
    return batches


def _batches_around(
    problems: Sequence[Problem], priors: Sequence[FloatArray], method: Method
) -> list[Batch]:
    """Batches that extend the corrections, and add the priors to the outcome."""
    corrections = []
    for position, (problem, prior) in enumerate(zip(problems, priors, strict=True)):
        with _named(position):
            corrections.append(without_prior(problem, prior))

    def restored(batch: Batch) -> list[Solution]:
        solutions = zip(batch.positions, batch.solve(), strict=True)
        return [with_prior(solution, problems[i], priors[i]) for i, solution in solutions]

    batches = _batches(corrections, method)
    return [Batch(batch.positions, partial(restored, batch)) for batch in batches]


def _priors(prior: ArrayLike, graph: Graph, count: int) -> list[FloatArray]:
    """One prior for every problem, from one for all or one for each."""
    fields = as_real_array(prior, "prior")
    if fields.ndim != 2:
        return [check_prior(fields, graph.num_vertices)] * count
    if len(fields) != count:
        raise InputError(f"prior has {len(fields)} rows for {count} label sets")
    return [check_prior(field, graph.num_vertices) for field in fields]


def _one(method: Method, problem: Problem) -> list[Solution]:
    return [method.solve(problem)]


def _timed(batch: Batch) -> tuple[Sequence[Solution], float]:
    check_time()
    start = time.perf_counter()
    return batch.solve(), time.perf_counter() - start


@contextmanager
def _named(position: int) -> Iterator[None]:
    """Put the position of the problem at fault before the message."""
    try:
        yield
    except InputError as error:
        raise InputError(f"labels_list[{position}]: {error}") from error
    except NotConverged as error:
        status = f"labels_list[{position}]: {error.status}"
        raise NotConverged(status, error.residual, error.width) from error
