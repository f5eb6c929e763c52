"""Many label sets on one graph: common work is done once, the rest in parallel.

Threads do the work, since kernels and factorisations release Python's lock; or any executor does
(`workers.dispatch`). A method that can share work between problems has a `share`: the common part,
and how many problems are solved together. Neither depends on the workers, so results do not either.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from numpy.typing import ArrayLike

from ..checks import as_flag, as_real_array
from ..errors import InputError, NotConverged
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..numerics.workers import check_time, dispatch
from ..typing import FloatArray
from .base import (
    Method,
    MethodLike,
    Shared,
    Solution,
    as_method,
    check_prior,
    correcting,
    is_ours,
    make_problem,
    one_by_one,
    solve_all,
    without_prior,
)
from .extension import Extension, package

Unreachable = Literal["error", "nan"]
Item = TypeVar("Item")

MOST_GOALS = 1_000_000
"""Largest number of label sets in one call; an iterable may be infinite."""


@runtime_checkable
class SharesWork(Protocol):
    """A method that solves many problems on one graph faster than one by one.

    Examples
    --------
    An inverse that label sets with the same vertices share:

    >>> import numpy as np
    >>> import wayfield as wf
    >>> class Biharmonic:
    ...     def share(self, graph, label_sets):
    ...         first = label_sets[0]
    ...         if any(not np.array_equal(s.vertices, first.vertices) for s in label_sets):
    ...             return None
    ...         adjacency = graph.to_scipy().toarray()
    ...         laplacian = np.diag(adjacency.sum(axis=0)) - adjacency
    ...         free, square = ~first.mask(graph), laplacian @ laplacian
    ...         inverse = np.linalg.inv(square[np.ix_(free, free)])
    ...
    ...         def solve(problems):
    ...             fields = [problem.boundary.copy() for problem in problems]
    ...             for u in fields:
    ...                 u[free] = -inverse @ square[free] @ u
    ...             return [Solution(u, wf.Status.NO_BRACKET) for u in fields]
    ...         return Shared(solve, block=16)
    ...
    ...     def solve(self, problem):
    ...         return self.share(problem.graph, [problem.labels]).solve([problem])[0]
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> sets = [wf.Labels([0, 1, 3], [0.0, 1.0, height]) for height in (3.0, 9.0)]
    >>> [field.values.round(2) for field in wf.extend_many(path, sets, Biharmonic())]
    [array([0.  , 1.  , 2.17, 3.  ]), array([0.  , 1.  , 5.17, 9.  ])]
    """

    def share(self, graph: Graph, label_sets: Sequence[Labels]) -> Shared | None:
        """Return the common part of the problems; None if sharing does not pay."""
        ...


class Batch(NamedTuple):
    """Label sets that are solved together: small, sent with every task."""

    positions: range
    labels: list[Labels]
    priors: list[FloatArray]


@dataclass(frozen=True, eq=False)
class Many:
    """How batches are solved, and what they share: large, sent once to each worker."""

    graph: Graph
    method: Method
    unreachable: Unreachable
    shared: Shared
    priors: tuple[FloatArray, ...]
    """Prior of all label sets; empty if there is none, or if batches bring their own."""

    def __call__(self, batch: Batch) -> tuple[list[Solution], float]:
        """Solve a batch; return the solutions, and the time of each."""
        check_time()
        start = time.perf_counter()
        problems = [
            make_problem(self.graph, labels, self.method, self.unreachable)
            for labels in batch.labels
        ]
        priors = batch.priors or [*self.priors] * len(problems)
        try:
            solutions = solve_all(problems, self.method, priors, self.shared.solve)
        except InputError as error:
            first, last = batch.positions[0], batch.positions[-1]
            where = first if first == last else f"{first}:{last + 1}"
            raise InputError(f"labels_list[{where}]: ", error.message) from error
        return solutions, (time.perf_counter() - start) / len(problems)


@dataclass(frozen=True, eq=False)
class Request:
    """A validated request: how to solve, the batches, and the priors."""

    many: Many
    label_sets: list[Labels]
    priors: list[FloatArray]

    @classmethod
    def of(
        cls,
        graph: Graph,
        labels_list: Iterable[Labels],
        method: MethodLike,
        prior: ArrayLike | None,
        unreachable: Unreachable,
    ) -> Request:
        """Validate everything, and find what the label sets have in common."""
        settings = as_method(method)
        if isinstance(labels_list, Labels):
            raise InputError("labels_list must be a list, got Labels: for one set use extend")
        label_sets = listed(labels_list, "labels_list", "Labels")
        priors: list[FloatArray] = []
        if prior is not None:  # one for all, or one for each
            fields = as_real_array(prior, "prior")
            if fields.ndim != 2:
                priors = [check_prior(fields, graph.num_vertices)] * len(label_sets)
            elif len(fields) != len(label_sets):
                raise InputError(f"prior must have {len(label_sets)} rows, got {len(fields)}")
            else:
                priors = [check_prior(field, graph.num_vertices) for field in fields]
        for position, labels in enumerate(label_sets):
            with named(position):
                problem = make_problem(graph, labels, settings, unreachable)
                if priors:
                    without_prior(problem, priors[position])
        settings = correcting(settings) if prior is not None else settings
        shared = None
        if label_sets and isinstance(settings, SharesWork):
            shared = settings.share(graph, label_sets)
        shared = shared or Shared(partial(one_by_one, settings.solve))
        common = tuple(priors[:1]) if all(each is priors[0] for each in priors) else ()
        many = Many(graph, settings, unreachable, shared, common)
        return cls(many, label_sets, priors)

    def num_threads(self, workers: int | None, executor: Executor | None) -> int | None:
        """Return the number of threads to use: one for a method from outside, if none is given."""
        alone = workers is None and executor is None and not is_ours(self.many.method)
        return 1 if alone else workers

    def batches(self) -> Iterator[Batch]:
        """Yield the label sets in batches; each is made when its turn comes."""
        step = self.many.shared.block
        for start in range(0, len(self.label_sets), step):
            block = slice(start, start + step)
            labels = self.label_sets[block]
            priors = [] if self.many.priors else self.priors[block]
            yield Batch(range(start, start + len(labels)), labels, priors)


def extend_many(
    graph: Graph,
    labels_list: Iterable[Labels],
    method: MethodLike,
    workers: int | None = None,
    *,
    executor: Executor | None = None,
    prior: ArrayLike | None = None,
    unreachable: Literal["error", "nan"] = "error",
    check: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> list[Extension]:
    """Extend many label sets over one graph, each as `extend` would.

    Parameters
    ----------
    graph : Graph
        The graph to extend on.
    labels_list : iterable of Labels
        One label set per extension, at most 1,000,000; all are validated before any is solved.
    method : Method or function
        The extension, see `extend`. `Harmonic` and `PLaplacian` order and factor once if the label
        sets have most vertices in common (one set of states, a goal each); their results then agree
        with single calls to rounding, each with its own rigorous bracket. Other methods give the
        same results bit for bit. A method of your own shares work if it has a ``share``; see
        `wayfield.fields.SharesWork`.
    workers : int, optional
        Number of threads, at most 1,024. Default: one per processor, and one for a method of your
        own, which may not be thread-safe. Results do not depend on it.
    executor : concurrent.futures.Executor, optional
        Executor to use instead of threads: a `ProcessPoolExecutor`, a Dask client's
        ``client.get_executor()``, or any other. Each worker reads the graph once. Results are the
        same as with threads, bit for bit on machines of one kind. Dask gives the label sets of lost
        workers to others. The executor is left running.
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
        In the order of `labels_list`. ``seconds`` of a batch are divided evenly.

    Raises
    ------
    InputError, NotConverged
        For the first problem that fails; the message begins with its position in `labels_list`.
    BrokenExecutor
        If a process of an executor died, and the executor with it.
    KeyboardInterrupt
        At once on Ctrl-C, without waiting for running threads.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> goals = [wf.Labels([0, 3], [0.0, 3.0]), wf.Labels([0, 3], [3.0, 0.0])]
    >>> [field.values for field in wf.extend_many(path, goals, wf.Harmonic())]
    [array([0., 1., 2., 3.]), array([3., 2., 1., 0.])]
    """
    as_flag(check, "check")
    request = Request.of(graph, labels_list, method, prior, unreachable)
    many, priors, total = request.many, request.priors, len(request.label_sets)
    if executor is None:
        many.shared.prepare()
    results: list[Extension] = []
    threads = request.num_threads(workers, executor)
    with closing(dispatch(many, request.batches(), workers=threads, executor=executor)) as solved:
        for solutions, seconds in solved:
            for solution in solutions:
                position = len(results)
                labels = request.label_sets[position]
                around = priors[position] if priors else None
                with named(position):
                    results.append(
                        package(solution, graph, labels, many.method, seconds, check, around)
                    )
            if progress is not None:
                progress(len(results), total)
    return results


def listed(items: Iterable[Item], name: str, kind: str) -> list[Item]:
    """Return the items as a list, or raise if there are more than `MOST_GOALS`."""
    try:
        found = list(islice(items, MOST_GOALS + 1))
    except TypeError as error:
        raise InputError(f"{name} must be a list of {kind}, got {items!r}") from error
    if len(found) > MOST_GOALS:
        raise InputError(f"{name} must have at most {MOST_GOALS:,} entries, got more")
    return found


@contextmanager
def named(position: int) -> Iterator[None]:
    """Prefix the message of an error with the position of its problem."""
    try:
        yield
    except InputError as error:
        raise InputError(f"labels_list[{position}]: {error}") from error
    except NotConverged as error:
        status = f"labels_list[{position}]: {error.status}"
        raise NotConverged(status, error.residual, error.width) from error
