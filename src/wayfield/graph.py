"""State graphs: frozen compressed sparse rows with lengths, validated once and trusted after.

An arc ``x → y`` of length ``ℓ > 0`` says that from ``x`` one can go to ``y`` at cost ``ℓ``. An
undirected graph holds every edge as its two arcs. Rows are sorted, without loops and without
parallel arcs, so that two graphs with the same edges are the same arrays.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ._arrays import as_floats, as_vertices, frozen, refuse
from .errors import InputError, InputWarning
from .kernels._types import FloatArray, IntArray
from .kernels.csr import (
    Arcs,
    first_asymmetry,
    group_arcs,
    merge_parallel,
    reverse_arcs,
    weak_components,
)


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A graph with positive lengths, directed or not. Build it with one of the ``from_…`` methods.

    Attributes
    ----------
    indptr : (n + 1,) integer array
        Row of vertex ``x``: slots ``indptr[x]`` to ``indptr[x + 1]``.
    indices : (m,) integer array
        Heads of the arcs, sorted within a row.
    lengths : (m,) float array
        Lengths of the arcs, all positive and finite.
    directed : bool
        Whether an arc may lack its reverse. An undirected edge is held as two arcs.
    positions : (n, d) float array or None
        Where the vertices are drawn.
    loops_dropped, parallel_merged : int
        What the input held and the graph does not: self-loops, and edges beside a shorter one.

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

        Self-loops are dropped and counted. Of parallel edges the shortest is kept; if their
        lengths differed, an `InputWarning` says how many.

        Parameters
        ----------
        tails, heads : (e,) integer arrays
            Ends of the edges. An undirected edge is listed once; listing it both ways is fine.
        lengths : (e,) float array, optional
            Positive, finite; 1 everywhere if not given.
        num_vertices : int, optional
            One more than the largest index if not given.
        """
        tail, head = as_vertices(tails, "tails"), as_vertices(heads, "heads")
        if tail.size != head.size:
            raise InputError(f"{tail.size} tails but {head.size} heads")
        n = _vertex_count(tail, head, num_vertices)
        length = np.ones(tail.size) if lengths is None else as_floats(lengths, "lengths", tail.size)
        _check_lengths(length)
        loops = tail == head
        num_loops = int(loops.sum())
        if num_loops:
            tail, head, length = tail[~loops], head[~loops], length[~loops]
            warnings.warn(f"{num_loops} self-loops dropped", InputWarning, stacklevel=2)
        arcs, merged, differing = _rows(n, tail, head, length, directed)
        if differing:
            message = f"{differing} parallel edges of different length: the shortest is kept"
            warnings.warn(message, InputWarning, stacklevel=2)
        graph = cls(*arcs, directed, None, num_loops, merged)
        return graph if positions is None else graph.with_positions(positions)

    @classmethod
    def from_scipy(cls, matrix: Any, directed: bool | None = None) -> Self:
        """Build a graph from a sparse or dense matrix of lengths; stored entries are arcs.

        Entry ``(x, y)`` is the length of the arc ``x → y``. With ``directed=None`` a symmetric
        matrix gives an undirected graph and any other a directed one; with ``directed=False`` an
        asymmetric matrix is an error. Zeros of a dense matrix are "no arc"; a zero stored in a
        sparse matrix is an error, since a length is positive.
        """
        coo = sparse.coo_array(matrix)
        if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
            raise InputError(f"a matrix of lengths must be square, not of shape {coo.shape}")
        lengths = as_floats(coo.data, "the matrix's stored lengths")
        graph = cls.from_edges(*coo.coords, lengths, coo.shape[0], directed=True)
        slot = first_asymmetry(graph.arcs, graph.reverse_arcs)
        if slot < 0:
            return graph if directed else replace(graph, directed=False)
        if directed is False:
            x = int(np.searchsorted(graph.indptr, slot, side="right")) - 1
            raise InputError(
                f"the matrix is not symmetric in row {x}, near entry ({x}, {graph.indices[slot]}); "
                "pass directed=True, or call .symmetrised() on the directed graph"
            )
        return graph

    @classmethod
    def from_networkx(cls, source: Any, length: str | None = "length") -> Self:
        """Build a graph from a networkx graph; vertices are numbered in ``source.nodes`` order.

        Edges without the attribute `length` have length 1; ``length=None`` ignores attributes.
        """
        index = {node: i for i, node in enumerate(source.nodes)}
        edges = [
            (index[x], index[y], 1.0 if length is None else data.get(length, 1.0))
            for x, y, data in source.edges(data=True)
        ]
        tails, heads, lengths = zip(*edges, strict=True) if edges else ((), (), ())
        return cls.from_edges(tails, heads, lengths, len(index), bool(source.is_directed()))

    @classmethod
    def from_igraph(cls, source: Any, length: str | None = "length") -> Self:
        """Build a graph from an igraph graph; edges have length 1 unless they carry `length`."""
        edges = np.asarray(source.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        has_length = length is not None and length in source.es.attributes()
        lengths = source.es[length] if has_length else None
        return cls.from_edges(
            edges[:, 0], edges[:, 1], lengths, source.vcount(), bool(source.is_directed())
        )

    @classmethod
    def from_distances(
        cls, pdist: ArrayLike, cutoff: float | None = None, k: int | None = None
    ) -> Self:
        """Build a graph from an (n, n) matrix of pairwise distances.

        Kept are the distances at most `cutoff` and, in each row, the `k` smallest (ties to the
        lower index); both may be given. Infinite means "no arc". Off the diagonal, zeros and
        negative numbers are errors. A symmetric outcome gives an undirected graph; the k nearest
        neighbours of a symmetric matrix are usually a directed one.
        """
        distance = np.array(pdist, dtype=np.float64)
        if distance.ndim != 2 or distance.shape[0] != distance.shape[1]:
            raise InputError(f"pairwise distances must be square, not of shape {distance.shape}")
        if cutoff is not None and not cutoff > 0:
            raise InputError(f"cutoff must be positive, not {cutoff}")
        if k is not None and not (isinstance(k, int | np.integer) and k >= 1):
            raise InputError(f"k must be a whole number of at least 1, not {k!r}")
        np.fill_diagonal(distance, np.inf)
        bad = np.argwhere(~(distance > 0))
        if bad.size:
            x, y = bad[0]
            raise InputError(f"distance[{x}, {y}] = {distance[x, y]} is not a positive number")
        keep = np.isfinite(distance)
        if cutoff is not None:
            keep &= distance <= cutoff
        if k is not None and k < distance.shape[0]:
            nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
            chosen = np.zeros_like(keep)
            np.put_along_axis(chosen, nearest, values=True, axis=1)
            keep &= chosen
        tails, heads = np.nonzero(keep)
        matrix = sparse.coo_array((distance[keep], (tails, heads)), shape=distance.shape)
        return cls.from_scipy(matrix)

    # ---------------------------------------------------------------- looking

    @property
    def num_vertices(self) -> int:
        """Number of vertices n."""
        return self.indptr.size - 1

    @property
    def num_arcs(self) -> int:
        """Number of arcs m; an undirected edge is two."""
        return self.indices.size

    @property
    def num_edges(self) -> int:
        """Number of arcs of a directed graph, of edges of an undirected one."""
        return self.num_arcs if self.directed else self.num_arcs // 2

    @cached_property
    def is_unit(self) -> bool:
        """Whether every length is 1."""
        return bool((self.lengths == 1.0).all())

    @cached_property
    def arcs(self) -> Arcs:
        """Arcs out of every vertex, as the kernels take them."""
        return Arcs(self.indptr, self.indices, self.lengths)

    @cached_property
    def reverse_arcs(self) -> Arcs:
        """Arcs into every vertex; for an undirected graph the same arrays as `arcs`."""
        if not self.directed:
            return self.arcs
        indptr, indices = np.empty_like(self.indptr), np.empty_like(self.indices)
        lengths = reverse_arcs(self.arcs, indptr, indices)
        return Arcs(frozen(indptr), frozen(indices), frozen(lengths))

    @property
    def degrees(self) -> IntArray:
        """Number of arcs out of every vertex."""
        return np.diff(self.indptr)

    @property
    def tails(self) -> IntArray:
        """Tail of every arc, beside `indices`, its head."""
        return np.repeat(np.arange(self.num_vertices, dtype=self.indices.dtype), self.degrees)

    def neighbours(self, vertex: int) -> IntArray:
        """Heads of the arcs out of `vertex`."""
        return self.indices[self.indptr[vertex] : self.indptr[vertex + 1]]

    @cached_property
    def components(self) -> NDArray[np.int32]:
        """Component of every vertex, arcs taken both ways; numbered by their lowest vertex."""
        component, _ = weak_components(self.arcs, self.reverse_arcs)
        return component

    @cached_property
    def strong_components(self) -> NDArray[np.int32]:
        """Strong component of every vertex: the same where each can reach the other."""
        if not self.directed:
            return self.components
        _, component = connected_components(self.to_scipy(), connection="strong")
        return np.asarray(component, dtype=np.int32)

    def to_scipy(self) -> sparse.csr_array[np.float64]:
        """Matrix of lengths; entry ``(x, y)`` is the length of the arc ``x → y``."""
        shape = (self.num_vertices, self.num_vertices)
        return sparse.csr_array((self.lengths, self.indices, self.indptr), shape=shape)

    # ---------------------------------------------------------------- changing

    def with_positions(self, positions: ArrayLike) -> Self:
        """Return the same graph with `positions`, an (n, d) array of where its vertices lie."""
        array = np.array(positions, dtype=np.float64)
        if array.ndim != 2 or array.shape[0] != self.num_vertices:
            raise InputError(
                f"positions must be of shape ({self.num_vertices}, d), not {array.shape}"
            )
        refuse(~np.isfinite(array).ravel(), array, "positions", "is not a finite number")
        return replace(self, positions=frozen(array))

    def subdivide(self, k: int) -> Self:
        """Replace every edge by k edges in series, each as long as the edge they replace.

        Distances between the original vertices grow by the factor k; these keep their indices,
        and the new ones follow, edge by edge.

        Examples
        --------
        >>> Graph.from_edges([0], [1]).subdivide(3)
        Graph(4 vertices, 3 edges, unit lengths)
        """
        if not isinstance(k, int | np.integer) or k < 1:
            raise InputError(f"subdivide needs a whole number of at least 1, not {k!r}")
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
        """Return an undirected graph: an edge wherever there is an arc either way.

        Where both arcs exist, the edge's length is the shorter ("min"), the longer ("max") or
        their mean ("mean"); where one exists, its own.
        """
        if how not in ("min", "max", "mean"):
            raise InputError(f"symmetrised takes 'min', 'max' or 'mean', not {how!r}")
        if not self.directed:
            return self
        there = self.to_scipy()
        back = there.T.tocsr()
        longer = there.maximum(back)
        both = there.astype(bool).multiply(back.astype(bool)).astype(np.float64)
        if how == "max":
            merged = longer
        elif how == "min":
            # -max(-a, -b) is the shorter where both exist, and 0 (no entry) elsewhere
            shorter = -(-there).maximum(-back).multiply(both)
            merged = longer - longer.multiply(both) + shorter
        else:
            merged = longer - longer.multiply(both) + 0.5 * (there + back).multiply(both)
        graph = type(self).from_scipy(merged.tocoo(), directed=False)
        return graph if self.positions is None else graph.with_positions(self.positions)

    # ---------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the graph to one ``.npz`` file, atomically; `load` reads it back."""
        path = Path(path)
        if path.suffix != ".npz":
            path = path.with_name(path.name + ".npz")
        fields: dict[str, Any] = {
            "format": np.array("wayfield graph 1"),
            "indptr": self.indptr,
            "indices": self.indices,
            "directed": np.array(self.directed),
            "dropped": np.array([self.loops_dropped, self.parallel_merged]),
        }
        if not self.is_unit:
            fields["lengths"] = self.lengths
        if self.positions is not None:
            fields["positions"] = self.positions
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(file, **fields)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return path

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a graph written by `save`; a file that is not one raises `InputError`."""
        try:
            with np.load(path, allow_pickle=False) as file:
                fields = dict(file)
        except (OSError, ValueError, EOFError, KeyError) as error:
            if isinstance(error, FileNotFoundError):
                raise
            raise InputError(f"{path} is not a wayfield graph, or is damaged: {error}") from error
        except Exception as error:  # zipfile and zlib have errors of their own
            raise InputError(f"{path} is not a wayfield graph, or is damaged: {error}") from error
        if str(fields.get("format", "")) != "wayfield graph 1":
            raise InputError(f"{path} is not a wayfield graph: no 'wayfield graph 1' mark in it")
        indptr, indices = fields["indptr"], fields["indices"]
        lengths = fields.get("lengths")
        if lengths is None:
            lengths = np.ones(indices.size)
        loops, merged = (int(count) for count in fields["dropped"])
        directed = bool(fields["directed"])
        graph = cls(frozen(indptr), frozen(indices), frozen(lengths), directed, None, loops, merged)
        _check_rows(graph, path)
        positions = fields.get("positions")
        return graph if positions is None else graph.with_positions(positions)

    def __repr__(self) -> str:
        kind = "arcs, directed" if self.directed else "edges"
        if self.num_arcs == 0 or self.is_unit:
            span = "unit lengths"
        else:
            span = f"lengths {self.lengths.min():g} to {self.lengths.max():g}"
        return f"Graph({self.num_vertices:,} vertices, {self.num_edges:,} {kind}, {span})"


def _vertex_count(tail: IntArray, head: IntArray, num_vertices: int | None) -> int:
    largest = int(max(tail.max(initial=-1), head.max(initial=-1)))
    if num_vertices is None:
        return largest + 1
    if not isinstance(num_vertices, int | np.integer) or num_vertices < 0:
        raise InputError(f"num_vertices must be a whole number, not {num_vertices!r}")
    if largest >= num_vertices:
        name, ends = ("tails", tail) if tail.max(initial=-1) == largest else ("heads", head)
        refuse(ends >= num_vertices, ends, name, f"is out of range for {num_vertices} vertices")
    return int(num_vertices)


def _check_lengths(lengths: FloatArray) -> None:
    refuse(~(lengths > 0), lengths, "lengths", "is not positive")
    refuse(np.isinf(lengths), lengths, "lengths", "is not finite")


def _rows(
    n: int, tail: IntArray, head: IntArray, length: FloatArray, directed: bool
) -> tuple[Arcs, int, int]:
    """Sorted rows without parallel arcs; how many were merged, and how many of those differed."""
    m = tail.size if directed else 2 * tail.size
    index = np.int32 if n < 2**31 else np.int64
    offset = np.int32 if m < 2**31 else np.int64
    if not directed:
        tail, head = np.concatenate([tail, head]), np.concatenate([head, tail])
        length = np.concatenate([length, length])
    indptr, indices = np.empty(n + 1, offset), np.empty(m, index)
    # grouping by head and reversing sorts each row of tails by head
    lengths = group_arcs(head.astype(index), tail.astype(index), length, indptr, indices)
    by_head = Arcs(indptr, indices, lengths)
    indptr, indices = np.empty(n + 1, offset), np.empty(m, index)
    lengths = reverse_arcs(by_head, indptr, indices)
    merged, differing = merge_parallel(indptr, indices, lengths)
    if merged:
        indices, lengths = indices[: m - merged].copy(), lengths[: m - merged].copy()
    if not directed:
        merged, differing = merged // 2, differing // 2
    return Arcs(frozen(indptr), frozen(indices), frozen(lengths)), merged, differing


def _check_rows(graph: Graph, path: str | os.PathLike[str]) -> None:
    """Refuse a file whose arrays are not the rows of a graph."""
    indptr, indices = graph.indptr, graph.indices
    sound = (
        indptr.ndim == indices.ndim == graph.lengths.ndim == 1
        and indptr.dtype.kind == indices.dtype.kind == "i"
        and indptr.size >= 1
        and indptr[0] == 0
        and indptr[-1] == indices.size == graph.lengths.size
        and bool((np.diff(indptr) >= 0).all())
        and bool((indices >= 0).all())
        and bool((indices < graph.num_vertices).all())
    )
    if not sound:
        raise InputError(f"{path} is damaged: its rows do not fit together")
    _check_lengths(graph.lengths)
    ascending = indices[1:] > indices[:-1]
    ascending[indptr[1:-1][(indptr[1:-1] > 0) & (indptr[1:-1] < indices.size)] - 1] = True
    if not ascending.all():
        raise InputError(f"{path} is damaged: a row is not sorted, or repeats an arc")
    if (graph.tails == indices).any():
        raise InputError(f"{path} is damaged: it holds a self-loop")
    if not graph.directed:
        mirrored = replace(graph, directed=True)
        if first_asymmetry(mirrored.arcs, mirrored.reverse_arcs) >= 0:
            raise InputError(f"{path} is damaged: an undirected graph with a one-way arc")
