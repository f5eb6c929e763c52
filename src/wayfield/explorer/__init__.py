"""The explorer: a page in the browser and a widget in notebooks. See ``wayfield explore``."""

from .notebook import explore

__all__ = ["explore"]
