"""Ways of mending as words, for command lines: best, smooth, both, repair and others."""

from __future__ import annotations

import difflib

from ..errors import InputError
from ._base import MendMethod
from .both import Both
from .referee import Best
from .repair import LeastRepair
from .shortcuts import NoShortcuts
from .smooth import Smooth

_WORDS: dict[str, MendMethod] = {
    "best": Best(),
    "smooth": Smooth(),
    "both": Both(),
    "no-shortcuts": NoShortcuts(),
    "repair": LeastRepair(),
    "repair-all": LeastRepair(only_odd=None),
}
DEFAULT = "best"
"""The word for what `mend` does unless told otherwise."""


def parse_mend(text: str) -> MendMethod:
    """Return the way of mending that a word stands for.

    Examples
    --------
    >>> parse_mend("repair-all").name
    'repair'
    >>> parse_mend("repiar")
    Traceback (most recent call last):
    wayfield.errors.InputError: unknown method 'repiar'; did you mean repair?
    """
    word = text.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    close = difflib.get_close_matches(word, _WORDS, 1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(_WORDS)}"
    raise InputError(f"unknown method {text!r}; {hint}")
