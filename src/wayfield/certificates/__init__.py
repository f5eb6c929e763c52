"""Certificates: what a field proves about its plan, without the truth."""

from .._lazy import load_on_use

__getattr__, __dir__, __all__ = load_on_use(__name__)
