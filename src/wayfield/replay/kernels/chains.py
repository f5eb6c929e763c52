"""Loops over stitches and pools: walls, values, arrival, sub-goals. `chains` says what they are."""

from __future__ import annotations

import heapq
from math import ceil, floor, log, sqrt

import numpy as np

from ...numerics.jit import njit
from ...typing import BoolArray, FloatArray, IntArray

PLANES = 16
"""Planes per direction in the window of a site."""


@njit(cache=True, nogil=True)
def find_walls(
    sites: FloatArray,
    near: IntArray,
    reach: FloatArray,
    begin: FloatArray,
    change: FloatArray,
    normals: FloatArray,
    leak: float,
    odds: float,
) -> IntArray:
    """Return the planes at every site that hardly any transition crosses, as bits.

    A plane is a wall if its crossings are `odds` times as likely with a share `leak` of those
    expected as with all of them. Transitions in a slab of half-width h around it are expected to
    cross with probability min(|change| / h, 1) / 2, as if they began anywhere in it.
    """
    walls = np.zeros((sites.shape[0], normals.shape[0]), np.int64)
    expected, crossed = np.empty(PLANES + 1), np.empty(PLANES + 1)
    for site in range(sites.shape[0]):
        radius = reach[site]
        width = 2.0 * radius / PLANES
        slab = 0.5 * radius
        for n in range(normals.shape[0]):
            expected[:] = 0.0
            crossed[:] = 0.0
            for i in near[site]:
                s = 0.0
                step = 0.0
                for c in range(sites.shape[1]):
                    s += normals[n, c] * (begin[i, c] - sites[site, c])
                    step += normals[n, c] * change[i, c]
                share = 0.5 * min(abs(step) / slab, 1.0)
                first = max(1, ceil((s - slab + radius) / width))
                last = min(PLANES - 1, floor((s + slab + radius) / width))
                for k in range(first, last + 1):
                    expected[k] += share
                one, other = min(s, s + step), max(s, s + step)
                first = max(1, ceil((max(one, -radius) + radius) / width))
                last = min(PLANES - 1, floor((min(other, radius) + radius) / width))
                for k in range(first, last + 1):
                    crossed[k] += 1.0
            for k in range(1, PLANES):
                if crossed[k] * log(1.0 / leak) - (1.0 - leak) * expected[k] < -log(odds):
                    walls[site, n] |= 1 << k
    return walls


@njit(cache=True, nogil=True)
def parted(
    a: FloatArray,
    b: FloatArray,
    site: int,
    sites: FloatArray,
    reach: FloatArray,
    normals: FloatArray,
    walls: IntArray,
) -> bool:
    """Whether a wall of the site lies between two points."""
    radius = reach[site]
    for n in range(normals.shape[0]):
        bits = walls[site, n]
        if bits == 0:
            continue
        one, other = 0.0, 0.0
        for c in range(a.size):
            one += normals[n, c] * (a[c] - sites[site, c])
            other += normals[n, c] * (b[c] - sites[site, c])
        low, high = max(min(one, other), -radius), min(max(one, other), radius)
        first = floor((low + radius) * PLANES / (2.0 * radius)) + 1
        last = ceil((high + radius) * PLANES / (2.0 * radius)) - 1
        for k in range(first, last + 1):
            if bits >> k & 1:
                return True
    return False


@njit(cache=True, nogil=True)
def part_links(
    here: FloatArray,
    there: FloatArray,
    links: IntArray,
    site: IntArray,
    far: IntArray,
    sites: FloatArray,
    reach: FloatArray,
    normals: FloatArray,
    walls: IntArray,
) -> BoolArray:
    """Return the links from `here[i]` to `there[links[i, k]]` that cross a wall of either end."""
    found = np.zeros(links.shape, np.bool_)
    for i in range(links.shape[0]):
        for k in range(links.shape[1]):
            j = links[i, k]
            if j < 0:
                continue
            found[i, k] = parted(here[i], there[j], site[i], sites, reach, normals, walls)
            if not found[i, k]:
                found[i, k] = parted(here[i], there[j], far[j], sites, reach, normals, walls)
    return found


@njit(cache=True, nogil=True)
def shortest(goal: BoolArray, log_odds: FloatArray, starts: IntArray, links: IntArray) -> IntArray:
    """Return outcomes in the order of their cost to the goal, were no step to fail; others last.

    `links[starts[j] : starts[j + 1]]` are the stitches (outcome * K + k) to transition j.
    """
    n, width = log_odds.shape
    cost, order, found = np.full(n, np.inf), np.empty(n, np.int64), 0
    heap = [(0.0, -1)]
    for i in range(n):
        if goal[i]:
            cost[i] = 0.0
            heapq.heappush(heap, (0.0, i))
    while len(heap) > 0:
        key, j = heapq.heappop(heap)
        if j < 0 or key > cost[j]:
            continue
        order[found] = j
        found += 1
        for e in range(starts[j], starts[j + 1]):
            i = links[e] // width
            new = key - log_odds[i, links[e] % width]
            if new < cost[i]:
                cost[i] = new
                heapq.heappush(heap, (new, i))
    return order[:found]


