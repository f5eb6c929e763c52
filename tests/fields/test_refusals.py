"""Bad input is refused before any computing, with the value and its place: one row per refusal."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import wayfield as wf
from methods import choose, methods
from wayfield.fields import time_limit
from wayfield.fields.names import parse_method
from worlds import ENDS, PATH, maze_problem

Row = tuple[Callable[[], object], str]
nan, inf = np.nan, np.inf
UMAZE = wf.load_layout("umaze")
APART = wf.Graph.from_edges([0, 2], [1, 3], num_vertices=5)
EXACT = wf.AMLE()


def label(vertices: Any, values: Any = (0.0, 1.0)) -> Callable[[], object]:
    return lambda: wf.Labels(vertices, values)


def edges(heads: Any = (1, 2), lengths: Any = None, **options: Any) -> Callable[[], object]:
    return lambda: wf.Graph.from_edges([0, 1], heads, lengths, **options)


def prior(field: Any, values: Any = (0.0, 2.0)) -> Callable[[], object]:
    line = wf.Graph.from_edges([0, 1], [1, 2])
    return lambda: wf.extend(line, wf.Labels([0, 2], values), EXACT, prior=field)


def many(sets: Any, **options: Any) -> Callable[[], object]:
    return lambda: wf.extend_many(PATH, sets, EXACT, **options)


def tables(goals: Any) -> Callable[[], object]:
    return lambda: wf.plan_many(PATH, [ENDS] * 2, goals)


def limit(seconds: Any) -> Callable[[], object]:
    return lambda: time_limit(seconds).__enter__()


def ended(make: type) -> Any:
    with make(1) as pool:
        return pool


class Client:
    """What looks like a client of Dask."""

    def get_executor(self) -> None: ...

    def scatter(self) -> None: ...


LABELS: list[Row] = [
    (label([0, 1], [0.0, nan]), r"label values\[1\] = nan is not a finite number"),
    (label([0, 1, 2], [0.0, 1.0, inf]), r"label values\[2\] = inf is not a finite number"),
    (label([0, 1, 2], [nan, -inf, nan]), r"label values\[0\] = nan .* \(and 2 more\)"),
    (label([0, 1], [0.0, -1e200]), r"label values\[1\] = -1e\+200 is beyond 1e\+100"),
    (label([4, 0, 4], [1, 0, 2]), "vertex 4 is labelled 1.0 at position 0 and 2.0 at position 2"),
    (label([0, 1.5]), r"label vertices\[1\] = 1\.5 is not a whole number"),
    (label([nan], [0.0]), r"label vertices\[0\] = nan is not a whole number"),
    (label([inf], [0.0]), r"label vertices\[0\] = inf is too large for a vertex index"),
    (label([0, -1]), r"label vertices\[1\] = -1 is negative"),
    *((label([0, v]), r"vertices\[1\] = .* is too large") for v in (2**31, 2**63 - 1, 1e18)),
    (label(np.array([2**64 - 1], np.uint64), [0.0]), r"\[0\] = 18446744073709551615 is too large"),
    (label([0, 10**30]), r"vertex indices, got object \(entry 1 is 10000"),
    (label([True, False]), r"label vertices must be vertex indices, got bool \(entry 0 is "),
    (label([], []), "labels must have at least one vertex"),
    (label([0, 1], [0.0]), "label values has 1 entries, expected 2"),
    *(
        (label([0, 1], values), "label values must be real numbers, got")
        for values in ("01", ["a", "b"], [None, None], [1j, 2j], [object(), 1], [b"a", b"b"], [{}])
    ),
    *(
        (label([0, 1], values), "label values must be one-dimensional, got shape")
        for values in (3.0, [[0.0], [1.0]], np.zeros((2, 1)))
    ),
    (label([0, 1], [[0.0], [1.0, 2.0]]), "label values cannot be read as an array"),
    (label([0, 1], np.ma.masked_greater([0.0, 9.0], 5.0)), "label values has masked entries"),
]
GRAPHS: list[Row] = [
    *(
        (edges(lengths=[1.0, bad]), rf"lengths\[1\] = {bad} is not positive")
        for bad in (0.0, -1.0, nan, -inf)
    ),
    (edges(lengths=[inf, 1.0]), r"lengths\[0\] = inf is not finite"),
    *(
        (edges(lengths=[1.0, bad]), rf"\[1\] = {re.escape(str(bad))} is outside 1e-100 to 1e\+100")
        for bad in (1e-300, 5e-324, 1e101)
    ),
    (edges([0, -1]), r"heads\[1\] = -1 is negative"),
    (edges([0, 0.5]), r"heads\[1\] = 0\.5 is not a whole number"),
    (edges([0, nan]), r"heads\[1\] = nan is not a whole number"),
    (edges([0, 3], num_vertices=3), r"heads\[1\] = 3 is out of range for 3 vertices"),
    (edges([0, 2**31]), r"heads\[1\] = 2147483648 is too large for a vertex index"),
    (edges([0, 2**200]), r"heads must be vertex indices, got object \(entry 1 is"),
    (edges([0]), r"tails and heads must have the same length, got 2 and 1"),
    (edges([[0, 1]]), r"heads must be one-dimensional, got shape \(1, 2\)"),
    (edges([[0], [1, 2]]), "heads cannot be read as an array"),
    (edges(["0", "1"]), r"heads must be vertex indices, got <U1 \(entry 0 is"),
    (edges([None, 1]), r"heads must be vertex indices, got object \(entry 0 is None\)"),
    (edges([True, False]), r"heads must be vertex indices, got bool"),
    (edges([1j, 2]), r"heads must be vertex indices, got complex128"),
    (edges(None), r"heads must be vertex indices, got object \(entry 0 is None\)"),
    (edges(1), r"heads must be one-dimensional, got shape \(\)"),
    (edges({0: 1}), r"heads must be vertex indices, got object"),
    *(
        (edges(num_vertices=bad), "num_vertices must be a whole number of at least 0")
        for bad in (-1, 1.5, "3", [3], True)
    ),
    (edges(num_vertices=2**31), "num_vertices must be at most 2147483647, got 2147483648"),
    (edges(directed="no"), "directed must be True or False, got 'no'"),
    (
        lambda: wf.Graph.from_scipy(np.array([[0.0, 1.0], [2.0, 0.0]]), directed=False),
        r"not symmetric: entry \(0, 1\) is 1\.0, but \(1, 0\) is 2\.0",
    ),
    *(
        (
            lambda bad=bad: wf.Graph.from_scipy([[0.0, 1.0], [bad, 0.0]]),
            rf"matrix\[1, 0\] = {bad} is not a positive, finite length",
        )
        for bad in (-1.0, nan, inf)
    ),
    *(
        (lambda bad=bad: wf.Graph.from_scipy(bad), "matrix cannot be read as lengths")
        for bad in (None, "matrix", [[0, "a"], [1, 0]], [[1], [2, 3]], {}, 1j)
    ),
    *(
        (lambda bad=bad: wf.Graph.from_scipy(np.ones(bad)), "must be square|cannot be read")
        for bad in ((2, 3), (4,), (2, 2, 2))
    ),
    (lambda: wf.load_layout("antmaze-enormous"), "unknown layout 'antmaze-enormous'"),
    (lambda: wf.Layout.from_text("####\n#.#\n####"), "row 1 has 3 cells, but row 0 has 4"),
    *(
        (lambda bad=bad: wf.grid_graph(UMAZE, bad), "refinement must be a whole number of at least")
        for bad in (0, -1, 1.5, "2", None, True)
    ),
    (lambda: wf.grid_graph(UMAZE, 100_000), "refinement must make at most"),
]
EXTENDING: list[Row] = [
    (
        lambda: wf.extend(PATH, wf.Labels([0, 4], [0.0, 1.0]), wf.NearestLabel()),
        r"label vertices\[1\] = 4 is out of range for 4 vertices",
    ),
    *(
        (lambda bad=bad: wf.extend(bad, ENDS, EXACT), r"graph must be a wayfield\.Graph, got")
        for bad in (None, np.eye(3), [[0, 1]], "graph")
    ),
    *(
        (lambda bad=bad: wf.extend(PATH, bad, EXACT), r"labels must be wayfield\.Labels, got")
        for bad in (None, {0: 1.0}, ([0], [1.0]))
    ),
    *(
        (lambda bad=bad: wf.extend(PATH, ENDS, bad), "method must be an extension such as AMLE")
        for bad in (None, "amle", wf.NearestLabel, wf.Harmonic, 3)
    ),
    *(
        (lambda bad=bad: wf.extend(PATH, ENDS, EXACT, unreachable=bad), "unreachable must be ")
        for bad in (None, "ignore", 0, ["nan"], np.array(["nan", "nan"]))
    ),
    *(
        (lambda bad=bad: wf.extend(PATH, ENDS, EXACT, check=bad), "check must be True or False")
        for bad in (None, "no", 0, np.array([True]))
    ),
    (many([ENDS], check=0), "check must be True or False"),
    *(
        (lambda bad=bad: wf.PLaplacian(bad), "p must be")
        for bad in (1.999, 1, 0, -2.0, nan, "2", None, True, 65537.0)
    ),
    *((lambda bad=bad: wf.PLaplacian(bad), r"AMLE\(\)") for bad in (inf, 1e9)),
    *(
        (lambda bad=bad: wf.PLaplacian(4, tolerance=bad), "tolerance must be")
        for bad in (0.0, 1e-16, -1.0, nan, 1.0)
    ),
    *(
        (lambda bad=bad: wf.PLaplacian(4, max_steps=bad), "max_steps must be")
        for bad in (0, -1, 2.5, True)
    ),
    (lambda: wf.AMLE(fill="steep"), "'steep'"),
    *(
        (lambda bad=bad, kind=kind: kind(lipschitz=bad), "lipschitz must be a finite number")
        for bad in (-1.0, nan, inf, "1", True, 1j, [1.0])
        for kind in (wf.McShane, wf.Whitney)
    ),
    (
        lambda: wf.extend(PATH, wf.Labels([0, 3], [1.0, 6.5]), wf.McShane()),
        r"got 6\.5 at vertex 3, 2\.5 too far",
    ),
    (
        lambda: wf.extend(PATH, wf.Labels([0, 3], [1.0, 6.5]), wf.Whitney()),
        r"got 1\.0 at vertex 0.* label 6\.5 of vertex 3",
    ),
    (prior([0.0, 1.0]), "prior has 2 entries, expected 3"),
    (prior([[0.0, 1.0, 2.0]]), "prior must be one-dimensional"),
    (prior([0.0, nan, 1.0]), r"prior\[1\] = nan is neither a number nor \+inf"),
    (prior([0.0, -inf, 1.0]), r"prior\[1\] = -inf"),
    (prior([0.0, 1.0, inf]), r"prior\[2\] must be finite at the label of vertex 2"),
    (prior([0.0, 1e101, 1.0]), r"prior\[1\] = 1e\+101 is beyond"),
    (prior(["a", "b", "c"]), "prior must be real numbers"),
    (prior([-1e100, 0.0, 0.0], (1e100, 0.0)), r"less the prior\[0\] = 2e\+100 is beyond"),
    (lambda: prior(field())(), r"prior must be an array, .* pass its \.values"),
    (lambda: parse_method("tests:mean"), "unknown method 'tests:mean'"),  # and imports nothing
]
MANY: list[Row] = [
    (many([ENDS, wf.Labels([4], [0.0])]), r"^labels_list\[1\]: label vertices.*out of range"),
    (many([[0, 1]]), r"^labels_list\[0\]: labels must be wayfield.Labels"),
    (many(ENDS), "labels_list must be a list, got Labels"),
    (
        lambda: wf.extend_many(APART, [wf.Labels([0], [0.0])], EXACT),
        r"^labels_list\[0\]: the component of vertex 2",
    ),
    (many(itertools.cycle([ENDS])), "labels_list must have at most 1,000,000 entries"),
    (lambda: wf.plan_many(PATH, [ENDS], itertools.count()), "goals must have at most 1,000,000"),
    *((many([ENDS], workers=bad), "workers must be") for bad in (0, -1, 1.5, True, "2", 10**9)),
    *(
        (many([ENDS], executor=bad), r"executor must be a concurrent\.futures executor")
        for bad in (2, "threads", ProcessPoolExecutor)
    ),
    (many([ENDS], executor=Client()), r"pass client\.get_executor\(\)"),
    (many([ENDS], workers=2, executor=ended(ThreadPoolExecutor)), "exclude each other"),
    *(
        (many([ENDS], executor=ended(make)), "takes no more tasks: cannot schedule new futures")
        for make in (ThreadPoolExecutor, ProcessPoolExecutor)
    ),
    (many([ENDS] * 2, prior=np.zeros((3, 4))), "prior must have 2 rows, got 3"),
    (
        many([wf.Labels([0, 1], [0.0, 1.0]), ENDS], prior=[0.0, 1.0, 0.0, inf]),
        r"labels_list\[1\]: prior\[3\] must be finite",
    ),
    (tables([0]), r"^1 goal for 2 label sets"),
    (tables([0, 1, 2]), r"^3 goals for 2 label sets"),
    (tables(7), r"^goals must be a list of vertices, got 7"),
    (tables([0, 10_000]), r"^goals\[1\] 10000 is not a vertex"),
    (tables([0, -1]), r"^goals\[1\] -1 is not a vertex"),
    (tables([0.5, 1]), r"^goals\[0\] must be a whole number"),
    (tables(["a", 1]), r"^goals\[0\] must be one vertex index"),
    *((limit(bad), "time limit must be") for bad in (-1.0, nan, "1")),
]
PLANS: list[Row] = [
    *(
        (lambda goal=goal, act=act: act(goal), f"goal {goal} is not a vertex of a graph with 4")
        for goal in (-1, 4, 10**30, 2**31)
        for act in (
            lambda goal: wf.cost_to_go(PATH, goal),
            lambda goal: wf.plan(PATH, np.zeros(4), goal),
            lambda goal: wf.sample_labels(PATH, goal, 0.5),
        )
    ),
    *(
        (lambda goal=goal: wf.cost_to_go(PATH, goal), f"goal must be a whole number, got {goal}")
        for goal in (0.5, nan, inf)
    ),
    *(
        (lambda goal=goal: wf.cost_to_go(PATH, goal), "goal must be one vertex index, got")
        for goal in (None, "0", True, [0], np.array([0]), 1j, {})
    ),
    (lambda: wf.plan(PATH, [0, 1, 2], 0), "the field has 3 values but the graph has 4 vertices"),
    *(
        (
            lambda bad=bad: wf.plan(PATH, [0.0, 1.0, bad, 2.0], 0),
            rf"values\[2\] = {bad} is neither a number nor \+inf",
        )
        for bad in (nan, -inf)
    ),
    *(
        (
            lambda bad=bad, option=option: wf.plan(PATH, np.zeros(4), 0, **{option: bad}),
            f"{option} must be one of",
        )
        for option in ("rule", "ties")
        for bad in (None, "best", 3, np.array(["q", "q"]))
    ),
    *(
        (
            lambda bad=bad: wf.plan(PATH, np.zeros(4), 0, tie_tolerance=bad),
            "tie_tolerance must be a finite number of at least 0",
        )
        for bad in (-1.0, nan, inf, "0", None, 10**400)
    ),
    *(
        (lambda bad=bad: wf.sample_labels(PATH, 0, bad), f"at most 1, got {bad}")
        for bad in (0.0, -0.5, 1.5)
    ),
]


def field() -> Any:
    return wf.extend(PATH, ENDS, EXACT)


def one_way() -> Any:
    graph = wf.Graph.from_edges([0, 1, 3], [1, 2, 4], directed=True)
    return wf.extend(graph, wf.Labels([2], [0.0]), EXACT, unreachable="nan")


def stopped() -> Any:
    world = maze_problem("large", 4, fraction=0.02)
    return wf.extend(*world, wf.PLaplacian(16, max_steps=1), check=False)


DERIVATIVES: list[Row] = [
    (lambda: field().influence(4), "vertex 4 is not a vertex"),
    (lambda: field().pullback([1.0, 2.0, 3.0]), "cotangent has 3 entries, expected 4"),
    (lambda: field().pullback([0, nan, 0, 0]), r"cotangent\[1\] = nan is not a finite number"),
    (lambda: field().pullback(np.full(4, 1e308)), r"cotangent\[0\] = 1e\+308 is beyond 1e\+100"),
    (lambda: field().influence(1, toward=[1.0]), "toward has 1 entries, expected 2"),
    (lambda: field().influence(1, toward=[0.0, 0.0]), "toward must not be 0 everywhere"),
    (lambda: one_way().influence(4), r"cotangent\[4\] = 1.0 must be 0: the field has no"),
    (lambda: stopped().influence(0), "did not converge has no derivative: the cap on"),
    *(
        (
            lambda method=method: wf.extend(PATH, ENDS, method).influence(1),
            f"PLaplacian fields, got {type(method).__name__}",
        )
        for method in choose(bracket=False)
        if not isinstance(method, wf.AMLE)
    ),
]


@pytest.mark.parametrize(
    ("call", "words"), [*LABELS, *GRAPHS, *EXTENDING, *MANY, *PLANS, *DERIVATIVES]
)
def test_bad_input_is_refused_by_value_and_place(call: Callable[[], object], words: str) -> None:
    with pytest.raises(wf.InputError, match=words):
        call()


@methods()
def test_a_component_without_a_label(method: Any) -> None:
    with pytest.raises(wf.InputError, match=r"component of vertex 2 \(2 vertices\) has no label; "):
        wf.extend(APART, wf.Labels([0], [7.0]), method)
    field = wf.extend(APART, wf.Labels([0], [7.0]), method, unreachable="nan")
    for values in (field.values, field.lower, field.upper):
        if values is not None:
            assert np.isnan(values).tolist() == [False, False, True, True, True]


@methods(directed=False)
def test_a_directed_graph_where_the_method_has_no_meaning(method: Any) -> None:
    with pytest.raises(wf.InputError, match=r"directed graphs; AMLE is, or call graph\.symmetrise"):
        wf.extend(wf.Graph.from_edges([0], [1], directed=True), wf.Labels([0], [0.0]), method)
