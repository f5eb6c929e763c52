"""Methods of a user's own: a function or an object as a method, and a check of what it returns.

A function of graph and labels that returns an (n,) array becomes a `FromFunction`. An array that is
compared with methods becomes a `GivenField`. Whatever a method from outside the library returns is
checked here, and copied: the caller's arrays are never changed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from ..checks import as_floats, refuse, short
from ..errors import InputError, WayfieldError
from ..graphs.graph import Graph
from ..graphs.labels import Labels, label_distance
from ..typing import FloatArray
from .base import Method, Problem, Solution, Status, describe

FieldFunction: TypeAlias = Callable[[Graph, Labels], ArrayLike]
MethodLike: TypeAlias = Method | FieldFunction
"""A method, or a function of graph and labels that returns an (n,) array."""


@dataclass(frozen=True)
class FromFunction:
    """A function of graph and labels as a method; its field has no bracket."""

    function: FieldFunction
    name: str

    def solve(self, problem: Problem) -> Solution:
        """Call the function; its result is checked by `solve_all`."""
        values: Any = self.function(problem.graph, problem.labels)
        return Solution(values, Status.NO_BRACKET)


@dataclass(frozen=True, eq=False)
class GivenField:
    """A field that was computed elsewhere, where a method is expected; it ignores the labels."""

    values: FloatArray = field(repr=False)
    name: ClassVar[str] = "given field"

    def solve(self, problem: Problem) -> Solution:
        """Return the field."""
        return Solution(self.values, Status.NO_BRACKET)


def as_method(method: object, name: str = "method") -> Method:
    """Return a method; a function becomes one."""
    if isinstance(method, Method) and not isinstance(method, type):
        return method
    if callable(method) and not isinstance(method, type):
        return FromFunction(method, getattr(method, "__name__", type(method).__name__))
    raise InputError(
        f"{name} must be an extension such as AMLE(), a function of graph and labels, or an object "
        f"with solve(problem), got {short(method)}"
    )


def is_ours(method: Method) -> bool:
    """Whether the library wrote the method: then its results need no check."""
    return type(method).__module__.startswith("wayfield.") and not isinstance(method, FromFunction)


def solve_all(
    problems: Sequence[Problem],
    method: Method,
    solve: Callable[[Sequence[Problem]], Sequence[Solution]] | None = None,
) -> list[Solution]:
    """Solve problems by a method, or by what it shares, and check what comes from outside."""
    if is_ours(method):
        return list(map(method.solve, problems) if solve is None else solve(problems))
    who = describe(method)
    try:
        found = list(map(method.solve, problems) if solve is None else solve(problems))
    except (WayfieldError, MemoryError):
        raise
    except Exception as error:
        why = " ".join(str(error).split())  # in one line
        raise InputError(f"{who} raised {type(error).__name__}: {why}") from error
    if len(found) != len(problems):
        raise InputError(f"{who} returned {len(found)} solutions for {len(problems)} problems")
    return [_checked(each, problem, who) for each, problem in zip(found, problems, strict=True)]


def _checked(given: Any, problem: Problem, who: str) -> Solution:
    """Return a solution with arrays of its own; raise a one-line `InputError` if it is bad."""
    # an array is what a function returns
    found = given if isinstance(given, Solution) else Solution(given, Status.NO_BRACKET)
    if not isinstance(found.status, Status):
        raise InputError(f"{who} returned the status {found.status!r}: expected a wayfield.Status")
    values = _floats(found.values, problem, f"{who}: values")
    bad = ~np.isfinite(values) & ~(problem.orphaned & np.isnan(values))
    if problem.graph.directed and np.isposinf(values[bad]).any():
        bad &= ~(np.isposinf(values) & np.isinf(label_distance(problem.graph, problem.labels)))
    refuse(bad, values, f"{who}: values", "is not a finite number")
    bounds = [
        None if bound is None else _floats(bound, problem, f"{who}: {name}")
        for name, bound in (("lower", found.lower), ("upper", found.upper))
    ]
    return replace(found, values=values, lower=bounds[0], upper=bounds[1])


def _floats(data: Any, problem: Problem, name: str) -> FloatArray:
    """Return a copy of one number per vertex."""
    n = problem.graph.num_vertices
    if not isinstance(data, list | tuple) and not hasattr(data, "__array__"):
        raise InputError(f"{name} must be an array of {n} numbers, got {short(data)}")
    return np.array(as_floats(data, name, n))
