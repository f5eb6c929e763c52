"""Which column is which: named by the user, by the words of the header, or by its place.

A note names the columns without a role.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError

if TYPE_CHECKING:
    from .sheet import Sheet

_PLACES = ("from", "to", "start", "end", "vertex")
_LATER = 1_000
"""Added to the rank of a heading that is rarely a cost: more than there are words of a role."""

_MOST_NAMED = 50
"""Largest number of columns that are all named in a message."""


def _table_words() -> dict[str, dict[str, list[str]]]:
    """Read the words of tables: by section, then by key."""
    sections: dict[str, dict[str, list[str]]] = {}
    words: dict[str, list[str]] = {}
    for line in Path(__file__).with_name("words.txt").read_text(encoding="utf-8").splitlines():
        key, equals, value = line.partition(" = ")
        if line.startswith("["):
            words = sections.setdefault(line.strip("[]"), {})
        elif equals:
            words[key] = value.split()
    return sections


TABLE_WORDS = _table_words()
_OTHER = TABLE_WORDS["other headings"]


def tokens(heading: str) -> list[str]:
    """Return the words of a heading: ``FromNodeId`` and ``from_node (id)`` are from, node, id."""
    apart = re.sub(r"(?<=[a-zà-ÿ])(?=[A-Z])", " ", heading)
    return re.findall(r"[^\W_]+", apart.lower())


def looks_like_header(rows: Sequence[Sequence[str]], roles: Sequence[str]) -> bool:
    """Whether the first row has two words expected in a header, or one if it is alone.

    A word that occurs again below does not count: it is a name.
    """
    first = rows[0]
    below = {cell for row in rows[1:] for cell in row if cell.strip()}
    hits = {i for role in roles for i in matching_columns(role, first)}
    return len(hits) >= min(2, len(first)) and below.isdisjoint(first)


def oneway_columns(header: Sequence[str] | None, words: str = "one way") -> list[int]:
    """Return the columns with a heading about the direction of edges, or perhaps about it."""
    headings = [bare("".join(tokens(heading))) for heading in header or ()]
    return [i for i, word in enumerate(headings) if word in _OTHER[words]]


def are_degrees(x: str, y: str) -> bool:
    """Whether the headings of positions are longitude and latitude."""
    return not (
        set(_OTHER["longitude"]).isdisjoint(map(bare, tokens(x)))
        or set(_OTHER["latitude"]).isdisjoint(map(bare, tokens(y)))
    )


def unit_of(heading: str) -> str:
    """Return the unit that a heading names; empty if it names none.

    Examples
    --------
    >>> unit_of("Fahrzeit (min)"), unit_of("travel_time_s"), unit_of("km"), unit_of("cost")
    ('minutes', 'seconds', 'km', '')
    """
    words = {bare(token) for token in tokens(heading)}
    units = TABLE_WORDS["units"].items()
    return next((unit for unit, known in units if words & set(known)), "")


@lru_cache(maxsize=4096)
def bare(word: str) -> str:
    """Return a word in small letters without accents.

    Examples
    --------
    >>> bare("Départ"), bare("nœud"), bare("Länge")
    ('depart', 'noeud', 'lange')
    """
    apart = unicodedata.normalize("NFKD", word.lower().replace("œ", "oe"))
    return "".join(letter for letter in apart if not unicodedata.combining(letter))


def matching_columns(role: str, header: Sequence[str] | None, sure: bool = False) -> list[int]:
    """Return the columns with a heading for the role, the likeliest first.

    A heading that is the word itself comes before one that only contains it. With `sure`, headings
    of which another word hints at something else are left out.
    """
    ranked = []
    for i, heading in enumerate(header or ()):
        rank = _rank(role, heading)
        if rank is not None and not (sure and rank[0] >= _LATER):
            ranked.append((*rank, i))
    return [i for _, _, i in sorted(ranked)]


@lru_cache(maxsize=1024)
def _rank(role: str, heading: str) -> tuple[int, int] | None:
    """Return the rank of a heading for a role, if any: its best word's, its number of words."""
    words = [bare(token) for token in tokens(heading)]
    # also without what may follow: fromnodeno is from
    cut = [word.removesuffix(end) for word in words for end in _OTHER["node"] if word != end]
    known, later = TABLE_WORDS["headings"][role], 0
    if role in _PLACES and not set(_OTHER["no place"]).isdisjoint(words):
        return None
    if role in ("length", "cost", "value"):
        if "speed" in words:
            return None
        later = 0 if set(_OTHER["no cost"]).isdisjoint(words) else _LATER
    for rank, word in enumerate(map(bare, known), later):
        for token in (*words, *cut):
            # the word, its plural, or its first three letters or more
            if token in (word, word + "s") or (len(token) >= 3 and word.startswith(token)):
                return rank, len(words)
    whole = TABLE_WORDS["whole headings"][role]
    for rank, word in enumerate(map(bare, whole), later + len(known)):
        if word in words or word in cut:
            return rank, len(words)
    return None


