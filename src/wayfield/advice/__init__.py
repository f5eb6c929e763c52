"""The steps put together: solve, plan for many goals, compare, cross-validate, advise."""

from typing import TYPE_CHECKING

from .. import load_on_use

if TYPE_CHECKING:
    from .comparison import Comparison as Comparison
    from .comparison import CrossValidation as CrossValidation
    from .comparison import compare as compare
    from .comparison import cross_validate as cross_validate
    from .solving import Answer as Answer
    from .solving import PlanTable as PlanTable
    from .solving import plan_many as plan_many
    from .solving import solve as solve

__getattr__, __dir__, __all__ = load_on_use(__name__)
