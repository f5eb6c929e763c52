"""Midrange sweeps: replace a value by the one at which its steepest slopes up and down agree.

At a vertex with neighbours ``y`` of values ``v_y`` at lengths ``ℓ_y``, the new value is the ``u``
with ``max (v_y - u) / ℓ_y = max (u - v_y) / ℓ_y = s``. On unit lengths it is the midrange
``(min v + max v) / 2``. In general ``s`` is the root of the convex, decreasing function
``F(s) = max_y (v_y - s ℓ_y) - min_y (v_y + s ℓ_y)``, and Newton's iteration from ``s = 0`` climbs
to it through slopes ``(v_i - v_j) / (ℓ_i + ℓ_j)`` of pairs of neighbours, strictly, so that it ends
in floating point too: usually after two passes over the neighbours.

The vertex updates are inlined into the sweeps: as calls they would count references to the arrays
at every vertex, which doubles the time of a sweep.

On unit lengths many fields are swept side by side (`unit_sweeps`): their values at a vertex are
neighbours in memory, so a processor compares eight of them at once. Every value is the one that
`jacobi` gives, to the last bit.
"""

from __future__ import annotations

import numpy as np

from wayfield.fields.kernels import balance_between
from wayfield.numerics.csr import Arcs
from wayfield.numerics.jit import njit
from wayfield.typing import BoolArray, FloatArray, IntArray


@njit(cache=True, nogil=True, inline="always")
def midrange(arcs: Arcs, values: FloatArray, x: int) -> float:
    """Return ``(min + max) / 2`` over the neighbours of `x`, of which there is at least one."""
    least = np.inf
    most = -np.inf
    for e in range(arcs.indptr[x], arcs.indptr[x + 1]):
        value = values[arcs.indices[e]]
        least = min(least, value)
        most = max(most, value)
    return 0.5 * (least + most)


@njit(cache=True, nogil=True, inline="always")
def balance(arcs: Arcs, values: FloatArray, x: int) -> float:
    """Return the value at `x` whose steepest slope up equals its steepest slope down."""
    return balance_between(arcs, arcs, values, x)


@njit(cache=True, nogil=True)
def sweep(
    arcs: Arcs,
    fixed: BoolArray,
    unit: bool,
    values: FloatArray,
    updated: FloatArray,
    relaxation: float,
) -> float:
    """Run one Jacobi sweep from `values` into `updated`; return the largest change.

    A value moves the share `relaxation` of the way to its update; at 1 it becomes the update, to
    the last bit.
    """
    largest = 0.0
    for x in range(values.size):
        if fixed[x]:
            updated[x] = values[x]
        else:
            update = midrange(arcs, values, x) if unit else balance(arcs, values, x)
            updated[x] = (1.0 - relaxation) * values[x] + relaxation * update
            largest = max(largest, abs(updated[x] - values[x]))
    return largest


@njit(cache=True, nogil=True)
def jacobi(
    arcs: Arcs,
    fixed: BoolArray,
    unit: bool,
    values: FloatArray,
    sweeps: int,
    relaxation: float,
    tolerance: float,
) -> tuple[FloatArray, float, int]:
    """Run Jacobi sweeps from `values` until the residual is below `tolerance`, at most `sweeps`.

    Returns the field, its residual and the number of sweeps.
    """
    here = values.copy()
    there = values.copy()
    done = 0
    while done < sweeps:
        # a sweep moves the worst value by `relaxation` times the residual of the field before it
        if sweep(arcs, fixed, unit, here, there, relaxation) < relaxation * tolerance:
            break
        # the two fields change places: no sweep copies or allocates
        here, there = there, here
        done += 1
    # the residual is the largest change that one more sweep would make
    return here, sweep(arcs, fixed, unit, here, there, 1.0), done


@njit(cache=True, nogil=True)
def unit_sweeps(
    indptr: IntArray,
    heads: IntArray,
    fixed: BoolArray,
    values: FloatArray,
    sweeps: int,
    relaxation: float,
) -> FloatArray:
    """Run Jacobi sweeps on unit lengths over several fields, the columns of `values`."""
    n, fields = values.shape
    here = values.copy()
    there = values.copy()
    for _ in range(sweeps):
        for x in range(n):
            begin, last = indptr[x], indptr[x + 1] - 1
            if last < begin:  # no neighbours: the value is fixed
                continue
            # four neighbours, as on a lattice; where there are fewer, the last one repeatedly
            a, b = heads[begin], heads[min(begin + 1, last)]
            c, d = heads[min(begin + 2, last)], heads[min(begin + 3, last)]
            for k in range(fields):
                p, q, r, s = here[a, k], here[b, k], here[c, k], here[d, k]
                least = min(min(p, q), min(r, s))
                most = max(max(p, q), max(r, s))
                for e in range(begin + 4, last + 1):
                    least = min(least, here[heads[e], k])
                    most = max(most, here[heads[e], k])
                value = here[x, k]
                update = (1.0 - relaxation) * value + relaxation * (0.5 * (least + most))
                there[x, k] = value if fixed[x, k] else update
        here, there = there, here
    return here
