"""State graphs: immutable compressed sparse rows with lengths, validated once.

An arc ``x → y`` of length ``ℓ > 0`` is a move from ``x`` to ``y`` at cost ``ℓ``. An undirected
graph stores each edge as two arcs. Rows are sorted, without loops or parallel arcs, so two graphs
with the same edges have the same arrays.

Compiled kernels index these arrays without bounds checks. So every `Graph` is valid: its
constructor checks every row, however the graph was made, and its arrays are read-only.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ..checks import (
    MOST_VERTICES,
    as_choice,
    as_flag,
    as_lengths,
    as_matrix,
    as_vertex,
    as_vertices,
    as_whole,
    frozen,
    owned,
    refuse,
)
from ..errors import InputError, InputWarning
from ..numerics.csr import (
    Arcs,
    Renumbered,
    first_asymmetry,
    first_flaw,
    renumber,
    reverse_arcs,
    rows_of_edges,
    weak_components,
)
from ..typing import FloatArray, IntArray
from ..words import number_of
from . import npz as _npz
from .names import Names

_FILE_KIND = "wayfield graph 1"
_GRAIN, _MOST = 2.0**-20, 2.0**32
"""Sums of multiples of the first are exact while they stay below 2³³, twice the second."""


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph with positive lengths, directed or not. Build it with one of the ``from_…`` methods.

    Attributes
    ----------
    indptr : (n + 1,) int32 array
        Row of vertex ``x``: slots ``indptr[x]`` to ``indptr[x + 1]``; int64 for 2³¹ arcs or more.
    indices : (m,) int32 array
        Heads of the arcs, sorted within a row.
    lengths : (m,) float array
        Lengths of the arcs, between 1e-100 and 1e100.
    directed : bool
        Whether an arc may lack its reverse. An undirected edge is stored as two arcs.
    positions : (n, d) float array or None
        Coordinates of the vertices, for drawing and for estimates of travel times.
    loops_dropped, parallel_merged : int
        Number of self-loops in the input, and of edges parallel to a shorter one; both are dropped.
    names : Names or None
        Names of the vertices, if they have any: ``graph.names.index("Bern")`` is a vertex.

    Examples
    --------
    >>> graph = Graph.from_edges([0, 1], [1, 2], lengths=[1.0, 2.5])
    >>> graph
    Graph(3 vertices, 2 edges, lengths 1 to 2.5)
    >>> graph.neighbours(1)
    array([0, 2], dtype=int32)
    """

    indptr: IntArray
    indices: IntArray
    lengths: FloatArray
    directed: bool
    positions: FloatArray | None = None
    loops_dropped: int = 0
    parallel_merged: int = 0
    names: Names | None = None

    def __post_init__(self) -> None:
        directed = as_flag(self.directed, "directed")
        indptr, indices = self.indptr, self.indices
        for name, array in (("indptr", indptr), ("indices", indices)):
            flat = isinstance(array, np.ndarray) and array.ndim == 1
            if not flat or array.dtype not in (np.int32, np.int64):
                raise InputError(f"{name} must be a one-dimensional int32 or int64 array")
        n, m = indptr.size - 1, indices.size
        if not 0 <= n <= MOST_VERTICES or indptr[0] != 0 or indptr[-1] != m:
            raise InputError(f"indptr must start at 0 and end at the number of arcs, {m}")
        indptr, indices = np.ascontiguousarray(indptr), np.ascontiguousarray(indices)
        lengths = as_lengths(self.lengths, "lengths", m)
        x = first_flaw(indptr, indices)
        if x >= 0:
            raise InputError(f"row {x} must be an ascending list of other vertices")
        # the kernels' types: a kernel is compiled for each combination of types
        indptr = indptr.astype(np.int32 if m < 2**31 else np.int64, copy=False)
        arcs = Arcs(owned(indptr), owned(indices.astype(np.int32, copy=False)), owned(lengths))
        slot = -1 if directed else first_asymmetry(arcs)
        if slot >= 0:
            raise InputError(f"an undirected graph must be symmetric: {_one_way(arcs, slot)}")
        positions = self.positions
        if positions is not None:
            positions = as_matrix(positions, "positions")
            if positions.shape[0] != n:
                raise InputError(f"positions must be of shape ({n}, d), got {positions.shape}")
            refuse(~np.isfinite(positions), positions, "positions", "is not a finite number")
            positions = frozen(positions)
        if self.names is not None and not isinstance(self.names, Names):
            kind = type(self.names).__name__
            raise InputError(f"names must be wayfield.Names, got {kind}: use graph.with_names")
        if self.names is not None and len(self.names) != n:
            raise InputError(f"names must be {n} different names, got {self.names!r}")
        checked = arcs._asdict() | {"directed": directed, "positions": positions}
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    # ---------------------------------------------------------------- building

    @classmethod
    def from_edges(
        cls,
        tails: ArrayLike,
        heads: ArrayLike,
        lengths: ArrayLike | None = None,
        num_vertices: int | None = None,
        directed: bool = False,
        positions: ArrayLike | None = None,
    ) -> Self:
        """Build a graph from a list of edges, or of arcs if `directed`.

        Self-loops are dropped and counted. Of parallel edges the shortest is kept. An
        `InputWarning` reports the number of loops, and of longer parallel edges.

        Parameters
        ----------
        tails, heads : (e,) integer arrays
            Ends of the edges. List an undirected edge once; listing it in both directions is fine.
        lengths : (e,) float array, optional
            Between 1e-100 and 1e100. Default: 1 everywhere.
        num_vertices : int, optional
            Default: one more than the largest index. Required if the largest index is a million or
            more, and over a hundred times the number of edges: indices with such gaps are rarely
            meant.
        positions : (n, d) float array, optional
            Coordinates of the vertices, for drawing.
        """
        tail = as_vertices(tails, "tails", dtype=np.int32)
        head = as_vertices(heads, "heads", dtype=np.int32)
        if tail.size != head.size:
            raise InputError(
                f"tails and heads must have the same length, got {tail.size} and {head.size}"
            )
        largest, size = int(max(tail.max(initial=-1), head.max(initial=-1))), tail.size
        if num_vertices is not None:
            n = as_whole(num_vertices, "num_vertices", least=0, most=MOST_VERTICES)
            for name, ends in (("tails", tail), ("heads", head)):
                refuse(ends >= n, ends, name, f"is out of range for {n} vertices")
        elif largest >= max(1_000_000, 100 * size):
            raise InputError(
                f"the largest vertex index is {largest} with only {size} edges; "
                "if most vertices are meant to be isolated, pass num_vertices"
            )
        else:
            n = largest + 1
        length = np.ones(size) if lengths is None else as_lengths(lengths, "lengths", size)
        directed = as_flag(directed, "directed")
        loops = int(np.count_nonzero(tail == head))
        if loops:
            warnings.warn(f"{number_of(loops, 'self-loops')} dropped", InputWarning, stacklevel=2)
        ways = 1 if directed else 2
        arcs, merged, longer = rows_of_edges(n, tail, head, length, ways == 2)
        if longer:
            edges = number_of(longer // ways, "parallel edges")
            message = f"{edges} of different length: the shortest is kept"
            warnings.warn(message, InputWarning, stacklevel=2)
        arcs = Arcs(*map(frozen, arcs))
        return cls(*arcs, directed, positions, loops, merged // ways)  # type: ignore[arg-type]

    @classmethod
    def from_scipy(cls, matrix: Any, directed: bool | None = None) -> Self:
        """Build a graph from a sparse or dense matrix of lengths; stored entries are arcs.

        Entry ``(x, y)`` is the length of the arc ``x → y``. With ``directed=None`` a symmetric
        matrix gives an undirected graph and any other a directed one; with ``directed=False`` an
        asymmetric matrix is an error. Zeros of a dense matrix mean "no arc"; a zero stored in a
        sparse matrix is an error, since lengths are positive. Entries stored twice are parallel
        arcs: the shortest is kept, and they are not summed.

        Examples
        --------
        >>> Graph.from_scipy([[0, 2], [2, 0]])
        Graph(2 vertices, 1 edges, lengths 2 to 2)
        >>> Graph.from_scipy([[0, 2], [0, 0]])
        Graph(2 vertices, 1 arcs, directed, lengths 2 to 2)
        """
        from .interop import matrix_edges  # loads scipy.spatial

        if directed is not None:
            directed = as_flag(directed, "directed")
        graph = cls.from_edges(*matrix_edges(matrix), directed=True)
        if directed:
            return graph
        slot = first_asymmetry(graph.arcs)
        if slot < 0:
            return replace(graph, directed=False)
        if directed is False:
            raise InputError(
                f"the matrix is not symmetric: {_one_way(graph.arcs, slot)}; "
                "pass directed=True, or call .symmetrised() on the directed graph"
            )
        return graph

    @classmethod
    def from_networkx(cls, source: Any, length: str | None = "length") -> Self:
        """Build a graph from a networkx graph; vertices are numbered in ``source.nodes`` order.

        Edges without the attribute `length` have length 1; ``length=None`` ignores attributes.
        Nodes keep their names and their positions: the attribute ``pos``, or ``x`` and ``y``.

        Examples
        --------
        >>> import networkx
        >>> source = networkx.Graph()
        >>> source.add_edge("Genève", "Lausanne", length=62.0)
        >>> Graph.from_networkx(source).names
        Names(2: 'Genève', 'Lausanne')
        """
        from .interop import networkx_edges, networkx_nodes

        graph = cls.from_edges(*networkx_edges(source, length), bool(source.is_directed()))
        return graph._with_nodes(*networkx_nodes(source))

    @classmethod
    def from_igraph(cls, source: Any, length: str | None = "length") -> Self:
        """Build a graph from an igraph graph; edges have length 1 unless they carry `length`.

        Vertices keep their names and positions: the attributes ``name``, ``x`` and ``y``.
        """
        from .interop import igraph_edges, igraph_nodes

        graph = cls.from_edges(*igraph_edges(source, length), bool(source.is_directed()))
        return graph._with_nodes(*igraph_nodes(source))

    def _with_nodes(self, names: list[str | int] | None, positions: ArrayLike | None) -> Self:
        """Return the graph with names and positions; names that are not distinct are left out."""
        named = None if names is None else Names(names)
        if named is not None and len(named) != self.num_vertices:
            message = "names of nodes are not distinct as text: they are not kept"
            warnings.warn(message, InputWarning, stacklevel=3)
            named = None
        return replace(self, names=named, positions=positions)  # type: ignore[arg-type]

    @classmethod
    def from_distances(
        cls, pdist: ArrayLike, cutoff: float | None = None, k: int | None = None
    ) -> Self:
        """Build a graph from pairwise distances: an (n, n) matrix, or the condensed form of scipy.

        Keep the distances of at most `cutoff` and, in each row, the `k` smallest (ties to the lower
        index); both may be given. Infinite means "no arc". Off the diagonal, zeros and negative
        numbers are errors. A symmetric result gives an undirected graph. The k nearest neighbours
        of a symmetric matrix are usually not symmetric.

        Examples
        --------
        >>> points = np.array([0.0, 1.0, 3.0])
        >>> Graph.from_distances(abs(points[:, None] - points), cutoff=2.0)
        Graph(3 vertices, 2 edges, lengths 1 to 2)
        """
        from .interop import near_pairs

        return cls.from_scipy(near_pairs(pdist, cutoff, k))

    # ---------------------------------------------------------------- looking

    @cached_property
    def num_vertices(self) -> int:
        """Number of vertices n."""
        return self.indptr.size - 1

    @property
    def num_arcs(self) -> int:
        """Number of arcs m; an undirected edge counts as two."""
        return self.indices.size

    @property
    def num_edges(self) -> int:
        """Number of arcs of a directed graph, or of edges of an undirected one."""
        return self.num_arcs if self.directed else self.num_arcs // 2

    @cached_property
    def is_unit(self) -> bool:
        """Whether every length is 1."""
        return bool((self.lengths == 1.0).all())

    @cached_property
    def sums_exactly(self) -> bool:
        """Whether sums of lengths are not rounded, as far as `are_exact` tells."""
        return are_exact(self.lengths, float(self.lengths.sum()))

    @cached_property
    def arcs(self) -> Arcs:
        """Arcs out of each vertex, in the form that kernels take."""
        return Arcs(self.indptr, self.indices, self.lengths)

    @cached_property
    def reverse_arcs(self) -> Arcs:
        """Arcs into each vertex; for an undirected graph the same arrays as `arcs`."""
        if not self.directed:
            return self.arcs
        return Arcs(*map(frozen, reverse_arcs(self.arcs)))

    @cached_property
    def renumbered(self) -> Renumbered | None:
        """The arcs in an order in which neighbours lie close together; None if they do already."""
        found = None if self.directed else renumber(self.arcs)
        if found is None:
            return None
        order, number, arcs = found
        return Renumbered(frozen(order), frozen(number), Arcs(*map(frozen, arcs)))

    @property
    def degrees(self) -> IntArray:
        """Number of arcs out of each vertex."""
        return np.diff(self.indptr)

    @property
    def tails(self) -> IntArray:
        """Tail of each arc; `indices` holds its head."""
        return np.repeat(np.arange(self.num_vertices, dtype=self.indices.dtype), self.degrees)

    def neighbours(self, vertex: int) -> IntArray:
        """Return the heads of the arcs out of `vertex`."""
        x = as_vertex(vertex, "vertex", self.num_vertices)
        return self.indices[self.indptr[x] : self.indptr[x + 1]]

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Weakly connected component of each vertex, numbered by lowest vertex."""
        everywhere = np.ones(self.num_vertices, np.bool_)
        component, _ = weak_components(self.arcs, self.reverse_arcs, self.directed, everywhere)
        return frozen(component)

    @cached_property
    def strong_components(self) -> NDArray[np.int32]:
        """Strongly connected component of each vertex, numbered by lowest vertex.

        Two vertices are in the same component if each can reach the other.
        """
        if not self.directed:
            return self.components
        from scipy.sparse.csgraph import connected_components  # slow to import, rarely needed

        _, component = connected_components(self.to_scipy(), connection="strong")
        _, lowest, number = np.unique(component, return_index=True, return_inverse=True)
        return frozen(np.argsort(np.argsort(lowest))[number].astype(np.int32))

    def to_scipy(self) -> sparse.csr_array[np.float64]:
        """Return the matrix of lengths; entry ``(x, y)`` is the length of the arc ``x → y``."""
        shape = (self.num_vertices, self.num_vertices)
        return sparse.csr_array((self.lengths, self.indices, self.indptr), shape=shape)

    # ---------------------------------------------------------------- changing

    def with_positions(self, positions: ArrayLike) -> Self:
        """Return the same graph with `positions`, an (n, d) array of vertex coordinates."""
        return replace(self, positions=positions)  # type: ignore[arg-type]

    def with_names(self, names: Iterable[str | int]) -> Self:
        """Return the same graph with `names`, one for each vertex, all different.

        Examples
        --------
        >>> road = Graph.from_edges([0, 1], [1, 2]).with_names(["Genève", "Lausanne", "Bern"])
        >>> road.names.index("Bern")
        2
        """
        return replace(self, names=names if isinstance(names, Names) else Names(names))

    def subdivide(self, k: int) -> Self:
        """Replace each edge by k edges in series, each as long as the original edge.

        Distances between the original vertices grow by the factor k. These keep their indices; the
        new vertices follow, edge by edge.

        Examples
        --------
        >>> Graph.from_edges([0], [1]).subdivide(3)
        Graph(4 vertices, 3 edges, unit lengths)
        """
        new = self.num_edges * (as_whole(k, "k", least=1) - 1)
        if self.num_vertices + new > MOST_VERTICES:
            raise InputError(f"subdivide({k}) would make {new:,} vertices, more than 2³¹ - 1")
        tails, heads = self.tails.astype(np.int64), self.indices.astype(np.int64)
        once = np.ones(heads.size, dtype=bool) if self.directed else tails < heads
        tails, heads, lengths = tails[once], heads[once], self.lengths[once]
        inner = self.num_vertices + np.arange(tails.size * (k - 1)).reshape(tails.size, k - 1)
        chain = np.column_stack([tails, inner, heads])
        positions = None
        if self.positions is not None:
            share = (np.arange(1, k) / k)[None, :, None]
            start, end = self.positions[tails][:, None, :], self.positions[heads][:, None, :]
            between = (start + share * (end - start)).reshape(-1, self.positions.shape[1])
            positions = np.vstack([self.positions, between])
        return type(self).from_edges(
            chain[:, :-1].ravel(),
            chain[:, 1:].ravel(),
            np.repeat(lengths, k),
            self.num_vertices + inner.size,
            self.directed,
            positions,
        )

    def symmetrised(self, how: Literal["min", "max", "mean"] = "min") -> Self:
        """Return an undirected graph, with an edge wherever there is an arc in either direction.

        If both arcs exist, the edge's length is the shorter ("min"), the longer ("max") or their
        mean ("mean"). If only one exists, it is that arc's length.

        Examples
        --------
        >>> hill = Graph.from_edges([0, 1], [1, 0], [3.0, 1.0], directed=True)
        >>> hill.symmetrised("mean")
        Graph(2 vertices, 1 edges, lengths 2 to 2)
        """
        as_choice(how, "how", ("min", "max", "mean"))
        if not self.directed:
            return self
        n, tails, heads = self.num_vertices, self.tails, self.indices
        arcs, _, _ = rows_of_edges(n, tails, heads, self.lengths, both_ways=True)
        if how != "min":
            # the maximum is minus the minimum of the negatives
            negated, _, _ = rows_of_edges(n, tails, heads, -self.lengths, both_ways=True)
            longest = -negated.lengths
            mean = (arcs.lengths + longest) / 2
            arcs = arcs._replace(lengths=longest if how == "max" else mean)
        return replace(self, **Arcs(*map(frozen, arcs))._asdict(), directed=False)

    # ---------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the graph to one ``.npz`` file, atomically; `load` reads it back."""
        arrays: dict[str, NDArray[Any]] = {
            "indptr": self.indptr,
            "indices": self.indices,
            "directed": np.array(self.directed),
            "dropped": np.array([self.loops_dropped, self.parallel_merged]),
        }
        if not self.is_unit:
            arrays["lengths"] = self.lengths
        if self.positions is not None:
            arrays["positions"] = self.positions
        if self.names is not None:
            # as JSON: an array of text would not tell 1 from "1"
            listed = json.dumps(list(self.names)).encode()
            arrays["names"] = np.frombuffer(listed, dtype=np.uint8)
        return _npz.write(path, _FILE_KIND, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a graph written by `save`; a file that is not one raises `InputError`."""
        arrays = {name: frozen(array) for name, array in _npz.read(path, _FILE_KIND).items()}
        try:
            indptr, indices, directed = arrays["indptr"], arrays["indices"], arrays["directed"]
            lengths = arrays["lengths"] if "lengths" in arrays else frozen(np.ones(indices.size))
            loops, merged = arrays["dropped"].tolist()
            positions = arrays.get("positions")
            names = Names(json.loads(arrays["names"].tobytes())) if "names" in arrays else None
            return cls(indptr, indices, lengths, directed.item(), positions, loops, merged, names)
        except (KeyError, TypeError, ValueError, RecursionError) as error:
            raise InputError(f"{path} is damaged: {error}") from error

    def __reduce__(self) -> tuple[Any, ...]:
        # a pickle does not keep arrays read-only
        return _restore, (type(self), *(getattr(self, field.name) for field in fields(self)))

    def __repr__(self) -> str:
        kind = "arcs, directed" if self.directed else "edges"
        if self.num_arcs == 0 or self.is_unit:
            span = "unit lengths"
        else:
            span = f"lengths {self.lengths.min():g} to {self.lengths.max():g}"
        return f"Graph({self.num_vertices:,} vertices, {self.num_edges:,} {kind}, {span})"


def same_graph(one: Graph, other: Graph) -> bool:
    """Whether two graphs have the same arcs and lengths; positions do not matter."""
    pairs = zip(one.arcs, other.arcs, strict=True)
    return one is other or (
        one.directed == other.directed and all(np.array_equal(a, b) for a, b in pairs)
    )


def check_graph(value: object) -> Graph:
    """Return `value` if it is a graph."""
    if not isinstance(value, Graph):
        raise InputError(f"graph must be a wayfield.Graph, got {type(value).__name__}")
    return value


def _restore(cls: type[Graph], *values: Any) -> Graph:
    """Rebuild a graph from a pickle without copying its arrays."""
    arguments: list[Any] = [frozen(v) if isinstance(v, np.ndarray) else v for v in values]
    return cls(*arguments)


def arc_slots(
    graph: Graph, tails: NDArray[np.integer[Any]], heads: NDArray[np.integer[Any]]
) -> NDArray[np.int64]:
    """Return the slots, in `indices`, of the arcs from tails to heads; -1 where there is no arc."""
    n = graph.num_vertices
    keys = np.append(graph.tails.astype(np.int64) * n + graph.indices, -1)
    wanted = tails.astype(np.int64) * n + heads
    slots = np.searchsorted(keys[:-1], wanted)
    return np.where(keys[slots] == wanted, slots, -1)


def _one_way(arcs: Arcs, slot: int) -> str:
    """Describe an arc with a reverse that is missing or of another length."""
    x, y = int(np.searchsorted(arcs.indptr, slot, side="right")) - 1, int(arcs.indices[slot])
    row = slice(arcs.indptr[y], arcs.indptr[y + 1])
    back = arcs.lengths[row][arcs.indices[row] == x]
    reverse = f"is {back[0]}" if back.size else "is missing"
    return f"entry ({x}, {y}) is {arcs.lengths[slot]}, but ({y}, {x}) {reverse}"


def are_exact(numbers: FloatArray, largest: float) -> bool:
    """Whether sums are exact: multiples of 2⁻²⁰, of which none, nor their sum, exceeds 2³²."""
    return largest <= _MOST and bool((numbers == _GRAIN * np.rint(numbers / _GRAIN)).all())
