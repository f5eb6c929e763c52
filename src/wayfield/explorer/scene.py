r"""The scene: a maze or a graph, its labels and goal, and how to show them.

It is everything that the page knows and sends: the server keeps nothing between requests. As JSON
it is the content of an address and of an exported file::

    {
      "maze": {"text": "#####\n#...#\n#####", "refinement": 8},
      "goal": 40,
      "labels": {"vertices": [40, 7], "values": [0, null]},
      "noise": {"spread": 0.5, "seed": 3},
      "panels": [{"method": "p=8", "rule": "slope", "ties": "exit", "lift": false}],
      "budget": 0.25
    }

or, instead of ``maze``, a ``graph`` with ``vertices`` (their number), ``tails``, ``heads`` and,
optionally, ``lengths``, ``positions`` (x and y in turn), ``names`` and ``directed``. Arrays are
lists of numbers, or base64 of 32-bit whole numbers and 64-bit floats. A label without a value gets
the graph distance to the goal, plus noise if there is any; it is left out if there is no path to
the goal.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any, ClassVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from ..checks import as_choice, as_real, as_whole, short
from ..errors import InputError
from ..fields.names import parse_method
from ..graphs.graph import Graph
from ..graphs.grid import grid_graph
from ..graphs.labels import Labels
from ..graphs.layouts import Layout
from ..graphs.names import Naming
from ..plans.planning import RuleName, TieName
from ..typing import FloatArray

MOST_DRAWN = 50_000
MOST_EDGES = 250_000
MOST_CELLS = 40_000
MOST_REFINED = 64
"""Limits on the size of a scene: beyond them nothing would be smooth."""
_LONGEST_NAME = 200
_FEWEST_CELLS = 3
"""Cells along the longer side of a maze that is recognised from its graph, if it is that large."""
_LARGEST_NUMBER = 1e15

DISTANCE = "distance"
"""The method word of the one field that is no extension of the labels: the graph distance."""


@dataclass(frozen=True)
class MazeWorld:
    """A maze as text, and the number of vertices along the side of a cell."""

    text: str
    refinement: int
    names: ClassVar[None] = None
    """Its vertices have no names."""

    @cached_property
    def layout(self) -> Layout:
        """The parsed maze."""
        return Layout.from_text(self.text)

    def check(self) -> None:
        """Raise `InputError` if the maze is unreadable or too large, before its graph is built."""
        count = self.layout.num_free * self.refinement**2
        if count > MOST_DRAWN:
            raise InputError(
                f"the maze has {count:,} vertices at refinement {self.refinement}, "
                f"more than {MOST_DRAWN:,}"
            )


@dataclass(frozen=True, eq=False)
class GraphWorld:
    """A user's graph: edges, positions and names of its vertices."""

    vertices: int
    tails: NDArray[np.int32]
    heads: NDArray[np.int32]
    lengths: FloatArray | None
    positions: FloatArray | None
    directed: bool
    names: tuple[str, ...] | None

    @cached_property
    def key(self) -> str:
        """Cache key: a digest of everything but names and positions."""
        digest = sha256(f"{self.vertices},{self.directed},{self.lengths is None}".encode())
        for array in (self.tails, self.heads, self.lengths):
            if array is not None:
                digest.update(array.tobytes())
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GraphWorld) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def to_json(self) -> dict[str, Any]:
        """Return the graph as JSON data."""
        return {
            "vertices": self.vertices,
            "tails": packed(self.tails),
            "heads": packed(self.heads),
            "lengths": None if self.lengths is None else packed(self.lengths),
            "positions": None if self.positions is None else packed(self.positions.ravel()),
            "directed": self.directed,
            "names": None if self.names is None else list(self.names),
        }


World = MazeWorld | GraphWorld
Drawn = tuple[float, int]
"""Share and seed of a draw of labels."""


