"""Markov decision processes: expected cost and probability of arrival, bracketed."""

from .doubting import Doubt
from .expected import ExpectedCost, HasTransitions, expected_cost
from .transitions import Transitions

__all__ = ["Doubt", "ExpectedCost", "HasTransitions", "Transitions", "expected_cost"]
