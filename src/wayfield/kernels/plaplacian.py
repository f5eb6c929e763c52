"""Kernels of the p-Laplace equation, normalised at every vertex.

With q = p − 1 and the slopes s = |u_y − u_x| / ℓ_xy, split by the sign of u_y − u_x,

    M_x⁺ = (Σ_{u_y > u_x} s^q)^{1/q},   M_x⁻ likewise downward,   F_x = λ_x (M_x⁺ − M_x⁻),

where λ_x, the shortest length at x, gives F the unit of u. Powers are taken of slopes divided by
the steepest, so nothing overflows for any p. All kernels work on `vertices`, the free ones.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from ._types import BoolArray, FloatArray, IntArray
from .csr import Arcs

UNIT_ROUNDOFF = 2.0**-53
FAINT = 1e-200
"""Slopes below this are too close to underflow to be compared."""
TINY = 1e-60
"""Powers below this, relative to the steepest slope's, are left out of sums, and accounted for."""


class Rows(NamedTuple):
    """Where the entries of the Jacobian go: see `extension._linear.Interior`."""

    vertices: IntArray
    indptr: IntArray
    slot: IntArray


@njit(cache=True, nogil=True, inline="always")
def steepest(arcs: Arcs, x: int, centre: float, u: FloatArray) -> tuple[float, float, float]:
    """Steepest slope up and down from the value `centre` at x, and the shortest length."""
    up = 0.0
    down = 0.0
    shortest = np.inf
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        slope = (u[arcs.indices[e]] - centre) / arcs.lengths[e]
        up = max(up, slope)
        down = max(down, -slope)
        shortest = min(shortest, arcs.lengths[e])
    return up, down, shortest


@njit(cache=True, nogil=True)
def defect(arcs: Arcs, x: int, centre: float, u: FloatArray, q: float) -> tuple[float, float]:
    """Return F_x and −∂F_x/∂u_x with the value `centre` at x in place of u_x."""
    up, down, shortest = steepest(arcs, x, centre, u)
    sum_up = 0.0
    sum_down = 0.0
    rate_up = 0.0
    rate_down = 0.0
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        slope = (u[arcs.indices[e]] - centre) / arcs.lengths[e]
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
    if up > 0.0:
        root = sum_up ** (1.0 / q)
        value += up * root
        rate += rate_up * root / sum_up
    if down > 0.0:
        root = sum_down ** (1.0 / q)
        value -= down * root
        rate += rate_down * root / sum_down
    return shortest * value, shortest * rate


@njit(cache=True, nogil=True)
def residual(arcs: Arcs, vertices: IntArray, u: FloatArray, q: float) -> FloatArray:
    """F at every free vertex."""
    result = np.empty(vertices.size)
    least = 2.0 ** (-60.0 / q)
    for i in range(vertices.size):
        x = vertices[i]
        up, down, shortest = steepest(arcs, x, u[x], u)
        sum_up = 0.0
        sum_down = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            slope = (u[arcs.indices[e]] - u[x]) / arcs.lengths[e]
            if slope > least * up:
                sum_up += (slope / up) ** q
            elif -slope > least * down:
                sum_down += (-slope / down) ** q
        rise = up * sum_up ** (1.0 / q) if up > 0.0 else 0.0
        fall = down * sum_down ** (1.0 / q) if down > 0.0 else 0.0
        result[i] = shortest * (rise - fall)
    return result


@njit(cache=True, nogil=True)
def jacobian(arcs: Arcs, rows: Rows, u: FloatArray, q: float, flat: float) -> FloatArray:
    """Entries of A = −∂F/∂u on the free vertices, an M-matrix.

    The entry of a neighbour y above is −λ/ℓ · (s / M⁺)^(q−1), below likewise with M⁻. Where the
    steepest difference is at most `flat`, F has no direction to speak of: harmonic weights.
    """
    data = np.empty(rows.indptr[rows.vertices.size])
    for i in range(rows.vertices.size):
        x = rows.vertices[i]
        up, down, shortest = steepest(arcs, x, u[x], u)
        plateau = shortest * max(up, down) <= flat
        sum_up = 0.0
        sum_down = 0.0
        rate_up = 0.0
        rate_down = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            slope = (u[arcs.indices[e]] - u[x]) / arcs.lengths[e]
            weight = 0.0
            if plateau:
                weight = 1.0
                rate_up += weight / arcs.lengths[e]
            elif slope > 0.0:
                weight = (slope / up) ** (q - 1.0)
                sum_up += weight * (slope / up)
                rate_up += weight / arcs.lengths[e]
            elif slope < 0.0:
                weight = (-slope / down) ** (q - 1.0)
                sum_down += weight * (-slope / down)
                rate_down += weight / arcs.lengths[e]
            if rows.slot[e] >= 0:
                data[rows.slot[e]] = weight
        # (steepest / M)^(q−1) on each side
        scale_up = shortest * sum_up ** (1.0 / q - 1.0) if sum_up > 0.0 else shortest
        scale_down = shortest * sum_down ** (1.0 / q - 1.0) if sum_down > 0.0 else shortest
        data[rows.indptr[i]] = scale_up * rate_up + scale_down * rate_down
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            if rows.slot[e] >= 0:
                rising = u[arcs.indices[e]] >= u[x]
                scale = scale_up if rising or plateau else scale_down
                data[rows.slot[e]] *= -scale / arcs.lengths[e]
    return data