@dataclass(frozen=True)
class Panel:
    """How one panel's field is made and planned on."""

    method: str = "amle"
    rule: RuleName = "slope"
    ties: TieName = "exit"
    lift: bool = False


@dataclass(frozen=True)
class Scene:
    """Everything that is shown. A label with the value None has the true one, plus noise.

    Examples
    --------
    >>> scene = Scene(MazeWorld("....", 2), 0, (0, 15), (0.0, None))
    >>> Scene.from_json(scene.to_json()) == scene
    True
    """

    world: World
    goal: int
    vertices: tuple[int, ...]
    values: tuple[float | None, ...]
    noise: float = 0.0
    noise_seed: int = 0
    panels: tuple[Panel, ...] = (Panel(),)
    budget: float = 0.0
    drawn: Drawn | None = None
    """Share and seed by which the labelled vertices were drawn, or None."""

    @classmethod
    def from_json(cls, data: Any) -> Scene:
        """Read a scene; the `InputError` says what is wrong and where."""
        fields = Fields(data, "scene")
        if fields.has("maze") == fields.has("graph"):
            raise InputError("scene must have exactly one of maze and graph")
        world: World
        if fields.has("maze"):
            part = fields.part("maze")
            world = MazeWorld(
                part.text("text", MOST_CELLS), part.whole("refinement", 1, MOST_REFINED)
            )
            part.done()
            world.check()
        else:
            world = _read_network(fields.part("graph"))
        goal = fields.whole("goal", 0, MOST_DRAWN)

        # labels: a value for each vertex, null for the true one
        part = fields.part("labels")
        vertices = part.array("vertices", np.int32, MOST_DRAWN)
        given = part.items("values", MOST_DRAWN)
        drawn = None
        if part.has("drawn"):
            draw = part.part("drawn")
            drawn = read_draw(draw)
            draw.done()
        part.done()
        if len(given) != vertices.size:
            raise InputError(
                f"scene.labels has {vertices.size:,} vertices and {len(given):,} values"
            )
        if np.unique(vertices).size < vertices.size:
            raise InputError("scene.labels must name each vertex once, got one twice")
        if vertices.min(initial=0) < 0:
            raise InputError(f"scene.labels.vertices must be 0 or more, got {vertices.min()}")
        values: list[float | None] = []
        for position, value in enumerate(given):
            label = Fields({"value": value}, f"scene.labels[{position}]")
            known = label.has("value")
            values.append(
                label.number("value", -_LARGEST_NUMBER, _LARGEST_NUMBER) if known else None
            )

        # how it is shown
        noise = fields.part("noise") if fields.has("noise") else Fields({}, "scene.noise")
        spread, seed = (
            noise.number("spread", 0.0, _LARGEST_NUMBER, 0.0),
            noise.whole("seed", 0, 2**32, 0),
        )
        noise.done()
        panels = []
        for each in fields.items("panels", 2):
            part = Fields(each, "scene.panels")
            method = part.text("method", 40, "amle")
            if method != DISTANCE:
                parse_method(method)
            rule = cast("RuleName", part.choice("rule", get_args(RuleName), "slope"))
            ties = cast("TieName", part.choice("ties", get_args(TieName), "exit"))
            panels.append(Panel(method, rule, ties, part.flag("lift")))
            part.done()
        if not panels:
            raise InputError("scene.panels must hold one or two panels, got none")
        budget = fields.number("budget", 0.0, _LARGEST_NUMBER, 0.0)
        fields.take("view")  # only the page uses it
        fields.done()
        return cls(
            world, goal, tuple(vertices.tolist()), tuple(values),
            spread, seed, tuple(panels), budget, drawn,
        )  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        """Return the scene as plain data."""
        labels: dict[str, Any] = {"vertices": list(self.vertices), "values": list(self.values)}
        if self.drawn is not None:
            labels["drawn"] = {"share": self.drawn[0], "seed": self.drawn[1]}
        world = self.world
        return {
            **(
                {"maze": asdict(world)}
                if isinstance(world, MazeWorld)
                else {"graph": world.to_json()}
            ),
            "goal": self.goal,
            "labels": labels,
            "noise": {"spread": self.noise, "seed": self.noise_seed},
            "panels": [asdict(panel) for panel in self.panels],
            "budget": self.budget,
        }


