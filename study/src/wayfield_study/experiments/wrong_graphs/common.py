"""What the experiments on wrong graphs share: cells, the arms that walk, and tables of them.

All arms but the static one learn while they walk: what an arc that was tried leads to and costs is
known from then on, and they plan again. Cost arms plan with lengths, believed or mended (`drive`);
field arms follow the values of an extension, lifted so that they descend to the goal.

Where arcs have equal lengths many plans are equally short. Replanning Dijkstra takes the one that
`drive` finds; "lowest_index" is the same walker with the first arc of a tie, to show what that
choice is worth (zero values, lifted by length, are distances).

SPL, success weighted by path length, is the mean over starts of (reached) · least cost / cost paid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import wayfield as wf
from wayfield import travel
from wayfield.fields import Method
from wayfield.travel import Mended, MendMethod
from wayfield.travel.trips import Bound
from wayfield.typing import BoolArray, FloatArray
from wayfield_study.driving import drive

from ...engine import Profile, Records, Row
from ...engine.config import one_of, read_lists, real, whole
from ...engine.statistics import t_interval
from ...kernels.following import TriedArcs, follow_all
from ...report import Look, Table
from ..shared import Settings
from .worlds import WRONG_WORLDS, WrongWorld, make_wrong_world

NEIGHBOURS = 5
"""Labels that an estimate by coordinates rests on."""
STARTS = 60
FEWEST = 3
"""Labels beside the goal's, at least: fewer cannot be held out in turn."""
SEEDS = tuple(range(8))
SOME = ("patch", "short1", "alias10", "road", "combo", "exact")
"""Worlds that differ most; what is not run on all of them is run on these."""
BEST = travel.Best()
"""Model selection: the mend method that predicts held-out costs best."""
SMALL = 0.2
"""Size of the worlds of quick profiles: about 300 states."""


@dataclass(frozen=True, eq=False)
class WrongCase:
    """A world, what is known of it beside its graph, and where walks begin.

    Attributes
    ----------
    world : WrongWorld
        Where to walk, and where to.
    labels : Labels
        Costs to the goal in the world, the goal's own among them.
    starts : (k,) int64 array
        Where the walks begin.
    bound : {"upper"} or None
        "upper" if the labels were paid by walks that may not be the cheapest.
    seed : int
        Of the slips.
    """

    world: WrongWorld
    labels: wf.Labels
    starts: NDArray[np.int64]
    bound: Bound = None
    seed: int = 0

    @property
    def graph(self) -> wf.Graph:
        """The graph as given."""
        return self.world.graph

    @property
    def least(self) -> FloatArray:
        """(k,) least cost from every start."""
        return self.world.truth[self.starts]


@dataclass(frozen=True)
class WrongCell(Settings):
    """A world whose graph is wrong, and how many of its states are labelled.

    Attributes
    ----------
    world : str
        One of `WRONG_WORLDS`.
    label_fraction : float
        Share of the states that are labelled, or of trips.
    seed : int
        Of the world, the labels and the starts.
    size : float
        Size of the world, 1 for about 1,600 states.
    """

    world: str
    label_fraction: float
    seed: int
    size: float = 1.0

    def draw(self) -> WrongCase:
        """Make the world; draw exact labels, the goal's first, and starts."""
        world = make_wrong_world(self.world, self.seed, self.size)
        n = world.graph.num_vertices
        others = np.delete(np.arange(n), world.goal)
        count = max(FEWEST, round(self.label_fraction * n))
        vertices = np.append(world.goal, self.rng(99).choice(others, count, replace=False))
        labels = wf.Labels(vertices, world.truth[vertices])
        return WrongCase(world, labels, self.starts(world), seed=self.seed)

    def starts(self, world: WrongWorld, count: int = STARTS) -> NDArray[np.int64]:
        """Draw where walks begin."""
        return self.rng(7).choice(world.able, min(count, world.able.size), replace=False)

    def rng(self, purpose: int) -> np.random.Generator:
        """Return randomness for a purpose, the same for every world."""
        return np.random.default_rng([self.seed, purpose])


