"""Chains of recorded transitions and stitches: what a plan may do, and how likely it is to work.

A *stitch* goes on from the outcome of one transition as if at the beginning of another one. It
fails with a probability that grows superlinearly with its length (`stitch_odds`, the only place
where this law is written). Transitions are kept as rows; nothing is merged. Three things are found
for each row:

- *stitches*: the `STITCHES` rows nearest to its outcome;
- its *pool*: up to `POOL` rows near in place and action. Their outcomes are the odds of the action;
- *walls*: planes that nobody crossed although many came near. No stitch and no pool crosses one.
  They are looked for among the directions in which the buffer is widest, because there the rows
  are densest (`kernels.chains.find_walls`).

The value of an outcome is the best, over its stitches, of

    odds · discount · (mean over the pool - standard error),

and that of an outcome at the goal is 1. Values are set in order, from the goal outwards, in sweeps
that only raise them. The same choices are then evaluated without discount: this is the probability
of arrival.

Constants, with the development worlds on which they were chosen. What other values did is given
where it was measured; ranges are not known for the others.

====================  ==========  ===============================================================
STITCHES, POOL        12, 40      with a pool no larger than the stitches the best is luck (lava)
POOL_WIDTH, WIDEST    0.7, 1.5    reach of a pool in steps; at 20,000 rows 0.7 alone holds 3 to 8
                                  rows, and agents take a gamble that was lucky (teleport)
ENOUGH                20          rows that a pool should have; 8: .40 arrive, 20: .90 (teleport)
POWER                 6           growth of the failure of a stitch; not varied
LEAST_SCALE           0.7         least length at which a stitch mostly fails; 1.5 and 2.5 tried
HORIZON               200         steps after which arrival is worth 1/e; not varied
CAUTION               1           standard errors; 2: the same (teleport, lava)
GOAL_RADIUS           0.7         steps within which a goal is reached; not varied
WIDE                  0.5         directions as wide as that share of the second widest
WALL_ODDS, LEAK       30, 0.2     evidence of a wall; 10 and 4: twice and three times as many links
                                  cut at 20,000 rows (thin-walled corridors), 1,000: walls missed
NORMALS               16          directions of walls in the plane; 8 misses curved ones (spiral)
AHEAD, SLACK          16, 0.35    links and deviation of a sub-goal; 0.7: .85 arrive instead of .95
                                  (corridors with momentum)
JUMP, NO_CHOICE       5, 0.2      steps that long are jumps; weight of actions beside one
                                  (teleport: .75 to 1.00)
WANDER, FAR, NOTHING  3, 5, 1e-12 how far agents may be from the rows; when a goal is refused; odds
                                  that count as none; not varied
BLOCKS, REPEATS       30, 3       order of sweeps; these affect only time
====================  ==========  ===============================================================
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from ..errors import InputError
from ..typing import BoolArray, FloatArray, IntArray
from .dataset import Buffer
from .kernels.chains import find_walls, follow, improve, part_links, shortest
from .metric import Metric

STITCHES = 12
POOL = 40
POOL_WIDTH = 0.7
ENOUGH = 20
WIDEST = 1.5
POWER = 6.0
LEAST_SCALE = 0.7
HORIZON = 200.0
DISCOUNT = 1.0 - 1.0 / HORIZON
CAUTION = 1.0
GOAL_RADIUS = 0.7
WIDE = 0.5
WALL_ODDS = 30.0
LEAK = 0.2
AHEAD = 16
FAR = 5.0
WANDER = 3.0
NOTHING = 1e-12
NO_CHOICE = 0.2
SLACK = 0.35
JUMP = 5.0
NORMALS = 16
BLOCKS = 30
REPEATS = 3
_SITES, _WINDOW, _SWEEPS, _RISE = 10_000, 128, 30, 0.2


def query(tree: cKDTree, points: FloatArray, count: int) -> tuple[FloatArray, IntArray]:
    """Return the distances of the nearest `count` points of a tree, and which they are."""
    away, near = tree.query(points, np.arange(1, count + 1))
    return np.asarray(away, float), np.asarray(near, np.int64)


def stitch_odds(gap: FloatArray, scale: float, floor: float) -> FloatArray:
    """Return the probability that stitches of these lengths, in steps, hold.

    exp(-(g / scale)⁶), where g² = gap² - floor²: the gap beyond the usual distance between an
    outcome and the nearest row of the same place.
    """
    beyond = np.sqrt(np.maximum(gap**2 - floor**2, 0.0))
    odds: FloatArray = np.exp(-((beyond / scale) ** POWER))
    return odds


@dataclass(frozen=True, eq=False)
class Rows:
    """Recorded transitions: observations before and after, action vectors, episodes, deaths."""

    before: FloatArray
    after: FloatArray
    taken: NDArray[Any] | None
    vectors: FloatArray | None
    episode: IntArray
    died: BoolArray
    unseen: BoolArray
    """Rows that ended where nobody looked."""

    def some(self, which: Any) -> Rows:
        """Return some of the rows."""
        parts: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        chosen: dict[str, Any] = {k: None if v is None else v[which] for k, v in parts.items()}
        return Rows(**chosen)

    def __post_init__(self) -> None:
        if len({len(of) for of in vars(self).values() if of is not None}) > 1:
            raise ValueError("its rows do not fit each other")


def read_transitions(buffer: Buffer, actions: Any) -> Rows:
    """Return the transitions of a buffer."""
    begins = np.append(True, ~buffer.joined[:-1])
    if buffer.second.size:
        row, after = np.arange(len(buffer.first)), buffer.second.astype(float)
        unseen = np.zeros(len(row), bool)
    else:  # the outcome of a death that nobody saw: another step like the one before
        row = np.flatnonzero(buffer.valid | buffer.died)
        unseen = ~buffer.valid[row]
        first = buffer.first.astype(float)
        after = first[np.minimum(row + 1, len(first) - 1)]
        after[unseen] = first[row[unseen]]
        more = unseen & ~begins[row]
        after[more] += first[row[more]] - first[row[more] - 1]
    begin = np.append(True, ~buffer.valid[:-1]) if not buffer.second.size else begins
    taken = vectors = None
    if actions is not None:
        taken = np.asarray(actions)[row]
        vectors = action_vectors(taken)
    episode = np.cumsum(begin)[row] - 1
    before = buffer.first[row].astype(float)
    return Rows(before, after, taken, vectors, episode, buffer.died[row], unseen)


def action_vectors(taken: NDArray[Any]) -> FloatArray:
    """Return actions as vectors: indicators of whole numbers, others by their spread."""
    flat = taken.reshape(len(taken), -1)
    if flat.shape[1] == 1 and taken.dtype.kind in "iub":
        kinds, kind = np.unique(flat, return_inverse=True)
        if kinds.size > 64:
            raise InputError(
                f"actions have {kinds.size} kinds, of which a planner takes at most 64: if their "
                "numbers stand for vectors, pass the vectors, as floats"
            )
        return 3.0 * np.eye(kinds.size)[kind.ravel()]
    spread = flat.std(axis=0)
    return flat / np.where(spread > 0.0, spread, 1.0)


@dataclass(frozen=True, eq=False)
class Walls:
    """Planes that nobody crosses, around sites in the widest directions of the features."""

    axes: FloatArray
    sites: FloatArray
    reach: FloatArray
    normals: FloatArray
    planes: IntArray
    shown: float
    """Share of the sites where a wall would be seen."""

    @property
    def parts(self) -> tuple[FloatArray, FloatArray, FloatArray, IntArray]:
        """What kernels need."""
        return self.sites, self.reach, self.normals, self.planes


@dataclass(frozen=True, eq=False)
class Chains:
    """Rows, their stitches, pools and walls."""

    rows: Rows
    metric: Metric
    acted: bool
    before: FloatArray
    after: FloatArray
    joint: FloatArray
    wide: FloatArray
    wide_after: FloatArray
    places: FloatArray
    sites_of_rows: IntArray
    tree: cKDTree
    site_tree: cKDTree
    gap: FloatArray
    near: IntArray
    odds: FloatArray
    pool: IntArray
    share: FloatArray
    walls: Walls
    scale: float
    floor: float

    def choose(
        self, points: FloatArray, worth: FloatArray
    ) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the best row to go on from at each point, the odds of the stitch, and its score.

        An agent walks back to the rows by itself, so it may be `WANDER` times as far from them as
        an outcome from the next row. The score is the product of these odds, the discount of its
        length, and the row's worth.
        """
        gap, near = query(self.tree, points, self.near.shape[1])
        odds = stitch_odds(gap, WANDER * self.scale, self.floor)
        wide = points @ self.walls.axes
        sites = query(self.site_tree, wide, 1)[1][:, 0]
        ends = wide, self.places, near, sites, self.sites_of_rows
        odds[part_links(*ends, *self.walls.parts)] = 0.0
        score = odds * DISCOUNT**gap * worth[near]
        score[score < NOTHING] = 0.0
        # where all fail, the nearest row
        best = np.where(score.max(axis=1) > 0.0, score.argmax(axis=1), 0)
        at = np.arange(len(points)), best
        return near[at], odds[at], score[at]

    def mean_of(self, values: FloatArray, rows: IntArray) -> FloatArray:
        """Return the mean over the pools of rows of what outcomes are worth."""
        pool = self.pool[rows]
        mean: FloatArray = (self.share[rows] * values[pool] * (pool >= 0)).sum(axis=1)
        return mean

    def nearest(self, points: FloatArray, among: IntArray) -> IntArray:
        """Return which of some rows is nearest to each point."""
        return query(cKDTree(self.before[among]), points, 1)[1][:, 0]

    def nearest_gap(self, points: FloatArray) -> FloatArray:
        """Return the distance from points to the nearest row, in steps."""
        return query(self.tree, points, 1)[0][:, 0]

    def gaps_along(self, path: list[int]) -> FloatArray:
        """Return the lengths of the stitches of a path of rows."""
        gaps: FloatArray = np.linalg.norm(self.after[path[:-1]] - self.before[path[1:]], axis=1)
        return gaps


