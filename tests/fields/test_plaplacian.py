from __future__ import annotations

from fractions import Fraction
from itertools import accumulate

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import wayfield as wf
from exact import contains as rationals_inside
from exact_plaplacian import contains, exact_plaplacian, tilt
from wayfield.fields import Extension
from wayfield.fields import linear as _linear
from wayfield.fields import newton as _newton
from wayfield.fields.kernels import violations
from wayfield.numerics.doubledouble import Pair
from worlds import labelled_graphs, maze_problem, path, random_graph

POWERS = [2.0, 2.5, 3.0, 4.0, 8.0, 16.0, 128.0]
EXTREME = [1024.0, 65536.0]


def solve(
    graph: wf.Graph, labels: wf.Labels, p: float, check: bool = True, **options: object
) -> Extension:
    return wf.extend(graph, labels, wf.PLaplacian(p, **options), check=check)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def maze() -> tuple[wf.Graph, wf.Labels]:
    return maze_problem("antmaze-medium", goal=7)


# ------------------------------------------------------------------ against 60 digits


@settings(max_examples=40)
@given(labelled_graphs(max_vertices=8), st.sampled_from(POWERS[1:]) | st.floats(2.1, 128.0))
def test_brackets_contain_the_60_digit_solution(case: tuple[wf.Graph, wf.Labels], p: float) -> None:
    graph, labels = case
    extension = solve(graph, labels, p)
    exact = exact_plaplacian(graph, labels, p, extension.values)
    assert extension.status == wf.Status.CONVERGED
    assert contains(extension, exact)
    scale = float(np.abs(labels.values).max())
    assert extension.width <= 1e-12 * labels.span + 8 * np.spacing(scale)
    assert (extension.values[labels.vertices] == labels.values).all()


@pytest.mark.parametrize("p", [2.5, 4.0, 16.0, 64.0])
def test_lengths_over_many_magnitudes(p: float) -> None:
    rng = np.random.default_rng(int(p))
    graph = random_graph(rng, 9, "wild", backbone="tree", edges=4)
    labels = wf.Labels([0, 5, 8], [0.0, 1.0, -2.5])
    extension = solve(graph, labels, p)
    assert contains(extension, exact_plaplacian(graph, labels, p, extension.values))


@pytest.mark.parametrize("p", EXTREME)
def test_extreme_powers(p: float) -> None:
    graph = wf.grid_graph(wf.Layout.from_text("....\n.#..\n...."), 1)
    labels = wf.Labels([0, 4, 10], [0.0, 1.0, 7.0])
    extension = solve(graph, labels, p)
    assert extension.details["equation"] <= 1e-13
    assert contains(extension, exact_plaplacian(graph, labels, p, extension.values))


# ------------------------------------------------------------------ hostile scales


def magnitudes(size: int) -> st.SearchStrategy[list[float]]:
    """Numbers of one size or of many, up to 1e±100."""
    return st.sampled_from([0, 10, 100]).flatmap(
        lambda spread: st.lists(
            (st.floats(-spread, spread) | st.sampled_from([-spread, spread])).map(
                lambda power: float(np.clip(10.0**power, 1e-100, 1e100))
            ),
            min_size=size,
            max_size=size,
        )
    )


@st.composite
def hostile_labels(draw: st.DrawFn, size: int) -> np.ndarray:
    """Labels of any size and sign, or next to each other."""
    whole = np.array(draw(st.lists(st.integers(-3, 3), min_size=size, max_size=size)))
    if draw(st.booleans()):
        return 1.0 + whole * 2.0**-52
    return np.sign(whole) * draw(magnitudes(size))


ANY_POWER = st.sampled_from([2.0, 2.000001, 2.5, 3.0, 8.0, 64.0, 1024.0, 65536.0])


