"""Many label sets on one graph: the work they have in common is done once, the rest in parallel.

Threads serve, since kernels and factorisations work outside Python's lock, and so does any executor
(`_dispatch`). A method that can share work between problems offers `share`, which says what they
have in common and how many are solved together. Neither depends on who does the work, so results
do not depend on it either.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple, Protocol, runtime_checkable

from numpy.typing import ArrayLike

from .._arrays import as_flag, as_real_array
from .._dispatch import dispatch
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
from ._deadline import TimeLeft, check_time
from ._prior import check_prior

Unreachable = Literal["error", "nan"]


class Shared(Protocol):
    """What many problems on one graph have in common. It can be pickled."""

    @property
    def block(self) -> int:
        """Number of problems that are solved together."""
        ...

    def prepare(self) -> None:
        """Compute now what threads will share."""
        ...

    def solve(self, problems: Sequence[Problem]) -> list[Solution]:
        """Solve one block."""
        ...


@runtime_checkable
class SharesWork(Protocol):
    """A method that solves many problems on one graph faster than one by one."""

    def share(self, graph: Graph, label_sets: Sequence[Labels]) -> Shared | None:
        """Return what the problems have in common; None where sharing does not pay."""
        ...


@dataclass(frozen=True)
class Alone:
    """Problems that have nothing in common but the graph."""

    method: Method
    block: ClassVar[int] = 1

    def prepare(self) -> None:
        """Nothing to prepare."""

    def solve(self, problems: Sequence[Problem]) -> list[Solution]:
        """Solve one after another."""
        return [self.method.solve(problem) for problem in problems]


class Batch(NamedTuple):
    """Label sets that are solved together: little, which travels with every task."""

    positions: range
    labels: list[Labels]
    priors: list[FloatArray]
    time_left: TimeLeft


@dataclass(frozen=True, eq=False)
class Many:
    """How batches are solved, and all that they share: much, which travels once to a worker."""

    graph: Graph
    method: Method
    unreachable: Unreachable
    shared: Shared
    priors: tuple[FloatArray, ...]
    """The prior of all label sets; empty if they have none, or one each, which batches bring."""

    def __call__(self, batch: Batch) -> tuple[list[Solution], float]:
        """Solve a batch; the solutions, and the time that each took."""
        with batch.time_left.limit():
            check_time()
            start = time.perf_counter()
            problems = [
                make_problem(self.graph, labels, self.method, self.unreachable)
                for labels in batch.labels
            ]
            solutions = self._solve(problems, batch.priors or [*self.priors] * len(problems))
            return solutions, (time.perf_counter() - start) / len(problems)

    def _solve(self, problems: list[Problem], priors: list[FloatArray]) -> list[Solution]:
        if not priors:
            return self.shared.solve(problems)
        corrections = [without_prior(p, prior) for p, prior in zip(problems, priors, strict=True)]
        solutions = zip(self.shared.solve(corrections), problems, priors, strict=True)
        return [with_prior(*each) for each in solutions]


@dataclass(frozen=True, eq=False)
class Request:
    """What was asked for, validated: how to solve, the batches, and the priors."""

    many: Many
    label_sets: list[Labels]
    priors: list[FloatArray]

    @classmethod
    def of(
        cls,
        graph: Graph,
        labels_list: Iterable[Labels],
        method: Method,
        prior: ArrayLike | None,
        unreachable: Unreachable,
    ) -> Request:
        """Validate everything, and find what the label sets have in common."""
        label_sets = _listed(labels_list)
        priors = [] if prior is None else _priors(prior, graph, len(label_sets))
        for position, labels in enumerate(label_sets):
            with named(position):
                problem = make_problem(graph, labels, method, unreachable)
                if priors:
                    without_prior(problem, priors[position])
        settings = correcting(method) if prior is not None else method
        shared = None
        if label_sets and isinstance(settings, SharesWork):
            shared = settings.share(graph, label_sets)
        common = tuple(priors[:1]) if all(each is priors[0] for each in priors) else ()
        many = Many(graph, settings, unreachable, shared or Alone(settings), common)
        return cls(many, label_sets, priors)

    def batches(self) -> Iterator[Batch]:
        """Cut the label sets in blocks; each is made when its turn comes."""
        step = self.many.shared.block
        for start in range(0, len(self.label_sets), step):
            block = slice(start, start + step)
            labels = self.label_sets[block]
            priors = [] if self.many.priors else self.priors[block]
            yield Batch(range(start, start + len(labels)), labels, priors, TimeLeft.now())


def extend_many(
    graph: Graph,
    labels_list: Iterable[Labels],
    method: Method,
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
    executor : concurrent.futures.Executor, optional
        Who solves them, in place of threads: a `ProcessPoolExecutor`, a Dask client's
        ``client.get_executor()``, or any other. The graph travels once to each worker; results are
        those of threads, bit for bit on machines of one kind. Workers that are lost are survived:
        Dask gives their label sets to others, and where an executor breaks for good the rest is
        solved here, with a `RuntimeWarning`. It is left running.
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
    request = Request.of(graph, labels_list, method, prior, unreachable)
    many, priors, total = request.many, request.priors, len(request.label_sets)
    if executor is None:
        many.shared.prepare()
    results: list[Extension] = []
    with closing(dispatch(many, request.batches(), workers=workers, executor=executor)) as solved:
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


def _listed(labels_list: Iterable[Labels]) -> list[Labels]:
    if isinstance(labels_list, Labels):
        raise InputError("labels_list must be a list of Labels; for one use extend")
    try:
        return list(labels_list)
    except TypeError as error:
        kind = type(labels_list).__name__
        raise InputError(f"labels_list must be a list of Labels, not {kind}") from error


def _priors(prior: ArrayLike, graph: Graph, count: int) -> list[FloatArray]:
    """One prior for every problem, from one for all or one for each."""
    fields = as_real_array(prior, "prior")
    if fields.ndim != 2:
        return [check_prior(fields, graph.num_vertices)] * count
    if len(fields) != count:
        raise InputError(f"prior has {len(fields)} rows for {count} label sets")
    return [check_prior(field, graph.num_vertices) for field in fields]


@contextmanager
def named(position: int) -> Iterator[None]:
    """Put the position of the problem at fault before the message."""
    try:
        yield
    except InputError as error:
        raise InputError(f"labels_list[{position}]: {error}") from error
    except NotConverged as error:
        status = f"labels_list[{position}]: {error.status}"
        raise NotConverged(status, error.residual, error.width) from error
