"""Cells of a column as names, as numbers, as directions of an edge, and as speeds.

**Numbers.** A column has one decimal mark and no thousands separators. ``1.5`` and ``1,5`` are
unambiguous, but ``1.234`` may mean 1.234 or 1234. A mark that is always followed by three digits is
*settled* by a cell that allows only one reading (``0.5``, ``1234.5``, ``12,25``), in the same
column or in another column of the file. The rules are:

- points and commas in one column are an error, and so are thousands separators (``1.234,5``,
  ``1'234``);
- a column of durations, h:mm:ss, is read in minutes. Two numbers, such as 6:36, are an error;
- a comma that is not settled is an error. A point that is not settled is an error in files
  separated by semicolons, which often have decimal commas. In other files it is read as a decimal
  point, with a note.

The user can settle it by naming the decimal mark.

**Ways**: in which direction an edge may be used, as in OpenStreetMap's ``oneway``.

| cell                                   | ways                                     |
|----------------------------------------|------------------------------------------|
| yes, true, 1; FT (ja, oui, sí …)       | from → to only                           |
| -1, reverse; TF                        | to → from only: against the drawing      |
| no, false, 0, both, empty              | both                                     |
| reversible, alternating                | both: each at its time, which is noted   |
| [False, True]: streets joined by osmnx | as the one-way one among them            |

**Speeds** as OpenStreetMap writes them, in km/h.

| cell                              | km/h                                                       |
|-----------------------------------|------------------------------------------------------------|
| 30, 30.0, 30 km/h                 | as it says                                                 |
| 30 mph, 12 knots                  | 48.28, 22.22                                               |
| FI:urban, DE:rural, GB:nsl_single | what the law of the place says: `_LAWS`, else `_ZONES`     |
| walk, living_street               | 5, 20                                                      |
| ['30', '50'], 30;50, 30|50        | the mean: streets that a tool has joined, or lanes         |
| empty, none, signals, variable    | not known; "none" is no limit, which is not a speed either |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ...checks import LARGEST, frozen
from ...errors import InputError, Message, Option
from ...typing import BoolArray, FloatArray
from ...words import number_of
from ..names import Names, Numbering, canonical
from .columns import unmarked
from .sheet import Piece, Sheet
from .text import DURATION, Progress, Style

FORWARD, BOTH, BACKWARD = 1, 0, -1
_AT_TIMES = ("reversible", "alternating")
_WAYS = (
    dict.fromkeys(("yes", "true", "1", "1.0", "ft", "forward"), FORWARD)
    | dict.fromkeys(("ja", "oui", "sí", "si", "sì", "sim", "y", "j", "wahr", "vrai"), FORWARD)
    | dict.fromkeys(("nein", "non", "não", "nee", "n", "falsch", "faux"), BOTH)
    | dict.fromkeys(("-1", "-1.0", "−1", "reverse", "tf", "backward"), BACKWARD)
    | dict.fromkeys(("no", "false", "0", "0.0", "", "none", "nan", "both", *_AT_TIMES), BOTH)
)

MPH, KNOT = 1.609344, 1.852
_MOST_UNITS = 6
_UNITS = {"": 1.0, "km/h": 1.0, "kmh": 1.0, "kph": 1.0, "mph": MPH, "knots": KNOT}
_SPEED = re.compile(r"([0-9]+(?:\.[0-9]*)?)\s*([a-z/]*)")
_UNKNOWN = ("", "nan", "none", "null", "na", "<na>", "signals", "variable", "unposted", "implicit")
_ZONES = {
    "walk": 5.0, "pedestrian_zone": 5.0, "living_street": 20.0, "bicycle_road": 30.0,
    "school": 30.0, "urban": 50.0, "rural": 80.0, "trunk": 100.0, "motorway": 120.0,
}  # fmt: skip
"""Usual speed limits by kind of place."""
_LAWS = {
    "at:rural": 100.0, "at:motorway": 130.0, "au:rural": 100.0, "cz:rural": 90.0,
    "cz:motorway": 130.0, "de:living_street": 7.0, "de:rural": 100.0, "dk:motorway": 130.0,
    "es:rural": 90.0, "fr:motorway": 130.0, "gb:motorway": 70 * MPH, "gb:nsl_dual": 70 * MPH,
    "gb:nsl_restricted": 30 * MPH, "gb:nsl_single": 60 * MPH, "gb:rural": 60 * MPH,
    "gb:urban": 30 * MPH, "hu:rural": 90.0, "hu:motorway": 130.0, "it:rural": 90.0,
    "it:motorway": 130.0, "pl:rural": 90.0, "pl:motorway": 140.0, "pt:rural": 90.0,
    "ru:urban": 60.0, "ru:rural": 90.0, "ru:motorway": 110.0, "se:rural": 70.0,
    "se:motorway": 110.0,
}  # fmt: skip
"""Speed limits of single countries that differ from `_ZONES`."""

Meaning = TypeVar("Meaning")


def as_names(sheet: Sheet, index: int, piece: Piece, row: int) -> Sequence[str]:
    """Return some rows of a column, the first of them `row`, as names of vertices.

    Whole numbers are written without a decimal point. A name is never empty, and has one line. The
    apostrophe before a name that a spreadsheet would read as a formula is no part of it.
    """
    names: Sequence[str]
    if not isinstance(piece, np.ma.MaskedArray):
        names = piece
    else:
        numbers, missing = piece.data, np.ma.getmaskarray(piece)
        if numbers.dtype.kind == "f":
            missing = missing | np.isnan(numbers)
            given = numbers[~missing]
            if ((np.floor(given) != given) | (np.abs(given) > 2**53)).any():
                where = f"{sheet.path}, column {sheet.called(index)}"
                raise InputError(f"{where}: fractions cannot be vertex names")
            numbers = np.where(missing, 0, numbers).astype(np.int64)
        names = [str(number) for number in numbers.tolist()]
        for i in np.flatnonzero(missing).tolist():
            names[i] = ""
    text = "".join(names)
    if "'" in text:
        names = list(map(unmarked, names))
    if not all(map(canonical, names)) or "\n" in text:
        for number, name in enumerate(names, row):
            if not canonical(name):
                raise InputError(f"{sheet.place(number, index)}: the vertex name is missing")
            if "\n" in name:
                raise InputError(
                    f"{sheet.place(number, index)}: {shortened(name)!r} runs over several lines; "
                    "is a quotation mark not closed?"
                )
    return names


def refuse_cells(bad: BoolArray, sheet: Sheet, index: int, why: str | Callable[[str], str]) -> None:
    """Raise `InputError` for the first bad cell of a column."""
    if bad.any():
        row = int(np.argmax(bad))
        shown = shortened(sheet.cell(row, index)) or "an empty cell"
        reason = why if isinstance(why, str) else why(shown)
        more = int(bad.sum()) - 1
        also = f" (and {more:,} more)" if more else ""
        raise InputError(f"{sheet.place(row, index)}: {shown} {reason}{also}")


def refuse_strangers(bad: BoolArray, sheet: Sheet, index: int, names: Names) -> None:
    """Raise `InputError` for the first bad cell of a column of vertices."""
    refuse_cells(bad, sheet, index, lambda name: f"is not a vertex of the graph{names.near(name)}")


def checked_costs(sheet: Sheet, index: int, values: FloatArray, what: str) -> FloatArray:
    """Return the numbers of a column if all are lengths or costs, else raise `InputError`."""
    refuse_cells(np.isnan(values), sheet, index, f"is not a {what}")
    refuse_cells(~(values > 0), sheet, index, f"is not a positive {what}")
    beyond = (values > LARGEST) | (values < 1 / LARGEST)
    refuse_cells(beyond, sheet, index, f"is not between {1 / LARGEST:g} and {LARGEST:g}")
    return frozen(values)


def shortened(text: str, most: int = 60) -> str:
    """Return text that fits into a message."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class WordColumn:
    """The words of one column, read piece by piece."""

    def __init__(self, sheet: Sheet, index: int) -> None:
        self.sheet, self.index = sheet, index
        self._words = Numbering()
        self._pieces: list[NDArray[np.int32]] = []

    def add(self, piece: Piece) -> None:
        """Read more rows."""
        cells = piece.tolist() if isinstance(piece, np.ma.MaskedArray) else piece
        words = ["" if cell is None else str(cell) for cell in cells]
        self._pieces.append(self._words.number(words))

    @property
    def words(self) -> list[str]:
        """The distinct words."""
        return [str(word) for word in self._words]

    def read(
        self, meaning: Callable[[str], Meaning | None], *missing: str | Option
    ) -> tuple[list[Meaning], NDArray[np.int32]]:
        """Return the meaning of every distinct word, and the index of each row's word.

        Raise `InputError` at the first row with a word that has no meaning.
        """
        meanings, number = [], np.concatenate(self._pieces)
        for i, word in enumerate(self.words):
            found = meaning(word)
            if found is None:
                row = int(np.argmax(number == i))
                cell = shortened(self.sheet.cell(row, self.index))
                raise InputError(f"{self.sheet.place(row, self.index)}: {cell!r} ", *missing)
            meanings.append(found)
        return meanings, number


