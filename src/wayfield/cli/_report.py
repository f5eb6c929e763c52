"""The end of a command: the facts, for a person or for a program, and the exit code."""

from __future__ import annotations

import json
import sys
from typing import Any

import typer
from rich.console import Console

from ._common import UNSEEN
from ._facts import facts
from ._result import Result
from ._show import advice, show, summary


def tell(result: Result, more: dict[str, Any], as_json: bool) -> None:
    """Print the summary, or all facts as one JSON document; exit with 1 if something failed."""
    found = facts(result) | more
    found["advice"] = advice(found)
    if as_json:
        print_json(found)
    else:
        show(summary(found), Console())
    if not result.good or more.get("not_written"):
        raise typer.Exit(1)


def print_json(found: dict[str, Any]) -> None:
    """Print one JSON document on standard output, escaped if that cannot show every letter."""
    plain = "utf" not in (sys.stdout.encoding or "utf-8").lower()
    text = json.dumps(found, ensure_ascii=plain, indent=2, allow_nan=False)
    shown = UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    typer.echo(shown)