def wrong_grid(
    worlds: Sequence[str],
    fractions: Sequence[float],
    seeds: Sequence[int] = SEEDS,
    size: float = 1.0,
) -> list[WrongCell]:
    """List every combination, seed by seed."""
    combinations = product(seeds, fractions, worlds)
    return [WrongCell(world, fraction, seed, size) for seed, fraction, world in combinations]


def read_grid(given: Mapping[str, Any], folder: Path) -> list[WrongCell]:
    """Read the ``[grid]`` of a study of one's own: every combination of its settings."""
    lists = {
        "worlds": (tuple(WRONG_WORLDS), one_of(WRONG_WORLDS)),
        "sizes": ((1.0,), real(0.1, 100.0)),
        "label_fractions": ((0.01, 0.05), real(1e-4, 0.9)),
        "seeds": (SEEDS, whole(0, 2**31)),
    }
    worlds, sizes, fractions, seeds = read_lists(given, lists)
    return [cell for size in sizes for cell in wrong_grid(worlds, fractions, seeds, size)]


Grid: TypeAlias = tuple[Sequence[str], Sequence[float], Sequence[int]]


def grids(quick: Grid, standard: Grid) -> Callable[[Profile], list[WrongCell]]:
    """Return the cells of an experiment by profile: worlds, shares and seeds; small if quick."""
    return lambda profile: (
        wrong_grid(*quick, SMALL) if profile.name == "quick" else wrong_grid(*standard)
    )


GRID: dict[str, Any] = {"effort": lambda cell: 2.0 * cell.size, "read_grid": read_grid}
"""What experiments on such cells have in common."""


# -------------------------------------------------------------------- walks


class WalkResults(NamedTuple):
    """How the walk from each start ended: (k,) arrays, and the candidate that mend selected."""

    reached: BoolArray
    paid: FloatArray
    found: NDArray[np.int64]
    chosen: str = ""


def drive_by(case: WrongCase, graph: wf.Graph | Mended, memory: bool = False) -> WalkResults:
    """Walk by lengths, replanning."""
    world, cap = case.world, case.world.max_steps
    # where steps slip, no number of failures refutes an arc
    limits = {"patience": cap if world.slippery else 1, "max_steps": cap}
    walks = drive(graph, world.world(case.seed), case.starts, world.goal, memory, **limits)
    chosen = graph.chosen if isinstance(graph, Mended) else ""
    return WalkResults(walks.reached, walks.paid, walks.found, chosen)


def follow(
    case: WrongCase, values: FloatArray, *, steep: bool = True, learns: bool = True
) -> WalkResults:
    """Walk by a field, lifted so that it descends to the goal; see `kernels.following`."""
    world = case.world
    outcome = TriedArcs(world.lands, world.costs, world.slips)
    how = world.goal, steep, learns, world.max_steps, np.random.default_rng(case.seed)
    return WalkResults(*follow_all(case.graph.arcs, values, outcome, case.starts, *how))


def mended(case: WrongCase, method: MendMethod = BEST) -> Mended:
    """Fit the graph to the labels."""
    return travel.mend(case.graph, case.labels, case.world.goal, method, bound=case.bound)


def _extension(case: WrongCase, method: Method, prior: bool = False) -> WalkResults:
    """Follow an extension of the labels; with `prior`, of what they add to the distances."""
    known = wf.cost_to_go(case.graph, case.world.goal) if prior else None
    return follow(case, wf.extend(case.graph, case.labels, method, prior=known, check=False).values)


def _nearest_labels(case: WrongCase) -> WalkResults:
    """Follow the mean of the nearest labels in coordinates, weighted by nearness; no graph."""
    places, labels = case.graph.positions, case.labels
    assert places is not None
    away = np.linalg.norm(places[:, None] - places[labels.vertices], axis=2)
    nearest = np.argsort(away, axis=1, kind="stable")[:, :NEIGHBOURS]
    weights = 1.0 / (np.take_along_axis(away, nearest, axis=1) + 1e-9)
    values = (weights * labels.values[nearest]).sum(axis=1) / weights.sum(axis=1)
    values[labels.vertices] = labels.values
    return follow(case, np.asarray(values), steep=False)


