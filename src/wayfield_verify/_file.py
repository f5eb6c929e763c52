"""Reading a proof file, and its format byte by byte.

Every length is compared with what the counts require before anything is unpacked, so no file takes
more memory than a fixed multiple of its size. `Unreadable` says in one sentence what is wrong with
a file. Whether its claims are true is checked elsewhere.

**Numbers** are little-endian: `u8`, `u32`, `u64` unsigned integers, `i16`, `i64` signed ones, `f32`
and `f64` IEEE numbers. A `uint` is an unsigned integer of 1, 2, 4 or 8 bytes, a `float` an `f32` or
an `f64`: the section's length, divided by the number of its entries, says which. A bit array has
bit x mod 8 of byte x // 8 for vertex x, the lowest bit first; bits beyond the last vertex are 0.

**Begin.** Bytes 0 to 15 are the ASCII text ``wayfield proof 1``. Bytes 16 to 47 are the SHA-256 of
all that follow. It detects damage before anything is parsed, and is not part of the proof.

**Sections** follow to the end of the file. Each is a tag of four ASCII letters, the length of its
contents in bytes as a `u64`, and its contents. They come in this order, each once; those marked *
may be absent. There are n vertices, m edges or arcs, k labels.

    size    3 × u64      n, m, k; k is at least 1
    kind    u8, u8, f64  directed (0 or 1); fill (0 none, 1 cost, 2 flat); p from 2 to 65536, or
                         +inf for the AMLE. Only the AMLE has a fill; a directed graph has one
    naml *  n × uint     bytes of the name of every vertex; with it
    name                 the names in UTF-8, one after another; no two are equal
    tail    m × u32      where edges begin; of an undirected edge, its lower end
    head    m × u32      where they end; the pairs (tail, head) ascend strictly, and no tail is its
                         head
    leng *  m × f64      lengths, positive and finite; all are 1 if absent
    labv    k × u32      labelled vertices, strictly ascending
    laby    k × f64      their labels
    prio *  n × f64      the prior, numbers or +inf; with it
    corr    k × f64      the corrections: labels less the prior, rounded
    valu    n × f64      the field
    lowr    n × uint     how many doubles the lower bound lies below the value
    uppr    n × uint     how many doubles the upper bound lies above it
    fixd    n bits       with a fill only: the fixed vertices, a bit array
    shif    f64, i64     barriers: offset and exponent, the latter between −2000 and 2000
    base *  n × f64      common to both barriers; 0 if absent
    subh    n × f64      the lower barrier is offset + 2^exponent (base + subh + subl), exactly
    subl    n × float
    suph    n × f64      the upper barrier, in the same way
    supl    n × float
    rati                 with a fill, in place of the last six: the exact values of the fixed
                         vertices in ascending order. Of each: the number of bytes of its
                         numerator (u32), these (two's complement), the number of bytes of its
                         denominator (u32), and these (unsigned, not 0); at most 4096 bytes each.
                         The bytes of the values at both ends of all arcs are together at most 64
                         times the bytes of the sections

and, if there is a plan:

    goal *  u32, u8, f64 goal; rule (0 slope, 1 q); tie tolerance, finite and at least 0
    succ    n × u32      moves; the goal's is itself, and so is that of a vertex without one
    hops    n × uint     moves to the goal; 0 at the goal, and where it is not reached
    cost    n × f64      with leng only: cost of the walk from every start, +inf where it does not
                         arrive; neither NaN nor negative
    lift *  n × f64      the plan's values if they were lifted, numbers or +inf
    erro *  1 or n × f64 bounds on the error of the values, at least 0, +inf allowed; one is for
                         all vertices; with it
    opti    n bits       the moves that are called optimal; the goal's says nothing
    intv *  f64          bound on the labels' error in the interval test, finite, at least 0;
                         with it
    prov    n bits       the moves that are called proved; the goal's says nothing

Labels, corrections and barriers are finite. Entries that no check asks for, such as a barrier
outside the fixed vertices or where no label is connected, mean nothing, but have to be numbers.

**Bounds.** Doubles are counted in their order, 0 and −0 as one: if the 64 bits of a double, read as
a signed integer i, are not negative, its place is i, else it is −2^63 − i. The lower bound is the
double whose place is the value's less `lowr`; a count of 0 is the value itself, whatever it is.
Places lie strictly between −2^63 and 2^63.
"""

from __future__ import annotations

import hashlib
import math
import os
import stat
import struct
import sys
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path

