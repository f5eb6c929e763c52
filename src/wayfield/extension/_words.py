"""Methods as words, for command lines and settings: amle, harmonic, p=8, sweeps=300 and others."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import TypeVar

from ..errors import InputError
from ._base import Method
from .amle import AMLE
from .envelopes import McShane, NearestLabel, Whitney
from .harmonic import Harmonic
from .plaplacian import PLaplacian
from .sweeps import MidrangeSweeps

N = TypeVar("N", int, float)

METHOD_HELP = (
    "amle, amle-cost or amle-flat, harmonic, p=8 (any p from 2), nearest, sweeps=300, mcshane, "
    "whitney."
)


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
    if equals and word in ("p", "sweeps"):
        if word == "p":
            return PLaplacian(_read(float, number))
        return MidrangeSweeps(_read(int, number))
    simple: dict[str, Callable[[], Method]] = {
        "amle": AMLE,
        "amle-cost": lambda: AMLE(fill="cost"),
        "amle-flat": lambda: AMLE(fill="flat"),
        "harmonic": Harmonic,
        "nearest": NearestLabel,
        "sweeps": MidrangeSweeps,
        "mcshane": lambda: McShane(None),  # the labels' own constant: another may not fit them
        "whitney": lambda: Whitney(None),
    }
    if not equals and word in simple:
        return simple[word]()
    close = difflib.get_close_matches(word, simple, 1)
    hint = f"did you mean {close[0]}?" if close else f"known are {METHOD_HELP[:-1]}"
    raise InputError(f"unknown method {text!r}; {hint}")


def _read(kind: Callable[[str], N], text: str) -> N:
    try:
        return kind(text)
    except ValueError as error:
        what = "whole number" if kind is int else "number"
        raise InputError(f"{text!r} is not a {what}, as in p=8 or sweeps=300") from error
