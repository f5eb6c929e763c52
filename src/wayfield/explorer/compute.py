"""What the explorer shows of a scene, and the Python program that rebuilds it.

All numbers come from the library; nothing is solved here.

Recent fields are cached, so that looking at one state, moving the error budget or walking from
another start does not solve again.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse.csgraph import dijkstra

from ..advice import Answer, solve
from ..advice.comparison import recommend
from ..advice.text import lines
from ..certificates import certify, next_labels
from ..certificates.contradiction import contradictions
from ..checks import as_vertex, plain
from ..errors import InputError, InputWarning, Message, Option
from ..fields import AMLE, describe
from ..fields.names import parse_method
from ..graphs.graph import Graph
from ..graphs.grid import grid_graph
from ..graphs.labels import Labels
from ..graphs.layouts import Layout, layout_names, load_layout
from ..graphs.names import Caller
from ..graphs.shortest_paths import cost_to_go, sample_labels
from ..plans.planning import plan
from ..plans.sinks import drop_false_sinks
from ..plots.answer import spread
from ..typing import FloatArray
from ..words import PROOF, number_of, percent
from .scene import DISTANCE, GraphWorld, MazeWorld, Panel, Scene, World, packed

FIRST_MAZE, FIRST_GOAL, FIRST_METHOD = "large", 40, "harmonic"
"""The first scene: the harmonic plan loops from most starts of this maze, the AMLE's never."""
_CACHED = 12
"""Number of cached fields."""
_NEAREST = 4
"""Number of labels listed around a state."""
_MOST_REASONS = 50
"""Largest number of labels to which lines are drawn; those with the largest weights."""
_MOST_MARKED = 2_000
"""Largest number of edges marked in the picture, most suspect first."""
_VERDICT_SECONDS = 5.0
"""Time limit of each method in a comparison, in seconds."""
_WRITTEN_OUT = 60
"""Graphs with more edges are read from the exported file instead of written into the program."""

ON_THE_PAGE = {
    "method amle": "“p-extension of the labels” with p = ∞",
    "method amle-cost": 'AMLE(fill="cost") in Python',
    "lift": "“Lift until all arrive”",
    "drop_false_sinks": "“Drop false sinks”",
    "start": "the tool “Walk”",
    "compare": "“Do the labels help?”",
    "travel trips": "wayfield travel",
    "time_limit": "time limit, in Python,",
}
"""Recommended actions, by the buttons of the page."""

_FROM_FILE = """\
# needs wayfield-scene.json beside this program: Export, then “Scene, JSON”
scene = json.loads(Path("wayfield-scene.json").read_text())["graph"]
graph = wf.Graph.from_edges(scene["tails"], scene["heads"], scene["lengths"], \
scene["vertices"], scene["directed"])"""


@lru_cache(maxsize=_CACHED)
def graph_of(world: World) -> Graph:
    """Build the graph of a maze or of edges."""
    if isinstance(world, MazeWorld):
        return grid_graph(world.layout, world.refinement)
    with warnings.catch_warnings():  # parallel edges and loops need no warning here
        warnings.simplefilter("ignore", InputWarning)
        return Graph.from_edges(
            world.tails, world.heads, world.lengths, world.vertices, world.directed, world.positions
        )


@lru_cache(maxsize=_CACHED)
def _truth(world: World, goal: int) -> FloatArray:
    return cost_to_go(graph_of(world), goal)


def maze_scene(
    layout: Layout,
    refinement: int,
    goal: int,
    share: float,
    seed: int,
    method: str = "amle",
) -> Scene:
    """Return a scene of a maze with a share of its vertices labelled with true values."""
    maze = MazeWorld(layout.to_text(), refinement)
    maze.check()
    graph = graph_of(maze)
    goal = as_vertex(goal, "goal", graph.num_vertices)
    drawn = sample_labels(graph, goal, share, seed).vertices
    vertices = tuple(drawn.tolist())
    return Scene(
        maze, goal, vertices, (None,) * len(vertices),
        panels=(Panel(method),), drawn=(share, seed),
    )  # fmt: skip


def labels_of(scene: Scene) -> Labels:
    """Return the labels with their values: typed ones, and true ones with their noise.

    A vertex's noise depends only on the seed and the vertex, so moving one label does not change
    the others. The goal's own label has no noise. A vertex without a path to the goal, for instance
    behind a new wall, has no true value: its label is left out.
    """
    graph = graph_of(scene.world)
    as_vertex(scene.goal, "goal", graph.num_vertices)
    vertices = np.array(scene.vertices, dtype=np.int64)
    if vertices.size and vertices.max() >= graph.num_vertices:
        raise InputError(
            f"label {vertices.max()} is not a vertex of a graph with {graph.num_vertices} vertices"
        )
    known = _truth(scene.world, scene.goal)
    if scene.noise:
        drawn = np.random.default_rng(scene.noise_seed).normal(0.0, scene.noise, known.size)
        known = np.where(np.arange(known.size) == scene.goal, known, known + drawn)
    typed = np.array([np.nan if value is None else value for value in scene.values])
    values = np.where(np.isnan(typed), known[vertices], typed) if vertices.size else typed
    sound = np.isfinite(values)
    return Labels(vertices[sound], values[sound])


