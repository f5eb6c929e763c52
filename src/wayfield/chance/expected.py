"""Expected cost of arriving where moves may fail, and the probability of arrival.

Equation
    V(s) = min( g, min_a c(s, a) + Σ_y P(y | s, a) V(y) ) at every free state s: the least mean cost
    of a walk that ends at a goal, at a label, or by giving up, which costs g (`give_up`).
Boundary condition
    V = 0 at goals; V equals the label at labelled states, which end the walk as goals do. A free
    state without any action has V = g.
Without giving up
    g = +inf. Since costs are positive, V(s) is finite exactly where some policy arrives with
    probability 1. This depends only on the graph of moves. V = +inf elsewhere. On the other states
    it is a stochastic shortest path problem with a proper policy, and improper ones cost
    infinitely much (every end component costs at least its least cost per move). So the equation
    has one solution, and value iteration converges to it from any start [1]_.
Method
    Policy iteration, by sweeps in place and by linear systems, on the change that the values still
    need; refined in double-doubles.
Guarantee
    A sub- and a supersolution around the result are verified for the returned numbers, by the
    scaling argument of optimistic value iteration [3]_ (`chance._solver`), with all rounding
    included. Interval iteration [2]_ would need many sweeps for the same bracket. Exact means: for
    the counts and costs that the transitions hold.

References
----------
.. [1] D. P. Bertsekas, J. N. Tsitsiklis, An analysis of stochastic shortest path problems,
   Mathematics of Operations Research 16(3), 1991.
.. [2] S. Haddad, B. Monmege, Interval iteration algorithm for MDPs and IMDPs, Theoretical Computer
   Science 735, 2018.
.. [3] A. Hartmanns, B. L. Kaminski, Optimistic value iteration, CAV 2020.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._arrays import (
    LARGEST,
    KeepsReadOnly,
    as_flag,
    as_real,
    as_vertices,
    as_whole,
    frozen,
    refuse,
)
from .._text import number_of
from ..errors import InputError, NotConverged
from ..extension import Status
from ..kernels._types import BoolArray, FloatArray
from ..labels import Labels
from ._solver import FINEST, Boundary, Solved, arrival, cost_bounds, least_cost, value_of
from .transitions import Transitions

LEAST_ODDS = 1e-12
"""Drawn odds are at least this: odds of 0 would be another process."""


@dataclass(frozen=True, eq=False, repr=False)
class Doubt(KeepsReadOnly):
    """Uncertainty of a plan's cost and reach because its odds rest on few counts.

    The odds of a choice with the outcomes y, counted n_y times, are Dirichlet with parameters n_y:
    the posterior under the improper prior of no knowledge. Counts that were shrunk carry their
    prior with them. Odds are drawn from it, independently at every choice, and the plan's expected
    cost and arrival are computed for each draw. The bounds are quantiles over the draws.

    Attributes
    ----------
    cost_low, cost_high, reach_low, reach_high : (n,) float arrays
        Quantiles of the expected cost and of the probability of arrival.
    level : float
        Share of the draws between them.
    draws : int
        Number of draws.

    Examples
    --------
    >>> import wayfield as wf
    >>> moves = wf.Transitions([0, 0], [0, 0], [1, 2], count=[9, 1])
    >>> doubt = wf.expected_cost(moves, goal=1, give_up=100).doubt()
    >>> doubt.reach_low.round(2), doubt.reach_high.round(2)
    (array([0.64, 1.  , 0.  ]), array([1., 1., 0.]))
    """

    cost_low: FloatArray
    cost_high: FloatArray
    reach_low: FloatArray
    reach_high: FloatArray
    level: float
    draws: int

    def __repr__(self) -> str:
        spread = float((self.reach_high - self.reach_low).max(initial=0.0))
        return f"Doubt(level {self.level:g}, {self.draws} draws, reach within {spread:.2g})"


@runtime_checkable
class HasTransitions(Protocol):
    """Anything with counted transitions, such as a replay buffer."""

    def transitions(self) -> Transitions:
        """Return the counted transitions."""
        ...


@runtime_checkable
class HasExpectedCost(HasTransitions, Protocol):
    """Anything that solves by itself: a replay buffer knows its stitched arcs."""

    def expected_cost(
        self,
        goal: ArrayLike,
        give_up: float | None = None,
        labels: Labels | None = None,
        *,
        rtol: float = FINEST,
        check: bool = True,
    ) -> ExpectedCost:
        """Return the least expected cost, as the function `expected_cost` does."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class ExpectedCost(KeepsReadOnly):
    """Expected cost and probability of arrival from each state, and the plan that attains them.

    Attributes
    ----------
    values, lower, upper : (n,) float arrays
        Expected cost, and rigorous bounds on it; +inf, in all three, where no policy arrives with
        probability 1 and giving up is not allowed.
    reach, reach_lower, reach_upper : (n,) float arrays
        Probability that the plan ends at a goal or a label, and rigorous bounds on it; 0 where
        there is no plan.
    plan : (n,) int64 array
        The action to take; -1 at goals and labels, where the plan gives up, and where the cost is
        infinite. -1 is not an action: `action` raises there, but indexing with -1 would not.
    gives_up : (n,) bool array
        Whether the plan gives up at once.
    status : Status
        How the solve ended.
    iterations : int
        Number of evaluated policies.
    seconds : float
        Wall-clock time of the solve.
    transitions, goal, labels, give_up
        Inputs of the solve; `goal` as an array of states.

    Examples
    --------
    >>> import wayfield as wf
    >>> moves = wf.Transitions([0, 0, 1], [0, 0, 0], [1, 0, 2], count=[3, 1, 5])
    >>> field = wf.expected_cost(moves, goal=2)
    >>> field.values
    array([2.33333333, 1.        , 0.        ])
    >>> field.plan
    array([ 0,  0, -1])
    """

    transitions: Transitions
    goal: NDArray[np.int64]
    labels: Labels | None
    give_up: float | None
    values: FloatArray
    lower: FloatArray
    upper: FloatArray
    reach: FloatArray
    reach_lower: FloatArray
    reach_upper: FloatArray
    plan: NDArray[np.int64]
    gives_up: BoolArray
    status: Status
    iterations: int
    seconds: float

    @property
    def width(self) -> float:
        """Largest width of the bracket around the expected cost, where that is finite."""
        known = np.isfinite(self.values)
        return float((self.upper[known] - self.lower[known]).max(initial=0.0))

    def action(self, states: ArrayLike) -> NDArray[np.int64]:
        """Return the actions to take at these states; raise `InputError` where there is none.

        Examples
        --------
        >>> import wayfield as wf
        >>> field = wf.expected_cost(wf.Transitions([0], [4], [1]), goal=1)
        >>> field.action([0])
        array([4])
        >>> field.action([0, 1])
        Traceback (most recent call last):
        wayfield.errors.InputError: states[1] = 1 has no action: it is a goal
        """
        index = as_vertices(states, "states")
        n = self.values.size
        refuse(index >= n, index, "states", f"is out of range for {number_of(n, 'states')}")
        none = self.plan[index] < 0
        if none.any():
            s, why = int(index[np.argmax(none)]), "no policy surely arrives from there"
            if s in self.goal:
                why = "it is a goal"
            elif self.gives_up[s]:
                why = "the plan gives up there"
            elif self.labels is not None and s in self.labels.vertices:
                why = "it is labelled"
            refuse(none & (index == s), index, "states", f"has no action: {why}")
        actions: NDArray[np.int64] = self.plan[index]
        return actions

    def under(
        self, transitions: Transitions | HasTransitions, *, check: bool = True
    ) -> ExpectedCost:
        """Return the cost of this plan, and its probability of arrival, under other odds.

        These may be counts shrunk to a prior (`Transitions.shrunk`), fresh counts, or the true
        odds. The plan stays the same: its actions must occur at their states.

        Examples
        --------
        >>> import wayfield as wf
        >>> few = wf.Transitions([0, 0, 0], [0, 1, 1], [1, 1, 0], count=[3, 50, 50])
        >>> plan = wf.expected_cost(few, goal=1)
        >>> float(plan.values[0]), float(plan.under(few.shrunk(10)).values[0])
        (1.0, 1.59...)
        """
        moves = _transitions(transitions)
        if moves.num_states != self.values.size:
            raise InputError(
                f"the plan has {number_of(self.values.size, 'states')}, "
                f"the transitions have {moves.num_states:,}"
            )
        start = time.perf_counter()
        boundary = _boundary(moves, self.goal, self.labels, self.give_up)
        begin = np.ldexp(self.values, -moves._cost_exponent)
        solved = value_of(moves._process, moves._choices(self.plan), boundary, begin)
        question = (moves, self.goal, self.labels, self.give_up)
        return _packaged(question, boundary, solved, start, as_flag(check, "check"), self.plan)

    def doubt(self, draws: int = 100, level: float = 0.9, seed: int = 0) -> Doubt:
        """Return the uncertainty of this plan's cost and reach because counts are few.

        Odds are drawn from their Dirichlet posterior, with the counts as parameters, and the plan
        is evaluated under each draw. An outcome that was never seen has odds 0 in all of them.
        Shrink the counts first (`Transitions.shrunk`) to make outcomes possible that were seen
        nearby.

        Parameters
        ----------
        draws : int
            Number of draws, at least 2.
        level : float
            Share of the draws between the bounds.
        seed : int
            Of the draws.

        Examples
        --------
        >>> import wayfield as wf
        >>> moves = wf.Transitions([0, 0], [0, 0], [1, 2], count=[9, 1])
        >>> field = wf.expected_cost(moves, goal=1, give_up=100)
        >>> doubt = field.doubt()
        >>> doubt.reach_low[0] < field.reach[0] < doubt.reach_high[0]
        np.True_
        """
        as_whole(draws, "draws", least=2)
        level = as_real(level, "level")
        if not 0.0 < level < 1.0:
            raise InputError(f"level must be between 0 and 1, got {level}")
        moves = self.transitions
        moves._check_counted("doubted")
        rng = np.random.default_rng(as_whole(seed, "seed", least=0))
        sizes = np.diff(moves.outcome_indptr)
        found = []
        for _ in range(draws):
            weights = rng.standard_gamma(moves.counts)
            total = np.add.reduceat(weights, moves.outcome_indptr[:-1])
            # all gammas of a choice may underflow; then its outcomes are equally likely
            odds = weights / np.repeat(np.where(total > 0.0, total, 1.0), sizes)
            drawn = moves._reweighted(np.maximum(odds, LEAST_ODDS))
            found.append(self.under(drawn, check=False))
        # Quantiles are draws themselves, not means of two draws: a cost may be infinite. They are
        # taken of brackets: drawn odds may be too small for the values to be verified.
        outside = int((1.0 - level) / 2 * draws)

        def quantile(name: str, place: int) -> FloatArray:
            return frozen(np.sort(np.stack([getattr(one, name) for one in found]), axis=0)[place])

        return Doubt(
            quantile("lower", outside),
            quantile("upper", -1 - outside),
            quantile("reach_lower", outside),
            quantile("reach_upper", -1 - outside),
            level=level,
            draws=draws,
        )

    def __repr__(self) -> str:
        known = np.isfinite(self.values)
        parts = [f"{number_of(self.values.size, 'states')}: {self.status}"]
        parts.append(f"bracket width {self.width:.1e}")
        if not known.all():
            parts.append(f"{int((~known).sum()):,} from which no policy surely arrives")
        if self.gives_up.any():
            parts.append(f"giving up at {int(self.gives_up.sum()):,}")
        return f"ExpectedCost({', '.join(parts)})"


