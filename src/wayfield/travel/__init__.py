"""Travel times on a road network, from few measured trips."""

from .cost_bounds import CostBound, cost_bound
from .model import Model, fit
from .trips import Trips

__all__ = ["CostBound", "Model", "Trips", "cost_bound", "fit"]
