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

**Odds in intervals** are all odds p with low ≤ p ≤ high and sum 1, for each choice by itself.
Counts are the case low = high. Costs are positive. Against the *worst* odds, U and the lower
barrier of arrival have to hold for all odds of a choice; L, I and the upper barrier for some. With
the *best* odds it is the other way round. Which odds are extreme for a field follows from sorting.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import add, mul

from ._field import NotProved, number_of
from ._file import Sections, finite, moved, read_names, require, titled
from ._numbers import places, whole

LARGEST_EXPONENT = 512


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
    odds: str | None
    """None if they are known; "worst" or "best" if they lie in intervals."""
    low_odds: Sequence[float]
    """Counts of every outcome, or one for all, or bounds on its odds; likewise `costs`."""
    high_odds: Sequence[float]
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
    """Low parts of the values; likewise `reach_low`."""
    reach_low: Sequence[float]
    layers: Sequence[int]
    """Of the infinite states alone, in ascending order."""
    ranks: Sequence[int] | None
    for_all: Sequence[float] | None
    for_plan: Sequence[float] | None

    def name(self, x: int) -> str:
        """Return how a message calls a state."""
        return titled("state", x, self.names)


def read_process(sections: Sections) -> Process:
    """Read a proof of expected costs.

    Begin, sections, `uint`, `float` and the way in which bounds are counted are those of
    `wayfield_verify._file`. Sections come in this order, each once; those marked * may be absent.
    There are n states, k choices, o outcomes, and q states in F. "1 or o": one entry is for all.

        proc    4 × u64            n, k, o, q; q is at least 1
        clai    u8, f64, 6 × i16   the claim, below; g, at least 0, or +inf; e, e', e", f, f', f",
                                   each between −512 and 512
        choi    n × uint           number of choices of every state
        acti *  k × uint           the action of every choice, ascending at each state; they are
                                   0, 1, … if absent
        outc    k × uint           number of outcomes of every choice, at least 1
        head    o × uint           next state of every outcome
        coun    1 or o × f64       counts, positive; not with odds in intervals
        oddl    1 or o × f64       with odds in intervals only: their lower bounds, at least 0, and
        oddh    1 or o × f64       their upper bounds
        cost    1 or o × f64       costs, at least 0, and positive with odds in intervals
        endv    q × uint           the states of F, strictly ascending
        endy    q × f64            their values Y
        naml *  n × uint           bytes of the name of every state; with it
        name                       the names in UTF-8, one after another; no two are equal
        plan    n × uint           1 + the number of the plan's choice among those of its state; 0
                                   for no move
        valu    n × f64            expected cost: numbers or +inf
        lowr    n × uint           how many doubles the bounds lie below it
        uppr    n × uint           and above it
        reac    n × f64            probability of arrival; this, its bounds and `rlow` are absent if
                                   the claim is the least cost and g is infinite
        rlor    n × uint           its bounds
        rupr    n × uint
        vlow    n × float          low parts: v is valu + vlow
        rlow    n × float          low parts of the probability of arrival
        laye    uint each          if there are infinite values: the layers of these states, in
                                   ascending order of states
        rank *  n × uint           ranks
        ball *  n × float          the field a; 0 if absent
        bpla *  n × float          the field b; 0 if absent. With odds in intervals, of arrival
                                   alone

    The claim has bit 0 if it is the cost of this plan, bit 1 if the term with e" is absent, bit 2
    if the odds lie in intervals, and bit 3 if it is about the best of them. Bit 0 excludes bit 2,
    and bit 3 needs it. Entries that no check asks for may be any number.
    """
    n, num_choices, num_outcomes, num_ends = map(int, sections.unpack("proc", "<4Q"))
    claim, give_up, *exponents = sections.unpack("clai", "<Bd6h")
    require(claim in (0, 1, 2, 3, 4, 6, 12, 14), "its claim is unknown")
    odds = (None, "worst", None, "best")[int(claim) >> 2]
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
    require(all(y < n for y in heads), "an outcome leads to a state that does not exist")
    weights = []
    for tag in ("coun", "cost") if odds is None else ("oddl", "oddh", "cost"):
        size = sections.width(tag, 8, (1, num_outcomes))
        weights.append(finite(sections.doubles(tag, size)))
    low_odds, high_odds, costs = weights[0], weights[-2], weights[-1]
    if odds is None:
        require(all(w > 0.0 for w in low_odds), "a count is not positive")
        require(all(c >= 0.0 for c in costs), "a cost is negative")
    else:
        require(all(p >= 0.0 for p in low_odds), "a bound on odds is negative")
        require(all(c > 0.0 for c in costs), "a cost is not positive, with odds in intervals")
    require(num_ends > 0, "it has neither goal nor label")
    ends = sections.counts("endv", num_ends)
    require(all(x < n for x in ends), "a goal or label is at a state that does not exist")
    require(all(x < y for x, y in pairwise(ends)), "goals and labels are not in ascending order")
    end_values = finite(sections.doubles("endy", num_ends))
    names = read_names(sections, n, "states") if sections.has("naml") else None

    plan = sections.counts("plan", n)
    known = all(a <= k for a, k in zip(plan, per_state, strict=True))
    require(known, "the plan takes an unknown choice")
    values = sections.doubles("valu", n)
    require(all(v > -math.inf for v in values), "a value is neither a number nor +inf")
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
        least, endless, give_up, [int(e) for e in exponents], first, outcomes, heads, odds,
        low_odds, high_odds, costs, ends, end_values, names, plan, values, lower, upper,
        reach, reach_lower, reach_upper, low, reach_low, layers, ranks, for_all, for_plan,
    )  # fmt: skip


