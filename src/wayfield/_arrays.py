"""Checks on arrays a caller hands in: every complaint names the value and its position."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError
from .kernels._types import FloatArray


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array, contiguous and read-only."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


def as_floats(data: ArrayLike, name: str, size: int | None = None) -> FloatArray:
    """Return `data` as a one-dimensional float array; the values themselves are not judged."""
    array = np.asarray(data)
    if array.dtype == object or array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be real numbers, not {_kind(array)}")
    _check_flat(array, name, size)
    return np.asarray(array, dtype=np.float64)


def as_finite(data: ArrayLike, name: str, size: int | None = None) -> FloatArray:
    """Return `data` as finite floats, or say which entry is not finite."""
    array = as_floats(data, name, size)
    refuse(~np.isfinite(array), array, name, "is not a finite number")
    return array


def as_vertices(data: ArrayLike, name: str, num_vertices: int | None = None) -> NDArray[np.int64]:
    """Return `data` as vertex indices: whole, not negative, below `num_vertices` if given."""
    array = np.asarray(data)
    if array.size == 0 and array.ndim <= 1:
        return np.empty(0, dtype=np.int64)
    if array.dtype.kind == "f":
        refuse(~(np.floor(array) == array), array, name, "is not a whole number")
        refuse(np.abs(array) > 2.0**53, array, name, "is too large for a vertex index")
    elif array.dtype.kind not in "iu":
        raise InputError(f"{name} must be vertex indices, not {_kind(array)}")
    _check_flat(array, name, None)
    refuse(array < 0, array, name, "is negative")
    if num_vertices is not None:
        refuse(array >= num_vertices, array, name, f"is out of range for {num_vertices} vertices")
    return array.astype(np.int64)


def as_vertex(value: Any, name: str, num_vertices: int) -> int:
    """Return `value` as one vertex index."""
    if isinstance(value, (bool, np.bool_)) or np.ndim(value) != 0:
        raise InputError(f"{name} must be one vertex index, not {value!r}")
    array = np.atleast_1d(np.asarray(value))
    if array.dtype.kind not in "iuf" or not array[0] == np.floor(array[0]):
        raise InputError(f"{name} must be a whole number, not {value!r}")
    if not 0 <= array[0] < num_vertices:
        raise InputError(f"{name} {value} is not a vertex of a graph with {num_vertices} vertices")
    return int(array[0])


def refuse(bad: NDArray[np.bool_], array: NDArray[Any], name: str, why: str) -> None:
    """Raise `InputError` for the first entry of `array` where `bad` holds."""
    if bad.any():
        where = int(np.argmax(bad))
        more = int(bad.sum()) - 1
        also = f" (and {more} more)" if more else ""
        raise InputError(f"{name}[{where}] = {array.flat[where]} {why}{also}")


def _check_flat(array: NDArray[Any], name: str, size: int | None) -> None:
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, not of shape {array.shape}")
    if size is not None and array.size != size:
        raise InputError(f"{name} has {array.size} entries, expected {size}")


def _kind(array: NDArray[Any]) -> str:
    return f"{array.dtype} ({array.flat[0]!r} first)" if array.size else str(array.dtype)
