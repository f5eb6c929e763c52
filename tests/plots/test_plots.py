from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PathCollection, PolyCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.quiver import Quiver
from matplotlib.text import Text
from scipy.spatial import cKDTree

import wayfield as wf
from wayfield import plots
from wayfield.checks import need
from wayfield.plots.answer import ROUTE, spread, write_names
from wayfield.plots.field import draw_edges, make_canvas, plane
from wayfield.plots.marks import CYCLE_COLOURS, tints
from worlds import layouts, maze_problem, random_graph

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _no_figures_left() -> Iterator[None]:
    yield
    plt.close("all")


def render(graph: wf.Graph, values: np.ndarray, **options: object) -> Figure:
    """Draw a field on a figure of its own, and make sure that it renders."""
    figure = Figure((5, 4), layout="constrained")
    plots.field(graph, values, ax=figure.subplots(), **options)  # type: ignore[arg-type]
    figure.canvas.draw()
    return figure


def test_maze_is_a_raster_that_looks_like_its_text() -> None:
    layout = wf.Layout.from_text("...\n#.#")
    graph = wf.grid_graph(layout)
    figure = render(graph, np.arange(4.0))
    image = figure.axes[0].images[0].get_array()
    assert image is not None
    expected = [[np.nan, 3, np.nan], [0, 1, 2]]  # the lowest row comes first
    np.testing.assert_array_equal(np.ma.filled(image.astype(float), np.nan), expected)
    assert figure.axes[0].images[0].get_extent() == [-0.5, 2.5, -0.5, 1.5]


def legend(figure: Figure) -> list[str]:
    box = figure.axes[0].get_legend()
    return [] if box is None else [text.get_text() for text in box.get_texts()]


def chevrons(figure: Figure) -> set[tuple[float, ...]]:
    """Middle and way of every chevron, rounded."""
    found = set()
    for shapes in figure.axes[0].collections:
        if type(shapes) is PolyCollection and shapes.get_hatch() is None:
            for path in shapes.get_paths():
                upper, _, tip, _, lower, _ = path.vertices[:6]
                back = (upper + lower) / 2
                way = np.sign(np.round(tip - back, 9))
                found.add(tuple(np.round([*(tip + back) / 2, *way], 6).tolist()))
    return found


LINE = np.array([0.0, 5, 3, 2, 3, 4, 3, 1, 2])
"""Values on a lane of nine cells, with two loops."""


def lane(text: str = "." * 9, refinement: int = 1) -> wf.Graph:
    return wf.grid_graph(wf.Layout.from_text(text), refinement)


def pair(x: float) -> wf.Graph:
    return wf.Graph.from_edges([0], [1], positions=[[0.0, 0.0], [x, 0.0]])


@pytest.mark.parametrize(
    ("graph", "values", "goal", "options", "words"),
    [
        (lane("...\n#.#"), None, None, {"labels": wf.Labels([3], [1.0])},
            "label/wall/equal values"),
        (lane("...\n#.#"), None, 0, {"arrows": False, "contours": 0}, "goal/wall"),
        (lane("...\n#.#"), None, 0, {"contours": 0}, "goal/wall/plan"),
        (lane("...\n#.#"), None, 0, {"legend": False}, ""),
        (lane(), LINE, 0, {}, "goal/wall/plan/never arrives (by loop)/loop"),
        (lane("."), None, 0, {"labels": wf.Labels([0], [0.0])}, "goal/wall/plan"),
        (lane("..99..\n......", 3), None, None, {"contours": 0},
            "wall/steps of length up to 9 (blank: 1)"),
        (lane("33\n33"), None, None, {}, "wall/equal values"),
        (lane("><"), [0.0, 1.0], None, {"contours": 0}, "wall"),
        (lane("...\n#.#"), [0.0, np.inf, np.nan, 2.0], None, {},
            "wall/equal values/cannot reach: 1, no value: 1"),
        (pair(0.5), [np.nan, np.nan], None, {}, "no value: 2"),
        (pair(0.5), [0.0, 1.0], 0, {"labels": wf.Labels([1], [1.0])}, "goal/label/next state"),
        (pair(0.0), [0.0, 1.0], 0, {}, "goal/next state"),  # two vertices in one place
        (pair(1e90), [0.0, 1.0], 0, {}, "goal/next state"),
    ],
)  # fmt: skip
def test_legends_explain_what_occurs_and_nothing_else(
    graph: wf.Graph, values: Any, goal: int | None, options: dict[str, Any], words: str
) -> None:
    values = wf.cost_to_go(graph, 0) if values is None else np.asarray(values)
    plan = None if goal is None else wf.plan(graph, np.nan_to_num(values), goal)
    assert "/".join(legend(render(graph, values, plan=plan, **options))) == words


