"""Transitions as the kernels take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..kernels.chance import Process, choice_figures, reversed_outcomes

if TYPE_CHECKING:
    from .transitions import Transitions


def prepare(moves: Transitions) -> tuple[Process, int]:
    """Return the process, and the power of two by which its costs were divided.

    Counts are scaled to a total near 1 for every choice and costs to at most 1, both exactly.
    """
    exponent = int(np.frexp(moves.costs.max())[1])
    scale = np.repeat(np.frexp(moves.totals)[1], np.diff(moves.outcome_indptr))
    counts = np.ldexp(moves.counts, -scale)
    costs = np.ldexp(moves.costs, -exponent)
    outcomes = (moves.outcome_indptr, moves.next_states, counts, costs)
    owner = moves.states.astype(np.int32)
    fee, odds = choice_figures(*outcomes, owner)
    into = reversed_outcomes(moves.num_states, *outcomes[:2], odds)
    return Process(moves.indptr, *outcomes, owner, fee, odds, *into), exponent
