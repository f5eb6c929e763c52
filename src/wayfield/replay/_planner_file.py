"""Planners in files: the buffer between landmarks and the guesses, as plain arrays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _npz
from .._arrays import frozen
from ..errors import InputError
from ..graph import Graph
from ._barriers import Barriers
from ._guesses import Guesses
from ._landmarks import Landmarks
from ._moves import ActionCounts, Jumps
from ._replay import Replay

_KIND = "wayfield planner 1"
_PLAIN = ("tail", "head", "ends", "counts", "dwell", "fastest", "leaps", "visits")
_NUMBERS = ("stayed", "tolerance", "speed", "exact")
_JUMPS = ("tail", "head", "count", "launch")
_ACTIONS = ("state", "action", "next_state", "count", "cost", "kinds")
_SETTINGS = ("radius", "ahead", "give_up", "plans")

Settings = Mapping[str, float]


def write_planner(
    path: str | os.PathLike[str], found: Landmarks, guesses: Guesses, settings: Settings, needs: str
) -> Path:
    """Write a planner; `needs` names the function that it has to be given again."""
    replay, graph = found.replay, found.replay.graph
    arrays: dict[str, Any] = {name: getattr(replay, name) for name in _PLAIN}
    arrays |= {"features": replay.states, "states": found.states, "needs": np.array(needs)}
    arrays |= {name: np.array(getattr(replay, name)) for name in _NUMBERS}
    arrays |= {"indptr": graph.indptr, "indices": graph.indices, "lengths": graph.lengths}
    arrays |= {f"jump_{name}": getattr(replay.jumps, name) for name in _JUMPS}
    arrays |= {f"guess_{name}": getattr(guesses, name) for name in Guesses._fields}
    arrays |= {f"set_{name}": np.array(float(settings[name])) for name in _SETTINGS}
    if replay.actions is not None:
        arrays |= {f"action_{name}": getattr(replay.actions, name) for name in _ACTIONS}
    if found.barriers is not None:
        arrays |= {f"barrier_{name}": getattr(found.barriers, name) for name in Barriers._fields}
    return _npz.write(path, _KIND, arrays)


def read_planner(
    path: str | os.PathLike[str],
) -> tuple[Landmarks, Guesses, dict[str, float], str]:
    """Read what `write_planner` wrote; anything else is an `InputError`."""
    arrays = _npz.read(path, _KIND)
    try:
        return _read(arrays)
    except KeyError as missing:
        raise InputError(f"{path} is not a {_KIND}: it has no {missing.args[0]}") from missing
    except (ValueError, TypeError) as error:
        raise InputError(f"{path} is not a {_KIND}, or is damaged: {error}") from error


def _read(arrays: dict[str, NDArray[Any]]) -> tuple[Landmarks, Guesses, dict[str, float], str]:
    _check_numbers(arrays)
    features = arrays["features"]
    places = features if features.shape[1] in (2, 3) else None
    rows = arrays["indptr"], arrays["indices"], arrays["lengths"]
    graph = Graph(*rows, True, places)
    guesses = Guesses(*(arrays[f"guess_{name}"] for name in Guesses._fields))
    jumps = Jumps(*(frozen(arrays[f"jump_{name}"]) for name in _JUMPS))
    done = None
    if "action_state" in arrays:
        done = ActionCounts(*(frozen(arrays[f"action_{name}"]) for name in _ACTIONS))
    barriers = None
    if "barrier_plane" in arrays:
        barriers = Barriers(*(frozen(arrays[f"barrier_{name}"]) for name in Barriers._fields))
    n, m = graph.num_vertices, graph.num_arcs
    _check(arrays, {"features": n, "states": n, "visits": n})
    _check(arrays, dict.fromkeys(("counts", "dwell", "fastest", "leaps"), m))
    _check(arrays, {f"guess_{name}": guesses.tail.size for name in Guesses._fields})
    _check(arrays, {f"jump_{name}": jumps.tail.size for name in _JUMPS})
    if barriers is not None:
        _check_barriers(arrays, barriers, features.shape)
    if not ((guesses.odds > 0.0) & (guesses.odds <= 1.0)).all():
        raise ValueError("guess_odds are no probabilities")
    for ends in (guesses.tail, guesses.head, jumps.tail, jumps.head):
        if ends.size and not (ends.min() >= 0 and ends.max() < n):
            raise ValueError(f"an arc leaves the {n} states")
    plain: dict[str, Any] = {name: frozen(arrays[name]) for name in _PLAIN}
    replay = Replay(
        graph=graph,
        states=frozen(features),
        **plain,
        stayed=int(arrays["stayed"]),
        tolerance=float(arrays["tolerance"]),
        speed=float(arrays["speed"]),
        exact=bool(arrays["exact"]),
        jumps=jumps,
        actions=done,
    )
    settings = {name: float(arrays[f"set_{name}"]) for name in _SETTINGS}
    found = Landmarks(replay, frozen(arrays["states"]), barriers)
    return found, guesses, settings, str(arrays["needs"])


def _check_numbers(arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse what is no array of numbers, or negative where nothing can be."""
    rows = {"features", "states", "jump_launch", "barrier_sites", "barrier_normal"}
    signed = rows | {"action_kinds", "barrier_plane", "barrier_offset"}
    for name in arrays.keys() - {"format", "needs"}:
        array = arrays[name]
        if array.dtype.kind not in "biuf":
            raise ValueError(f"{name} is of the kind {array.dtype}")
        deep = 0 if name in _NUMBERS or name.startswith("set_") else 1 + (name in rows)
        if array.ndim != deep and name != "action_kinds":
            raise ValueError(f"{name} has {array.ndim} dimensions, not {deep}")
        # nobody knows the dwell of an arc that nobody crossed, nor a price that was not given
        unknown = name in ("dwell", "fastest", "set_give_up")
        if not (np.isfinite(array) | (unknown & np.isnan(array))).all():
            raise ValueError(f"{name} is not finite")
        if name not in signed and (array < 0).any():
            raise ValueError(f"{name} is negative")


def _check_barriers(
    arrays: dict[str, NDArray[Any]], barriers: Barriers, shape: tuple[int, ...]
) -> None:
    """Refuse barriers that do not fit one another, or the states."""
    (n, width), cells, count = shape, len(barriers.sites), barriers.offset.size
    _check(arrays, dict.fromkeys(("barrier_plane", "barrier_above", "barrier_shut"), cells))
    _check(arrays, dict.fromkeys(("barrier_normal", "barrier_down", "barrier_up"), count))
    if barriers.sites.shape[1] != width or barriers.normal.shape[1] != width:
        raise ValueError(f"barriers are not in the space of the {width} features")
    for name, ends, end in (("plane", barriers.plane, count), ("above", barriers.above, n)):
        if ends.size and not (ends.min() >= -1 and ends.max() < end):
            raise ValueError(f"barrier_{name} is not below {end}")


def _check(arrays: dict[str, NDArray[Any]], sizes: Mapping[str, int]) -> None:
    for name, size in sizes.items():
        if len(arrays[name]) != size:
            raise ValueError(f"{name} has {len(arrays[name])} entries, not {size}")
