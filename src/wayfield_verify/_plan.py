"""Proving a plan: its moves, where they lead from every start, and which of them are optimal.

The plan descends the field's values u or, where it was lifted, the lifted ones, which are no
less.

- **Moves.** Every move is an arc to a vertex of finite value; there is none only where there is no
  such arc. With no tie tolerance the move is, up to the rounding of two floating-point operations,
  the best by its rule: the steepest descent ("slope") or the least ℓ + u(y) ("q").
- **Outcomes.** The hops of a start are its number of moves to the goal, so they fall by one at
  every move; 0 says that it never arrives. By induction on the hops every start that has any
  arrives. A start that has none moves to one that has none, and so for ever: it stops where there
  is no move, or goes round.
- **Costs.** The lengths walked are added up exactly; the file's cost of a start may be off by one
  rounding per step, and is infinite where the goal is not reached.
- **Proved moves.** Suppose that every label is within the file's label error of the true
  cost-to-go V, that V is 0 at the goal and nowhere negative, and that no arc costs more than its
  length. Let M(x) be the least label + error + distance from x to the label. Let W(x) be the
  largest label − error − distance from the label to x, or 0 if that is negative. Then W ≤ V ≤ M. A
  move from x to c is optimal among the arcs of the graph if ℓ(x, c) + M(c) ≤ ℓ(x, b) + W(b) for
  every other arc x → b, provided these arcs cost what the graph says.
- **Optimal moves.** Let each arc cost its length, and let |u − V| ≤ e for the true cost-to-go V.
  Then a move to c that leads every rival b by more than e_b + e_c is the one optimal move (the
  half-gap lemma). This is checked for every u between the bounds:
  (ℓ_b + lower_b) − (ℓ_c + upper_c) > e_b + e_c. Lifted
  values are taken as they are. Neighbours that cannot reach the goal are not rivals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._field import NONE, NotProved, continued, number_of, reached_from
from ._file import FiledPlan, Proof
from ._numbers import Arcs, Numbers

ROUNDING = 1 << 50
"""A move may be worse than the best by one part in this."""
UNDERFLOW = 1070
"""Slopes that differ by at most 2^−1070 count as equal: doubles end there."""
MOST_NAMED = 3
"""Number of loops that are named, and of vertices in each."""


def prove_plan(proof: Proof, plan: FiledPlan, numbers: Numbers) -> list[str]:
    """Prove the plan, and return what was proved; or raise `NotProved`."""
    out, into = numbers.arcs(proof)
    goal, successor, hops, n, vertex = plan.goal, plan.successor, plan.hops, len(out), proof.vertex
    # a plan reads NaN, where no label is connected, as "cannot reach"
    stands_on = plan.lifted or proof.values
    values = [numbers.whole(u) if math.isfinite(u) else None for u in stands_on]
    for x, (lifted, value) in enumerate(zip(plan.lifted or (), proof.values, strict=False)):
        # what cannot be reached is +inf once lifted; a vertex without a value has NaN
        if lifted < value:
            raise NotProved(f"the lifted value of {vertex(x)} is below its value")

    # moves: along an arc to a finite value, wherever there is one
    moves = [0] * n  # their lengths; 0 at the goal and where there is none
    for x, y in enumerate(successor):
        if x == goal:
            if y != x:
                raise NotProved(f"the plan moves on from the goal, {vertex(x)}")
        elif y == x:
            if any(values[z] is not None for z, _ in out[x]):
                raise NotProved(f"{vertex(x)} has a move, but the plan takes none")
        else:
            length = next((length for z, length in out[x] if z == y), None)
            if length is None:
                raise NotProved(f"the move from {vertex(x)} to {vertex(y)} follows no arc")
            if values[y] is None:
                raise NotProved(
                    f"the move from {vertex(x)} leads to {vertex(y)}, which has no finite value"
                )
            moves[x] = length
    if plan.tolerance == 0.0:
        unit = None if proof.lengths is None else numbers.length_unit
        for x in range(n):
            _require_best(x, proof, plan, out[x], values, unit)

    # outcomes: hops fall by one at every move of a start that arrives, and others have none
    for x, y in enumerate(successor):
        if x == goal or y == x:
            if hops[x]:
                raise NotProved(f"{vertex(x)} has no move, yet has hops")
        elif hops[x] != (1 if y == goal else hops[y] + bool(hops[y])):
            raise NotProved(f"the hops of {vertex(x)} are not one more than those of its move")

    # costs: the lengths are added up from the goal outwards
    exact = [0] * n
    costs = plan.cost
    for x in sorted(range(n), key=hops.__getitem__):
        if costs is None:  # on unit lengths the hops are the costs
            break
        stated = costs[x]
        if hops[x] == 0 and x != goal:
            if stated != math.inf:
                raise NotProved(f"the walk from {vertex(x)} has a cost but never arrives")
            continue
        exact[x] = exact[successor[x]] + moves[x] * numbers.length_unit
        if stated == math.inf or abs(numbers.whole(stated) - exact[x]) << 52 > hops[x] * exact[x]:
            raise NotProved(f"the cost of the walk from {vertex(x)} is not what its moves cost")

    if plan.label_error is not None:
        _require_proved(proof, plan, plan.label_error, numbers, out, into)

    # optimal moves, given the file's bounds on the error of the values
    able = reached_from([goal], [into], n)
    errors = plan.error
    lower, upper = plan.lifted or proof.lower, plan.lifted or proof.upper
    for x, claimed in enumerate(plan.optimal):
        if not claimed or x == goal:
            continue
        move = successor[x]
        if errors is None or move == x or not able[move]:
            raise NotProved(f"no move from {vertex(x)} is proved optimal")
        for y, length in out[x]:
            if y == move or not able[y]:
                continue
            terms = (lower[y], upper[move], errors[y], errors[move])
            doubt = f"the move from {vertex(x)} is not proved better than that to {vertex(y)}"
            if not all(map(math.isfinite, terms)):
                raise NotProved(doubt)
            least, most, *slack = map(numbers.whole, terms)
            if not (length - moves[x]) * numbers.length_unit + least - most > sum(slack):
                raise NotProved(doubt)
    return _sentences(proof, plan, values, able)


def _require_best(
    x: int,
    proof: Proof,
    plan: FiledPlan,
    arcs: list[tuple[int, int]],
    values: Sequence[int | None],
    length_unit: int | None,
) -> None:
    """Check that no move from x is better by its rule than the plan's, beyond rounding.

    On unit lengths, for which no unit is given, both rules are the least u(y), and nothing is
    rounded.
    """
    move, here = plan.successor[x], values[x]
    if move == x:
        return
    tolls: list[tuple[int, int, int]] = []
    for y, length in arcs:
        there = values[y]
        if there is None:
            continue
        if length_unit is None:
            tolls.append((y, there, 1))
        elif plan.rule == "q" or here is None:
            tolls.append((y, length * length_unit + there, 1))
        else:
            tolls.append((y, there - here, length * length_unit))
    mine, over = next((toll, length) for y, toll, length in tolls if y == move)
    for y, toll, length in tolls:
        # toll / length < mine / over, by more than rounding
        lead, slack = mine * length - toll * over, 0
        if length_unit is not None:
            slack = abs(mine * length) + abs(toll * over)
        if lead * ROUNDING > slack and lead << UNDERFLOW > over * length:
            vertex = proof.vertex
            raise NotProved(
                f"from {vertex(x)} the move to {vertex(y)} is better than to {vertex(move)}"
            )


def _require_proved(
    proof: Proof, plan: FiledPlan, label_error: float, numbers: Numbers, out: Arcs, into: Arcs
) -> None:
    """Check the moves that the file calls proved, by the labels and by distances in integers."""
    n, unit, vertex = len(out), numbers.length_unit, proof.vertex
    error = numbers.whole(label_error)
    sources = {x: (numbers.whole(y), error) for x, y in proof.labels.items()}
    sources.setdefault(plan.goal, (0, 0))
    high, low = [NONE] * n, [NONE] * n
    for x, (label, slack) in sources.items():
        high[x], low[x] = label + slack, slack - label
    nowhere = [False] * n
    above = continued(high, nowhere, into, unit)
    below = [0 if u == NONE else max(0, -u) for u in continued(low, nowhere, out, unit)]
    for x, (least, most) in enumerate(zip(below, above, strict=True)):
        if least > most:
            raise NotProved(f"labels and graph contradict each other at {vertex(x)}")
    for x, claimed in enumerate(plan.proved):
        move = plan.successor[x]
        if not claimed or x == plan.goal:
            continue
        length = next((length for y, length in out[x] if y == move), None)
        if length is None or above[move] == NONE:
            raise NotProved(f"the intervals do not prove the move from {vertex(x)} optimal")
        for y, other in out[x]:
            if y != move and length * unit + above[move] > other * unit + below[y]:
                raise NotProved(
                    f"the intervals do not prove the move from {vertex(x)} to {vertex(move)} "
                    f"optimal: the move to {vertex(y)} may be better"
                )


# ---------------------------------------------------------------- the statement


def _sentences(
    proof: Proof, plan: FiledPlan, values: Sequence[int | None], able: list[bool]
) -> list[str]:
    goal, n = plan.goal, len(able)
    starts, arrived = sum(able) - 1, sum(map(bool, plan.hops))
    found = [
        f"Every start that can reach the goal, {proof.vertex(goal)}, does so by the plan: "
        f"{number_of(starts, 'start')}. What each walk costs is as stated."
        if arrived == starts
        else f"By the plan {arrived} of the {number_of(starts, 'start')} that can reach the goal, "
        f"{proof.vertex(goal)}, do so. What each walk costs is as stated."
    ]
    if plan.lifted is not None:
        found.append("The plan descends lifted values; none is below the field's.")
    lost = [x for x in range(n) if x != goal and not plan.hops[x]]
    found += _of_the_lost(proof, plan, lost)
    moves = ((values[x], values[plan.successor[x]]) for x in range(n) if plan.hops[x])
    rises = sum(a is not None and b is not None and b > a for a, b in moves)  # hops fall anyhow
    found.append(
        "The pair (value, hops) falls at every move of the starts that arrive."
        if not rises
        else f"The value rises at {number_of(rises, 'move')} of the starts that arrive; at all "
        "others the pair (value, hops) falls."
    )
    if plan.tolerance == 0.0:
        best = "has the least length + value"
        if plan.rule == "slope":
            best = "descends most steeply, or rises least where none descends"
        found.append(f"Every move is one that {best}, up to rounding.")
    if plan.label_error is not None:
        count = sum(plan.proved) - plan.proved[goal]
        right = "right" if plan.label_error == 0.0 else f"within {plan.label_error:.6g}"
        found.append(
            f"If the labels are {right}, no arc is false and each costs what the graph says, "
            f"{number_of(count, 'move')} of the plan {'is' if count == 1 else 'are'} optimal among "
            "the arcs of the graph. This assumption is not proved here."
        )
    if plan.error is not None:
        count, most = sum(plan.optimal) - plan.optimal[goal], max(plan.error)
        supposed = (
            f"no value is further from the true cost-to-go than the file's error bound there, at "
            f"most {most:.6g}"
            if most
            else "every value is the true cost-to-go itself"
        )
        found.append(
            f"If each arc costs what the graph says and {supposed}, "
            f"{number_of(count, 'move')} of the plan cannot be bettered: each is the only optimal "
            "one. This assumption is not proved here."
            if count
            else "No move of the plan is proved optimal from the file's error bounds."
        )
    return found


def _of_the_lost(proof: Proof, plan: FiledPlan, lost: list[int]) -> list[str]:
    """Describe how starts that do not arrive end: in loops, or at vertices without a move."""
    found = []
    loops = []
    seen = [False] * len(plan.successor)
    stuck: list[bool | None] = [None] * len(seen)  # None: not known yet
    for start in lost:
        walk, x = [], start
        while not seen[x] and plan.successor[x] != x:
            seen[x] = True
            walk.append(x)
            x = plan.successor[x]
        stops = stuck[x]
        if stops is None:
            stops = plan.successor[x] == x
            if not stops:
                loops.append(walk[walk.index(x) :])
        for y in (*walk, x):
            stuck[y] = stops
    stopping = sum(map(bool, stuck))
    if loops:
        shown = []  # the first vertex at both ends
        for loop in loops[:MOST_NAMED]:
            rest = ["..."] if len(loop) > MOST_NAMED else []
            called = [proof.vertex(x).removeprefix("vertex ") for x in loop[:MOST_NAMED]]
            shown.append(" -> ".join([*called, *rest, called[0]]))
        some = "; ".join(shown)
        more = "" if len(loops) <= MOST_NAMED else f", and {len(loops) - MOST_NAMED} more"
        found.append(
            f"{_do(len(lost) - stopping, 'goes', 'go')} round for ever, in "
            f"{number_of(len(loops), 'loop')}: {some}{more}."
        )
    if stopping:
        found.append(f"{_do(stopping, 'ends', 'end')} where there is no move.")
    return found


def _do(count: int, one: str, many: str) -> str:
    return f"{number_of(count, 'start')} {one if count == 1 else many}"
