"""Directed worlds: who reaches the goal, and at what cost, on directed, weighted graphs.

Exact labels at 0.1 to 10 % of the states of one-way mazes, terrain mazes and replay-like graphs.
Every start that can reach the goal counts. Arms differ in the field, the rule and the graph the
field is computed on; all plans walk the directed graph. Reverse Dijkstra is the honest reference:
on the right graph it reaches from everywhere at cost ratio 1, and nothing beats it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from wayfield._arrays import as_choice, as_real, as_whole
from wayfield.extension import AMLE, Harmonic, Method, NearestLabel, PLaplacian, extend
from wayfield.graph import Graph
from wayfield.kernels._types import FloatArray, IntArray
from wayfield.labels import Labels
from wayfield.lifting import check_field
from wayfield.plans import Plan, RuleName, TieName, plan
from wayfield.shortest_paths import cost_to_go, sample_labels

from ..engine import Experiment, Profile, Records, Row
from ..engine.config import read_list, refuse_others
from ..report import Chart, Finding, Look, Section, Table, against, plural
from ._trial import Arm
from ._worlds import WORLDS, World, make_world

FRACTIONS = (0.001, 0.003, 0.01, 0.03, 0.1)
SEEDS = (54, 55, 56, 57, 58)
SIZE = 5_000
LARGE_SIZES = (20_000, 100_000)
WALKS = 50
"""Starts per cell that are walked with LRTA*, drawn at random: it learns one start at a time."""


@dataclass(frozen=True)
class WorldCell:
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

    @property
    def key(self) -> str:
        """Name of the cell."""
        return f"{self.world}-n{self.size}-lf{self.label_fraction:g}-s{self.seed}"

    @property
    def columns(self) -> Row:
        """All settings."""
        return {
            "world": self.world,
            "size": self.size,
            "label_fraction": self.label_fraction,
            "seed": self.seed,
        }

    def draw(self) -> tuple[World, Labels]:
        """Make the world and draw its labels."""
        world = make_world(self.world, self.size, self.seed)
        return world, sample_labels(world.graph, world.goal, self.label_fraction, self.seed)


@dataclass(frozen=True)
class Course(Arm):
    """One way to plan on a directed graph.

    Attributes
    ----------
    symmetric : bool
        Whether the field is that of the symmetrised graph (the shorter length of two).
    learn : bool
        Whether failing starts are walked by LRTA*; then a sample of the starts is.
    """

    ties: TieName = field(default="exit", kw_only=True)
    rule: RuleName = field(default="slope", kw_only=True)
    symmetric: bool = field(default=False, kw_only=True)
    learn: bool = field(default=False, kw_only=True)


def _courses() -> tuple[Course, ...]:
    cost, flat = (AMLE(bracket=False, fill=fill) for fill in ("cost", "flat"))
    power, harmonic = PLaplacian(8, bracket=False), Harmonic(bracket=False)
    plain = (
        Course("cost_slope", "AMLE, cost fill, slope", "exit", "diamond", method=cost),
        Course("cost_q", "AMLE, cost fill, q", "exact-line", "triangle", method=cost, rule="q"),
        Course("flat_slope", "AMLE, flat fill, slope", "line-c", method=flat),
        Course("flat_q", "AMLE, flat fill, q", "sweeps", "square", method=flat, rule="q"),
        *(
            Course(f"sym_{name}", f"symmetrised {title}", colour, method=method, symmetric=True)
            for name, title, colour, method in (
                ("amle", "AMLE", "line-a", flat),
                ("p8", "p = 8", "line-d", power),
                ("harmonic", "harmonic", "harmonic", harmonic),
                ("nearest", "nearest", "nearest", NearestLabel()),
            )
        ),
    )
    walked = (
        replace(course, name=f"{course.name}_lrta", title=f"{course.title} + LRTA*", learn=True)
        for course in plain
        if course.symmetric or course.name == "flat_q"
    )
    return (*plain, *walked)


COURSES = _courses()
REFERENCE = Look("dijkstra", "reverse Dijkstra", "oracle")
LOOKS: tuple[Look, ...] = (*COURSES, REFERENCE)
CHARTED = ("cost_slope", "flat_q", "sym_amle", "sym_harmonic", "sym_nearest")


def run(cell: WorldCell) -> list[Row]:
    """One row for every arm, then the reference: pairs are starts that can reach the goal.

    ``cost_ratio`` is the mean of walked over least cost, over the starts that reached; NaN if
    none did.
    """
    world, labels = cell.draw()
    truth = cost_to_go(world.graph, world.goal)
    able = np.isfinite(truth)
    able[world.goal] = False
    starts = np.flatnonzero(able)
    count = min(WALKS, starts.size)
    sample = np.random.default_rng(cell.seed).choice(starts, count, replace=False)
    about: Row = {
        "vertices": world.graph.num_vertices,
        "arcs": world.graph.num_arcs,
        "reciprocity": round(world.reciprocity, 4),
        "labels": len(labels),
    }
    rows = []
    for course, outcome in _plans(world, labels):
        chosen = sample if course.learn else starts
        cost = _walked(outcome, chosen) if course.learn else outcome.cost[starts]
        rows.append(about | _row(course.name, cost / truth[chosen]))
    best = plan(world.graph, truth, world.goal)
    return [*rows, about | _row(REFERENCE.name, best.cost[starts] / truth[starts])]


def _plans(world: World, labels: Labels) -> Iterator[tuple[Course, Plan]]:
    """Plan of every arm; fields are computed once."""
    fields: dict[tuple[Method, bool], FloatArray] = {}
    graphs = {False: world.graph, True: world.graph.symmetrised()}
    for course in COURSES:
        key = course.method, course.symmetric
        if key not in fields:
            fields[key] = _field(graphs[course.symmetric], labels, course.method)
        yield course, plan(world.graph, fields[key], world.goal, course.rule, course.ties)


def _field(graph: Graph, labels: Labels, method: Method) -> FloatArray:
    return check_field(graph, extend(graph, labels, method, unreachable="nan", check=False))


def _walked(outcome: Plan, starts: IntArray) -> FloatArray:
    return np.array([outcome.rollout(int(s), learn=True).cost for s in starts])


def _row(arm: str, ratio: FloatArray) -> Row:
    done = np.isfinite(ratio)
    mean = round(float(ratio[done].mean()), 6) if done.any() else float("nan")
    return {"arm": arm, "pairs": ratio.size, "reached": int(done.sum()), "cost_ratio": mean}


# -------------------------------------------------------------------- cells


def cells(profile: Profile) -> list[WorldCell]:
    """Every kind of world; ``large`` adds one of each kind up to 100,000 states."""
    if profile.name == "quick":
        return [WorldCell(kind, 600, f, SEEDS[0]) for kind in WORLDS for f in (0.01, 0.1)]
    small = [WorldCell(k, SIZE, f, s) for s, k, f in product(SEEDS, WORLDS, FRACTIONS)]
    big = product(LARGE_SIZES, WORLDS, FRACTIONS) if profile.name == "large" else ()
    return small + [WorldCell(k, n, f, SEEDS[0]) for n, k, f in big]


def read_grid(given: Mapping[str, Any], folder: Path) -> list[WorldCell]:
    """Read the ``[grid]`` of a study of one's own: every combination of its settings."""
    table = dict(given)
    refuse_others(table, ("worlds", "sizes", "label_fractions", "seeds"), "grid.")
    kinds = read_list(
        table, "worlds", tuple(WORLDS), lambda x, name: as_choice(x, name, tuple(WORLDS))
    )
    sizes = read_list(table, "sizes", [SIZE], lambda n, name: as_whole(n, name, 4, 10**7))
    fractions = read_list(
        table, "label_fractions", FRACTIONS, lambda x, name: as_real(x, name, 1e-6, 1.0)
    )
    seeds = read_list(table, "seeds", SEEDS, lambda seed, name: as_whole(seed, name, 0, 2**63 - 1))
    combinations = product(seeds, kinds, sizes, fractions)
    return [WorldCell(kind, n, f, seed) for seed, kind, n, f in combinations]


