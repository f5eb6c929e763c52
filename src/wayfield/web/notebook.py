"""The explorer in a notebook: the page's own code as a widget, answered by this very process."""

from __future__ import annotations

import base64
import io
import json
import re
from functools import cache
from importlib import resources
from typing import Any
from uuid import uuid4

from .._optional import need
from ..graph import Graph, check_graph
from ..labels import Labels, check_labels
from ..names import Naming

_MODULES = (
    "arrays.js", "palette.js", "scene.js", "address.js", "svg.js", "draw.js", "api.js", "view.js",
    "layout.js", "export.js", "small.js", "core.js", "controls.js", "hands.js", "app.js",
)  # fmt: skip
"""The page's modules, each after those that it imports."""

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
_KEPT = "The explorer needs its kernel. When it was shown first, it looked like this:"


def explore(
    graph: Graph, labels: Labels, goal: int, *, names: Naming | None = None, method: str = "amle"
) -> Any:
    """Show a graph, its labels and the plan to the goal, to be played with in a notebook.

    The widget is the page of ``wayfield explore``; it needs the extra ``notebook`` and works in
    Jupyter, marimo and VS Code. What it shows is computed in the notebook's own process. Jupyter
    keeps a still picture beside it, which is seen where no widget is alive: in a notebook that was
    saved and opened again, and in what is made from it.

    Parameters
    ----------
    graph : Graph
        With positions, or they are computed once.
    labels : Labels
        The known values, the goal's among them.
    goal : int
        Where to go.
    names : sequence or mapping, optional
        What to call the vertices: ``names[x]``.
    method : str
        How the labels are extended at first, as on the command line: amle, harmonic, p=8 …

    Returns
    -------
    Explorer
        A widget; ``.scene`` is what it shows at the moment, as plain data.

    Examples
    --------
    >>> import wayfield as wf
    >>> maze = wf.grid_graph(wf.load_layout("umaze"), refinement=3)
    >>> view = wf.explore(maze, wf.sample_labels(maze, 0, 0.1), goal=0)
    >>> view.scene["goal"]
    0
    """
    from .scene import Settings, scene_of

    check_labels(labels, check_graph(graph))
    opening = scene_of(graph, labels, goal, names, [Settings(method)])
    return _widget()(opening)


@cache
def _widget() -> Any:
    """Make the class of the widget; only here does anywidget have to be installed."""
    anywidget: Any = need("anywidget", "notebook")
    traitlets: Any = need("traitlets", "notebook")

    class Explorer(anywidget.AnyWidget):  # type: ignore[misc]
        """The explorer as a widget."""

        _esm = bundle()
        _css = _read("style.css")
        scene = traitlets.Dict().tag(sync=True)
        still = traitlets.Unicode().tag(sync=True)
        """Class of the still picture, which a widget that is alive hides."""

        def __init__(self, opening: Any) -> None:
            super().__init__(scene=opening.to_json(), still=f"wayfield-still-{uuid4().hex}")
            self._opening = opening
            self.on_msg(self._answer)

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
            """Show the widget, and a still picture as an output of its own.

            Jupyter shows one kind of each output, and a widget without its kernel as an error: a
            picture in the same output would not be seen.
            """
            display: Any = need("IPython.display", "notebook")
            data, *_rest = self._repr_mimebundle_()
            display.display({**data, "text/plain": _KEPT}, raw=True)
            picture = f'<img class="{self.still}" alt="{_ALT}" src="data:image/png;base64,'
            display.display(display.HTML(f'{picture}{still(self.scene)}">'))

    return Explorer


def still(scene: dict[str, Any]) -> str:
    """Draw a scene's first panel: PNG in base64, as notebooks keep it."""
    from ..plots import answer as draw
    from .compute import answer
    from .scene import Network, Scene

    shown = Scene.from_json(scene)
    figure = need("matplotlib.figure", "plots").Figure((7, 5), layout="constrained", dpi=100)
    names = shown.world.names if isinstance(shown.world, Network) else None
    draw(answer(shown), names, (), figure.subplots())
    file = io.BytesIO()
    figure.savefig(file)
    return base64.b64encode(file.getvalue()).decode("ascii")


def bundle() -> str:
    """Return the page's modules as one: widgets cannot import others.

    Imports and the word export are left out, which serves since no two modules give one name to
    different things: a test sees to it.
    """
    text = "\n".join(map(_read, _MODULES))
    text = re.sub(r"^import\s[^;]*;\n", "", text, flags=re.MULTILINE)
    return (
        re.sub(r"^export\s+(?=async|function|const|let|class)", "", text, flags=re.MULTILINE)
        + _START
    )


def _read(name: str) -> str:
    return (resources.files(__package__) / "page" / name).read_text(encoding="utf-8")
