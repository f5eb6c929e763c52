"""The whole way in one call: extend the labels, lift the field if asked, plan, certify."""

from .answer import Answer
from .many import PlanTable, plan_many
from .pipeline import solve

__all__ = ["Answer", "PlanTable", "plan_many", "solve"]
