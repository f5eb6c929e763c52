"""Random fields for certificates, and ways to spoil a certificate whose statement then is false."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

import wayfield as wf
from exact import exact_harmonic
from exact_amle import exact_amle, exact_directed_amle
from wayfield.extension import Extension, Method

HEAD = 48
"""Magic and digest."""


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
    n = int(draw.integers(3, 24))
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
        wf.AMLE(), wf.AMLE(fill="cost"), wf.AMLE(fill="flat"), wf.AMLE(fill="lower"),
        wf.Harmonic(), wf.PLaplacian(2), wf.PLaplacian(2.1), wf.PLaplacian(3), wf.PLaplacian(17.25),
        wf.PLaplacian(512),
    )  # fmt: skip
    method = methods[draw.integers(4 if directed else len(methods))]
    prior = None
    if draw.random() < 0.25:
        prior = draw.normal(size=n)
        away = np.setdiff1d(np.arange(n), labels.vertices)
        prior[away[: int(draw.integers(0, 2))]] = np.inf
    return Case(graph, labels, method, prior)


def cases(count: int, first: int = 0) -> Iterator[Case]:
    """Random cases, a seed each."""
    return map(random_case, range(first, first + count))


class File:
    """The sections of a certificate, to be changed and written again with a digest that fits."""

    def __init__(self, path: Path) -> None:
        body = path.read_bytes()[HEAD:]
        self.sections: dict[str, bytes] = {}
        while body:
            tag, size = struct.unpack_from("<4sQ", body)
            self.sections[tag.decode()] = body[12 : 12 + size]
            body = body[12 + size :]

    def doubles(self, tag: str) -> np.ndarray:
        return np.frombuffer(self.sections[tag], "<f8").copy()

    def indices(self, tag: str) -> np.ndarray:
        return np.frombuffer(self.sections[tag], "<u4").copy()

    def put(self, tag: str, numbers: np.ndarray) -> None:
        self.sections[tag] = numbers.tobytes()

    def write(self, path: Path) -> Path:
        body = b"".join(
            struct.pack("<4sQ", tag.encode(), len(payload)) + payload
            for tag, payload in self.sections.items()
        )
        path.write_bytes(b"wayfield proof 1" + hashlib.sha256(body).digest() + body)
        return path


# ---------------------------------------------------------------- what a file states, and the truth


def stated_case(file: File) -> Case | None:
    """The problem that a file states; None if it is none that wayfield would take."""
    n, _, _ = struct.unpack("<3Q", file.sections["size"])
    directed, fill, p = struct.unpack("<BBd", file.sections["kind"])
    tails, heads = file.indices("tail").astype(int), file.indices("head").astype(int)
    lengths = file.doubles("leng") if "leng" in file.sections else None
    labels = wf.Labels(file.indices("labv").astype(int), file.doubles("laby"))
    rule = (None, "cost", "flat", "lower")[fill]
    try:
        method: Method = wf.AMLE(fill=rule) if p == np.inf else wf.PLaplacian(p)
        graph = wf.Graph.from_edges(tails, heads, lengths, num_vertices=n, directed=bool(directed))
    except wf.InputError:
        return None
    prior = file.doubles("prio") if "prio" in file.sections else None
    return Case(graph, labels, method, prior)


def exact_field(case: Case) -> list[Fraction | float] | None:
    """The exact extension of a case, NaN where there is none; None without a reference."""
    if case.prior is not None:
        return None
    whole = case.graph.components
    orphaned = ~np.isin(whole, whole[case.labels.vertices])
    kept = np.flatnonzero(~orphaned)
    place = np.full(whole.size, -1)
    place[kept] = np.arange(kept.size)
    graph = case.graph
    inside = ~orphaned[graph.tails]
    part = wf.Graph.from_edges(
        place[graph.tails[inside]], place[graph.indices[inside]], graph.lengths[inside],
        num_vertices=kept.size, directed=graph.directed,
    )  # fmt: skip
    labels = wf.Labels(place[case.labels.vertices], case.labels.values)
    if isinstance(case.method, wf.AMLE):
        fill = case.method.fill or ("cost" if graph.directed else None)
        found = (
            exact_amle(part, labels) if fill is None else exact_directed_amle(part, labels, fill)
        )
    elif case.method == wf.PLaplacian(2) or isinstance(case.method, wf.Harmonic):
        found = exact_harmonic(part, labels)
    else:
        return None
    field: list[Fraction | float] = [np.nan] * whole.size
    for x, value in zip(kept.tolist(), found, strict=True):
        field[x] = value
    return field


def is_true(file: File) -> bool | None:
    """Whether the exact field lies in the file's bracket.

    Where no exact reference is at hand: False if the solver's own bracket is disjoint from it, and
    None if that leaves it open.
    """
    case = stated_case(file)
    if case is None:
        return None
    low, value, high = (file.doubles(tag) for tag in ("lowr", "valu", "uppr"))
    exact = exact_field(case)
    if exact is None:
        field = case.solve()
        if field.lower is None or field.upper is None:
            return None
        return False if ((field.upper < low) | (field.lower > high)).any() else None
    rows = zip(exact, low.tolist(), value.tolist(), high.tolist(), strict=True)
    return all(
        a <= u <= b and a <= v <= b if u == u else a != a and v != v and b != b
        for u, a, v, b in rows
    )


# ---------------------------------------------------------------- spoiling


def spoil(file: File, kind: str, draw: np.random.Generator) -> bool:
    """Spoil a file in place; False if there is nothing to spoil in this way.

    What `bound`, `value`, `label`, `barriers` and `successor` do leaves no valid proof, by
    construction; of the others `is_true` tells.
    """
    return SPOILERS[kind](file, draw)


def _some_vertex(file: File, draw: np.random.Generator) -> int | None:
    finite = np.flatnonzero(np.isfinite(file.doubles("valu")))
    return int(draw.choice(finite)) if finite.size else None


def _bound(file: File, draw: np.random.Generator) -> bool:
    """Move the whole bracket of a vertex past the true value, by a last place of its or more."""
    x = _some_vertex(file, draw)
    if x is None:
        return False
    low, high = file.doubles("lowr"), file.doubles("uppr")
    if draw.random() < 0.5:
        beyond = np.nextafter(high[x], np.inf) + draw.choice([0.0, 1e-300, 1.0])
    else:
        beyond = np.nextafter(low[x], -np.inf) - draw.choice([0.0, 1e-300, 1.0])
    for tag in ("valu", "lowr", "uppr"):
        numbers = file.doubles(tag)
        numbers[x] = beyond
        file.put(tag, numbers)
    return True


def _value(file: File, draw: np.random.Generator) -> bool:
    """Move a value out of its bracket."""
    x = _some_vertex(file, draw)
    if x is None:
        return False
    values = file.doubles("valu")
    up = draw.random() < 0.5
    edge = file.doubles("uppr" if up else "lowr")[x]
    values[x] = np.nextafter(edge, np.inf if up else -np.inf)
    file.put("valu", values)
    return True


def _label(file: File, draw: np.random.Generator) -> bool:
    labels = file.doubles("laby")
    i = draw.integers(labels.size)
    change = draw.choice(
        [np.nextafter(labels[i], np.inf), np.nextafter(labels[i], -9e9), labels[i] + 1.0]
    )
    labels[i] = change
    file.put("laby", labels)
    return True


def _barriers(file: File, draw: np.random.Generator) -> bool:
    """Exchange the barriers, unless they agree wherever they are asked for."""
    if "subh" not in file.sections:
        return False
    asked = np.isfinite(file.doubles("lowr"))
    if "fixd" in file.sections:
        bits = np.frombuffer(file.sections["fixd"], np.uint8)
        asked &= np.unpackbits(bits, bitorder="little", count=asked.size).astype(bool)
    same = (
        all(
            np.array_equal(file.doubles(low)[asked], file.doubles(high)[asked])
            for low, high in (("subh", "suph"),)
        )
        and file.sections["subl"] == file.sections["supl"]
    )
    if same:
        return False
    for low, high in (("subh", "suph"), ("subl", "supl")):
        file.sections[low], file.sections[high] = file.sections[high], file.sections[low]
    return True


def _arc_dropped(file: File, draw: np.random.Generator) -> bool:
    tails, heads = file.indices("tail"), file.indices("head")
    if not tails.size:
        return False
    e = draw.integers(tails.size)
    file.put("tail", np.delete(tails, e))
    file.put("head", np.delete(heads, e))
    if "leng" in file.sections:
        file.put("leng", np.delete(file.doubles("leng"), e))
    _recount(file)
    return True


def _arc_added(file: File, draw: np.random.Generator) -> bool:
    n, _, _ = struct.unpack("<3Q", file.sections["size"])
    directed = file.sections["kind"][0]
    tails, heads = file.indices("tail"), file.indices("head")
    x, y = draw.choice(n, 2, replace=False)
    if not directed:
        x, y = min(x, y), max(x, y)
    place = int(np.searchsorted(tails * n + heads, x * n + y))
    if ((tails == x) & (heads == y)).any():
        return False
    file.put("tail", np.insert(tails, place, x))
    file.put("head", np.insert(heads, place, y))
    if "leng" in file.sections:
        file.put("leng", np.insert(file.doubles("leng"), place, draw.uniform(0.5, 2.0)))
    _recount(file)
    return True


def _length(file: File, draw: np.random.Generator) -> bool:
    tails = file.indices("tail")
    if not tails.size:
        return False
    lengths = file.doubles("leng") if "leng" in file.sections else np.ones(tails.size)
    lengths[draw.integers(tails.size)] *= draw.choice([0.5, 1.5, 1.0 + 2.0**-30])
    sections = file.sections
    file.sections = {}
    for tag, payload in sections.items():
        file.sections[tag] = payload
        if tag == "head":
            file.put("leng", lengths)
    file.put("leng", lengths)
    return True


def _p(file: File, draw: np.random.Generator) -> bool:
    directed, fill, p = struct.unpack("<BBd", file.sections["kind"])
    if fill or directed:
        fill = 1 + (fill + int(draw.integers(2))) % 3
        file.sections["kind"] = struct.pack("<BBd", directed, fill, p)
        return True
    other = 2.0 if p == np.inf or (p > 2.0 and draw.random() < 0.5) else np.inf
    file.sections["kind"] = struct.pack("<BBd", directed, fill, other)
    return True


def _bit(file: File, draw: np.random.Generator) -> bool:
    """Flip any bit that is not part of the counts."""
    tag = str(
        draw.choice([tag for tag, payload in file.sections.items() if payload and tag != "size"])
    )
    payload = bytearray(file.sections[tag])
    payload[draw.integers(len(payload))] ^= 1 << int(draw.integers(8))
    file.sections[tag] = bytes(payload)
    return True


def _recount(file: File) -> None:
    n, _, k = struct.unpack("<3Q", file.sections["size"])
    file.sections["size"] = struct.pack("<3Q", n, file.indices("tail").size, k)


SPOILERS = {
    "bound": _bound, "value": _value, "label": _label, "barriers": _barriers,
    "arc dropped": _arc_dropped, "arc added": _arc_added, "length": _length, "p": _p, "bit": _bit,
}  # fmt: skip
FATAL = ("bound", "value", "label", "barriers")
"""Those after which no proof is valid, by construction."""
