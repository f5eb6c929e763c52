"""The bad-tail bound: how much of a decision distribution can be ranked badly.

**Corollary (bad-tail mass under local-gap regularity; cor:3.6.X.4).** Let μ be a distribution of
decisions with two neighbours or more, G_s(η) = M_s(η) / (d choose 2) the share of pairs of
neighbours whose true Q-values differ by at most η. If G_s(η) ≤ C₀ η^α, then for every θ < 1

    μ{τ_nbr ≤ θ} ≤ 2^(α+1) C₀ / (1 - θ) · E[ε_s^α].

For 1 - τ_nbr ≤ 2 G_s(2 ε_s) ≤ 2 C₀ (2 ε_s)^α by the lemma of `ordering`; then Markov.

The premise is a hypothesis about the graph. The proof uses it at η = 2 ε_s alone, and that is what
is verified here, at every decision. It still fails for every C₀ where a decision has tied
neighbours and no error, G_s(0) > 0, as every maze has: the bound is then infinite.

The bound is computed as 2 / (1 - θ) · E[C₀ (2 ε_s)^α], each term at least G_s as the premise says,
so that powers beyond the range of doubles leave it a bound.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from math import inf, isinf

import numpy as np
from numpy.typing import NDArray

from wayfield._arrays import as_choice, as_real
from wayfield.errors import InputError
from wayfield.kernels._types import FloatArray

from ._inputs import EPS
from ._tally import share
from .ordering import Ordering

SCOPES = ("eval_rollouts", "all")


@dataclass(frozen=True)
class BadTail:
    """The bad-tail bound, beside the mass it bounds.

    Attributes
    ----------
    bound : float
        2^(α+1) C₀ / (1 - θ) · E[ε^α], rounded up; from 1 on it says nothing.
    mass : float
        Share of the decisions with τ_nbr ≤ θ.
    c0, alpha, theta : float
        The constants.
    decisions : int
        Decisions with two neighbours or more.
    """

    bound: float
    mass: float
    c0: float
    alpha: float
    theta: float
    decisions: int


def smallest_c0(audit: Ordering, alpha: float = 1.0, scope: str = "eval_rollouts") -> float:
    """Return the least C₀ with G_s(2 ε_s) ≤ C₀ (2 ε_s)^α at every decision; inf if there is none.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study import audit
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> rough = audit.ordering(path, [0.0, 2.0, 2.0, 1.0], wf.cost_to_go(path, 0), goal=0)
    >>> smallest_c0(rough, alpha=1.0)
    0.25
    """
    states, _ = _decisions(audit, scope)
    needed = _needed_c0(audit, states, _exponent(alpha))
    return float(needed.max(initial=0.0))


def bad_tail_bound(
    audit: Ordering,
    theta: float = 0.5,
    alpha: float = 1.0,
    c0: float | None = None,
    scope: str = "eval_rollouts",
) -> BadTail:
    """Bound the share of decisions with τ_nbr ≤ θ by the moment E[ε^α] of the local errors.

    Corollary (bad-tail mass under local-gap regularity).

    Parameters
    ----------
    audit : Ordering
        Of the field in question.
    theta : float
        Threshold, below 1.
    alpha : float
        Exponent of the premise, positive.
    c0 : float, optional
        Its constant, verified at every decision; the smallest that will do if not given.
    scope : {"eval_rollouts", "all"}
        The distribution of decisions: by visits of the walks, or every state once.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study import audit
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> rough = audit.ordering(path, [0.0, 2.0, 2.0, 1.0], wf.cost_to_go(path, 0), goal=0)
    >>> tail = bad_tail_bound(rough, theta=0.0)
    >>> tail.mass <= tail.bound
    True
    """
    theta, alpha = as_real(theta, "theta"), _exponent(alpha)
    if theta >= 1.0:
        raise InputError(f"theta must be below 1, not {theta}")
    states, weight = _decisions(audit, scope)
    needed = _needed_c0(audit, states, alpha)
    least = float(needed.max(initial=0.0))
    constant = least if c0 is None else as_real(c0, "c0", 0.0)
    if constant < least:
        worst = int(states[np.argmax(needed)])
        raise InputError(f"c0 = {constant:g} is too small: state {worst} needs {least:g}")
    total = int(weight.sum())
    small, scale = _pairs_and_scale(audit, states, alpha)
    bound = inf
    if not isinf(constant) and not np.isinf(scale).any():
        room = 1.0 + (states.size + 8) * EPS
        with np.errstate(over="ignore"):
            expected = share(float(weight @ np.maximum(constant * scale, small)), total)
        bound = 2.0 / (1.0 - theta) * expected * room
    mass = share(int(weight[audit.tau_nbr[states] <= theta].sum()), total)
    return BadTail(bound, mass, constant, alpha, theta, total)


def _exponent(alpha: float) -> float:
    alpha = as_real(alpha, "alpha")
    if alpha <= 0.0:
        raise InputError(f"alpha must be positive, not {alpha:g}")
    return alpha


def _decisions(audit: Ordering, scope: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """States with two neighbours or more that the scope meets, and how often it does."""
    if not isinstance(audit, Ordering):
        raise InputError(
            f"audit must be a wayfield_study.audit.Ordering, not {type(audit).__name__}"
        )
    once = as_choice(scope, "scope", SCOPES) == "all"
    met = ~np.isnan(audit.tau_nbr) & (once | (audit.visits > 0))
    states = np.flatnonzero(met)
    return states, np.ones_like(states) if once else audit.visits[states]


def _needed_c0(audit: Ordering, states: NDArray[np.int64], alpha: float) -> FloatArray:
    """G_s(2 ε_s) / (2 ε_s)^α at the states; inf where ε_s = 0 and some neighbours tie."""
    small, scale = _pairs_and_scale(audit, states, alpha)
    needed = np.zeros(states.size)
    with np.errstate(over="ignore"):
        np.divide(small, scale, out=needed, where=scale > 0.0)
    needed[(scale == 0.0) & (small > 0.0)] = inf
    return needed


def _pairs_and_scale(
    audit: Ordering, states: NDArray[np.int64], alpha: float
) -> tuple[FloatArray, FloatArray]:
    """G_s(2 ε_s) and (2 ε_s)^α at the states; a power too large for a double is the largest."""
    small = 0.5 * (1.0 - audit.bound[states])
    with np.errstate(over="ignore"):
        width = 2.0 * audit.half_gap.error[states]
        power = width**alpha
    return small, np.where(np.isinf(width), inf, np.minimum(power, sys.float_info.max))