def _bounds(
    sections: Sections, values: Sequence[float], down: str, up: str
) -> tuple[list[float], list[float]]:
    """Return the bounds below and above; the file counts the doubles between them and the value."""
    steps = sections.counts(down, len(values)), sections.counts(up, len(values))
    return (
        [moved(v, -k) for v, k in zip(values, steps[0], strict=True)],
        [moved(v, k) for v, k in zip(values, steps[1], strict=True)],
    )


class Odds:
    """The odds of choices in whole numbers: those between `low` and `high` that sum to `total`."""

    def __init__(self, it: Process) -> None:
        self._of, size = it.outcomes, len(it.heads)
        s = max(places(it.low_odds), places(it.high_odds))
        self._low = [whole(p, s) for p in it.low_odds]
        if len(self._low) < size:
            # counts that are equal may be 1
            self._low = [1 if it.odds is None else self._low[0]] * size
        self._high, self.total = self._low, []
        if it.odds is None:
            self.total = [sum(self._low[a:b]) for a, b in pairwise(it.outcomes)]
            return
        self._high = [whole(p, s) for p in it.high_odds]
        if len(self._high) < size:
            self._high *= size
        self.total = [1 << s] * (len(it.outcomes) - 1)
        rows = zip(self._low, self._high, strict=True)
        require(all(a <= b for a, b in rows), "bounds on odds are in the wrong order")
        for k, (a, b) in enumerate(pairwise(it.outcomes)):
            least, most = sum(self._low[a:b]), sum(self._high[a:b])
            require(least <= self.total[k] <= most, "bounds on odds exclude a sum of 1")

    def extreme(
        self, k: int, numbers: Sequence[int], side: int, barred: Sequence[bool] | None = None
    ) -> int:
        """Return the largest (side 1) or least (-1) Σ p · number over the odds of a choice.

        Barred outcomes get no more than their least odds.
        """
        a, b = self._of[k], self._of[k + 1]
        low = self._low[a:b]
        found: int = sum(map(mul, low, numbers))
        left = self.total[k] - sum(low)
        if left:
            # what the least odds leave over goes to the extreme numbers first
            for i in sorted(range(b - a), key=numbers.__getitem__, reverse=side > 0):
                if barred is None or not barred[i]:
                    more = min(self._high[a + i] - low[i], left)
                    found, left = found + more * numbers[i], left - more
                    if not left:
                        break
        return found

    def may_reach(self, k: int, there: Sequence[bool]) -> bool:
        """Whether a choice may lead there under some odds."""
        a, b = self._of[k], self._of[k + 1]
        left = self.total[k] > sum(self._low[a:b])
        rows = zip(there, self._low[a:b], self._high[a:b], strict=True)
        return any(at and (low or (left and high)) for at, low, high in rows)

    def may_stay(self, k: int, there: Sequence[bool]) -> bool:
        """Whether some odds of a choice lead nowhere but there."""
        a, b = self._of[k], self._of[k + 1]
        rows = list(zip(there, self._low[a:b], self._high[a:b], strict=True))
        return not any(low for at, low, _ in rows if not at) and (
            sum(high for at, _, high in rows if at) >= self.total[k]
        )


