from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from wayfield import InputError
from wayfield_study.engine.statistics import bootstrap_interval, wilson_interval
from wayfield_study.paper.figures import value


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (10, 10), (1, 7), (59_597, 61_440)])
def test_wilson_agrees_with_scipy(successes: int, trials: int) -> None:
    expected = stats.binomtest(successes, trials).proportion_ci(method="wilson")
    assert wilson_interval(successes, trials) == pytest.approx((expected.low, expected.high))


def test_wilson_of_the_papers_success_and_of_no_share() -> None:
    low, high = wilson_interval(round(0.970 * 61_440), 61_440)
    assert (round(low, 3), round(high, 3)) == (value("wilson/amle/low"), value("wilson/amle/high"))
    for successes, trials in ((-1, 5), (6, 5), (0, 0)):
        with pytest.raises(InputError, match="successes must be from 0"):
            wilson_interval(successes, trials)


def test_the_bootstrap_is_seeded_and_that_of_many_is_the_normal_interval() -> None:
    values = np.random.default_rng(1).random(30)
    assert bootstrap_interval(values) == bootstrap_interval(values[::-1])
    assert bootstrap_interval(values) != bootstrap_interval(values, seed=1)
    assert bootstrap_interval([0.0, 1.0]) == (0.0, 1.0)  # means 0, 1/2, 1 at 1/4, 1/2, 1/4
    values = np.random.default_rng(2).random(2000)
    spread = stats.norm.ppf(0.975) * values.std() / np.sqrt(values.size)
    low, high = bootstrap_interval(values)
    assert low == pytest.approx(values.mean() - spread, abs=0.1 * spread)
    assert high == pytest.approx(values.mean() + spread, abs=0.1 * spread)


@pytest.mark.parametrize(
    ("values", "message"),
    [([], "at least one figure"), ([np.nan], "figures"), ([[1.0]], "figures")],
    ids=["none", "nan", "two dimensions"],
)
def test_figures_must_be_finite_and_there(values: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        bootstrap_interval(values)