def ways_of(cells: Sequence[object]) -> NDArray[np.int8]:
    """Return the directions of many cells; an unknown word counts as both ways.

    Examples
    --------
    >>> ways_of(["yes", None, "-1", "no"])
    array([ 1,  0, -1,  0], dtype=int8)
    """
    words = ["" if cell is None else str(cell).lower() for cell in cells]
    return np.array([_WAYS.get(word, BOTH) for word in words], dtype=np.int8)


def read_ways(column: WordColumn) -> tuple[NDArray[np.int8], list[str]]:
    """Return the direction of every row, and notes; raise `InputError` at an unknown word."""
    words, path = [word.lower() for word in column.words], column.sheet.path

    def way(word: str) -> int | None:
        """Return the direction of a word or a list of words; None if it is unclear."""
        if not word.startswith("["):
            return _WAYS.get(word.lower())
        parts = (part.strip(" '\"") for part in word.lower().strip("[]").split(","))
        found = {_WAYS.get(part) for part in parts} - {BOTH}
        return (found or {BOTH}).pop() if len(found) < 2 else None

    ignored, why = Option("oneway", "none", "columns"), "is not a direction"
    meanings, number = column.read(way, f"{why} (yes, no, -1 …); ", ignored, " ignores it")
    counts = np.bincount(number, minlength=len(words))
    at_times = sum(int(n) for n, word in zip(counts, words, strict=True) if word in _AT_TIMES)
    ways = np.array(meanings, dtype=np.int8)[number]
    count, by = int(np.count_nonzero(ways)), f"by {column.sheet.called(column.index)}"
    notes = [f"{path}: {by} no edge is one-way"]
    if count:
        one_way = f"{count:,} of {number_of(ways.size, 'edges')} one-way"
        so = f"{path}: {by} {one_way}, so the graph is directed; "
        notes = [Message(so, ignored, " ignores the column")]
    if at_times:
        rows = number_of(at_times, "edges")
        notes.append(f"{path}: {rows} reversible or alternating, treated as two-way")
    return frozen(ways), notes


