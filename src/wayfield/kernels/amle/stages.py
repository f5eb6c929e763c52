"""The order of fixing in stages, and the ground that is laid for a bracket along it.

Parts of one stage do not touch each other: several threads can look at them in any order. A stage
can be retraced as soon as those before it have been, while later ones are still being fixed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from .._team import Task, Team
from .._types import FloatArray, IntArray
from ..csr import Arcs
from ..doubledouble import Pair
from .frames import UNFIXED
from .pieces import pieces, sides_of
from .retrace import retrace
from .walks import make_ways


class Ground(NamedTuple):
    """What a bracket begins with."""

    field: Pair
    """(n,) the field in double-double; NaN where nothing was fixed."""
    piece: IntArray
    """(n,) components of the vertices at which the equation holds; -1 at all others."""
    num_pieces: int
    """How many there are."""


class Laying:
    """The ground for a bracket, laid stage by stage as a team finds the time.

    Parameters
    ----------
    arcs : tuple of Arcs
        The graph, and its arcs turned round.
    values, order, batch, slopes : arrays
        As those of `Fixing`. They need to hold the results of a stage only once it is added.
    unit : bool
        All lengths are 1.
    known : Task of array and int, optional
        Components of the unlabelled vertices, and how many there are.
    team : Team
        Who does it; the result is the same for every team.
    """

    def __init__(
        self,
        arcs: tuple[Arcs, Arcs],
        values: FloatArray,
        order: IntArray,
        batch: IntArray,
        slopes: FloatArray,
        unit: bool,
        known: Task[tuple[IntArray, int]] | None,
        team: Team,
    ) -> None:
        self._sides = sides_of(*arcs)
        self._batch = batch
        self._known = known
        self._team = team
        self._waiting: deque[Sequence[slice]] = deque()
        self._begun: list[Task[None]] = []
        out, into = arcs
        done = batch < 0
        field = self._field = Pair(values.copy(), np.zeros(values.size))
        rooms = [make_ways(0, 0) for _ in range(team.threads)]

        def follow(part: slice) -> None:
            given = out, into, values, order[part], batch, slopes, field, done, unit
            room = rooms.pop()
            try:
                if not retrace(*given, room):
                    room = make_ways(batch.size, out.indices.size)
                    retrace(*given, room)
            finally:
                rooms.append(room)

        self._follow = follow

    def add(self, parts: Sequence[slice]) -> None:
        """Take note of a stage."""
        self._waiting.append(parts)
        if all(task.done for task in self._begun):
            self._begin()

    def finish(self) -> Ground:
        """Lay what is left, when all stages have been added."""
        # vertices left unfixed bound the pieces, as labels do, and belong to none
        unfixed = self._batch == UNFIXED
        looking = self._known
        if looking is None or unfixed.any():
            free = ~unfixed & (self._batch >= 0)
            [looking] = self._team.begin([partial(pieces, self._sides, free)], urgent=False)
        while self._begun or self._waiting:
            self._begin()
        self._field.high[unfixed] = np.nan
        [(piece, count)] = self._team.finish([looking])
        return Ground(self._field, piece, count)

    def _begin(self) -> None:
        """Hand out the next stage, if there is one, when the last one is done."""
        self._team.finish(self._begun)
        parts = self._waiting.popleft() if self._waiting else []
        self._begun = self._team.begin(
            [partial(self._follow, part) for part in parts], urgent=False
        )


class Stages:
    """Collects `Fixing.stretches`, and hands them on if ground is laid along them."""

    def __init__(self, laying: Laying | None) -> None:
        self._laying = laying
        self._stages: list[list[slice]] = []
        self._end = 0

    def add(self, ends: Iterable[int]) -> None:
        """Add the parts of one stage, by where they end; empty ones are left out."""
        parts = []
        for end in ends:
            if end > self._end:
                parts.append(slice(self._end, int(end)))
                self._end = int(end)
        if parts:
            self._stages.append(parts)
            if self._laying is not None:
                self._laying.add(parts)

    @property
    def table(self) -> IntArray:
        """One row for each part: where it ends, and its stage."""
        rows = [(part.stop, stage) for stage, parts in enumerate(self._stages) for part in parts]
        return np.array(rows, np.int32).reshape(-1, 2)