def scene_of(
    graph: Graph,
    labels: Labels,
    goal: int,
    names: Naming | None = None,
    panels: Iterable[Panel] = (Panel(),),
) -> Scene:
    """Return the scene of a graph; if it is the graph of a maze, the scene of that maze."""
    if graph.num_vertices > MOST_DRAWN or graph.num_edges > MOST_EDGES:
        raise InputError(
            f"the graph has {graph.num_vertices:,} vertices and {graph.num_edges:,} edges; "
            f"the explorer draws up to {MOST_DRAWN:,} and {MOST_EDGES:,}"
        )
    known = labels.check(graph)
    world: World | None = maze_of(graph) if names is None else None
    if world is None:
        once = np.full(graph.num_arcs, graph.directed) | (graph.tails < graph.indices)
        called = None
        if names is not None:
            called = tuple(str(names[x])[:_LONGEST_NAME] for x in range(graph.num_vertices))
        world = GraphWorld(
            graph.num_vertices,
            graph.tails[once].astype(np.int32),
            graph.indices[once].astype(np.int32),
            None if graph.is_unit else graph.lengths[once],
            _in_the_plane(graph),
            graph.directed,
            called,
        )
    return Scene(
        world,
        goal,
        tuple(known.vertices.tolist()),
        tuple(known.values.tolist()),
        panels=tuple(panels),
    )


def maze_of(graph: Graph) -> MazeWorld | None:
    r"""Return the maze that a graph was made from, with walls around it; None if there is none.

    Its vertices have whole coordinates, as in `grid_graph`. Every wall begins and ends at a
    multiple of the refinement, so that the greatest common divisor of all such places is one that
    makes the same graph; where that leaves only a few large cells, a smaller divisor is taken.
    Mazes with terrain or one-way cells are not looked for.

    Examples
    --------
    >>> from wayfield.graphs.grid import grid_graph
    >>> maze_of(grid_graph(Layout.from_text("....\n.#.."), refinement=3)).refinement
    3
    """
    places = _in_the_plane(graph)
    if graph.directed or not graph.is_unit or places is None or (places != np.rint(places)).any():
        return None
    if np.ptp(places, axis=0).max() > MOST_CELLS:
        return None
    column, row = (places - places.min(axis=0)).astype(np.int64).T
    width, height = int(column.max()) + 1, int(row.max()) + 1
    if width * height > 4 * MOST_DRAWN:  # hardly a vertex anywhere: no maze
        return None
    free = np.zeros((height, width), dtype=bool)
    free[height - 1 - row, column] = True
    changes = [1 + np.flatnonzero(np.diff(free, axis=k).any(axis=1 - k)) for k in (0, 1)]
    common = int(np.gcd.reduce([width, height, *changes[0], *changes[1]]))
    fits = [r for r in range(1, MOST_REFINED + 1) if common % r == 0]
    refinement = max(r for r in fits if r == 1 or max(width, height) >= _FEWEST_CELLS * r)
    cells = np.pad(free[::refinement, ::refinement], 1)
    text = "\n".join("".join(".#"[not cell] for cell in line) for line in cells)
    if len(text) > MOST_CELLS:
        return None
    again = grid_graph(Layout.from_text(text), refinement)
    same = again.num_vertices == graph.num_vertices and np.array_equal(again.indptr, graph.indptr)
    return (
        MazeWorld(text, refinement)
        if same and np.array_equal(again.indices, graph.indices)
        else None
    )


