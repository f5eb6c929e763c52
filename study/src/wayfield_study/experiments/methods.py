"""Methods by name: those of wayfield, its rivals, and a user's own.

A name is one that ``wayfield plan --method`` takes, such as ``"p=8"``, or that of a rival; a
user's own is ``"module:name"``. What it names is a function ``graph, labels -> values``,
an object with ``solve``, or something that makes one when called without arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

from wayfield.fields import Method
from wayfield.fields.base import as_method
from wayfield.fields.names import WORDS, Word, parse_method

from ..engine.config import import_own
from ..sweeps import MidrangeSweeps

HOME = "wayfield_study.rivals"
RIVALS = {
    "game": Word("GamePLaplacian", number="p", kind=float, usual=10, home=HOME),
    "wnll": Word("WeightedNonlocal", home=HOME),
    "properly-weighted": Word("ProperlyWeighted", home=HOME),
    "poisson": Word("PoissonLearning", home=HOME),
    "matern": Word("Matern", home=HOME),
    "biharmonic": Word("Biharmonic", home=HOME),
    "inverse-distance": Word("InverseDistance", home=HOME),
    "envelopes": Word("MeanOfEnvelopes", home=HOME),
}
"""Names of the rivals."""
WORDS.update(RIVALS)
assert MidrangeSweeps.__name__ == WORDS["sweeps"].method  # its module adds its name


def find_method(name: str, folder: Path | None = None) -> Method:
    """Return the method with this name; a user's module is looked for in `folder` too.

    Examples
    --------
    >>> find_method("game=20")
    GamePLaplacian(p=20.0)
    """
    if ":" not in name:
        return parse_method(name)
    found = import_own(name, folder)
    if callable(found) and _is_factory(found):
        found = found()
    return as_method(found, f"method {name!r}")


def _is_factory(found: Callable[..., Any]) -> bool:
    """Whether it is a class, or a function that can be called without arguments."""
    if isinstance(found, type | Method):
        return isinstance(found, type)
    try:
        inspect.signature(found).bind()
    except (TypeError, ValueError):  # it takes arguments, or is compiled: nothing is known of it
        return False
    return True