MAGIC = b"wayfield proof 1"
START = len(MAGIC) + hashlib.sha256().digest_size
FILLS = (None, "cost", "flat")
RULES = ("slope", "q")
LARGEST_P = 65536
LARGEST_EXPONENT = 2000
LONGEST_WHOLE = 4096
"""Bytes of a numerator or denominator."""
LONGEST_NAME = 40
"""Letters of a name that a message shows."""
MOST_WORK = 64
"""Largest total size of the exact values at the ends of all arcs, per byte of the file."""
WHOLE = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""Unsigned integers by their number of bytes."""


class Unreadable(Exception):  # noqa: N818
    """The file is not a complete proof."""


@dataclass(frozen=True)
class Barriers:
    """offset + 2^exponent (base + high + low), below and above."""

    offset: float
    exponent: int
    base: Sequence[float]
    below: tuple[Sequence[float], Sequence[float]]
    above: tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True)
class FiledPlan:
    """Moves towards a goal, and what walking them costs."""

    goal: int
    rule: str
    tolerance: float
    successor: Sequence[int]
    hops: Sequence[int]
    """Moves to the goal; 0 at the goal, and where it is not reached."""
    cost: Sequence[float] | None
    """None on unit lengths: the cost is the number of moves."""
    lifted: Sequence[float] | None
    """The values that the plan follows; None if these are the field's."""
    error: Sequence[float] | None
    """A bound on the error of the values; None where no moves are certified."""
    optimal: Sequence[bool]
    label_error: float | None
    """Bound on the labels' error in the interval test; None where it proves no moves."""
    proved: Sequence[bool]


@dataclass(frozen=True)
class Proof:
    """Content of the file; by vertex, unless stated otherwise."""

    num_vertices: int
    names: Sequence[bytes] | None
    directed: bool
    fill: str | None
    p: float
    edges: list[tuple[int, int]]
    lengths: Sequence[float] | None
    """By edge; None if all are 1."""
    labels: dict[int, float]
    prior: Sequence[float] | None
    corrections: dict[int, float]
    """Labels less the prior, rounded; the labels themselves without one."""
    values: Sequence[float]
    lower: Sequence[float]
    upper: Sequence[float]
    fixed: Sequence[bool] | None
    reasons: Barriers | list[Fraction]
    plan: FiledPlan | None

    def vertex(self, x: int) -> str:
        """Return what a message calls a vertex."""
        return titled("vertex", x, self.names)


def sections_of(path: str | os.PathLike[str]) -> Sections:
    """Open a proof; raise `Unreadable` or `OSError` if that is not possible."""
    if not stat.S_ISREG(Path(path).stat().st_mode):
        raise Unreadable("it is not a regular file")
    with Path(path).open("rb") as file:
        start = file.read(START)
        if not start.startswith(MAGIC):
            raise Unreadable("it does not start with the mark of a proof")
        # before anything is kept in memory: a foreign file may be huge
        if hashlib.file_digest(file, "sha256").digest() != start[len(MAGIC) :]:
            raise Unreadable("its digest does not match its content: it was changed or cut off")
        file.seek(START)
        return Sections(file.read())


def read_field(sections: Sections) -> Proof:
    """Read the proof of a field, and of a plan if there is one."""
    n, num_edges, num_labels = map(int, sections.unpack("size", "<3Q"))
    directed, fill, p = sections.unpack("kind", "<BBd")
    require(directed in (0, 1) and fill < len(FILLS), "its kind of graph or fill is unknown")
    require(
        2.0 <= p <= LARGEST_P or p == math.inf,
        f"p = {p} is neither between 2 and {LARGEST_P} nor inf",
    )
    require(not directed or p == math.inf, "only the AMLE is defined on directed graphs")
    require(bool(fill) or not directed, "on a directed graph something is filled")
    require(not fill or p == math.inf, "only the AMLE fills")
    names = read_names(sections, n, "vertices") if sections.has("naml") else None
    tails, heads = sections.indices("tail", num_edges), sections.indices("head", num_edges)
    edges = list(zip(tails, heads, strict=True))
    require(all(x < n and y < n for x, y in edges), "an edge leads to a vertex that does not exist")
    require(all(a < b for a, b in pairwise(edges)), "edges are not in ascending order")
    if directed:
        require(all(x != y for x, y in edges), "an arc is a self-loop")
    else:
        require(all(x < y for x, y in edges), "an edge does not begin at its lower end")
    lengths = sections.doubles("leng", num_edges) if sections.has("leng") else None
    require(all(0.0 < x < math.inf for x in lengths or ()), "a length is not positive")
    require(num_labels > 0, "it has no label")
    vertices = sections.indices("labv", num_labels)
    require(all(x < n for x in vertices), "a label is at a vertex that does not exist")
    require(all(x < y for x, y in pairwise(vertices)), "labels are not in ascending order")
    labels = dict(zip(vertices, finite(sections.doubles("laby", num_labels)), strict=True))
    prior, corrections = None, labels
    if sections.has("prio"):
        prior = sections.doubles("prio", n)
        require(all(x > -math.inf for x in prior), "the prior is neither a number nor +inf")
        numbers = finite(sections.doubles("corr", num_labels))
        corrections = dict(zip(vertices, numbers, strict=True))
    values = sections.doubles("valu", n)
    lower = [moved(u, -steps) for u, steps in zip(values, sections.counts("lowr", n), strict=True)]
    upper = [moved(u, steps) for u, steps in zip(values, sections.counts("uppr", n), strict=True)]
    fixed = sections.bits("fixd", n) if fill else None
    reasons = _reasons(sections, n, fixed)
    if fixed is not None and not isinstance(reasons, Barriers):
        # the check subtracts the values at the ends of every arc: bound this work
        given = iter(reasons)
        exact = [next(given) if is_fixed else Fraction(0) for is_fixed in fixed]
        digits = [x.numerator.bit_length() + x.denominator.bit_length() for x in exact]
        work = sum(digits[x] + digits[y] for x, y in edges) // 8
        require(work <= MOST_WORK * sections.size, "its exact values are too long for its arcs")
    plan = _plan(sections, n, lengths is None) if sections.has("goal") else None
    sections.finish()
    return Proof(
        n, names, bool(directed), FILLS[int(fill)], p, edges, lengths, labels, prior, corrections,
        values, lower, upper, fixed, reasons, plan,
    )  # fmt: skip


