"""Extensions of labels to the whole graph: one verb, one result type, one file per method.

The names of this room are listed in ``__init__.pyi``, the words for methods in ``_names.py``. A
method is loaded when it is first used: planning by the AMLE does not import sparse solvers.
"""

from .._lazy import load_on_use

__getattr__, __dir__, __all__ = load_on_use(__name__)
