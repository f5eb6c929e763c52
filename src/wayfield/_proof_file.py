"""Certificate files: named sections behind a digest, written whole or not at all.

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
from .kernels._types import BoolArray

MAGIC = b"wayfield proof 1"

Section = tuple[str, bytes]
"""A tag of four letters, and what stands under it."""


def doubles(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of 64-bit floating-point numbers."""
    return tag, np.ascontiguousarray(numbers, "<f8").tobytes()


def singles(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of numbers that are of single precision."""
    return tag, np.ascontiguousarray(numbers, "<f4").tobytes()


def indices(tag: str, numbers: NDArray[Any]) -> Section:
    """Return a section of 32-bit indices, -1 being the largest of them."""
    return tag, np.ascontiguousarray(numbers).astype("<i8").astype("<u4").tobytes()


def bits(tag: str, flags: BoolArray) -> Section:
    """Return a section of one bit per vertex, the lowest bit of a byte first."""
    return tag, np.packbits(flags, bitorder="little").tobytes()


def check_path(path: str | os.PathLike[str]) -> Path:
    """Return a path at which there is nothing yet, or a certificate; else raise `InputError`."""
    path = Path(path)
    if path.exists():
        if not path.is_file():
            raise InputError(f"{path} is not a file")
        with path.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                raise InputError(f"{path} is no certificate, and would be overwritten")
    return path


def write(path: str | os.PathLike[str], sections: Iterable[Section]) -> Path:
    """Write a certificate; a reader sees the old file or the whole new one."""
    path = Path(path)
    parts = []
    for tag, payload in sections:
        parts += [struct.pack("<4sQ", tag.encode(), len(payload)), payload]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            file.writelines([MAGIC, digest.digest(), *parts])
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path
