# The names of this room, listed once: `__init__.py` reads this file at run time.
from .many import PlanTable as PlanTable
from .many import plan_many as plan_many
from .solving import Answer as Answer
from .solving import solve as solve
