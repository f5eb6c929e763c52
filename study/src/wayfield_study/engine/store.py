"""The store of results: one Parquet file per task, complete or absent.

A task's file is ``results/<experiment>/<cell>-<address>.parquet``, the address a digest of the
experiment's name and the cell's settings. The table carries the settings as columns, so that any
reader of Parquet can query many files at once; the footer holds the settings and what computed
it: `freshness` tells from that whether it would be computed alike now.

*Written whole.* A file is written under a temporary name, flushed to disk and renamed: a run
killed at any moment leaves no half file behind.

*Sealed.* A file carries a seal in its footer: the SHA-256 digest of all its bytes, taken with the
digest itself blanked out. Bytes that do not agree with their seal are never parsed; their task is
run again.

*Same bytes.* Nothing about the moment or the machine's load goes into a file: timings are kept
apart, in ``log.jsonl``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import uuid4

from wayfield.checks import need
from wayfield.errors import WayfieldError

from .freshness import stamp, what_changed
from .tasks import Row, Task

FORMAT = 3
"""Of the files. A change gets a new number."""

_TEMPORARY = ".tmp"


class Condition(StrEnum):
    """Condition of a task in the store."""

    DONE = "done"
    MISSING = "missing"
    FAILED = "failed"
    STALE = "stale"
    DAMAGED = "damaged"


@dataclass(frozen=True)
class Entry:
    """A task in the store: its condition, its rows, and what is wrong with it.

    Attributes
    ----------
    condition : Condition
        Whether the result is there and valid.
    rows : list of Row
        The table, the cell's settings in front, of a result that is done or stale; none if its
        format cannot be read any more.
    note : str
        What is wrong with a stale or damaged file, and where it is.
    changed : str
        What has changed since a stale result was computed.
    """

    condition: Condition
    rows: list[Row]
    note: str = ""
    changed: str = ""


@dataclass(frozen=True)
class Store:
    """Results under one directory.

    Examples
    --------
    >>> import tempfile
    >>> from wayfield_study.experiments import MazeCell
    >>> from wayfield_study.engine import Experiment
    >>> toy = Experiment("toy", "a toy", version=1, run=lambda cell: [{"reached": 500}])
    >>> store, task = Store(Path(tempfile.mkdtemp())), Task(toy, MazeCell("umaze", 2, 0.1, 54))
    >>> store.look(task).condition.value
    'missing'
    >>> store.write(task, rows=[{"seed": 54, "reached": 500}])
    >>> store.look(task).rows
    [{'seed': 54, 'reached': 500}]
    """

    directory: Path

    def path(self, task: Task) -> Path:
        """Return the path of a task's table."""
        about = {"experiment": task.experiment.name, "settings": task.cell.columns}
        address = hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()[:12]
        name = re.sub(r"[^A-Za-z0-9._-]+", "_", task.cell_name)
        return self.directory / task.experiment.name / f"{name}-{address}.parquet"

    def failure_path(self, task: Task) -> Path:
        """Return the path of a task's traceback."""
        return self.path(task).with_suffix(".failed.txt")

    @property
    def log_path(self) -> Path:
        """Where the time of every finished task is kept, a line of JSON each."""
        return self.directory / "log.jsonl"

    def look(self, task: Task) -> Entry:
        """Return the entry of a task; its table is checked in full before it counts as done."""
        path = self.path(task)
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            failed = self.failure_path(task).exists()
            return Entry(Condition.FAILED if failed else Condition.MISSING, [])
        if not is_whole(content):
            return Entry(Condition.DAMAGED, [], f"{path} is damaged")
        header, rows = decode(content, task.experiment.for_queries)
        expected = _header(task)
        if any(header.get(name) != expected[name] for name in ("experiment", "settings")):
            return Entry(Condition.DAMAGED, [], f"{path} does not hold what its name says")
        if header["format"] != FORMAT:
            changed = f"written in format {header['format']}, now {FORMAT}"
            return Entry(Condition.STALE, [], f"{path} is stale: {changed}", changed)
        if changed := what_changed(header, expected):
            return Entry(Condition.STALE, rows, f"{path} is stale: {changed}", changed)
        return Entry(Condition.DONE, rows)

    def write(self, task: Task, rows: list[Row]) -> None:
        """Write the rows of a finished task, and remove the record of a failure."""
        self._replace(self.path(task), encode(_header(task), rows))
        self.failure_path(task).unlink(missing_ok=True)

    def write_failure(self, task: Task, traceback: str) -> Path:
        """Write why the task failed, and return where; it is run again next time."""
        self._replace(self.failure_path(task), traceback.encode(errors="backslashreplace"))
        return self.failure_path(task)

    def log(self, task: Task, seconds: float) -> None:
        """Append how long a task took to the log."""
        about = {"experiment": task.experiment.name, **task.cell.columns}
        about["file"] = self.path(task).name
        with self.log_path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(about | {"seconds": round(seconds, 4)}) + "\n")

    def computing(self, tasks: Iterable[Task]) -> dict[str, float]:
        """Return the seconds that these tasks took, by experiment, where they were logged."""
        noted: dict[tuple[str, str], float] = {}
        lines = self.log_path.read_bytes() if self.log_path.exists() else b""
        for line in lines.splitlines():
            with suppress(ValueError, KeyError, TypeError):  # one may be cut short or damaged
                entry = json.loads(line)
                noted[entry["experiment"], entry["file"]] = float(entry["seconds"])
        total: dict[str, float] = {}
        for task in tasks:
            name = task.experiment.name
            seconds = noted.get((name, self.path(task).name), 0.0)
            total[name] = total.get(name, 0.0) + seconds
        return total

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Lock the store for one run, and remove files that a killed run left incomplete.

        Raises
        ------
        WayfieldError
            If another run has locked it. The system releases the lock of a killed run.
        """
        need("pyarrow", "study")  # now, not after the first result
        self.directory.mkdir(parents=True, exist_ok=True)
        with (self.directory / ".lock").open("a") as file:
            try:
                import fcntl

                fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise WayfieldError(
                    f"another run is writing to {self.directory}: wait until it ends"
                ) from None
            except (ImportError, OSError):  # Windows, or a file system without locks
                pass
            for leftover in self.directory.glob(f"*/.*{_TEMPORARY}"):
                leftover.unlink(missing_ok=True)
            yield

    def _replace(self, path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{uuid4().hex}{_TEMPORARY}")
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _header(task: Task) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "experiment": task.experiment.name,
        "settings": task.cell.columns,
        "code": getattr(task.cell, "code", ""),
        **stamp(task.experiment.version, task.experiment.run, task.experiment.packages),
    }


# ------------------------------------------------------------------ sealed tables


_SEAL = re.compile(rb"seal:([0-9a-f]{64})")
_BLANK = b"0" * 64


def encode(header: dict[str, Any], rows: list[Row]) -> bytes:
    """Write a table, its columns named and typed by the first row, and seal it.

    Examples
    --------
    >>> content = encode({"experiment": "toy"}, [{"arm": "exact", "reached": 512}])
    >>> decode(content)
    ({'experiment': 'toy'}, [{'arm': 'exact', 'reached': 512}])
    >>> is_whole(content), is_whole(content[:-1])
    (True, False)
    """
    arrow, parquet = need("pyarrow", "study"), need("pyarrow.parquet", "study")
    table = arrow.Table.from_pylist(rows)
    buffer = arrow.BufferOutputStream()
    with parquet.ParquetWriter(buffer, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        seal = f"seal:{_BLANK.decode()}"
        writer.add_key_value_metadata({"wayfield": json.dumps(header), "wayfield.seal": seal})
    content: bytes = buffer.getvalue().to_pybytes()
    start, end = _seal_span(content)
    return content[:start] + _digest(content) + content[end:]


def is_whole(content: bytes) -> bool:
    """Whether the bytes agree with their seal."""
    start, end = _seal_span(content)
    return _digest(content[:start] + _BLANK + content[end:]) == content[start:end]


def decode(content: bytes, without: Sequence[str] = ()) -> tuple[dict[str, Any], list[Row]]:
    """Read the header and the rows of a file that is whole, without some of the columns."""
    arrow, parquet = need("pyarrow", "study"), need("pyarrow.parquet", "study")
    with parquet.ParquetFile(arrow.BufferReader(content)) as file:
        header: dict[str, Any] = json.loads(file.metadata.metadata[b"wayfield"])
        columns = [name for name in file.schema_arrow.names if name not in without]
        # small tables; and a thread that lets go late of Python's bytes can abort a process at exit
        rows: list[Row] = file.read(columns, use_threads=False).to_pylist()
    return header, rows


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _seal_span(content: bytes) -> tuple[int, int]:
    """Return the span of the seal: the last match, since it is in the footer."""
    found = [match.span(1) for match in _SEAL.finditer(content)]
    return found[-1] if found else (0, 0)


# ------------------------------------------------------------------ queries


PAIRS = """
CREATE VIEW pairs AS SELECT maze, refinement, label_fraction, label_count, seed, goals, arm, ties,
    generate_subscripts(pair_goal, 1) AS pair, unnest(pair_goal) AS goal,
    unnest(pair_start) AS start, unnest(pair_end) AS ended, unnest(pair_cost) AS cost,
    unnest(pair_least) AS least
FROM rollout
"""
"""One row for every sampled pair and arm; pairs of one number in a cell are the same pair."""


def connect(results: Path | str = "results") -> Any:
    """Return a DuckDB connection with a table for every experiment, and the table ``pairs``.

    ``pairs`` has a row for every sampled pair of the rollouts and every arm: the settings of the
    cell, ``pair`` (its number in the cell), ``goal``, ``start``, how the walk ``ended``, its
    ``cost``, infinite if it does not arrive, and the ``least`` cost.

    Parameters
    ----------
    results : path
        Folder of the results; nothing else can be read through the connection.
    """
    duckdb, path = need("duckdb", "study"), Path(results)
    folders = sorted({each.parent for each in path.glob("*/*.parquet")})
    if not folders:
        raise WayfieldError(f"there are no results in {path} yet")
    connection = duckdb.connect()
    for folder in folders:
        rows = connection.read_parquet(f"{folder}/*.parquet", union_by_name=True)
        rows.create(folder.name)
        if folder.name == "rollout" and "pair_goal" in rows.columns:
            connection.execute(PAIRS)
    connection.execute("SET enable_external_access = false")  # results are only read
    return connection
