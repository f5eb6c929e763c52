"""The few lines of Python that build a scene again and solve it."""

from __future__ import annotations

import numpy as np

from ..extension import describe
from ..extension._names import parse_method
from ..graph import Graph
from ..labels import Labels
from ..layouts import layout_names, load_layout
from ..shortest_paths import sample_labels
from .scene import DISTANCE, MENDED, Maze, Network, Scene

_SHORT = 60
"""Edges up to which a graph is written into the program; beyond, it reads the exported file."""

_FROM_FILE = """\
scene = json.loads(Path("wayfield-scene.json").read_text())["graph"]
graph = wf.Graph.from_edges(scene["tails"], scene["heads"], scene["lengths"], \
scene["vertices"], scene["directed"])"""


def as_python(scene: Scene, panel: int, graph: Graph, labels: Labels) -> str:
    """Return a program whose `answer` is the panel's: the same values, moves and outcomes."""
    settings = scene.panels[panel]
    written = [
        "import numpy as np",
        "import wayfield as wf",
        "",
        *_world(scene.world),
        f"goal = {scene.goal}",
        *_labels(scene, settings.method, graph, labels),
    ]
    how = _call(settings.method)
    lift = ", lift=True" if settings.lift else ""
    error = f", error={scene.budget!r}" if scene.budget else ""
    written.append(f"answer = wf.solve(graph, labels, goal, {how}{lift}{error}, check=False)")
    if (settings.rule, settings.ties) != ("slope", "exit"):
        ways = f"rule={settings.rule!r}, ties={settings.ties!r}"
        written.append(f"plan = wf.plan(answer.graph, answer.values, goal, {ways})")
        written.append("print(plan)")
    else:
        written.append("print(answer.summary())")
    if any("json." in line for line in written):
        written[:1] = ["import json", "from pathlib import Path", "import numpy as np"]
    if not any("np." in line for line in written):
        written.remove("import numpy as np")
    return "\n".join(written) + "\n"


def _world(world: Maze | Network) -> list[str]:
    if isinstance(world, Maze):
        return [f"graph = wf.grid_graph({_layout(world)}, refinement={world.refinement})"]
    if world.tails.size > _SHORT:
        return _FROM_FILE.splitlines()
    lengths = None if world.lengths is None else world.lengths.tolist()
    return [
        f"tails, heads = {world.tails.tolist()}, {world.heads.tolist()}",
        f"graph = wf.Graph.from_edges(tails, heads, {lengths}, {world.vertices}, {world.directed})",
    ]


def _layout(maze: Maze) -> str:
    for name in layout_names():
        if load_layout(name) == maze.layout:
            return f"wf.load_layout({name!r})"
    return f"wf.Layout.from_text({maze.layout.to_text()!r})"


def _labels(scene: Scene, method: str, graph: Graph, labels: Labels) -> list[str]:
    """Write labels as they came about: drawn, read off the distances, typed, with noise."""
    if method == DISTANCE:
        return ["labels = wf.Labels([goal], [0.0])"]
    if any(value is not None for value in scene.values):
        return [f"labels = wf.Labels({labels.vertices.tolist()}, {labels.values.tolist()})"]
    drawn = _draw(scene, graph, labels)
    if drawn and scene.noise == 0.0:
        return [f"labels = {drawn}"]
    vertices = f"{drawn}.vertices" if drawn else str(labels.vertices.tolist())
    lines = [f"vertices = {vertices}", "values = wf.cost_to_go(graph, goal)"]
    if scene.noise:
        noise = (
            f"np.random.default_rng({scene.noise_seed}).normal(0.0, {scene.noise!r}, values.size)"
        )
        lines.append(f"values += {noise} * (np.arange(values.size) != goal)")
    return [*lines, "labels = wf.Labels(vertices, values[vertices])"]


def _draw(scene: Scene, graph: Graph, labels: Labels) -> str:
    """Return the call that draws these vertices; empty if they were not drawn, or changed since."""
    if scene.drawn is None:
        return ""
    share, seed = scene.drawn
    same = sample_labels(graph, scene.goal, share, seed).vertices
    if not np.array_equal(same, labels.vertices):
        return ""
    return f"wf.sample_labels(graph, goal, {share!r}, seed={seed})"


def _call(word: str) -> str:
    """Return the arguments of `solve` for a method's word."""
    if word == DISTANCE:
        return 'wf.AMLE(fill="flat"), prior=wf.cost_to_go(graph, goal)'
    if word == MENDED:
        return "mend=wf.Best()"
    return f"wf.{describe(parse_method(word))}"
