"""Labels: vertices with a known cost-to-go, and the distance of other vertices to them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import LARGEST, as_finite, as_real, as_vertices, frozen, refuse
from ..errors import InputError
from ..numerics.shortest import breadth_first, dijkstra
from ..typing import BoolArray, FloatArray
from ..words import number_of
from .graph import Graph, check_graph
from .names import node_name, shown


@dataclass(frozen=True, eq=False, repr=False)
class Labels:
    """Known values at some vertices, sorted by vertex.

    A vertex given twice with the same value counts once; with different values it is an error.

    Parameters
    ----------
    vertices : (k,) array of int, sequence of names, or mapping
        Labelled vertices. With a `graph` that has names, these are names. A mapping also holds the
        values.
    values : (k,) array, optional
        Their values, unless `vertices` is a mapping.
    error : float
        Bound on ``|value - truth|``, 0 if the values are exact.
    graph : Graph, optional
        The graph whose names the vertices have; see `Graph.from_networkx` and `Graph.with_names`.

    Attributes
    ----------
    vertices : (k,) int64 array
        Labelled vertices, ascending.
    values : (k,) float array
        Their values, between -1e100 and 1e100.
    error : float
        Bound on ``|value - truth|``, 0 if the values are exact.

    Examples
    --------
    >>> Labels([4, 0], [3.0, 0.0])
    Labels(2 vertices, values 0 to 3)
    >>> road = Graph.from_edges([0, 1], [1, 2]).with_names(["Genève", "Lausanne", "Bern"])
    >>> Labels({"Bern": 0.0, "Genève": 162.0}, graph=road).vertices
    array([0, 2])
    """

    vertices: NDArray[np.int64]
    values: FloatArray
    error: float = field(default=0.0)

    def __init__(
        self,
        vertices: ArrayLike | Sequence[str] | Mapping[Any, float],
        values: ArrayLike | None = None,
        error: float = 0.0,
        *,
        graph: Graph | None = None,
    ) -> None:
        if isinstance(vertices, Mapping):
            if values is not None:
                raise InputError("values must not be given if vertices is a mapping: it holds them")
            values = list(vertices.values())
            vertices = list(vertices)
        if values is None:
            raise InputError("labels need values: pass vertices and values, or a mapping of both")
        vertex = as_vertices(_indices(vertices, graph), "label vertices")
        value = as_finite(values, "label values", vertex.size)
        refuse(np.abs(value) > LARGEST, value, "label values", f"is beyond {LARGEST:g}")
        if vertex.size == 0:
            raise InputError("labels must have at least one vertex, got none")
        # sorted by vertex, each once
        order = np.argsort(vertex, kind="stable")
        vertex, value = vertex[order], value[order]
        repeated = vertex[1:] == vertex[:-1]
        clash = repeated & (value[1:] != value[:-1])
        if clash.any():
            i = int(np.argmax(clash))
            raise InputError(
                f"vertex {vertex[i]} is labelled {value[i]} at position {order[i]} "
                f"and {value[i + 1]} at position {order[i + 1]}"
            )
        first = np.concatenate([[True], ~repeated])
        vertex, value = vertex[first], value[first]
        object.__setattr__(self, "vertices", frozen(vertex))
        object.__setattr__(self, "values", frozen(value))
        object.__setattr__(self, "error", as_real(error, "label error", least=0.0))

    def __reduce__(self) -> tuple[type[Labels], tuple[object, ...]]:
        # a pickle does not keep arrays read-only
        return type(self), (self.vertices, self.values, self.error)

    def __len__(self) -> int:
        return self.vertices.size

    @property
    def span(self) -> float:
        """Largest minus smallest value."""
        return float(self.values.max() - self.values.min())

    @property
    def lowest(self) -> int:
        """Vertex of the least value: the goal, if values are costs to it. Of several, the first."""
        return int(self.vertices[np.argmin(self.values)])

    def check(self, graph: Graph) -> Self:
        """Return these labels if all their vertices are in `graph`, else raise `InputError`."""
        n = check_graph(graph).num_vertices
        beyond = self.vertices >= n
        refuse(beyond, self.vertices, "label vertices", f"is out of range for {n} vertices")
        return self

    def mask(self, graph: Graph) -> BoolArray:
        """Return an (n,) bool array that is True at the labelled vertices."""
        labelled = np.zeros(graph.num_vertices, dtype=bool)
        labelled[self.check(graph).vertices] = True
        return labelled

    def with_goal(self, goal: int) -> Labels:
        """Return the labels with value 0 at the goal."""
        away = self.vertices != goal
        vertices, values = self.vertices[away], self.values[away]
        return Labels(np.append(vertices, goal), np.append(values, 0.0), self.error)

    def __repr__(self) -> str:
        error = f", error {self.error:g}" if self.error else ""
        count, low, high = len(self), self.values.min(), self.values.max()
        span = f"value {low:g}" if count == 1 else f"values {low:g} to {high:g}"
        return f"Labels({number_of(count, 'vertices', 'vertex')}, {span}{error})"


def _indices(vertices: Any, graph: Graph | None) -> ArrayLike:
    """Return vertices as indices, by the names of the graph if they are names."""
    names = None if graph is None else check_graph(graph).names
    if names is not None:
        if isinstance(vertices, str) or not isinstance(vertices, Iterable):
            raise InputError(f"label vertices must be a list of names, got {shown(vertices)}")
        return names.index(list(map(node_name, vertices)), "label vertex ")
    listed = isinstance(vertices, list | tuple) and any(isinstance(x, str) for x in vertices)
    if listed or (isinstance(vertices, np.ndarray) and vertices.dtype.kind in "US"):
        why = "pass graph=" if graph is None else "the graph has none: use graph.with_names"
        raise InputError(f"label vertices are names, and names need a graph: {why}")
    indices: ArrayLike = vertices
    return indices


def check_labels(value: object, graph: Graph) -> Labels:
    """Return `value` if it is labels of vertices of `graph`."""
    if not isinstance(value, Labels):
        raise InputError(f"labels must be wayfield.Labels, got {type(value).__name__}")
    return value.check(graph)


def label_distance(graph: Graph, labels: Labels) -> FloatArray:
    """Return the distance from each vertex to the nearest label it can reach; inf if none.

    Its maximum is the fill distance h of the labels in the graph.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> label_distance(path, Labels([0], [0.0]))
    array([0., 1., 2., 3.])
    """
    distance, _ = nearest_label(graph, labels)
    return distance


def nearest_label(graph: Graph, labels: Labels) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the distance to the nearest label, and its vertex (-1 if none can be reached)."""
    sources = check_labels(labels, graph).vertices.copy()  # kernels are compiled for one type
    if graph.is_unit:
        return breadth_first(graph.reverse_arcs, sources)
    offsets = np.zeros(sources.size)
    return dijkstra(graph.reverse_arcs, sources, offsets, 1.0)
