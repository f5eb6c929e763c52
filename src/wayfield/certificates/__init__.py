"""When may a greedy plan be trusted? What the field itself proves, without the truth."""

from .._lazy import load_on_use

__getattr__, __dir__, __all__ = load_on_use(__name__)
