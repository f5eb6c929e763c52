"""Proof files: true ones must be accepted, corrupted ones rejected; and what they cost.

Run with ``python -m benchmarks.proofs [fields] [vertices …]``. The first part draws this many
random fields, half of them with a plan. Each is written, solved again by its definition, checked,
and corrupted in every way that provably leaves no proof (``tests/proofs.py``). The same number of
random processes of each kind is treated likewise (``tests/chance_proofs.py``).

A line each tells how long dense graphs and files made to be slow are checked, per megabyte.

The second part takes grids with these numbers of vertices. It prints the time to write a proof, in
seconds and as a multiple of the bracket, beside the time to hash its bytes and write them to a
file. It also prints the time to check it, and its bytes per vertex beyond the graph. The time of
the bracket is that of a solve with it minus that of a solve without it. Seconds are CPU time, so
that other work on the machine does not count.
"""

from __future__ import annotations

import hashlib
import resource
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np

import wayfield as wf
from wayfield_verify import NotProved, Unreadable, verify

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from chance_proofs import tally
from proofs import (
    File,
    Original,
    dense,
    near_ties,
    proved_fields,
    random_plan,
    spoiled,
    unharmed,
)

METHODS = (wf.AMLE(), wf.AMLE(fill="cost"), wf.Harmonic(), wf.PLaplacian(8))
RUNS = 5


def accepted(path: Path) -> bool:
    """Whether a file is proved."""
    try:
        return bool(verify(path))
    except (NotProved, Unreadable):
        return False


def verdicts(count: int, file: Path) -> None:
    """Tell of `count` random fields how many certificates and corruptions are accepted."""
    tried: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    harmless: Counter[str] = Counter()
    for seed, field in islice(proved_fields(), count):
        (random_plan(seed, field) if seed % 2 else field).write_proof(file)
        tried["as written"] += 1
        wrong["as written"] += not accepted(file)
        given = Original.of(file)
        if given is None:
            print(f"seed {seed}: no reference")
            continue
        wrong["as written"] += given.truth.refutes(given.file)
        draw = np.random.default_rng(seed)
        for kind, content in spoiled(given, draw):
            file.write_bytes(content)
            tried[kind] += 1
            wrong[kind] += accepted(file)
        for kind, content in unharmed(given, draw):
            file.write_bytes(content)
            harmless[kind] += 1
            wrong[kind] += not accepted(file)
    fields = tried.pop("as written")
    print(f"{fields:,} certificates: {fields - wrong['as written']:,} accepted")
    print(f"{tried.total():,} corruptions: {sum(wrong[kind] for kind in tried):,} accepted")
    print(f"{harmless.total():,} harmless: {sum(wrong[kind] for kind in harmless):,} rejected")
    for kind, number in (tried + harmless).most_common():
        print(f"{number:8,}  {kind}" + (f": {wrong[kind]} wrong" if wrong[kind] else ""))


def chance_verdicts(count: int, file: Path) -> None:
    """Print how many proofs and false files are accepted, for `count` processes of each kind.

    A corrupted file is false if policy iteration in rationals contradicts its claims.
    """
    for kind in ("costs", "free", "given", "worst", "best"):
        found = tally(range(count), kind, file)
        lies = sum(number for what, number in found.items() if "FALSE" in what)
        taken = sum(number for what, number in found.items() if "ACCEPTED" in what)
        true = found["true, accepted"]
        print(f"{kind}: {true:,} of {count:,} proofs, {taken:,} of {lies:,} false files accepted")


def turns(*works: Callable[[], object]) -> list[list[float]]:
    """Seconds of the processor for each, of a few runs; they take turns."""
    found: list[list[float]] = [[] for _ in works]
    for _ in range(RUNS):
        for work, seconds in zip(works, found, strict=True):
            start = time.process_time()
            work()
            seconds.append(time.process_time() - start)
    return found


