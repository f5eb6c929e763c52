"""Proofs of what a study solved: digests in its rows, and the files again when they are checked.

A row of an exact method holds the digest of its field's proof (`wayfield.Extension.
write_proof`), not the proof itself, which is as large as the field. As experiments give the
same rows bit for bit, running one again gives the file again: its digest has to be the one in the
row, and ``wayfield_verify``, in a process of its own, has to prove it.
"""

from __future__ import annotations

import subprocess
import sys
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from wayfield.errors import InputError
from wayfield.fields import Extension, field_sections
from wayfield.numerics import proof_file

from .tasks import Row, Task, as_table

COLUMN = "proof"
"""Where rows hold the digest: empty if the method has no bracket."""

_folder: ContextVar[Path | None] = ContextVar("folder of proofs", default=None)


def proof_digest(field: Extension) -> str:
    """Return the digest of a field's proof, in hexadecimal digits; empty if it has none."""
    try:
        sections = field_sections(field)
    except InputError:
        return ""
    digest, folder = proof_file.digest(sections).hex(), _folder.get()
    if folder is not None:
        proof_file.write(folder / f"{digest}.proof", sections)
    return digest


@dataclass(frozen=True)
class Recheck:
    """Result of checking a task's proofs again.

    Attributes
    ----------
    proved : int
        Proofs that were written again and checked.
    faults : tuple of str
        Proofs that disagree, or that could not be proved.
    """

    proved: int
    faults: tuple[str, ...]


def has_proofs(rows: list[Row]) -> bool:
    """Whether any of a task's rows holds the digest of a proof."""
    return any(row.get(COLUMN) for row in rows)


def recheck(task: Task, rows: list[Row]) -> Recheck:
    """Run a task again: its proofs must have the digests in the rows, and be proved."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        token = _folder.set(folder)  # proofs whose digest is taken are kept there
        try:
            again = as_table(task.cell, task.experiment.run(task.cell))
        finally:
            _folder.reset(token)
        # results of other code may have other rows: then these have no digest to agree with
        none: Row = {}
        faults = [
            f"row {k} holds the digest of another proof"
            for k, (then, now) in enumerate(zip_longest(rows, again, fillvalue=none))
            if then.get(COLUMN) != now.get(COLUMN)
        ]
        files = sorted(folder.iterdir())
        for file in files:
            command = [sys.executable, "-m", "wayfield_verify", str(file)]
            checked = subprocess.run(command, capture_output=True, text=True, check=False)
            if checked.returncode:
                faults.append((checked.stdout + checked.stderr).strip())
        return Recheck(len(files), tuple(faults))