def check_figures(extension: Extension) -> None:
    """No NaN anywhere, and values inside whatever bracket there is."""
    assert np.isfinite(extension.values).all()
    assert not np.isnan([extension.residual, *extension.details.values()]).any()
    assert (extension.lower is None) == (extension.upper is None)
    if extension.lower is not None:
        assert (extension.lower <= extension.values).all()
        assert (extension.values <= extension.upper).all()


@settings(max_examples=60)
@given(st.data(), st.integers(2, 6), ANY_POWER)
def test_stars_of_any_scale_stay_inside_their_bracket(
    data: st.DataObject, leaves: int, p: float
) -> None:
    """With one free vertex a bound is right if and only if its own equation says so."""
    lengths = data.draw(magnitudes(leaves))
    values = data.draw(hostile_labels(leaves))
    star = wf.Graph.from_edges(np.zeros(leaves, int), np.arange(1, leaves + 1), lengths)
    extension = wf.extend(
        star, wf.Labels(np.arange(1, leaves + 1), values), wf.PLaplacian(p), check=False
    )
    check_figures(extension)
    for bound, side in ((extension.lower, 1), (extension.upper, -1)):
        if bound is not None:
            assert side * tilt(star, [Fraction(float(v)) for v in bound], 0, p) >= 0


@settings(max_examples=50)
@given(st.data(), st.integers(3, 9), ANY_POWER)
def test_paths_of_any_scale_stay_inside_their_bracket(
    data: st.DataObject, n: int, p: float
) -> None:
    lengths = data.draw(magnitudes(n - 1))
    values = data.draw(hostile_labels(2))
    extension = wf.extend(
        path(n, np.array(lengths)), wf.Labels([0, n - 1], values), wf.PLaplacian(p), check=False
    )
    check_figures(extension)
    if extension.lower is not None:
        along = list(accumulate([Fraction(length) for length in lengths], initial=Fraction(0)))
        first, last = (Fraction(float(value)) for value in values)
        exact = [first + (last - first) * part / along[-1] for part in along]
        assert rationals_inside(extension, exact)


@settings(max_examples=60)
@given(st.data(), st.integers(2, 6), ANY_POWER)
def test_what_is_sure_is_so(data: st.DataObject, leaves: int, p: float) -> None:
    lengths = data.draw(magnitudes(leaves))
    star = wf.Graph.from_edges(np.zeros(leaves, int), np.arange(1, leaves + 1), lengths)
    high = data.draw(hostile_labels(leaves + 1))
    low = high * data.draw(st.sampled_from([0.0, 2.0**-54, -(2.0**-60)]))
    exact = [Fraction(float(a)) + Fraction(float(b)) for a, b in zip(high, low, strict=True)]
    for side in (-1, 1):
        unsure = violations(star.arcs, np.array([0]), Pair(high, low), p - 1.0, side)
        assert unsure[0] or side * tilt(star, exact, 0, p) <= 0


@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(
    "values",
    [[np.nan, 0.0, 1.0], [0.0, np.nan, np.nan], [0.0, np.inf, 1.0], [np.inf, np.inf, np.inf]],
    ids=["vertex", "all neighbours", "infinite neighbour", "all infinite"],
)
def test_fields_that_are_no_numbers_prove_nothing(values: list[float], side: int) -> None:
    star = wf.Graph.from_edges([0, 0], [1, 2])
    field = Pair(np.array(values), np.zeros(3))
    assert violations(star.arcs, np.array([0]), field, 3.0, side).all()


def test_slopes_that_underflow_prove_nothing() -> None:
    steep = wf.Graph.from_edges([0, 0], [1, 2], lengths=[1e100, 1e100])
    field = Pair(np.array([0.0, 1e-300, 0.0]), np.zeros(3))
    assert violations(steep.arcs, np.array([0]), field, 3.0, 1).all()
    level = Pair(np.full(3, 1e-300), np.zeros(3))
    assert not violations(steep.arcs, np.array([0]), level, 3.0, 1).any()


