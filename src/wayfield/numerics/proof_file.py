"""Proof files: named sections after a digest, written atomically.

`wayfield_verify._file` documents the format byte by byte. It reads it, and shares no code with this
module.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Collection, Iterable, Set
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..typing import BoolArray, FloatArray

MAGIC = b"wayfield proof 1"

Section = tuple[str, bytes | memoryview]
"""A tag of four letters, and the content of its section."""


def doubles(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of 64-bit floating-point numbers."""
    return tag, _raw(numbers, "<f8")


def singles(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of 32-bit floating-point numbers."""
    return tag, _raw(numbers, "<f4")


def indices(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of 32-bit indices."""
    return tag, _raw(numbers, "<u4")


def counts(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of whole numbers of 1, 2, 4 or 8 bytes, the fewest that hold the largest."""
    most = int(numbers.max(initial=0))
    width = next(size for size in (1, 2, 4, 8) if most < 1 << 8 * size)
    return tag, _raw(numbers, f"<u{width}")


def _raw(numbers: NDArray[Any], kind: str) -> memoryview:
    """Return the bytes of numbers as this type, without a copy where possible."""
    return np.ascontiguousarray(numbers, kind).view(np.uint8).data


def doubles_between(least: FloatArray, most: FloatArray) -> NDArray[np.uint64]:
    """Return how many doubles `most` lies above `least`; 0 where it is NaN."""
    steps = (_place(most) - _place(least)).view(np.uint64)  # modulo 2^64: it may exceed 2^63
    steps[np.isnan(most)] = 0
    return steps


def _place(numbers: FloatArray) -> NDArray[np.int64]:
    """Return the rank of each double among all doubles; 0 has rank 0."""
    bits = np.ascontiguousarray(numbers).view(np.int64)
    negative = bits < 0
    return np.where(negative, np.int64(-(2**63)) - bits, bits) if negative.any() else bits


def bits(tag: str, flags: BoolArray) -> Section:
    """Return a packed bit array, one bit per vertex, least significant bit first."""
    return tag, np.packbits(flags, bitorder="little").tobytes()


def names(given: Collection[object], count: int, what: str) -> list[Section]:
    """Return the sections that hold `count` names; `what` says of what, such as vertices."""
    # a set has no order, and a text is one name
    if isinstance(given, str | Set) or not isinstance(given, Collection):
        raise InputError(f"names must be a list, got {type(given).__name__}")
    if len(given) != count:
        raise InputError(f"there must be one name for each of {count:,} {what}, got {len(given):,}")
    try:
        words = [str(name).encode() for name in given]
    except UnicodeEncodeError as error:
        raise InputError(f"names must be Unicode text, got {error.object!r}") from None
    if len(set(words)) < count:
        raise InputError(f"names must differ: two {what} have the same name")
    sizes = np.array([len(word) for word in words], dtype=np.int64)
    return [counts("naml", sizes), ("name", b"".join(words))]


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return `path` if nothing is there yet, or a proof; else raise `InputError`."""
    path = _in_a_folder(path)
    if os.path.lexists(path):
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError(f"{path} is not a proof; pass --force to overwrite it")
    return path


def _in_a_folder(path: str | os.PathLike[str]) -> Path:
    path = Path(path)
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}")
    return path


def digest(sections: Iterable[Section]) -> bytes:
    """Return the digest that a proof of these sections begins with."""
    return _digest(_parts(sections))


def write(path: str | os.PathLike[str], sections: Iterable[Section]) -> Path:
    """Write a proof atomically: a reader sees the old or the new file."""
    path, parts = _in_a_folder(path), _parts(sections)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.writelines([MAGIC, _digest(parts), *parts])
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _parts(sections: Iterable[Section]) -> list[bytes | memoryview]:
    parts: list[bytes | memoryview] = []
    for tag, payload in sections:
        parts += [struct.pack("<4sQ", tag.encode(), len(payload)), payload]
    return parts


def _digest(parts: Iterable[bytes | memoryview]) -> bytes:
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.digest()
