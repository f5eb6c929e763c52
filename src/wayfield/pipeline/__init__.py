"""The whole pipeline in one call: extend the labels, lift the field if asked, plan, certify."""

from .._lazy import load_on_use

__getattr__, __dir__, __all__ = load_on_use(__name__)
