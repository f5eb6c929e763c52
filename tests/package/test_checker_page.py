"""The page of the documentation that checks proofs: the checker itself, in a real browser."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import wayfield as wf
from browsing import browsing

ROOT = Path(__file__).parents[2]
ASSETS = ROOT / "docs" / "assets"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *told: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve the page with its parts; where npm can't bring Pyodide, skip, and in CI fail."""
    hooks = runpy.run_path(str(ROOT / "docs" / "hooks.py"))
    parts = hooks["browser_checker"]()
    if not parts:
        (pytest.fail if os.environ.get("CI") else pytest.skip)("npm did not bring Pyodide")
    site = tmp_path_factory.mktemp("site")
    shutil.copytree(ASSETS, site / "assets")
    (site / "pyodide").mkdir()
    for part in parts:
        shutil.copy2(part, site / "pyodide")
    (site / "check.html").write_text(f"<!doctype html><title>check</title>{hooks['DROP']}")
    handler = partial(Quiet, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/check.html"
        server.shutdown()


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Any]:
    with browsing() as browser:
        page = browser.new_page()
        elsewhere: list[str] = []
        page.on("request", lambda asked: elsewhere.append(asked.url))
        page.goto(address)
        yield page
        assert all(url.startswith(address.rpartition("/")[0]) for url in elsewhere)


def checked(page: Any, file: Path) -> tuple[str, str]:
    """Give a file to the page, and return the verdict and what it says."""
    page.set_input_files("#check input", str(file))
    page.wait_for_function(
        "document.querySelector('#check-answer').dataset.verdict !== 'busy'", timeout=120_000
    )
    answer = page.locator("#check-answer")
    return answer.get_attribute("data-verdict"), answer.text_content()


@pytest.fixture
def proof(tmp_path: Path) -> Path:
    graph = wf.grid_graph(wf.Layout.from_text("....\n.#..\n...."))
    labels = wf.Labels([0, 5, 10], [0, 2, 5])
    wf.solve(graph, labels, 0).write_proof(tmp_path / "answer.proof")
    return tmp_path / "answer.proof"


def test_a_true_proof_is_proved_as_on_the_command_line(page: Any, proof: Path) -> None:
    verdict, told = checked(page, proof)
    command = [sys.executable, "-m", "wayfield_verify", str(proof)]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert verdict == "proved"
    assert told.startswith(said.strip())


def test_a_damaged_file_is_not(page: Any, proof: Path) -> None:
    content = bytearray(proof.read_bytes())
    content[len(content) // 2] ^= 1
    proof.write_bytes(content)
    verdict, told = checked(page, proof)
    assert verdict == "unreadable"
    assert "not a readable proof" in told
