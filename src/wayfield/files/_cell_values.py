"""A column of words, most of which recur: every word once, and which one each row has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..names import Numbering
from ._cells import shortened
from ._sheet import Piece, Sheet

Meaning = TypeVar("Meaning")


class WordColumn:
    """The words of one column, read piece by piece."""

    def __init__(self, sheet: Sheet, index: int) -> None:
        self.sheet, self.index = sheet, index
        self.notes: list[str] = []
        self._words = Numbering()
        self._pieces: list[NDArray[np.int32]] = []

    def add(self, piece: Piece) -> None:
        """Read more rows."""
        cells = piece.tolist() if isinstance(piece, np.ma.MaskedArray) else piece
        told = ["" if cell is None else str(cell) for cell in cells]
        self._pieces.append(self._words.number([self._spelt(word) for word in told]))

    def _spelt(self, word: str) -> str:
        """How a word is kept."""
        return word

    def _read(self) -> tuple[list[str], NDArray[np.int32]]:
        """Return the words, and which one each row has."""
        return [str(word) for word in self._words], np.concatenate(self._pieces)

    def _meanings(
        self,
        words: list[str],
        number: NDArray[np.int32],
        meaning: Callable[[str], Meaning | None],
        missing: str,
    ) -> list[Meaning]:
        """Return what every word means; an `InputError` names the first row whose word has none."""
        told = []
        for i, word in enumerate(words):
            found = meaning(word)
            if found is None:
                row = int(np.argmax(number == i))
                cell = shortened(self.sheet.cell(row, self.index))
                raise InputError(f"{self.sheet.place(row, self.index)}: {cell!r} {missing}")
            told.append(found)
        return told