def kmh(cell: str) -> float | None:
    """Return the speed of a cell; NaN if it says "unknown", None if it is not a speed.

    Examples
    --------
    >>> kmh("30"), round(kmh("30 mph"), 2), kmh("FI:urban"), kmh("['30', '50']"), kmh("signals")
    (30.0, 48.28, 50.0, 40.0, nan)
    >>> kmh("brisk")
    """
    known = []
    for part in re.split(r"[,;|]", cell.strip().strip("[]()")):
        word = part.strip().strip("'\"").lower()
        number = _SPEED.fullmatch(word)
        if word in _UNKNOWN:
            continue
        if number is not None:
            speed = _UNITS.get(number[2], 0.0) * float(number[1]) or None
        else:
            # the limit of a zone that is named by its speed: DE:zone30, FR:zone:20
            zone = re.fullmatch(r"[a-z]{2}(?:-[a-z]+)?:(?:zone:?)?([0-9]+)", word)
            other = float(zone[1]) if zone else None
            speed = _LAWS.get(word, _ZONES.get(word.partition(":")[2] or word, other))
        if speed is None:
            return None
        known.append(speed)
    return float(np.mean(known)) if known else np.nan


def speeds(cells: Sequence[object]) -> FloatArray:
    """Return the speeds of many cells; NaN where none is known or the cell is not a speed.

    Examples
    --------
    >>> speeds(["40", None, "10 mph"])
    array([40.     ,      nan, 16.09344])
    """
    known = {cell: kmh("" if cell is None else str(cell)) for cell in set(cells)}
    return np.array([np.nan if known[cell] is None else known[cell] for cell in cells], float)