def _in_the_plane(graph: Graph) -> FloatArray | None:
    """Return the (n, 2) first two coordinates of the positions; None if there are fewer."""
    if graph.positions is None or graph.positions.shape[1] < 2:
        return None
    return np.ascontiguousarray(graph.positions[:, :2])


def _read_network(part: Fields) -> GraphWorld:
    n = part.whole("vertices", 1, MOST_DRAWN)
    tails = part.array("tails", np.int32, MOST_EDGES)
    heads = part.array("heads", np.int32, MOST_EDGES)
    lengths = part.array("lengths", np.float64, MOST_EDGES) if part.has("lengths") else None
    positions = part.array("positions", np.float64, 2 * n) if part.has("positions") else None
    if positions is not None:
        if positions.size != 2 * n:
            raise InputError(
                f"scene.graph.positions must be {2 * n:,} numbers, x and y in turn, "
                f"got {positions.size:,}"
            )
        if not np.isfinite(positions).all():
            raise InputError("scene.graph.positions has a number that is not finite")
        positions = positions.reshape(n, 2)
    names = tuple(part.items("names", n)) if part.has("names") else None
    if names is not None and len(names) != n:
        raise InputError(f"scene.graph.names has {len(names):,} names for {n:,} vertices")
    if any(not isinstance(name, str) or len(name) > _LONGEST_NAME for name in names or ()):
        raise InputError(f"scene.graph.names must be text of up to {_LONGEST_NAME} characters")
    directed = part.flag("directed")
    part.done()
    return GraphWorld(n, tails, heads, lengths, positions, directed, names)


def read_draw(fields: Fields) -> Drawn:
    """Read the share and the seed of a draw."""
    return fields.number("share", 1e-6, 1.0), fields.whole("seed", 0, 2**32)


# ------------------------------------------------------------------ reading untrusted JSON


def read_json(body: bytes | bytearray) -> Any:
    """Parse JSON; NaN, infinity, deep nesting and broken text are input errors."""

    def refuse(name: str) -> float:
        raise InputError(f"{name} is not a valid JSON number")

    try:
        return json.loads(body, parse_constant=refuse)
    except RecursionError as error:
        raise InputError("the request is nested too deeply") from error
    except UnicodeDecodeError as error:
        raise InputError(f"the request is not UTF-8: {error.reason}") from error
    except json.JSONDecodeError as error:
        raise InputError(f"the request is not JSON: {error}") from error
    except ValueError as error:  # our own InputError, or a whole number of thousands of digits
        raise InputError(str(error).partition(";")[0]) from error


