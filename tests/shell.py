"""The command line as a shell would run it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from wayfield import cli, plots
from wayfield.cli import output as _output
from wayfield.cli import warmup as _warmup
from wayfield.travel import command as travelling
from wayfield.travel import picture as travel_picture


class Answer(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@contextmanager
def _blank(path: Path) -> Iterator[None]:
    yield
    path.write_bytes(b"")


def _nothing(*_: object, **__: object) -> None:
    """Do nothing: kernels are compiled when they are needed, and there is nothing to draw on."""


def wayfield(*words: object, pictures: bool = False) -> Answer:
    """Run ``wayfield`` with these words; nothing but `SystemExit` may come out of it.

    Files of pictures are written, but drawn only if `pictures` are wanted: this takes most of the
    time of a command.
    """
    out, err = StringIO(), StringIO()
    with ExitStack() as stack:
        changed: list[tuple[object, str, object]] = [
            (_output, "SLOW", 3600),  # no word about compiling, however slow the machine
            (sys, "argv", ["wayfield", *map(str, words)]),
            (_warmup, "warm_up", _nothing),
        ]
        if not pictures:
            changed += [(_output, "picture", _blank), (travelling, "picture", _blank)]
            changed += [(plots, "answer", _nothing), (travel_picture, "draw", _nothing)]
        for owner, name, value in changed:
            stack.enter_context(patch.object(owner, name, value))
        stack.enter_context(redirect_stdout(out))
        stack.enter_context(redirect_stderr(err))
        try:
            cli.main()
        except SystemExit as stop:
            code = stop.code
    return Answer(int(code or 0), out.getvalue(), err.getvalue())
