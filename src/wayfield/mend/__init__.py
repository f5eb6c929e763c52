"""When the graph is wrong: what labels and trips contradict, costs fitted to them, and driving."""

from ._base import Fit, MendMethod, MendProblem, Score

__all__ = ["Fit", "MendMethod", "MendProblem", "Score"]