def make_chains(rows: Rows, metric: Metric, acted: bool, seed: int) -> Chains:
    """Find the stitches, pools and walls of rows."""
    before, after = metric(rows.before), metric(rows.after)
    change, n = after - before, len(before)
    size = np.linalg.norm(change, axis=1)
    jumped = size > JUMP * np.quantile(size[size > 0.0], 0.9) if (size > 0.0).any() else size > 0
    # what an action is; without any, the step itself, or that before a jump
    if acted and rows.vectors is not None:
        action = rows.vectors
    else:
        same = np.append(False, rows.episode[1:] == rows.episode[:-1])
        earlier = np.where(same[:, None], np.roll(change, 1, axis=0), 0.0)
        action = np.where(jumped[:, None], earlier, change)
    joint = np.hstack([before, action])

    # walls, in the widest directions
    spread, turn = np.linalg.eigh(np.atleast_2d(np.cov(before.T)))
    extent = np.sqrt(np.maximum(spread[::-1], 0.0))
    wide = turn[:, ::-1][:, extent >= WIDE * extent[min(1, len(extent) - 1)]]
    axes = np.ascontiguousarray(wide[:, :3])
    walls = walls_of(before @ axes, (after - before) @ axes, ~jumped & ~rows.died, axes, seed)

    # stitches
    tree = cKDTree(before)
    count = min(STITCHES, n)
    gap, near = query(tree, after, count)
    apart = np.where(rows.episode[near] != rows.episode[:, None], gap, np.inf).min(axis=1)
    apart = apart[np.isfinite(apart) & ~rows.died]
    if not apart.size:
        raise InputError("no two episodes come near each other: there is nothing to stitch")
    floor = float(np.median(apart))
    scale = max(LEAST_SCALE, float(np.quantile(apart, 0.99)))
    odds = stitch_odds(gap, scale, floor)
    site_tree = cKDTree(walls.sites)
    one, other = before @ axes, after @ axes
    at_before, at_after = (query(site_tree, points, 1)[1][:, 0] for points in (one, other))
    odds[part_links(other, one, near, at_after, at_before, *walls.parts)] = 0.0
    odds[rows.died] = 0.0

    # pools
    away, pool = query(cKDTree(joint), joint, min(POOL, n))
    if jumped.any():  # nobody chooses where a jump leads, so actions hardly count near one
        beside = np.flatnonzero(jumped[query(tree, before, count)[1]].any(axis=1))
        alike = np.hstack([before, NO_CHOICE * action])
        away[beside], pool[beside] = query(cKDTree(alike), alike[beside], pool.shape[1])
    width = np.clip(away[:, min(ENOUGH, away.shape[1]) - 1], POOL_WIDTH, WIDEST)[:, None]
    share = np.exp(-2.0 * (away / width) ** 2) + (away == 0.0)
    share[part_links(one, one, pool, at_before, at_before, *walls.parts)] = 0.0
    share[share < 1e-3] = 0.0
    order = np.argsort(share == 0.0, axis=1, kind="stable")
    share = np.take_along_axis(share, order, axis=1)
    pool = np.where(share > 0.0, np.take_along_axis(pool, order, axis=1), -1)
    share /= share.sum(axis=1, keepdims=True)
    wide = np.ascontiguousarray(wide)
    return Chains(
        rows, metric, acted, before, after, joint, wide, after @ wide, one, at_before, tree,
        site_tree, gap, near, odds, pool, share, walls, scale, floor,
    )  # fmt: skip


