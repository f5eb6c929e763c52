"""Forecast of which loops trap a body, from the graph alone, without physics.

On a maze, apart from ties, every limit cycle of a greedy plan is a pair of neighbours. From x the
walk goes to the least value around, so the value two steps on is not larger than at x, and along a
cycle it cannot be smaller. With r vertices per cell the ant's loops are 4/r m long. A walker on the
graph is trapped whatever the size. A body is not a vertex: it sees a sub-goal some distance ahead,
runs at speed V, does not stop at once, and keeps its girth from walls. It can escape in two ways,
and is expected to arrive if either is possible.

*It never comes to rest in the loop.* A stand-in follows the plan, a point with position x and
velocity v,

    v ← v + (w - v) · dt / (τ + dt) + sway,    w = V · min(1, d / δ) · (target - x) / d,
    x ← x + v · dt,    pushed back and stopped where it is nearer to a wall than its girth,

d = |target - x|, where the target is the vertex that the plan reaches from x's vertex within the
look-ahead, as for the body itself. `sway` is a little Gaussian noise for the legs. Most of its
tries must arrive.

*The loop leaks.* A body at rest in a loop L still strays from it, and follows the plan wherever it
is. It escapes if the plan leads to the goal from enough of the vertices around,

    #{x : |x - mid L| ≤ reach, plan reaches the goal from x} ≥ leak · #{x : |x - mid L| ≤ reach}.

On coarse graphs only the loop itself is within reach.

The constants are the ant's. V is its speed. The others of the stand-in were fitted by random search
to 1,149 episodes of harmonic plans on the medium and large mazes (seeds 100, 101), reach and leak
to 1,202 episodes from starts that loop at r = 8 (seeds 200, 201, 300 to 309). No study uses these
seeds. They belong to a model and are not measurements of the ant, and the forecast is not a bound:
on fine graphs, two ants from the same start in two postures agree only about as often as the
forecast is right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import distance_transform_edt

from wayfield.checks import as_real, as_vertices, as_whole
from wayfield.plans.planning import Plan
from wayfield.typing import FloatArray

from .coordinates import Coordinates
from .walking import steps_ahead

FINE = 40
"""Squares along the side of a cell in which the distance to walls is tabulated."""


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
    reach, leak : float
        Distance in metres that the body strays from the middle of a loop, and the share of the
        vertices within it from which the plan must lead to the goal for the body to escape.

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
    reach: float = 1.0
    leak: float = 0.125


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
) -> NDArray[np.bool_]:
    """Whether a body is expected to arrive from each start, without physics.

    Parameters
    ----------
    plan : Plan
        On ``grid_graph(coordinates.layout, r)``.
    coordinates : Coordinates
        Coordinates of the maze: ``maze.coordinates``.
    starts : sequence of vertices, optional
        Default: every vertex.
    look_ahead : float
        Cells between the body and its sub-goal.
    gait : Gait
        How it moves.
    tries : int
        Stand-ins per start; more than half of them must arrive.
    seconds : float
        Time limit of each stand-in.
    seed : int
        Seed of their sway.

    Returns
    -------
    (k,) bool array
        For each of `starts`.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study import sim
    >>> graph = wf.grid_graph(wf.load_layout("medium"), refinement=4)
    >>> labels = wf.sample_labels(graph, 22, fraction=0.05, seed=58)
    >>> plan = wf.plan(graph, wf.extend(graph, labels, wf.Harmonic()), 22)
    >>> places = sim.ogbench_coordinates(wf.load_layout("medium"))
    >>> foresee(plan, places, [0, 390]), plan.reached[[0, 390]]
    (array([ True, False]), array([ True, False]))
    """
    places = coordinates.of(plan.graph)
    n = plan.successor.size
    begin = np.arange(n) if starts is None else as_vertices(starts, "starts", n)
    cells = as_real(look_ahead, "look_ahead", 1e-6)
    tries, seconds = as_whole(tries, "tries", 1), as_real(seconds, "seconds", _STEP)

    # The share of stand-ins that arrive.
    ahead = max(1, round(cells * places.refinement))
    targets = places.xy[steps_ahead(plan, ahead)]
    goal, clearance = places.xy[plan.goal], _Clearance(places)
    rng = np.random.default_rng(seed)
    x = places.xy[np.repeat(begin, tries)]
    v = np.zeros_like(x)
    arrived = np.zeros(len(x), dtype=np.bool_)
    going = np.arange(len(x))
    for _ in range(round(seconds / _STEP)):
        off = targets[places.vertices(x)] - x
        distance = np.hypot(*off.T)[:, None] + 1e-12
        wanted = gait.speed * np.minimum(1.0, distance / gait.slowing) * off / distance
        v += (wanted - v) * (_STEP / (gait.lag + _STEP)) + rng.normal(0, gait.sway, v.shape)
        x = x + v * _STEP
        clearance.keep_off(x, v, gait.girth)
        there = np.hypot(*(x - goal).T) <= gait.tolerance
        arrived[going[there]] = True
        going, x, v = going[~there], x[~there], v[~there]
        if not going.size:
            break
    arrives: NDArray[np.bool_] = arrived.reshape(-1, tries).mean(axis=1) > 0.5

    # For the other starts, whether the loop of the plan leaks; that of the goal does.
    onward = plan.successor
    for _ in range(n.bit_length()):  # doubles the distance each time, and ends on the loop
        onward = onward[onward]
    ends, which = np.unique(onward[begin[~arrives]], return_inverse=True)
    leaks = np.zeros(ends.size, dtype=np.bool_)
    for i, vertex in enumerate(ends.tolist()):
        loop = [vertex]
        while (following := int(plan.successor[loop[-1]])) != vertex:
            loop.append(following)
        near = np.hypot(*(places.xy - places.xy[loop].mean(axis=0)).T) <= gait.reach
        leaks[i] = (plan.reached[near].mean() if near.any() else 0.0) >= gait.leak
    arrives[~arrives] = leaks[which]
    return arrives


class _Clearance:
    """Distance to the nearest wall and the direction away from it, in small squares."""

    def __init__(self, places: Coordinates) -> None:
        self.fine = places.at(FINE)
        free = places.layout.free.repeat(FINE, axis=0).repeat(FINE, axis=1)
        self.gap = (distance_transform_edt(np.pad(free, 1))[1:-1, 1:-1] - 0.5) * self.fine.spacing
        down, right = np.gradient(self.gap)
        way = np.stack([right, places.down * down], axis=-1)
        self.way = way / (np.linalg.norm(way, axis=-1, keepdims=True) + 1e-12)

    def keep_off(self, x: FloatArray, v: FloatArray, girth: float) -> None:
        """Push bodies off the walls, and remove the part of their velocity towards the wall."""
        place = self.fine.squares(x)
        gap = self.gap[place]
        near = gap < girth
        way = self.way[place][near]
        x[near] += (girth - gap[near])[:, None] * way
        inward = np.minimum((v[near] * way).sum(axis=1, keepdims=True), 0.0)
        v[near] -= inward * way
