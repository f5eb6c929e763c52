"""Which loops hold a body? A forecast from the graph alone, without physics.

On a maze, ties apart, every limit cycle of a greedy plan is a pair of neighbours: from x the walk
goes on to the least value around, so no value two steps on is above the last but one, and round a
cycle none can be below. With r vertices a cell the ant's loops are 4/r m long. The graph's walker
is caught whatever the size. A body is not a vertex: it sees a sub-goal some way ahead, runs at
speed V, does not stop at once, and cannot come closer to a wall than its own girth. It may have
run out of the basin of a loop, and be on another plan, before it stops.

So a stand-in is let loose on the plan: a point with position x and velocity v,

    v ← v + (w - v) · dt / (τ + dt) + sway,    w = V · min(1, d / δ) · (target - x) / d,
    x ← x + v · dt,    pushed back and stopped where it is nearer to a wall than its girth,

d = |target - x|, the target being the vertex that the plan reaches from x's vertex within the
look-ahead, as for the body itself. `sway` is a little Gaussian noise: legs come down where they
come down. A start is expected to arrive if most of its tries do.

The constants are the ant's: V its speed on open ground, the others fitted by random search to
1,149 episodes of harmonic plans on the medium and large mazes whose seeds (100, 101) no study uses.
They are a model's, not measurements of the ant, and the forecast is no bound: on fine graphs it
misses about half of the ants that are held.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.ndimage import distance_transform_edt

from .._arrays import as_real, as_vertices, as_whole
from ..kernels._types import FloatArray
from ..plan import Plan
from .coordinates import Coordinates
from .walking import steps_ahead

FINE = 40
"""Squares along the side of a cell in which the distance to the walls is tabulated."""


@dataclass(frozen=True)
class Gait:
    """How the stand-in moves; the ant's own figures by default.

    Attributes
    ----------
    speed : float
        Metres per second on open ground, V.
    lag : float
        Seconds in which the velocity follows, τ.
    slowing : float
        Metres from the target at which it begins to slow down, δ.
    girth : float
        Metres that it keeps from walls.
    sway : float
        Standard deviation of the noise of the velocity at every step, in m/s.
    tolerance : float
        Metres from the goal that count as arrived.

    Examples
    --------
    >>> Gait().speed * Gait().lag
    1.6
    """

    speed: float = 1.6
    lag: float = 1.0
    slowing: float = 0.5
    girth: float = 0.7
    sway: float = 0.1
    tolerance: float = 0.5


ANT = Gait()
_STEP = 0.1


def foresee(
    plan: Plan,
    coordinates: Coordinates,
    starts: ArrayLike | None = None,
    *,
    look_ahead: float = 1.0,
    gait: Gait = ANT,
    tries: int = 15,
    seconds: float = 100.0,
    seed: int = 0,
) -> FloatArray:
    """Share of tries in which the stand-in of a body arrives, for every start; no physics.

    Parameters
    ----------
    plan : Plan
        On ``grid_graph(coordinates.layout, r)``.
    coordinates : Coordinates
        Where the maze lies: ``maze.coordinates``.
    starts : sequence of vertices, optional
        Every vertex if not given.
    look_ahead : float
        Cells between the body and its sub-goal.
    gait : Gait
        How it moves.
    tries : int
        Stand-ins for every start; a share above one half means "will arrive".
    seconds : float
        Time that each of them has.
    seed : int
        Of their sway.

    Returns
    -------
    (k,) float array
        From 0 to 1, for each of `starts`.

    Examples
    --------
    >>> import wayfield as wf
    >>> graph = wf.grid_graph(wf.load_layout("medium"), refinement=4)
    >>> labels = wf.sample_labels(graph, 22, fraction=0.05, seed=58)
    >>> plan = wf.plan(graph, wf.extend(graph, labels, wf.Harmonic()), 22)
    >>> places = wf.sim.ogbench_coordinates(wf.load_layout("medium"))
    >>> foresee(plan, places, [0, 390]) > 0.5, plan.reached[[0, 390]]
    (array([ True, False]), array([ True, False]))
    """
    places = coordinates.of(plan.graph)
    ahead = max(1, round(as_real(look_ahead, "look_ahead", 1e-6) * places.refinement))
    targets = places.xy[steps_ahead(plan, ahead)]
    n, tries = plan.successor.size, as_whole(tries, "tries", 1)
    begin = np.arange(n) if starts is None else as_vertices(starts, "starts", n)
    goal, walls = places.xy[plan.goal], _Walls(places)
    rng = np.random.default_rng(seed)
    x = places.xy[np.repeat(begin, tries)]
    v = np.zeros_like(x)
    arrived = np.zeros(len(x), dtype=np.bool_)
    going = np.arange(len(x))
    for _ in range(round(as_real(seconds, "seconds", _STEP) / _STEP)):
        off = targets[places.vertices(x)] - x
        distance = np.hypot(*off.T)[:, None] + 1e-12
        wanted = gait.speed * np.minimum(1.0, distance / gait.slowing) * off / distance
        v += (wanted - v) * (_STEP / (gait.lag + _STEP)) + rng.normal(0, gait.sway, v.shape)
        x = x + v * _STEP
        walls.keep_off(x, v, gait.girth)
        there = np.hypot(*(x - goal).T) <= gait.tolerance
        arrived[going[there]] = True
        going, x, v = going[~there], x[~there], v[~there]
        if not going.size:
            break
    shares: FloatArray = arrived.reshape(-1, tries).mean(axis=1)
    return shares


class _Walls:
    """Distance to the nearest wall and the way off it, in small squares."""

    def __init__(self, places: Coordinates) -> None:
        self.fine = places.at(FINE)
        free = places.layout.free.repeat(FINE, axis=0).repeat(FINE, axis=1)
        self.gap = (distance_transform_edt(np.pad(free, 1))[1:-1, 1:-1] - 0.5) * self.fine.spacing
        down, right = np.gradient(self.gap)
        way = np.stack([right, places.down * down], axis=-1)
        self.way = way / (np.linalg.norm(way, axis=-1, keepdims=True) + 1e-12)

    def keep_off(self, x: FloatArray, v: FloatArray, girth: float) -> None:
        """Push back who is too near, and take away what of its velocity leads to the wall."""
        place = self.fine.squares(x)
        gap = self.gap[place]
        near = gap < girth
        way = self.way[place][near]
        x[near] += (girth - gap[near])[:, None] * way
        inward = np.minimum((v[near] * way).sum(axis=1, keepdims=True), 0.0)
        v[near] -= inward * way
