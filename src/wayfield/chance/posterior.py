"""Posterior odds: counts shrunk towards what was seen nearby, so that luck does not win.

A choice with the outcomes y, seen n_y times, has the odds n_y / n. A plan takes the best of many
choices, and so prefers those whose few samples happened to be good (the optimiser's curse). With
pooled odds q_y as a Dirichlet prior worth `strength` samples they become

    (n_y + strength · q_y) / (n + strength):

a choice seen three times is judged by its pool, one seen a thousand times by itself.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from .._arrays import as_real, as_real_array
from ..errors import InputError
from ..graph import Graph
from ..kernels._types import IntArray
from .transitions import Transitions


def shrunk(moves: Transitions, strength: float, pool: Graph | ArrayLike | None) -> Transitions:
    """Return the transitions with pseudo-counts of their pools added."""
    moves._check_counted("shrunk")
    strength = as_real(strength, "strength", least=0.0, most=1e15)
    if strength == 0.0:
        return moves
    pooling = _pooling(moves, pool)
    size = (moves.num_choices, moves.num_states)
    rows = (moves.next_states, moves.outcome_indptr)
    counts = sparse.csr_array((moves.counts, *rows), size)
    paid = sparse.csr_array((moves.counts * moves.costs, *rows), size)
    # both have the pattern of the pool: no count is 0, so that nothing cancels
    pooled, pooled_paid = _product(pooling, counts), _product(pooling, paid)
    kept = np.repeat(np.arange(moves.num_choices), np.diff(moves.outcome_indptr))
    choice = np.repeat(np.arange(moves.num_choices), np.diff(pooled.indptr))
    prior = strength * pooled.data / pooled.sum(axis=1)[choice]
    return Transitions._of(
        moves,
        (
            np.append(kept, choice),
            np.append(moves.next_states, pooled.indices),
            np.append(moves.counts, prior),
            np.append(moves.costs, pooled_paid.data / pooled.data),
        ),
    )


def _pooling(
    moves: Transitions, pool: Graph | ArrayLike | None
) -> list[sparse.csr_array[np.float64]]:
    """Factors of the matrix that is 1 where two choices are pooled."""
    if isinstance(pool, Graph):
        return [_same_action_nearby(moves, pool)]
    group = moves.states if pool is None else _groups(moves, pool)
    inside = np.flatnonzero(group >= 0)
    _, number = np.unique(group[inside], return_inverse=True)
    size = (moves.num_choices, int(number.max(initial=-1)) + 1)
    member = sparse.csr_array((np.ones(inside.size), (inside, number)), size)
    return [member, member.T.tocsr()]


def _product(
    factors: list[sparse.csr_array[np.float64]], matrix: sparse.csr_array[np.float64]
) -> sparse.csr_array[np.float64]:
    for factor in reversed(factors):
        matrix = (factor @ matrix).tocsr()
    matrix.sort_indices()
    return matrix


def _groups(moves: Transitions, pool: ArrayLike) -> NDArray[np.int64]:
    group = as_real_array(pool, "pool")
    if group.dtype.kind not in "iu" or group.shape != (moves.num_choices,):
        raise InputError(
            f"pool must be a graph on the states, or one whole number for each of the "
            f"{moves.num_choices:,} choices, not {group.dtype} of shape {group.shape}"
        )
    return group.astype(np.int64)


def _same_action_nearby(moves: Transitions, graph: Graph) -> sparse.csr_array[np.float64]:
    """Pool the same action at the state itself and where the graph's arcs lead from it."""
    if graph.num_vertices != moves.num_states:
        raise InputError(
            f"pool has {graph.num_vertices:,} vertices, the transitions have "
            f"{moves.num_states:,} states"
        )
    tails = np.append(graph.tails, np.arange(moves.num_states))
    heads = np.append(graph.indices, np.arange(moves.num_states))
    near = sparse.csr_array((np.ones(tails.size), (tails, heads)), (moves.num_states,) * 2)
    rows: list[IntArray] = []
    columns: list[IntArray] = []
    order = np.argsort(moves.actions, kind="stable")
    for of_one in np.split(order, np.flatnonzero(np.diff(moves.actions[order])) + 1):
        at = moves.states[of_one]
        pairs = near[at][:, at].tocoo()
        rows.append(of_one[pairs.row])
        columns.append(of_one[pairs.col])
    where = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.ones(where[0].size), where), (moves.num_choices,) * 2)
