"""Proving a plan: its moves, where they lead from every start, and which of them are optimal.

The plan stands on the field's values u or, where it was repaired, on lifted ones, which are no
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
- **Optimal moves.** If |u − V| ≤ e for the true cost-to-go V, a move to c that leads every rival b
  by more than e_b + e_c is the one optimal move (the half-gap lemma). This is checked for every u
  between the bounds: (ℓ_b + lower_b) − (ℓ_c + upper_c) > e_b + e_c. Lifted values are taken as they
  are. Rivals that cannot reach the goal are none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._field import NotProved, number_of, reached_from
from ._file import Plan, Proof
from ._numbers import Arcs, Numbers

ROUNDING = 1 << 50
"""A move may be worse than the best by one part in this."""
UNDERFLOW = 1070
"""Slopes whose difference is at most 2^−1070 are as good as one another: doubles end there."""
MOST_NAMED = 3
"""Loops that are named, and vertices of each."""


def prove_plan(proof: Proof, plan: Plan, numbers: Numbers) -> list[str]:
    """Prove the plan, or raise `NotProved`; say in sentences what was proved."""
    out, into = numbers.arcs(proof)
    stands_on = plan.lifted or proof.values
    # a plan reads NaN, where no label is connected, as "cannot reach"
    values = [numbers.whole(u) if math.isfinite(u) else None for u in stands_on]
    _require_lifted(proof, plan)
    lengths = [_move(x, plan, out[x], values) for x in range(len(out))]
    if plan.tolerance == 0.0:
        unit = None if proof.lengths is None else numbers.length_unit
        for x in range(len(out)):
            _require_best(x, plan, out[x], values, unit)
    _require_hops(plan)
    _require_costs(plan, lengths, numbers)
    able = reached_from([plan.goal], [into], len(out))
    _require_optimal(proof, plan, numbers, out, able)
    return _sentences(plan, values, able)


def _require_lifted(proof: Proof, plan: Plan) -> None:
    """Check that no value was lowered."""
    rows = zip(plan.lifted or (), proof.values, strict=False)
    for x, (lifted, value) in enumerate(rows):
        # what cannot be reached is +inf once lifted; a vertex without a value has NaN
        if lifted < value:
            raise NotProved(f"the lifted value of vertex {x} is below its value")


def _move(x: int, plan: Plan, arcs: list[tuple[int, int]], values: Sequence[int | None]) -> int:
    """Return the length of the move from x; 0 at the goal and where there is none."""
    y = plan.successor[x]
    if x == plan.goal:
        if y != x:
            raise NotProved(f"the goal, vertex {x}, is left again")
        return 0
    if y == x:
        if any(values[z] is not None for z, _ in arcs):
            raise NotProved(f"there is a move from vertex {x}, and the plan has none")
        return 0
    length = next((length for z, length in arcs if z == y), None)
    if length is None:
        raise NotProved(f"the move from vertex {x} to {y} is along no arc")
    if values[y] is None:
        raise NotProved(f"the move from vertex {x} leads to {y}, which has no finite value")
    return length


def _require_best(
    x: int,
    plan: Plan,
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
    tolls: dict[int, tuple[int, int]] = {}
    for y, length in arcs:
        there = values[y]
        if there is None:
            continue
        if length_unit is None:
            tolls[y] = there, 1
        elif plan.rule == "q" or here is None:
            tolls[y] = length * length_unit + there, 1
        else:
            tolls[y] = there - here, length * length_unit
    mine, over = tolls[move]
    for y, (toll, length) in tolls.items():
        # toll / length < mine / over, by more than rounding
        lead, slack = mine * length - toll * over, 0
        if length_unit is not None:
            slack = abs(mine * length) + abs(toll * over)
        if lead * ROUNDING > slack and lead << UNDERFLOW > over * length:
            raise NotProved(f"from vertex {x} the move to {y} is better than that to {move}")


def _require_hops(plan: Plan) -> None:
    """Check that hops fall by one at every move of a start that arrives, and others never do."""
    for x, (hops, y) in enumerate(zip(plan.hops, plan.successor, strict=True)):
        if x == plan.goal or y == x:
            if hops:
                raise NotProved(f"vertex {x} has no move, yet has hops")
        elif hops != (1 if y == plan.goal else plan.hops[y] + bool(plan.hops[y])):
            raise NotProved(f"the hops of vertex {x} are not one more than those of its move")


def _require_costs(plan: Plan, lengths: list[int], numbers: Numbers) -> None:
    """Add up the lengths from the goal outwards, and compare with the costs of the file."""
    if plan.cost is None:
        return
    exact = [0] * len(lengths)
    for x in sorted(range(len(lengths)), key=plan.hops.__getitem__):
        stated, hops = plan.cost[x], plan.hops[x]
        if hops == 0 and x != plan.goal:
            if stated != math.inf:
                raise NotProved(f"the walk from vertex {x} does not reach the goal, yet has a cost")
            continue
        exact[x] = exact[plan.successor[x]] + lengths[x] * numbers.length_unit
        if stated == math.inf or abs(numbers.whole(stated) - exact[x]) << 52 > hops * exact[x]:
            raise NotProved(f"the cost of the walk from vertex {x} is not what its moves cost")


def _require_optimal(
    proof: Proof, plan: Plan, numbers: Numbers, out: Arcs, able: list[bool]
) -> None:
    """Check the moves that the file calls optimal, given its bounds on the error of the values."""
    errors, whole = plan.error, numbers.whole
    lower, upper = plan.lifted or proof.lower, plan.lifted or proof.upper
    for x, claimed in enumerate(plan.optimal):
        if not claimed or x == plan.goal:
            continue
        move = plan.successor[x]
        if errors is None or move == x or not able[move]:
            raise NotProved(f"no move from vertex {x} is proved optimal")
        mine = next(length for y, length in out[x] if y == move)
        for y, length in out[x]:
            if y == move or not able[y]:
                continue
            terms = (lower[y], upper[move], errors[y], errors[move])
            if not all(map(math.isfinite, terms)):
                raise NotProved(f"the move from vertex {x} is not proved better than that to {y}")
            least, most, *slack = map(whole, terms)
            if not (length - mine) * numbers.length_unit + least - most > sum(slack):
                raise NotProved(f"the move from vertex {x} is not proved better than that to {y}")


# ---------------------------------------------------------------- the statement


def _sentences(plan: Plan, values: Sequence[int | None], able: list[bool]) -> list[str]:
    goal, n = plan.goal, len(able)
    starts, arrived = sum(able) - 1, sum(map(bool, plan.hops))
    found = [
        f"Every start that can reach the goal, vertex {goal}, does so by the plan: "
        f"{number_of(starts, 'start')}. What each walk costs is as stated."
        if arrived == starts
        else f"By the plan {arrived} of the {number_of(starts, 'start')} that can reach the goal, "
        f"vertex {goal}, do so. What each walk costs is as stated."
    ]
    if plan.lifted is not None:
        found.append("The plan stands on lifted values, none of which is below the field's.")
    lost = [x for x in range(n) if x != goal and not plan.hops[x]]
    found += _of_the_lost(plan, lost)
    rises = sum(_rises(x, plan, values) for x in range(n) if plan.hops[x])
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
    if plan.error is not None:
        count, most = sum(plan.optimal) - plan.optimal[goal], max(plan.error)
        supposed = (
            f"no value is further from the true cost-to-go than the file's error bound there, at "
            f"most {most:.6g}"
            if most
            else "every value is the true cost-to-go itself"
        )
        found.append(
            f"If {supposed}, {number_of(count, 'move')} of the plan cannot be bettered: "
            "each is the only optimal one. This supposition is not proved here."
            if count
            else "No move of the plan is proved optimal from the file's error bounds."
        )
    return found


def _rises(x: int, plan: Plan, values: Sequence[int | None]) -> bool:
    """Whether the move from x leads to a larger value: the hops fall in any case."""
    here, there = values[x], values[plan.successor[x]]
    return here is not None and there is not None and there > here


def _of_the_lost(plan: Plan, lost: list[int]) -> list[str]:
    """Say what becomes of the starts that do not arrive: loops, vertices without a move."""
    found = []
    loops, seen = [], dict.fromkeys(lost, -1)
    stuck: dict[int, bool] = {}
    for start in lost:
        walk, x = [], start
        while seen[x] < 0 and plan.successor[x] != x:
            seen[x] = start
            walk.append(x)
            x = plan.successor[x]
        stops = stuck.get(x, plan.successor[x] == x)
        if not stops and x not in stuck:
            loops.append(walk[walk.index(x) :])
        stuck.update(dict.fromkeys((*walk, x), stops))
    stopping = sum(stuck.values())
    if loops:
        some = "; ".join(map(_round, loops[:MOST_NAMED]))
        more = "" if len(loops) <= MOST_NAMED else f", and {len(loops) - MOST_NAMED} more"
        found.append(
            f"{_do(len(lost) - stopping, 'goes', 'go')} round for ever, in "
            f"{number_of(len(loops), 'loop')}: {some}{more}."
        )
    if stopping:
        found.append(f"{_do(stopping, 'ends', 'end')} where there is no move.")
    return found


def _round(loop: list[int]) -> str:
    """Write a loop down, its first vertex at both ends; in ASCII, which every terminal has."""
    cut = ["..."] if len(loop) > MOST_NAMED else []
    return " -> ".join(map(str, (*loop[:MOST_NAMED], *cut, loop[0])))


def _do(count: int, one: str, many: str) -> str:
    return f"{number_of(count, 'start')} {one if count == 1 else many}"
