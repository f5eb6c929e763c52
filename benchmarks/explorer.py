"""The explorer in a browser: edits of a maze, and a map that is moved and zoomed.

Run with ``python -m benchmarks.explorer``. On a maze of 6,624 vertices, a label is moved step by
step; each step is timed from the edit to the frame that shows the field solved anew. A map of
20,000 junctions is dragged and zoomed: 33 ms at most from one frame to the next are asked.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.worlds import triangles

METHODS = ("amle", "harmonic", "p=4", "p=16", "distance")
STEPS = 30
JUNCTIONS = 20_000

DRAG = """async ([steps, method]) => {
  const it = document.querySelector("#explorer").explorer;
  const solved = () => Number(it.root.dataset.solved);
  const next = async (edit) => {
    const before = solved();
    edit();
    while (solved() === before) await new Promise((done) => setTimeout(done, 2));
  };
  it.edit({ ...it.scene, panels: [{ ...it.scene.panels[0], method }] });
  await new Promise((done) => setTimeout(done, 3000));
  it.timings.length = 0;
  for (let k = 0; k < steps; k++) {
    const { vertices, values } = it.scene.labels;
    const moved = vertices.map((v, i) => (i === 1 ? 3000 + k : v));
    await next(() => it.edit({ ...it.scene, labels: { vertices: moved, values } }));
  }
  return it.timings;
}"""
FRAMES = """() => {
  window.frames = [];
  let last = performance.now();
  const tick = (now) => {
    window.frames.push(now - last);
    last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}"""


@contextmanager
def explored(*arguments: str) -> Iterator[Any]:
    """Serve a graph, and open it in a browser."""
    from playwright.sync_api import sync_playwright

    command = [sys.executable, "-m", "wayfield", "explore", *arguments, "--no-browser"]
    with (
        subprocess.Popen(
            [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        ) as server,
        sync_playwright() as playwright,
    ):
        try:
            assert server.stdout is not None
            found = (re.search(r"http\S+", line) for line in server.stdout)
            address = next(filter(None, found))[0]
            browser = playwright.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = browser.new_page(viewport={"width": 1280, "height": 720})
            page.goto(address)
            page.wait_for_selector("#explorer[data-solved]", timeout=300_000)
            page.wait_for_timeout(10_000)  # until the other workers are ready, too
            yield page
            browser.close()
        finally:
            server.terminate()


def edits() -> None:
    """Print how long an edit takes until it is drawn: median over a drag."""
    with explored("large", "--refinement", "12") as page:
        print(f"edit to frame, {STEPS} steps of a drag, 6,624 vertices")
        for method in METHODS:
            took = np.array(page.evaluate(DRAG, [STEPS, method]))
            print(f"{method:10} median {np.median(took):6.0f} ms, fastest {took.min():6.0f} ms")


def frames() -> None:
    """Print the times between frames while a map is moved and zoomed."""
    rng = np.random.default_rng(0)
    at, (tails, heads) = triangles(JUNCTIONS, rng)
    kept = (tails < heads) & (rng.random(tails.size) < 0.8)
    with tempfile.TemporaryDirectory() as folder:
        edges, places = Path(folder) / "edges.csv", Path(folder) / "places.csv"
        lengths = np.linalg.norm(at[tails] - at[heads], axis=1)
        table = np.column_stack([tails, heads, lengths])[kept]
        np.savetxt(edges, table, "%d,%d,%.9g", header="from,to,length", comments="")
        table = np.column_stack([np.arange(len(at)), at])
        np.savetxt(places, table, "%d,%.9g,%.9g", header="vertex,x,y", comments="")
        labels = Path(folder) / "labels.csv"
        labels.write_text("vertex,value\n0,0\n1,5\n")
        files = (str(edges), str(labels), "--goal", "0", "--positions", str(places))
        with explored(*files) as page:
            box = page.locator("canvas").first.bounding_box()
            x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
            page.mouse.move(x, y)
            page.evaluate(FRAMES)
            for k in range(STEPS):
                page.mouse.wheel(0, -120 if k < STEPS // 2 else 120)
                page.wait_for_timeout(16)
            page.keyboard.down("Shift")
            page.mouse.down()
            for k in range(STEPS):
                page.mouse.move(x + 4 * k, y + 2 * k)
                page.wait_for_timeout(16)
            page.mouse.up()
            took = np.array(page.evaluate("() => window.frames"))[1:]
            print(
                f"{JUNCTIONS:,} junctions moved and zoomed: {took.size} frames, median "
                f"{np.median(took):.0f} ms, 95 % within {np.quantile(took, 0.95):.0f} ms"
            )


if __name__ == "__main__":
    edits()
    frames()