def answer(scene: Scene, number: int = 0) -> Answer:
    """Solve one panel of a scene; the goal needs a label unless its field needs none."""
    settings = scene.panels[number]
    as_vertex(scene.goal, "goal", graph_of(scene.world).num_vertices)
    if settings.method != DISTANCE and scene.goal not in scene.vertices:
        raise InputError("the goal has no label, so nothing leads there: label it")
    found = _solved(
        replace(
            scene,
            panels=(Panel(settings.method, lift=settings.lift),),
            budget=0.0,
            drawn=None,
        )
    )
    moves, certificate = found.plan, found.certificate
    if (settings.rule, settings.ties) != (moves.rule, moves.ties):
        moves = plan(found.graph, moves.values, scene.goal, settings.rule, settings.ties)
    elif scene.budget == 0.0:
        return found
    judged = certify(found.graph, certificate.labels, certificate.extension, moves, scene.budget)
    return replace(found, plan=moves, certificate=judged)


@lru_cache(maxsize=_CACHED)
def _solved(scene: Scene) -> Answer:
    graph, (settings,) = graph_of(scene.world), scene.panels
    goal, lift = scene.goal, settings.lift
    if settings.method == DISTANCE:  # a correction of 0: the distances themselves
        none, distance = Labels([goal], [0.0]), _truth(scene.world, goal)
        flat = AMLE(fill="flat")
        return solve(graph, none, goal, flat, prior=distance, lift=lift, check=False)
    method = parse_method(settings.method)
    return solve(graph, labels_of(scene), goal, method, lift=lift, check=False)


def picture(scene: Scene, panel: int) -> dict[str, Any]:
    """Return what is drawn: values, moves, outcomes, cycles and certified moves."""
    found = answer(scene, panel)
    moves, field = found.plan, found.field
    labels = labels_of(scene) if scene.vertices else found.labels
    finite = moves.values[np.isfinite(moves.values)]
    margins = found.certificate.margin[np.isfinite(found.certificate.margin)]
    caught = np.bincount(moves.basin[moves.basin >= 0], minlength=len(moves.cycles))
    touching = moves.touches(labels)
    unreachable, dead = ~moves.reachable, moves.basin == -2
    outcome = np.select([moves.reached, unreachable, dead], [0, 3, 2], 1).astype(np.uint8)
    return {
        "vertices": found.graph.num_vertices,
        "values": packed(moves.values),
        "successor": packed(moves.successor.astype(np.int32)),
        "basin": packed(moves.basin.astype(np.int32)),
        "outcome": packed(outcome),
        "certified": packed(found.certificate.certified.astype(np.uint8)),
        "labels": {"vertices": labels.vertices.tolist(), "values": labels.values.tolist()},
        "left_out": len(scene.vertices) - len(labels.vertices) if scene.vertices else 0,
        "cycles": [
            {"states": states.tolist(), "touches": bool(touches), "catches": int(catches)}
            for states, touches, catches in zip(moves.cycles, touching, caught, strict=True)
        ],
        "range": [float(finite.min()), float(finite.max())] if finite.size else [0.0, 0.0],
        "can_reach": moves.num_able,
        "reach": moves.num_arrived,
        "certified_states": int(found.certificate.certified.sum()),
        "certified_starts": int(found.certificate.start_certified.sum()),
        "largest_margin": float(margins.max(initial=0.0)),
        "status": str(field.status),
        "converged": field.status.good,
        "width": plain(field.width),
        "seconds": field.seconds,
    }


def words(scene: Scene, panel: int) -> dict[str, Any]:
    """Return the summary of ``wf.solve(…)``, line by line."""
    found = answer(scene, panel)
    facts = found.facts(scene.world.names)
    return {"lines": [{"word": word, "text": _on_the_page(text)} for word, text in lines(facts)]}


def _on_the_page(text: str) -> str:
    """Return a text with its options as the buttons of the page."""

    def spell(option: Option) -> str:
        one = f"{option.name} {option.value}"
        return ON_THE_PAGE.get(one) or ON_THE_PAGE.get(option.name) or str(option)

    return text.render(spell) if isinstance(text, Message) else text


