from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

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
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

import wayfield as wf
from wayfield import plots
from wayfield.checks import need
from wayfield.plots.answer import ROUTE, spread
from wayfield.plots.field import draw_edges, make_canvas, plane
from wayfield.plots.marks import CYCLE_COLOURS, tints
from worlds import layouts, maze_problem

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


def test_walls_are_lines_around_the_free_cells() -> None:
    figure = render(wf.grid_graph(wf.Layout.from_text("...\n#.#")), np.arange(4.0), contours=0)
    (walls,) = [c for c in figure.axes[0].collections if type(c) is LineCollection]
    lengths = [np.abs(np.diff(line, axis=0)).sum() for line in walls.get_segments()]
    assert sum(lengths) == pytest.approx(2 * 3 + 2 * 2)
    assert len(lengths) == 8  # an outline with eight corners


@pytest.mark.parametrize("name", ["umaze", "medium", "large"])
@pytest.mark.parametrize("refinement", [1, 3, 8])
def test_everything_at_once(name: str, refinement: int) -> None:
    graph, labels = maze_problem(name, refinement)
    values = wf.extend(graph, labels, wf.Harmonic()).values
    figure = render(graph, values, plan=wf.plan(graph, values, 0), labels=labels)
    assert len(figure.axes) == 2  # the field and its colour bar


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


def test_no_tint_when_every_start_reaches() -> None:
    graph, labels = maze_problem()
    values = wf.extend(graph, labels, wf.AMLE()).values
    figure = render(graph, values, plan=wf.plan(graph, values, 0))
    assert len(figure.axes[0].images) == 1


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


@pytest.mark.parametrize("directed", [False, True])
def test_any_graph_with_positions(directed: bool) -> None:
    rng = np.random.default_rng(0)
    places = rng.random((60, 2))
    distance = np.hypot(*(places[:, None] - places[None]).transpose(2, 0, 1))
    graph = wf.Graph.from_distances(distance, k=4).with_positions(places)
    graph = graph if directed else graph.symmetrised()
    values = wf.cost_to_go(graph, 0)
    figure = render(graph, values, plan=wf.plan(graph, values, 0), labels=wf.Labels([3], [1.0]))
    assert not figure.axes[0].images


def test_a_lattice_with_diagonals_is_drawn_as_a_graph() -> None:
    graph = wf.Graph.from_edges([0, 1, 0], [1, 2, 2], positions=[[0, 0], [1, 0], [1, 1]])
    assert not render(graph, np.zeros(3)).axes[0].images


@pytest.mark.parametrize("positions", [np.zeros((3, 2)), [[0, 0], [1e90, 0], [1e90, 1]]])
def test_vertices_at_one_place_or_far_away(positions: ArrayLike) -> None:
    graph = wf.Graph.from_edges([0, 1], [1, 2], positions=positions)
    values = wf.cost_to_go(graph, 0)
    figure = render(graph, values, plan=wf.plan(graph, values, 0))
    assert legend(figure) == ["goal", "next state"]
    for (low, high), places in zip(
        (figure.axes[0].get_xlim(), figure.axes[0].get_ylim()), np.transpose(positions), strict=True
    ):
        assert np.isfinite([low, high]).all()
        assert low < places.min() <= places.max() < high


def test_constant_values_have_a_colour_scale() -> None:
    graph, _ = maze_problem()
    (image,) = render(graph, np.full(graph.num_vertices, 2.0)).axes[0].images
    low, high = image.get_clim()
    assert low < 2.0 < high
    assert (np.ma.compressed(image.get_array()) == 2.0).all()


def test_states_without_a_value_are_left_blank_and_counted() -> None:
    graph, _ = maze_problem()
    values = wf.cost_to_go(graph, 0)
    values[5:20] = np.inf
    figure = render(graph, values, plan=wf.plan(graph, values, 0))
    image = figure.axes[0].images[0]
    assert np.ma.count(image.get_array()) == graph.num_vertices - 15
    assert image.get_clim() == (0.0, values[np.isfinite(values)].max())
    assert "cannot reach: 15" in legend(figure)


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


def test_mazes_have_a_legend() -> None:
    graph, labels = maze_problem()
    values = wf.cost_to_go(graph, 0)
    figure = render(graph, values, labels=labels)
    assert legend(figure) == ["label", "wall", "equal values"]
    assert chevrons(figure) == set()
    plan = wf.plan(graph, values, 0)
    assert legend(render(graph, values, plan=plan, arrows=False, contours=0)) == ["goal", "wall"]
    assert legend(render(graph, values, plan=plan, contours=0)) == ["goal", "wall", "plan"]
    assert legend(render(graph, values, plan=plan, legend=False)) == []


