"""Random fields for certificates, and ways to spoil a certificate whose statement then is false."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import wayfield as wf
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
    pairs = np.stack([tails, heads] if directed else [np.minimum(tails, heads), np.maximum(tails, heads)])
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
