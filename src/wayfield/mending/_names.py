"""Ways of mending as words, for command lines: best, smooth, both, least-change and others."""

from __future__ import annotations

import difflib

from ..errors import InputError
from ._base import MendMethod
from .both import Both
from .least_change import LeastChange
from .selection import Best
from .shortcuts import NoShortcuts
from .smooth import Smooth

_WORDS: dict[str, MendMethod] = {
    "best": Best(),
    "smooth": Smooth(),
    "both": Both(),
    "no-shortcuts": NoShortcuts(),
    "least-change": LeastChange(),
    "least-change-all": LeastChange(only_odd=None),
}
DEFAULT = "best"
"""The word for what `mend` does unless told otherwise."""


def parse_mend(text: str) -> MendMethod:
    """Return the way of mending that a word stands for.

    Examples
    --------
    >>> parse_mend("least-change-all").name
    'least change'
    >>> parse_mend("least-chang")
    Traceback (most recent call last):
    wayfield.errors.InputError: unknown method 'least-chang'; did you mean least-change?
    """
    word = text.strip().lower()
    if word in _WORDS:
        return _WORDS[word]
    close = difflib.get_close_matches(word, _WORDS, 1)
    hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(_WORDS)}"
    raise InputError(f"unknown method {text!r}; {hint}")