def state(scene: Scene, panel: int, vertex: int) -> dict[str, Any]:
    """Return the details of one state: value, bracket, each move with its Q and slope, margins."""
    found = answer(scene, panel)
    graph, moves, field, certificate = found.graph, found.plan, found.field, found.certificate
    x = as_vertex(vertex, "state", graph.num_vertices)
    row = slice(int(graph.indptr[x]), int(graph.indptr[x + 1]))
    heads, lengths, value = graph.indices[row], graph.lengths[row], moves.values[x]
    with np.errstate(invalid="ignore"):
        slopes = (value - moves.values[heads]) / lengths
    call = Caller(scene.world.names, graph.num_vertices)
    labels = labels_of(scene) if scene.vertices else found.labels
    away = dijkstra(graph.to_scipy(), directed=True, indices=[x])[0, labels.vertices]
    nearest = np.lexsort((labels.vertices, away))[:_NEAREST]
    facts: dict[str, Any] = plain(
        {
            "state": x,
            "name": call(x),
            "value": value,
            "lower": None if field.lower is None else field.lower[x],
            "upper": None if field.upper is None else field.upper[x],
            "outcome": str(moves.outcomes[x]),
            "cost": moves.cost[x],
            "least": _truth(scene.world, scene.goal)[x],
            "successor": int(moves.successor[x]),
            "moves": [
                {
                    "state": int(y),
                    "name": call(int(y)),
                    "length": length,
                    "value": moves.values[y],
                    "q": length + moves.values[y],
                    "slope": slope,
                    "taken": bool(y == moves.successor[x] and x != scene.goal),
                }
                for y, length, slope in zip(heads, lengths, slopes, strict=True)
            ],
            "gap": certificate.gap[x],
            "margin": certificate.margin[x],
            "start_margin": certificate.start_margin[x],
            "certified": bool(certificate.certified[x]),
            "nearest": [
                {
                    "state": int(labels.vertices[i]),
                    "name": call(int(labels.vertices[i])),
                    "value": labels.values[i],
                    "distance": away[i],
                }
                for i in nearest
                if np.isfinite(away[i])
            ],
        }
    )
    return facts


def why(scene: Scene, panel: int, vertex: int) -> dict[str, Any]:
    """Return the labels that a value rests on with their weights, and a sentence that says so."""
    found, method = answer(scene, panel), scene.panels[panel].method
    x = as_vertex(vertex, "state", found.graph.num_vertices)
    if method == DISTANCE:
        return {"labels": [], "text": "The graph distance uses no labels."}
    if not np.isfinite(found.field.values[x]):
        return {"labels": [], "text": "No label can be reached from here, so there is no value."}
    vertices, weights = found.field.influence(x)
    call = Caller(scene.world.names, found.graph.num_vertices)
    known = dict(zip(found.labels.vertices.tolist(), found.labels.values.tolist(), strict=True))
    shown = [
        f"{percent(round(weight, 3))} on {call(y)} ({known[y]:.4g})"
        for y, weight in zip(vertices[:_NEAREST].tolist(), weights.tolist(), strict=False)
    ]
    text = f"It rests on {number_of(vertices.size, 'labels')}: {', '.join(shown)}"
    text += " …" if vertices.size > _NEAREST else ""
    text += "; then it was raised" if found.raised[x] > 0.0 else ""
    labels = list(zip(vertices.tolist(), weights.tolist(), strict=True))
    return {"labels": labels[:_MOST_REASONS], "text": f"{text}."}


def route(scene: Scene, panel: int, start: int) -> dict[str, Any]:
    """Return the walk of the plan from a start."""
    walk = answer(scene, panel).route(start)
    facts: dict[str, Any] = plain(
        {
            "path": walk.path.tolist(),
            "cost": walk.cost,
            "outcome": str(walk.outcome),
            "least": _truth(scene.world, scene.goal)[start],
        }
    )
    return facts


def verdict(scene: Scene, panel: int) -> dict[str, Any]:
    """Return whether the labels beat the plain graph distance."""
    graph, labels = graph_of(scene.world), labels_of(scene)
    found = recommend(graph, labels, scene.goal, time_limit=_VERDICT_SECONDS)
    return {
        "verdict": _on_the_page(found.verdict),
        "remarks": list(map(_on_the_page, found.remarks)),
        "labels_pay": bool(found.labels_pay),
    }


def sample(scene: Scene, share: float, seed: int) -> dict[str, Any]:
    """Draw vertices to label, the goal among them."""
    drawn = sample_labels(graph_of(scene.world), scene.goal, share, seed)
    return {"vertices": drawn.vertices.tolist()}


def next_label(scene: Scene) -> dict[str, Any]:
    """Return the state whose cost-to-go is least certain, or None if all are known."""
    found = next_labels(graph_of(scene.world), labels_of(scene), scene.goal)
    return {"state": int(found[0]) if found.size else None}


