"""Travel times on a road network, from few measured trips: estimates, with their uncertainty.

`fit` makes a `Model` of `Trips`: it predicts quantiles of the next measurement, says what is wrong
with the network, and where to measure next.
"""

from typing import TYPE_CHECKING

from .. import load_on_use

if TYPE_CHECKING:
    from .cost_bounds import CostBound as CostBound
    from .cost_bounds import cost_bound as cost_bound
    from .findings import Finding as Finding
    from .model import Model as Model
    from .model import fit as fit
    from .rivals import HeldOut as HeldOut
    from .rivals import leave_out as leave_out
    from .tntp import Tntp as Tntp
    from .tntp import read_tntp as read_tntp
    from .trips import Trips as Trips

__getattr__, __dir__, __all__ = load_on_use(__name__)