def test_clipping_moves_no_label_and_leaves_no_nan() -> None:
    """Labels next to each other lie off their midrange, which is no double, by over half."""
    labels = np.array([-2.0, 1.0]) * 2.0**-52
    equation = _newton.Equation(_linear.Interior.of(path(4), np.array([1, 2])), 3.0, np.ptp(labels))
    field = np.array([labels[0], np.nan, 1.0, labels[1]])
    high, low = equation.clipped(Pair(field, np.full(4, 1e-40)), 1.0)
    assert high.tolist() == [labels[0], 0.0, -labels[0], labels[1]]
    assert low.tolist() == [1e-40, 0.0, 0.0, 1e-40]


# ------------------------------------------------------------------ closed forms


@pytest.mark.parametrize("p", POWERS + EXTREME)
def test_star(p: float) -> None:
    star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3])
    extension = solve(star, wf.Labels([1, 2, 3], [0.0, 0.0, 1.0]), p)
    expected = 1.0 / (1.0 + 2.0 ** (1.0 / (p - 1.0)))
    assert extension.values[0] == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("p", [2.5, 16.0, 1024.0])
def test_paths_are_linear_for_every_p(p: float) -> None:
    rng = np.random.default_rng(1)
    lengths = rng.uniform(0.1, 3.0, 199)
    extension = solve(path(200, lengths), wf.Labels([0, 199], [2.0, 5.0]), p)
    along = np.concatenate([[0.0], np.cumsum(lengths)])
    np.testing.assert_allclose(extension.values, 2.0 + 3.0 * along / along[-1], rtol=1e-12)


def test_long_path_with_two_labels() -> None:
    n = 5_001
    extension = solve(path(n), wf.Labels([0, n - 1], [0.0, float(n - 1)]), 8.0)
    np.testing.assert_allclose(extension.values, np.arange(n), rtol=0, atol=1e-6)
    assert extension.width <= 1e-8 * n


# ------------------------------------------------------------------ the family and its ends


def test_two_is_harmonic(maze: tuple[wf.Graph, wf.Labels]) -> None:
    one, other = solve(*maze, 2), wf.extend(*maze, wf.Harmonic())
    assert (one.values == other.values).all()
    assert one.width == other.width


def test_distance_to_the_amle_falls_like_one_over_p(maze: tuple[wf.Graph, wf.Labels]) -> None:
    amle = wf.extend(*maze, wf.AMLE()).values
    powers = np.array([16.0, 64.0, 256.0, 1024.0])
    distance = np.array([np.abs(solve(*maze, p).values - amle).max() for p in powers])
    rate = np.log(distance[:-1] / distance[1:]) / np.log(4.0)
    assert (distance * powers <= 4 * distance[0] * powers[0]).all()
    assert (rate[1:] > 0.8).all()


def test_the_family_is_continuous_in_p(maze: tuple[wf.Graph, wf.Labels]) -> None:
    near_two = solve(*maze, 2.0 + 1e-9).values
    np.testing.assert_allclose(near_two, solve(*maze, 2).values, rtol=0, atol=1e-6)
    np.testing.assert_allclose(
        solve(*maze, 7.0).values, solve(*maze, 7.0 + 1e-9).values, rtol=0, atol=1e-7
    )


# ------------------------------------------------------------------ principles


# ------------------------------------------------------------------ on mazes


@pytest.mark.parametrize("p", [2.5, 4.0, 8.0, 16.0, 128.0])
def test_maze_meets_its_figures(maze: tuple[wf.Graph, wf.Labels], p: float) -> None:
    graph, labels = maze
    extension = solve(graph, labels, p)
    assert extension.details["equation"] <= 1e-13
    assert extension.details["width"] <= 1e-11
    assert extension.details["factorisations"] <= 25
    assert extension.details["gap"] <= 1e-6
    assert extension.residual <= 1e-13 * labels.span
    without = solve(graph, labels, p, bracket=False)
    assert without.lower is None
    np.testing.assert_allclose(without.values, extension.values, rtol=0, atol=extension.width)