def walls_of(
    begin: FloatArray, change: FloatArray, usual: BoolArray, axes: FloatArray, seed: int
) -> Walls:
    """Find planes that hardly any transition crosses although many came near."""
    rng = np.random.default_rng([seed, 2])
    width = begin.shape[1]
    if width == 1:
        normals = np.ones((1, 1))
    elif width == 2:
        angle = np.arange(NORMALS) * np.pi / NORMALS
        normals = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    else:
        grid = np.array(np.meshgrid(*[[-1, 0, 1]] * 3)).reshape(3, -1).T
        normals = grid[14:] / np.linalg.norm(grid[14:], axis=1, keepdims=True)
    some = np.flatnonzero(usual)
    count = min(_WINDOW, len(some))
    sites = begin[rng.permutation(len(begin))[:_SITES]]
    # as many rows that windows are about a step wide
    tree = cKDTree(begin[some])
    radius = float(np.median(query(tree, sites[:500], count)[0][:, -1]))
    keep = int(np.clip(len(some) * min(1.0, radius**width), min(8000, len(some)), len(some)))
    some = np.sort(rng.permutation(some)[:keep])
    away, near = query(cKDTree(begin[some]), sites, count)
    reach = np.maximum(away[:, -1], 1e-9)
    planes = find_walls(sites, near, reach, begin[some], change[some], normals, LEAK, WALL_ODDS)
    shown = float((reach < 2.0).mean()) if count == _WINDOW else 0.0
    return Walls(axes, sites, reach, normals, planes, shown)