def expected_cost(
    transitions: Transitions | HasTransitions,
    goal: ArrayLike,
    give_up: float | None = None,
    labels: Labels | None = None,
    *,
    rtol: float = FINEST,
    check: bool = True,
) -> ExpectedCost:
    """Return the least expected cost of arriving, with a rigorous bracket, and the plan for it.

    Parameters
    ----------
    transitions : Transitions
        The process, or an object with a method ``transitions()`` that returns one. A replay buffer
        with
        stitched arcs is solved on observed arcs first: `Replay.expected_cost`.
    goal : int or array of int
        Where to arrive: one state, or any of several.
    give_up : float, optional
        Cost of stopping before the goal, allowed at every state without a label; 0 or more. A risk
        is then worth taking if it is cheap enough. By default stopping is not allowed, and a state
        from which no policy arrives with probability 1 has the value +inf.
    labels : Labels, optional
        Known costs-to-go of states other than the goal, from a critic for example. They are not
        changed. A walk that reaches a label counts as arrived.
    rtol : float
        Proved relative error at which to stop, at most 0.1. Errors are relative to the cost above
        the least that a walk can end with, 0 at a goal. The bracket is at most twice as wide, and
        two units in the last place for rounding. By default nothing but these two is left.
    check : bool
        Raise `NotConverged` if the bracket could not be verified. If False, the result is returned
        with bounds that still hold, and `status` says what was missed.

    Examples
    --------
    A door that leads to the goal in one of three cases, and else to a cellar without stairs. The
    stairs take 20 moves and never fail.

    >>> import wayfield as wf
    >>> door, stairs = 0, 1
    >>> moves = wf.Transitions(
    ...     state=[0, 0, 0], action=[door, door, stairs], next_state=[2, 1, 2],
    ...     count=[10, 20, 30], cost=[1, 1, 20])
    >>> sure = wf.expected_cost(moves, goal=2)
    >>> sure.values, sure.plan, sure.reach
    (array([20., inf,  0.]), array([ 1, -1, -1]), array([1., 0., 1.]))
    >>> risky = wf.expected_cost(moves, goal=2, give_up=25)
    >>> risky.values.round(2), risky.plan, risky.reach.round(2)
    (array([17.67, 25.  ,  0.  ]), array([ 0, -1, -1]), array([0.33, 0.  , 1.  ]))
    """
    if isinstance(transitions, HasExpectedCost):
        return transitions.expected_cost(goal, give_up, labels, rtol=rtol, check=check)
    moves = _transitions(transitions)
    n = moves.num_states
    several = np.atleast_1d(np.asarray(goal))
    if several.size == 0:
        raise InputError("goal must be at least one state, got none")
    index = as_vertices(several, "goal")
    refuse(index >= n, index, "goal", f"is not a state of {number_of(n, 'states')}")
    ends = frozen(np.unique(index))
    price = None if give_up is None else as_real(give_up, "give_up", 0.0, LARGEST)
    if labels is not None:
        if not isinstance(labels, Labels):
            raise InputError(f"labels must be wayfield.Labels, got {type(labels).__name__}")
        at = labels.vertices
        refuse(at >= n, at, "label vertices", f"is out of range for {number_of(n, 'states')}")
        clash = np.isin(at, ends) & (labels.values != 0.0)
        refuse(clash, at, "label vertices", "is a goal, whose cost is 0, with another value")
    rtol = as_real(rtol, "rtol", 0.0, 0.1)
    as_flag(check, "check")
    start = time.perf_counter()
    boundary = _boundary(moves, ends, labels, price)
    solved = least_cost(moves._process, boundary, rtol)
    return _packaged((moves, ends, labels, price), boundary, solved, start, check, None)