def test_legends_of_mazes_explain_failures() -> None:
    graph = wf.grid_graph(wf.Layout.from_text("." * 9))
    values = np.array([0.0, 5, 3, 2, 3, 4, 3, 1, 2])
    words = ["goal", "wall", "plan", "never arrives (by loop)", "loop"]
    assert legend(render(graph, values, plan=wf.plan(graph, values, 0))) == words


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


def test_borders_closed_both_ways_are_walls() -> None:
    figure = render(wf.grid_graph(wf.Layout.from_text("><")), np.zeros(2), contours=0)
    (walls,) = [c for c in figure.axes[0].collections if type(c) is LineCollection]
    lengths = [np.abs(np.diff(line, axis=0)).sum() for line in walls.get_segments()]
    assert sum(lengths) == pytest.approx(2 * 2 + 3)


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


def test_rough_ground_is_dotted() -> None:
    graph = wf.grid_graph(wf.Layout.from_text("..99..\n......"), 3)
    figure = render(graph, wf.cost_to_go(graph, 0))
    assert legend(figure)[2:] == ["steps of length up to 9 (blank: 1)"]


def test_one_length_everywhere_is_not_dotted() -> None:
    graph = wf.grid_graph(wf.Layout.from_text("33\n33"))
    assert legend(render(graph, wf.cost_to_go(graph, 0))) == ["wall", "equal values"]


def test_states_without_a_value_are_crossed_on_mazes() -> None:
    graph, _ = maze_problem("umaze", 1)
    values = np.arange(7.0)
    values[[2, 6]] = np.inf, np.nan
    figure = render(graph, values)
    assert legend(figure)[2:] == ["cannot reach: 1, no value: 1"]
    (bars,) = [c for c in figure.axes[0].collections if c.get_hatch()]
    assert len(bars.get_paths()) == 2


def test_no_value_at_all() -> None:
    graph, _ = maze_problem("umaze", 1)
    figure = render(graph, np.full(7, np.inf))
    assert len(figure.axes) == 1  # no colour bar
    line = wf.Graph.from_edges([0], [1], positions=[[0.0, 0.0], [0.5, 0.0]])
    assert legend(render(line, np.full(2, np.nan))) == ["no value: 2"]


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


def test_one_vertex() -> None:
    graph = wf.grid_graph(wf.Layout.from_text("."))
    plan, labels = wf.plan(graph, [0.0], 0), wf.Labels([0], [0.0])
    figure = render(graph, np.zeros(1), plan=plan, labels=labels)
    assert figure.axes[0].images[0].get_array().tolist() == [[0.0]]
    assert legend(figure) == ["goal", "wall", "plan"]


def test_new_figure_when_no_axes_are_given(tmp_path: Path) -> None:
    graph, labels = maze_problem()
    ax = plots.field(graph, wf.cost_to_go(graph, 0), labels=labels)
    ax.figure.savefig(tmp_path / "field.png")
    assert (tmp_path / "field.png").stat().st_size > 1000


def test_graph_without_positions() -> None:
    with pytest.raises(wf.InputError, match="no positions"):
        plots.field(wf.Graph.from_edges([0], [1]), [0.0, 1.0])


def test_positions_in_space() -> None:
    graph = wf.Graph.from_edges([0], [1], positions=[[0, 0, 0], [1, 0, 0]])
    with pytest.raises(wf.InputError, match="in the plane, not in 3-D"):
        plots.field(graph, [0.0, 1.0])


def test_values_of_the_wrong_length() -> None:
    graph, _ = maze_problem()
    with pytest.raises(wf.InputError, match="values has 3 entries"):
        plots.field(graph, [0.0, 1.0, 2.0])


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


def test_colour_bars_say_what_they_show() -> None:
    graph = wf.grid_graph(wf.load_layout("umaze"), 2)
    truth = wf.cost_to_go(graph, 0)
    assert render(graph, truth).axes[-1].get_ylabel() == "cost-to-go"
    found = wf.solve(graph, wf.sample_labels(graph, 0, 0.2), 0)
    figure = Figure()
    plots.answer(found, ax=figure.subplots())
    assert figure.axes[-1].get_ylabel() == "cost-to-go"


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
