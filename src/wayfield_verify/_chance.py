"""Proving expected costs: values, a plan and its probability of arrival, choice by choice.

A process has states, choices and outcomes: an outcome has a count w > 0, a cost c ≥ 0 and a next
state y. At a choice of state x write C = Σ w c and R(f) = Σ w (f(y) − f(x)) for a field f. A walk
ends at the states F, whose values Y are given, or by giving up, which costs g. The theorems are
proved on the page "Proofs of expected cost". What they ask for is checked here, by these names.

- **L** (lower bound): l ≤ Y on F, l ≤ g, and C + R(l) ≥ 0. For every choice, if the claim is the
  least expected cost; for the plan's own choices, if the claim is the cost of this plan.
- **U** (upper bound): u ≥ Y on F, u ≥ g where the plan gives up, and C + R(u) ≤ 0 for the plan's
  choices. If each of its free choices (C = 0) has an outcome of lower rank, it ends surely.
- **I** (infinite cost): every choice of an infinite state has an outcome in a lower layer of
  infinite states, or all its outcomes in the state's own layer.
- **R** (arrival): below, h ≤ 1 on F, h ≤ 0 where the plan gives up, R(h) ≥ 0 where h > 0. Above,
  the reverse. Where the cost is infinite, ranks show that the plan leaves the states with h > 0.

The barriers are scaled values. With v the value plus its low part and m the least end value,

    l = v − 2^−e (v − m) − 2^f a,   u = v + 2^−e' (v − m) + 2^f' b,
    h ∓ (2^−e" (v − m) + 2^f" b) where arrival is not stated to be exactly 0 or 1,

where the fields a and b are needed for free choices only.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import mul

from ._field import NotProved, number_of
from ._file import Sections, finite, moved, require
from ._numbers import places, whole

LARGEST_EXPONENT = 512
LONGEST_NAME = 40
"""Letters of a state's name that a message shows."""


@dataclass(frozen=True)
class Process:
    """What is claimed, of which process, and the fields that prove it; by state unless stated."""

    least: bool
    """Whether the claim is the least expected cost; if not, it is the cost of this plan."""
    endless: bool
    """Whether the term with e" is absent."""
    give_up: float
    exponents: Sequence[int]
    """e, e', e", f, f', f" as above."""
    first: Sequence[int]
    """State x has the choices first[x] to first[x + 1]."""
    outcomes: Sequence[int]
    """Choice k has the outcomes outcomes[k] to outcomes[k + 1]."""
    heads: Sequence[int]
    counts: Sequence[float]
    """Of every outcome, or one for all; likewise `costs`."""
    costs: Sequence[float]
    ends: Sequence[int]
    end_values: Sequence[float]
    names: Sequence[bytes] | None
    plan: Sequence[int]
    """1 + the number of the choice among those of its state; 0 for none."""
    values: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    reach: Sequence[float] | None
    """None if the plan arrives surely wherever the cost is finite, and has no move elsewhere."""
    reach_lower: Sequence[float]
    reach_upper: Sequence[float]
    low: Sequence[float]
    reach_low: Sequence[float]
    layers: Sequence[int]
    """Of the infinite states alone, in ascending order."""
    ranks: Sequence[int] | None
    for_all: Sequence[float] | None
    for_plan: Sequence[float] | None

    def name(self, x: int) -> str:
        """Return how a message calls a state."""
        if self.names is None:
            return f"state {x}"
        shown = self.names[x].decode()[:LONGEST_NAME]
        return f"state {x} ({shown!a})"


