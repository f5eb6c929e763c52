"""Kernels of the vertex equations: residuals, Jacobians, and what is proved of their signs.

**p-Laplacian**, normalised at every vertex. With q = p − 1 and the slopes s = |u_y − u_x| / ℓ_xy,
split by the sign of u_y − u_x,

    M_x⁺ = (Σ_{u_y > u_x} s^q)^{1/q},   M_x⁻ likewise downward,   F_x = M_x⁺ − M_x⁻.

Powers are taken of slopes divided by the steepest, so nothing overflows for any p. These kernels
work on `vertices`, the free ones.

A field is a `Pair`, an unevaluated sum of two doubles: where lengths differ by many orders of
magnitude, the difference across a short edge is far below the last place of the values.

**Harmonic.** `balance` evaluates B_x(v) = Σ_y (v_y − v_x) / ℓ_xy of a field v = high + low, and
bounds its own rounding error. Differences of the high parts are exact (Knuth's two-sum), quotients
carry their remainder (Dekker's product), and the quotients are summed with the error of every
addition kept; what is left is small, is added in plain doubles, and is off by at most

    (deg + 12) · 2u · Σ |small parts|  +  2u · |B_x|  +  underflow,      u = 2⁻⁵³,

which holds a priori (Ogita, Rump, Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput.
26(6), 2005). An overflow anywhere ends in a NaN, which no sign test passes.
"""

from __future__ import annotations

import numpy as np

from ..numerics.csr import Arcs
from ..numerics.doubledouble import UNDERFLOW, UNIT_ROUNDOFF, Pair, add, two_product, two_sum
from ..numerics.jit import njit
from ..typing import BoolArray, FloatArray, IntArray

LEAST_SLOPE = 1e-200
"""Slopes below this are too close to underflow to be compared."""
NEGLIGIBLE_POWER = 1e-60
"""Powers below this, relative to the steepest slope's, are left out of sums, and accounted for."""


@njit(cache=True, nogil=True, inline="always")
def difference(field: Pair, y: int, x: int) -> float:
    """Return v_y − v_x to nearly full relative precision."""
    total, error = two_sum(field.high[y], -field.high[x])
    return total + (error + (field.low[y] - field.low[x]))


@njit(cache=True, nogil=True, inline="always")
def power(ratio: float, q: float, whole: bool) -> float:
    """Return ratio^q, by squaring if q is `whole` (see `is_small_whole`): off by q roundings.

    The root of order q reduces this to about one rounding. That is enough for F, but not for
    `violations`.
    """
    if not whole:
        return ratio**q
    left = int(q)
    result = 1.0
    while left > 0:
        if left & 1:
            result *= ratio
        ratio *= ratio
        left >>= 1
    return result


@njit(cache=True, nogil=True, inline="always")
def is_small_whole(q: float) -> bool:
    """Whether a power of order q is cheaper, and no worse, by squaring."""
    return q <= 64.0 and q == np.floor(q)


@njit(cache=True, nogil=True, inline="always")
def steepest(arcs: Arcs, x: int, field: Pair, shift: float) -> tuple[float, float]:
    """Return the steepest slope up and down from v_x + shift."""
    up = 0.0
    down = 0.0
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        slope = (difference(field, arcs.indices[e], x) - shift) / arcs.lengths[e]
        up = max(up, slope)
        down = max(down, -slope)
    return up, down


