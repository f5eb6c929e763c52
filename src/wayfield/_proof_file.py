"""Proof files: named sections behind a digest, written whole or not at all.

The format is documented on the page "Proofs that travel" (``docs/proofs.md``); the package
`wayfield_verify` reads it and shares no code with this module.
"""

from __future__ import annotations

import hashlib
import os
import struct
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from .errors import InputError
from .kernels._types import BoolArray, FloatArray

MAGIC = b"wayfield proof 1"

Section = tuple[str, bytes | memoryview]
"""A tag of four letters, and what stands under it."""


def doubles(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of 64-bit floating-point numbers."""
    return tag, _raw(numbers, "<f8")


def singles(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of numbers that are of single precision."""
    return tag, _raw(numbers, "<f4")


def indices(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of 32-bit indices."""
    return tag, _raw(numbers, "<u4")


def counts(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of whole numbers, each of 1, 2, 4 or 8 bytes: as few as the largest asks."""
    most = int(numbers.max(initial=0))
    width = next(size for size in (1, 2, 4, 8) if most < 1 << 8 * size)
    return tag, _raw(numbers, f"<u{width}")


def _raw(numbers: NDArray[Any], kind: str) -> memoryview:
    """Return the bytes of numbers of this kind, not copied where they are of it already."""
    return np.ascontiguousarray(numbers, kind).view(np.uint8).data


def doubles_between(least: FloatArray, most: FloatArray) -> NDArray[np.uint64]:
    """Return how many doubles up `most` lies from `least`, 0 where it is NaN."""
    steps = (_place(most) - _place(least)).view(np.uint64)  # modulo 2^64: it may exceed 2^63
    steps[np.isnan(most)] = 0
    return steps


def _place(numbers: FloatArray) -> NDArray[np.int64]:
    """Return the place of every double in the order of all of them, 0 being that of 0."""
    bits = np.ascontiguousarray(numbers).view(np.int64)
    negative = bits < 0
    return np.where(negative, np.int64(-(2**63)) - bits, bits) if negative.any() else bits


def bits(tag: str, flags: BoolArray) -> Section:
    """Return a section of one bit per vertex, the lowest bit of a byte first."""
    return tag, np.packbits(flags, bitorder="little").tobytes()


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return a path at which there is nothing yet, or a proof; else raise `InputError`."""
    path = _in_a_folder(path)
    if path.exists():
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError(f"{path} is no proof, and is not overwritten without --force")
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
    """Write a proof; a reader sees the old file or the whole new one."""
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
