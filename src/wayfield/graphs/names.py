"""Names of vertices: labels outside the graph, indices from 0 inside it.

Names are compared with composed accents, without surrounding space, and with all kinds of space
equal. So names that look the same are the same. Names keep the order in which they first appear.
"""

from __future__ import annotations

import difflib
import reprlib
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from ..checks import as_vertex
from ..errors import InputError

__all__ = ["Names"]

Name = str | int
"""What a vertex may be called."""

_SPACES = dict.fromkeys(map(ord, "\u00a0\u2007\u202f"), " ")
"""Non-breaking spaces, which read as spaces."""
_AROUND = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\u200b\u200e\u200f\u2060\ufeff"
"""Invisible characters that may surround a name: spaces of all kinds, and zero-width marks."""

_COMPARED = 100_000
"""Largest number of names that are all compared with an unknown one."""
_LONGEST_COMPARED = 100
"""Longest name to compare: the work grows with the square of the length."""


class Numbering(dict[Name, int]):
    """Index of each name; looking up a new name gives it the next index.

    A name that differs from its canonical form is not stored: the keys are the canonical names, in
    the order of their indices.
    """

    def __missing__(self, name: Name) -> int:
        known = canonical(name)
        if known != name:
            return self[known]
        index = self[known] = len(self)
        return index

    def number(self, names: Sequence[Name]) -> NDArray[np.int32]:
        """Return the index of each name; new names are added."""
        return np.fromiter(map(self.__getitem__, names), np.int32, len(names))