NO_COLUMN, UNUSED = "none", -1
"""Word of the user for no column, and its index: edges of length 1, or open both ways."""


class Roles(dict[str, int]):
    """The column of each role: as the user named it, by its heading, or by its place.

    Parameters
    ----------
    sheet : Sheet
        The table.
    columns : mapping
        Columns that the user named, by role: by heading, or by number counted from 1. One column
        cannot have two roles.
    """

    def __init__(self, sheet: Sheet, columns: Mapping[str, str]) -> None:
        self.sheet, self.by_user = sheet, set(columns)
        header, width = sheet.header or (), sheet.width
        for role, wanted in columns.items():
            if wanted == NO_COLUMN and wanted not in header and role in ("length", "oneway"):
                self[role] = UNUSED
                continue
            if wanted in header:
                self[role] = header.index(wanted)
                self._refuse_twins(role)
            elif wanted.isdecimal() and len(wanted) < 10 and 1 <= int(wanted) <= width:
                self[role] = int(wanted) - 1
            else:
                known = ", ".join(map(repr, header)) or f"{width} columns, no header"
                close = difflib.get_close_matches(wanted, header, 1)
                hint = f"; did you mean {close[0]!r}?" if close else ""
                raise InputError(f"{sheet.path} has no column {wanted!r} (it has {known}){hint}")
            twin = next(other for other in self if self[other] == self[role])
            if twin != role:
                raise InputError(
                    f"{sheet.path}: {twin} and {role} cannot both be the column {wanted!r}"
                )

    def find(self, role: str, *others: Iterable[int]) -> bool:
        """Assign a role its column: the first free one with its heading, or of others.

        Return whether it has one.
        """
        likely = chain(matching_columns(role, self.sheet.header), *others)
        return self.take(role, likely)

    def take(self, role: str, likely: Iterable[int]) -> bool:
        """Assign a role the first free one of the likely columns; return whether it has one."""
        if role not in self:
            free = next((i for i in likely if i not in self.values()), None)
            if free is None:
                return False
            self[role] = free
            self._refuse_twins(role)
        return True

    def lacks(self, role: str) -> InputError:
        """Return the error for a table that has no column for a role."""
        sheet = self.sheet
        found = ", ".join(map(sheet.called, range(sheet.width)))
        hint = "call the columns of positions x and y, or lon and lat; " if role == "x" else ""
        return InputError(
            f"{sheet.path} has no column for the {role} ({sheet.width} found: {found}); {hint}is "
            "the delimiter right?"
        )

    def in_order(self) -> list[int]:
        """Return all columns, those without a heading last: these are usually row numbers."""
        header, unnamed = self.sheet.header or (), ("", "Unnamed")
        return sorted(
            range(self.sheet.width), key=lambda i: header[i:] and header[i][:7] in unnamed
        )

    @property
    def unused(self) -> list[str]:
        """The names of the columns without a role; empty columns are left out."""
        sheet = self.sheet
        free = [i for i in range(sheet.width) if i not in self.values()]
        named = [bool(sheet.header and sheet.header[i]) or any(sheet.first_cells(i)) for i in free]
        return [sheet.called(i) for i, kept in zip(free, named, strict=True) if kept]

    @property
    def notes(self) -> list[str]:
        """A note on the columns without a role, if there are any."""
        left = self.unused
        if not left:
            return []
        word = "" if self.sheet.header is not None else "column " if len(left) == 1 else "columns "
        more = f" and {len(left) - _MOST_NAMED:,} more" if len(left) > _MOST_NAMED else ""
        return [f"{self.sheet.path}: not used: {word}{', '.join(left[:_MOST_NAMED])}{more}"]

    def _refuse_twins(self, role: str) -> None:
        """Raise `InputError` if the heading of a role's column is that of another column too."""
        header = self.sheet.header
        heading = header[self[role]] if header else ""
        if header and heading and header.count(heading) > 1:
            numbers = [str(i) for i, each in enumerate(header, 1) if each == heading]
            raise InputError(
                f"{self.sheet.path}: columns {' and '.join(numbers)} are both called {heading!r}; "
                "name the column by its number"
            )