def read_speeds(column: WordColumn) -> tuple[FloatArray, list[str]]:
    """Return the speed of every row in km/h, and notes.

    Where no speed is known, it is the median of the others.

    Raises
    ------
    InputError
        At the first cell that is not a speed, or if no row has one.
    """
    path, notes = column.sheet.path, list[str]()
    meanings, number = column.read(kmh, "is not a speed (30, 30 mph, FI:urban …)")
    speed = np.array(meanings, dtype=float)[number]
    unknown = np.isnan(speed)
    if unknown.all():
        where = f"{path}, column {column.sheet.called(column.index)}"
        raise InputError(f"{where}: no row has a speed")
    middle = float(np.median(speed[~unknown]))
    meant = [
        f"{word} as {limit:g}"
        for word, limit in zip(column.words, meanings, strict=True)
        if word[:1].isalpha() and limit > 0
    ]
    if meant:
        more = f" and {len(meant) - _MOST_UNITS} more" if len(meant) > _MOST_UNITS else ""
        notes.append(f"{path}: {', '.join(meant[:_MOST_UNITS])}{more} km/h")
    count = int(unknown.sum())
    if count:
        of = f"{count:,} of {number_of(speed.size, 'rows')}"
        notes.append(f"{path}: {of} without a speed, taken as the median, {middle:g} km/h")
    return np.where(unknown, middle, speed), notes


# ------------------------------------------------------------------ numbers

VERTICES = ("from", "to", "start", "end", "vertex")
WORD_ROLES = ("oneway", "speed")
"""Roles of columns that hold vertices, and words; the others hold numbers."""

_DECIMAL_MARKS = {"point": ".", "comma": ","}
_WORDS = {mark: word for word, mark in _DECIMAL_MARKS.items()}

_SIGN = "[-+−]?"
_PLAIN_NUMBER = {
    mark: re.compile(
        rf"{_SIGN}(?:[0-9]+(?:{any_of}[0-9]*)?|{any_of}[0-9]+)(?:e[-+]?[0-9]+)?"
        rf"|{_SIGN}(?:inf(?:inity)?|nan)",
        re.IGNORECASE,
    )
    for mark, any_of in {None: "[.,]", ".": "[.]", ",": "[,]"}.items()
}
"""Matches a number with this decimal mark, or with any."""
_SETTLED = {
    mark: re.compile(
        rf"^(?!{_SIGN}[1-9][0-9]{{0,2}}(?:\{mark}[0-9]{{3}})+$)[^\n{mark}]*\{mark}", re.MULTILINE
    )
    for mark in ".,"
}
"""Finds a line in which the mark cannot be a thousands separator."""
_GROUPED = re.compile(
    rf"{_SIGN}[0-9]{{1,3}}([.,'’_ \u00a0\u2009\u202f])[0-9]{{3}}(?:\1[0-9]{{3}})*(?:[.,][0-9]*)?"
)
"""Matches a number with thousands separators."""


