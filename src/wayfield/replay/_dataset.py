"""Datasets as others hand them out: dictionaries, files and episodes, brought into one form.

======================  =====================================================================
OGBench                 observations, next_observations, actions, terminals: rows are
                        transitions, terminals mark the last of a trajectory
OGBench, compact        observations, actions, terminals, valids: rows are observations, those
                        not valid are the last of a trajectory (terminals mark the last two)
OGBench's files, D4RL   observations, actions, terminals, timeouts: rows are observations, a
                        flag marks the last of an episode
Minari                  episodes, each with one observation more than actions, terminations and
                        truncations
======================  =====================================================================
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _npz
from ..errors import InputError
from ..kernels._types import BoolArray
from ._buffer import as_flags

_ENDS = ("terminals", "timeouts", "terminations", "truncations")
_NAMES = ("observations", "next_observations", "actions", "valids", *_ENDS)


def read_dataset(dataset: Any, entry: str) -> dict[str, Any]:
    """Return observations, next observations, terminals and actions, as `replay_graph` has them."""
    if isinstance(dataset, str | os.PathLike):
        dataset = _from_file(dataset)
    if isinstance(dataset, Mapping):
        if "observations" in dataset:
            found = {name: dataset[name] for name in _NAMES if name in dataset}
            found = {name: data for name, data in found.items() if data is not None}
            if "observations" not in found:
                raise InputError("the dataset's observations are None")
            return _from_rows(found | {"observations": _part(found["observations"], entry)}, entry)
        if dataset and all(str(name).startswith("episode") for name in dataset):
            order = sorted(dataset, key=lambda name: (len(str(name)), str(name)))
            return _from_episodes([dataset[name] for name in order], entry)
        raise InputError(f"the dataset has no observations, only {_listed(dataset)}")
    if hasattr(dataset, "iterate_episodes"):
        return _from_episodes(dataset.iterate_episodes(), entry)
    if isinstance(dataset, np.ndarray) and dataset.ndim in (1, 2):
        raise InputError(
            f"an array of shape {dataset.shape} does not say where episodes end: pass a dictionary "
            "with observations and terminals, or a list with one array per episode"
        )
    if isinstance(dataset, Sequence | np.ndarray):
        return _from_episodes(dataset, entry)
    raise InputError(
        "a dataset is a dictionary of arrays, a path to an npz file or a list of episodes, "
        f"not {type(dataset).__name__}"
    )


def _from_file(path: str | os.PathLike[str]) -> dict[str, NDArray[Any]]:
    if Path(path).suffix in (".h5", ".hdf5"):
        raise InputError(f"{path}: open HDF5 files with h5py, and pass what it hands out")
    names = _npz.entries(path)
    read = [_npz.read_arrays(path, only=name)[name] for name in names if name in _NAMES]
    return dict(zip([name for name in names if name in _NAMES], read, strict=True))


def _from_rows(found: Mapping[str, Any], entry: str) -> dict[str, Any]:
    """One dictionary for all episodes, or for a single one that has its last observation, too."""
    observations = _column(found["observations"], "observations")
    size, ends = len(observations), [name for name in _ENDS if name in found]
    onward = found.get("next_observations")
    if onward is not None:
        onward = _column(_part(onward, entry), "next_observations")
    for name in ("actions", "valids", *ends):
        if name in found and np.ndim(found[name]) == 0:
            raise InputError(f"{name} must have an entry per observation, not be {found[name]!r}")
    actions = found.get("actions")
    one_more = {len(found[name]) for name in ends} == {size - 1}
    if onward is None and one_more and {"terminations", "truncations"} & set(ends):
        return _from_episodes([found], entry)
    if onward is None and not ends and "valids" not in found:
        raise InputError(
            f"the dataset has none of {', '.join(_ENDS)}: nothing says where episodes end"
        )
    for name in ("actions", "valids", *ends):
        if name in found and len(found[name]) != size:
            raise InputError(
                f"the dataset has {size} observations but {len(found[name])} {name}: is it cut off?"
            )
    final = np.zeros(size, dtype=bool)
    for name in ends:
        final |= as_flags(found[name], size, name)
    if "valids" in found:
        valid = as_flags(found["valids"], size, "valids")
        if onward is None:
            final = ~valid
        else:  # what follows a row that is not valid is padding, no transition
            if len(onward) != size:
                raise InputError(f"the dataset has {size} observations but {len(onward)} next ones")
            actions = None if actions is None else np.asarray(actions)[valid]
            observations, onward, final = observations[valid], onward[valid], final[valid]
    if onward is None and size > 1 and not final.any():
        raise InputError(
            f"no row of the dataset ends an episode ({' and '.join(ends)} are all False), so that "
            f"its {size:,} rows would be one: pass timeouts as well or, if they are one, set the "
            "last of terminals"
        )
    return _named(observations, onward, final, actions)


def _from_episodes(episodes: Iterable[Any], entry: str) -> dict[str, Any]:
    """Episodes one after another; the last observation of each has an action that nobody took."""
    seen: list[NDArray[Any]] = []
    done: list[NDArray[Any] | None] = []
    for number, one in enumerate(episodes):
        episode = {"observations": one} if isinstance(one, np.ndarray) else one
        rows = _column(_part(_field(episode, "observations", number), entry), "observations")
        actions = _field(episode, "actions", number, needed=False)
        actions = None if actions is None else np.asarray(actions)
        _check_episode(episode, number, len(rows), actions)
        if actions is not None and len(actions) < len(rows):
            actions = np.concatenate([actions, np.zeros_like(actions[:1])])
        seen.append(rows)
        done.append(actions)
    if not seen:
        raise InputError("the dataset has no episodes")
    widths = sorted({rows.shape[1:] for rows in seen})
    if len(widths) > 1:
        raise InputError(f"episodes differ in their observations: of shapes {widths}")
    observations = np.concatenate(seen)
    final = np.zeros(len(observations), dtype=bool)
    final[np.cumsum([len(rows) for rows in seen]) - 1] = True
    taken = [actions for actions in done if actions is not None]
    every = np.concatenate(taken) if len(taken) == len(done) else None
    return _named(observations, None, final, every)


def _check_episode(episode: Any, number: int, size: int, actions: NDArray[Any] | None) -> None:
    """Refuse an episode whose lengths do not fit, or that ends before its end."""
    steps = size - 1
    if size < 2:
        raise InputError(f"episode {number} has {size} observations: no transition")
    if actions is not None:
        steps = len(actions)
        if steps not in (size, size - 1):
            raise InputError(
                f"episode {number} has {size} observations but {steps} actions: is it cut off?"
            )
    for name in _ENDS:
        flags = _field(episode, name, number, needed=False)
        if flags is None:
            continue
        ended: BoolArray = as_flags(flags, steps, f"episode {number}: {name}")
        if ended[:-1].any():
            raise InputError(
                f"episode {number}: {name}[{int(np.argmax(ended))}] is set before its last step"
            )


def _field(episode: Any, name: str, number: int, needed: bool = True) -> Any:
    value = episode.get(name) if isinstance(episode, Mapping) else getattr(episode, name, None)
    if value is None and needed:
        raise InputError(f"episode {number} has no {name}")
    return value


def _part(observations: Any, entry: str) -> Any:
    """Return the part of observations that are dictionaries themselves."""
    if not isinstance(observations, Mapping):
        return observations
    if entry not in observations:
        raise InputError(
            f"observations have no entry {entry!r}, only {_listed(observations)}: name one of them"
        )
    return observations[entry]


def _column(data: Any, name: str) -> NDArray[Any]:
    """Return an array of rows, one number each where there is one per observation."""
    try:
        array = np.asarray(data)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error
    return array[:, None] if array.ndim == 1 else array


def _named(observations: Any, onward: Any, final: BoolArray, actions: Any) -> dict[str, Any]:
    names = ("observations", "next_observations", "terminals", "actions")
    return dict(zip(names, (observations, onward, final, actions), strict=True))


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(str(name) for name in names) or "nothing"
