"""The worlds of the tests: every graph, label set and field that is random is made here.

Lengths and label values go by name, so that a new kind has one place and many tests. Makers that
take a generator serve loops over seeds and large graphs. The strategies come in two kinds:
`graphs` and what is built on it draw a seed, which is quick at any size; `small_graphs` and what
is built on it draw every edge, so that Hypothesis reaches for odd numbers and shrinks what fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import NamedTuple

import networkx as nx
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray

import wayfield as wf

Floats = NDArray[np.float64]
Pairs = NDArray[np.int64]
Problem = tuple[wf.Graph, wf.Labels]
Lengths = Callable[[np.random.Generator, int], Floats]

# ------------------------------------------------------------------ named graphs


def path(n: int, lengths: Sequence[float] | Floats | None = None) -> wf.Graph:
    """0 - 1 - … - (n - 1)."""
    return wf.Graph.from_edges(np.arange(n - 1), np.arange(1, n), lengths, n)


PATH = path(4)
ENDS = wf.Labels([0, 3], [0.0, 3.0])


def seven() -> Problem:
    """The paper's seven-node graph, its vertex 7 called 2, and its labels; the goal is 0."""
    graph = wf.Graph.from_edges([0, 0, 5, 1, 3, 3, 6, 4], [3, 5, 1, 4, 4, 6, 2, 2])
    return graph, wf.Labels([0, 2], [0.0, 3.0])


# ------------------------------------------------------------------ lengths and values by name

LENGTHS: dict[str, Lengths] = {
    "unit": lambda rng, m: np.ones(m),
    "few": lambda rng, m: rng.integers(1, 3, m).astype(float),
    "whole": lambda rng, m: rng.integers(1, 6, m).astype(float),
    "real": lambda rng, m: rng.uniform(0.1, 3.0, m),
    "spread": lambda rng, m: rng.lognormal(sigma=1.5, size=m),
    "wide": lambda rng, m: 10.0 ** rng.uniform(-2, 2, m),
    "wild": lambda rng, m: 10.0 ** rng.uniform(-6, 6, m),
}
ANY_LENGTH = ("unit", "whole", "real", "spread")
WHOLE = ("unit", "whole")
"""Lengths whose sums are exact."""

VALUES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "levels": lambda rng, k: rng.integers(0, 4, k).astype(float),
    "whole": lambda rng, k: rng.integers(-25, 25, k).astype(float),
    "normal": lambda rng, k: rng.normal(size=k),
    "equal": lambda rng, k: np.full(k, 0.1),
    "thirds": lambda rng, k: rng.integers(0, 4, k) / 3.0,
    "last place": lambda rng, k: 1.0 + rng.integers(0, 3, k) * 2.0**-52,
    "offset": lambda rng, k: 1e6 + rng.normal(size=k),
    "offset levels": lambda rng, k: 1e6 + rng.integers(0, 300, k),
}
ANY_VALUE = ("levels", "whole", "normal", "equal", "offset")


# ------------------------------------------------------------------ from a generator


def _grid(rng: np.random.Generator, n: int) -> Pairs:
    width = int(rng.integers(2, 6))
    x = np.arange(n)
    right, down = x[(x % width < width - 1) & (x < n - 1)], x[: max(0, n - width)]
    return np.vstack([np.column_stack([right, right + 1]), np.column_stack([down, down + width])])


BACKBONES: dict[str, Callable[[np.random.Generator, int], Pairs]] = {
    "path": lambda rng, n: np.column_stack([np.arange(n - 1), np.arange(1, n)]),
    "star": lambda rng, n: np.column_stack([np.zeros(n - 1, int), np.arange(1, n)]),
    "tree": lambda rng, n: np.column_stack([rng.integers(0, np.arange(1, n)), np.arange(1, n)]),
    "grid": _grid,
}