@pytest.mark.parametrize("refinement", [1, 3])
def test_walls_are_lines_around_the_free_cells(refinement: int) -> None:
    for text, outline, corners in (("...\n#.#", 10, 8), ("><", 7, 5)):
        graph = lane(text, refinement)
        figure = render(graph, np.arange(float(graph.num_vertices)), contours=0)
        (walls,) = [c for c in figure.axes[0].collections if type(c) is LineCollection]
        lengths = [np.abs(np.diff(line, axis=0)).sum() for line in walls.get_segments()]
        assert sum(lengths) == pytest.approx(refinement * outline)
        assert len(lengths) == corners  # closed both ways is a wall too


@pytest.mark.parametrize(("name", "refinement"), [("umaze", 1), ("medium", 3), ("large", 8)])
def test_everything_at_once(name: str, refinement: int) -> None:
    graph, labels = maze_problem(name, refinement)
    values = wf.extend(graph, labels, wf.Harmonic()).values
    figure = render(graph, values, plan=wf.plan(graph, values, 0), labels=labels)
    assert [axes.get_ylabel() for axes in figure.axes] == ["", "cost-to-go"]
    truth = wf.cost_to_go(graph, 0)  # whence every start arrives: no tint
    assert len(render(graph, truth, plan=wf.plan(graph, truth, 0)).axes[0].images) == 1


def test_states_without_a_value_are_blank_and_crossed() -> None:
    graph, _ = maze_problem()
    values = wf.cost_to_go(graph, 0)
    values[5:20] = np.inf
    axes = render(graph, values, plan=wf.plan(graph, values, 0)).axes[0]
    image = axes.images[0]
    assert np.ma.count(image.get_array()) == graph.num_vertices - 15
    assert image.get_clim() == (0.0, values[np.isfinite(values)].max())
    bars = [c for c in axes.collections if c.get_hatch()]
    assert len(bars) == 1
    assert len(render(graph, np.full(values.size, np.inf)).axes) == 1  # no colour bar
    low, high = render(graph, np.full(values.size, 2.0)).axes[0].images[0].get_clim()
    assert low < 2.0 < high  # a constant has a scale


def test_a_lattice_with_diagonals_is_drawn_as_a_graph() -> None:
    graph = wf.Graph.from_edges([0, 1, 0], [1, 2, 2], positions=[[0, 0], [1, 0], [1, 1]])
    assert not render(graph, np.zeros(3)).axes[0].images


def test_new_figure_when_no_axes_are_given(tmp_path: Path) -> None:
    graph, labels = maze_problem()
    ax = plots.field(graph, wf.cost_to_go(graph, 0), labels=labels)
    ax.figure.savefig(tmp_path / "field.png")
    assert (tmp_path / "field.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("graph", "values", "said"),
    [
        (wf.Graph.from_edges([0], [1]), [0.0, 1.0], "no positions"),
        (wf.Graph.from_edges([0], [1], positions=np.eye(3)[:2]), [0.0, 1.0], "not in 3-D"),
        (pair(1.0), [0.0, 1.0, 2.0], "values has 3 entries"),
        (
            wf.Graph.from_edges([], [], num_vertices=0, positions=np.empty((0, 2))),
            [],
            "no vertices",
        ),
    ],
)
def test_refusals(graph: wf.Graph, values: list[float], said: str) -> None:
    with pytest.raises(wf.InputError, match=said):
        plots.field(graph, values)


def test_failing_starts_are_tinted_by_their_cycle() -> None:
    graph = wf.grid_graph(wf.Layout.from_text("." * 9))
    values = np.array([0.0, 5, 3, 2, 3, 4, 3, 1, 2])
    plan = wf.plan(graph, values, 0)
    assert len(plan.cycles) == 2
    tint = tints(plan)
    assert (tint[plan.reached] == 0).all()
    colours = [np.unique(tint[plan.basin == cycle], axis=0) for cycle in (0, 1)]
    assert [len(colour) for colour in colours] == [1, 1]
    assert (colours[0] != colours[1]).any()
    figure = render(graph, values, plan=plan)
    assert len(figure.axes[0].images) == 2


