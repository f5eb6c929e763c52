"""Named arrays in one ``.npz`` file, written atomically and validated when read."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError

MARK = "format"
"""Entry that holds the kind of the file."""

_HARMLESS, _DENSEST = 1 << 30, 100
"""Bytes that may always be unpacked, and the largest expansion factor of a larger file."""


def write(path: str | os.PathLike[str], kind: str, arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Write `arrays` and the file's `kind` atomically: a reader sees the old or the new file."""
    path = Path(path)
    if path.suffix != ".npz":
        path = path.with_name(path.name + ".npz")
    temporary = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        with temporary.open("wb") as file:
            np.savez(file, allow_pickle=False, **{MARK: np.array(kind)}, **arrays)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def read(path: str | os.PathLike[str], kind: str) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file of this `kind`; raise `InputError` for any other file.

    The suffix may be left out, as in `write`.
    """
    if not Path(path).exists() and Path(f"{os.fspath(path)}.npz").exists():
        path = f"{os.fspath(path)}.npz"
    arrays = read_arrays(path, f"a {kind}")
    if str(arrays.pop(MARK, "")) != kind:
        raise InputError(f"{path} is not a {kind}: its entry {MARK!r} is missing or different")
    return arrays


def entries(path: str | os.PathLike[str], what: str = "an npz file") -> list[str]:
    """Return the names of the arrays in a file; raise `InputError` for any other file."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # zipfile raises several kinds, and passes on those of struct
        raise InputError(f"{path} is not {what}, or is damaged: {error}") from error
    for member in members:
        if not member.filename.endswith(".npy"):
            raise InputError(f"{path} holds {member.filename!r}, which is not an array")
    refuse_bomb(path, Path(path).stat().st_size, sum(member.file_size for member in members))
    return [member.filename.removesuffix(".npy") for member in members]


def read_arrays(
    path: str | os.PathLike[str], what: str = "an npz file", only: str | None = None
) -> dict[str, NDArray[Any]]:
    """Read all arrays of a file, or only one; pickled objects are not loaded."""
    names = [name for name in entries(path, what) if only in (None, name)]
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names}
    except Exception as error:  # numpy, zipfile and zlib raise different errors
        reason = "Python objects are not read, only numbers and text"
        reason = reason if "allow_pickle" in str(error) else str(error)
        raise InputError(f"{path} is not {what}, or is damaged: {reason}") from error


def most_unpacked(packed: int) -> int:
    """Return the most bytes that a file of a size may unpack to."""
    return max(_HARMLESS, _DENSEST * packed)


def refuse_bomb(path: str | os.PathLike[str], packed: int, unpacked: int) -> None:
    """Raise `InputError` for a file that unpacks to far more than its size."""
    if unpacked > most_unpacked(packed):
        raise InputError(
            f"{path} has {packed:,} bytes, but unpacks to {unpacked / 1e9:.1f} GB or more: "
            "if this is intended, save it without compression"
        )
