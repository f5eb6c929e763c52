"""The absolutely minimal Lipschitz extension, in two steps.

`fix` finds the field and the order in which its values are determined, in doubles, and on request
computes it again in that order with twice the digits; `bracket` proves how far that can be from the
truth.
"""

from .fixing import Fixing, fix
from .proof import Bracket, bracket

__all__ = ["Bracket", "Fixing", "bracket", "fix"]