# -------------------------------------------------------------------- what comes out


def charts(rows: Records) -> list[Chart]:
    """Success against labels, on every kind of world."""
    looks = [look for look in LOOKS if look.name in CHARTED]
    return [
        against(some, "label_fraction", looks, f"Success against labels, {kind}", _percent)
        for kind, some in rows.by("world").items()
    ]


def _percent(fraction: float) -> str:
    return f"{100 * fraction:g} %"


def tables(rows: Records) -> list[Table]:
    """Success and cost ratio of every arm on every kind of world, over all its cells."""
    kinds = rows.values("world")
    groups = rows.by("arm", "world")
    lines = [
        [look.title, *(entry for kind in kinds for entry in _shares(groups[look.name, kind]))]
        for look in LOOKS
        if (look.name, kinds[0]) in groups
    ]
    heads = [f"{kind}{column}" for kind in kinds for column in ("", ", cost ratio")]
    note = (
        "Share of all starts that can reach whose walk does, rounded down, and the mean ratio of "
        f"walked to least cost of those that did. LRTA* walks {WALKS} starts per cell."
    )
    return [Table("arms", "Success and cost ratio", ["arm", *heads], lines, note)]


def _shares(rows: Records) -> tuple[str, str]:
    """Share that reached, rounded down so that 1 means all, and the mean cost ratio."""
    reached = rows.total("reached")
    share = reached / max(rows.total("pairs"), 1)
    cost = sum(row["reached"] * row["cost_ratio"] for row in rows if row["reached"])
    ratio = f"{cost / reached:.3f}" if reached else "–"
    return f"{np.floor(share * 1e4) / 1e4:.4f}", ratio


def findings(rows: Records) -> Iterator[Finding]:
    """Tell whether the directed AMLE reaches from everywhere, and what symmetrising costs."""
    ours, other = rows.where(arm="cost_slope"), rows.where(arm="sym_amle")
    lost = ours.total("pairs") - ours.total("reached")
    scope = f"On {plural(len(rows.distinct('world', 'size', 'label_fraction', 'seed')), 'cell')}."
    yield Finding(
        "new" if lost == 0 else "differs",
        "Does the directed AMLE lead every start to the goal?",
        f"With cost fill and steepest descent {lost:,} of {ours.total('pairs'):,} starts that can "
        "reach the goal fail. On the AMLE of the symmetrised graph "
        f"{1 - other.ratio('reached', 'pairs'):.1%} do. Reverse Dijkstra reaches from everywhere "
        "at the least cost: where the graph is right, it is the better choice.",
        scope,
    )


EXPERIMENT = Experiment(
    "directed",
    "Directed worlds",
    version=1,
    run=run,
    cells=cells,
    effort=lambda cell: float(cell.size),
    read_grid=read_grid,
    sections=(
        Section(
            "directed",
            "Directed worlds",
            "One-way mazes, terrain and replay-like graphs with exact labels: the directed AMLE "
            "with both fills and both greedy rules, the same methods on the symmetrised graph, "
            "and walks that learn on the way, beside reverse Dijkstra.",
            charts=charts,
            tables=tables,
            findings=findings,
        ),
    ),
)
