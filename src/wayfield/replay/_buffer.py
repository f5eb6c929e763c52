"""A replay buffer's arrays, checked: which rows are transitions, and which follow each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import LARGEST, as_lengths, as_real_array, refuse
from ..errors import InputError
from ..kernels._types import BoolArray, FloatArray
from ..kernels.merging import Rows
from ..kernels.stays import continues


class Buffer(NamedTuple):
    """Observations in the order in which they were made; float32 stays float32."""

    first: Rows
    """Where each row begins."""
    second: Rows
    """Where it ends; without rows if that is where the next one begins."""
    valid: BoolArray
    """Rows that are transitions."""
    joined: BoolArray
    """Rows that the next one continues."""
    final: BoolArray
    """Rows at which an episode ended."""

    @property
    def num_transitions(self) -> int:
        """Number of rows that are transitions."""
        return int(np.count_nonzero(self.valid))


def read_rows(
    observations: ArrayLike, next_observations: ArrayLike | None, terminals: ArrayLike | None
) -> Buffer:
    """Check a buffer's arrays against each other."""
    first = as_rows(observations, "observations")
    size = len(first)
    final = np.zeros(size, dtype=bool) if terminals is None else as_flags(terminals, size)
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
    """Lengths of the transitions, out of one per row or one per transition."""
    given, size = np.asarray(lengths).size, buffer.valid.size
    if given == buffer.num_transitions or given != size:
        return as_lengths(lengths, "lengths", buffer.num_transitions)
    return as_lengths(lengths, "lengths", size)[buffer.valid]


def as_flags(data: ArrayLike, size: int, name: str = "terminals") -> BoolArray:
    """Return a flag per row, or say which is none."""
    array = np.asarray(data)
    if array.shape == (size, 1):
        array = array[:, 0]
    if array.shape != (size,):
        raise InputError(f"{name} must be of shape ({size},), not {array.shape}")
    if array.dtype != np.bool_:
        refuse(~np.isin(array, (0, 1)), array, name, "is neither 0 nor 1")
    return array.astype(bool)


def as_rows(data: ArrayLike, name: str) -> Rows:
    """Return finite observations, one per row; float32 is kept, and nothing copied in vain."""
    array = as_real_array(data, name)
    if array.ndim != 2:
        raise InputError(f"{name} must be two-dimensional, not of shape {array.shape}")
    if array.size == 0:
        raise InputError(f"{name} are empty: their shape is {array.shape}")
    kind = np.float32 if array.dtype in (np.float16, np.float32) else np.float64
    array = np.ascontiguousarray(array, dtype=kind)
    low, high = float(array.min()), float(array.max())  # either is NaN if any entry is
    if not (low >= -LARGEST and high <= LARGEST):
        refuse(~np.isfinite(array), array, name, "is not a finite number")
        refuse(np.abs(array) > LARGEST, array, name, f"is not between -{LARGEST:g} and {LARGEST:g}")
    return array