def random_graph(
    rng: np.random.Generator,
    n: int,
    lengths: str | Sequence[str] | Lengths = ANY_LENGTH,
    *,
    backbone: str | None = None,
    edges: int | None = None,
    directed: bool = False,
    two_way: float | None = None,
) -> wf.Graph:
    """Any graph at all: sources, sinks, cycles, several components, arcs one way and both.

    Parameters
    ----------
    lengths
        A name in `LENGTHS`, several of which one is taken, or a maker such as they name.
    backbone
        A name in `BACKBONES`: edges that connect all vertices, either way round if `directed`.
    edges
        How many more pairs of vertices are drawn, repetitions and pairs of equals included; by
        default between n/2 and 4n.
    two_way
        Of a directed graph: the share of arcs that lead back as well; by default none, some or
        most.
    """
    count = int(rng.integers(n // 2, 4 * n)) if edges is None else edges
    pairs = rng.integers(0, n, (count, 2))
    if backbone is not None:
        pairs = np.vstack([rng.permuted(BACKBONES[backbone](rng, n), axis=1), pairs])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if directed:
        share = rng.choice([0.0, 0.4, 0.8]) if two_way is None else two_way
        pairs = np.vstack([pairs, pairs[rng.random(len(pairs)) < share, ::-1]])
    else:
        pairs = np.sort(pairs, axis=1)
    pairs = np.unique(pairs, axis=0)
    if not callable(lengths):
        lengths = LENGTHS[lengths if isinstance(lengths, str) else str(rng.choice(lengths))]
    return wf.Graph.from_edges(*pairs.T, lengths(rng, len(pairs)), n, directed)


def random_labels(
    rng: np.random.Generator, graph: wf.Graph, count: int, values: str = "normal"
) -> wf.Labels:
    """Labels on `count` of the vertices, their values by a name in `VALUES`."""
    vertices = rng.choice(graph.num_vertices, count, replace=False)
    return wf.Labels(vertices, VALUES[values](rng, count))


def labels_with_goal(rng: np.random.Generator, graph: wf.Graph, goal: int) -> wf.Labels:
    """The goal and up to half of the vertices, labelled with levels, noise, or a noisy truth."""
    n = graph.num_vertices
    others = rng.choice(n, int(rng.integers(0, max(1, n // 2))), replace=False)
    vertices = np.union1d(others, [goal])
    truth = wf.cost_to_go(graph, goal)[vertices]
    truth[np.isinf(truth)] = 3.0
    values = {
        "levels": VALUES["levels"](rng, vertices.size),
        "normal": VALUES["normal"](rng, vertices.size),
        "noisy": truth * rng.lognormal(sigma=0.5, size=vertices.size),
    }[str(rng.choice(["levels", "normal", "noisy"]))]
    return wf.Labels(vertices, values)


def labels_near_truth(
    rng: np.random.Generator, graph: wf.Graph, goal: int, error: float
) -> tuple[Floats, wf.Labels]:
    """The truth, and labels at most `error` from it: the goal and some that can reach it."""
    truth = wf.cost_to_go(graph, goal)
    able = np.flatnonzero(np.isfinite(truth))
    drawn = rng.choice(able, rng.integers(1, able.size // 2 + 2), replace=False)
    vertices = np.union1d(drawn, [goal])
    shift = error * rng.integers(-4, 5, vertices.size) / 4.0
    return truth, wf.Labels(vertices, truth[vertices] + shift, error=error)


def contradicted(
    rng: np.random.Generator,
    n: int,
    lengths: str | Sequence[str] = ANY_LENGTH,
    *,
    directed: bool = False,
    whole: bool = False,
) -> tuple[wf.Graph, int, wf.Labels]:
    """A graph, a goal, and labels at half to three times the graph's own distance to it."""
    graph = random_graph(rng, n, lengths, backbone="tree", directed=directed, two_way=0.6)
    goal = int(rng.integers(n))
    truth = wf.cost_to_go(graph, goal)
    able = np.flatnonzero(np.isfinite(truth) & (truth > 0))
    if able.size == 0:  # of a directed graph: nothing leads to this goal
        return contradicted(rng, n, lengths, directed=directed, whole=whole)
    vertices = rng.choice(able, min(int(rng.integers(1, 9)), able.size), replace=False)
    values = truth[vertices] * rng.uniform(0.5, 3.0, vertices.size)
    if whole:
        values = np.ceil(values)
    return graph, goal, wf.Labels([*vertices, goal], [*values, 0.0])


NOISE = ("none", "small", "half", "rough", "rounded", "other")


def noisy(rng: np.random.Generator, truth: Floats, kind: str) -> Floats:
    """A field made from the truth; a few values that say "cannot reach" wrongly, or fail to."""
    n = truth.size
    noise = {
        "none": np.zeros(n),
        "small": rng.uniform(-0.4, 0.4, n),
        "half": rng.choice([-0.5, 0.0, 0.5], n),
        "rough": rng.normal(0.0, 2.0, n),
        "rounded": rng.integers(-2, 3, n) / 2.0,
        "other": rng.choice([0.0, 0.0, 0.0, inf], n),
    }[kind]
    lost = np.isinf(truth)
    return np.where(lost & (rng.random(n) < 0.3), rng.integers(0, 4, n), truth + noise)


# ------------------------------------------------------------------ strategies by seed

generators = st.integers(0, 2**32 - 1).map(np.random.default_rng)


@st.composite
def graphs(
    draw: st.DrawFn,
    max_vertices: int = 12,
    lengths: Sequence[str] = ANY_LENGTH,
    *,
    connected: bool = True,
    directed: bool | None = False,
) -> wf.Graph:
    """Paths, stars, grids and trees, with chords or without; or anything if not `connected`."""
    n = draw(st.integers(2, max_vertices))
    return random_graph(
        draw(generators),
        n,
        draw(st.sampled_from(lengths)),
        backbone=draw(st.sampled_from(sorted(BACKBONES))) if connected else None,
        edges=draw(st.sampled_from([0, n // 2, 2 * n]) if connected else st.integers(n, 3 * n)),
        directed=draw(st.booleans()) if directed is None else directed,
    )


@st.composite
def labelled_graphs(
    draw: st.DrawFn,
    max_vertices: int = 12,
    lengths: Sequence[str] = ANY_LENGTH,
    values: Sequence[str] = ANY_VALUE,
    *,
    connected: bool = True,
    directed: bool = False,
) -> Problem:
    """A graph as above, with a few of its vertices labelled, many, or all."""
    graph = draw(graphs(max_vertices, lengths, connected=connected, directed=directed))
    n = graph.num_vertices
    most = draw(st.sampled_from([n // 4, n // 2, n]))
    count = draw(st.integers(1, max(1, most)))
    return graph, random_labels(draw(generators), graph, count, draw(st.sampled_from(values)))


class Task(NamedTuple):
    """A graph, a goal, its cost-to-go, and labels factor · truth + base + error."""

    graph: wf.Graph
    goal: int
    truth: Floats
    labels: wf.Labels
    factor: float


@st.composite
def tasks(
    draw: st.DrawFn,
    max_vertices: int = 12,
    *,
    directed: bool = False,
    factors: Sequence[float] = (1.0,),
    bases: Sequence[float] = (0.0,),
    errors: Sequence[float] = (0.0,),
) -> Task:
    """Whole lengths, so that the truth and its ties are exact; labels where the goal is reached."""
    graph = draw(graphs(max_vertices, WHOLE, directed=directed))
    goal = draw(st.integers(0, graph.num_vertices - 1))
    truth = wf.cost_to_go(graph, goal)
    able = np.flatnonzero(np.isfinite(truth)).tolist()
    vertices = sorted({goal, *draw(st.lists(st.sampled_from(able), max_size=6))})
    factor, base = draw(st.sampled_from(factors)), draw(st.sampled_from(bases))
    shift = draw(st.sampled_from(errors)) * draw(generators).integers(-1, 2, len(vertices))
    return Task(
        graph, goal, truth, wf.Labels(vertices, factor * truth[vertices] + base + shift), factor
    )


@st.composite
def noisy_fields(
    draw: st.DrawFn,
    max_vertices: int = 10,
    lengths: Sequence[str] = ANY_LENGTH,
    *,
    directed: bool | None = None,
) -> tuple[wf.Graph, Floats, Floats, int]:
    """A graph with a truth, a field not far from it, and a goal: (graph, field, truth, goal)."""
    graph = draw(graphs(max_vertices, lengths, directed=directed))
    goal = draw(st.integers(0, graph.num_vertices - 1))
    truth = wf.cost_to_go(graph, goal)
    return graph, noisy(draw(generators), truth, draw(st.sampled_from(NOISE))), truth, goal


@st.composite
def rough_fields(draw: st.DrawFn) -> tuple[wf.Graph, wf.Labels, Floats]:
    """Any values at all on a connected graph of any lengths, in few levels or many."""
    graph, labels = draw(labelled_graphs(max_vertices=10))
    kind = draw(st.sampled_from(["levels", "normal", "offset"]))
    values = VALUES[kind](draw(generators), graph.num_vertices)
    values[labels.vertices] = labels.values
    return graph, labels, values


# ------------------------------------------------------------------ strategies by edge

UNIT = st.just(1.0)
DIGIT = st.integers(1, 6).map(float)
REAL = st.floats(0.01, 10.0)
WHOLE_VALUE = st.integers(-20, 20).map(float)
EXTREME = st.sampled_from([1e-90, 0.5, 3.0, 1e90])


@st.composite
def small_graphs(
    draw: st.DrawFn,
    max_vertices: int = 12,
    lengths: Sequence[st.SearchStrategy[float]] = (UNIT, DIGIT),
    *,
    connected: bool = False,
    directed: bool | None = False,
) -> wf.Graph:
    """Any pairs of vertices; `connected`: along with a tree. Directed: one way, or some both."""
    n = draw(st.integers(1, max_vertices))
    vertex = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(vertex, vertex), max_size=3 * n))
    if connected:
        pairs += [(draw(st.integers(0, x - 1)), x) for x in range(1, n)]
    pairs = [(x, y) for x, y in pairs if x != y]
    directed = draw(st.booleans()) if directed is None else directed
    if not directed or draw(st.booleans()):
        pairs = list({frozenset(pair): pair for pair in pairs}.values())
    pairs = list(dict.fromkeys(pairs))
    length = draw(st.sampled_from(lengths))
    drawn = draw(st.lists(length, min_size=len(pairs), max_size=len(pairs)))
    return wf.Graph.from_edges([x for x, _ in pairs], [y for _, y in pairs], drawn, n, directed)


def label_sets(
    graph: wf.Graph, values: st.SearchStrategy[float] = UNIT, most: int | None = None
) -> st.SearchStrategy[wf.Labels]:
    """Labels on at least one vertex of the graph, and at most `most`."""
    vertex = st.integers(0, graph.num_vertices - 1)
    known = st.dictionaries(vertex, values, min_size=1, max_size=most or graph.num_vertices)
    return known.map(lambda given: wf.Labels(list(given), list(given.values())))


@st.composite
def small_problems(
    draw: st.DrawFn,
    max_vertices: int = 12,
    lengths: Sequence[st.SearchStrategy[float]] = (UNIT, DIGIT),
    values: st.SearchStrategy[float] = WHOLE_VALUE,
    *,
    connected: bool = False,
    directed: bool | None = False,
) -> Problem:
    """A small graph and up to five labels."""
    graph = draw(small_graphs(max_vertices, lengths, connected=connected, directed=directed))
    return graph, draw(label_sets(graph, values, most=5))


@st.composite
def wild_problems(draw: st.DrawFn, directed: bool = False) -> Problem:
    """Valid but wild: any shape of graph, lengths and values of every magnitude allowed."""
    magnitude = draw(st.sampled_from([0, 3, 12, 90]))
    size = st.floats(-magnitude, magnitude).map(lambda exponent: 10.0**exponent)
    graph = draw(small_graphs(8, [size], directed=directed))
    value = st.tuples(st.sampled_from([-1.0, 0.0, 1.0]), size).map(np.prod)
    return graph, draw(label_sets(graph, value))


@st.composite
def any_fields(draw: st.DrawFn, max_vertices: int = 9) -> tuple[wf.Graph, list[float], int]:
    """A graph of any kind, a field full of ties and infinities, and a goal."""
    graph = draw(small_graphs(max_vertices, (UNIT, DIGIT, REAL, EXTREME), directed=None))
    n = graph.num_vertices
    value = draw(
        st.sampled_from(
            [
                st.integers(0, 3).map(float),
                st.one_of(st.integers(0, 2).map(float), st.just(inf)),
                st.sampled_from([0.0, 5e-324, 1e-300, 1.0, 1.0 + 2**-52, 1e12]),
                st.floats(-1e6, 1e6),
            ]
        )
    )
    values = draw(st.lists(value, min_size=n, max_size=n))
    return graph, values, draw(st.integers(0, n - 1))


# ------------------------------------------------------------------ mazes


def grids(max_side: int = 9) -> st.SearchStrategy[NDArray[np.bool_]]:
    """Rectangles with at least one free cell."""
    shapes = hnp.array_shapes(min_dims=2, max_dims=2, max_side=max_side)
    return hnp.arrays(np.bool_, shapes).filter(np.any)


@st.composite
def layouts(draw: st.DrawFn, max_side: int = 9, max_teleports: int = 4) -> wf.Layout:
    """Mazes in which about every third cell has an arrow, and most others a cost."""
    free = draw(grids(max_side))
    kinds = draw(hnp.arrays(np.int64, free.shape, elements=st.integers(0, 13)))
    arrows = np.where(free, np.array([""] * 10 + list("^v<>"))[kinds], "")
    costs = np.where(arrows == "", np.clip(kinds, 1, 9), 1)
    cells = [(int(row), int(column)) for row, column in np.argwhere(free)]
    ends = st.lists(st.sampled_from(cells), min_size=2, max_size=2, unique=True).map(tuple)
    teleports = draw(st.lists(ends, max_size=max_teleports)) if len(cells) > 1 else []
    return wf.Layout("any", free, costs, arrows, teleports)


def maze_problem(
    name: str = "medium",
    refinement: int = 4,
    *,
    goal: int = 0,
    fraction: float = 0.05,
    seed: int = 54,
) -> Problem:
    """A maze of the paper, with exact labels on a share of its vertices."""
    graph = wf.grid_graph(wf.load_layout(name), refinement)
    return graph, wf.sample_labels(graph, goal, fraction, seed=seed)


# ------------------------------------------------------------------ graphs in plain Python


def rows(graph: wf.Graph) -> dict[int, dict[int, float]]:
    """Length of every arc, by its tail and then its head."""
    out: dict[int, dict[int, float]] = {x: {} for x in range(graph.num_vertices)}
    for (x, y), length in arcs(graph).items():
        out[x][y] = length
    return out


def arcs(graph: wf.Graph) -> dict[tuple[int, int], float]:
    """Length of every arc; both ways of an undirected edge."""
    ends = zip(graph.tails.tolist(), graph.indices.tolist(), strict=True)
    return dict(zip(ends, graph.lengths.tolist(), strict=True))


def network(graph: wf.Graph) -> nx.DiGraph:
    """The arcs, for NetworkX."""
    twin = nx.DiGraph()
    twin.add_nodes_from(range(graph.num_vertices))
    twin.add_weighted_edges_from((x, y, length) for (x, y), length in arcs(graph).items())
    return twin
