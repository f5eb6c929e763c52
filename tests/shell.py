"""The command line as a shell would run it."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any, NamedTuple
from unittest.mock import patch

from wayfield import cli
from wayfield.cli import _common


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def wayfield(*words: object) -> Answer:
    """Run ``wayfield`` with these words; nothing but `SystemExit` may come out of it."""
    out, err = StringIO(), StringIO()
    with (
        patch.object(_common, "SLOW", 3600),  # no word about compiling, however slow the machine
        patch.object(sys, "argv", ["wayfield", *map(str, words)]),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code
    return Answer(int(code or 0), out.getvalue(), err.getvalue())
