"""Corrupt proofs of expected cost, and judge their claims in rationals."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import inf, isfinite, nextafter
from pathlib import Path

import numpy as np

import wayfield as wf
from exact_chance import Choice, Value, least_expected_cost, linear, of_plan
from proofs import File, moved
from wayfield_verify import NotProved, Unreadable, verify

REASONS = ("vlow", "rlow", "laye", "rank", "ball", "bpla")
"""Sections that hold the proof but no claim, in order."""


def random_field(seed: int, kind: str) -> wf.chance.ExpectedCost:
    """Solve a random process; `kind` is "costs" (all positive), "free" or "given" (a given plan).

    Or "worst" or "best", for odds in intervals. Dead ends, loops, self-loops that are hardly ever
    left, several goals, labels, giving up.
    """
    if kind in ("worst", "best"):
        return random_intervals(seed, kind)
    rng = np.random.default_rng([seed, *kind.encode()])
    n = int(rng.integers(2, 10))
    share = 0.0 if kind == "costs" else float(rng.choice([0.2, 0.5, 0.9]))
    rows = []
    for s in range(n):
        for a in rng.choice(5, size=int(rng.integers(0, 4)), replace=False):
            heads = rng.choice(n, size=int(rng.integers(1, min(n, 3) + 1)), replace=False)
            if rng.random() < 0.1:
                heads = np.array([s])
            counts = rng.choice([1.0, 1.0, 3.0, 20.0, 1e-3, 0.1, 0.7], size=heads.size)
            if rng.random() < 0.2:
                counts = np.where(heads == s, 1e9, 1.0)
            free = rng.random() < share
            cost = float(rng.choice([1.0, 2.0, 0.1, 1e-3, 5.0, rng.random() + 1e-9]))
            for y, count in zip(heads.tolist(), counts.tolist(), strict=True):
                none = free or (share > 0.0 and rng.random() < 0.1)
                rows.append((s, int(a), y, count, 0.0 if none else cost))
    rows = rows or [(0, 0, n - 1, 1.0, 1.0)]
    moves = wf.Transitions(*map(list, zip(*rows, strict=True)), num_states=n)
    goals = np.unique(rng.integers(n, size=int(rng.choice([1, 1, 2]))))
    others = np.setdiff1d(rng.integers(n, size=int(rng.choice([0, 0, 1, 2]))), goals)
    labels = wf.Labels(others, rng.integers(-3, 20, others.size)) if others.size else None
    give_up = (None, None, 0.0, 0.5, 5.0, 50.0, 2.7)[int(rng.integers(7))]
    field = wf.expected_cost(moves, goals, give_up, labels)
    if kind != "given":
        return field
    fixed = {*goals.tolist(), *others.tolist()}
    plan = field.plan.copy()
    for s in range(n):
        actions = moves.actions[moves.indptr[s] : moves.indptr[s + 1]]
        if s not in fixed and rng.random() < 0.7:
            plan[s] = rng.choice(actions) if actions.size and rng.random() < 0.9 else -1
    return replace(field, plan=plan).under(moves, check=False)


def random_intervals(seed: int, odds: str) -> wf.chance.ExpectedCost:
    """Solve a random process with odds in intervals: in 32nds, of any doubles, or points."""
    rng = np.random.default_rng([seed, *odds.encode()])
    n = int(rng.integers(3, 7))
    rows = []
    for s in range(n):
        for a in range(int(rng.choice([0, 1, 1, 2, 2]))):
            size = int(rng.integers(1, 4))
            heads = rng.choice(n, size, replace=False)
            p = rng.dirichlet(np.ones(size))
            low, high = np.maximum(p - rng.random(size) / 3, 0), p + rng.random(size) / 3
            style = int(rng.integers(5))
            if style == 0:
                low, high = p, p
            elif style <= 2:
                p = rng.multinomial(32, p)
                room = rng.integers(0, 9, (2, size)) * (style == 2 or rng.random() < 0.5)
                low, high = np.maximum(p - room[0], 0) / 32, (p + room[1]) / 32
            elif style == 3:
                low = np.where(heads == s, np.maximum(low, 1.0 - 2.0**-6), 0.0)
                high = np.where(heads == s, 1.0 - 2.0**-9, high + 0.1)
                low = low if high.sum() >= 1.0 and low.sum() <= 1.0 else np.zeros(size)
                high = high if high.sum() >= 1.0 else np.ones(size)
            cost = rng.choice([1.0, 0.5, 2.0, 0.1, rng.random() + 1e-3], size)
            columns = (heads, low, np.minimum(high, 1.0), cost)
            rows += [(s, a, *row) for row in zip(*map(np.ndarray.tolist, columns), strict=True)]
    rows = rows or [(0, 0, n - 1, 1.0, 1.0, 1.0)]
    moves = wf.Transitions.from_intervals(*map(list, zip(*rows, strict=True)), n)
    goals = np.unique(rng.integers(n, size=int(rng.choice([1, 1, 2]))))
    others = np.setdiff1d(rng.integers(n, size=int(rng.choice([0, 0, 1]))), goals)
    labels = wf.Labels(others, rng.integers(-3, 20, others.size)) if others.size else None
    give_up = (None, None, 0.5, 5.0, 50.0, 2.7)[int(rng.integers(6))]
    return wf.expected_cost(moves, goals, give_up, labels, odds=odds)


# ---------------------------------------------------------------- what a file claims


def counts_of(file: File, tag: str, count: int) -> list[int]:
    content = file.sections[tag]
    width = len(content) // count if count else 1
    return np.frombuffer(content, f"<u{width}").tolist()


def process_of(file: File) -> tuple[list[dict[int, list[Choice]]], dict[int, float]]:
    """Choices, numbered from 1 at each state, and the ends of the walk.

    Each with all vertices of its odds: one if they are known, none if there are no such odds.
    """
    n, choices, outcomes, ends = struct.unpack("<4Q", file.sections["proc"])
    heads = counts_of(file, "head", outcomes)
    tags = ("coun", "coun") if "coun" in file.sections else ("oddl", "oddh")
    lows, highs, costs = (
        [Fraction(x) for x in (file.doubles(tag) * np.ones(outcomes)).tolist()]
        for tag in (*tags, "cost")
    )
    sizes = iter(counts_of(file, "outc", choices))
    found: list[dict[int, list[Choice]]] = []
    at = 0
    for number in counts_of(file, "choi", n):
        mine: dict[int, list[Choice]] = {}
        for k in range(number):
            rows = range(at, at := at + next(sizes))
            low, high = [lows[e] for e in rows], [highs[e] for e in rows]
            if "coun" in file.sections:
                low = high = [w / sum(low, Fraction(0)) for w in low]
            mine[k + 1] = [
                (
                    sum((a * costs[e] for a, e in zip(p, rows, strict=True)), Fraction(0)),
                    [(heads[e], a) for a, e in zip(p, rows, strict=True) if a],
                )
                for p in vertices(low, high)
            ]
        found.append(mine)
    at_ends = dict(zip(counts_of(file, "endv", ends), file.doubles("endy").tolist(), strict=True))
    return found, at_ends


def vertices(low: list[Fraction], high: list[Fraction]) -> list[tuple[Fraction, ...]]:
    """All vertices of {low <= p <= high, Σ p = 1}: all coordinates but one at a bound."""
    found = set()
    for free in range(len(low)):
        others = [{low[i], high[i]} for i in range(len(low)) if i != free]
        for ends in product(*others):
            rest = 1 - sum(ends, Fraction(0))
            if low[free] <= rest <= high[free] and all(p >= 0 for p in (*ends, rest)):
                found.add((*ends[:free], rest, *ends[free:]))
    return sorted(found)


def is_true(file: File) -> bool:
    """Whether all that a file claims is true, by policy iteration in rationals."""
    options, ends = process_of(file)
    n = len(options)
    claim, price = struct.unpack_from("<Bd", file.sections["clai"])
    give_up = None if price == inf else price
    plan = [a or -1 for a in counts_of(file, "plan", n)]
    if any(
        a > len(mine) or (a > 0 and x in ends)
        for x, (a, mine) in enumerate(zip(plan, options, strict=True))
    ):
        return False
    if not all(some for mine in options for some in mine.values()):
        return False
    if claim & 4 and any(c <= 0 for mine in options for some in mine.values() for c, _ in some):
        return False
    values = file.doubles("valu").tolist()
    bounds = bounds_of(file, values, "lowr", "uppr")
    if not claim & 4:
        choices = [{k: some[0] for k, some in mine.items()} for mine in options]
        cost, _ = of_plan(choices, plan, ends, give_up)
        exact = cost if claim & 1 else least_expected_cost(choices, ends, give_up)
    elif claim & 8:
        exact = least_expected_cost(all_in_one(options), ends, give_up)
        stops = {} if give_up is None else {x: price for x in range(n) if plan[x] < 0}
        taken = [{a: mine[a]} if a > 0 else {} for a, mine in zip(plan, options, strict=True)]
        cost = least_expected_cost(all_in_one(taken), stops | ends, None)
    else:
        exact = least_worst_cost(options, ends, give_up)
        cost = worst_cost(options, plan, ends, give_up)
    for x in range(n):
        (low, high), value = bounds[x], values[x]
        if exact[x] == inf:
            if not low == value == high == inf or (not claim & 1 and plan[x] > 0):
                return False
        elif (
            not (isfinite(low) and isfinite(high) and low <= value <= high)
            or not Fraction(low) <= exact[x] <= Fraction(high)
            or cost[x] > Fraction(high)
        ):
            return False
    reach = [float(v < inf) for v in values]
    chances = [(r, r) for r in reach]
    if "reac" in file.sections:
        reach = file.doubles("reac").tolist()
        chances = bounds_of(file, reach, "rlor", "rupr")
    arrives = extreme_reach(options, plan, ends, 1 if claim & 8 else -1)
    return all(
        isfinite(low)
        and isfinite(high)
        and low <= r <= high
        and Fraction(low) <= exact <= Fraction(high)
        for r, (low, high), exact in zip(reach, chances, arrives, strict=True)
    )


# ---------------------------------------------------------------- odds in intervals, in rationals


def all_in_one(options: list[dict[int, list[Choice]]]) -> list[dict[int, Choice]]:
    """The process in which odds are chosen as actions are."""
    return [dict(enumerate(c for some in mine.values() for c in some)) for mine in options]


def mean(choice: Choice, values: Sequence[Value]) -> Value:
    return choice[0] + sum((p * Fraction(values[y]) for y, p in choice[1]), Fraction(0))


def worst_cost(
    options: list[dict[int, list[Choice]]],
    plan: list[int],
    ends: dict[int, float],
    give_up: float | None,
) -> list[Value]:
    """Expected cost of a plan against the worst odds: policy iteration by nature."""
    n = len(options)
    known: dict[int, Value] = {x: Fraction(v) for x, v in ends.items()}
    if give_up is not None:
        known |= {x: Fraction(give_up) for x in range(n) if plan[x] < 0 and x not in ends}
    mine = {x: options[x][plan[x]] if plan[x] > 0 else [] for x in range(n) if x not in known}
    # nature keeps the walk in this set for ever, or there is no move
    trap = set(mine)
    while leave := {
        x for x in trap if mine[x] and not any(all(y in trap for y, _ in c[1]) for c in mine[x])
    }:
        trap -= leave
    while more := {x for x in set(mine) - trap if any(y in trap for c in mine[x] for y, _ in c[1])}:
        trap |= more
    nature = {x: some[0] for x, some in mine.items() if x not in trap}
    while True:
        values = known | linear(nature, known)
        found = [values.get(x, inf) for x in range(n)]
        worse = {x: max(mine[x], key=lambda c: mean(c, found)) for x in nature}
        worse = {x: c for x, c in worse.items() if mean(c, found) > found[x]}
        if not worse:
            return found
        nature |= worse


def least_worst_cost(
    options: list[dict[int, list[Choice]]], ends: dict[int, float], give_up: float | None
) -> list[Value]:
    """Least expected cost against the worst odds: policy iteration on plans."""
    n = len(options)
    alive, plan = set(range(n)), [-1] * n
    while give_up is None:
        plan, reached = [-1] * n, set(ends)
        while more := {
            x: k
            for x in alive - reached
            for k, some in options[x].items()
            if all(y in alive for c in some for y, _ in c[1])
            and all(any(y in reached for y, _ in c[1]) for c in some)
        }:
            for x, k in more.items():
                plan[x] = k
            reached |= set(more)
        if reached >= alive:
            break
        alive &= reached
    while True:
        found = worst_cost(options, plan, ends, give_up)
        better = list(plan)
        for x in alive - set(ends):
            best = found[x]
            for k, some in options[x].items():
                if all(y in alive for c in some for y, _ in c[1]):
                    worst = max(mean(c, found) for c in some)
                    if worst < best:
                        best, better[x] = worst, k
            if give_up is not None and give_up < best:
                better[x] = -1
        if better == plan:
            return found
        plan = better


def extreme_reach(
    options: list[dict[int, list[Choice]]], plan: list[int], ends: dict[int, float], side: int
) -> list[Fraction]:
    """Largest (side 1) or least (-1) arrival of a plan; for the least, it has to end surely."""
    picked = {x: options[x][a][0] for x, a in enumerate(plan) if a > 0}
    while True:
        taken = [{plan[x]: picked[x]} if x in picked else {} for x in range(len(plan))]
        _, reach = of_plan(taken, plan, ends, None)

        def chance(c: Choice, reach: list[Fraction] = reach) -> Fraction:
            return sum((p * reach[y] for y, p in c[1]), Fraction(0))

        better = {x: max(options[x][plan[x]], key=lambda c: side * chance(c)) for x in picked}
        better = {x: c for x, c in better.items() if side * (chance(c) - reach[x]) > 0}
        if not better:
            return reach
        picked |= better


def bounds_of(file: File, values: list[float], down: str, up: str) -> list[tuple[float, float]]:
    n = len(values)
    rows = zip(values, counts_of(file, down, n), counts_of(file, up, n), strict=True)
    return [(moved(v, -a), moved(v, b)) for v, a, b in rows]


# ---------------------------------------------------------------- corruptions


def ordered(file: File) -> File:
    """Move the sections that prove behind all others, in their order."""
    reasons = {tag: file.sections.pop(tag) for tag in REASONS if tag in file.sections}
    file.sections |= reasons
    return file


def corrupted(file: File, rng: np.random.Generator) -> Iterator[tuple[str, File]]:
    """Files with other contents, each with the name of what was changed."""
    n, _, outcomes, ends = struct.unpack("<4Q", file.sections["proc"])
    claim = list(struct.unpack("<Bd6h", file.sections["clai"]))
    sizes = counts_of(file, "choi", n)
    has_reach = "reac" in file.sections

    def with_(kind: str, **sections: bytes) -> tuple[str, File]:
        other = file.copy()
        other.sections |= sections
        return kind, other

    def shaken(tag: str, least: float = -inf) -> bytes:
        """Doubles with one of them changed, a little or a lot."""
        numbers = file.doubles(tag)
        finite = np.flatnonzero(np.isfinite(numbers))
        x = int(rng.choice(finite)) if finite.size else 0
        v = float(numbers[x])
        if not isfinite(v):
            return file.sections[tag]
        near = v * (1 + float(rng.choice([-1, 1])) * 10.0 ** -int(rng.integers(3, 16)))
        numbers[x] = max(
            least,
            (near, nextafter(v, inf), nextafter(v, -inf), v + 1.0, v / 2, 0.0)[
                int(rng.integers(6))
            ],
        )
        return numbers.tobytes()

    def whole(tag: str, count: int, most: int) -> bytes:
        """Counts with one of them drawn anew."""
        numbers = counts_of(file, tag, count)
        width = len(file.sections[tag]) // count
        numbers[int(rng.integers(count))] = int(rng.integers(most))
        return np.array(numbers, f"<u{width}").tobytes()

    yield with_("value", valu=shaken("valu"))
    for tag in ("lowr", "uppr", *(("rlor", "rupr") if has_reach else ())):
        numbers = np.array(counts_of(file, tag, n))
        yield with_("bound", **{tag: (numbers * (rng.random(n) < 0.5)).astype("<u8").tobytes()})
    x = int(rng.integers(n))
    plan = counts_of(file, "plan", n)
    plan[x] = int(rng.integers(sizes[x] + 1))
    yield with_("plan", plan=np.array(plan, "<u1").tobytes())
    if has_reach:
        yield with_("arrival", reac=shaken("reac", 0.0))
        numbers = file.doubles("reac")
        numbers[x] = 1.0 - numbers[x]
        yield with_("arrival", reac=numbers.tobytes())
    known = "coun" in file.sections
    if outcomes:
        if known:
            yield with_("count", coun=shaken("coun", 1e-9))
        else:
            yield with_("odds", oddl=shaken("oddl", 0.0))
            yield with_("odds", oddh=shaken("oddh", 0.0))
        yield with_("cost", cost=shaken("cost", 0.0))
        yield with_("next state", head=whole("head", outcomes, n))
    yield with_("end", endv=np.sort(rng.choice(n, ends, replace=False)).astype("<u1").tobytes())
    yield with_("end value", endy=shaken("endy"))
    price = claim[1] * float(rng.choice([0.5, 1 - 1e-12, 2.0, 0.0])) if claim[1] < inf else 3.0
    yield with_("giving up", clai=struct.pack("<Bd6h", claim[0], price, *claim[2:]))
    for flip in (1, 2) if known else (2, 8):
        yield with_("claim", clai=struct.pack("<Bd6h", claim[0] ^ flip, *claim[1:]))
    exponents = list(claim[2:])
    exponents[int(rng.integers(6))] += int(rng.choice([-40, -5, -1, 1, 5, 60]))
    yield with_("exponent", clai=struct.pack("<Bd6h", *claim[:2], *exponents))
    for tag in REASONS:
        if content := file.sections.get(tag):
            some = bytearray(content)
            some[int(rng.integers(len(some)))] = int(rng.integers(256))
            yield with_("reason", **{tag: bytes(some)})
            yield with_("reason", **{tag: bytes(len(content))})
    # a state said to cost infinitely much, or not to
    values = file.doubles("valu")
    values[x] = inf if values[x] < inf else 5.0
    plan = counts_of(file, "plan", n)
    plan[x] = 0 if values[x] == inf else min(1, sizes[x])
    lost = int(np.isinf(values).sum())
    layers = {"laye": rng.integers(3, size=lost).astype("<u1").tobytes()} if lost else {}
    kind, other = with_(
        "infinite", valu=values.tobytes(), plan=np.array(plan, "<u1").tobytes(), **layers
    )
    yield kind, ordered(other)
    if known:
        yield from free_loops(file, rng)


def free_loops(file: File, rng: np.random.Generator) -> Iterator[tuple[str, File]]:
    """Plans that go round for ever at no cost, where the values stay consistent."""
    choices, ends = process_of(file)
    n, values = len(choices), file.doubles("valu").tolist()
    stays = {
        x: k
        for x, mine in enumerate(choices)
        for k, ((cost, odds),) in mine.items()
        if cost == 0 and x not in ends and all(values[y] == values[x] < inf for y, _ in odds)
    }
    while leave := {
        x for x, k in stays.items() if any(y not in stays for y, _ in choices[x][k][0][1])
    }:
        stays = {x: k for x, k in stays.items() if x not in leave}
    if stays:
        plan = counts_of(file, "plan", n)
        for x, k in stays.items():
            plan[x] = k
        for ranks in (rng.integers(3, size=n), np.arange(n), np.arange(n)[::-1]):
            other = file.copy()
            other.sections["plan"] = np.array(plan, "<u1").tobytes()
            other.sections["rank"] = ranks.astype("<u1").tobytes()
            if "reac" in other.sections:
                chance = other.doubles("reac")
                chance[list(stays)] = float(rng.integers(2))
                other.put("reac", chance)
            yield "free loop", ordered(other)


def tally(seeds: range, kind: str, path: Path) -> Counter[str]:
    """Write, judge, check and corrupt proofs of random processes; count verdicts by kind."""
    found: Counter[str] = Counter()
    for seed in seeds:
        random_field(seed, kind).write_proof(path)
        file = File(path)
        assert is_true(file), (seed, kind)
        found["true, accepted" if accepted(path) else f"TRUE, REJECTED: {seed}"] += 1
        rng = np.random.default_rng([seed, 1])
        for what, other in corrupted(file, rng):
            if other.sections == file.sections:
                continue
            verdict = accepted(other.write(path))
            true = is_true(other)
            word = "ACCEPTED" if verdict and not true else "accepted" if verdict else "rejected"
            found[f"{what}: {'true' if true else 'FALSE'}, {word}"] += 1
            if verdict and not true:
                found[f"seed {seed}"] += 1
    return found


def accepted(path: Path) -> bool:
    """Whether a file passes the check."""
    try:
        return bool(verify(path))
    except (NotProved, Unreadable):
        return False