@pytest.mark.parametrize("p", [64.0, 128.0, 1024.0])
def test_a_region_whose_slopes_are_all_noise(p: float) -> None:
    """Three labels close together: the rest of the maze is flat up to what p leaks into it."""
    graph = wf.grid_graph(wf.load_layout("antmaze-medium"), 2)
    extension = solve(graph, wf.Labels([23, 31, 32], [2.0, 1.0, 0.0]), p)
    assert np.isfinite(extension.values).all()
    assert extension.details["width"] <= 1e-9
    assert extension.residual <= 1e-15


def test_many_goals_agree_with_single_calls() -> None:
    graph = wf.grid_graph(wf.load_layout("antmaze-medium"), 4)
    goals = [wf.sample_labels(graph, goal, 0.05, seed=54) for goal in (3, 50, 200, 333)]
    for p in (2.0, 8.0):
        for labels, one in zip(goals, wf.extend_many(graph, goals, wf.PLaplacian(p)), strict=True):
            other = solve(graph, labels, p)
            assert one.lower is not None
            assert one.upper is not None
            assert (one.lower <= other.values).all()
            assert (other.values <= one.upper).all()
            assert one.details.keys() == other.details.keys()


# ------------------------------------------------------------------ what goes wrong


@pytest.mark.parametrize("p", [1.999, 0, -3, np.nan, 65537.0, True, "4", None])
def test_bad_powers(p: object) -> None:
    with pytest.raises(wf.InputError, match="p must be"):
        wf.PLaplacian(p)  # type: ignore[arg-type]


def test_infinite_p_names_amle() -> None:
    with pytest.raises(wf.InputError, match=r"AMLE\(\)"):
        wf.PLaplacian(np.inf)
    with pytest.raises(wf.InputError, match=r"AMLE\(\)"):
        wf.PLaplacian(1e9)


@pytest.mark.parametrize("tolerance", [0.0, 1e-16, -1.0, np.nan, 1.0])
def test_unreachable_tolerances(tolerance: float) -> None:
    with pytest.raises(wf.InputError, match="tolerance must be"):
        wf.PLaplacian(4, tolerance=tolerance)


@pytest.mark.parametrize("steps", [0, -1, 2.5, True])
def test_bad_caps(steps: object) -> None:
    with pytest.raises(wf.InputError, match="max_steps must be"):
        wf.PLaplacian(4, max_steps=steps)  # type: ignore[arg-type]


def test_a_cap_that_runs_out(maze: tuple[wf.Graph, wf.Labels]) -> None:
    with pytest.raises(wf.NotConverged, match="cap on iterations") as caught:
        solve(*maze, 16.0, max_steps=1)
    assert caught.value.residual > 0
    partial = solve(*maze, 16.0, max_steps=1, check=False)
    assert partial.status == wf.Status.BUDGET
    exact = solve(*maze, 16.0).values
    if partial.lower is not None:
        assert partial.upper is not None
        assert (partial.lower <= exact + 1e-9).all()
        assert (exact - 1e-9 <= partial.upper).all()


def test_a_bracket_that_fails_is_not_handed_out(
    maze: tuple[wf.Graph, wf.Labels], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_newton, "MOST_BOUND_ATTEMPTS", 0)
    with pytest.raises(wf.NotConverged, match="bracket could not be verified"):
        solve(*maze, 4.0)
    extension = solve(*maze, 4.0, check=False)
    assert extension.status == wf.Status.UNVERIFIED
    assert extension.lower is None


def test_the_reference_itself() -> None:
    star = wf.Graph.from_edges([0, 0, 0], [1, 2, 3])
    labels = wf.Labels([1, 2, 3], [0.0, 0.0, 1.0])
    value = exact_plaplacian(star, labels, 4.0, np.array([0.3, 0.0, 0.0, 1.0]))[0]
    with mp.workdps(60):
        assert abs(value - 1 / (1 + mp.cbrt(2))) < mp.mpf(10) ** -48