def grids(vertices: int) -> tuple[wf.Graph, ...]:
    """Return a square grid of unit lengths, one of random lengths, and one without some arcs."""
    side = round(vertices**0.5)
    wall, floor = "#" * (side + 2), ["#" + "." * side + "#"] * side
    grid = wf.grid_graph(wf.Layout.from_text("\n".join([wall, *floor, wall])))
    once = grid.tails < grid.indices
    draw = np.random.default_rng(0)
    lengths = draw.uniform(0.5, 2.0, int(once.sum()))
    kept = draw.random(grid.num_arcs) < 0.9
    tails, heads, one_way = grid.tails[kept], grid.indices[kept], draw.uniform(0.5, 2.0, kept.sum())
    return (
        grid,
        wf.Graph.from_edges(grid.tails[once], grid.indices[once], lengths),
        wf.Graph.from_edges(tails, heads, one_way, directed=True),
    )


def checked(file: Path) -> float:
    """Seconds of the processor to check a file in a process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [sys.executable, "-m", "wayfield_verify", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def seconds(graph: wf.Graph, method: wf.AMLE | wf.Harmonic | wf.PLaplacian, file: Path) -> None:
    """Tell what writing and checking a certificate cost beside solving and the bracket."""
    labels = wf.sample_labels(graph, 0, fraction=0.01, seed=1)
    answer = wf.solve(graph, labels, 0, method)
    answer.field.write_proof(file)
    bare, content = replace(method, bracket=False), file.read_bytes()
    plain, whole, *writing = turns(
        lambda: wf.extend(graph, labels, bare, check=False),
        lambda: wf.extend(graph, labels, method),
        lambda: answer.field.write_proof(file),
        lambda: (hashlib.sha256(content), file.unlink(), file.write_bytes(content)),
    )
    answer.write_proof(file)
    check = checked(file)
    given = ("size", "kind", "tail", "head", "leng", "labv", "laby")
    sizes = (len(each) for tag, each in File(file).sections.items() if tag not in given)
    bracket = median(b - a for a, b in zip(plain, whole, strict=True))
    solve, write, floor = map(median, (whole, *writing))
    kind = "directed" if graph.directed else "unit" if graph.is_unit else "random"
    print(
        f"{graph.num_vertices:9,} {kind:8} {wf.fields.describe(method):18} {solve:6.3f} "
        f"{bracket:7.3f} {write:7.3f} {write / bracket:5.2f} {floor:6.3f} "
        f"{check:7.2f} {sum(sizes) / graph.num_vertices:6.1f}",
        flush=True,
    )


def per_megabyte(file: Path) -> None:
    """Print the seconds per megabyte of the slowest files: p-Laplacians with many arcs."""
    for p in (3.0, 2.1, 3 - 2.0**-51, 2 + 2.0**-51, 60_000.3):
        shown = []
        for vertices, share, unit in ((150, 1.0, False), (300, 0.4, True)):
            dense(p, vertices, share, unit).write_proof(file)
            shown.append(f"{checked(file) / file.stat().st_size * 1e6:.1f}")
        file.write_bytes(near_ties(p, 2.0**-140))
        shown.append(f"{checked(file) / file.stat().st_size * 1e6:.1f}")
        print(f"p = {p!r}: dense {shown[0]}, dense of unit lengths {shown[1]}, crafted {shown[2]}")


def main(fields: int, sizes: list[int]) -> None:
    """Verdicts, then seconds."""
    warnings.simplefilter("ignore", wf.InputWarning)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "field.proof"
        if fields:
            verdicts(fields, file)
            chance_verdicts(fields, file)
            per_megabyte(file)
        if sizes:
            print(
                " vertices graph    method             solved bracket written ratio  bytes "
                "checked  bytes each"
            )
        for graph in (graph for size in sizes for graph in grids(size)):
            for method in METHODS[: 2 if graph.directed else None]:
                seconds(graph, method, file)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    main(*((numbers[0], numbers[1:]) if numbers else (1000, [10_000, 100_000])))
