"""Which column is which: named by the user, by the words of the header, or by its place.

A note names the columns without a role.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ...errors import InputError

if TYPE_CHECKING:
    from .sheet import Sheet

WORDS = {
    "from": "from source src tail start origin init u i node1 vertex1 von de obs state",
    "to": "to target dst dest destination head end term v j node2 vertex2 nach vers next tgt sink",
    "length": (
        "length len cost distance dist weight duration time w km metres meters minutes "
        "seconds longueur länge kosten"
    ),
    "start": "start from origin source src departure o u von de begin",
    "end": "end to destination dest target goal arrival d v nach vers",
    "cost": (
        "cost time duration seconds minutes value length distance hours kosten zeit dauer durée"
    ),
    "vertex": (
        "vertex node name id state city station place stop key nom knoten index vertices "
        "nodes names"
    ),
    "value": (
        "value values label labels togo costtogo cost distance dist v potential return "
        "time valeur wert u"
    ),
    "x": "x lon lng long longitude easting px posx xcoord",
    "y": "y lat latitude northing py posy ycoord",
}
"""Words of a header that show what a column is, the likeliest first; also their beginnings."""

_FROM = "i anfang quelle quell desde origen inicio début départ depart da origine partenza van"
_TO = "j ende ziel senke hasta destino fin arrivée llegada arrivo destinazione naar bestemming"
_TIME = (
    "fahrzeit reisezeit minuten sekunden stunden temps minute seconde heure minutes secondes "
    "heures tiempo duración minutos segundos horas tempo durata minuti tijd reistijd "
    "duração ttc tcur t0 tt"
)
WHOLE_WORDS = {
    "from": _FROM,
    "to": _TO,
    "length": f"{_TIME} entfernung distanz strecke dauer zeit durée longitud distancia coût coste",
    "start": f"{_FROM} abfahrt salida",
    "end": f"{_TO} ankunft",
    "cost": f"{_TIME} coût coste minute entfernung distancia",
    "vertex": "kreuzung ort halt haltestelle nœud arrêt gare lieu nodo parada lugar estación",
    "value": f"kosten restkosten coût valor coste {_TIME}",
    "x": "rechtswert ostwert längengrad laengengrad länge laenge longitudine lengtegraad",
    "y": "hochwert nordwert breitengrad breite latitudine breedtegraad",
}
"""Words of other languages and tools, less likely than those above, and only as they are."""

_ONE_WAY = (
    "oneway isoneway einbahn einbahnstrasse einbahnstraße sensunique sentidounico "
    "sensounico eenrichting eenrichtingsverkeer maounica"
)
_LONGITUDE = (
    "lon lng long longitude longitud longitudine langengrad laengengrad lange laenge lengtegraad"
)
_LATITUDE = "lat latitude latitud latitudine breitengrad breite breedtegraad"
_NODES = "nodeno nodeid node knoten nodo noeud zoneno zone stopid stop no nr"
"""What may follow a word without a space, as in ``FROMNODENO`` and ``Startknoten``."""

_PLACES = ("from", "to", "start", "end", "vertex")
_NO_PLACE = "date time lat latitude lon lng longitude"
"""Words of a heading that names no vertex, as in ``start_lat`` and ``from_date``."""
_NO_COST = "start end departure arrival day date zone class type code id fid"
"""Words of a heading that is rarely a cost, as in ``start_time`` and ``length_class``."""
_LATER = 1_000
"""What such a word adds to the rank of a heading: more than there are words of a role."""

UNITS = {
    "minutes": "minutes minute min mins minuten minutos minuti minuto",
    "seconds": "seconds second sec secs s sekunden sek secondes segundos secondi",
    "hours": "hours hour h hrs stunden std heures heure horas ore",
    "km": "km kilometres kilometers kilometer",
    "metres": "metres meters metre meter m metros mètres",
}
"""Units, and the words of a heading that show them."""

FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""First characters of text that a spreadsheet reads as a formula."""

_MOST_NAMED = 50
"""Largest number of columns that are all named in a message."""


def unmarked(cell: str) -> str:
    """Return the name in a cell, as a spreadsheet shows it.

    `write_table` writes an apostrophe before a name that a spreadsheet would read as a formula.

    Examples
    --------
    >>> unmarked("'-5"), unmarked("''=1"), unmarked("'s-Hertogenbosch")
    ('-5', "'=1", "'s-Hertogenbosch")
    """
    name = cell.strip()
    return name[1:] if name[:1] == "'" and name.lstrip("'").startswith(FORMULA) else cell


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


def oneway_columns(header: Sequence[str] | None) -> list[int]:
    """Return the columns with a heading about the direction of edges."""
    headings = [bare("".join(tokens(heading))) for heading in header or ()]
    return [i for i, word in enumerate(headings) if word in _ONE_WAY.split()]


def are_degrees(x: str, y: str) -> bool:
    """Whether the headings of positions are longitude and latitude."""
    return not (
        set(_LONGITUDE.split()).isdisjoint(map(bare, tokens(x)))
        or set(_LATITUDE.split()).isdisjoint(map(bare, tokens(y)))
    )