class Sections:
    """The sections in order: each must be requested by name and read completely."""

    def __init__(self, body: bytes) -> None:
        self._body = memoryview(body)
        self._at = 0
        self.size = len(body)

    def _next(self) -> tuple[str, int]:
        """Return the tag of the next section and its number of bytes; an empty tag at the end."""
        left = len(self._body) - self._at
        if left == 0:
            return "", 0
        if left < 12:
            raise Unreadable("it ends within the header of a section")
        tag, size = struct.unpack_from("<4sQ", self._body, self._at)
        if size > left - 12:
            raise Unreadable(f"section {tag!r} is longer than the file")
        return tag.decode("ascii", "replace"), size

    def has(self, tag: str) -> bool:
        """Whether this section comes next."""
        return self._next()[0] == tag

    def take(self, tag: str, size: int | None) -> memoryview:
        """Return the contents of a section, of `size` bytes if that is known."""
        found, length = self._next()
        if found != tag:
            place = f"{found!r} stands in its place" if found else "the file ends before it"
            raise Unreadable(f"section {tag!r} is missing: {place}")
        if size is not None and length != size:
            raise Unreadable(f"section {tag!r} must have {size} bytes, got {length}")
        begin = self._at + 12
        self._at = begin + length
        return self._body[begin : self._at]

    def width(self, tag: str, count: int, widths: Sequence[int]) -> int:
        """Return how many bytes each of `count` entries of the next section has."""
        size = self._next()[1] if self.has(tag) else 0
        return next((width for width in widths if width * count == size), widths[0])

    def unpack(self, tag: str, layout: str) -> tuple[int | float, ...]:
        """Return a section of fixed layout."""
        return struct.unpack(layout, self.take(tag, struct.calcsize(layout)))

    def doubles(self, tag: str, count: int) -> array[float]:
        return _unpacked("d", self.take(tag, 8 * count))

    def floats(self, tag: str, count: int) -> array[float]:
        """Return numbers of double or single precision, depending on the section's length."""
        width = self.width(tag, count, (8, 4))
        return _unpacked("d" if width == 8 else "f", self.take(tag, width * count))

    def indices(self, tag: str, count: int) -> array[int]:
        return _unpacked("I", self.take(tag, 4 * count))

    def counts(self, tag: str, count: int) -> array[int]:
        """Return unsigned integers whose number of bytes follows from the section's length."""
        width = self.width(tag, count, (1, 2, 4, 8))
        return _unpacked(WHOLE[width], self.take(tag, width * count))

    def bits(self, tag: str, count: int) -> list[bool]:
        payload = self.take(tag, (count + 7) // 8)
        if count % 8 and payload[-1] >> count % 8:
            raise Unreadable(f"section {tag!r} has bits beyond the last vertex")
        return [bool(payload[x // 8] >> x % 8 & 1) for x in range(count)]

    def finish(self) -> None:
        if tag := self._next()[0]:
            raise Unreadable(f"section {tag!r} does not belong here")


def _unpacked(kind: str, payload: memoryview) -> array:  # type: ignore[type-arg]
    numbers = array(kind)
    assert numbers.itemsize == struct.calcsize(f"<{kind}")
    numbers.frombytes(payload)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def moved(number: float, steps: int) -> float:
    """Return the double that many places further up in the order of all doubles."""
    if steps == 0:
        return number
    (place,) = struct.unpack("<q", struct.pack("<d", number))
    # the doubles from 0 up are ordered as their bits are, those below it the other way round
    place = (place if place >= 0 else -(2**63) - place) + steps
    require(abs(place) < 2**63, "a bound is beyond all doubles")
    bits = place if place >= 0 else 2**63 - place
    found: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return found


def read_names(sections: Sections, n: int, what: str) -> list[bytes]:
    """Read the names of all vertices or states (`what`): UTF-8, no two alike."""
    sizes = sections.counts("naml", n)
    text = bytes(sections.take("name", sum(sizes)))
    names = [text[end - size : end] for end, size in zip(accumulate(sizes), sizes, strict=True)]
    try:
        for name in names:
            name.decode()
    except UnicodeDecodeError:
        require(False, "a name is not UTF-8")
    # sorted, not hashed: the file chooses them
    require(all(a < b for a, b in pairwise(sorted(names))), f"two {what} have the same name")
    return names


def titled(noun: str, x: int, names: Sequence[bytes] | None) -> str:
    """Return a noun with its number, and its name if it has one."""
    # in ASCII, which every terminal has
    return f"{noun} {x}" + (f" ({names[x].decode()[:LONGEST_NAME]!a})" if names else "")


def _reasons(sections: Sections, n: int, fixed: Sequence[bool] | None) -> Barriers | list[Fraction]:
    if fixed is not None and sections.has("rati"):
        return list(_rationals(sections.take("rati", None), sum(fixed)))
    offset, exponent = sections.unpack("shif", "<dq")
    require(math.isfinite(offset), "the offset is not a number")
    require(abs(exponent) <= LARGEST_EXPONENT, "the exponent is out of range")
    base = sections.doubles("base", n) if sections.has("base") else array("d", bytes(8 * n))
    parts = []
    for high, low in (("subh", "subl"), ("suph", "supl")):
        parts.append((finite(sections.doubles(high, n)), finite(sections.floats(low, n))))
    return Barriers(offset, int(exponent), finite(base), *parts)


def _rationals(payload: memoryview, count: int) -> Iterator[Fraction]:
    at = 0
    for _ in range(count):
        parts = []
        for _ in range(2):
            require(at + 4 <= len(payload), "the exact values are cut off")
            (size,) = struct.unpack_from("<I", payload, at)
            require(size <= LONGEST_WHOLE, "an exact value is too long")
            require(at + 4 + size <= len(payload), "the exact values are cut off")
            parts.append(bytes(payload[at + 4 : at + 4 + size]))
            at += 4 + size
        numerator = int.from_bytes(parts[0], "little", signed=True)
        denominator = int.from_bytes(parts[1], "little")
        require(denominator > 0, "an exact value has the denominator 0")
        yield Fraction(numerator, denominator)
    require(at == len(payload), "there are more exact values than fixed vertices")


def _plan(sections: Sections, n: int, unit: bool) -> FiledPlan:
    goal, rule, tolerance = sections.unpack("goal", "<IBd")
    require(goal < n, "the goal is not a vertex")
    require(rule < len(RULES), "its rule is unknown")
    require(0.0 <= tolerance < math.inf, "the tie tolerance is not a number of at least 0")
    successor = sections.indices("succ", n)
    require(all(y < n for y in successor), "a move leads to a vertex that does not exist")
    hops = sections.counts("hops", n)
    cost = None if unit else sections.doubles("cost", n)
    require(all(c >= 0.0 for c in cost or ()), "a cost is negative or not a number")
    lifted = sections.doubles("lift", n) if sections.has("lift") else None
    require(all(u > -math.inf for u in lifted or ()), "a lifted value is neither a number nor +inf")
    error, optimal = None, [False] * n
    if sections.has("erro"):
        count = sections.width("erro", 8, (1, n))
        error = sections.doubles("erro", count) * (n // count)
        require(all(e >= 0.0 for e in error), "an error bound is negative or not a number")
        optimal = sections.bits("opti", n)
    label_error, proved = None, [False] * n
    if sections.has("intv"):
        (label_error,) = sections.unpack("intv", "<d")
        require(0.0 <= label_error < math.inf, "the labels' error is negative, infinite or NaN")
        proved = sections.bits("prov", n)
    return FiledPlan(
        int(goal), RULES[int(rule)], tolerance, successor, hops, cost, lifted, error, optimal,
        label_error, proved,
    )  # fmt: skip


def finite(numbers: array[float]) -> array[float]:
    require(all(map(math.isfinite, numbers)), "a number is infinite or NaN")
    return numbers


def require(condition: bool, otherwise: str) -> None:
    if not condition:
        raise Unreadable(otherwise)
