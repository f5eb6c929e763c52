"""Physics: bodies that walk a plan in MuJoCo mazes. Needs the extra ``sim``.

`make` opens a maze of OGBench or Gymnasium-Robotics, or builds one from any layout. `walk` makes
the body in it follow a plan. `foresee` predicts the outcome from the graph alone. `wander` collects
a buffer. The ant is moved by `AntController`, with weights that are part of the package; points are
moved by proportional controllers.
"""

from .controllers import AntController, PointController, StepController
from .coordinates import Coordinates, ogbench_coordinates, robotics_coordinates
from .foresight import Gait, foresee
from .mazes import Maze, make
from .walking import Ending, Walk, walk, wander

__all__ = [
    "AntController",
    "Coordinates",
    "Ending",
    "Gait",
    "Maze",
    "PointController",
    "StepController",
    "Walk",
    "foresee",
    "make",
    "ogbench_coordinates",
    "robotics_coordinates",
    "walk",
    "wander",
]
