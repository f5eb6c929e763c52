"""Random fields for certificates, and ways to spoil a certificate for certain.

Whether a file may be accepted is decided here before any checker has seen it. What it states is
solved again by its definition: in rationals for the AMLE and the harmonic extension, to 60 digits
for other p, so that of every vertex an interval is known which holds the exact value (`Truth`).

A corruption is handed out only if one of these holds, so that every one of them has to be rejected:

- **false**: a stated bound excludes the exact value, or a claim about the plan fails;
- **no proof**: by the comparison theorems no barriers like these exist: one lies beyond the exact
  value, both were exchanged although they differ, the set of fixed vertices or an exact value is
  another, or a bound does not follow from its barrier;
- **no file**: bytes that the digest does not fit, or sections that are cut off.

Changes that leave a proved statement proved are a set of their own, to be accepted (`HARMLESS`).
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, isfinite, isnan, lcm, nan
from pathlib import Path

import mpmath as mp
import numpy as np

import wayfield as wf
from exact_amle import filled_amle, fix_walks, spread_constants
from exact_chance import linear
from exact_plaplacian import to_60_digits
from wayfield.certificates import Certificate
from wayfield.fields import Extension, Method
from wayfield.plans.planning import RuleName

HEAD = 48
"""Magic and digest."""
MAGIC = b"wayfield proof 1"
REFERENCE_ERROR = Fraction(1, 10**40)
"""More than the reference for other p is off by, as a share of the labels' range."""
TRIES = 12
"""Draws until a change is found that makes the statement false."""


# ---------------------------------------------------------------- fields


@dataclass(frozen=True)
class Case:
    """A problem and how it is solved."""

    graph: wf.Graph
    labels: wf.Labels
    method: Method
    prior: np.ndarray | None = None

    def solve(self) -> Extension:
        return wf.extend(
            self.graph, self.labels, self.method, prior=self.prior, unreachable="nan", check=False
        )


