"""Transitions: counts of what followed an action at a state.

A *choice* is a state with one of the actions taken there. Its *outcomes* are the states that
followed, each with a count and a mean cost. The odds of an outcome are its count over the choice's
total. Unlike probabilities, counts also say how far the odds can be trusted.

Choices are sorted by state and action, and so are the outcomes of each. An object that exists is
valid: its constructor has checked every row, and its arrays are read-only.

**Posterior odds.** A choice with the outcomes y, seen n_y times, has the odds n_y / n. A plan takes
the best of many choices, so it prefers choices with few samples that happened to be good (the
optimiser's curse). With pooled odds q_y as a Dirichlet prior worth `strength` samples, they become

    (n_y + strength · q_y) / (n + strength):

a choice seen three times is judged by its pool, one seen a thousand times by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaincinv

from ..checks import (
    MOST_VERTICES,
    KeepsReadOnly,
    as_floats,
    as_lengths,
    as_real,
    as_real_array,
    as_share,
    as_vertices,
    as_whole,
    frozen,
    refuse,
)
from ..errors import InputError
from ..numerics.csr import entries_of
from ..typing import BoolArray, FloatArray, IntArray
from ..words import number_of
from .kernels import MDP, prepared

SUMS_TO_ONE = 1e-9
"""Largest deviation from 1 of the sum of the probabilities of a choice."""


@dataclass(frozen=True, eq=False, repr=False)
class Transitions(KeepsReadOnly):
    """A finite Markov decision process with costs of 0 or more, from counts.

    Parameters
    ----------
    state, action, next_state : (k,) integer arrays
        The action was taken at `state`, and `next_state` followed. Actions are whole numbers of 0
        or more. A state without actions is a dead end.
    count : (k,) array or number
        Number of times, positive; need not be whole. 1 for a list of single transitions.
    cost : (k,) array or number, optional
        Cost of the move, 0 or more; 1 if not given.
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
        Number of times it was seen, and its mean cost.
    cost_spread : (num_outcomes,) float array
        Standard deviation of the costs of an outcome, over the rows that it was given in.
    counted : bool
        Whether `counts` are counts; probabilities have no sample size.
    low, high : (num_outcomes,) float arrays, or None
        Bounds on the odds of every outcome, if only bounds are known (`from_intervals`).
    merged : int
        Number of rows that repeated the state, action and next state of another one. Their counts
        are added and their costs averaged.

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
    cost_spread: FloatArray
    counted: bool = True
    merged: int = field(default=0)
    low: FloatArray | None = None
    high: FloatArray | None = None

    def __init__(
        self,
        state: ArrayLike,
        action: ArrayLike,
        next_state: ArrayLike,
        count: ArrayLike = 1.0,
        cost: ArrayLike | None = None,
        num_states: int | None = None,
    ) -> None:
        origin = as_vertices(state, "state", dtype=np.int32)
        taken = as_vertices(action, "action")
        following = as_vertices(next_state, "next_state", dtype=np.int32)
        size = origin.size
        for name, ids in (("action", taken), ("next_state", following)):
            if ids.size != size:
                raise InputError(f"{name} must have the length of state, {size}, got {ids.size}")
        if size == 0:
            raise InputError("transitions must hold at least one transition, got none")
        counts = as_lengths(_per_row(count, "count", size), "count")
        costs = _per_row(1.0 if cost is None else cost, "cost", size)
        refuse(costs < 0.0, costs, "cost", "is negative")
        as_lengths(np.where(costs == 0.0, 1.0, costs), "cost")
        largest = int(max(origin.max(), following.max()))
        if num_states is None:
            if largest >= max(1_000_000, 100 * size):
                raise InputError(
                    f"the largest state is {largest} with only {size} transitions; "
                    "if most states were never seen, pass num_states"
                )
            n = largest + 1
        else:
            n = as_whole(num_states, "num_states", least=1, most=MOST_VERTICES)
            for name, ids in (("state", origin), ("next_state", following)):
                refuse(ids >= n, ids, name, f"is out of range for {number_of(n, 'states')}")
        self._fill(n, (origin, taken, following), (counts, costs, np.zeros(size)))

    def _fill(self, n: int, where: tuple[IntArray, ...], amounts: tuple[FloatArray, ...]) -> None:
        """Set all attributes from valid rows.

        They hold state, action and next state, and then count, cost and the spread of costs within
        the row.
        """
        (origin, taken, following), (counts, costs, spread) = where, amounts
        # Sort rows, unless they are sorted already, and find where choices and outcomes begin.
        order = np.arange(origin.size)
        step = np.diff(origin), np.diff(taken), np.diff(following)
        later = (step[1] > 0) | ((step[1] == 0) & (step[2] >= 0))
        if not ((step[0] > 0) | ((step[0] == 0) & later)).all():
            order = np.lexsort((following, taken, origin))
            origin, taken, following = origin[order], taken[order], following[order]
            step = np.diff(origin), np.diff(taken), np.diff(following)
        new_choice = np.append(True, (step[0] != 0) | (step[1] != 0))
        begins = np.flatnonzero(new_choice | np.append(True, step[2] != 0))
        choices = np.flatnonzero(new_choice)

        # Add the counts of rows that repeat an outcome, and average their costs by count.
        counts, costs, spread = counts[order], costs[order], spread[order]
        if begins.size < order.size:
            total = np.add.reduceat(counts, begins)
            mean = np.add.reduceat(counts * costs, begins) / total
            low, high = np.minimum.reduceat(costs, begins), np.maximum.reduceat(costs, begins)
            # equal costs stay as they are, to the last digit; no mean leaves their range
            mean = np.clip(mean, low, high)
            sizes = np.diff(np.append(begins, order.size))
            widest = float(max((high - low).max(), spread.max())) or 1.0
            off, within = (costs - np.repeat(mean, sizes)) / widest, spread / widest
            share = counts / np.repeat(total, sizes)
            spread = widest * np.sqrt(np.add.reduceat(share * (off**2 + within**2), begins))
            counts, costs = total, mean
        values = {
            "indptr": np.searchsorted(origin[choices], np.arange(n + 1)).astype(np.int64),
            "actions": taken[choices],
            "outcome_indptr": np.append(np.searchsorted(begins, choices), begins.size),
            "next_states": following[begins].astype(np.int32),
            "counts": counts,
            "costs": costs,
            "cost_spread": spread,
        }
        for name, value in values.items():
            object.__setattr__(self, name, frozen(value))
        object.__setattr__(self, "merged", order.size - begins.size)

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
        """Build a process from known odds, which must sum to 1 for each choice.

        A deviation of 1e-9 counts as rounding; only their proportions matter.

        Examples
        --------
        >>> import wayfield as wf
        >>> wf.Transitions.from_probabilities([0, 0], [7, 7], [0, 1], [0.5, 0.4])
        Traceback (most recent call last):
        wayfield.errors.InputError: the probabilities of action 7 at state 0 sum to 0.9, not 1
        """
        size = as_vertices(state, "state").size
        odds = as_lengths(_per_row(probability, "probability", size), "probability")
        made = cls(state, action, next_state, odds, cost, num_states)
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
    def from_intervals(
        cls,
        state: ArrayLike,
        action: ArrayLike,
        next_state: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        cost: ArrayLike | None = None,
        num_states: int | None = None,
    ) -> Self:
        """Build a process from intervals for the odds.

        Some odds within the intervals of a choice must sum to 1; a deviation of 1e-9 counts as
        rounding. Solve the process with ``expected_cost(…, odds="worst")`` or ``odds="best"``. Its
        `counts` are odds within the intervals.

        Examples
        --------
        >>> import wayfield as wf
        >>> moves = wf.Transitions.from_intervals([0, 0], [0, 0], [1, 0], [0.5, 0.1], [0.9, 0.5])
        >>> wf.expected_cost(moves, goal=1, odds="worst").values
        array([2., 0.])
        >>> wf.expected_cost(moves, goal=1, odds="best").values.round(3)
        array([1.111, 0.   ])
        """
        size = as_vertices(state, "state").size
        least, most = _per_row(low, "low", size), _per_row(high, "high", size)
        for name, ends in (("low", least), ("high", most)):
            refuse(~((ends >= 0.0) & (ends <= 1.0)), ends, name, "is not between 0 and 1")
        refuse(least > most, least, "low", "is larger than high")
        made = cls(state, action, next_state, 1.0, cost, num_states)
        if made.merged:
            raise InputError(
                f"each outcome must be given once, got {number_of(made.merged, 'repeated rows')}"
            )
        order = np.lexsort([np.asarray(rows) for rows in (next_state, action, state)])
        return made._bounded(least[order], most[order])

    def with_intervals(self, level: float = 0.95) -> Transitions:
        """Return the process with Clopper–Pearson intervals for its odds.

        They assume that samples are independent, and that an action can only have outcomes that
        some action had at the state. They are wide: after ten samples, reach may lie almost
        anywhere between 0 and 1. `ExpectedCost.doubt` gives much narrower bounds, but assumes more;
        with `guarantee=True` it uses such intervals, for the plan alone.

        Parameters
        ----------
        level : float
            Probability that all intervals together contain the true odds (Bonferroni).

        Examples
        --------
        >>> import wayfield as wf
        >>> moves = wf.Transitions([0, 0], [0, 0], [1, 2], count=[9, 1]).with_intervals()
        >>> moves.low.round(2), moves.high.round(2)
        (array([0.51, 0.  ]), array([1.  , 0.49]))
        """
        self._check_counted("with_intervals")
        level = as_share(level, "level")
        possible = self.shrunk(1.0)  # its outcomes are all those of the state
        choice = possible._outcome_choices
        count, size = self._counts_in(possible), self.totals[choice]
        low, high = clopper_pearson(count, size, (1.0 - level) / 2 / choice.size)
        where = (self.states[choice], self.actions[choice], possible.next_states)
        return Transitions.from_intervals(*where, low, high, possible.costs, self.num_states)

    def _on_support(self, support: Transitions) -> Transitions:
        """Return the process with an outcome more for each in the support, counted once."""
        if support.num_states != self.num_states:
            raise InputError(
                f"support must have {number_of(self.num_states, 'states')}, as the counts do, "
                f"got {support.num_states:,}"
            )
        known = support._index_of(self.states, self.actions)
        owner, at = entries_of(known, support.outcome_indptr)
        amounts = (np.ones(at.size), support.costs[at], support.cost_spread[at])
        return self._with_more(owner, support.next_states[at], *amounts)

    def _counts_in(self, possible: Transitions) -> FloatArray:
        """Return the counts of the outcomes of another process; 0 for those never seen."""
        n, counts = self.num_states, np.zeros(possible.counts.size)
        keys, own = (one._outcome_choices * n + one.next_states for one in (possible, self))
        counts[np.searchsorted(keys, own)] = self.counts
        return counts

    def _bounded(self, low: FloatArray, high: FloatArray) -> Self:
        """Set the bounds of every outcome, and odds between them."""
        first, sizes = self.outcome_indptr[:-1], np.diff(self.outcome_indptr)
        least, most = np.add.reduceat(low, first), np.add.reduceat(high, first)
        wrong = np.flatnonzero((least > 1.0 + SUMS_TO_ONE) | (most < 1.0 - SUMS_TO_ONE))
        if wrong.size:
            k = wrong[0]
            raise InputError(
                f"the odds of action {self.actions[k]} at state {self.states[k]} cannot sum to 1: "
                f"lower bounds sum to {least[k]:.10g} and upper bounds to {most[k]:.10g}"
            )
        # widen intervals that miss only by rounding, so that some odds lie between them
        high = high + np.repeat(np.where(most < 1.0, 1.0 - most + 2.0**-50, 0.0), sizes)
        low = np.maximum(low - np.repeat(np.where(least > 1.0, least - 1.0, 0.0), sizes), 0.0)
        least, most = np.add.reduceat(low, first), np.add.reduceat(high, first)
        room = most - least
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(room > 0.0, (1.0 - least) / room, 0.0)
        odds = low + np.repeat(share, sizes) * (high - low)
        for name, value in (("low", low), ("high", high), ("counts", odds)):
            object.__setattr__(self, name, frozen(np.asarray(value)))
        object.__setattr__(self, "counted", False)
        return self

    @property
    def _bounds(self) -> tuple[FloatArray, FloatArray]:
        if self.low is None or self.high is None:
            raise InputError(
                "odds= needs intervals; make the transitions with from_intervals or with_intervals"
            )
        return self.low, self.high

    def _narrowed(self, chosen: BoolArray, low: FloatArray, high: FloatArray) -> Transitions:
        """Return the process with only these outcomes, and with these bounds."""
        return self._with_odds(chosen.astype(np.float64))._bounded(low, high)

    def _with_odds(self, odds: FloatArray) -> Transitions:
        """Return the process with these odds or counts; outcomes with odds 0 are left out."""
        keep = odds > 0.0
        amounts = (odds[keep], self.costs[keep], self.cost_spread[keep])
        return self._with_outcomes(self._outcome_choices[keep], self.next_states[keep], *amounts)

    def _with_more(
        self, choice: IntArray, next_state: IntArray, *amounts: FloatArray
    ) -> Transitions:
        """Return the process with these outcomes of its choices added to its own."""
        own = (self._outcome_choices, self.next_states, self.counts, self.costs, self.cost_spread)
        return self._with_outcomes(*map(np.append, own, (choice, next_state, *amounts)))

    def _with_outcomes(
        self, choice: IntArray, next_state: IntArray, *amounts: FloatArray
    ) -> Transitions:
        """Return a process with the same choices, and these outcomes of them.

        Amounts are counts, costs, and the spread of costs within the outcomes.
        """
        made = object.__new__(Transitions)
        as_lengths(amounts[0], "count")
        where = (self.states[choice], self.actions[choice], next_state)
        made._fill(self.num_states, where, amounts)
        return made

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
    def _outcome_choices(self) -> NDArray[np.int64]:
        """(num_outcomes,) the choice of every outcome."""
        return frozen(np.repeat(np.arange(self.num_choices), np.diff(self.outcome_indptr)))

    @cached_property
    def totals(self) -> FloatArray:
        """(num_choices,) number of times every choice was taken: the sample size of its odds."""
        return frozen(np.add.reduceat(self.counts, self.outcome_indptr[:-1]))

    @property
    def probabilities(self) -> FloatArray:
        """(num_outcomes,) the odds: counts over the choice's total."""
        return self.counts / self.totals[self._outcome_choices]

    def shrunk(self, strength: float = 10.0) -> Transitions:
        """Return posterior odds: counts plus `strength` samples of pooled outcomes.

        All choices of a state are pooled, whatever the action. A choice seen three times is then
        judged mostly by its pool, one seen a thousand times by itself. Every outcome of the
        pool becomes possible, including dead ends: plan with `give_up`.

        Parameters
        ----------
        strength : float
            Number of samples that the prior is worth.

        Examples
        --------
        >>> import wayfield as wf
        >>> lucky = wf.Transitions([0, 0, 0], [0, 1, 1], [1, 1, 2], count=[3, 50, 50])
        >>> lucky.shrunk(10).probabilities.round(2)
        array([0.63, 0.37, 0.5 , 0.5 ])
        """
        self._check_counted("shrunk")
        strength = as_real(strength, "strength", least=0.0, most=1e15)
        if strength == 0.0:
            return self
        own, n = self._outcome_choices, self.num_states
        keys, pool = np.unique(self.states[own] * n + self.next_states, return_inverse=True)
        counts = np.bincount(pool, self.counts)
        costs = np.bincount(pool, self.counts * self.costs) / counts
        off = self.costs - costs[pool]
        widest = float(max(np.abs(off).max(), self.cost_spread.max())) or 1.0
        square = (off / widest) ** 2 + (self.cost_spread / widest) ** 2
        spread = widest * np.sqrt(np.bincount(pool, self.counts * square) / counts)
        state, following = np.divmod(keys, n)
        choice, at = entries_of(self.states, np.searchsorted(state, np.arange(n + 1)))
        prior = strength * counts[at] / np.bincount(state, counts)[self.states[choice]]
        return self._with_more(choice, following[at], prior, costs[at], spread[at])

    def __getstate__(self) -> dict[str, Any]:
        # cached properties are computed again
        return {one.name: getattr(self, one.name) for one in fields(self)}

    @cached_property
    def _cost_exponent(self) -> int:
        """Power of two by which the costs of `_process` were divided."""
        return int(np.frexp(self.costs.max())[1])

    @cached_property
    def _process(self) -> MDP:
        """The process as kernels take it.

        Counts are scaled to a total near 1 for every choice, and costs to at most 1, both exactly.
        """
        scale = np.frexp(self.totals)[1][self._outcome_choices]
        costs = np.ldexp(self.costs, -self._cost_exponent)
        ptr, heads = self.outcome_indptr.astype(np.uint32), self.next_states.astype(np.uint32)
        counts, owner = np.ldexp(self.counts, -scale), self.states.astype(np.uint32)
        return prepared(self.indptr, ptr, heads, counts, costs, owner)

    def _check_counted(self, what: str) -> None:
        """Raise `InputError` for probabilities, which have no sample size."""
        if not self.counted:
            raise InputError(f"{what} needs counts; probabilities have no sample size")

    def _choices(self, actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the choice of every state that takes this action there; -1 stays -1."""
        taken = np.flatnonzero(actions >= 0)
        found = np.full(self.num_states, -1, np.int64)
        found[taken] = self._index_of(taken, actions[taken])
        return found

    def _index_of(self, states: NDArray[np.int64], actions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the choice of every pair of a state and an action; raise if there is none."""
        span = int(max(self.actions.max(), actions.max(initial=0))) + 1
        keys, wanted = self.states * span + self.actions, states * span + actions
        at = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        missing = np.flatnonzero(keys[at] != wanted)
        if missing.size:
            s, action = states[missing[0]], actions[missing[0]]
            raise InputError(f"action {action} was never taken at state {s}")
        return np.asarray(at, np.int64)

    def __repr__(self) -> str:
        low, high = self.counts.min(), self.counts.max()
        odds = f"counts {low:g} to {high:g}" if self.counted else "known odds"
        odds = odds if self.low is None else "odds in intervals"
        sizes = (
            number_of(self.num_states, "states"),
            number_of(self.num_choices, "choices"),
            number_of(self.counts.size, "outcomes"),
        )
        return f"Transitions({', '.join(sizes)}, {odds})"


def clopper_pearson(
    count: FloatArray, size: FloatArray, tail: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Return bounds on probabilities; each end fails with probability `tail` at most."""
    with np.errstate(invalid="ignore"):
        low = np.where(count > 0.0, betaincinv(count, size - count + 1.0, tail), 0.0)
        high = np.where(count < size, betaincinv(count + 1.0, size - count, 1.0 - tail), 1.0)
    return low, high


def _per_row(data: ArrayLike, name: str, size: int) -> FloatArray:
    """Return one number per row; a single number is repeated."""
    array = as_real_array(data, name)
    return as_floats(np.repeat(array, size) if array.ndim == 0 else array, name, size)