def find_contradictions(scene: Scene) -> dict[str, Any]:
    """Return the labels that the graph contradicts, and the edges involved."""
    graph, labels = graph_of(scene.world), labels_of(scene)
    found = contradictions(graph, labels)
    arcs = np.argsort(-found.blame, kind="stable")[:_MOST_MARKED]
    arcs = arcs[found.blame[arcs] > 0.0]
    finding = repr(found).removeprefix("Contradictions(").removesuffix(")")
    none = "Labels and graph do not contradict each other."
    return {
        "finding": none if finding == "none" else f"{finding}; {PROOF}.",
        "labels": [
            *found.optimistic.labels.tolist(),
            *found.pessimistic.labels.tolist(),
        ],
        "edges": [[int(graph.tails[e]), int(graph.indices[e])] for e in arcs],
    }


def false_sinks(scene: Scene, panel: int) -> dict[str, Any]:
    """Return the labels that `drop_false_sinks` drops."""
    word = scene.panels[panel].method
    method = AMLE() if word == DISTANCE else parse_method(word)
    kept = drop_false_sinks(graph_of(scene.world), labels_of(scene), scene.goal, method)
    return {"dropped": kept.dropped.tolist(), "rounds": kept.rounds}


def layout(scene: Scene) -> dict[str, Any]:
    """Return positions for the vertices of a graph without positions: x and y in turn."""
    return {"positions": packed(spread(graph_of(scene.world)).ravel())}


def python(scene: Scene, panel: int) -> dict[str, Any]:
    """Return a program with the same `answer` as the panel: values, moves and outcomes."""
    settings, world, labels = scene.panels[panel], scene.world, labels_of(scene)
    written = ["import numpy as np", "import wayfield as wf", ""]

    # the graph; one with many edges is read from the exported file
    world_is_large = isinstance(world, GraphWorld) and world.tails.size > _WRITTEN_OUT
    if isinstance(world, MazeWorld):
        known = (name for name in layout_names() if load_layout(name) == world.layout)
        layout = f"wf.Layout.from_text({world.layout.to_text()!r})"
        if name := next(known, ""):
            layout = f"wf.load_layout({name!r})"
        written += [f"graph = wf.grid_graph({layout}, refinement={world.refinement})"]
    elif world_is_large:
        written[:1] = ["import json", "from pathlib import Path", "import numpy as np"]
        written += _FROM_FILE.splitlines()
    else:
        lengths = None if world.lengths is None else world.lengths.tolist()
        more = f"{lengths}, {world.vertices}, {world.directed}"
        written += [
            f"tails, heads = {world.tails.tolist()}, {world.heads.tolist()}",
            f"graph = wf.Graph.from_edges(tails, heads, {more})",
        ]
    named = scene.world.names
    if named:
        listed = 'scene["names"]' if world_is_large else str(list(named))
        written += [f"names = {listed}"]
    written += [f"goal = {scene.goal}"]

    # labels as they were made: drawn, read off the distances, typed, with noise
    draw = ""
    if scene.drawn is not None:
        share, seed = scene.drawn
        again = sample_labels(graph_of(world), scene.goal, share, seed).vertices
        if np.array_equal(again, labels.vertices):  # no label has changed since
            draw = f"wf.sample_labels(graph, goal, {share!r}, seed={seed})"
    if settings.method == DISTANCE:
        written += ["labels = wf.Labels([goal], [0.0])"]
    elif any(value is not None for value in scene.values):
        written += [f"labels = wf.Labels({labels.vertices.tolist()}, {labels.values.tolist()})"]
    elif draw and scene.noise == 0.0:
        written += [f"labels = {draw}"]
    else:
        vertices = f"{draw}.vertices" if draw else str(labels.vertices.tolist())
        written += [f"vertices = {vertices}", "values = wf.cost_to_go(graph, goal)"]
        if scene.noise:
            spread = f"normal(0.0, {scene.noise!r}, values.size)"
            noise = f"np.random.default_rng({scene.noise_seed}).{spread}"
            written += [f"values += {noise} * (np.arange(values.size) != goal)"]
        written += ["labels = wf.Labels(vertices, values[vertices])"]

    # the call
    if settings.method == DISTANCE:
        how = 'wf.AMLE(fill="flat"), prior=wf.cost_to_go(graph, goal)'
    else:
        how = f"wf.{describe(parse_method(settings.method))}"
    how += ", lift=True" if settings.lift else ""
    how += f", error={scene.budget!r}" if scene.budget else ""
    written += [f"answer = wf.solve(graph, labels, goal, {how}, check=False)"]
    if (settings.rule, settings.ties) != ("slope", "exit"):
        rules = f"rule={settings.rule!r}, ties={settings.ties!r}"
        written += [f"plan = wf.plan(answer.graph, answer.values, goal, {rules})", "print(plan)"]
    else:
        written += [f"print(answer.summary({'names' if named else ''}))"]
    if not any("np." in line for line in written):
        written.remove("import numpy as np")
    return {"code": "\n".join(written) + "\n"}
