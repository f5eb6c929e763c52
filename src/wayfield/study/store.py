"""Where results live: one file per cell, whole or absent.

A file is written under a temporary name and renamed, so a run killed at any moment leaves no half
file behind. It holds the cell's settings, the version that made it and a digest of its figures; a
file that does not read back as that is damaged, and one of another version is stale: in both
cases the cell is run again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from .cells import Cell
from .rollout import Record

FORMAT = "wayfield cell 1"
"""Of the files, and of what the figures mean: a change to either gets a new number."""


class Damaged(Exception):  # noqa: N818  (a state of affairs, handled by running the cell again)
    """A cell's file is there but cannot be trusted."""


@dataclass(frozen=True)
class Store:
    """Results under one directory."""

    directory: Path

    def path(self, cell: Cell) -> Path:
        """Where the cell's figures are, once it is done."""
        return self.directory / f"{cell.key}.json"

    def failure_path(self, cell: Cell) -> Path:
        """Where the traceback is, if the cell failed."""
        return self.directory / f"{cell.key}.failed.txt"

    def read(self, cell: Cell) -> Record | None:
        """Return the cell's figures, None if it has not been run; raise `Damaged` otherwise."""
        path = self.path(cell)
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
            if content["wayfield"] != metadata.version("wayfield"):
                return None
            whole = (
                content["format"] == FORMAT
                and content["settings"] == asdict(cell)
                and content["digest"] == _digest(content["figures"])
            )
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise Damaged(f"{path} cannot be read: {error}") from error
        if not whole:
            raise Damaged(f"{path} does not hold what its name says")
        figures: Record = content["figures"]
        return figures

    def write(self, cell: Cell, figures: Record) -> None:
        """Keep the cell's figures."""
        content = {
            "format": FORMAT,
            "wayfield": metadata.version("wayfield"),
            "settings": asdict(cell),
            "digest": _digest(figures),
            "figures": figures,
        }
        self._replace(self.path(cell), json.dumps(content, indent=1, allow_nan=False) + "\n")
        self.failure_path(cell).unlink(missing_ok=True)

    def write_failure(self, cell: Cell, traceback: str) -> None:
        """Keep why the cell failed; it is run again next time."""
        self._replace(self.failure_path(cell), traceback)

    def _replace(self, path: Path, text: str) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=self.directory, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def _digest(figures: Any) -> str:
    return hashlib.sha256(json.dumps(figures, sort_keys=True).encode()).hexdigest()
