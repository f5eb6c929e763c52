"""The explorer: a page in the browser and a widget in notebooks. See ``wayfield explore``."""

from typing import TYPE_CHECKING

from .. import load_on_use

if TYPE_CHECKING:
    from .notebook import explore as explore

__getattr__, __dir__, __all__ = load_on_use(__name__)
