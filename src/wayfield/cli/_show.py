"""How an answer is told: as a summary for a person, or as one JSON document for a program."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .. import __version__
from ._common import UNSEEN, printable

if TYPE_CHECKING:
    from ..names import Names
    from ..pipeline import Answer

Line = tuple[str, str]
"""A word for the margin, and what there is to say about it."""

_STYLES = dict.fromkeys(("lost", "flat", "sinks", "raised", "rounding", "units"), "yellow")
_STYLES |= {"loops": "red", "advice": "cyan", "found": "bold"}
AS_OPTIONS = {
    "amle": "--method amle",
    "cost": "--method amle-cost",
    "lift": "--lift",
    "drop": "--drop-false-sinks",
    "route": "--start NAME",
    "compare": "`wayfield compare`",
    "mend": "`wayfield mend`",
    "unit": "pass --length-unit",
    "limit": "a larger --time-limit",
}
"""What the advice recommends, as a user of the command line types it."""

NOTHING_WRITTEN: dict[str, Any] = {
    "files": [], "removed": [], "no_picture": None, "no_parquet": None, "not_written": None
}  # fmt: skip
"""What there is to say about files if there are none."""


def show(lines: Iterable[Line], console: Console) -> None:
    """Print the summary: wrapped beside its margin in a terminal, one line each elsewhere."""
    if not console.is_terminal:
        for word, text in lines:
            line = Text(f"{word:<9} {printable(text)}")
            console.print(line, soft_wrap=True, highlight=False)
        return
    table = Table.grid(padding=(0, 1))
    table.add_column(style="bold", no_wrap=True, min_width=9)
    table.add_column()
    for word, text in lines:
        table.add_row(word, Text(printable(text), style=_STYLES.get(word, "")))
    console.print(table, highlight=False)


def tell(
    answer: Answer,
    names: Names | None,
    starts: tuple[int, ...],
    more: dict[str, Any],
    as_json: bool,
) -> None:
    """Print the summary, or all facts as one JSON document; exit with 1 if something failed."""
    from ..pipeline.text import advise, lines

    found = {"wayfield": __version__} | answer.facts(names, starts) | NOTHING_WRITTEN | more
    found["advice"] = advise(answer, found, AS_OPTIONS)
    if as_json:
        print_json(found)
    else:
        *summary, last = lines(found)
        show([*summary, *about_files(found), last], Console())
    well = answer.field.status.good and answer.plan.reached[list(starts)].all()
    if not well or found["not_written"]:
        raise typer.Exit(1)


def print_json(found: dict[str, Any]) -> None:
    """Print one JSON document on standard output, escaped if that cannot show every letter."""
    escaped = "utf" not in (sys.stdout.encoding or "utf-8").lower()
    text = json.dumps(found, ensure_ascii=escaped, indent=2, allow_nan=False)
    typer.echo(UNSEEN.sub(lambda unseen: f"\\u{ord(unseen[0]):04x}", text))


def about_files(found: dict[str, Any]) -> list[Line]:
    """Say what was written, what is missing among it and why, and what was removed."""
    told = []
    if found["not_written"]:
        told.append(("wrote", f"nothing: {found['not_written']}"))
    if found.get("certificate"):
        told.append(("proof", f"{found['certificate']}: python -m wayfield_verify checks it"))
    if found["files"]:
        reasons = {"no picture": "no_picture", "no values.parquet": "no_parquet"}
        lacking = [f"{word}: {found[key]}" for word, key in reasons.items() if found[key]]
        told.append(("wrote", "; ".join([", ".join(found["files"]), *lacking])))
    if found["removed"]:
        told.append(("removed", f"{', '.join(found['removed'])}, of an earlier run"))
    return told
