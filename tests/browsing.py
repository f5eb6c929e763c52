"""An explorer that runs: the server as a user starts it, and a browser to look at it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import wayfield as wf
from wayfield.explorer import compute
from wayfield.explorer.scene import Scene

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


COLD = (
    "from functools import partial;"
    "from wayfield.cli import main; from wayfield.explorer import server;"
    "server.Pool = partial(server.Pool, warm=False); main()"
)
"""The command line, with workers that load kernels only when they need them."""


def first_visit() -> Scene:
    """Return the scene that ``wayfield explore`` shows by default."""
    layout = wf.load_layout(compute.FIRST_MAZE)
    return compute.maze_scene(layout, 8, compute.FIRST_GOAL, 0.02, 54, compute.FIRST_METHOD)


@contextmanager
def serving(*arguments: str | Path, warm: bool = True) -> Iterator[str]:
    """Yield the address of ``wayfield explore`` with these arguments."""
    program = ["-m", "wayfield"] if warm else ["-c", COLD]
    command = [*program, "explore", "--no-browser", "--port", "0"]
    server = subprocess.Popen(
        [sys.executable, *command, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert server.stdout is not None
    said = []
    try:
        for line in server.stdout:
            said.append(line)
            if found := re.search(r"explorer: (http\S+)/ ", line):
                break
        else:
            pytest.fail(f"the server did not start: {''.join(said)}")
        yield found[1]
        assert server.poll() is None, f"the server ended by itself: {server.stdout.read()}"
    finally:
        server.terminate()
        server.wait(20)
        server.stdout.close()


@contextmanager
def browsing() -> Iterator[Any]:
    """Yield a headless Chromium; where there is none, skip, and in CI fail."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        reason = f"the explorer's page is tested in a browser: install {' or '.join(BROWSERS)}"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox", "--disable-gpu"]
        )
        try:
            yield browser
        finally:
            browser.close()
