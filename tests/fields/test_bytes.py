"""Same input, same bytes: digests of AMLEs, brackets, gradients and proof files.

The AMLE's kernels compare, add, multiply and divide doubles, nothing else, so their results are the
same on every machine. Brackets and proofs are right whatever comes out; a change of these digests
means that the solver has taken another way. If that is wanted, write them anew:
``python tests/fields/test_bytes.py``.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import wayfield as wf

STORED = Path(__file__).with_name("bytes.txt")


def graphs(rng: np.random.Generator) -> Iterator[tuple[str, wf.Graph]]:
    """Yield mazes and grids, a cube, random graphs with and without ties, and directed ones."""
    yield "maze", wf.grid_graph(wf.load_layout("antmaze-medium"), refinement=3)
    yield "large maze", wf.grid_graph(wf.load_layout("antmaze-large"), refinement=12)
    number = np.arange(30 * 30).reshape(30, 30)
    tails = np.concatenate([number[:, :-1].ravel(), number[:-1].ravel()])
    heads = np.concatenate([number[:, 1:].ravel(), number[1:].ravel()])
    size = tails.size
    yield "grid", wf.Graph.from_edges(tails, heads)
    yield "grid, whole", wf.Graph.from_edges(tails, heads, rng.integers(1, 9, size))
    lengths = rng.integers(1, 4096, size) / 64.0
    yield "grid, real", wf.Graph.from_edges(tails, heads, lengths)
    orders = 2.0 ** rng.integers(-8, 8, size)
    yield "grid, five orders", wf.Graph.from_edges(tails, heads, orders)
    yield "directed grid", wf.Graph.from_edges(tails, heads, lengths, directed=True)
    n = 2_000
    for degree, name in ((1, "sparse"), (3, "dense")):
        tails, heads = rng.integers(0, n, (2, degree * n))
        tails, heads = np.append(tails, np.arange(n)), np.append(heads, np.roll(np.arange(n), 1))
        kept = tails != heads
        code = np.unique(np.minimum(tails, heads)[kept] * n + np.maximum(tails, heads)[kept])
        ends = np.divmod(code, n)
        yield name, wf.Graph.from_edges(*ends)
        whole = rng.integers(1, 4, code.size)
        yield f"{name}, whole", wf.Graph.from_edges(*ends, whole)
        both = np.concatenate([ends, ends[::-1]], axis=1)
        tolls = rng.integers(1, 4, both.shape[1])
        yield f"{name}, directed, tied", wf.Graph.from_edges(*both, tolls, directed=True)
    star = np.arange(1, 400)
    yield "star", wf.Graph.from_edges(np.zeros_like(star), star, 1.0 + star % 7)


def digest(*arrays: object) -> str:
    told = hashlib.sha256()
    for array in arrays:
        told.update(np.ascontiguousarray(array).tobytes())
    return told.hexdigest()[:16]


def lines() -> Iterator[str]:
    """Yield a line for every graph, kind of labels and way of filling."""
    rng = np.random.default_rng(7)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "field.proof"
        for name, graph in graphs(rng):
            goal = graph.num_vertices // 2
            true = wf.sample_labels(graph, goal, fraction=0.03, seed=3)
            drawn = rng.integers(0, 512, len(true)) / 8.0
            for kind, values in (("true", true.values), ("random", drawn)):
                labels = wf.Labels(true.vertices, values)
                for fill in (None, "cost"):
                    method = wf.AMLE(fill=fill)
                    field = wf.extend(graph, labels, method, unreachable="nan")
                    state = int(np.setdiff1d(np.arange(graph.num_vertices), labels.vertices)[5])
                    plan = wf.plan(graph, field, goal)
                    proof = wf.certify(graph, labels, field, plan)
                    file.unlink(missing_ok=True)
                    proof.write_proof(file)
                    parts = [
                        digest(field.values, field.lower, field.upper),
                        str(field.iterations),
                        digest(plan.successor, plan.cost, proof.proved, proof.gap),
                        hashlib.sha256(file.read_bytes()).hexdigest()[:16],
                    ]
                    if not graph.directed:
                        weights = field.influence(state)
                        parts.append(digest(weights.vertices, weights.weights))
                    yield f"{name}; {kind}; {fill}: {' '.join(parts)}"


def test_the_same_input_has_the_same_bytes() -> None:
    found, stored = list(lines()), STORED.read_text(encoding="utf-8").splitlines()
    assert found == stored


if __name__ == "__main__":
    STORED.write_text("\n".join(lines()) + "\n", encoding="utf-8")
