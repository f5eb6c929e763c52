"""What `mend` names on graphs whose faults are known, and what choosing measurements gains.

Run with ``python -m benchmarks.findings [first seed] [worlds] [kind …]``. Each world is a city of
blocks with one-way streets, some 390 crossings and 30 measured costs to one goal, with noise of 0
or 5 %. A named false edge is right if it was planted. A named place is right if its arcs cost at
least a tenth more or less than the typical arc, as the finding says. A common factor is right if
arcs on average cost more, or less, as it says. The kinds:

- *right*: nothing is wrong, and anything that is named is false; *tunnels*: nor is anything wrong
  here, but two real edges lead across the city as fast as if they were false;
- *patches*, *quick*: two slow places, one quick place; *false*: six edges that do not exist;
  *both*: slow places and false edges; *factor*: everything costs 1.4 times as much;
- *waits*: a wait at every crossing; *four*: only where four streets meet; *lights*: only at a
  random third of the crossings.

``python -m benchmarks.findings measure [first seed] [worlds]`` prints how many of the measurements
chosen by `next_measurements` reach the error of random ones (worlds *patches*, *both*, *quick*).
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

import wayfield as wf
from wayfield import travel
from wayfield.travel import Finding, Mended
from wayfield.travel.findings import LEAST_FACTOR

SIDE, PLANTED, LABELS = 20, 6, 30
KINDS = (
    "right",
    "tunnels",
    "patches",
    "quick",
    "false",
    "both",
    "factor",
    "waits",
    "four",
    "lights",
)
CLOSE = 0.1
"""Arcs nearer than this to the typical factor are not slow, and not quick."""


@dataclass(frozen=True, eq=False)
class City:
    """A believed graph, the world, and the ratio of their lengths per believed arc (inf: false)."""

    believed: wf.Graph
    world: wf.Graph
    ratio: NDArray[np.float64]

    def measured(self, seed: int, noise: float, count: int = LABELS) -> tuple[int, wf.Labels]:
        """Costs to a random goal with relative noise."""
        rng = np.random.default_rng([seed, 1])
        goal, *starts = rng.choice(self.world.num_vertices, count + 1, replace=False).tolist()
        costs = wf.cost_to_go(self.world, goal)[starts]
        costs = costs * np.maximum(1.0 + noise * rng.standard_normal(count), 0.3)
        return goal, wf.Labels([goal, *starts], [0.0, *costs.tolist()])


def city(kind: str, seed: int) -> City:
    """Draw a world of a kind."""
    rng = np.random.default_rng([seed, 0])
    index = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    place = np.column_stack(np.divmod(index.ravel(), SIDE)) + rng.uniform(
        -0.25, 0.25, (index.size, 2)
    )
    ends = np.concatenate([
        np.column_stack([index[:, :-1].ravel(), index[:, 1:].ravel()]),
        np.column_stack([index[:-1].ravel(), index[1:].ravel()]),
    ])  # fmt: skip
    ends = ends[rng.random(len(ends)) > 0.12]
    length = 12.0 * np.linalg.norm(place[ends[:, 0]] - place[ends[:, 1]], axis=1)
    length *= rng.uniform(1.0, 1.15, len(ends))
    # a third of the streets are one-way; the largest strong component stays
    ends = np.where(rng.random((len(ends), 1)) < 0.5, ends, ends[:, ::-1])
    both = rng.random(len(ends)) > 0.3
    arcs = np.concatenate([ends, ends[both, ::-1]])
    length = np.concatenate([length, length[both]])
    joined = sparse.coo_array((np.ones(len(arcs)), arcs.T), shape=(index.size,) * 2)
    _, part = sparse.csgraph.connected_components(joined, connection="strong")
    stays = part == np.bincount(part).argmax()
    inside = stays[arcs].all(axis=1)
    arcs, length, place = (np.cumsum(stays) - 1)[arcs[inside]], length[inside], place[stays]
    n = len(place)

    true = length.copy()
    if kind in ("patches", "both", "quick"):
        slow = np.ones(n)
        for _ in range(1 if kind == "quick" else 2):
            away = np.linalg.norm(place - rng.uniform(3.0, SIDE - 4.0, 2), axis=1)
            slow[away < rng.uniform(2.5, 4.0)] = 0.45 if kind == "quick" else rng.uniform(1.8, 3.0)
        true = length * slow[arcs].mean(axis=1)
    streets = np.unique(np.sort(arcs, axis=1), axis=0)
    degree = np.bincount(streets.ravel(), minlength=n)
    waits = {"waits": degree >= 3, "four": degree >= 4, "lights": rng.random(n) < 1 / 3}
    if kind in waits:
        true = length + 8.0 * waits[kind][arcs[:, 1]]
    if kind == "factor":
        true = 1.4 * length
    planted = np.empty((0, 2), dtype=int)
    count = {"false": PLANTED, "both": PLANTED, "tunnels": 2}.get(kind, 0)
    while len(planted) < count:
        pair = rng.choice(n, (1, 2), replace=False)
        if (
            np.linalg.norm(np.diff(place[pair[0]], axis=0)) > 6.0
            and not np.isin(pair, planted).any()
        ):
            planted = np.concatenate([planted, pair])
    more = np.concatenate([planted, planted[:, ::-1]])
    short = np.tile(rng.choice(length, len(planted)) + 0.3 * np.median(length), 2)
    every, believed_length = np.concatenate([arcs, more]), np.concatenate([length, short])
    believed = wf.Graph.from_edges(*every.T, believed_length, n, directed=True, positions=place)
    if kind == "tunnels":
        arcs, true = every, believed_length
    world = wf.Graph.from_edges(*arcs.T, true, n, directed=True, positions=place)
    there = sparse.csr_array((true, arcs.T), shape=(n, n))
    known = np.asarray(there[believed.tails, believed.indices]).ravel()
    return City(believed, world, np.where(known > 0.0, known / believed.lengths, np.inf))


def is_right(town: City, kind: str, each: Finding, wait: float) -> bool:
    """Whether a named finding is true of the world."""
    if each.kind == "false edge":
        return bool(np.isinf(town.ratio[each.where]).all())
    if each.kind == "wait":
        return kind in ("waits", "four", "lights")
    known, long = np.isfinite(town.ratio), town.believed.lengths
    if each.kind == "factor":
        overall = float(town.ratio[known] @ long[known] / long[known].sum())
        return (overall - 1.0) * (each.amount - 1.0) > 0.0 and abs(overall - 1.0) > LEAST_FACTOR
    ratio = town.ratio - wait / town.believed.lengths
    typical = float(np.median(ratio[known]))
    inside = each.where[known[each.where]]
    times = float(ratio[inside] @ long[inside] / long[inside].sum()) / typical
    return times > 1.0 + CLOSE if each.kind == "slow place" else times < 1.0 - CLOSE


def judge(seeds: range, kinds: tuple[str, ...]) -> None:
    """Print right and wrong findings by kind of world, with and without positions."""
    print(f"worlds {seeds.start} to {seeds.stop - 1}; right / wrong of what is named")
    print("kind       positions  runs  false edges (planted)  places  factor  wait  false runs")
    for kind in kinds:
        for placed in (True, False):
            counts = {key: [0, 0] for key in ("false edge", "place", "factor", "wait")}
            runs = falsehoods = planted = 0
            for seed in seeds:
                town = city(kind, seed)
                graph = town.believed if placed else replace(town.believed, positions=None)
                for noise in (0.0, 0.05):
                    goal, labels = town.measured(seed, noise)
                    named = [
                        each for each in travel.mend(graph, labels, goal).findings if each.named
                    ]
                    wait = sum(each.amount for each in named if each.kind == "wait")
                    verdicts = [is_right(town, kind, each, wait) for each in named]
                    for each, right in zip(named, verdicts, strict=True):
                        counts[each.kind.removeprefix("slow ").removeprefix("quick ")][
                            not right
                        ] += 1
                    runs, falsehoods = runs + 1, falsehoods + (not all(verdicts))
                    planted += int(np.isinf(town.ratio).sum()) // 2
            edges, places, factor, wait_ = (f"{a}/{b}" for a, b in counts.values())
            print(f"{kind:10} {'yes' if placed else 'no':9} {runs:5}  {edges:>12} ({planted})"
                  f"  {places:>12} {factor:>7} {wait_:>5}  {falsehoods}", flush=True)  # fmt: skip


def measure(seeds: range, kinds: tuple[str, ...]) -> None:
    """Print how many chosen measurements reach the error of random ones, and the error there."""
    sizes = (8, 12, 16, 20, 26, 32, 40)
    method = travel.Both(travel.NoShortcuts(), travel.Smooth())
    print("kind       chosen measurements that reach the error of 40, 32, 26, 20, 16 random ones")
    for kind in kinds:
        error = {"chosen": np.zeros(len(sizes)), "random": np.zeros(len(sizes))}
        for seed in seeds:
            town = city(kind, seed)
            n, rng = town.world.num_vertices, np.random.default_rng([seed, 2])
            goal, *order = rng.permutation(n).tolist()
            judged = np.array(order[-100:])  # no rule may measure these
            allowed, truth = order[:-100], wf.cost_to_go(town.world, goal)

            def fitted(known: list[int]) -> Mended:
                labels = wf.Labels([goal, *known], [0.0, *truth[known].tolist()])  # noqa: B023
                return travel.mend(town.believed, labels, goal, method)  # noqa: B023

            chosen = allowed[:5]
            for i, size in enumerate(sizes):
                wanted = fitted(chosen).next_measurements(size - len(chosen) + judged.size).tolist()
                free = set(allowed) - set(chosen)
                chosen += [x for x in wanted if x in free][: size - len(chosen)]
                for word, known in (("chosen", chosen), ("random", allowed[:size])):
                    values = fitted(known).cost_to_go()[judged]
                    error[word][i] += np.mean(np.abs(values - truth[judged]) / truth[judged])
        # measurements needed: between sizes, linear in the logarithm of the error
        reach = [
            np.interp(-np.log(e), -np.log(np.minimum.accumulate(error["chosen"])), sizes)
            for e in error["random"][:1:-1]
        ]
        shown = ", ".join(f"{x:.0f}" for x in reach)
        saved = 1.0 - np.mean(np.array(reach) / sizes[:1:-1])
        print(f"{kind:10} {shown}: {saved:.0%} fewer", flush=True)


def main(words: list[str]) -> None:
    kinds = tuple(word for word in words if word in KINDS) or KINDS
    first, count = [*(int(word) for word in words if word.isdecimal()), *(0, 4)][:2]
    seeds = range(first, first + count)
    if "measure" in words:
        measure(seeds, tuple(kind for kind in kinds if kind in ("patches", "both", "quick")))
    else:
        judge(seeds, kinds)


if __name__ == "__main__":
    main(sys.argv[1:])
