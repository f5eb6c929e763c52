"""The harmonic side: hitting probabilities, the rankings they give, and where those are wrong.

# The random walk that ends at the labels

ω_x(z) is the probability that the walk from x, which takes an arc with probability proportional to
1/ℓ, meets the label z before any other. With L the Laplacian on the free vertices and B the
conductances from them to the labels, ω = L⁻¹ B; one factorisation serves all entries, from
whichever side takes fewer solves: a column L⁻¹ B e_z per label or, since L is symmetric, a Green's
column L⁻¹ e_x per state.

**Error.** Solutions are refined and their residuals kept. A Green's column g with residual
r = e_x − L g gives a row that is off by Bᵀ L⁻¹ r, at most Σ|r| in total, because every row of ω
sums to 1. A column with residual r is off by at most max |r|/degree times the mean hitting time
of the labels (comparison principle). The rounding of the residuals is counted in.

# Rankings

The harmonic extension is an average over where a random walk ends: h(x) = Σ_z ω_x(z) Y(z), with
ω_x(z) the probability that the walk from x, arcs weighted by 1/ℓ, meets the label z first. So it
ranks neighbours by hitting probabilities and not by distance, and can be wrong at a state with
room to spare. Numbers come with bounds on their error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from wayfield._arrays import as_vertex, as_vertices, refuse
from wayfield.errors import InputError, NotConverged
from wayfield.extension import HarmonicSystem
from wayfield.graph import Graph
from wayfield.kernels._types import BoolArray, FloatArray, IntArray
from wayfield.labels import Labels

from ..kernels.decisions import true_actions
from ._inputs import EPS, FrozenArrays, blurred, check_truth, rounding

BLOCK = 64
"""Right-hand sides solved together."""
MAX_SOLVES = 4


class AbsorbingWalk:
    """The random walk that ends at the labels."""

    def __init__(self, graph: Graph, labels: Labels) -> None:
        self.system = HarmonicSystem(graph, labels)
        # relative rounding of a sum over the arcs of a vertex, conductances included
        self._slack = float(int(graph.degrees.max()) + 6) * EPS

    def check_states(self, states: ArrayLike) -> NDArray[np.int64]:
        """Return `states` as vertices from which the walk ends."""
        listed = np.atleast_1d(np.asarray(states))
        vertices = as_vertices(listed, "states", self.system.graph.num_vertices)
        lost = self.system.orphaned[vertices]
        refuse(lost, vertices, "states", "lies in a component without a label")
        return vertices

    def measure(self, states: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return (k, labels) harmonic measures, and (k,) bounds on the error of their rows."""
        omega = np.zeros((states.size, len(self.system.labels)))
        error = np.zeros(states.size)
        labelled = self.system.labelled[states]
        places = np.searchsorted(self.system.labels.vertices, states[labelled])
        omega[np.flatnonzero(labelled), places] = 1.0
        rows, at = np.unique(self.system.row[states[~labelled]], return_inverse=True)
        touched = np.flatnonzero(self.system.coupling.sum(axis=0) > 0.0)
        by_state = rows.size <= touched.size
        found, off = self._by_state(rows) if by_state else self._by_label(rows, touched)
        omega[~labelled], error[~labelled] = found[at], off[at]
        return omega, error

    def _by_state(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return rows of ω from Green's columns."""
        coupling = self.system.coupling
        omega, error = np.empty((rows.size, coupling.shape[1])), np.empty(rows.size)
        back = coupling.T.tocsr()
        for block in _blocks(rows.size):
            units = np.zeros((self.system.free.size, rows[block].size), order="F")
            units[rows[block], np.arange(rows[block].size)] = 1.0
            green, residual = self._refined(units)
            omega[block] = np.maximum(np.asarray(back @ green).T, 0.0)
            error[block] = residual.sum(axis=0)
        return omega, error + self._slack * (1.0 + error)

    def _by_label(self, rows: IntArray, touched: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return rows of ω from its columns, for the labels next to a free vertex."""
        columns = self.system.coupling.tocsc()
        omega, total = np.zeros((rows.size, columns.shape[1])), 0.0
        for block in _blocks(touched.size):
            into = np.asfortranarray(columns[:, touched[block]].toarray())
            found, residual = self._refined(into)
            omega[:, touched[block]] = np.maximum(found[rows], 0.0)
            total += float((residual / self.system.degree[:, None]).max(axis=0).sum())
        times = self.system.hitting_time[rows]
        return omega, 2.0 * total * times  # twice, for the rounding of the times themselves

    def _refined(self, rhs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Solve for some columns, and bound their residuals entry by entry.

        Refined until nothing but rounding is left of the residual: at once, as a rule, where the
        solver factors, after a step or two where it iterates.
        """
        matrix, degree = self.system.laplacian, self.system.degree[:, None]
        found = np.zeros_like(rhs)
        residual = rhs
        for _ in range(MAX_SOLVES):
            found = found + self.system.solve(residual)
            residual = rhs - matrix @ found
            size = np.abs(found)
            rounding = self._slack * (2.0 * degree * size - matrix @ size + rhs)
            if float(np.abs(residual).sum()) <= float(rounding.sum()):
                break
        return found, np.abs(residual) + rounding

    def both_forms(
        self, vertices: IntArray, omega: FloatArray, error: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return harmonic values, Σ ω Y at the same vertices, and a bound on their difference."""
        field = self.system.extension()
        assert field.lower is not None
        assert field.upper is not None
        labels = self.system.labels
        middle = 0.5 * float(labels.values.min()) + 0.5 * float(labels.values.max())
        away = labels.values - middle
        reach = float(np.abs(away).max())
        by_measure = middle + omega @ away
        sums = (len(labels) + 4) * EPS * (1.0 + error) * reach + 2.0 * EPS * abs(middle)
        width = field.upper[vertices] - field.lower[vertices]
        bound = width + error * reach + sums
        apart = np.abs(field.values[vertices] - by_measure)
        if (apart > bound).any():
            worst = int(np.argmax(apart - bound))
            where = f"vertex {vertices[worst]}: the two forms of the harmonic value disagree"
            raise NotConverged(where, float(apart[worst]), float(bound[worst]))
        return field.values[vertices], by_measure, bound


def _blocks(count: int) -> list[slice]:
    return [slice(start, start + BLOCK) for start in range(0, count, BLOCK)]


def harmonic_measure(graph: Graph, labels: Labels, states: ArrayLike) -> FloatArray:
    """Return the hitting probabilities ω_x(z) of the labels (Lemma, harmonic measure).

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
    walk = AbsorbingWalk(graph, labels)
    omega, _ = walk.measure(walk.check_states(states))
    return omega


@dataclass(frozen=True, eq=False)
class NeighbourRanking(FrozenArrays):
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
    """Return h(a) − h(b) at two neighbours of s (Lemma, harmonic-measure representation).

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
    walk = AbsorbingWalk(graph, labels)
    s, a, b = (as_vertex(v, name, graph.num_vertices) for v, name in ((s, "s"), (a, "a"), (b, "b")))
    for vertex in (a, b):
        if vertex not in graph.neighbours(s):
            raise InputError(f"vertex {vertex} is not a neighbour of vertex {s}")
    pair = walk.check_states([a, b])
    omega, error = walk.measure(pair)
    values, by_measure, bound = walk.both_forms(pair, omega, error)
    difference, measured = float(values[0] - values[1]), float(by_measure[0] - by_measure[1])
    return NeighbourRanking(difference, measured, omega[0] - omega[1], float(bound.sum()))


@dataclass(frozen=True, eq=False, repr=False)
class AntiAdmissibility(FrozenArrays):
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
    walk = AbsorbingWalk(graph, labels)
    cost = check_truth(graph, truth, goal)
    state = walk.check_states(states)
    refuse(state == goal, state, "states", "is the goal, where nothing is decided")
    refuse(np.isinf(cost[state]), state, "states", "cannot reach the goal: no move is optimal")
    # the arcs out of the states, one after another: whose they are, and where they are held
    degrees = graph.degrees[state]
    owner = np.repeat(np.arange(state.size), degrees)
    begins = np.cumsum(degrees) - degrees
    slots = graph.indptr[state][owner] + np.arange(owner.size) - begins[owner]
    lengths = graph.lengths[slots]
    best, _ = true_actions(graph.arcs, cost, goal, rounding(graph))
    optimal = best[slots]
    heads, at = np.unique(graph.indices[slots], return_inverse=True)
    omega, error = walk.measure(heads)
    values, by_measure, bound = walk.both_forms(heads, omega, error)

    def margins(q: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
        """Return the least Q outside the optimal arcs less the least inside, and its head."""
        others, inside = np.full(state.size, np.inf), np.full(state.size, np.inf)
        np.minimum.at(others, owner[~optimal], q[~optimal])
        np.minimum.at(inside, owner[optimal], q[optimal])
        competitor = np.full(state.size, -1, np.int64)
        hits = np.flatnonzero(~optimal & (q == others[owner]))[::-1]
        competitor[owner[hits]] = heads[at[hits]]  # the first of equals is written last
        margin = np.full(state.size, np.inf)
        decided = competitor >= 0
        margin[decided] = (others - inside)[decided]
        return margin, competitor

    margin, competitor = margins(lengths + values[at])
    measure_margin, _ = margins(lengths + by_measure[at])
    doubt = np.zeros(state.size)
    sums = EPS * (lengths + np.abs(values[at]) + bound[at])
    np.maximum.at(doubt, owner, 2.0 * (bound[at] + sums))
    fires = np.maximum(margin, measure_margin) < -doubt
    close = np.minimum(margin, measure_margin) <= doubt
    undecided = ~fires & (close | blurred(graph, cost, best)[state])
    return AntiAdmissibility(state, fires, undecided, competitor, margin, measure_margin, doubt)
