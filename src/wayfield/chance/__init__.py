"""Markov decision processes: expected cost and probability of arrival, bracketed."""

from .transitions import Transitions

__all__ = ["Transitions"]