class Names:
    """Names of the vertices of a graph, in the order of their indices.

    Parameters
    ----------
    names : iterable of str or int
        Text or whole numbers. A repeated name counts once, so the ends of all edges can be passed
        as they are.

    Raises
    ------
    InputError
        If a name is empty, or neither text nor a whole number.

    Examples
    --------
    >>> import wayfield as wf
    >>> tails, heads = ["Genève", "Lausanne"], ["Lausanne", "Bern"]
    >>> names = wf.Names(tails + heads)
    >>> names
    Names(3: 'Genève', 'Lausanne', 'Bern')
    >>> graph = wf.Graph.from_edges(names.index(tails), names.index(heads), [62.0, 100.0])
    >>> names.index("Bern"), names[[2, 0]]
    (2, ['Bern', 'Genève'])
    >>> names.index("Geneve")
    Traceback (most recent call last):
    wayfield.errors.InputError: 'Geneve' is not a vertex of the graph; did you mean 'Genève'?
    """

    __slots__ = ("_index", "_names")

    def __init__(self, names: Iterable[Name]) -> None:
        numbering = Numbering()
        if isinstance(names, str) or not isinstance(names, Iterable):
            raise InputError(f"names must be a list of names, got {reprlib.repr(names)}")
        for name in names:
            plain = name.item() if isinstance(name, np.str_ | np.integer) else name
            if not isinstance(plain, str | int) or isinstance(plain, bool):
                raise InputError(
                    f"a name must be text or a whole number, got {reprlib.repr(plain)}"
                )
            if canonical(plain) == "":
                raise InputError("a name must not be empty")
            numbering[plain]
        self._index: dict[Name, int] = numbering
        self._names: list[Name] = list(numbering)

    @classmethod
    def numbered(cls, numbering: Numbering) -> Names:
        """Return `Names` for names that were checked before."""
        names = cls(())
        names._index, names._names = numbering, list(numbering)
        return names

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[Name]:
        return iter(self._names)

    def __contains__(self, name: object) -> bool:
        known = isinstance(name, str | int | np.integer)
        return known and canonical(name) in self._index  # type: ignore[arg-type]

    @overload
    def __getitem__(self, vertex: int | np.integer[Any]) -> Any: ...
    @overload
    def __getitem__(self, vertex: Sequence[int] | NDArray[np.integer[Any]]) -> list[Any]: ...

    def __getitem__(self, vertex: Any) -> Any:
        """Return the name of a vertex, or a list of the names of several.

        Raises
        ------
        InputError
            If it is not a vertex index. For a mask, pass ``np.flatnonzero(mask)``.
        """
        if np.ndim(vertex):
            return [self[x] for x in np.asarray(vertex).tolist()]
        return self._names[as_vertex(vertex, "index", len(self))]

    @overload
    def index(self, name: Name, what: str = "") -> int: ...  # type: ignore[overload-overlap]
    @overload
    def index(self, name: Iterable[Name], what: str = "") -> NDArray[np.int64]: ...

    def index(self, name: Any, what: str = "") -> Any:
        """Return the index of a name, or an array of the indices of several.

        Raises
        ------
        InputError
            If there is no such vertex; similar names are suggested.
        """
        if isinstance(name, str) or not isinstance(name, Iterable):
            if name not in self:
                raise InputError(
                    f"{what}{shown(name)} is not a vertex of the graph{self.near(name)}"
                )
            return self._index[canonical(name)]
        return np.array([self.index(each, what) for each in name], dtype=np.int64)

    def find(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the index of each name; -1 if it is not a vertex."""
        found = map(self._index.get, map(canonical, names), repeat(-1))
        return np.fromiter(found, np.int64, len(names))

    def near(self, name: Name) -> str:
        """Return the end of a sentence about an unknown name, with similar names."""
        close = self._close(name) if isinstance(name, str) else []
        if not close:
            return f" (its vertices are {', '.join(map(shown, self._names[:3]))} …)"
        return f"; did you mean {' or '.join(map(shown, close))}?"

    def _close(self, name: str) -> list[Name]:
        """Return names similar to this one."""
        if len(name) > _LONGEST_COMPARED:
            return []
        texts = [known for known in self._names if isinstance(known, str)]
        if len(texts) > _COMPARED:  # only names with the longest common prefix
            folded, alike = name.casefold(), texts
            texts = []
            for size in range(1, len(folded) + 1):
                alike = [each for each in alike if each.casefold().startswith(folded[:size])]
                if not alike:
                    break
                texts = alike
            texts = texts[:_COMPARED]
        spelt = {_bare(known): known for known in texts if len(known) <= _LONGEST_COMPARED}
        return [spelt[key] for key in difflib.get_close_matches(_bare(name), spelt, 3)]

    def as_numbers(self) -> NDArray[np.int64] | list[str]:
        """Return the names as whole numbers if all are written as such, else as text."""
        texts = list(map(str, self._names))
        try:
            numbers = np.fromiter(map(int, texts), np.int64, len(texts))
        except (ValueError, OverflowError):
            return texts
        return numbers if list(map(str, numbers.tolist())) == texts else texts

    def column(self, vertices: NDArray[np.integer[Any]]) -> NDArray[np.int64] | list[str]:
        """Return the names of vertices for a table: whole numbers if all names are, else text."""
        names = self.as_numbers()
        if isinstance(names, np.ndarray):
            return np.asarray(names[vertices])
        return [names[x] for x in vertices.tolist()]

    def __repr__(self) -> str:
        first = ", ".join(map(shown, self._names[:3])) + (", …" if len(self) > 3 else "")
        return f"Names({len(self):,}: {first})" if len(self) else "Names(0)"


def canonical(name: Name) -> Name:
    """Return a name in canonical form: composed accents, plain spaces, none around it."""
    if not isinstance(name, str):
        return int(name)
    if name.isascii():
        return name.strip()  # the same, but faster
    return unicodedata.normalize("NFC", name).translate(_SPACES).strip(_AROUND)


def node_name(node: Any) -> Name:
    """Return the name of a node of another library.

    Text and whole numbers are names as they are. Anything else, such as a tuple, is named by its
    text. An empty name is shown as ''.
    """
    plain = node.item() if isinstance(node, np.integer) else node
    if not isinstance(plain, str | int) or isinstance(plain, bool):
        plain = str(plain)
    return repr(plain) if canonical(plain) == "" else plain


def shown(name: object) -> str:
    """Return a name for a message: in quotes, and shortened."""
    text = repr(name)
    return text if len(text) <= 60 else f"{text[:58]}…{text[-1]}"


def _bare(name: str) -> str:
    """Return a name without accents and capitals, to find similar names."""
    apart = unicodedata.normalize("NFKD", name).casefold()
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


class Naming(Protocol):
    """Names of all vertices, by their indices: a list, an array, a mapping."""

    def __len__(self) -> int: ...

    def __getitem__(self, vertex: int, /) -> object: ...


class Caller:
    """Names for vertices: their own name if there is one, else the index."""

    def __init__(self, names: Naming | None, size: int) -> None:
        if names is not None and len(names) != size:
            raise InputError(f"names must have one entry per vertex, {size}, got {len(names)}")
        self.names = names

    def __call__(self, vertex: int) -> str:
        """Return the name of one vertex."""
        return str(vertex if self.names is None else self.names[int(vertex)])
