"""A scikit-learn regressor: extend a few known targets over a graph of nearest neighbours.

Fitting. Each distinct sample is a vertex. An edge joins two samples if either is among the other's
nearest neighbours. It is as long as their distance, and at least a millionth of the median
distance. The known targets are labels; equal samples share the mean of their targets. The method
extends the labels to the samples with an unknown target (NaN).

Predicting. A sample seen in fitting has the value of its vertex. A new one is joined to its nearest
vertices by edges of their distance. It gets the value that solves the method's equation there, with
the neighbours fixed: the weighted mean for `Harmonic`, equal steepest slopes up and down for
`AMLE`. All new samples together are one extension on a graph of separate stars, so predictions are
independent of each other.

Components. A component without a known target has no value. Fitting then raises an error that names
it; with ``unreachable="nan"`` its samples, and new ones with no other neighbour, are predicted NaN.

Guarantee. ``extension_`` has the method's rigorous bracket. A solve that misses its guarantee is a
`ConvergenceWarning`, as is usual in scikit-learn, and ``extension_.status`` says why.
"""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..checks import as_choice, as_whole, need
from ..errors import InputError
from ..fields import Extension, MethodLike, extend
from ..fields.base import as_method
from ..fields.names import parse_method
from ..graphs.graph import Graph
from ..graphs.labels import Labels
from ..typing import FloatArray

need("sklearn", "sklearn")

from sklearn.base import BaseEstimator, RegressorMixin  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.metrics import r2_score  # noqa: E402
from sklearn.neighbors import NearestNeighbors  # noqa: E402
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data  # noqa: E402

__all__ = ["GraphValueRegressor"]

SHORTEST = 1e-6
"""Least length of an edge, as a share of the median: about what a proof can resolve."""


class GraphValueRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Regression by extending known targets over the graph of nearest neighbours.

    NaN targets are unknown; samples without a target still shape the graph.

    Parameters
    ----------
    method : str, Method or function
        A name such as "amle", "harmonic", "p=8" (any p from 2) or "nearest", or a method with its
        own settings, such as ``wf.PLaplacian(8, tolerance=1e-10)``.
    n_neighbors : int
        Neighbours of each sample, at most all others.
    metric : str or callable
        As in `sklearn.neighbors.NearestNeighbors`.
    unreachable : {"error", "nan"}
        What to do with samples that are connected to no known target.

    Attributes
    ----------
    transduction_ : (n_samples,) float array
        Value of every sample seen in fitting.
    extension_ : Extension
        The same by vertex, with its bracket and status.
    graph_ : Graph
        The graph of nearest neighbours.
    vertex_ : (n_samples,) int64 array
        Vertex of every sample; equal samples share one.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> import numpy as np
    >>> from wayfield.adapters.sklearn import GraphValueRegressor
    >>> X = np.arange(5.0)[:, None]
    >>> y = [0.0, np.nan, np.nan, np.nan, 8.0]
    >>> model = GraphValueRegressor("amle", n_neighbors=1).fit(X, y)
    >>> model.transduction_
    array([0., 2., 4., 6., 8.])
    >>> model.set_params(n_neighbors=2).fit(X, y).predict([[2.5]])
    array([5.])
    """

    transduction_: FloatArray
    extension_: Extension
    graph_: Graph
    vertex_: NDArray[np.int64]

    def __init__(
        self,
        method: str | MethodLike = "amle",
        n_neighbors: int = 10,
        metric: Any = "euclidean",
        unreachable: Literal["error", "nan"] = "error",
    ) -> None:
        self.method = method
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.unreachable = unreachable

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Build the graph and extend the known targets over it.

        Parameters
        ----------
        X : (n_samples, n_features) array
            The samples, with and without a target.
        y : (n_samples,) array
            Their targets; NaN where unknown. At least one must be known.
        """
        method = self.method
        if isinstance(method, str):
            method = parse_method(method)
        self._method = as_method(method)
        k = as_whole(self.n_neighbors, "n_neighbors", least=1)
        as_choice(self.unreachable, "unreachable", ("error", "nan"))
        if y is None:
            raise InputError("requires y to be passed, but the target y is None")
        samples = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        target = column_or_1d(y, dtype=np.float64, warn=True)
        if target.size != len(samples):
            raise InputError(
                f"X and y must have the same length, got {len(samples)} and {target.size}"
            )
        known = ~np.isnan(target)
        if not known.any():
            raise InputError("y must have at least one known target, got only NaN")
        points, vertex = np.unique(samples, axis=0, return_inverse=True)
        self.vertex_ = vertex.ravel()
        nearest = NearestNeighbors(n_neighbors=min(k, len(points)), metric=self.metric)
        self._neighbours = nearest.fit(points)
        # known targets by vertex, the mean where several samples share one
        at, values = self.vertex_[known], target[known]
        vertices, place, count = np.unique(at, return_inverse=True, return_counts=True)
        if (count > 1).any():
            at, values = vertices, np.bincount(place, values) / count
        labels = Labels(at, values)
        # edges from each point to its nearest neighbours, itself not among them
        k = min(k, len(points) - 1)
        if k:
            lengths, heads = self._neighbours.kneighbors(n_neighbors=k)
        else:
            lengths, heads = np.empty((1, 0)), np.empty((1, 0), np.int64)
        far = lengths[lengths > 0.0]
        self._scale = float(np.median(far)) if far.size else 1.0
        ends = np.repeat(np.arange(len(heads)), k), heads.ravel()
        lengths = np.maximum(lengths.ravel(), SHORTEST * self._scale)
        # rounding can make a distance differ between the two directions
        self.graph_ = Graph.from_edges(*ends, lengths, len(points), True).symmetrised()
        home = self.graph_.components[self.vertex_]
        lost = ~np.isin(home, self.graph_.components[labels.vertices])
        if self.unreachable == "error" and lost.any():
            first = int(np.argmax(lost))
            size, parts = int((home == home[first]).sum()), np.unique(home[lost]).size
            raise InputError(
                f"{lost.sum():,} samples are connected to no known target, in {parts:,} components "
                f"(that of sample {first} has {size:,}): raise n_neighbors, or pass "
                "unreachable='nan'"
            )
        self.extension_ = extend(self.graph_, labels, self._method, unreachable="nan", check=False)
        if not self.extension_.status.good:
            warnings.warn(str(self.extension_.status), ConvergenceWarning, stacklevel=2)
        self.transduction_ = self.extension_.values[self.vertex_]
        return self

    def predict(self, X: ArrayLike) -> FloatArray:
        """Return the value of every sample, new or seen in fitting.

        Parameters
        ----------
        X : (n_samples, n_features) array
            The samples.

        Returns
        -------
        (n_samples,) float array
            NaN only where ``unreachable="nan"`` and no neighbour has a value.
        """
        check_is_fitted(self)
        samples = validate_data(self, X, dtype=np.float64, reset=False)
        distance, vertex = self._neighbours.kneighbors(samples)
        values = self.extension_.values[vertex]
        result: FloatArray = values[:, 0].copy()  # right if the nearest vertex is the sample itself
        new = (distance[:, 0] > 0.0) & ~np.isnan(values).all(axis=1)
        if new.any():
            # the method's equation at the centres of stars whose leaves hold the neighbours' values
            held, lengths = values[new], np.maximum(distance[new], SHORTEST * self._scale)
            known, count = ~np.isnan(held), len(held)
            centres = np.repeat(np.arange(count), known.sum(axis=1))
            leaves = count + np.arange(centres.size)
            stars = Graph.from_edges(centres, leaves, lengths[known])
            field = extend(stars, Labels(leaves, held[known]), self._method, check=False)
            result[new] = field.values[:count]
        return result

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return R² of the predictions over the samples with a known target (not NaN)."""
        target = np.asarray(y, dtype=np.float64)
        known = ~np.isnan(target)
        if not known.any():
            raise InputError("y must have at least one known target to score, got only NaN")
        return float(r2_score(target[known], self.predict(X)[known]))
