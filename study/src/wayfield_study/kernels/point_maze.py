"""A ball in a maze of blocks: PointMaze's physics, a walker that heads for landmarks, a collector.

A step adds 0.2 times the action, clipped to [-1, 1], to the ball's centre. Every wall block nearer
than the ball's radius then pushes it out, by 0.8228 of the depth and without friction: what five
steps of MuJoCo's soft contacts come to, measured, and linear in the depth. (Of several blocks each
adds what the others' pushes lack; there MuJoCo, whose contacts have friction, differs by a few
hundredths.) That is where the ball is seen, and where it may have arrived. Last, and unseen until
its next step, a ball within reach of a teleport's entrance is put at one of the exits. All this is
as in OGBench.

Cell (i, j) of the maze is a square of side 4 around (x, y) = (4 j - 4, 4 i - 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from wayfield.numerics.jit import njit
from wayfield.typing import BoolArray, FloatArray, IntArray

UNIT, OFFSET = 4.0, 4.0
"""Side of a cell, and how far cell (0, 0) lies below the origin."""
STEP = 0.2
"""Length of a full step along an axis."""
RADIUS, PUSH = 0.7, 0.8227848
"""Of the ball, and the share of a dent that a wall undoes within a step."""
ARRIVAL, ENTRANCE = 1.0, 1.5
"""A goal and an entrance are reached within these distances."""
RASTER = 10.0
"""Squares of a raster of nearest landmarks along a unit of length."""


class Blocks(NamedTuple):
    """A maze as the ball meets it."""

    walls: BoolArray
    """(rows, columns), True where there is a block."""
    entrances: FloatArray
    """(k, 2) centres."""
    exits: FloatArray
    """(l, 2), each as likely as any other, whatever the entrance."""


@njit(cache=True)
def push_out(walls: BoolArray, x: float, y: float) -> tuple[float, float]:
    """Return where a ball placed at (x, y) ends: blocks that it overlaps push it out."""
    row, column = int((y + OFFSET) / UNIT + 0.5), int((x + OFFSET) / UNIT + 0.5)
    push_x, push_y = 0.0, 0.0
    for edges in (False, True):  # faces first: they are dented more than the edges beside them
        for i in range(max(row - 1, 0), min(row + 2, walls.shape[0])):
            for j in range(max(column - 1, 0), min(column + 2, walls.shape[1])):
                if not walls[i, j]:
                    continue
                middle_x, middle_y = j * UNIT - OFFSET, i * UNIT - OFFSET
                dx = x - min(max(x, middle_x - UNIT / 2), middle_x + UNIT / 2)
                dy = y - min(max(y, middle_y - UNIT / 2), middle_y + UNIT / 2)
                gap = np.sqrt(dx * dx + dy * dy)
                if edges == (dx != 0.0 and dy != 0.0) and 1e-9 < gap < RADIUS:
                    dx, dy = dx / gap, dy / gap
                    missing = PUSH * (RADIUS - gap) - (push_x * dx + push_y * dy)
                    if missing > 0.0:
                        push_x += missing * dx
                        push_y += missing * dy
    return x + push_x, y + push_y


@njit(cache=True)
def sent(maze: Blocks, x: float, y: float, luck: float) -> tuple[float, float]:
    """Return where a ball at (x, y) comes out if that is in a teleport, else its position."""
    for k in range(maze.entrances.shape[0]):
        dx, dy = x - maze.entrances[k, 0], y - maze.entrances[k, 1]
        if dx * dx + dy * dy <= ENTRANCE**2:
            out = int(luck * maze.exits.shape[0])
            return maze.exits[out, 0], maze.exits[out, 1]
    return x, y


@njit(cache=True)
def arrived(x: float, y: float, goal: FloatArray) -> bool:
    """Whether the ball is at its goal."""
    return (x - goal[0]) ** 2 + (y - goal[1]) ** 2 <= ARRIVAL**2


@njit(cache=True)
def walk(
    maze: Blocks,
    raster: IntArray,
    corner: FloatArray,
    targets: FloatArray,
    near: float,
    ends: FloatArray,
    noise: FloatArray,
    luck: FloatArray,
) -> int:
    """Walk to the goal, and return in how many steps; -1 if time is up before.

    Parameters
    ----------
    maze : Blocks
        Where to walk.
    raster, corner
        Number of the nearest landmark on a grid of squares, the lowest of which is at `corner`.
    targets : (n, 2) float array
        Where to head for from the squares of each landmark.
    near : float
        The goal itself is headed for from this near.
    ends : (2, 2) float array
        The start and the goal.
    noise, luck : (t, 2) and (t,) float arrays
        Added to the actions, and the teleports' dice in [0, 1); t is the time limit.
    """
    x, y, goal = ends[0, 0], ends[0, 1], ends[1]
    for t in range(noise.shape[0]):
        dx, dy = goal[0] - x, goal[1] - y
        if dx * dx + dy * dy >= near * near:
            i = min(max(int((x - corner[0]) * RASTER), 0), raster.shape[0] - 1)
            j = min(max(int((y - corner[1]) * RASTER), 0), raster.shape[1] - 1)
            landmark = raster[i, j]
            to_x, to_y = targets[landmark, 0] - x, targets[landmark, 1] - y
            if to_x * to_x + to_y * to_y > 1e-4:  # at the end of a plan, try the goal
                dx, dy = to_x, to_y
        size = max(np.sqrt(dx * dx + dy * dy), STEP)
        dx = STEP * min(max(dx / size + noise[t, 0], -1.0), 1.0)
        dy = STEP * min(max(dy / size + noise[t, 1], -1.0), 1.0)
        x, y = push_out(maze.walls, x + dx, y + dy)
        if arrived(x, y, goal):
            return t + 1
        x, y = sent(maze, x, y, luck[t])
    return -1


class Cells(NamedTuple):
    """The free cells of a maze by number, and the ways between them."""

    numbers: IntArray
    """(rows, columns); -1 at walls."""
    centres: FloatArray
    """(c, 2)."""
    onward: IntArray
    """(c, c): next cell on the way to a goal, by the goal and the cell; itself if there is none."""
    targets: IntArray
    """(g,) cells to draw new goals from."""


class Dice(NamedTuple):
    """All that is random in a buffer."""

    starts: FloatArray
    """(e, 2) where each episode begins."""
    goals: IntArray
    """(e,) the cell that it first makes for."""
    noise: FloatArray
    """(t, 2), added to the actions."""
    rolls: FloatArray
    """(t, 4) numbers in [0, 1): for teleports, for new goals and for the goal within its cell."""


@njit(cache=True)
def collect(
    maze: Blocks,
    cells: Cells,
    dice: Dice,
    roam: bool,
    observations: FloatArray,
    actions: FloatArray,
) -> None:
    """Fill a buffer with equally long episodes of a noisy walker, who goes from cell to cell.

    With `roam` it is given another goal whenever it has reached one; without, it stays there.
    """
    length = dice.noise.shape[0] // dice.starts.shape[0]
    place = np.empty(2)
    for episode in range(dice.starts.shape[0]):
        x, y = dice.starts[episode]
        goal = dice.goals[episode]
        for k in range(2):
            place[k] = cells.centres[goal, k]
        seen_x, seen_y = x, y
        for t in range(episode * length, (episode + 1) * length):
            observations[t, 0], observations[t, 1] = seen_x, seen_y
            here = cells.numbers[int((y + OFFSET) / UNIT + 0.5), int((x + OFFSET) / UNIT + 0.5)]
            following = cells.onward[goal, here]
            dx, dy = cells.centres[following, 0] - x, cells.centres[following, 1] - y
            size = np.sqrt(dx * dx + dy * dy) + 1e-6
            actions[t, 0] = min(max(dx / size + dice.noise[t, 0], -1.0), 1.0)
            actions[t, 1] = min(max(dy / size + dice.noise[t, 1], -1.0), 1.0)
            x, y = push_out(maze.walls, x + STEP * actions[t, 0], y + STEP * actions[t, 1])
            seen_x, seen_y = x, y
            x, y = sent(maze, x, y, dice.rolls[t, 0])
            if roam and arrived(seen_x, seen_y, place):
                goal = cells.targets[int(dice.rolls[t, 1] * cells.targets.size)]
                for k in range(2):
                    place[k] = cells.centres[goal, k] + 2.0 * dice.rolls[t, 2 + k] - 1.0
