"""A road network as the model sees it: edges, quickest routes, and what the kernels read of routes.

The slowness s of edges is a Gaussian process. Its covariance is a sum of terms, each with a
variance of its own:

    common   1                        every edge is slower by the same share
    smooth   the mean of two vertices of a field with the covariance (L + 0.02 I)⁻¹, scaled
    load     z zᵀ, z: log betweenness of the edge, standardised: busy roads jam together
    own      diag(h²), h ∝ exp(z) with mean square 1: each edge for itself, busy ones more
    wait     c cᵀ, c: 1 / length where an edge ends at a crossing: a constant time there
    class    1 where two edges are of one class

L is the graph Laplacian with the weights min(median length / length, 20). A route of k edges has
the time Σ length (1 + s), so its covariance with another is a bilinear form in these terms.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import dijkstra
from scipy.sparse.linalg import splu

from ..graphs.graph import Graph
from ..typing import FloatArray, IntArray

FREEDOM = 0.02
"""Added to the Laplacian: smooth slowness is forgotten over about seven edges."""
SOURCES = 150
"""Vertices from which betweenness is sampled."""
CELLS = 20_000_000
"""Entries of the largest dense array made at once."""


@dataclass(frozen=True, eq=False)
class RouteRows:
    """What the kernels read of k routes. Each row is in units of time, or divided by its unit.

    Attributes
    ----------
    common, load, wait, start : (k,) float arrays
        Loadings of the terms of rank one.
    own : (k, edges) sparse array
        Time on each edge, times h.
    vertex, ends : (k, n) sparse arrays
        Loadings of the smooth fields of slowness, and of time at the ends.
    kinds : (k, classes) sparse array
        Time on the edges of each class.
    smooth, smooth_ends : (k, n) float arrays
        `vertex` and `ends` times the covariance of the smooth field.
    """

    common: FloatArray
    load: FloatArray
    wait: FloatArray
    start: FloatArray
    own: Any
    vertex: Any
    ends: Any
    kinds: Any
    smooth: FloatArray
    smooth_ends: FloatArray

    def take(self, which: IntArray) -> RouteRows:
        """Return some of the rows."""
        parts: dict[str, Any] = {name: getattr(self, name) for name in self.__dataclass_fields__}
        some: dict[str, Any] = {
            name: None if each is None else each[which] for name, each in parts.items()
        }
        return RouteRows(**some)

    def with_rows(self, rows: IntArray, other: RouteRows) -> RouteRows:
        """Return these rows with some of them replaced."""
        keep = np.ones(self.common.size)
        keep[rows] = 0.0
        shape = keep.size, rows.size
        put = sparse.csr_array((np.ones(rows.size), (rows, np.arange(rows.size))), shape=shape)
        stay: Any = sparse.diags_array(keep)

        def mixed(name: str) -> Any:
            old, new = getattr(self, name), getattr(other, name)
            if old is None or sparse.issparse(old):
                return None if old is None else (stay @ old + put @ new).tocsr()
            old = old.copy()
            old[rows] = new
            return old

        return replace(self, **{name: mixed(name) for name in self.__dataclass_fields__})


def kernel(term: str, one: RouteRows, other: RouteRows) -> FloatArray:
    """Return the covariance of routes under one term with variance 1, (k, k') array."""
    if term in ("common", "load", "wait", "start"):
        return np.outer(getattr(one, term), getattr(other, term))
    if term == "smooth":
        return np.asarray((other.vertex @ one.smooth.T).T)
    if term == "ends":
        return np.asarray((other.ends @ one.smooth_ends.T).T)
    left, right = (one.own, other.own) if term == "own" else (one.kinds, other.kinds)
    return np.asarray((left @ right.T).toarray())


def variance(term: str, rows: RouteRows) -> FloatArray:
    """Return the diagonal of `kernel(term, rows, rows)`."""
    if term in ("common", "load", "wait", "start"):
        return np.asarray(getattr(rows, term) ** 2)
    if term == "smooth":
        return np.ravel(rows.vertex.multiply(rows.smooth).sum(axis=1))
    if term == "ends":
        return np.ravel(rows.ends.multiply(rows.smooth_ends).sum(axis=1))
    part = rows.own if term == "own" else rows.kinds
    return np.ravel(part.multiply(part).sum(axis=1))


class Network:
    """The given graph by edges. The two arcs of an undirected edge are one edge.

    Attributes
    ----------
    graph : Graph
        The graph as given.
    edge : (m,) int array
        Edge of each arc.
    tails, heads : (edges,) int arrays
        Ends of each edge.
    given : (edges,) float array
        Lengths of the edges.
    load, heavy, crossing : (edges,) float arrays
        z, h and c of the module.
    kinds : (edges, classes) sparse array or None
        1 where an edge is of a class.
    """

    def __init__(self, graph: Graph, classes: NDArray[Any] | None = None) -> None:
        self.graph = graph
        n, m = graph.num_vertices, graph.num_arcs
        tails, heads = graph.tails.astype(np.int64), graph.indices.astype(np.int64)
        self.keys = tails * n + heads
        first = np.arange(m)
        if not graph.directed:
            first = np.minimum(first, np.searchsorted(self.keys, heads * n + tails))
        chosen, self.edge = np.unique(first, return_inverse=True)
        self.tails, self.heads, self.given = tails[chosen], heads[chosen], graph.lengths[chosen]
        e = chosen.size

        # the smooth field on vertices, scaled to a mean variance of 1
        self.unit = float(np.median(self.given))
        weights = np.minimum(self.unit / graph.lengths, 20.0)
        near = sparse.csr_array((weights, graph.indices, graph.indptr), shape=(n, n))
        near = (near + near.T) / 2
        degree = sparse.diags_array(np.ravel(near.sum(axis=1)) + FREEDOM)
        self._precision = (degree - near).tocsc()
        probe = np.random.default_rng(0).choice(n, min(n, 20), replace=False)
        columns = np.zeros((n, probe.size))
        columns[probe, np.arange(probe.size)] = 1.0
        self._scale = 1.0 / np.mean(self._factor.solve(columns)[probe, np.arange(probe.size)])
        both = np.tile(np.arange(e), 2), np.concatenate([self.tails, self.heads])
        self.halves = sparse.csr_array((np.full(2 * e, 0.5), both), shape=(e, n))

        # how busy edges are, where they cross others, and their classes
        z = np.log(self.betweenness() + 1e-4)
        spread = float(z.std())
        self.load = (z - z.mean()) / spread if spread > 1e-9 else np.zeros(e)
        heavy = np.exp(self.load)
        self.heavy = heavy / np.sqrt(np.mean(heavy**2))
        crosses = (np.diff(near.indptr) >= 3).astype(np.float64)
        entering = crosses[heads] if graph.directed else (crosses[heads] + crosses[tails]) / 2
        self.crossing = entering[chosen] * self.unit / self.given
        self.kinds: Any = None
        if classes is not None:
            kind = np.unique(classes, return_inverse=True)[1]
            self.kinds = sparse.csr_array((np.ones(e), (np.arange(e), kind[chosen])))

    @cached_property
    def _factor(self) -> Any:
        return splu(self._precision)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_factor"}

    @cached_property
    def opposite(self) -> IntArray:
        """(edges,) the edge that leads the other way; itself if undirected, -1 if there is none."""
        wanted = self.heads * self.graph.num_vertices + self.tails
        slot = np.minimum(np.searchsorted(self.keys, wanted), self.keys.size - 1)
        return np.where(self.keys[slot] == wanted, self.edge[slot], -1)

    def smoothed(self, loadings: Any) -> FloatArray:
        """Return rows of vertex loadings times the covariance of the smooth field."""
        out = np.empty(loadings.shape)
        step = max(1, CELLS // loadings.shape[1])
        for i in range(0, out.shape[0], step):
            part = loadings[i : i + step].toarray()
            out[i : i + step] = self._factor.solve(part.T).T * self._scale
        return out

    def betweenness(self) -> FloatArray:
        """Return the share of shortest paths through each edge, from sampled vertices to all."""
        graph, n = self.graph, self.graph.num_vertices
        matrix = sparse.csr_array((graph.lengths, graph.indices, graph.indptr), shape=(n, n))
        chosen = np.random.default_rng(0).choice(n, min(n, SOURCES), replace=False)
        through = np.zeros(graph.num_arcs)
        for source in chosen:
            far, parent = dijkstra(matrix, indices=source, return_predecessors=True)
            reached = np.flatnonzero(parent >= 0)
            reached = reached[np.argsort(-far[reached], kind="stable")]
            # from the leaves to the root, each vertex hands its paths on to its parent
            flow = [1.0] * n
            above: Any = parent.tolist()
            for v in reached.tolist():
                flow[above[v]] += flow[v]
            slot = np.searchsorted(self.keys, parent[reached].astype(np.int64) * n + reached)
            through[slot] += np.array(flow)[reached]
        return np.bincount(self.edge, through) / chosen.size / n

    def routes(self, times: FloatArray, starts: IntArray, ends: IntArray) -> tuple[Any, FloatArray]:
        """Return the quickest routes as a sparse (k, edges) array, and their (k,) times.

        `times` holds a time for each edge, inf where it is closed. A trip without a route has the
        time inf and an empty row.
        """
        graph, n = self.graph, self.graph.num_vertices
        arcs = sparse.csr_array((times[self.edge], graph.indices, graph.indptr), shape=(n, n))
        back = np.unique(ends).size < np.unique(starts).size
        source, target = (ends, starts) if back else (starts, ends)
        arcs = arcs.T.tocsr() if back else arcs
        roots, root = np.unique(source, return_inverse=True)
        far = np.empty(starts.size)
        rows, slots = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        step = max(1, CELLS // (2 * n))
        for i in range(0, roots.size, step):
            mine = np.flatnonzero((root >= i) & (root < i + step))
            some = roots[i : i + step]
            distance, parent = dijkstra(arcs, indices=some, return_predecessors=True)
            far[mine] = distance[root[mine] - i, target[mine]]
            live = mine[np.isfinite(far[mine]) & (target[mine] != source[mine])]
            at = target[live]
            while live.size:  # one edge nearer to the root, on all routes at once
                up = parent[root[live] - i, at].astype(np.int64)
                rows.append(live)
                slots.append(np.searchsorted(self.keys, at * n + up if back else up * n + at))
                go = up != source[live]
                live, at = live[go], up[go]
        column = self.edge[np.concatenate(slots)]
        entry = np.concatenate(rows), column
        shape = starts.size, self.given.size
        return sparse.csr_array((np.ones(column.size), entry), shape=shape), far

    def rows(
        self,
        routes: Any,
        lengths: FloatArray,
        starts: IntArray,
        ends: IntArray,
        unit: FloatArray,
        middle: float,
        smooth_ends: FloatArray | None = None,
    ) -> RouteRows:
        """Return what the kernels read of routes on edges of these lengths.

        Parameters
        ----------
        unit : (k,) array
            What each row is divided by.
        middle : float
            A typical time of a trip, the unit of start-up time and of time at the ends.
        smooth_ends : (k, n) array, optional
            If it is known from other routes of the same trips.
        """
        k, n = routes.shape[0], self.graph.num_vertices
        times = (sparse.diags_array(1.0 / unit) @ routes @ sparse.diags_array(lengths)).tocsr()
        vertex = (times @ self.halves).tocsr()
        at = np.tile(np.arange(k), 2), np.concatenate([starts, ends])
        share = np.tile(middle / unit, 2)
        both = sparse.csr_array((share, at), shape=(k, n))
        return RouteRows(
            common=np.ravel(times.sum(axis=1)),
            load=times @ self.load,
            wait=times @ self.crossing,
            start=middle / unit,
            own=(times @ sparse.diags_array(self.heavy)).tocsr(),
            vertex=vertex,
            ends=both,
            kinds=None if self.kinds is None else (times @ self.kinds).tocsr(),
            smooth=self.smoothed(vertex),
            smooth_ends=self.smoothed(both) if smooth_ends is None else smooth_ends,
        )

    def slowness(self, term: str, rows: RouteRows, weights: FloatArray) -> FloatArray:
        """Return the covariance of each edge's slowness with the routes, times (k,) weights."""
        e = self.given.size
        if term == "common":
            return np.full(e, rows.common @ weights)
        if term == "load":
            return np.asarray(self.load * (rows.load @ weights))
        if term == "wait":
            return np.asarray(self.crossing * (rows.wait @ weights))
        if term == "own":
            return np.asarray(self.heavy * (rows.own.T @ weights))
        if term == "class":
            return np.asarray(self.kinds @ (rows.kinds.T @ weights))
        return np.asarray(self.halves @ (rows.smooth.T @ weights))
