"""Named arrays in one ``.npz`` file: written whole or not at all, read without trust."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

MARK = "format"
"""Name of the entry that says what kind of file it is."""


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
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as entries:
            arrays = dict(entries)
    except (FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except Exception as error:  # numpy, zipfile and zlib each have errors of their own
        raise InputError(f"{path} is not a {kind}, or is damaged: {error}") from error
    if str(arrays.pop(MARK, "")) != kind:
        raise InputError(f"{path} is not a {kind}: it has no such mark")
    return arrays
