"""Certificates: what is true is accepted, what was spoiled is rejected, and what it all costs.

Run with ``python -m benchmarks.certificates [fields] [vertices …]``. First that many random fields,
half of them with a plan: each is written, solved again by its definition, checked, and corrupted in
every way that provably leaves no proof (``tests/certificates.py``). Then grids of so many vertices:
what writing a certificate costs beside the bracket, what checking it costs, and its bytes per
vertex beyond the graph. Seconds are those of the processor, so that neighbours on the machine do
not count.
"""

from __future__ import annotations

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
from tempfile import TemporaryDirectory

import numpy as np

import wayfield as wf
from wayfield_verify import NotProved, Unreadable, verify

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from certificates import File, Original, proved_fields, random_plan, spoiled, unharmed

METHODS = (wf.AMLE(), wf.AMLE(fill="cost"), wf.Harmonic(), wf.PLaplacian(8))


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
        (random_plan(seed, field) if seed % 2 else field.certificate)(file)
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


def best(work: Callable[[], object], runs: int = 3) -> float:
    """Seconds of the processor, the least of a few runs."""
    found = []
    for _ in range(runs):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def grids(vertices: int) -> tuple[wf.Graph, wf.Graph]:
    """Return a square grid of unit lengths, and of random ones."""
    side = round(vertices**0.5)
    wall, floor = "#" * (side + 2), ["#" + "." * side + "#"] * side
    grid = wf.grid_graph(wf.Layout.from_text("\n".join([wall, *floor, wall])))
    once = grid.tails < grid.indices
    lengths = np.random.default_rng(0).uniform(0.5, 2.0, int(once.sum()))
    return grid, wf.Graph.from_edges(grid.tails[once], grid.indices[once], lengths)


def seconds(graph: wf.Graph, method: wf.AMLE | wf.Harmonic | wf.PLaplacian, file: Path) -> None:
    """Tell what writing and checking a certificate cost beside solving and the bracket."""
    labels = wf.sample_labels(graph, 0, fraction=0.01, seed=1)
    answer = wf.solve(graph, labels, 0, method)
    answer.field.certificate(file)
    bare = replace(method, certificate=False)
    plain = best(lambda: wf.extend(graph, labels, bare, check=False))
    whole = best(lambda: wf.extend(graph, labels, method))
    write = best(lambda: answer.field.certificate(file))
    answer.certificate(file)
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    command = [sys.executable, "-m", "wayfield_verify", str(file)]
    subprocess.run(command, check=True, capture_output=True)
    check = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    given = ("size", "kind", "tail", "head", "leng", "labv", "laby")
    sizes = (len(each) for tag, each in File(file).sections.items() if tag not in given)
    print(
        f"{graph.num_vertices:9,} {'unit' if graph.is_unit else 'random':8} "
        f"{wf.extension.describe(method):18} {whole:6.3f} {whole - plain:7.3f} "
        f"{write:7.3f} {check:7.2f} {sum(sizes) / graph.num_vertices:6.1f}",
        flush=True,
    )


def main(fields: int, sizes: list[int]) -> None:
    """Verdicts, then seconds."""
    warnings.simplefilter("ignore", wf.InputWarning)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "field.cert"
        if fields:
            verdicts(fields, file)
        if sizes:
            print(" vertices lengths  method             solved bracket written checked  bytes")
        for graph in (graph for size in sizes for graph in grids(size)):
            for method in METHODS:
                seconds(graph, method, file)


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:]]
    main(*((numbers[0], numbers[1:]) if numbers else (1000, [10_000, 100_000])))