@njit(cache=True, nogil=True)
def local_root(arcs: Arcs, x: int, u: FloatArray, q: float, close: float) -> float:
    """Value at x that solves F_x = 0 with its neighbours held fixed: Newton inside a bisection.

    Stops at a step of at most `close`.
    """
    low = np.inf
    high = -np.inf
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        low = min(low, u[arcs.indices[e]])
        high = max(high, u[arcs.indices[e]])
    value = min(max(u[x], low), high)
    for _ in range(100):
        excess, rate = defect(arcs, x, value, u, q)
        if excess > 0.0:
            low = value
        elif excess < 0.0:
            high = value
        else:
            break
        trial = value + excess / rate
        if abs(trial - value) <= close:
            return trial
        if not low < trial < high:
            trial = 0.5 * (low + high)
            if not low < trial < high:
                break
        value = trial
    return value


@njit(cache=True, nogil=True)
def sweep(arcs: Arcs, vertices: IntArray, u: FloatArray, q: float, close: float) -> None:
    """One nonlinear Gauss–Seidel sweep there and back, in place."""
    for i in range(vertices.size):
        u[vertices[i]] = local_root(arcs, vertices[i], u, q, close)
    for i in range(vertices.size - 1, -1, -1):
        u[vertices[i]] = local_root(arcs, vertices[i], u, q, close)


@njit(cache=True, nogil=True)
def update_residual(arcs: Arcs, vertices: IntArray, u: FloatArray, q: float, close: float) -> float:
    """Largest distance of a value from the one its neighbours ask for, up to `close`."""
    largest = 0.0
    for x in vertices:
        largest = max(largest, abs(local_root(arcs, x, u, q, close) - u[x]))
    return largest


@njit(cache=True, nogil=True)
def violations(arcs: Arcs, vertices: IntArray, v: FloatArray, q: float, side: int) -> int:
    """Count the vertices where v is not surely a supersolution (side +1) or subsolution (-1).

    A supersolution has Σ_up s^q ≤ Σ_down s^q. Both sums are computed of slopes over the steepest.
    Each such quotient is off by at most 3 u relative (difference, division by ℓ, division by the
    steepest; u = 2⁻⁵³), which its power turns into 3 q u; the power itself is taken to be good
    to 4 units in the last place, and summing adds deg · u. So the relative error of either sum is
    below ρ = (4 q + deg + 16) u. Terms below TINY are left out, and underflow loses less.
    """
    count = 0
    least = TINY ** (1.0 / q)
    for x in vertices:
        up, down, _ = steepest(arcs, x, v[x], v)
        most = max(up, down)
        rise = 0.0
        fall = 0.0
        flat = True
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            slope = (v[arcs.indices[e]] - v[x]) / arcs.lengths[e]
            flat = flat and v[arcs.indices[e]] == v[x]
            if slope > least * most:
                rise += (slope / most) ** q
            elif -slope > least * most:
                fall += (-slope / most) ** q
        degree = arcs.indptr[x + 1] - arcs.indptr[x]
        rho = (4.0 * q + degree + 16.0) * UNIT_ROUNDOFF
        larger, smaller = (fall, rise) if side > 0 else (rise, fall)
        sure = larger * (1.0 - rho) >= smaller * (1.0 + rho) + 2.0 * degree * TINY
        if not flat and not (sure and most >= FAINT):
            count += 1
    return count


@njit(cache=True, nogil=True)
def flow_balance(
    arcs: Arcs, labelled: BoolArray, u: FloatArray, p: float
) -> tuple[float, float, float]:
    """Energy, work at the labels and stray sources of the flow |Du|^{p−1} sign Du.

    Slopes are divided by the steepest. The energy is Σ ℓ s^p over the edges, which also is the
    dual energy of the flow; the work is Σ (div f) u over the labelled vertices, u divided
    likewise; the sources are Σ |div f| over the others. Vertices with a NaN are left out.
    """
    n = arcs.indptr.size - 1
    most = 0.0
    for x in range(n):
        if u[x] == u[x]:
            up, down, _ = steepest(arcs, x, u[x], u)
            most = max(most, up, down)
    energy = 0.0
    work = 0.0
    sources = 0.0
    if most == 0.0:
        return energy, work, sources
    for x in range(n):
        if u[x] != u[x]:
            continue
        inflow = 0.0
        for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
            slope = (u[arcs.indices[e]] - u[x]) / arcs.lengths[e] / most
            power = abs(slope) ** (p - 1.0)
            inflow += -power if slope > 0.0 else power
            energy += 0.5 * arcs.lengths[e] * power * abs(slope)
        if labelled[x]:
            work += inflow * (u[x] / most)
        else:
            sources += abs(inflow) / most
    return energy, work, sources
