"""Expected cost of arriving where moves may fail, and the probability of arrival.

Equation
    V(s) = min( g, min_a c(s, a) + Σ_y P(y | s, a) V(y) ) at every free state s: the least mean cost
    of a walk that ends at a goal, at a label, or by giving up, which costs g (`give_up`).
Boundary condition
    V = 0 at goals; V equals the label at labelled states, which end the walk as goals do. A free
    state without any action has V = g.
Without giving up
    g = +inf. V(s) is finite exactly where some policy arrives with probability 1. This depends only
    on the graph of moves. V = +inf elsewhere. On the other states it is a stochastic shortest path
    problem with a proper policy, and improper ones cost infinitely much (every end component costs
    at least its least cost per move). So the equation has one solution, and value iteration
    converges to it from any start [1]_.
Free moves
    Where costs may be 0, V is the least mean cost of the policies that end with probability 1: a
    walk that goes round for ever at no cost is not one of them (`solver`).
Method
    Policy iteration, by sweeps in place and by linear systems, on the change that the values still
    need; refined in double-doubles.
Guarantee
    A sub- and a supersolution around the result are verified for the returned numbers, by the
    scaling argument of optimistic value iteration [3]_ (`solver`), with all rounding
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

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import (
    LARGEST,
    KeepsReadOnly,
    as_flag,
    as_real,
    as_share,
    as_vertices,
    frozen,
    refuse,
)
from ..errors import InputError, NotConverged
from ..fields import Status
from ..graphs.labels import Labels
from ..numerics import proof_file
from ..typing import BoolArray, FloatArray
from ..words import number_of
from .doubt import confidence_bounds, moments, posterior, tilted
from .intervals import confident, solve
from .proofs import cost_sections
from .solver import FINEST, Boundary, PolicyBounds, least_cost, policy_bounds, value_of
from .transitions import Transitions

LEAST_LEVEL = 0.5
"""Bounds that are wrong more often than right say nothing."""


@dataclass(frozen=True, eq=False, repr=False)
class Doubt(KeepsReadOnly):
    """Bounds on a plan's true cost and reach, given that its odds are estimated from counts.

    They allow for few samples, for outcomes not yet seen, and for the choice of the plan on the
    same counts (`doubt`). The how-to "How sure is my agent?" shows how often they hold, and what a
    guarantee costs.

    Attributes
    ----------
    cost_low, cost_high, reach_low, reach_high : (n,) float arrays
        Bounds on the expected cost and on the probability of arrival.
    level : float
        Nominal coverage at a single state; with a guarantee, at all states at once.

    Examples
    --------
    >>> import wayfield as wf
    >>> moves = wf.Transitions([0, 0], [0, 0], [1, 2], count=[9, 1])
    >>> doubt = wf.expected_cost(moves, goal=1, give_up=100).doubt()
    >>> doubt.reach_low.round(3), doubt.reach_high.round(3)
    (array([0.616, 1.   , 0.   ]), array([0.997, 1.   , 0.   ]))
    """

    cost_low: FloatArray
    cost_high: FloatArray
    reach_low: FloatArray
    reach_high: FloatArray
    level: float

    def __repr__(self) -> str:
        spread = float((self.reach_high - self.reach_low).max(initial=0.0))
        return f"Doubt(level {self.level:g}, reach within {spread:.2g})"


@runtime_checkable
class HasTransitions(Protocol):
    """Anything with counted transitions, such as a replay buffer."""

    def transitions(self) -> Transitions:
        """Return the counted transitions."""
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
    transitions, goal, labels, give_up, odds
        Inputs of the solve; `goal` as an array of states. With `odds`, all figures are those of the
        worst or the best case: `reach` is the least, or the largest, of the plan.
    optimal : bool
        Whether the bracket is around the least expected cost. If not, the plan was given (`under`),
        and the bracket is around its own cost.

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
    optimal: bool = True
    odds: str | None = None

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
        question = (moves, self.goal, self.labels, self.give_up)
        return _evaluated(question, self.plan, self.values, as_flag(check, "check"))

    def doubt(
        self, level: float = 0.95, support: Transitions | None = None, *, guarantee: bool = False
    ) -> Doubt:
        """Return where the plan's true cost and reach may lie, given how few the counts are.

        The truth is the plan's cost and probability of arrival under the odds from which the counts
        were drawn. The bounds are for one state at a time. Beyond 1,000 states, standard deviations
        are estimated to 7 % from random signs, with a fixed seed.

        Parameters
        ----------
        level : float
            How often the bounds should contain the truth; at least half of the time.
        support : Transitions, optional
            The possible outcomes of every action, if they are known. It must have all choices of
            the counts; its odds are not used. By default an action may have any outcome that some
            action had at the state, and with small odds one never seen there.
        guarantee : bool
            Return bounds that hold with probability `level` whatever the process, at all states at
            once, if the samples of each choice are independent and their number was fixed in
            advance; `support` must then hold all possible outcomes. They are several times as wide.
            The plan may have been made from these counts; if it was given (`plan`, `under`), they
            are narrower. An outcome never seen may lead anywhere; it is taken to cost no more than
            the costliest move that was seen, and no less than the cheapest. Nothing is known of
            states where nobody took an action: the plan makes no move there. A walk that may end up
            in one gives up; where that is not allowed, the upper bound on its cost is infinite.
            Where costs differ within an outcome, only the bounds on reach are of use. All costs
            must be positive.

        Examples
        --------
        >>> import wayfield as wf
        >>> moves = wf.Transitions([0, 0], [0, 0], [1, 2], count=[9, 1])
        >>> field = wf.expected_cost(moves, goal=1, give_up=100)
        >>> doubt = field.doubt()
        >>> doubt.reach_low[0] < field.reach[0] < doubt.reach_high[0]
        np.True_

        A move that never failed in ten trials may fail:

        >>> can_fail = wf.Transitions([0, 0], [0, 0], [1, 2])
        >>> sure = wf.expected_cost(wf.Transitions([0], [0], [1], [10], num_states=3), 1, 100)
        >>> sure.doubt(support=can_fail).reach_low.round(2)
        array([0.77, 1.  , 0.  ])
        """
        level = as_share(level, "level")
        if level < LEAST_LEVEL:
            raise InputError(f"level must be at least {LEAST_LEVEL:g}, got {level:g}")
        if support is not None and not isinstance(support, Transitions):
            raise InputError(f"support must be wayfield.Transitions, got {type(support).__name__}")
        moves = self.transitions
        moves._check_counted("doubt")
        if as_flag(guarantee, "guarantee"):
            return self._guaranteed(level, support)

        # the plan on all possible outcomes, and where these are worse by its luck
        rest, begin = (self.goal, self.labels, self.give_up), self.values
        squares = np.add.reduceat(moves.counts * moves.cost_spread**2, moves.outcome_indptr[:-1])
        within = np.asarray(squares / moves.totals)
        seen = _evaluated((posterior(moves, support), *rest), self.plan, begin, False)
        of = moments(seen.transitions, seen.values, seen.reach, within)
        odds = tilted(seen.transitions, moves._choices(self.plan), seen.values, of)
        worse = _evaluated((odds, *rest), self.plan, begin, False)
        unseen = None if support is not None else np.inf if self.give_up is None else self.give_up
        ends = confidence_bounds(self, seen, worse, within, unseen, (1.0 - level) / 2)
        return Doubt(
            frozen(np.fmin(ends[0], self.lower)),
            frozen(np.fmax(ends[1], self.upper)),
            frozen(np.fmin(ends[2], self.reach_lower)),
            frozen(np.fmax(ends[3], self.reach_upper)),
            level=level,
        )

    def _guaranteed(self, level: float, support: Transitions | None) -> Doubt:
        """Return bounds from intervals for all odds; the plan against nature, and with it."""
        moves, n = self.transitions, self.values.size
        refuse(moves.costs == 0.0, moves.costs, "cost", "must be positive for a guarantee")
        policy = moves._choices(self.plan)
        if not (policy >= 0).any():
            return Doubt(self.lower, self.upper, self.reach_lower, self.reach_upper, level)
        choices = np.arange(moves.num_choices) if self.optimal else policy[policy >= 0]
        plan = np.append(self.plan, 0) if support is None else self.plan
        question = (self.goal, self.give_up, self.labels)
        worst, best = (
            expected_cost(
                confident(moves, choices, support, level, policy, worst=odds == "worst"),
                *question,
                odds=odds,
                plan=plan,
                check=False,
            )
            for odds in ("worst", "best")
        )
        low, high = best.lower[:n].copy(), worst.upper[:n].copy()
        if moves.cost_spread.any():
            floor = 0.0 if self.labels is None else min(0.0, float(self.labels.values.min()))
            low[policy >= 0] = floor if self.give_up is None else min(floor, self.give_up)
            high[policy >= 0] = np.inf
        ends = low, high, worst.reach_lower[:n].copy(), best.reach_upper[:n].copy()
        return Doubt(frozen(ends[0]), frozen(ends[1]), frozen(ends[2]), frozen(ends[3]), level)

    def write_proof(self, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> Path:
        """Write values, plan, arrival and their proof into one file, and return its path.

        ``python -m wayfield_verify FILE`` proves them again, in exact arithmetic and using nothing
        but the file. The file claims the least expected cost, or this plan's if the plan was given
        (`under`). With `odds`, it holds their intervals, and its claim is about the worst or the
        best of them. Where the barriers of the file prove a little less than the bracket, the
        file's bounds are wider. Format and proofs: the page "Proofs of expected cost".

        Parameters
        ----------
        path : path
            The file; an older one is replaced.
        names : sequence of str, optional
            A name for each state; the checker names states by them where a proof fails.

        Raises
        ------
        InputError
            If there is no proof: the bracket could not be verified, or is not that of the plan, or
            the plan was given, with `odds` and `give_up`.

        Examples
        --------
        >>> import tempfile
        >>> import wayfield as wf
        >>> field = wf.expected_cost(wf.Transitions([0, 0], [0, 0], [0, 1], count=[1, 3]), goal=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     field.write_proof(f"{folder}/cost.proof", names=["street", "home"]).name
        'cost.proof'
        """
        if self.odds is not None and not self.optimal and self.give_up is not None:
            raise InputError(
                "a given plan has no proof if odds are in intervals and it may give up"
            )
        boundary = _boundary(self.transitions, self.goal, self.labels, self.give_up)
        return proof_file.write(path, cost_sections(self, boundary, names))

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
    odds: str | None = None,
    plan: ArrayLike | None = None,
    rtol: float = FINEST,
    check: bool = True,
) -> ExpectedCost:
    """Return the least expected cost of arriving, with a rigorous bracket, and the plan for it.

    Parameters
    ----------
    transitions : Transitions
        The process, or an object with a method ``transitions()`` that returns one, such as a
        `Replay`.
    goal : int or array of int
        Where to arrive: one state, or any of several.
    give_up : float, optional
        Cost of stopping before the goal, allowed at every state without a label; 0 or more. A risk
        is then worth taking if it is cheap enough. By default stopping is not allowed, and a state
        from which no policy arrives with probability 1 has the value +inf.
    labels : Labels, optional
        Known costs-to-go of states other than the goal, from a critic for example. They are not
        changed. A walk that reaches a label counts as arrived.
    odds : {"worst", "best"}, optional
        For odds that are known only to lie in intervals (`Transitions.from_intervals`): the plan
        that is best against the worst odds, or with the best ones.
    plan : (n,) int array, optional
        Evaluate this plan instead of finding the best: the action to take at every state, and -1
        where the plan stops. There it gives up, if that is allowed; if not, its cost is infinite.
        Entries at goals and labels count for nothing. Bracket and proof are as for the least cost,
        with one exception: with `odds` and `give_up` there is a bracket, but no proof to write.
    rtol : float
        Proved relative error at which to stop, at most 0.1. Errors are relative to the cost above
        the least that a walk can end with, 0 at a goal. The bracket is at most twice as wide, plus
        two units in the last place for rounding. By default only these two units are left. With
        `odds`, the default bracket is some 1e-14 times the longest walk.
    check : bool
        Raise `NotConverged` if the bracket could not be verified. If False, the result is returned
        with bounds that still hold, and `status` says what was missed.

    Examples
    --------
    A door leads to the goal in one case out of three, and otherwise to a cellar without stairs. The
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
    if odds not in (None, "worst", "best"):
        raise InputError(f'odds must be "worst", "best" or None, got {odds!r}')
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
        refuse(clash, at, "label vertices", "is a goal, so its value must be 0")
    rtol = as_real(rtol, "rtol", 0.0, 0.1)
    as_flag(check, "check")
    if odds is not None:
        moves._bounds  # noqa: B018  raises without intervals
        refuse(moves.costs == 0.0, moves.costs, "cost", "must be positive for odds in intervals")
    elif moves.low is not None:
        raise InputError('these odds are intervals: pass odds="worst" or odds="best"')
    start = time.perf_counter()
    boundary = _boundary(moves, ends, labels, price)
    if plan is not None:
        taken = _as_plan(plan, boundary)
        if odds is None:
            return _evaluated((moves, ends, labels, price), taken, np.zeros(n), check)
        # one choice at each state; where the plan gives up, nothing else can happen
        own = moves._outcome_choices
        chosen = moves._choices(taken)[moves.states[own]] == own
        if not chosen.any():
            raise InputError("plan must take an action at one state at least, got none")
        moves = moves._narrowed(chosen, *(bound[chosen] for bound in moves._bounds))
        boundary = there = _boundary(moves, ends, labels, price)
        if price is not None:
            stops = (taken < 0) & ~boundary.fixed
            values = np.where(stops, boundary.give_up, boundary.values)
            there = Boundary(boundary.fixed | stops, values, np.inf, stops)
        found = solve(moves, there, rtol, worst=odds == "worst")
    elif odds is None:
        solved = least_cost(moves._process, boundary, rtol)
        found = policy_bounds(moves._process, solved, boundary, optimal=True)
    else:
        found = solve(moves, boundary, rtol, worst=odds == "worst")
    question = (moves, ends, labels, price)
    return _packaged(question, boundary, found, start, check, plan is None, odds)


Question = tuple[Transitions, NDArray[np.int64], Labels | None, float | None]


def _evaluated(
    question: Question, plan: NDArray[np.int64], values: FloatArray, check: bool
) -> ExpectedCost:
    """Return the cost of a plan; `values` are a first estimate."""
    start, (moves, *_) = time.perf_counter(), question
    boundary = _boundary(*question)
    begin = np.ldexp(values, -moves._cost_exponent)
    solved = value_of(moves._process, moves._choices(plan), boundary, begin)
    found = policy_bounds(moves._process, solved, boundary, optimal=False)
    return _packaged(question, boundary, found, start, check, optimal=False)


def _packaged(
    question: Question,
    boundary: Boundary,
    found: PolicyBounds,
    start: float,
    check: bool,
    optimal: bool = True,
    odds: str | None = None,
) -> ExpectedCost:
    """Return an answer as a result, or raise `NotConverged`."""
    moves, policy = question[0], found.policy
    values, lower, upper = (frozen(np.ldexp(of, moves._cost_exponent)) for of in found.cost)
    result = ExpectedCost(
        *question,
        values,
        lower,
        upper,
        frozen(found.reach.values),
        frozen(found.reach.lower),
        frozen(found.reach.upper),
        plan=frozen(np.where(policy >= 0, moves.actions[policy], -1)),
        gives_up=frozen((policy < 0) & ~boundary.fixed & (boundary.give_up < np.inf)),
        status=found.status,
        iterations=found.rounds,
        seconds=time.perf_counter() - start,
        optimal=optimal,
        odds=odds,
    )
    if check and not found.status.good:
        raise NotConverged(str(found.status), found.error, result.width)
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


def _as_plan(plan: ArrayLike, boundary: Boundary) -> NDArray[np.int64]:
    """Return one action per state, or -1; raise `InputError` for anything else."""
    n = boundary.fixed.size
    array = np.asarray(plan)
    if array.shape != (n,) or array.dtype.kind not in "iu":
        raise InputError(
            f"plan must be {number_of(n, 'whole numbers')}, one per state, "
            f"got an array of {array.dtype} with the shape {array.shape}"
        )
    refuse(array < -1, array, "plan", "is no action; -1 stands for none")
    return np.where(boundary.fixed, -1, array).astype(np.int64)


def _transitions(value: object) -> Transitions:
    if isinstance(value, Transitions):
        return value
    if isinstance(value, HasTransitions) and callable(value.transitions):
        return value.transitions()
    raise InputError(f"transitions must be wayfield.Transitions, got {type(value).__name__}")