def random_case(seed: int) -> Case:
    """One of all methods, directed or not, of unit, whole and general lengths.

    Labels are real, whole, far from 0 or few of a kind, so that there are ties and plateaus.
    """
    draw = np.random.default_rng(seed)
    n = int(draw.integers(3, 20))
    directed = draw.random() < 0.4
    count = int(n * draw.uniform(1.0, 2.5))
    tails, heads = draw.integers(0, n, (2, count))
    kept = tails != heads
    tails, heads = tails[kept], heads[kept]
    lengths = (
        np.ones(tails.size),
        draw.integers(1, 5, tails.size).astype(float),
        draw.lognormal(0.0, 1.0, tails.size),
    )[draw.integers(3)]
    pairs = np.stack(
        [tails, heads] if directed else [np.minimum(tails, heads), np.maximum(tails, heads)]
    )
    _, first = np.unique(pairs, axis=1, return_index=True)
    graph = wf.Graph.from_edges(
        tails[first], heads[first], lengths[first], num_vertices=n, directed=directed
    )
    k = int(draw.integers(1, max(2, n // 2)))
    values = (
        draw.normal(size=k),
        draw.integers(0, 4, k).astype(float),
        1e6 + draw.integers(0, 9, k),
        1e-30 * draw.normal(size=k),
    )[draw.integers(4)]
    labels = wf.Labels(draw.choice(n, k, replace=False), values)
    methods: tuple[Method, ...] = (
        wf.AMLE(), wf.AMLE(fill="cost"), wf.AMLE(fill="flat"), wf.Harmonic(),
        wf.PLaplacian(2), wf.PLaplacian(2.1), wf.PLaplacian(3), wf.PLaplacian(17.25),
        wf.PLaplacian(512),
    )  # fmt: skip
    method = methods[draw.integers(3 if directed else len(methods))]
    prior = None
    if draw.random() < 0.25:
        prior = draw.normal(size=n)
        away = np.setdiff1d(np.arange(n), labels.vertices)
        prior[away[: int(draw.integers(0, 2))]] = np.inf
    return Case(graph, labels, method, prior)


def proved_fields(first: int = 0) -> Iterator[tuple[int, Extension]]:
    """Random fields that have a bracket, without end, each with its seed."""
    seed = first
    while True:
        field = random_case(seed).solve()
        if field.evidence is not None and field.lower is not None:
            yield seed, field
        seed += 1


def random_plan(seed: int, field: Extension) -> Certificate:
    """Plan on a field, by either rule, towards a label, with an error budget."""
    draw = np.random.default_rng(seed)
    assert field.graph is not None
    assert field.labels is not None
    goal = int(draw.choice(field.labels.vertices))
    rule: RuleName = "slope" if draw.random() < 0.7 else "q"
    moves = wf.plan(field.graph, field, goal, rule=rule)
    error = float(draw.choice([0.0, 0.01, 0.3]))
    return wf.certify(field.graph, field.labels, field, moves, error)


# ---------------------------------------------------------------- files


class File:
    """The sections of a certificate, to be changed and written again with a digest that fits."""

    def __init__(self, path: Path) -> None:
        body = path.read_bytes()[HEAD:]
        self.sections: dict[str, bytes] = {}
        while body:
            tag, size = struct.unpack_from("<4sQ", body)
            self.sections[tag.decode()] = body[12 : 12 + size]
            body = body[12 + size :]

    def copy(self) -> File:
        other = File.__new__(File)
        other.sections = dict(self.sections)
        return other

    @property
    def counts(self) -> tuple[int, int, int]:
        """Vertices, edges, labels."""
        return struct.unpack("<3Q", self.sections["size"])

    @property
    def kind(self) -> tuple[int, int, float]:
        return struct.unpack("<BBd", self.sections["kind"])

    def doubles(self, tag: str) -> np.ndarray:
        return np.frombuffer(self.sections[tag], "<f8").copy()

    def indices(self, tag: str) -> np.ndarray:
        return np.frombuffer(self.sections[tag], "<u4").copy()

    def wholes(self, tag: str) -> np.ndarray:
        """Counts of whatever width, as 64-bit ones."""
        width = len(self.sections[tag]) // self.counts[0]
        return np.frombuffer(self.sections[tag], f"<u{width}").astype(np.uint64)

    def bits(self, tag: str) -> np.ndarray:
        packed = np.frombuffer(self.sections[tag], np.uint8)
        return np.unpackbits(packed, bitorder="little", count=self.counts[0]).astype(bool)

    def put(self, tag: str, numbers: np.ndarray) -> None:
        self.sections[tag] = numbers.tobytes()

    def put_bits(self, tag: str, flags: np.ndarray) -> None:
        self.sections[tag] = np.packbits(flags, bitorder="little").tobytes()

    def change(self, tag: str, x: int, number: float) -> None:
        numbers = self.doubles(tag)
        numbers[x] = number
        self.put(tag, numbers)

    def rows(self) -> list[tuple[float, float, float]]:
        """Lower bound, value and upper bound of every vertex."""
        values = self.doubles("valu").tolist()
        down, up = self.wholes("lowr").tolist(), self.wholes("uppr").tolist()
        return [(moved(u, -a), u, moved(u, b)) for u, a, b in zip(values, down, up, strict=True)]

    def state(self, x: int, lower: float, value: float, upper: float) -> None:
        """State other bounds and another value of a vertex."""
        self.change("valu", x, value)
        for tag, steps in (("lowr", _place(value) - _place(lower)),
                           ("uppr", _place(upper) - _place(value))):  # fmt: skip
            counts = self.wholes(tag)
            counts[x] = steps
            self.put(tag, counts)

    def recount(self) -> None:
        n, _, k = self.counts
        self.sections["size"] = struct.pack("<3Q", n, self.indices("tail").size, k)

    def body(self) -> bytes:
        return b"".join(
            struct.pack("<4sQ", tag.encode(), len(payload)) + payload
            for tag, payload in self.sections.items()
        )

    def sealed(self) -> bytes:
        return sealed(self.body())

    def write(self, path: Path) -> Path:
        path.write_bytes(self.sealed())
        return path


def near_ties(p: float, epsilon: float, vertices: int = 300, reach: int = 60) -> bytes:
    """Return a file made to be slow: at every vertex both sums of powers agree but for epsilon.

    Each of the vertices in a row is joined to the `reach` next ones on both sides, and its value
    is its number. The barriers are bent by epsilon, so that the proof holds.
    """
    x = np.arange(vertices)
    away = np.arange(1, reach + 1)
    tails, heads = (np.concatenate([x[: vertices - a] + b for a, b in zip(away, to, strict=True)])
                    for to in (0 * away, away))  # fmt: skip
    order = np.lexsort((heads, tails))
    labelled = np.append(x[:reach], x[-reach:])
    steps = np.ones(vertices, "<u1")
    steps[labelled] = 0
    bent = epsilon * (x - vertices) * (x + 1.0)
    sections = [
        ("size", struct.pack("<3Q", vertices, tails.size, labelled.size)),
        ("kind", struct.pack("<BBd", 0, 0, p)),
        ("tail", tails[order].astype("<u4").tobytes()),
        ("head", heads[order].astype("<u4").tobytes()),
        ("labv", labelled.astype("<u4").tobytes()),
        ("laby", labelled.astype("<f8").tobytes()),
        ("valu", x.astype("<f8").tobytes()),
        ("lowr", steps.tobytes()),
        ("uppr", steps.tobytes()),
        ("shif", struct.pack("<dq", 0.0, 0)),
        ("subh", x.astype("<f8").tobytes()),
        ("subl", bent.astype("<f8").tobytes()),
        ("suph", x.astype("<f8").tobytes()),
        ("supl", (-bent).astype("<f8").tobytes()),
    ]
    return sealed(
        b"".join(struct.pack("<4sQ", t.encode(), len(each)) + each for t, each in sections)
    )


def dense(p: float, vertices: int, share: float, unit: bool) -> Extension:
    """Return a field on a random graph with this share of all possible edges."""
    draw = np.random.default_rng(0)
    tails, heads = np.triu_indices(vertices, 1)
    kept = draw.random(tails.size) < share
    lengths = None if unit else draw.uniform(0.5, 2.0, int(kept.sum()))
    graph = wf.Graph.from_edges(tails[kept], heads[kept], lengths, vertices)
    labelled = np.arange(0, vertices, 10)
    labels = wf.Labels(labelled, draw.uniform(0.0, 10.0, labelled.size))
    return wf.extend(graph, labels, wf.PLaplacian(p))


def sealed(body: bytes) -> bytes:
    """Return a file with this body and the digest that fits it."""
    return MAGIC + hashlib.sha256(body).digest() + body


def _place(number: float) -> int:
    (place,) = struct.unpack("<q", struct.pack("<d", number))
    return place if place >= 0 else -(2**63) - place


def moved(number: float, steps: int) -> float:
    if not steps:
        return number
    place = _place(number) + steps
    return struct.unpack("<d", struct.pack("<Q", place if place >= 0 else 2**63 - place))[0]


# ---------------------------------------------------------------- what a file states, and the truth


@dataclass(frozen=True)
class Truth:
    """The exact field of the problem that a file states, between two rationals at every vertex.

    NaN where no label is connected, inf where none is reached.
    """

    least: list[Fraction | float]
    most: list[Fraction | float]

    def refutes(self, file: File) -> bool:
        """Whether the file's statement about its field is false."""
        labels = dict(zip(file.indices("labv").tolist(), file.doubles("laby"), strict=True))
        if any(file.doubles("valu")[x] != label for x, label in labels.items()):
            return True
        for low, high, row in zip(self.least, self.most, file.rows(), strict=True):
            if not isfinite(low):
                if not all(isnan(u) if isnan(low) else u == low for u in row):
                    return True
            elif not all(map(isfinite, row)) or not (row[0] <= high and low <= row[2]):
                return True
        return False


class Statement:
    """The problem that a file states."""

    def __init__(self, file: File) -> None:
        self.n, _, _ = file.counts
        self.directed, fill, self.p = file.kind
        self.fill = (None, "cost", "flat")[fill]
        self.tails, self.heads = file.indices("tail").tolist(), file.indices("head").tolist()
        given = file.doubles("leng").tolist() if "leng" in file.sections else [1] * len(self.tails)
        self.lengths = [Fraction(length) for length in given]
        prior = file.doubles("prio").tolist() if "prio" in file.sections else [0.0] * self.n
        self.prior = [u if u == inf else Fraction(u) for u in prior]
        rows = zip(file.indices("labv").tolist(), file.doubles("laby").tolist(), strict=True)
        self.labels = {x: Fraction(y) - self.prior[x] for x, y in rows}
        # by how much the corrections in the file are off
        rest = file.doubles("corr").tolist() if "corr" in file.sections else None
        stated = self.labels.values() if rest is None else map(Fraction, rest)
        self.delta = max(abs(a - b) for a, b in zip(self.labels.values(), stated, strict=True))

    @cached_property
    def units(self) -> int:
        return lcm(*(length.denominator for length in self.lengths))

    @cached_property
    def arcs(self) -> list[list[tuple[int, int]]]:
        arcs: list[list[tuple[int, int]]] = [[] for _ in range(self.n)]
        for x, y, length in zip(self.tails, self.heads, self.lengths, strict=True):
            arcs[x].append((y, int(length * self.units)))
            if not self.directed:
                arcs[y].append((x, int(length * self.units)))
        return arcs

    @cached_property
    def connected(self) -> set[int]:
        """Vertices that are connected to a label, in whatever direction."""
        beside: list[list[int]] = [[] for _ in range(self.n)]
        for x, y in zip(self.tails, self.heads, strict=True):
            beside[x].append(y)
            beside[y].append(x)
        found, todo = set(self.labels), list(self.labels)
        while todo:
            for y in beside[todo.pop()]:
                if y not in found:
                    found.add(y)
                    todo.append(y)
        return found

    def truth(self) -> Truth | None:
        """Solve it by its definition; None if the reference did not converge."""
        if self.p == inf:
            exact = self._amle()
        elif self.p == 2.0:
            exact = self._harmonic()
        else:
            return self._between()
        field = [
            (u + self.prior[x] if x in self.connected else nan) if self.prior[x] != inf else inf
            for x, u in enumerate(exact)
        ]
        return Truth(field, field)

    def _amle(self) -> Sequence[Fraction | float]:
        if self.fill is not None:
            return filled_amle(self.arcs, self.units, self.labels, self.fill)
        fixed = dict(self.labels)
        fix_walks(self.arcs, fixed)
        spread_constants(self.arcs, fixed)
        return [fixed.get(x, nan) for x in range(self.n)]

    def _harmonic(self) -> list[Fraction | float]:
        """Every free value is the mean of its neighbours, weighted by 1 / length."""
        rows = {}
        for x in self.connected - set(self.labels):
            weights = [(y, Fraction(1, length)) for y, length in self.arcs[x]]
            total = sum(weight for _, weight in weights)
            rows[x] = Fraction(0), [(y, weight / total) for y, weight in weights]
        found = self.labels | linear(rows, self.labels)
        return [found.get(x, nan) for x in range(self.n)]

    def _between(self) -> Truth | None:
        graph = wf.Graph.from_edges(
            self.tails, self.heads, [float(x) for x in self.lengths], num_vertices=self.n
        )
        vertices = list(self.labels)
        rough = wf.Labels(vertices, [float(self.labels[x]) for x in vertices])
        start = wf.extend(
            graph, rough, wf.PLaplacian(self.p), unreachable="nan", check=False
        ).values
        span = max(self.labels.values()) - min(self.labels.values())
        free = sorted(self.connected - set(self.labels))
        with mp.workdps(60):
            field = [mp.mpf(float(u)) for u in start]
            for x, y in self.labels.items():
                field[x] = mp.mpf(y.numerator) / y.denominator
            wide = mp.mpf(span.numerator) / span.denominator
            try:
                found = to_60_digits(graph, field, free, self.p, wide or mp.mpf(1))
            except (AssertionError, ZeroDivisionError):
                return None
        error = REFERENCE_ERROR * (span or 1)
        exact = [_rational(u) if x in self.connected else nan for x, u in enumerate(found)]
        least, most = (
            [
                inf if self.prior[x] == inf else u + self.prior[x] + side if isfinite(u) else u
                for x, u in enumerate(exact)
            ]
            for side in (-error, error)
        )
        return Truth(least, most)


def _rational(number: mp.mpf) -> Fraction:
    sign, mantissa, exponent, _ = number._mpf_
    return (-1) ** sign * Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


# ---------------------------------------------------------------- spoiling the statement


@dataclass(frozen=True)
class Original:
    """A certificate, what it is about and the exact field."""

    file: File
    statement: Statement
    truth: Truth

    @classmethod
    def of(cls, path: Path) -> Original | None:
        file = File(path)
        statement = Statement(file)
        truth = statement.truth()
        return None if truth is None else cls(file, statement, truth)

    @cached_property
    def finite(self) -> list[int]:
        return [x for x, u in enumerate(self.truth.least) if isfinite(u)]

    @cached_property
    def asked(self) -> list[int]:
        """Vertices at which the barriers are asked for."""
        if "fixd" in self.file.sections:
            return np.flatnonzero(self.file.bits("fixd")).tolist()
        return sorted(self.statement.connected)

    def barrier(self, side: str, x: int) -> Fraction:
        sections = self.file.sections
        offset, exponent = struct.unpack("<dq", sections["shif"])
        low = "<f8" if len(sections[f"{side}l"]) == 8 * self.statement.n else "<f4"
        parts = [
            float(self.file.doubles("base")[x]) if "base" in sections else 0.0,
            float(self.file.doubles(f"{side}h")[x]),
            float(np.frombuffer(sections[f"{side}l"], low)[x]),
        ]
        return Fraction(offset) + Fraction(2) ** exponent * sum(map(Fraction, parts))


Spoiler = Callable[[Original, np.random.Generator], "File | None"]


def _beyond(number: Fraction, up: bool) -> float:
    """Return the first double strictly beyond a rational."""
    found, onward = float(number), inf if up else -inf
    while not (found > number if up else found < number):
        found = float(np.nextafter(found, onward))
    return found


def _bound(given: Original, draw: np.random.Generator) -> File | None:
    """Move a bound across the true value, by one double or the bracket's last place and more."""
    if not given.finite:
        return None
    x, up = int(draw.choice(given.finite)), bool(draw.random() < 0.5)
    lower, value, upper = given.file.rows()[x]
    truth = given.truth.most[x] if up else given.truth.least[x]
    past = _beyond(Fraction(truth), up)
    past += (1.0 if up else -1.0) * float(
        draw.choice([0.0, float(np.spacing(upper - lower)), upper - lower, 1.0])
    )
    file = given.file.copy()
    if up:  # a lower bound above the truth
        file.state(x, past, max(value, past), max(upper, past))
    else:
        file.state(x, min(lower, past), min(value, past), past)
    return file


def _value(given: Original, draw: np.random.Generator) -> File | None:
    """Move a value, and its bounds with it, until they leave the truth out."""
    if not given.finite:
        return None
    file, x = given.file.copy(), int(draw.choice(given.finite))
    lower, value, upper = file.rows()[x]
    step = float(draw.choice([1.0, 2.0, 1e6])) * (upper - lower) or float(np.spacing(value))
    file.change("valu", x, value + (step if draw.random() < 0.5 else -step))
    return file if given.truth.refutes(file) else None


def _changed(change: Callable[[File, np.random.Generator], bool]) -> Spoiler:
    """Change the problem until the exact field of the new one leaves the stated bounds."""

    def spoil(given: Original, draw: np.random.Generator) -> File | None:
        for _ in range(TRIES):
            file = given.file.copy()
            if not change(file, draw):
                continue
            truth = Statement(file).truth()
            if truth is not None and truth.refutes(file):
                return file
        return None

    return spoil


def _label(file: File, draw: np.random.Generator) -> bool:
    """Change a label, and half of the time what is stated at its vertex accordingly."""
    labels = file.doubles("laby")
    i = int(draw.integers(labels.size))
    label = float(
        draw.choice([np.nextafter(labels[i], inf), np.nextafter(labels[i], -inf), labels[i] + 1.0])
    )
    file.change("laby", i, label)
    if draw.random() < 0.5:
        file.state(int(file.indices("labv")[i]), label, label, label)
    return True


def _arc_dropped(file: File, draw: np.random.Generator) -> bool:
    tails, heads = file.indices("tail"), file.indices("head")
    if tails.size < 2:
        return False
    e = int(draw.integers(tails.size))
    file.put("tail", np.delete(tails, e))
    file.put("head", np.delete(heads, e))
    if "leng" in file.sections:
        file.put("leng", np.delete(file.doubles("leng"), e))
    file.recount()
    return True


def _arc_added(file: File, draw: np.random.Generator) -> bool:
    n = file.counts[0]
    tails, heads = file.indices("tail").astype(int), file.indices("head").astype(int)
    x, y = draw.choice(n, 2, replace=False)
    if not file.kind[0]:
        x, y = min(x, y), max(x, y)
    if ((tails == x) & (heads == y)).any():
        return False
    place = int(np.searchsorted(tails * n + heads, x * n + y))
    file.put("tail", np.insert(tails, place, x).astype("<u4"))
    file.put("head", np.insert(heads, place, y).astype("<u4"))
    if "leng" in file.sections:
        file.put("leng", np.insert(file.doubles("leng"), place, draw.uniform(0.5, 2.0)))
    file.recount()
    return True


def _length(file: File, draw: np.random.Generator) -> bool:
    size = file.indices("tail").size
    if not size:
        return False
    lengths = file.doubles("leng") if "leng" in file.sections else np.ones(size)
    lengths[draw.integers(size)] *= draw.choice([0.5, 1.5, 1.0 + 2.0**-30])
    sections = file.sections
    file.sections = {}
    for tag, payload in sections.items():
        if tag != "leng":
            file.sections[tag] = payload
        if tag == "head":
            file.put("leng", lengths)
    return True


def _method(file: File, draw: np.random.Generator) -> bool:
    """Another p, or another fill."""
    directed, fill, p = file.kind
    if fill:
        fill = 3 - fill
    else:
        p = float(draw.choice([each for each in (2.0, 2.5, 3.0, inf) if each != p]))
    file.sections["kind"] = struct.pack("<BBd", directed, fill, p)
    return True


def _prior(file: File, draw: np.random.Generator) -> bool:
    if "prio" not in file.sections:
        return False
    prior = file.doubles("prio")
    x = int(draw.integers(prior.size))
    prior[x] = inf if prior[x] != inf and draw.random() < 0.2 else draw.normal()
    file.put("prio", prior)
    return not np.isinf(prior[file.indices("labv")]).any()


def _bit(file: File, draw: np.random.Generator) -> bool:
    """Flip any bit of what is stated, the counts apart, if that leaves a graph with labels."""
    stated = ("kind", "tail", "head", "leng", "labv", "laby", "prio", "valu", "lowr", "uppr")
    tag = str(draw.choice([tag for tag in stated if file.sections.get(tag)]))
    payload = bytearray(file.sections[tag])
    payload[draw.integers(len(payload))] ^= 1 << int(draw.integers(8))
    file.sections[tag] = bytes(payload)
    return _is_problem(file)


def _is_problem(file: File) -> bool:
    directed, fill, p = file.kind
    n, tails, heads = file.counts[0], file.indices("tail"), file.indices("head")
    vertices = file.indices("labv")
    numbers = [file.doubles(tag) for tag in ("leng", "laby") if tag in file.sections]
    small = all(np.isfinite(each).all() and (abs(each) < 1e100).all() for each in numbers)
    edges = list(zip(tails.tolist(), heads.tolist(), strict=True))
    lengths = file.doubles("leng") if "leng" in file.sections else np.ones(1)
    prior = file.doubles("prio") if "prio" in file.sections else np.zeros(1)
    return bool(
        directed in (0, 1) and fill < 3 and p >= 2.0 and (p < 1000 or p == inf)
        and (not directed or fill) and (not fill or p == inf)
        and all(x < n and y < n and x != y and (directed or x < y) for x, y in edges)
        and edges == sorted(set(edges)) and small and (lengths > 1e-3).all()
        and (vertices < n).all() and (np.diff(vertices.astype(int)) > 0).all()
        and (prior > -1e100).all() and ((prior < 1e100) | (prior == inf)).all()
        and ("prio" not in file.sections or np.isfinite(prior[vertices]).all())
    )  # fmt: skip


# ---------------------------------------------------------------- spoiling the proof


def _barriers(given: Original, draw: np.random.Generator) -> File | None:
    """Exchange the barriers, if they differ: two pairs around one field cannot both be in order."""
    if "subh" not in given.file.sections:
        return None
    if all(given.barrier("sub", x) == given.barrier("sup", x) for x in given.asked):
        return None
    file = given.file.copy()
    for low, high in (("subh", "suph"), ("subl", "supl")):
        file.sections[low], file.sections[high] = file.sections[high], file.sections[low]
    return file


def _barrier_across(given: Original, draw: np.random.Generator) -> File | None:
    """Move a barrier across the exact solution: no subsolution lies above it."""
    return _barrier_moved(given, draw, inward=True)


def _barrier_beyond(given: Original, draw: np.random.Generator) -> File | None:
    """Move a barrier out of the bracket: the bound does not follow from it."""
    return _barrier_moved(given, draw, inward=False)


def _barrier_moved(given: Original, draw: np.random.Generator, inward: bool) -> File | None:
    statement = given.statement
    free = [x for x in given.asked if inward or x not in statement.labels]
    free = [x for x in free if isfinite(given.truth.least[x])]
    if "subh" not in given.file.sections or not free:
        return None
    x = int(draw.choice(free))
    side = str(draw.choice(["sub", "sup"]))
    up = (side == "sub") == inward
    lower, _, upper = given.file.rows()[x]
    if inward:
        target = given.truth.most[x] if up else given.truth.least[x]
    else:
        target = lower if side == "sub" else upper
    # the barriers are those of the corrections in the file, which may be off by delta
    goal = Fraction(target) - statement.prior[x] + (1 if up else -1) * 2 * statement.delta
    moved = Original(given.file.copy(), statement, given.truth)
    tag, step = f"{side}h", 2.0**-60
    start = float(moved.file.doubles(tag)[x])
    while not (moved.barrier(side, x) > goal if up else moved.barrier(side, x) < goal):
        moved.file.change(tag, x, start + (step if up else -step))
        step *= 2.0
        if step > 2.0**60:
            return None
    return moved.file


def _fixed(given: Original, draw: np.random.Generator) -> File | None:
    """Any other set of fixed vertices: by Theorem 3 there is one."""
    if "fixd" not in given.file.sections:
        return None
    file = given.file.copy()
    flags = file.bits("fixd")
    x = int(draw.integers(flags.size))
    if "rati" in file.sections and not flags[x]:
        # exact values are listed by vertex, so that one has to be added
        return None
    flags[x] = not flags[x]
    file.put_bits("fixd", flags)
    return file


def _exact(given: Original, draw: np.random.Generator) -> File | None:
    """Change an exact value."""
    if "rati" not in given.file.sections:
        return None
    file = given.file.copy()
    payload = file.sections["rati"]
    at, spans = 0, []
    while at < len(payload):
        begin = at
        for _ in range(2):
            (size,) = struct.unpack_from("<I", payload, at)
            at += 4 + size
        spans.append((begin, at))
    begin, end = spans[int(draw.integers(len(spans)))]
    (size,) = struct.unpack_from("<I", payload, begin)
    top = int.from_bytes(payload[begin + 4 : begin + 4 + size], "little", signed=True)
    top += int(draw.choice([-1, 1]))
    longer = struct.pack("<I", size + 1) + top.to_bytes(size + 1, "little", signed=True)
    file.sections["rati"] = payload[:begin] + longer + payload[begin + 4 + size :]
    assert end <= len(payload)
    return file


# ---------------------------------------------------------------- spoiling the plan


def _tolls(file: File, statement: Statement, x: int) -> dict[int, Fraction]:
    """What the planner's rule asks of every move from x, the least being the best."""
    values, rule = file.doubles("valu").tolist(), file.sections["goal"][4]
    tolls = {}
    for y, whole in statement.arcs[x]:
        length = Fraction(whole, statement.units)
        if not isfinite(values[y]):
            continue
        if rule == 1 or not isfinite(values[x]):
            tolls[y] = length + Fraction(values[y])
        else:
            tolls[y] = (Fraction(values[y]) - Fraction(values[x])) / length
    return tolls


def _successor(given: Original, draw: np.random.Generator) -> File | None:
    """Another move, along no arc, worse by its rule, or with other hops or cost."""
    file, statement = given.file.copy(), given.statement
    moves, hops = file.indices("succ").astype(int), file.wholes("hops").astype(int)
    goal, _, _ = struct.unpack("<IBd", file.sections["goal"])
    x, y = (int(each) for each in draw.choice(statement.n, 2, replace=draw.random() < 0.1))
    if moves[x] == y:
        return None
    tolls = _tolls(file, statement, x)
    best = tolls.get(int(moves[x]))
    arrives = y == goal or hops[y] > 0
    same_hops = hops[x] == (hops[y] + 1 if arrives else 0)
    equal = y in tolls and best is not None and tolls[y] - best <= abs(best) / 2**40
    if equal and same_hops and "cost" not in file.sections and x != goal:
        return None
    if equal and same_hops and x != goal:
        costs, length = file.doubles("cost"), dict(statement.arcs[x])[y]
        walked = costs[y] + length / statement.units
        if costs[x] == walked or abs(costs[x] - walked) <= 1e-9 * costs[x]:
            return None
    moves[x] = y
    file.put("succ", moves.astype("<u4"))
    return file


def _hops(given: Original, draw: np.random.Generator) -> File | None:
    file = given.file.copy()
    hops = file.wholes("hops")
    hops[draw.integers(hops.size)] += np.uint64(draw.integers(1, 3))
    file.put("hops", hops)
    return file


def _cost(given: Original, draw: np.random.Generator) -> File | None:
    if "cost" not in given.file.sections:
        return None
    file = given.file.copy()
    costs = file.doubles("cost")
    x = int(draw.integers(costs.size))
    costs[x] = 1.0 if costs[x] in (0.0, inf) else costs[x] * draw.choice([0.5, 1.0 + 1e-9, inf])
    file.put("cost", costs)
    return file


def _optimal(given: Original, draw: np.random.Generator) -> File | None:
    """Call a move optimal although some rival is as near as the errors allow."""
    file, statement = given.file.copy(), given.statement
    flags, moves = file.bits("opti"), file.indices("succ").tolist()
    goal = struct.unpack("<IBd", file.sections["goal"])[0]
    back: list[list[int]] = [[] for _ in range(statement.n)]
    for x, arcs in enumerate(statement.arcs):
        for y, _ in arcs:
            back[y].append(x)
    able, todo = {goal}, [goal]
    while todo:
        for x in back[todo.pop()]:
            if x not in able:
                able.add(x)
                todo.append(x)
    error, rows = Fraction(float(file.doubles("erro")[0])), file.rows()
    open_to_doubt = []
    for x in np.flatnonzero(~flags).tolist():
        if x == goal:
            continue
        arcs, move = dict(statement.arcs[x]), moves[x]
        if move not in able or move == x:
            open_to_doubt.append(x)
            continue
        for y, length in arcs.items():
            if y == move or y not in able:
                continue
            terms = (rows[y][0], rows[move][2])
            if not all(map(isfinite, terms)) or (
                Fraction(length - arcs[move], statement.units) + Fraction(terms[0])
                - Fraction(terms[1]) <= 2 * error
            ):  # fmt: skip
                open_to_doubt.append(x)
                break
    if not open_to_doubt:
        return None
    flags[draw.choice(open_to_doubt)] = True
    file.put_bits("opti", flags)
    return file


def _goal(given: Original, draw: np.random.Generator) -> File | None:
    """Another goal, from which the plan moves on."""
    file = given.file.copy()
    _, rule, tolerance = struct.unpack("<IBd", file.sections["goal"])
    moves = file.indices("succ")
    others = np.flatnonzero(moves != np.arange(moves.size))
    if not others.size:
        return None
    file.sections["goal"] = struct.pack("<IBd", int(draw.choice(others)), rule, tolerance)
    return file


FIELD_SPOILERS: dict[str, Spoiler] = {
    "bound across the truth": _bound,
    "value beyond the bracket": _value,
    "label": _changed(_label),
    "arc dropped": _changed(_arc_dropped),
    "arc added": _changed(_arc_added),
    "length": _changed(_length),
    "p or fill": _changed(_method),
    "prior": _changed(_prior),
    "bit of the statement": _changed(_bit),
    "barriers exchanged": _barriers,
    "barrier across the truth": _barrier_across,
    "barrier out of the bracket": _barrier_beyond,
    "fixed vertices": _fixed,
    "exact value": _exact,
}
PLAN_SPOILERS: dict[str, Spoiler] = {
    "successor": _successor, "hops": _hops, "cost": _cost, "optimal move": _optimal, "goal": _goal,
}  # fmt: skip


# ---------------------------------------------------------------- spoiling the file


def _cut(given: Original, draw: np.random.Generator) -> bytes:
    whole = given.file.sealed()
    return whole[: int(draw.integers(len(whole)))]


def _flipped(given: Original, draw: np.random.Generator) -> bytes:
    whole = bytearray(given.file.sealed())
    whole[draw.integers(len(whole))] ^= 1 << int(draw.integers(8))
    return bytes(whole)


def _cut_and_sealed(given: Original, draw: np.random.Generator) -> bytes:
    """Cut within a section, and give it the digest that fits."""
    ends, at = set(), 0
    for payload in given.file.sections.values():
        at += 12 + len(payload)
        ends.add(at)
    inside = [size for size in range(at) if size not in ends]
    return sealed(given.file.body()[: int(draw.choice(inside))])


FILE_SPOILERS: dict[str, Callable[[Original, np.random.Generator], bytes]] = {
    "truncated": _cut, "bit flipped": _flipped, "truncated, digest renewed": _cut_and_sealed,
}  # fmt: skip


def spoiled(given: Original, draw: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """One corruption of every kind that can be had, each of which has to be rejected."""
    kinds = FIELD_SPOILERS | (PLAN_SPOILERS if "goal" in given.file.sections else {})
    for kind, spoil in kinds.items():
        file = spoil(given, draw)
        if file is not None:
            yield kind, file.sealed()
    for kind, break_up in FILE_SPOILERS.items():
        yield kind, break_up(given, draw)


# ---------------------------------------------------------------- what does no harm


def _wider(given: Original, draw: np.random.Generator) -> File | None:
    """Bounds further out prove less."""
    free = [x for x in given.finite if x not in given.statement.labels]
    if not free or "goal" in given.file.sections:  # certified moves rest on the bounds
        return None
    file, x = given.file.copy(), int(draw.choice(free))
    lower, value, upper = file.rows()[x]
    file.state(x, lower - float(draw.choice([1e-9, 1.0])), value, upper + 1.0)
    return file


def _without_plan(given: Original, draw: np.random.Generator) -> File | None:
    file = given.file.copy()
    for tag in ("goal", "succ", "hops", "cost", "lift", "erro", "opti", "intv", "prov"):
        file.sections.pop(tag, None)
    return file


def _fewer_claims(given: Original, draw: np.random.Generator) -> File | None:
    if "opti" not in given.file.sections:
        return None
    file = given.file.copy()
    file.put_bits("opti", np.zeros(given.statement.n, bool))
    return file


def _other_units(given: Original, draw: np.random.Generator) -> File | None:
    """The same barriers, halved, with twice the factor."""
    if "subh" not in given.file.sections:
        return None
    file = given.file.copy()
    offset, exponent = struct.unpack("<dq", file.sections["shif"])
    file.sections["shif"] = struct.pack("<dq", offset, exponent + 1)
    for tag in ("base", "subh", "subl", "suph", "supl"):
        if tag in file.sections:
            single = len(file.sections[tag]) == 4 * given.statement.n
            numbers = np.frombuffer(file.sections[tag], "<f4" if single else "<f8")
            if (numbers / 2 * 2 != numbers).any():
                return None
            file.put(tag, numbers / 2)
    return file


def _elsewhere(given: Original, draw: np.random.Generator) -> File | None:
    """Other barriers where none are asked for."""
    others = sorted(set(range(given.statement.n)) - set(given.asked))
    if "subh" not in given.file.sections or not others:
        return None
    file = given.file.copy()
    file.change("subh", int(draw.choice(others)), float(draw.normal()))
    return file


HARMLESS: dict[str, Spoiler] = {
    "bounds further out": _wider, "plan left out": _without_plan, "fewer claims": _fewer_claims,
    "other units": _other_units, "barriers where none are asked for": _elsewhere,
}  # fmt: skip


def unharmed(given: Original, draw: np.random.Generator) -> Iterator[tuple[str, bytes]]:
    """Changes that leave a proof a proof, each of which has to be accepted."""
    for kind, change in HARMLESS.items():
        file = change(given, draw)
        if file is not None:
            yield kind, file.sealed()
