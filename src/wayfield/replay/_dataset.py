"""Datasets in the formats of OGBench, D4RL and Minari, read into one `Buffer`.

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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _npz
from .._arrays import LARGEST, as_lengths, as_real_array, refuse
from ..errors import InputError
from ..kernels._types import BoolArray, FloatArray
from ..kernels.merging import Rows
from ..kernels.stays import continues

_ENDS = ("terminals", "timeouts", "terminations", "truncations")
_NAMES = ("observations", "next_observations", "actions", "valids", *_ENDS)


def read_dataset(dataset: Any, entry: str) -> dict[str, Any]:
    """Return observations, next_observations, terminals and actions, as `replay_graph` takes them.

    `entry` names the part of observations that are dictionaries.
    """
    if isinstance(dataset, str | os.PathLike):
        if Path(dataset).suffix in (".h5", ".hdf5"):
            raise InputError(f"{dataset}: open HDF5 files with h5py and pass the arrays")
        names = [name for name in _npz.entries(dataset) if name in _NAMES]
        dataset = {name: _npz.read_arrays(dataset, only=name)[name] for name in names}
    if isinstance(dataset, Mapping):
        if "observations" in dataset:
            return _from_rows(dataset, entry)
        if dataset and all(str(name).startswith("episode") for name in dataset):
            order = sorted(dataset, key=lambda name: (len(str(name)), str(name)))
            return _from_episodes([dataset[name] for name in order], entry)
        raise InputError(f"dataset must have observations, got only {_listed(dataset)}")
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
        "dataset must be a dictionary of arrays, a path to an npz file or a list of episodes, "
        f"got {type(dataset).__name__}"
    )


def _from_rows(dataset: Mapping[str, Any], entry: str) -> dict[str, Any]:
    """Read one dictionary of all episodes, or of a single one that has its last observation."""
    found = {name: dataset[name] for name in _NAMES if name in dataset}
    found = {name: data for name, data in found.items() if data is not None}
    if "observations" not in found:
        raise InputError("the dataset's observations are None")
    observations = _column(found["observations"], "observations", entry)
    onward = found.get("next_observations")
    if onward is not None:
        onward = _column(onward, "next_observations", entry)
    size, ends = len(observations), [name for name in _ENDS if name in found]
    per_row = [name for name in ("actions", "valids", *ends) if name in found]
    for name in per_row:
        if np.ndim(found[name]) == 0:
            raise InputError(f"{name} must have one entry per observation, got {found[name]!r}")
    one_more = {len(found[name]) for name in ends} == {size - 1}
    if onward is None and one_more and {"terminations", "truncations"} & set(ends):
        return _from_episodes([found], entry)
    if onward is None and not ends and "valids" not in found:
        raise InputError(
            f"dataset must have one of {', '.join(_ENDS)} to mark where episodes end, got none"
        )
    for name in per_row:
        if len(found[name]) != size:
            raise InputError(
                f"the dataset has {size} observations but {len(found[name])} {name}: is it cut off?"
            )
    actions = found.get("actions")
    final = np.zeros(size, dtype=bool)
    for name in ends:
        final |= _as_flags(found[name], size, name)
    if "valids" in found:
        valid = _as_flags(found["valids"], size, "valids")
        if onward is None:
            final = ~valid
        else:  # rows that are not valid are padding, not transitions
            if len(onward) != size:
                raise InputError(f"the dataset has {size} observations but {len(onward)} next ones")
            actions = None if actions is None else np.asarray(actions)[valid]
            observations, onward, final = observations[valid], onward[valid], final[valid]
    if onward is None and size > 1 and not final.any():
        raise InputError(
            f"no row of the dataset ends an episode ({' and '.join(ends)} are all False), so its "
            f"{size:,} rows would be one episode: pass timeouts as well, or set the last of "
            "terminals if it is one"
        )
    columns = {"observations": observations, "next_observations": onward}
    return {**columns, "terminals": final, "actions": actions}


def _from_episodes(episodes: Iterable[Any], entry: str) -> dict[str, Any]:
    """Concatenate episodes; the last observation of each gets a dummy action."""
    seen: list[NDArray[Any]] = []
    taken: list[NDArray[Any]] = []
    for number, one in enumerate(episodes):
        episode = {"observations": one} if isinstance(one, np.ndarray) else one
        if not isinstance(episode, Mapping):
            episode = {name: getattr(episode, name, None) for name in _NAMES}
        if episode.get("observations") is None:
            raise InputError(f"episode {number} has no observations")
        rows = _column(episode["observations"], "observations", entry)
        size, steps = len(rows), len(rows) - 1
        if size < 2:
            raise InputError(f"episode {number} has {size} observations: no transition")
        if episode.get("actions") is not None:
            actions = np.asarray(episode["actions"])
            steps = len(actions)
            if steps not in (size, size - 1):
                raise InputError(
                    f"episode {number} has {size} observations but {steps} actions: is it cut off?"
                )
            padding = np.zeros_like(actions[:1])
            taken.append(actions if steps == size else np.concatenate([actions, padding]))
        for name in _ENDS:
            if episode.get(name) is not None:
                ended = _as_flags(episode[name], steps, f"episode {number}: {name}")
                if ended[:-1].any():
                    first = int(np.argmax(ended))
                    raise InputError(
                        f"episode {number}: {name}[{first}] is set before its last step"
                    )
        seen.append(rows)
    if not seen:
        raise InputError("the dataset has no episodes")
    widths = sorted({rows.shape[1:] for rows in seen})
    if len(widths) > 1:
        raise InputError(f"episodes differ in their observations: of shapes {widths}")
    observations = np.concatenate(seen)
    final = np.zeros(len(observations), dtype=bool)
    final[np.cumsum([len(rows) for rows in seen]) - 1] = True
    every = np.concatenate(taken) if len(taken) == len(seen) else None
    columns = {"observations": observations, "next_observations": None}
    return {**columns, "terminals": final, "actions": every}


def _column(data: Any, name: str, entry: str) -> NDArray[Any]:
    """Return observations as rows, those of dictionaries by their entry."""
    if isinstance(data, Mapping):
        if entry not in data:
            raise InputError(
                f"observations have no entry {entry!r}, only {_listed(data)}: name one of them"
            )
        data = data[entry]
    try:
        array = np.asarray(data)
    except (ValueError, TypeError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error
    return array[:, None] if array.ndim == 1 else array


def _listed(names: Iterable[Any]) -> str:
    return ", ".join(str(name) for name in names) or "nothing"


# -------------------------------------------------------------------- checked arrays


class Buffer(NamedTuple):
    """Observations in the order in which they were made; float32 stays float32."""

    first: Rows
    """Where each row begins."""
    second: Rows
    """Where it ends; empty if each row ends where the next begins."""
    valid: BoolArray
    """Rows that are transitions."""
    joined: BoolArray
    """Rows that continue in the next one."""
    final: BoolArray
    """Rows at which an episode ended."""

    @property
    def num_transitions(self) -> int:
        """Number of rows that are transitions."""
        return int(np.count_nonzero(self.valid))


def read_rows(
    observations: ArrayLike, next_observations: ArrayLike | None, terminals: ArrayLike | None
) -> Buffer:
    """Check the arrays of a buffer against each other."""
    first = as_rows(observations, "observations")
    size = len(first)
    final = np.zeros(size, bool) if terminals is None else _as_flags(terminals, size, "terminals")
    if next_observations is not None:
        second = as_rows(next_observations, "next_observations")
        if second.shape != first.shape:
            raise InputError(
                f"observations are of shape {first.shape}, next_observations {second.shape}"
            )
        both = np.result_type(first, second)
        first, second = first.astype(both, copy=False), second.astype(both, copy=False)
        return Buffer(first, second, np.ones(size, bool), continues(first, second, final), final)
    valid = ~final
    valid[-1] = False
    if not valid.any():
        raise InputError(f"{size} observations in {final[:-1].sum() + 1} episodes: no transition")
    return Buffer(first, first[:0], valid, valid, final)


def chosen_lengths(lengths: ArrayLike, buffer: Buffer) -> FloatArray:
    """Return the lengths of the transitions, given one per row or one per transition."""
    given, size = np.asarray(lengths).size, buffer.valid.size
    if given == buffer.num_transitions or given != size:
        return as_lengths(lengths, "lengths", buffer.num_transitions)
    return as_lengths(lengths, "lengths", size)[buffer.valid]


def _as_flags(data: ArrayLike, size: int, name: str) -> BoolArray:
    """Return one flag per row; raise `InputError` for the first entry that is neither 0 nor 1."""
    array = np.asarray(data)
    if array.shape == (size, 1):
        array = array[:, 0]
    if array.shape != (size,):
        raise InputError(f"{name} must be of shape ({size},), got {array.shape}")
    if array.dtype != np.bool_:
        refuse(~np.isin(array, (0, 1)), array, name, "is neither 0 nor 1")
    return array.astype(bool)


def as_rows(data: ArrayLike, name: str) -> Rows:
    """Return finite observations, one per row; float32 is kept, and copies are avoided."""
    array = as_real_array(data, name)
    if array.ndim != 2:
        raise InputError(f"{name} must be two-dimensional, got shape {array.shape}")
    if array.size == 0:
        raise InputError(f"{name} are empty: their shape is {array.shape}")
    kind = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    array = np.ascontiguousarray(array, dtype=kind)
    low, high = float(array.min()), float(array.max())  # either is NaN if any entry is
    if not (low >= -LARGEST and high <= LARGEST):
        refuse(~np.isfinite(array), array, name, "is not a finite number")
        refuse(np.abs(array) > LARGEST, array, name, f"is not between -{LARGEST:g} and {LARGEST:g}")
    return array