def prove_process(it: Process) -> list[str]:
    """Prove values, plan and arrival, and return what was proved; or raise `NotProved`."""
    n, stops, best = len(it.values), it.give_up < math.inf, it.odds == "best"
    infinite = [v == math.inf for v in it.values]

    # values and barriers for costs in units of 2^-s, such that all of them are whole
    e_low, e_up, _, f_low, f_up, _ = it.exponents
    none: Sequence[float] = [0.0] * n
    all_barrier, plan_barrier = it.for_all or none, it.for_plan or none
    if it.odds is not None:
        all_barrier = plan_barrier = none
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
            raise NotProved(f"{it.name(x)} ends walks, but has a move or another value than given")
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
    odds, fees = Odds(it), [whole(c, s) for c in it.costs]
    if len(fees) < len(it.heads):
        fees *= len(it.heads)
    # odds in intervals are as costly as they get, or as cheap
    side = -1 if best else 1
    lost_somewhere, ranks = any(infinite), it.ranks
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
                others = [layer_of[y] for y in heads]
                lower = [0 <= layer < layer_of[x] for layer in others]
                same = [layer == layer_of[x] for layer in others]
                if best:
                    # all odds that lead to no lower layer lead only to its own
                    proved = not odds.may_stay(k, [not one for one in lower])
                    elsewhere = [not (a or b) for a, b in zip(lower, same, strict=True)]
                    proved = proved or not odds.may_reach(k, elsewhere)
                else:
                    proved = odds.may_reach(k, lower) or odds.may_stay(k, same)
                if not proved:
                    raise NotProved(
                        f"choice {k - begin} of {it.name(x)} leads neither to a lower layer of "
                        "infinite states nor only to its own"
                    )
                continue
            barred = None
            if lost_somewhere and any(layer_of[y] >= 0 for y in heads):
                # the best odds avoid such states if they can, the worst lead there if they can
                barred = [layer_of[y] >= 0 for y in heads]
                avoided = not odds.may_reach(k, barred)
                if best:
                    avoided = odds.may_stay(k, [not lost for lost in barred])
                if not avoided and k == mine:
                    raise NotProved(f"the plan may lead from {it.name(x)} to an infinite cost")
                if not avoided:
                    continue
            paid = fees[a:b]
            # Theorem L
            numbers = list(map(add, paid, map(below.__getitem__, heads)))
            if odds.extreme(k, numbers, side, barred) < odds.total[k] * below[x]:
                raise NotProved(
                    f"choice {k - begin} of {it.name(x)} undercuts the lower barrier there"
                )
            if k == mine:  # Theorem U
                numbers = list(map(add, paid, map(above.__getitem__, heads)))
                if odds.extreme(k, numbers, side, barred) > odds.total[k] * above[x]:
                    raise NotProved(f"the plan's move from {it.name(x)} exceeds the upper barrier")
                if not any(paid) and not (ranks and any(ranks[y] < ranks[x] for y in heads)):
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
        _require_arrival(it, it.reach, odds, is_end, layer_of, (heights, s))
    return _sentences(it, infinite)