Question = tuple[Transitions, NDArray[np.int64], Labels | None, float | None]


def _packaged(
    question: Question,
    boundary: Boundary,
    solved: Solved,
    start: float,
    check: bool,
    plan: NDArray[np.int64] | None,
) -> ExpectedCost:
    """Turn a solution into a result, or raise `NotConverged`; a given plan stays as it is."""
    moves = question[0]
    sure = plan is None
    policy = solved.policy if plan is None else moves._choices(plan)
    found = replace(solved, policy=policy)
    cost = cost_bounds(solved, boundary, boundary.give_up if plan is None else np.inf)
    values, lower, upper = (frozen(np.ldexp(of, moves._cost_exponent)) for of in cost)
    reach, proved = arrival(moves._process, found, boundary.fixed, boundary.floor, sure=sure)
    status = solved.status
    if status.good and not proved:
        status = Status.UNVERIFIED
    actions = np.where(policy >= 0, moves.actions[policy], -1) if plan is None else plan
    stops = (policy < 0) & ~boundary.fixed & (boundary.give_up < np.inf)
    result = ExpectedCost(
        *question,
        values,
        lower,
        upper,
        reach=frozen(reach.values),
        reach_lower=frozen(reach.lower),
        reach_upper=frozen(reach.upper),
        plan=frozen(actions),
        gives_up=frozen(stops),
        status=status,
        iterations=solved.rounds,
        seconds=time.perf_counter() - start,
    )
    if check and not status.good:
        raise NotConverged(str(status), max(solved.below, solved.above), result.width)
    return result


def _boundary(
    moves: Transitions, goal: NDArray[np.int64], labels: Labels | None, give_up: float | None
) -> Boundary:
    fixed = np.zeros(moves.num_states, dtype=bool)
    values = np.zeros(moves.num_states)
    fixed[goal] = True
    if labels is not None:
        fixed[labels.vertices] = True
        values[labels.vertices] = np.ldexp(labels.values, -moves._cost_exponent)
    price = np.inf if give_up is None else float(np.ldexp(give_up, -moves._cost_exponent))
    return Boundary(fixed, values, price)


def _transitions(value: object) -> Transitions:
    if isinstance(value, Transitions):
        return value
    if isinstance(value, HasTransitions) and callable(value.transitions):
        return value.transitions()
    raise InputError(f"transitions must be wayfield.Transitions, got {type(value).__name__}")