def _mended_walk(case: WrongCase, method: MendMethod) -> WalkResults:
    return drive_by(case, mended(case, method))


def _oracle(case: WrongCase) -> WalkResults:
    """Walk knowing the world."""
    world = case.world
    if world.slippery:
        return follow(case, world.truth)
    known = drive(world.real, world.real, case.starts, world.goal)
    return WalkResults(known.reached, known.paid, known.found)


MENDS: Mapping[str, MendMethod] = {
    "least_change": travel.LeastChange(),
    "no_shortcuts": travel.NoShortcuts(),
    "smooth": travel.Smooth(),
    "both": travel.Both(),
    "mend": BEST,
}
"""Mend methods by the names of their arms."""
_AMLE, _HARMONIC = wf.AMLE(bracket=False), wf.Harmonic(bracket=False)
WALKS: Mapping[str, Callable[[WrongCase], WalkResults]] = {
    "static": lambda case: follow(case, wf.cost_to_go(case.graph, case.world.goal), learns=False),
    "dijkstra": lambda case: drive_by(case, case.graph),
    "lowest_index": lambda case: follow(case, np.zeros(case.graph.num_vertices), steep=False),
    "amle": partial(_extension, method=_AMLE),
    "harmonic": partial(_extension, method=_HARMONIC),
    "residual": partial(_extension, method=_HARMONIC, prior=True),
    "knn": _nearest_labels,
    **{name: partial(_mended_walk, method=method) for name, method in MENDS.items()},
    "oracle": _oracle,
}
"""The walk of every arm."""
LOOKS = (
    Look("static", "Dijkstra, static", "nearest"),
    Look("dijkstra", "Dijkstra, replanning", "sweeps", "square"),
    Look("lowest_index", "Dijkstra, lowest index first", "sweeps"),
    Look("amle", "AMLE", "line-a"),
    Look("harmonic", "harmonic", "harmonic"),
    Look("residual", "distance + harmonic residual", "line-b", "triangle"),
    Look("knn", "5 nearest labels", "line-c"),
    Look("least_change", "least change", "line-d"),
    Look("no_shortcuts", "no shortcuts", "line-d", "square"),
    Look("smooth", "smooth", "exact-line", "triangle"),
    Look("both", "both", "exit"),
    Look("mend", "mend", "exit", "diamond"),
    Look("oracle", "oracle", "oracle"),
)
REFERENCE, OURS = "dijkstra", "mend"
NO_LABELS = ("static", REFERENCE, "lowest_index", "oracle")
"""Arms that the labels do not matter to."""


def row(arm: str, walked: WalkResults, least: FloatArray) -> Row:
    """Return the row of an arm.

    ``pairs`` and ``reached`` are counts. ``spl`` is defined above. ``cost_ratio`` is the mean of
    cost paid over least cost; failed walks count up to where they ended. ``bumps`` is the mean
    number of arcs that a walk refuted, and ``chosen`` the candidate that a mend selected.
    """
    paid = np.maximum(walked.paid, least)
    return {
        "arm": arm,
        "pairs": walked.reached.size,
        "reached": int(walked.reached.sum()),
        "spl": round(float((walked.reached * least / paid).mean()), 6),
        "cost_ratio": round(float((paid / least).mean()), 6),
        "bumps": round(float(walked.found.mean()), 4),
        "chosen": walked.chosen,
    }


def rows_of(case: WrongCase, arms: Sequence[str] = tuple(WALKS)) -> list[Row]:
    """Return one row for every arm."""
    return [row(arm, WALKS[arm](case), case.least) for arm in arms]


# -------------------------------------------------------------------- what is shown