def read_process(sections: Sections) -> Process:
    """Read a proof of expected costs."""
    n, num_choices, num_outcomes, num_ends = map(int, sections.unpack("proc", "<4Q"))
    claim, give_up, *exponents = sections.unpack("clai", "<Bd6h")
    require(claim < 4, "its claim is unknown")
    least, endless = not int(claim) & 1, bool(int(claim) & 2)
    require(give_up >= 0.0, "the cost of giving up is negative or not a number")
    require(all(abs(e) <= LARGEST_EXPONENT for e in exponents), "an exponent is out of range")
    # sizes are added up before anything is built of them
    per_state = sections.counts("choi", n)
    require(sum(per_state) == num_choices, "the choices of the states do not add up")
    if sections.has("acti"):
        actions, at = sections.counts("acti", num_choices), 0
        for size in per_state:
            mine = actions[at : at + size]
            require(all(a < b for a, b in pairwise(mine)), "actions are not in ascending order")
            at += size
    per_choice = sections.counts("outc", num_choices)
    require(sum(per_choice) == num_outcomes, "the outcomes of the choices do not add up")
    require(all(per_choice), "a choice has no outcome")
    heads = sections.counts("head", num_outcomes)
    require(all(y < n for y in heads), "an outcome leads to no state")
    weights = []
    for tag in ("coun", "cost"):
        size = sections.width(tag, 8, (1, num_outcomes))
        weights.append(finite(sections.doubles(tag, size)))
    counts, costs = weights
    require(all(w > 0.0 for w in counts), "a count is not positive")
    require(all(c >= 0.0 for c in costs), "a cost is negative")
    require(num_ends > 0, "it has neither goal nor label")
    ends = sections.counts("endv", num_ends)
    require(all(x < n for x in ends), "a goal or label is at no state")
    require(all(x < y for x, y in pairwise(ends)), "goals and labels are not in ascending order")
    end_values = finite(sections.doubles("endy", num_ends))
    names = _names(sections, n) if sections.has("naml") else None

    plan = sections.counts("plan", n)
    require(all(a <= k for a, k in zip(plan, per_state, strict=True)), "the plan takes no choice")
    values = sections.doubles("valu", n)
    require(all(v > -math.inf for v in values), "a value is no number, nor +inf")
    lower, upper = _bounds(sections, values, "lowr", "uppr")
    reach, chances = None, [float(v < math.inf) for v in values]
    reach_lower = reach_upper = chances
    if not least or give_up < math.inf:
        reach = finite(sections.doubles("reac", n))
        reach_lower, reach_upper = _bounds(sections, reach, "rlor", "rupr")
    low = finite(sections.floats("vlow", n))
    reach_low = finite(sections.floats("rlow", n)) if reach is not None else array("f")
    infinite = sum(v == math.inf for v in values)
    layers = sections.counts("laye", infinite) if infinite else array("B")
    ranks = sections.counts("rank", n) if sections.has("rank") else None
    for_all = finite(sections.floats("ball", n)) if sections.has("ball") else None
    for_plan = finite(sections.floats("bpla", n)) if sections.has("bpla") else None
    sections.finish()
    first, outcomes = [0, *accumulate(per_state)], [0, *accumulate(per_choice)]
    return Process(
        least, endless, give_up, [int(e) for e in exponents], first, outcomes, heads, counts, costs,
        ends, end_values, names, plan, values, lower, upper, reach, reach_lower, reach_upper,
        low, reach_low, layers, ranks, for_all, for_plan,
    )  # fmt: skip


def _bounds(
    sections: Sections, values: Sequence[float], down: str, up: str
) -> tuple[list[float], list[float]]:
    """Bounds below and above, stated as numbers of doubles between them and the value."""
    steps = sections.counts(down, len(values)), sections.counts(up, len(values))
    return (
        [moved(v, -k) for v, k in zip(values, steps[0], strict=True)],
        [moved(v, k) for v, k in zip(values, steps[1], strict=True)],
    )


def _names(sections: Sections, n: int) -> list[bytes]:
    sizes = sections.counts("naml", n)
    text = bytes(sections.take("name", sum(sizes)))
    names = [text[end - size : end] for end, size in zip(accumulate(sizes), sizes, strict=True)]
    try:
        for name in names:
            name.decode()
    except UnicodeDecodeError:
        require(False, "a name is not UTF-8")
    # sorted, not hashed: the file chooses them
    require(all(a < b for a, b in pairwise(sorted(names))), "two states have the same name")
    return names