def unit_of(heading: str) -> str:
    """Return the unit that a heading names; empty if it names none.

    Examples
    --------
    >>> unit_of("Fahrzeit (min)"), unit_of("travel_time_s"), unit_of("km"), unit_of("cost")
    ('minutes', 'seconds', 'km', '')
    """
    words = {bare(token) for token in tokens(heading)}
    return next((unit for unit, known in UNITS.items() if words & set(known.split())), "")


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


def unnamed_last(columns: Sequence[int], header: Sequence[str] | None) -> list[int]:
    """Return columns, those without a heading last: these are usually row numbers."""
    return sorted(columns, key=lambda i: header is not None and header[i][:7] in ("", "Unnamed"))


def matching_columns(role: str, header: Sequence[str] | None) -> list[int]:
    """Return the columns with a heading for the role, the likeliest first.

    A heading that is the word itself comes before one that only contains it.
    """
    ranked = []
    for i, heading in enumerate(header or ()):
        rank = _rank(role, heading)
        if rank is not None:
            ranked.append((*rank, i))
    return [i for _, _, i in sorted(ranked)]


@lru_cache(maxsize=1024)
def _rank(role: str, heading: str) -> tuple[int, int] | None:
    """Return the rank of a heading for a role, if any: its best word's, its number of words."""
    words = [bare(token) for token in tokens(heading)]
    # also without what may follow: fromnodeno is from
    cut = [word.removesuffix(end) for word in words for end in _NODES.split() if word != end]
    known, later = WORDS[role].split(), 0
    if role in _PLACES and not set(_NO_PLACE.split()).isdisjoint(words):
        return None
    if role in ("length", "cost", "value"):
        if "speed" in words:
            return None
        later = 0 if set(_NO_COST.split()).isdisjoint(words) else _LATER
    for rank, word in enumerate(map(bare, known), later):
        for token in (*words, *cut):
            # the word, its plural, or its first three letters or more
            if token in (word, word + "s") or (len(token) >= 3 and word.startswith(token)):
                return rank, len(words)
    for rank, word in enumerate(map(bare, WHOLE_WORDS[role].split()), later + len(known)):
        if word in words or word in cut:
            return rank, len(words)
    return None


def named_columns(
    columns: Mapping[str, str], header: Sequence[str] | None, width: int, path: object
) -> dict[str, int]:
    """Return the columns the user named, by role: by heading, or by number counted from 1.

    One column cannot have two roles.
    """
    at: dict[str, int] = {}
    for role, wanted in columns.items():
        if header is not None and wanted in header:
            at[role] = list(header).index(wanted)
            _refuse_twins(at[role], header, path)
        elif wanted.isdecimal() and len(wanted) < 10 and 1 <= int(wanted) <= width:
            at[role] = int(wanted) - 1
        else:
            known = f"{width} columns, no header"
            known = known if header is None else ", ".join(map(repr, header))
            close = difflib.get_close_matches(wanted, header or [], 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise InputError(f"{path} has no column {wanted!r} (it has {known}){hint}")
    for role, i in at.items():
        twin = next(other for other in at if at[other] == i)
        if twin != role:
            raise InputError(
                f"{path}: {twin} and {role} cannot both be the column {columns[role]!r}"
            )
    return at


def refuse_twins(sheet: Sheet, at: Mapping[str, int], columns: Mapping[str, str]) -> None:
    """Raise `InputError` if a column that the user did not name has the heading of another."""
    for role, i in at.items():
        if role not in columns:
            _refuse_twins(i, sheet.header, sheet.path)


def _refuse_twins(column: int, header: Sequence[str] | None, path: object) -> None:
    if header is not None and header[column] and header.count(header[column]) > 1:
        numbers = [str(i) for i, heading in enumerate(header, 1) if heading == header[column]]
        raise InputError(
            f"{path}: columns {' and '.join(numbers)} are both called {header[column]!r}; name "
            "the column by its number"
        )


def take(at: dict[str, int], role: str, likely: Iterable[int]) -> None:
    """Assign the first free one of the likely columns to a role that has no column yet."""
    free = next((i for i in likely if i not in at.values()), None)
    if role not in at and free is not None:
        at[role] = free


def unused(sheet: Sheet, at: Mapping[str, int]) -> list[str]:
    """Return the names of the columns without a role; empty columns are left out."""
    free = [i for i in range(sheet.width) if i not in at.values()]
    filled = {i for row in sheet.rows for i, cell in enumerate(row) if cell.strip()}
    return [sheet.called(i) for i in free if (sheet.header and sheet.header[i]) or i in filled]


def unused_note(sheet: Sheet, at: Mapping[str, int]) -> list[str]:
    """Name the columns without a role, if there are any."""
    left = unused(sheet, at)
    if not left:
        return []
    word = "" if sheet.header is not None else "column " if len(left) == 1 else "columns "
    more = f" and {len(left) - _MOST_NAMED:,} more" if len(left) > _MOST_NAMED else ""
    return [f"{sheet.path}: not used: {word}{', '.join(left[:_MOST_NAMED])}{more}"]
