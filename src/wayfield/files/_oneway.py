"""Which way an edge may be taken: a column such as OpenStreetMap's ``oneway``.

| cell                                   | ways                                     |
|----------------------------------------|------------------------------------------|
| yes, true, 1; FT                       | from → to only                           |
| -1, reverse; TF                        | to → from only: against the drawing      |
| no, false, 0, both, empty              | both                                     |
| reversible, alternating                | both: each at its time, which is noted   |
| F, T and B, if there is a B among them | from → to, to → from, both               |
| [False, True]: streets joined by osmnx | as the one-way one among them            |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ._cell_values import WordColumn

FORWARD, BOTH, BACKWARD = 1, 0, -1

_AT_TIMES = ("reversible", "alternating")
_WAYS = (
    dict.fromkeys(("yes", "true", "1", "1.0", "ft", "forward"), FORWARD)
    | dict.fromkeys(("-1", "-1.0", "−1", "reverse", "tf", "backward"), BACKWARD)
    | dict.fromkeys(("no", "false", "0", "0.0", "", "none", "nan", "both", *_AT_TIMES), BOTH)
)
_LETTERS = {"f": FORWARD, "t": BACKWARD, "b": BOTH, "": BOTH}
"""Another habit; without a ``B`` its letters may as well be false and true."""


def ways_of(cells: Sequence[object]) -> NDArray[np.int8]:
    """Return the ways of many cells; one that says nothing is both ways.

    Examples
    --------
    >>> ways_of(["yes", None, "-1", "no"])
    array([ 1,  0, -1,  0], dtype=int8)
    """
    told = ["" if cell is None else str(cell).lower() for cell in cells]
    return np.array([_WAYS.get(word, BOTH) for word in told], dtype=np.int8)


def _way(word: str, meaning: Mapping[str, int]) -> int | None:
    """Return what a word says, or a list of words: None if nothing, or both one ways."""
    if not word.startswith("["):
        return meaning.get(word)
    found = {meaning.get(part.strip(" '\"")) for part in word.strip("[]").split(",")} - {BOTH}
    return (found or {BOTH}).pop() if len(found) < 2 else None


class WayColumn(WordColumn):
    """The ways of one column, read piece by piece."""

    def _spelt(self, word: str) -> str:
        return word.lower()

    def ways(self) -> NDArray[np.int8]:
        """Return the way of every row, or raise `InputError` at the first that says nothing."""
        words, number = self._read()
        meaning = _LETTERS if "b" in words and set(words) <= set(_LETTERS) else _WAYS
        told = self._meanings(
            words,
            number,
            lambda word: _way(word, meaning),
            "does not say which way an edge leads (yes, no, -1 …); "
            'columns={"oneway": "none"} ignores it',
        )
        counts = np.bincount(number, minlength=len(words))
        at_times = sum(int(n) for n, word in zip(counts, words, strict=True) if word in _AT_TIMES)
        ways = np.array(told, dtype=np.int8)[number]
        self.notes = self._said(ways, at_times)
        return ways

    def _said(self, ways: NDArray[np.int8], at_times: int) -> list[str]:
        """Say what the column has done."""
        count, by = int(np.count_nonzero(ways)), f"by {self.sheet.called(self.index)}"
        notes = [f"{self.sheet.path}: {by} no edge is one-way"]
        if count:
            are = "edge is" if count == 1 else "edges are"
            notes = [
                f"{self.sheet.path}: {by} {count:,} of {ways.size:,} {are} one-way, so the graph "
                'is directed; columns={"oneway": "none"} ignores the column'
            ]
        if at_times:
            rows = "1 edge is" if at_times == 1 else f"{at_times:,} edges are"
            notes.append(f"{self.sheet.path}: {rows} reversible or alternating, taken both ways")
        return notes
