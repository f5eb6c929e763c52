"""Every figure of the documentation's page: ``python -m benchmarks``, or ``make bench``.

Measures, and writes ``report/benchmarks.html`` with plots and ``report/benchmarks.md``, the tables
of the page in the documentation. ``--profile quick`` takes minutes, ``standard`` some twenty,
``full`` hours. Every figure is stored when it is known: Ctrl-C loses the one under way, and the
next run goes on from there. Figures of an older source are measured anew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any

from benchmarks import page, peers, processes
from benchmarks.cells import PROFILES, Profile
from benchmarks.peer_solvers import PEERS

from wayfield_study.engine.freshness import source, versions

RESULTS = Path("results") / "benchmarks"
PROCESSES = [*processes.MODELS, *processes.HELD_OUT]


class Store:
    """Figures on disk, one file each, with the source they come from."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.source = folder, source() | versions()
        folder.mkdir(parents=True, exist_ok=True)

    def find(self, key: str) -> dict[str, Any] | None:
        """Return what is stored under a key, unless it comes from another source."""
        path = self.folder / f"{key}.json"
        stored = json.loads(path.read_text()) if path.exists() else {}
        current = stored.get("source") == self.source | _scripts(key)
        return stored["figures"] if current else None

    def keep(self, key: str, figures: dict[str, Any]) -> None:
        """Store figures, all of them or none."""
        path = self.folder / f"{key}.json"
        part = path.with_suffix(".part")
        told = {"source": self.source | _scripts(key), "figures": figures}
        part.write_text(json.dumps(told))
        part.replace(path)


def _scripts(key: str) -> dict[str, str]:
    """Digest of the scripts that measure what is stored under a key."""
    names = {"peer": ("peers", "peer_solvers"), "process": ("processes", "storm_solver")}.get(
        key.split("_")[0], ("ours",)
    )
    here = Path(__file__).parent
    text = b"".join((here / f"{name}.py").read_bytes() for name in ("worlds", *names))
    return {"benchmarks": hashlib.sha256(text).hexdigest()}


def our_figures(profile: Profile, store: Store) -> Iterator[str]:
    """Measure what is missing, the cells of a graph in one process; say what was found."""
    missing = [cell for cell in profile.cells if store.find(cell.key) is None]
    done = len(profile.cells) - len(missing)
    for (size, kind), group in groupby(missing, key=lambda cell: (cell.size, cell.kind)):
        cells = list(group)
        cells_left = len(cells)
        command = [sys.executable, "-m", "benchmarks.ours", kind, str(size)]
        with subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            try:
                process.stdin.write(json.dumps([asdict(cell) for cell in cells]))
                process.stdin.close()
                for cell, line in zip(cells, process.stdout, strict=False):
                    cells_left -= 1
                    figures = json.loads(line)
                    store.keep(cell.key, figures)
                    done += 1
                    name = f"{cell.method}, {kind}, {size:,}, {cell.labels}, {cell.share:.1%}"
                    yield f"[{done}/{len(profile.cells)}] {name}: {figures['seconds']:.3g} s"
            finally:
                process.kill()
        if cells_left:
            yield f"{kind}, {size:,}: {cells_left} of {len(cells)} cells failed, as said above"


def peer_figures(profile: Profile, store: Store) -> Iterator[str]:
    """Measure the peers whose figures are missing."""
    tasks = [
        (kind, labels, name)
        for kind, labels in profile.peer_problems
        for name, (task, _, _) in PEERS.items()
        if task != "paths" or labels == "true"
    ]
    for number, (kind, labels, name) in enumerate(tasks, 1):
        key = peer_key(profile, kind, labels, name)
        if store.find(key) is None:
            limit = profile.peer_seconds
            found = peers.measure(kind, labels, profile.peer_size, name, limit)
            store.keep(key, found)
            yield f"[{number}/{len(tasks)}] {name} on {kind}, {labels}: {page.verdict(found)}"


def peer_key(profile: Profile, kind: str, labels: str, name: str) -> str:
    words = f"peer {name} {kind} {profile.peer_size:.0e} {labels} {profile.peer_seconds:g}s"
    return words.replace(",", "").replace(" ", "_")


def process_figures(profile: Profile, store: Store) -> Iterator[str]:
    """Measure Storm and ourselves on the processes whose figures are missing."""
    python = peers.ENVIRONMENT / "bin" / "python"
    for number, name in enumerate(PROCESSES, 1):
        key = process_key(profile, name)
        if store.find(key) is None:
            found = processes.measure(name, profile.peer_size, profile.peer_seconds, python)
            store.keep(key, found)
            row = page.process_row(found)
            yield f"[{number}/{len(PROCESSES)}] Storm on {name}: sound, {row[4]}; ours {row[2]}"
    if store.find(process_key(profile, "known")) is None:
        store.keep(process_key(profile, "known"), processes.measure_known(python))


def process_key(profile: Profile, name: str) -> str:
    words = "".join(c if c.isalnum() else "_" for c in name)
    return f"process_{words}_{profile.peer_size:.0e}_{profile.peer_seconds:g}s"


def stored(profile: Profile, store: Store) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return all figures of a profile that are known: ours, and the peers'."""
    ours = [store.find(cell.key) for cell in profile.cells]
    theirs = [
        store.find(peer_key(profile, kind, labels, name))
        for kind, labels in profile.peer_problems
        for name in PEERS
    ]
    return [each for each in ours if each], [each for each in theirs if each]


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--profile", choices=PROFILES, default="standard")
    parser.add_argument("--out", type=Path, default=Path("report"), metavar="FOLDER")
    parser.add_argument("--only", choices=("ours", "peers", "processes"), help="measure one part")
    options = parser.parse_args()
    profile, store = PROFILES[options.profile], Store(RESULTS)
    missing: dict[str, str] = {}
    interrupted = False
    try:
        if options.only != "ours":
            missing = peers.make_environment(lambda line: print(line, flush=True))
        parts = {"ours": our_figures, "peers": peer_figures}
        if "stormpy" not in missing:
            parts["processes"] = process_figures
        for name, figures in parts.items():
            if options.only in (None, name):
                for line in figures(profile, store):
                    print(line, flush=True)
    except KeyboardInterrupt:
        interrupted = True
        print("\ninterrupted: what was measured is kept, the same command goes on", flush=True)
    found = [store.find(process_key(profile, name)) for name in (*PROCESSES, "known")]
    beside_storm = [each for each in found if each]
    paths = page.write(options.out, options.profile, *stored(profile, store), missing, beside_storm)
    print("wrote " + " and ".join(map(str, paths)))
    return 130 if interrupted else 0


if __name__ == "__main__":
    sys.exit(main())
