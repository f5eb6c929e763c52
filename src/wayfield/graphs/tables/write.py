"""Writing results: all files or none, and never over a file that wayfield did not write.

A folder with results has a file `MANIFEST` with the digest of each. Files that are listed there and
unchanged may be replaced. All other files belong to the user.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

import numpy as np

from ...checks import need
from ...errors import InputError, Option
from .cells import FORMULA

MANIFEST = ".wayfield.json"
"""Name of the file that lists the results in its folder."""

_BATCH = 1 << 16
_TEMPORARY = re.compile(r"\.wayfield-[0-9a-f]{32}\..+")
"""Names of files that are being written."""


def check_outputs(folder: str | Path, names: Iterable[str], force: bool = False) -> None:
    """Raise `InputError` unless files of these names may be written into a folder.

    Nothing is written. With `force`, files that wayfield did not write may be replaced.
    """
    folder = Path(folder)
    there = next(place for place in (folder, *folder.parents) if place.exists())
    if not there.is_dir():
        raise InputError(f"{there} is a file, not a folder to write into")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InputError(f"cannot write into {there}: no permission")
    listed = _listed(folder)
    for name in names:
        file = folder / name
        if file.is_dir():
            raise InputError(f"cannot write {file}: it is a folder")
        if not force and os.path.lexists(file) and not _ours(file, listed.get(name, ())):
            why = "has changed since it was" if name in listed else "was not"
            raise InputError(
                f"{file} {why} written by wayfield, and stays as it is: write elsewhere, move the "
                "file away, or pass ",
                Option("force", True),
                " to replace it",
            )


class Outbox:
    """A folder that receives its files all at once, when the block ends without an error.

    Files are written under hidden temporary names and renamed at the end. After an error or Ctrl-C
    they are removed, and so is the folder if it was made here. A process that is killed leaves them
    behind: the next one that writes there removes them. A file that wayfield did not write is
    replaced only with `force`; see `check_outputs`.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Outbox(Path(folder, "out")) as outbox:
    ...         _ = outbox.path("values.csv").write_text("a,1")
    ...     sorted(file.name for file in Path(folder, "out").iterdir())
    ['.wayfield.json', 'values.csv']
    """

    def __init__(self, folder: str | Path, force: bool = False) -> None:
        self.folder, self.force = Path(folder), force
        self.removed: list[Path] = []
        self._unwanted: list[str] = []
        self._waiting: dict[str, Path] = {}
        self._made: list[Path] = []
        self._locks = ExitStack()

    def path(self, name: str) -> Path:
        """Return the temporary path of the file `name`, which may be in a subfolder."""
        final = self.folder / name
        self._make(final.parent)
        self._waiting[name] = final.with_name(f".wayfield-{uuid4().hex}.{final.name}")
        return self._waiting[name]

    def discard(self, name: str) -> None:
        """Remove the file of that name at the end, if wayfield wrote it."""
        self._unwanted.append(name)

    @property
    def files(self) -> list[Path]:
        """The files, by their final names."""
        return [self.folder / name for name in self._waiting]

    def __enter__(self) -> Self:
        self._make(self.folder)
        _remove_leftovers(self.folder, self._locks)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        done = False
        try:
            if kind is None:
                self._deliver()
            done = kind is None
        finally:
            for temporary in self._waiting.values():
                temporary.unlink(missing_ok=True)
            for folder in self._made:
                if not done and not any(folder.iterdir()):
                    folder.rmdir()
            self._locks.close()

    def _make(self, folder: Path) -> None:
        """Make a folder, and remember the folders that were created, the innermost first."""
        missing = [place for place in (folder, *folder.parents) if not place.exists()]
        folder.mkdir(parents=True, exist_ok=True)
        self._made = missing + self._made

    def _deliver(self) -> None:
        """Rename the files to their final names.

        The manifest comes first and holds the digests before and after. So if the process is killed
        in between, the next one still recognises all files.
        """
        if not self._waiting:
            return
        check_outputs(self.folder, self._waiting, self.force)
        listed = _listed(self.folder)
        stale = [name for name in self._unwanted if name not in self._waiting]
        stale = [name for name in stale if _ours(self.folder / name, listed.get(name, ()))]
        for name, temporary in self._waiting.items():
            listed[name] = [_digest(temporary), *listed.get(name, ())[:1]]
        manifest = self.folder / f".wayfield-{uuid4().hex}{MANIFEST}"
        try:
            manifest.write_text(json.dumps({"files": listed}, indent=1) + "\n", encoding="utf-8")
            manifest.replace(self.folder / MANIFEST)
        finally:
            manifest.unlink(missing_ok=True)
        for name, temporary in self._waiting.items():
            temporary.replace(self.folder / name)
        self.removed = [self.folder / name for name in stale]
        for file in self.removed:
            file.unlink()


def _remove_leftovers(folder: Path, locks: ExitStack) -> None:
    """Remove the temporary files of killed processes, unless another process is writing here.

    Whoever writes into a folder holds a shared lock on it. Where there are no locks, as on Windows,
    nothing is removed.
    """
    with suppress(ImportError, OSError):
        import fcntl

        handle = os.open(folder, os.O_RDONLY)
        locks.callback(os.close, handle)
        with suppress(BlockingIOError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            for file in folder.iterdir():
                if _TEMPORARY.fullmatch(file.name):
                    file.unlink(missing_ok=True)
        fcntl.flock(handle, fcntl.LOCK_SH)


def _listed(folder: Path) -> dict[str, list[str]]:
    """Return the digests of the files that were written here, by name, the latest first."""
    try:
        listed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["files"]
        return {str(name): list(map(str, digests)) for name, digests in listed.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}  # without a list of ours, no file counts as ours


def _ours(file: Path, digests: Sequence[str]) -> bool:
    """Whether a file is unchanged since it was written here."""
    return bool(digests) and file.is_file() and _digest(file) in digests


def _digest(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def write_table(columns: Mapping[str, Any], path: Path) -> None:
    """Write named columns of equal length, as Parquet if the path ends so, else as CSV.

    A column is a list of text, with None where it is missing, or an array of numbers or flags,
    masked where they are missing. In CSV all text is quoted. Text that a spreadsheet would read as
    a formula is written with an apostrophe: ``=1+1`` becomes ``'=1+1``. The readers of this package
    leave it out again.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "values.csv")
    ...     value = np.ma.masked_invalid([0.0, np.nan])
    ...     write_table({"name": ["Genève", 'the "old" mill'], "value": value}, file)
    ...     print(file.read_text(encoding="utf-8"))
    "name","value"
    "Genève",0.0
    "the ""old"" mill",
    """
    if path.suffix == ".parquet":
        pa, parquet = need("pyarrow", "files"), need("pyarrow.parquet", "files")
        arrays = {
            name: pa.array(np.ma.getdata(column), mask=np.ma.getmaskarray(column))
            if isinstance(column, np.ndarray)
            else pa.array(column, pa.string())
            for name, column in columns.items()
        }
        parquet.write_table(pa.table(arrays), path)
        return

    def cells(column: Any) -> list[str]:
        """Write some rows of a column as CSV has them."""
        if not isinstance(column, np.ndarray):
            return ["" if text is None else _quoted(text) for text in column]
        write = {"b": lambda flag: "true" if flag else "false"}.get(column.dtype.kind, repr)
        written = list(map(write, np.ma.getdata(column).tolist()))
        for row in np.flatnonzero(np.ma.getmaskarray(column)).tolist():
            written[row] = ""
        return written

    rows = len(next(iter(columns.values())))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(map(_quoted, columns)) + "\n")
        for start in range(0, rows, _BATCH):
            piece = [cells(column[start : start + _BATCH]) for column in columns.values()]
            rows_text = map(",".join, zip(*piece, strict=True))
            file.write("\n".join([*rows_text, ""]))


def _quoted(text: str) -> str:
    """Return a cell in quotes; see `cells.unmarked`."""
    text = f"'{text}" if text.lstrip("'").startswith(FORMULA) else text
    return f'"{text}"' if '"' not in text else '"' + text.replace('"', '""') + '"'
