"""The absolutely minimal Lipschitz extension, in two steps.

`fix` finds the field and the order in which its values are determined, in doubles. `bracket`
computes it again in that order with twice the digits, and proves how far that can be from the
truth.
"""

from .fixing import Fixing, fix
from .proof import Bracket, bracket

__all__ = ["Bracket", "Fixing", "bracket", "fix"]
