"""Bad input is named: the value, and its place."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan

import numpy as np
import pytest

import wayfield as wf

TWO = ([0, 1], [0, 0], [1, 0])
"""State, action and next state of two rows."""
ONE = ([0, 0], [0, 0], [0, 1])
"""The same for one choice with two outcomes."""


def moves() -> wf.Transitions:
    """States 0, 1, 2; from 1 and 2 a step towards 0, or away from it."""
    return wf.Transitions([1, 1, 2, 2], [0, 0, 0, 0], [0, 2, 1, 2])


def between(low: object, high: object) -> wf.Transitions:
    return wf.Transitions.from_intervals(*ONE, low, high)  # type: ignore[arg-type]


def cost(**call: object) -> wf.mdp.ExpectedCost:
    return wf.expected_cost(**({"transitions": moves(), "goal": 0} | call))  # type: ignore[arg-type]


def labelled(at: int) -> wf.mdp.ExpectedCost:
    return cost(labels=wf.Labels([at], [1.0]))


def planned(plan: list[float], **call: object) -> wf.mdp.ExpectedCost:
    one = wf.Transitions([0], [0], [1], [5])
    return cost(transitions=one.with_intervals() if call else one, goal=1, plan=plan, **call)


def stops() -> wf.mdp.ExpectedCost:
    """A walk 0, 1, 2; state 3 is labelled, and 4 has no action."""
    rows = wf.Transitions([0, 1], [4, 4], [1, 2], num_states=5)
    return wf.expected_cost(rows, 2, labels=wf.Labels([3], [1.0]))


T = wf.Transitions
ROWS: list[tuple[Callable[[], object], str]] = [
    # transitions
    (lambda: T(*TWO, [3, 0]), r"count\[1\] = 0.0 is not positive"),
    (lambda: T(*TWO, [-3, 1]), r"count\[0\] = -3.0 is not positive"),
    (lambda: T(*TWO, [3, nan]), r"count\[1\] = nan is not positive"),
    (lambda: T(*TWO, [3, inf]), r"count\[1\] = inf is not finite"),
    (lambda: T(*TWO, 1, [3, -1]), r"cost\[1\] = -1.0 is negative"),
    (lambda: T(*TWO, 1, [nan, 1]), r"cost\[0\] = nan is not positive"),
    (lambda: T(*TWO, 1, [1, 1, 1]), "cost has 3 entries, expected 2"),
    (lambda: T([0, 1], [0], [1, 0]), "action must have the length of state, 2, got 1"),
    (lambda: T([0], [0], [1, 0]), "next_state must have the length of state, 1, got 2"),
    (lambda: T([], [], []), "transitions must hold at least one"),
    (lambda: T([0], [0], [5], num_states=3), r"next_state\[0\] = 5 is out of range for 3 states"),
    (lambda: T([-1], [0], [0]), r"state\[0\] = -1 is negative"),
    (lambda: T([0], [0.5], [0]), r"action\[0\] = 0.5 is not a whole number"),
    (lambda: T([0], [-1], [0]), r"action\[0\] = -1 is negative"),
    (lambda: T([0], [0], [10**8]), "pass num_states"),
    # probabilities and intervals
    (
        lambda: T.from_probabilities(
            [0, 0, 3, 3], [0, 0, 2, 2], [0, 1, 0, 1], [0.5, 0.5, 0.5, 0.4]
        ),
        r"of action 2 at state 3 sum to 0\.9, not 1",
    ),
    (
        lambda: T.from_probabilities([0] * 3, [0] * 3, [0, 1, 2], np.full(3, 1 / 3, np.float32)),
        r"sum to 1\.00000003, not 1",
    ),
    (lambda: between([0.5, 0.6], 0.9), r"0 at state 0 cannot sum to 1: .* sum to 1.1 .* to 1.8"),
    (lambda: between(0.1, 0.3), r"cannot sum to 1: .* sum to 0.2 .* to 0.6"),
    (lambda: between([0.5, 0.4], [0.4, 0.9]), r"low\[0\] = 0.5 is larger than high"),
    (lambda: between([-0.1, 0.1], 0.9), r"low\[0\] = -0.1 is not between 0 and 1"),
    (lambda: between(0.1, [0.9, nan]), r"high\[1\] = nan is not between 0 and 1"),
    (lambda: between([0.1, 0.1, 0.1], 0.9), "low has 3 entries, expected 2"),
    (
        lambda: T.from_intervals([0, 0], [0, 0], [1, 1], 0.2, 0.9),
        "given once, got 1 repeated row",
    ),
    (lambda: cost(transitions=between(0.1, 0.9)), "these odds are intervals: pass odds="),
    (lambda: cost(odds="worst"), "odds= needs intervals"),
    (lambda: cost(odds=3), 'odds must be "worst", "best" or None, got 3'),
    (lambda: moves().with_intervals(0.0), "level must be between 0 and 1, got 0.0"),
    (
        lambda: cost(transitions=between(0.1, 0.9), goal=1, odds="worst").doubt(),
        "doubt needs counts",
    ),
    (lambda: T.from_probabilities([0], [0], [1], [1.0]).shrunk(), "shrunk needs counts; probab"),
    *[(lambda x=x: moves().shrunk(x), "strength must be a finite number") for x in (-1, nan, inf)],
    # questions
    (lambda: cost(goal=3), r"goal\[0\] = 3 is not a state of 3 states"),
    (lambda: cost(goal=[0, -1]), r"goal\[1\] = -1 is negative"),
    (lambda: cost(goal=[]), "goal must be at least one state"),
    *[
        (lambda x=x: cost(give_up=x), "give_up must be a finite number of at least 0")
        for x in (-1.0, nan, inf, "much")
    ],
    *[
        (lambda x=x: cost(rtol=x), "rtol must be a finite number")
        for x in (-1e-9, 0.2, nan, "fine")
    ],
    (lambda: labelled(9), r"label vertices\[0\] = 9 is out of range"),
    (lambda: labelled(0), r"label vertices\[0\] = 0 is a goal"),
    (lambda: cost(labels={1: 2.0}), r"labels must be wayfield\.Labels, got dict"),
    (lambda: cost(transitions=[1, 2]), r"must be wayfield\.Transitions, got list"),
    (lambda: planned([0]), "plan must be 2 whole numbers, one per state, got an array of int64"),
    (lambda: planned([0.0, 1.0]), "plan must be 2 whole numbers, one per state, got .* of float64"),
    (lambda: planned([0, -2]), r"plan\[1\] = -2 is no action"),
    (lambda: planned([3, -1]), "action 3 was never taken at state 0"),
    (lambda: planned([-1, 0], odds="worst"), "plan must take an action at one state at least"),
    # answers
    (lambda: stops().action([0, 2]), r"states\[1\] = 2 has no action: .*a goal"),
    (lambda: stops().action([0, 3]), r"states\[1\] = 3 has no action: .*labelled"),
    (lambda: stops().action([0, 4]), r"states\[1\] = 4 has no action: .*no policy surely arrives"),
    (lambda: cost(give_up=0.5).action([1]), "the plan gives up there"),
    (lambda: stops().action([5]), "is out of range for 5 states"),
    (lambda: cost().under(T([1, 2], [1, 0], [0, 0])), "action 0 was never taken at state 1"),
    (lambda: cost().under(T([1], [0], [0])), "plan has 3 states, the transitions have 2"),
    (lambda: cost().doubt(level=1.0), "level must be between 0 and 1, got"),
    (lambda: cost().doubt(level=1e-300), "level must be at least 0.5, got 1e-300"),
    (lambda: cost().doubt(support=3), r"support must be wayfield\.Transitions, got int"),
    (lambda: cost().doubt(support=T([1], [0], [0])), "must have 3 states, as the counts do, got 2"),
    (
        lambda: cost().doubt(support=T([1], [0], [0], num_states=3)),
        "action 0 was never taken at state 2",
    ),
    (
        lambda: wf.expected_cost(T([0], [0], [1], cost=0.0), 1).doubt(guarantee=True),
        r"cost\[0\] = 0.0 must be positive",
    ),
    (lambda: cost().doubt(guarantee=2), "guarantee must be True or False"),
]


@pytest.mark.parametrize(("call", "message"), ROWS, ids=[message for _, message in ROWS])
def test_bad_input_is_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        call()


def test_what_is_almost_right_is_taken() -> None:
    assert not T.from_probabilities([0] * 10, [0] * 10, np.arange(10), [0.1] * 10).counted
    assert stops().action([0, 1]).tolist() == [4, 4]
    assert moves().shrunk(0.0).counts.tolist() == [1.0] * 4
