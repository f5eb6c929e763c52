"""Results in files: all of them whole, or none of them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

from .._optional import need


class Outbox:
    """A folder that gets its files all at once, when the block ends without an error.

    Files are written under hidden temporary names and renamed at the end; after an error, or
    Ctrl-C, nothing of them is left, and the folder goes too if it was made here. What a killed
    process left under such names is cleared by the next that comes.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Outbox(Path(folder, "out")) as outbox:
    ...         _ = outbox.path("values.csv").write_text("a,1")
    ...     [file.name for file in Path(folder, "out").iterdir()]
    ['values.csv']
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.removed: list[Path] = []
        self._unwanted: list[Path] = []
        self._waiting: dict[Path, Path] = {}
        self._made: list[Path] = []

    def path(self, name: str) -> Path:
        """Return where to write the file that will be called `name`."""
        final = self.folder / name
        temporary = self.folder / f".wayfield-{os.getpid()}-{uuid4().hex[:12]}.{name}"
        self._waiting[final] = temporary
        return temporary

    def discard(self, name: str) -> None:
        """Remove the file of that name, if there is one, when the others are in place."""
        self._unwanted.append(self.folder / name)

    @property
    def files(self) -> list[Path]:
        """The files, by the names they have in the end."""
        return list(self._waiting)

    def __enter__(self) -> Self:
        missing = [folder for folder in (self.folder, *self.folder.parents) if not folder.exists()]
        self.folder.mkdir(parents=True, exist_ok=True)
        self._made = missing
        for file in self.folder.iterdir():
            if _left_behind(file.name):
                file.unlink(missing_ok=True)
        probe = self.path("probe")  # a folder one may not write to: say so before the work
        try:
            probe.touch()
        finally:
            probe.unlink(missing_ok=True)
            del self._waiting[self.folder / "probe"]
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if kind is None:
                for final, temporary in self._waiting.items():
                    temporary.replace(final)
                self.removed = [file for file in self._unwanted if file.is_file()]
                for file in self.removed:
                    file.unlink()
        finally:
            for temporary in self._waiting.values():
                temporary.unlink(missing_ok=True)
            for folder in self._made:
                if kind is not None and not any(folder.iterdir()):
                    folder.rmdir()


def _left_behind(name: str) -> bool:
    """Whether a file is a temporary one of ours whose process is no more."""
    found = re.match(r"\.wayfield-(\d+)-[0-9a-f]{12}\.", name)
    if found is None or os.name != "posix":  # elsewhere signal 0 does not ask, it kills
        return False
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return True
    except (PermissionError, OverflowError):
        pass
    return False


def write_table(columns: Mapping[str, Any], path: Path) -> None:
    """Write named columns of one length as Parquet if the path ends so, else as CSV.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "values.csv")
    ...     write_table({"name": ["Genève", 'the "old" mill'], "value": [0.0, None]}, file)
    ...     print(file.read_text(encoding="utf-8"))
    "name","value"
    "Genève",0
    "the ""old"" mill",
    """
    pa = need("pyarrow", "files")
    table = pa.table(dict(columns))
    if path.suffix == ".parquet":
        need("pyarrow.parquet", "files").write_table(table, path)
    else:
        need("pyarrow.csv", "files").write_csv(table, path)
