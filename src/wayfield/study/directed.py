"""The directed study: who reaches the goal, and at what cost, on directed, weighted graphs.

Exact labels at 0.1 to 10 % of the states of one-way mazes, terrain mazes and replay-like graphs.
Every start that can reach the goal counts. Arms differ in the field, the rule and the graph the
field is computed on; all plans walk the directed graph. Reverse Dijkstra is the honest reference:
on the right graph it reaches from everywhere at cost ratio 1, and nothing beats it.
"""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from itertools import product
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from ..descending import check_field
from ..extension import AMLE, Harmonic, Method, NearestLabel, PLaplacian, extend
from ..graph import Graph
from ..kernels._types import FloatArray, IntArray
from ..labels import Labels
from ..oracle import cost_to_go, sample_labels
from ..plan import Plan, RuleName, TieName, plan
from .progress import Display
from .rollout import Arm
from .tasks import Row
from .worlds import WORLDS, World, make_world

FRACTIONS = (0.001, 0.003, 0.01, 0.03, 0.1)
SEEDS = (54, 55, 56, 57, 58)
SIZE = 5_000
LARGE_SIZES = (20_000, 100_000)
WALKS = 50
"""Starts per cell that are walked with LRTA*, drawn at random: it repairs one start at a time."""


@dataclass(frozen=True)
class Course(Arm):
    """One way to plan on a directed graph.

    Attributes
    ----------
    ties : {"exit", "index"}
        How ties are told apart.
    rule : {"slope", "q"}
        The greedy rule.
    symmetric : bool
        Whether the field is that of the symmetrised graph (the shorter length of two).
    repair : bool
        Whether failing starts are walked by LRTA*; then a sample of the starts is.
    """

    ties: TieName = "exit"
    rule: RuleName = "slope"
    symmetric: bool = False
    repair: bool = False


def _courses() -> tuple[Course, ...]:
    cost, flat = (AMLE(certificate=False, fill=fill) for fill in ("cost", "flat"))
    power, harmonic = PLaplacian(8, certificate=False), Harmonic(certificate=False)
    undirected: list[tuple[str, str, Method]] = [
        ("sym_amle", "symmetrised AMLE", flat),
        ("sym_p8", "symmetrised p = 8", power),
        ("sym_harmonic", "symmetrised harmonic", harmonic),
        ("sym_nearest", "symmetrised nearest", NearestLabel()),
    ]
    return (
        Course("cost_slope", "AMLE, cost fill, slope", cost),
        Course("cost_q", "AMLE, cost fill, q", cost, rule="q"),
        Course("flat_slope", "AMLE, flat fill, slope", flat),
        Course("flat_q", "AMLE, flat fill, q", flat, rule="q"),
        *(Course(name, title, method, symmetric=True) for name, title, method in undirected),
        Course("flat_q_lrta", "AMLE, flat fill, q + LRTA*", flat, rule="q", repair=True),
        *(
            Course(f"{name}_lrta", f"{title} + LRTA*", method, symmetric=True, repair=True)
            for name, title, method in undirected
        ),
    )


COURSES = _courses()
REFERENCE = "dijkstra"
TITLES = {course.name: course.title for course in COURSES} | {REFERENCE: "reverse Dijkstra"}


@dataclass(frozen=True)
class Place:
    """Settings of one cell: a world, and how many of its states are labelled."""

    kind: str
    size: int
    fraction: float
    seed: int


@dataclass(frozen=True)
class Line:
    """What one arm did in one cell.

    Attributes
    ----------
    vertices, arcs, reciprocity
        Of the cell's graph.
    labels : int
        Labelled vertices, the goal among them.
    starts, reached : int
        Starts that can reach the goal, and those that did; LRTA* walks a sample of them.
    cost_ratio : float or None
        Mean of walked over least cost, over those that did; None if none did.
    seconds : float
        Time to compute the field.
    """

    kind: str
    size: int
    fraction: float
    seed: int
    vertices: int
    arcs: int
    reciprocity: float
    labels: int
    arm: str
    starts: int
    reached: int
    cost_ratio: float | None
    seconds: float


def places(large: bool = False, seeds: Sequence[int] = SEEDS) -> list[Place]:
    """List the cells: small worlds, and with `large` one of each kind up to 100,000 states."""
    small = [Place(k, SIZE, f, s) for s, k, f in product(seeds, WORLDS, FRACTIONS)]
    big = product(LARGE_SIZES, WORLDS, FRACTIONS) if large else ()
    return small + [Place(k, n, f, seeds[0]) for n, k, f in big]


