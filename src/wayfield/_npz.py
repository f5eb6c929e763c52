"""Named arrays in one ``.npz`` file: written whole or not at all, read without trust."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

MARK = "format"
"""Name of the entry that says what kind of file it is."""

_HARMLESS, _DENSEST = 1 << 30, 100
"""Bytes that may be unpacked without a question; how many times its size a larger file may hold."""


def write(path: str | os.PathLike[str], kind: str, arrays: Mapping[str, NDArray[Any]]) -> Path:
    """Write `arrays` and the file's `kind`; a reader sees the old file or the whole new one."""
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
    """Read the arrays of a file written with the same `kind`; anything else is an `InputError`."""
    arrays = read_arrays(path, f"a {kind}")
    if str(arrays.pop(MARK, "")) != kind:
        raise InputError(f"{path} is not a {kind}: it has no such mark")
    return arrays


def entries(path: str | os.PathLike[str], what: str = "an npz file") -> list[str]:
    """Names of the arrays of a file that holds arrays alone, not too much of them."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # zipfile has several kinds, and hands on those of struct
        raise InputError(f"{path} is not {what}, or is damaged: {error}") from error
    for member in members:
        if not member.filename.endswith(".npy"):
            raise InputError(f"{path} holds {member.filename!r}, which is not an array")
    refuse_bomb(path, Path(path).stat().st_size, sum(member.file_size for member in members))
    return [member.filename.removesuffix(".npy") for member in members]


def read_arrays(
    path: str | os.PathLike[str], what: str = "an npz file", only: str | None = None
) -> dict[str, NDArray[Any]]:
    """Read every array of a file, or one of them; none is trusted."""
    names = [name for name in entries(path, what) if only in (None, name)]
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names}
    except Exception as error:  # numpy, zipfile and zlib each have errors of their own
        told = "Python objects are not read, only numbers and text"
        told = told if "allow_pickle" in str(error) else str(error)
        raise InputError(f"{path} is not {what}, or is damaged: {told}") from error


def refuse_bomb(path: str | os.PathLike[str], packed: int, unpacked: int) -> None:
    """Raise `InputError` for a file that grows beyond all measure when it is unpacked."""
    if unpacked > max(_HARMLESS, _DENSEST * packed):
        raise InputError(
            f"{path} has {packed:,} bytes, but unpacks to {unpacked / 1e9:.1f} GB or more: "
            "store it unpacked if that is meant"
        )
