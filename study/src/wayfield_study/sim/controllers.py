"""Controllers that move a body to a nearby point: a trained policy for the ant, rules for points.

**The ant** (29 numbers: position 15, velocity 14) is driven by a network 29 → 256 → 256 → 8, swish
inside and tanh at the end. Its weights are in ``weights/ant.npz``; ``weights/README.md`` explains
their origin, and ``training/`` in the repository trains them again. It sees neither x, y nor walls:
only the direction and distance of the target in the frame of its body, its height, its up vector,
its velocities and its joints.

The ant is symmetric under quarter turns about its own axis. So the frame is turned by k quarter
turns until the target is within 45° of the front, the network acts there, and its torques are
assigned to the legs turned back. A quarter turn moves leg i to leg i + 1; the ankle axes of legs 2
and 3 point the other way, hence the signs.

**Points.** Gymnasium-Robotics' point is pushed by a force and damped by its speed,
a = 10 (target - x) - v, D4RL's waypoint rule. OGBench's point is moved directly, by at most 0.2 m
along each axis, so a = (target - x) / 0.2 suffices.
"""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wayfield.errors import InputError
from wayfield.typing import FloatArray

REACH = 6.0
"""Metres; a farther target is seen at this distance, the largest in training."""
_SIGN = np.array([1.0, -1.0, -1.0, 1.0])
"""Signs of the ankle axes of the four legs."""
_ACTUATED = np.array([3, 0, 1, 2])
"""Legs in the order of the actuators."""
_COSINE, _SINE = np.array([1.0, 0.0, -1.0, 0.0]), np.array([0.0, 1.0, 0.0, -1.0])


class Controller(Protocol):
    """A controller of a body: ``controller(position, velocity, target)`` is the next action."""

    def __call__(
        self, position: FloatArray, velocity: FloatArray, target: FloatArray
    ) -> FloatArray:
        """Return the action that moves the body towards the target, an (x, y)."""
        ...


class AntController:
    """The trained controller of the ant, for targets (x, y) at 1 to 6 m.

    Parameters
    ----------
    weights : path, optional
        An ``.npz`` file as written by ``training/train.py``. Default: the weights of the package.

    Examples
    --------
    >>> position = np.array([0, 0, 0.55, 1, 0, 0, 0, 0, 1, 0, -1, 0, -1, 0, 1.0])
    >>> torques = AntController()(position, np.zeros(14), np.array([4.0, 0.0]))
    >>> torques.shape, bool(abs(torques).max() <= 1)
    ((8,), True)
    """

    def __init__(self, weights: str | Path | None = None) -> None:
        self._mean, self._scale, self._layers = (
            _shipped() if weights is None else _read_weights(Path(weights))
        )

    def __call__(
        self, position: FloatArray, velocity: FloatArray, target: FloatArray
    ) -> FloatArray:
        """Return the eight torques, from -1 to 1."""
        features, turns = observe(position, velocity, target)
        hidden = np.clip((features - self._mean) * self._scale, -10, 10)
        for weights, bias in self._layers[:-1]:
            hidden = hidden @ weights + bias
            hidden = hidden / (1 + np.exp(-hidden))
        weights, bias = self._layers[-1]
        return torques(np.tanh(hidden @ weights + bias), turns)


def observe(
    position: FloatArray, velocity: FloatArray, target: FloatArray, xp: Any = np
) -> tuple[FloatArray, Any]:
    """Return the network's 29 inputs and the number of quarter turns of their frame.

    `xp` is NumPy or a module like it: training calls this with ``jax.numpy``.
    """
    w, x, y, z = position[3:7] / xp.sqrt(xp.sum(position[3:7] ** 2))
    rotation = xp.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
    offset = target - position[:2]
    distance = xp.sqrt(xp.sum(offset**2) + 1e-9)
    ahead = (offset / distance) @ rotation[:2]
    turns = xp.round(xp.arctan2(ahead[1], ahead[0]) / (np.pi / 2)).astype(int) % 4
    cosine, sine = xp.array(_COSINE)[turns], xp.array(_SINE)[turns]

    def turned(v: Any) -> Any:
        return xp.array([cosine * v[0] + sine * v[1], cosine * v[1] - sine * v[0], v[2]])

    legs = (xp.arange(4) + turns) % 4
    sign = xp.array(_SIGN)[legs]
    joints, speeds = position[7:].reshape(4, 2)[legs], velocity[6:].reshape(4, 2)[legs]
    features = xp.concatenate(
        [
            turned(ahead)[:2],
            xp.minimum(distance, REACH)[None],
            position[2:3],
            turned(rotation[2]),
            turned(velocity[:3] @ rotation),
            turned(velocity[3:6]),
            joints[:, 0],
            joints[:, 1] * sign,
            speeds[:, 0],
            speeds[:, 1] * sign,
        ]
    )
    return features, turns


def torques(action: FloatArray, turns: Any, xp: Any = np) -> FloatArray:
    """Assign the network's outputs (four hips, four ankles) to the actuators, turned back."""
    legs = xp.array(_ACTUATED)
    slots = (legs - turns) % 4
    pairs = [action[:4][slots], action[4:][slots] * xp.array(_SIGN)[legs]]
    return xp.stack(pairs, axis=1).reshape(8)  # type: ignore[no-any-return]


class PointController:
    """Gymnasium-Robotics' point: a force towards the target, damped by the speed.

    Examples
    --------
    >>> PointController()(np.zeros(2), np.zeros(2), np.array([0.05, 3.0]))
    array([0.5, 1. ])
    """

    gain, damping = 10.0, 1.0

    def __call__(
        self, position: FloatArray, velocity: FloatArray, target: FloatArray
    ) -> FloatArray:
        """Return the force along x and y, from -1 to 1."""
        force = self.gain * (target - position[:2]) - self.damping * velocity[:2]
        return np.clip(force, -1.0, 1.0)


class StepController:
    """OGBench's point: straight to the target, as far as one step goes.

    Examples
    --------
    >>> StepController()(np.zeros(2), np.zeros(2), np.array([0.1, 3.0]))
    array([0.5, 1. ])
    """

    stride = 0.2
    """Metres along an axis that OGBench's point moves by an action of 1."""

    def __call__(
        self, position: FloatArray, velocity: FloatArray, target: FloatArray
    ) -> FloatArray:
        """Return the move along x and y, from -1 to 1."""
        return np.clip((target - position[:2]) / self.stride, -1.0, 1.0)


_Layers = list[tuple[NDArray[np.float64], NDArray[np.float64]]]


@cache
def _shipped() -> tuple[FloatArray, FloatArray, _Layers]:
    with resources.as_file(resources.files(__package__) / "weights" / "ant.npz") as path:
        return _read_weights(path)


def _read_weights(path: Path) -> tuple[FloatArray, FloatArray, _Layers]:
    """Read mean and scale of the inputs, and the layers."""
    try:
        with np.load(path, allow_pickle=False) as file:
            entry = {name: np.asarray(file[name], dtype=np.float64) for name in file.files}
        layers = [(entry[f"w{i}"], entry[f"b{i}"]) for i in range(int(entry["layers"]))]
        mean, scale = entry["mean"], 1 / np.sqrt(entry["var"] + 1e-6)
    except (ValueError, KeyError) as error:
        raise InputError(f"{path} does not hold the weights of an ant: {error}") from error
    return mean, scale, layers
