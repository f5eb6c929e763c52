from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from wayfield import InputError
from wayfield_study.engine.statistics import bootstrap_interval, wilson_interval
from wayfield_study.paper.figures import value

Z = stats.norm.ppf(0.975)


@pytest.mark.parametrize("trials", [1, 10, 61_440])
def test_wilson_at_the_ends(trials: int) -> None:
    assert wilson_interval(0, trials) == pytest.approx((0.0, Z**2 / (trials + Z**2)))
    assert wilson_interval(trials, trials) == pytest.approx((trials / (trials + Z**2), 1.0))


@pytest.mark.parametrize(("successes", "trials"), [(1, 7), (50, 100), (59_597, 61_440)])
def test_wilson_agrees_with_scipy(successes: int, trials: int) -> None:
    expected = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson_interval(successes, trials) == pytest.approx((expected.low, expected.high))


def test_wilson_of_the_papers_success() -> None:
    low, high = wilson_interval(round(0.970 * 61_440), 61_440)
    assert (round(low, 3), round(high, 3)) == (value("wilson/amle/low"), value("wilson/amle/high"))


@pytest.mark.parametrize(("successes", "trials"), [(-1, 5), (6, 5), (0, 0)])
def test_wilson_of_no_share(successes: int, trials: int) -> None:
    with pytest.raises(InputError, match="successes must be from 0"):
        wilson_interval(successes, trials)


def test_one_figure_has_no_spread() -> None:
    assert bootstrap_interval([0.25]) == (0.25, 0.25)


def test_bootstrap_is_seeded() -> None:
    values = np.random.default_rng(1).random(30)
    assert bootstrap_interval(values) == bootstrap_interval(values)
    assert bootstrap_interval(values) == bootstrap_interval(values[::-1])
    assert bootstrap_interval(values) != bootstrap_interval(values, seed=1)


def test_bootstrap_of_many_is_the_normal_interval() -> None:
    values = np.random.default_rng(2).random(2000)
    spread = Z * values.std() / np.sqrt(values.size)
    low, high = bootstrap_interval(values)
    assert low == pytest.approx(values.mean() - spread, abs=0.1 * spread)
    assert high == pytest.approx(values.mean() + spread, abs=0.1 * spread)


def test_bootstrap_of_two_cells_by_enumeration() -> None:
    assert bootstrap_interval([0.0, 1.0]) == (0.0, 1.0)  # means 0, 1/2, 1 at 1/4, 1/2, 1/4


@pytest.mark.parametrize(
    ("values", "message"),
    [([], "at least one figure"), ([np.nan], "figures"), ([[1.0]], "figures")],
    ids=["none", "nan", "two dimensions"],
)
def test_figures_must_be_finite_and_there(values: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bootstrap_interval(values)
