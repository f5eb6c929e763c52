"""The whole way in one call: extend the labels, lift the field if asked, plan, certify."""

from .answer import Answer
from .pipeline import solve

__all__ = ["Answer", "solve"]