class Fields:
    """Reader of one JSON object, entry by entry; `done` rejects entries that were not read.

    Examples
    --------
    >>> Fields({"goal": 3}, "scene").whole("goal", 0, 10)
    3
    >>> Fields({"goal": "x"}, "scene").whole("goal", 0, 10)
    Traceback (most recent call last):
    wayfield.errors.InputError: scene.goal must be a whole number of at least 0, got 'x'
    """

    def __init__(self, data: Any, name: str) -> None:
        if not isinstance(data, Mapping):
            raise InputError(f"{name} must be an object, got {_kind(data)}")
        self.data, self.name, self.left = data, name, set(data)

    def has(self, key: str) -> bool:
        """Whether an entry is present and not null."""
        if self.data.get(key) is None:
            self.left.discard(key)
            return False
        return True

    def take(self, key: str) -> Any:
        """Return an entry as it is; None if it is missing."""
        self.left.discard(key)
        return self.data.get(key)

    def part(self, key: str) -> Fields:
        """Return an entry that is an object itself."""
        return Fields(self.take(key), f"{self.name}.{key}")

    def items(self, key: str, most: int) -> Sequence[Any]:
        """Return an entry that is a list."""
        value = self.take(key)
        if not isinstance(value, list):
            raise self._wrong(key, "a list", value)
        if len(value) > most:
            raise InputError(f"{self.name}.{key} has {len(value):,} entries, more than {most:,}")
        return value

    def whole(self, key: str, least: int, most: int, default: int | None = None) -> int:
        """Return an entry that is a whole number within a range."""
        value = self._given(key, "a whole number", default)
        return as_whole(value, f"{self.name}.{key}", least, most)

    def number(self, key: str, least: float, most: float, default: float | None = None) -> float:
        """Return an entry that is a finite number within a range."""
        return as_real(self._given(key, "a number", default), f"{self.name}.{key}", least, most)

    def text(self, key: str, longest: int, default: str | None = None) -> str:
        """Return an entry that is text."""
        value = self._given(key, "text", default)
        if not isinstance(value, str):
            raise self._wrong(key, "text", value)
        if len(value) > longest:
            raise InputError(f"{self.name}.{key} is longer than {longest:,} characters")
        return value

    def choice(self, key: str, known: tuple[str, ...], default: str) -> str:
        """Return an entry that is one of the known words."""
        return as_choice(self._given(key, "text", default), f"{self.name}.{key}", known)

    def flag(self, key: str) -> bool:
        """Return an entry that is true or false; false if it is missing."""
        value = self.take(key)
        if value is not None and not isinstance(value, bool):
            raise self._wrong(key, "true or false", value)
        return bool(value)

    def array(self, key: str, dtype: type[np.generic], most: int) -> NDArray[Any]:
        """Return an entry that is a list of numbers, or an array in base64, little-endian."""
        value = self.take(key)
        name = f"{self.name}.{key}"
        if isinstance(value, str):
            kind = np.dtype(dtype)
            if len(value) > 4 * (most * kind.itemsize // 3 + 2):
                raise InputError(f"{name} has more than {most:,} entries")
            try:
                data = base64.b64decode(value, validate=True)
            except (binascii.Error, ValueError) as error:
                raise InputError(f"{name} is not base64: {error}") from error
            if len(data) % kind.itemsize:
                raise InputError(f"{name} does not hold whole entries of {kind.itemsize} bytes")
            return np.frombuffer(data, kind.newbyteorder("<")).astype(dtype)
        if not isinstance(value, list):
            raise self._wrong(key, "a list of numbers", value)
        if len(value) > most:
            raise InputError(f"{name} has {len(value):,} entries, more than {most:,}")
        whole = np.dtype(dtype).kind == "i"
        for position, each in enumerate(value):
            if isinstance(each, bool) or not isinstance(each, int if whole else int | float):
                wanted = "a whole number" if whole else "a number"
                raise InputError(f"{name}[{position}] must be {wanted}, got {_kind(each)}")
        try:
            return np.array(value, dtype)
        except OverflowError as error:
            raise InputError(f"{name} has a number that is too large") from error

    def done(self) -> None:
        """Raise `InputError` for entries that were not read."""
        if self.left:
            raise InputError(f"{self.name} has an unknown entry {short(min(self.left))}")

    def _given(self, key: str, wanted: str, default: Any) -> Any:
        """Return an entry, or its default if it is missing or null."""
        value = self.take(key)
        if value is None and default is None:
            raise self._wrong(key, wanted, value)
        return default if value is None else value

    def _wrong(self, key: str, wanted: str, value: Any) -> InputError:
        if key not in self.data:
            return InputError(f"{self.name}.{key} is missing: it must be {wanted}")
        return InputError(f"{self.name}.{key} must be {wanted}, got {_kind(value)}")


def packed(array: NDArray[Any]) -> str:
    """Return an array in base64, little-endian, as `Fields.array` reads it."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return base64.b64encode(little.tobytes()).decode("ascii")


def _kind(value: Any) -> str:
    """Describe a value for messages: a number as it is, anything else by its kind."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return short(value)
    kinds = {dict: "an object", list: "a list", str: "text", bool: "true or false"}
    return kinds.get(type(value), "null")
