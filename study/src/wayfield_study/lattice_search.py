"""The adversarial search: small lattice graphs on which harmonic-greedy beats AMLE-greedy.

**Candidates.** A random connected induced subgraph of a lattice (of at least half of its vertices,
grown from a random one by random neighbours), a random goal, and one to four more labels, all with
their true distance to the goal. A candidate is a *witness* if the plan on the harmonic extension
reaches the goal from more unlabelled vertices than the plan on the AMLE does.

**Three ways** to compute the latter, each with the same tie rule for the harmonic plan:

- ``"swept"``: midrange sweeps from the harmonic extension until an update changes no value by more
  than 1e-8, lowest-index ties: the paper's.
- ``"exact"``: the exact AMLE, lowest-index ties.
- ``"exit"``: the exact AMLE, exit ties. By the reach theorem (``docs/planner.md``) its plan never
  fails, so that no witness is left.

On unit lengths argmin-Q and steepest descent are one rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import wayfield as wf
from wayfield.checks import as_list, as_whole, frozen
from wayfield.plans.planning import TieName

from .kernels.midrange import sweep
from .witnesses import Witness

WAYS: tuple[str, ...] = ("swept", "exact", "exit")
"""How the AMLE is computed and planned on; see the module."""
TIES: dict[str, TieName] = {"swept": "index", "exact": "index", "exit": "exit"}
UPDATE = 1e-8
"""Largest change of a value by a sweep at which the paper's solver stops."""
MOST_LABELS = 4
"""Labels beside the goal's."""


@dataclass(frozen=True, eq=False, repr=False)
class Search:
    """Outcome of a search: the witnesses in each of the three ways.

    Attributes
    ----------
    tested : int
        Number of candidates.
    witnesses : dict
        For each of `WAYS` the witnesses, by number of the candidate.
    """

    tested: int
    witnesses: dict[str, dict[int, Witness]]

    @property
    def counts(self) -> dict[str, int]:
        """Number of witnesses in each way."""
        return {way: len(found) for way, found in self.witnesses.items()}


def search(lattice: Sequence[int] = (4, 4), candidates: int = 588, seed: int = 20260510) -> Search:
    """Search for labelled lattice graphs where harmonic-greedy reaches more often than AMLE-greedy.

    Parameters
    ----------
    lattice : (int, int)
        Rows and columns; at least two vertices.
    candidates : int
        How many to draw. Candidate i depends on the lattice, the seed and i alone.
    seed : int
        Of the draw.

    Examples
    --------
    >>> found = search((4, 4), candidates=20, seed=3)
    >>> found.tested, found.counts["exit"]
    (20, 0)
    """
    sides = as_list(lattice, "lattice")
    if len(sides) != 2:
        raise wf.InputError(f"lattice must be two numbers, rows and columns, got {lattice!r}")
    rows, columns = (as_whole(side, "lattice", least=1, most=1000) for side in sides)
    if rows * columns < 2:
        raise wf.InputError("a lattice of one vertex has no room for a goal and a label")
    as_whole(candidates, "candidates", least=0)
    as_whole(seed, "seed", least=0)
    whole = induced(np.arange(rows * columns), rows, columns)
    witnesses: dict[str, dict[int, Witness]] = {way: {} for way in WAYS}
    for number in range(candidates):
        rng = np.random.default_rng([seed, rows, columns, number])
        names = _subgraph(rng, whole)
        graph = induced(names, rows, columns)
        # a goal and one to four more vertices, labelled with their distance to it
        n = graph.num_vertices
        count = int(rng.integers(1, min(MOST_LABELS, n - 1) + 1))
        drawn = rng.choice(n, count + 1, replace=False)
        goal = int(drawn[0])
        labels = wf.Labels(drawn, wf.cost_to_go(graph, goal)[drawn])
        for way, witness in contests(graph, labels, goal, names).items():
            if witness.harmonic_wins:
                witnesses[way][number] = witness
    return Search(candidates, witnesses)


def contests(
    graph: wf.Graph, labels: wf.Labels, goal: int, names: NDArray[np.int64]
) -> dict[str, Witness]:
    """Plan on both fields in each of the three ways; see the module.

    Examples
    --------
    >>> from wayfield_study.witnesses import seven_node
    >>> graph, labels, goal, names = seven_node()
    >>> contests(graph, labels, goal, np.array(names))["exit"].harmonic_wins
    False
    """
    harmonic = wf.extend(graph, labels, wf.Harmonic(bracket=False)).values
    exact = wf.extend(graph, labels, wf.AMLE(bracket=False)).values
    fixed, here, swept = labels.mask(graph), harmonic.copy(), harmonic.copy()
    while sweep(graph.arcs, fixed, graph.is_unit, here, swept, 1.0) > UPDATE:
        here, swept = swept, here
    fields = {"swept": swept, "exact": exact, "exit": exact}
    found = {}
    for way, field in fields.items():
        plans = (wf.plan(graph, u, goal, "q", TIES[way]) for u in (harmonic, field))
        found[way] = Witness(graph, labels, goal, names, *plans)
    return found


def induced(names: NDArray[np.int64], rows: int, columns: int) -> wf.Graph:
    """Return the subgraph of a lattice induced by some of its vertices, numbered row by row."""
    free = np.zeros(rows * columns, dtype=bool)
    free[names] = True
    return wf.grid_graph(wf.Layout("lattice", free.reshape(rows, columns)))


def _subgraph(rng: np.random.Generator, lattice: wf.Graph) -> NDArray[np.int64]:
    """Draw the vertices of a connected induced subgraph; return them in ascending order."""
    total = lattice.num_vertices
    size = int(rng.integers(max(2, (total + 1) // 2), total + 1))
    inside, rim = {int(rng.integers(total))}, set[int]()
    newest = next(iter(inside))
    while len(inside) < size:
        rim.update(set(lattice.neighbours(newest).tolist()) - inside)
        newest = sorted(rim)[int(rng.integers(len(rim)))]
        rim.remove(newest)
        inside.add(newest)
    return frozen(np.array(sorted(inside)))
