"""From scikit-learn: a few labels on real data, beside label spreading and nearest neighbours.

Left, handwritten digits: each class is extended on its own, the largest value wins. Right, the
progression of diabetes after a year, a noisy target. Means over random draws of the labelled
samples; transductive, so that the scores are of the samples whose label was not shown.

Run it with ``python examples/scikit_learn.py [FILE [DRAWS]]``; it needs
the extras ``plots`` and ``sklearn``.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes, load_digits
from sklearn.metrics import r2_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

import wayfield as wf
from wayfield.adapters.sklearn import GraphValueRegressor

COLOURS = {
    "AMLE": "tab:blue",
    "p = 4": "tab:purple",
    "harmonic (label propagation)": "tab:orange",
    "LabelSpreading": "tab:green",
    "nearest labels": "0.5",
}
Scorer = Callable[[Any, Any, Any], float]
"""Samples, targets, and which of them are known → score on the others."""


def main(path: str = "scikit_learn.png", draws: str = "5") -> None:
    """Score every method for several numbers of labels on both data sets, print and draw."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
    digits = {
        "AMLE": one_against_all(wf.AMLE(bracket=False)),
        "harmonic (label propagation)": one_against_all(wf.Harmonic(bracket=False)),
        "LabelSpreading": spreading,
        "nearest labels": neighbour_class,
    }
    X, y = load_digits(return_X_y=True)
    compare(axes[0], digits, X, y, shown=(1, 2, 5, 10, 20), scale=10, draws=int(draws))
    axes[0].set_title("Digits: accuracy against labels per class")
    diabetes = {
        "AMLE": regression(GraphValueRegressor("amle")),
        "p = 4": regression(GraphValueRegressor("p=4")),
        "harmonic (label propagation)": regression(GraphValueRegressor("harmonic")),
        "nearest labels": regression(KNeighborsRegressor(10)),
    }
    X, y = load_diabetes(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    compare(axes[1], diabetes, X, y, shown=(20, 40, 80, 160, 320), scale=1, draws=int(draws))
    axes[1].set_title("Diabetes: R² against labelled patients")
    figure.savefig(path, dpi=100)


def compare(
    ax: Any, scorers: dict[str, Scorer], X: Any, y: Any, *, shown: Any, scale: int, draws: int
) -> None:
    """Draw the mean score of every method against the number of labels."""
    for name, scorer in scorers.items():
        scores = np.array(
            [
                [scorer(X, y, drawn(y, count, scale, seed)) for seed in range(draws)]
                for count in shown
            ]
        )
        mean, error = scores.mean(axis=1), scores.std(axis=1) / draws**0.5
        ax.errorbar(shown, mean, error, color=COLOURS[name], label=name)
        print(f"{name:30}", *(f"{score:7.3f}" for score in mean))
    ax.set_xscale("log")
    ax.set_xticks(shown, [str(count) for count in shown])
    ax.minorticks_off()
    ax.legend()


def drawn(y: Any, count: int, classes: int, seed: int) -> Any:
    """Choose `count` samples, of every class if there are several; True where they are shown."""
    rng = np.random.default_rng(seed)
    known = np.zeros(y.size, dtype=bool)
    for label in range(classes):
        members = np.flatnonzero(y == label) if classes > 1 else np.arange(y.size)
        known[rng.choice(members, count, replace=False)] = True
    return known


def one_against_all(method: wf.fields.Method) -> Scorer:
    """Extend the indicator of every class; a sample belongs to the one with the largest value."""

    def score(X: Any, y: Any, known: Any) -> float:
        graph, vertex = neighbour_graph(X.tobytes(), X.shape)
        shown = [wf.Labels(vertex[known], y[known] == label) for label in range(10)]
        fields = wf.extend_many(graph, shown, method, unreachable="nan")
        values = np.array([field.values[vertex[~known]] for field in fields])
        return float(np.mean(values.argmax(axis=0) == y[~known]))

    return score


@cache
def neighbour_graph(samples: bytes, shape: tuple[int, int]) -> tuple[wf.Graph, Any]:
    """Return the graph that the regressor builds, and the vertex of every sample: once for all."""
    X = np.frombuffer(samples).reshape(shape)
    model = GraphValueRegressor("nearest").fit(X, np.zeros(len(X)))
    return model.graph_, model.vertex_


def spreading(X: Any, y: Any, known: Any) -> float:
    """Score scikit-learn's own semi-supervised method on the same number of neighbours."""
    model = LabelSpreading(kernel="knn", n_neighbors=10, max_iter=200)
    found = model.fit(X, np.where(known, y, -1)).transduction_
    return float(np.mean(found[~known] == y[~known]))


def neighbour_class(X: Any, y: Any, known: Any) -> float:
    """Score the nearest labelled sample."""
    return float(KNeighborsClassifier(1).fit(X[known], y[known]).score(X[~known], y[~known]))


def regression(model: Any) -> Scorer:
    """Score a regressor that is shown the known targets; ours sees the other samples, too."""

    def score(X: Any, y: Any, known: Any) -> float:
        if isinstance(model, GraphValueRegressor):
            model.fit(X, np.where(known, y, np.nan))
        else:
            model.fit(X[known], y[known])
        return float(r2_score(y[~known], model.predict(X[~known])))

    return score


if __name__ == "__main__":
    main(*sys.argv[1:])
