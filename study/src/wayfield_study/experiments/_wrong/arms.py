"""Ways to cross a world that the graph has wrong, and what became of every start.

All arms but the static one learn while they walk: what an arc that was tried leads to and costs is
known from then on, and they plan again. Cost arms plan with lengths, believed or mended (`drive`);
field arms follow the values of an extension, lifted so that they descend to the goal.

Where arcs have equal lengths many plans are equally short. Replanning Dijkstra takes the one that
`drive` finds; "lowest_index" is the same walker with the first arc of a tie, to show what that
choice is worth (zero values, lifted by length, are distances).

SPL, success weighted by path length, is the mean over starts of (reached) · least cost / cost paid.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wayfield.extension import AMLE, Harmonic, Method, extend
from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray
from wayfield.labels import Labels
from wayfield.mending import Mended, MendMethod, Trips, drive, mend
from wayfield.mending.least_change import LeastChange
from wayfield.mending.selection import Both
from wayfield.mending.shortcuts import NoShortcuts
from wayfield.mending.smooth import Smooth
from wayfield.mending.trips import Bound
from wayfield.shortest_paths import cost_to_go

from ...engine.tasks import Row
from ...kernels.following import Outcome, follow_all
from ...report.charts import Look
from .world import WrongWorld

NEIGHBOURS = 5
"""Labels that an estimate by coordinates rests on."""


@dataclass(frozen=True, eq=False)
class Case:
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
        "upper" if the labels were paid by ways that may not be the cheapest.
    seed : int
        Of the slips.
    """

    world: WrongWorld
    labels: Labels
    starts: NDArray[np.int64]
    bound: Bound = None
    seed: int = 0

    @property
    def graph(self) -> Graph:
        """What is believed."""
        return self.world.graph


class Walked(NamedTuple):
    """What became of every start: (k,) arrays, and the candidate that a mend took."""

    reached: BoolArray
    paid: FloatArray
    found: NDArray[np.int64]
    chosen: str = ""

    def only(self, walks: slice) -> Walked:
        """Return some of the walks."""
        return Walked(self.reached[walks], self.paid[walks], self.found[walks], self.chosen)


def drive_by(case: Case, graph: Graph | Mended, memory: bool = False) -> Walked:
    """Walk by lengths, replanning."""
    world = case.world
    # where steps slip, no number of failures refutes an arc
    patience = world.max_steps if world.slippery else 1
    drawn = world.world(case.seed)
    walks = drive(
        graph,
        drawn,
        case.starts,
        world.goal,
        memory,
        patience=patience,
        max_steps=world.max_steps,
    )
    chosen = graph.chosen if isinstance(graph, Mended) else ""
    return Walked(walks.reached, walks.paid, walks.found, chosen)


def follow(case: Case, values: FloatArray, *, steep: bool = True, learns: bool = True) -> Walked:
    """Walk by a field, lifted so that it descends to the goal; see `kernels.following`."""
    world, cap = case.world, case.world.max_steps
    outcome = Outcome(world.lands, world.costs, world.slips)
    rng = np.random.default_rng(case.seed)
    how = world.goal, steep, learns, cap, rng
    return Walked(*follow_all(case.graph.arcs, values, outcome, case.starts, *how))


def extension(case: Case, method: Method, prior: bool = False) -> FloatArray:
    """Extend the labels; with `prior`, what they differ from the graph's distances by."""
    known = cost_to_go(case.graph, case.world.goal) if prior else None
    return extend(case.graph, case.labels, method, prior=known, check=False).values


def neighbours(case: Case) -> FloatArray:
    """Mean of the nearest labels in coordinates, weighted by nearness; no graph is used."""
    places, labels = case.graph.positions, case.labels
    assert places is not None
    away = np.linalg.norm(places[:, None] - places[labels.vertices], axis=2)
    nearest = np.argsort(away, axis=1, kind="stable")[:, :NEIGHBOURS]
    weights = 1.0 / (np.take_along_axis(away, nearest, axis=1) + 1e-9)
    values = (weights * labels.values[nearest]).sum(axis=1) / weights.sum(axis=1)
    values[labels.vertices] = labels.values
    return np.asarray(values)


def mended(case: Case, method: MendMethod | None, trips: Trips | None = None) -> Mended:
    """Fit the graph to the labels, or to trips in their place."""
    if trips is not None:
        return mend(case.graph, trips, method=method)
    return mend(case.graph, case.labels, case.world.goal, method, bound=case.bound)


def _oracle(case: Case) -> Walked:
    """Walk knowing the world."""
    world = case.world
    if world.slippery:
        return follow(case, world.truth)
    known = drive(world.real, world.real, case.starts, world.goal)
    return Walked(known.reached, known.paid, known.found)


def _by_mend(method: MendMethod | None, case: Case) -> Walked:
    return drive_by(case, mended(case, method))


# -------------------------------------------------------------------- the arms


MENDS: Mapping[str, MendMethod | None] = {
    "repair": LeastChange(),
    "no_shortcuts": NoShortcuts(),
    "smooth": Smooth(),
    "both": Both(),
    "mend": None,
}
"""Ways of mending by the names of their arms; None is what `mend` does by itself."""
_AMLE, _HARMONIC = AMLE(bracket=False), Harmonic(bracket=False)
WALKS: Mapping[str, Callable[[Case], Walked]] = {
    "static": lambda case: follow(case, cost_to_go(case.graph, case.world.goal), learns=False),
    "dijkstra": lambda case: drive_by(case, case.graph),
    "lowest_index": lambda case: follow(case, np.zeros(case.graph.num_vertices), steep=False),
    "amle": lambda case: follow(case, extension(case, _AMLE)),
    "harmonic": lambda case: follow(case, extension(case, _HARMONIC)),
    "residual": lambda case: follow(case, extension(case, _HARMONIC, prior=True)),
    "knn": lambda case: follow(case, neighbours(case), steep=False),
    **{name: partial(_by_mend, method) for name, method in MENDS.items()},
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
    Look("repair", "least repair", "line-d"),
    Look("no_shortcuts", "no shortcuts", "line-d", "square"),
    Look("smooth", "smooth", "exact-line", "triangle"),
    Look("both", "both", "exit"),
    Look("mend", "mend", "exit", "diamond"),
    Look("oracle", "oracle", "oracle"),
)
REFERENCE, OURS = "dijkstra", "mend"
NO_LABELS = ("static", REFERENCE, "lowest_index", "oracle")
"""Arms that the labels do not matter to."""


def row(arm: str, walked: Walked, least: FloatArray) -> Row:
    """Say what became of an arm's starts.

    ``pairs`` and ``reached`` are counts. ``spl`` is above; ``cost_ratio`` the mean of cost paid
    over least cost, failed walks included up to where they ended; ``bumps`` the mean number of
    arcs that a walk refuted; ``chosen`` the candidate that a mend took.
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


def rows_of(case: Case, arms: tuple[str, ...] = tuple(WALKS)) -> list[Row]:
    """One row for every arm."""
    least = case.world.truth[case.starts]
    return [row(arm, WALKS[arm](case), least) for arm in arms]
