"""Names of the methods for command lines and settings: amle, harmonic, p=8 and others.

This is the registry of methods: add the name of a new method here. The table loads no method, so
the help of a command can read it. A package with methods of its own adds their names to `WORDS`. On
a command line ``module:name`` is a method of the user's own; it is imported, so nothing that comes
from elsewhere, such as a web page, may be read by `load_method`.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import InputError

if TYPE_CHECKING:
    from .base import Method


class Word(NamedTuple):
    """What a name stands for."""

    method: str
    """Name of the method's class."""
    settings: Mapping[str, Any] = MappingProxyType({})
    number: str = ""
    """The setting given by a number, as in ``p=8``; empty if there is none."""
    kind: type[int] | type[float] = int
    """Type of that number."""
    usual: int = 0
    """The number that `compare` uses and the help shows."""
    bare: bool = True
    """Whether the name may be used without its number."""
    help: str = ""
    home: str = "wayfield"
    """Package whose name the class is."""

    def make(self, number: float | None = None) -> Method:
        """Return the method, with a number if one is given."""
        given = {} if number is None else {self.number: number}
        made: Method = getattr(import_module(self.home), self.method)(**self.settings, **given)
        return made


WORDS = {
    "amle": Word("AMLE"),
    "amle-cost": Word("AMLE", {"fill": "cost"}),
    "amle-flat": Word("AMLE", {"fill": "flat"}),
    "p": Word("PLaplacian", number="p", kind=float, usual=8, bare=False, help=" (any p from 2)"),
    "harmonic": Word("Harmonic"),
    "nearest": Word("NearestLabel"),
    "mcshane": Word("McShane", {"lipschitz": None}),  # the labels' own: another may not fit them
    "whitney": Word("Whitney", {"lipschitz": None}),
}

EXAMPLES = {
    f"{word}={known.usual}" if known.number else word: known for word, known in WORDS.items()
}
"""All names, with a number where they take one."""

METHODS = ", ".join(f"{word}{known.help}" for word, known in EXAMPLES.items())
METHODS += "; module:name, a function or object of your own."
"""Names that --method takes, for the help."""


def parse_method(text: str) -> Method:
    """Return the method with this name.

    Examples
    --------
    >>> parse_method("p=8")
    PLaplacian(p=8.0, ...)
    >>> parse_method("harmonc")
    Traceback (most recent call last):
    wayfield.errors.InputError: unknown method 'harmonc'; did you mean harmonic?
    """
    word, equals, number = text.strip().lower().partition("=")
    known = WORDS.get(word)
    if known is None or not (known.number if equals else known.bare):
        close = difflib.get_close_matches(word, [each for each in WORDS if len(each) > 1], 1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(EXAMPLES)}"
        raise InputError(f"unknown method {text!r}; {hint}")
    try:
        plain = number.isascii() and "_" not in number  # Python also reads ١ as 1, and 1_0 as 10
        return known.make(known.kind(number if plain else "") if equals else None)
    except ValueError as error:
        if isinstance(error, InputError):  # raised by the method itself
            raise
        what = "whole number" if known.kind is int else "number"
        message = f"{number!r} is not a {what}, as in {word}={known.usual}"
        raise InputError(message) from error


def load_method(text: str) -> Method:
    """Return the method with this name, or import one: ``module:name``, the working folder first.

    A class is called without arguments. The method is shown under this name.

    Examples
    --------
    >>> load_method("harmonic")
    Harmonic(...)
    >>> load_method("math:game")
    Traceback (most recent call last):
    wayfield.errors.InputError: method 'math:game': module 'math' has no attribute 'game'
    """
    from .base import FromFunction, as_method

    module, colon, name = text.strip().partition(":")
    if not colon:
        return parse_method(text)
    folder = str(Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found: Any = import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        if isinstance(found, type):
            found = found()
    except Exception as error:
        hint = f"; write {module[:-3]}:{name}" if module.endswith(".py") else ""
        raise InputError(f"method {text!r}: {error}{hint}") from error
    method = as_method(found, f"method {text!r}")
    return FromFunction(method.function, text) if isinstance(method, FromFunction) else method


def method_word(method: Method) -> str:
    """Return the name of a method, or its settings in Python if it has none.

    Examples
    --------
    >>> from wayfield import AMLE, PLaplacian
    >>> method_word(AMLE(fill="cost")), method_word(PLaplacian(8))
    ('amle-cost', 'p=8')
    >>> method_word(PLaplacian(8, max_steps=3))
    'PLaplacian(p=8, max_steps=3)'
    """
    from .base import is_ours

    for word, known in WORDS.items() if is_ours(method) else ():
        if known.method == type(method).__name__:
            if known.number:
                value = getattr(method, known.number)
                word = f"{word}={value:g}" if known.kind is float else f"{word}={value}"
            if parse_method(word) == method:
                return word
    described: str = import_module("wayfield.fields").describe(method)
    return described