@dataclass(frozen=True, eq=False)
class Plan:
    """Values, choices and probabilities of arrival of all outcomes, for one goal."""

    values: FloatArray
    worth: FloatArray
    """What transitions are worth: cautious means over their pools."""
    arrival: FloatArray
    choice: IntArray
    following: IntArray
    goal: BoolArray
    order: IntArray
    asked: FloatArray
    point: FloatArray
    away: float
    radius: FloatArray | None
    stay: FloatArray
    """What transitions are worth at the goal: the nearer their outcomes, the more."""

    def at_goal(self, points: FloatArray) -> BoolArray:
        """Whether features are those of the goal."""
        near: BoolArray = np.linalg.norm(points - self.point, axis=1) <= GOAL_RADIUS
        return near

    def arrived(self, rows: FloatArray, points: FloatArray) -> BoolArray:
        """Whether observations are within the radius that was asked for."""
        if self.radius is None:
            return self.at_goal(points)
        return within(rows, self.asked, self.radius)


def within(rows: FloatArray, goal: FloatArray, radius: FloatArray) -> BoolArray:
    """Whether observations are within a radius of the goal, one for each coordinate."""
    inside: BoolArray = (((rows - goal) / radius) ** 2).sum(axis=1) <= 1.0
    return inside


def make_plan(chains: Chains, goal: FloatArray, radius: FloatArray | None = None) -> Plan:
    """Plan for a goal: outcomes within `GOAL_RADIUS` steps, the nearest three at least.

    With a radius, in the units of the observations: the outcomes within it. If there are none, it
    is the nearest outcome, and arrival there counts by the odds of a stitch from it to the goal.
    """
    rows, point = chains.rows, chains.metric(goal[None])[0]
    apart = np.linalg.norm(chains.after - point, axis=1)
    apart[rows.unseen] = np.inf
    near = np.sort(apart[np.argpartition(apart, min(2, len(apart) - 1))[:3]])
    inside, sure = apart <= max(GOAL_RADIUS, near[-1]), 1.0
    if radius is not None:
        inside = within(rows.after, goal, radius) & ~rows.unseen
        if not inside.any():
            inside = apart <= near[0]
            sure = float(stitch_odds(near[:1], chains.scale, chains.floor)[0])

    # outcomes from the goal outwards, as if nothing failed
    links, size = chains.near.ravel(), len(apart)
    usable = np.flatnonzero(chains.odds.ravel() > 0.0)
    usable = usable[np.argsort(links[usable], kind="stable")]
    starts = np.searchsorted(links[usable], np.arange(size + 1))
    odds = chains.odds * DISCOUNT**chains.gap
    with np.errstate(divide="ignore"):
        order = shortest(inside, np.log(odds) - 1.0 / HORIZON, starts, usable)
    order = np.append(order, np.setdiff1d(np.arange(size), order))

    # their values
    fixed, block = inside | rows.died, max(100, size // BLOCKS)
    values, worth, choice = inside.astype(float), np.zeros(size), np.full(size, -1)
    for _ in range(_SWEEPS):
        risen = improve(
            order, values, worth, choice, fixed, odds, chains.near, chains.pool, chains.share,
            DISCOUNT, CAUTION, block, REPEATS,
        )  # fmt: skip
        if risen * HORIZON < _RISE:
            break
        order = order[np.argsort(-values[order], kind="stable")]
    following = np.where(choice >= 0, chains.near[np.arange(size), choice], -1)
    stay = 1.0 / (1.0 + chains.mean_of(np.where(np.isfinite(apart), apart, 1e9), np.arange(size)))
    plan = Plan(
        values, worth, values, choice, following, inside, order, goal, point, float(near[0]),
        radius, stay,
    )  # fmt: skip
    return replace(plan, arrival=sure * judged(chains, plan))


def judged(chains: Chains, plan: Plan, caution: float = 0.0, power: float = 1.0) -> FloatArray:
    """Return the probability of arrival under the choices of a plan, from every outcome.

    Means over pools are lowered by `caution` standard errors; odds of stitches are raised to
    `power`.
    """
    arrival, fixed = plan.goal.astype(float), plan.goal | chains.rows.died
    odds, block = chains.odds**power, max(100, len(arrival) // BLOCKS)
    for _ in range(_SWEEPS):
        change = follow(
            plan.order, arrival, plan.choice, fixed, odds, chains.near, chains.pool, chains.share,
            caution, 1.0 - 1e-4, block, REPEATS,
        )  # fmt: skip
        if change < 1e-3:
            break
    return arrival
