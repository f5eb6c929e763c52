"""Prior fields: extend what the labels say beyond a field one already has.

Equation. With P the prior, Y the labels and E the method, u = P + E(Y − P). The usual prior is the
cost-to-go on the graph one has; the labels correct it. At a label u = Y, and where the labels agree
with the prior everywhere u = P, exactly.

**A correction is not a cost**, so it has no slope of its own: the AMLE continues it flat beyond the
last label, and the Lipschitz envelopes take the constant of the corrections (`Corrects`).

**Guarantee.** Y − P is rounded, by at most δ (known exactly: Knuth's two-sum). The extensions that
have a bracket are monotone in the labels and keep constants (``docs/directed.md`` for the AMLE), so
that E moves by at most δ. The bracket is widened by δ, P is added, and every sum is rounded
outward. δ is 0 where a label is within a factor of two of the prior (Sterbenz).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import LARGEST, as_floats, owned, refuse
from ..errors import InputError
from ..kernels._types import FloatArray
from ..labels import Labels


def check_prior(prior: ArrayLike, num_vertices: int) -> FloatArray:
    """Return `prior` as a frozen field: one number, or +inf, for every vertex."""
    field = as_floats(prior, "prior", num_vertices)
    refuse(~(field > -np.inf), field, "prior", "is neither a number nor +inf")
    beyond = np.isfinite(field) & (np.abs(field) > LARGEST)
    refuse(beyond, field, "prior", f"is beyond {LARGEST:g}")
    return owned(field)


def less_prior(labels: Labels, prior: FloatArray) -> Labels:
    """Labels less the prior, rounded."""
    at = prior[labels.vertices]
    if np.isinf(at).any():
        x = int(labels.vertices[np.argmax(np.isinf(at))])
        raise InputError(f"prior[{x}] = inf, but vertex {x} is labelled")
    difference, _ = _two_sum(labels.values, -at)
    beyond = np.abs(difference) > LARGEST
    refuse(beyond, difference, "label values less the prior", f"is beyond {LARGEST:g}")
    return Labels(labels.vertices, difference, labels.error)


def plus_prior(labels: Labels, prior: FloatArray, correction: FloatArray) -> FloatArray:
    """Prior plus correction, the labels exactly as given; inf where the prior is."""
    return _restored(labels, prior, prior + correction)


def bound_plus_prior(labels: Labels, prior: FloatArray, bound: FloatArray, sign: int) -> FloatArray:
    """Bound on the exact sum, given one on the extension of the rounded corrections.

    `sign` is -1 for a lower bound and +1 for an upper one.
    """
    _, error = _two_sum(labels.values, -prior[labels.vertices])
    widened = _outward(bound, sign * np.abs(error).max(), sign)
    return _restored(labels, prior, _outward(prior, widened, sign))


def _restored(labels: Labels, prior: FloatArray, field: FloatArray) -> FloatArray:
    field[labels.vertices] = labels.values
    field[np.isinf(prior)] = np.inf
    return field


def _outward(a: FloatArray, b: FloatArray | float, sign: int) -> FloatArray:
    """Sum rounded down (`sign` -1) or up (+1); as it is where that is exact or not finite."""
    with np.errstate(invalid="ignore"):  # inf and NaN have no remainder
        total, error = _two_sum(a, b)
    return np.where(error * sign > 0.0, np.nextafter(total, sign * np.inf), total)


def _two_sum(a: FloatArray, b: FloatArray | float) -> tuple[FloatArray, FloatArray]:
    """Return a + b rounded, and exactly what rounding took off (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)