def decimal_mark(style: Style) -> str | None:
    """Return the decimal mark that the user has named."""
    mark = (
        None if style.decimal is None else _DECIMAL_MARKS.get(style.decimal.lower(), style.decimal)
    )
    if mark not in (None, *_WORDS):
        named = Option("decimal", within="Style")
        raise InputError(named, f" must be point or comma, got {style.decimal!r}")
    return mark


class Seen(NamedTuple):
    """A mark in a column: its row, its cell, and whether it can only be a decimal mark."""

    row: int
    cell: str
    settled: bool


class NumberColumn:
    """The numbers of one column, read piece by piece.

    Attributes
    ----------
    seen : dict
        Marks found so far, if the decimal mark is to be found out.
    timed : bool
        Whether there are durations; the numbers are then minutes.
    """

    def __init__(self, sheet: Sheet, index: int, style: Style) -> None:
        self.sheet, self.index, self.decimal = sheet, index, decimal_mark(style)
        self.seen: dict[str, Seen] = {}
        self.timed = False
        self._rows = 0
        self._values: list[FloatArray] = []
        self._empty: list[BoolArray] = []

    @property
    def values(self) -> FloatArray:
        """(k,) the numbers, NaN where a cell is empty."""
        return np.concatenate(self._values)

    @property
    def empty(self) -> BoolArray:
        """(k,) bool: where a cell is empty."""
        return np.concatenate(self._empty)

    def add(self, piece: Piece) -> None:
        """Read more rows, or raise `InputError` for the first cell that is not a number."""
        if isinstance(piece, np.ma.MaskedArray):
            if piece.dtype.kind not in "iuf":
                where = f"{self.sheet.path}, column {self.sheet.called(self.index)}"
                raise InputError(f"{where}: {piece.dtype} is not a number")
            empty = np.ma.getmaskarray(piece)
            self._values.append(np.where(empty, np.nan, piece.data.astype(np.float64)))
            self._empty.append(empty)
        else:
            self._read([cell.strip() for cell in piece])
        self._rows += len(piece)

    def _read(self, cells: list[str]) -> None:
        if ":" in "".join(cells):
            cells = [self._minutes(row, cell) for row, cell in enumerate(cells, self._rows)]
        text = "\n".join(cells)
        if self.decimal is None and not self.timed:
            self._look(text, cells)
        values, empty = None, np.zeros(len(cells), dtype=bool)
        if not re.search(r"[^0-9eE+\-\n]" if self.decimal == "," else r"[^0-9eE+\-\n.]", text):
            with suppress(ValueError):  # Python's own numbers: quick, for most columns
                values = np.fromiter(map(float, cells), np.float64, len(cells))
        if values is None:
            number = _PLAIN_NUMBER[self.decimal]
            for row, cell in enumerate(cells):
                if cell and not number.fullmatch(cell):
                    of_kind = f" with a decimal {_WORDS[self.decimal]}" if self.decimal else ""
                    grouped = "; remove the thousands separators"
                    raise InputError(
                        f"{self.sheet.place(self._rows + row, self.index)}: {shortened(cell)!r} is "
                        f"not a number{of_kind}{grouped if _GROUPED.fullmatch(cell) else ''}"
                    )
            spelt = text.replace("−", "-").replace(",", ".").split("\n")
            values = np.array([float(cell) if cell else np.nan for cell in spelt])
            empty = np.array([not cell for cell in cells], dtype=bool)
        self._values.append(values)
        self._empty.append(empty)

    def _minutes(self, row: int, cell: str) -> str:
        """Return a duration as a number of minutes, and any other cell as it is."""
        duration = DURATION.fullmatch(cell)
        if duration is None:
            return cell
        hours, minutes, short, seconds = duration.groups()
        if short is not None:
            raise InputError(
                f"{self.sheet.place(row, self.index)}: {cell!r} is not a number: it may be "
                f"hours and minutes or minutes and seconds; write 0:{cell} or {cell}:00"
            )
        self.timed = True
        total = 60 * int(hours) + int(minutes) + float(seconds.replace(",", ".")) / 60
        mark = "," if self.decimal == "," else "."
        return repr(total).replace(".", mark)

    def _look(self, text: str, cells: Sequence[str]) -> None:
        """Record the marks in some rows; one that is settled replaces an earlier one."""
        for mark, settled in _SETTLED.items():
            known = self.seen.get(mark)
            if mark not in text or (known is not None and known.settled):
                continue
            found = settled.search(text)
            if known is None or found is not None:
                place = text.index(mark) if found is None else found.start()
                row = text.count("\n", 0, place)
                self.seen[mark] = Seen(self._rows + row, cells[row], found is not None)


