"""The linear equation: its residuals, with a proof of their size.

`balance` evaluates B_x(v) = Σ_y (v_y − v_x) / ℓ_xy of a field v = high + low held as an unevaluated
sum of two doubles, and bounds its own rounding error. Differences of the high parts are exact
(Knuth's two-sum), quotients carry their remainder (Dekker's product), and the quotients are summed
with the error of every addition kept; what is left is small, is added in plain doubles, and is
off by at most

    (deg + 8) · 2u · Σ |small parts|  +  2u · |B_x|  +  underflow,      u = 2⁻⁵³,

which holds a priori (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput.
26(6), 2005). An overflow anywhere ends in a NaN, which no sign test passes.
"""

from __future__ import annotations

import numpy as np

from ...numerics.csr import Arcs
from ...numerics.doubledouble import two_product, two_sum
from ...numerics.jit import njit
from ...typing import FloatArray, IntArray

UNIT_ROUNDOFF = 2.0**-53
TINY = 2.0**-1060
"""More than underflow can lose in one quotient and its remainder, per unit of 1 + 1/ℓ."""


@njit(cache=True, nogil=True)
def balance(
    arcs: Arcs, vertices: IntArray, high: FloatArray, low: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return Σ_y (v_y − v_x) / ℓ at each of `vertices`, and a bound on its error."""
    value = np.empty(vertices.size)
    bound = np.empty(vertices.size)
    for i in range(vertices.size):
        x = vertices[i]
        total = 0.0
        small = 0.0
        size = 0.0
        lost = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            # high parts exactly; low parts are smaller by 2⁵³ and may be rounded
            quotient, rest = two_sum(high[y], -high[x])
            difference = low[y] - low[x]
            part = abs(rest) + abs(difference)
            rest += difference
            if arcs.lengths[e] != 1.0:
                length = arcs.lengths[e]
                # the quotient's remainder, divided in turn, is the rest of its digits
                numerator = quotient
                quotient = numerator / length
                product, error = two_product(quotient, length)
                remainder = (numerator - product) - error
                part = (part + abs(remainder)) / length
                rest = (rest + remainder) / length
                # an a-priori bound on underflow, whether there was any or not
                lost += TINY + TINY / length
            total, error = two_sum(total, quotient)
            small += rest + error
            size += part + abs(error)
        degree = arcs.indptr[x + 1] - arcs.indptr[x]
        value[i] = total + small
        # `size` adds up magnitudes, so cancellation in `small` does not hide its rounding
        slack = (degree + 8) * size + abs(value[i])
        bound[i] = 2.0 * UNIT_ROUNDOFF * slack + 2.0 * lost
    return value, bound