@pytest.mark.parametrize("refinement", [4, 8, 12])
def test_arrows_are_thinned_and_tile_the_cells(refinement: int) -> None:
    graph, _ = maze_problem("large", refinement)
    truth = wf.cost_to_go(graph, 0)
    figure = render(graph, truth, plan=wf.plan(graph, truth, 0))
    (quiver,) = [c for c in figure.axes[0].collections if type(c).__name__ == "Quiver"]
    count = len(quiver.get_offsets())
    assert 100 <= count <= 800
    steps = make_canvas(figure.axes[0], graph, plane(graph)).steps
    assert count + 1 >= graph.num_vertices // steps**2


@pytest.mark.parametrize("size", [(3, 2), (5, 4), (8, 6)])
def test_legends_are_no_wider_than_their_figure(size: tuple[float, float]) -> None:
    layout = wf.load_layout("teleport")
    graph = wf.grid_graph(layout, 2)
    values = wf.cost_to_go(graph, 0)
    figure = Figure(size, layout="constrained")
    axes = plots.field(graph, values, wf.plan(graph, values, 0), ax=figure.subplots())
    figure.draw_without_rendering()
    box = axes.get_legend().get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.x1


@pytest.mark.parametrize("refinement", [1, 2, 5])
def test_one_way_borders_of_a_maze(refinement: int) -> None:
    layout = wf.Layout.from_text("....\n.>..\n....")
    graph = wf.grid_graph(layout, refinement)
    figure = render(graph, np.zeros(graph.num_vertices), contours=0)
    cells = {(1, 1.5, 1, 0), (2, 1.5, 1, 0), (1.5, 1, 0, 1), (1.5, 2, 0, -1)}  # from lower left
    assert chevrons(figure) == {
        (refinement * x - 0.5, refinement * y - 0.5, right, up) for x, y, right, up in cells
    }
    assert legend(figure) == ["wall", "one way"]


@settings(max_examples=10, deadline=None)
@given(layout=layouts(max_side=5), refinement=st.integers(1, 3))
def test_any_maze_is_drawn(layout: wf.Layout, refinement: int) -> None:
    graph = wf.grid_graph(layout, refinement)
    truth = wf.cost_to_go(graph, 0)
    figure = render(graph, truth, plan=wf.plan(graph, truth, 0))
    assert any(text.startswith("cannot reach") for text in legend(figure)) == np.isinf(truth).any()


def test_teleports_are_one_arrow_per_pair_of_cells() -> None:
    layout = wf.load_layout("teleport")
    graph = wf.grid_graph(layout, 4)
    values = wf.cost_to_go(graph, 0)
    figure = render(graph, values, plan=wf.plan(graph, values, 0))
    arrows = [p for p in figure.axes[0].patches if isinstance(p, FancyArrowPatch)]
    assert len(arrows) == len(layout.teleports)
    assert legend(figure) == ["goal", "wall", "equal values", "jump", "cannot reach: 16", "plan"]
    assert len(figure.axes[0].images) == 1  # no tint where there is no value


def test_one_way_edges_of_a_graph() -> None:
    places = [[0.0, 0.0], [1.5, 0.0], [1.5, 1.5]]
    graph = wf.Graph.from_edges([0, 1, 1], [1, 0, 2], directed=True, positions=places)
    figure = render(graph, [0.0, 1.0, np.inf])
    assert {way[2:] for way in chevrons(figure)} == {(0.0, 1.0)}
    assert legend(figure) == ["one way", "cannot reach: 1"]
    (lines,) = [c for c in figure.axes[0].collections if type(c) is LineCollection]
    assert len(lines.get_segments()) == 2  # an edge both ways is one line
    known, crossed = [c for c in figure.axes[0].collections if type(c) is PathCollection]
    assert (len(known.get_offsets()), len(crossed.get_offsets())) == (2, 1)


