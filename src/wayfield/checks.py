"""Input checks: every error names the offending value and its position.

After these checks, nothing indexes out of bounds, overflows or divides by zero. Indices fit 32
bits. Magnitudes stay within `LARGEST` and its inverse, so sums, slopes and products of a few of
them are finite.
"""

from __future__ import annotations

import importlib
import reprlib
import sys
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, WayfieldError
from .typing import FloatArray

Item = TypeVar("Item")

MOST_VERTICES = 2**31 - 1
"""Vertex indices are 32-bit."""

LARGEST = 1e100
"""Lengths lie between 1 / LARGEST and LARGEST, label values between -LARGEST and LARGEST."""


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the same array, contiguous and read-only."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array


class KeepsReadOnly:
    """A frozen dataclass with arrays that stay read-only in a copy or a pickle."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update({name: _read_only(value) for name, value in state.items()})


def _read_only(value: Any) -> Any:
    if type(value) is tuple:
        return tuple(map(_read_only, value))
    return frozen(value) if isinstance(value, np.ndarray) else value


def owned(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array read-only: itself if it already is, else a private copy."""
    return frozen(array.copy() if array.flags.writeable else array)


def as_array(data: ArrayLike, name: str) -> NDArray[Any]:
    """Return `data` as an array of any dtype."""
    if np.ma.is_masked(data):
        raise InputError(f"{name} has masked entries: fill or drop them first")
    if type(data).__module__.startswith("wayfield.") and hasattr(data, "values"):
        kind = type(data).__name__
        raise InputError(f"{name} must be an array, got {kind}: pass its .values")
    try:
        return np.asarray(data)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}") from error


def as_real_array(data: ArrayLike, name: str) -> NDArray[Any]:
    """Return `data` as an array of real numbers, of any shape."""
    array = as_array(data, name)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name} must be real numbers, got {_kind(array)}")
    return array


def as_floats(data: ArrayLike, name: str, size: int | None = None) -> FloatArray:
    """Return `data` as a one-dimensional float array, with values unchecked."""
    array = as_real_array(data, name)
    _check_flat(array, name, size)
    return np.ascontiguousarray(array, dtype=np.float64)


def as_finite(data: ArrayLike, name: str, size: int | None = None) -> FloatArray:
    """Return `data` as finite floats; the error names the first entry that is not finite."""
    array = as_floats(data, name, size)
    refuse(~np.isfinite(array), array, name, "is not a finite number")
    return array


def as_lengths(data: ArrayLike, name: str, size: int | None = None) -> FloatArray:
    """Return `data` as lengths: positive, finite, and within `LARGEST`."""
    array = as_floats(data, name, size)
    refuse(~(array > 0), array, name, "is not positive")
    refuse(np.isinf(array), array, name, "is not finite")
    outside = (array > LARGEST) | (array < 1 / LARGEST)
    refuse(outside, array, name, f"is outside {1 / LARGEST:g} to {LARGEST:g}")
    return array


def as_list(data: Iterable[Item], name: str) -> list[Item]:
    """Return `data` as a list, if it is a collection."""
    try:
        return list(data)
    except TypeError as error:
        raise InputError(f"{name} must be a collection, got {reprlib.repr(data)}") from error


def as_matrix(data: ArrayLike, name: str) -> FloatArray:
    """Return `data` as a new two-dimensional float array, with values unchecked."""
    array = as_real_array(data, name)
    if array.ndim != 2:
        raise InputError(f"{name} must be two-dimensional, got shape {array.shape}")
    return np.array(array, dtype=np.float64, order="C")


def as_vertices(
    data: ArrayLike, name: str, num_vertices: int | None = None, dtype: type[Any] = np.int64
) -> NDArray[Any]:
    """Return `data` as a new array of vertex indices, below `num_vertices` if given."""
    array = as_array(data, name)
    if array.size == 0 and array.ndim == 1:
        return np.empty(0, dtype)
    if array.dtype.kind == "f":
        array = array.astype(np.float64)
        refuse(~(np.floor(array) == array), array, name, "is not a whole number")
    elif array.dtype.kind not in "iu":
        raise InputError(f"{name} must be vertex indices, got {_kind(array)}")
    _check_flat(array, name, None)
    refuse(array < 0, array, name, "is negative")
    if num_vertices is not None:
        refuse(array >= num_vertices, array, name, f"is out of range for {num_vertices} vertices")
    refuse(array >= MOST_VERTICES, array, name, "is too large for a vertex index")
    return array.astype(dtype)