class Columns(NamedTuple):
    """The columns of a table by role, and notes on the table."""

    vertices: dict[str, NDArray[Any]]
    numbers: dict[str, NumberColumn]
    words: dict[str, WordColumn]
    notes: list[str]


def read_columns(
    sheet: Sheet,
    at: Mapping[str, int],
    names: Names | Numbering,
    style: Style,
    progress: Progress | None,
) -> Columns:
    """Read the columns of a table by role.

    Vertices are indices of `names`, -1 if unknown. A `Numbering` is extended by new names, in the
    order of the rows.
    """
    places = [role for role in at if role in VERTICES]
    words = {r: WordColumn(sheet, i) for r, i in at.items() if r in WORD_ROLES}
    others = {r: i for r, i in at.items() if r not in (*VERTICES, *WORD_ROLES)}
    numbers = {role: NumberColumn(sheet, i, style) for role, i in others.items()}
    found: dict[str, list[NDArray[Any]]] = {role: [] for role in places}
    done = 0
    for pieces in sheet.pieces(list(at.values()), progress):
        cells = dict(zip(at, pieces, strict=True))
        called = [as_names(sheet, at[role], cells[role], done) for role in places]
        if isinstance(names, Numbering):
            index = names.number([name for row in zip(*called, strict=True) for name in row])
            for i, role in enumerate(places):
                found[role].append(index[i :: len(places)])
        else:
            for role, some in zip(places, called, strict=True):
                found[role].append(names.find(some))
        for role, number_column in numbers.items():
            number_column.add(cells[role])
        for role, word_column in words.items():
            word_column.add(cells[role])
        done += len(pieces[0])
    vertices = {role: np.concatenate(parts) for role, parts in found.items()}
    timed = [sheet.called(column.index) for column in numbers.values() if column.timed]
    notes = [f"{sheet.path}: column {each} is h:mm:ss, read in minutes" for each in timed]
    return Columns(vertices, numbers, words, [*sheet.notes, *notes, *judge(numbers.values())])


def judge(columns: Iterable[NumberColumn]) -> list[str]:
    """Raise `InputError` if the marks in a file's columns are ambiguous.

    Returns notes on assumptions that were made.
    """
    judged = [column for column in columns if column.decimal is None]
    for column in judged:
        if len(column.seen) > 1:
            sheet, both = column.sheet, sorted(column.seen.values())
            rows = ", ".join(f"row {sheet.row_number(seen.row)} has {seen.cell}" for seen in both)
            raise InputError(
                f"{sheet.path}, column {sheet.called(column.index)}: points and commas: {rows}; "
                "use only one of them, as the decimal mark"
            )
    settled = {mark for column in judged for mark, seen in column.seen.items() if seen.settled}
    notes: list[str] = []
    for column in judged:
        for mark, seen in column.seen.items():
            if seen.settled or settled == {mark}:
                continue
            cell = seen.cell.replace("−", "-")
            one, other = (f"{float(cell.replace(mark, to)):.15g}" for to in (".", ""))
            if mark == "," or settled or column.sheet.delimiter == ";":
                where = column.sheet.place(seen.row, column.index)
                raise InputError(
                    f"{where}: {seen.cell} may be {one} or {other}; pass ",
                    Option("decimal", mark, "Style"),
                    f" for the first, write {other} for the second",
                )
            where = f"{column.sheet.path}, column {column.sheet.called(column.index)}"
            notes.append(f"{where}: {seen.cell} is read as {one}; write {other} if that is meant")
    return notes
