"""Travel times in central Helsinki from thirty measured trips, on streets of OpenStreetMap.

What is given is every street at 30 km/h. In truth speeds differ, and every crossing costs twelve
seconds. Thirty trips, each measured with 5 % noise, predict the others better than one factor can,
and each prediction has a p90.

Run it with ``python examples/helsinki.py [FILE]``; it needs the extras ``plots`` and ``roads``.
Data © OpenStreetMap contributors, ODbL 1.0 (https://www.openstreetmap.org/copyright).
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import wayfield as wf
from wayfield import travel
from wayfield.travel import picture
from wayfield.travel.roads import ATTRIBUTION, helsinki

PICTURE = Path("helsinki.png")
MEASURED, OTHERS = 30, 40


def main(path: Path = PICTURE) -> None:
    """Measure, fit, predict, draw."""
    city = helsinki()
    rng = np.random.default_rng(0)
    starts, ends = rng.choice(city.nodes.size, (2, MEASURED + OTHERS), replace=False)
    toward = {end: wf.cost_to_go(city.world, end) for end in ends.tolist()}
    truth = np.array([toward[end][start] for start, end in zip(starts, ends, strict=True)])
    known, others = np.arange(MEASURED), np.arange(MEASURED, MEASURED + OTHERS)
    seconds = truth[known] * rng.normal(1.0, 0.05, MEASURED)

    model = travel.fit(city.believed, travel.Trips(starts[known], ends[known], seconds))
    print(model.summary(city.nodes.tolist(), unit="seconds"))
    p50, p90 = model.predict(starts[others], ends[others]).T
    given = [
        wf.cost_to_go(city.believed, end)[start]
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
    ]
    factor = np.median(seconds / np.array(given)[known])
    for name, predicted in (("one factor", factor * np.array(given)[others]), ("model", p50)):
        error = np.mean(np.abs(predicted - truth[others]) / truth[others])
        print(f"{OTHERS} other trips, mean relative error by {name}: {error:.3f}")
    print(f"times below their p90: {np.mean(truth[others] < p90):.2f}")

    figure, ax = plt.subplots(figsize=(7, 9), layout="constrained")
    picture.draw(model, ax=ax)
    ax.set_title(f"How slow each street is, by {MEASURED} measured trips")
    figure.text(0.99, 0.005, ATTRIBUTION, ha="right", va="bottom", fontsize=7)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
