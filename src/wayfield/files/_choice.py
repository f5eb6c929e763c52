"""What else a column might have been, and which columns are nothing to us: said, not hidden."""

from __future__ import annotations

from collections.abc import Mapping

from ._roles import NUMBERS, matching_columns
from ._sheet import Sheet

_MOST_NAMED = 50
"""Columns beyond this many are not all named."""

_CHOSEN = ("from", "to", "length", "oneway", "speed", "vertex", "value", "start", "end", "cost")
"""Roles for which a user may name a column."""


def doubts(sheet: Sheet, at: Mapping[str, int], told: Mapping[str, str]) -> list[str]:
    """Return a note for every role that another column, not taken, could have had as well."""
    notes = []
    for role, chosen in at.items():
        others = _rivals(sheet, at, role, told)
        if others and role in _CHOSEN:
            listed = " or ".join(map(str, others))
            named = "" if sheet.header is None else f" {sheet.called(chosen)}"
            notes.append(
                f"{sheet.path}: the {role} is column {chosen + 1}{named}, not {listed}; "
                f'columns={{"{role}": …}} chooses another'
            )
    return notes


def unused(sheet: Sheet, at: Mapping[str, int]) -> list[str]:
    """Columns without a role, by what they are called; those that hold nothing are left out."""
    return [
        sheet.called(i)
        for i in range(sheet.width)
        if i not in at.values() and (_heading(sheet, i) or _filled(sheet, i))
    ]


def unused_note(sheet: Sheet, at: Mapping[str, int]) -> list[str]:
    """Name the columns without a role, if there are any."""
    left = unused(sheet, at)
    if not left:
        return []
    word = "" if sheet.header is not None else "column " if len(left) == 1 else "columns "
    more = f" and {len(left) - _MOST_NAMED:,} more" if len(left) > _MOST_NAMED else ""
    return [f"{sheet.path}: not used: {word}{', '.join(left[:_MOST_NAMED])}{more}"]


def _heading(sheet: Sheet, column: int) -> str:
    return "" if sheet.header is None else sheet.header[column]


def _filled(sheet: Sheet, column: int) -> bool:
    return any(row[column].strip() for row in sheet.rows if column < len(row))


def _rivals(sheet: Sheet, at: Mapping[str, int], role: str, told: Mapping[str, str]) -> list[str]:
    """Columns of the same heading; for numbers also those that words or their place allow."""
    header = sheet.header
    if role in told and (header is None or told[role] not in header):
        return []  # chosen by its number: no doubt
    free = [i for i in range(sheet.width) if i not in at.values()]
    if header is None:
        alike = [i for i in free if sheet.numeric(i)] if role in NUMBERS else []
    else:
        alike = [i for i in free if header[i] == header[at[role]]]
        if role in NUMBERS and role not in told:
            meant = matching_columns(role, header)
            alike += [i for i in meant if i in free and i not in alike and sheet.numeric(i)]
    return [f"{i + 1}" if header is None else f"{i + 1} {sheet.called(i)}" for i in alike]