NOTES = (
    "SPL: mean over starts of (reached) × least cost / cost paid. ± are 95 % intervals of paired "
    "differences over seeds, by Student's t.",
)
FEWEST_SEEDS = 4
"""With fewer there are no intervals, and nothing is stated as a finding."""
PAIRED_BY = ("world", "size", "label_fraction", "seed", "source", "episodes")


def paired(rows: Records, arm: str = OURS) -> FloatArray:
    """Return by how much the SPL of an arm exceeds the reference's: the mean of every seed."""
    pairs = Records.of(cell_by_cell(rows, arm))
    groups = pairs.by("seed")
    return np.array([groups[seed].mean("difference") for seed in pairs.values("seed")])


def cell_by_cell(rows: Records, arm: str = OURS) -> list[Row]:
    """Return by how much the SPL of an arm exceeds the reference's in every cell that has both."""
    ours, theirs = (
        {tuple(row[key] for key in PAIRED_BY if key in row): row for row in rows.where(arm=name)}
        for name in (arm, REFERENCE)
    )
    return [
        {"seed": row["seed"], "difference": row["spl"] - theirs[key]["spl"]}
        for key, row in ours.items()
        if key in theirs
    ]


def too_few(rows: Records) -> bool:
    """Whether there are too few seeds to state anything."""
    return len(rows.values("seed")) < FEWEST_SEEDS


def interval(values: Sequence[float] | FloatArray) -> tuple[float, float, float]:
    """Return the mean and the ends of its interval over seeds, the mean itself if too few.

    Examples
    --------
    >>> interval([0.1, 0.3])
    (0.2, 0.2, 0.2)
    """
    mean, half = t_interval(values)
    half = half if len(values) >= FEWEST_SEEDS else 0.0
    return mean, mean - half, mean + half


def say_gain(rows: Records, arm: str = OURS) -> str:
    """Write a mean paired difference, and its interval if there are seeds enough."""
    differences = paired(rows, arm)
    if not differences.size:
        return "–"
    mean, half = t_interval(differences)
    enough = len(differences) >= FEWEST_SEEDS and half
    return signed(mean) + (f" ± {half:.3f}" if enough else "")


def signed(number: float) -> str:
    """Write a number with its sign.

    Examples
    --------
    >>> signed(-0.25)
    '−0.250'
    """
    return f"{number:+.3f}".replace("-", "−")


def clearly_above(differences: FloatArray) -> bool:
    """Whether the whole interval of the mean lies above 0."""
    if differences.size < FEWEST_SEEDS:
        return False
    mean, low, _ = interval(differences)
    return low > 0 and mean > 1e-9


def named(worlds: Sequence[str]) -> str:
    """Name worlds in a sentence.

    Examples
    --------
    >>> named(["patch", "oneway"])
    'slow patches (patch); doors that open one way only (oneway)'
    """
    return "; ".join(f"{WRONG_WORLDS[world]} ({world})" for world in worlds)


def by_world(rows: Records, name: str, title: str, note: str = "") -> Table:
    """Tabulate SPL of every arm in every world, and the mean over worlds.

    First come mend, replanning Dijkstra and their difference; then the other mend methods, and
    the rest.
    """
    known = rows.values("arm")
    looks = sorted(
        (look for look in LOOKS if look.name in known),
        key=lambda look: (look.name != OURS, look.name != REFERENCE, look.name not in MENDS),
    )
    compared = OURS in known and REFERENCE in known
    groups = rows.by("world")
    if len(groups) > 1:
        groups["mean"] = rows
    lines = []
    for world, some in groups.items():
        arms = some.by("arm")
        means = [f"{arms[one.name].mean('spl'):.3f}" if one.name in arms else "–" for one in looks]
        if compared:
            means.insert(2, say_gain(some))
        lines.append([world, *means])
    heads = [look.title for look in looks]
    if compared:
        heads.insert(2, "mend − replanning Dijkstra")
    return Table(name, title, ["world", *heads], lines, note)