def prove_process(it: Process) -> list[str]:
    """Prove values, plan and arrival, and return what was proved; or raise `NotProved`."""
    n, stops = len(it.values), it.give_up < math.inf
    infinite = [v == math.inf for v in it.values]

    # values and barriers for costs in units of 2^-s, such that all of them are whole
    e_low, e_up, _, f_low, f_up, _ = it.exponents
    all_barrier, plan_barrier = it.for_all or [0.0] * n, it.for_plan or [0.0] * n
    doubles = (it.values, it.low, it.lower, it.upper, it.end_values, it.costs, [it.give_up])
    s = max(
        max(map(places, doubles)) + max(e_low, e_up, 0),
        places(all_barrier) - f_low,
        places(plan_barrier) - f_up,
    )
    floor = whole(min(*it.end_values, it.give_up), s)
    v = [
        floor if lost else whole(high, s) + whole(low, s)
        for high, low, lost in zip(it.values, it.low, infinite, strict=True)
    ]
    rows = zip(v, all_barrier, plan_barrier, strict=True)
    below, above = [], []
    for x, b_all, b_plan in rows:
        # heights are multiples of 2^e_low and of 2^e_up, so the shifts are exact
        down = up = x - floor
        down = down >> e_low if e_low >= 0 else down << -e_low
        up = up >> e_up if e_up >= 0 else up << -e_up
        below.append(x - down - whole(b_all, s + f_low))
        above.append(x + up + whole(b_plan, s + f_up))
    price = whole(it.give_up, s) if stops else None

    # ends, and where there is no move
    is_end = [False] * n
    for x, number in zip(it.ends, it.end_values, strict=True):
        is_end[x] = True
        exact = whole(number, s)
        if it.plan[x] or it.values[x] != number or it.low[x]:
            raise NotProved(f"the value of {it.name(x)} is not its own, or it has a move")
        if not below[x] <= exact <= above[x]:
            raise NotProved(f"the barriers do not enclose the value of {it.name(x)}")
    layer_of = [-1] * n  # -1: the state's cost is finite
    layers = iter(it.layers)
    for x in range(n):
        if infinite[x]:
            layer_of[x] = next(layers)
            if is_end[x] or not it.lower[x] == it.upper[x] == math.inf:
                raise NotProved(f"the cost of {it.name(x)} is infinite, yet it has bounds")
            if it.least and it.plan[x]:
                raise NotProved(f"no policy ends surely from {it.name(x)}, yet the plan moves")
            if stops and not it.plan[x]:
                raise NotProved(f"the plan gives up at {it.name(x)}, which costs no more than that")
        elif not is_end[x]:
            if price is not None and it.least and below[x] > price:
                raise NotProved(f"giving up undercuts the lower barrier of {it.name(x)}")
            if not it.plan[x]:
                if price is None:
                    raise NotProved(f"the plan has no move from {it.name(x)}")
                if not below[x] <= price <= above[x]:
                    raise NotProved(f"the barriers of {it.name(x)} exclude the cost of giving up")

    # costs: every choice that a claim is about, once
    count_places, cost_places = places(it.counts), places(it.costs)
    weights = [whole(w, count_places) for w in it.counts]
    fees = [whole(c, cost_places) for c in it.costs]
    if len(weights) < len(it.heads):  # all counts are equal, so they may be 1
        weights = [1] * len(it.heads)
    if len(fees) < len(it.heads):
        fees *= len(it.heads)
    scale, lost_somewhere, ranks = s - cost_places, any(infinite), it.ranks
    for x in range(n):
        if is_end[x]:
            continue
        begin, mine = it.first[x], it.first[x] + it.plan[x] - 1
        considered = range(begin, it.first[x + 1])
        if not it.least:
            considered = range(mine, mine + 1) if it.plan[x] else range(0)
        for k in considered:
            a, b = it.outcomes[k], it.outcomes[k + 1]
            heads = it.heads[a:b]
            if infinite[x]:  # Theorem I
                mine_layer, others = layer_of[x], [layer_of[y] for y in heads]
                stays = all(layer == mine_layer for layer in others)
                if not stays and not any(0 <= layer < mine_layer for layer in others):
                    raise NotProved(
                        f"choice {k - begin} of {it.name(x)} leads neither to a lower layer of "
                        "infinite states nor only to its own"
                    )
                continue
            if lost_somewhere and any(layer_of[y] >= 0 for y in heads):
                if k == mine:
                    raise NotProved(f"the plan may lead from {it.name(x)} to an infinite cost")
                continue
            w = weights[a:b]
            total, paid = sum(w), sum(map(mul, w, fees[a:b])) << scale
            # Theorem L
            if paid + sum(map(mul, w, map(below.__getitem__, heads))) < total * below[x]:
                raise NotProved(
                    f"choice {k - begin} of {it.name(x)} undercuts the lower barrier there"
                )
            if k == mine:  # Theorem U
                if paid + sum(map(mul, w, map(above.__getitem__, heads))) > total * above[x]:
                    raise NotProved(f"the plan's move from {it.name(x)} exceeds the upper barrier")
                if not paid and not (ranks and any(ranks[y] < ranks[x] for y in heads)):
                    raise NotProved(f"the plan's free moves from {it.name(x)} may go on for ever")
    for x in range(n):
        if not infinite[x]:
            value, least, most = it.values[x], it.lower[x], it.upper[x]
            if not (math.isfinite(least) and math.isfinite(most) and least <= value <= most):
                raise NotProved(f"the value of {it.name(x)} is outside its bounds")
            if whole(least, s) > below[x] and not is_end[x]:
                raise NotProved(f"the lower bound of {it.name(x)} does not follow")
            if whole(most, s) < above[x] and not is_end[x]:
                raise NotProved(f"the upper bound of {it.name(x)} does not follow")

    if it.reach is not None:
        heights = [x - floor for x in v]
        _require_arrival(it, it.reach, weights, is_end, layer_of, (heights, s), plan_barrier)
    return _sentences(it, infinite)