@njit(cache=True, nogil=True)
def residual(
    arcs: Arcs, vertices: IntArray, field: Pair, q: float, flat: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return F at every free vertex, and the larger of the two norms that F subtracts.

    Where the steepest slope is at most `flat`, its direction is noise: there F is the harmonic
    residual Σ (u_y − u_x) / ℓ, as in `jacobian`, so that a Newton step flattens the plateau.
    """
    value = np.empty(vertices.size)
    size = np.empty(vertices.size)
    # for large q most slopes vanish beside the steepest: comparing ratios saves their powers
    least = 2.0 ** (-60.0 / q)  # smaller ratios do not count in doubles
    whole = is_small_whole(q)
    for i in range(vertices.size):
        x = vertices[i]
        up, down = steepest(arcs, x, field, 0.0)
        sum_up = 0.0
        sum_down = 0.0
        total = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            slope = difference(field, arcs.indices[e], x) / arcs.lengths[e]
            total += slope
            if slope > least * up:
                sum_up += power(slope / up, q, whole)
            elif -slope > least * down:
                sum_down += power(-slope / down, q, whole)
        rise = up * sum_up ** (1.0 / q) if up > 0.0 else 0.0
        fall = down * sum_down ** (1.0 / q) if down > 0.0 else 0.0
        # on a plateau the sign of each slope is rounding: a linear equation has no sign to get
        # wrong
        value[i] = total if max(up, down) <= flat[i] else rise - fall
        size[i] = max(rise, fall)
    return value, size


@njit(cache=True, nogil=True)
def jacobian(arcs: Arcs, vertices: IntArray, field: Pair, q: float, flat: FloatArray) -> FloatArray:
    """Return the weights of arcs of A = −∂F/∂u, an M-matrix on the free vertices; others are 0.

    The weight toward a neighbour y above is (s / M⁺)^(q−1) / ℓ, below likewise with M⁻. Where the
    steepest slope is at most `flat`, F has no direction to speak of: harmonic weights.
    """
    weights = np.zeros(arcs.indices.size)
    whole = is_small_whole(q)
    for i in range(vertices.size):
        x = vertices[i]
        up, down = steepest(arcs, x, field, 0.0)
        plateau = max(up, down) <= flat[i]
        sum_up = 0.0
        sum_down = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            slope = difference(field, arcs.indices[e], x) / arcs.lengths[e]
            weight = 0.0
            if plateau:
                # all on the upper side, whose scale is then 1
                weight = 1.0
            elif slope > 0.0:
                weight = power(slope / up, q - 1.0, whole)
                sum_up += weight * (slope / up)
            elif slope < 0.0:
                weight = -power(-slope / down, q - 1.0, whole)
                sum_down -= weight * (-slope / down)
            weights[e] = weight  # its sign tells the side, for now
        # (steepest / M)^(q−1) on each side: known only after all arcs, so applied in a second pass
        scale_up = sum_up ** (1.0 / q - 1.0) if sum_up > 0.0 else 1.0
        scale_down = sum_down ** (1.0 / q - 1.0) if sum_down > 0.0 else 1.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            scale = scale_up if weights[e] > 0.0 else -scale_down
            weights[e] *= scale / arcs.lengths[e]
    return weights


@njit(cache=True, nogil=True)
def defect(arcs: Arcs, x: int, field: Pair, shift: float, q: float) -> tuple[float, float]:
    """Return F_x and −∂F_x/∂u_x with v_x + shift in place of v_x."""
    up, down = steepest(arcs, x, field, shift)
    sum_up = 0.0
    sum_down = 0.0
    rate_up = 0.0
    rate_down = 0.0
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        slope = (difference(field, arcs.indices[e], x) - shift) / arcs.lengths[e]
        if slope > 0.0:
            weight = (slope / up) ** (q - 1.0)
            sum_up += weight * (slope / up)
            rate_up += weight / arcs.lengths[e]
        elif slope < 0.0:
            weight = (-slope / down) ** (q - 1.0)
            sum_down += weight * (-slope / down)
            rate_down += weight / arcs.lengths[e]
    value = 0.0
    rate = 0.0
    # M⁺ = up · (Σ ratios^q)^(1/q), and its derivative shares the root
    if up > 0.0:
        root = sum_up ** (1.0 / q)
        value += up * root
        rate += rate_up * root / sum_up
    if down > 0.0:
        root = sum_down ** (1.0 / q)
        value -= down * root
        rate += rate_down * root / sum_down
    return value, rate


@njit(cache=True, nogil=True)
def local_shift(arcs: Arcs, x: int, field: Pair, q: float, close: float) -> float:
    """Return the shift of v_x that solves F_x = 0, its neighbours fixed: Newton inside bisection.

    Stops at a step of at most `close`.
    """
    low = np.inf
    high = -np.inf
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        low = min(low, difference(field, arcs.indices[e], x))
        high = max(high, difference(field, arcs.indices[e], x))
    # the solution lies between the least and the largest neighbour
    shift = min(max(0.0, low), high)
    for _ in range(100):
        excess, rate = defect(arcs, x, field, shift, q)
        if excess > 0.0:
            low = shift
        elif excess < 0.0:
            high = shift
        else:
            break
        step = excess / rate
        if abs(step) <= close:
            return shift + step
        shift += step
        # Newton's step left the bracket, where F is too flat or too steep: halve it instead
        if not low < shift < high:
            shift = 0.5 * (low + high)
            if not low < shift < high:
                break
    return shift


@njit(cache=True, nogil=True)
def sweep(arcs: Arcs, vertices: IntArray, field: Pair, q: float, close: float) -> None:
    """Run one nonlinear Gauss–Seidel sweep forward and one backward, in place."""
    for turn in range(2):
        for i in range(vertices.size):
            # there and back: one direction alone carries news fast along the order and slowly
            # against it
            x = vertices[i] if turn == 0 else vertices[vertices.size - 1 - i]
            total, error = two_sum(field.high[x], local_shift(arcs, x, field, q, close))
            field.high[x], field.low[x] = two_sum(total, error + field.low[x])


@njit(cache=True, nogil=True)
def update_residual(arcs: Arcs, vertices: IntArray, field: Pair, q: float, close: float) -> float:
    """Return the largest distance of a value from the solution of its vertex equation."""
    largest = 0.0
    for x in vertices:
        largest = max(largest, abs(local_shift(arcs, x, field, q, close)))
    return largest


@njit(cache=True, nogil=True, inline="always")
def unfavourable(field: Pair, y: int, x: int, side: int) -> float:
    """Return a number surely not below v_y − v_x (side +1), or not above it (-1)."""
    total, error = two_sum(field.high[y], -field.high[x])
    rest = field.low[y] - field.low[x]
    change = total + (error + rest)
    slack = abs(change) + (abs(error) + abs(rest))
    return change + side * (4.0 * UNIT_ROUNDOFF * slack)


@njit(cache=True, nogil=True)
def violations(arcs: Arcs, vertices: IntArray, field: Pair, q: float, side: int) -> BoolArray:
    """Mark the vertices where v is not surely a supersolution (side +1) or subsolution (-1).

    A supersolution has Σ_up s^q ≤ Σ_down s^q. With u = 2⁻⁵³, a difference t = s + (e + f) of two
    pairs (see `difference`) is off by at most u |t| + 2u (|e| + |f|); it is shifted by more than
    that to the unfavourable side, and counts as exact from there, since both sums are monotone.
    Dividing by ℓ and by the steepest slope costs 2u, which the power turns into 2 q u; the power
    itself is taken to be good to 4 units in the last place; summing adds deg · u. So the relative
    error of either sum is below ρ = (3 q + deg + 16) u. Terms below NEGLIGIBLE_POWER are left
    out, and underflow loses less. Where all neighbours have exactly the same value both sums are 0.
    A field that is not finite, or so flat that slopes underflow, proves nothing.
    """
    unsure = np.zeros(vertices.size, np.bool_)
    least = NEGLIGIBLE_POWER ** (1.0 / q)
    for i in range(vertices.size):
        x = vertices[i]
        most = 0.0
        level = True
        finite = True
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            # the steepest of the shifted slopes is the unit of both sums, so that every ratio is at
            # most 1
            change = unfavourable(field, arcs.indices[e], x, side)
            # a NaN is lost on max, and a change on division by a long length
            finite = finite and abs(change) < np.inf
            level = level and change == 0.0
            most = max(most, abs(change) / arcs.lengths[e])
        # constant around x, in exact arithmetic: Σ_up = Σ_down = 0
        if level:
            continue
        rise = 0.0
        fall = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            slope = unfavourable(field, arcs.indices[e], x, side) / arcs.lengths[e]
            if slope > least * most:
                rise += (slope / most) ** q
            elif -slope > least * most:
                fall += (-slope / most) ** q
        degree = arcs.indptr[x + 1] - arcs.indptr[x]
        rho = (3.0 * q + degree + 16.0) * UNIT_ROUNDOFF
        # sure only if the inequality holds with both sums moved by ρ against it
        larger, smaller = (fall, rise) if side > 0 else (rise, fall)
        sure = larger * (1.0 - rho) >= smaller * (1.0 + rho) + 2.0 * degree * NEGLIGIBLE_POWER
        unsure[i] = not (sure and finite and LEAST_SLOPE <= most < np.inf)
    return unsure


# ------------------------------------------------------------------ harmonic, AMLE, barriers


@njit(cache=True, nogil=True, inline="always")
def worse(norm: float, most: float, scale: float) -> float:
    """Return the larger of a norm and most / scale; inf if the scale is not positive, or a NaN."""
    ratio = most / scale if scale > 0.0 else np.inf
    return norm if ratio <= norm else (ratio if ratio > norm else np.inf)


@njit(cache=True, nogil=True)
def balance(
    arcs: Arcs,
    vertices: IntArray,
    high: FloatArray,
    low: FloatArray,
    scales: tuple[FloatArray, FloatArray],
    known: BoolArray,
) -> tuple[FloatArray, tuple[float, float]]:
    """Return Σ_y (v_y − v_x) / ℓ at each of `vertices`, and two norms of it, error included.

    The norms are the largest magnitudes, each plus a bound on its error and on that of rounding all
    low parts once more, over the entries of a scale; inf where that is not positive. `known` rows,
    if not empty, are labels: there the value is 0.
    """
    value = np.zeros(vertices.size)
    first, second = scales
    norm = other = 0.0
    for i in range(vertices.size):
        if known.size and known[i]:
            continue
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
            part = abs(rest) + abs(low[y]) + abs(low[x])
            rest += difference
            if arcs.lengths[e] != 1.0:
                length = arcs.lengths[e]
                inverse = 1.0 / length
                # the quotient's remainder, divided in turn, is the rest of its digits
                numerator = quotient
                quotient = numerator * inverse
                product, error = two_product(quotient, length)
                remainder = (numerator - product) - error
                part = (part + abs(remainder)) * inverse
                rest = (rest + remainder) * inverse
                # an a-priori bound on underflow, whether there was any or not
                lost += UNDERFLOW + UNDERFLOW * inverse
            total, error = two_sum(total, quotient)
            small += rest + error
            size += part + abs(error)
        degree = arcs.indptr[x + 1] - arcs.indptr[x]
        value[i] = total + small
        # `size` adds up magnitudes, so cancellation in `small` does not hide its rounding
        slack = (degree + 12) * size + abs(value[i])
        most = abs(value[i]) + (2.0 * UNIT_ROUNDOFF * slack + 2.0 * lost)
        if most > 0.0 or most != most:
            norm = worse(norm, most, first[i])
            other = worse(other, most, second[i])
    return value, (norm, other)


@njit(cache=True, nogil=True)
def drift(arcs: Arcs, vertices: IntArray, w: FloatArray) -> FloatArray:
    """Return numbers surely not above Σ_y (w_x − w_y) / ℓ − 2u Σ_y (w_x + w_y) / ℓ, for w ≥ 0.

    The second sum pays for rounding τ w, and its sum with a low part, wherever it is added.
    """
    found = np.empty(vertices.size)
    for i in range(vertices.size):
        x = vertices[i]
        total = 0.0
        change = 0.0
        size = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            y = arcs.indices[e]
            quotient = (w[x] - w[y]) / arcs.lengths[e]
            total += quotient
            change += abs(quotient)
            size += (w[x] + w[y]) / arcs.lengths[e]
        degree = arcs.indptr[x + 1] - arcs.indptr[x]
        # a quotient is off by two roundings, the sum by `degree` of all
        found[i] = total - UNIT_ROUNDOFF * ((degree + 4) * change + 4.0 * size)
    return found


@njit(cache=True, nogil=True)
def strays(arcs: Arcs, vertices: IntArray, values: FloatArray) -> float:
    """Return the largest distance of a value from the mean of its neighbours, weighted by 1/ℓ."""
    largest = 0.0
    for x in vertices:
        total = 0.0
        weight = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            total += (values[arcs.indices[e]] - values[x]) / arcs.lengths[e]
            weight += 1.0 / arcs.lengths[e]
        largest = max(largest, abs(total) / weight)
    return largest


@njit(cache=True, nogil=True)
def imbalance(
    out: Arcs,
    into: Arcs,
    fixed: BoolArray,
    unit: bool,
    values: FloatArray,
) -> float:
    """Return the largest step that would balance a vertex that is not `fixed` on its own.

    Its neighbours keep their values. On a directed graph, slopes up are those of arcs into the
    vertex, and slopes down those of arcs out of it. Neighbours that are NaN do not count.
    """
    largest = 0.0
    for x in range(values.size):
        if fixed[x]:
            continue
        if unit:
            most = least = values[x]
            for e in range(into.indptr[x], into.indptr[x + 1]):
                most = max(most, values[into.indices[e]])
            for e in range(out.indptr[x], out.indptr[x + 1]):
                least = min(least, values[out.indices[e]])
            step = 0.5 * abs((most - values[x]) - (values[x] - least))
        else:
            step = abs(balance_between(out, into, values, x) - values[x])
        largest = max(largest, step)
    return largest


@njit(cache=True, nogil=True, inline="always")
def balance_between(out: Arcs, into: Arcs, values: FloatArray, x: int) -> float:
    """Return the balanced value at x: slopes up on the arcs into x, down on those out of it.

    Where no slope is positive any value between the two sides will do, and the nearest is taken;
    where one side is empty, the value itself.
    """
    # as in `midrange.balance`: each pass finds a pair of neighbours with a steeper slope, or ends
    slope = -1.0
    steeper = 0.0
    while steeper > slope:
        slope = steeper
        up = down = -1
        most = -np.inf
        least = np.inf
        for e in range(into.indptr[x], into.indptr[x + 1]):
            value = values[into.indices[e]] - slope * into.lengths[e]
            if value > most:
                most = value
                up = e
        for e in range(out.indptr[x], out.indptr[x + 1]):
            value = values[out.indices[e]] + slope * out.lengths[e]
            if value < least:
                least = value
                down = e
        if up < 0 or down < 0:
            return values[x]
        high, low = values[into.indices[up]], values[out.indices[down]]
        if high <= low:
            return min(max(values[x], high), low)
        steeper = (high - low) / (into.lengths[up] + out.lengths[down])
    share = out.lengths[down] / (into.lengths[up] + out.lengths[down])
    return float(low + (high - low) * share)


@njit(cache=True, nogil=True)
def held_by(
    labels: Pair,
    labelled: BoolArray,
    absent: BoolArray,
    component: IntArray,
    ends: IntArray,
    base: FloatArray,
    barrier: Pair,
    side: int,
) -> tuple[FloatArray, FloatArray]:
    """Return a barrier minus its base, clipped to its component's extreme label at `ends`.

    It is the label where one is given, and 0 where it is `absent`. The parts do not overlap. Labels
    minus their base must fit into two doubles.
    """
    high, low = np.zeros(base.size), np.zeros(base.size)
    for x in range(base.size):
        if absent[x]:
            continue
        # start with the bound: the label itself, or the extreme label of the component
        y = x if labelled[x] else ends[component[x]]
        near, rest = two_sum(labels.high[y], -base[x])
        high[x], low[x] = add(near, rest, labels.low[y], 0.0)
        if labelled[x]:
            continue
        near, rest = two_sum(barrier.high[x], barrier.low[x])
        if side * near < side * high[x] or (near == high[x] and side * rest < side * low[x]):
            high[x], low[x] = near, rest
    return high, low
