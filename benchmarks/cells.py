"""What is measured: a cell is one method on one graph with one label set; profiles choose cells."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.worlds import KINDS, LABELS

import wayfield as wf

METHODS: dict[str, wf.fields.Method] = {
    "AMLE": wf.AMLE(),
    "harmonic": wf.Harmonic(),
    "p = 8": wf.PLaplacian(8),
}
SHARE = 0.02
SHARES = (0.001, 0.005, 0.02, 0.1, 0.3)


@dataclass(frozen=True)
class Cell:
    """One method on one graph with one label set."""

    kind: str
    size: int
    labels: str
    share: float
    method: str

    @property
    def key(self) -> str:
        """A name for a file."""
        words = f"{self.method} {self.kind} {self.size:.0e} {self.labels} {self.share:g}"
        return words.replace(",", "").replace("= ", "").replace(" ", "_")

    def record(self, **measured: Any) -> dict[str, Any]:
        return asdict(self) | measured


@dataclass(frozen=True)
class Profile:
    """How much is measured.

    Attributes
    ----------
    sizes : dict of str to tuple of int
        Of the graphs, by method.
    largest : int
        A 2-D grid of this size, true labels, AMLE; 0 for none.
    share_size : int
        Of the graphs on which the share of labels varies.
    peer_size, peer_seconds : int, float
        Of the graphs for the peers, and how long each may take.
    peer_problems : tuple of (str, str)
        Kinds of graphs and labels on which peers are measured.
    """

    sizes: dict[str, tuple[int, ...]]
    largest: int
    share_size: int
    peer_size: int
    peer_seconds: float
    peer_problems: tuple[tuple[str, str], ...] = (
        ("2-D grid", "true"),
        ("2-D grid", "random"),
        ("4-regular", "random"),
    )

    @property
    def cells(self) -> list[Cell]:
        """All cells, those of one graph together, small graphs first."""
        found = [
            Cell(kind, size, labels, SHARE, method)
            for method, sizes in self.sizes.items()
            for size in sizes
            for kind in KINDS
            for labels in LABELS
            if method == "AMLE" or labels != "noisy"
        ]
        found += [
            Cell(kind, self.share_size, labels, share, "AMLE")
            for kind in ("2-D grid", "3-D grid")
            for labels in ("true", "random")
            for share in SHARES
        ]
        if self.largest:
            found.append(Cell("2-D grid", self.largest, "true", SHARE, "AMLE"))
        return sorted(set(found), key=lambda c: (c.size, c.kind, c.method, c.labels, c.share))


PROFILES = {
    "quick": Profile(
        {"AMLE": (1_000, 10_000), "harmonic": (10_000,), "p = 8": (10_000,)},
        0,
        10_000,
        10_000,
        3.0,
        (("2-D grid", "true"),),
    ),
    "standard": Profile(
        {
            "AMLE": (1_000, 10_000, 100_000, 1_000_000),
            "harmonic": (1_000, 10_000, 100_000),
            "p = 8": (1_000, 10_000, 100_000),
        },
        0,
        100_000,
        100_000,
        60.0,
    ),
    "full": Profile(
        {
            "AMLE": (1_000, 10_000, 100_000, 1_000_000),
            "harmonic": (1_000, 10_000, 100_000, 1_000_000),
            "p = 8": (1_000, 10_000, 100_000),
        },
        10_000_000,
        100_000,
        100_000,
        600.0,
    ),
}
