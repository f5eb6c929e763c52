"""Tables as sealed Parquet files: the bytes say themselves whether they are whole.

The footer of a file holds a header of ours, as JSON, and a seal: the SHA-256 digest of the entire
file, taken with the digest itself blanked out. The same header and rows always give the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

from wayfield._optional import need

from .tasks import Row

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


def decode(content: bytes) -> tuple[dict[str, Any], list[Row]]:
    """Read the header and the rows of a file that is whole."""
    arrow, parquet = need("pyarrow", "study"), need("pyarrow.parquet", "study")
    with parquet.ParquetFile(arrow.BufferReader(content)) as file:
        header: dict[str, Any] = json.loads(file.metadata.metadata[b"wayfield"])
        # small tables; and a thread that lets go late of Python's bytes can abort a process at exit
        rows: list[Row] = file.read(use_threads=False).to_pylist()
    return header, rows


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).hexdigest().encode()


def _seal_span(content: bytes) -> tuple[int, int]:
    """Where the seal is: in the footer, so the last thing in the file that looks like one."""
    found = [match.span(1) for match in _SEAL.finditer(content)]
    return found[-1] if found else (0, 0)
