"""The paper's figures, as printed.

S. Zhang, "Planner-Admissible Graph-PDE Value Extensions for Sparse Goal-Conditioned Planning":
the main rollout table, its slices, the failure-mode decomposition, and the two per-configuration
tables of the appendix. Shares are between 0 and 1; lifts are in percentage points.
"""

from __future__ import annotations

from typing import NamedTuple

TITLE = "Planner-Admissible Graph-PDE Value Extensions for Sparse Goal-Conditioned Planning"


class Row(NamedTuple):
    """Success of the two methods, and the lift as printed."""

    harmonic: float
    amle: float
    lift: float


class Aggregate(NamedTuple):
    """Mean over the 120 cells, its standard deviation and run-bootstrap 95 % interval."""

    mean: float
    sd: float
    low: float
    high: float


HARMONIC = Aggregate(0.584, 0.230, 0.543, 0.623)
AMLE = Aggregate(0.970, 0.061, 0.959, 0.980)
LIFT = Aggregate(38.6, 20.9, 34.9, 42.3)
AMLE_WILSON = (0.969, 0.971)
HARMONIC_LOOPS, AMLE_LOOPS = 0.416, 0.030
HARMONIC_BOUNDARY, AMLE_BOUNDARY = 0.961, 0.886
"""Share of the failures that end in a limit cycle through a label."""

BY_REFINEMENT = {
    4: Row(0.850, 0.993, 14.3),
    8: Row(0.534, 0.971, 43.7),
    12: Row(0.368, 0.946, 57.8),
}
LIFT_BY_LABEL_FRACTION = {0.02: 39.0, 0.05: 44.3, 0.08: 40.9, 0.12: 30.1}

GRID: dict[tuple[str, int, float], Row] = {
    ("medium", 4, 0.02): Row(0.849, 0.977, 12.8),
    ("medium", 4, 0.05): Row(0.860, 0.996, 13.6),
    ("medium", 4, 0.08): Row(0.802, 0.996, 19.4),
    ("medium", 4, 0.12): Row(0.876, 1.000, 12.4),
    ("medium", 8, 0.02): Row(0.533, 0.875, 34.1),
    ("medium", 8, 0.05): Row(0.547, 1.000, 45.3),
    ("medium", 8, 0.08): Row(0.580, 0.982, 40.2),
    ("medium", 8, 0.12): Row(0.681, 1.000, 31.9),
    ("medium", 12, 0.02): Row(0.231, 0.794, 56.3),
    ("medium", 12, 0.05): Row(0.306, 0.973, 66.7),
    ("medium", 12, 0.08): Row(0.448, 0.998, 55.0),
    ("medium", 12, 0.12): Row(0.587, 1.000, 41.3),
    ("large", 4, 0.02): Row(0.831, 0.979, 14.7),
    ("large", 4, 0.05): Row(0.850, 0.993, 14.4),
    ("large", 4, 0.08): Row(0.834, 1.000, 16.6),
    ("large", 4, 0.12): Row(0.895, 1.000, 10.5),
    ("large", 8, 0.02): Row(0.458, 0.932, 47.3),
    ("large", 8, 0.05): Row(0.412, 0.982, 57.0),
    ("large", 8, 0.08): Row(0.468, 1.000, 53.2),
    ("large", 8, 0.12): Row(0.591, 1.000, 40.9),
    ("large", 12, 0.02): Row(0.167, 0.854, 68.7),
    ("large", 12, 0.05): Row(0.261, 0.952, 69.1),
    ("large", 12, 0.08): Row(0.386, 0.996, 61.0),
    ("large", 12, 0.12): Row(0.561, 1.000, 43.9),
}
"""Mean over five seeds, by maze, refinement and label fraction."""


def by_label_fraction(fraction: float) -> Row:
    """Means over the tables' rows at one label fraction; the paper prints the lift alone."""
    rows = [row for (_, _, lf), row in GRID.items() if lf == fraction]
    harmonic = sum(row.harmonic for row in rows) / len(rows)
    amle = sum(row.amle for row in rows) / len(rows)
    return Row(harmonic, amle, LIFT_BY_LABEL_FRACTION[fraction])
