"""Counts that add up: over goals, cells and seeds a rate is the sum of counts over the sum."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import Self, TypeVar

from wayfield.errors import InputError

from ._inputs import as_list


@dataclass(frozen=True)
class Tally:
    """A record whose fields are all counts or sums; two of them add field by field."""

    def __add__(self, other: Self) -> Self:
        if type(other) is not type(self):
            return NotImplemented
        return type(self)(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))


Record = TypeVar("Record", bound=Tally)


def pool(records: Iterable[Record]) -> Record:
    """Add up tallies of one kind, of several goals say, so that every decision weighs the same.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study.audit import ordering, pool
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> truths = [wf.cost_to_go(path, goal) for goal in (0, 3)]
    >>> pool(ordering(path, V, V, goal).all for V, goal in zip(truths, (0, 3))).decisions
    6
    """
    known = as_list(records, "records")
    if not known:
        raise InputError("there is nothing to pool")
    for position, record in enumerate(known):
        if not isinstance(record, Tally) or type(record) is not type(known[0]):
            kinds = f"{type(record).__name__}, records[0] {type(known[0]).__name__}"
            raise InputError(f"records must be tallies of one kind: records[{position}] is {kinds}")
    return reduce(add, known)


def share(part: float, whole: float) -> float:
    """Part of the whole; NaN of nothing."""
    return part / whole if whole else float("nan")
