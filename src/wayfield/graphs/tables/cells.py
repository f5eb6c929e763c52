"""Cells of a column as names, numbers, durations, directions of an edge, and speeds.

**Numbers.** A column has one decimal mark and no thousands separators. ``1.5`` and ``1,5`` are
unambiguous, but ``1.234`` may mean 1.234 or 1234. A mark that is always followed by three digits is
*settled* by a cell that allows only one reading (``0.5``, ``1234.5``, ``12,25``), in the same
column or in another column of the file. The rules are:

- points and commas in one column are an error, and so are thousands separators (``1.234,5``,
  ``1'234``);
- a column of durations, h:mm:ss, is read in minutes. Two numbers, such as 6:36, are an error, and
  so is a plain number among durations;
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
| FI:urban, DE:rural, GB:nsl_single | what the law of the place says, else a usual limit         |
| walk, living_street               | 5, 20                                                      |
| ['30', '50'], 30;50, 30|50        | the mean: streets that a tool has joined, or lanes         |
| empty, none, signals, variable    | not known; "none" is no limit, which is not a speed either |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...checks import LARGEST, frozen
from ...errors import InputError, Message, Option
from ...typing import BoolArray, FloatArray
from ...words import number_of
from ..names import Names, Numbering
from .columns import TABLE_WORDS

if TYPE_CHECKING:
    from .sheet import Progress, Sheet, Style

VERTICES = ("from", "to", "start", "end", "vertex")
WORDS = ("oneway", "speed")
"""Roles of columns that hold vertices, and words; the others hold numbers."""

FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""First characters of text that a spreadsheet reads as a formula."""

FORWARD, BOTH, BACKWARD = 1, 0, -1
_WAYS = {"": BOTH}
for _word, _way in (("forward", FORWARD), ("backward", BACKWARD), ("both", BOTH), ("at times", 0)):
    _WAYS |= dict.fromkeys((cell.replace("_", " ") for cell in TABLE_WORDS["ways"][_word]), _way)

MPH, KNOT = 1.609344, 1.852
_UNITS = {"": 1.0, "km/h": 1.0, "kmh": 1.0, "kph": 1.0, "mph": MPH, "knots": KNOT}
_SPEED = re.compile(r"([0-9]+(?:\.[0-9]*)?)\s*([a-z/]*)")
_ZONE = re.compile(r"[a-z]{2}(?:-[a-z]+)?:(?:zone:?)?([0-9]+)")
"""Matches a zone that is named by its limit: DE:zone30, FR:zone:20."""
_UNKNOWN = ("", "nan", "none", "null", "na", "<na>", "signals", "variable", "unposted", "implicit")
_MOST_WORDS = 6

