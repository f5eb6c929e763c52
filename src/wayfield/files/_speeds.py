"""Speeds as OpenStreetMap writes them, in km/h.

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
from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from ..kernels._types import FloatArray
from ._cell_values import WordColumn

MPH, KNOT = 1.609344, 1.852
_MOST_NAMED = 6
_UNITS = {"": 1.0, "km/h": 1.0, "kmh": 1.0, "kph": 1.0, "mph": MPH, "knots": KNOT}
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]*)?)\s*([a-z/]*)")
_UNKNOWN = ("", "nan", "none", "null", "na", "<na>", "signals", "variable", "unposted", "implicit")
_ZONES = {
    "walk": 5.0, "pedestrian_zone": 5.0, "living_street": 20.0, "bicycle_road": 30.0,
    "school": 30.0, "urban": 50.0, "rural": 80.0, "trunk": 100.0, "motorway": 120.0,
}  # fmt: skip
"""Usual limits of a kind of place."""
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
"""Limits that differ from those of `_ZONES`."""


def kmh(cell: str) -> float | None:
    """Return the speed that a cell says, NaN if it says that none is known, None if it is no speed.

    Examples
    --------
    >>> kmh("30"), round(kmh("30 mph"), 2), kmh("FI:urban"), kmh("['30', '50']"), kmh("signals")
    (30.0, 48.28, 50.0, 40.0, nan)
    >>> kmh("brisk")
    """
    parts = re.split(r"[,;|]", cell.strip().strip("[]()"))
    found = [_one(part.strip().strip("'\"").lower()) for part in parts]
    known = [speed for speed in found if speed is not None and not np.isnan(speed)]
    if None in found:
        return None
    return float(np.mean(known)) if known else np.nan


def speeds(cells: Sequence[object]) -> FloatArray:
    """Return the speeds of many cells, NaN where none is known or a cell is no speed.

    Examples
    --------
    >>> speeds(["40", None, "10 mph"])
    array([40.     ,      nan, 16.09344])
    """
    known = {cell: kmh("" if cell is None else str(cell)) for cell in set(cells)}
    return np.array([np.nan if known[cell] is None else known[cell] for cell in cells], float)


def _one(word: str) -> float | None:
    if word in _UNKNOWN:
        return np.nan
    number = _NUMBER.fullmatch(word)
    if number is not None:
        unit = _UNITS.get(number[2])
        return None if unit is None or float(number[1]) == 0 else unit * float(number[1])
    return _LAWS.get(word, _ZONES.get(word.partition(":")[2] or word, _zone(word)))


def _zone(word: str) -> float | None:
    """Return the limit of a zone that is named by its speed: ``DE:zone30``, ``FR:zone:20``."""
    found = re.fullmatch(r"[a-z]{2}(?:-[a-z]+)?:(?:zone:?)?([0-9]+)", word)
    return float(found[1]) if found else None


class SpeedColumn(WordColumn):
    """The speeds of one column, read piece by piece."""

    def values(self) -> FloatArray:
        """Return the speed of every row in km/h; where none is known, the median of the others.

        Raises
        ------
        InputError
            At the first cell that is no speed, or if no row has any.
        """
        words, number = self._read()
        told = self._meanings(words, number, kmh, "is not a speed (30, 30 mph, FI:urban …)")
        speed = np.array(told, dtype=float)[number]
        unknown = np.isnan(speed)
        if unknown.all():
            where = f"{self.sheet.path}, column {self.sheet.called(self.index)}"
            raise InputError(f"{where}: no speed at all")
        middle = float(np.median(speed[~unknown]))
        self.notes = self._said(words, told, int(unknown.sum()), speed.size, middle)
        return np.where(unknown, middle, speed)

    def _said(
        self, words: list[str], told: list[float], unknown: int, rows: int, middle: float
    ) -> list[str]:
        """Say which words were taken for which speeds, and what was done without one."""
        notes, path = [], self.sheet.path
        laws = {word: speed for word, speed in zip(words, told, strict=True) if word[:1].isalpha()}
        meant = [f"{word} as {speed:g}" for word, speed in laws.items() if speed > 0]
        if meant:
            more = f" and {len(meant) - _MOST_NAMED} more" if len(meant) > _MOST_NAMED else ""
            notes.append(f"{path}: {', '.join(meant[:_MOST_NAMED])}{more} km/h")
        if unknown:
            get = "has no speed, and gets" if unknown == 1 else "have no speed, and get"
            notes.append(
                f"{path}: {unknown:,} of {rows:,} rows {get} the median one, {middle:g} km/h"
            )
        return notes
