"""Simple predictions beside the model, and all of them on trips that were left out.

factor    f · d, f the median of time / d, d the distance on the given graph
line      a + b · d, by least squares of the relative errors
nearest   d times the mean of time / d over the five trips with the nearest starts and ends
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from ..typing import FloatArray, IntArray
from .model import Model, Progress
from .network import Network
from .trips import Trips

FOLDS = 5
FEWEST = 10
"""Trips below which none is left out."""
MOST = 300
"""Trips above which only one fold is left out, not each in turn."""
NEAREST = 5


def factor(network: Network, trips: Trips, starts: IntArray, ends: IntArray) -> FloatArray:
    """Return the times of pairs by one factor."""
    _, known = network.routes(network.given, trips.starts, trips.ends)
    _, wanted = network.routes(network.given, starts, ends)
    return float(np.median(trips.times / known)) * wanted


def line(network: Network, trips: Trips, starts: IntArray, ends: IntArray) -> FloatArray:
    """Return the times of pairs by a line."""
    _, known = network.routes(network.given, trips.starts, trips.ends)
    _, wanted = network.routes(network.given, starts, ends)
    design = np.column_stack([1.0 / trips.times, known / trips.times])
    (a, b), *_ = np.linalg.lstsq(design, np.ones(len(trips)), rcond=None)
    return np.asarray(a + b * wanted)


def nearest(network: Network, trips: Trips, starts: IntArray, ends: IntArray) -> FloatArray:
    """Return the times of pairs by the five nearest trips."""
    _, known = network.routes(network.given, trips.starts, trips.ends)
    _, wanted = network.routes(network.given, starts, ends)
    graph, n = network.graph, network.graph.num_vertices
    arcs: Any = sparse.csr_array((graph.lengths, graph.indices, graph.indptr), shape=(n, n))
    far = dijkstra(arcs, directed=False, indices=trips.starts)[:, starts]
    far = far + dijkstra(arcs, directed=False, indices=trips.ends)[:, ends]
    near = np.argsort(far, axis=0, kind="stable")[:NEAREST]
    return np.asarray((trips.times / known)[near].mean(axis=0) * wanted)


def per_link(network: Network, trips: Trips, starts: IntArray, ends: IntArray) -> FloatArray:
    """Return the times of pairs by least squares for each link."""
    routes, known = network.routes(network.given, trips.starts, trips.ends)
    wanted, _ = network.routes(network.given, starts, ends)
    base = float(np.median(trips.times / known)) * network.given
    times = (routes @ sparse.diags_array(base)).toarray()
    off = (trips.times - routes @ base) / trips.times
    slow, *_ = np.linalg.lstsq(times / trips.times[:, None], off)
    return np.asarray(wanted @ (base * (1.0 + slow)))


RIVALS: dict[str, Callable[[Network, Trips, IntArray, IntArray], FloatArray]] = {
    "one factor": factor,
    "a line": line,
}
"""What a model is compared with on trips left out."""


@dataclass(frozen=True)
class HeldOut:
    """How far predictions were off on trips that were left out.

    Attributes
    ----------
    count : int
        Number of trips left out, each once. Trips that are odd do not count.
    errors : dict of str to float
        Mean of |predicted - measured| / measured: of the model, and of its rivals.
    below : float
        Share of the measurements below their p90.
    """

    count: int
    errors: dict[str, float]
    below: float

    def sentence(self) -> str:
        """Return the errors in one line; it says so if a rival is better."""
        mine, rivals = self.errors["model"], dict(self.errors)
        del rivals["model"]
        others = ", ".join(f"{100 * error:.1f} % by {name}" for name, error in rivals.items())
        text = (
            f"{self.count} trips left out were predicted {100 * mine:.1f} % off on average, "
            f"{others}; {100 * self.below:.0f} % took less than their p90"
        )
        best = min(rivals, key=lambda name: rivals[name])
        if f"{100 * rivals[best]:.1f}" != f"{100 * mine:.1f}" and rivals[best] < mine:
            text += f". Here {best} is better: prefer it, or measure more"
        return text


def leave_out(model: Model, progress: Progress | None = None) -> HeldOut | None:
    """Fit again without some trips at a time, and predict them; None if there are too few.

    Trips of one group, or between one pair, are left out together.
    """
    trips, network = model.trips, model.network
    k = len(trips)
    of = trips.group
    if of is None:
        pairs = trips.starts * network.graph.num_vertices + trips.ends
        of = np.unique(pairs, return_inverse=True)[1]
    groups = int(of.max()) + 1
    if k < FEWEST or groups < 2:
        return None
    folds = min(FOLDS, groups)
    fold = (np.random.default_rng(0).permutation(groups) % folds)[of]
    predicted = {name: np.full(k, np.nan) for name in ("model", *RIVALS)}
    high = np.full(k, np.nan)
    turns = range(folds if k <= MOST else 1)
    for turn in turns:
        out = np.flatnonzero(fold == turn)
        known, pairs_out = trips.take(fold != turn), (trips.starts[out], trips.ends[out])
        found = Model(model.given, known, network, lambda done, total: None)
        predicted["model"][out], high[out] = found.predict(*pairs_out).T
        for name, rival in RIVALS.items():
            predicted[name][out] = rival(network, known, *pairs_out)
        if progress is not None:
            progress(turn + 1, len(turns))
    counted = np.isfinite(high) & ~model.odd
    times = trips.times[counted]
    errors = {
        name: float(np.mean(np.abs(each[counted] - times) / times))
        for name, each in predicted.items()
    }
    return HeldOut(int(counted.sum()), errors, float(np.mean(times <= high[counted])))
