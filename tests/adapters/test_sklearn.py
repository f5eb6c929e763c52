"""The regressor: scikit-learn's own checks, the graph behind it, and predictions solved by hand."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import wayfield as wf
from methods import NAMED
from wayfield.adapters.sklearn import GraphValueRegressor


@parametrize_with_checks(
    [
        GraphValueRegressor("harmonic"),
        GraphValueRegressor(wf.AMLE(), n_neighbors=3, metric="manhattan"),
    ]
)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def blob(seed: int = 0, n: int = 60) -> tuple[Any, Any]:
    """Return points in the plane, and targets of a third of them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = X[:, 0] + 0.3 * rng.normal(size=n)
    y[rng.permutation(n)[: 2 * n // 3]] = np.nan
    return X, y


def neighbour_graph(X: Any, k: int) -> wf.Graph:
    """Join each point to its k nearest, by brute force and in the order of the samples."""
    return wf.Graph.from_distances(cdist(X, X), k=k).symmetrised()


@pytest.mark.parametrize("method", NAMED)
def test_transduction_is_the_extension_over_the_neighbour_graph(method: str) -> None:
    X, y = blob()
    known = np.flatnonzero(~np.isnan(y))
    model = GraphValueRegressor(method, n_neighbors=6).fit(X, y)
    field = wf.extend(neighbour_graph(X, 6), wf.Labels(known, y[known]), NAMED[method])
    assert model.transduction_ == pytest.approx(field.values, abs=1e-11)
    assert np.array_equal(model.transduction_[known], y[known])
    assert np.array_equal(model.predict(X), model.transduction_)


def test_the_extension_has_its_bracket() -> None:
    field = GraphValueRegressor("amle").fit(*blob()).extension_
    assert field.status == wf.Status.CONVERGED
    assert field.width < 1e-12


def test_a_solve_that_misses_its_guarantee_is_a_warning() -> None:
    hasty = wf.PLaplacian(3, max_steps=1)
    with pytest.warns(ConvergenceWarning, match="iterations ran out"):
        model = GraphValueRegressor(hasty, n_neighbors=4, unreachable="nan").fit(*blob(n=400))
    assert model.extension_.status == wf.Status.BUDGET


def star_equation(method: str, value: float, values: Any, lengths: Any) -> float:
    """Violation of the method's equation at a vertex between held neighbours."""
    slopes = (values - value) / lengths
    if method == "harmonic":
        return float(slopes.sum())
    if method == "amle":
        return float(slopes.max() + slopes.min())
    scaled = slopes / np.abs(slopes).max()
    return float((np.sign(scaled) * np.abs(scaled) ** 7).sum())


@given(st.integers(0, 10**6), st.sampled_from(["amle", "harmonic", "p=8"]))
def test_new_points_solve_the_methods_own_equation(seed: int, method: str) -> None:
    X, y = blob(seed)
    rng = np.random.default_rng(seed + 1)
    model = GraphValueRegressor(method, n_neighbors=5, unreachable="nan").fit(X, y)
    fresh = rng.normal(size=(8, 2))
    predicted = model.predict(fresh)
    for point, value in zip(fresh, predicted, strict=True):
        distance = np.linalg.norm(X - point, axis=1)
        near = np.argsort(distance)[:5]
        around, lengths = model.transduction_[near], distance[near]
        held = ~np.isnan(around)
        if not held.any():
            assert np.isnan(value)
            continue
        violation = star_equation(method, value, around[held], lengths[held])
        assert abs(violation) <= 1e-8 * max(1.0, 1.0 / lengths.min())


def test_a_prediction_does_not_depend_on_the_others() -> None:
    X, y = blob()
    model = GraphValueRegressor("p=8").fit(X, y)
    fresh = np.random.default_rng(5).normal(size=(20, 2))
    one_by_one = np.concatenate([model.predict(row[None]) for row in fresh])
    assert model.predict(fresh) == pytest.approx(one_by_one, abs=1e-12)


def test_equal_samples_share_the_mean_of_their_targets() -> None:
    X = [[0.0], [0.0], [0.0], [1.0], [2.0]]
    model = GraphValueRegressor("harmonic", n_neighbors=1).fit(X, [1.0, 3.0, np.nan, np.nan, 6.0])
    assert model.transduction_.tolist() == [2.0, 2.0, 2.0, 4.0, 6.0]


def test_samples_that_are_all_equal_have_one_value() -> None:
    model = GraphValueRegressor().fit([[1.0], [1.0]], [2.0, np.nan])
    assert model.predict([[1.0], [5.0]]).tolist() == [2.0, 2.0]


def test_distances_next_to_nothing_do_not_break_the_solve() -> None:
    X = [[0.0], [1e-200], [1.0], [2.0], [3.0]]
    model = GraphValueRegressor("amle", n_neighbors=2).fit(X, [0.0, np.nan, np.nan, np.nan, 3.0])
    assert model.transduction_ == pytest.approx([0, 0, 1, 2, 3], abs=1e-5)


ISLANDS = np.array([[0.0], [1.0], [2.0], [100.0], [101.0], [200.0], [201.0], [202.0]])
HALF = np.array([0.0, np.nan, 2.0, np.nan, np.nan, np.nan, np.nan, np.nan])


def test_components_without_a_target_are_named() -> None:
    with pytest.raises(wf.InputError, match=r"5 samples .* in 2 components .*sample 3 has 2"):
        GraphValueRegressor(n_neighbors=1).fit(ISLANDS, HALF)


def test_components_without_a_target_are_nan_if_asked_for() -> None:
    model = GraphValueRegressor(n_neighbors=1, unreachable="nan").fit(ISLANDS, HALF)
    assert np.array_equal(model.transduction_, [0, 1, 2, *[np.nan] * 5], equal_nan=True)
    assert np.array_equal(model.predict([[0.5], [150.0], [100.0]]), [0, np.nan, np.nan], True)
    wider = clone(model).set_params(n_neighbors=3).fit(ISLANDS, HALF)
    assert np.isfinite(wider.predict([[60.0]])).all()


def test_the_score_leaves_unknown_targets_out() -> None:
    X, y = blob()
    model = GraphValueRegressor().fit(X, y)
    assert model.score(X, y) == 1.0
    with pytest.raises(wf.InputError, match="one known target to score"):
        model.score(X, np.full(len(X), np.nan))


def test_it_takes_its_place_in_pipelines_and_searches() -> None:
    X, y = blob(n=90)
    line = make_pipeline(StandardScaler(), GraphValueRegressor(unreachable="nan"))
    settings = {
        "graphvalueregressor__method": ["amle", "harmonic", "p=4"],
        "graphvalueregressor__n_neighbors": [4, 8],
    }
    search = GridSearchCV(line, settings, cv=3, error_score="raise").fit(X, y)
    assert np.isfinite(search.best_score_)
    assert search.predict(X).shape == (90,)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"method": "harmonc"}, "did you mean harmonic"),
        ({"method": "p=1"}, "p"),
        ({"method": "p=x"}, "'x' is not a number"),
        ({"method": wf.AMLE}, "method must be"),
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 2.5}, "n_neighbors"),
        ({"unreachable": "zero"}, "unreachable"),
    ],
)
def test_bad_settings_are_refused(setting: dict[str, Any], message: str) -> None:
    with pytest.raises(wf.InputError, match=message):
        GraphValueRegressor(**setting).fit(*blob())


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.0], [1.0]], None, "y"),
        ([[0.0], [1.0]], [1.0], "the same length, got 2 and 1"),
        ([[0.0], [1.0]], [np.nan, np.nan], "at least one known target, got only NaN"),
        ([[0.0], [1.0]], [1.0, np.inf], r"inf is not a finite number"),
        ([[0.0], [np.nan]], [1.0, 2.0], "NaN"),
        ([[0.0]], [1.0], "minimum of 2"),
        ([0.0, 1.0], [1.0, 2.0], "2D"),
        ([[0.0], [1.0]], ["a", "b"], "could not convert"),
    ],
)
def test_bad_data_are_refused(X: Any, y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GraphValueRegressor().fit(X, y)


def test_without_scikit_learn_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.delitem(sys.modules, "wayfield.adapters.sklearn")
    with pytest.raises(wf.WayfieldError, match=r"\.\[sklearn\]"):
        importlib.import_module("wayfield.adapters.sklearn")