_MARKS = {"point": ".", "comma": ","}
_SIGN = "[-+−]?"
_NUMBER = {
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
_NUMBER_LIKE = re.compile(
    r"[-+−]?(?=[.,]?[0-9])[0-9.,_'’\s]+(e[-+]?[0-9]+)?%?|[-+]?(inf(inity)?|nan)", re.IGNORECASE
)
_DURATION = re.compile(r"(?:([0-9]+):([0-5]?[0-9])|([0-9]+)):([0-5][0-9](?:[.,][0-9]+)?)")
"""Matches h:mm:ss, and also h:mm or mm:ss, which cannot be told apart."""


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


def mostly_numbers(cells: Iterable[str]) -> bool:
    """Whether at least half of the nonempty cells are meant to be numbers.

    Malformed numbers, such as 1.234,5 or 12%, count too, and so do durations, h:mm:ss.
    """
    filled = list(filter(None, map(str.strip, cells)))
    meant = [_NUMBER_LIKE.fullmatch(cell) or _DURATION.fullmatch(cell) for cell in filled]
    return bool(filled) and 2 * sum(map(bool, meant)) >= len(filled)


# ------------------------------------------------------------------ refusals


def refuse_cell(sheet: Sheet, index: int, row: int, *why: str | Option) -> InputError:
    """Return the error for one cell of a column."""
    cell = shortened(sheet.cell(row, index))
    return InputError(f"{sheet.place(row, index)}: {cell!r} ", *why)


def refuse_cells(bad: BoolArray, sheet: Sheet, index: int, why: str | Callable[[str], str]) -> None:
    """Raise `InputError` for the first bad cell of a column."""
    if bad.any():
        row = int(np.argmax(bad))
        cell = shortened(sheet.cell(row, index)) or "an empty cell"
        more = int(bad.sum()) - 1
        also = f" (and {more:,} more)" if more else ""
        reason = why if isinstance(why, str) else why(cell)
        raise InputError(f"{sheet.place(row, index)}: {cell} {reason}{also}")


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


# ------------------------------------------------------------------ columns


class TextColumn:
    """The cells of one column, without space around them.

    They are kept as few long texts, a cell on each line, which takes a tenth of the memory.
    """

    def __init__(self) -> None:
        self.texts: list[str] = []

    def __iter__(self) -> Iterator[str]:
        for text in self.texts:
            yield from text.split("\n")

    def add(self, cells: Sequence[str]) -> None:
        """Read more rows."""
        text = "\n".join(map(str.strip, cells))
        if text.count("\n") >= len(cells):  # a cell of several lines
            text = "\n".join(cell.strip().replace("\n", " ") for cell in cells)
        self.texts.append(text)


class Columns(NamedTuple):
    """The columns of a table by role, and notes on the table.

    Attributes
    ----------
    names : Numbering
        All names in the columns of vertices, in the order of the rows.
    vertices : dict of (k,) arrays
        Indices of the known names, -1 if they are not among them, or of `names` if none are known.
    cells : dict of TextColumn
        Text of the other columns.
    numbers : dict of (k,) arrays
        The numbers among them, NaN where a cell is empty.
    timed : set of str
        Roles of columns of durations; the numbers are minutes.
    """

    names: Numbering
    vertices: dict[str, NDArray[Any]]
    cells: dict[str, TextColumn]
    numbers: dict[str, FloatArray]
    timed: set[str]
    notes: list[str]


def read_columns(
    sheet: Sheet,
    at: Mapping[str, int],
    style: Style,
    progress: Progress | None,
    known: Names | None = None,
) -> Columns:
    """Read the columns of a table by role."""
    places = [role for role in at if role in VERTICES]
    names, found = Numbering(), list[NDArray[np.int32]]()
    cells = {role: TextColumn() for role in at if role not in VERTICES}
    for pieces in sheet.pieces(list(at.values()), progress):
        piece = dict(zip(at, pieces, strict=True))
        rows = zip(*(piece[role] for role in places), strict=True)
        called = [cell for row in rows for cell in row]
        if "'" in "".join(called):
            called = list(map(unmarked, called))
        found.append(names.number(called))
        for role, column in cells.items():
            column.add(piece[role])
    index: NDArray[Any] = np.concatenate(found).reshape(-1, len(places))
    _check_names(sheet, [at[role] for role in places], names, index)
    if known is not None:
        index = known.find(list(map(str, names)))[index]
    vertices = {role: frozen(index[:, i].copy()) for i, role in enumerate(places)}

    numbers: dict[str, FloatArray] = {}
    timed, doubtful, notes = set[str](), dict[int, TextColumn](), sheet.notes
    for role, column in cells.items():
        decimal = _decimal_mark(sheet, at[role], style)
        if role in WORDS:
            continue
        if any(":" in text for text in column.texts) and any(map(_DURATION.fullmatch, column)):
            numbers[role] = read_durations(sheet, at[role], column, decimal)
            timed.add(role)
            notes.append(
                f"{sheet.path}: column {sheet.called(at[role])} is h:mm:ss, read in minutes"
            )
        else:
            numbers[role] = read_numbers(sheet, at[role], column, decimal)
            doubtful |= {at[role]: column} if decimal is None else {}
    notes += judge(sheet, doubtful)
    return Columns(names, vertices, cells, numbers, timed, notes)


def _check_names(
    sheet: Sheet, columns: Sequence[int], names: Numbering, index: NDArray[np.int32]
) -> None:
    """Raise `InputError` unless all are names: not empty, in one line, and no fractions."""
    bad = {"": "the vertex name is missing"} if "" in names else {}
    if "\n" in "".join(map(str, names)):
        several = "runs over several lines; is a quotation mark not closed?"
        bad |= {name: f"{shortened(name)!r} {several}" for name in map(str, names) if "\n" in name}
    if bad:
        wrong = np.isin(index, [names[name] for name in bad])
        row, i = (int(place[0]) for place in np.nonzero(wrong))
        name = list(names)[index[row, i]]
        raise InputError(f"{sheet.place(row, columns[i])}: {bad[str(name)]}")
    for i, column in enumerate(columns):
        if column in sheet.fractional:
            listed = list(map(str, names))
            own = (listed[number] for number in np.unique(index[:, i]).tolist())
            if not all(name.removeprefix("-").isdecimal() for name in own):
                where = f"{sheet.path}, column {sheet.called(column)}"
                raise InputError(f"{where}: fractions cannot be vertex names")


# ------------------------------------------------------------------ numbers


def _decimal_mark(sheet: Sheet, index: int, style: Style) -> str | None:
    """Return the decimal mark of a column, if the file declares it or the user has named it."""
    if index in sheet.declared:
        return "."
    mark = style.decimal and _MARKS.get(style.decimal.lower(), style.decimal)
    if mark not in (None, *_MARKS.values()):
        named = Option("decimal", within="Style")
        raise InputError(named, f" must be point or comma, got {style.decimal!r}")
    return mark


def read_numbers(sheet: Sheet, index: int, cells: TextColumn, decimal: str | None) -> FloatArray:
    """Return the numbers of a column, NaN where a cell is empty.

    Raise `InputError` at the first cell that is not a number.
    """
    number, values, done = _NUMBER[decimal], list[FloatArray](), 0
    odd = re.compile(r"[^0-9eE+\-\n]" if decimal == "," else r"[^0-9eE+\-\n.]")
    for text in cells.texts:
        column = text.split("\n")
        with suppress(ValueError):  # Python's own numbers: quick, for most columns
            if not odd.search(text):
                values.append(np.fromiter(map(float, column), np.float64, len(column)))
                done += len(column)
                continue
        for row, cell in enumerate(column, done):
            if cell and not number.fullmatch(cell):
                mark = {".": " with a decimal point", ",": " with a decimal comma"}
                grouped = "; remove the thousands separators" if _GROUPED.fullmatch(cell) else ""
                why = f"is not a number{mark.get(decimal or '', '')}{grouped}"
                raise refuse_cell(sheet, index, row, why)
        spelt = text.replace("−", "-").replace(",", ".").split("\n")
        values.append(np.array([float(cell or "nan") for cell in spelt]))
        done += len(column)
    return np.concatenate(values)


def read_durations(sheet: Sheet, index: int, cells: TextColumn, decimal: str | None) -> FloatArray:
    """Return the durations of a column in minutes, NaN where a cell is empty.

    Raise `InputError` at the first cell that is not h:mm:ss.
    """
    found = [(cell, _DURATION.fullmatch(cell)) for cell in cells]
    minutes = np.full(len(found), np.nan)
    for row, (cell, duration) in enumerate(found):
        if duration and duration[3]:
            why = "is not a number: it may be hours and minutes or minutes and seconds; write "
            raise refuse_cell(sheet, index, row, f"{why}0:{cell} or {cell}:00")
    for row, (cell, duration) in enumerate(found):
        if duration:
            seconds = float(duration[4].replace(",", "."))
            minutes[row] = 60 * int(duration[1]) + int(duration[2]) + seconds / 60
        elif _NUMBER[decimal].fullmatch(cell):
            first = next(row for row, (_, duration) in enumerate(found) if duration)
            beside = f"row {sheet.row_number(first)} has {found[first][0]}"
            why = f"is a plain number, but {beside}; write all as h:mm:ss, or all as numbers"
            raise refuse_cell(sheet, index, row, why)
        elif cell:
            raise refuse_cell(sheet, index, row, "is not a number")
    return minutes


def judge(sheet: Sheet, columns: Mapping[int, TextColumn]) -> list[str]:
    """Raise `InputError` if the decimal marks in a file's columns are ambiguous.

    Return notes on assumptions that were made.
    """
    seen: list[tuple[int, str, int, bool]] = []
    """Column, mark, row, and whether the mark can only be decimal there."""
    for index, cells in columns.items():
        text, marks = "\n".join(cells.texts), dict[str, int]()
        for mark, settled in _SETTLED.items():
            found = settled.search(text) if mark in text else None
            if mark in text:
                place = text.index(mark) if found is None else found.start()
                marks[mark] = text.count("\n", 0, place)
                seen.append((index, mark, marks[mark], found is not None))
        if len(marks) > 1:
            both = sorted(marks.values())
            rows = ", ".join(
                f"row {sheet.row_number(row)} has {sheet.cell(row, index)}" for row in both
            )
            raise InputError(
                f"{sheet.path}, column {sheet.called(index)}: points and commas: {rows}; "
                "use only one of them, as the decimal mark"
            )
    all_settled = {mark for _, mark, _, settled in seen if settled}
    notes: list[str] = []
    for index, mark, row, only in seen:
        if only or all_settled == {mark}:
            continue
        cell = sheet.cell(row, index)
        one, other = (f"{float(cell.replace('−', '-').replace(mark, m)):.15g}" for m in (".", ""))
        if mark == "," or all_settled or sheet.delimiter == ";":
            raise InputError(
                f"{sheet.place(row, index)}: {cell} may be {one} or {other}; pass ",
                Option("decimal", mark, "Style"),
                f" for the first, write {other} for the second",
            )
        where = f"{sheet.path}, column {sheet.called(index)}"
        notes.append(f"{where}: {cell} is read as {one}; write {other} if that is meant")
    return notes


# ------------------------------------------------------------------ ways and speeds


def way_of(cell: str) -> int | None:
    """Return the direction of a word, or of a list of words; None if it is unclear."""
    word = cell.lower()
    if not word.startswith("["):
        return _WAYS.get(word)
    found = {_WAYS.get(part.strip(" '\"")) for part in word.strip("[]").split(",")} - {BOTH}
    return (found or {BOTH}).pop() if len(found) < 2 else None


def ways_of(cells: Sequence[object]) -> NDArray[np.int8]:
    """Return the directions of many cells; an unknown word counts as both ways.

    Examples
    --------
    >>> ways_of(["yes", None, "-1", "no"])
    array([ 1,  0, -1,  0], dtype=int8)
    """
    return np.array([_WAYS.get(str(cell).lower(), BOTH) for cell in cells], dtype=np.int8)


def read_ways(sheet: Sheet, index: int, cells: TextColumn) -> tuple[NDArray[np.int8], list[str]]:
    """Return the direction of every row, and notes; raise `InputError` at an unknown word."""
    ignored = Option("oneway", "none", "columns")
    why = "is not a direction (yes, no, -1 …); ", ignored, " ignores it"
    ways = np.array(_meanings(sheet, index, cells, way_of, *why), dtype=np.int8)
    count, by = int(np.count_nonzero(ways)), f"{sheet.path}: by {sheet.called(index)}"
    notes = [f"{by} no edge is one-way"]
    if count:
        one_way = f"{count:,} of {number_of(ways.size, 'edges')} one-way"
        so = f"{by} {one_way}, so the graph is directed; "
        notes = [Message(so, ignored, " ignores the column")]
    at_times = sum(cell.lower() in TABLE_WORDS["ways"]["at times"] for cell in cells)
    if at_times:
        rows = number_of(at_times, "edges")
        notes.append(f"{sheet.path}: {rows} reversible or alternating, treated as two-way")
    return frozen(ways), notes


def _meanings(
    sheet: Sheet,
    index: int,
    cells: TextColumn,
    meaning: Callable[[str], float | None],
    *why: str | Option,
) -> list[float]:
    """Return the meaning of each cell; raise `InputError` at the first without one."""
    known: dict[str, float] = {}
    for row, cell in enumerate(cells):
        if cell not in known:
            found = meaning(cell)
            if found is None:
                raise refuse_cell(sheet, index, row, *why)
            known[cell] = found
    return [known[cell] for cell in cells]


def kmh(cell: str) -> float | None:
    """Return the speed of a cell; NaN if it says "unknown", None if it is not a speed.

    Examples
    --------
    >>> kmh("30"), round(kmh("30 mph"), 2), kmh("FI:urban"), kmh("['30', '50']"), kmh("signals")
    (30.0, 48.28, 50.0, 40.0, nan)
    >>> kmh("brisk")
    """
    known, limits = [], TABLE_WORDS["speeds"]
    for part in re.split(r"[,;|]", cell.strip().strip("[]()")):
        word = part.strip().strip("'\"").lower()
        if word in _UNKNOWN:
            continue
        limit = limits.get(word) or limits.get(word.partition(":")[2] or word) or [word]
        number = _SPEED.fullmatch(limit[0]) or _ZONE.fullmatch(word)
        speed = number and float(number[1]) * _UNITS.get((*number.groups(), "")[1], 0.0)
        if not speed:
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


def read_speeds(sheet: Sheet, index: int, cells: TextColumn) -> tuple[FloatArray, list[str]]:
    """Return the speed of every row in km/h, and notes.

    Where no speed is known, it is the median of the others.

    Raises
    ------
    InputError
        At the first cell that is not a speed, or if no row has one.
    """
    speed = np.array(_meanings(sheet, index, cells, kmh, "is not a speed (30, 30 mph, FI:urban …)"))
    unknown = np.isnan(speed)
    if unknown.all():
        raise InputError(f"{sheet.path}, column {sheet.called(index)}: no row has a speed")
    middle, notes = float(np.median(speed[~unknown])), list[str]()
    words = dict(zip(cells, speed.tolist(), strict=True)).items()
    meant = [f"{word} as {limit:g}" for word, limit in words if word[:1].isalpha() and limit > 0]
    if meant:
        more = f" and {len(meant) - _MOST_WORDS} more" if len(meant) > _MOST_WORDS else ""
        notes.append(f"{sheet.path}: {', '.join(meant[:_MOST_WORDS])}{more} km/h")
    if unknown.any():
        of = f"{int(unknown.sum()):,} of {number_of(speed.size, 'rows')}"
        notes.append(f"{sheet.path}: {of} without a speed, taken as the median, {middle:g} km/h")
    return np.where(unknown, middle, speed), notes
