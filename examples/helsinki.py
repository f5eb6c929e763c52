"""Mend a street network by fifteen measured times: central Helsinki, from OpenStreetMap.

What is believed is every street at 30 km/h. In truth speeds differ, and every crossing costs twelve
seconds. Fifteen times measured on the way to one place predict the others better than one factor
can, and the mended streets serve other places as well. All streets exist, only their speeds are in
doubt: so slowness is fitted, and no street is called false.

Run it with ``python examples/helsinki.py [FILE]``; it needs the extras ``plots`` and ``roads``.
Data © OpenStreetMap contributors, ODbL 1.0 (https://www.openstreetmap.org/copyright).
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray

import wayfield as wf
from wayfield import travel
from wayfield.travel import picture
from wayfield.travel.roads import ATTRIBUTION, helsinki

PICTURE = Path("helsinki.png")
MEASURED = 15
ELSEWHERE = 20
"""Other places that nobody has measured a time to."""


def main(path: Path = PICTURE) -> None:
    """Measure, mend, predict, draw."""
    city = helsinki()
    rng = np.random.default_rng(0)
    goal, *others = rng.choice(city.nodes.size, 1 + ELSEWHERE, replace=False).tolist()
    truth = wf.cost_to_go(city.world, goal)
    starts = rng.choice(np.delete(np.arange(truth.size), goal), MEASURED, replace=False)
    measured = wf.Labels(starts, truth[starts])
    mended = travel.mend(city.believed, measured, goal, travel.Smooth())

    believed = wf.cost_to_go(city.believed, goal)
    factor = np.median(measured.values / believed[measured.vertices])
    print(f"{mended}\n{mended.finding(city.nodes)}")
    print("mean relative error of the time to arrive   one factor  mended")
    for where, goals in (("where it was measured", [goal]), ("elsewhere", others)):
        errors = [
            [_error(scale * wf.cost_to_go(graph, end), city.world, end) for end in goals]
            for scale, graph in ((factor, city.believed), (1.0, mended.graph))
        ]
        print(f"{where:41}{np.mean(errors[0]):13.3f}{np.mean(errors[1]):8.3f}")

    figure, ax = plt.subplots(figsize=(7, 9), layout="constrained")
    picture.mended(mended, data=measured, goal=goal, ax=ax)
    ax.set_title(f"Seconds added to each street by {MEASURED} measured times")
    figure.text(0.99, 0.005, ATTRIBUTION, ha="right", va="bottom", fontsize=7)
    figure.savefig(path, dpi=110)


def _error(predicted: NDArray[np.float64], world: wf.Graph, goal: int) -> float:
    """Mean of |predicted - true| / true, over all places but the goal."""
    truth = wf.cost_to_go(world, goal)
    away = truth > 0
    return float(np.mean(np.abs(predicted - truth)[away] / truth[away]))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
