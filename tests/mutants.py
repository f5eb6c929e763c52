"""Plant faults at random in the library: how many do the rooms' own tests notice?

``make mutants SEED=1`` draws lines of code, and on each one place: a comparison, a constant, a sign
or an index is changed, and the tests of the room are run on the result. Some changes alter nothing
that anybody can see, so the share is below 1. Tests that never end have noticed their fault, too.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).parents[1]
LIBRARY = Path("src/wayfield")
LEFT_OUT = (".git", ".venv", "build", "dist", "report", "results", "site")  # of the copies
LONGEST = 900  # seconds until tests count as endless: ten times what the slowest room takes
OTHER: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add,
}  # fmt: skip


@dataclass(frozen=True)
class Fault:
    """One place of one file, and what stands there instead."""

    file: Path
    node: ast.expr
    instead: str

    @property
    def room(self) -> str:
        """The folder below the library; ``package`` for the files on top."""
        parts = self.file.relative_to(LIBRARY).parts
        return parts[0] if len(parts) > 1 else "package"

    def plant(self, tree: Path) -> None:
        """Write the file with the fault into a copy of the project."""
        lines = (ROOT / self.file).read_bytes().splitlines(keepends=True)
        first, last = self.node.lineno - 1, (self.node.end_lineno or self.node.lineno) - 1
        head, tail = lines[first][: self.node.col_offset], lines[last][self.node.end_col_offset :]
        # the statement's later lines keep their numbers
        gap = b"\\\n" * (last - first)
        lines[first : last + 1] = [head + f"({self.instead})".encode() + gap + tail]
        (tree / self.file).write_bytes(b"".join(lines))

    def remove(self, tree: Path) -> None:
        """Put the true file back, with its date: what was compiled from it still holds."""
        shutil.copy2(ROOT / self.file, tree / self.file)

    def __str__(self) -> str:
        """Where it is, what stood there, and what stands there now."""
        return f"{self.file}:{self.node.lineno}: {ast.unparse(self.node)} -> {self.instead}"


def changes(node: ast.expr) -> Iterator[ast.expr]:
    """Every way to change one operator, sign or number of an expression, not of its parts."""
    match node:
        case ast.Compare(ops=ops):
            for k, op in enumerate(ops):
                changed = deepcopy(node)
                changed.ops[k] = OTHER[type(op)]()  # type: ignore[call-overload]
                yield changed
        case ast.BoolOp(op=op) | ast.BinOp(op=ast.Add() | ast.Sub() as op):
            other = deepcopy(node)
            other.op = OTHER[type(op)]()  # type: ignore
            yield other
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield operand
        case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
            yield ast.Constant(value + 1 if isinstance(value, int) else 1.5 * value or 1.0)


def faults(file: Path) -> dict[int, list[Fault]]:
    """Every fault that can be planted in a file, by line, but for annotations."""
    found: dict[int, list[Fault]] = {}
    waiting: list[ast.AST] = [ast.parse((ROOT / file).read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        for name, value in ast.iter_fields(node):
            if name not in ("annotation", "returns"):
                parts = value if isinstance(value, list) else [value]
                waiting += [part for part in parts if isinstance(part, ast.AST)]
        if isinstance(node, ast.JoinedStr):  # its parts have no places of their own before 3.12
            waiting = [part for part in waiting if part not in node.values]
        elif isinstance(node, ast.expr):
            for changed in changes(node):
                fault = Fault(file, node, ast.unparse(changed))
                found.setdefault(node.lineno, []).append(fault)
    return found


def tests_notice(tree: Path, room: str) -> bool:
    """Run a room's tests on a copy of the project, and return whether one of them failed."""
    paths = [str(p) for p in (Path("tests") / room, LIBRARY / room) if (tree / p).exists()]
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *paths]
    sources = os.pathsep.join(str(tree / part) for part in ("src", "study/src"))
    environment = os.environ | {"PYTHONPATH": sources, "OMP_NUM_THREADS": "1"}
    try:
        ended = subprocess.run(
            command, cwd=tree, env=environment, timeout=LONGEST, capture_output=True, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return ended.returncode != 0


def main() -> None:
    """Draw the faults, run the tests on each, and print what was noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=60, help="how many lines are drawn")
    parser.add_argument("--room", default="", help="only faults of this room")
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    files = sorted(path.relative_to(ROOT) for path in (ROOT / LIBRARY / asked.room).rglob("*.py"))
    lines = [choice for file in files for _, choice in sorted(faults(file).items())]
    draw = random.Random(asked.seed)
    drawn = [draw.choice(line) for line in draw.sample(lines, min(asked.count, len(lines)))]

    with tempfile.TemporaryDirectory() as folder:
        trees: SimpleQueue[Path] = SimpleQueue()
        for number in range(asked.jobs):
            tree = Path(folder) / str(number)
            shutil.copytree(ROOT, tree, ignore=lambda at, _: LEFT_OUT if Path(at) == ROOT else ())
            trees.put(tree)

        def noticed(fault: Fault | str) -> bool:
            tree = trees.get()
            try:
                if isinstance(fault, str):
                    return tests_notice(tree, fault)
                fault.plant(tree)
                found = tests_notice(tree, fault.room)
                fault.remove(tree)
                return found
            finally:
                trees.put(tree)

        with ThreadPoolExecutor(asked.jobs) as pool:
            rooms = sorted({fault.room for fault in drawn})
            for room, failed in zip(rooms, pool.map(noticed, rooms), strict=True):
                if failed:
                    sys.exit(f"the tests of {room} fail without any fault")
            caught = 0
            for fault, found in zip(drawn, pool.map(noticed, drawn), strict=True):
                caught += found
                print("noticed" if found else "MISSED ", fault, flush=True)
    print(f"{caught} of {len(drawn)} faults noticed ({caught / len(drawn):.2f}), seed {asked.seed}")


if __name__ == "__main__":
    main()
