"""Methods by name: wayfield's, its rivals, and those of a user's own.

A name is one that ``wayfield plan --method`` takes, such as ``"p=8"``, or that of a rival; a
method of one's own is ``"module:name"``. What it names is a function ``graph, labels -> values``,
an object with ``solve``, or something that makes one when called without arguments.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from wayfield.errors import InputError
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


def find_method(name: str, folder: Path | None = None) -> Any:
    """Return the method with this name; one's own is looked for in a folder too.

    Examples
    --------
    >>> find_method("game=20")
    GamePLaplacian(p=20.0)
    """
    if ":" not in name:
        return parse_method(name)
    found = import_own(name, folder)
    if callable(found) and not hasattr(found, "solve"):
        found = found if _takes_arguments(found) else found()
    elif isinstance(found, type):
        found = found()
    if not callable(found) and not hasattr(found, "solve"):
        raise InputError(
            f"{name} is neither a function of a graph and labels nor an object with solve, but a "
            f"{type(found).__name__}"
        )
    return found


def _takes_arguments(function: Any) -> bool:
    """Whether a function cannot be called without arguments."""
    try:
        inspect.signature(function).bind()
    except TypeError:
        return True
    except ValueError:  # compiled: nothing is known of it
        return True
    return False
