"""Markov decision processes: expected cost and probability of arrival, bracketed."""

from .expected import Doubt, ExpectedCost, HasTransitions, expected_cost
from .transitions import Transitions

__all__ = ["Doubt", "ExpectedCost", "HasTransitions", "Transitions", "expected_cost"]
