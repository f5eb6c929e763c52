"""Pictures of a field and of the plan it gives, drawn with matplotlib.

A maze (positions on a whole-number lattice, nearly all arcs between lattice neighbours) is drawn
as a raster with contour lines, walls left blank; any other graph with positions in the plane as
its edges and vertices. Colours of the field are cool and those of failing starts warm, so that the
two differ at a glance. States without a value are grey and crossed, and one-way edges are
marked with a chevron. `answer` draws all that `solve` found, names and routes included.
"""

from .answer import answer
from .field import field

__all__ = ["answer", "field"]
