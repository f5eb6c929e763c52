"""Freshness of results: whether they would be computed in the same way now.

A result is fresh if the experiment's version, wayfield's version, its numerical source and the
versions of NumPy, SciPy, Numba and the experiment's own packages are the present ones. The
numerical source is every room of the package that can affect a figure. It is digested room by room,
so that what changed can be named. Comments, docstrings and blank lines affect no figure and are
left out of the digest.

Of an experiment of one's own the file it comes from counts as well: two studies may each have an
experiment of one name, and must not take each other's results for theirs.
"""

from __future__ import annotations

import hashlib
import io
import platform
import sys
import tokenize
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import wayfield

PACKAGES = ("wayfield", "numpy", "scipy", "numba")
FOLDERS = (Path(wayfield.__file__).parent, Path(__file__).parent.parent)
"""The library and the study: no room of one has the name of a room of the other that counts."""
SILENT = {
    "__init__", "adapters", "cli", "engine", "errors", "explorer", "graphs/tables",
    "numerics/processes", "numerics/workers", "paper", "plots", "report", "words",
}  # fmt: skip
"""Rooms that read, show, check or keep, and parts of rooms: no figure depends on them."""
SETTINGS = {"paper/grid.py"}
"""Files in such rooms that hold settings of experiments nevertheless."""
MAPS = "maps.txt"
"""The benchmark mazes: data that figures depend on as on source."""
SHARED = {"__init__", "mazes", "methods", "trial"}
"""Modules that many experiments compute with."""


@cache
def versions() -> dict[str, str]:
    """Return the versions of everything that the figures depend on.

    Of wayfield the release, without the number of commits since: between releases the source says
    what changed, and a commit to the documentation makes no result stale.
    """
    packages = {name: metadata.version(name) for name in PACKAGES}
    packages["wayfield"] = packages["wayfield"].partition(".dev")[0]
    return {"python": platform.python_version(), **packages}


@cache
def source() -> dict[str, str]:
    """Return digests of the numerical source of wayfield and of its study, by room.

    Of the experiments only what they share counts: an experiment's own file also holds its charts
    and texts, and has a version for its figures.

    Examples
    --------
    >>> {"kernels", "fields", "plans", "experiments"} <= source().keys()
    True
    >>> source().keys() & {"cli", "report"}
    set()
    """
    rooms: dict[str, Any] = {}
    kinds = "*.py", MAPS
    files = [(at, path) for at in FOLDERS for kind in kinds for path in sorted(at.rglob(kind))]
    for folder, path in files:
        place = path.relative_to(folder)
        room = place.parts[0].removesuffix(".py")
        part = "/".join(place.parts[:2]).removesuffix(".py")
        own = room == "experiments" and place.parts[1].removesuffix(".py") not in SHARED
        silent = bool({room, part} & SILENT) and place.as_posix() not in SETTINGS
        if silent or own or place.name == "__main__.py":
            continue
        digest = rooms.setdefault(room, hashlib.sha256())
        text = path.read_text("utf-8")
        text = text if place.name == MAPS else bare(text)
        digest.update(place.as_posix().encode() + b"\0" + text.encode())
    return {room: digest.hexdigest()[:12] for room, digest in rooms.items()}


def bare(code: str) -> str:
    r"""Return code without comments, docstrings and blank lines.

    Examples
    --------
    >>> bare("def f(x):  # why\n    'Say it.'\n\n    return x\n")
    'def f(x):\n    return x'
    """
    lines, statement = code.splitlines(), list[tokenize.TokenInfo]()
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        row, column = token.start
        if token.type == tokenize.COMMENT:
            lines[row - 1] = lines[row - 1][:column]
        elif token.type == tokenize.NEWLINE:
            if all(each.type == tokenize.STRING for each in statement):
                start = statement[0].start[0] - 1
                lines[start:row] = [""] * (row - start)
            statement = []
        elif token.type not in (tokenize.NL, tokenize.INDENT, tokenize.DEDENT):
            statement.append(token)
    return "\n".join(line.rstrip() for line in lines if line.strip())


def code_of(module: str) -> str:
    """Return a digest of a module's source, as far as figures depend on it; empty if unknown."""
    try:
        spec = find_spec(module)
        text = Path(spec.origin).read_text("utf-8") if spec and spec.origin else ""
        return hashlib.sha256(bare(text).encode()).hexdigest()[:12] if text else ""
    except (ImportError, OSError, SyntaxError, ValueError):
        return ""


def author(run: Callable[..., Any]) -> str:
    """Return the file of the function that computes an experiment's rows, with its folder.

    Empty for wayfield's own, which have one name each. Neither the code nor the rest of the path
    counts. Earlier results are kept after a fix of the function, unless its version is raised. A
    study may be moved.

    Examples
    --------
    >>> from textwrap import dedent
    >>> author(dedent)
    '...textwrap.py'
    >>> author(author)
    ''
    """
    module = getattr(run, "__module__", None) or type(run).__module__
    if module.partition(".")[0] in (wayfield.__name__, __name__.partition(".")[0]):
        return ""
    file = getattr(sys.modules.get(module), "__file__", None)
    return module if file is None else Path(*Path(file).parts[-2:]).as_posix()


def stamp(version: int, run: Callable[..., Any], packages: Sequence[str] = ()) -> dict[str, Any]:
    """Return everything that a result depends on, as it is now; `packages` included."""
    found = dict(versions())
    for name in packages:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # results can be read without it
            found[name] = "not installed"
    return {"version": version, "author": author(run), "versions": found, "source": source()}


def what_changed(then: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return what has changed since a result was computed, as text; empty if nothing has.

    Parameters
    ----------
    then, now : mapping
        Made by `stamp`.

    Examples
    --------
    >>> now = stamp(2, what_changed)
    >>> what_changed(now, now)
    ''
    >>> what_changed({**now, "source": {**now["source"], "kernels": "other"}}, now)
    'kernels changed since'
    >>> what_changed({**now, "version": 1}, now)
    'version 1 of the experiment, now 2'
    >>> what_changed({**now, "author": "mine/rings.py"}, {**now, "author": "yours/rings.py"})
    'computed by mine/rings.py, now by yours/rings.py'
    """
    found = []
    if then["version"] != now["version"]:
        found.append(f"version {then['version']} of the experiment, now {now['version']}")
    if (before := then.get("author", "")) != (after := now["author"]):
        found.append(f"computed by {before or 'wayfield'}, now by {after or 'wayfield'}")
    for name in (name for name in now["versions"] if name != "python"):
        before, after = then["versions"].get(name), now["versions"][name]
        if before != after:
            found.append(f"{name} {before}, now {after}")
    before, after = then.get("source", {}), now["source"]
    if then.get("code", "") != now.get("code", ""):
        found.append("the code of its method changed since")
    rooms = [room for room in {**after, **before} if before.get(room) != after.get(room)]
    if not before:
        found.append("of an unknown source")
    elif rooms:
        found.append(f"{', '.join(rooms)} changed since")
    return "; ".join(found)
