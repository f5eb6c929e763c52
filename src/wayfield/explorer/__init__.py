"""The explorer: draw labels and walls, drag the goal, and see field, plan and proof change.

It looks at the core and solves nothing by itself: the numbers on the page are those that `wf.solve`
and its neighbours return, and the page writes the program that returns them again. ``wayfield
explore`` opens it in a browser, `explore` as a widget in a notebook.

Examples
--------
>>> import wayfield as wf
>>> from wayfield import explorer
>>> maze = wf.grid_graph(wf.load_layout("umaze"), refinement=3)
>>> explorer.explore(maze, wf.sample_labels(maze, 0, 0.1), goal=0).scene["goal"]
0
"""

from typing import TYPE_CHECKING

from .. import load_on_use

if TYPE_CHECKING:
    from .notebook import explore as explore

__getattr__, __dir__, __all__ = load_on_use(__name__)