@njit(cache=True, nogil=True)
def pooled(values: FloatArray, pool: IntArray, share: FloatArray, j: int, caution: float) -> float:
    """Return the mean value of a pool, less `caution` standard errors, but at least half of it.

    Without this least share, values that rise from 0 could stay there: where one of n outcomes is
    worth anything, the mean and its standard error are the same.
    """
    mean, square, effective = 0.0, 0.0, 0.0
    for p in range(pool.shape[1]):
        i = pool[j, p]
        if i < 0:
            break
        mean += share[j, p] * values[i]
        square += share[j, p] * values[i] * values[i]
        effective += share[j, p] * share[j, p]
    if caution == 0.0:
        return mean
    error = sqrt(max(square - mean * mean, 0.0) * effective)
    return min(max(mean - caution * error, 0.5 * mean), 1.0)


@njit(cache=True, nogil=True)
def improve(
    order: IntArray,
    values: FloatArray,
    worth: FloatArray,
    choice: IntArray,
    fixed: BoolArray,
    odds: FloatArray,
    near: IntArray,
    pool: IntArray,
    share: FloatArray,
    discount: float,
    caution: float,
    block: int,
    repeats: int,
) -> float:
    """Sweep once, from the goal outwards; return the mean relative rise of the values.

    `values` are those of outcomes and `worth` those of transitions; both only rise. The sweep goes
    on by `block` outcomes at a time and repeats each twice `repeats` times, the block before
    included, because pools hold outcomes a little farther from the goal.
    """
    risen = 0.0
    for start in range(0, order.size, block):
        for _ in range(repeats):
            for t in range(max(0, start - block), min(order.size, start + block)):
                i = order[t]
                if not fixed[i]:
                    best = values[i]
                    for k in range(near.shape[1]):
                        new = odds[i, k] * discount * worth[near[i, k]]
                        if new > best:
                            best = new
                            choice[i] = k
                    if best > values[i]:
                        risen += 1.0 - values[i] / best
                    values[i] = best
                new = pooled(values, pool, share, i, caution)
                if new > worth[i]:
                    worth[i] = new
    return risen / order.size


@njit(cache=True, nogil=True)
def follow(
    order: IntArray,
    arrival: FloatArray,
    choice: IntArray,
    fixed: BoolArray,
    odds: FloatArray,
    near: IntArray,
    pool: IntArray,
    share: FloatArray,
    caution: float,
    discount: float,
    block: int,
    repeats: int,
) -> float:
    """Sweep the probabilities of arrival under `choice` once, like `improve`.

    Return the mean change.
    """
    changed = 0.0
    for start in range(0, order.size, block):
        for _ in range(repeats):
            for t in range(max(0, start - block), min(order.size, start + block)):
                i = order[t]
                if fixed[i] or choice[i] < 0:
                    continue
                j = near[i, choice[i]]
                new = discount * odds[i, choice[i]] * pooled(arrival, pool, share, j, caution)
                changed += abs(new - arrival[i])
                arrival[i] = new
    return changed / order.size


@njit(cache=True, nogil=True)
def look_ahead(
    points: FloatArray,
    first: IntArray,
    after: FloatArray,
    following: IntArray,
    goal: BoolArray,
    slack: float,
    most: int,
) -> IntArray:
    """Return the farthest outcome of each chain such that a straight line to it stays near."""
    found = first.copy()
    path = np.empty(most + 1, np.int64)
    for i in range(first.size):
        path[0] = first[i]
        count = 1
        while count <= most and not goal[found[i]]:
            j = following[path[count - 1]]
            if j < 0:
                break
            length, farthest = 0.0, 0.0
            for c in range(points.shape[1]):
                length += (after[j, c] - points[i, c]) ** 2
            for u in range(count):
                z = path[u]
                along, off = 0.0, 0.0
                for c in range(points.shape[1]):
                    along += (after[z, c] - points[i, c]) * (after[j, c] - points[i, c])
                along = min(max(along / max(length, 1e-12), 0.0), 1.0)
                for c in range(points.shape[1]):
                    off += (after[z, c] - points[i, c] - along * (after[j, c] - points[i, c])) ** 2
                farthest = max(farthest, off)
            if farthest > slack**2:
                break
            path[count] = j
            count += 1
            found[i] = j
    return found
