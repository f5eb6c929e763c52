"""Travel times on a road network, from few measured trips: estimates, with their uncertainty.

`fit` makes a `Model` of `Trips`: it predicts quantiles of the next measurement, says what is wrong
with the network, and where to measure next.
"""

from .cost_bounds import CostBound, cost_bound
from .findings import Finding
from .model import Model, fit
from .rivals import HeldOut, leave_out
from .tntp import Tntp, read_tntp
from .trips import Trips

__all__ = [
    "CostBound",
    "Finding",
    "HeldOut",
    "Model",
    "Tntp",
    "Trips",
    "cost_bound",
    "fit",
    "leave_out",
    "read_tntp",
]