def _require_arrival(
    it: Process,
    reach: Sequence[float],
    odds: Odds,
    is_end: Sequence[bool],
    layer_of: Sequence[int],
    heights: tuple[Sequence[int], int],
) -> None:
    """Check Theorem R: that the plan arrives with a probability within the bounds.

    `heights` are v − m as multiples of 2^−s, and s.
    """
    (height, s), e, f = heights, it.exponents[2], it.exponents[5]
    best, barrier = it.odds == "best", it.for_plan or [0.0] * len(reach)
    fine = places(barrier)
    falling = [whole(b, fine) for b in barrier] if best else []
    doubles = (reach, it.reach_low, it.reach_lower, it.reach_upper)
    t = max(*map(places, doubles), s + e, fine - f)
    one = 1 << t
    below, above = [], []
    for x, (high, low) in enumerate(zip(reach, it.reach_low, strict=True)):
        number, slack = whole(high, t) + whole(low, t), 0
        exact = low == 0.0 and high in (0.0, 1.0) and it.reach_lower[x] == it.reach_upper[x]
        if not exact:
            slack = whole(barrier[x], t + f)
            slack += height[x] << t - s - e if layer_of[x] < 0 and not it.endless else 0
        # where nothing is claimed, nothing has to be checked
        claims = not best or it.reach_lower[x] > 0.0 or it.reach_upper[x] < 1.0
        below.append(number - slack if claims else 0)
        above.append(number + slack if claims else one)
    # nature makes arrival as unlikely as possible, or as likely
    side = 1 if best else -1
    for x in range(len(reach)):
        lost = layer_of[x] >= 0
        if is_end[x]:
            if not below[x] <= one <= above[x]:
                raise NotProved(
                    f"arrival is certain at {it.name(x)}, where walks end, but its bounds exclude 1"
                )
        elif not it.plan[x]:
            if not below[x] <= 0 <= above[x]:
                raise NotProved(
                    f"arrival is impossible at {it.name(x)}, where the plan stops, "
                    "but its bounds exclude 0"
                )
        else:
            k = it.first[x] + it.plan[x] - 1
            heads, total = it.heads[it.outcomes[k] : it.outcomes[k + 1]], odds.total[k]
            if below[x] > 0:
                if odds.extreme(k, [below[y] for y in heads], side) < total * below[x]:
                    raise NotProved(f"arrival from {it.name(x)} is not a lower barrier")
                # these odds need not be those of the cost: the plan has to end for all odds
                if best and (odds.extreme(k, [falling[y] for y in heads], 1) >= total * falling[x]):
                    raise NotProved(f"for some odds the plan may not end from {it.name(x)}")
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
                odds.extreme(k, [above[y] for y in heads], side) > total * above[x]
            ):
                raise NotProved(f"arrival from {it.name(x)} is not an upper barrier")
            if (lost or best) and above[x] < 0:
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
    over, of, under, surely = "", "probability", "", "surely"
    if it.odds is not None:
        found.append("The odds of each choice lie anywhere between the file's bounds on them.")
        over = f", for the {it.odds} odds,"
        of, under = ("least probability", ", whatever the odds")
        surely = "surely, whatever the odds"
        if it.odds == "best":
            of, under, surely = "largest probability", ", for some odds", "surely, for some odds"
    if it.least:
        found += [
            f"The least expected cost{over} of a policy that surely ends lies between the file's "
            f"bounds {where}, and so does the file's value; the bounds are about {width:.3g} apart "
            "at most.",
            f"From each of these states the plan ends surely, at an expected cost of at most the "
            f"upper bound{under}.",
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
            f"From {number_of(lost, 'state')} {who} {surely}: the expected cost is infinite."
        )
    if it.reach is None:
        found.append(f"Where the cost is finite, the plan arrives at a goal or label {surely}.")
    else:
        widths = (b - a for a, b in zip(it.reach_lower, it.reach_upper, strict=True))
        found.append(
            f"The {of} that the plan arrives at a goal or label lies between the file's "
            f"bounds at every state; they are about {max(widths):.3g} apart at most."
        )
    return found