def run_directed(cells: Sequence[Place], console: Console | None = None) -> list[Line]:
    """Run the cells one after another and return a line per cell and arm."""
    lines: list[Line] = []
    with Display(console or Console(quiet=True)) as show:
        show.expect("directed", len(cells))
        for place in cells:
            found = run_place(place)
            lines += found
            first = found[0]
            success: Row = {"arm": first.arm, "reached": first.reached, "pairs": first.starts}
            show.count("directed", [success])
    return lines


def run_place(place: Place, courses: Sequence[Course] = COURSES) -> list[Line]:
    """Run one cell: every arm, then the reference."""
    world = make_world(place.kind, place.size, place.seed)
    labels = sample_labels(world.graph, world.goal, place.fraction, place.seed)
    began = time.perf_counter()
    truth = cost_to_go(world.graph, world.goal)
    spent = time.perf_counter() - began
    able = np.isfinite(truth)
    able[world.goal] = False
    starts = np.flatnonzero(able)
    count = min(WALKS, starts.size)
    sample = np.random.default_rng(place.seed).choice(starts, count, replace=False)
    about = asdict(place) | {
        "vertices": world.graph.num_vertices,
        "arcs": world.graph.num_arcs,
        "reciprocity": round(world.reciprocity, 4),
        "labels": len(labels),
    }
    lines = []
    for course, outcome, seconds in _plans(world, labels, courses):
        chosen = sample if course.repair else starts
        cost = _walked(outcome, chosen) if course.repair else outcome.cost[starts]
        lines.append(_line(about, course.name, cost / truth[chosen], seconds))
    best = plan(world.graph, truth, world.goal)
    return [*lines, _line(about, REFERENCE, best.cost[starts] / truth[starts], spent)]


def _plans(
    world: World, labels: Labels, courses: Iterable[Course]
) -> Iterator[tuple[Course, Plan, float]]:
    """Plan of every arm, and the seconds its field took; fields are computed once."""
    fields: dict[tuple[Method, bool], tuple[FloatArray, float]] = {}
    graphs = {False: world.graph, True: world.graph.symmetrised()}
    for course in courses:
        key = course.method, course.symmetric
        if key not in fields:
            fields[key] = _field(graphs[course.symmetric], labels, course.method)
        values, seconds = fields[key]
        yield course, plan(world.graph, values, world.goal, course.rule, course.ties), seconds


def _field(graph: Graph, labels: Labels, method: Method) -> tuple[FloatArray, float]:
    result = extend(graph, labels, method, unreachable="nan", check=False)
    return check_field(graph, result), result.seconds


def _walked(outcome: Plan, starts: IntArray) -> FloatArray:
    return np.array([outcome.rollout(int(s), repair=True).cost for s in starts])


def _line(about: dict[str, object], arm: str, ratio: FloatArray, seconds: float) -> Line:
    done = np.isfinite(ratio)
    mean = round(float(ratio[done].mean()), 6) if done.any() else None
    return Line(
        **about,  # type: ignore[arg-type]
        arm=arm,
        starts=ratio.size,
        reached=int(done.sum()),
        cost_ratio=mean,
        seconds=round(seconds, 6),
    )


# -------------------------------------------------------------------- what comes out


def write_lines(lines: Sequence[Line], folder: Path) -> tuple[Path, Path]:
    """Write ``directed.csv``, one line per cell and arm, and ``directed.json``, the same again."""
    folder.mkdir(parents=True, exist_ok=True)
    table, record = folder / "directed.csv", folder / "directed.json"
    rows = [asdict(line) for line in lines]
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(Line.__dataclass_fields__))
        writer.writeheader()
        writer.writerows(rows)
    content = {"wayfield": metadata.version("wayfield"), "walks": WALKS, "lines": rows}
    record.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return table, record


def summary(lines: Sequence[Line]) -> Table:
    """Success and cost ratio of every arm on every kind of world, over all its cells."""
    title = "success over all starts, and mean cost ratio of those that reached"
    table = Table("arm", title=title, title_justify="left")
    kinds = list(dict.fromkeys(line.kind for line in lines))
    for kind in kinds:
        table.add_column(kind, justify="right")
    for arm in dict.fromkeys(line.arm for line in lines):
        cells = [[x for x in lines if x.arm == arm and x.kind == kind] for kind in kinds]
        table.add_row(TITLES[arm], *(_cell(found) for found in cells))
    return table


def _cell(lines: Sequence[Line]) -> str:
    reached = sum(line.reached for line in lines)
    share = reached / max(sum(line.starts for line in lines), 1)
    cost = sum(line.reached * (line.cost_ratio or 0.0) for line in lines)
    ratio = f"{cost / reached:.3f}" if reached else "–"
    return f"{np.floor(share * 1e4) / 1e4:.4f}  {ratio}"
