"""Directed worlds: who reaches the goal, and at what cost, on directed, weighted graphs.

Exact labels at 0.1 to 10 % of the states of one-way mazes, terrain mazes and replay-like graphs,
each world made from a seed alone. Every start that can reach the goal counts. Arms differ in the
field, the rule and the graph the field is computed on; all plans walk the directed graph. Reverse
Dijkstra is the honest reference: on the right graph it reaches from everywhere at cost ratio 1, and
nothing beats it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.spatial import KDTree

import wayfield as wf
from wayfield.checks import as_choice
from wayfield.fields import Method, check_field
from wayfield.plans.planning import RuleName, TieName
from wayfield.typing import BoolArray, FloatArray, IntArray
from wayfield.words import number_of, percent

from ..engine import Profile, Records, Row
from ..engine.config import Reader, check_size, read_list, real, refuse_others, whole
from ..report import Chart, Look, StudyFinding, Table, against
from .comparison import Settings, make_experiment
from .trial import Arm

FRACTIONS = (0.001, 0.003, 0.01, 0.03, 0.1)
SEEDS = (54, 55, 56, 57, 58)
SIZE = 5_000
OPEN = 0.75
"""Share of a maze's cells that are free."""
ONE_WAY = 0.3
"""Share of a maze's passages that are one-way."""
NEIGHBOURS = 6
"""Nearest neighbours of a replay-like graph."""
SEEN = 0.9
"""Share of a replay-like graph's arcs that were ever walked; the rest is missing."""
SPREAD = 0.5
"""Standard deviation of the logarithm of a replay-like graph's lengths, relative to distance."""


# -------------------------------------------------------------------- worlds


class DirectedWorld(NamedTuple):
    """A directed graph and where to go on it."""

    graph: wf.Graph
    goal: int
    """In the largest strong component, so that most states can reach it."""


def make_world(kind: str, size: int, seed: int) -> DirectedWorld:
    """Build a world of about `size` vertices; the same for the same arguments.

    Examples
    --------
    >>> make_world("one-way maze", 400, seed=1).graph
    Graph(421 vertices, 1,090 arcs, directed, unit lengths)
    """
    parts = [list(WORLDS).index(kind), size, seed]
    rng = np.random.default_rng(np.random.SeedSequence(parts))
    graph = WORLDS[kind](size, rng)
    component = graph.strong_components
    largest = int(np.argmax(np.bincount(component)))
    return DirectedWorld(graph, int(rng.choice(np.flatnonzero(component == largest))))


def one_way_maze(size: int, rng: np.random.Generator) -> wf.Graph:
    """Make a lattice with walls; some passages are one-way. Unit lengths."""
    free, tails, heads = _lattice(size, rng)
    turned = rng.random(tails.size) < 0.5
    tails, heads = np.where(turned, heads, tails), np.where(turned, tails, heads)
    back = rng.random(tails.size) >= ONE_WAY
    ends = np.concatenate([tails, heads[back]]), np.concatenate([heads, tails[back]])
    return wf.Graph.from_edges(*ends, num_vertices=int(free.sum()), directed=True)


