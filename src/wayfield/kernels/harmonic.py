"""Kernels of the linear equation: the interior pattern, and residuals with a proof of their size.

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

from ._jit import njit
from ._types import FloatArray, IntArray
from .csr import Arcs
from .doubledouble import two_product, two_sum

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


@njit(cache=True, nogil=True)
def encloses(
    arcs: Arcs, vertices: IntArray, high: FloatArray, low: FloatArray, shift: FloatArray
) -> bool:
    """Whether at all `vertices` high + (low + shift) is a supersolution, and with − a subsolution.

    The sign of `balance` for both fields in one pass: ≤ 0 above and ≥ 0 below, error included.
    """
    for i in range(vertices.size):
        x = vertices[i]
        total = 0.0
        above = 0.0
        below = 0.0
        size = 0.0
        lost = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            quotient, rest = two_sum(high[y], -high[x])
            # the shift joins the low part: it is far below the high one
            up = (low[y] + shift[y]) - (low[x] + shift[x])
            down = (low[y] - shift[y]) - (low[x] - shift[x])
            part = abs(rest) + (abs(up) + abs(down))
            up += rest
            down += rest
            if arcs.lengths[e] != 1.0:
                length = arcs.lengths[e]
                numerator = quotient
                quotient = numerator / length
                product, error = two_product(quotient, length)
                remainder = (numerator - product) - error
                part = (part + abs(remainder)) / length
                up = (up + remainder) / length
                down = (down + remainder) / length
                lost += TINY + TINY / length
            total, error = two_sum(total, quotient)
            above += up + error
            below += down + error
            size += part + abs(error)
        above += total
        below += total
        degree = arcs.indptr[x + 1] - arcs.indptr[x]
        # one bound for both fields: their common part is the larger
        slack = (degree + 8) * size + max(abs(above), abs(below))
        bound = 2.0 * UNIT_ROUNDOFF * slack + 2.0 * lost
        # `not`: a NaN from an overflow proves nothing
        if not (above <= -bound and below >= bound):
            return False
    return True


@njit(cache=True, nogil=True)
def plain_balance(arcs: Arcs, vertices: IntArray, values: FloatArray) -> FloatArray:
    """Return Σ_y (v_y − v_x) / ℓ at each of `vertices`, in plain doubles."""
    result = np.empty(vertices.size)
    for i in range(vertices.size):
        x = vertices[i]
        total = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            difference = values[arcs.indices[e]] - values[x]
            total += difference if arcs.lengths[e] == 1.0 else difference / arcs.lengths[e]
        result[i] = total
    return result


@njit(cache=True, nogil=True)
def interior_pattern(
    arcs: Arcs, vertices: IntArray, row: IntArray, indptr: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the column indices of the interior matrix, and the slot of each interior arc.

    Row i belongs to ``vertices[i]``; its diagonal entry comes first. ``row[x]`` is the row of the
    free vertex x and -1 elsewhere, as is the slot of any other arc. Fills `indptr`.
    """
    indptr[0] = 0
    for i in range(vertices.size):
        x = vertices[i]
        count = 1
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            if row[arcs.indices[e]] >= 0:
                count += 1
        indptr[i + 1] = indptr[i] + count
    indices = np.empty(indptr[vertices.size], indptr.dtype)
    slot = np.full(arcs.indices.size, -1, indptr.dtype)
    for i in range(vertices.size):
        x = vertices[i]
        next_slot = indptr[i]
        # the diagonal first, where `System.degree` looks for it
        indices[next_slot] = i
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            j = row[arcs.indices[e]]
            if j >= 0:
                next_slot += 1
                indices[next_slot] = j
                slot[e] = next_slot
    return indices, slot


@njit(cache=True, nogil=True)
def laplacian_data(arcs: Arcs, vertices: IntArray, indptr: IntArray, slot: IntArray) -> FloatArray:
    """Return the entries of the interior Laplacian, conductances 1/ℓ, by slot."""
    data = np.empty(indptr[vertices.size])
    for i in range(vertices.size):
        x = vertices[i]
        diagonal = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            conductance = 1.0 / arcs.lengths[e]
            diagonal += conductance
            if slot[e] >= 0:
                data[slot[e]] = -conductance
        data[indptr[i]] = diagonal
    return data
