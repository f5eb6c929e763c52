"""The peers beside us: an environment of their own, the same problems, the same run.

The environment is made once, package by package, so that one that does not install is named and the
others are measured. Peers and we solve the same problem one after the other; what is compared is
the processor time to a true error, which peers do not know and we prove.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks._timing import best_of
from benchmarks.peer_solvers import PEERS
from benchmarks.worlds import make_graph, make_labels

import wayfield as wf

ENVIRONMENT = Path(".venv-peers")
PACKAGES = ("numpy", "scipy", "scikit-learn", "networkx", "igraph", "pyamg", "graphlearning",
            "stormpy")  # fmt: skip
POWER = 8.0


def make_environment(say: Callable[[str], None]) -> dict[str, str]:
    """Install the peers; by package, why it is missing."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        say(f"making {ENVIRONMENT} for the peers, once")
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
    listed = subprocess.run(
        [python, "-m", "pip", "list", "--format", "json"], capture_output=True, check=True
    )
    present = {package["name"].lower() for package in json.loads(listed.stdout)}
    missing = {}
    for package in PACKAGES:
        if package not in present:
            say(f"installing {package}")
            command = [python, "-m", "pip", "install", "--quiet", package]
            tried = subprocess.run(command, capture_output=True, text=True, check=False)
            if tried.returncode:
                reasons = [line for line in tried.stderr.splitlines() if "rror" in line]
                missing[package] = (reasons or ["pip failed"])[-1].strip()
    return missing


class Problem:
    """A problem of one kind, its file for peers, and what it takes us."""

    def __init__(self, task: str, graph: wf.Graph, labels: wf.Labels) -> None:
        self.task, self.graph, self.labels = task, graph, labels
        if task == "classes":  # those who only know classes are asked for two
            upper = (labels.values > np.median(labels.values)).astype(float)
            self.labels = wf.Labels(labels.vertices, upper)

    def solve(self, proved: bool = True) -> np.ndarray:
        """Return the exact field; what no peer does, to prove it, can be left out."""
        if self.task == "paths":
            return wf.cost_to_go(self.graph, int(self.labels.vertices[0]))
        if self.task == "p":
            return wf.extend(self.graph, self.labels, wf.PLaplacian(POWER)).values
        method = wf.AMLE if self.task == "amle" else wf.Harmonic
        return wf.extend(self.graph, self.labels, method(bracket=proved)).values

    def save(self, path: Path) -> None:
        np.savez(
            path,
            exact=self.solve(),
            indptr=self.graph.indptr,
            indices=self.graph.indices,
            vertices=self.labels.vertices,
            values=self.labels.values,
            p=POWER,
        )


def measure(kind: str, labels: str, size: int, name: str, limit: float) -> dict[str, Any]:
    """Run a peer up its ladder for `limit` seconds, and our solver on the same problem."""
    graph = make_graph(kind, size)
    task = PEERS[name][0]
    problem = Problem(task, graph, make_labels(graph, labels, 0.02))
    found = {"kind": kind, "labels": labels, "vertices": graph.num_vertices, "peer": name}
    found |= {"task": task, "limit": limit}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "problem.npz"
        problem.save(path)
        before = _times(problem)
        rungs, stopped = _climb(name, path, limit)
        after = _times(problem)
    ours = {what: min(before[what], after[what]) for what in before}
    return found | ours | {"rungs": rungs, "stopped": stopped}


def _times(problem: Problem) -> dict[str, float]:
    """What it takes us: processor time; without the proof as well, then wall-clock time too."""
    ours = {"ours": best_of(problem.solve, 3, time.process_time)}
    if problem.task in ("p", "paths"):  # proved always, and by what they are
        return ours
    bare = partial(problem.solve, proved=False)
    return ours | {
        "bare": best_of(bare, 3, time.process_time),
        "bare_wall": best_of(bare, 3),
    }


def _climb(name: str, path: Path, limit: float) -> tuple[list[dict[str, Any]], str]:
    """Results of a peer's settings, and why it did not go on."""
    script = Path(__file__).with_name("peer_solvers.py")
    python = ENVIRONMENT / "bin" / "python"
    command = [python, "-W", "ignore", script, name, path, str(limit)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    stopped = ""
    if ended.returncode == -signal.SIGPROF:
        stopped = f"stopped after {limit:g} s"
    elif ended.returncode:
        stopped = (ended.stderr.strip().splitlines() or ["it crashed"])[-1]
    return [json.loads(line) for line in ended.stdout.splitlines()], stopped
