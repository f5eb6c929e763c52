"""Transitions: what was seen to happen when an action was taken at a state.

A *choice* is a state with one of the actions taken there; its *outcomes* are the states that
followed, each with a count and a mean cost. The odds of an outcome are its count over the choice's
total, so that counts, unlike probabilities, also say how much the odds can be trusted.

Choices stand one after another, sorted by state and action, and so do the outcomes of each. An
object that exists is valid: its constructor has checked every row, and its arrays are read-only.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import (
    MOST_VERTICES,
    KeepsReadOnly,
    as_lengths,
    as_real_array,
    as_vertices,
    as_whole,
    frozen,
    refuse,
)
from .._text import number_of
from ..errors import InputError
from ..graph import Graph, check_graph
from ..kernels._types import FloatArray, IntArray
from ..kernels.chance import Process
from ._process import prepare

SUMS_TO_ONE = 1e-9
"""How far probabilities of one choice may sum to something else than 1."""


@dataclass(frozen=True, eq=False, repr=False)
class Transitions(KeepsReadOnly):
    """A finite Markov decision process with positive costs, from counts.

    Parameters
    ----------
    state, action, next_state : (k,) integer arrays
        At `state` the action was taken, and `next_state` followed. Actions are numbered as you
        like; a state where none was ever taken is a dead end.
    count : (k,) array or number
        How often, positive; need not be whole. 1 for a list of single transitions.
    cost : (k,) array or number, optional
        What the move cost, positive; 1 if not given.
    num_states : int, optional
        One more than the largest state if not given.

    Attributes
    ----------
    indptr : (num_states + 1,) int64 array
        The choices of state ``s`` are ``indptr[s]`` to ``indptr[s + 1]``.
    actions : (num_choices,) int64 array
        The action of every choice, ascending at each state.
    outcome_indptr : (num_choices + 1,) int64 array
        The outcomes of choice ``k`` are ``outcome_indptr[k]`` to ``outcome_indptr[k + 1]``.
    next_states : (num_outcomes,) int32 array
        Where an outcome leads, ascending at each choice.
    counts, costs : (num_outcomes,) float arrays
        How often it was seen, and what it cost in the mean.
    counted : bool
        Whether the counts are counts: probabilities have no sample size.
    merged : int
        How many rows repeated another one's state, action and next state. Their counts are added
        and their costs averaged.

    Examples
    --------
    >>> import wayfield as wf
    >>> moves = wf.Transitions([0, 0, 1], [0, 0, 0], [1, 0, 2], count=[3, 1, 5])
    >>> moves
    Transitions(3 states, 2 choices, 3 outcomes, counts 1 to 5)
    >>> moves.probabilities
    array([0.25, 0.75, 1.  ])
    """

    indptr: NDArray[np.int64]
    actions: NDArray[np.int64]
    outcome_indptr: NDArray[np.int64]
    next_states: IntArray
    counts: FloatArray
    costs: FloatArray
    counted: bool = True
    merged: int = field(default=0)

    def __init__(
        self,
        state: ArrayLike,
        action: ArrayLike,
        next_state: ArrayLike,
        count: ArrayLike = 1.0,
        cost: ArrayLike | None = None,
        num_states: int | None = None,
    ) -> None:
        self._hold(state, action, next_state, count, cost, num_states, "count")

    @classmethod
    def from_probabilities(
        cls,
        state: ArrayLike,
        action: ArrayLike,
        next_state: ArrayLike,
        probability: ArrayLike,
        cost: ArrayLike | None = None,
        num_states: int | None = None,
    ) -> Self:
        """Build a process from known odds, which must sum to 1 at every choice.

        They may miss 1 by 1e-9, which is taken for rounding: what counts are their proportions.

        Examples
        --------
        >>> import wayfield as wf
        >>> wf.Transitions.from_probabilities([0, 0], [7, 7], [0, 1], [0.5, 0.4])
        Traceback (most recent call last):
        wayfield.errors.InputError: the probabilities of action 7 at state 0 sum to 0.9, not 1
        """
        made = cls.__new__(cls)
        made._hold(state, action, next_state, probability, cost, num_states, "probability")
        off = np.flatnonzero(np.abs(made.totals - 1.0) > SUMS_TO_ONE)
        if off.size:
            more = f" (and {off.size - 1:,} more do not)" if off.size > 1 else ""
            raise InputError(
                f"the probabilities of action {made.actions[off[0]]} at state "
                f"{made.states[off[0]]} sum to {made.totals[off[0]]:.10g}, not 1{more}"
            )
        object.__setattr__(made, "counted", False)
        return made

    @classmethod
    def from_graph(cls, graph: Graph) -> Self:
        """Build the process in which moves along arcs never fail: an action is the arc's head.

        Examples
        --------
        >>> import wayfield as wf
        >>> wf.Transitions.from_graph(wf.Graph.from_edges([0, 1], [1, 2]))
        Transitions(3 states, 4 choices, 4 outcomes, known odds)
        """
        arcs = check_graph(graph)
        rows = (arcs.tails, arcs.indices, arcs.indices, 1.0, arcs.lengths, arcs.num_vertices)
        return cls.from_probabilities(*rows)

    @classmethod
    def _of(cls, moves: Transitions, rows: tuple[Any, ...]) -> Self:
        """Build a process on the same states, with rows of (choice, next state, count, cost)."""
        choice, next_state, count, cost = rows
        made = cls.__new__(cls)
        state, action = moves.states[choice], moves.actions[choice]
        made._hold(state, action, next_state, count, cost, moves.num_states, "count")
        return made

    def _hold(
        self,
        state: ArrayLike,
        action: ArrayLike,
        next_state: ArrayLike,
        count: ArrayLike,
        cost: ArrayLike | None,
        num_states: int | None,
        weight: str,
    ) -> None:
        origin = as_vertices(state, "state", dtype=np.int32)
        taken = as_vertices(action, "action")
        following = as_vertices(next_state, "next_state", dtype=np.int32)
        size = origin.size
        for name, ids in (("action", taken), ("next_state", following)):
            if ids.size != size:
                raise InputError(f"{name} has {ids.size} entries, state has {size}")
        if size == 0:
            raise InputError("transitions are empty: at least one is needed")
        counts = _per_row(count, weight, size)
        costs = np.ones(size) if cost is None else _per_row(cost, "cost", size)
        n = _state_count(origin, following, num_states)
        order, choice_starts, outcome_starts = _grouped(origin, taken, following)
        counts, costs = _merge(counts[order], costs[order], outcome_starts)
        first = order[outcome_starts]
        choice_of = np.searchsorted(outcome_starts, choice_starts)
        states = origin[order[choice_starts]]
        values = {
            "indptr": frozen(np.searchsorted(states, np.arange(n + 1)).astype(np.int64)),
            "actions": frozen(taken[order[choice_starts]]),
            "outcome_indptr": frozen(np.append(choice_of, first.size).astype(np.int64)),
            "next_states": frozen(following[first]),
            "counts": frozen(counts),
            "costs": frozen(costs),
            "counted": True,
            "merged": size - first.size,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def num_states(self) -> int:
        """Number of states."""
        return self.indptr.size - 1

    @property
    def num_choices(self) -> int:
        """Number of pairs of a state and an action taken there."""
        return self.actions.size

    @cached_property
    def states(self) -> NDArray[np.int64]:
        """(num_choices,) the state of every choice."""
        return frozen(np.repeat(np.arange(self.num_states), np.diff(self.indptr)))

    @cached_property
    def totals(self) -> FloatArray:
        """(num_choices,) how often every choice was taken: the sample its odds rest on."""
        return frozen(np.add.reduceat(self.counts, self.outcome_indptr[:-1]))

    @property
    def probabilities(self) -> FloatArray:
        """(num_outcomes,) the odds: counts over the choice's total."""
        return self.counts / np.repeat(self.totals, np.diff(self.outcome_indptr))

    def shrunk(self, strength: float = 10.0, pool: Graph | ArrayLike | None = None) -> Transitions:
        """Return posterior odds: counts to which `strength` samples of pooled outcomes are added.

        A choice seen three times is then judged by its pool, one seen a thousand times by itself.
        Whatever the pool has seen becomes possible, dead ends included: plan with `give_up`.

        Parameters
        ----------
        strength : float
            Samples that the prior is worth.
        pool : Graph or (num_choices,) integer array, optional
            What a choice is pooled with: by default all choices of its state, whatever the action;
            with a graph on the states, the same action at the state and where its arcs lead, for
            actions that mean the same everywhere; with an array, the choices of the same number,
            none for a negative one.

        Examples
        --------
        >>> import wayfield as wf
        >>> lucky = wf.Transitions([0, 0, 0], [0, 1, 1], [1, 1, 2], count=[3, 50, 50])
        >>> lucky.shrunk(10).probabilities.round(2)
        array([0.63, 0.37, 0.5 , 0.5 ])
        """
        from .posterior import shrunk  # which makes transitions

        return shrunk(self, strength, pool)

    def __getstate__(self) -> dict[str, Any]:
        # what is made on demand is made again
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def _prepared(self) -> tuple[Process, int]:
        return prepare(self)

    @property
    def _process(self) -> Process:
        return self._prepared[0]

    @property
    def _cost_exponent(self) -> int:
        return self._prepared[1]

    def _reweighted(self, weights: FloatArray) -> Transitions:
        """Return the same outcomes with other odds, in proportion to these weights."""
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__() | {"counts": weights, "counted": False})
        return made

    def _check_counted(self, what: str) -> None:
        """Refuse probabilities, which do not say what they rest on."""
        if not self.counted:
            raise InputError(f"probabilities carry no sample size: only counts can be {what}")

    def _choices(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the choice of every state that takes this action there; -1 stays -1."""
        taken = np.flatnonzero(actions >= 0)
        found = np.full(self.num_states, -1, np.int64)
        span = int(max(self.actions.max(), actions.max())) + 1
        keys, wanted = self.states * span + self.actions, taken * span + actions[taken]
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        missing = np.flatnonzero(keys[at] != wanted)
        if missing.size:
            s = taken[missing[0]]
            raise InputError(f"action {actions[s]} was never taken at state {s}")
        found[taken] = at
        return found

    def __repr__(self) -> str:
        low, high = self.counts.min(), self.counts.max()
        told = f"counts {low:g} to {high:g}" if self.counted else "known odds"
        sizes = (
            number_of(self.num_states, "states"),
            number_of(self.num_choices, "choices"),
            number_of(self.counts.size, "outcomes"),
        )
        return f"Transitions({', '.join(sizes)}, {told})"


def _per_row(data: ArrayLike, name: str, size: int) -> FloatArray:
    """Return positive numbers, one for each row; a single number counts for all of them."""
    array = as_real_array(data, name)
    if array.ndim == 0:
        return np.repeat(as_lengths(array[np.newaxis], name), size)
    return as_lengths(array, name, size)


def _state_count(origin: IntArray, following: IntArray, num_states: int | None) -> int:
    largest = int(max(origin.max(), following.max()))
    if num_states is None:
        if largest >= max(1_000_000, 100 * origin.size):
            raise InputError(
                f"the largest state is {largest} with only {origin.size} transitions; "
                "if most states were never seen, pass num_states"
            )
        return largest + 1
    n = as_whole(num_states, "num_states", least=1, most=MOST_VERTICES)
    for name, ids in (("state", origin), ("next_state", following)):
        refuse(ids >= n, ids, name, f"is out of range for {number_of(n, 'states')}")
    return n


def _grouped(
    origin: IntArray, taken: IntArray, following: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Sort rows; return their order, and in it where choices and where outcomes begin."""
    steps = np.diff(origin), np.diff(taken), np.diff(following)
    later = (steps[0] > 0) | ((steps[0] == 0) & ((steps[1] > 0) | _then(steps[1], steps[2])))
    if later.all():
        order = np.arange(origin.size)
    else:
        order = np.lexsort((following, taken, origin))
        steps = np.diff(origin[order]), np.diff(taken[order]), np.diff(following[order])
    choice = np.append(True, (steps[0] != 0) | (steps[1] != 0))
    outcome = choice | np.append(True, steps[2] != 0)
    return order, np.flatnonzero(choice), np.flatnonzero(outcome)


def _then(same: IntArray, step: IntArray) -> NDArray[np.bool_]:
    rises: NDArray[np.bool_] = (same == 0) & (step >= 0)
    return rises


def _merge(
    counts: FloatArray, costs: FloatArray, starts: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Add the counts of rows that repeat, and average their costs by count."""
    if starts.size == counts.size:
        return counts, costs
    total = np.add.reduceat(counts, starts)
    mean = np.add.reduceat(counts * costs, starts) / total
    low, high = np.minimum.reduceat(costs, starts), np.maximum.reduceat(costs, starts)
    # costs that agree stay as they are, to the last place; no mean leaves the range by rounding
    return total, np.clip(mean, low, high)
