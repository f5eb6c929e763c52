"""The harmonic side: hitting probabilities, the rankings they give, and where those are wrong.

The harmonic extension is an average over where a random walk ends: h(x) = Σ_z ω_x(z) Y(z), with
ω_x(z) the probability that the walk from x, arcs weighted by 1/ℓ, meets the label z first. So it
ranks neighbours by hitting probabilities and not by distance, and can be wrong at a state with
room to spare. Numbers come with bounds on their error: `wayfield_study.audit._walk`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield._arrays import as_vertex, frozen, refuse
from wayfield.errors import InputError
from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray, IntArray
from wayfield.labels import Labels

from ..kernels.decisions import true_actions
from ._inputs import EPS, blurred, check_truth, rounding
from ._walk import Walk


def harmonic_measure(graph: Graph, labels: Labels, states: ArrayLike) -> FloatArray:
    """Hitting probabilities ω_x(z) of the labels (Lemma, harmonic-measure representation).

    Parameters
    ----------
    graph : Graph
        Undirected; conductances are 1/length.
    labels : Labels
        Where the walk ends; their values play no part.
    states : (k,) integer array
        Where it starts. From a labelled state it ends at once.

    Returns
    -------
    (k, number of labels) float array
        Row i belongs to ``states[i]``, column j to ``labels.vertices[j]``. No entry is negative
        and every row sums to 1, up to rounding.

    Examples
    --------
    >>> import wayfield as wf
    >>> path = wf.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> harmonic_measure(path, wf.Labels([0, 3], [0.0, 3.0]), [0, 1, 2]).round(12)
    array([[1.        , 0.        ],
           [0.66666667, 0.33333333],
           [0.33333333, 0.66666667]])
    """
    walk = Walk.of(graph, labels)
    omega, _ = walk.measure(walk.check_states(states))
    return omega


@dataclass(frozen=True, eq=False)
class NeighbourRanking:
    """How the harmonic extension ranks two neighbours, in two ways that agree.

    Attributes
    ----------
    values : float
        h(a) − h(b), from the extension.
    measure : float
        Σ (ω_a(z) − ω_b(z)) Y(z), from the hitting probabilities.
    weights : (number of labels,) float array
        ω_a(z) − ω_b(z), which sum to 0.
    bound : float
        Bound on the numerical difference of the two.
    """

    values: float
    measure: float
    weights: FloatArray
    bound: float


def neighbour_ranking(graph: Graph, labels: Labels, s: int, a: int, b: int) -> NeighbourRanking:
    """Difference h(a) − h(b) at two neighbours of s (Lemma, harmonic-measure representation).

    ``h(a) − h(b) = Σ_z (ω_a(z) − ω_b(z)) Y(z)``: the harmonic extension ranks neighbours by
    where the random walk from them ends, not by how far they are from the goal.

    Raises
    ------
    NotConverged
        If the two forms differ by more than their rounding explains.

    Examples
    --------
    >>> from wayfield_study.audit.witnesses import seven_node
    >>> g7 = seven_node()
    >>> at = {name: x for x, name in enumerate(g7.names)}
    >>> ranking = neighbour_ranking(g7.graph, g7.labels, at[4], at[1], at[3])
    >>> round(29 * ranking.values, 9), round(29 * ranking.measure, 9)
    (-3.0, -3.0)
    """
    walk = Walk.of(graph, labels)
    s, a, b = (as_vertex(v, name, graph.num_vertices) for v, name in ((s, "s"), (a, "a"), (b, "b")))
    for vertex in (a, b):
        if vertex not in graph.neighbours(s):
            raise InputError(f"vertex {vertex} is not a neighbour of vertex {s}")
    pair = walk.check_states([a, b])
    omega, error = walk.measure(pair)
    values, by_measure, bound = walk.both_forms(pair, omega, error)
    weights = omega[0] - omega[1]
    return NeighbourRanking(
        float(values[0] - values[1]),
        float(by_measure[0] - by_measure[1]),
        frozen(weights),
        float(bound.sum()),
    )


@dataclass(frozen=True, eq=False, repr=False)
class AntiAdmissibility:
    """Where the harmonic extension strictly prefers a wrong move to every right one.

    Attributes
    ----------
    states : (k,) int64 array
        The decision states.
    fires : (k,) bool array
        Whether the harmonic-greedy planner strictly prefers some b outside A* there, beyond
        doubt: both margins below minus their bound.
    undecided : (k,) bool array
        Whether rounding leaves that open: it does not fire, and a margin is within its bound of
        0, or a move that passes for optimal is too short to show in the truth's digits.
    competitor : (k,) int64 array
        The b it likes best outside A*, -1 where every neighbour is optimal.
    margin : (k,) float array
        Q(b) − min over a in A* of Q(a), Q = ℓ + h: negative where it fires, inf where there is
        no competitor.
    measure_margin : (k,) float array
        The same from the hitting probabilities,
        max over a in A* of ℓ(s, b) − ℓ(s, a) + Σ (ω_b − ω_a) Y.
    bound : (k,) float array
        Bound on the numerical error of either.
    """

    states: NDArray[np.int64]
    fires: BoolArray
    undecided: BoolArray
    competitor: NDArray[np.int64]
    margin: FloatArray
    measure_margin: FloatArray
    bound: FloatArray

    def __repr__(self) -> str:
        return f"AntiAdmissibility({self.fires.sum():,} of {self.states.size:,} states)"


def anti_admissibility(
    graph: Graph, labels: Labels, truth: ArrayLike, goal: int, states: ArrayLike
) -> AntiAdmissibility:
    """Test where harmonic-greedy is surely wrong (Lemma, harmonic local anti-admissibility).

    With A* the truly optimal neighbours of s, the harmonic-greedy planner strictly prefers
    b ∉ A* to all of them if and only if

        ℓ(s, b) + h(b) < ℓ(s, a) + h(a)                            for every a in A*, that is
        ℓ(s, b) − ℓ(s, a) + Σ_z (ω_b(z) − ω_a(z)) Y(z) < 0         for every a in A*.

    Both sides are computed, the first by solving for h, the second from harmonic measures, and
    must agree within a bound on their rounding; a tie never fires.

    Parameters
    ----------
    truth : (n,) array
        The true cost-to-go to `goal`, on which A* rests.
    states : int or (k,) integer array
        Decision states, other than the goal. Each takes a solve per neighbour, or all together
        one per label, whichever is less.

    Raises
    ------
    NotConverged
        If the two forms differ by more than their rounding explains.

    Examples
    --------
    >>> import wayfield as wf
    >>> from wayfield_study.audit.witnesses import seven_node
    >>> g7 = seven_node()
    >>> truth = wf.cost_to_go(g7.graph, g7.goal)
    >>> found = anti_admissibility(g7.graph, g7.labels, truth, g7.goal, g7.names.index(4))
    >>> found
    AntiAdmissibility(1 of 1 states)
    >>> g7.names[found.competitor[0]], round(29 * float(found.margin[0]), 9)
    (1, -3.0)
    """
    walk = Walk.of(graph, labels)
    cost = check_truth(graph, truth, goal)
    state = walk.check_states(states)
    refuse(state == goal, state, "states", "is the goal, where nothing is decided")
    refuse(np.isinf(cost[state]), state, "states", "cannot reach the goal: no move is optimal")
    moves = _Moves.of(graph, state)
    best, _ = true_actions(graph.arcs, cost, goal, rounding(graph))
    optimal = best[moves.slots]
    heads, at = np.unique(moves.heads, return_inverse=True)
    omega, error = walk.measure(heads)
    values, by_measure, bound = walk.both_forms(heads, omega, error)
    margin, competitor = moves.margin(moves.lengths + values[at], optimal)
    measure_margin, _ = moves.margin(moves.lengths + by_measure[at], optimal)
    doubt = np.zeros(state.size)
    sums = EPS * (moves.lengths + np.abs(values[at]) + bound[at])
    np.maximum.at(doubt, moves.owner, 2.0 * (bound[at] + sums))
    fires = np.maximum(margin, measure_margin) < -doubt
    close = np.minimum(margin, measure_margin) <= doubt
    undecided = ~fires & (close | blurred(graph, cost, best)[state])
    arrays = (state, fires, undecided, competitor, margin, measure_margin, doubt)
    return AntiAdmissibility(*(frozen(array) for array in arrays))


class _Moves(NamedTuple):
    """The arcs out of some states, one after another."""

    size: int
    owner: NDArray[np.int64]
    """(m,) which state an arc starts from, as its position in the list."""
    slots: IntArray
    """(m,) where the arcs are held."""
    heads: IntArray
    lengths: FloatArray

    @classmethod
    def of(cls, graph: Graph, states: NDArray[np.int64]) -> _Moves:
        degrees = graph.degrees[states]
        owner = np.repeat(np.arange(states.size), degrees)
        begins = np.cumsum(degrees) - degrees
        slots = graph.indptr[states][owner] + np.arange(owner.size) - begins[owner]
        return cls(states.size, owner, slots, graph.indices[slots], graph.lengths[slots])

    def least(self, tolls: FloatArray, chosen: BoolArray) -> FloatArray:
        """Least toll of the chosen arcs of every state; inf where there are none."""
        least = np.full(self.size, np.inf)
        np.minimum.at(least, self.owner[chosen], tolls[chosen])
        return least

    def margin(self, tolls: FloatArray, optimal: BoolArray) -> tuple[FloatArray, NDArray[np.int64]]:
        """Least toll outside the optimal arcs less the least inside, and the head of the former."""
        others = self.least(tolls, ~optimal)
        competitor = np.full(self.size, -1, np.int64)
        hits = np.flatnonzero(~optimal & (tolls == others[self.owner]))[::-1]
        competitor[self.owner[hits]] = self.heads[hits]  # the first of equals is written last
        margin = np.full(self.size, np.inf)
        decided = competitor >= 0
        margin[decided] = (others - self.least(tolls, optimal))[decided]
        return margin, competitor
