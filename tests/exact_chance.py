"""Expected cost and arrival in rationals: policy iteration as in a textbook, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import inf

import wayfield as wf

Value = Fraction | float
Odds = list[tuple[int, Fraction]]
Choice = tuple[Fraction, Odds]


def choices_of(moves: wf.Transitions | list[dict[int, Choice]]) -> list[dict[int, Choice]]:
    """For every state its actions, each with its mean cost and the odds of what follows."""
    if isinstance(moves, list):
        return moves
    out: list[dict[int, Choice]] = [{} for _ in range(moves.num_states)]
    for k in range(moves.num_choices):
        rows = range(moves.outcome_indptr[k], moves.outcome_indptr[k + 1])
        counts = [Fraction(float(moves.counts[e])) for e in rows]
        total = sum(counts, Fraction(0))
        paid = sum(
            (n * Fraction(float(moves.costs[e])) for n, e in zip(counts, rows, strict=True)),
            Fraction(0),
        )
        odds = [(int(moves.next_states[e]), n / total) for n, e in zip(counts, rows, strict=True)]
        out[int(moves.states[k])][int(moves.actions[k])] = (paid / total, odds)
    return out


def surely_arriving(choices: list[dict[int, Choice]], ends: set[int]) -> set[int]:
    """Largest set from which `ends` can be reached by actions that never leave the set."""
    inside = set(range(len(choices)))
    while True:
        reached = set(ends)
        grown = True
        while grown:
            new = {
                s
                for s in inside - reached
                for _, odds in choices[s].values()
                if all(y in inside for y, _ in odds) and any(y in reached for y, _ in odds)
            }
            grown = bool(new)
            reached |= new
        if reached >= inside:
            return inside
        inside &= reached


def linear(rows: dict[int, Choice], known: Mapping[int, Value]) -> dict[int, Fraction]:
    """Solve x(s) = cost + Σ odds · x(y) at the states of `rows`, by Gauss and Jordan."""
    index = {s: i for i, s in enumerate(rows)}
    n = len(index)
    table = []
    for s, (cost, odds) in rows.items():
        row = [Fraction(0)] * (n + 1)
        row[index[s]] += 1
        row[n] = cost
        for y, p in odds:
            if y in index:
                row[index[y]] -= p
            else:
                row[n] += p * Fraction(known[y])
        table.append(row)
    for k in range(n):
        pivot = next(i for i in range(k, n) if table[i][k])
        table[k], table[pivot] = table[pivot], table[k]
        scale = table[k][k]
        table[k] = [a / scale for a in table[k]]
        for i in range(n):
            if i != k and table[i][k]:
                factor = table[i][k]
                table[i] = [a - factor * b for a, b in zip(table[i], table[k], strict=True)]
    return {s: table[i][n] for s, i in index.items()}


def least_expected_cost(
    moves: wf.Transitions | list[dict[int, Choice]],
    ends: Mapping[int, float],
    give_up: float | None,
) -> list[Value]:
    """Howard's policy iteration from a proper policy; `ends` are goals and labels."""
    choices = choices_of(moves)
    known: dict[int, Value] = {s: Fraction(v) for s, v in ends.items()}
    price = None if give_up is None else Fraction(give_up)
    everywhere = set(range(len(choices)))
    inside = everywhere if price is not None else surely_arriving(choices, set(ends))
    options = {
        s: [c for c in choices[s].values() if all(y in inside for y, _ in c[1])]
        for s in inside - set(ends)
    }
    policy = dict.fromkeys(options) if price is not None else _proper(options, set(ends))
    while True:
        stopped = {s: price for s, choice in policy.items() if choice is None}
        rows = {s: choice for s, choice in policy.items() if choice is not None}
        values = known | stopped | linear(rows, known | stopped)
        better = _improved(options, policy, values, price)
        if better == policy:
            return [values.get(s, inf) for s in range(len(choices))]
        policy = better


def _proper(options: dict[int, list[Choice]], ends: set[int]) -> dict[int, Choice | None]:
    policy: dict[int, Choice | None] = {}
    reached = set(ends)
    while len(policy) < len(options):
        for s, some in options.items():
            hits = [c for c in some if any(y in reached for y, _ in c[1])]
            if s not in reached and hits:
                policy[s] = hits[0]
                reached.add(s)
    return policy


def _improved(
    options: dict[int, list[Choice]],
    policy: dict[int, Choice | None],
    values: Mapping[int, Value],
    price: Fraction | None,
) -> dict[int, Choice | None]:
    better = dict(policy)
    for s, some in options.items():
        best = values[s]
        for cost, odds in some:
            q = cost + sum((p * Fraction(values[y]) for y, p in odds), Fraction(0))
            if q < best:
                best, better[s] = q, (cost, odds)
        if price is not None and price < best:
            better[s] = None
    return better


def of_plan(
    moves: wf.Transitions | list[dict[int, Choice]],
    plan: list[int],
    ends: Mapping[int, float],
    give_up: float | None,
) -> tuple[list[Value], list[Fraction]]:
    """Expected cost of a plan, and the probability that it ends in `ends`."""
    choices = choices_of(moves)
    everywhere = range(len(choices))
    taken = [{a: choices[s][a]} if (a := plan[s]) >= 0 else {} for s in everywhere]
    stops = {s for s in everywhere if plan[s] < 0 and s not in ends}
    hopeful = surely_hopeful(taken, set(ends))
    chance: dict[int, Value] = {s: Fraction(s in ends) for s in everywhere}
    rows = {s: (Fraction(0), taken[s][plan[s]][1]) for s in hopeful - set(ends)}
    chance |= linear(rows, chance)
    known: dict[int, Value] = {s: Fraction(v) for s, v in ends.items()}
    if give_up is not None:
        known |= dict.fromkeys(stops, Fraction(give_up))
    sure = surely_arriving(taken, set(known))
    cost = known | linear({s: taken[s][plan[s]] for s in sure - set(known)}, known)
    reach = [Fraction(chance[s]) for s in everywhere]
    return [cost.get(s, inf) for s in everywhere], reach


def surely_hopeful(taken: list[dict[int, Choice]], ends: set[int]) -> set[int]:
    """States from which a plan may arrive."""
    reached, grown = set(ends), True
    while grown:
        new = {
            s
            for s in set(range(len(taken))) - reached
            for _, odds in taken[s].values()
            if any(y in reached for y, _ in odds)
        }
        grown = bool(new)
        reached |= new
    return reached
