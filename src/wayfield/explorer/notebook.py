"""The explorer as a notebook widget: the page's code, with answers from this process."""

from __future__ import annotations

import base64
import io
import json
import re
from functools import cache
from importlib import resources
from typing import Any
from uuid import uuid4

from ..checks import need
from ..graphs.graph import Graph, check_graph
from ..graphs.labels import Labels, check_labels
from ..graphs.names import Naming

_MODULES = (
    "arrays.js", "palette.js", "scene.js", "address.js", "layout.js", "small.js", "svg.js",
    "draw.js", "api.js", "view.js", "export.js", "core.js", "controls.js", "hands.js", "app.js",
)  # fmt: skip
"""The page's modules, each after its imports."""

_START = """
export default {
  async render({ model, el }) {
    const waiting = new Map();
    let number = 0;
    model.on("msg:custom", (message) => {
      const settle = waiting.get(message.id);
      waiting.delete(message.id);
      if (settle) settle(message);
    });
    const ask = (name, body) => new Promise((resolve) => {
      const id = ++number;
      waiting.set(id, resolve);
      model.send({ id, name, body });
    });
    el.classList.add("wayfield-widget");
    const still = `.${model.get("still")}`, alive = document.createElement("style");
    alive.textContent = `${still}, .jp-OutputArea-child:has(${still}) { display: none; }`;
    document.head.append(alive);
    const stop = await mount(el, ask, {
      widget: true,
      kept: (scene) => { model.set("scene", scene); model.save_changes(); },
    });
    return () => { stop(); alive.remove(); };
  },
};
"""

_ALT = "Field and plan of the explorer"
_WITHOUT_KERNEL = "The explorer needs its kernel. When it was shown first, it looked like this:"


def explore(
    graph: Graph, labels: Labels, goal: int, *, names: Naming | None = None, method: str = "amle"
) -> Any:
    """Show a graph, its labels and the plan to the goal as an interactive widget.

    The widget is the page of ``wayfield explore``. It needs the extra ``notebook`` and works in
    Jupyter, marimo and VS Code. Everything is computed in the notebook's own process. Jupyter also
    keeps a still picture, shown where no widget is alive: in a notebook that was saved and opened
    again, and in exports.

    Parameters
    ----------
    graph : Graph
        The graph; positions are computed if it has none.
    labels : Labels
        The known values, the goal's among them.
    goal : int
        The goal.
    names : sequence or mapping, optional
        Names of the vertices: ``names[x]``. Default: the graph's own, if it has any.
    method : str
        Method shown first, as on the command line: amle, harmonic, p=8 …

    Returns
    -------
    Explorer
        A widget; ``.scene`` holds what it currently shows, as plain data.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield import explorer
    >>> maze = wf.grid_graph(wf.load_layout("umaze"), refinement=3)
    >>> view = explorer.explore(maze, wf.sample_labels(maze, 0, 0.1), goal=0)
    >>> view.scene["goal"]
    0
    """
    from .scene import Panel, scene_of

    check_labels(labels, check_graph(graph))
    names = graph.names if names is None else names
    opening = scene_of(graph, labels, goal, names, [Panel(method)])
    return _widget()(opening, graph.num_vertices)


@cache
def _widget() -> Any:
    """Return the widget class; anywidget must be installed only for this."""
    anywidget: Any = need("anywidget", "notebook")
    traitlets: Any = need("traitlets", "notebook")

    class Explorer(anywidget.AnyWidget):  # type: ignore[misc]
        """The explorer as a widget."""

        _esm = bundle()
        _css = _read("style.css")
        scene = traitlets.Dict().tag(sync=True)
        still = traitlets.Unicode().tag(sync=True)
        """CSS class of the still picture, which a live widget hides."""

        def __init__(self, opening: Any, count: int) -> None:
            super().__init__(scene=opening.to_json(), still=f"wayfield-still-{uuid4().hex}")
            self._opening = opening
            self._count = count
            self.on_msg(self._answer)

        def __repr__(self) -> str:
            count = self._count
            return (
                f"Explorer({count:,} vertices): in a notebook, make it the last line of a cell; "
                "elsewhere, run `wayfield explore` for the same page in a browser"
            )

        def _answer(self, _: Any, message: dict[str, Any], __: Any) -> None:
            from .api import Reply, respond
            from .server import start_facts

            if message.get("name") == "start":
                reply = Reply(200, json.dumps(start_facts(self._opening)).encode())
            else:
                reply = respond(str(message.get("name")), str(message.get("body")).encode())
            answer = {"id": message.get("id"), "status": reply.status, "body": reply.body.decode()}
            self.send(answer)

        def _ipython_display_(self, **_: Any) -> None:
            """Show the widget, and a still picture as a separate output.

            Jupyter shows one representation per output, and a widget without a kernel as an error.
            A picture in the same output would not be seen.
            """
            display: Any = need("IPython.display", "notebook")
            data, *_rest = self._repr_mimebundle_()
            display.display({**data, "text/plain": _WITHOUT_KERNEL}, raw=True)
            picture = f'<img class="{self.still}" alt="{_ALT}" src="data:image/png;base64,'
            display.display(display.HTML(f'{picture}{still(self.scene)}">'))

    return Explorer


def still(scene: dict[str, Any]) -> str:
    """Return the scene's first panel as a PNG in base64."""
    from ..plots import answer as draw
    from .compute import answer
    from .scene import Scene

    shown = Scene.from_json(scene)
    figure = need("matplotlib.figure", "plots").Figure((7, 5), layout="constrained", dpi=100)
    draw(answer(shown), shown.world.names, (), figure.subplots())
    file = io.BytesIO()
    figure.savefig(file)
    return base64.b64encode(file.getvalue()).decode("ascii")


def bundle() -> str:
    """Return the page's modules as one module: widgets cannot import others.

    Imports and the word export are removed. This works because no two modules give the same name
    to different things; a test checks that.
    """
    text = "\n".join(map(_read, _MODULES))
    text = re.sub(r"^import\s[^;]*;\n", "", text, flags=re.MULTILINE)
    return (
        re.sub(r"^export\s+(?=async|function|const|let|class)", "", text, flags=re.MULTILINE)
        + _START
    )


def _read(name: str) -> str:
    return (resources.files(__package__) / "page" / name).read_text(encoding="utf-8")