def _require_arrival(
    it: Process,
    reach: Sequence[float],
    weights: Sequence[int],
    is_end: Sequence[bool],
    layer_of: Sequence[int],
    heights: tuple[Sequence[int], int],
    barrier: Sequence[float],
) -> None:
    """Check Theorem R: that the plan arrives with a probability within the bounds.

    `heights` are v − m as multiples of 2^−s, and s.
    """
    (height, s), e, f = heights, it.exponents[2], it.exponents[5]
    doubles = (reach, it.reach_low, it.reach_lower, it.reach_upper)
    t = max(*map(places, doubles), s + e, places(barrier) - f)
    one = 1 << t
    below, above = [], []
    for x, (high, low) in enumerate(zip(reach, it.reach_low, strict=True)):
        number, slack = whole(high, t) + whole(low, t), 0
        exact = low == 0.0 and high in (0.0, 1.0) and it.reach_lower[x] == it.reach_upper[x]
        if not exact:
            slack = whole(barrier[x], t + f)
            slack += height[x] << t - s - e if layer_of[x] < 0 and not it.endless else 0
        below.append(number - slack)
        above.append(number + slack)
    for x in range(len(reach)):
        lost = layer_of[x] >= 0
        if is_end[x]:
            if not below[x] <= one <= above[x]:
                raise NotProved(f"{it.name(x)} is an end, and its arrival is certain")
        elif not it.plan[x]:
            if not below[x] <= 0 <= above[x]:
                raise NotProved(f"the plan stops at {it.name(x)}, and does not arrive")
        else:
            k = it.first[x] + it.plan[x] - 1
            a, b = it.outcomes[k], it.outcomes[k + 1]
            w, heads = weights[a:b], it.heads[a:b]
            total = sum(w)
            if below[x] > 0:
                if sum(map(mul, w, map(below.__getitem__, heads))) < total * below[x]:
                    raise NotProved(f"arrival from {it.name(x)} is not a lower barrier")
                # where costs do not show that the plan leaves the states with h > 0, ranks do
                leaves = not lost or any(
                    is_end[y]
                    or layer_of[y] < 0
                    or below[y] <= 0
                    or (it.ranks is not None and it.ranks[y] < it.ranks[x])
                    for y in heads
                )
                if not leaves:
                    raise NotProved(f"the plan may stay around {it.name(x)} for ever")
            if above[x] < one and (
                sum(map(mul, w, map(above.__getitem__, heads))) > total * above[x]
            ):
                raise NotProved(f"arrival from {it.name(x)} is not an upper barrier")
            if lost and above[x] < 0:
                raise NotProved(f"the upper barrier of arrival is negative at {it.name(x)}")
        least, most = it.reach_lower[x], it.reach_upper[x]
        if not (math.isfinite(least) and math.isfinite(most) and least <= reach[x] <= most):
            raise NotProved(f"the arrival of {it.name(x)} is outside its bounds")
        if whole(least, t) > max(below[x], 0) or whole(most, t) < min(above[x], one):
            raise NotProved(f"the bounds on arrival from {it.name(x)} do not follow")


def _sentences(it: Process, infinite: Sequence[bool]) -> list[str]:
    n, lost = len(infinite), sum(infinite)
    stops = it.give_up < math.inf
    size = ", ".join(
        number_of(count, noun)
        for count, noun in (
            (n, "state"),
            (len(it.outcomes) - 1, "choice"),
            (len(it.heads), "outcome"),
        )
    )
    rows = zip(it.lower, it.upper, infinite, strict=True)
    width = max((high - low for low, high, none in rows if not none), default=0.0)
    where = "at every state" if not lost else f"at {number_of(n - lost, 'state')}"
    price = f" or by giving up, which costs {it.give_up:g}," if stops else ""
    ends = number_of(len(it.ends), "goal or label", "goals and labels")
    found = [f"A process of {size}. A walk ends at one of {ends}{price} at the values in the file."]
    if it.least:
        found += [
            f"The least expected cost of a policy that surely ends lies between the file's bounds "
            f"{where}, and so does the file's value; the bounds are about {width:.3g} apart at "
            "most.",
            "From each of these states the plan ends surely, at an expected cost of at most the "
            "upper bound.",
        ]
    else:
        found += [
            f"The plan ends surely {where}. Its expected cost lies between the file's bounds "
            f"there, and so does the file's value; the bounds are about {width:.3g} apart at most.",
            "The plan was given. Nothing is stated about other plans.",
        ]
    if lost:
        who = "no policy ends" if it.least else "the plan does not end"
        found.append(
            f"From {number_of(lost, 'state')} {who} surely: the expected cost is infinite."
        )
    if it.reach is None:
        found.append("Where the cost is finite, the plan arrives at a goal or label surely.")
    else:
        widths = (b - a for a, b in zip(it.reach_lower, it.reach_upper, strict=True))
        found.append(
            "The probability that the plan arrives at a goal or label lies between the file's "
            f"bounds at every state; they are about {max(widths):.3g} apart at most."
        )
    return found