def terrain_maze(size: int, rng: np.random.Generator) -> wf.Graph:
    """Make a lattice with walls; entering a cell costs 1 to 9, in patches."""
    free, tails, heads = _lattice(size, rng)
    rough = gaussian_filter(rng.normal(size=free.shape), 2.0)
    rank = np.argsort(np.argsort(rough.ravel())).reshape(free.shape)
    price = (1 + 9 * rank // rank.size).astype(np.float64)[free]
    ends = np.concatenate([tails, heads]), np.concatenate([heads, tails])
    return wf.Graph.from_edges(*ends, price[ends[1]], int(free.sum()), directed=True)


def replay_like_graph(size: int, rng: np.random.Generator) -> wf.Graph:
    """Draw points in a square with arcs to most nearest neighbours; lognormal lengths."""
    points = rng.random((size, 2))
    _, near = KDTree(points).query(points, NEIGHBOURS + 1)
    seen = rng.random((size, NEIGHBOURS)) < SEEN
    tails = np.repeat(np.arange(size), NEIGHBOURS)[seen.ravel()]
    heads: IntArray = np.asarray(near)[:, 1:][seen]
    noise = rng.lognormal(sigma=SPREAD, size=tails.size)
    distance = np.linalg.norm(points[tails] - points[heads], axis=1)
    return wf.Graph.from_edges(tails, heads, np.sqrt(size) * distance * noise, size, directed=True)


WORLDS: dict[str, Callable[[int, np.random.Generator], wf.Graph]] = {
    "one-way maze": one_way_maze,
    "terrain maze": terrain_maze,
    "replay graph": replay_like_graph,
}


def _lattice(size: int, rng: np.random.Generator) -> tuple[BoolArray, IntArray, IntArray]:
    """Draw free cells, and list the pairs of them side by side, numbered row by row."""
    side = max(2, round(float(np.sqrt(size / OPEN))))
    free = rng.random((side, side)) < OPEN
    number = np.cumsum(free).reshape(free.shape) - 1
    across, down = free[:, :-1] & free[:, 1:], free[:-1] & free[1:]
    tails = np.concatenate([number[:, :-1][across], number[:-1][down]])
    heads = np.concatenate([number[:, 1:][across], number[1:][down]])
    return free, tails, heads


# -------------------------------------------------------------------- cells


@dataclass(frozen=True)
class WorldCell(Settings):
    """A random directed world, and how many of its states are labelled.

    Attributes
    ----------
    world : str
        One of `WORLDS`.
    size : int
        About how many states it has.
    label_fraction : float
        Share of the states that are labelled.
    seed : int
        Of the world and of the labels.
    """

    world: str
    size: int
    label_fraction: float
    seed: int

    def draw(self) -> tuple[DirectedWorld, wf.Labels]:
        """Make the world and draw its labels."""
        world = make_world(self.world, self.size, self.seed)
        return world, wf.sample_labels(world.graph, world.goal, self.label_fraction, self.seed)


def cells(profile: Profile) -> list[WorldCell]:
    """Return every kind of world."""
    if profile.name == "quick":
        return [WorldCell(kind, 600, f, SEEDS[0]) for kind in WORLDS for f in (0.01, 0.1)]
    return [WorldCell(k, SIZE, f, s) for s, k, f in product(SEEDS, WORLDS, FRACTIONS)]


def read_grid(given: Mapping[str, Any], folder: Path) -> list[WorldCell]:
    """Read the ``[grid]`` of a study of one's own: every combination of its settings."""
    lists: dict[str, tuple[Sequence[Any], Reader[Any]]] = {
        "seeds": (SEEDS, whole(0, 2**63 - 1)),
        "worlds": (tuple(WORLDS), partial(as_choice, choices=tuple(WORLDS))),
        "sizes": ((SIZE,), whole(4, 10**7)),
        "label_fractions": (FRACTIONS, real(1e-6, 1.0)),
    }
    refuse_others(given, tuple(lists), "grid.")
    found = [read_list(given, key, default, read) for key, (default, read) in lists.items()]
    check_size(*found)
    return [WorldCell(kind, n, f, seed) for seed, kind, n, f in product(*found)]


# -------------------------------------------------------------------- arms


@dataclass(frozen=True)
class DirectedArm(Arm):
    """A method and a greedy rule on a directed graph.

    Attributes
    ----------
    symmetric : bool
        Whether the field is that of the symmetrised graph (the shorter length of two).
    """

    ties: TieName = field(default="exit", kw_only=True)
    rule: RuleName = field(default="slope", kw_only=True)
    symmetric: bool = field(default=False, kw_only=True)


_COST = wf.AMLE(bracket=False, fill="cost")
ARMS = (
    DirectedArm("cost_slope", "AMLE, cost fill, slope", "exit", "diamond", method=_COST),
    DirectedArm("cost_q", "AMLE, cost fill, q", "exact-line", "triangle", method=_COST, rule="q"),
    *(
        DirectedArm(f"sym_{name}", f"symmetrised {title}", colour, method=method, symmetric=True)
        for name, title, colour, method in (
            ("amle", "AMLE", "line-a", wf.AMLE(bracket=False, fill="flat")),
            ("p8", "p = 8", "line-d", wf.PLaplacian(8, bracket=False)),
            ("harmonic", "harmonic", "harmonic", wf.Harmonic(bracket=False)),
            ("nearest", "nearest", "nearest", wf.NearestLabel()),
        )
    ),
)
REFERENCE = Look("dijkstra", "reverse Dijkstra", "oracle")
LOOKS: tuple[Look, ...] = (*ARMS, REFERENCE)
CHARTED = ("cost_slope", "cost_q", "sym_amle", "sym_harmonic", "sym_nearest")


def run(cell: WorldCell) -> list[Row]:
    """Return one row for every arm, then the reference: pairs are starts that can reach the goal.

    ``cost_ratio`` is the mean of walked over least cost, over the starts that reached; NaN if
    none did.
    """
    (graph, goal), labels = cell.draw()
    truth = wf.cost_to_go(graph, goal)
    able = np.isfinite(truth)
    able[goal] = False
    starts = np.flatnonzero(able)
    graphs = {False: graph, True: graph.symmetrised()}
    fields: dict[tuple[Method, bool], FloatArray] = {}
    ratios = {}
    for arm in ARMS:
        key, where = (arm.method, arm.symmetric), graphs[arm.symmetric]
        if key not in fields:
            found = wf.extend(where, labels, arm.method, unreachable="nan", check=False)
            fields[key] = check_field(where, found)
        outcome = wf.plan(graph, fields[key], goal, arm.rule, arm.ties)
        ratios[arm.name] = outcome.cost[starts] / truth[starts]
    ratios[REFERENCE.name] = wf.plan(graph, truth, goal).cost[starts] / truth[starts]
    about: Row = {"vertices": graph.num_vertices, "arcs": graph.num_arcs, "labels": len(labels)}
    rows = []
    for name, ratio in ratios.items():  # inf where the goal was not reached
        done = np.isfinite(ratio)
        mean = round(float(ratio[done].mean()), 6) if done.any() else float("nan")
        reached: Row = {"pairs": ratio.size, "reached": int(done.sum()), "cost_ratio": mean}
        rows.append({**about, "arm": name, **reached})
    return rows


# -------------------------------------------------------------------- what is shown


def charts(rows: Records) -> list[Chart]:
    """Draw success against labels, on every kind of world."""
    looks = [look for look in LOOKS if look.name in CHARTED]
    return [
        against(some, "label_fraction", looks, f"Success against labels, {kind}", percent)
        for kind, some in rows.by("world").items()
    ]


def tables(rows: Records) -> list[Table]:
    """Tabulate success and cost ratio of every arm on every kind of world, over all its cells."""
    kinds, groups, lines = rows.values("world"), rows.by("arm", "world"), []
    for look in LOOKS:
        if (look.name, kinds[0]) not in groups:
            continue
        entries = []
        for some in (groups[look.name, kind] for kind in kinds):
            reached = some.total("reached")
            share = reached / max(some.total("pairs"), 1)
            cost = sum(row["reached"] * row["cost_ratio"] for row in some if row["reached"])
            entries.append(f"{np.floor(share * 1e4) / 1e4:.4f}")  # so that 1 means all
            entries.append(f"{cost / reached:.3f}" if reached else "–")
        lines.append([look.title, *entries])
    heads = [f"{kind}{column}" for kind in kinds for column in ("", ", cost ratio")]
    note = (
        "Share of the starts with a path to the goal whose walk reaches it, rounded down, and the "
        "mean ratio of walked to least cost over the walks that do."
    )
    return [Table("arms", "Success and cost ratio", ["arm", *heads], lines, note)]


def findings(rows: Records) -> Iterator[StudyFinding]:
    """Report whether the directed AMLE reaches from everywhere, and what symmetrising costs."""
    ours, other = rows.where(arm="cost_slope"), rows.where(arm="sym_amle")
    lost = ours.total("pairs") - ours.total("reached")
    cells = len(rows.distinct("world", "size", "label_fraction", "seed"))
    yield StudyFinding(
        "new" if lost == 0 else "differs",
        "Does the directed AMLE lead every start to the goal?",
        f"With cost fill and steepest descent {lost:,} of {ours.total('pairs'):,} starts that can "
        "reach the goal fail. On the AMLE of the symmetrised graph "
        f"{1 - other.ratio('reached', 'pairs'):.1%} do. Reverse Dijkstra reaches from everywhere "
        "at the least cost: where the graph is right, it is the better choice.",
        f"On {number_of(cells, 'cells')}.",
    )


EXPERIMENT = make_experiment(
    "directed", 1, run, cells,
    {"charts": charts, "tables": tables, "findings": findings},
    effort=lambda cell: float(cell.size),
    read_grid=read_grid,
)  # fmt: skip