def short(value: Any) -> str:
    """Return a value for a message; very long whole numbers are shortened to a power of ten."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"{'-' if value < 0 else ''}10^{int(value.bit_length() * 0.30103)}"
    return str(value) if isinstance(value, np.number) else reprlib.repr(value)


def as_vertex(value: Any, name: str, num_vertices: int) -> int:
    """Return `value` as one vertex index."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if not _is_number(value):
        raise InputError(f"{name} must be one vertex index, got {reprlib.repr(value)}")
    if isinstance(value, float | np.floating) and not float(value).is_integer():
        raise InputError(f"{name} must be a whole number, got {value}")
    if not 0 <= value < num_vertices:
        raise InputError(
            f"{name} {short(value)} is not a vertex of a graph with {num_vertices} vertices"
        )
    return int(value)


def as_whole(value: Any, name: str, least: int, most: int | None = None) -> int:
    """Return `value` as a whole number of at least `least`, and at most `most` if given."""
    if not (_is_number(value) and isinstance(value, int | np.integer) and value >= least):
        raise InputError(f"{name} must be a whole number of at least {least}, got {short(value)}")
    if most is not None and value > most:
        raise InputError(f"{name} must be at most {most}, got {short(value)}")
    return int(value)


def as_real(
    value: Any, name: str, least: float = -sys.float_info.max, most: float = sys.float_info.max
) -> float:
    """Return `value` as a finite number from `least` to `most`."""
    # a NumPy scalar compares in its own precision, in which the limits may overflow
    number = float(value) if isinstance(value, np.integer | np.floating) else value
    if not (_is_number(number) and least <= number <= most):
        low = f" of at least {least:g}" if least > -sys.float_info.max else ""
        high = f" and at most {most:g}" if most < sys.float_info.max else ""
        raise InputError(f"{name} must be a finite number{low}{high}, got {short(value)}")
    return float(value)


def as_share(value: Any, name: str) -> float:
    """Return `value` as a float between 0 and 1, both excluded."""
    share = as_real(value, name)
    if not 0.0 < share < 1.0:
        raise InputError(f"{name} must be between 0 and 1, got {share}")
    return share


def as_flag(value: Any, name: str) -> bool:
    """Return `value` if it is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, got {reprlib.repr(value)}")
    return bool(value)


def as_choice(value: Any, name: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`."""
    if not (isinstance(value, str) and value in choices):
        known = ", ".join(repr(choice) for choice in choices)
        raise InputError(f"{name} must be one of {known}, got {reprlib.repr(value)}")
    return value


def refuse(bad: NDArray[np.bool_], array: NDArray[Any], name: str, why: str) -> None:
    """Raise `InputError` for the first entry of `array` where `bad` holds."""
    if bad.any():
        first = int(np.argmax(bad))
        where = ", ".join(str(i) for i in np.unravel_index(first, array.shape))
        more = int(bad.sum()) - 1
        also = f" (and {more} more)" if more else ""
        raise InputError(f"{name}[{where}] = {array.flat[first]} {why}{also}")


def _check_flat(array: NDArray[Any], name: str, size: int | None) -> None:
    if array.ndim != 1:
        raise InputError(f"{name} must be one-dimensional, got shape {array.shape}")
    if size is not None and array.size != size:
        raise InputError(f"{name} has {array.size} entries, expected {size}")


def _kind(array: NDArray[Any]) -> str:
    """Return the dtype of a non-numeric array, and its first entry that is not a number."""
    for i, value in enumerate(array.flat):
        if not _is_number(value) or (array.dtype == object and abs(value) >= 2**63):
            return f"{array.dtype} (entry {i} is {reprlib.repr(value)})"
    return str(array.dtype)


def _is_number(value: Any) -> bool:
    number = isinstance(value, int | float | np.integer | np.floating)
    return number and not isinstance(value, bool)


def plain(data: Any) -> Any:
    """Return data for JSON, with Python numbers, and None for those that are not finite."""
    if isinstance(data, Mapping):
        simple = (str, int, bool)
        return {
            key: value if type(value) in simple else plain(value) for key, value in data.items()
        }
    if isinstance(data, list):
        return [plain(value) for value in data]
    if isinstance(data, np.generic):
        data = data.item()
    if isinstance(data, float) and not np.isfinite(data):
        return None
    return data


def missing(module: str, extra: str) -> str | None:
    """Return the error that `need` would raise, or None if the module is installed."""
    try:
        need(module, extra)
    except WayfieldError as error:
        return str(error)
    return None


def need(module: str, extra: str) -> ModuleType:
    """Import `module`; raise an error that names the extra to install if it is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if error.name is None or error.name.partition(".")[0] != package:
            raise  # the module is installed; one of its own imports is missing
        raise WayfieldError(
            f"this needs {package}, which is not installed: run {how_to_install(extra)}"
        ) from error


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra; from a clone, until there is a release."""
    return f"pip install '.[{extra}]' in your clone of wayfield"
