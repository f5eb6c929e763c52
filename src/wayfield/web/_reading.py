"""Reading what a stranger sent: every field is asked for by name, and judged before it is used."""

from __future__ import annotations

import base64
import binascii
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._arrays import short
from ..errors import InputError

_KINDS = {
    dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number",
    float: "a number", type(None): "null",
}  # fmt: skip


def read_json(body: bytes) -> Any:
    """Parse JSON; numbers that are none, deep nesting and broken text are input errors."""
    try:
        return json.loads(body, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise InputError("the request is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the request is not UTF-8: {error.reason}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"the request is not JSON: {error}") from error
    except ValueError as error:  # InputError of ours, or a whole number of thousands of digits
        raise InputError(str(error).partition(";")[0]) from error


def _refuse_constant(name: str) -> float:
    raise InputError(f"{name} is not a number that JSON knows")


class Fields:
    """The entries of one JSON object, read one by one; what is left over is refused by `done`.

    Examples
    --------
    >>> Fields({"goal": 3}, "scene").whole("goal", 0, 10)
    3
    >>> Fields({"goal": "x"}, "scene").whole("goal", 0, 10)
    Traceback (most recent call last):
    wayfield.errors.InputError: scene.goal must be a whole number, not text
    """

    def __init__(self, data: Any, name: str) -> None:
        if not isinstance(data, Mapping):
            raise InputError(f"{name} must be an object, not {_kind(data)}")
        self.data, self.name, self.left = data, name, set(data)

    def has(self, key: str) -> bool:
        """Whether an entry is there; null is as good as nothing."""
        if self.data.get(key) is None:
            self.left.discard(key)
            return False
        return True

    def take(self, key: str) -> Any:
        """Return an entry as it is; None if it is not there."""
        self.left.discard(key)
        return self.data.get(key)

    def part(self, key: str) -> Fields:
        """Return an entry that is an object itself."""
        return Fields(self.take(key), f"{self.name}.{key}")

    def items(self, key: str, most: int) -> Sequence[Any]:
        """Return an entry that is a list."""
        value = self.take(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list", value)
        if len(value) > most:
            raise InputError(f"{self.name}.{key} has {len(value):,} entries, more than {most:,}")
        return value

    def whole(self, key: str, least: int, most: int, default: int | None = None) -> int:
        """Return an entry that is a whole number between two others."""
        value = self.take(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int):
            raise self._wrong(key, "a whole number", value)
        if not least <= value <= most:
            raise InputError(
                f"{self.name}.{key} must be from {least:,} to {most:,}, not {short(value)}"
            )
        return value

    def number(self, key: str, least: float, most: float, default: float | None = None) -> float:
        """Return an entry that is a finite number between two others."""
        value = self.take(key)
        if value is None and default is not None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(key, "a number", value)
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{self.name}.{key} is not finite")
        if not least <= value <= most:
            raise InputError(
                f"{self.name}.{key} must be from {least:g} to {most:g}, not {short(value)}"
            )
        return float(value)

    def text(self, key: str, longest: int, default: str | None = None) -> str:
        """Return an entry that is text."""
        value = self.take(key)
        if value is None and default is not None:
            return default
        if not isinstance(value, str):
            raise self._wrong(key, "text", value)
        if len(value) > longest:
            raise InputError(f"{self.name}.{key} is longer than {longest:,} characters")
        return value

    def choice(self, key: str, known: Sequence[str], default: str) -> str:
        """Return an entry that is one of some words."""
        value = self.take(key)
        if value is None:
            return default
        if value not in known:
            raise InputError(f"{self.name}.{key} must be one of {', '.join(known)}, not {value!r}")
        return str(value)

    def flag(self, key: str) -> bool:
        """Return an entry that is true or false; false if it is not there."""
        value = self.take(key)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return bool(value)

    def array(self, key: str, dtype: type[np.generic], most: int) -> NDArray[Any]:
        """Return an entry that is a list of numbers, or such an array in base64, little-endian."""
        value = self.take(key)
        name = f"{self.name}.{key}"
        if isinstance(value, str):
            return _unpacked(value, np.dtype(dtype), name, most)
        if not isinstance(value, list):
            raise self._wrong(key, "a list of numbers", value)
        if len(value) > most:
            raise InputError(f"{name} has {len(value):,} entries, more than {most:,}")
        kind = int if np.dtype(dtype).kind == "i" else (int, float)
        for position, each in enumerate(value):
            if isinstance(each, bool) or not isinstance(each, kind):
                raise InputError(f"{name}[{position}] must be a number, not {_kind(each)}")
        try:
            return np.array(value, dtype)
        except OverflowError as error:
            raise InputError(f"{name} has a number that is too large") from error

    def done(self) -> None:
        """Refuse what nobody asked for."""
        if self.left:
            raise InputError(f"{self.name} has an entry {short(min(self.left))} that is not known")

    def _wrong(self, key: str, wanted: str, value: Any) -> InputError:
        if key not in self.data:
            return InputError(f"{self.name}.{key} is missing: it must be {wanted}")
        return InputError(f"{self.name}.{key} must be {wanted}, not {_kind(value)}")


def packed(array: NDArray[Any]) -> str:
    """Return the bytes of an array in base64, little-endian: what `Fields.array` reads."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode("ascii")


def _unpacked(text: str, dtype: np.dtype[Any], name: str, most: int) -> NDArray[Any]:
    if len(text) > 4 * (most * dtype.itemsize // 3 + 2):
        raise InputError(f"{name} has more than {most:,} entries")
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"{name} is not base64: {error}") from error
    if len(data) % dtype.itemsize:
        raise InputError(f"{name} is not a whole number of entries of {dtype.itemsize} bytes")
    return np.frombuffer(data, dtype.newbyteorder("<")).astype(dtype)


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)