def near(n: int, k: int, directed: bool) -> wf.Graph:
    """Points at random in a square, each with arcs to its k nearest."""
    places = np.random.default_rng(0).random((n, 2))
    distance, heads = cKDTree(places).query(places, k + 1)
    tails = np.repeat(np.arange(n), k)
    return wf.Graph.from_edges(
        tails, heads[:, 1:].ravel(), distance[:, 1:].ravel(), positions=places, directed=directed
    )


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("n", "k"), [(20, 6), (200, 10), (1500, 10), (1500, 60)])
def test_edges_leave_the_paper_bright(n: int, k: int, directed: bool) -> None:
    graph = near(n, k, directed)
    figure = Figure((4, 4), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    canvas = make_canvas(axes, graph, plane(graph))
    words = [entry.get_label() for entry in draw_edges(canvas)]
    axes.set(xlim=(0, 1), ylim=(0, 1))
    axes.set_axis_off()
    sampled = [word for word in words if word.startswith("edge")]
    assert bool(sampled) == (k == 60)
    marked = [word for word in words if word.startswith("one way")]
    assert bool(marked) == directed
    canvas_agg = FigureCanvasAgg(figure)
    canvas_agg.draw()
    darkness = 1 - np.asarray(canvas_agg.buffer_rgba())[..., :3].mean() / 255
    assert 0.003 < darkness < 0.1


def street_map(directed: bool) -> tuple[wf.Graph, wf.Labels]:
    """A town of 900 junctions in a rough square, and few labels."""
    square = wf.grid_graph(wf.Layout.from_text("\n".join(["." * 30] * 30)))
    rng = np.random.default_rng(0)
    places = plane(square) + rng.uniform(-0.3, 0.3, (900, 2))
    once = np.flatnonzero(square.tails < square.indices)
    tails, heads = square.tails[once], square.indices[once]
    if directed:  # every tenth street is one way
        back = np.arange(once.size) % 10 > 0
        tails, heads = np.append(tails, heads[back]), np.append(heads, tails[: once.size][back])
    lengths = np.hypot(*(places[tails] - places[heads]).T)
    graph = wf.Graph.from_edges(tails, heads, lengths, positions=places, directed=directed)
    return graph, wf.sample_labels(graph, 0, 0.03)


@pytest.mark.parametrize("directed", [False, True])
def test_edges_show_the_field_on_a_map(directed: bool) -> None:
    graph, labels = street_map(directed)
    values = wf.cost_to_go(graph, 0)
    values[[17, 400]] = np.inf
    figure = render(graph, values, plan=wf.plan(graph, values, 0), labels=labels)
    collections = figure.axes[0].collections
    assert not [c for c in collections if type(c) is PathCollection]  # no discs
    assert not [c for c in collections if isinstance(c, Quiver)]
    assert legend(figure) == ["goal", "label", "cannot reach: 2"]
    streets, grey, failing = [c for c in collections if type(c) is LineCollection]
    edges = np.isfinite(values)[np.column_stack([graph.tails, graph.indices])].all(axis=1)
    seen = {frozenset(pair) for pair in zip(graph.tails, graph.indices, strict=True)}
    assert len(streets.get_segments()) + len(grey.get_segments()) == len(seen)
    around = {frozenset(p) for p in zip(graph.tails[~edges], graph.indices[~edges], strict=True)}
    assert len(grey.get_segments()) == len(around)
    assert not failing.get_segments()
    (x, y), (u, v) = streets.get_segments()[0]
    near = (
        np.argmin(np.hypot(*(plane(graph) - (x, y)).T)),
        np.argmin(np.hypot(*(plane(graph) - (u, v)).T)),
    )
    assert streets.get_array()[0] == pytest.approx(values[list(near)].mean())


def test_streets_that_never_arrive_are_tinted_on_a_map() -> None:
    graph, labels = street_map(directed=False)
    plan = wf.solve(graph, labels, 0, method=wf.Harmonic()).plan
    figure = render(graph, plan.values, plan=plan)
    _, failing = [c for c in figure.axes[0].collections if type(c) is LineCollection]
    once = graph.tails < graph.indices
    x, y = plan.basin[graph.tails[once]], plan.basin[graph.indices[once]]
    assert len(failing.get_segments()) == np.count_nonzero((x == y) & (x != -1)) > 0
    assert (failing.get_colors()[:, 3] == 1.0).all()


def test_discs_shrink_with_the_number_of_vertices_and_grow_with_the_figure() -> None:
    def disc(n: int, side: float) -> float:
        graph = near(n, 3, directed=False)
        axes = Figure((side, side)).subplots()
        return make_canvas(axes, graph, plane(graph)).disc

    assert disc(20, 6) > disc(1500, 6) > disc(5000, 6)
    assert disc(1500, 12) > disc(1500, 6) > disc(1500, 3)


def test_failing_moves_of_a_graph_are_tinted() -> None:
    places = [[0.5 * x, 0.1 * x] for x in range(5)]
    graph = wf.Graph.from_edges(range(4), range(1, 5), positions=places)
    values = np.array([0.0, 1, 5, 2, 3])
    plan = wf.plan(graph, values, 0)
    figure = render(graph, values, plan=plan)
    (quiver,) = [c for c in figure.axes[0].collections if type(c).__name__ == "Quiver"]
    moving = np.arange(5) != 0
    failing = ~plan.reached[moving]
    assert failing.any()
    tint = tints(plan)[moving]
    np.testing.assert_allclose(quiver.get_facecolors()[failing], tint[failing])
    assert legend(figure) == ["goal", "next state", "never arrives", "loop"]
    way = np.array(places)[plan.successor[moving]] - np.array(places)[moving]
    share = np.hypot(quiver.U, quiver.V) / np.hypot(*way.T)
    assert ((share > 0.7) & (share < 1.0)).all()  # up to the disc of the next state


def test_dead_ends_are_grey() -> None:
    graph = wf.Graph.from_edges([1], [0], num_vertices=3, directed=True, positions=np.eye(3)[:, :2])
    plan = wf.plan(graph, [0.0, 1.0, 2.0], 0)
    assert tints(plan)[:, 3].tolist() == [0.0, 0.0, 0.62]
    words = legend(render(graph, plan.values, plan=plan))
    assert words == ["goal", "one way", "next state", "ends where no move is left"]


def test_missing_matplotlib_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    graph, _ = maze_problem()
    with pytest.raises(wf.WayfieldError, match=r"pip install '\.\[plots\]'"):
        plots.field(graph, np.zeros(graph.num_vertices))


def test_a_broken_dependency_is_not_called_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise ModuleNotFoundError("no module named 'inner'", name="inner")

    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(ModuleNotFoundError, match="inner"):
        need("matplotlib", "plots")


@pytest.mark.parametrize("name", ["maze", "ring", "tree", "pieces"])
def test_larger_graphs_without_positions_are_given_places(name: str) -> None:
    """Distances in the picture follow those in the graph, and edges are of about one length."""
    rng = np.random.default_rng(3)
    after = np.arange(1, 400)
    maze = replace(wf.grid_graph(wf.load_layout("medium"), 4), positions=None)
    ring = wf.Graph.from_edges(np.arange(400), (np.arange(400) + 1) % 400)
    graph = {
        "maze": maze,
        "ring": ring,
        "tree": wf.Graph.from_edges(after, (after * rng.random(after.size)).astype(int)),
        "pieces": wf.Graph.from_edges(
            np.concatenate([ring.tails, [400, 402]]),
            np.concatenate([ring.indices, [401, 403]]),
            num_vertices=405,
        ),
    }[name]
    points = spread(graph)
    assert points.shape == (graph.num_vertices, 2)
    assert (points == spread(graph)).all()
    edges = np.hypot(*(points[graph.tails] - points[graph.indices]).T)
    assert 0.5 < np.median(edges) < 1.5
    largest = np.flatnonzero(graph.components == graph.components[0])
    truth = wf.cost_to_go(graph, 0)[largest]
    drawn = np.hypot(*(points[largest] - points[0]).T)
    assert np.corrcoef(truth, drawn)[0, 1] > 0.8


def test_no_loop_has_the_tint_of_a_route() -> None:
    route = mpl.colors.to_rgb(ROUTE)
    for colour in CYCLE_COLOURS:
        away = np.abs(np.subtract(mpl.colors.to_rgb(colour), route)).max()
        assert away > 0.15, colour
    page = (Path(plots.__file__).parents[1] / "explorer/page/palette.js").read_text(
        encoding="utf-8"
    )
    listed = ", ".join(f'"{colour}"' for colour in CYCLE_COLOURS)
    assert f"LOOPS = [{listed}]" in page  # the explorer has the same tints


# ------------------------------------------------------------------ answers

PATH = wf.Graph.from_edges(range(4), range(1, 5)).with_positions([[x + 0.5, 0] for x in range(5)])
GOOD, NOISY = wf.Labels([0, 4], [0.0, 4.0]), wf.Labels([0, 2, 3], [0.0, 5.0, 1.0])


def test_answers_show_routes_and_culprits() -> None:
    def drawn(labels: wf.Labels, starts: tuple[int, ...] = (), lift: bool = False) -> Any:
        found = wf.solve(PATH, labels, 0, lift=lift)
        return plots.answer(found, starts=starts, ax=Figure().subplots())

    def words(axes: Any) -> str:
        return "/".join(text.get_text() for text in axes.get_legend().get_texts())

    assert words(drawn(GOOD)) == "goal/label/next state"
    routes = drawn(GOOD, starts=(3, 4))
    assert words(routes) == "goal/route/label/next state"
    paths = [[3.5, 2.5, 1.5, 0.5], [4.5, 3.5, 2.5, 1.5, 0.5]]
    assert [line.get_xdata().tolist() for line in routes.lines] == paths
    assert words(drawn(NOISY)) == "goal/false sink/label/next state/never arrives/loop"
    raised = drawn(NOISY, lift=True)
    assert words(raised) == "goal/false sink/raised/label/next state"
    *_, sinks, up = [points.get_offsets()[:, 0].tolist() for points in raised.collections]
    assert (sinks, sorted(up)) == ([3.5], [3.5, 4.5])


@pytest.mark.parametrize("directed", [False, True])
def test_small_graphs_are_given_places(directed: bool) -> None:
    graph = wf.Graph.from_edges([0, 1, 2, 4], [1, 2, 3, 5], directed=directed)
    found = wf.solve(graph, wf.Labels([0, 2, 3], [0.0, 5.0, 1.0]), 0)
    axes = plots.answer(found, "abcdef", ax=Figure().subplots())
    assert sorted(text.get_text() for text in axes.texts) == list("abcdef")
    assert axes.figure.axes[-1].get_ylabel() == "cost-to-go"


@settings(deadline=None)
@given(st.integers(2, 30), st.integers(0, 10**6), st.booleans())
def test_places_are_finite_distinct_and_always_the_same(n: int, seed: int, directed: bool) -> None:
    graph = random_graph(np.random.default_rng(seed), n, edges=n, directed=directed)
    places = spread(graph)
    assert np.isfinite(places).all()
    assert np.unique(places.round(6), axis=0).shape == (n, 2)
    np.testing.assert_array_equal(places, spread(graph))


def test_places_of_a_path_are_a_line_and_lost_components_lie_apart() -> None:
    ends = [(x, x + 1) for x in range(19)] + [(20 + x, 21 + x) for x in range(9)]
    places = spread(wf.Graph.from_edges(*zip(*ends, strict=True), num_vertices=40))
    steps = np.hypot(*np.diff(places[:20], axis=0).T)
    np.testing.assert_allclose(steps, 1.0, atol=0.1)
    assert np.ptp(places[:20], axis=0).max() == pytest.approx(19.0, abs=0.5)
    assert np.ptp(places[20:30], axis=0).max() == pytest.approx(4.5, abs=0.2)
    room = np.ptp(places, axis=0)
    assert room.max() == pytest.approx(19.0, abs=0.5)
    assert room.min() < 8.0
    between = np.hypot(*(places[:20, None] - places[None, 20:]).transpose(2, 0, 1))
    assert between.min() > 1.0
    assert spread(wf.Graph.from_edges([], [], num_vertices=1)).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("n", [12, 60, 400])
def test_names_meet_no_disc_no_other_name_no_colour_bar_and_no_legend(n: int) -> None:
    places = np.random.default_rng(n).random((n, 2)) * [3, 2]
    order = np.argsort(places[:, 0])
    graph = wf.Graph.from_edges(order[:-1], order[1:], positions=places)
    values = np.arange(n) * 0.5
    labels = wf.Labels(order[[0, n // 2, n - 1]], values[[0, n // 2, 3]])
    found = wf.solve(graph, labels, int(order[0]))
    figure = Figure((8, 6), layout="constrained")
    called = [f"a place of a long name, number {x}" for x in range(n)]
    axes = plots.answer(found, called, [int(order[-1])], figure.subplots())
    figure.draw_without_rendering()
    boxes = [Text.get_window_extent(text) for text in axes.texts]
    assert [text.get_text() for text in axes.texts][:1] == [called[found.goal]]
    assert (len(boxes) == n) == (n == 12)  # there is no room for 60
    furniture = [figure.axes[1].get_tightbbox(), axes.get_legend().get_window_extent()]
    discs = axes.transData.transform(places[labels.vertices])
    for i, box in enumerate(boxes):
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert not any(box.overlaps(other) for other in furniture)
        assert not any(box.padded(-0.1).overlaps(other) for other in boxes[:i])
        assert not any(box.contains(*disc) for disc in discs)


def test_the_middle_of_a_very_long_name_is_left_out() -> None:
    axes = Figure((6, 4)).subplots()
    written = write_names(axes, np.zeros((1, 2)), ["A" * 50 + "Z" * 50], [0, 0], 5, np.ones(1))
    assert written == [0]
    assert [text.get_text() for text in axes.texts] == ["A" * 20 + "…" + "Z" * 19]
