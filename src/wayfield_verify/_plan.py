"""Proving a plan: its moves, where they lead from every start, and which of them are optimal.

- **Moves.** Every move is an arc to a vertex of finite value; there is none only where there is no
  such arc. With no tie tolerance the move is, up to the rounding of two floating-point operations,
  the best by its rule: the steepest descent ("slope") or the least ℓ + u(y) ("q").
- **Outcomes.** Moves are followed from every start, each vertex once. A start reaches the goal,
  ends where there is no move, or comes back to where it has been, and then goes round for ever.
- **Costs.** The lengths walked are added up exactly; the file's cost of a start may be off by one
  rounding per step, and is infinite where the goal is not reached.
- **Optimal moves.** If |u − V| ≤ e for the true cost-to-go V, a move to c that leads every rival b
  by more than e_b + e_c is the one optimal move (the half-gap lemma). This is checked for every u
  between the bounds: (ℓ_b + lower_b) − (ℓ_c + upper_c) > e_b + e_c. Rivals that cannot reach the
  goal are none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ._field import NotProved, reached_from
from ._file import NO_MOVE, Certificate, Plan
from ._numbers import Arcs, Numbers

GOAL, STOPS, LOOPS = 0, 1, 2
ROUNDING = 1 << 50
"""A move may be worse than the best by one part in this."""


def prove_plan(certificate: Certificate, plan: Plan, numbers: Numbers) -> list[str]:
    """Prove the plan, or raise `NotProved`; say in sentences what was proved."""
    out, into = numbers.arcs(certificate)
    # a plan reads NaN, where no label is connected, as "cannot reach"
    values = [numbers.whole(u) if math.isfinite(u) else None for u in certificate.values]
    lengths = [_move(x, plan, out[x], values) for x in range(len(out))]
    if plan.tolerance == 0.0:
        for x in range(len(out)):
            _require_best(x, plan, out[x], values, certificate.lengths is None)
    ends, costs, steps = _follow(plan, lengths)
    for x, cost in enumerate(plan.cost):
        _require_cost(x, cost, numbers, ends[x], costs[x], steps[x])
    able = reached_from([plan.goal], [into], len(out))
    _require_optimal(certificate, plan, numbers, out, able)
    return _sentences(plan, ends, able)


def _move(x: int, plan: Plan, arcs: list[tuple[int, int]], values: Sequence[int | None]) -> int:
    """Return the length of the move from x; 0 at the goal and where there is none."""
    y = plan.successor[x]
    if x == plan.goal:
        if y != x:
            raise NotProved(f"the goal, vertex {x}, is left again")
        return 0
    if y == NO_MOVE:
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
    x: int, plan: Plan, arcs: list[tuple[int, int]], values: Sequence[int | None], unit: bool
) -> None:
    """Check that no move from x is better by its rule than the plan's, beyond rounding.

    On unit lengths both rules are the least u(y), and nothing is rounded.
    """
    move = plan.successor[x]
    if x == plan.goal or move == NO_MOVE:
        return
    here = values[x]
    slack = 0
    tolls: dict[int, tuple[int, int]] = {}
    for y, length in arcs:
        there = values[y]
        if there is None:
            continue
        if unit:
            tolls[y] = there, 1
        elif plan.rule == "q" or here is None:
            tolls[y] = length + there, 1
        else:
            tolls[y] = there - here, length
    mine, over = tolls[move]
    for y, (toll, length) in tolls.items():
        # toll / length < mine / over, by more than rounding
        lead = mine * length - toll * over
        if not unit:
            slack = abs(mine * length) + abs(toll * over)
        if lead * ROUNDING > slack:
            raise NotProved(f"from vertex {x} the move to {y} is better than that to {move}")


def _follow(plan: Plan, lengths: list[int]) -> tuple[list[int], list[int], list[int]]:
    """How the walk from every start ends, what it costs, and its number of steps."""
    n = len(lengths)
    ends, costs, steps = [-1] * n, [0] * n, [0] * n
    ends[plan.goal] = GOAL
    for start in range(n):
        walk, x = [], start
        seen: set[int] = set()
        while ends[x] < 0 and x not in seen:
            walk.append(x)
            seen.add(x)
            if plan.successor[x] == NO_MOVE:
                ends[x] = STOPS
                walk.pop()
                break
            x = plan.successor[x]
        end = ends[x] if ends[x] >= 0 else LOOPS
        for x in reversed(walk):
            y = plan.successor[x]
            ends[x], costs[x], steps[x] = end, costs[y] + lengths[x], steps[y] + 1
    return ends, costs, steps


def _require_cost(
    x: int, stated: float, numbers: Numbers, end: int, exact: int, steps: int
) -> None:
    if end != GOAL:
        if stated != math.inf:
            raise NotProved(f"the walk from vertex {x} does not reach the goal, yet has a cost")
    elif stated == math.inf:
        raise NotProved(f"the walk from vertex {x} reaches the goal, yet has no cost")
    elif abs(numbers.whole(stated) - exact) << 52 > steps * exact:
        raise NotProved(f"the cost of the walk from vertex {x} is not what its moves cost")


def _require_optimal(
    certificate: Certificate, plan: Plan, numbers: Numbers, out: Arcs, able: list[bool]
) -> None:
    """Check the moves that the file calls optimal, given its bounds on the field's error."""
    errors, whole = plan.error, numbers.whole
    lower, upper = certificate.lower, certificate.upper
    for x, claimed in enumerate(plan.optimal):
        if not claimed or x == plan.goal:
            continue
        move = plan.successor[x]
        if errors is None or move == NO_MOVE or not able[move]:
            raise NotProved(f"no move from vertex {x} is proved optimal")
        mine = next(length for y, length in out[x] if y == move)
        for y, length in out[x]:
            if y == move or not able[y]:
                continue
            terms = (lower[y], upper[move], errors[y], errors[move])
            if not all(map(math.isfinite, terms)):
                raise NotProved(f"the move from vertex {x} is not proved better than that to {y}")
            least, most, *slack = map(whole, terms)
            if not (length + least) - (mine + most) > sum(slack):
                raise NotProved(f"the move from vertex {x} is not proved better than that to {y}")


def _sentences(plan: Plan, ends: list[int], able: list[bool]) -> list[str]:
    starts = sum(able) - 1
    reach = ends.count(GOAL) - 1
    said = (
        f"Every one of the {starts} starts that can reach the goal, vertex {plan.goal}, does so by "
        "the plan"
        if reach == starts
        else f"By the plan {reach} of the {starts} starts that can reach the goal, vertex "
        f"{plan.goal}, do so, {ends.count(LOOPS)} starts go round for ever, and "
        f"{ends.count(STOPS)} end where there is no move"
    )
    found = [f"{said}; what that costs is as stated."]
    if plan.tolerance == 0.0:
        best = "descends most steeply" if plan.rule == "slope" else "has the least length + value"
        found.append(f"Every move is one that {best}, up to rounding.")
    if plan.error is not None:
        count = sum(plan.optimal)
        found.append(
            f"If the field is no further from the true cost-to-go than the file's error bounds, "
            f"{count} moves are proved to be the only optimal ones."
        )
    return found
