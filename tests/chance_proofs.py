"""Corrupt proofs of expected cost, and judge their claims in rationals."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import inf, isfinite, nextafter
from pathlib import Path

import numpy as np

import wayfield as wf
from exact_chance import Choice, least_expected_cost, of_plan
from proofs import File, moved
from wayfield_verify import NotProved, Unreadable, verify

REASONS = ("vlow", "rlow", "laye", "rank", "ball", "bpla")
"""Sections that hold the proof but no claim, in order."""


def random_field(seed: int, kind: str) -> wf.chance.ExpectedCost:
    """Solve a random process; `kind` is "costs" (all positive), "free" or "given" (a given plan).

    Dead ends, loops, self-loops that are hardly ever left, several goals, labels, giving up.
    """
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


# ---------------------------------------------------------------- what a file claims


def counts_of(file: File, tag: str, count: int) -> list[int]:
    content = file.sections[tag]
    width = len(content) // count if count else 1
    return np.frombuffer(content, f"<u{width}").tolist()


def process_of(file: File) -> tuple[list[dict[int, Choice]], dict[int, float]]:
    """Choices, numbered from 1 at each state, and the ends of the walk."""
    n, choices, outcomes, ends = struct.unpack("<4Q", file.sections["proc"])
    heads = counts_of(file, "head", outcomes)
    weights, costs = ((file.doubles(tag) * np.ones(outcomes)).tolist() for tag in ("coun", "cost"))
    sizes = iter(counts_of(file, "outc", choices))
    found: list[dict[int, Choice]] = []
    at = 0
    for number in counts_of(file, "choi", n):
        mine: dict[int, Choice] = {}
        for k in range(number):
            rows = range(at, at := at + next(sizes))
            w = [Fraction(weights[e]) for e in rows]
            paid = sum((a * Fraction(costs[e]) for a, e in zip(w, rows, strict=True)), Fraction(0))
            total = sum(w, Fraction(0))
            odds = [(heads[e], a / total) for a, e in zip(w, rows, strict=True)]
            mine[k + 1] = (paid / total, odds)
        found.append(mine)
    at_ends = dict(zip(counts_of(file, "endv", ends), file.doubles("endy").tolist(), strict=True))
    return found, at_ends


def is_true(file: File) -> bool:
    """Whether all that a file claims is true, by policy iteration in rationals."""
    choices, ends = process_of(file)
    n = len(choices)
    claim, price = struct.unpack_from("<Bd", file.sections["clai"])
    give_up = None if price == inf else price
    plan = [a or -1 for a in counts_of(file, "plan", n)]
    if any(
        a > len(mine) or (a > 0 and x in ends)
        for x, (a, mine) in enumerate(zip(plan, choices, strict=True))
    ):
        return False
    cost, arrives = of_plan(choices, plan, ends, give_up)
    exact = cost if claim & 1 else least_expected_cost(choices, ends, give_up)
    values = file.doubles("valu").tolist()
    bounds = bounds_of(file, values, "lowr", "uppr")
    reach = [float(v < inf) for v in values]
    chances = [(r, r) for r in reach]
    if "reac" in file.sections:
        reach = file.doubles("reac").tolist()
        chances = bounds_of(file, reach, "rlor", "rupr")
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
        low, high = chances[x]
        if not (isfinite(low) and isfinite(high) and low <= reach[x] <= high):
            return False
        if not Fraction(low) <= arrives[x] <= Fraction(high):
            return False
    return True


def bounds_of(file: File, values: list[float], down: str, up: str) -> list[tuple[float, float]]:
    n = len(values)
    rows = zip(values, counts_of(file, down, n), counts_of(file, up, n), strict=True)
    return [(moved(v, -a), moved(v, b)) for v, a, b in rows]


# ---------------------------------------------------------------- corruptions


def ordered(file: File) -> File:
    """Put the sections that prove in their order, after all others."""
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
    if outcomes:
        yield with_("count", coun=shaken("coun", 1e-9))
        yield with_("cost", cost=shaken("cost", 0.0))
        yield with_("next state", head=whole("head", outcomes, n))
    yield with_("end", endv=np.sort(rng.choice(n, ends, replace=False)).astype("<u1").tobytes())
    yield with_("end value", endy=shaken("endy"))
    price = claim[1] * float(rng.choice([0.5, 1 - 1e-12, 2.0, 0.0])) if claim[1] < inf else 3.0
    yield with_("giving up", clai=struct.pack("<Bd6h", claim[0], price, *claim[2:]))
    for flip in (1, 2):
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
    yield from free_loops(file, rng)


def free_loops(file: File, rng: np.random.Generator) -> Iterator[tuple[str, File]]:
    """Plans that go round for ever at no cost, where the values stay consistent."""
    choices, ends = process_of(file)
    n, values = len(choices), file.doubles("valu").tolist()
    stays = {
        x: k
        for x, mine in enumerate(choices)
        for k, (cost, odds) in mine.items()
        if cost == 0 and x not in ends and all(values[y] == values[x] < inf for y, _ in odds)
    }
    while leave := {
        x for x, k in stays.items() if any(y not in stays for y, _ in choices[x][k][1])
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
