"""Files made to be slow: the checker's time is bounded by a multiple of their size."""

from __future__ import annotations

import struct
import time
from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np
import pytest

from proofs import near_ties, sealed
from wayfield_verify import NotProved, Unreadable, verify

PER_MEGABYTE = 20.0
"""Seconds of CPU time; hostile files take 0.1 to 15, and took 260 before work was bounded."""

Parts = list[tuple[str, bytes]]


def check(parts: Parts, path: Path) -> str:
    """Return the verdict on a file, and require that it took no longer than its size allows."""
    return check_bytes(
        sealed(b"".join(struct.pack("<4sQ", tag.encode(), len(d)) + d for tag, d in parts)), path
    )


def check_bytes(content: bytes, path: Path) -> str:
    """Return the verdict on a file with this content, likewise."""
    path.write_bytes(content)
    start = time.process_time()
    try:
        verdict = verify(path)[0]
    except (NotProved, Unreadable) as failure:
        verdict = str(failure)
    seconds = time.process_time() - start
    assert seconds < 0.2 + PER_MEGABYTE * len(content) / 1e6, verdict
    return verdict


def doubles(numbers: object) -> bytes:
    return np.asarray(numbers, "<f8").tobytes()


def indices(numbers: object) -> bytes:
    return np.asarray(numbers, "<u4").tobytes()


def hubs(
    count: int,
    p: float,
    lengths: np.ndarray,
    leaves: np.ndarray,
    low: np.ndarray | None = None,
    last: float = 1.0,
) -> Parts:
    """Return a field of `count` hubs, each with these leaves, and one label next to all hubs."""
    k = leaves.size
    n = count * (k + 1) + 1
    heads = [np.append(count + h * k + np.arange(k), n - 1) for h in range(count)]
    tails = np.repeat(np.arange(count), k + 1)
    high = np.concatenate([np.zeros(count), np.tile(leaves, count), [0.0]])
    rest = np.zeros(k) if low is None else low
    rest = np.concatenate([np.zeros(count), np.tile(rest, count), [0.0]])
    barriers = [
        (tag, doubles(high if tag[-1] == "h" else rest)) for tag in ("subh", "subl", "suph", "supl")
    ]
    return [
        ("size", struct.pack("<3Q", n, tails.size, 1)),
        ("kind", struct.pack("<BBd", 0, 0, p)),
        ("tail", indices(tails)),
        ("head", indices(np.concatenate(heads))),
        ("leng", doubles(np.tile(np.append(lengths, last), count))),
        ("labv", indices([n - 1])),
        ("laby", doubles([0.0])),
        ("valu", bytes(8 * n)),
        ("lowr", bytes(n)),
        ("uppr", bytes(n)),
        ("shif", struct.pack("<dq", 0.0, 0)),
        *barriers,
    ]


def test_slopes_whose_hashes_are_equal(tmp_path: Path) -> None:
    """k · 2^61 + 1 - k is 1 modulo 2^61 - 1, Python's modulus for the hashes of numbers."""
    k = np.arange(1, 10_001)
    slopes = k * 2.0**61
    assert len({hash(int(a) + 1 - int(b)) for a, b in zip(slopes, k, strict=True)}) == 1
    parts = hubs(1, 3.0, np.ones(k.size), slopes, low=1.0 - k)
    assert "not a supersolution at vertex 0" in check(parts, tmp_path / "a.proof")


@pytest.mark.parametrize(("count", "k"), [(2, 900), (20, 90), (200, 8)])
@pytest.mark.parametrize("p", [2.0, 3.0, 2.5, 65535.5])
def test_balances_that_are_ties(p: float, count: int, k: int, tmp_path: Path) -> None:
    """Every slope is 1 or -1, on lengths of a thousand binary digits."""
    lengths = 1 + np.arange(k) * 2.0**-52
    parts = hubs(count, p, lengths, lengths * np.where(np.arange(k) % 2, 1, -1), last=2.0**-1000)
    assert f"vertex {count}" in check(parts, tmp_path / "a.proof")


def test_p_beyond_all_solvers(tmp_path: Path) -> None:
    parts = hubs(1, 1e308, np.ones(100), np.linspace(-1, 1, 100))
    assert "p = 1e+308 is neither" in check(parts, tmp_path / "a.proof")


def exact(number: int, of: int) -> bytes:
    parts = b""
    for whole, signed in ((number, True), (of, False)):
        size = whole.bit_length() // 8 + 1
        parts += struct.pack("<I", size) + whole.to_bytes(size, "little", signed=signed)
    return parts


