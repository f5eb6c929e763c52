"""Vertex names: text of any kind, each with its index in the graph."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import need
from ..errors import InputError

_COMPARED = 100_000
"""Names beyond this many are not all compared with one that is not among them."""


@dataclass(frozen=True, eq=False, repr=False)
class Names:
    """Names of the vertices of a graph, in the order of their indices.

    Attributes
    ----------
    array : pyarrow.StringArray
        The names, distinct.

    Examples
    --------
    >>> names = Names.of(["Zürich", "Genève", "Bern"])
    >>> names.index("Bern")
    2
    >>> names[1]
    'Genève'
    >>> names.index("Geneve")
    Traceback (most recent call last):
    wayfield.errors.InputError: 'Geneve' is not a vertex of the graph; did you mean 'Genève'?
    """

    array: Any

    @classmethod
    def of(cls, names: Sequence[str] | range) -> Names:
        """Make names from text, or from whole numbers."""
        pa = need("pyarrow", "files")
        if isinstance(names, range):
            return cls(pa.array(np.arange(names.start, names.stop, names.step)).cast(pa.string()))
        return cls(pa.array(names, pa.string()))

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, vertex: int) -> str:
        return str(self.array[int(vertex)])

    def __repr__(self) -> str:
        return f"Names({len(self):,})"

    def find(self, column: Any) -> NDArray[np.int64]:
        """Index of every name of a column; -1 where it is not a vertex."""
        compute = need("pyarrow.compute", "files")
        found = compute.index_in(column, value_set=self.array)
        return np.asarray(compute.fill_null(found, -1).to_numpy(), dtype=np.int64)

    def index(self, name: str, what: str = "") -> int:
        """Index of one name, or an `InputError` that suggests a close one."""
        place = self.array.index(canonical_name(name)).as_py()
        if place < 0:
            raise InputError(f"{what}{name!r} is not a vertex of the graph{self.suggestion(name)}")
        return int(place)

    def suggestion(self, name: str) -> str:
        """End of a sentence about a name that is not here."""
        near = self.array if len(self) <= _COMPARED else self._beginning_like(name)
        spelt = {_bare(known): known for known in near.to_pylist()}
        close = [spelt[key] for key in difflib.get_close_matches(_bare(name), spelt, 3)]
        if not close:
            return f" (its vertices are {', '.join(map(repr, self.array[:3].to_pylist()))} …)"
        return f"; did you mean {' or '.join(map(repr, close))}?"

    def _beginning_like(self, name: str) -> Any:
        """Names that begin as this one does, for as long as any do; not too many of them."""
        compute = need("pyarrow.compute", "files")
        for size in range(len(name), 0, -1):
            alike = compute.starts_with(self.array, name[:size], ignore_case=True)
            if compute.any(alike).as_py():
                return self.array.filter(alike)[:_COMPARED]
        return self.array[:0]

    def as_numbers(self) -> Any:
        """Return the names as whole numbers if all are written so, else as they are."""
        pa, compute = need("pyarrow", "files"), need("pyarrow.compute", "files")
        try:
            numbers = self.array.cast(pa.int64())
        except pa.ArrowInvalid:
            return self.array
        same = compute.all(compute.equal(numbers.cast(pa.string()), self.array)).as_py()
        return numbers if same else self.array


def canonical_name(name: str) -> str:
    """Return a name as names are compared: composed accents, no space around it."""
    return unicodedata.normalize("NFC", name).strip()


def _bare(name: str) -> str:
    """Return a name without its accents and capitals, to find names that look like it."""
    apart = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def canonical(column: Any) -> Any:
    """Return a dictionary-encoded column whose names are spelt as names are compared."""
    pa, compute = need("pyarrow", "files"), need("pyarrow.compute", "files")
    spelt = compute.utf8_trim_whitespace(compute.utf8_normalize(column.dictionary, form="NFC"))
    merged = spelt.dictionary_encode()
    return pa.DictionaryArray.from_arrays(merged.indices.take(column.indices), merged.dictionary)
