"""Datasets in the formats of OGBench, D4RL, Minari and Stable-Baselines3, read into one `Buffer`.

======================  =====================================================================
OGBench                 observations, next_observations, actions, terminals: rows are
                        transitions, terminals mark the last of a trajectory
OGBench, compact        observations, actions, terminals, valids: rows are observations, those
                        not valid are the last of a trajectory (terminals mark the last two)
OGBench's files, D4RL   observations, actions, terminals, timeouts: rows are observations, a
                        flag marks the last of an episode
Minari                  episodes, each with one observation more than actions, terminations and
                        truncations
Stable-Baselines3       a replay buffer: time, then environment, then coordinate; dones include
                        timeouts. Rows are transitions, in a ring that starts at ``pos`` once full
arrays                  (n, T, d): n episodes of T observations
======================  =====================================================================

**How an episode ends** matters to a plan: death, or a goal that ends the episode, is an absorbing
state; a time limit is not. Flags for both (terminals and timeouts, terminations and truncations,
dones and timeouts) say which. With one flag alone, the lengths of the episodes decide:

- all of equal length: a time limit, as in OGBench;
- irregular: absorbing;
- some of equal length, namely more than half, or one in twenty of the greatest length: these ran
  into a time limit, and the others into an absorbing state. This is a guess, and a warning says so.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import LARGEST, as_array, as_choice, as_lengths, as_real_array, refuse
from ..errors import InputError, InputWarning
from ..graphs import npz
from ..typing import BoolArray, FloatArray
from ..words import number_of
from .kernels.merging import Rows

Ends = Literal["absorbing", "truncated"]

_TRUNCATED = ("timeouts", "truncations")
_END_FLAGS = ("terminals", "timeouts", "terminations", "truncations", "dones")
_COLUMNS = ("observations", "next_observations", "actions", "valids", *_END_FLAGS)
_TIME_LIMIT = 0.05
"""Share of episodes of the greatest length that suggests a time limit; at least three of them."""


def read_dataset(dataset: Any, entry: str, ends: Ends | None = None) -> dict[str, Any]:
    """Return the columns of a dataset, as `replay_graph` takes them.

    These are observations, next_observations, terminals, actions and deaths. Terminals are the rows
    at which an episode ended. Deaths are the rows whose step ended in an absorbing state.

    `entry` names the part of observations that are dictionaries. `ends` says what one flag alone
    means; None: see the head of this module.
    """
    if ends is not None:
        as_choice(ends, "ends", get_args(Ends))
    if isinstance(dataset, str | os.PathLike):
        if Path(dataset).suffix in (".h5", ".hdf5"):
            raise InputError(f"{dataset}: open HDF5 files with h5py and pass the arrays")
        names = [name for name in npz.entries(dataset) if name in _COLUMNS]
        dataset = {name: npz.read_arrays(dataset, only=name)[name] for name in names}
    if isinstance(dataset, Mapping):
        if "masks" in dataset:
            raise InputError(
                "the dataset has masks, which are read from no format: pass terminals = 1 - masks "
                "for the ends that are deaths, beside timeouts for the others, and drop masks"
            )
        if "observations" in dataset:
            return _from_rows(dataset, entry, ends)
        if dataset and all(str(name).startswith("episode") for name in dataset):
            order = sorted(dataset, key=lambda name: (len(str(name)), str(name)))
            return _from_episodes([dataset[name] for name in order], entry, ends)
        raise InputError(f"dataset must have observations, got only {_listed(dataset)}")
    if hasattr(dataset, "iterate_episodes"):
        return _from_episodes(dataset.iterate_episodes(), entry, ends)
    if all(hasattr(dataset, name) for name in ("observations", "dones", "pos", "full")):
        return _from_rows(_in_order(dataset), entry, ends)
    if isinstance(dataset, np.ndarray) and dataset.ndim in (1, 2):
        raise InputError(
            f"an array of shape {dataset.shape} does not say where episodes end: pass a dictionary "
            "with observations and terminals, or a list with one array per episode"
        )
    if isinstance(dataset, Sequence | np.ndarray):
        return _from_episodes(dataset, entry, ends)
    raise InputError(
        "dataset must be a dictionary of arrays, a path to an npz file, a list of episodes or a "
        f"replay buffer, got {type(dataset).__name__}"
    )


def _in_order(buffer: Any) -> dict[str, Any]:
    """Return the filled part of a replay buffer of Stable-Baselines3, oldest first."""
    size, pos = len(buffer.dones), int(buffer.pos)
    # Without next_observations the row at `pos` is the last observation, with an old action.
    compact = getattr(buffer, "next_observations", None) is None
    rows = np.arange(pos)
    if buffer.full:
        rows = np.concatenate([np.arange(pos + compact, size), rows])
    if not rows.size:
        raise InputError("the replay buffer is empty")
    columns: dict[str, Any] = {}
    for name in _COLUMNS:
        data = getattr(buffer, name, None)
        if name == "timeouts" and not getattr(buffer, "handle_timeout_termination", True):
            continue  # they are all False then, and say nothing
        if isinstance(data, Mapping):
            columns[name] = {part: np.asarray(data[part])[rows] for part in data}
        elif data is not None:
            columns[name] = as_array(data, name)[rows]
    return columns


def _from_rows(dataset: Mapping[str, Any], entry: str, ends: Ends | None) -> dict[str, Any]:
    """Read one dictionary of all episodes, or of a single one that has its last observation."""
    found = {name: dataset[name] for name in _COLUMNS if name in dataset}
    found = {name: data for name, data in found.items() if data is not None}
    if "observations" not in found:
        raise InputError("the dataset's observations are None")
    infos = dataset.get("infos")
    if isinstance(infos, Mapping) and "TimeLimit.truncated" in infos:
        found.setdefault("timeouts", infos["TimeLimit.truncated"])
    for name in ("observations", "next_observations"):
        if name in found:
            found[name] = _column(found[name], name, entry)
    cut = np.zeros(len(found["observations"]), dtype=bool)
    if found["observations"].ndim == 3:
        found, cut = _side_by_side(found)
    observations, onward = found["observations"], found.get("next_observations")
    size, flags = len(observations), [name for name in _END_FLAGS if name in found]
    per_row = [name for name in ("actions", "valids", *flags) if name in found]
    for name in per_row:
        if np.ndim(found[name]) == 0:
            raise InputError(f"{name} must have one entry per observation, got {found[name]!r}")
    one_more = {len(found[name]) for name in flags} == {size - 1}
    if onward is None and one_more and {"terminations", "truncations"} & set(flags):
        return _from_episodes([found], entry, ends)
    if onward is None and not flags and "valids" not in found and not cut.any():
        raise InputError(
            f"dataset must have one of {', '.join(_END_FLAGS)} to mark where episodes end, got none"
        )
    for name in per_row:
        if len(found[name]) != size:
            raise InputError(
                f"the dataset has {size} observations but {len(found[name])} {name}: is it cut off?"
            )

    # Which rows end an episode, and which of them by a flag that may mean an absorbing state.
    actions = found.get("actions")
    terminated, timed_out = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    for name in flags:
        flag = _as_flags(found[name], size, name)
        if name in _TRUNCATED:
            timed_out |= flag
        else:
            terminated |= flag
    final = terminated | timed_out | cut
    last = final  # rows that hold the last step of an episode
    if "valids" in found:
        valid = _as_flags(found["valids"], size, "valids")
        if onward is None:  # the last step is taken at the row before the last observation
            final = ~valid
            last = valid & np.append(final[1:], False)
        else:  # rows that are not valid are padding, not transitions
            if len(onward) != size:
                raise InputError(
                    f"the dataset has {size} observations but {len(onward)} next_observations"
                )
            actions = None if actions is None else as_array(actions, "actions")[valid]
            observations, onward = observations[valid], onward[valid]
            final, last, terminated, timed_out = (
                of[valid] for of in (final, last, terminated, timed_out)
            )
    if onward is None and size > 1 and not final.any():
        raise InputError(
            f"no row of the dataset ends an episode ({' and '.join(flags)} are all False), so its "
            f"{size:,} rows would be one episode: pass timeouts as well, or set the last of "
            "terminals if they are"
        )

    deaths = np.zeros(len(observations), dtype=bool)
    where = np.flatnonzero(last)
    # `dones` are set at timeouts as well; a terminal state at the time limit is still terminal
    ended = terminated & ~timed_out if "dones" in flags else terminated
    known = any(name in _TRUNCATED for name in flags)
    deaths[where] = _absorbing(ended[where], np.diff(where, prepend=-1), known, ends)
    if onward is None:
        stops = np.flatnonzero(final)
        _warn_of_skipped(int(np.count_nonzero((np.diff(stops, prepend=-1) < 2) & ~deaths[stops])))
    columns = {"observations": observations, "next_observations": onward}
    return {**columns, "terminals": final, "actions": actions, "deaths": deaths}


def _side_by_side(found: dict[str, Any]) -> tuple[dict[str, Any], BoolArray]:
    """Concatenate parallel streams of observations; return where each is cut.

    Time is the first axis if there are `dones` (Stable-Baselines3), otherwise the second.
    """
    wide = found["observations"].shape[:2]
    flat = {}
    for name, data in found.items():
        array = as_array(data, name)
        if array.shape[:2] != wide:
            raise InputError(
                f"observations are of shape {found['observations'].shape}, so {name} must begin "
                f"with {wide}, got {array.shape}"
            )
        array = np.swapaxes(array, 0, 1) if "dones" in found else array
        flat[name] = array.reshape(-1, *array.shape[2:])
    steps = wide[0] if "dones" in found else wide[1]
    cut = np.zeros(wide[0] * wide[1], dtype=bool)
    cut[steps - 1 :: steps] = True
    return flat, cut


def _from_episodes(episodes: Iterable[Any], entry: str, ends: Ends | None) -> dict[str, Any]:
    """Concatenate episodes; the last observation of each gets a dummy action."""
    seen: list[NDArray[Any]] = []
    taken: list[NDArray[Any]] = []
    steps: list[int] = []
    terminated: list[bool] = []
    skipped, known, flagged = 0, False, False
    for number, one in enumerate(episodes):
        episode = {"observations": one} if isinstance(one, np.ndarray) else one
        if not isinstance(episode, Mapping):
            episode = {name: getattr(episode, name, None) for name in _COLUMNS}
        if episode.get("observations") is None:
            raise InputError(f"episode {number} has no observations")
        rows = _column(episode["observations"], "observations", entry)
        size, count = len(rows), len(rows) - 1
        actions = episode.get("actions")
        if actions is not None:
            actions = as_array(actions, "actions")
            count = len(actions)
            if count not in (size, size - 1):
                raise InputError(
                    f"episode {number} has {size} observations but {count} actions: is it cut off?"
                )
        ended = timed_out = False
        for name in _END_FLAGS:
            if episode.get(name) is not None:
                flag = _as_flags(episode[name], count, f"episode {number}: {name}")
                if flag[:-1].any():
                    first = int(np.argmax(flag))
                    raise InputError(
                        f"episode {number}: {name}[{first}] is set before its last step"
                    )
                if name in _TRUNCATED:
                    known, timed_out = True, timed_out or bool(flag.any())
                else:
                    flagged, ended = True, ended or bool(flag.any())
        if episode.get("dones") is not None:
            ended = ended and not timed_out
        if size < 2 and not (count and ended):  # a single step into death is worth keeping
            skipped += 1
            continue
        if actions is not None:
            padding = np.zeros((size - count, *actions.shape[1:]), actions.dtype)
            taken.append(np.concatenate([actions, padding]))
        seen.append(rows)
        steps.append(count)
        terminated.append(ended)
    if not seen:
        only = f": {skipped} of one observation were skipped" if skipped else ""
        raise InputError(f"the dataset has no episodes with a transition{only}")
    _warn_of_skipped(skipped)
    widths = sorted({rows.shape[1:] for rows in seen})
    if len(widths) > 1:
        raise InputError(f"observations must have the same shape in all episodes, got {widths}")
    observations = np.concatenate(seen)
    after = np.cumsum([len(rows) for rows in seen])
    final, deaths = np.zeros((2, len(observations)), dtype=bool)
    final[after - 1] = True
    # The last step is taken at the row before the last, unless the last has an action too.
    last = after - np.array([len(rows) for rows in seen]) + np.array(steps) - 1
    every_end = ends == "absorbing" and not (flagged or known)
    died = np.ones(len(seen), bool) if every_end else np.array(terminated)
    deaths[last] = _absorbing(died, np.array(steps), known, ends)
    every = np.concatenate(taken) if len(taken) == len(seen) else None
    columns = {"observations": observations, "next_observations": None}
    return {**columns, "terminals": final, "actions": every, "deaths": deaths}


def _absorbing(
    terminated: BoolArray, steps: NDArray[np.int64], known: bool, ends: Ends | None
) -> BoolArray:
    """Return which episodes ended in an absorbing state, given their lengths in steps.

    `terminated` are the episodes with a flag that may mean this; `known` is whether there were
    flags for time limits as well.
    """
    if ends == "truncated":
        return np.zeros_like(terminated)
    if known or ends == "absorbing" or not terminated.any():
        return terminated
    lengths, counts = np.unique(steps[terminated], return_counts=True)
    total, usual = int(counts.sum()), int(np.argmax(counts))
    if len(lengths) == 1:
        return np.zeros_like(terminated)
    limit = usual if 2 * counts[usual] > total else -1
    if counts[limit] < max(3.0, _TIME_LIMIT * total):
        return terminated
    died: BoolArray = terminated & (steps != lengths[limit])
    warnings.warn(
        f"{counts[limit]:,} of {total:,} episodes are {lengths[limit]:,} steps long: assumed to "
        f"have run into a time limit, and the other {np.count_nonzero(died):,} into an absorbing "
        'state. Pass ends="absorbing" if all ends are absorbing, ends="truncated" if none are, or '
        "timeouts beside terminals to tell them apart",
        InputWarning,
        stacklevel=5,
    )
    return died


def _warn_of_skipped(count: int) -> None:
    if count:
        message = f"{number_of(count, 'episodes')} of a single observation skipped: no transition"
        warnings.warn(message, InputWarning, stacklevel=5)


def _column(data: Any, name: str, entry: str) -> NDArray[Any]:
    """Return observations as rows, those of dictionaries by their entry."""
    if isinstance(data, Mapping):
        if entry not in data:
            raise InputError(
                f"observations have no entry {entry!r}, only {_listed(data)}: name one of them"
            )
        data = data[entry]
    array = as_array(data, name)
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
    died: BoolArray
    """Rows whose step ended in an absorbing state. If such a row is not valid, nobody saw the state
    in which the step ended."""

    @property
    def num_transitions(self) -> int:
        """Number of rows that are transitions."""
        return int(np.count_nonzero(self.valid))


def read_rows(
    observations: ArrayLike,
    next_observations: ArrayLike | None,
    terminals: ArrayLike | None,
    deaths: ArrayLike | None = None,
) -> Buffer:
    """Check the arrays of a buffer against each other."""
    first = as_rows(observations, "observations")
    size = len(first)
    none = np.zeros(size, bool)
    final = none if terminals is None else _as_flags(terminals, size, "terminals")
    died = none if deaths is None else _as_flags(deaths, size, "deaths")
    if next_observations is not None:
        second = as_rows(next_observations, "next_observations")
        if second.shape != first.shape:
            raise InputError(
                f"observations are of shape {first.shape}, next_observations {second.shape}"
            )
        both = np.result_type(first, second)
        first, second = first.astype(both, copy=False), second.astype(both, copy=False)
        joined = np.append((second[:-1] == first[1:]).all(axis=1) & ~final[:-1], False)
        return Buffer(first, second, np.ones(size, bool), joined, final, died)
    valid = ~final
    valid[-1] = False
    if not valid.any():
        raise InputError(f"{size} observations in {final[:-1].sum() + 1} episodes: no transition")
    return Buffer(first, first[:0], valid, valid, final, died)


def chosen_lengths(lengths: ArrayLike, buffer: Buffer) -> FloatArray:
    """Return the lengths of the transitions, given one per row or one per transition."""
    given, size = np.asarray(lengths).size, buffer.valid.size
    if given == buffer.num_transitions or given != size:
        return as_lengths(lengths, "lengths", buffer.num_transitions)
    return as_lengths(lengths, "lengths", size)[buffer.valid]


def _as_flags(data: ArrayLike, size: int, name: str) -> BoolArray:
    """Return one flag per row; raise `InputError` for the first entry that is neither 0 nor 1."""
    array = as_array(data, name)
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
        raise InputError(f"{name} must not be empty, got shape {array.shape}")
    kind = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    array = np.ascontiguousarray(array, dtype=kind)
    low, high = float(array.min()), float(array.max())  # either is NaN if any entry is
    if not (low >= -LARGEST and high <= LARGEST):
        refuse(~np.isfinite(array), array, name, "is not a finite number")
        refuse(np.abs(array) > LARGEST, array, name, f"is not between -{LARGEST:g} and {LARGEST:g}")
    return array