@pytest.mark.parametrize(("k", "long"), [(2000, 1), (40, 40)])
def test_long_exact_values_at_many_arcs(k: int, long: int, tmp_path: Path) -> None:
    """Return one hub; the exact values of its first `long` vertices have the largest length."""
    n = k + 2
    draw = np.random.default_rng(0)
    values = []
    for x in range(n - 1):
        a, b = (int.from_bytes(draw.bytes(4090 if x < long else 1), "little") | 1 for _ in "ab")
        values.append(exact(a, b))
    parts = [
        ("size", struct.pack("<3Q", n, k + 1, 1)),
        ("kind", struct.pack("<BBd", 0, 2, inf)),
        ("tail", indices(np.zeros(k + 1))),
        ("head", indices(np.arange(1, n))),
        ("labv", indices([n - 1])),
        ("laby", doubles([0.0])),
        ("valu", bytes(8 * n)),
        ("lowr", bytes(n)),
        ("uppr", bytes(n)),
        ("fixd", np.packbits(np.ones(n, bool), bitorder="little").tobytes()),
        ("rati", b"".join([*values, exact(0, 1)])),
    ]
    verdict = check(parts, tmp_path / "a.proof")
    assert ("too long for its arcs" in verdict) == (long == 1)


def process(outcomes: int, one_count: bool) -> Parts:
    """Return a valid proof for a hub with this many outcomes and numbers of 2,000 digits."""
    n, cost = 250, 1e300
    heads = np.append(2 + np.arange(outcomes) % (n - 2), np.ones(n - 2))
    counts, costs = np.array([1e308]), np.array([cost])
    if not one_count:
        counts = np.where(np.arange(heads.size) % 2, 1e308, 5e-324)
        costs = np.where(np.arange(heads.size) % 7, cost, cost * (1 + 2.0**-52))
        counts[outcomes:], costs[outcomes:] = 1.0, cost
    values, low, steps = np.full(n, 1.3 * cost), np.full(n, 5e-324), np.full(n, 2**54, "<u8")
    values[0], values[1], low[1], steps[1] = 2.6 * cost, 0.0, 0.0, 0
    return [
        ("proc", struct.pack("<4Q", n, n - 1, heads.size, 1)),
        ("clai", struct.pack("<Bd6h", 1, inf, 1, 1, 512, 0, 0, 0)),
        ("choi", bytes([1, 0, *[1] * (n - 2)])),
        ("outc", indices([outcomes, *[1] * (n - 2)])),
        ("head", heads.astype("<u1").tobytes()),
        ("coun", doubles(counts)),
        ("cost", doubles(costs)),
        ("endv", bytes([1])),
        ("endy", doubles([0.0])),
        ("plan", bytes([1, 0, *[1] * (n - 2)])),
        ("valu", doubles(values)),
        ("lowr", steps.tobytes()),
        ("uppr", steps.tobytes()),
        ("reac", doubles(np.ones(n))),
        ("rlor", bytes(n)),
        ("rupr", bytes(n)),
        ("vlow", doubles(low)),
        ("rlow", bytes(8 * n)),
    ]


@pytest.mark.parametrize("one_count", [True, False])
def test_processes_of_long_numbers(one_count: bool, tmp_path: Path) -> None:
    """An outcome takes 1 byte, or 17."""
    outcomes = 300_000 if one_count else 60_000
    assert "A process of 250 states" in check(process(outcomes, one_count), tmp_path / "a.proof")


@pytest.mark.parametrize("place", range(4))
def test_sizes_that_are_declared_and_not_there(place: int, tmp_path: Path) -> None:
    parts = process(10, one_count=True)
    for size in (2**62, 2**64 - 1, 0):
        numbers = list(struct.unpack("<4Q", parts[0][1]))
        numbers[place] = size
        verdict = check([("proc", struct.pack("<4Q", *numbers)), *parts[1:]], tmp_path / "a.proof")
        assert "A process" not in verdict


@pytest.mark.parametrize("p", [2.1, 60_000.3, 65_535.0, 3.0])
def test_sums_that_only_256_digits_tell_apart(p: float, tmp_path: Path) -> None:
    content = near_ties(p, 2.0**-140, vertices=140, reach=40)
    assert "p-Laplacian" in check_bytes(content, tmp_path / "a.proof")


@pytest.mark.parametrize("p", [3.0, 50.0, 800.0])
@pytest.mark.parametrize("reach", [1, 2, 8])
def test_sums_that_are_computed_exactly(p: float, reach: int, tmp_path: Path) -> None:
    """Powers of a million digits took 260 seconds per megabyte."""
    verdict = check_bytes(near_ties(p, 2.0**-300, 60 * reach, reach), tmp_path / "a.proof")
    assert "p-Laplacian" in verdict or ("undecided" in verdict and p > 3.0)


def test_long_names_that_hardly_differ(tmp_path: Path) -> None:
    parts = process(10, one_count=True)
    names: Sequence[bytes] = [b"x" * 4000 + str(i).encode() for i in range(250)]
    sizes = np.array([len(name) for name in names], "<u2").tobytes()
    parts[9:9] = [("naml", sizes), ("name", b"".join(names))]
    assert "A process" in check(parts, tmp_path / "a.proof")
    parts[10] = ("name", b"".join([*names[:-1], names[-2]]))
    assert "two states have the same name" in check(parts, tmp_path / "a.proof")
