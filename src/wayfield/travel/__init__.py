"""Tools for a graph that may be wrong: contradictions, costs fitted to data, and driving.

Each mend method has its own module. `selection` lists them and chooses among them;
`wayfield` exports them by name, such as ``travel.Smooth``.
"""

from typing import TYPE_CHECKING

from .. import load_on_use

if TYPE_CHECKING:
    from ..certificates.contradiction import Contradictions as Contradictions
    from ..certificates.contradiction import contradictions as contradictions
    from .base import CandidateScore as CandidateScore
    from .base import Fit as Fit
    from .base import MendMethod as MendMethod
    from .base import MendProblem as MendProblem
    from .cost_bounds import CostBound as CostBound
    from .cost_bounds import cost_bound as cost_bound
    from .factor import Factor as Factor
    from .findings import Finding as Finding
    from .findings import Named as Named
    from .fitting import Mended as Mended
    from .fitting import mend as mend
    from .least_change import Change as Change
    from .least_change import LeastChange as LeastChange
    from .selection import Best as Best
    from .selection import Both as Both
    from .shortcuts import NoShortcuts as NoShortcuts
    from .smooth import Smooth as Smooth
    from .trips import Trips as Trips

__getattr__, __dir__, __all__ = load_on_use(__name__)
