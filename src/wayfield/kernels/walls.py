"""Thin walls and one-way doors: planes that no step of a cell crosses in one direction.

A step from x to y goes down through the plane {z : u·z = c} if u·y < c < u·x. The flux f(c) is the
number of such steps of a cell. It changes gradually with c, unless something is in the way. So a
plane with f(c) = 0 is a wall if f is large within one step length above it, if observations do not
thin out towards it, and if the cell has some on both sides.

Flux is counted on a grid of offsets first. Only where that has a notch are steps sorted to find the
gaps between them.
"""

from __future__ import annotations

import numpy as np

from ._jit import njit
from ._types import FloatArray, IntArray
from .merging import Numbers, Rows

_BINS = 64
_NOTCH = 0.1
"""Offsets with a flux below this share of that above them are examined closely."""
_PROBES = 8
"""Offsets at which the flux above a gap is counted."""
_WINDOWS, _SHARP = 4, 0.85
"""One step length above a wall is divided into this many windows. The first holds at least this
share of the observations of the fullest. Around a spot where the behaviour lingers they thin out.
"""
_DEEP = 0.25
"""Some observation lies this share of a step length below the wall: not so at an outer wall."""
_BLUNT = 0.5
"""The same share as `_SHARP`, on the grid of offsets."""


@njit(cache=True, nogil=True)
def steps_by_cell(
    row: IntArray, here: Numbers, there: Numbers, num_cells: int
) -> tuple[IntArray, IntArray]:
    """List the steps that begin or end in each cell, as offsets and rows; the former come first."""
    begin = np.zeros(num_cells + 1, np.int64)
    for i in row:
        begin[here[i] + 1] += 1
        if there[i] != here[i]:
            begin[there[i] + 1] += 1
    begin = np.cumsum(begin)
    fill, steps = begin[:-1].copy(), np.empty(begin[-1], np.int64)
    for i in row:
        steps[fill[here[i]]] = i
        fill[here[i]] += 1
    for i in row:
        if there[i] != here[i]:
            steps[fill[there[i]]] = i
            fill[there[i]] += 1
    return begin, steps


@njit(cache=True, nogil=True)
def find_walls(
    begin: IntArray,
    steps: IntArray,
    first: Rows,
    second: Rows,
    here: Numbers,
    normals: FloatArray,
    stride: float,
    least: int,
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Find the plane of every cell with no flux through it and the largest above it.

    `normals` are the directions to try, (1, k, d) or (cells, k, d), each also upside down. Returns
    the normal, the gap that its offset may lie in, and the flux above, 0 without a wall.
    """
    n, size = begin.size - 1, normals.shape[1]
    found, flux = np.zeros((n, first.shape[1])), np.zeros(n)
    low, high = np.zeros(n), np.zeros(n)
    for cell in range(n):
        rows = steps[begin[cell] : begin[cell + 1]]
        if rows.size < 2 * least:
            continue
        x, y = np.empty(rows.size), np.empty(rows.size)
        for k in range(size):
            normal = normals[cell % len(normals), k]
            own = _project(rows, first, second, here, cell, normal, x, y)
            if own < 2 * least:
                break
            for sign in (1.0, -1.0):
                if sign < 0.0:
                    x, y = -x, -y
                if not _has_notch(x, y, own, stride, least):
                    continue
                bottom, top, above = _best_gap(x, y, own, stride, least)
                if above > flux[cell]:
                    low[cell], high[cell], flux[cell] = bottom, top, above
                    found[cell] = sign * normal
    return found, low, high, flux


@njit(cache=True, nogil=True)
def gap_across(
    rows: IntArray,
    first: Rows,
    second: Rows,
    here: Numbers,
    cell: int,
    normal: FloatArray,
    stride: float,
    least: int,
) -> tuple[float, float, int]:
    """Return the best gap of one cell's steps across a direction, and the flux above it."""
    x, y = np.empty(rows.size), np.empty(rows.size)
    own = _project(rows, first, second, here, cell, normal, x, y)
    return _best_gap(x, y, own, stride, least)


@njit(cache=True, nogil=True)
def _project(
    rows: IntArray,
    first: Rows,
    second: Rows,
    here: Numbers,
    cell: int,
    normal: FloatArray,
    x: FloatArray,
    y: FloatArray,
) -> int:
    """Set the heights of the steps' ends; return how many begin in the cell (these come first)."""
    own = 0
    for i in range(rows.size):
        a, b = 0.0, 0.0
        for d in range(normal.size):
            a += normal[d] * first[rows[i], d]
            b += normal[d] * second[rows[i], d]
        x[i], y[i] = a, b
        own += here[rows[i]] == cell
    return own


@njit(cache=True, nogil=True)
def _has_notch(x: FloatArray, y: FloatArray, own: int, stride: float, least: int) -> bool:
    """Whether the flux on a grid of offsets has a notch: cheap, before steps are sorted."""
    bottom, top = x[:own].min(), x[:own].max()
    if top <= bottom:
        return False
    width = (top - bottom) / _BINS
    flux, held = np.zeros(_BINS + 1, np.int64), np.zeros(_BINS + 1, np.int64)
    for i in range(own):
        held[min(int(np.ceil((x[i] - bottom) / width)), _BINS)] += 1
    for i in range(x.size):  # +1 where a downward step's interval begins, -1 where it ends
        if y[i] < x[i] and x[i] > bottom and y[i] < top:
            flux[min(max(int(np.ceil((y[i] - bottom) / width)), 0), _BINS)] += 1
            if x[i] < top:
                flux[min(int(np.ceil((x[i] - bottom) / width)), _BINS)] -= 1
    flux, held = np.cumsum(flux), np.cumsum(held)
    reach = max(1, int(stride / width))
    for j in range(1, _BINS):
        if held[j] < least or own - held[j] < least:
            continue
        above = flux[j : min(j + reach, _BINS) + 1].max()
        if above < least or flux[j] > _NOTCH * above:
            continue
        part = max(1, reach // _WINDOWS)
        counts = np.diff(held[np.minimum(j + part * np.arange(_WINDOWS + 1), _BINS)])
        if counts[0] >= _BLUNT * counts.max():
            return True
    return False


@njit(cache=True, nogil=True)
def _best_gap(
    x: FloatArray, y: FloatArray, own: int, stride: float, least: int
) -> tuple[float, float, int]:
    """Return the gap between downward steps with the largest flux above it, and that flux."""
    down = y < x
    lows, highs, inside = y[down], x[down], np.sort(x[:own])
    order = np.argsort(lows)
    starts, ends = lows[order], np.sort(highs)
    flux, bottom, top = 0, 0.0, 0.0
    far = -np.inf
    for i in range(order.size):
        if starts[i] > far > -np.inf:
            under = np.searchsorted(inside, starts[i])
            deep = np.searchsorted(inside, starts[i] - _DEEP * stride)
            if deep > 0 and under >= least and inside.size - under >= least:
                above = 0  # the largest flux within one step length
                for j in range(1, _PROBES + 1):
                    height = starts[i] + stride * j / _PROBES
                    through = np.searchsorted(starts, height) - np.searchsorted(ends, height)
                    above = max(above, int(through))
                # observations are about as dense right above the gap as a step further on
                windows = starts[i] + stride * np.arange(_WINDOWS + 1) / _WINDOWS
                count = np.diff(np.searchsorted(inside, windows))
                if above >= max(least, flux + 1) and count[0] >= _SHARP * count.max():
                    flux, bottom, top = above, far, starts[i]
        far = max(far, highs[order[i]])
    return bottom, top, flux
