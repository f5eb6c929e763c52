"""Methods as words, for command lines and settings: amle, harmonic, p=8, sweeps=300 and others."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TypeVar

from ..errors import InputError
from ._base import Method, describe
from .amle import AMLE
from .envelopes import McShane, NearestLabel, Whitney
from .harmonic import Harmonic
from .plaplacian import PLaplacian
from .sweeps import MidrangeSweeps

N = TypeVar("N", int, float)

_WORDS: dict[str, Method] = {
    "amle": AMLE(),
    "amle-cost": AMLE(fill="cost"),
    "amle-flat": AMLE(fill="flat"),
    "harmonic": Harmonic(),
    "nearest": NearestLabel(),
    "sweeps": MidrangeSweeps(),
    "mcshane": McShane(None),  # the labels' own constant: another may not fit them
    "whitney": Whitney(None),
}


def parse_method(text: str) -> Method:
    """Return the method that a word stands for.

    Examples
    --------
    >>> parse_method("p=8")
    PLaplacian(p=8.0, ...)
    >>> parse_method("harmonc")
    Traceback (most recent call last):
    wayfield.errors.InputError: unknown method 'harmonc'; did you mean harmonic?
    """
    word, equals, number = text.strip().lower().partition("=")
    if equals and word == "p":
        return PLaplacian(_read(float, number))
    if equals and word == "sweeps":
        return MidrangeSweeps(_read(int, number))
    if not equals and word in _WORDS:
        return _WORDS[word]
    close = difflib.get_close_matches(word, _WORDS, 1)
    known = ", ".join([*_WORDS, "p=8", "sweeps=300"])
    hint = f"did you mean {close[0]}?" if close else f"known are {known}"
    raise InputError(f"unknown method {text!r}; {hint}")


def method_word(method: Method) -> str:
    """Return the word for a method; its settings in Python if there is none.

    Examples
    --------
    >>> method_word(AMLE(fill="cost")), method_word(PLaplacian(8)), method_word(MidrangeSweeps(5))
    ('amle-cost', 'p=8', 'sweeps=5')
    >>> method_word(PLaplacian(8, max_steps=3))
    'PLaplacian(p=8, max_steps=3)'
    """
    for word, known in _WORDS.items():
        if known == method and word != "sweeps":
            return word
    if isinstance(method, PLaplacian) and method == PLaplacian(method.p):
        return f"p={method.p:g}"
    if isinstance(method, MidrangeSweeps) and method == MidrangeSweeps(method.sweeps):
        return f"sweeps={method.sweeps}"
    return describe(method)


def _read(kind: Callable[[str], N], text: str) -> N:
    plain = text.isascii() and "_" not in text  # Python also reads ١ as 1, and 1_0 as 10
    try:
        return kind(text if plain else "")
    except ValueError as error:
        what = "whole number" if kind is int else "number"
        raise InputError(f"{text!r} is not a {what}, as in p=8 or sweeps=300") from error
